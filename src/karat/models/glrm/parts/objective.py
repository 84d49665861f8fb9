"""The Laplace likelihood of crossed effects with answers in parts: one map over the parts per Newton step.

The parts compute everything by worker, this process everything by task. Each Newton step for the tasks' modes gets sums
from all parts and solves the tasks' dense system; at the mode, the parts use P = S^-1 to compute the sums of the
gradient. The next search starts at a first-order prediction of the modes at the new parameters.

Given the effects of the tasks, workers are independent. A part finds the mode of each of its workers by
one-dimensional Newton steps, and contributes to the Newton system of the tasks

    the slopes by task, sum r;    the curvature by task, sum W;    B' diag(1/dw) B     (see `schur`)

so that the tasks' likelihood has the workers at their modes. The gradient through the mode (`objective`) consists of
sums over cells and of products x' M^-1 c of the columns

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
"""The largest number of Newton steps for the mode of each worker."""
NEAR = 1.0
"""The prediction of the modes is used if they move by less than this, in logits."""


@dataclass(frozen=True)
class PartedModes:
    """Spherical effects at given parameters, with workers in the order of parts, and derivatives of task effects."""

    worker: Floats
    task: Floats
    parameters: Floats | None = None
    movement: Floats | None = None
    """The derivatives of the task effects in the parameters, tasks x parameters."""

    def with_signs(self, sign: Floats) -> PartedModes:
        """The modes if the signs of deviations change; `sign` has an entry per parameter."""
        if self.parameters is None or self.movement is None:
            return replace(self, worker=self.worker * sign[-2], task=self.task * sign[-1])
        return PartedModes(
            self.worker * sign[-2], self.task * sign[-1], self.parameters * sign, self.movement * sign * sign[-1]
        )

    def expected(self, parameters: Floats, scale: float) -> Floats:
        """The predicted task effects at other parameters, or the current ones if the prediction is too far away."""
        if self.parameters is None or self.movement is None:
            return self.task
        step = self.movement @ (parameters - self.parameters)
        return self.task + step if np.abs(scale * step).max() < NEAR else self.task


Numbers = tuple[float, Floats, PartedModes, bool, Floats]
"""An evaluation: value, gradient, modes, whether their search converged, and information."""
Keep = Callable[[tuple[bytes, ...], Callable[[], Numbers]], Numbers]
"""Returns the stored evaluation for a key of bytes, or computes it with the function."""


@dataclass(frozen=True)
class _PartedPoint:
    """The negative penalised likelihood with the workers at their modes."""

    value: float
    worker: Floats
    task: Floats
    towards: Floats
    sums: ModeSums

    def factorise(self, scales: Scales) -> Floats:
        """The Cholesky factor of the tasks' system; it overwrites the matrix of the sums."""
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
    """The number of workers of each part."""
    keep: Keep = lambda _, compute: compute()
    """Stores evaluations."""
    deviations: int = 2
    steps: int = STEPS
    """The largest number of steps in the search for the modes."""

    @property
    def thresholds(self) -> int:
        return len(self.view.categories) - 1 if self.view.family == "ordinal" else 0

    @property
    def parameters(self) -> int:
        return self.columns + self.thresholds + 2

    def split(self, parameters: Floats) -> tuple[Floats, Floats, Scales]:
        """beta, psi and the deviations of the effects."""
        end = self.columns + self.thresholds
        return parameters[: self.columns], parameters[self.columns : end], Scales(*map(float, parameters[end:]))

    def zero_modes(self) -> PartedModes:
        """Effects of zero, where the first search starts."""
        return PartedModes(np.zeros(sum(self.sizes)), np.zeros(len(self.view.tasks)))

    def without(self, modes: PartedModes, factor: Factor, group: int) -> tuple[Any, PartedModes, Bools]:
        """Raise ValueError, because deletion would need a pass through all answers for every worker."""
        raise ValueError("Deletion needs the answers in memory: fit those of a sample of workers with fit_crossed.")

    def __call__(self, parameters: Floats, start: PartedModes) -> Evaluation | None:
        """The value and gradient, with modes searched from `start`; None if the parameters are not allowed."""
        _, psi, scales = self.split(parameters)
        if not np.all(np.isfinite(parameters)) or not np.all(np.diff(psi) > 0):
            return None
        # The key has the bytes of arrays, since pickles of equal arrays can differ with their memory layout.
        arrays = (parameters, start.worker, start.task, start.parameters, start.movement)
        key = tuple(b"" if array is None else array.tobytes() for array in arrays)
        value, gradient, modes, converged, information = self.keep(
            key, lambda: self._numbers(parameters, scales, start)
        )
        return Evaluation(value, gradient, modes, lambda: information, converged)

    def _numbers(self, parameters: Floats, scales: Scales, start: PartedModes) -> Numbers:
        point, factor, converged = self._mode(parameters, scales, start)
        value = point.value + point.sums.half_log_determinant + float(np.log(factor.diagonal()).sum())
        inverse = inverted(factor)
        at = Where(self.view, parameters, point.task, inverse)
        sums: GradientSums = self._sum(gradient_sums, at, point.worker)
        movement = inverse @ sums.reduced
        products = sums.products + sums.reduced.T @ movement
        size = len(sums.fixed)
        of_tasks = variance_information(scales.task, point.sums.weight, inverse.diagonal())
        information = linalg.block_diag(sums.fixed - products[:size, :size], np.diag([sums.of_workers, of_tasks]))
        modes = PartedModes(point.worker, point.task, parameters, movement[:, :-1])
        return value, sums.direct + products[:-1, -1], modes, converged, information

    def _mode(self, parameters: Floats, scales: Scales, start: PartedModes) -> tuple[_PartedPoint, Floats, bool]:
        """The mode, the factor of the tasks' system there, and whether the search converged."""

        def step(point: _PartedPoint, factor: Floats) -> tuple[Floats, float]:
            along: Floats = linalg.cho_solve((factor, True), point.towards, check_finite=False)
            return along, float(point.towards @ along)

        def move(point: _PartedPoint, along: Floats, length: float) -> _PartedPoint:
            return self._at(parameters, scales, point.task + length * along, point.worker)

        first = self._at(parameters, scales, start.expected(parameters, scales.task), start.worker)
        point, factor, converged = newton(first, lambda point: point.factorise(scales), step, move, self.steps)
        return point, factor, converged and not point.sums.failed

    def _at(self, parameters: Floats, scales: Scales, task: Floats, worker: Floats) -> _PartedPoint:
        sums: ModeSums = self._sum(mode_sums, Where(self.view, parameters, task), worker)
        value = sums.value + float(task @ task) / 2
        return _PartedPoint(value, np.concatenate(sums.workers), task, scales.task * sums.slope - task, sums)

    def _sum(self, function: Callable[[Where, Any], Any], where: Where, worker: Floats) -> Any:
        """The sums of a function over all parts."""
        workers = np.split(worker, np.cumsum(self.sizes)[:-1])
        items = list(zip(self.crew.parts, workers, strict=True))
        return self.crew.total(function, where, items, len(self.view.tasks) ** 2)


