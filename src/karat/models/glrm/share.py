"""The share of workers in the variance of a crossed model, with a profile-likelihood interval.

    share = var_worker / (var_worker + var_task)

The deviations are written as theta_w = R sin(a), theta_t = R cos(a), so that the share is sin(a)^2 and its ends, 0 and
1, are points like any other. For each angle a the likelihood is maximised over R and everything else. The interval
holds the shares whose log-likelihood is within half the chi-squared quantile (1 degree of freedom) of the maximum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri

from karat.messages import Message
from karat.models.glrm.fit import Fit
from karat.models.glrm.objective import Evaluation, Objective
from karat.models.glrm.optimise import TOLERANCE, minimise
from karat.models.glrm.parted_objective import PartedObjective
from karat.models.numerics import one_thread
from karat.types import Floats

PRECISION = 1e-6
"""Of an end of the interval, as an angle."""
FARTHEST = 0.2
"""The largest standard error of the angle that is believed."""


@dataclass(frozen=True)
class Share:
    """The share of workers in the variance, and its interval."""

    value: float
    lower: float
    upper: float
    level: float

    def __str__(self) -> str:
        return " ".join(map(str, self.summary))

    @property
    def summary(self) -> tuple[Message, ...]:
        """The share with its interval."""
        values = {"value": self.value, "level": self.level, "lower": self.lower, "upper": self.upper}
        return (Message("models.share", values),)


@dataclass(frozen=True)
class _AtAngle:
    """The objective along a ray: (beta, psi, R) for theta_w = R sin(a), theta_t = R cos(a)."""

    objective: Objective | PartedObjective
    angle: float

    @property
    def along(self) -> Floats:
        """The deviations at a radius of 1."""
        return np.array([np.sin(self.angle), np.cos(self.angle)])

    def __call__(self, parameters: Floats, start: Any) -> Evaluation | None:
        along = self.along
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
    """The share of workers in the variance of a binary or ordinal fit, in memory or in parts.

    >>> from karat.models.glrm import fit_crossed
    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    >>> eta = random.normal(0, 1, 30)[worker] + random.normal(0, 2, 20)[task]
    >>> print(worker_share(fit_crossed(eta + random.logistic(size=600) > 0, worker, task)))
    0.1890, 95 % interval from 0.0732 to 0.3875.
    """
    if not isinstance(fit.objective, Objective | PartedObjective) or fit.objective.deviations > 2:
        raise ValueError("The profile of the share is for binary and ordinal fits without a worker:task effect.")
    theta = fit.parameters[-2:]
    total = float(theta @ theta)
    if total == 0:
        raise ValueError(Message("models.no_variance"))
    profile = _Profile(fit)
    drop = float(chdtri(1, 1 - level)) / 2
    with one_thread(len(fit.workers) * len(fit.tasks)):
        lower = profile.end(0.0, drop)
        upper = profile.end(np.pi / 2, drop)
    return Share(float(theta[0] ** 2) / total, float(np.sin(lower) ** 2), float(np.sin(upper) ** 2), level)


class _Profile:
    """How far the log-likelihood falls from its maximum with the angle; a search starts where the last one ended."""

    def __init__(self, fit: Fit) -> None:
        self.fit = fit
        worker, task = fit.parameters[-2:]
        self.best, self.radius = float(np.arctan2(worker, task)), float(np.hypot(worker, task))
        slope = np.zeros(len(fit.parameters))
        slope[-2:] = np.array([task, -worker]) / self.radius**2
        along = fit.covariance @ slope
        variance = float(slope @ along)
        known = np.isfinite(variance) and variance > 0
        self.error = min(float(np.sqrt(variance)), FARTHEST) if known else FARTHEST
        # How the other parameters follow the angle, to first order.
        self.follow = along / variance if known else np.zeros(len(along))
        self.angle, self.parameters, self.modes = self.best, fit.parameters, fit.modes

    def fall(self, angle: float) -> float:
        """By how much the log-likelihood, maximised over everything but the angle, lies below its maximum."""
        function = _AtAngle(self.fit.objective, angle)
        expected = self.parameters + self.follow * (angle - self.angle)
        # Where the last search ended at R = 0, the next would stay there: the likelihood is even in R.
        start = np.append(expected[:-2], max(float(np.hypot(*expected[-2:])), self.radius / 2))
        at = function(start, self.modes)
        if at is None:
            start[:-1] = self.fit.parameters[:-2]  # thresholds that were expected to cross
            at = function(start, self.fit.modes)
        if at is None:
            raise ValueError("The parameters of the fit are not allowed here.")
        best = minimise(function, start, at, None, TOLERANCE)
        self.angle, self.modes = angle, best.at.modes
        self.parameters = np.append(best.parameters[:-1], best.parameters[-1] * function.along)
        return float(best.at.value + self.fit.log_likelihood)

    def end(self, limit: float, drop: float) -> float:
        """The angle between the best one and the limit where the fall is `drop`; the limit where it never is.

        The square root of the fall is nearly a straight line, so that few angles are looked at.
        """
        if self.best == limit:
            return limit
        self.angle, self.parameters, self.modes = self.best, self.fit.parameters, self.fit.modes
        known = {self.best: -1.0}

        def excess(angle: float) -> float:
            if angle not in known:
                known[angle] = float(np.sqrt(max(self.fall(angle), 0.0) / drop)) - 1
            return known[angle]

        inside, step = self.best, np.sqrt(2 * drop) * self.error
        while True:
            outside = limit if abs(limit - inside) <= step else inside + np.copysign(step, limit - inside)
            if excess(outside) > 0:
                return float(brentq(excess, inside, outside, xtol=PRECISION))
            if outside == limit:
                return limit
            inside = outside
