"""A decision study: the numbers of participants and items for a wanted reliability, from the variances of a study.

With the variances of stimuli s_i, participants s_p and the rest s_e (`karat.models.resampling`), the reliability of
the means of stimuli over n participants, and of the means of participants over m stimuli, is

    relative     s_i / (s_i + s_e / n)             s_p / (s_p + s_e / m)
    absolute     s_i / (s_i + (s_p + s_e) / n)     s_p / (s_p + (s_i + s_e) / m)

(Cronbach, Gleser, Nanda and Rajaratnam 1972; Brennan 2001): relative if only their order or differences matter,
absolute if their level does. Solved for n and m, with R the wanted reliability,

    n = R / (1 - R) times (error variance of one answer / variance of what is measured),

rounded up. The mean of a condition, generalised to other participants and other items, has the standard error

    sqrt(s_p / n + s_i / m + s_e / (n m)),

which more participants alone cannot make smaller than sqrt(s_i / m). Intervals are bootstraps over participants. If a
variance is estimated at zero or below, no number is sufficient.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.scales import Choice, Nominal
from karat.measure.rated import rated
from karat.measure.reliability.agreement import answers_a_stimulus, check_bootstrap, resampled_people, unequal_answers
from karat.measure.result import BriefResult, MeasureError, PlotColumns, about_question, schema_of
from karat.messages import Message, check_number
from karat.models.numerics import known
from karat.models.resampling import Components, components, percentile_interval
from karat.types import Floats

WANTED = 0.8
LEAST = 1e-6
"""The share of the variance up to which a negative variance is a rounding error."""
SCHEMA = schema_of("question:s measured:s kind:s needed:i lower:i upper:i now reliability")


@dataclass(frozen=True)
class DecisionStudy(BriefResult):
    """The number of participants per stimulus, and of stimuli per participant, for a wanted reliability."""

    needed: pl.DataFrame
    """question, measured (stimuli or participants), kind (relative or absolute), needed (participants for stimuli,
    stimuli for participants) with its interval, how many there are now, and the reliability they have."""
    variances: pl.DataFrame
    """question, source, variance, share."""
    wanted: float
    unequal: tuple[Message, ...] = ()
    """Notes on stimuli that have many more answers than others."""
    points: ClassVar = PlotColumns(("question", "measured", "kind"), "needed", "number needed")
    files: ClassVar = {"decision-study": "needed", "variances": "variances"}

    def plan(self, participants: Sequence[int], items: Sequence[int], question: str | None = None) -> pl.DataFrame:
        """The reliabilities and the standard error of a condition's mean, for numbers of participants and items."""
        name = self.variances["question"][0] if question is None else question
        sources = self.variances.filter(pl.col("question") == name)
        if not sources.height:
            raise MeasureError(Message("decision_study.unknown_question", {"question": name}))
        variances = {
            source: max(variance, 0.0) for source, variance in sources.select("source", "variance").iter_rows()
        }
        s_i, s_p, s_e = (variances[source] for source in ("stimuli", "participants", "rest"))
        rows = [
            (n, m, _share(s_i, s_e / n), _share(s_i, (s_p + s_e) / n), _share(s_p, s_e / m),
             float(np.sqrt(s_p / n + s_i / m + s_e / (n * m))))
            for n in participants for m in items
        ]  # fmt: skip
        reliabilities = ("stimuli_relative", "stimuli_absolute", "participants_relative")
        names = ["participants", "items", *reliabilities, "standard_error"]
        return pl.DataFrame(rows, schema=names, orient="row")

    @property
    def summary(self) -> tuple[Message, ...]:
        """The numbers that order stimuli, and participants, with the wanted reliability."""
        rows = self.needed.filter(pl.col("kind") == "relative").to_dicts()
        return *map(self._message, rows), *self.unequal

    def _message(self, row: dict[str, Any]) -> Message:
        about = {"question": row["question"] or None}
        of_stimuli = row["measured"] == "stimuli"
        if row["needed"] is None:
            return Message("decision_study.equal_stimuli" if of_stimuli else "decision_study.equal_participants", about)
        values = about | {
            "wanted": self.wanted, "needed": row["needed"], "now": round(row["now"], 1),
            "reliability": known(row["reliability"]),
        }  # fmt: skip
        return Message("decision_study.stimuli" if of_stimuli else "decision_study.participants", values)


