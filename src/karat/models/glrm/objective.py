"""The Laplace approximation of the likelihood of crossed effects, with its gradient through the mode.

    nll = -sum l + (|u|^2 + |v|^2 + |z|^2) / 2 + log det(M) / 2 + sum log(1 + s^2 W) / 2

at the mode of the effects (lme4's likelihood with nAGQ = 1). The modes move with the parameters, and so does the
curvature W. With the covariance of the effects (qu, qv and quv per cell), the curvature of the predictor's posterior
is h = theta_w^2 qu + theta_t^2 qv + 2 theta_w theta_t quv, and

    k = (h / D^2 + s^2 / D) / 2,  D = 1 + s^2 W     (k = h / 2 without a cell effect)
    c = k W3 / D,  (pu, pv) = M^-1 (theta_w sum c, theta_t sum c),  q = theta_w pu + theta_t pv
    a = k,  b = (q + k s^2 W3) / D
    E = -r + a W3 - b W     per answer: d nll / d eta

so that d/dbeta = X'E; d/dtheta_w = sum over cells of E u + W/D (theta_w qu + theta_t quv) + pu r, theta_t alike; and
for a parameter of the family sum(-l_psi + a W_psi + b r_psi). W, W3 and r of a cell are sums over its answers.

Spherical effects u, v, z ~ N(0, 1) enter the linear predictor as eta = X beta + theta_w u_i + theta_t v_j + s z_ij.
The penalised log-likelihood is concave, so Newton's method with step halving finds its mode. If there are cell effects,
they are solved for within each cell (z = s sum r), so the curvature for worker and task is W / (1 + s^2 W).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import block_diag

from karat.models.glrm.blocks import BlockSchur
from karat.models.glrm.crossed import CrossedLayout, Factor
from karat.models.glrm.families import Family, Gaussian
from karat.models.glrm.optimise import STEPS, Evaluation, newton
from karat.types import Bools, Floats


@dataclass(frozen=True)
class Objective:
    """The negative log-likelihood as a function of (beta, psi, theta_w, theta_t[, s])."""

    layout: CrossedLayout
    family: Family
    design: Floats
    """X, with answers in the layout's order."""
    cell_effect: bool = False
    steps: int = STEPS
    """The largest number of steps in the search for the modes."""

    @property
    def parameters(self) -> int:
        return int(self.design.shape[-1]) + self.family.parameters + 2 + self.cell_effect

    def split(self, parameters: Floats) -> tuple[Floats, Floats, Scales]:
        """beta, psi and the deviations of the effects."""
        columns, psis = self.design.shape[-1], self.family.parameters
        beta, psi, deviations = np.split(parameters, [columns, columns + psis])
        return beta, psi, Scales(*map(float, deviations))

    @property
    def deviations(self) -> int:
        """The number of deviations; they are the last parameters."""
        return 2 + self.cell_effect

    @property
    def answers(self) -> int:
        return self.layout.answers

    def without(self, modes: Modes, factor: Factor, group: int) -> tuple[Objective | None, Modes, Bools]:
        """The objective without a worker or task, the modes of the others and which parameters remain.

        The threshold of a category that nobody else used is removed. None if only one category remains.
        """
        layout = self.layout.without(factor, group)
        answers = self.layout.drop(self.family.answers, factor, group)
        family, psi = self.family.subset(answers)
        columns = np.ones(self.design.shape[-1], dtype=bool)
        remaining = np.concatenate([columns, psi, np.ones(self.deviations, dtype=bool)])
        if family is None:
            return None, modes, remaining
        rest = Objective(layout, family, self.layout.drop(self.design, factor, group), self.cell_effect)
        worker, task = modes.worker, modes.task
        worker, task = (np.delete(worker, group), task) if factor == "worker" else (worker, np.delete(task, group))
        return rest, Modes(worker, task, rest.zero_modes().cell), remaining

    def zero_modes(self) -> Modes:
        """Effects of zero, where the first search starts."""
        layout = self.layout
        cell = np.zeros(len(layout.worker)) if self.cell_effect else None
        return Modes(np.zeros(layout.workers), np.zeros(layout.tasks), cell)

    def __call__(self, parameters: Floats, start: Modes) -> Evaluation | None:
        """The value and gradient at `parameters`; the search for the modes begins at `start`.

        None if the parameters are not allowed, or so extreme that the curvature is numerically singular.
        """
        beta, psi, scales = self.split(parameters)
        if not np.all(np.isfinite(parameters)) or not self.family.allowed(psi):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                mode = find_mode(self.layout, self.family, self.design @ beta, psi, scales, start, self.steps)
                of_worker, of_task, between = mode.schur.covariance()
                covariance = of_worker[:, 0, 0], of_task[0, 0], self.layout.of_matrix(between[:, 0, 0])
                gradient, _ = self.gradient(mode.point, psi, scales, covariance, partial(solve_effects, mode.schur))
            except (np.linalg.LinAlgError, OverflowError):
                return None
        value = mode.point.value + mode.schur.half_log_determinant
        if mode.point.determinant is not None:
            value += float(np.log(mode.point.determinant).sum()) / 2
        if not np.isfinite(value):
            return None
        information = partial(self._information, mode, psi, scales, covariance)
        return Evaluation(value, gradient, mode.point.modes, information, mode.converged)

    def gradient(
        self, point: CrossedPoint, psi: Floats, scales: Scales, covariance: tuple[Floats, Floats, Floats],
        solve: Callable[[Floats, Floats], tuple[Floats, Floats]],
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """The gradient, and c of every cell; `solve` returns M^-1 times slopes of workers and tasks.

        If `solve` returns zeros, the gradient ignores how the modes move with the parameters.
        """
        layout, family = self.layout, self.family
        third = family.third(point.eta, psi)
        cell_third = layout.cells(third)
        var_worker, var_task, between = covariance
        height = (2 * scales.worker * scales.task) * between
        height += layout.sum_of_effects(scales.worker**2 * var_worker, scales.task**2 * var_task)
        k, c = height / 2, height * cell_third / 2
        squared, determinant = scales.cell**2, point.determinant
        if determinant is not None:
            k = (height / determinant + squared) / (2 * determinant)
            c = k * cell_third / determinant
        pu, pv = solve(scales.worker * layout.by_worker(c), scales.task * layout.by_task(c))
        q = layout.sum_of_effects(scales.worker * pu, scales.task * pv)
        by_slope = q if determinant is None else (q + squared * k * cell_third) / determinant
        by_cell = k * cell_third - by_slope * point.weight - point.slope
        curvature = point.curvature
        crossing = curvature * between
        modes = point.modes
        d_worker = (
            layout.by_worker(by_cell) @ modes.worker
            + scales.worker * (layout.by_worker(curvature) @ var_worker)
            + scales.task * crossing.sum()
            + pu @ layout.by_worker(point.slope)
        )
        d_task = (
            layout.by_task(by_cell) @ modes.task
            + scales.task * (layout.by_task(curvature) @ var_task)
            + scales.worker * crossing.sum()
            + pv @ layout.by_task(point.slope)
        )
        a, b = layout.spread(k), layout.spread(by_slope)
        if layout.single:
            by_answer = layout.spread(by_cell)
        else:
            current = family.derivatives(point.eta, psi)
            by_answer = a * third - b * current.curvature - current.slope
        d_beta = self.design.T @ by_answer
        d_psi = family.gradient(point.eta, psi, np.ones(()), a, b)
        d_cell = self._by_cell_scale(point, scales.cell, height, q, cell_third)
        return np.concatenate([d_beta, d_psi, [d_worker, d_task], d_cell]), c

    def _information(
        self, mode: CrossedMode, psi: Floats, scales: Scales, covariance: tuple[Floats, Floats, Floats]
    ) -> Floats:
        """An approximate Hessian: of the penalised likelihood for fixed effects, as in a linear model for variances."""
        layout, point = self.layout, mode.point
        fixed, of_worker, of_task = self.fixed_information(point, psi, scales)
        by_worker, by_task = solve_effects(mode.schur, of_worker, of_task)
        fixed = fixed - of_worker.T @ by_worker - of_task.T @ by_task
        deviations = [
            variance_information(scales.worker, layout.by_worker(point.curvature), covariance[0]),
            variance_information(scales.task, layout.by_task(point.curvature), covariance[1]),
        ]
        if point.determinant is not None:
            deviations.append(variance_information(scales.cell, point.weight, 1 / point.determinant))
        return np.asarray(block_diag(fixed, np.diag(deviations)))

    def fixed_information(self, point: CrossedPoint, psi: Floats, scales: Scales) -> tuple[Floats, Floats, Floats]:
        """The curvature in the coefficients and psi, and the derivatives in them of the slopes of workers and of tasks.

        The cell effects move with the parameters. With c the derivative of a cell's slope, they reduce the curvature by
        s^2 c c'/D and the derivatives for the worker and the task to c / D.
        """
        layout, family = self.layout, self.family
        weight = family.derivatives(point.eta, psi).curvature
        inner, by_psi = family.information(point.eta, psi)
        weighted = weight[:, None] * self.design
        cross = -by_psi @ self.design
        fixed = np.block([[self.design.T @ weighted, cross.T], [cross, inner]])
        columns = np.concatenate([-weighted.T, by_psi])
        in_cells = np.array([layout.cells(column) for column in columns]).reshape(-1, len(point.weight))
        if point.determinant is not None:
            reduced = in_cells / point.determinant
            fixed -= scales.cell**2 * (in_cells @ reduced.T)
            in_cells = reduced
        of_worker, of_task = (
            np.array([theta * sums(cells) for cells in in_cells]).reshape(-1, groups).T
            for theta, sums, groups in (
                (scales.worker, layout.by_worker, layout.workers),
                (scales.task, layout.by_task, layout.tasks),
            )
        )
        return fixed, of_worker, of_task

    @staticmethod
    def _by_cell_scale(point: CrossedPoint, s: float, height: Floats, q: Floats, third: Floats) -> list[float]:
        """The derivative in the deviation of the cell effects, if there are any."""
        determinant, cell, weight = point.determinant, point.modes.cell, point.weight
        if determinant is None or cell is None:
            return []
        shift = 2 * cell / determinant
        by_curvature = height / 2 * (third * shift - 2 * s * weight**2) / determinant**2
        by_determinant = (s * weight + s * s / 2 * third * shift) / determinant
        return [float((by_curvature + by_determinant - cell * point.slope - q * weight * shift).sum())]


def variance_information(theta: float, weight: Floats, variance: Floats) -> float:
    """The information about the deviation theta in groups with these posterior variances of their spherical effects.

    In a linear model it is 2 (1 - q)^2 / theta^2 per group, with q the posterior variance. Where that vanishes, a part
    of the curvature at zero takes its place.
    """
    share = 1 - variance
    per_group = share / theta**2 if abs(theta) > 1e-3 else weight
    return float((per_group * np.maximum(2 * share, 0.2)).sum())


CELL_STEP = 1.5
"""The longest step of eta in the search for a cell effect; the logistic curvature changes little over it."""


@dataclass(frozen=True)
class Scales:
    """The deviations of the effects: theta_w, theta_t and s, which is zero without cell effects."""

    worker: float
    task: float
    cell: float = 0.0


@dataclass(frozen=True)
class Modes:
    """Spherical effects; `cell` is None without cell effects."""

    worker: Floats
    task: Floats
    cell: Floats | None = None

    def with_signs(self, sign: Floats) -> Modes:
        """The modes if the signs of the deviations, the last parameters, change; `sign` has an entry per parameter."""
        if self.cell is None:
            return Modes(self.worker * sign[-2], self.task * sign[-1])
        return Modes(self.worker * sign[-3], self.task * sign[-2], self.cell * sign[-1])


@dataclass(frozen=True)
class CrossedPoint:
    """The penalised likelihood at given effects: its value, and slope and curvature of every cell."""

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
        """The curvature of each cell in its worker and task effects."""
        return self.weight if self.determinant is None else self.weight / self.determinant


@dataclass(frozen=True)
class CrossedMode:
    """The mode with its factorised curvature."""

    point: CrossedPoint
    schur: BlockSchur
    converged: bool


def find_mode(
    layout: CrossedLayout,
    family: Family,
    base: Floats,
    psi: Floats,
    scales: Scales,
    start: Modes,
    steps: int = STEPS,
) -> CrossedMode:
    """The mode by Newton's method from `start`; `base` is the linear predictor without the effects."""

    def factor(point: CrossedPoint) -> BlockSchur:
        return factorise(layout, point.curvature, scales)

    def step(point: CrossedPoint, schur: BlockSchur) -> tuple[tuple[Floats, Floats], float]:
        towards_worker = scales.worker * layout.by_worker(point.slope) - point.modes.worker
        towards_task = scales.task * layout.by_task(point.slope) - point.modes.task
        by_worker, by_task = solve_effects(schur, towards_worker, towards_task)
        return (by_worker, by_task), float(towards_worker @ by_worker + towards_task @ by_task)

    def move(point: CrossedPoint, along: tuple[Floats, Floats], length: float) -> CrossedPoint:
        modes = point.modes
        ahead = Modes(modes.worker + length * along[0], modes.task + length * along[1], modes.cell)
        return evaluate(layout, family, base, psi, scales, ahead)

    point = evaluate(layout, family, base, psi, scales, start)
    return CrossedMode(*newton(point, factor, step, move, steps))


def evaluate(
    layout: CrossedLayout, family: Family, base: Floats, psi: Floats, scales: Scales, modes: Modes
) -> CrossedPoint:
    """The negative penalised likelihood at given worker and task effects, with cell effects at their modes."""
    effects = layout.sum_of_effects(scales.worker * modes.worker, scales.task * modes.task)
    eta = base + layout.spread(effects)
    penalty = float(modes.worker @ modes.worker + modes.task @ modes.task) / 2
    if modes.cell is None:
        derivatives = family.derivatives(eta, psi)
        value = penalty - float(derivatives.log_likelihood.sum())
        return CrossedPoint(
            modes, eta, value, layout.cells(derivatives.slope), layout.cells(derivatives.curvature), None
        )
    cell, s = modes.cell, scales.cell
    for _ in range(STEPS):
        derivatives = family.derivatives(eta + layout.spread(s * cell), psi)
        slope, weight = layout.cells(derivatives.slope), layout.cells(derivatives.curvature)
        determinant = 1 + s * s * weight
        step = (s * slope - cell) / determinant
        if np.abs(step).max() < 1e-10:
            break
        # Steps are limited because the curvature changes, except for measured answers.
        shortening = 1.0 if isinstance(family, Gaussian) else np.maximum(np.abs(s * step) / CELL_STEP, 1)
        cell = cell + step / shortening
    value = penalty + float((cell * cell).sum()) / 2 - float(derivatives.log_likelihood.sum())
    return CrossedPoint(
        Modes(modes.worker, modes.task, cell), eta + layout.spread(s * cell), value, slope, weight, determinant
    )


def factorise(layout: CrossedLayout, curvature: Floats, scales: Scales) -> BlockSchur:
    """The factorised curvature in worker and task effects, with one effect each."""
    weight = scales.worker * scales.task * curvature
    return BlockSchur(
        (1 + scales.worker**2 * layout.by_worker(curvature))[:, None, None],
        (weight if layout.listed else layout.table(weight))[:, None, None],
        (1 + scales.task**2 * layout.by_task(curvature))[None, None],
        (layout.worker, layout.task) if layout.listed else None,
    )


def solve_effects(schur: BlockSchur, worker: Floats, task: Floats) -> tuple[Floats, Floats]:
    """M^-1 times one right-hand side, or several in columns."""
    by_worker, by_task = schur.solve(worker[:, None], task[None])
    return by_worker[:, 0], by_task[0]
