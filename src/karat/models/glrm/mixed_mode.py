"""The modes of vector-valued effects: Newton's method with blocks for the levels of crossed factors.

With eta = X beta + Z1 Lambda1 u1 + Z2 Lambda2 u2 and so on, the curvature of the penalised likelihood in all u is M =
I + Lambda'Z'W Z Lambda. It has a block for every level of each factor and a block for every pair of levels that met;
the side with most effects is eliminated (see `mixed_blocks` and `mixed_sparse`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from karat.messages import Message
from karat.models.glrm.crossed import PADDED, SMALL
from karat.models.glrm.families import Derivatives, Family
from karat.models.glrm.mixed_blocks import Curvature, DenseLayout, Factorised, Sides
from karat.models.glrm.mixed_sides import RandomBlock, Side
from karat.models.glrm.mixed_sparse import SparseLayout
from karat.models.glrm.mode import DECREMENT, STEPS, halve
from karat.types import Floats

LARGEST = 400_000_000
"""How many numbers a matrix of all sides but the largest may have, and the blocks between two."""


@dataclass(frozen=True)
class Crossing:
    """All sides, and how their levels meet."""

    sides: tuple[Side, ...]

    def __post_init__(self) -> None:
        """Refuse what would not fit into memory."""
        sizes = sorted((side.groups * side.effects for side in self.sides), reverse=True)
        if not self.dense and sum(sizes[1:]) ** 2 > LARGEST:
            raise ValueError(Message("models.effects_size", {"first": sizes[0], "second": sum(sizes[1:])}))

    @property
    def dense(self) -> bool:
        """Whether a block for every pair of levels is not wasteful."""
        places = math.prod(side.groups for side in self.sides)
        blocks = places * math.prod(side.effects for side in self.sides)
        return len(self.sides) == 2 and places <= max(PADDED * len(self.sides[0].codes), SMALL) and blocks <= LARGEST

    @cached_property
    def layout(self) -> DenseLayout | SparseLayout:
        """The levels that met."""
        return DenseLayout(*self.sides) if self.dense else SparseLayout(self.sides)

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

    def curvature(self, weight: Floats) -> Curvature:
        """Z'WZ for the weights of the rows."""
        return self.layout.curvature(weight)

    @cached_property
    def counts(self) -> Curvature:
        """Z'Z."""
        return self.curvature(np.ones(len(self.sides[0].codes)))

    def predictor(self, factors: Sides, modes: Sides) -> Floats:
        """Z Lambda u of every row."""
        eta = np.zeros(len(self.sides[0].codes))
        for side, factor, mode in zip(self.sides, factors, modes, strict=True):
            eta += side.predictor(mode @ factor.T)
        return eta

    def totals(self, values: Floats) -> Sides:
        """Z'values by level and effect."""
        return tuple(side.totals(values) for side in self.sides)

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


@dataclass(frozen=True)
class MixedMode:
    """The mode with its factorised curvature."""

    point: MixedPoint
    curvature: Curvature
    schur: Factorised
    found: bool


@dataclass(frozen=True)
class ModeSearch:
    """The search at some parameters; `base` is the linear predictor without the effects."""

    crossing: Crossing
    family: Family
    base: Floats
    psi: Floats
    factors: Sides

    def find(self, start: Sides) -> MixedMode:
        """Newton's method with step halving."""
        point = self.evaluate(start)
        for _ in range(STEPS):
            curvature = self.crossing.curvature(point.derivatives.curvature)
            schur = curvature.factorise(self.factors)
            totals = self.crossing.totals(point.derivatives.slope)
            towards = tuple(
                total @ factor - mode for total, factor, mode in zip(totals, self.factors, point.modes, strict=True)
            )
            along = schur.solve(towards)
            decrement = sum(float(np.vdot(one, other)) for one, other in zip(towards, along, strict=True))
            reached = halve(partial(self._moved, point.modes, along), point.value, decrement)
            if reached is None:
                return MixedMode(point, curvature, schur, decrement < 1e-6)
            point = reached
            if decrement < DECREMENT:
                curvature = self.crossing.curvature(point.derivatives.curvature)
                return MixedMode(point, curvature, curvature.factorise(self.factors), True)
        return MixedMode(point, curvature, schur, False)

    def evaluate(self, modes: Sides) -> MixedPoint:
        """The penalised likelihood at given effects."""
        eta = self.base + self.crossing.predictor(self.factors, modes)
        derivatives = self.family.derivatives(eta, self.psi)
        penalty = sum(float(np.vdot(mode, mode)) for mode in modes) / 2
        return MixedPoint(modes, eta, penalty - float(derivatives.log_likelihood.sum()), derivatives)

    def _moved(self, modes: Sides, along: Sides, length: float) -> MixedPoint:
        return self.evaluate(tuple(mode + length * one for mode, one in zip(modes, along, strict=True)))