def decision_study(
    judgments: Judgments,
    wanted: float = WANTED,
    functions: Sequence[str] = ("test",),
    conditions: Sequence[str] | None = None,
    samples: int = 1000,
    level: float = 0.95,
    seed: int = 1,
) -> DecisionStudy:
    """The numbers of participants and items for which means of stimuli, or of participants, have a wanted reliability.

    Parameters
    ----------
    wanted
        The reliability to reach.

    >>> import karat
    >>> print(decision_study(karat.datasets.load("likert"), wanted=0.9, samples=100))
    To order stimuli with a reliability of .90, each stimulus needs 29 ratings (now 11.9, reliability .79). ...
    """
    check_bootstrap(samples, level)
    check_number(MeasureError, "wanted", wanted, above=0, below=1)
    needed: list[tuple[Any, ...]] = []
    variances: list[tuple[Any, ...]] = []
    notes: list[Message] = []
    unequal: list[Message] = []
    for answers in rated(judgments, "decision_study", functions, conditions):
        if isinstance(answers.scale, Nominal | Choice):
            notes += about_question(answers.question, [Message("decision_study.no_variances")])
            continue
        notes += about_question(answers.question, answers.notes)
        unequal += unequal_answers(answers)
        estimates = components(answers.stimulus, answers.rater, answers.value)
        if not np.isfinite(estimates.rest[0]):
            raise MeasureError(Message("decision_study.no_shared_stimulus", {"question": answers.question or None}))
        parts = {"stimuli": estimates.items, "participants": estimates.raters, "rest": estimates.rest}
        total = sum(max(float(part[0]), 0.0) for part in parts.values())
        if float(estimates.rest[0]) < -LEAST * total:
            raise MeasureError(Message("decision_study.inseparable", {"question": answers.question or None}))
        variances += [(answers.question, name, float(part[0]), max(float(part[0]), 0.0) / total if total else None)
                      for name, part in parts.items()]  # fmt: skip
        weights, few = resampled_people(answers, samples, seed)
        notes += few
        draws = None if weights is None else components(answers.stimulus, answers.rater, answers.value, weights)
        now = {
            "stimuli": answers_a_stimulus(answers),
            "participants": float(1 / np.mean(1 / np.bincount(answers.rater))),
        }
        found = _needed(estimates, draws, wanted, now, level)
        if draws is not None and any(None in row[2:5] for row in found):
            notes.append(Message("decision_study.unbounded"))
        needed += [(answers.question, *row) for row in found]
    if not needed:
        raise MeasureError(Message("decision_study.no_numbers"))
    schema = schema_of("question:s source:s variance share")
    settings = {"functions": tuple(functions), "samples": samples, "level": level, "seed": seed}
    return DecisionStudy(
        pl.DataFrame(needed, schema=SCHEMA, orient="row"), pl.DataFrame(variances, schema=schema, orient="row"), wanted,
        tuple(dict.fromkeys(unequal)), settings=settings, notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _needed(
    estimates: Components, draws: Components | None, wanted: float, now: dict[str, float], level: float
) -> list[tuple[Any, ...]]:
    """The number that is needed for stimuli and for participants, with its interval."""
    rows: list[tuple[Any, ...]] = []
    for measured in ("stimuli", "participants"):
        for kind in ("relative", "absolute"):
            signal, error = _signal_and_error(estimates, measured, kind)
            number = _number(signal, error, wanted)
            lower, upper = np.nan, np.nan
            if draws is not None:
                lower, upper = percentile_interval(_number(*_signal_and_error(draws, measured, kind), wanted), level)
            reliability = _share(max(float(signal[0]), 0.0), max(float(error[0]), 0.0) / now[measured])
            # Rounded up, but not because of a rounding error; None if no number is sufficient.
            whole = (int(np.ceil(n - 1e-9)) if n < 1e12 else None for n in (float(number[0]), lower, upper))
            rows.append((measured, kind, *whole, now[measured], reliability))
    return rows


def _signal_and_error(parts: Components, measured: str, kind: str) -> tuple[Floats, Floats]:
    signal, other = (parts.items, parts.raters) if measured == "stimuli" else (parts.raters, parts.items)
    return signal, parts.rest + other if kind == "absolute" else parts.rest


def _number(signal: Floats, error: Floats, wanted: float) -> Floats:
    """The number of answers that a mean needs; practically infinite if the signal has no variance."""
    ratio = np.divide(np.maximum(error, 0.0), signal, out=np.full(signal.shape, 1e18), where=signal > 0)
    number: Floats = np.maximum(wanted / (1 - wanted) * ratio, 1.0)
    return number


def _share(signal: float, error: float) -> float:
    return signal / (signal + error) if signal + error > 0 else float("nan")
