"""Satterthwaite's degrees of freedom for measured answers.

A contrast c'beta has the variance v = c'V c, which is itself an estimate. Its t statistic is taken for one with as
many degrees of freedom as a chi-squared variable with the same relative spread has (Satterthwaite 1946; Kuznetsova,
Brockhoff and Christensen 2017, lmerTest):

    df = 2 v^2 / (g'A g),   g = dv/d(parameters), A the covariance of the variance parameters

V = s(theta) U(theta) follows from the fit. With the residual variance written as tau s(theta), where s is its best
value given theta, the likelihood falls into a part of theta and a part of tau, so that A is made of two blocks: the
inverse Hessian of theta, which the fit has, and 2/f for tau, f being the residual degrees of freedom (n, less the
coefficients with REML).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import fdtrc

from karat.models.glrm.mixed_gaussian import GaussianMixedObjective
from karat.models.glrm.mixed_result import MixedFit
from karat.models.numerics import one_thread
from karat.types import Floats

STEP = 1e-3
"""Of the differences, in standard errors of theta."""
SMALLEST = 1e-10
"""Share of the largest eigenvalue below which a direction of a test counts as empty."""


@dataclass(frozen=True)
class Satterthwaite:
    """What the degrees of freedom of a fit are made of."""

    fit: MixedFit

    @cached_property
    def slopes(self) -> Floats:
        """The derivatives of V in theta and tau, stacked."""
        objective, theta = self.fit.objective, self.fit.theta
        if not isinstance(objective, GaussianMixedObjective):
            raise ValueError(
                f"Satterthwaite's degrees of freedom are for measured answers, not {self.fit.family} ones."
            )
        slopes = []
        errors = np.sqrt(np.diag(self.fit.parameter_covariance))
        with one_thread(objective.crossing.work):
            for place, error in enumerate(errors):
                step = np.zeros(len(theta))
                step[place] = STEP * (error if np.isfinite(error) and error > 0 else 0.1)
                ends = [_covariance(objective, theta + sign * step) for sign in (1, -1)]
                slopes.append((ends[0] - ends[1]) / (2 * step[place]))
        return np.array([*slopes, self.fit.covariance])

    @cached_property
    def spread(self) -> Floats:
        """A."""
        inner, size = self.fit.parameter_covariance, len(self.fit.theta)
        whole = np.zeros((size + 1, size + 1))
        whole[:size, :size] = inner
        whole[size, size] = 2 / (self.fit.n - len(self.fit.coefficients) * self.fit.reml)
        return whole

    def degrees(self, contrasts: Floats) -> Floats:
        """One for each row of contrasts."""
        variance = np.einsum("ki,ij,kj->k", contrasts, self.fit.covariance, contrasts)
        slope = np.einsum("ki,pij,kj->kp", contrasts, self.slopes, contrasts)
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees: Floats = 2 * variance**2 / np.einsum("kp,pq,kq->k", slope, self.spread, slope)
        return degrees

    def test(self, contrasts: Floats) -> tuple[float, int, float, float]:
        """F, its two degrees of freedom and p, for all rows of contrasts at once.

        The contrasts are turned until they are independent; each has its own degrees of freedom, and those of the
        whole are chosen so that the mean of F is right (Fai and Cornelius 1996).
        """
        inner = contrasts @ self.fit.covariance @ contrasts.T
        if not np.all(np.isfinite(inner)):
            return np.nan, len(contrasts), np.nan, np.nan
        values, vectors = np.linalg.eigh(inner)
        some = values > SMALLEST * values[-1]
        turned = vectors[:, some].T @ contrasts
        squares = (turned @ self.fit.coefficients) ** 2 / values[some]
        size = int(some.sum())
        statistic, degrees = float(squares.mean()), joint_degrees(self.degrees(turned))
        return statistic, size, degrees, float(fdtrc(size, degrees, statistic))


def joint_degrees(degrees: Floats) -> float:
    """The denominator's degrees of freedom of an F test made of independent t tests.

    >>> joint_degrees(np.array([20.0, 20.0]))
    20.0
    """
    if len(degrees) == 1 or float(np.ptp(degrees)) < 1e-8:
        return float(degrees.mean())
    if np.any(degrees <= 2):
        return 2.0
    mean = float((degrees / (degrees - 2)).sum())
    return 2 * mean / (mean - len(degrees))


def _covariance(objective: GaussianMixedObjective, theta: Floats) -> Floats:
    at = objective(theta)
    if at is None:
        raise ValueError("The likelihood cannot be computed beside the estimate, so that it has no degrees of freedom.")
    covariance: Floats = at.residual_variance * at.unscaled_covariance
    return covariance
