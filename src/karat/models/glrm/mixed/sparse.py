"""The curvature Z'WZ if most pairs of levels have no answers, or if more than two sides are crossed.

The side with most effects is eliminated, because given the others its levels are independent. Its curvature with the
others, A, is stored for pairs with answers (*cells*). With Lambda of the eliminated side, Lr of the others, and for
each level the block B of the curvature and D = I + Lambda'B Lambda,

    K = C - A'Lambda D^-1 Lambda'A,   S = I + Lr'K Lr,   log det M = log det D + log det S,

where C is the curvature of the other sides. K and S are dense, with a row for each effect of the other sides. With Q =
Lr S^-1 Lr', T = A Q A' of a level and H = I - B Lambda D^-1 Lambda', half the derivative of log det M is K Lr S^-1 in
Lr, and in Lambda the sum of (B - H T) Lambda D^-1 over levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse

from karat.models.glrm.blocks import Sides
from karat.models.glrm.mixed.terms import Side
from karat.models.glrm.schur import cells_of_product, inverted
from karat.types import Floats, Ints


@dataclass(frozen=True)
class SparseLayout:
    """The cells of levels of the eliminated side and effects of the others."""

    sides: tuple[Side, ...]

    @cached_property
    def many(self) -> int:
        """The number of the side that is eliminated."""
        return int(np.argmax([side.groups * side.effects for side in self.sides]))

    @cached_property
    def others(self) -> dict[int, slice]:
        """The slice of each other side in the array of their effects, which are ordered by level."""
        places, start = {}, 0
        for number, side in enumerate(self.sides):
            if number != self.many:
                places[number] = slice(start, start + side.groups * side.effects)
                start = places[number].stop
        return places

    @property
    def few(self) -> int:
        """The number of effects of the other sides."""
        return sum(side.groups * side.effects for number, side in enumerate(self.sides) if number != self.many)

    @cached_property
    def columns(self) -> list[tuple[Ints, Floats]]:
        """For every column of the other sides, the number of its effect in each row, and the column."""
        return [
            (place.start + side.codes * side.effects + k, column)
            for number, place in self.others.items()
            for side in [self.sides[number]]
            for k, column in enumerate(side.columns)
        ]

    @cached_property
    def entries(self) -> tuple[Ints, Ints, Floats]:
        """Z of the other sides: row, effect and value of each nonzero entry."""
        rows = [np.flatnonzero(column) for _, column in self.columns]
        pairs = list(zip(rows, self.columns, strict=True))
        effect, value = ([pair[part][row] for row, pair in pairs] for part in (0, 1))
        return np.concatenate(rows), np.concatenate(effect), np.concatenate(value)

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Ints]:
        """The cell of each entry, and the level and the effect of each cell."""
        row, effect, _ = self.entries
        keys, cell = np.unique(self.sides[self.many].codes[row] * self.few + effect, return_inverse=True)
        return cell, keys // self.few, keys % self.few

    @cached_property
    def starts(self) -> Ints:
        """The first cell of each level, and the number of cells."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.cells[1], minlength=self.sides[self.many].groups))])

    def matrix(self, cells: Floats) -> Any:
        """A sparse matrix, levels x effects, of a number per cell; for several rows of numbers, stacked matrices."""
        times = len(np.atleast_2d(cells))
        starts = (self.starts[:-1] + len(self.cells[2]) * np.arange(times)[:, None]).ravel()
        parts = (cells.ravel(), np.tile(self.cells[2], times), np.append(starts, cells.size))
        return sparse.csr_array(parts, shape=(len(starts), self.few))

    def curvature(self, weight: Floats) -> SparseCurvature:
        """Z'WZ for these weights of the rows."""
        row, effect, value = self.entries
        weighted, (cell, level, _) = value * weight[row], self.cells
        crossed = [np.bincount(cell, column[row] * weighted, len(level)) for column in self.sides[self.many].columns]
        shape = (len(weight), self.few)
        z, weighted_z = (sparse.coo_array((data, (row, effect)), shape=shape).tocsr() for data in (value, weighted))
        blocks = tuple(side.curvature(weight) for side in self.sides)
        return SparseCurvature(self, blocks, np.array(crossed, dtype=np.float64), (z.T.tocsr() @ weighted_z).toarray())

    def stack(self, arrays: Sides) -> Floats:
        """The arrays of the other sides, stacked."""
        return np.concatenate(
            [arrays[number].reshape(place.stop - place.start, -1) for number, place in self.others.items()]
        )

    def split(self, eliminated: Floats, others: Floats, like: Sides) -> Sides:
        """An array for each side, in the shapes of `like`."""
        parts = {number: others[place] for number, place in self.others.items()} | {self.many: eliminated}
        return tuple(parts[number].reshape(array.shape) for number, array in enumerate(like))

    def times_factors(self, array: Floats, factors: Sides) -> Floats:
        """An array with the effects of the other sides on its last axis, times their Lambda from the right."""
        if all(len(factors[number]) == 1 for number in self.others):
            levels = [self.sides[number].groups for number in self.others]
            return np.asarray(array * np.repeat([factors[number][0, 0] for number in self.others], levels))
        parts = [
            array[:, place].reshape(len(array), -1, len(factors[number])) @ factors[number]
            for number, place in self.others.items()
        ]
        return np.concatenate([part.reshape(len(array), -1) for part in parts], axis=1)


