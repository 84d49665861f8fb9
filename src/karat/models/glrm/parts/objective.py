"""The Laplace likelihood of crossed effects where the answers lie in parts of workers: one map a Newton step.

The parts hold the workers, the tasks are here. Each Newton step for the tasks' modes asks all parts for their sums
and solves the tasks' dense system; at the mode, P = S^-1 goes to the parts, which give the sums of the
gradient. The next search begins where the modes are expected at the new parameters, to first order.

Given the effects of the tasks, workers have nothing to do with each other. A part finds the mode of each of its workers
by Newton's method, in one dimension, and gives to the Newton system of the tasks

    the slopes by task, sum r;    the curvature by task, sum W;    B' diag(1/dw) B     (see `schur`)

so that the tasks see the likelihood with the workers already at their mode. The gradient through the mode (`objective`)
is made of sums over cells, and of products x' M^-1 c of the columns

    x = (theta_w sum_w r_x, theta_t sum_t r_x)    for a coefficient or a threshold, r_x the derivative of r
    x = (sum_w r - theta_w sum_w W u, -theta_t sum_t W u)     for theta_w; for theta_t with the sides exchanged
    c = (theta_w sum_w k W3, theta_t sum_t k W3)

By the Schur complement x' M^-1 c = sum x_w c_w / dw + X' P C with the reduced columns X = x_t - B'(x_w / dw), and both
are sums over parts. P X is also how the modes of the tasks move with a parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import linalg

from karat.models.glrm.crossed import Factor
from karat.models.glrm.objective import (
    CELL_STEP,
    CrossedPoint,
    Modes,
    Objective,
    Scales,
    evaluate,
    variance_information,
)
from karat.models.glrm.optimise import STEPS, Evaluation, newton
from karat.models.glrm.parts.answers import Crew, Placed, Sums, View
from karat.models.glrm.schur import covariance_of_many, eliminated, inverted
from karat.types import Bools, Floats

WORKER_STEPS = 100
"""Newton steps for the mode of each worker."""
NEAR = 1.0
"""The farthest that the modes are expected to move, in logits, for the expectation to be taken."""


@dataclass(frozen=True)
class PartedModes:
    """Spherical effects at some parameters, the workers one part after the other, and how those of the tasks move."""

    worker: Floats
    task: Floats
    parameters: Floats | None = None
    movement: Floats | None = None
    """Tasks x parameters."""

    def with_signs(self, sign: Floats) -> PartedModes:
        """The modes where the deviations have another sign; `sign` has one for each parameter."""
        if self.parameters is None or self.movement is None:
            return replace(self, worker=self.worker * sign[-2], task=self.task * sign[-1])
        return PartedModes(
            self.worker * sign[-2], self.task * sign[-1], self.parameters * sign, self.movement * sign * sign[-1]
        )

    def expected(self, parameters: Floats, scale: float) -> Floats:
        """The effects of the tasks to be expected at other parameters; as they are where that is too far."""
        if self.parameters is None or self.movement is None:
            return self.task
        step = self.movement @ (parameters - self.parameters)
        return self.task + step if np.abs(scale * step).max() < NEAR else self.task


Numbers = tuple[float, Floats, PartedModes, bool, Floats]
"""An evaluation: value, gradient, modes, whether they were found, and information."""
Keep = Callable[[tuple[bytes, ...], Callable[[], Numbers]], Numbers]
"""Gives an evaluation, named by the bytes it depends on: the one that it has kept, or what it lets be computed."""


@dataclass(frozen=True)
class _PartedPoint:
    """The penalised likelihood (negative) with the workers at their modes."""

    value: float
    worker: Floats
    task: Floats
    towards: Floats
    sums: ModeSums

    def factorise(self, scales: Scales) -> Floats:
        """The Cholesky factor of the tasks' system; the matrix of the sums is used up by it."""
        inner = np.negative(self.sums.inner, out=self.sums.inner)
        inner.flat[:: len(inner) + 1] += 1 + scales.task**2 * self.sums.weight
        return np.asarray(linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False))


