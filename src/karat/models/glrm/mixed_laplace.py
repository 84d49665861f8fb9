"""The Laplace approximation of the likelihood of vector-valued effects, with its gradient through the mode.

    nll = -sum l + |u|^2 / 2 + log det(M) / 2

at the mode u of the spherical effects. With V = M^-1, h = z'Lambda V Lambda'z the posterior variance of a row's
predictor, c = W3 h / 2, p = V Lambda'Z'c, q = z'Lambda p and E = -r + c - W q,

    d/dbeta = X'E,    d/dLambda = (Z'E) u' + (Z'r) p' + Z'W Z Lambda V,    d/dpsi = sum(-l_psi + h W_psi / 2 + q r_psi),

sums being over levels; the derivative in theta adds up the entries of Lambda that an element of theta fills.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import block_diag

from karat.models.glrm.families import Family
from karat.models.glrm.mixed_blocks import Curvature, Sides
from karat.models.glrm.mixed_mode import Crossing, MixedMode, ModeSearch
from karat.models.glrm.mixed_sides import Side
from karat.types import Floats

FLOOR = 0.1
"""The information about theta vanishes at zero; this share of what the data tell about the effects stands in for it."""


@dataclass(frozen=True)
class MixedEvaluation:
    """The negative log-likelihood and its gradient at some parameters, with the modes there."""

    value: float
    gradient: Floats
    modes: Sides
    found: bool
    information: Callable[[], Floats]
    """Roughly the Hessian."""


@dataclass(frozen=True)
class LaplaceObjective:
    """The negative log-likelihood as a function of (beta, psi, theta)."""

    crossing: Crossing
    family: Family
    design: Floats
    offset: Floats

    @property
    def parameters(self) -> int:
        """How many there are."""
        return int(self.design.shape[1]) + self.family.parameters + self.crossing.size

    def split(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        """beta, psi and theta."""
        beta, own = self.design.shape[1], self.design.shape[1] + self.family.parameters
        return parameters[:beta], parameters[beta:own], parameters[own:]

    def __call__(self, parameters: Floats, start: Sides | None = None) -> MixedEvaluation | None:
        """The value and gradient, the modes searched from `start`; None where parameters are not allowed."""
        beta, psi, theta = self.split(np.asarray(parameters, dtype=np.float64))
        if not np.all(np.isfinite(parameters)) or not self.family.allowed(psi):
            return None
        factors = self.crossing.factors(theta)
        with np.errstate(over="ignore", invalid="ignore"):
            search = ModeSearch(self.crossing, self.family, self.offset + self.design @ beta, psi, factors)
            try:
                mode = search.find(self.crossing.zero_modes() if start is None else start)
                height = mode.schur.spread()
            except np.linalg.LinAlgError:
                return None
            value = mode.point.value + mode.schur.half_log_determinant
            if not np.isfinite(value):
                return None
            gradient = self._gradient(mode, psi, factors, height)
        information = partial(self._information, mode, psi, factors)
        return MixedEvaluation(value, gradient, mode.point.modes, mode.found, information)

    def _gradient(self, mode: MixedMode, psi: Floats, factors: Sides, height: Floats) -> Floats:
        crossing, point = self.crossing, mode.point
        c = self.family.third(point.eta, psi) * height / 2
        p = mode.schur.solve(tuple(one @ factor for one, factor in zip(crossing.totals(c), factors, strict=True)))
        q = crossing.predictor(factors, p)
        now = point.derivatives
        by_row = c - now.slope - now.curvature * q
        by_psi = self.family.gradient(point.eta, psi, np.ones(()), height / 2, q)
        parts = crossing.totals(by_row), point.modes, crossing.totals(now.slope), p, mode.schur.by_determinant()
        by_factor = [
            total.T @ u + slope.T @ one + determinant for total, u, slope, one, determinant in zip(*parts, strict=True)
        ]
        return np.concatenate([self.design.T @ by_row, by_psi, crossing.by_theta(by_factor)])

    def _information(self, mode: MixedMode, psi: Floats, factors: Sides) -> Floats:
        """Roughly the Hessian: of the penalised likelihood over the effects, and of covariances in a linear model."""
        crossing, point = self.crossing, mode.point
        weight = point.derivatives.curvature
        inner, own = self.family.information(point.eta, psi, np.ones(()))
        beside = -own @ self.design
        fixed = np.block([[self.design.T @ (weight[:, None] * self.design), beside.T], [beside, inner]])
        totals = [crossing.totals(column) for column in (*(-weight * self.design.T), *own)]
        if totals:
            right = tuple(
                factor.T @ np.stack(total, axis=-1)
                for factor, total in zip(factors, zip(*totals, strict=True), strict=True)
            )
            for one, other in zip(right, mode.schur.solve(right), strict=True):
                fixed = fixed - np.einsum("gkc,gkd->cd", one, other)
        return np.asarray(block_diag(fixed, *theta_informations(crossing, factors, mode.curvature)))


def theta_informations(crossing: Crossing, factors: Sides, curvature: Curvature) -> list[Floats]:
    """What each side with effects tells about its part of theta."""
    sides = zip(crossing.sides, factors, curvature.sides, strict=True)
    return [theta_information(*side) for side in sides if side[0].size]


def theta_information(side: Side, factor: Floats, curvature: Floats) -> Floats:
    """How much a side tells about theta, as in a linear model of this side alone, with a floor where that vanishes."""
    information, _, precision = linear_information(side, factor, curvature)
    row, _, element = side.pattern
    floor = np.bincount(element, np.einsum("gaa->a", precision)[row], side.size)
    information.flat[:: side.size + 1] += FLOOR * floor
    return information


def linear_information(side: Side, factor: Floats, curvature: Floats) -> tuple[Floats, Floats, Floats]:
    """Fisher's information of theta in a linear model of one side, that of theta and log sigma^2, and P of each level.

    With P = Z'V^-1 Z of a level and D = dLambda Lambda' + Lambda dLambda', they are the sums over levels of
    tr(P D P D) / 2 and of tr(P D) / 2.
    """
    row, column, element = side.pattern
    inner = np.linalg.inv(np.eye(len(factor)) + factor.T @ curvature @ factor)
    turned = curvature @ factor
    precision = curvature - turned @ inner @ turned.swapaxes(1, 2)
    moves = np.zeros((side.size, *factor.shape))
    moves[element, row, column] = 1.0
    change = moves @ factor.T
    change += change.swapaxes(1, 2)
    information = np.zeros((side.size, side.size))
    steps = [precision @ one for one in change]
    for k in range(side.size):
        for j in range(k + 1):
            information[k, j] = information[j, k] = np.einsum("gab,gba->", steps[k], steps[j]) / 2
    return information, np.array([np.einsum("gaa->", step) / 2 for step in steps]), precision
