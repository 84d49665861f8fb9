"""The modes: the worker, task and cell effects that are most likely given the parameters.

Spherical effects u, v, z ~ N(0, 1) enter the linear predictor as eta = X beta + theta_w u_i + theta_t v_j + s z_ij.
The penalised log-likelihood is concave, so Newton's method with step halving finds its mode. The cell effect, where
there is one, is solved for within each cell (z = s sum r), which leaves the curvature W / (1 + s^2 W) for worker and
task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from karat.models.glrm.crossed import CrossedLayout
from karat.models.glrm.families import Derivatives, Family, Gaussian
from karat.models.glrm.schur import Schur
from karat.types import Floats

DECREMENT = 1e-9
"""A squared Newton decrement below which the step taken leaves an error of the order of its square."""
NOTHING_LEFT = 1e-18
"""A squared Newton decrement that needs no further step."""
PATIENCE = 7
"""A kept factor is renewed where, as the decrement shrinks, more steps than this would be needed with it."""
STEPS = 200
HALVINGS = 40
CELL_STEP = 1.5
"""The longest step of eta in the search for a cell effect; the logistic curvature changes little within it."""


class Valued(Protocol):
    """A point with the value that is to fall."""

    @property
    def value(self) -> float: ...


Reached = TypeVar("Reached", bound=Valued)
Factorised = TypeVar("Factorised")
Step = TypeVar("Step")


@dataclass(frozen=True)
class Scales:
    """The deviations of the effects: theta_w, theta_t and s (zero where cells have no effect of their own)."""

    worker: float
    task: float
    cell: float = 0.0


@dataclass(frozen=True)
class Modes:
    """Spherical effects; `cell` is None where cells have no effect of their own."""

    worker: Floats
    task: Floats
    cell: Floats | None = None

    def turned(self, sign: Floats) -> Modes:
        """The modes where the deviations, the last parameters, have another sign; `sign` has one for each parameter."""
        if self.cell is None:
            return Modes(self.worker * sign[-2], self.task * sign[-1])
        return Modes(self.worker * sign[-3], self.task * sign[-2], self.cell * sign[-1])


@dataclass(frozen=True)
class CrossedPoint:
    """The penalised likelihood at some effects: its value, and slope and curvature of every cell."""

    modes: Modes
    eta: Floats
    value: float
    slope: Floats
    weight: Floats
    """The sum of W over the answers of a cell."""
    determinant: Floats | None
    """1 + s^2 W, the curvature in the cell effect."""

    @property
    def curvature(self) -> Floats:
        """The curvature that worker and task see."""
        return self.weight if self.determinant is None else self.weight / self.determinant


@dataclass(frozen=True)
class CrossedMode:
    """The mode, with its factorised curvature."""

    point: CrossedPoint
    schur: Schur
    found: bool


def find_mode(
    layout: CrossedLayout, family: Family, base: Floats, psi: Floats, scales: Scales, start: Modes
) -> CrossedMode:
    """Newton's method from `start`; `base` is the linear predictor without the effects."""

    def factorised(point: CrossedPoint) -> Schur:
        return factorise(layout, point.curvature, scales)

    def step(point: CrossedPoint, schur: Schur) -> tuple[tuple[Floats, Floats], float]:
        towards_worker = scales.worker * layout.by_worker(point.slope) - point.modes.worker
        towards_task = scales.task * layout.by_task(point.slope) - point.modes.task
        by_worker, by_task = schur.solve(towards_worker, towards_task)
        return (by_worker, by_task), float(towards_worker @ by_worker + towards_task @ by_task)

    def move(point: CrossedPoint, along: tuple[Floats, Floats], length: float) -> CrossedPoint:
        modes = point.modes
        moved = Modes(modes.worker + length * along[0], modes.task + length * along[1], modes.cell)
        return evaluate(layout, family, base, psi, scales, moved)

    return CrossedMode(*newton(evaluate(layout, family, base, psi, scales, start), factorised, step, move))


