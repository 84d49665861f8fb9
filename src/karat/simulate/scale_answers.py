"""From a latent value to an answer: the criteria by which each scale is used.

A rating is the number of thresholds below the latent value. The thresholds of K points are t_k = 1.5 logit(k / K); a
participant shifts them by a and stretches them by s: a + s t_k. Yes is a latent value above the criterion a. A choice
is the sign of the latent preference for the left side, or "no difference" within .7 s of zero. A magnitude is modulus *
exp(.35 s (value - a)), in round numbers as people give them. A place on a line between two ends is the share
expit((value - a) / (1.5 s)) of its length, which is what a rating becomes when the points are many. A label is the
category of the greatest utility.

`Spread` says how much participants and items differ, in logits. A judgment of participant i on item j under a contrast
x (+1/2 at its first level, -1/2 at its second) has the latent value

    strength_j + x (effect + b_i + d_j) + e,     e standard logistic,

and is answered by participant i's own criteria: thresholds exp(c_i) t_k + a_i. The numbers here are the standard
deviations of strength_j (item), b_i (participant_effect), d_j (item_effect), c_i (stretch) and a_i (participant). They
are round numbers of the size that questionnaires with ratings have shown; a pilot knows better.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.special import expit, logit

from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal, Scale
from karat.messages import Message
from karat.simulate.behaviours import SimulateError
from karat.types import Floats, Ints

WIDTH = 1.5
EXPONENT = 0.35
INDIFFERENCE = 0.7
USUAL_MODULUS = 100.0


def thresholds(points: int) -> Floats:
    """The thresholds of a rating scale, in logits.

    >>> thresholds(5).round(2).tolist()
    [-2.08, -0.61, 0.61, 2.08]
    """
    found: Floats = WIDTH * logit(np.arange(1, points) / points)
    return found


def codes(scale: Scale, latent: Floats, shift: Floats, stretch: Floats) -> Ints:
    """The places of the answers among the levels of a scale; `latent` has a column for each level of a nominal one."""
    if isinstance(scale, Nominal):
        return np.asarray(np.argmax(latent, axis=1), dtype=np.int64)
    if isinstance(scale, Binary):
        return (latent > shift).astype(np.int64)
    if isinstance(scale, Choice):
        side = (latent < 0).astype(np.int64)
        return np.where(np.abs(latent) < INDIFFERENCE * stretch, 2, side) if scale.none else side
    if isinstance(scale, Ordinal):
        place = np.zeros(latent.shape, dtype=np.int64)
        for cut in thresholds(len(scale.levels)):
            place += latent > shift + stretch * cut
        return place
    raise SimulateError(Message("simulate.no_levels", {"kind": scale.kind}))


def numbers(scale: Magnitude | Continuous, latent: Floats, shift: Floats, stretch: Floats) -> Floats:
    """The numbers that are given: in magnitude estimation with two digits that count, on a line in hundredths of it."""
    if isinstance(scale, Continuous):
        low, high = ends_of(scale)
        along: Floats = low + (high - low) * np.round(line_share(latent - shift, stretch), 2)
        return along
    exact = (scale.modulus or USUAL_MODULUS) * np.exp(EXPONENT * stretch * (latent - shift))
    unit = 10.0 ** (np.floor(np.log10(exact)) - 1)
    rounded: Floats = np.round(exact / unit) * unit
    return rounded


def line_share(value: Floats, stretch: Floats) -> Floats:
    """How far along a line a value is marked, from 0 to 1.

    >>> line_share(np.array([0.0, 1.5]), np.ones(2)).round(2).tolist()
    [0.5, 0.73]
    """
    share: Floats = expit(value / (WIDTH * stretch))
    return share


def ends_of(scale: Continuous) -> tuple[float, float]:
    """The two ends of a line, which must have them to be answered by anybody without an idea of the numbers."""
    if scale.low is None or scale.high is None:
        raise SimulateError(Message("simulate.no_ends"))
    return scale.low, scale.high


def guesses(scale: Scale, count: int, random: np.random.Generator) -> list[str]:
    """Answers without looking: every level as often, magnitudes anywhere around the modulus, places along a line."""
    if isinstance(scale, Magnitude):
        around = random.uniform(-4, 4, count)
        return written(numbers(scale, around, np.zeros(count), np.ones(count)))
    if isinstance(scale, Continuous):
        low, high = ends_of(scale)
        return written(low + (high - low) * np.round(random.random(count), 2))
    levels = levels_of(scale)
    return [levels[place] for place in random.integers(0, len(levels), count)]


def levels_of(scale: Scale) -> tuple[str, ...]:
    """The answers of a scale that has levels."""
    if isinstance(scale, Binary | Choice | Ordinal | Nominal):
        return scale.levels
    raise SimulateError(Message("simulate.no_levels", {"kind": scale.kind}))


def written(values: Floats) -> list[str]:
    """Numbers as answers.

    >>> written(np.array([100.0, 2.5]))
    ['100', '2.5']
    """
    return [f"{value:.6g}" for value in values]


@dataclass(frozen=True)
class Spread:
    """Standard deviations between participants and between items.

    >>> Spread(item=0.5).item
    0.5
    """

    participant: float = 0.8
    item: float = 0.8
    participant_effect: float = 0.4
    item_effect: float = 0.4
    stretch: float = 0.25

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) >= 0:
                raise SimulateError(Message("simulate.deviation", {"name": field.name}))


def logistic(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Standard logistic noise, by inversion, which is faster than the generator's own."""
    uniform = random.random(shape)
    # A uniform number may be exactly zero, but never one.
    np.maximum(uniform, np.finfo(float).tiny, out=uniform)
    noise: Floats = np.log(uniform / (1 - uniform))
    return noise
