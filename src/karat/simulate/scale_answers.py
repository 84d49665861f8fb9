"""From a latent value to an answer: the response criteria of each scale.

A rating is the number of thresholds below the latent value. The thresholds of K points are t_k = 1.5 logit(k / K); a
participant shifts them by a and stretches them by s: a + s t_k. Yes is a latent value above the criterion a. A choice
is the sign of the latent preference for the left side, or "no difference" within .7 s of zero. A magnitude is modulus *
exp(.35 s (value - a)), rounded as people do. A place on a line between two ends is the share
expit((value - a) / (1.5 s)) of its length, which is the limit of a rating with many points. A label is the category of
the greatest utility.

`Spread` has the differences between participants and between items, in logits. A judgment of participant i on item j
under a contrast x (+1/2 at its first level, -1/2 at its second) has the latent value

    strength_j + x (effect + b_i + d_j) + e,     e standard logistic,

and is answered by the criteria of participant i: thresholds exp(c_i) t_k + a_i. `Spread` has the standard deviations of
strength_j (item), b_i (participant_effect), d_j (item_effect), c_i (stretch) and a_i (participant). The defaults are
round numbers of the size found in questionnaires with ratings; a pilot gives better ones.

Two models: with a `Spread`, judgments on the scale of the task as above, with an effect in logits; and
with a `Normal`, answers as numbers on the scale,

    y = P_i + I_j + x (effect + b_i + d_j) + e,

with an effect in steps of the scale and standard deviations that come from a pilot (or from anywhere else). Answers are
numbers: places on a rating scale, 1 and 0 for yes and no (for labels: the first category or another), 1, -1 and 0 for
choices, logarithms of magnitudes.
"""

from dataclasses import dataclass, fields

import numpy as np
from scipy.special import expit, logit

from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal, Scale
from karat.messages import Message
from karat.simulate.behaviours import SimulateError
from karat.simulate.layout import SimulationLayout
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
    cuts: Floats = WIDTH * logit(np.arange(1, points) / points)
    return cuts


def codes(scale: Scale, latent: Floats, shift: Floats, stretch: Floats) -> Ints:
    """The places of the answers among the levels of a scale; for a nominal one, `latent` has a column per level."""
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
    """The answers as numbers: magnitudes with two significant digits, places on a line in hundredths of it."""
    if isinstance(scale, Continuous):
        low, high = ends_of(scale)
        along: Floats = low + (high - low) * np.round(line_share(latent - shift, stretch), 2)
        return along
    exact = (scale.modulus or USUAL_MODULUS) * np.exp(EXPONENT * stretch * (latent - shift))
    unit = 10.0 ** (np.floor(np.log10(exact)) - 1)
    rounded: Floats = np.round(exact / unit) * unit
    return rounded


def line_share(value: Floats, stretch: Floats) -> Floats:
    """The mark of a value on a line, from 0 to 1.

    >>> line_share(np.array([0.0, 1.5]), np.ones(2)).round(2).tolist()
    [0.5, 0.73]
    """
    share: Floats = expit(value / (WIDTH * stretch))
    return share


def ends_of(scale: Continuous) -> tuple[float, float]:
    """The two ends of a line; SimulateError without ends, because answers need them."""
    if scale.low is None or scale.high is None:
        raise SimulateError(Message("simulate.no_ends"))
    return scale.low, scale.high


def guesses(scale: Scale, count: int, random: np.random.Generator) -> list[str]:
    """Random answers: each level equally often, magnitudes around the modulus, places along a line."""
    if isinstance(scale, Magnitude):
        around = random.uniform(-4, 4, count)
        return written(numbers(scale, around, np.zeros(count), np.ones(count)))
    if isinstance(scale, Continuous):
        low, high = ends_of(scale)
        return written(low + (high - low) * np.round(random.random(count), 2))
    levels = levels_of(scale)
    return [levels[place] for place in random.integers(0, len(levels), count)]


def levels_of(scale: Scale) -> tuple[str, ...]:
    """The levels of a scale; SimulateError if it has none."""
    if scale.levels:
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


CONVERSION_DRAWS = 40_000
LARGEST_EFFECT = 20.0


@dataclass(frozen=True)
class Normal:
    """The standard deviations of answers with normal errors, in steps of the scale."""

    participant: float
    item: float
    participant_effect: float
    item_effect: float
    residual: float


Model = Spread | Normal


def mean_answers(rounds: Floats, layout: SimulationLayout, people: Ints, things: Ints) -> Floats:
    """The mean of answers over rounds; NaN for items that are on no side of the contrast."""
    return np.where(layout.sides[np.ix_(people, things)] == 0, np.nan, np.mean(rounds, axis=0))


