"""Nominal answers of workers to tasks: baseline-category logits with crossed random intercepts.

Every category but the first has its own coefficients, its own worker and task effects and their variances; effects of
different categories are independent. Maximum likelihood with the Laplace approximation (see `softmax`). The table is
held whole, so that workers x tasks x (categories - 1)^2 numbers must fit into memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.messages import Message
from karat.models.glrm.crossed import arrange, crossed
from karat.models.glrm.fit import UNBOUNDED, ZERO, group_message
from karat.models.glrm.optimise import Convergence, SearchResult, solve
from karat.models.glrm.softmax import BlockModes, NominalObjective
from karat.models.numerics import one_thread, significant
from karat.types import Floats

LARGEST = 60_000_000
"""How many numbers the curvature may have."""


@dataclass(frozen=True)
class NominalFit(SearchResult):
    """A fitted model. Columns are the categories after the first, the baseline; effects in units of their logits."""

    log_likelihood: float
    coefficients: Floats
    """A row for each column of the design."""
    variances: dict[str, Floats]
    worker_effects: Floats
    task_effects: Floats
    workers: NDArray[Any]
    tasks: NDArray[Any]
    categories: NDArray[Any]
    answers: int
    convergence: Convergence
    notes: tuple[Message, ...]
    parameters: Floats
    hessian: Floats
    objective: NominalObjective = field(repr=False)
    modes: BlockModes = field(repr=False)

    @property
    def standard_errors(self) -> Floats:
        """Those of the coefficients."""
        size = self.coefficients.size
        errors: Floats = np.sqrt(np.diag(self.covariance))[:size].reshape(self.coefficients.shape)
        return errors

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
    response: ArrayLike, worker: ArrayLike, task: ArrayLike, design: ArrayLike | None = None, *, baseline: Any = None
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
            raise ValueError(f"The baseline {baseline!r} is none of the answers.")
        first = int(np.flatnonzero(categories == baseline)[0])
        order = np.concatenate([[first], np.delete(np.arange(len(categories)), first)])
        categories, number = categories[order], np.argsort(order)[number]
    m, workers, tasks = len(categories) - 1, len(answers.workers), len(answers.tasks)
    if workers * tasks * m * m > LARGEST:
        raise ValueError(Message("models.nominal_size", {"workers": workers, "tasks": tasks, "categories": m}))
    layout = crossed(answers.worker, answers.task, workers, tasks, whole=True)
    chosen = np.stack([layout.place((number == k + 1).astype(np.float64)) for k in range(m)])
    objective = NominalObjective(chosen, layout.present, layout.place(answers.design))
    start = np.concatenate([np.zeros(answers.design.shape[1] * m), _first_deviations(chosen, layout.present)])
    with one_thread(workers * tasks * m * m):
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


def _first_deviations(chosen: Floats, present: Floats | None) -> Floats:
    """How much the logits of each category's counts vary between workers, and between tasks; at least 1."""
    baseline = (1.0 if present is None else present) - chosen.sum(axis=0)
    deviations = []
    for axis in (3, 2):
        counts, others = chosen.sum(axis=(1, axis)) + 0.5, baseline.sum(axis=(0, axis - 1)) + 0.5
        variance = np.log(counts / others).var(axis=1) - (1 / counts + 1 / others).mean(axis=1)
        deviations.append(np.sqrt(np.clip(variance, 1.0, 25.0)))
    return np.concatenate(deviations)
