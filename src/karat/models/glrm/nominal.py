"""Nominal answers of workers to tasks: baseline-category logits with crossed random intercepts.

Every category but the first has its own coefficients, its own worker and task effects and their variances; effects of
different categories are independent. Maximum likelihood with the Laplace approximation. What is held are
(categories - 1)^2 numbers for every worker and task that met, or for every pair of them where most did, and a dense
matrix of the effects of the smaller side, squared.

    log P(y = k) / P(y = 0) = eta_k = x'beta_k + theta_wk u_ik + theta_tk v_jk,     k = 1, ..., K - 1

The derivatives of an answer are those of the multinomial: r = y - p, W = diag(p) - p p' and, summed with the
posterior covariance H of the predictors, W3 : H / 2 = p (diag H - p'diag H - 2 H p + 2 p'H p) / 2. The rest is as for
one predictor, with blocks for numbers: E = -r + c - W q, d/dbeta_k = X'E_k, and d/dtheta_wk = sum E_k u_k + [half the
derivative of log det M at fixed W] + pu_k r_k.

Arrays are predictors x answers, as the layout has them (`crossed`). A factorisation costs much more than an evaluation
here, so that the search for the mode keeps the last one, also from one set of parameters to the next, for as long as
the steps with it shrink quickly.
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
from karat.models.glrm.crossed import CrossedLayout, Factor, Listed, arrange, is_listed
from karat.models.glrm.fit import UNBOUNDED, ZERO, group_message
from karat.models.glrm.objective import variance_information
from karat.models.glrm.optimise import STEPS, Evaluation, SearchResult, newton, solve
from karat.models.numerics import one_thread, significant
from karat.types import Bools, Floats

LARGEST = 60_000_000
"""How many numbers the curvature may have."""


@dataclass(frozen=True)
class NominalFit(SearchResult):
    """A fitted model. Columns are the categories after the first, the baseline; coefficients are design x columns."""

    @property
    def standard_errors(self) -> Floats:
        """Those of the coefficients."""
        size = self.coefficients.size
        return np.sqrt(np.diag(self.covariance))[:size].reshape(self.coefficients.shape)

    @property
    def summary(self) -> tuple[Message, ...]:
        """What was fitted, and how the search ended."""
        values = {
            "n": self.answers, "workers": len(self.workers), "tasks": len(self.tasks),
            "categories": len(self.categories), "baseline": str(self.categories[0]), "value": self.log_likelihood,
            "worker_variances": [significant(one) for one in self.variances["worker"]],
            "task_variances": [significant(one) for one in self.variances["task"]],
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
    """Fit crossed random intercepts for every category but the baseline (the first in order, unless one is named).

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
    chosen = np.stack([layout.place((number == k + 1).astype(np.float64)) for k in range(m)])
    objective = NominalObjective(layout, chosen, layout.place(answers.design))
    start = np.concatenate([np.zeros(answers.design.shape[1] * m), first_deviations(layout, chosen)])
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
    """How many numbers the curvature has: for the cells or, if more, for the effects of the smaller side.

    >>> curvature_size(200, 100, 20_000, 2), curvature_size(200, 1_000, 3_000, 2)
    (80000, 160000)
    """
    places = workers * tasks
    cells = min(places, answers) if is_listed(places, answers) else places
    return max(cells, min(workers, tasks) ** 2) * predictors**2


def first_deviations(layout: CrossedLayout, chosen: Floats) -> Floats:
    """How much the logits of each category's counts vary between workers, and between tasks; at least 1."""
    cells = _each(layout.cells, chosen)
    everything = layout.cells(np.ones(chosen.shape[1:]) if layout.present is None else layout.present)
    deviations = []
    for sums in (layout.by_worker, layout.by_task):
        counts, others = _each(sums, cells) + 0.5, sums(everything - cells.sum(axis=0)) + 0.5
        variance = np.log(counts / others).var(axis=1) - (1 / counts + 1 / others).mean(axis=1)
        deviations.append(np.sqrt(np.clip(variance, 1.0, 25.0)))
    return np.concatenate(deviations)


