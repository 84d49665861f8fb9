"""Leave-one-group-out: the model refitted without each worker (or task) in turn.

The deviance distance of a worker is D = -2 (log-likelihood with all answers - log-likelihood without the worker's),
each at its own maximum (equation 7 of Ba, Mancenido, Chiou and Pan). A refit starts from the parameters, modes and
Hessian of the full fit and takes quasi-Newton steps until half the squared Newton decrement is within 1e-8, which a
few evaluations reach; where that fails, it starts again from nothing. Where an ordered category is used by nobody
else, its threshold goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from karat.messages import Message
from karat.models.glrm.crossed import Factor
from karat.models.glrm.fit import Fit
from karat.models.glrm.nominal import NominalFit
from karat.models.glrm.optimise import TOLERANCE, minimise, minimise_off_zero, solve
from karat.models.numerics import one_thread, significant
from karat.types import Bools, Floats, Ints, Progress

AnyFit = Fit | NominalFit
Map = Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]]


@dataclass(frozen=True)
class Refit:
    """The model without one group."""

    log_likelihood: float
    parameters: Floats
    """As in the full fit; NaN for a threshold that went with its category."""
    decrement: float
    converged: bool
    evaluations: int
    answers: int
    """How many answers were left out."""


@dataclass(frozen=True)
class Deletions:
    """One number for each group, in the order of the full fit's `workers` (or `tasks`)."""

    distance: Floats
    log_likelihood: Floats
    parameters: Floats
    answers: Ints
    decrement: Floats
    converged: Bools
    evaluations: Ints
    groups: Factor
    full: float

    @property
    def summary(self) -> tuple[Message, ...]:
        """How the refits ended, and how far they are from the full fit."""
        worst = int(np.nanargmax(self.distance))
        own = Message("refits.worker") if self.groups == "worker" else Message("refits.task")
        ended = {
            "n": len(self.distance), "group": own, "failed": int((~self.converged).sum()),
            "decrement": significant(float(np.nanmax(self.decrement)), 2),
        }  # fmt: skip
        distances = {
            "mean": float(np.nanmean(self.distance)), "largest": float(self.distance[worst]), "group": own,
            "number": worst + 1,
        }  # fmt: skip
        return Message("refits.ended", ended), Message("refits.distances", distances)

    def __str__(self) -> str:
        return " ".join(map(str, self.summary))


def leave_one_out(
    fit: AnyFit, groups: Factor = "worker", *, mapper: Map = map, progress: Progress | None = None
) -> Deletions:
    """Refit without each worker, or each task.

    `mapper` may be the map of a pool of processes; `progress` is called with the number of refits done and that of all.

    >>> from karat.models.glrm import fit_crossed
    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    >>> eta = random.normal(0, 1, 30)[worker] + random.normal(0, 2, 20)[task]
    >>> deletions = leave_one_out(fit_crossed(eta + random.logistic(size=600) > 0, worker, task))
    >>> deletions.distance.shape, bool(deletions.converged.all())
    ((30,), True)
    """
    total = len(fit.workers if groups == "worker" else fit.tasks)
    refits = []
    for refit in mapper(partial(without, fit, groups), range(total)):
        refits.append(refit)
        if progress is not None:
            progress(len(refits), total)
    log_likelihood = np.array([refit.log_likelihood for refit in refits])
    return Deletions(
        2 * (log_likelihood - fit.log_likelihood),
        log_likelihood,
        np.array([refit.parameters for refit in refits]),
        np.array([refit.answers for refit in refits]),
        np.array([refit.decrement for refit in refits]),
        np.array([refit.converged for refit in refits]),
        np.array([refit.evaluations for refit in refits]),
        groups,
        fit.log_likelihood,
    )


def without(fit: AnyFit, groups: Factor, group: int) -> Refit:
    """The refit without one group; not a number where too few categories are left."""
    with one_thread(len(fit.workers) * len(fit.tasks)):
        return _without(fit, groups, group)


def _without(fit: AnyFit, groups: Factor, group: int) -> Refit:
    objective: Any
    objective, modes, kept = fit.without(groups, group)
    parameters = np.full(len(fit.parameters), np.nan)
    if objective is None:
        return Refit(np.nan, parameters, np.nan, False, 0, 0)
    start = fit.parameters[kept]
    at = objective(start, modes)
    evaluations, converged = 1, False
    if at is not None:
        best = minimise(objective, start, at, fit.hessian[np.ix_(kept, kept)], TOLERANCE)
        best = minimise_off_zero(objective, best, objective.deviations, TOLERANCE)
        evaluations, converged = 1 + best.evaluations, best.decrement <= TOLERANCE
    if not converged:
        best, convergence = solve(objective, start, objective.zero_modes())
        evaluations, converged = evaluations + convergence.evaluations, convergence.converged
    parameters[kept] = best.parameters
    # Those of the full fit: a category that goes takes deviations with it, and leaves gaps among them.
    deviations = slice(-fit.objective.deviations, None)
    parameters[deviations] = np.abs(parameters[deviations])
    return Refit(-best.at.value, parameters, best.decrement, converged, evaluations, fit.answers - objective.answers)
