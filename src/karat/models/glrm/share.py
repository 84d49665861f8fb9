"""The share of workers in the variance of a crossed model, with a profile-likelihood interval.

    share = var_worker / (var_worker + var_task)

The deviations are written as theta_w = R sin(a), theta_t = R cos(a), so that the share is sin(a)^2 and its ends, 0 and
1, are points like any other. For each angle a the likelihood is maximised over R and everything else. The interval
holds the shares whose log-likelihood is within half the chi-squared quantile (1 degree of freedom) of the maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri

from karat.models.glrm.crossed import Floats
from karat.models.glrm.fit import Fit
from karat.models.glrm.mode import Modes
from karat.models.glrm.objective import Evaluation, Objective
from karat.models.glrm.optimise import TOLERANCE, minimise
from karat.models.glrm.threads import one_thread

PRECISION = 1e-4
"""Of an end of the interval, as an angle."""


@dataclass(frozen=True)
class Share:
    """The share of workers in the variance, and its interval."""

    value: float
    lower: float
    upper: float
    level: float

    def __str__(self) -> str:
        return f"{self.value:.4f}, {100 * self.level:g} % interval from {self.lower:.4f} to {self.upper:.4f}."


@dataclass(frozen=True)
class _AtAngle:
    """The objective along a ray: (beta, psi, R) for theta_w = R sin(a), theta_t = R cos(a)."""

    objective: Objective
    angle: float

    def __call__(self, parameters: Floats, start: Modes) -> Evaluation | None:
        along = np.array([np.sin(self.angle), np.cos(self.angle)])
        at = self.objective(np.append(parameters[:-1], parameters[-1] * along), start)
        if at is None:
            return None
        jacobian = np.zeros((len(parameters) + 1, len(parameters)))
        jacobian[:-2, :-1] = np.eye(len(parameters) - 1)
        jacobian[-2:, -1] = along
        return replace(
            at, gradient=at.gradient @ jacobian, information=lambda: jacobian.T @ at.information() @ jacobian
        )


def worker_share(fit: Fit, level: float = 0.95) -> Share:
    """The share of workers in the variance of a binary or ordinal fit.

    >>> from karat.models.glrm import fit_crossed
    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    >>> eta = random.normal(0, 1, 30)[worker] + random.normal(0, 2, 20)[task]
    >>> print(worker_share(fit_crossed(eta + random.logistic(size=600) > 0, worker, task)))
    0.1890, 95 % interval from 0.0732 to 0.3875.
    """
    if not isinstance(fit.objective, Objective) or fit.objective.cell_effect:
        raise ValueError("The profile of the share is for binary and ordinal fits without a worker:task effect.")
    theta = fit.parameters[-2:]
    total = float(theta @ theta)
    if total == 0:
        raise ValueError("Neither workers nor tasks vary: the share is not defined.")
    best = float(np.arctan2(theta[0], theta[1]))
    excess = _excess(fit, float(chdtri(1, 1 - level)) / 2)
    with one_thread(len(fit.workers) * len(fit.tasks)):
        lower = _end(excess, best, 0.0)
        upper = _end(excess, best, np.pi / 2)
    return Share(float(theta[0] ** 2) / total, float(np.sin(lower) ** 2), float(np.sin(upper) ** 2), level)


def _excess(fit: Fit, drop: float) -> Callable[[float], float]:
    """How far the log-likelihood at an angle lies below what the interval allows; a search starts where one ended."""
    objective = fit.objective
    radius = float(np.hypot(*fit.parameters[-2:]))
    parameters, modes = np.append(fit.parameters[:-2], radius), fit.modes

    def excess(angle: float) -> float:
        nonlocal parameters, modes
        function = _AtAngle(objective, angle)
        # Where the last search ended at R = 0, the next would stay there: the likelihood is even in R.
        parameters[-1] = max(abs(parameters[-1]), radius / 2)
        at = function(parameters, modes)
        if at is None:
            raise ValueError("The parameters of the fit are not allowed here.")
        best = minimise(function, parameters, at, None, TOLERANCE)
        parameters, modes = best.parameters.copy(), best.at.modes
        return float(best.at.value + fit.log_likelihood - drop)

    return excess


def _end(excess: Callable[[float], float], best: float, limit: float) -> float:
    """The angle between the best one and the limit where the excess is zero; the limit where it never is."""
    if best == limit or excess(limit) <= 0:
        return limit
    return float(brentq(excess, best, limit, xtol=PRECISION))
