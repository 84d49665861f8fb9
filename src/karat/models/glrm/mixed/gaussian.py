"""Measured answers with vector-valued effects, by maximum likelihood or REML, in closed form given theta.

    y = X beta + Z b + e,   b = sigma Lambda(theta) u,   e ~ N(0, sigma^2)

With V = I + Z Lambda Lambda'Z' and C = (X, y)'V^-1 (X, y), beta and sigma follow from C, and the criterion of theta
alone is (Bates, Maechler, Bolker and Walker 2015)

    log det M / 2 + n (1 + log(2 pi r^2 / n)) / 2                                        maximum likelihood
    log det M / 2 + log det Cxx / 2 + (n - p) (1 + log(2 pi r^2 / (n - p))) / 2           REML

with r^2 = Cyy - Cyx Cxx^-1 Cxy. Everything follows from sums over levels, so the rows are read only once. With G =
Z'V^-1 (X, y), dC = -G'(dLambda Lambda' + Lambda dLambda')G.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from karat.models.glrm.blocks import Curvature, Factorised, Sides
from karat.models.glrm.crossed import Factor
from karat.models.glrm.mixed.laplace import Crossing, theta_informations
from karat.types import Bools, Floats

EXACT = 1e-12
"""Residuals below this size, relative to the answers, are rounding errors."""
LEAST = 0.1
"""The smallest share of the residual in the variance at the start of a search."""
TINY = 1e-300


@dataclass(frozen=True)
class GaussianEvaluation:
    """The criterion and its gradient at given theta, with the estimates that follow from it."""

    value: float
    slope: Callable[[], Floats]
    modes: Sides
    information: Callable[[], Floats]
    coefficients: Floats
    unscaled_covariance: Floats
    """The covariance of the coefficients, in units of the residual variance."""
    residual_variance: float

    @cached_property
    def gradient(self) -> Floats:
        """The gradient in theta, computed on demand because a step that is too long does not need it."""
        return self.slope()


@dataclass(frozen=True)
class GaussianObjective:
    """The criterion, half the deviance, as a function of theta."""

    crossing: Crossing
    value: Floats
    design: Floats
    reml: bool = False

    @property
    def parameters(self) -> int:
        """The number of elements of theta."""
        return self.crossing.size

    @property
    def freedom(self) -> int:
        """The number of rows, minus the number of coefficients with REML."""
        return len(self.value) - int(self.design.shape[1]) * self.reml

    @cached_property
    def _least_squares(self) -> Floats:
        return np.asarray(np.linalg.lstsq(self.design, self.value, rcond=None)[0])

    @cached_property
    def _sums(self) -> tuple[Curvature, Sides, Floats]:
        """Z'Z, Z'(X, y) by level, and (X, y)'(X, y).

        The least-squares fit is subtracted from y, so that a large mean does not reduce precision.
        """
        residual = self.value - self.design @ self._least_squares
        columns = np.column_stack([self.design, residual])
        return self.crossing.counts, self.crossing.totals(columns), columns.T @ columns

    @property
    def exact(self) -> bool:
        """Whether the fixed effects explain the answers up to rounding."""
        return float(self._sums[2][-1, -1]) <= EXACT**2 * float(self.value @ self.value)

    @property
    def answers(self) -> int:
        """The number of answers."""
        return len(self.value)

    @property
    def deviations(self) -> int:
        """The number of deviations; they are the last parameters."""
        return self.parameters

    def zero_modes(self) -> None:
        """None, because the modes follow from theta without a search."""

    def without(self, modes: Any, factor: Factor, group: int) -> tuple[GaussianObjective, Any, Bools]:
        """The criterion of crossed intercepts without a group, the modes, and which parameters remain (all)."""
        place = 0 if factor == "worker" else 1
        rows = self.crossing.sides[place].codes != group
        sides = tuple(
            side.without(rows, group if number == place else None) for number, side in enumerate(self.crossing.sides)
        )
        rest = GaussianObjective(Crossing(sides), self.value[rows], self.design[rows], self.reml)
        return rest, modes, np.ones(self.parameters, dtype=bool)

    def start(self) -> Floats:
        """Initial theta: deviations estimated from the moments of the least-squares residuals, without correlations.

        The square of a level's sum exceeds the sum of its squares by what the rows share: the level's variance.
        """
        curvature, totals, products = self._sums
        residuals = self.value - self.design @ self._least_squares
        spread = float(products[-1, -1]) / len(residuals)
        begin, residual = np.zeros(self.parameters), spread
        for place, block in self.crossing.places(self.parameters):
            number = next(k for k, side in enumerate(self.crossing.sides) if block in side.blocks)
            side, effects = self.crossing.sides[number], block.first + np.arange(block.width * block.repeats)
            squares = side.columns[effects] ** 2
            common = (totals[number][:, effects, -1] ** 2).sum(axis=0) - squares @ residuals**2
            total = np.einsum("gkk->gk", curvature.sides[number])[:, effects] ** 2
            weight = total.sum(axis=0) - (squares**2).sum(axis=1)
            sums = np.stack([common, weight]).reshape(2, block.repeats, block.width).sum(axis=1)
            variance = np.clip(sums[0] / np.maximum(sums[1], TINY), 0.0, spread)
            residual -= float(variance @ squares.reshape(block.repeats, block.width, -1).sum(axis=0).mean(axis=1))
            begin[place + np.flatnonzero(np.equal(*block.entries))] = np.sqrt(variance)
        begin /= np.sqrt(max(residual, LEAST * spread))
        return begin

    def __call__(self, theta: Floats, start: Sides | None = None) -> GaussianEvaluation | None:
        """The criterion and its gradient, or None if theta is not finite. The modes need no start."""
        theta = np.asarray(theta, dtype=np.float64)
        if not np.all(np.isfinite(theta)) or self.exact:
            return None
        curvature, totals, products = self._sums
        factors = self.crossing.factors(theta)
        try:
            schur = curvature.factorise(factors)
        except np.linalg.LinAlgError:
            return None
        spherical = tuple(factor.T @ total for factor, total in zip(factors, totals, strict=True))
        solved = schur.solve(spherical)
        inner = products - sum(np.einsum("gkc,gkd->cd", *pair) for pair in zip(spherical, solved, strict=True))
        p = inner.shape[0] - 1
        shift = np.linalg.solve(inner[:p, :p], inner[:p, p])
        squares = float(inner[p, p] - inner[p, :p] @ shift)
        if not squares > EXACT * products[p, p]:
            return None  # the residual is rounding error
        determinants = schur.half_log_determinant
        if self.reml:
            determinants += float(np.linalg.slogdet(inner[:p, :p])[1]) / 2
        contrast, variance, inverse = np.append(-shift, 1.0), squares / self.freedom, np.linalg.inv(inner[:p, :p])
        return GaussianEvaluation(
            determinants + self.freedom / 2 * (1 + float(np.log(2 * np.pi * variance))),
            partial(self._gradient, factors, schur, solved, contrast, variance, inverse),
            tuple(solution @ contrast for solution in solved),
            lambda: np.asarray(block_diag(*theta_informations(self.crossing, factors, curvature))),
            self._least_squares + shift,
            inverse,
            variance,
        )

    def _gradient(
        self, factors: Sides, schur: Factorised, solved: Sides, contrast: Floats, variance: float, inverse: Floats
    ) -> Floats:
        """The gradient in theta. Z'V^-1 (X, y), by level, is Z'(X, y) minus Z'Z b."""
        curvature, totals, _ = self._sums
        fitted = curvature.times(tuple(factor @ solution for factor, solution in zip(factors, solved, strict=True)))
        by_factor = []
        for determinant, factor, total, fit in zip(schur.by_determinant(), factors, totals, fitted, strict=True):
            residual = total - fit
            error, columns = residual @ contrast, residual[:, :, :-1]
            slope = determinant - error.T @ (error @ factor) / variance
            if self.reml:
                slope -= np.einsum("gac,cd,gbd->ab", columns, inverse, columns) @ factor
            by_factor.append(slope)
        return self.crossing.by_theta(by_factor)