DECREMENT = 1e-13
"""The squared Newton decrement at the mode. It is small, since steps with a kept factor only shrink it by a share."""


@dataclass(frozen=True)
class BlockCurvature:
    """W summed over the answers of a worker, (workers, k, l), and of a task, (k, l, tasks)."""

    worker: Floats
    task: Floats


Factorised = tuple[BlockSchur, BlockCurvature]


@dataclass(frozen=True)
class BlockModes:
    """Spherical effects of workers (workers, predictors) and tasks (predictors, tasks), and the factor last used."""

    worker: Floats
    task: Floats
    factor: Factorised | None = None


@dataclass(frozen=True)
class _SoftmaxPoint:
    modes: BlockModes
    value: float
    probability: Floats
    """0 where there is no answer."""
    slope: Floats
    """The slopes of every cell."""
    towards_worker: Floats
    towards_task: Floats


@dataclass(frozen=True)
class NominalObjective:
    """The negative log-likelihood as a function of (beta by column, then category; theta_w; theta_t)."""

    layout: CrossedLayout
    chosen: Floats
    """Predictors x answers: 1 where the category was the answer."""
    design: Floats
    """Answers x columns."""
    steps: int = STEPS
    """After how many steps the search for the modes is given up."""

    @property
    def predictors(self) -> int:
        return len(self.chosen)

    @property
    def parameters(self) -> int:
        return int(self.design.shape[-1] + 2) * self.predictors

    def split(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        """beta (columns x categories) and the deviations of workers and tasks."""
        m = self.predictors
        return parameters[: -2 * m].reshape(-1, m), parameters[-2 * m : -m], parameters[-m:]

    @property
    def deviations(self) -> int:
        """How many of the parameters, the last, are deviations."""
        return 2 * self.predictors

    @property
    def answers(self) -> int:
        return self.layout.answers

    def without(
        self, modes: BlockModes, factor: Factor, group: int
    ) -> tuple[NominalObjective | None, BlockModes, Bools]:
        """The objective without a worker or task, the modes of the others and which parameters it keeps.

        A category that nobody else used goes with its parameters. None where the baseline, or all others, are gone.
        """
        layout, drop = self.layout, self.layout.drop
        chosen = np.stack([drop(one, factor, group) for one in self.chosen])
        used = chosen.reshape(len(chosen), -1).any(axis=1)
        rest = NominalObjective(layout.without(factor, group), chosen[used], drop(self.design, factor, group))
        worker, task = modes.worker[:, used], modes.task[used]
        worker, task = (
            (np.delete(worker, group, axis=0), task) if factor == "worker" else (worker, np.delete(task, group, axis=1))
        )
        whole = used.any() and chosen.sum() < rest.answers
        return rest if whole else None, BlockModes(worker, task), np.tile(used, self.parameters // self.predictors)

    def zero_modes(self) -> BlockModes:
        """No effects, from where the first search starts."""
        m = self.predictors
        return BlockModes(np.zeros((self.layout.workers, m)), np.zeros((m, self.layout.tasks)))

    def __call__(self, parameters: Floats, start: BlockModes) -> Evaluation | None:
        """The value and gradient, the modes searched from `start`; None where parameters are not finite."""
        if not np.all(np.isfinite(parameters)):
            return None
        beta, by_worker, by_task = self.split(parameters)
        base = np.ascontiguousarray(np.moveaxis(self.design @ beta, -1, 0))
        place = SoftmaxEvaluation(self, base, by_worker, by_task)
        point, factorised, found = place.mode(start)
        covariance = factorised[0].covariance()
        gradient = place.gradient(point, factorised, covariance)
        modes = BlockModes(point.modes.worker, point.modes.task, factorised)
        information = partial(place.information, point, factorised, covariance)
        value = point.value + factorised[0].half_log_determinant
        return Evaluation(value, gradient, modes, information, found)


@dataclass(frozen=True)
class SoftmaxEvaluation:
    """The objective at some parameters."""

    objective: NominalObjective
    base: Floats
    by_worker: Floats
    by_task: Floats

    def mode(self, start: BlockModes) -> tuple[_SoftmaxPoint, Factorised, bool]:
        """The mode, its curvature and whether it was found."""
        point = self.evaluate(start.worker, start.task)
        search = self.factorise, self._step, self._moved
        steps = self.objective.steps
        return newton(point, *search, kept=start.factor, enough=DECREMENT, lasting=True, steps=steps)

    def _step(self, point: _SoftmaxPoint, factor: Factorised) -> tuple[tuple[Floats, Floats], float]:
        worker, task = factor[0].solve(point.towards_worker, point.towards_task)
        return (worker, task), float(np.vdot(worker, point.towards_worker) + np.vdot(task, point.towards_task))

    def _moved(self, point: _SoftmaxPoint, along: tuple[Floats, Floats], length: float) -> _SoftmaxPoint:
        return self.evaluate(point.modes.worker + length * along[0], point.modes.task + length * along[1])

    def evaluate(self, worker: Floats, task: Floats) -> _SoftmaxPoint:
        """The penalised likelihood (negative) at some effects."""
        layout, chosen, present = self.objective.layout, self.objective.chosen, self.objective.layout.present
        eta = self._predictors(worker, task) + self.base
        highest = np.maximum(eta.max(axis=0), 0.0)
        log_likelihood = float(np.vdot(chosen, eta))
        eta -= highest
        probability = np.exp(eta, out=eta)
        total = probability.sum(axis=0)
        total += np.exp(-highest)
        probability /= total
        normaliser = np.log(total)
        normaliser += highest
        if present is not None:
            probability *= present
            normaliser *= present
        log_likelihood -= float(normaliser.sum())
        slope = chosen - probability
        cells = _each(layout.cells, slope)
        value = float(np.vdot(worker, worker) + np.vdot(task, task)) / 2 - log_likelihood
        towards_worker = self.by_worker * _each(layout.by_worker, cells).T - worker
        towards_task = self.by_task[:, None] * _each(layout.by_task, cells) - task
        return _SoftmaxPoint(BlockModes(worker, task), value, probability, cells, towards_worker, towards_task)

    def _predictors(self, worker: Floats, task: Floats) -> Floats:
        """What spherical effects of workers and tasks add to every predictor of every answer."""
        layout, own, other = self.objective.layout, (self.by_worker * worker).T, self.by_task[:, None] * task
        return np.stack([layout.spread(layout.sum_of_effects(*both)) for both in zip(own, other, strict=True)])

    def _weight(self, p: Floats, k: int, other: int) -> Floats:
        """One entry of W in every cell."""
        weight = -p[k] * p[other]
        if k == other:
            weight += p[k]
        return self.objective.layout.cells(weight)

    def factorise(self, point: _SoftmaxPoint) -> Factorised:
        """The curvature in the effects, ready to be solved with, and what it was made of."""
        layout, m = self.objective.layout, len(point.probability)
        cells = (layout.worker, layout.task) if isinstance(layout, Listed) else None
        of_worker, of_task = np.empty((layout.workers, m, m)), np.empty((m, m, layout.tasks))
        blocks = np.empty((layout.workers, m, m, layout.tasks) if cells is None else (len(cells[0]), m, m))
        between = np.moveaxis(blocks, (1, 2), (0, 1))
        for k, other in _pairs(m):
            weight = self._weight(point.probability, k, other)
            of_worker[:, k, other] = of_worker[:, other, k] = layout.by_worker(weight)
            of_task[k, other] = of_task[other, k] = layout.by_task(weight)
            between[k, other] = self.by_worker[k] * self.by_task[other] * weight
            if other < k:
                between[other, k] = self.by_worker[other] * self.by_task[k] * weight
        worker = np.eye(m) + np.outer(self.by_worker, self.by_worker) * of_worker
        task = np.eye(m)[:, :, None] + np.outer(self.by_task, self.by_task)[:, :, None] * of_task
        return BlockSchur(worker, blocks, task, cells), BlockCurvature(of_worker, of_task)

    def information(
        self, point: _SoftmaxPoint, factorised: Factorised, covariance: tuple[Floats, Floats, Floats]
    ) -> Floats:
        """Roughly the Hessian: of the penalised likelihood over the effects, and of variances in a linear model."""
        factor, curvature = factorised
        p, design, layout = point.probability, np.moveaxis(self.objective.design, -1, 0), self.objective.layout
        m, x, workers, tasks = len(p), len(design), layout.workers, layout.tasks
        fixed = np.empty((x, m, x, m))
        of_worker, of_task = np.empty((workers, m, x, m)), np.empty((m, tasks, x, m))
        for k, other in _pairs(m):
            weight = (p[k] if k == other else 0.0) - p[k] * p[other]
            for column, values in enumerate(design):
                weighted = weight * values
                fixed[column, k, :, other] = fixed[column, other, :, k] = design.reshape(x, -1) @ weighted.ravel()
                cells = layout.cells(weighted)
                for one, two in {(k, other), (other, k)}:
                    of_worker[:, one, column, two] = self.by_worker[one] * layout.by_worker(cells)
                    of_task[one, :, column, two] = self.by_task[one] * layout.by_task(cells)
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
        self, point: _SoftmaxPoint, factorised: Factorised, covariance: tuple[Floats, Floats, Floats]
    ) -> Floats:
        """The derivative of the negative log-likelihood through the mode."""
        factor, curvature = factorised
        p, layout, objective = point.probability, self.objective.layout, self.objective
        m, by_worker, by_task = len(p), self.by_worker, self.by_task
        var_worker, var_task, blocks = covariance
        diagonal, times, mixed = [], np.zeros_like(p), np.empty((m, m))
        between = np.moveaxis(blocks, (1, 2), (0, 1))
        for k, other in _pairs(m):
            weight = self._weight(p, k, other)
            forth, back = np.ascontiguousarray(between[k, other]), np.ascontiguousarray(between[other, k])
            mixed[k, other], mixed[other, k] = np.vdot(weight, forth), np.vdot(weight, back)
            cells = by_worker[k] * by_task[other] * forth + by_task[k] * by_worker[other] * back
            cells += layout.sum_of_effects(
                by_worker[k] * by_worker[other] * var_worker[:, k, other],
                by_task[k] * by_task[other] * var_task[k, other],
            )
            spread = layout.spread(cells)
            times[k] += spread * p[other]
            if k == other:
                diagonal.append(spread)
            else:
                times[other] += spread * p[k]
        height = np.stack(diagonal)
        inner = 2 * np.einsum("k...,k...->...", p, times) - (p * height).sum(axis=0)
        c = p * (height - 2 * times + inner) / 2
        cells = _each(layout.cells, c)
        pu, pv = factor.solve(
            by_worker * _each(layout.by_worker, cells).T, by_task[:, None] * _each(layout.by_task, cells)
        )
        q = self._predictors(pu, pv)
        by_answer = c - (objective.chosen - p) - p * (q - (p * q).sum(axis=0))
        by_cell, slope = _each(layout.cells, by_answer), point.slope
        d_beta = objective.design.reshape(-1, objective.design.shape[-1]).T @ by_answer.reshape(m, -1).T
        d_worker = (_each(layout.by_worker, by_cell).T * point.modes.worker).sum(axis=0)
        d_worker += (_each(layout.by_worker, slope).T * pu).sum(axis=0)
        d_task = (_each(layout.by_task, by_cell) * point.modes.task + _each(layout.by_task, slope) * pv).sum(axis=1)
        d_worker += (var_worker * curvature.worker).sum(axis=0) @ by_worker + mixed @ by_task
        d_task += (var_task * curvature.task).sum(axis=2) @ by_task + by_worker @ mixed
        return np.concatenate([d_beta.ravel(), d_worker, d_task])


def _pairs(m: int) -> list[tuple[int, int]]:
    """The lower triangle, diagonal and all."""
    return [(k, other) for k in range(m) for other in range(k + 1)]


def _each(function: Callable[[Floats], Floats], arrays: Floats) -> Floats:
    """A function of the layout, of every predictor."""
    return np.stack([function(one) for one in arrays])
