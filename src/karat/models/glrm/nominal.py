"""Nominal answers of workers to tasks: baseline-category logits with crossed random intercepts.

Every category but the first has separate coefficients, worker and task effects, and variances; effects of different
categories are independent. The fit is by maximum likelihood with the Laplace approximation. Memory holds
(categories - 1)^2 numbers per answered pair of worker and task, or per pair if most were answered, and a dense square
matrix of the effects of the smaller side.

    log P(y = k) / P(y = 0) = eta_k = x'beta_k + theta_wk u_ik + theta_tk v_jk,     k = 1, ..., K - 1

The derivatives of an answer are those of the multinomial: r = y - p, W = diag(p) - p p' and, summed with the posterior
covariance H of the predictors, W3 : H / 2 = p (diag H - p'diag H - 2 H p + 2 p'H p) / 2. The rest is as for one
predictor, with blocks instead of numbers: E = -r + c - W q, d/dbeta_k = X'E_k, and d/dtheta_wk = sum E_k u_k + [half
the derivative of log det M at fixed W] + pu_k r_k.

Arrays are predictors x answers, in the order of the layout (`crossed`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from karat.messages import Message
from karat.models.glrm.blocks import BlockSchur
from karat.models.glrm.crossed import CrossedLayout, Factor, arrange, is_listed
from karat.models.glrm.fit import UNBOUNDED, ZERO, group_message
from karat.models.glrm.objective import variance_information
from karat.models.glrm.optimise import STEPS, Evaluation, SearchResult, newton, solve
from karat.models.numerics import one_thread, significant
from karat.types import Bools, Floats

LARGEST = 60_000_000
"""The largest size of the curvature, in numbers."""


@dataclass(frozen=True)
class NominalFit(SearchResult):
    """A fitted model. Columns are the categories after the first, the baseline; coefficients are design x columns."""

    @property
    def standard_errors(self) -> Floats:
        """The standard error of each coefficient."""
        size = self.coefficients.size
        return np.sqrt(np.diag(self.covariance))[:size].reshape(self.coefficients.shape)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The model and how the search ended."""
        values = {
            "n": self.answers, "workers": len(self.workers), "tasks": len(self.tasks),
            "categories": len(self.categories), "baseline": str(self.categories[0]), "value": self.log_likelihood,
            "worker_variances": [significant(value) for value in self.variances["worker"]],
            "task_variances": [significant(value) for value in self.variances["task"]],
        }  # fmt: skip
        return Message("fit.nominal", values), self.convergence.message