@dataclass(frozen=True)
class PartedObjective:
    """The negative log-likelihood as a function of (beta, psi, theta_w, theta_t)."""

    crew: Crew = field(repr=False)
    view: View
    columns: int
    sizes: tuple[int, ...]
    """The workers of each part."""
    keep: Keep = lambda _, compute: compute()
    """How evaluations are kept."""
    deviations: int = 2
    steps: int = STEPS
    """After how many steps the search for the modes is given up."""

    @property
    def thresholds(self) -> int:
        return len(self.view.categories) - 1 if self.view.family == "ordinal" else 0

    @property
    def parameters(self) -> int:
        return self.columns + self.thresholds + 2

    def split(self, parameters: Floats) -> tuple[Floats, Floats, Scales]:
        """beta, psi and the deviations of the effects."""
        own = self.columns + self.thresholds
        return parameters[: self.columns], parameters[self.columns : own], Scales(*map(float, parameters[own:]))

    def zero_modes(self) -> PartedModes:
        """No effects, from where the first search starts."""
        return PartedModes(np.zeros(sum(self.sizes)), np.zeros(len(self.view.tasks)))

    def without(self, modes: PartedModes, factor: Factor, group: int) -> tuple[Any, PartedModes, Bools]:
        """Not there: deletion goes through all answers for every worker."""
        raise ValueError("Deletion needs the answers in memory: fit those of a sample of workers with fit_crossed.")

    def __call__(self, parameters: Floats, start: PartedModes) -> Evaluation | None:
        """The value and gradient, the modes searched from `start`; None where parameters are not allowed."""
        _, psi, scales = self.split(parameters)
        if not np.all(np.isfinite(parameters)) or not np.all(np.diff(psi) > 0):
            return None
        # As bytes: arrays that are equal need not be so when pickled, by how they lie in memory.
        at = (parameters, start.worker, start.task, start.parameters, start.movement)
        exactly = tuple(b"" if one is None else one.tobytes() for one in at)
        value, gradient, modes, found, information = self.keep(
            exactly, lambda: self._numbers(parameters, scales, start)
        )
        return Evaluation(value, gradient, modes, lambda: information, found)

    def _numbers(self, parameters: Floats, scales: Scales, start: PartedModes) -> Numbers:
        point, factor, found = self._mode(parameters, scales, start)
        value = point.value + point.sums.half_log_determinant + float(np.log(factor.diagonal()).sum())
        inverse = inverted(factor)
        where = Where(self.view, parameters, point.task, inverse)
        sums: GradientSums = self._summed(gradient_sums, where, point.worker)
        movement = inverse @ sums.reduced
        products = sums.products + sums.reduced.T @ movement
        own = len(sums.fixed)
        of_tasks = variance_information(scales.task, point.sums.weight, inverse.diagonal())
        information = linalg.block_diag(sums.fixed - products[:own, :own], np.diag([sums.of_workers, of_tasks]))
        modes = PartedModes(point.worker, point.task, parameters, movement[:, :-1])
        return value, sums.direct + products[:-1, -1], modes, found, information

    def _mode(self, parameters: Floats, scales: Scales, start: PartedModes) -> tuple[_PartedPoint, Floats, bool]:
        """The mode, the factor of the tasks' system there, and whether it was found."""

        def step(point: _PartedPoint, factor: Floats) -> tuple[Floats, float]:
            along: Floats = linalg.cho_solve((factor, True), point.towards, check_finite=False)
            return along, float(point.towards @ along)

        def move(point: _PartedPoint, along: Floats, length: float) -> _PartedPoint:
            return self._at(parameters, scales, point.task + length * along, point.worker)

        begin = self._at(parameters, scales, start.expected(parameters, scales.task), start.worker)
        point, factor, found = newton(begin, lambda one: one.factorise(scales), step, move, steps=self.steps)
        return point, factor, found and not point.sums.failed

    def _at(self, parameters: Floats, scales: Scales, task: Floats, worker: Floats) -> _PartedPoint:
        sums: ModeSums = self._summed(mode_sums, Where(self.view, parameters, task), worker)
        value = sums.value + float(task @ task) / 2
        return _PartedPoint(value, np.concatenate(sums.workers), task, scales.task * sums.slope - task, sums)

    def _summed(self, function: Callable[[Where, Any], Any], where: Where, worker: Floats) -> Any:
        """The sums over all parts."""
        workers = np.split(worker, np.cumsum(self.sizes)[:-1])
        items = list(zip(self.crew.parts, workers, strict=True))
        return self.crew.total(function, where, items, len(self.view.tasks) ** 2)


WORKER_STEP = 1e-10
"""A step of a worker's effect below which the mode is found."""


@dataclass(frozen=True)
class Where:
    """Parameters and task effects at which parts are asked for their sums."""

    view: View
    parameters: Floats
    task: Floats
    inverse: Floats | None = None
    """P, for the gradient."""


