"""The criteria that karat brings: what each asks, its settings, and where it is computed. A new one is added here.

Settings stand here and not beside what computes them, so that a study file can be checked without loading
`karat.screen`. What computes a criterion is named as "module:function" and loaded when it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from karat.study.criterion import Criterion, CriterionSettings
from karat.study.time_rules import TIME_RULES


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
        description="MADs above the median beyond which a time is an intermission; by default 2.5, or the rule's.",
    )
    lower: float | None = Field(
        None, gt=0, description="MADs below the median beyond which a time is a rush; by default 1.5, or the rule's."
    )
    genuine_at_least: float | None = Field(
        None, ge=0, le=1, description="The share of trials that must be neither; by default 0.9, or the rule's."
    )
    mad_constant: float = Field(1.4826, gt=0, description="What makes a MAD comparable with a standard deviation.")
    length: str | None = Field(
        None, description="A column with the length of the sentence or its text: times are adjusted for it first."
    )
    inclusive: bool = Field(False, description="Whether a time that equals a cutoff is outlying, as in published code.")

    @classmethod
    def resolved(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """With the factors of the rule, where they are left to it.

        >>> RemfodSettings.resolved({"rule": "remfod", "upper": 3.0, "lower": None})
        {'rule': 'remfod', 'upper': 3.0, 'lower': 1.5, 'genuine_at_least': 0.9}
        """
        usual = TIME_RULES[given.get("rule", "remfod")]
        factors = {key: getattr(usual, key) for key in ("upper", "lower", "genuine_at_least")}
        return {**given, **{key: value for key, value in factors.items() if given.get(key) is None}}


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


BUILT_IN = (
    Criterion(
        "eligibility", "Eligibility", "whose background contradicts what the study asks for",
        EligibilitySettings, "karat.screen.eligibility:eligibility", stage="completion", needs_eligibility=True,
    ),
    Criterion(
        "quiz", "Comprehension quiz", "who did not understand the instructions",
        QuizSettings, "karat.screen.quiz:quiz", stage="completion", needs_quiz=True,
    ),
    Criterion(
        "completion", "Completion", "who answered too little of the questionnaire",
        CompletionSettings, "karat.screen.completion:completion", stage="completion",
        in_parts="karat.screen.parted.completion:completion_in_parts",
    ),
    Criterion(
        "speed", "Speed", "who was too fast on the whole",
        SpeedSettings, "karat.screen.speed:speed", stage="clock",
        in_parts="karat.screen.parted.speed:speed_in_parts",
    ),
    Criterion(
        "remfod", "Response times (ReMFOD)", "who rushed or paused in too many trials",
        RemfodSettings, "karat.screen.remfod:remfod", stage="clock",
        in_parts="karat.screen.parted.remfod:remfod_in_parts",
    ),
    Criterion(
        "controls", "Control sentences", "who did not tell clear cases apart",
        ControlSettings, "karat.screen.controls:controls", needs_functions=("control",), by_the_key=True,
        in_parts="karat.screen.parted.alone:controls_in_parts",
    ),
    Criterion(
        "attention", "Attention trials", "who missed the attention trials",
        AttentionSettings, "karat.screen.attention:attention", needs_functions=("attention",), by_the_key=True,
        in_parts="karat.screen.parted.alone:attention_in_parts",
    ),
    Criterion(
        "straightlining", "Answer patterns", "who gave the same answer or a pattern throughout",
        StraightliningSettings, "karat.screen.straightlining:straightlining",
        in_parts="karat.screen.parted.alone:straightlining_in_parts",
    ),
    Criterion(
        "inconsistency", "Repeated questions", "who answered repeated questions differently",
        InconsistencySettings, "karat.screen.inconsistency:inconsistency", needs_repeated_questions=True,
        in_parts="karat.screen.parted.inconsistency:inconsistency_in_parts",
    ),
    Criterion(
        "scale_use", "Use of the scale", "who used only a small part of the scale",
        ScaleUseSettings, "karat.screen.scale_use:scale_use",
    ),
    Criterion(
        "even_odd", "Even-odd consistency", "whose answers to two halves of the questions do not go together",
        EvenOddSettings, "karat.screen.even_odd:even_odd",
    ),
    Criterion(
        "mahalanobis", "Distance of answers", "whose answers are far from everybody's",
        MahalanobisSettings, "karat.screen.mahalanobis:mahalanobis",
    ),
    Criterion(
        "person_total", "Agreement with others", "whose answers do not go along with the others'",
        PersonTotalSettings, "karat.screen.person_total:person_total",
    ),
    Criterion(
        "time_filter", "Mean time", "whose mean response time is low among all",
        TimeFilterSettings, "karat.screen.time_filter:time_filter", stage="clock",
    ),
    Criterion(
        "markov", "Transitions between answers", "whose answers follow a pattern of transitions",
        MarkovSettings, "karat.screen.markov:markov", in_tasks=True,
        in_parts="karat.screen.parted.markov:markov_in_parts",
    ),
    Criterion(
        "risk", "Risk level", "who stands out by pattern, time and accuracy together",
        RiskSettings, "karat.screen.risk:risk", by_the_key=True, in_tasks=True,
    ),
    Criterion(
        "deletion", "Change of the model", "without whom the model of all answers changes most",
        DeletionSettings, "karat.screen.deletion:deletion", in_tasks=True,
    ),
    Criterion(
        "credence", "Credence", "how probable it is that somebody answered in earnest",
        CredenceSettings, "karat.screen.credence:credence",
        in_parts="karat.screen.parted.credence:credence_in_parts",
    ),
    Criterion(
        "procedure", "Steps for crowds", "who meets all steps of the procedure for crowds",
        ProcedureSettings, "karat.screen.procedure:procedure", in_tasks=True, unasked=False,
    ),
)  # fmt: skip
"""In this order they run where no rules are stated."""
