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
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from karat.models.glrm.blocks import Curvature, Factorised, Sides
from karat.models.glrm.crossed import Factor
from karat.models.glrm.mixed.laplace import Crossing, theta_informations
from karat.types import Bools, Floats

EXACT = 1e-12
"""A deviation of the residuals that is so small beside the answers is rounding."""
LEAST = 0.1
"""The smallest share of the variance that a search starts from as the residual's."""
TINY = 1e-300


@dataclass(frozen=True)
class GaussianEvaluation:
    """The criterion and its gradient at some theta, with what follows from it."""

    value: float
    slope: Callable[[], Floats]
    modes: Sides
    information: Callable[[], Floats]
    coefficients: Floats
    unscaled_covariance: Floats
    """Of the coefficients, in units of the residual variance."""
    residual_variance: float

    @cached_property
    def gradient(self) -> Floats:
        """In theta; computed where it is asked for, since a step that goes too far does not need it."""
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
    def _sums(self) -> tuple[Curvature, Sides, Floats]:
        """Z'Z, Z'(X, y) by level, and (X, y)'(X, y).

        y is taken without its least-squares fit, so that a large mean costs no digits.
        """
        left = self.value - self.design @ self._least_squares
        columns = np.column_stack([self.design, left])
        return self.crossing.counts, self.crossing.totals(columns), columns.T @ columns

    @property
    def exact(self) -> bool:
        """Whether the fixed effects leave of the answers nothing but rounding."""
        return float(self._sums[2][-1, -1]) <= EXACT**2 * float(self.value @ self.value)

    @property
    def answers(self) -> int:
        """How many there are."""
        return len(self.value)

    @property
    def deviations(self) -> int:
        """How many of the parameters, the last, are deviations."""
        return self.parameters

    def zero_modes(self) -> None:
        """The modes follow from theta; nothing is searched for."""

    def without(self, modes: Any, factor: Factor, group: int) -> tuple[GaussianObjective, Any, Bools]:
        """The criterion of crossed intercepts without a worker or task, and which parameters it keeps: all."""
        place = 0 if factor == "worker" else 1
        kept = self.crossing.sides[place].codes != group
        sides = tuple(
            side.without(kept, group if number == place else None) for number, side in enumerate(self.crossing.sides)
        )
        rest = GaussianObjective(Crossing(sides), self.value[kept], self.design[kept], self.reml)
        return rest, modes, np.ones(self.parameters, dtype=bool)

    def start(self) -> Floats:
        """Theta to search from: deviations from the moments of what the fixed effects leave, without correlations.

        The square of a level's sum has beside the squares of its rows what they have in common: the level's variance.
        """
        curvature, totals, products = self._sums
        left = self.value - self.design @ self._least_squares
        spread = float(products[-1, -1]) / len(left)
        begin, rest = np.zeros(self.parameters), spread
        for place, block in self.crossing.placed(self.parameters):
            number = next(k for k, side in enumerate(self.crossing.sides) if block in side.blocks)
            side, own = self.crossing.sides[number], block.first + np.arange(block.width * block.repeats)
            squares = side.columns[own] ** 2
            common = (totals[number][:, own, -1] ** 2).sum(axis=0) - squares @ left**2
            most = np.einsum("gkk->gk", curvature.sides[number])[:, own] ** 2
            known = most.sum(axis=0) - (squares**2).sum(axis=1)
            both = np.stack([common, known]).reshape(2, block.repeats, block.width).sum(axis=1)
            variance = np.clip(both[0] / np.maximum(both[1], TINY), 0.0, spread)
            rest -= float(variance @ squares.reshape(block.repeats, block.width, -1).sum(axis=0).mean(axis=1))
            begin[place + np.flatnonzero(np.equal(*block.entries))] = np.sqrt(variance)
        begin /= np.sqrt(max(rest, LEAST * spread))
        return begin

    def __call__(self, theta: Floats, start: Sides | None = None) -> GaussianEvaluation | None:
        """The criterion and its gradient; None where theta is not finite. The modes need no start."""
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
        inner = products - sum(np.einsum("gkc,gkd->cd", *both) for both in zip(spherical, solved, strict=True))
        p = inner.shape[0] - 1
        shift = np.linalg.solve(inner[:p, :p], inner[:p, p])
        squares = float(inner[p, p] - inner[p, :p] @ shift)
        if not squares > EXACT * products[p, p]:
            return None  # what the effects leave is rounding
        determinants = schur.half_log_determinant
        if self.reml:
            determinants += float(np.linalg.slogdet(inner[:p, :p])[1]) / 2
        contrast, variance, inverse = np.append(-shift, 1.0), squares / self.freedom, np.linalg.inv(inner[:p, :p])
        return GaussianEvaluation(
            determinants + self.freedom / 2 * (1 + float(np.log(2 * np.pi * variance))),
            partial(self._gradient, factors, schur, solved, contrast, variance, inverse),
            tuple(one @ contrast for one in solved),
            lambda: np.asarray(block_diag(*theta_informations(self.crossing, factors, curvature))),
            self._least_squares + shift,
            inverse,
            variance,
        )

    def _gradient(
        self, factors: Sides, schur: Factorised, solved: Sides, contrast: Floats, variance: float, inverse: Floats
    ) -> Floats:
        """In theta. Z'V^-1 (X, y), by level, is Z'(X, y) less Z'Z b."""
        curvature, totals, _ = self._sums
        taken = curvature.times(tuple(factor @ one for factor, one in zip(factors, solved, strict=True)))
        by_factor = []
        for determinant, factor, total, one in zip(schur.by_determinant(), factors, totals, taken, strict=True):
            left = total - one
            error, columns = left @ contrast, left[:, :, :-1]
            found = determinant - error.T @ (error @ factor) / variance
            if self.reml:
                found -= np.einsum("gac,cd,gbd->ab", columns, inverse, columns) @ factor
            by_factor.append(found)
        return self.crossing.by_theta(by_factor)