def fit_nominal(
    response: ArrayLike,
    worker: ArrayLike,
    task: ArrayLike,
    design: ArrayLike | None = None,
    *,
    baseline: Any = None,
    largest: int = LARGEST,
) -> NominalFit:
    """Fit crossed random intercepts for every category but the baseline, by default the first category.

    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    >>> logits = random.normal(0, 1, (30, 3))[worker] + random.normal(0, 2, (20, 3))[task]
    >>> response = np.array(["a", "b", "c"])[np.argmax(logits + random.gumbel(size=(600, 3)), axis=1)]
    >>> fit = fit_nominal(response, worker, task)
    >>> fit.converged, fit.variances["task"].shape
    (True, (2,))
    """
    answers = arrange(response, worker, task, design)
    categories, number = np.unique(answers.response, return_inverse=True)
    if len(categories) < 2:
        raise ValueError(Message("models.same_answers"))
    if baseline is not None:
        if baseline not in categories:
            raise ValueError(f"The baseline {baseline!r} is not one of the answers.")
        first = int(np.flatnonzero(categories == baseline)[0])
        order = np.concatenate([[first], np.delete(np.arange(len(categories)), first)])
        categories, number = categories[order], np.argsort(order)[number]
    m, workers, tasks = len(categories) - 1, len(answers.workers), len(answers.tasks)
    layout = answers.layout
    if (size := curvature_size(workers, tasks, len(number), m)) > largest:
        raise ValueError(Message("models.nominal_size", {"workers": workers, "tasks": tasks, "categories": m}))
    indicators = np.stack([layout.place((number == k + 1).astype(np.float64)) for k in range(m)])
    objective = NominalObjective(layout, indicators, layout.place(answers.design))
    start = np.concatenate([np.zeros(answers.design.shape[1] * m), first_deviations(layout, indicators)])
    with one_thread(size):
        optimum, convergence = solve(objective, start, objective.zero_modes())
    sign = np.concatenate([np.ones(len(start) - 2 * m), np.where(optimum.parameters[-2 * m :] < 0, -1.0, 1.0)])
    parameters = optimum.parameters * sign
    beta, by_worker, by_task = objective.split(parameters)
    modes = BlockModes(optimum.at.modes.worker * sign[-2 * m : -m], optimum.at.modes.task * sign[-m:, None])
    if max(np.abs(parameters[-2 * m :])) > UNBOUNDED:
        convergence = replace(convergence, converged=False, reason=Message("fit.reason_category"))
    notes = [
        Message("fit.zero_category", {"group": group_message(name), "category": str(category)})
        for name, thetas in (("worker", by_worker), ("task", by_task))
        for category, theta in zip(categories[1:], thetas, strict=True)
        if theta < ZERO
    ]
    return NominalFit(
        -optimum.at.value, beta, {"worker": by_worker**2, "task": by_task**2}, by_worker * modes.worker,
        (by_task[:, None] * modes.task).T, answers.workers, answers.tasks, categories, objective.answers, convergence,
        tuple(notes), parameters, optimum.hessian * np.outer(sign, sign), objective, modes,
    )  # fmt: skip


def curvature_size(workers: int, tasks: int, answers: int, predictors: int) -> int:
    """The size of the curvature, in numbers: of the cells or, if larger, of the effects of the smaller side.

    >>> curvature_size(200, 100, 20_000, 2), curvature_size(200, 1_000, 3_000, 2)
    (80000, 160000)
    """
    places = workers * tasks
    cells = min(places, answers) if is_listed(places, answers) else places
    return max(cells, min(workers, tasks) ** 2) * predictors**2


def first_deviations(layout: CrossedLayout, indicators: Floats) -> Floats:
    """Initial deviations: those of the logits of each category between workers and between tasks, from 1 to 5."""
    cells = _each(layout.cells, indicators)
    answered = layout.cells(np.ones(layout.answers))
    deviations = []
    for sums in (layout.by_worker, layout.by_task):
        counts, others = _each(sums, cells) + 0.5, sums(answered - cells.sum(axis=0)) + 0.5
        variance = np.log(counts / others).var(axis=1) - (1 / counts + 1 / others).mean(axis=1)
        deviations.append(np.sqrt(np.clip(variance, 1.0, 25.0)))
    return np.concatenate(deviations)


@dataclass(frozen=True)
class BlockCurvature:
    """W summed over the answers of a worker, (workers, k, l), and of a task, (k, l, tasks)."""

    worker: Floats
    task: Floats


Factorised = tuple[BlockSchur, BlockCurvature]


@dataclass(frozen=True)
class BlockModes:
    """Spherical effects of workers (workers, predictors) and tasks (predictors, tasks), and the last factorisation."""

    worker: Floats
    task: Floats
    factor: Factorised | None = None


@dataclass(frozen=True)
class SoftmaxPoint:
    """The penalised likelihood at given effects: its value, probabilities of answers, and slopes."""

    modes: BlockModes
    value: float
    probability: Floats
    slope: Floats
    """The slope of every cell."""
    towards_worker: Floats
    towards_task: Floats