def newton(
    point: Reached,
    factorise: Callable[[Reached], Factorised],
    step: Callable[[Reached, Factorised], tuple[Step, float]],
    move: Callable[[Reached, Step, float], Reached],
    *,
    kept: Factorised | None = None,
    enough: float = DECREMENT,
    lasting: bool = False,
) -> tuple[Reached, Factorised, bool]:
    """Newton's method with step halving: the mode, the factorised curvature there and whether it was found.

    `step` gives a direction with its squared decrement, `move` the point at a length of it. Where a factorisation is
    `lasting`, it serves for as long as the decrement shrinks quickly; `kept` is one of an earlier search.
    """
    factor, fresh, before = kept, False, np.inf
    for _ in range(STEPS):
        if factor is None:
            factor, fresh, before = factorise(point), True, np.inf
        along, decrement = step(point, factor)
        if fresh and decrement < NOTHING_LEFT:
            return point, factor, True
        far = decrement > enough * max(1.0, before / max(decrement, enough)) ** PATIENCE
        reached = None if far and not fresh else halve(partial(move, point, along), point.value, decrement)
        if reached is None and fresh:
            return point, factor, decrement < 1e-6
        if reached is not None:
            point, before = reached, decrement
            if decrement <= enough:
                return point, factorise(point), True
        factor, fresh = factor if lasting and reached is not None else None, False
    return point, factorise(point), False


def halve(along: Callable[[float], Reached], value: float, decrement: float) -> Reached | None:
    """The first point along a Newton step, halved as often as needed, at which the penalised likelihood is higher.

    `along` gives the point at a length of the step, `value` is the negative likelihood at its beginning.
    """
    length = 1.0
    # Near the mode a gain cannot be told from rounding.
    slack = 1e-11 * (1 + abs(value))
    for _ in range(HALVINGS):
        reached = along(length)
        if reached.value <= value - 1e-4 * length * decrement + slack:
            return reached
        length /= 2
    return None


def evaluate(
    layout: CrossedLayout, family: Family, base: Floats, psi: Floats, scales: Scales, modes: Modes
) -> CrossedPoint:
    """The penalised likelihood (negative) at given worker and task effects; cell effects are searched for."""
    effects = layout.sum_of_effects(scales.worker * modes.worker, scales.task * modes.task)
    eta = base + layout.spread(effects)
    penalty = float(modes.worker @ modes.worker + modes.task @ modes.task) / 2
    if modes.cell is None:
        one = _present(layout, family.derivatives(eta, psi))
        value = penalty - float(one.log_likelihood.sum())
        return CrossedPoint(modes, eta, value, layout.cells(one.slope), layout.cells(one.curvature), None)
    cell, s = modes.cell, scales.cell
    for _ in range(STEPS):
        one = _present(layout, family.derivatives(eta + layout.spread(s * cell), psi))
        slope, weight = layout.cells(one.slope), layout.cells(one.curvature)
        determinant = 1 + s * s * weight
        step = (s * slope - cell) / determinant
        if np.abs(step).max() < 1e-10:
            break
        # A step is shortened where the curvature would not hold; measured answers have the same everywhere.
        longest = 1.0 if isinstance(family, Gaussian) else np.maximum(np.abs(s * step) / CELL_STEP, 1)
        cell = cell + step / longest
    value = penalty + float((cell * cell).sum()) / 2 - float(one.log_likelihood.sum())
    return CrossedPoint(
        Modes(modes.worker, modes.task, cell), eta + layout.spread(s * cell), value, slope, weight, determinant
    )


def factorise(layout: CrossedLayout, curvature: Floats, scales: Scales) -> Schur:
    """The curvature in worker and task effects, ready to be solved with."""
    return Schur(
        layout.matrix(scales.worker * scales.task * curvature),
        1 + scales.worker**2 * layout.by_worker(curvature),
        1 + scales.task**2 * layout.by_task(curvature),
    )


def _present(layout: CrossedLayout, one: Derivatives) -> Derivatives:
    if layout.present is None:
        return one
    return Derivatives(one.log_likelihood * layout.present, one.slope * layout.present, one.curvature * layout.present)