@dataclass(frozen=True)
class SparseCurvature:
    """A block for each level of every side, A by effect and cell, and C."""

    layout: SparseLayout
    sides: Sides
    crossed: Floats
    inner: Floats

    @cached_property
    def matrix(self) -> Any:
        """A as a matrix: effects, then levels of the eliminated side, x effects of the others."""
        return self.layout.matrix(self.crossed)

    def weighted(self, weights: Floats) -> Floats:
        """The sum of A'WA over levels, for a symmetric W of each level."""
        weighted = self.layout.matrix(by_cell(self.layout, weights, self.crossed))
        return np.asarray((self.matrix.T.tocsr() @ weighted).toarray())

    def within(self, matrix: Floats) -> Floats:
        """A Q A' of every level, for a symmetric Q."""
        layout, levels = self.layout, self.layout.sides[self.layout.many].groups
        products = np.empty((levels, len(self.crossed), len(self.crossed)))
        for a, row in enumerate(self.crossed):
            product = cells_of_product(layout.matrix(row), matrix)
            for b, column in enumerate(self.crossed):
                products[:, a, b] = np.bincount(layout.cells[1], product * column, levels)
        return products

    def across(self, effects: Floats) -> Floats:
        """A'b for effects of the eliminated side, (levels, effects, columns)."""
        return np.asarray(self.matrix.T @ effects.swapaxes(0, 1).reshape(-1, effects.shape[2]))

    def times(self, effects: Sides) -> Sides:
        """Z'WZ times levels x effects (x several columns)."""
        layout, eliminated = self.layout, effects[self.layout.many]
        flat, others = eliminated.reshape(*eliminated.shape[:2], -1), layout.stack(effects)
        ahead = by_level(self.matrix @ others, len(flat))
        return layout.split(self.sides[layout.many] @ flat + ahead, self.inner @ others + self.across(flat), effects)

    def factorise(self, factors: Sides) -> SparseFactorised:
        """M at these factors, factorised."""
        return SparseFactorised(self, factors)