@dataclass(frozen=True)
class NominalObjective:
    """The negative log-likelihood as a function of (beta by column, then category; theta_w; theta_t)."""

    layout: CrossedLayout
    indicators: Floats
    """Predictors x answers: 1 if the answer is the predictor's category."""
    design: Floats
    """Answers x columns."""
    steps: int = STEPS
    """The largest number of steps in the search for the modes."""

    @property
    def predictors(self) -> int:
        return len(self.indicators)

    @property
    def parameters(self) -> int:
        return int(self.design.shape[-1] + 2) * self.predictors

    def split(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        """beta (columns x categories) and the deviations of workers and tasks."""
        m = self.predictors
        return parameters[: -2 * m].reshape(-1, m), parameters[-2 * m : -m], parameters[-m:]

    @property
    def deviations(self) -> int:
        """The number of deviations; they are the last parameters."""
        return 2 * self.predictors

    @property
    def answers(self) -> int:
        return self.layout.answers

    def without(
        self, modes: BlockModes, factor: Factor, group: int
    ) -> tuple[NominalObjective | None, BlockModes, Bools]:
        """The objective without a worker or task, the modes of the others and which parameters remain.

        A category that nobody else used is removed with its parameters. None if only the baseline remains, or if the
        baseline does not.
        """
        layout, drop = self.layout, self.layout.drop
        indicators = np.stack([drop(indicator, factor, group) for indicator in self.indicators])
        used = indicators.any(axis=1)
        rest = NominalObjective(layout.without(factor, group), indicators[used], drop(self.design, factor, group))
        worker, task = modes.worker[:, used], modes.task[used]
        worker, task = (
            (np.delete(worker, group, axis=0), task) if factor == "worker" else (worker, np.delete(task, group, axis=1))
        )
        enough = used.any() and indicators.sum() < rest.answers
        return rest if enough else None, BlockModes(worker, task), np.tile(used, self.parameters // self.predictors)

    def zero_modes(self) -> BlockModes:
        """Effects of zero, where the first search starts."""
        m = self.predictors
        return BlockModes(np.zeros((self.layout.workers, m)), np.zeros((m, self.layout.tasks)))

    def __call__(self, parameters: Floats, start: BlockModes) -> Evaluation | None:
        """The value and gradient, with modes searched from `start`; None if parameters are not finite."""
        if not np.all(np.isfinite(parameters)):
            return None
        beta, by_worker, by_task = self.split(parameters)
        base = np.ascontiguousarray((self.design @ beta).T)
        evaluation = SoftmaxEvaluation(self, base, by_worker, by_task)
        point, factorised, converged = evaluation.mode(start)
        covariance = factorised[0].covariance()
        gradient = evaluation.gradient(point, factorised, covariance)
        modes = BlockModes(point.modes.worker, point.modes.task, factorised)
        information = partial(evaluation.information, point, factorised, covariance)
        value = point.value + factorised[0].half_log_determinant
        return Evaluation(value, gradient, modes, information, converged)


@dataclass(frozen=True)
class SoftmaxEvaluation:
    """The objective at fixed parameters."""

    objective: NominalObjective
    base: Floats
    by_worker: Floats
    by_task: Floats

    def mode(self, start: BlockModes) -> tuple[SoftmaxPoint, Factorised, bool]:
        """The mode, its factorised curvature and whether the search converged."""
        point = self.evaluate(start.worker, start.task)
        return newton(point, self.factorise, self._step, self._move, self.objective.steps)

    def _step(self, point: SoftmaxPoint, factor: Factorised) -> tuple[tuple[Floats, Floats], float]:
        worker, task = factor[0].solve(point.towards_worker, point.towards_task)
        return (worker, task), float(np.vdot(worker, point.towards_worker) + np.vdot(task, point.towards_task))

    def _move(self, point: SoftmaxPoint, along: tuple[Floats, Floats], length: float) -> SoftmaxPoint:
        return self.evaluate(point.modes.worker + length * along[0], point.modes.task + length * along[1])

    def evaluate(self, worker: Floats, task: Floats) -> SoftmaxPoint:
        """The negative penalised likelihood at given effects."""
        layout, indicators = self.objective.layout, self.objective.indicators
        eta = self._predictors(worker, task) + self.base
        highest = np.maximum(eta.max(axis=0), 0.0)
        log_likelihood = float(np.vdot(indicators, eta))
        eta -= highest
        probability = np.exp(eta, out=eta)
        total = probability.sum(axis=0)
        total += np.exp(-highest)
        probability /= total
        normaliser = np.log(total)
        normaliser += highest
        log_likelihood -= float(normaliser.sum())
        slope = indicators - probability
        cells = _each(layout.cells, slope)
        value = float(np.vdot(worker, worker) + np.vdot(task, task)) / 2 - log_likelihood
        towards_worker = self.by_worker * _each(layout.by_worker, cells).T - worker
        towards_task = self.by_task[:, None] * _each(layout.by_task, cells) - task
        return SoftmaxPoint(BlockModes(worker, task), value, probability, cells, towards_worker, towards_task)

    def _predictors(self, worker: Floats, task: Floats) -> Floats:
        """The contribution of spherical effects of workers and tasks to every predictor of every answer."""
        layout, by_worker, by_task = self.objective.layout, (self.by_worker * worker).T, self.by_task[:, None] * task
        return np.stack([layout.spread(layout.sum_of_effects(*pair)) for pair in zip(by_worker, by_task, strict=True)])

    def _weight(self, p: Floats, k: int, j: int) -> Floats:
        """An entry of W in every cell."""
        weight = -p[k] * p[j]
        if k == j:
            weight += p[k]
        return self.objective.layout.cells(weight)

    def factorise(self, point: SoftmaxPoint) -> Factorised:
        """The factorised curvature in the effects, and W summed by worker and by task."""
        layout, m = self.objective.layout, len(point.probability)
        cells = (layout.worker, layout.task) if layout.listed else None
        placed = layout.of_matrix if cells else layout.table
        of_worker, of_task = np.empty((layout.workers, m, m)), np.empty((m, m, layout.tasks))
        blocks = np.empty((layout.workers, m, m, layout.tasks) if cells is None else (len(cells[0]), m, m))
        between = np.moveaxis(blocks, (1, 2), (0, 1))
        for k, j in _pairs(m):
            weight = self._weight(point.probability, k, j)
            of_worker[:, k, j] = of_worker[:, j, k] = layout.by_worker(weight)
            of_task[k, j] = of_task[j, k] = layout.by_task(weight)
            between[k, j] = self.by_worker[k] * self.by_task[j] * placed(weight)
            if j < k:
                between[j, k] = self.by_worker[j] * self.by_task[k] * placed(weight)
        worker = np.eye(m) + np.outer(self.by_worker, self.by_worker) * of_worker
        task = np.eye(m)[:, :, None] + np.outer(self.by_task, self.by_task)[:, :, None] * of_task
        return BlockSchur(worker, blocks, task, cells), BlockCurvature(of_worker, of_task)

    def information(
        self, point: SoftmaxPoint, factorised: Factorised, covariance: tuple[Floats, Floats, Floats]
    ) -> Floats:
        """An approximate Hessian: of the penalised likelihood for coefficients, as in a linear model for variances."""
        factor, curvature = factorised
        p, design, layout = point.probability, self.objective.design.T, self.objective.layout
        m, x, workers, tasks = len(p), len(design), layout.workers, layout.tasks
        fixed = np.empty((x, m, x, m))
        of_worker, of_task = np.empty((workers, m, x, m)), np.empty((m, tasks, x, m))
        for k, j in _pairs(m):
            weight = (p[k] if k == j else 0.0) - p[k] * p[j]
            for column, values in enumerate(design):
                weighted = weight * values
                fixed[column, k, :, j] = fixed[column, j, :, k] = design @ weighted
                cells = layout.cells(weighted)
                for a, b in {(k, j), (j, k)}:
                    of_worker[:, a, column, b] = self.by_worker[a] * layout.by_worker(cells)
                    of_task[a, :, column, b] = self.by_task[a] * layout.by_task(cells)
        by_worker, by_task = factor.solve(of_worker.reshape(workers, m, -1), of_task.reshape(m, tasks, -1))
        flat = fixed.reshape(x * m, x * m)
        flat = flat - of_worker.reshape(workers * m, -1).T @ by_worker.reshape(workers * m, -1)
        flat = flat - of_task.reshape(m * tasks, -1).T @ by_task.reshape(m * tasks, -1)
        var_worker, var_task = covariance[:2]
        deviations = [
            *(
                variance_information(self.by_worker[k], curvature.worker[:, k, k], var_worker[:, k, k])
                for k in range(m)
            ),
            *(variance_information(self.by_task[k], curvature.task[k, k], var_task[k, k]) for k in range(m)),
        ]
        return np.asarray(block_diag(flat, np.diag(deviations)))

    def gradient(
        self, point: SoftmaxPoint, factorised: Factorised, covariance: tuple[Floats, Floats, Floats]
    ) -> Floats:
        """The gradient of the negative log-likelihood, including the movement of the modes."""
        factor, curvature = factorised
        p, layout, objective = point.probability, self.objective.layout, self.objective
        m, by_worker, by_task = len(p), self.by_worker, self.by_task
        var_worker, var_task, blocks = covariance
        diagonal, times, mixed = [], np.zeros_like(p), np.empty((m, m))
        between = np.moveaxis(blocks, (1, 2), (0, 1))
        for k, j in _pairs(m):
            weight = self._weight(p, k, j)
            forth, back = (layout.of_matrix(block) for block in (between[k, j], between[j, k]))
            mixed[k, j], mixed[j, k] = np.vdot(weight, forth), np.vdot(weight, back)
            cells = by_worker[k] * by_task[j] * forth + by_task[k] * by_worker[j] * back
            cells += layout.sum_of_effects(
                by_worker[k] * by_worker[j] * var_worker[:, k, j],
                by_task[k] * by_task[j] * var_task[k, j],
            )
            spread = layout.spread(cells)
            times[k] += spread * p[j]
            if k == j:
                diagonal.append(spread)
            else:
                times[j] += spread * p[k]
        height = np.stack(diagonal)
        inner = 2 * np.einsum("kn,kn->n", p, times) - (p * height).sum(axis=0)
        c = p * (height - 2 * times + inner) / 2
        cells = _each(layout.cells, c)
        pu, pv = factor.solve(
            by_worker * _each(layout.by_worker, cells).T, by_task[:, None] * _each(layout.by_task, cells)
        )
        q = self._predictors(pu, pv)
        by_answer = c - (objective.indicators - p) - p * (q - (p * q).sum(axis=0))
        by_cell, slope = _each(layout.cells, by_answer), point.slope
        d_beta = objective.design.T @ by_answer.T
        d_worker = (_each(layout.by_worker, by_cell).T * point.modes.worker).sum(axis=0)
        d_worker += (_each(layout.by_worker, slope).T * pu).sum(axis=0)
        d_task = (_each(layout.by_task, by_cell) * point.modes.task + _each(layout.by_task, slope) * pv).sum(axis=1)
        d_worker += (var_worker * curvature.worker).sum(axis=0) @ by_worker + mixed @ by_task
        d_task += (var_task * curvature.task).sum(axis=2) @ by_task + by_worker @ mixed
        return np.concatenate([d_beta.ravel(), d_worker, d_task])


def _pairs(m: int) -> list[tuple[int, int]]:
    """The indices of the lower triangle, including the diagonal."""
    return [(k, j) for k in range(m) for j in range(k + 1)]


def _each(function: Callable[[Floats], Floats], arrays: Floats) -> Floats:
    """A function of the layout, applied to the array of every predictor."""
    return np.stack([function(array) for array in arrays])
