"""What a part of the workers gives to the Laplace likelihood of all: sums, as functions of parameters and task effects.

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

from dataclasses import dataclass

import numpy as np

from karat.models.glrm.mode import CELL_STEP, STEPS, CrossedPoint, Modes, Scales, evaluate
from karat.models.glrm.objective import Objective, variance_information
from karat.models.glrm.parted_answers import Placed, View
from karat.models.glrm.schur import covariance_of_many, eliminated
from karat.types import Floats

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
class ModeSums:
    """What parts give to the Newton system of the tasks."""

    value: float
    """The negative log-likelihood, with the penalty of the workers."""
    half_log_determinant: float
    slope: Floats
    weight: Floats
    inner: Floats
    """B' diag(1/dw) B."""
    found: bool
    workers: list[Floats]
    """The modes of the workers."""

    def add(self, other: ModeSums) -> None:
        """Take the sums of further parts."""
        self.value += other.value
        self.half_log_determinant += other.half_log_determinant
        self.slope += other.slope
        self.weight += other.weight
        self.inner += other.inner
        self.found &= other.found
        self.workers += other.workers


@dataclass
class GradientSums:
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

    def add(self, other: GradientSums) -> None:
        """Take the sums of further parts."""
        self.direct += other.direct
        self.products += other.products
        self.reduced += other.reduced
        self.fixed += other.fixed
        self.of_workers += other.of_workers


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
        layout.by_task(point.weight), inner, found, [point.modes.worker],
    )  # fmt: skip


def worker_mode(
    objective: Objective, base: Floats, psi: Floats, scales: Scales, start: Modes
) -> tuple[CrossedPoint, bool]:
    """The mode of the workers given the tasks, and whether it was found.

    A step is shortened where the logistic curvature would not hold, so that every step goes up.
    """
    layout, worker, found = objective.layout, start.worker, False
    for _ in range(STEPS):
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
    of_worker, of_task = layout.by_worker(point.weight), layout.by_task(point.weight)
    many = 1 + scales.worker**2 * of_worker
    matrix = layout.matrix(scales.worker * scales.task * point.weight)
    between, variance = covariance_of_many(matrix, many, inverse)
    height = (2 * scales.worker * scales.task) * between
    height += layout.sum_of_effects(scales.worker**2 * variance, scales.task**2 * inverse.diagonal())
    present = np.ones(()) if layout.present is None else layout.present
    third = objective.family.third(point.eta, psi) * present
    by_third = height * layout.cells(third) / 2
    by_cell = by_third - point.slope
    crossing = float((point.weight * between).sum())
    now = objective.family.derivatives(point.eta, psi)
    spread = layout.spread(height / 2)
    by_answer = spread * third - now.slope * present
    direct = np.concatenate([
        objective.design.reshape(by_answer.size, -1).T @ by_answer.ravel(),
        objective.family.gradient(point.eta, psi, present, spread, np.zeros(())),
        [layout.by_worker(by_cell) @ worker + scales.worker * (of_worker @ variance) + scales.task * crossing],
        [layout.by_task(by_cell) @ where.task + scales.task * (of_task @ inverse.diagonal())
         + scales.worker * crossing],
    ])  # fmt: skip
    fixed, columns_worker, columns_task = objective.fixed_information(point, psi, scales)
    none_worker, none_task = np.zeros(layout.workers), np.zeros(layout.tasks)
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
