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
    stage: Literal["completion", "clock", "answers"] = "answers"
    """When it runs: cutoffs are computed on the data that earlier stages left."""
    needs_functions: tuple[str, ...] = ()
    """Item functions of which there must be trials."""
    needs_times: bool = False
    needs_repeated_questions: bool = False
    needs_quiz: bool = False
    needs_eligibility: bool = False
    unasked: bool = True
    """Whether it also runs where no criteria are stated."""


CRITERIA: dict[str, Criterion] = {}


def register(criterion: Criterion) -> Criterion:
    """Add a criterion to the registry."""
    CRITERIA[criterion.name] = criterion
    return criterion


class CompletionSettings(CriterionSettings):
    """Who answered too little of the questionnaire."""

    at_least: float = Field(0.9, ge=0, le=1, description="The share of trials that must be answered.")
    trials: int | None = Field(
        None, ge=1, description="How many trials the questionnaire has; by default as the plan says, or the most seen."
    )
    person: str | None = Field(
        None, description="The background column that names the person, else `person`; who comes again is flagged."
    )


class SpeedSettings(CriterionSettings):
    """Who was too fast on the whole."""

    mean_below: float | None = Field(
        3.0,
        gt=0,
        description="Seconds: a mean response time below is flagged; none where only another cutoff is stated.",
    )
    median_below: float | None = Field(
        3.0, gt=0, description="Seconds: a median below is flagged; none where only another cutoff is stated."
    )
    relative_below: float | None = Field(
        None, gt=0, lt=1, description="A median time below this share of the median participant's is flagged."
    )
    share_of_expected: float | None = Field(
        None, gt=0, lt=1, description="A total time at or under this share of the stated minutes is flagged."
    )
    expected_minutes: float | None = Field(
        None, gt=0, description="How long the study should take; by default the minutes of the recruitment."
    )


