"""A scene: one simulated or injected study, with the truth about everybody and, where it can be known, the oracle."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.judgments.checks import Checked
from karat.judgments.scales import Binary, Nominal, Ordinal

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DEVELOPMENT, HELD_OUT = 1, 1_000_001
"""The first seeds of the two ranges. The second is kept for the published tables."""


@dataclass(frozen=True)
class Scene:
    """Judgments, the kind of every participant in the order of their first rows, and log likelihood ratios.

    `oracle` has, for each kind of spammer, the logarithm of the probability of everybody's data if cooperative over
    that if of this kind, under "any" over that of all kinds of spammers in their shares, and under "blind" with the
    trial of the change unknown, too.
    """

    judgments: Judgments
    kinds: NDArray[np.str_]
    oracle: dict[str, Floats] = field(default_factory=dict)


def generator(name: str, seed: int) -> np.random.Generator:
    """Random numbers of a scenario; other scenarios with the same seed have others."""
    return np.random.default_rng([zlib.crc32(name.encode()), seed])


def judgments_of(order: Ints, answers: Ints, levels: int, ordered: bool) -> Judgments:
    """Answers of participants x trials to the tasks in `order`, as judgments without times.

    Names are such that the order of participants is that of their numbers.
    """
    people, trials = answers.shape
    names = [f"l{level}" for level in range(levels)]
    scale = Binary(("l0", "l1")) if levels == 2 else Ordinal(names) if ordered else Nominal(names)
    frame = pl.DataFrame({
        "participant": pl.Series([f"p{who:05d}" for who in range(people)]).gather(np.repeat(np.arange(people), trials)),
        "item": pl.Series([f"t{number:04d}" for number in range(int(order.max()) + 1)]).gather(order.ravel()),
        "response": pl.Series(names).gather(answers.ravel()),
        "trial": np.tile(np.arange(1, trials + 1), people),
        "function": pl.repeat("test", people * trials, dtype=pl.String, eager=True),
    })  # fmt: skip
    return Judgments.from_checked(Checked(frame), {"": scale})


def log_sum(values: Floats, axis: int = -1) -> Floats:
    """log sum exp along an axis; minus infinity where all are."""
    top = values.max(axis=axis, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        summed: Floats = np.squeeze(safe, axis) + np.log(np.exp(values - safe).sum(axis=axis))
    return summed
