"""What scores are worth: power at a given false-positive rate, its Monte-Carlo error, and calibration.

The threshold is the 5 % quantile of the scores of cooperative participants, all replications of a scenario together.
Where scores are tied at the threshold, as many of the tied are counted as make the rate exactly 5 %: a score with few
values is neither favoured nor put at a disadvantage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from .scenes import Floats

RATE = 0.05
DRAWS = 200
BINS = 10


def power_at(cooperative: Floats, others: Floats, rate: float = RATE) -> float:
    """The share of others who are flagged where a share `rate` of the cooperative is; small scores are flagged."""
    ranked = np.sort(cooperative)
    cut = ranked[max(int(np.ceil(rate * len(ranked))) - 1, 0)]
    below, tied = np.mean(cooperative < cut), np.mean(cooperative == cut)
    return float(np.mean(others < cut) + (rate - below) / tied * np.mean(others == cut))


@dataclass(frozen=True)
class Lead:
    """How much more power one score has than another, and the Monte-Carlo error of that."""

    first: float
    second: float
    error: float

    @property
    def gap(self) -> float:
        return self.first - self.second


def lead(first: tuple[Floats, Floats], second: tuple[Floats, Floats], rate: float = RATE) -> Lead:
    """Compare two scores of the same people, each (cooperative, others); the error by resampling the people."""
    random = np.random.default_rng(1)
    gaps = []
    sizes = len(first[0]), len(first[1])
    for _ in range(DRAWS):
        drawn = [random.integers(0, size, size) for size in sizes]
        powers = [power_at(part[0][drawn[0]], part[1][drawn[1]], rate) for part in (first, second)]
        gaps.append(powers[0] - powers[1])
    # Where nobody of n differs, resampling says zero; one of n could still.
    error = max(float(np.std(gaps)), 1 / max(sizes[1], 1))
    return Lead(power_at(*first, rate), power_at(*second, rate), error)


def power_error(cooperative: Floats, others: Floats, rate: float = RATE) -> float:
    """The Monte-Carlo error of a power, with that of its threshold."""
    nothing = np.zeros(len(cooperative)), np.zeros(len(others))
    return lead((cooperative, others), nothing, rate).error


def reliability(probability: Floats, attentive: Floats) -> pl.DataFrame:
    """Ten equal bins of the probability: how many participants, its mean, and the share who were attentive."""
    table = pl.DataFrame({"probability": probability, "attentive": attentive.astype(np.float64)})
    place = (pl.col("probability") * BINS).floor().clip(0, BINS - 1).cast(pl.Int64)
    return (
        table.group_by(bin=place)
        .agg(participants=pl.len(), said=pl.col("probability").mean(), attentive=pl.col("attentive").mean())
        .sort("bin")
    )


def calibration_error(bins: pl.DataFrame) -> float:
    """ECE: the distance of what is said from what is so, on average over participants."""
    away = (bins["said"] - bins["attentive"]).abs() * bins["participants"]
    return float(away.sum()) / float(bins["participants"].sum())
