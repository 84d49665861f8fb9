"""Measured answers with vector-valued effects, by maximum likelihood or REML, in closed form given theta.

    y = X beta + Z b + e,   b = sigma Lambda(theta) u,   e ~ N(0, sigma^2)

With V = I + Z Lambda Lambda'Z' and C = (X, y)'V^-1 (X, y), beta and sigma follow from C, and the criterion of theta
alone is (Bates, Maechler, Bolker and Walker 2015)

    log det M / 2 + n (1 + log(2 pi r^2 / n)) / 2                                        maximum likelihood
    log det M / 2 + log det Cxx / 2 + (n - p) (1 + log(2 pi r^2 / (n - p))) / 2           REML

with r^2 = Cyy - Cyx Cxx^-1 Cxy. All follows from sums over levels, so that the rows are read once. With G = Z'V^-1
(X, y), dC = -G'(dLambda Lambda' + Lambda dLambda')G.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.linalg import block_diag

from karat.models.glrm.gaussian import EXACT
from karat.models.glrm.mixed_laplace import by_determinant, theta_information
from karat.models.glrm.mixed_mode import Crossing, Curvature, Pair, solve
from karat.models.glrm.mixed_sides import Side
from karat.types import Floats


@dataclass(frozen=True)
class GaussianMixedEvaluation:
    """The criterion and its gradient at some theta, with what follows from it."""

    value: float
    gradient: Floats
    modes: Pair
    information: Callable[[], Floats]
    coefficients: Floats
    unscaled_covariance: Floats
    """Of the coefficients, in units of the residual variance."""
    residual_variance: float


@dataclass(frozen=True)
class GaussianMixedObjective:
    """The criterion, half the deviance, as a function of theta."""

    crossing: Crossing
    value: Floats
    design: Floats
    reml: bool = False

    @property
    def parameters(self) -> int:
        """How many elements theta has."""
        return self.crossing.size

    @property
    def freedom(self) -> int:
        """Rows, less coefficients with REML."""
        return len(self.value) - int(self.design.shape[1]) * self.reml

    @cached_property
    def _least_squares(self) -> Floats:
        return np.asarray(np.linalg.lstsq(self.design, self.value, rcond=None)[0])

    @cached_property
    def _sums(self) -> tuple[Curvature, Pair, Floats]:
        """Z'Z, Z'(X, y) by level, and (X, y)'(X, y).

        y is taken without its least-squares fit, so that a large mean costs no digits.
        """
        left = self.value - self.design @ self._least_squares
        if float(left @ left) <= EXACT**2 * float(self.value @ self.value):
            raise ValueError("The fixed effects tell every answer without error, so that nothing is left to fit.")
        columns = np.column_stack([self.design, left])
        totals = [self.crossing.totals(column) for column in columns.T]
        both = tuple(np.stack([total[side] for total in totals], axis=-1) for side in (0, 1))
        return self.crossing.curvature(np.ones(len(self.value))), (both[0], both[1]), columns.T @ columns

    def __call__(self, theta: Floats, start: Pair | None = None) -> GaussianMixedEvaluation | None:
        """The criterion and its gradient; None where theta is not finite. The modes need no start."""
        theta = np.asarray(theta, dtype=np.float64)
        if not np.all(np.isfinite(theta)):
            return None
        curvature, totals, products = self._sums
        factors = self.crossing.factors(theta)
        try:
            schur = self.crossing.factorise(curvature, factors)
            var_first, var_second, between = schur.covariance()
        except np.linalg.LinAlgError:
            return None
        spherical = tuple(factors[side].T @ totals[side] for side in (0, 1))
        solved = solve(schur, (spherical[0], spherical[1]))
        inner = products - sum(np.einsum("gkc,gkd->cd", spherical[side], solved[side]) for side in (0, 1))
        p = inner.shape[0] - 1
        shift = np.linalg.solve(inner[:p, :p], inner[:p, p])
        squares = float(inner[p, p] - inner[p, :p] @ shift)
        if not squares > 0:
            return None
        inverse = np.linalg.inv(inner[:p, :p])
        determinants = schur.half_log_determinant
        if self.reml:
            determinants += float(np.linalg.slogdet(inner[:p, :p])[1]) / 2
        freedom, contrast = self.freedom, np.append(-shift, 1.0)
        by_factor = by_determinant(curvature, factors, (var_first, var_second.transpose(2, 0, 1)), between)
        left = self._left(curvature, totals, factors, solved)
        for side in (0, 1):
            error = left[side] @ contrast
            by_factor[side][...] -= freedom / squares * error.T @ (error @ factors[side])
            if self.reml:
                columns = left[side][:, :, :p]
                by_factor[side][...] -= np.einsum("gac,cd,gbd->ab", columns, inverse, columns) @ factors[side]
        sides = (self.crossing.first, factors[0], curvature.first), (self.crossing.second, factors[1], curvature.second)
        variance = squares / freedom
        return GaussianMixedEvaluation(
            determinants + freedom / 2 * (1 + float(np.log(2 * np.pi * variance))),
            np.concatenate([side[0].by_theta(one) for side, one in zip(sides, by_factor, strict=True)]),
            (solved[0] @ contrast, solved[1] @ contrast),
            partial(_information, [side for side in sides if side[0].size]),
            self._least_squares + shift,
            inverse,
            variance,
        )

    @staticmethod
    def _left(curvature: Curvature, totals: Pair, factors: Pair, solved: Pair) -> Pair:
        """Z'V^-1 (X, y) by level: Z'(X, y) less Z'Z b."""
        first, second = factors[0] @ solved[0], factors[1] @ solved[1]
        return (
            totals[0] - curvature.first @ first - np.einsum("gabt,tbc->gac", curvature.between, second, optimize=True),
            totals[1] - curvature.second @ second - np.einsum("gabt,gac->tbc", curvature.between, first, optimize=True),
        )


def _information(sides: list[tuple[Side, Floats, Floats]]) -> Floats:
    return np.asarray(block_diag(*(theta_information(*side) for side in sides)))
