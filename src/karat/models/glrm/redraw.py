"""A null distribution for the deviance distance: one worker's answers redrawn from the model fitted without them.

For worker i the model is fitted to everybody else. A new worker is drawn from it: a worker effect from its
distribution, and the effects of their tasks from the normal approximation of their posterior given the others' answers,

    v ~ N(mode, M^-1),   M the curvature of the penalised likelihood at the mode

then the answers. The distance of the drawn answers is -2 (log-likelihood of all with them - log-likelihood without),
each at its maximum; the second does not depend on them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from karat.models.glrm.crossed import Floats
from karat.models.glrm.deletion import Map, Progress
from karat.models.glrm.fit import Fit
from karat.models.glrm.mode import find_mode
from karat.models.glrm.nominal import NominalFit
from karat.models.glrm.objective import Objective
from karat.models.glrm.optimise import TOLERANCE, minimise
from karat.models.glrm.threads import one_thread

ENOUGH = 10
"""After so many exceedances the p value is known well enough."""


def exceedances(
    fit: Fit | NominalFit,
    distance: Floats,
    simulations: int,
    seed: int,
    mapper: Map = map,
    progress: Progress | None = None,
) -> Floats:
    """The p value of each worker's distance among those of redrawn answers, for binary and ordinal fits.

    Drawing stops after `ENOUGH` distances at or above the observed one, when p = ENOUGH / draws; else
    p = (1 + exceedances) / (1 + simulations). The numbers do not depend on `mapper`.
    """
    if not isinstance(fit, Fit) or not isinstance(fit.objective, Objective) or fit.objective.cell_effect:
        raise ValueError("Answers can be redrawn for binary and ordinal fits without a worker:task effect.")
    values = []
    for value in mapper(partial(_p_value, fit, distance, simulations, seed), range(len(distance))):
        values.append(value)
        if progress is not None:
            progress(len(values), len(distance))
    return np.array(values)


def _p_value(fit: Fit, distance: Floats, simulations: int, seed: int, worker: int) -> float:
    if not np.isfinite(distance[worker]):
        return float("nan")
    with one_thread(len(fit.workers) * len(fit.tasks)):
        redraw = _Redraw(fit, worker)
        random = np.random.default_rng([seed, worker])
        above = 0
        for draws in range(1, simulations + 1):
            above += redraw.reaches(float(distance[worker]), random)
            if above == ENOUGH:
                return ENOUGH / draws
    return (1 + above) / (1 + simulations)


class _Redraw:
    """Everybody else's model, from which the answers of one worker are drawn again and again."""

    def __init__(self, fit: Fit, worker: int) -> None:
        self.objective, self.hessian, self.worker = fit.objective, fit.hessian, worker
        rest, modes, kept = fit.without("worker", worker)
        if rest is None or not kept.all():
            # A category that nobody else used cannot be drawn: the full model stands in for the one without.
            rest, modes = fit.objective, fit.modes
        best = minimise(rest, fit.parameters, rest(fit.parameters, modes), fit.hessian, TOLERANCE)
        self.parameters, self.log_likelihood = best.parameters, -best.at.value
        beta, psi, self.scales = rest.split(best.parameters)
        self.mode = find_mode(rest.layout, rest.family, rest.design @ beta, psi, self.scales, best.at.modes)
        self.psi = psi
        self.mine, self.tasks = fit.objective.layout.answers_of(worker)
        self.base = (fit.objective.design @ beta)[self.mine]
        own = np.insert(self.mode.point.modes.worker, worker, 0.0) if rest is not fit.objective else fit.modes.worker
        self.modes = type(fit.modes)(own, self.mode.point.modes.task, None)

    def reaches(self, observed: float, random: np.random.Generator) -> bool:
        """Whether newly drawn answers are at least as far from the others' model as the observed ones."""
        answers = self.objective.family.answers.copy()
        answers[self.mine] = self._drawn(random)
        family, kept = self.objective.family.kept(answers, self.objective.layout.present)
        if family is None or not kept.all():
            return False
        objective = Objective(self.objective.layout, family, self.objective.design)
        at = objective(self.parameters, self.modes)
        if at is None or 2 * (at.value + self.log_likelihood) < observed:
            # The maximum lies at or above this likelihood, and so the distance at or below.
            return False
        best = minimise(objective, self.parameters, at, self.hessian, TOLERANCE)
        return 2 * (best.at.value + self.log_likelihood) >= observed

    def _drawn(self, random: np.random.Generator) -> Any:
        task = self.mode.point.modes.task + _task_deviations(self.mode.schur, random)
        eta = self.base + self.scales.worker * random.normal() + self.scales.task * task[self.tasks]
        latent = eta + random.logistic(size=eta.shape)
        if not len(self.psi):
            return np.where(latent > 0, 1.0, -1.0)
        return np.searchsorted(self.psi, latent)


def _task_deviations(schur: Any, random: np.random.Generator) -> Floats:
    """A draw of the task effects around their mode: from N(0, M^-1), whose blocks the factor holds."""
    few = linalg.solve_triangular(schur.factor, random.normal(size=len(schur.factor)), lower=True, trans=1)
    if not schur.turned:
        drawn: Floats = few
        return drawn
    many = random.normal(size=len(schur.many)) / np.sqrt(schur.many)
    around: Floats = many - (schur.matrix @ few) / schur.many
    return around