@dataclass
class ModeSums(Sums):
    """What parts give to the Newton system of the tasks."""

    value: float
    """The negative log-likelihood, with the penalty of the workers."""
    half_log_determinant: float
    slope: Floats
    weight: Floats
    inner: Floats
    """B' diag(1/dw) B."""
    failed: int
    """In how many parts the modes of the workers were not found."""
    workers: list[Floats]
    """The modes of the workers."""


@dataclass
class GradientSums(Sums):
    """What parts give to the gradient and the information."""

    direct: Floats
    """The gradient without the terms that come from the movement of the modes."""
    products: Floats
    """x_w' y_w / dw of all columns; that of c is the last."""
    reduced: Floats
    """Tasks x columns."""
    fixed: Floats
    """The curvature in the coefficients and thresholds, at fixed effects."""
    of_workers: float
    """How much the workers tell about their deviation."""


def mode_sums(where: Where, item: tuple[Placed, Floats]) -> ModeSums:
    """The modes of the workers of a part, searched from those given, at the task effects, and their sums."""
    placed, worker = item
    objective = where.view.objective(placed)
    layout, (beta, psi, scales) = objective.layout, objective.split(where.parameters)
    point, found = worker_mode(objective, objective.design @ beta, psi, scales, Modes(worker, where.task))
    many = 1 + scales.worker**2 * layout.by_worker(point.weight)
    inner = eliminated(layout.matrix(scales.worker * scales.task * point.weight), many)
    penalty = float(where.task @ where.task) / 2  # that of the tasks is counted once, and not by the parts
    return ModeSums(
        point.value - penalty, float(np.log(many).sum()) / 2, layout.by_task(point.slope),
        layout.by_task(point.weight), inner, not found, [point.modes.worker],
    )  # fmt: skip


def worker_mode(
    objective: Objective, base: Floats, psi: Floats, scales: Scales, start: Modes, steps: int = WORKER_STEPS
) -> tuple[CrossedPoint, bool]:
    """The mode of the workers given the tasks, and whether it was found in so many steps.

    A step is shortened where the logistic curvature would not hold, so that every step goes up.
    """
    layout, worker, found = objective.layout, start.worker, False
    for _ in range(steps):
        point = evaluate(layout, objective.family, base, psi, scales, Modes(worker, start.task))
        towards = scales.worker * layout.by_worker(point.slope) - worker
        step = towards / (1 + scales.worker**2 * layout.by_worker(point.weight))
        found = bool(np.abs(step).max() < WORKER_STEP)
        if found:
            break
        worker = worker + step / np.maximum(np.abs(scales.worker * step) / CELL_STEP, 1)
    return point, found


def gradient_sums(where: Where, item: tuple[Placed, Floats]) -> GradientSums:
    """The sums of the gradient for a part whose workers are at their modes."""
    placed, worker = item
    objective, inverse = where.view.objective(placed), where.inverse
    if inverse is None:
        raise ValueError("The gradient needs the inverse of the tasks' system.")
    layout, (beta, psi, scales) = objective.layout, objective.split(where.parameters)
    point = evaluate(layout, objective.family, objective.design @ beta, psi, scales, Modes(worker, where.task))
    of_worker = layout.by_worker(point.weight)
    many = 1 + scales.worker**2 * of_worker
    matrix = layout.matrix(scales.worker * scales.task * point.weight)
    between, variance = covariance_of_many(matrix, many, inverse)
    none_worker, none_task = np.zeros(layout.workers), np.zeros(layout.tasks)
    covariance = variance, inverse.diagonal(), between
    direct, by_third = objective.gradient(point, psi, scales, covariance, lambda *_: (none_worker, none_task))
    fixed, columns_worker, columns_task = objective.fixed_information(point, psi, scales)
    with_worker = point.weight * layout.sum_of_effects(worker, none_task)
    with_task = point.weight * layout.sum_of_effects(none_worker, where.task)
    columns_worker = np.column_stack([
        columns_worker,
        layout.by_worker(point.slope) - scales.worker * layout.by_worker(with_worker),
        -scales.worker * layout.by_worker(with_task),
        scales.worker * layout.by_worker(by_third),
    ])  # fmt: skip
    columns_task = np.column_stack([
        columns_task,
        -scales.task * layout.by_task(with_worker),
        layout.by_task(point.slope) - scales.task * layout.by_task(with_task),
        scales.task * layout.by_task(by_third),
    ])  # fmt: skip
    scaled = columns_worker / many[:, None]
    return GradientSums(
        direct, columns_worker.T @ scaled, columns_task - matrix.T @ scaled, fixed,
        variance_information(scales.worker, of_worker, variance),
    )  # fmt: skip
