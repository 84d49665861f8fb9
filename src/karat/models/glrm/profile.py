"""Profile-likelihood intervals of single parameters.

    zeta(c) = ± sqrt(2 (l - l(c)))

where l is the maximum of the log-likelihood and l(c) its maximum with the parameter fixed at c. An interval of level
1 - alpha ends where zeta is the normal quantile (Venzon and Moolgavkar 1988). zeta is nearly linear in c, so a few
secant steps find each end. Every search of the other parameters starts from a linear extrapolation of earlier ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.models.glrm.optimise import Evaluated, Function, Restricted, minimise
from karat.types import Floats

PRECISE = 1e-9
"""Half a squared Newton decrement at which the search of the other parameters ends."""
CLOSE = 2e-5
"""The tolerance of zeta around the quantile."""
STEPS = 40
FARTHEST = 60.0
"""The number of standard errors from the estimate after which the interval counts as unbounded."""


@dataclass(frozen=True)
class ProfilePoint:
    """The highest likelihood with one parameter fixed at `value`."""

    value: float
    rest: Floats
    nll: float
    modes: Any


def fix_parameter(function: Function, parameters: int, place: int, value: float) -> Restricted:
    """A function of this many parameters with the one at `place` fixed at `value`."""
    unit = np.eye(parameters)
    return Restricted(function, value * unit[place], np.delete(unit, place, axis=1))


def profile_ends(
    function: Function, best: Floats, at: Evaluated, place: int, error: float, quantile: float, least: float = -np.inf
) -> tuple[float, float]:
    """Both ends of the profile interval of one parameter, which cannot be below `least`.

    `at` is the function at its minimum, `best`; `error` approximates the standard error of the parameter. An end
    further than `FARTHEST` standard errors away is infinite.
    """
    origin = ProfilePoint(float(best[place]), np.delete(best, place), at.value, at.modes)
    low, high = (_end(function, origin, place, sign * error, quantile, least) for sign in (-1, 1))
    return low, high


def _end(function: Function, origin: ProfilePoint, place: int, error: float, quantile: float, least: float) -> float:
    before, ahead = (origin, 0.0), origin.value + quantile * error
    limit = origin.value + FARTHEST * error
    inner, outer = origin.value, float(np.copysign(np.inf, error))  # the end lies between them
    for _ in range(STEPS):
        ahead = max(ahead, least)
        point = _at(function, origin, before[0], place, ahead)
        if point is None:
            ahead = (ahead + before[0].value) / 2
            continue
        zeta = float(np.sqrt(2 * max(point.nll - origin.nll, 0.0)))
        if abs(zeta - quantile) < CLOSE or (ahead <= least and zeta < quantile):
            return ahead
        if ahead == limit and zeta < quantile:
            return outer
        inner, outer = (ahead, outer) if zeta < quantile else (inner, ahead)
        after = (point, zeta)
        ahead = secant(before, after, quantile, error)
        before = after
        if not min(inner, outer) < ahead < max(inner, outer):
            ahead = (inner + outer) / 2
        if (ahead - limit) * error > 0:
            ahead = limit
    return float("nan")


def secant(
    before: tuple[ProfilePoint, float], after: tuple[ProfilePoint, float], quantile: float, error: float
) -> float:
    """Where the line through the last two points reaches the quantile, at most three times the last step away."""
    rise = after[1] - before[1]
    gap = after[0].value - before[0].value
    slope = rise / gap if gap else 0.0
    longest = 3 * max(abs(gap), abs(error) / 10)
    if slope * error <= 0:
        return after[0].value + float(np.copysign(longest, error))
    return after[0].value + float(np.clip((quantile - after[1]) / slope, -longest, longest))


def _at(function: Function, origin: ProfilePoint, near: ProfilePoint, place: int, value: float) -> ProfilePoint | None:
    """The best point at a value; the search starts on the line through the origin and a nearby point."""
    gap = near.value - origin.value
    start = origin.rest if not gap else origin.rest + (value - origin.value) / gap * (near.rest - origin.rest)
    others = fix_parameter(function, len(start) + 1, place, value)
    for first in (start, near.rest):
        at = others(first, near.modes)
        if at is not None and not len(first):
            return ProfilePoint(value, first, at.value, at.modes)
        if at is not None:
            best = minimise(others, first, at, None, PRECISE)
            return ProfilePoint(value, best.parameters, best.at.value, best.at.modes)
    return None
