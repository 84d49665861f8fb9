"""The Laplace approximation of the likelihood of vector-valued effects, with its gradient through the mode.

    nll = -sum l + |u|^2 / 2 + log det(M) / 2

at the mode u of the spherical effects. With V = M^-1, h = z'Lambda V Lambda'z the posterior variance of a row's
predictor, c = W3 h / 2, p = V Lambda'Z'c, q = z'Lambda p and E = -r + c - W q,

    d/dbeta = X'E,    d/dLambda = (Z'E) u' + (Z'r) p' + Z'W Z Lambda V,    d/dpsi = sum(-l_psi + h W_psi / 2 + q r_psi),

where sums are over levels. The derivative in an element of theta is the sum over the entries of Lambda it fills.

The modes are found by Newton's method, with blocks for the levels of crossed factors. With eta = X beta + Z1 Lambda1 u1
+ Z2 Lambda2 u2 and so on, the curvature of the penalised likelihood in all u is M = I + Lambda'Z'W Z Lambda. It has a
block for every level of each factor and a block for every pair of levels with answers; the side with most effects is
eliminated (see `blocks` and `sparse`).

Whether the covariances of a term are identified depends only on the design, not on the answers. If two slopes are
confounded within every item, items cannot separate them; nor can an effect of every measured answer be separated from
the residual. The information about theta in a linear model is then singular for every regular Lambda, so it is checked
with Lambda as the identity. The curvature at the end of a search does not always show this, because a singular
covariance has flat directions too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from karat.messages import Message
from karat.models.glrm.blocks import Curvature, DenseLayout, Factorised, Sides
from karat.models.glrm.crossed import PADDED, SMALL
from karat.models.glrm.families import Derivatives, Family
from karat.models.glrm.mixed.sparse import SparseLayout
from karat.models.glrm.mixed.terms import RandomBlock, Side
from karat.models.glrm.optimise import STEPS, Evaluation, newton
from karat.types import Floats

FLOOR = 0.1
"""The information about theta vanishes at zero; this share of the information about the effects replaces it there."""


@dataclass(frozen=True)
class LaplaceObjective:
    """The negative log-likelihood as a function of (beta, psi, theta)."""

    crossing: Crossing
    family: Family
    design: Floats
    offset: Floats

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return int(self.design.shape[1]) + self.family.parameters + self.crossing.size

    def split(self, parameters: Floats) -> tuple[Floats, Floats, Floats]:
        """beta, psi and theta."""
        columns, fixed = self.design.shape[1], self.design.shape[1] + self.family.parameters
        return parameters[:columns], parameters[columns:fixed], parameters[fixed:]

    def __call__(self, parameters: Floats, start: Sides | None = None) -> Evaluation | None:
        """The value and gradient, with modes searched from `start`; None if the parameters are not allowed."""
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
        return Evaluation(value, gradient, mode.point.modes, information, mode.converged)

    def _gradient(self, mode: MixedMode, psi: Floats, factors: Sides, height: Floats) -> Floats:
        crossing, point = self.crossing, mode.point
        c = self.family.third(point.eta, psi) * height / 2
        p = mode.schur.solve(tuple(total @ factor for total, factor in zip(crossing.totals(c), factors, strict=True)))
        q = crossing.predictor(factors, p)
        derivatives = point.derivatives
        by_row = c - derivatives.slope - derivatives.curvature * q
        by_psi = self.family.gradient(point.eta, psi, np.ones(()), height / 2, q)
        parts = crossing.totals(by_row), point.modes, crossing.totals(derivatives.slope), p, mode.schur.by_determinant()
        by_factor = [
            total.T @ u + slope.T @ shift + determinant
            for total, u, slope, shift, determinant in zip(*parts, strict=True)
        ]
        return np.concatenate([self.design.T @ by_row, by_psi, crossing.by_theta(by_factor)])

    def _information(self, mode: MixedMode, psi: Floats, factors: Sides) -> Floats:
        """An approximate Hessian: of the penalised likelihood for fixed effects, of a linear model for covariances."""
        crossing, point = self.crossing, mode.point
        weight = point.derivatives.curvature
        inner, by_psi = self.family.information(point.eta, psi)
        cross = -by_psi @ self.design
        fixed = np.block([[self.design.T @ (weight[:, None] * self.design), cross.T], [cross, inner]])
        columns = np.column_stack([-weight[:, None] * self.design, by_psi.T])
        if columns.shape[1]:
            totals = crossing.totals(columns)
            right = tuple(factor.T @ total for factor, total in zip(factors, totals, strict=True))
            for before, solution in zip(right, mode.schur.solve(right), strict=True):
                fixed = fixed - before.reshape(-1, before.shape[2]).T @ solution.reshape(-1, before.shape[2])
        information, place = np.zeros((self.parameters, self.parameters)), 0
        for part in (fixed, *theta_informations(crossing, factors, mode.curvature)):
            after = place + len(part)
            information[place:after, place:after], place = part, after
        return information


def theta_informations(crossing: Crossing, factors: Sides, curvature: Curvature) -> list[Floats]:
    """The information about the theta of each side that has effects."""
    sides = zip(crossing.sides, factors, curvature.sides, strict=True)
    return [theta_information(*side) for side in sides if side[0].size]


def theta_information(side: Side, factor: Floats, curvature: Floats) -> Floats:
    """The information about theta of a side, as in a linear model of this side alone, plus a floor for zero theta."""
    information, _, precision = linear_information(side, factor, curvature)
    row, _, element = side.pattern
    floor = np.bincount(element, np.einsum("gaa->a", precision)[row], side.size)
    information.flat[:: side.size + 1] += FLOOR * floor
    return information


def linear_information(side: Side, factor: Floats, curvature: Floats) -> tuple[Floats, Floats, Floats]:
    """Fisher's information about theta in a linear model of one side, that with log sigma^2, and P of each level.

    With P = Z'V^-1 Z of a level and D = dLambda Lambda' + Lambda dLambda', the information is the sum over levels of
    tr(P D P D) / 2, and that with log sigma^2 the sum of tr(P D) / 2.
    """
    row, column, element = side.pattern
    inner = np.linalg.inv(np.eye(len(factor)) + factor.T @ curvature @ factor)
    product = curvature @ factor
    precision = curvature - product @ inner @ product.swapaxes(1, 2)
    moves = np.zeros((side.size, *factor.shape))
    moves[element, row, column] = 1.0
    change = moves @ factor.T
    change += change.swapaxes(1, 2)
    steps = precision[None] @ change[:, None]
    flat = (side.size, -1)
    information = steps.reshape(flat) @ steps.swapaxes(2, 3).reshape(flat).T / 2
    return (information + information.T) / 2, np.einsum("kgaa->k", steps) / 2, precision


LARGEST = 400_000_000
"""The largest size, in numbers, of a matrix of all sides but the largest, and of the blocks between two sides."""


@dataclass(frozen=True)
class Crossing:
    """All sides, and which of their levels have answers in common."""

    sides: tuple[Side, ...]
    force_sparse: bool = False
    """Whether to use the sparse layout even if blocks for all pairs of levels are not wasteful."""
    largest: int = LARGEST

    def __post_init__(self) -> None:
        """Raise ValueError if the matrices would not fit into memory."""
        sizes = sorted((side.groups * side.effects for side in self.sides), reverse=True)
        if not self.dense and sum(sizes[1:]) ** 2 > self.largest:
            raise ValueError(Message("models.effects_size", {"first": sizes[0], "second": sum(sizes[1:])}))

    @property
    def dense(self) -> bool:
        """Whether to use a block for every pair of levels, because most pairs have answers."""
        if self.force_sparse or len(self.sides) != 2:
            return False
        places = math.prod(side.groups for side in self.sides)
        blocks = places * math.prod(side.effects for side in self.sides)
        return places <= max(PADDED * len(self.sides[0].codes), SMALL) and blocks <= self.largest

    @cached_property
    def layout(self) -> DenseLayout | SparseLayout:
        """The layout of the curvature, dense or sparse."""
        return DenseLayout(*self.sides) if self.dense else SparseLayout(self.sides)

    @property
    def work(self) -> int:
        """The size of the largest matrix, for `one_thread`."""
        layout = self.layout
        if isinstance(layout, SparseLayout):
            return layout.few**2
        return layout.first.groups * layout.second.groups * max(layout.first.effects, layout.second.effects) ** 2

    @property
    def size(self) -> int:
        """The number of elements of theta."""
        return sum(side.size for side in self.sides)

    def factors(self, theta: Floats) -> Sides:
        """Lambda of every side."""
        parts = np.split(theta, np.cumsum([side.size for side in self.sides])[:-1])
        return tuple(side.factor(part) for side, part in zip(self.sides, parts, strict=True))

    def by_theta(self, by_factor: Sequence[Floats]) -> Floats:
        """The derivative in theta from those in the Lambda of every side."""
        return np.concatenate([side.by_theta(slope) for side, slope in zip(self.sides, by_factor, strict=True)])

    def places(self, parameters: int) -> list[tuple[int, RandomBlock]]:
        """Every term with the place of its first element of theta among the parameters, which end with theta."""
        place, places = parameters - self.size, []
        for block in (block for side in self.sides for block in side.blocks):
            places.append((place, block))
            place += block.size
        return places

    @cached_property
    def counts(self) -> Curvature:
        """Z'Z."""
        return self.layout.curvature(np.ones(len(self.sides[0].codes)))

    @cached_property
    def matrix(self) -> Any:
        """Z of all sides: rows x all effects, sparse."""
        return sparse.hstack([side.matrix for side in self.sides], format="csr")

    @cached_property
    def _transposed(self) -> Any:
        return self.matrix.T.tocsr()

    @cached_property
    def _ends(self) -> list[int]:
        ends: list[int] = np.cumsum([side.groups * side.effects for side in self.sides]).tolist()
        return ends

    def predictor(self, factors: Sides, modes: Sides) -> Floats:
        """Z Lambda u of every row."""
        effects = [(mode @ factor.T).ravel() for factor, mode in zip(factors, modes, strict=True)]
        return np.asarray(self.matrix @ np.concatenate(effects))

    def totals(self, values: Floats) -> Sides:
        """Z'values by level and effect (and column)."""
        total = self._transposed @ values
        return tuple(
            total[end - side.groups * side.effects : end].reshape(side.groups, side.effects, *values.shape[1:])
            for side, end in zip(self.sides, self._ends, strict=True)
        )

    def zero_modes(self) -> Sides:
        """Effects of zero."""
        return tuple(np.zeros((side.groups, side.effects)) for side in self.sides)


