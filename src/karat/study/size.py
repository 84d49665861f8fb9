"""Size: the questionnaire that a factorial design needs, how long it takes and what it costs.

Source: Pieper, Börner and Kiss, sections 3.1, 3.2 and 5.2. At least six lexicalisations of each condition are test
trials, every test trial has two fillers, and among the fillers are six calibration trials and as many controls and
attention trials as are needed to distinguish guessing from judging (see `chance`). Participants tire after about 100
trials.

>>> print(size("2x2", task="choice"))
2x2, choice: 12 test trials and 24 fillers make 36 trials, within the limit of 100.
The fillers are 6 calibration, 8 control (7 of 8 correct), 8 attention (7 of 8 correct) and 2 other trials.
The questionnaire takes about ... minutes; 36 participants cost ... EUR.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import ceil, comb, prod
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.errors import KaratError, shown
from karat.messages import Message
from karat.study.chance import joint, pass_probability, smallest, smallest_joint
from karat.study.guessing import Share, as_fraction, share, sides
from karat.study.tasks import AROUND_MINUTES, instead_of
from karat.study.tasks import TASKS as ALL_TASKS

if TYPE_CHECKING:
    from karat.study.settings import RecruitmentSettings

TASKS = ("yes-no", "likert", "choice")
LEXICALISATIONS, FILLERS_PER_TEST, CALIBRATION, MOST_TRIALS = 6, 2, 6, 100
LEVELS = re.compile(r"\s*\d+\s*(?:[x×*]\s*\d+\s*)*", re.IGNORECASE)


class SizeError(KaratError, ValueError):
    """A design or setting for which no questionnaire can be computed."""


@dataclass(frozen=True)
class Size:
    """A questionnaire in numbers, with the assumptions behind them."""

    trials: int
    design: str
    task: str
    conditions: int
    test: int
    fillers: int
    calibration: int
    control: int
    control_rule: Message
    control_p: float
    attention: int
    attention_rule: Message
    attention_p: float
    minutes: float
    participants: int
    cost: float
    currency: str
    notes: tuple[Message, ...]
    assumptions: tuple[Message, ...]

    @property
    def other(self) -> int:
        """Fillers without a further function."""
        return self.fillers - self.calibration - self.control - self.attention

    @property
    def within_limit(self) -> bool:
        """Whether the questionnaire has at most 100 trials."""
        return self.trials <= MOST_TRIALS

    def table(self) -> pl.DataFrame:
        """One row per function of trials: their number, how many must be right, and p of guessing that."""
        rows = [
            ("test", self.test, None, None),
            ("calibration", self.calibration, None, None),
            ("control", self.control, str(self.control_rule), self.control_p),
            ("attention", self.attention, str(self.attention_rule), self.attention_p),
            ("filler", self.other, None, None),
        ]
        schema = {"function": pl.String, "trials": pl.Int64, "right": pl.String, "p": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    @property
    def summary(self) -> tuple[Message, ...]:
        """The number of trials, their functions and their cost."""
        trials = {
            "design": self.design, "task": self.task, "test": self.test, "fillers": self.fillers,
            "trials": self.trials, "most": MOST_TRIALS,
        }  # fmt: skip
        fillers = {
            "calibration": self.calibration, "control": self.control, "control_rule": self.control_rule,
            "attention": self.attention, "attention_rule": self.attention_rule, "other": self.other,
        }  # fmt: skip
        cost = {"minutes": self.minutes, "n": self.participants, "cost": self.cost, "currency": self.currency}
        return (
            Message("size.trials" if self.within_limit else "size.too_many_trials", trials),
            Message("size.fillers", fillers),
            Message("size.cost", cost),
        )

    def __str__(self) -> str:
        return "\n".join(map(str, (*self.summary, *self.notes)))

    def to_dict(self) -> dict[str, Any]:
        """The questionnaire as plain data, for JSON."""
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}
        return numbers | {
            "control_rule": str(self.control_rule),
            "attention_rule": str(self.attention_rule),
            "notes": [note.to_dict() for note in self.notes],
            "assumptions": [assumption.to_dict() for assumption in self.assumptions],
            "other": self.other,
            "within_limit": self.within_limit,
        }


@dataclass(frozen=True)
class PriceList:
    """The fee of a platform from a date on, as a share of the pay, before taxes."""

    platform: str
    date: str
    """A year, a month or a day, as far as it is known."""
    fee: float
    name: str
    """The name that the platform uses."""


PRICE_LISTS = (
    PriceList("mturk", "2005", 0.10, "Mechanical Turk"),
    # For HITs with ten assignments or more: 20 % and another 20 %.
    PriceList("mturk", "2015-07", 0.40, "Mechanical Turk"),
    PriceList("prolific", "2021", 0.333, "Prolific"),
    PriceList("link", "", 0.0, "no platform"),
)
"""Price lists of platforms, the oldest first. Old lists are kept for the costs of old studies."""


def price_list(platform: str, date: str = "") -> PriceList | None:
    """The price list of a platform at a date, by default the latest; None if karat has none."""
    lists = [entry for entry in PRICE_LISTS if entry.platform == platform and (not date or entry.date <= date)]
    return lists[-1] if lists else None


def known_price_lists() -> str:
    """The platforms and dates of the price lists, in one line."""
    return ", ".join(f"{entry.platform} {entry.date}".strip() for entry in PRICE_LISTS)


def size(
    design: str | int | Sequence[int] = "2x2",
    task: str = "likert",
    *,
    per_condition: int = LEXICALISATIONS,
    fillers_per_test: Share = FILLERS_PER_TEST,
    calibration: int = CALIBRATION,
    points: int = 5,
    neutral: str | None = "grammatical",
    no_difference: bool = False,
    alpha: Share = 0.05,
    slips: int = 1,
    participants: int = 36,
    seconds: float | None = None,
    around: float = AROUND_MINUTES,
    pay: float = 12.0,
    fee: float | None = None,
    platform: str = "prolific",
    prices: str = "",
    currency: str = "EUR",
) -> Size:
    """The questionnaire that a design needs: `2x2`, or the numbers of levels, such as (2, 3).

    In a choice task one factor becomes the response: a trial compares its two levels, so that the conditions are those
    of the other factors. `seconds` is the time of a trial (by default the usual one of the task), `around` the minutes
    for consent, instructions, background questions and breaks, `pay` the pay per hour. `fee` is the platform's share on
    top of the pay, before taxes; by default that of the price list of `platform`, the latest or that of the date
    `prices`.
    """
    levels = _levels(design)
    if task not in TASKS:
        hint = instead_of(str(task))
        raise SizeError(f"task: {shown(task)} has no known size. {f'{hint} ' if hint else ''}Use {', '.join(TASKS)}.")
    if per_condition < 1 or calibration < 0 or participants < 1:
        raise SizeError("per_condition and participants must be at least 1, and calibration at least 0.")
    ratio = as_fraction(fillers_per_test, "fillers_per_test")
    pace = ALL_TASKS[task].seconds if seconds is None else seconds
    listed = None if fee is not None else price_list(platform, prices)
    if fee is None and listed is None:
        when = f" before {prices}" if prices else ""
        raise SizeError(
            f"karat has no price list of {shown(platform)}{when}, only {known_price_lists()}. State the fee."
        )
    charged = fee if listed is None else listed.fee
    if charged is None or min(float(ratio), around, pay, charged) < 0 or pace <= 0:
        raise SizeError("seconds must be above 0; fillers_per_test, around, pay and fee must not be below 0.")
    conditions, notes = _conditions(levels, task)
    # Yes and no are a scale of two points; grammatical and ungrammatical sentences are judged one at a time.
    scale = points if ALL_TASKS[task].points else 2
    compares = ALL_TASKS[task].compares
    # In rating tasks all attention trials are ungrammatical, as a grammatical one would show nothing.
    chance = ("1/3" if no_difference else "1/2") if compares else sides(scale, neutral)[1]
    attention, attention_rule, attention_p = _attention(chance, alpha, slips)
    controls = (attention, attention_rule, attention_p) if compares else _controls(scale, neutral, alpha, slips)
    control, control_rule, control_p = controls
    test = per_condition * conditions
    special = calibration + control + attention
    wanted = ceil(ratio * test)
    if special > wanted:
        notes.append(Message("size.special_fillers", {"wanted": wanted, "special": special}))
    fillers = max(wanted, special)
    trials = test + fillers
    minutes = trials * pace / 60 + around
    # Each payment is rounded; the fee is charged on the sum.
    cost = round(round(minutes / 60 * pay, 2) * participants * (1 + charged), 2)
    limit = float(share(alpha, "alpha"))
    paid = {"n": participants, "pay": pay, "currency": currency, "fee": charged}
    since = {"platform": listed.name, "date": listed.date} if listed is not None and listed.date else {}
    assumptions = (
        Message("size.assumed_times", {"seconds": pace, "minutes": around}),
        Message("size.assumed_list" if since else "size.assumed_pay", {**paid, **since}),
        Message("size.assumed_fillers", {"n": per_condition, "fillers": float(ratio)}),
        Message("size.assumed_guessing", {"p": limit, "n": slips}),
    )
    return Size(
        trials, "x".join(map(str, levels)), task, conditions, test, fillers, calibration, control, control_rule,
        control_p, attention, attention_rule, attention_p, minutes, participants, cost, currency, tuple(notes),
        assumptions,
    )  # fmt: skip


def study_cost(settings: RecruitmentSettings, minutes: float, sessions: int = 1) -> Message | None:
    """The cost of the participants, with the fee of the study file or of the price list of its platform.

    None if the study file has no pay. `minutes` is the estimated duration of a session, for study files without one.
    """
    if settings.hourly_pay is None:
        return None
    listed = None if settings.fee is not None else price_list(settings.platform, settings.price_list)
    fee = settings.fee if settings.fee is not None else listed.fee if listed is not None else 0.0
    each = sessions * round((settings.minutes or minutes) / 60 * settings.hourly_pay, 2)
    values: dict[str, Any] = {
        "n": settings.participants, "cost": round(each * settings.participants * (1 + fee), 2),
        "currency": settings.currency, "fee": fee,
    }  # fmt: skip
    if settings.fee is not None:
        return Message("cost.own_fee", values)
    if listed is None:
        return Message("cost.no_list", {**values, "platform": settings.platform})
    if not listed.date:
        return Message("cost.no_fee", values)
    return Message("cost.list", {**values, "platform": listed.name, "date": listed.date})


def _levels(design: str | int | Sequence[int]) -> tuple[int, ...]:
    """The number of levels of each factor; factors with one level are allowed ("1x2")."""
    fix = "Write the levels of each factor, such as 2x2."
    if isinstance(design, str):
        if not LEVELS.fullmatch(design):
            raise SizeError(f"design: {shown(design)} is not a design. {fix}")
        levels = tuple(int(number) for number in re.findall(r"\d+", design))
    else:
        levels = (design,) if isinstance(design, int) else tuple(design)
    if not levels or min(levels) < 1 or max(levels) < 2:
        raise SizeError(f"design: {'x'.join(map(str, levels)) or 'nothing'} has no factor with two levels. {fix}")
    return levels


def _conditions(levels: tuple[int, ...], task: str) -> tuple[int, list[Message]]:
    """The number of conditions of a trial, with notes."""
    if not ALL_TASKS[task].compares:
        return prod(levels), []
    varied = sorted(level for level in levels if level > 1)
    compared, others = varied[0], varied[1:]
    pairs = comb(compared, 2)
    notes = [Message("size.compared_pairs", {"levels": compared, "pairs": pairs})] if compared > 2 else []
    return pairs * prod(others), notes


def _controls(points: int, neutral: str | None, alpha: Share, slips: int) -> tuple[int, Message, float]:
    """The number of controls, the rule for right answers, and the probability of passing it by guessing."""
    n, k = smallest_joint(points, neutral, alpha, slips)
    return 2 * n, Message("size.right_of_both", {"right": k, "n": n}), joint((n, k), (n, k), points, neutral)


def _attention(chance: Share, alpha: Share, slips: int) -> tuple[int, Message, float]:
    """The same for attention trials, and for controls in a choice."""
    n, k = smallest(chance, alpha, slips)
    return n, Message("size.right", {"right": k, "n": n}), pass_probability(n, k, chance)
