"""Answers of participants x items for a contrast, drawn from a model.

Two models: with a `Spread`, judgments on the scale of the task as in `scale_answers`, with an effect in logits; and
with a `Normal`, answers as numbers on the scale,

    y = P_i + I_j + x (effect + b_i + d_j) + e,

with an effect in steps of the scale and standard deviations that come from a pilot (or from anywhere else). Answers are
numbers: places on a rating scale, 1 and 0 for yes and no (for labels: the first category or another), 1, -1 and 0 for
choices, logarithms of magnitudes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.judgments.scales import Binary, Choice, Continuous, Magnitude, Nominal, Ordinal, Scale
from karat.messages import Message
from karat.simulate.behaviours import SimulateError
from karat.simulate.layout import SimulationLayout
from karat.simulate.scale_answers import EXPONENT, INDIFFERENCE, Spread, ends_of, line_share, logistic, thresholds
from karat.types import Floats, Ints

CONVERSION_DRAWS = 40_000
LARGEST_EFFECT = 20.0


@dataclass(frozen=True)
class Normal:
    """Answers with normal errors: standard deviations in steps of the scale."""

    participant: float
    item: float
    participant_effect: float
    item_effect: float
    residual: float


Model = Spread | Normal


def mean_answers(rounds: Floats, layout: SimulationLayout, people: Ints, things: Ints) -> Floats:
    """The mean of answers over rounds; NaN where an item is not on a side of the contrast."""
    return np.where(layout.sides[np.ix_(people, things)] == 0, np.nan, np.mean(rounds, axis=0))


def draw_rounds(
    model: Model, layout: SimulationLayout, people: Ints, things: Ints, effect: float, random: np.random.Generator
) -> Floats:
    """Every answer, rounds x participants x items, given the groups of both; NaN where an item is not shown.

    Answers with normal errors are drawn as their mean over rounds: one round, with an error that is smaller by that.
    """
    at = np.ix_(people, things)
    x = layout.sides[at]
    shape = x.shape
    slopes = effect + random.normal(0, model.participant_effect, (shape[0], 1))
    slopes = slopes + random.normal(0, model.item_effect, (1, shape[1]))
    centre, shift = random.normal(0, model.item, (1, shape[1])), random.normal(0, model.participant, (shape[0], 1))
    if isinstance(model, Normal):
        noise = random.normal(0, model.residual / np.sqrt(layout.repeats), shape)
        # Where the answer is the contrast, what a participant or an item deviates by is their effect.
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
    """What a difference of answers is counted in.

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
    """The difference on the scale that an effect in logits amounts to, over participants and items.

    By simulation with numbers that are always the same, so that it rises smoothly with the effect.
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
    """The effect in logits that makes a difference on the scale."""
    from scipy.optimize import brentq

    if difference == 0:
        return 0.0
    size = abs(difference)
    zero = on_scale(layout, spread, 0.0)
    if on_scale(layout, spread, LARGEST_EFFECT) - zero <= size:
        values = {"difference": difference, "unit": unit_of(layout.scale)}
        raise SimulateError(Message("power.difference_too_large", values))
    # What the fixed draws show where there is no effect is chance, and is taken off.
    found = brentq(lambda e: on_scale(layout, spread, e) - zero - size, 0.0, LARGEST_EFFECT, xtol=1e-3)
    return float(np.copysign(found, difference))