def draw_rounds(
    model: Model, layout: SimulationLayout, people: Ints, things: Ints, effect: float, random: np.random.Generator
) -> Floats:
    """All answers, rounds x participants x items, given the groups of both; NaN if an item is not shown.

    Answers with normal errors are drawn as their mean over rounds: one round with a smaller error.
    """
    at = np.ix_(people, things)
    x = layout.sides[at]
    shape = x.shape
    slopes = effect + random.normal(0, model.participant_effect, (shape[0], 1))
    slopes = slopes + random.normal(0, model.item_effect, (1, shape[1]))
    centre, shift = random.normal(0, model.item, (1, shape[1])), random.normal(0, model.participant, (shape[0], 1))
    if isinstance(model, Normal):
        noise = random.normal(0, model.residual / np.sqrt(layout.repeats), shape)
        # If the answer is the contrast, the deviation of a participant or an item is their effect.
        answers = (x * slopes + noise + (0 if layout.compared else centre + shift))[None]
    else:
        stretch = np.exp(random.normal(0, model.stretch, (shape[0], 1)))
        latent = x * slopes + (0 if layout.compared else centre)
        criterion = np.zeros_like(shift) if layout.compared else shift
        answers = np.stack([
            numeric(layout.scale, latent + logistic(random, shape), criterion, stretch) for _ in range(layout.repeats)
        ])  # fmt: skip
    judged = next((levels[at] != "" for levels in layout.shown.values()), x != 0)
    return np.where(judged, answers, np.nan)


def numeric(scale: Scale, latent: Floats, shift: Floats, stretch: Floats) -> Floats:
    """Answers as numbers, from latent values and criteria."""
    value = latent - shift
    if isinstance(scale, Ordinal):
        return np.asarray(sum((value > stretch * cut).astype(float) for cut in thresholds(len(scale.levels))))
    if isinstance(scale, Choice):
        within = INDIFFERENCE * stretch if scale.none else 0.0
        return np.asarray((value > within).astype(float) - (value < -within).astype(float))
    if isinstance(scale, Nominal):
        return np.asarray(value > np.log(len(scale.levels) - 1), dtype=float)
    if isinstance(scale, Magnitude):
        return EXPONENT * stretch * value
    if isinstance(scale, Continuous):
        low, high = ends_of(scale)
        return np.asarray(low + (high - low) * line_share(value, stretch))
    return np.asarray(value > 0, dtype=float)


def unit_of(scale: Scale) -> Message:
    """The unit of a difference of answers.

    >>> print(unit_of(Binary(("no", "yes"))))
    share of yes
    """
    if isinstance(scale, Binary | Nominal):
        return Message("power.share_of", {"level": scale.levels[-1 if isinstance(scale, Binary) else 0]})
    if isinstance(scale, Ordinal):
        return Message("power.steps")
    if isinstance(scale, Magnitude):
        return Message("power.logarithm")
    return Message("power.preference") if isinstance(scale, Choice) else Message("power.points")


def on_scale(layout: SimulationLayout, spread: Spread, effect: float) -> float:
    """The difference on the scale that corresponds to an effect in logits, over participants and items.

    It comes from a simulation with fixed random numbers, so that it rises smoothly with the effect.
    """
    random = np.random.default_rng(20260301)
    count = CONVERSION_DRAWS
    slope = effect + np.hypot(spread.participant_effect, spread.item_effect) * random.standard_normal(count)
    centre, shift = spread.item * random.standard_normal(count), spread.participant * random.standard_normal(count)
    stretch = np.exp(spread.stretch * random.standard_normal(count))
    noise = logistic(random, (count,))
    if layout.compared:
        return float(numeric(layout.scale, slope + noise, np.zeros(count), stretch).mean())
    total = np.zeros(count)
    for side in np.unique(layout.sides[layout.sides != 0])[::-1]:
        weight = float(layout.weights[layout.sides == side].sum())
        total += weight * numeric(layout.scale, centre + side * slope + noise, shift, stretch)
    return float(np.mean(total))


def in_logits(layout: SimulationLayout, spread: Spread, difference: float) -> float:
    """The effect in logits that corresponds to a difference on the scale."""
    from scipy.optimize import brentq

    if difference == 0:
        return 0.0
    size = abs(difference)
    zero = on_scale(layout, spread, 0.0)
    if on_scale(layout, spread, LARGEST_EFFECT) - zero <= size:
        values = {"difference": difference, "unit": unit_of(layout.scale)}
        raise SimulateError(Message("power.difference_too_large", values))
    # The result of the fixed random numbers without an effect is chance and is subtracted.
    effect = brentq(lambda e: on_scale(layout, spread, e) - zero - size, 0.0, LARGEST_EFFECT, xtol=1e-3)
    return float(np.copysign(effect, difference))