WORKER_STEP = 1e-10
"""The search for the mode of a worker converges with a step below this."""


@dataclass(frozen=True)
class Where:
    """The parameters and task effects at which parts compute sums."""

    view: View
    parameters: Floats
    task: Floats
    inverse: Floats | None = None
    """P, for the gradient."""


@dataclass
class ModeSums(Sums):
    """The contribution of parts to the Newton system of the tasks."""

    value: float
    """The negative log-likelihood, with the penalty of the workers."""
    half_log_determinant: float
    slope: Floats
    weight: Floats
    inner: Floats
    """B' diag(1/dw) B."""
    failed: int
    """The number of parts in which the search for the modes of the workers did not converge."""
    workers: list[Floats]
    """The modes of the workers."""


@dataclass
class GradientSums(Sums):
    """The contribution of parts to the gradient and the information."""

    direct: Floats
    """The gradient without the terms from the movement of the modes."""
    products: Floats
    """x_w' y_w / dw of all pairs of columns; c is the last column."""
    reduced: Floats
    """The reduced columns X, tasks x columns."""
    fixed: Floats
    """The curvature in the coefficients and thresholds, at fixed effects."""
    of_workers: float
    """The information of the workers about their deviation."""


def mode_sums(where: Where, item: tuple[Placed, Floats]) -> ModeSums:
    """The modes of the workers of a part at the task effects, searched from earlier ones, and their sums."""
    placed, worker = item
    objective = where.view.objective(placed)
    layout, (beta, psi, scales) = objective.layout, objective.split(where.parameters)
    point, converged = worker_mode(objective, objective.design @ beta, psi, scales, Modes(worker, where.task))
    many = 1 + scales.worker**2 * layout.by_worker(point.weight)
    inner = eliminated(layout.matrix(scales.worker * scales.task * point.weight), many)
    penalty = float(where.task @ where.task) / 2  # that of the tasks is added once, not by each part
    return ModeSums(
        point.value - penalty, float(np.log(many).sum()) / 2, layout.by_task(point.slope),
        layout.by_task(point.weight), inner, not converged, [point.modes.worker],
    )  # fmt: skip


def worker_mode(
    objective: Objective, base: Floats, psi: Floats, scales: Scales, start: Modes, steps: int = WORKER_STEPS
) -> tuple[CrossedPoint, bool]:
    """The mode of the workers given the tasks, and whether the search converged within `steps` steps.

    Steps are limited because the logistic curvature changes; so each step increases the likelihood.
    """
    layout, worker, converged = objective.layout, start.worker, False
    for _ in range(steps):
        point = evaluate(layout, objective.family, base, psi, scales, Modes(worker, start.task))
        towards = scales.worker * layout.by_worker(point.slope) - worker
        step = towards / (1 + scales.worker**2 * layout.by_worker(point.weight))
        converged = bool(np.abs(step).max() < WORKER_STEP)
        if converged:
            break
        worker = worker + step / np.maximum(np.abs(scales.worker * step) / CELL_STEP, 1)
    return point, converged


def gradient_sums(where: Where, item: tuple[Placed, Floats]) -> GradientSums:
    """The sums of the gradient for a part with its workers at their modes."""
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
    zero_worker, zero_task = np.zeros(layout.workers), np.zeros(layout.tasks)
    covariance = variance, inverse.diagonal(), layout.of_matrix(between)
    direct, by_third = objective.gradient(point, psi, scales, covariance, lambda *_: (zero_worker, zero_task))
    fixed, columns_worker, columns_task = objective.fixed_information(point, psi, scales)
    with_worker = point.weight * layout.sum_of_effects(worker, zero_task)
    with_task = point.weight * layout.sum_of_effects(zero_worker, where.task)
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
