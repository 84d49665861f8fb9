"""The profile of a likelihood along one parameter, and where it has fallen by a given amount.

    zeta(c) = ± sqrt(2 (l - l(c)))

where l(c) is the largest log-likelihood with the parameter held at c. An interval of level 1 - alpha ends where zeta
is the normal quantile (Venzon and Moolgavkar 1988). zeta is nearly straight, so that a few steps along secants find
the ends, each search starting from where the last two point.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.models.glrm.optimise import Evaluated, Function, Restricted, minimise
from karat.types import Floats

PRECISE = 1e-9
"""Half a squared Newton decrement within which the other parameters are found."""
CLOSE = 2e-5
"""How close zeta comes to the quantile."""
STEPS = 40
FARTHEST = 60.0
"""Standard errors from the estimate after which the interval counts as open."""


@dataclass(frozen=True)
class ProfilePoint:
    """The best likelihood with one parameter held at `value`."""

    value: float
    rest: Floats
    nll: float
    modes: Any


def held(function: Function, parameters: int, place: int, value: float) -> Restricted:
    """A function of this many parameters with one of them held at a value."""
    unit = np.eye(parameters)
    return Restricted(function, value * unit[place], np.delete(unit, place, axis=1))


def profile_ends(
    function: Function, best: Floats, at: Evaluated, place: int, error: float, quantile: float, least: float = -np.inf
) -> tuple[float, float]:
    """Both ends of the profile interval of one parameter, which may not fall below `least`.

    `at` is the function at its minimum, `best`; `error` is roughly the standard error of the parameter. An end that is
    not found within many standard errors is infinite.
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
    """Where the line through the last two points reaches the quantile; at most thrice as far as the last step."""
    rise = after[1] - before[1]
    gap = after[0].value - before[0].value
    slope = rise / gap if gap else 0.0
    longest = 3 * max(abs(gap), abs(error) / 10)
    if slope * error <= 0:
        return after[0].value + float(np.copysign(longest, error))
    return after[0].value + float(np.clip((quantile - after[1]) / slope, -longest, longest))


def _at(function: Function, origin: ProfilePoint, near: ProfilePoint, place: int, value: float) -> ProfilePoint | None:
    """The best point at a value, searched from where the line through the origin and a near point leads."""
    gap = near.value - origin.value
    start = origin.rest if not gap else origin.rest + (value - origin.value) / gap * (near.rest - origin.rest)
    others = held(function, len(start) + 1, place, value)
    for begin in (start, near.rest):
        at = others(begin, near.modes)
        if at is not None and not len(begin):
            return ProfilePoint(value, begin, at.value, at.modes)
        if at is not None:
            best = minimise(others, begin, at, None, PRECISE)
            return ProfilePoint(value, best.parameters, best.at.value, best.at.modes)
    return None
