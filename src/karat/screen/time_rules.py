"""Named rules that tell outlying response times, each of them data, and the computation that all of them share.

A rule compares a time t with cutoffs of one or several groups of trials,

    lower = centre - a spread,    upper = centre + b spread,

where centre and spread are median and MAD (1.4826 median |x - median|), or mean and standard deviation (of a sample;
0 for one trial). t is an intermission where it is above the upper cutoffs of all groups, a rush where it is below all
lower ones. A recursive rule takes all outliers of a round out together and computes the cutoffs anew on the rest, until
none is found. A participant with too small a share of genuine times is flagged.

Sources: Pieper, Börner and Kiss, section 5.1: `remfod`; `participant` and `function`, the two criteria of their figure
2 alone; `global`, that figure's dotted lines: single cutoffs over all times, computed once. Miller (1991),
by their footnote 18: 3, 2.5 or 2, the same on both sides. Miller's own factors are of standard deviations; the paper
quotes them for medians and MADs and says why these should be preferred, so here they are of MADs, of the participant's
own times, in one pass. Häussler and Juzek (2016), same footnote: 1.5 standard deviations below and 4 above the mean.
The footnote does not say of which times, and karat takes the participant's own, in one pass. Dandurand et al. (2008)
exclude whoever has a single excessively long time. As no number of seconds fits all tasks, `single` calls a time
excessive that is 10 MADs above the median of all times, and asks for all trials to be genuine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.columns import nearest
from karat.models.robust import Floats, Ints, grouped_median_mad
from karat.screen.evidence import ScreenError

GENUINE, INTERMISSION, RUSH = 0, 1, 2


@dataclass(frozen=True)
class TimeRule:
    """A rule for response times."""

    name: str
    asks: str
    by: tuple[Literal["participant", "function"], ...]
    """The groups whose cutoffs must all be crossed; none: all times together."""
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
        TimeRule("remfod", "outlying by participant and by item function", ("participant", "function"), 2.5, 1.5),
        TimeRule("participant", "outlying among the participant's times", ("participant",), 2.5, 1.5),
        TimeRule("function", "outlying among the times of the item function", ("function",), 2.5, 1.5),
        TimeRule("global", "outlying among all times", (), 2.5, 1.5, recursive=False),
        TimeRule("miller-3", "3 MADs from the participant's median", ("participant",), 3, 3, recursive=False),
        TimeRule("miller-2.5", "2.5 MADs from the participant's median", ("participant",), 2.5, 2.5, recursive=False),
        TimeRule("miller-2", "2 MADs from the participant's median", ("participant",), 2, 2, recursive=False),
        TimeRule("mean-sd", "standard deviations from the participant's mean", ("participant",), 4, 1.5, "mean", False),
        TimeRule("single", "one excessively long time", (), 10, None, recursive=False, genuine_at_least=1.0),
    )
}


def time_rule(
    name: str, upper: float | None = None, lower: float | None = None, genuine_at_least: float | None = None
) -> TimeRule:
    """The rule of this name, with other factors or another share of genuine trials where they are given.

    >>> time_rule("remfod").upper, time_rule("remfod", upper=3).upper
    (2.5, 3)
    >>> time_rule("miler-3")
    Traceback (most recent call last):
    ...
    karat.screen.evidence.ScreenError: remfod: there is no rule 'miler-3'; is miller-3 meant?
    """
    if name not in TIME_RULES:
        close = nearest(name, list(TIME_RULES))
        hint = f"is {close} meant?" if close else f"there are {', '.join(TIME_RULES)}."
        raise ScreenError(f"remfod: there is no rule {name!r}; {hint}")
    if any(value is not None and not 0 < value < np.inf for value in (upper, lower)):
        raise ScreenError("remfod: upper and lower must be above 0: spreads above and below the centre.")
    if genuine_at_least is not None and not 0 <= genuine_at_least <= 1:
        raise ScreenError(f"remfod: genuine_at_least is a share from 0 to 1, and not {genuine_at_least:g}.")
    usual = TIME_RULES[name]
    return replace(
        usual,
        upper=usual.upper if upper is None else upper,
        lower=usual.lower if lower is None else lower,
        genuine_at_least=usual.genuine_at_least if genuine_at_least is None else genuine_at_least,
    )


@dataclass(frozen=True)
class Outliers:
    """Of each trial its kind (0 genuine, 1 intermission, 2 rush), the round that found it, and the cutoffs crossed."""

    kind: NDArray[np.int8]
    degree: NDArray[np.int64]
    lower: Floats
    upper: Floats
    cutoffs: pl.DataFrame
    """round, group (participant, function, all), name, trials, median or mean, mad or sd, lower, upper."""


@dataclass(frozen=True)
class _Grouping:
    """Trials by a group: the code of each trial's group, and the times sorted by group and time."""

    name: str
    labels: list[str]
    codes: NDArray[np.int32]
    times: Floats
    places: NDArray[np.integer]
    """Where each trial stands among the sorted times."""
    still: NDArray[np.bool_]
    """Which of the sorted times have not been found outlying."""


