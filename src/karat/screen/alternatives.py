"""Reasonable settings of each criterion: what else a careful researcher might have stated.

Each row says the setting in words, the setting itself (none: the criterion is left out) and where it comes from. Rows
marked usual make the smaller grid that is tried where a study states no rules. What belongs to the study and is no
decision about people - the length of the questionnaire, its expected duration, the column of lengths - is kept as it is
stated.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.judgments import Judgments
from karat.judgments.scales import Ordinal
from karat.languages import language_of
from karat.messages import Message, message_of
from karat.screen.evidence import ScreenError
from karat.screen.rules import settings_of
from karat.screen.run import STAGES, Compute
from karat.screen.time_rules import time_rule
from karat.study.criteria import CRITERIA, criterion_named
from karat.study.study import Study

OUT = "out"
PIEPER, HAEUSSLER, BA = "Pieper, Börner and Kiss", "Häussler and Juzek", "Ba, Mancenido, Chiou and Pan"


@dataclass(frozen=True)
class Alternative:
    """One way to state a criterion."""

    words: str
    settings: Mapping[str, Any] | None
    source: str
    usual: bool = False
    ratings: bool = False
    """Whether it is an account of ratings, which says nothing new of other answers."""
    where: str | None = None
    """A setting that must be stated for it to be tried, because it takes long and is computed for many rules."""


def _out(usual: bool = True) -> Alternative:
    return Alternative(OUT, None, "left to the model", usual)


ALTERNATIVES: dict[str, tuple[Alternative, ...]] = {
    "eligibility": (),
    "quiz": (Alternative("1 attempt", {"attempts_at_most": 1}, "strict"), _out(False)),
    "completion": (
        Alternative("90 %", {"at_least": 0.9}, PIEPER, usual=True),
        Alternative("80 %", {"at_least": 0.8}, "lenient", usual=True),
        Alternative("95 %", {"at_least": 0.95}, "strict"),
    ),
    "speed": (
        Alternative("3 s", {"mean_below": 3.0, "median_below": 3.0}, HAEUSSLER, usual=True),
        Alternative(
            "40 % of the median", {"mean_below": None, "median_below": None, "relative_below": 0.4},
            "the share of Macketanz et al., relative to the others",
        ),
        _out(),
    ),
    "remfod": (
        Alternative("90 % genuine", {}, PIEPER, usual=True),
        Alternative("80 % genuine", {"genuine_at_least": 0.8}, "lenient", usual=True),
        Alternative("95 % genuine", {"genuine_at_least": 0.95}, "strict"),
        Alternative("by participant only", {"rule": "participant"}, PIEPER + ", figure 2"),
        Alternative("3 MADs both ways", {"upper": 3.0, "lower": 3.0}, "the conservative choice of Leys et al."),
        _out(),
    ),
    "controls": (
        Alternative("positional, .05", {}, PIEPER, usual=True),
        Alternative("positional, .01", {"alpha": 0.01}, "strict"),
        Alternative("extended", {"account": "extended"}, PIEPER + ", equation 4", usual=True, ratings=True),
        Alternative("strict", {"account": "strict"}, "Zanuttini et al.", ratings=True),
        _out(),
    ),
    "attention": (
        Alternative("positional, .05", {}, PIEPER, usual=True),
        Alternative("no slips", {"slips": 0}, "strict"),
        _out(),
    ),
    "straightlining": (Alternative("p < .001", {}, "usual", usual=True), _out()),
    "inconsistency": (
        Alternative("2.5 MADs", {"upper": 2.5}, "usual"), Alternative("3 MADs", {"upper": 3.0}, "lenient"), _out(False),
    ),
    "scale_use": (
        Alternative("half neutral", {"neutral_at_most": 0.5}, "usual"),
        Alternative("a third neutral", {"neutral_at_most": 0.33}, "strict"),
        _out(False),
    ),
    "even_odd": (
        Alternative("r >= 0", {"at_least": 0.0}, "usual"), Alternative("r >= .3", {"at_least": 0.3}, "strict"),
        _out(False),
    ),
    "mahalanobis": (
        Alternative("p < .001", {"alpha": 0.001}, "usual"), Alternative("p < .01", {"alpha": 0.01}, "strict"),
        _out(False),
    ),
    "person_total": (
        Alternative("r >= 0", {"at_least": 0.0}, "usual"), Alternative("r >= .2", {"at_least": 0.2}, "strict"),
        _out(False),
    ),
    "time_filter": (
        Alternative("mean - SD", {"rule": "mean-sd"}, BA + ", text"),
        Alternative("below the mean", {"rule": "mean"}, BA + ", table 2"), _out(False),
    ),
    "markov": (
        Alternative("all rows, .05", {}, BA + ", first strategy"),
        Alternative("all rows, .01", {"alpha": 0.01}, "strict"),
        Alternative("average, .05", {"strategy": "average"}, BA + ", equation 5"),
        _out(False),
    ),
    "risk": (
        Alternative("high risk", {}, BA + ", table 4"),
        Alternative("high risk, .01", {"alpha": 0.01}, "strict"), _out(False),
    ),
    "deletion": (
        Alternative("published, .05", {"alpha": 0.05}, BA), Alternative("published, .01", {"alpha": 0.01}, "strict"),
        Alternative("simulated, .05", {"by": "simulated"}, "what is usual for these tasks", where="simulations"),
        _out(False),
    ),
    "credence": (
        Alternative("p < .05", {"below": 0.05}, "usual"), Alternative("p < .01", {"below": 0.01}, "lenient"),
        Alternative("p < .5", {"below": 0.5}, "strict: rather not in earnest"), _out(False),
    ),
    "procedure": (
        Alternative("every step", {}, BA + ", figure 10"),
        Alternative(
            "any criterion", {"verdict": "any criterion", "candidates_only": False}, "lenient towards the two criteria",
        ),
        Alternative("below the mean", {"rule": "mean"}, BA + ", table 2"), _out(False),
    ),
}  # fmt: skip
"""Eligibility has none: who belongs to the population of a study is no matter of screening. A criterion that is not
listed is tried as stated and left out."""
KEPT_AS_STATED = {
    "completion": ("trials", "person"), "speed": ("expected_minutes",), "remfod": ("length", "mad_constant"),
    "time_filter": ("by_difficulty", "time_limit"), "markov": ("seed", "simulations"),
    "risk": ("seed", "simulations", "time_limit"), "deletion": ("seed", "simulations", "at_most"),
    "credence": ("seed",),
    "procedure": ("seed", "simulations", "deletion_simulations", "time_limit", "auxiliary"),
}  # fmt: skip

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
    names = [name for name in CRITERIA if name in stated or name in given or (rules is None and name in ALTERNATIVES)]
    names.sort(key=lambda name: STAGES.index(CRITERIA[name].stage))
    ratings = all(isinstance(scale, Ordinal) for scale in judgments.scales.values())
    grid: dict[str, list[Option]] = {}
    notes: list[Message] = []
    for name in names:
        wanted = given[name] if name in given else [
            one.settings for one in ALTERNATIVES.get(name, (_out(False),))
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
    kept = {key: stated[key] for key in KEPT_AS_STATED.get(name, ()) if stated.get(key) is not None}
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
        return OUT
    of_the_study = KEPT_AS_STATED.get(name, ())

    def decided(some: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in (_spelled(name, some) or {}).items() if key not in of_the_study}

    own, usual = decided(settings), decided({})
    for one in ALTERNATIVES.get(name, ()):
        if one.settings is not None and decided(one.settings) == own:
            return one.words
    return ", ".join(f"{key} {_shown(value)}" for key, value in own.items() if value != usual[key]) or "usual"


def _spelled(name: str, settings: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """All settings, with what the rule of remfod says where it is not stated."""
    if settings is None:
        return None
    whole = CRITERIA[name].settings().model_dump() | dict(settings)
    if name == "remfod":
        rule = time_rule(whole["rule"], whole["upper"], whole["lower"], whole["genuine_at_least"])
        whole |= {"upper": rule.upper, "lower": rule.lower, "genuine_at_least": rule.genuine_at_least}
    return whole


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
