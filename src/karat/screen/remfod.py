"""ReMFOD: recursive multi-factorial outlier detection of response times (Pieper, Börner and Kiss, section 5.1).

A time is an intermission where it is above both

    median + 2.5 MAD of the participant's times,   median + 2.5 MAD of the times of its item function,

and a rush where it is below both medians - 1.5 MAD. MAD = 1.4826 median |x - median|. All outliers of a round are
taken out together, the cutoffs are computed anew on the rest, and so on until none is found: long outliers so cannot
hide others. Practice trials are left out. Whoever answered under 90 % of the trials genuinely is flagged.

The published code counts a time that equals a cutoff as outlying, the paper's words do not; on its data both give the
same. karat follows the words, so that times which are all equal flag nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.models.robust import MAD_CONSTANT, Floats, Ints, grouped_median_mad
from karat.screen.evidence import Evidence, ScreenError, everybody, timed

By = Literal["both", "participant", "function", "all"]


@dataclass(frozen=True)
class Remfod(Evidence):
    """Evidence with the outlying trials and the cutoffs of every round.

    `participants` also has trials, intermissions, rushes and genuine_share.
    """

    trials: pl.DataFrame = None  # type: ignore[assignment]
    """participant, trial, kind (intermission, rush), degree (round), lower, upper: the cutoffs it crossed."""
    cutoffs: pl.DataFrame = None  # type: ignore[assignment]
    """round, group (participant or function), name, trials, median, mad, lower, upper."""


def remfod(
    judgments: Judgments,
    upper: float = 2.5,
    lower: float = 1.5,
    genuine_at_least: float = 0.9,
    mad_constant: float = MAD_CONSTANT,
    by: By = "both",
) -> Remfod:
    """Intermissions and rushes, and who answered too few trials without them.

    `by` compares with the participant's own times only, those of the item function only, or all times together (the
    single cutoff that the paper warns of), instead of both.

    >>> import karat
    >>> evidence = remfod(karat.datasets.load("likert"))
    >>> evidence.flagged
    ['p08', 'p11', 'p13', 'p18', 'p27']
    >>> evidence.trials.columns
    ['participant', 'trial', 'kind', 'degree', 'lower', 'upper']
    """
    if upper <= 0 or lower <= 0 or by not in ("both", "participant", "function", "all"):
        raise ScreenError("remfod: upper and lower must be above 0, and by one of both, participant, function, all.")
    frame = _with_trials(timed(judgments, "remfod"))
    groups = _groups(frame, by)
    kind, degree, low, high, rounds = _rounds(frame["rt"].to_numpy(), groups, upper, lower, mad_constant)
    found = frame.select("participant", "trial").with_columns(
        kind=pl.Series(kind).replace_strict({0: None, 1: "intermission", 2: "rush"}, return_dtype=pl.String),
        degree=pl.Series(degree), lower=pl.Series(low), upper=pl.Series(high),
    )  # fmt: skip
    settings = {
        "upper": upper, "lower": lower, "genuine_at_least": genuine_at_least, "mad_constant": mad_constant, "by": by,
    }  # fmt: skip
    return Remfod(
        _participants(judgments, found, genuine_at_least), "remfod", settings,
        trials=found.filter(pl.col("kind").is_not_null()), cutoffs=pl.concat(rounds),
    )  # fmt: skip


@dataclass(frozen=True)
class _Grouping:
    """Trials by a group: the code of each trial's group, and the trials sorted by group and time."""

    name: str
    labels: list[str]
    codes: NDArray[np.int32]
    order: NDArray[np.integer]


def _with_trials(frame: pl.DataFrame) -> pl.DataFrame:
    """Positions, by the order of rows where there are none."""
    if "trial" in frame.columns:
        return frame
    return frame.with_columns(trial=pl.int_range(1, pl.len() + 1).over("participant"))


def _groups(frame: pl.DataFrame, by: By) -> list[_Grouping]:
    names = {"both": ["participant", "function"], "participant": ["participant"], "function": ["function"], "all": []}[
        by
    ]
    times = frame["rt"].to_numpy()
    groupings = []
    for name in names:
        labels = frame[name].unique(maintain_order=True)
        codes = frame[name].replace_strict(labels, pl.Series(range(len(labels)), dtype=pl.Int32))
        # polars sorts on all cores, and several times faster than numpy's lexsort.
        order = pl.DataFrame({"code": codes, "rt": frame["rt"]}).select(pl.arg_sort_by("code", "rt")).to_series()
        groupings.append(_Grouping(name, labels.to_list(), codes.to_numpy(), order.to_numpy()))
    return groupings or [_Grouping("all", ["all"], np.zeros(len(times), np.int32), np.argsort(times, kind="stable"))]


