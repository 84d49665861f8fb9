"""Outlying response times: the rules, which are data, their cutoffs, and times adjusted for the length of sentences.

A rule compares a time t with cutoffs of one or several groups of trials,

    lower = centre - a spread,    upper = centre + b spread,

where centre and spread are median and MAD (1.4826 median |x - median|), or mean and standard deviation (of a sample;
0 for one trial). t is an intermission if it is above the upper cutoffs of all groups, and a rush if it is below all
lower ones. A recursive rule removes all outliers of a round together and computes the cutoffs again from the rest,
until it finds none. Participants with too small a share of genuine times are flagged.

Times may first be adjusted for the length of the text. Long sentences take longer to read, so the "intermissions" of a
questionnaire with sentences of unequal length are otherwise among the long ones. Ferreira and Clifton (1986)
take the residuals of a linear regression of a participant's times on length. Here the model is multiplicative, with one
slope for all,

    log t = level of the participant and item function + b log length + rest,

because a proportional effect of length fits fast and slow readers alike, and 50 noisy trials of one person do not fix a
slope. b is the value that minimises the sum of |difference of log t - b difference of log length| over pairs of trials:
a median of slopes with the differences of log length as weights (Theil 1950, his incomplete method: the trials of a
participant and function are sorted by length, and each of the shorter half is paired with the one half the list
further on). Pauses hardly move it, and levels drop out of the differences. The adjusted time

    t (median length / length)^b

is in seconds: the time that the answer would have taken for a sentence of median length. It is rounded to nine digits,
so that rounding errors of equal times do not count as differences.

Sources of the named rules: Pieper, Börner and Kiss, section 5.1: `remfod`; `participant` and `function`, the two
criteria of their figure 2 alone; `global`, that figure's dotted lines: single cutoffs over all times, computed once.
Miller (1991), by their footnote 18: 3, 2.5 or 2, the same on both sides. Miller's own factors are of standard
deviations; the paper quotes them for medians and MADs and says why these should be preferred, so here they are of MADs,
of the participant's own times, in one pass. Häussler and Juzek (2016), same footnote: 1.5 standard deviations below and
4 above the mean. The footnote does not say of which times, and karat takes the participant's own, in one pass.
Dandurand et al. (2008) exclude everyone with a single excessively long time. No number of seconds fits all tasks, so
`single` takes 10 MADs above the median of all times as excessive, and requires all trials to be genuine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments.columns import unknown_name
from karat.messages import Message
from karat.models.robust import grouped_median_mad
from karat.screen.evidence import ScreenError
from karat.types import Floats, Ints

INTERMISSION, RUSH = 1, 2
OUTLIER_ROW = np.dtype([("place", "i4"), ("kind", "i1"), ("degree", "i4"), ("lower", "f8"), ("upper", "f8")])
"""The columns of an outlying trial; its index is among the times sorted by participant and time."""


def time_rule(
    name: str, upper: float | None = None, lower: float | None = None, genuine_at_least: float | None = None
) -> TimeRule:
    """The rule of this name, with other factors or another share of genuine trials if given."""
    if name not in TIME_RULES:
        raise ScreenError(unknown_name("remfod.no_rule", name, list(TIME_RULES)))
    usual = TIME_RULES[name]
    return replace(
        usual,
        upper=usual.upper if upper is None else upper,
        lower=usual.lower if lower is None else lower,
        genuine_at_least=usual.genuine_at_least if genuine_at_least is None else genuine_at_least,
    )


@dataclass(frozen=True)
class Cutoffs:
    """Centre, spread and cutoffs of every group of a kind; NaN if a group has no trials left."""

    centre: Floats
    spread: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def around(cls, centre: Floats, spread: Floats, rule: TimeRule) -> Cutoffs:
        """The cutoffs of a rule from centres and spreads."""
        below = np.full(len(centre), -np.inf) if rule.lower is None else centre - rule.lower * spread
        return cls(centre, spread, below, centre + rule.upper * spread)

    @classmethod
    def of(cls, values: Floats, counts: Ints, rule: TimeRule, constant: float) -> Cutoffs:
        """The cutoffs of times in ascending order within each group, given the number of times per group."""
        if rule.centre == "median":
            return cls.around(*grouped_median_mad(values, counts, constant), rule)
        return cls.around(*_grouped_mean_sd(values, counts), rule)

    def table(self, rounds: int | Ints, group: str, labels: pl.Series, trials: Ints, rule: TimeRule) -> pl.DataFrame:
        """The cutoffs of rounds as rows: round, group, name, trials, median and mad or mean and sd, lower, upper."""
        names = ("median", "mad") if rule.centre == "median" else ("mean", "sd")
        columns = zip((*names, "lower", "upper"), (self.centre, self.spread, self.lower, self.upper), strict=True)
        return pl.DataFrame([
            pl.Series("round", np.broadcast_to(np.asarray(rounds, np.int64), trials.shape).copy()),
            pl.repeat(group, len(trials), eager=True).alias("group"), labels.alias("name"),
            pl.Series("trials", trials.astype(np.int64)),
            *(pl.Series(name, np.where(np.isfinite(x), x, np.nan), nan_to_null=True) for name, x in columns),
        ])  # fmt: skip


def crossing(
    times: Floats,
    genuine: NDArray[np.bool_],
    groups: Sequence[tuple[NDArray[np.integer], Cutoffs]],
    inclusive: bool = False,
) -> NDArray[Any]:
    """One round: the trials, so far genuine, that cross the cutoffs of all their groups.

    A kind of group is the code of each trial's group, with the cutoffs by code. The columns are those of `OUTLIER_ROW`.
    """
    below, above = (np.less_equal, np.greater_equal) if inclusive else (np.less, np.greater)
    # Trials that cross the cutoffs of all groups cross those of the first, so only few need all comparisons.
    codes, first = groups[0]
    some = np.flatnonzero((below(times, first.lower[codes]) | above(times, first.upper[codes])) & genuine)
    low = np.min([cutoffs.lower[codes[some]] for codes, cutoffs in groups], axis=0)
    high = np.max([cutoffs.upper[codes[some]] for codes, cutoffs in groups], axis=0)
    rush, pause = below(times[some], low), above(times[some], high)
    crossed = np.zeros(len(some), OUTLIER_ROW)
    crossed["place"], crossed["kind"] = some, np.where(rush, RUSH, INTERMISSION)
    crossed["lower"], crossed["upper"] = low, high
    return np.asarray(crossed[rush | pause])


def _grouped_mean_sd(values: Floats, counts: Ints) -> tuple[Floats, Floats]:
    """Mean and sample standard deviation of each group; 0 for a single value, NaN for none."""
    group = np.repeat(np.arange(len(counts)), counts)
    filled = counts > 0
    smallest = np.full(len(counts), np.nan)
    smallest[filled] = values[(np.cumsum(counts) - counts)[filled]]
    # From the smallest value on, so that equal values have exactly their mean and no deviation.
    above = values - smallest[group]
    with np.errstate(invalid="ignore"):
        mean_above = np.bincount(group, above, len(counts)) / counts
    squares = np.bincount(group, (above - mean_above[group]) ** 2, len(counts))
    deviations = np.where(filled, np.sqrt(squares / np.maximum(counts - 1, 1)), np.nan)
    return smallest + mean_above, deviations


DIGITS = 9


def adjusted_for_length(frame: pl.DataFrame, column: str) -> tuple[pl.DataFrame, tuple[Message, ...]]:
    """The frame with rt adjusted for the length in a column, and notes.

    The column holds lengths, or texts whose characters are counted. Trials of unknown length keep their time.
    """
    lengths, characters = _lengths(frame, column)
    has_length = lengths.is_not_null()
    if not has_length.any():
        return frame, (Message("length.none", {"column": column}),)
    slope = _slope(frame.with_columns(length=lengths).filter(has_length, pl.col("rt") > 0))
    if slope is None:
        return frame, (Message("length.all_equal", {"column": column}),)
    middle = float(np.median(lengths.drop_nulls().to_numpy()))
    factor = (middle / lengths) ** slope
    adjusted = frame.with_columns(rt=(pl.col("rt") * factor.fill_null(1.0)).round_sig_figs(DIGITS))
    values = {"length": middle, "column": column, "power": slope}
    notes = [Message("length.adjusted_characters" if characters else "length.adjusted", values)]
    missing = frame.height - int(has_length.sum())
    if missing:
        notes.append(Message("length.missing", {"n": missing, "column": column}))
    return adjusted, tuple(notes)


def _lengths(frame: pl.DataFrame, column: str) -> tuple[pl.Series, bool]:
    """The length of each trial, null if unknown, and whether characters were counted."""
    if column not in frame.columns:
        raise ScreenError(unknown_name("length.no_column", column, frame.columns))
    column_values, characters = frame[column], False
    if column_values.dtype == pl.String:
        numbers = column_values.cast(pl.Float64, strict=False)
        written = numbers.null_count() == column_values.null_count() < len(column_values)
        column_values, characters = (numbers, False) if written else (column_values.str.len_chars(), True)
    elif not column_values.dtype.is_numeric():
        raise ScreenError(Message("length.neither", {"column": column}))
    lengths = column_values.cast(pl.Float64).rename("length")
    return lengths.set(((lengths <= 0) | ~lengths.is_finite()).fill_null(False), None), characters


def _slope(frame: pl.DataFrame) -> float | None:
    """The slope of log time on log length within participants and functions; None if lengths do not differ."""
    group = ["participant", "function"]
    logs = frame.select(*group, pl.col("length").log(), pl.col("rt").log()).sort(*group, "length", "rt")
    half = (pl.len() // 2).over(group)
    shorter = pl.int_range(pl.len()).over(group) < half
    partner = pl.int_range(pl.len()) + (pl.len() + 1).over(group) // 2
    pairs = logs.with_columns(partner=pl.when(shorter).then(partner)).drop_nulls("partner")
    others = logs[pairs["partner"].cast(pl.UInt32)]
    run = (others["length"] - pairs["length"]).to_numpy()
    rise = (others["rt"] - pairs["rt"]).to_numpy()
    longer = run > 0
    if not longer.any():
        return None
    slopes = rise[longer] / run[longer]
    order = np.argsort(slopes, kind="stable")
    reached = np.cumsum(run[longer][order])
    return float(slopes[order][np.searchsorted(reached, reached[-1] / 2)])


@dataclass(frozen=True)
class TimeRule:
    """A rule for response times."""

    name: str
    asks: str
    by: tuple[Literal["participant", "function"], ...]
    """The groups whose cutoffs must all be crossed; empty for all times together."""
    upper: float
    """Spreads above the centre beyond which a time is an intermission."""
    lower: float | None
    """Spreads below the centre beyond which a time is a rush; None: there are no rushes."""
    centre: Literal["median", "mean"] = "median"
    recursive: bool = True
    genuine_at_least: float = 0.9
    """The share of trials that must be neither intermissions nor rushes."""


TIME_RULES: Mapping[str, TimeRule] = {
    rule.name: rule
    for rule in (
        TimeRule(
            "remfod", "outlying by participant and by item function", ("participant", "function"), upper=2.5, lower=1.5
        ),
        TimeRule("participant", "outlying among the participant's times", ("participant",), upper=2.5, lower=1.5),
        TimeRule("function", "outlying among the times of the item function", ("function",), upper=2.5, lower=1.5),
        TimeRule("global", "outlying among all times", (), upper=2.5, lower=1.5, recursive=False),
        TimeRule("miller-3", "3 MADs from the participant's median", ("participant",), 3, 3, recursive=False),
        TimeRule("miller-2.5", "2.5 MADs from the participant's median", ("participant",), 2.5, 2.5, recursive=False),
        TimeRule("miller-2", "2 MADs from the participant's median", ("participant",), 2, 2, recursive=False),
        TimeRule("mean-sd", "standard deviations from the participant's mean", ("participant",), 4, 1.5, "mean", False),
        TimeRule("single", "one excessively long time", (), 10, None, recursive=False, genuine_at_least=1.0),
    )
}
