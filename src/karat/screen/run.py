"""The criteria together: evidence of all that apply, and the rule of the study that says whom it excludes.

Criteria run in three stages, as published: completion, then the clock, then the answers. Whoever the rule excludes by
what is known after a stage is left out of the next, so that nobody who is gone moves the cutoffs of those who stay.
Without rules nobody is excluded: all criteria that apply give evidence, and those that do not say why.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.errors import KaratError, counted
from karat.judgments import Judgments
from karat.screen.attention import attention
from karat.screen.completion import completion
from karat.screen.controls import controls
from karat.screen.evidence import Evidence, ScreenError
from karat.screen.inconsistency import inconsistency
from karat.screen.remfod import remfod
from karat.screen.scale_use import scale_use
from karat.screen.speed import speed
from karat.screen.straightlining import straightlining
from karat.study.criteria import check_exclude_rule, criterion_settings

STAGES: tuple[Mapping[str, Callable[..., Evidence]], ...] = (
    {"completion": completion},
    {"speed": speed, "remfod": remfod},
    {
        "controls": controls,
        "attention": attention,
        "straightlining": straightlining,
        "inconsistency": inconsistency,
        "scale_use": scale_use,
    },
)


@dataclass(frozen=True)
class Screening:
    """The evidence of every criterion, whom the stated rule excludes, and what could not run."""

    judgments: Judgments
    evidence: dict[str, Evidence]
    excluded: tuple[str, ...]
    skipped: dict[str, str]
    """Criteria that could not run, with the reason."""
    exclude: str | int | None
    """The rule that joins the criteria; None where none was stated."""
    remaining: dict[str, int] = field(default_factory=dict)
    """How many participants were left after each stage."""

    @property
    def kept(self) -> Judgments:
        """The judgments of those who stay."""
        frame = self.judgments.frame.filter(~pl.col("participant").is_in(list(self.excluded)))
        people = self.judgments.participants.filter(~pl.col("participant").is_in(list(self.excluded)))
        return Judgments(frame, self.judgments.scales, people)

    def table(self) -> pl.DataFrame:
        """One row a participant: whether excluded, and each criterion's score, verdict and reason."""
        table = self.judgments.participants.select("participant")
        table = table.with_columns(excluded=pl.col("participant").is_in(list(self.excluded)))
        for name, evidence in self.evidence.items():
            own = evidence.participants.select(
                "participant", *(pl.col(c).alias(f"{name}_{c}") for c in ("score", "threshold", "flagged", "reason"))
            )
            table = table.join(own, on="participant", how="left", maintain_order="left")
        return table

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, as `screening.json` holds it."""
        people: dict[str, dict[str, Any]] = {
            name: {"excluded": name in self.excluded, "criteria": {}}
            for name in self.judgments.participants["participant"].to_list()
        }
        for criterion, evidence in self.evidence.items():
            for row in evidence.participants.to_dicts():
                told = {key: row[key] for key in ("score", "threshold", "flagged", "reason")}
                people[row["participant"]]["criteria"][criterion] = told
        return {
            "participants": people,
            "skipped": self.skipped,
            "summary": {
                "participants": len(people), "excluded": len(self.excluded), "remaining": self.remaining,
                "flagged": {name: len(evidence.flagged) for name, evidence in self.evidence.items()},
            },
            "settings": {name: evidence.settings for name, evidence in self.evidence.items()}
            | {"exclude": self.exclude},
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [str(evidence) for evidence in self.evidence.values()]
        lines += [f"{name} could not run: {why}" for name, why in self.skipped.items()]
        everyone = self.judgments.participants.height
        if self.exclude is None:
            return "\n".join([*lines, "Nobody is excluded: no rule was stated."])
        verdict = f"{len(self.excluded)} of {counted(everyone, 'participant')} excluded (rule: {self.exclude})."
        return "\n".join([*lines, verdict])


def run(judgments: Judgments, rules: Mapping[str, Any] | None = None, minutes: float | None = None) -> Screening:
    """Run the criteria that `rules` state, with their settings and `exclude`, or all that apply with usual settings.

    `rules` is what `[screening]` of a study file holds: `{"completion": {"at_least": 0.9}, "remfod": {}, "exclude":
    "any"}`; `minutes` is how long the study was said to take, for rules about working time. A criterion that is stated
    and cannot run is listed in `skipped`, never dropped in silence.

    >>> import karat
    >>> screening = run(karat.datasets.load("likert"), {"completion": {}, "remfod": {}, "exclude": "any"})
    >>> screening.remaining
    {'completion': 47, 'clock': 42, 'answers': 42}
    """
    stated = dict(rules or {})
    exclude = stated.pop("exclude", "any") if rules is not None else None
    settings = {name: criterion_settings(name, given).model_dump() for name, given in stated.items()}
    if "speed" in settings:
        settings["speed"]["expected_minutes"] = minutes
    known = {name for stage in STAGES for name in stage}
    skipped = {name: "karat does not compute this criterion yet" for name in settings if name not in known}
    if exclude is not None:
        check_exclude_rule(exclude, list(settings))
    evidence: dict[str, Evidence] = {}
    excluded: list[str] = []
    remaining: dict[str, int] = {}
    left = judgments
    for stage, criteria in zip(("completion", "clock", "answers"), STAGES, strict=True):
        for name, criterion in criteria.items():
            if rules is None or name in settings:
                try:
                    evidence[name] = criterion(left, **settings.get(name, {}))
                except ScreenError as error:
                    skipped[name] = str(error)
        if exclude is not None:
            excluded = _excluded(judgments, evidence, exclude, list(settings))
            left = _without(judgments, excluded)
        remaining[stage] = judgments.participants.height - len(excluded)
    return Screening(judgments, evidence, tuple(excluded), skipped, exclude, remaining)


def _without(judgments: Judgments, excluded: list[str]) -> Judgments:
    frame = judgments.frame.filter(~pl.col("participant").is_in(excluded))
    if not frame.height:
        raise ScreenError("The stated rules exclude every participant; nobody is left to go on with.")
    people = judgments.participants.filter(~pl.col("participant").is_in(excluded))
    return Judgments(frame, judgments.scales, people)


def _excluded(
    judgments: Judgments, evidence: Mapping[str, Evidence], exclude: str | int, stated: list[str]
) -> list[str]:
    """Whom the rule excludes by the evidence so far; a criterion that has not run flags nobody."""
    flagged = {name: set(evidence[name].flagged) if name in evidence else set() for name in stated}
    people = judgments.participants["participant"].to_list()
    return [person for person in people if follows({name: person in who for name, who in flagged.items()}, exclude)]


def follows(flags: Mapping[str, bool], exclude: str | int) -> bool:
    """Whether somebody with these flags is excluded by a rule.

    >>> follows({"remfod": True, "attention": False}, "remfod and not attention")
    True
    """
    if isinstance(exclude, int):
        return sum(flags.values()) >= exclude
    if exclude in ("any", "all"):
        return any(flags.values()) if exclude == "any" else bool(flags) and all(flags.values())
    return _value(ast.parse(exclude, mode="eval").body, flags)


def _value(node: ast.expr, flags: Mapping[str, bool]) -> bool:
    if isinstance(node, ast.Name):
        return flags[node.id]
    if isinstance(node, ast.UnaryOp):
        return not _value(node.operand, flags)
    if isinstance(node, ast.BoolOp):
        values = [_value(part, flags) for part in node.values]
        return all(values) if isinstance(node.op, ast.And) else any(values)
    raise KaratError("A rule has only names of criteria, and, or, not and brackets.")
