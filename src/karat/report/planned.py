"""What a study file states, as plain data: its settings, and the numbers that follow before anybody answers."""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.measure.export import plain
from karat.report.words.exclusions import planned_evidence
from karat.screen.rules import settings_of
from karat.study.criteria import CRITERIA
from karat.study.study import Study
from karat.study.summary import functions_per_list


def study_counts(study: Study) -> dict[str, Any]:
    """What the study file states, and what follows from it: lists, trials of each list, minutes.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from karat.study import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "items.csv").write_text("item,function,sentence\\nt1,test,It rains.\\n")
    ...     _ = Path(folder, "study.toml").write_text(
    ...         'title = "Rain"\\n[[block]]\\ntask = "likert"\\nitems = "items.csv"\\n'
    ...     )
    ...     study_counts(load(folder))["lists"]
    1
    """
    blocks = []
    for block in study.blocks:
        rows, factors = block.items.frame, [name for name in block.settings.factors if name != block.settings.compared]
        tests = rows.filter(pl.col("function") == "test")
        blocks.append(
            {
                "rows": rows.height, "test_items": tests["item"].n_unique(), "factors": len(block.settings.factors),
                "conditions": tests.select(factors).unique().height if factors else 0,
                "questions": 0 if block.questions is None else block.questions.height,
                "levels": len(getattr(block.scale, "levels", ())),
            }
        )  # fmt: skip
    rules = study.screening_rules
    stated = {} if rules is None else settings_of(rules, study)
    screening = {name: CRITERIA[name].settings.resolved(own) for name, own in stated.items()}
    needed = {name: planned_evidence(study, name, own) for name, own in stated.items()}
    return {
        "fingerprint": study.fingerprint, "lists": study.lists, "minutes": study.minutes(), "blocks": blocks,
        "screening": plain(screening),
        "needed": {name: plain(one.participants.to_dicts()) for name, one in needed.items() if one is not None},
        "trials": plain(functions_per_list(study).to_dicts()), "settings": plain(study.settings.model_dump()),
    }  # fmt: skip
