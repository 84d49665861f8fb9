"""The Laplace approximation of the likelihood of vector-valued effects, with its gradient through the mode.

    nll = -sum l + |u|^2 / 2 + log det(M) / 2

at the mode u of the spherical effects. With V = M^-1, h = z'Lambda V Lambda'z the posterior variance of a row's
predictor, c = W3 h / 2, p = V Lambda'Z'c, q = z'Lambda p and E = -r + c - W q,

    d/dbeta = X'E,    d/dLambda = (Z'E) u' + (Z'r) p' + Z'W Z Lambda V,    d/dpsi = sum(-l_psi + h W_psi / 2 + q r_psi),

sums being over levels; the derivative in theta adds up the entries of Lambda that an element of theta fills.

The modes are found by Newton's method, with blocks for the levels of crossed factors. With eta = X beta + Z1 Lambda1 u1
+ Z2 Lambda2 u2 and so on, the curvature of the penalised likelihood in all u is M = I + Lambda'Z'W Z Lambda. It has a
block for every level of each factor and a block for every pair of levels that met; the side with most effects is
eliminated (see `blocks` and `sparse`).

Whether the covariances of a term are identified is a question of the design alone, whatever the answers. Two slopes
that are confounded within every item cannot be separated by it, nor can an effect for every measured answer from the
residual. The information about theta in a linear model is then singular wherever Lambda is not; it is looked at where
Lambda is the identity. The curvature at the end of a search does not always show it, since a singular covariance has
flat directions of its own.
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
from karat.models.glrm.mixed.sparse import PAIRS, SparseLayout
from karat.models.glrm.mixed.terms import RandomBlock, Side
from karat.models.glrm.optimise import STEPS, Evaluation, newton
from karat.types import Floats

FLOOR = 0.1
"""The information about theta vanishes at zero; this share of what the data tell about the effects stands in for it."""


DECREMENT = 1e-13
"""The squared Newton decrement at the mode: small, since steps with a known factor only shrink it by a share."""
PATIENCE = 3
"""Steps with a known factor that take as long as a new one."""


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

    def __call__(self, parameters: Floats, start: Sides | None = None) -> Evaluation | None:
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
        return Evaluation(value, gradient, FoundModes.of(mode), information, mode.converged)

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
        columns = np.column_stack([-weight[:, None] * self.design, own.T])
        if columns.shape[1]:
            totals = crossing.totals(columns)
            right = tuple(factor.T @ total for factor, total in zip(factors, totals, strict=True))
            for one, other in zip(right, mode.schur.solve(right), strict=True):
                fixed = fixed - one.reshape(-1, one.shape[2]).T @ other.reshape(-1, one.shape[2])
        whole, place = np.zeros((self.parameters, self.parameters)), 0
        for part in (fixed, *theta_informations(crossing, factors, mode.curvature)):
            after = place + len(part)
            whole[place:after, place:after], place = part, after
        return whole


def theta_informations(crossing: Crossing, factors: Sides, curvature: Curvature) -> list[Floats]:
    """The information of each side with effects about its part of theta."""
    sides = zip(crossing.sides, factors, curvature.sides, strict=True)
    return [theta_information(*side) for side in sides if side[0].size]


def theta_information(side: Side, factor: Floats, curvature: Floats) -> Floats:
    """The information about theta of a side, as in a linear model of this side alone, with a floor at zero."""
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
    steps = precision[None] @ change[:, None]
    flat = (side.size, -1)
    information = steps.reshape(flat) @ steps.swapaxes(2, 3).reshape(flat).T / 2
    return (information + information.T) / 2, np.einsum("kgaa->k", steps) / 2, precision


LARGEST = 400_000_000
"""How many numbers a matrix of all sides but the largest may have, and the blocks between two."""


@dataclass(frozen=True)
class Crossing:
    """All sides, and how their levels meet."""

    sides: tuple[Side, ...]
    listed: bool = False
    """Only levels that met are laid out, also where blocks for all pairs are not wasteful."""
    largest: int = LARGEST
    most_pairs: int = PAIRS

    def __post_init__(self) -> None:
        """Refuse what would not fit into memory."""
        sizes = sorted((side.groups * side.effects for side in self.sides), reverse=True)
        if not self.dense and sum(sizes[1:]) ** 2 > self.largest:
            raise ValueError(Message("models.effects_size", {"first": sizes[0], "second": sum(sizes[1:])}))

    @property
    def dense(self) -> bool:
        """Whether a block for every pair of levels is not wasteful."""
        if self.listed or len(self.sides) != 2:
            return False
        places = math.prod(side.groups for side in self.sides)
        blocks = places * math.prod(side.effects for side in self.sides)
        return places <= max(PADDED * len(self.sides[0].codes), SMALL) and blocks <= self.largest

    @cached_property
    def layout(self) -> DenseLayout | SparseLayout:
        """The levels that met."""
        return DenseLayout(*self.sides) if self.dense else SparseLayout(self.sides, self.most_pairs)

    @property
    def work(self) -> int:
        """How large the largest matrix is: the size that `one_thread` asks for."""
        layout = self.layout
        if isinstance(layout, SparseLayout):
            return layout.few**2
        return layout.first.groups * layout.second.groups * max(layout.first.effects, layout.second.effects) ** 2

    @property
    def size(self) -> int:
        """How many elements theta has."""
        return sum(side.size for side in self.sides)

    def factors(self, theta: Floats) -> Sides:
        """Lambda of every side."""
        parts = np.split(theta, np.cumsum([side.size for side in self.sides])[:-1])
        return tuple(side.factor(part) for side, part in zip(self.sides, parts, strict=True))

    def by_theta(self, by_factor: Sequence[Floats]) -> Floats:
        """The derivative in theta from those in the Lambda of every side."""
        return np.concatenate([side.by_theta(one) for side, one in zip(self.sides, by_factor, strict=True)])

    def placed(self, parameters: int) -> list[tuple[int, RandomBlock]]:
        """Every term with the place of its first element of theta among the parameters, of which theta is the last."""
        place, found = parameters - self.size, []
        for block in (block for side in self.sides for block in side.blocks):
            found.append((place, block))
            place += block.size
        return found

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
        """No effects."""
        return tuple(np.zeros((side.groups, side.effects)) for side in self.sides)


@dataclass(frozen=True)
class MixedPoint:
    """The penalised likelihood (negative) at some effects."""

    modes: Sides
    eta: Floats
    value: float
    derivatives: Derivatives


class FoundModes(tuple[Floats, ...]):
    """Modes with the factorised curvature where they were found, which serves a search near by."""

    factor: tuple[Curvature, Factorised]

    @classmethod
    def of(cls, mode: MixedMode) -> FoundModes:
        """Those of a search."""
        found = cls(mode.point.modes)
        found.factor = (mode.curvature, mode.schur)
        return found


@dataclass(frozen=True)
class MixedMode:
    """The mode with its factorised curvature."""

    point: MixedPoint
    curvature: Curvature
    schur: Factorised
    converged: bool


@dataclass(frozen=True)
class ModeSearch:
    """The search at some parameters; `base` is the linear predictor without the effects."""

    crossing: Crossing
    family: Family
    base: Floats
    psi: Floats
    factors: Sides

    def find(self, start: Sides, steps: int = STEPS) -> MixedMode:
        """Newton's method with step halving; a factor that is known serves for as long as its steps shrink quickly."""
        kept = start.factor if isinstance(start, FoundModes) else None
        point, (curvature, schur), found = newton(
            self.evaluate(tuple(start)), self._factorised, self._step, self._moved,
            factor=kept, tolerance=DECREMENT, lasting=True, patience=PATIENCE, steps=steps,
        )  # fmt: skip
        return MixedMode(point, curvature, schur, found)

    def _factorised(self, point: MixedPoint) -> tuple[Curvature, Factorised]:
        curvature = self.crossing.layout.curvature(point.derivatives.curvature)
        return curvature, curvature.factorise(self.factors)

    def _step(self, point: MixedPoint, factorised: tuple[Curvature, Factorised]) -> tuple[Sides, float]:
        totals = self.crossing.totals(point.derivatives.slope)
        towards = tuple(
            total @ factor - mode for total, factor, mode in zip(totals, self.factors, point.modes, strict=True)
        )
        along = factorised[1].solve(towards)
        return along, sum(float(np.vdot(one, other)) for one, other in zip(towards, along, strict=True))

    def evaluate(self, modes: Sides) -> MixedPoint:
        """The penalised likelihood at given effects."""
        eta = self.base + self.crossing.predictor(self.factors, modes)
        derivatives = self.family.derivatives(eta, self.psi)
        penalty = sum(float(np.vdot(mode, mode)) for mode in modes) / 2
        return MixedPoint(modes, eta, penalty - float(derivatives.log_likelihood.sum()), derivatives)

    def _moved(self, point: MixedPoint, along: Sides, length: float) -> MixedPoint:
        return self.evaluate(tuple(mode + length * one for mode, one in zip(point.modes, along, strict=True)))


