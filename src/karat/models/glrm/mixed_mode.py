"""The modes of vector-valued effects: Newton's method with blocks for the levels of two crossed factors.

With eta = X beta + Z1 Lambda1 u1 + Z2 Lambda2 u2, the curvature of the penalised likelihood in (u1, u2) is M = I +
Lambda'Z'W Z Lambda. It has a block for every level of each factor and a block for every pair of levels that met; the
side with more effects is eliminated (see `block_schur`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from karat.messages import Message
from karat.models.glrm.block_schur import BlockSchur
from karat.models.glrm.families import Derivatives, Family
from karat.models.glrm.mixed_sides import RandomBlock, Side
from karat.models.glrm.mode import DECREMENT, STEPS, halve
from karat.types import Floats, Ints

LARGEST = 400_000_000
"""How many numbers the blocks between the two sides may have."""

Pair = tuple[Floats, Floats]
"""An array for each side."""


@dataclass(frozen=True)
class Curvature:
    """Z'WZ: a block for each level of both sides, and (levels, effects, effects, levels) between them."""

    first: Floats
    second: Floats
    between: Floats


@dataclass(frozen=True)
class Crossing:
    """Two sides, and how their levels meet."""

    first: Side
    second: Side

    def __post_init__(self) -> None:
        """Refuse what would not fit into memory."""
        size = self.first.groups * self.first.effects * self.second.groups * self.second.effects
        if size > LARGEST:
            sizes = [side.groups * side.effects for side in (self.first, self.second)]
            raise ValueError(Message("models.effects_size", {"first": sizes[0], "second": sizes[1]}))

    @cached_property
    def _cell(self) -> Ints:
        return self.first.codes * self.second.groups + self.second.codes

    @cached_property
    def _products(self) -> list[tuple[int, int, Floats]]:
        pairs = []
        for k, one in enumerate(self.first.columns):
            for j, other in enumerate(self.second.columns):
                product = one * other
                if product.any():
                    pairs.append((k, j, product))
        return pairs

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Levels and effects of the first side, effects and levels of the second."""
        return self.first.groups, self.first.effects, self.second.effects, self.second.groups

    @property
    def work(self) -> int:
        """Pairs of levels, times the effects of each: the size that `one_thread` asks for."""
        return self.first.groups * self.second.groups * max(self.first.effects, self.second.effects) ** 2

    @property
    def size(self) -> int:
        """How many elements theta has."""
        return self.first.size + self.second.size

    def factors(self, theta: Floats) -> Pair:
        """Lambda of both sides."""
        return self.first.factor(theta[: self.first.size]), self.second.factor(theta[self.first.size :])

    def placed(self, parameters: int) -> list[tuple[int, RandomBlock]]:
        """Every term with the place of its first element of theta among the parameters, of which theta is the last."""
        place, found = parameters - self.size, []
        for block in (*self.first.blocks, *self.second.blocks):
            found.append((place, block))
            place += block.size
        return found

    def curvature(self, weight: Floats) -> Curvature:
        """Z'WZ for the weights of the rows."""
        between = np.zeros(self.shape)
        groups = self.first.groups * self.second.groups
        for k, j, product in self._products:
            total = np.bincount(self._cell, product * weight, groups)
            between[:, k, j, :] = total.reshape(self.first.groups, self.second.groups)
        return Curvature(self.first.curvature(weight), self.second.curvature(weight), between)

    def spread(self, first: Floats, second: Floats, between: Floats) -> Floats:
        """z'Kz of every row, for a covariance K of the effects given by its blocks."""
        variance = self.first.spread(first) + self.second.spread(second)
        for k, j, product in self._products:
            variance += 2 * product * between[:, k, j, :].ravel()[self._cell]
        return variance

    def predictor(self, factors: Pair, modes: Pair) -> Floats:
        """Z Lambda u of every row."""
        return self.first.predictor(modes[0] @ factors[0].T) + self.second.predictor(modes[1] @ factors[1].T)

    def totals(self, values: Floats) -> Pair:
        """Z'values by level and effect."""
        return self.first.totals(values), self.second.totals(values)

    def zero_modes(self) -> Pair:
        """No effects."""
        return np.zeros(self.shape[:2]), np.zeros((self.second.groups, self.second.effects))

    def factorise(self, curvature: Curvature, factors: Pair) -> BlockSchur:
        """M, ready to be solved with."""
        one, other = factors
        first = np.eye(len(one)) + one.T @ curvature.first @ one
        second = np.eye(len(other)) + other.T @ curvature.second @ other
        return BlockSchur(
            first, turn(curvature.between, one.T, other.T), np.ascontiguousarray(second.transpose(1, 2, 0))
        )


def turn(between: Floats, left: Floats, right: Floats) -> Floats:
    """Each block between two levels, times a matrix from the left and another (transposed) from the right."""
    groups, q, p, others = between.shape
    half = (left @ between.reshape(groups, q, -1)).reshape(groups, -1, p, others)
    turned: Floats = right @ half
    return turned


def solve(schur: BlockSchur, right: Pair) -> Pair:
    """M^-1 times arrays of levels x effects (x several columns)."""
    first, second = schur.solve(right[0], np.ascontiguousarray(right[1].swapaxes(0, 1)))
    return first, second.swapaxes(0, 1)


@dataclass(frozen=True)
class MixedPoint:
    """The penalised likelihood (negative) at some effects."""

    modes: Pair
    eta: Floats
    value: float
    derivatives: Derivatives


@dataclass(frozen=True)
class MixedMode:
    """The mode with its factorised curvature."""

    point: MixedPoint
    curvature: Curvature
    schur: BlockSchur
    found: bool


@dataclass(frozen=True)
class ModeSearch:
    """The search at some parameters; `base` is the linear predictor without the effects."""

    crossing: Crossing
    family: Family
    base: Floats
    psi: Floats
    factors: Pair

    def find(self, start: Pair) -> MixedMode:
        """Newton's method with step halving."""
        point = self.evaluate(start)
        for _ in range(STEPS):
            curvature = self.crossing.curvature(point.derivatives.curvature)
            schur = self.crossing.factorise(curvature, self.factors)
            totals = self.crossing.totals(point.derivatives.slope)
            towards = tuple(
                total @ factor - mode for total, factor, mode in zip(totals, self.factors, point.modes, strict=True)
            )
            along = solve(schur, (towards[0], towards[1]))
            decrement = float(np.vdot(towards[0], along[0]) + np.vdot(towards[1], along[1]))
            reached = halve(partial(self._moved, point.modes, along), point.value, decrement)
            if reached is None:
                return MixedMode(point, curvature, schur, decrement < 1e-6)
            point = reached
            if decrement < DECREMENT:
                curvature = self.crossing.curvature(point.derivatives.curvature)
                return MixedMode(point, curvature, self.crossing.factorise(curvature, self.factors), True)
        return MixedMode(point, curvature, schur, False)

    def evaluate(self, modes: Pair) -> MixedPoint:
        """The penalised likelihood at given effects."""
        eta = self.base + self.crossing.predictor(self.factors, modes)
        derivatives = self.family.derivatives(eta, self.psi)
        penalty = float(np.vdot(modes[0], modes[0]) + np.vdot(modes[1], modes[1])) / 2
        return MixedPoint(modes, eta, penalty - float(derivatives.log_likelihood.sum()), derivatives)

    def _moved(self, modes: Pair, along: Pair, length: float) -> MixedPoint:
        return self.evaluate((modes[0] + length * along[0], modes[1] + length * along[1]))
