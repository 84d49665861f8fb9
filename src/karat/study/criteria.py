"""The registry of screening criteria: their names, their settings and what a design must have for each.

It stands here and not beside the criteria themselves, so that a study file can be checked before there are any data,
without loading what computes them. A criterion registers itself with `register`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from karat.columns import nearest


class CriterionSettings(BaseModel):
    """What the settings of all criteria share."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Criterion:
    """A criterion: its name in `[screening]`, what it asks, its settings, and what a design must have for it."""

    name: str
    asks: str
    settings: type[CriterionSettings]
    needs_functions: tuple[str, ...] = ()
    """Item functions of which there must be trials."""
    needs_times: bool = False
    needs_repeated_questions: bool = False
    needs_quiz: bool = False
    needs_eligibility: bool = False


CRITERIA: dict[str, Criterion] = {}


def register(criterion: Criterion) -> Criterion:
    """Add a criterion to the registry."""
    CRITERIA[criterion.name] = criterion
    return criterion


class CompletionSettings(CriterionSettings):
    """Who answered too little of the questionnaire."""

    at_least: float = Field(0.9, ge=0, le=1, description="The share of trials that must be answered.")


class SpeedSettings(CriterionSettings):
    """Who was too fast on the whole."""

    mean_below: float | None = Field(3.0, gt=0, description="Seconds: a mean response time below is flagged.")
    median_below: float | None = Field(3.0, gt=0, description="Seconds: a median response time below is flagged.")
    share_of_expected: float | None = Field(
        None, gt=0, lt=1, description="A total time at or under this share of the stated minutes is flagged."
    )


class RemfodSettings(CriterionSettings):
    """Who rushed or paused in too many trials."""

    upper: float = Field(2.5, gt=0, description="MADs above the median from which a time is an intermission.")
    lower: float = Field(1.5, gt=0, description="MADs below the median from which a time is a rush.")
    genuine_at_least: float = Field(0.9, ge=0, le=1, description="The share of trials that must be neither.")


class PassSettings(CriterionSettings):
    """How many right answers keep somebody who guesses out."""

    alpha: float = Field(0.05, gt=0, lt=1, description="The probability with which somebody who guesses may pass.")
    slips: int | None = Field(
        None, ge=0, description="How many wrong answers are tolerated; by default as alpha allows."
    )


class ControlSettings(PassSettings):
    """Who did not tell clear cases apart."""

    account: Literal["positional", "relational", "extended", "strict", "pairwise"] = Field(
        "positional", description="How ratings of controls are judged; choices are right or wrong."
    )
    published: bool = Field(
        False, description="Judge rating controls as the published code does, and not as the paper says."
    )


class AttentionSettings(PassSettings):
    """Who missed the attention trials."""

    account: Literal["positional", "pairwise"] = Field("positional", description="How ratings are judged.")


class StraightliningSettings(CriterionSettings):
    """Who gave the same answer or a pattern throughout."""

    alpha: float = Field(0.001, gt=0, lt=1, description="How improbable a run must be by chance to be flagged.")
    shares: Literal["own", "even"] = Field(
        "own", description="By which shares of answers chance is judged: each participant's own, or even guessing."
    )


class InconsistencySettings(CriterionSettings):
    """Who answered repeated questions differently."""

    upper: float = Field(2.5, gt=0, description="MADs above the median from which a score is flagged.")


class ScaleUseSettings(CriterionSettings):
    """Who used only a small part of the scale."""

    neutral_at_most: float = Field(0.5, ge=0, le=1, description="The share of neutral answers that is tolerated.")


class QuizSettings(CriterionSettings):
    """Who did not understand the instructions."""

    attempts_at_most: int = Field(2, ge=1, description="How many attempts are tolerated.")


class EligibilitySettings(CriterionSettings):
    """Whose background contradicts what the study asks for."""


for _criterion in (
    Criterion("completion", "who answered too little of the questionnaire", CompletionSettings),
    Criterion("speed", "who was too fast on the whole", SpeedSettings, needs_times=True),
    Criterion("remfod", "who rushed or paused in too many trials", RemfodSettings, needs_times=True),
    Criterion("controls", "who did not tell clear cases apart", ControlSettings, needs_functions=("control",)),
    Criterion("attention", "who missed the attention trials", AttentionSettings, needs_functions=("attention",)),
    Criterion("straightlining", "who gave the same answer or a pattern throughout", StraightliningSettings),
    Criterion(
        "inconsistency", "who answered repeated questions differently", InconsistencySettings,
        needs_repeated_questions=True,
    ),
    Criterion("scale_use", "who used only a small part of the scale", ScaleUseSettings),
    Criterion("quiz", "who did not understand the instructions", QuizSettings, needs_quiz=True),
    Criterion("eligibility", "whose background contradicts what the study asks for", EligibilitySettings,
              needs_eligibility=True),
):  # fmt: skip
    register(_criterion)


def criterion_settings(name: str, given: Any) -> CriterionSettings:
    """The settings of a criterion as a study file states them, checked; ValueError says what is wrong.

    >>> criterion_settings("completion", {"at_least": 0.8}).at_least
    0.8
    """
    if name not in CRITERIA:
        close = nearest(name, list(CRITERIA))
        hint = f"; is {close} meant?" if close else f"; there are {', '.join(CRITERIA)}"
        raise ValueError(f"there is no screening criterion {name!r}{hint}")
    if not isinstance(given, Mapping):
        raise ValueError(f"write {name} = {{ ... }} with its settings, or {name} = {{}} for the usual ones")
    model = CRITERIA[name].settings
    unknown = [key for key in given if key not in model.model_fields]
    if unknown:
        known = ", ".join(model.model_fields) or "no settings"
        close = nearest(unknown[0], list(model.model_fields))
        hint = f"is {close} meant?" if close else f"it has {known}"
        raise ValueError(f"the criterion {name} has no setting {unknown[0]!r}; {hint}")
    return model.model_validate(given)


def check_exclude_rule(rule: str | int, stated: list[str]) -> None:
    """Whether the rule that joins the criteria can be followed; ValueError says why not.

    >>> check_exclude_rule("remfod and (attention or controls)", ["remfod", "attention", "controls"])
    """
    if isinstance(rule, int):
        if not 1 <= rule <= max(len(stated), 1):
            raise ValueError(f"exclude = {rule}, but {len(stated)} criteria are stated")
        return
    if rule in ("any", "all"):
        return
    try:
        tree = ast.parse(rule, mode="eval").body
    except SyntaxError:
        raise ValueError(f"exclude = {rule!r} is not any, all, a number or an expression over criteria") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in stated:
            raise ValueError(f"exclude names {node.id!r}, which is not stated; there are {', '.join(stated) or 'none'}")
        if not isinstance(node, ast.Name | ast.BoolOp | ast.UnaryOp | ast.And | ast.Or | ast.Not | ast.Load):
            raise ValueError(f"exclude = {rule!r}: only names of criteria, and, or, not and brackets can be used")