class SparseFactorised:
    """M, factorised by cells."""

    def __init__(self, curvature: SparseCurvature, factors: Sides) -> None:
        layout = curvature.layout
        factor, block = factors[layout.many], curvature.sides[layout.many]
        eliminated = np.eye(len(factor)) + factor.T @ block @ factor
        lower = np.linalg.cholesky(eliminated)
        self.curvature, self.factors, self.inverse = curvature, factors, np.linalg.inv(eliminated)
        self.v = by_cell(layout, self.inverse @ factor.T, curvature.crossed)
        loss = curvature.weighted(factor @ self.inverse @ factor.T)
        self.half = layout.times_factors(np.subtract(curvature.inner, loss, out=loss), factors)
        """K Lr."""
        inner = layout.times_factors(self.half.T, factors)
        np.einsum("kk->k", inner)[...] += 1.0
        self.factor = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
        self.log_lower = float(np.log(np.einsum("gkk->gk", lower)).sum())

    @property
    def half_log_determinant(self) -> float:
        return self.log_lower + float(np.log(self.factor.diagonal()).sum())

    def solve(self, right: Sides) -> Sides:
        """M^-1 times arrays of levels x effects (x several columns)."""
        layout, factors, eliminated = self.curvature.layout, self.factors, right[self.curvature.layout.many]
        outer = self.inverse @ eliminated.reshape(*eliminated.shape[:2], -1)
        back = self.curvature.across(factors[layout.many] @ outer)
        inner = layout.stack(right) - layout.times_factors(back.T, factors).T
        inner = linalg.cho_solve((self.factor, True), inner, check_finite=False)
        outer = outer - by_level(
            layout.matrix(self.v) @ layout.times_factors(inner.T, transposed(factors)).T, len(eliminated)
        )
        return layout.split(outer, inner, right)

    @cached_property
    def small_inverse(self) -> Floats:
        """S^-1."""
        return inverted(self.factor)

    @cached_property
    def covariance(self) -> Floats:
        """Q, the covariance of the effects of the other sides."""
        layout, back = self.curvature.layout, transposed(self.factors)
        return layout.times_factors(layout.times_factors(self.small_inverse, back).T, back).T

    @cached_property
    def within(self) -> Floats:
        """T of every level."""
        return self.curvature.within(self.covariance)

    def by_determinant(self) -> Sides:
        """Half the derivative of log det M in Lambda, at fixed W."""
        curvature, layout = self.curvature, self.curvature.layout
        slopes = [np.zeros_like(factor) for factor in self.factors]
        for number, place in layout.others.items():
            shape = (layout.sides[number].groups, len(self.factors[number]), layout.few)
            # The rows of K Lr and of S^-1.
            row_pair = self.half[place].reshape(shape), self.small_inverse[place].reshape(shape)
            slopes[number][...] = np.einsum("gax,gbx->ab", *row_pair)
        factor, block = self.factors[layout.many], curvature.sides[layout.many]
        gain = factor @ self.inverse
        slope = block - (np.eye(len(factor)) - block @ gain @ factor.T) @ self.within
        slopes[layout.many][...] = np.einsum("gab,gbc->ac", slope, gain)
        return tuple(slopes)

    def spread(self) -> Floats:
        """The variance of the predictor of every row, z'Lambda M^-1 Lambda'z."""
        layout, factor = self.curvature.layout, self.factors[self.curvature.layout.many]
        side, cell = layout.sides[layout.many], layout.cells[0]
        product = np.array([cells_of_product(layout.matrix(row), self.covariance) for row in self.v])
        gain = factor @ self.inverse @ factor.T
        variance = side.spread(gain + gain @ self.within @ gain)
        between, (row, _, value) = factor @ product, layout.entries
        for numbers, column in zip(between, side.columns, strict=True):
            variance -= 2 * np.bincount(row, column[row] * value * numbers[cell], len(variance))
        for effect, column in layout.columns:
            for other_effect, other_column in layout.columns:
                variance += column * other_column * self.covariance[effect, other_effect]
        return variance


def by_cell(layout: SparseLayout, matrices: Floats, cells: Floats) -> Floats:
    """The matrix of each level times the numbers of its cells, effects x cells."""
    return np.asarray(np.einsum("cab,bc->ac", matrices[layout.cells[1]], cells))


def by_level(stacked: Floats, levels: int) -> Floats:
    """An array (effects and levels, columns) as (levels, effects, columns)."""
    return stacked.reshape(-1, levels, stacked.shape[1]).swapaxes(0, 1)


def transposed(factors: Sides) -> Sides:
    """Lambda' of every side."""
    return tuple(factor.T for factor in factors)
