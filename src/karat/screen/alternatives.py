"""Reasonable settings of each criterion, combined: what else a careful researcher might have stated.

Each criterion lists its alternatives (`karat.study.criterion.Alternative`): the setting in words, the setting itself
(none: the criterion is left out) and where it comes from. Those marked usual make the smaller grid that is tried where
a study states no rules. What belongs to the study and is no
decision about people - the length of the questionnaire, its expected duration, the column of lengths - is kept as it is
stated.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from karat.judgments import Judgments
from karat.judgments.scales import Ordinal
from karat.languages import language_of
from karat.messages import Message, message_of
from karat.screen.evidence import ScreenError
from karat.screen.rules import settings_of
from karat.screen.run import STAGES, Compute
from karat.study.criteria import CRITERIA, criterion_named, left_out
from karat.study.study import Study

Option = tuple[str, dict[str, Any] | None]
"""A setting in words, and complete; None where the criterion is left out."""


def options(
    judgments: Judgments,
    rules: Mapping[str, Any] | None,
    study: Study | None,
    given: Mapping[str, Sequence[Mapping[str, Any] | None]] | None,
    compute: Compute,
) -> tuple[dict[str, list[Option]], list[Message]]:
    """The settings to combine, criterion by criterion in the order of the stages, the stated one first; and notes.

    `given` replaces the alternatives of the criteria that it names. An alternative that cannot run on these judgments
    is left out with a note.
    """
    given = given or {}
    for name in given:
        try:
            criterion_named(name)
        except ValueError as error:
            raise ScreenError(Message("alternatives.unknown", {"why": str(error)})) from None
    stated = settings_of({} if rules is None else rules, study)
    usual = settings_of(None, study)
    names = [name for name in CRITERIA if name in stated or name in given or rules is None]
    names.sort(key=lambda name: STAGES.index(CRITERIA[name].stage))
    ratings = all(isinstance(scale, Ordinal) for scale in judgments.scales.values())
    grid: dict[str, list[Option]] = {}
    notes: list[Message] = []
    for name in names:
        wanted = given[name] if name in given else [
            one.settings for one in CRITERIA[name].alternatives
            if (rules is not None or one.usual) and (ratings or not one.ratings)
            and (one.where is None or stated.get(name, {}).get(one.where))
        ]  # fmt: skip
        first = [] if rules is None else [stated.get(name)]
        own = [_complete(name, one, stated.get(name, usual[name])) for one in wanted]
        found = _distinct(name, first + own)
        grid[name] = found[: len(first)]
        idle = None if name not in stated else _cannot_run(name, stated[name], compute)
        if idle is not None:
            notes.append(Message("alternatives.stated", {"criterion": name, "why": idle}))
        for words, settings in found[len(first) :]:
            if settings is None and idle is not None and rules is not None and rules.get("exclude", "any") == "any":
                continue  # what cannot run excludes nobody already
            why = None if settings is None else _cannot_run(name, settings, compute)
            if why is None:
                grid[name].append((words, settings))
            elif rules is not None or name in given:
                notes.append(Message("alternatives.not_tried", {"criterion": name, "setting": words, "why": why}))
    return {name: own for name, own in grid.items() if any(settings is not None for _, settings in own)}, notes


def _complete(name: str, settings: Mapping[str, Any] | None, stated: Mapping[str, Any]) -> dict[str, Any] | None:
    """All settings of an alternative: its own, what belongs to the study, and the usual ones."""
    if settings is None:
        return None
    kept = {key: stated[key] for key in CRITERIA[name].of_the_study if stated.get(key) is not None}
    return settings_of({name: {**kept, **settings}}, None)[name]


def _distinct(name: str, settings: Sequence[dict[str, Any] | None]) -> list[Option]:
    """Settings that mean the same only once, each with words of its own."""
    found: list[Option] = []
    used: list[str] = []
    for one in settings:
        if all(_spelled(name, one) != _spelled(name, other) for _, other in found):
            words = in_words(name, one)
            used.append(words)
            found.append((f"{words} ({used.count(words)})" if used.count(words) > 1 else words, one))
    return found


def _cannot_run(name: str, settings: dict[str, Any], compute: Compute) -> Message | None:
    try:
        compute(name, (), settings)
    except ScreenError as error:
        return message_of(error)
    return None


def in_words(name: str, settings: Mapping[str, Any] | None) -> str:
    """A setting as the table of alternatives calls it, or what is not as usual in it.

    >>> in_words("completion", {"at_least": 0.8}), in_words("completion", {"at_least": 0.85}), in_words("remfod", None)
    ('80 %', 'at_least .85', 'out')
    >>> in_words("remfod", {"genuine_at_least": 0.9})
    '90 % genuine'
    """
    if settings is None:
        return left_out().words
    of_the_study = CRITERIA[name].of_the_study

    def decided(some: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in (_spelled(name, some) or {}).items() if key not in of_the_study}

    own, usual = decided(settings), decided({})
    for one in CRITERIA[name].alternatives:
        if one.settings is not None and decided(one.settings) == own:
            return one.words
    return ", ".join(f"{key} {_shown(value)}" for key, value in own.items() if value != usual[key]) or "usual"


def _spelled(name: str, settings: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """All settings, with what something else decides where it is not stated."""
    if settings is None:
        return None
    own = CRITERIA[name].settings
    return own.resolved(own().model_dump() | dict(settings))


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return language_of("en").probability(value) if isinstance(value, float) and value else str(value)


def without_criteria(exclude: str | int, kept: Collection[str]) -> str | int | None:
    """The rule that is left when only some criteria are in it; None where nothing is.

    What is left out leaves its `and` or `or`, and a number of criteria becomes at most as many as there are.

    >>> without_criteria("remfod and (attention or controls)", ["remfod", "controls"])
    'remfod and controls'
    """
    if not kept:
        return None
    if isinstance(exclude, int):
        return min(exclude, len(kept))
    if exclude in ("any", "all"):
        return exclude
    left = _pruned(ast.parse(exclude, mode="eval").body, kept)
    return None if left is None else ast.unparse(left)


def _pruned(node: ast.expr, kept: Collection[str]) -> ast.expr | None:
    if isinstance(node, ast.Name):
        return node if node.id in kept else None
    if isinstance(node, ast.UnaryOp):
        inner = _pruned(node.operand, kept)
        return None if inner is None else ast.UnaryOp(node.op, inner)
    if isinstance(node, ast.BoolOp):
        parts = [part for value in node.values if (part := _pruned(value, kept)) is not None]
        return ast.BoolOp(node.op, parts) if len(parts) > 1 else parts[0] if parts else None
    raise ScreenError(Message("rules.syntax"))
