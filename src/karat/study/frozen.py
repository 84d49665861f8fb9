"""Frozen rules: the rules and items at the start of a study, which its exports carry, and later changes of them.

An export has the screening rules with all their settings, their fingerprint, and a fingerprint of each item, from the
first run of the study (`Judgments.frozen`). `changes_since` compares them with a study file, or with rules alone. All
settings are compared, so that other defaults in a later version of karat cannot change them unnoticed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from karat.messages import Message
from karat.study.criteria import criterion_settings

if TYPE_CHECKING:
    from karat.study.study import Study

NAMED = 10
"""Up to this many changed items are named."""


def full_rules(rules: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Screening rules with all their settings; None if there are none.

    >>> full_rules({"completion": {}})["completion"]["at_least"]
    0.9
    """
    if rules is None:
        return None
    criteria = {name: values for name, values in rules.items() if name != "exclude"}
    settings = {name: criterion_settings(name, values) for name, values in criteria.items()}
    complete = {name: setting.resolved(setting.model_dump(mode="json")) for name, setting in settings.items()}
    return {**complete, "exclude": rules.get("exclude", "any")}


def rules_fingerprint(rules: Mapping[str, Any] | None) -> str:
    """A short text that changes when a rule changes.

    >>> rules_fingerprint({"completion": {}}) == rules_fingerprint(None)
    False
    """
    return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()[:16]


def item_fingerprints(study: Study) -> dict[str, str]:
    """A fingerprint of the rows of each item, by its name, and of the questions."""
    rows: dict[str, list[str]] = {}
    for block in study.blocks:
        frame = block.items.frame
        for name, row in zip(frame["item"].to_list(), frame.iter_rows(), strict=True):
            rows.setdefault(str(name), []).append(json.dumps(row, default=str))
        if block.questions is not None:
            rows.setdefault("questions", []).append(block.questions.write_csv())
    return {name: hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8] for name, texts in rows.items()}


def frozen_record(
    rules: Mapping[str, Any] | None, items: Mapping[str, str] | None, fingerprint: str | None, at: float | None
) -> dict[str, Any]:
    """The record of the start of a study for its exports, as plain data."""
    return {
        "rules": full_rules(rules), "fingerprint": fingerprint, "items": None if items is None else dict(items),
        "at": at,
    }  # fmt: skip


def changes_since(
    frozen: Mapping[str, Any] | None, study: Study | None, rules: Mapping[str, Any] | None = None
) -> tuple[Message, ...]:
    """The changes of rules and items since the start of the study; empty without a record of it.

    The rules are those of the study file or, without one, `rules`.
    """
    if frozen is None:
        return ()
    messages = []
    now = full_rules(study.screening_rules if study is not None else rules)
    if study is not None or now is not None:
        changed = list(_rule_changes(frozen.get("rules") or {}, now or {}))
        messages += [Message("frozen.rules", {"changes": changed})] if changed else []
    if frozen.get("fingerprint") not in (None, rules_fingerprint(frozen.get("rules"))):
        messages.append(Message("frozen.defaults"))
    then = frozen.get("items")
    if study is not None and then is not None:
        present = item_fingerprints(study)
        other = sorted(name for name in {**then, **present} if then.get(name) != present.get(name))
        more = max(len(other) - NAMED, 0) or None
        messages += [Message("frozen.items", {"items": other[:NAMED], "more": more})] if other else []
    return tuple(messages)


def _rule_changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Message]:
    for name in {**then, **now}:
        before, after = then.get(name), now.get(name)
        if name == "exclude" and before != after:
            yield Message("frozen.exclude", {"then": _setting_text(before), "now": _setting_text(after)})
        elif name == "exclude":
            continue
        elif before is None or after is None:
            yield Message("frozen.added" if before is None else "frozen.removed", {"criterion": name})
        else:
            for key in {**before, **after}:
                old, new = before.get(key), after.get(key)
                if old != new:
                    values = {"setting": key, "criterion": name, "then": _setting_text(old), "now": _setting_text(new)}
                    yield Message("frozen.setting", values)


def _setting_text(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
