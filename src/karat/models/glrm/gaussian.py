"""Measured answers with crossed random intercepts, by maximum likelihood or REML, in closed form given the deviations.

    y = X beta + b_worker + b_task + e,   e ~ N(0, sigma^2)

With theta the deviations of the effects relative to sigma, V = I + theta_w^2 Zw Zw' + theta_t^2 Zt Zt' and C = (X,
y)' V^-1 (X, y), beta and sigma follow from C, and the criterion of theta alone is (Bates, Maechler, Bolker and Walker
2015)

    log det M / 2 + n (1 + log(2 pi r^2 / n)) / 2                                        maximum likelihood
    log det M / 2 + log det Cxx / 2 + (n - p) (1 + log(2 pi r^2 / (n - p))) / 2           REML

with r^2 = Cyy - Cyx Cxx^-1 Cxy. All follows from sums over groups, so that the answers are read once. The gradient uses
dC/dtheta_w = -2 theta_w (Zw'V^-1 (X, y))' (Zw'V^-1 (X, y)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from karat.models.glrm.crossed import CrossedLayout, Factor
from karat.models.glrm.mode import Modes
from karat.models.glrm.objective import variance_information
from karat.models.glrm.schur import Schur
from karat.types import Bools, Floats

EXACT = 1e-12
"""A deviation of the residuals that is so small beside the answers is rounding."""


@dataclass(frozen=True)
class GaussianEvaluation:
    """The criterion and its gradient at some relative deviations, with what follows from them."""

    value: float
    gradient: Floats
    modes: Modes
    information: Callable[[], Floats]
    coefficients: Floats
    coefficient_covariance: Floats
    residual_variance: float


@dataclass(frozen=True)
class GaussianObjective:
    """The criterion as a function of the relative deviations of workers and tasks."""

    layout: CrossedLayout
    design: Floats
    value: Floats
    reml: bool = False
    deviations: int = 2

    @property
    def parameters(self) -> int:
        return 2

    @property
    def answers(self) -> int:
        return self.layout.answers

    @cached_property
    def _counts(self) -> Floats:
        present = np.ones(self.value.shape) if self.layout.present is None else self.layout.present
        return self.layout.cells(present)

    @cached_property
    def _least_squares(self) -> Floats:
        flat = self.design.reshape(self.value.size, -1)
        return np.asarray(np.linalg.lstsq(flat, self.value.ravel(), rcond=None)[0])

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """Sums of (X, y) over the answers of each worker and of each task, and their products over all.

        y is taken without its least-squares fit, so that a large mean costs no digits.
        """
        columns = [*np.moveaxis(self.design, -1, 0), self.value - self.design @ self._least_squares]
        cells = [self.layout.cells(column) for column in columns]
        by_worker = np.column_stack([self.layout.by_worker(cell) for cell in cells])
        by_task = np.column_stack([self.layout.by_task(cell) for cell in cells])
        flat = np.stack([column.ravel() for column in columns])
        return by_worker, by_task, flat @ flat.T

    def zero_modes(self) -> Modes:
        """The modes follow from the deviations; nothing is searched for."""
        return Modes(np.zeros(self.layout.workers), np.zeros(self.layout.tasks))

    def without(self, modes: Modes, factor: Factor, group: int) -> tuple[GaussianObjective, Modes, Bools]:
        """The objective without a worker or task."""
        drop = partial(self.layout.drop, factor=factor, group=group)
        layout = self.layout.without(factor, group)
        return GaussianObjective(layout, drop(self.design), drop(self.value), self.reml), modes, np.ones(2, dtype=bool)

    def __call__(self, parameters: Floats, start: Modes) -> GaussianEvaluation | None:
        """The criterion and its gradient; None where deviations are not finite."""
        if not np.all(np.isfinite(parameters)):
            return None
        layout, (theta_w, theta_t), counts = self.layout, parameters, self._counts
        sum_worker, sum_task, products = self._sums
        count_worker, count_task = layout.by_worker(counts), layout.by_task(counts)
        matrix = layout.matrix(counts)
        schur = Schur(theta_w * theta_t * matrix, 1 + theta_w**2 * count_worker, 1 + theta_t**2 * count_task)
        u, v = schur.solve(theta_w * sum_worker, theta_t * sum_task)
        inner = products - theta_w * sum_worker.T @ u - theta_t * sum_task.T @ v
        # Z'V^-1 (X, y)
        left_worker = sum_worker - theta_w * count_worker[:, None] * u - theta_t * (matrix @ v)
        left_task = sum_task - theta_t * count_task[:, None] * v - theta_w * (matrix.T @ u)
        p, n = inner.shape[0] - 1, layout.answers
        shift = np.linalg.solve(inner[:p, :p], inner[:p, p])
        squares = float(inner[p, p] - inner[p, :p] @ shift)
        if products[p, p] <= EXACT**2 * float(np.vdot(self.value, self.value)) or squares <= 1e-12 * products[p, p]:
            return None  # what X, or the effects, leave of y is rounding
        freedom = n - p if self.reml else n
        value = schur.half_log_determinant + freedom / 2 * (1 + np.log(2 * np.pi * squares / freedom))
        inverse = np.linalg.inv(inner[:p, :p])
        if self.reml:
            value += np.linalg.slogdet(inner[:p, :p])[1] / 2
        var_worker, var_task, between = schur.covariance()
        crossing = float((counts * between).sum())
        gradient = np.array([
            theta_w * (count_worker @ var_worker) + theta_t * crossing,
            theta_t * (count_task @ var_task) + theta_w * crossing,
        ])  # fmt: skip
        contrast = np.append(-shift, 1.0)
        for index, (theta, left) in enumerate(((theta_w, left_worker), (theta_t, left_task))):
            gradient[index] -= freedom / squares * theta * float(((left @ contrast) ** 2).sum())
            if self.reml:
                gradient[index] -= theta * float(np.trace(inverse @ left[:, :p].T @ left[:, :p]))
        information = partial(_information, parameters, (count_worker, count_task), (var_worker, var_task))
        variance = squares / freedom
        modes = Modes(u @ contrast, v @ contrast)
        beta = self._least_squares + shift
        return GaussianEvaluation(value, gradient, modes, information, beta, variance * inverse, variance)


def _information(theta: Floats, counts: tuple[Floats, Floats], variances: tuple[Floats, Floats]) -> Floats:
    return np.diag([
        variance_information(float(one), count, variance)
        for one, count, variance in zip(theta, counts, variances, strict=True)
    ])  # fmt: skip