@dataclass(frozen=True)
class MixedPoint:
    """The negative penalised likelihood at given effects."""

    modes: Sides
    eta: Floats
    value: float
    derivatives: Derivatives


@dataclass(frozen=True)
class MixedMode:
    """The mode with its factorised curvature."""

    point: MixedPoint
    curvature: Curvature
    schur: Factorised
    converged: bool


@dataclass(frozen=True)
class ModeSearch:
    """The search for the mode at given parameters; `base` is the linear predictor without the effects."""

    crossing: Crossing
    family: Family
    base: Floats
    psi: Floats
    factors: Sides

    def find(self, start: Sides, steps: int = STEPS) -> MixedMode:
        """The mode by Newton's method with step halving."""
        search = self._factorise, self._step, self._move
        point, (curvature, schur), converged = newton(self.evaluate(start), *search, steps)
        return MixedMode(point, curvature, schur, converged)

    def _factorise(self, point: MixedPoint) -> tuple[Curvature, Factorised]:
        curvature = self.crossing.layout.curvature(point.derivatives.curvature)
        return curvature, curvature.factorise(self.factors)

    def _step(self, point: MixedPoint, factorised: tuple[Curvature, Factorised]) -> tuple[Sides, float]:
        totals = self.crossing.totals(point.derivatives.slope)
        towards = tuple(
            total @ factor - mode for total, factor, mode in zip(totals, self.factors, point.modes, strict=True)
        )
        along = factorised[1].solve(towards)
        return along, sum(float(np.vdot(slope, step)) for slope, step in zip(towards, along, strict=True))

    def evaluate(self, modes: Sides) -> MixedPoint:
        """The penalised likelihood at given effects."""
        eta = self.base + self.crossing.predictor(self.factors, modes)
        derivatives = self.family.derivatives(eta, self.psi)
        penalty = sum(float(np.vdot(mode, mode)) for mode in modes) / 2
        return MixedPoint(modes, eta, penalty - float(derivatives.log_likelihood.sum()), derivatives)

    def _move(self, point: MixedPoint, along: Sides, length: float) -> MixedPoint:
        return self.evaluate(tuple(mode + length * step for mode, step in zip(point.modes, along, strict=True)))


