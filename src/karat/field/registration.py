"""What the store keeps of a study: its settings, and the screening rules that are frozen when it starts.

The rules are kept as the study file states them. Their fingerprint is that of every setting of every criterion, also of
those that the study file leaves to the default, so that a later version of karat with other defaults cannot change them
in silence.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from karat.errors import KaratError
from karat.field.store.studies import Register
from karat.field.study_diff import items_fingerprint
from karat.study.criteria import criterion_settings
from karat.study.results import taken_names
from karat.study.study import Study


def full_rules(study: Study) -> dict[str, Any] | None:
    """The screening rules of a study file with all their settings; None where none are stated."""
    if study.screening_rules is None:
        return None
    stated = {name: given for name, given in study.screening_rules.items() if name != "exclude"}
    settings = {name: criterion_settings(name, given) for name, given in stated.items()}
    rules = {name: own.resolved(own.model_dump(mode="json")) for name, own in settings.items()}
    return {**rules, "exclude": study.screening_rules["exclude"]}


def rules_fingerprint(rules: dict[str, Any] | None) -> str:
    """A short text that changes when a rule changes.

    >>> rules_fingerprint({"completion": {}}) == rules_fingerprint(None)
    False
    """
    return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()[:16]


def registration(slug: str, study: Study) -> Register:
    """A study as the store keeps it; refused where its columns would be lost behind karat's own.

    >>> from karat.study.init import write_study
    >>> from karat.study.study import load
    >>> written = write_study(getfixture("tmp_path") / "likert", "likert")
    >>> sorted(registration("likert", load(written[0])).screening)[:3]
    ['attention', 'completion', 'controls']
    """
    for taken in taken_names(study):
        raise KaratError(f"{study.path.name}: {taken.what} {taken.mend}")
    settings = study.settings.model_dump(mode="json")
    return Register(slug, study.title, study.fingerprint, settings, study.screening_rules,
                    rules_fingerprint(full_rules(study)), items_fingerprint(study))  # fmt: skip
