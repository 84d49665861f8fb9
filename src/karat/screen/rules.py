"""The rule that combines the criteria: any, all, at least n, or an expression over them; and what a study states.

A rule is applied stage by stage, before all criteria have run. A criterion that has not run yet counts as unknown, so
that nobody is excluded too early. Every part of a rule has a lower value (what is certain) and an upper value (what is
still possible), and the lower value excludes. "remfod and not attention" therefore waits for attention.
"""

import ast
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from karat.errors import KaratError
from karat.messages import Message
from karat.screen.evidence import ScreenError
from karat.study.criteria import CRITERIA, EXCLUDE_TAKES, check_exclude_rule, criterion_named, criterion_settings
from karat.study.study import Study

Bounds = tuple[NDArray[np.bool_], NDArray[np.bool_]]
Settings = dict[str, dict[str, Any]]
"""The settings of each criterion."""


def follows(
    flags: Mapping[str, Sequence[bool] | NDArray[np.bool_]], exclude: str | int, pending: Collection[str] = ()
) -> NDArray[np.bool_]:
    """The participants that a rule certainly excludes, from the flags of each criterion; `pending` ones have not run.

    >>> flags = {"remfod": [True, True], "attention": [False, True]}
    >>> follows(flags, "remfod and not attention").tolist()
    [True, False]
    >>> follows(flags, "remfod and not attention", pending=["attention"]).tolist()
    [False, False]
    """
    bounds: dict[str, Bounds] = {}
    for name, flagged in flags.items():
        now = np.asarray(flagged, dtype=bool)
        bounds[name] = (np.zeros_like(now), np.ones_like(now)) if name in pending else (now, now)
    if not bounds:
        return np.zeros(0, dtype=bool)
    if isinstance(exclude, int) or exclude in ("any", "all"):
        least = {"any": 1, "all": len(bounds)}.get(str(exclude), exclude)
        return np.asarray(sum(lower.astype(int) for lower, _ in bounds.values()) >= int(least))
    return _value(ast.parse(exclude, mode="eval").body, bounds)[0]


def newly_excluded(
    people: Sequence[str], flagged: Mapping[str, Collection[str]], excluded: Collection[str], exclude: str | int,
    pending: Collection[str],
) -> tuple[tuple[str, ...], dict[str, int]]:  # fmt: skip
    """The participants that a rule newly excludes, and how many of them each criterion flagged.

    >>> newly_excluded(["p1", "p2", "p3"], {"speed": {"p1", "p3"}}, {"p1"}, "any", [])
    (('p3',), {'speed': 1})
    """
    sets = {name: set(names) for name, names in flagged.items()}
    flags = {name: [person in names for person in people] for name, names in sets.items()}
    earlier, out = set(excluded), follows(flags, exclude, pending)
    new = tuple(person for person, leaves in zip(people, out, strict=True) if leaves and person not in earlier)
    return new, {name: len(names.intersection(new)) for name, names in sets.items()}


def _value(node: ast.expr, bounds: Mapping[str, Bounds]) -> Bounds:
    if isinstance(node, ast.Name):
        return bounds[node.id]
    if isinstance(node, ast.UnaryOp):
        lower, upper = _value(node.operand, bounds)
        return ~upper, ~lower
    if isinstance(node, ast.BoolOp):
        parts = [_value(part, bounds) for part in node.values]
        join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        return join.reduce([lower for lower, _ in parts]), join.reduce([upper for _, upper in parts])
    raise KaratError("A rule has only names of criteria, and, or, not and brackets.")


def settings_of(rules: Mapping[str, Any] | None, study: Study | None) -> Settings:
    """The settings of the criteria to run: the stated ones, or all, completed from the study's design.

    >>> settings_of({"completion": {"at_least": 0.8}}, None)
    {'completion': {'at_least': 0.8, 'trials': None, 'person': None}}
    """
    selected = {name: {} for name in CRITERIA} if rules is None else {k: v for k, v in rules.items() if k != "exclude"}
    settings = {}
    for name, values in selected.items():
        try:
            settings[name] = criterion_settings(name, _completed(name, values, study)).model_dump()
        except ValidationError as error:
            problems = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
            raise ScreenError(Message("rules.settings", {"criterion": name, "problems": problems})) from None
        except ValueError as error:
            raise ScreenError(Message("rules.not_applicable", {"why": str(error)})) from None
    return settings


def _completed(name: str, stated: Any, study: Study | None) -> Any:
    """The stated settings, with those that follow from them or from the study."""
    if not isinstance(stated, Mapping):
        return stated
    criterion = criterion_named(name)
    implied = {} if criterion.implied is None else criterion.implied(stated)
    of_study = {} if criterion.from_study is None or study is None else criterion.from_study(study)
    return {**implied, **of_study, **stated}


def resolve_rules(rules: Mapping[str, Any] | None, study: Study | None) -> tuple[Settings, str | int | None]:
    """The settings of the criteria to run, and the rule that combines them: as given, else as the study states.

    If there are none, all criteria run that are useful by default, and there is no rule.

    >>> settings, exclude = resolve_rules({"completion": {}, "exclude": "any"}, None)
    >>> list(settings), exclude
    (['completion'], 'any')
    """
    if rules is None and study is not None:
        rules = study.screening_rules
    settings = settings_of(rules, study)
    if rules is None:
        return {name: values for name, values in settings.items() if CRITERIA[name].unasked}, None
    exclude = rules.get("exclude", "any")
    try:
        if exclude is not None and (isinstance(exclude, bool) or not isinstance(exclude, str | int)):
            raise ValueError(f"exclude = {exclude!r} is neither a rule nor a number of criteria; write {EXCLUDE_TAKES}")
        if exclude is not None:
            check_exclude_rule(exclude, list(settings))
    except ValueError as error:
        raise ScreenError(Message("rules.not_applicable", {"why": str(error)})) from None
    return settings, exclude


def applied_rule(rule: str | int | Message, skipped: Collection[str]) -> Message:
    """A rule, with the criteria of it that could not run.

    >>> print(applied_rule("any", ["remfod"]))
    any; without remfod, which could not run
    """
    return Message("rules.applied", {"rule": rule, "skipped": list(skipped) or None})