NOTHING = 1e-9
"""Information, relative to that of each element of theta alone, that counts as none."""


def undetermined(side: Side, residual: bool) -> list[str]:
    """The factors whose covariances the design does not determine; with `residual` it must tell them from that, too."""
    based = side.based()
    if not side.size:
        return []
    curvature = based.curvature(np.ones(len(side.codes)))
    information, beside, _ = linear_information(based, np.eye(based.effects), curvature)
    if residual:
        border = beside[:, None]
        information = np.block([[information, border], [border.T, np.array([[len(side.codes) / 2]])]])
        # Theta is in units of the residual's deviation, so that all of it moves where the residual does. In units of
        # its own only those covariances move that cannot be separated from the residual, and only they are to be named.
        still = np.eye(len(information))
        still[:-1, -1] = np.concatenate([np.equal(*block.entries) for block in side.blocks]) * -0.5
        information = still.T @ information @ still
    return lacking_information(side, information)


def lacking_information(side: Side, information: Floats) -> list[str]:
    """The factors of the elements that a direction without information is made of."""
    size = np.sqrt(np.diag(information))
    alone = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(information / np.outer(alone, alone))
    weight = np.abs(vectors[:, values < NOTHING]).max(axis=1, initial=0.0)
    found, before = [], 0
    for block in side.blocks:
        if np.any(weight[before : before + block.size] > 0.1) and block.group not in found:
            found.append(block.group)
        before += block.size
    return found
