"""The keys of a study file, each with its meaning, type and default.

`docs/reference/study-file.md` is made from the descriptions in these models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails

from karat.errors import SettingError, counted
from karat.judgments.columns import FUNCTIONS, meant
from karat.packages import PackageError
from karat.study.block_keys import BlockKeys, ScaleSettings
from karat.study.criteria import EXCLUDE_TAKES, check_exclude_rule, criterion_settings
from karat.study.setting_base import Settings, below, flaw, flaw_of, refuse
from karat.study.tasks import TASKS, find_task, instead_of, task_named

URL_SLOTS = ("pid", "session", "study", "code")
"""The names in braces that the return address of participants may contain."""
PLATFORMS = ("link", "prolific", "mturk")
"""Platforms that karat knows by name; others need `id_parameter` or `completion_url`, or a package."""
CODED_PLATFORMS = ("prolific",)
"""Platforms that accept participants back only with a code from the platform, which the study file must have."""
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$")]
Device = Literal["phone", "tablet", "desktop"]
DEVICES: tuple[Device, ...] = ("phone", "tablet", "desktop")


class BlockSettings(BlockKeys):
    """A part of the questionnaire with its own task, scale and items."""

    task: str = Field(
        description=f"What participants do with a trial: {', '.join(TASKS)}, or a task from your own package."
    )

    @field_validator("task")
    @classmethod
    def _task_is_known(cls, name: str) -> str:
        try:
            task = find_task(name)
        except PackageError as error:
            refuse(cls, [flaw_of(error)])
        if task is None:
            fix = instead_of(name) or meant(name, list(TASKS), "Use one of them, or install the package that has it.")
            refuse(cls, [flaw(f"is not one of {', '.join(TASKS)}", fix, value=name)])
        return name

    @model_validator(mode="after")
    def _parts_fit(self) -> BlockSettings:
        if not self.items and not self.templates:
            raise ValueError("a block needs items = ... or templates = ... with lexicon = ...")
        if (self.templates is None) != (self.lexicon is None):
            raise ValueError("templates and lexicon belong together: give both or neither")
        wrong = task_named(self.task).flaw(self)
        if wrong is not None:
            raise ValueError(wrong)
        refuse(BlockSettings, self._idle_keys() + self._wrong_scale() + self._wrong_factors())
        return self

    def _idle_keys(self) -> list[InitErrorDetails]:
        """Keys without effect in the task, which are refused, not ignored."""
        task = task_named(self.task)
        idle = [
            flaw(f'has no say in task = "{task.name}", only in task = "{other.name}"', "Leave it out.", key)
            for other in TASKS.values()
            for key in other.block_keys
            if key in self.model_fields_set and key not in task.block_keys
        ]
        fix = f"Its scale has {', '.join(task.scale_keys)}." if task.scale_keys else "Leave it out."
        return idle + [
            flaw(f'has no say in task = "{task.name}"', fix, "scale", key)
            for key in ScaleSettings.model_fields
            if key in self.scale.model_fields_set and key not in task.scale_keys
        ]

    def _wrong_scale(self) -> list[InitErrorDetails]:
        """Labels and a neutral point that do not fit the points of the scale."""
        usual = task_named(self.task).points
        if usual is None:
            return self._wrong_option_labels()
        labels, neutral, points = len(self.scale.labels), self.scale.neutral, self.scale.points_or(usual)
        flaws = []
        if labels not in (0, 2, points):
            text = f"has {counted(labels, 'label')} for {points} points"
            flaws.append(flaw(text, "Write one for each point, or two for the ends.", "scale", "labels"))
        if neutral is not None and neutral > points:
            fix = f"Write 1 to {points}, or 0 for none."
            flaws.append(flaw("is not a point of the scale", fix, "scale", "neutral", value=neutral))
        return flaws

    def _wrong_option_labels(self) -> list[InitErrorDetails]:
        """Labels that are not one for each answer to choose from, or none."""
        answers = len(self.scale.levels) or (3 if self.scale.no_difference else 2)
        if len(self.scale.labels) in (0, answers):
            return []
        text = f"has {counted(len(self.scale.labels), 'label')} for {answers} answers"
        return [flaw(text, "Write one for each answer.", "scale", "labels")]

    def _wrong_factors(self) -> list[InitErrorDetails]:
        flaws = []
        if self.compared is not None and self.compared not in self.factors:
            fix = meant(self.compared, list(self.factors))
            flaws.append(flaw("is not a factor", fix, "compared", value=self.compared))
        flaws += self._wrong_wide()
        if self.repeated_items and self.rounds > 1:
            text = f"repeats some trials, but rounds = {self.rounds} repeats all of them"
            flaws.append(flaw(text, "State one of the two.", "repeated_items"))
        within = [name for name in self.condition_factors if self.factors[name].between is None]
        if self.subset is not None and self.pairs is not None and not self.pairs.target:
            text = "shows a part of the pairs of the item table, but pairs has target = false"
            flaws.append(flaw(text, "Leave out subset, or set target = true.", "subset"))
        if self.subset is not None and within:
            text = f"shows each item as it is, but {within[0]} varies within items"
            flaws.append(flaw(text, 'Use lists, or items of one level each: between = "items".', "subset"))
        return flaws

    def _wrong_wide(self) -> list[InitErrorDetails]:
        """Columns of a wide item table without a level of each factor, and two columns with the same condition."""
        flaws, columns = [], dict[tuple[str, ...], str]()
        for column, levels in self.wide.items():
            place = ("wide", column)
            if len(levels) != len(self.factors):
                text = f"has {counted(len(levels), 'level')} for {counted(len(self.factors), 'factor')}"
                order = f": {', '.join(self.factors)}" if self.factors else ""
                flaws.append(flaw(text, f"Write one level of each factor, in the order of factors{order}.", *place))
                continue
            for level, (name, factor) in zip(levels, self.factors.items(), strict=True):
                if level not in factor.levels:
                    flaws.append(flaw(f"is not a level of {name}", meant(level, factor.levels), *place, value=level))
            other = columns.setdefault(tuple(levels), column)
            if other != column:
                flaws.append(flaw(f"has the same levels as {other}", "Give every column its own condition.", *place))
        return flaws


class QuestionnaireSettings(Settings):
    """How the parts are put together."""

    breaks_after: int | None = Field(None, ge=1, description="Offer a break after this many trials.")
    blocks: Literal["as written", "shuffled"] = Field("as written", description="The order of several blocks.")
    sessions: Literal[1, 2] = Field(1, description="2 for a test-retest study: everything is judged in both sessions.")
    days_between: int = Field(0, ge=0, description="How many days lie between two sessions.")


class OrderSettings(Settings):
    """The rules for the order of the trials of each participant."""

    calibration: Literal["first", "mixed"] = Field("first", description="Whether calibration trials come first.")
    test_adjacent: bool = Field(False, description="Whether two test trials may follow each other.")
    spread: list[str] = Field(
        ["control", "attention"], description="Functions whose trials are spread evenly over the questionnaire."
    )
    in_a_row: dict[str, Annotated[int, Field(ge=1)]] = Field(
        {}, description="Column = the most trials with the same value that may follow each other."
    )
    distance: dict[str, Annotated[int, Field(ge=1)]] = Field(
        {}, description="Column = the smallest distance, in positions, between trials that share a value."
    )
    halves: str | None = Field(
        None, description="A column, such as pair: trials that share a value are divided between the two halves."
    )
    keep_ratio: bool = Field(False, description="Keep the share of test trials the same in every quarter.")
    mixed_blocks: int = Field(0, ge=0, description="Divide the trials into this many equally mixed blocks.")

    @field_validator("spread")
    @classmethod
    def _functions_are_known(cls, names: list[str]) -> list[str]:
        refuse(cls, [
            flaw("is not an item function", meant(name, list(FUNCTIONS)), value=name)
            for name in names if name not in FUNCTIONS
        ])  # fmt: skip
        return names


class BackgroundQuestion(Settings):
    """A question about the participant."""

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="The column of the answer.")
    question: str = Field(description="The question.")
    answers: list[str] = Field([], description="The answers to choose from; without them, a line to write in.")
    eligible: list[str] = Field([], description="The answers that make a participant eligible; by default all.")
    required: bool = Field(True, description="Whether it must be answered.")
    when: Literal["before", "after"] = Field("before", description="Whether it is asked before or after the trials.")

    @model_validator(mode="after")
    def _eligible_are_answers(self) -> BackgroundQuestion:
        unknown = (answer for answer in self.eligible if answer not in self.answers)
        refuse(BackgroundQuestion, [
            flaw("is not among the answers", meant(answer, self.answers), "eligible", value=answer)
            for answer in unknown
        ])  # fmt: skip
        return self


class ContrastSettings(Settings):
    """A comparison that is planned before the data are seen.

    Of one factor it is the difference of two levels, of several the difference of differences (the interaction), and
    with `weights` any other comparison of means.
    """

    name: str = Field(description="A short name.")
    factor: str = Field("", description="The factor that is compared.")
    levels: list[str] = Field([], description="Two levels of `factor`: the first minus the second.")
    factors: dict[str, list[str]] = Field(
        {},
        description="In place of `factor`, the factors of an interaction, a difference of differences of their two "
        "levels. Of a factor with more levels, name two, as in length = [long, short].",
    )
    weights: dict[str, float] = Field(
        {},
        description="In place of two levels, the weight of each level of `factor`, or of each cell of `factors`, such "
        'as "long, island". They sum to zero.',
    )
    within: dict[str, str] = Field({}, description="Only where other factors have these levels.")
    equivalence: float | None = Field(
        None,
        gt=0,
        description="A difference below this counts as none, which is tested by two one-sided tests; in "
        "logits for ratings, yes-or-no answers and choices.",
    )

    @field_validator("factors", mode="before")
    @classmethod
    def _names_alone(cls, value: Any) -> Any:
        return {str(name): [] for name in value} if isinstance(value, list) else value

    @model_validator(mode="after")
    def _one_kind(self) -> ContrastSettings:
        """Refuse anything but a difference of two levels, an interaction or weights."""
        flaws = []
        if bool(self.factor) == bool(self.factors):
            flaws.append(flaw("needs `factor`, or `factors` for an interaction, and not both"))
        elif self.factors and self.levels:
            flaws.append(flaw("belongs to `factor`", 'Write factors = { length = ["long", "short"], ... }.', "levels"))
        elif self.weights and (self.levels or any(self.factors.values())):
            flaws.append(flaw("take the place of levels", "Leave out the levels or the weights.", "weights"))
        elif self.factor and not self.weights and len(self.levels) != 2:
            flaws.append(flaw("are two: the first minus the second", "", "levels", value=self.levels))
        elif len(self.factors) == 1 and not self.weights:
            flaws.append(flaw("names one factor, but an interaction has two or more", "Write factor = ...", "factors"))
        flaws += [
            flaw(f"has {counted(len(levels), 'level')} of {name}, but a difference is of two", "", "factors", name)
            for name, levels in self.factors.items()
            if levels and len(levels) != 2
        ]
        if self.weights and (abs(sum(self.weights.values())) > 1e-6 or not any(self.weights.values())):
            flaws.append(flaw("must sum to zero, and not all be zero", "", "weights"))
        refuse(ContrastSettings, flaws)
        return self

    @property
    def own(self) -> tuple[str, ...]:
        """The factors that are compared."""
        return (self.factor,) if self.factor else tuple(self.factors)

    @property
    def names(self) -> tuple[str, ...]:
        """The factors that are compared, then those of `within`."""
        return *self.own, *self.within

    @property
    def cells(self) -> dict[tuple[str, ...], float]:
        """The weight of each cell of `names`; the planned estimate is the sum of means times weights."""
        within = tuple(self.within.values())
        if self.weights:
            return {(*_cell(key), *within): weight for key, weight in self.weights.items() if weight}
        pairs = [self.levels] if self.factor else list(self.factors.values())
        signed = product(*(zip(pair, (1.0, -1.0), strict=True) for pair in pairs))
        return {(*(level for level, _ in cell), *within): prod(sign for _, sign in cell) for cell in signed}

    @property
    def simple(self) -> bool:
        """Whether it is the difference of two levels of one factor."""
        return bool(self.factor) and not self.weights

    @property
    def sides(self) -> tuple[str, str]:
        """The minuend and the subtrahend in words."""
        return self.sides_by("at")

    def sides_by(self, at: str) -> tuple[str, str]:
        """The minuend and the subtrahend in words; `at` is the word of a language before a level."""
        if self.weights:
            parts = [[(key, abs(w)) for key, w in self.weights.items() if w * sign > 0] for sign in (1, -1)]
            first, second = (" + ".join(key if w == 1 else f"{w:g} × {key}" for key, w in part) for part in parts)
            return first, second
        if self.factor:
            return self.levels[0], self.levels[1]
        (first_level, second_level), *middle = self.factors.values()
        last = middle.pop()
        inner = f"{first_level} − {second_level}"
        for pair in middle:
            inner = f"({inner}) {at} {pair[0]} − {pair[1]}"
        return f"({inner}) {at} {last[0]}", f"({inner}) {at} {last[1]}"

    def stated(self, levels: Mapping[str, list[str]]) -> ContrastSettings:
        """The contrast with the levels of the design for factors of which the file names none."""
        if self.weights or all(self.factors.values()):
            return self
        factors = {name: pair or levels[name] for name, pair in self.factors.items()}
        return self.model_copy(update={"factors": factors})


def _cell(key: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in key.split(","))


class QuizQuestion(Settings):
    """A question that shows whether the instructions were understood."""

    question: str = Field(description="The question.")
    answers: list[str] = Field(min_length=2, description="The answers to choose from.")
    right: int = Field(ge=1, description="Which answer is right, from 1.")
    feedback: str = Field("", description="The text after a wrong answer.")

    @model_validator(mode="after")
    def _right_is_an_answer(self) -> QuizQuestion:
        if self.right > len(self.answers):
            raise ValueError(f"right = {self.right}, but there are {len(self.answers)} answers")
        return self


class TextSettings(Settings):
    """What participants read. Texts that are missing are replaced by karat's own in the language of the study.

    Texts may have several lines, between three quotation marks on each side. A blank line makes a new paragraph, as in
    consent, instructions and debriefing; a single line break is read as a blank.
    """

    welcome: str = Field("", description="The first page.")
    consent: str = Field("", description="What participants agree to; without it, there is no consent page.")
    privacy: str = Field("", description="Who processes the data, why, for how long, and which rights there are.")
    instructions: str = Field("", description="What to do, with the advice to rely on intuition.")
    practice: str = Field("", description="The text before the practice trials.")
    debriefing: str = Field("", description="What the study was about, shown at the end.")
    completion: str = Field("", description="The last page, with the thanks.")
    comment: bool = Field(True, description="Whether participants may leave a comment at the end.")
    quiz: list[QuizQuestion] = Field([], description="Questions about the instructions.")
    quiz_attempts: int = Field(2, ge=1, description="How often the quiz may be tried.")
    words: dict[str, str] = Field(
        {}, description="Other words for single texts of the pages, such as a button: name of the text = words."
    )


class RecruitmentSettings(Settings):
    """Where participants come from, how many, and what they earn."""

    platform: str = Field("link", description="prolific, mturk, crowdee, link, ...")
    participants: int = Field(36, ge=1, description="How many eligible participants are wanted.")
    minutes: float | None = Field(None, gt=0, description="The stated duration in minutes.")
    hourly_pay: float | None = Field(None, ge=0, description="The pay per hour.")
    minimum_hourly_pay: float | None = Field(None, ge=0, description="The minimum pay per hour, for the check.")
    currency: str = Field("EUR", description="The currency of the pay.")
    fee: float | None = Field(
        None,
        ge=0,
        le=2,
        description="What the platform adds to the pay, as a share; without it, by the price list of the platform.",
    )
    price_list: str = Field(
        "",
        pattern=r"^(\d{4}(-\d{2}(-\d{2})?)?)?$",
        description="A date, such as 2024-05: costs are computed by the price list in force then, not by the latest.",
    )
    quotas: dict[str, dict[str, int]] = Field(
        {}, description="Background question = { answer = how many participants at most }."
    )
    list_quota: int | None = Field(None, ge=1, description="The largest number of participants per list.")
    completion_code: Code = Field(
        "", description="The platform's code for those who finish; without it, each gets a different code."
    )
    screened_out_code: Code = Field("", description="The platform's code for those who are not eligible.")
    failed_quiz_code: Code = Field("", description="The platform's code for those who do not pass the quiz.")
    no_consent_code: Code = Field("", description="The platform's code for those who do not agree to take part.")
    completion_url: str = Field(
        "", description="Where participants return to on other platforms; {pid}, {session}, {study}, {code} are filled."
    )
    id_parameter: str = Field(
        "pid",
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="The parameter of the link that names the participant, on other platforms.",
    )
    invitations: bool = Field(False, description="Whether participants need a one-time link.")
    not_from: list[str] = Field([], description="Studies on this server whose participants are turned away.")
    only_from: list[str] = Field([], description="Studies on this server; only their participants are admitted.")
    waiting_days: int | None = Field(
        None, ge=1, description="For how many days the participants of `not_from` are turned away; without it, forever."
    )

    @field_validator("completion_url")
    @classmethod
    def _address_can_be_filled(cls, address: str) -> str:
        slots = re.findall(r"\{([^{}]*)\}", address)
        fix = f"There are {', '.join(f'{{{name}}}' for name in URL_SLOTS)}."
        unknown = (slot for slot in dict.fromkeys(slots) if slot not in URL_SLOTS)
        flaws = [flaw(f"has {{{slot}}}, which is not known", fix) for slot in unknown]
        if address and not re.match(r"https://[^\s/{}]+(/|$)", address):
            flaws.append(flaw("is not an address of a secure page", "Begin with https:// and the name of the server."))
        elif re.search(r"[\s\"'<>\\]", address):
            flaws.append(flaw("has a blank or a sign that no address has", "Write %20 for a blank."))
        refuse(cls, flaws)
        return address

    @model_validator(mode="after")
    def _someone_may_come(self) -> RecruitmentSettings:
        both = [name for name in self.only_from if name in self.not_from]
        if both:
            text = f"names {both[0]}, which not_from refuses"
            refuse(RecruitmentSettings, [flaw(text, "Name it in one of them.", "only_from")])
        if self.waiting_days is not None and not self.not_from:
            text = "has no say without not_from"
            refuse(RecruitmentSettings, [flaw(text, "Name the studies to wait for.", "waiting_days")])
        return self


class FieldSettings(Settings):
    """How the study runs on the web."""

    resume: Literal["continue", "restart", "block"] = Field(
        "continue", description="What participants who come back can do: continue, start again, or nothing."
    )
    going_back: bool = Field(False, description="Whether participants may go back and change the previous answer.")
    lease_minutes: float = Field(
        60, gt=0, description="After this many minutes without an answer, a place in a list is given away."
    )
    progress: Literal["line", "count", "none"] = Field("line", description="How participants see their progress.")
    send_ahead: int = Field(
        5, ge=1, le=20, description="How many trials are sent ahead, in case the connection is lost."
    )
    traces: bool = Field(
        True, description="Whether the trial page sums up how answers are given (pointer, keys), to find automation."
    )
    devices: list[Device] = Field(list(DEVICES), min_length=1, description="The devices that may be used.")
    completion: Literal["code", "redirect", "both"] = Field(
        "both", description="How participants return: with a code, by a link to the platform, or both."
    )


class CheckSettings(Settings):
    """Findings of `karat check` that are intended."""

    allow: list[str] = Field([], description="Names of findings that are intended.")


class ScreeningSettings(Settings):
    """The screening rules, stated before the study starts."""

    model_config = ConfigDict(extra="allow", frozen=True)

    exclude: str | int = Field(
        "any",
        description="Which participants to exclude: those flagged by `any` criterion, by `all`, by at least a "
        "number of them, or by an expression such as `remfod and (attention or controls)`.",
    )

    @field_validator("exclude", mode="before")
    @classmethod
    def _rule_or_number(cls, rule: object) -> object:
        if isinstance(rule, bool) or not (isinstance(rule, str | int) or (isinstance(rule, float) and rule % 1 == 0)):
            refuse(cls, [flaw("is neither a rule nor a number of criteria", f"Write {EXCLUDE_TAKES}.", value=rule)])
        return rule

    @model_validator(mode="after")
    def _criteria_are_known(self) -> ScreeningSettings:
        criteria = self.model_extra or {}
        flaws: list[InitErrorDetails] = []
        for name, values in criteria.items():
            try:
                criterion_settings(name, values)
            except ValidationError as error:
                flaws += [below(name, each) for each in error.errors()]
            except SettingError as error:
                flaws.append(flaw_of(error, name))
        try:
            check_exclude_rule(self.exclude, list(criteria))
        except SettingError as error:
            flaws.append(flaw_of(error, "exclude"))
        refuse(ScreeningSettings, flaws)
        return self

    @property
    def criteria(self) -> dict[str, BaseModel]:
        """The criteria in the order of the file, with all their settings."""
        return {name: criterion_settings(name, values) for name, values in (self.model_extra or {}).items()}

    @property
    def rules(self) -> dict[str, Any]:
        """The criteria with their settings as written, and `exclude`."""
        return {**(self.model_extra or {}), "exclude": self.exclude}


class PowerSettings(Settings):
    """The simulation behind the size of the sample, as `karat power --write` records it."""

    contrast: str = Field(min_length=1, description="The planned contrast.")
    participants: int = Field(ge=1, description="How many participants were simulated, before exclusions.")
    items: int = Field(ge=1, description="How many test items were simulated.")
    effect: float = Field(description="The true size of the contrast.")
    unit: Literal["log-odds", "scale"] = Field("log-odds", description="The unit of the effect.")
    power: float = Field(ge=0, le=1, description="The share of simulated studies with a significant result.")
    alpha: float = Field(0.05, gt=0, lt=1, description="The significance level.")
    simulations: int = Field(ge=1, description="How many studies were simulated.")
    exclude: float = Field(0.0, ge=0, lt=1, description="The share of participants assumed to be excluded.")


class BayesSettings(Settings):
    """The Bayesian model of `karat measure --bayes`, with its priors, stated before the study starts."""

    link: Literal["logit", "probit"] = Field("logit", description="The link of ratings and of yes-or-no answers.")
    unequal: list[str] = Field([], description="The factors by which the spread of the answers may differ.")
    coefficient: float = Field(
        2.0, gt=0, description="The prior of a difference is normal about zero with this standard deviation."
    )
    threshold: float = Field(2.5, gt=0, description="The scale of the t prior of thresholds, or of the intercept.")
    deviation: float = Field(
        2.5, gt=0, description="The scale of the half-t prior of the standard deviations of random effects."
    )
    correlation: float = Field(2.0, gt=0, description="The shape of the LKJ prior of correlations.")
    spread: float = Field(1.0, gt=0, description="The standard deviation of the prior of log ratios of spreads.")

    @property
    def priors(self) -> dict[str, float]:
        """The scales of the priors, by name."""
        return self.model_dump(include={"coefficient", "threshold", "deviation", "correlation", "spread"})


LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*")


class StudySettings(Settings):
    """A study file."""

    title: str = Field(min_length=1, description="The title of the study.")
    public_title: str = Field("", description="The title that participants see, if the title reveals too much.")
    language: str = Field("en", description="The language of texts and stimuli, such as en, de or pt-BR.")
    seed: int = Field(1, ge=0, description="The seed of all random choices in the plan.")
    ethics: str = Field(
        "",
        description="The ethics approval, for the methods paragraph: the committee, and the number of the approval in "
        "brackets.",
    )
    block: list[BlockSettings] = Field(min_length=1, description="The blocks; one [[block]] each.")
    questionnaire: QuestionnaireSettings = Field(QuestionnaireSettings(), description="How the parts are put together.")
    order: OrderSettings = Field(OrderSettings(), description="What must hold for the order of trials.")
    texts: TextSettings = Field(TextSettings(), description="What participants read.")
    background: list[BackgroundQuestion] = Field(
        [], description="Questions about participants; one [[background]] each."
    )
    screening: ScreeningSettings | None = Field(None, description="The screening rules, stated beforehand.")
    recruitment: RecruitmentSettings = Field(RecruitmentSettings(), description="Where participants come from.")
    field: FieldSettings = Field(FieldSettings(), description="How the study runs on the web.")
    contrast: list[ContrastSettings] = Field([], description="Planned comparisons; one [[contrast]] each.")
    bayes: BayesSettings | None = Field(None, description="The Bayesian model of `karat measure --bayes`.")
    power: PowerSettings | None = Field(None, description="Why the sample has its size: `karat power --write`.")
    check: CheckSettings = Field(CheckSettings(), description="Findings of the check that are intended.")

    @property
    def block_names(self) -> list[str]:
        """The names of the blocks; those without one are numbered."""
        return [block.name or f"block {number}" for number, block in enumerate(self.block, start=1)]

    @model_validator(mode="after")
    def _names_fit(self) -> StudySettings:
        if not LANGUAGE_CODE.fullmatch(self.language):
            fix = "Write a code such as en, de or pt-BR."
            refuse(StudySettings, [flaw("is not the code of a language", fix, "language", value=self.language)])
        names = self.block_names
        if len(set(names)) < len(names):
            raise ValueError("two blocks have the same name")
        refuse(StudySettings, [
            error for number, contrast in enumerate(self.contrast)
            for error in _contrast_flaws(contrast, self.block, ("contrast", number))
        ])  # fmt: skip
        levels = {name: factor.levels for block in self.block for name, factor in block.factors.items()}
        # The model is frozen for all other code.
        object.__setattr__(self, "contrast", [contrast.stated(levels) for contrast in self.contrast])
        return self


def _contrast_flaws(
    contrast: ContrastSettings, blocks: list[BlockSettings], place: tuple[str | int, ...]
) -> list[InitErrorDetails]:
    """The flaws of a planned comparison: factors and levels that the design lacks, and impossible comparisons."""
    factors = {name: factor.levels for block in blocks for name, factor in block.factors.items()}
    levels_named = [(contrast.factor, level, "levels") for level in contrast.levels]
    levels_named += [(name, level, "factors") for name, levels in contrast.factors.items() for level in levels]
    levels_named += [(name, level, "within") for name, level in contrast.within.items()]
    flaws = []
    for name, level, key in levels_named:
        if name in factors and level not in factors[name]:
            flaws.append(flaw(f"is not a level of {name}", meant(level, factors[name]), *place, key, value=level))
    factor_key = "factor" if contrast.factor else "factors"
    for name, key in (dict.fromkeys(contrast.within, "within") | dict.fromkeys(contrast.own, factor_key)).items():
        if name not in factors:
            fix = meant(name, list(factors)) if factors else "State the factors of the block."
            flaws.append(flaw("is not a factor", fix, *place, key, value=name))
    if flaws or contrast.simple:
        return flaws
    twice = [name for name in contrast.own if name in contrast.within]
    if twice:
        return [flaw(f"names {twice[0]}, which is compared", "Leave it out there.", *place, "within", value=twice[0])]
    block = next((block for block in blocks if set(contrast.names) <= set(block.factors)), None)
    if block is None:
        return [flaw("name factors of different blocks", "A comparison is made within one block.", *place, factor_key)]
    if block.compared in contrast.own:
        what = f"name {block.compared}, which the choices of {block.name or 'the block'} compare"
        fix = "Plan a difference of its levels `within` each level of the other factor."
        return [flaw(what, fix, *place, factor_key)]
    if contrast.weights:
        every = [", ".join(cell) for cell in product(*(factors[name] for name in contrast.own))]
        what = f"is not a cell of {', '.join(contrast.own)}"
        wrong = [key for key in contrast.weights if ", ".join(_cell(key)) not in every]
        return [flaw(what, meant(key, every), *place, "weights", value=key) for key in wrong]
    return [
        flaw(
            f"{name} has {counted(len(factors[name]), 'level')}",
            f"Name two: {name} = [...]",
            *place,
            factor_key,
            value=name,
        )
        for name, levels in contrast.factors.items()
        if not levels and len(factors[name]) != 2
    ]