def _rounds(
    times: Floats, groups: list[_Grouping], upper: float, lower: float, constant: float
) -> tuple[NDArray[np.int8], NDArray[np.int64], Floats, Floats, list[pl.DataFrame]]:
    """Of each trial its kind (1 intermission, 2 rush), the round that found it and its cutoffs; and every round's."""
    kind = np.zeros(len(times), np.int8)
    degree = np.zeros(len(times), np.int64)
    low_at, high_at = np.full(len(times), np.nan), np.full(len(times), np.nan)
    rounds = []
    genuine = np.ones(len(times), bool)
    kept = [group.order for group in groups]
    in_order = [times[group.order] for group in groups]
    counts = [np.bincount(group.codes, minlength=len(group.labels)) for group in groups]
    for number in range(1, len(times) + 2):
        low, high = np.full(len(times), np.inf), np.full(len(times), -np.inf)
        for place, group in enumerate(groups):
            if number > 1:
                still = genuine[kept[place]]
                kept[place], in_order[place] = kept[place][still], in_order[place][still]
            medians, deviations = grouped_median_mad(in_order[place], counts[place], constant)
            below, above = medians - lower * deviations, medians + upper * deviations
            np.minimum(low, below[group.codes], out=low)
            np.maximum(high, above[group.codes], out=high)
            rounds.append(_round_table(number, group, counts[place], medians, deviations, below, above))
        rush, pause = genuine & (times < low), genuine & (times > high)
        found = rush | pause
        if not found.any():
            break
        kind[pause], kind[rush] = 1, 2
        genuine &= ~found
        counts = [
            own - np.bincount(group.codes[found], minlength=len(own)) for own, group in zip(counts, groups, strict=True)
        ]
        degree[found], low_at[found], high_at[found] = number, low[found], high[found]
    return kind, degree, low_at, high_at, rounds


def _round_table(
    number: int, group: _Grouping, counts: Ints, medians: Floats, deviations: Floats, below: Floats, above: Floats
) -> pl.DataFrame:
    return pl.DataFrame({
        "round": np.full(len(counts), number), "group": [group.name] * len(counts), "name": group.labels,
        "trials": counts.astype(np.int64), "median": medians, "mad": deviations, "lower": below, "upper": above,
    })  # fmt: skip


def _words(column: str, word: str) -> pl.Expr:
    """A count with its word."""
    plural = word + ("es" if word.endswith("sh") else "s")
    return pl.format("{} {}", column, pl.when(pl.col(column) == 1).then(pl.lit(word)).otherwise(pl.lit(plural)))


def _participants(judgments: Judgments, found: pl.DataFrame, genuine_at_least: float) -> pl.DataFrame:
    counts = found.group_by("participant").agg(
        pl.len().cast(pl.Int64).alias("trials"),
        (pl.col("kind") == "intermission").sum().cast(pl.Int64).alias("intermissions"),
        (pl.col("kind") == "rush").sum().cast(pl.Int64).alias("rushes"),
    )
    table = everybody(judgments).join(counts, on="participant", how="left", maintain_order="left")
    table = table.with_columns(pl.col("trials", "intermissions", "rushes").fill_null(0))
    share = 1 - (pl.col("intermissions") + pl.col("rushes")) / pl.col("trials")
    table = table.with_columns(genuine_share=pl.when(pl.col("trials") > 0).then(share))
    reason = pl.format(
        "{} and {} in {}",
        _words("intermissions", "intermission"),
        _words("rushes", "rush"),
        _words("trials", "timed trial"),
    )
    return table.select(
        "participant",
        pl.col("genuine_share").alias("score"),
        pl.lit(genuine_at_least).alias("threshold"),
        (pl.col("genuine_share") < genuine_at_least).fill_null(False).alias("flagged"),
        pl.when(pl.col("trials") > 0).then(reason).otherwise(pl.lit("no timed trials")).alias("reason"),
        "trials", "intermissions", "rushes", "genuine_share",
    )  # fmt: skip