NO_INFORMATION = 1e-9
"""Information below this counts as none, relative to that of each element of theta alone."""


def unidentified(side: Side, residual: bool) -> list[str]:
    """The factors with covariances that the design does not identify, or not separately from a residual."""
    standardised = side.standardised()
    if not side.size:
        return []
    curvature = standardised.curvature(np.ones(len(side.codes)))
    information, with_residual, _ = linear_information(standardised, np.eye(standardised.effects), curvature)
    if residual:
        border = with_residual[:, None]
        information = np.block([[information, border], [border.T, np.array([[len(side.codes) / 2]])]])
        # Theta is in units of the residual deviation, so all of it changes with the residual. In absolute units only
        # covariances that cannot be separated from the residual do, and only their factors should be returned.
        rescaling = np.eye(len(information))
        rescaling[:-1, -1] = np.concatenate([np.equal(*block.entries) for block in side.blocks]) * -0.5
        information = rescaling.T @ information @ rescaling
    return lacking_information(side, information)


def lacking_information(side: Side, information: Floats) -> list[str]:
    """The factors of the elements with large weights in a direction without information."""
    size = np.sqrt(np.diag(information))
    unit = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(information / np.outer(unit, unit))
    weight = np.abs(vectors[:, values < NO_INFORMATION]).max(axis=1, initial=0.0)
    groups, first = [], 0
    for block in side.blocks:
        if np.any(weight[first : first + block.size] > 0.1) and block.group not in groups:
            groups.append(block.group)
        first += block.size
    return groups