class RemfodSettings(CriterionSettings):
    """Who rushed or paused in too many trials."""

    rule: Literal[
        "remfod", "participant", "function", "global", "miller-3", "miller-2.5", "miller-2", "mean-sd", "single"
    ] = Field("remfod", description="By which rule times are outlying; all but remfod are for comparison.")
    upper: float | None = Field(
        None,
        gt=0,
        description="MADs above the median from which a time is an intermission; by default 2.5, or the rule's.",
    )
    lower: float | None = Field(
        None, gt=0, description="MADs below the median from which a time is a rush; by default 1.5, or the rule's."
    )
    genuine_at_least: float | None = Field(
        None, ge=0, le=1, description="The share of trials that must be neither; by default 0.9, or the rule's."
    )
    mad_constant: float = Field(1.4826, gt=0, description="What makes a MAD comparable with a standard deviation.")
    length: str | None = Field(
        None, description="A column with the length of the sentence or its text: times are adjusted for it first."
    )
    inclusive: bool = Field(False, description="Whether a time that equals a cutoff is outlying, as in published code.")


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
    neutral_at_most: float | None = Field(
        None, ge=0, le=1, description="The share of neutral answers to controls that is tolerated."
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

    answers: dict[str, list[str]] = Field(
        {}, description="Background column = the answers that admit; by default those of the study's questions."
    )
    same: dict[str, str] = Field(
        {},
        description="Background column = the column, such as of the platform's prescreening, that must say the same.",
    )


class EvenOddSettings(CriterionSettings):
    """Whose answers to two halves of the same questions do not go together."""

    at_least: float = Field(0.0, ge=-1, le=1, description="The correlation of both halves that is asked for.")
    groups: list[str] | None = Field(
        None,
        description="The columns that tell apart what is asked; by default question, function, status, conditions.",
    )


class MahalanobisSettings(CriterionSettings):
    """Whose answers are far from everybody's, all items together."""

    alpha: float = Field(0.001, gt=0, lt=1, description="How improbable a distance must be to be flagged.")


class PersonTotalSettings(CriterionSettings):
    """Whose answers do not go along with those of the others."""

    at_least: float = Field(0.0, ge=-1, le=1, description="The correlation with the others' means that is asked for.")


class TimeFilterSettings(CriterionSettings):
    """Whose mean response time is low among all."""

    rule: Literal["mean", "mean-sd"] = Field(
        "mean-sd", description="A mean time below the mean of all times is flagged, or one standard deviation below."
    )
    by_difficulty: str | None = Field(
        None, description="A column: times must be short at each of its levels, such as easy and hard."
    )
    time_limit: float | None = Field(
        None, ge=0, description="Seconds that a trial could take, which forbids the rule; 0 where there was no limit."
    )


class MarkovSettings(CriterionSettings):
    """Whose answers follow a pattern of transitions."""

    cutoffs: Literal["simulated", "published"] = Field(
        "simulated", description="Cutoffs simulated for this design, or those of the paper for two answers."
    )
    alpha: float = Field(
        0.05, gt=0, lt=1, description="How probable a flag is for somebody credible, over all patterns."
    )
    strategy: Literal["rows", "average", "minimum"] = Field(
        "rows", description="What must be under a cutoff: all rows of the matrix, their average, or the smallest."
    )
    seed: int = Field(1, ge=0, description="Where the random numbers of the simulation begin.")
    simulations: int = Field(5000, ge=1, description="How many credible participants are simulated.")


class RiskSettings(MarkovSettings):
    """Who has a high risk level by pattern, time and accuracy together."""

    doubtful: Literal["left out", "counted"] = Field(
        "left out", description="Whether items whose right answer disagrees with nearly everybody count as accuracy."
    )
    time_limit: float | None = Field(
        None, ge=0, description="Seconds that a trial could take, which forbids the rule; 0 where there was no limit."
    )


class DeletionSettings(CriterionSettings):
    """Without whom the model of all answers changes most."""

    alpha: float = Field(0.05, gt=0, lt=1, description="How improbable a distance must be, by the rule that decides.")
    simulations: int = Field(
        0, ge=0, description="How many draws a simulated null has; 0 for none, or 999 where it decides."
    )
    seed: int = Field(1, ge=0, description="Where the random numbers of the simulation begin.")
    at_most: int = Field(2000, ge=2, description="With more participants than this it is not computed.")
    by: Literal["published", "simulated"] = Field(
        "published", description="Whether the published chi-squared rule decides, or the simulated null."
    )


class CredenceSettings(CriterionSettings):
    """How probable it is that somebody answered in earnest."""

    below: float = Field(0.05, gt=0, lt=1, description="The probability of being in earnest below which is flagged.")
    seed: int = Field(1, ge=0, description="Where the random numbers begin, by which a second group is looked for.")


class ProcedureSettings(CriterionSettings):
    """Who meets the crowd index, the criteria of answers and an auxiliary factor, one after the other."""

    order: Literal["markov first", "deletion first"] = Field(
        "markov first", description="Which criterion comes first; the auxiliary factor stands between them."
    )
    criteria: list[Literal["markov", "deletion"]] | None = Field(
        None, description="The criteria that are asked, as a list, where it is not both."
    )
    candidates_only: bool = Field(
        True, description="Whether later steps look at those who met all steps before, or at everybody."
    )
    auxiliary: Literal["time", "accuracy", "completeness", "none"] = Field(
        "time", description="The auxiliary factor, or none."
    )
    cutoffs: Literal["simulated", "published"] = Field(
        "simulated", description="Cutoffs of markov: simulated for this design, or those of the paper for two answers."
    )
    alpha: float = Field(0.05, gt=0, lt=1, description="Alpha of both criteria.")
    rule: Literal["mean", "mean-sd"] = Field(
        "mean-sd", description="Time or accuracy is low below the mean, or one standard deviation below."
    )
    strategy: Literal["rows", "average", "minimum"] = Field("rows", description="The strategy of markov.")
    verdict: Literal["every step", "any criterion"] = Field(
        "every step",
        description="Flagged is who meets every step, or any criterion and the auxiliary factor "
        "(with candidates_only = false).",
    )
    least_index: float = Field(
        0.1, ge=0, le=1, description="The Spammer Index below which nobody is looked at; 0 looks at everybody."
    )
    doubtful: Literal["left out", "counted"] = Field(
        "left out", description="Whether items whose right answer disagrees with nearly everybody count as accuracy."
    )
    time_limit: float | None = Field(
        None, ge=0, description="Seconds that a trial could take, which forbids time; 0 where there was no limit."
    )
    simulations: int = Field(5000, ge=1, description="How many credible participants are simulated for markov.")
    deletion_simulations: int = Field(
        0, ge=0, description="How many draws the simulated null of deletion has; it decides where there is one."
    )
    seed: int = Field(1, ge=0, description="Where the random numbers of the simulations begin.")


for _criterion in (
    Criterion("eligibility", "whose background contradicts what the study asks for", EligibilitySettings,
              "completion", needs_eligibility=True),
    Criterion("quiz", "who did not understand the instructions", QuizSettings, "completion", needs_quiz=True),
    Criterion("completion", "who answered too little of the questionnaire", CompletionSettings, "completion"),
    Criterion("speed", "who was too fast on the whole", SpeedSettings, "clock", needs_times=True),
    Criterion("remfod", "who rushed or paused in too many trials", RemfodSettings, "clock", needs_times=True),
    Criterion("controls", "who did not tell clear cases apart", ControlSettings, needs_functions=("control",)),
    Criterion("attention", "who missed the attention trials", AttentionSettings, needs_functions=("attention",)),
    Criterion("straightlining", "who gave the same answer or a pattern throughout", StraightliningSettings),
    Criterion(
        "inconsistency", "who answered repeated questions differently", InconsistencySettings,
        needs_repeated_questions=True,
    ),
    Criterion("scale_use", "who used only a small part of the scale", ScaleUseSettings),
    Criterion("even_odd", "whose answers to two halves of the questions do not go together", EvenOddSettings),
    Criterion("mahalanobis", "whose answers are far from everybody's", MahalanobisSettings),
    Criterion("person_total", "whose answers do not go along with the others'", PersonTotalSettings),
    Criterion("time_filter", "whose mean response time is low among all", TimeFilterSettings, "clock",
              needs_times=True),
    Criterion("markov", "whose answers follow a pattern of transitions", MarkovSettings),
    Criterion("risk", "who stands out by pattern, time and accuracy together", RiskSettings, needs_times=True),
    Criterion("deletion", "without whom the model of all answers changes most", DeletionSettings),
    Criterion("credence", "how probable it is that somebody answered in earnest", CredenceSettings),
    Criterion("procedure", "who meets all steps of the procedure for crowds", ProcedureSettings, unasked=False),
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