def find_outliers(frame: pl.DataFrame, rule: TimeRule, mad_constant: float, inclusive: bool = False) -> Outliers:
    """The outlying trials of a frame with participant, function and rt; `inclusive` takes times at a cutoff too.

    >>> frame = pl.DataFrame({"participant": ["p"] * 5, "function": ["test"] * 5, "rt": [2.0, 2.1, 1.9, 2.2, 60.0]})
    >>> find_outliers(frame, time_rule("remfod"), 1.4826).kind.tolist()
    [0, 0, 0, 0, 1]
    """
    times = frame["rt"].to_numpy()
    by_time = np.argsort(times)
    groups = [_grouping(frame, name, times, by_time) for name in rule.by or ("all",)]
    kind = np.full(len(times), GENUINE, np.int8)
    degree = np.zeros(len(times), np.int64)
    low_at, high_at = np.full(len(times), np.nan), np.full(len(times), np.nan)
    counts = [np.bincount(group.codes, minlength=len(group.labels)) for group in groups]
    below, above = (np.less_equal, np.greater_equal) if inclusive else (np.less, np.greater)
    rounds = []
    for number in range(1, len(times) + 2 if rule.recursive else 2):
        tables = [
            _cutoffs(group.times[group.still], own, rule, mad_constant)
            for group, own in zip(groups, counts, strict=True)
        ]
        rounds += [_round_table(number, *one) for one in zip(groups, counts, tables, strict=True)]
        # What crosses the cutoffs of all groups crosses those of the first: few trials need to be looked at closely.
        codes = groups[0].codes
        beyond = below(times, tables[0]["lower"][codes]) | above(times, tables[0]["upper"][codes])
        some = np.flatnonzero(beyond & (kind == GENUINE))
        low = np.min([table["lower"][group.codes[some]] for table, group in zip(tables, groups, strict=True)], axis=0)
        high = np.max([table["upper"][group.codes[some]] for table, group in zip(tables, groups, strict=True)], axis=0)
        rush, pause = below(times[some], low), above(times[some], high)
        found = some[rush | pause]
        if not len(found):
            break
        kind[some[pause]], kind[some[rush]] = INTERMISSION, RUSH
        degree[found], low_at[found], high_at[found] = number, low[rush | pause], high[rush | pause]
        for group, own in zip(groups, counts, strict=True):
            group.still[group.places[found]] = False
            own -= np.bincount(group.codes[found], minlength=len(own))
    low_at[np.isinf(low_at)] = np.nan
    return Outliers(kind, degree, low_at, high_at, pl.concat(rounds))


def _grouping(frame: pl.DataFrame, name: str, times: Floats, by_time: NDArray[np.integer]) -> _Grouping:
    column = pl.repeat(name, frame.height, eager=True) if name == "all" else frame[name]
    labels = column.unique(maintain_order=True)
    codes = column.replace_strict(labels, pl.Series(range(len(labels)), dtype=pl.Int32)).to_numpy()
    order = by_time
    # A stable sort by the code, 16 bits at a time, which numpy does by counting: several times faster than a lexsort.
    for shift in range(0, max(len(labels) - 1, 1).bit_length(), 16):
        digits = (codes >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    places = np.empty(len(times), np.int64)
    places[order] = np.arange(len(times))
    return _Grouping(name, labels.to_list(), codes, times[order], places, np.ones(len(times), bool))


def _cutoffs(values: Floats, counts: Ints, rule: TimeRule, constant: float) -> dict[str, Floats]:
    """Centre, spread and cutoffs of each group, from values that stand group by group in rising order."""
    if rule.centre == "median":
        centres, spreads = grouped_median_mad(values, counts, constant)
        names = ("median", "mad")
    else:
        centres, spreads = _grouped_mean_sd(values, counts)
        names = ("mean", "sd")
    below = np.full(len(counts), -np.inf) if rule.lower is None else centres - rule.lower * spreads
    return {names[0]: centres, names[1]: spreads, "lower": below, "upper": centres + rule.upper * spreads}


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


def _round_table(number: int, group: _Grouping, counts: Ints, table: dict[str, Floats]) -> pl.DataFrame:
    columns = {
        "round": np.full(len(counts), number), "group": [group.name] * len(counts), "name": group.labels,
        "trials": counts.astype(np.int64),
    }  # fmt: skip
    numbers = {name: np.where(np.isfinite(values), values, np.nan) for name, values in table.items()}
    return pl.DataFrame(columns | numbers, nan_to_null=True)
