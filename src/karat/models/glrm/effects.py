"""How sure the effects of tasks are: their covariance given the variances.

At the mode, the curvature of the penalised log-likelihood in spherical worker and task effects is M (see `schur`).
Given coefficients, thresholds and variances, the effects of the tasks are about normal around their modes, with the
covariance

    theta_t^2 [M^-1] of the tasks,

from which the workers are eliminated by the Schur complement. lme4 and ordinal give its diagonal as conditional
variances (`condVar`). What is uncertain about the variances themselves is not in it.
"""

from __future__ import annotations

import numpy as np

from karat.models.glrm.fit import Fit
from karat.models.glrm.mode import evaluate, factorise
from karat.models.glrm.objective import Objective
from karat.models.glrm.schur import Schur
from karat.types import Floats


def task_covariance(fit: Fit) -> Floats:
    """The covariance of `fit.task_effects` given the variances, tasks x tasks.

    >>> from karat.models.glrm import fit_crossed
    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    >>> eta = random.normal(0, 1, 30)[worker] + random.normal(0, 2, 20)[task]
    >>> fit = fit_crossed(eta + random.logistic(size=600) > 0, worker, task)
    >>> task_covariance(fit).shape, bool((task_covariance(fit).diagonal() < fit.variances["task"]).all())
    ((20, 20), True)
    """
    schur, deviation = _at_the_mode(fit)
    tasks = len(fit.tasks)
    _, inverse = schur.solve(np.zeros((len(fit.workers), tasks)), np.eye(tasks))
    # Symmetric but for rounding.
    covariance: Floats = deviation**2 * (inverse + inverse.T) / 2
    return covariance


def task_errors(fit: Fit) -> Floats:
    """The roots of its diagonal alone, where the whole covariance would be too large.

    >>> from karat.models.glrm import fit_crossed
    >>> fit = fit_crossed([0, 1, 1, 0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2, 0, 1, 2, 0, 1, 2])
    >>> np.allclose(task_errors(fit) ** 2, task_covariance(fit).diagonal())
    True
    """
    schur, deviation = _at_the_mode(fit)
    _, variances, _ = schur.covariance()
    return deviation * np.sqrt(variances)


def _at_the_mode(fit: Fit) -> tuple[Schur, float]:
    """The curvature at the mode, factorised, and the deviation of tasks."""
    objective = fit.objective
    if not isinstance(objective, Objective):
        raise ValueError("The covariance of effects is for yes-or-no and ordered answers.")
    layout = objective.layout
    beta, psi, scales = objective.split(fit.parameters)
    point = evaluate(layout, objective.family, objective.design @ beta, psi, scales, fit.modes)
    return factorise(layout, point.curvature, scales), scales.task
