"""The curvature Z'WZ where most levels never met, or where more than two sides are crossed.

The side with most effects is eliminated: given the others, its levels have nothing to do with each other. What its
levels have in common with the others, A, is kept for the pairs that met (*cells*). With Lambda that of the eliminated
side, Lr that of the others, and for each level the block B of the curvature and D = I + Lambda'B Lambda,

    K = C - A'Lambda D^-1 Lambda'A,   S = I + Lr'K Lr,   log det M = log det D + log det S,

where C is the curvature of the other sides. K and S are dense, and as large as the other sides have effects. With Q =
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
from karat.models.glrm.schur import cells_of_product, inverted, mirrored
from karat.types import Floats, Ints

PAIRS = 8_000_000
"""Up to this many pairs of cells are listed, which is faster than products of sparse matrices."""


@dataclass(frozen=True)
class SparseLayout:
    """Which levels of the eliminated side met which effects of the others."""

    sides: tuple[Side, ...]
    most_pairs: int = PAIRS

    @cached_property
    def many(self) -> int:
        """The number of the side that is eliminated."""
        return int(np.argmax([side.groups * side.effects for side in self.sides]))

    @cached_property
    def others(self) -> dict[int, slice]:
        """The place of each other side among their effects, which are ordered by level."""
        found, before = {}, 0
        for number, side in enumerate(self.sides):
            if number != self.many:
                found[number] = slice(before, before + side.groups * side.effects)
                before = found[number].stop
        return found

    @property
    def few(self) -> int:
        """How many effects the other sides have."""
        return sum(side.groups * side.effects for number, side in enumerate(self.sides) if number != self.many)

    @cached_property
    def columns(self) -> list[tuple[Ints, Floats]]:
        """For every column of the other sides, the effect that it belongs to in each row, and the column."""
        return [
            (place.start + side.codes * side.effects + k, column)
            for number, place in self.others.items()
            for side in [self.sides[number]]
            for k, column in enumerate(side.columns)
        ]

    @cached_property
    def entries(self) -> tuple[Ints, Ints, Floats]:
        """Z of the other sides: row, effect and value of whatever is not zero."""
        rows = [np.flatnonzero(column) for _, column in self.columns]
        own = list(zip(rows, self.columns, strict=True))
        effect, value = ([one[which][row] for row, one in own] for which in (0, 1))
        return np.concatenate(rows), np.concatenate(effect), np.concatenate(value)

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Ints]:
        """The cell of each entry; the level and the effect of each cell."""
        row, effect, _ = self.entries
        found, cell = np.unique(self.sides[self.many].codes[row] * self.few + effect, return_inverse=True)
        return cell, found // self.few, found % self.few

    @cached_property
    def starts(self) -> Ints:
        """The first cell of each level, and the end."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.cells[1], minlength=self.sides[self.many].groups))])

    def matrix(self, cells: Floats) -> Any:
        """Levels x effects, for a number of each cell; for several rows of them, one matrix below the other."""
        times = len(np.atleast_2d(cells))
        starts = (self.starts[:-1] + len(self.cells[2]) * np.arange(times)[:, None]).ravel()
        parts = (cells.ravel(), np.tile(self.cells[2], times), np.append(starts, cells.size))
        return sparse.csr_array(parts, shape=(len(starts), self.few))

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Ints, Ints] | None:
        """Each pair of cells of a level, its place in a matrix of all effects, and the level; None if too many.

        The effect of the first cell is not behind that of the second, so that the places are in the upper triangle.
        """
        level, effect = self.cells[1:]
        times, width = self.starts[level + 1] - np.arange(len(level)), self.sides[self.many].effects
        if int(times.sum()) * width * (width + 1) // 2 > self.most_pairs:
            return None
        order = np.argsort(effect, kind="stable")  # so that places lie close to each other
        times = times[order]
        one = np.repeat(order, times)
        other = one + np.arange(len(one)) - np.repeat(np.cumsum(times) - times, times)
        return one, other, effect[one] * self.few + effect[other], level[one]

    def curvature(self, weight: Floats) -> SparseCurvature:
        """Z'WZ for the weights of the rows."""
        row, effect, value = self.entries
        weighted, (cell, level, _) = value * weight[row], self.cells
        crossed = [np.bincount(cell, one[row] * weighted, len(level)) for one in self.sides[self.many].columns]
        shape = (len(weight), self.few)
        one, other = (sparse.coo_array((number, (row, effect)), shape=shape).tocsr() for number in (value, weighted))
        blocks = tuple(side.curvature(weight) for side in self.sides)
        return SparseCurvature(self, blocks, np.array(crossed, dtype=np.float64), (one.T.tocsr() @ other).toarray())

    def joined(self, arrays: Sides) -> Floats:
        """The arrays of the other sides, one below the other."""
        return np.concatenate(
            [arrays[number].reshape(place.stop - place.start, -1) for number, place in self.others.items()]
        )

    def parted(self, eliminated: Floats, others: Floats, like: Sides) -> Sides:
        """An array for each side, shaped like those in `like`."""
        parts = {number: others[place] for number, place in self.others.items()} | {self.many: eliminated}
        return tuple(parts[number].reshape(array.shape) for number, array in enumerate(like))

    def turned(self, array: Floats, factors: Sides) -> Floats:
        """An array whose last axis has the effects of the other sides, times their Lambda from the right."""
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
        """A: effects, then levels of the eliminated side, x effects of the others."""
        return self.layout.matrix(self.crossed)

    @cached_property
    def squares(self) -> dict[tuple[int, int], Floats]:
        """For two effects of the eliminated side, their product in each pair of cells, in both orders."""
        if self.layout.pairs is None:
            return {}
        one, other = self.layout.pairs[:2]
        apart, found = one != other, {}
        for a, b in zip(*np.tril_indices(len(self.crossed)), strict=True):
            first, second = self.crossed[a], self.crossed[b]
            found[int(a), int(b)] = first[one] * second[other] + apart * (first[other] * second[one])
        return found

    def weighted(self, weights: Floats) -> Floats:
        """The sum of A'WA over levels, for a symmetric W of each."""
        layout = self.layout
        if layout.pairs is None:
            other = layout.matrix(by_cell(layout, weights, self.crossed))
            return np.asarray((self.matrix.T.tocsr() @ other).toarray())
        _, _, place, level = layout.pairs
        total = np.zeros(len(place))
        for (a, b), square in self.squares.items():
            total += (weights[:, a, b] * (0.5 if a == b else 1.0))[level] * square
        upper = np.bincount(place, total, layout.few**2).astype(np.float64, copy=False)
        upper[:: layout.few + 1] *= 2
        return mirrored(upper.reshape(layout.few, layout.few).T)

    def within(self, matrix: Floats) -> Floats:
        """A Q A' of every level, for a symmetric Q."""
        layout, levels = self.layout, self.layout.sides[self.layout.many].groups
        found = np.empty((levels, len(self.crossed), len(self.crossed)))
        if layout.pairs is None:
            for a, one in enumerate(self.crossed):
                reached = cells_of_product(layout.matrix(one), matrix)
                for b, other in enumerate(self.crossed):
                    found[:, a, b] = np.bincount(layout.cells[1], reached * other, levels)
            return found
        _, _, place, level = layout.pairs
        at = matrix.ravel(order="K")[place]
        for (a, b), square in self.squares.items():
            found[:, a, b] = found[:, b, a] = np.bincount(level, at * square, levels)
        return found

    def across(self, effects: Floats) -> Floats:
        """A'b for effects of the eliminated side, (levels, effects, columns)."""
        return np.asarray(self.matrix.T @ effects.swapaxes(0, 1).reshape(-1, effects.shape[2]))

    def times(self, effects: Sides) -> Sides:
        """Z'WZ times levels x effects (x several columns)."""
        layout, own = self.layout, effects[self.layout.many]
        one, other = own.reshape(*own.shape[:2], -1), layout.joined(effects)
        ahead = by_level(self.matrix @ other, len(one))
        return layout.parted(self.sides[layout.many] @ one + ahead, self.inner @ other + self.across(one), effects)

    def factorise(self, factors: Sides) -> SparseFactorised:
        """M, ready to be solved with."""
        return SparseFactorised(self, factors)


class SparseFactorised:
    """M by cells."""

    def __init__(self, curvature: SparseCurvature, factors: Sides) -> None:
        layout = curvature.layout
        own, block = factors[layout.many], curvature.sides[layout.many]
        eliminated = np.eye(len(own)) + own.T @ block @ own
        lower = np.linalg.cholesky(eliminated)
        self.curvature, self.factors, self.inverse = curvature, factors, np.linalg.inv(eliminated)
        self.v = by_cell(layout, self.inverse @ own.T, curvature.crossed)
        taken = curvature.weighted(own @ self.inverse @ own.T)
        self.half = layout.turned(np.subtract(curvature.inner, taken, out=taken), factors)
        """K Lr."""
        inner = layout.turned(self.half.T, factors)
        np.einsum("kk->k", inner)[...] += 1.0
        self.factor = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
        self.log_lower = float(np.log(np.einsum("gkk->gk", lower)).sum())

    @property
    def half_log_determinant(self) -> float:
        return self.log_lower + float(np.log(self.factor.diagonal()).sum())

    def solve(self, right: Sides) -> Sides:
        """M^-1 times arrays of levels x effects (x several columns)."""
        layout, factors, own = self.curvature.layout, self.factors, right[self.curvature.layout.many]
        outer = self.inverse @ own.reshape(*own.shape[:2], -1)
        back = self.curvature.across(factors[layout.many] @ outer)
        inner = layout.joined(right) - layout.turned(back.T, factors).T
        inner = linalg.cho_solve((self.factor, True), inner, check_finite=False)
        outer = outer - by_level(layout.matrix(self.v) @ layout.turned(inner.T, transposed(factors)).T, len(own))
        return layout.parted(outer, inner, right)

    @cached_property
    def small_inverse(self) -> Floats:
        """S^-1."""
        return inverted(self.factor)

    @cached_property
    def covariance(self) -> Floats:
        """Q, the covariance of the effects of the other sides."""
        layout, back = self.curvature.layout, transposed(self.factors)
        return layout.turned(layout.turned(self.small_inverse, back).T, back).T

    @cached_property
    def within(self) -> Floats:
        """T of every level."""
        return self.curvature.within(self.covariance)

    def by_determinant(self) -> Sides:
        """Half the derivative of log det M in Lambda, at fixed W."""
        curvature, layout = self.curvature, self.curvature.layout
        found = [np.zeros_like(factor) for factor in self.factors]
        for number, place in layout.others.items():
            shape = (layout.sides[number].groups, len(self.factors[number]), layout.few)
            # Rows of K Lr, beside those of S^-1.
            beside = self.half[place].reshape(shape), self.small_inverse[place].reshape(shape)
            found[number][...] = np.einsum("gax,gbx->ab", *beside)
        own, block = self.factors[layout.many], curvature.sides[layout.many]
        gain = own @ self.inverse
        left = block - (np.eye(len(own)) - block @ gain @ own.T) @ self.within
        found[layout.many][...] = np.einsum("gab,gbc->ac", left, gain)
        return tuple(found)

    def spread(self) -> Floats:
        """The variance of the predictor of every row, z'Lambda M^-1 Lambda'z."""
        layout, own = self.curvature.layout, self.factors[self.curvature.layout.many]
        side, cell = layout.sides[layout.many], layout.cells[0]
        reached = np.array([cells_of_product(layout.matrix(one), self.covariance) for one in self.v])
        gain = own @ self.inverse @ own.T
        variance = side.spread(gain + gain @ self.within @ gain)
        between, (row, _, value) = own @ reached, layout.entries
        for one, column in zip(between, side.columns, strict=True):
            variance -= 2 * np.bincount(row, column[row] * value * one[cell], len(variance))
        for effect, column in layout.columns:
            for other, beside in layout.columns:
                variance += column * beside * self.covariance[effect, other]
        return variance


def by_cell(layout: SparseLayout, matrices: Floats, cells: Floats) -> Floats:
    """Each level's matrix times the numbers of its cells, which have a row for each effect."""
    return np.asarray(np.einsum("cab,bc->ac", matrices[layout.cells[1]], cells))


def by_level(stacked: Floats, levels: int) -> Floats:
    """Rows of effects, then levels, as (levels, effects, columns)."""
    return stacked.reshape(-1, levels, stacked.shape[1]).swapaxes(0, 1)


def transposed(factors: Sides) -> Sides:
    """Lambda' of every side."""
    return tuple(factor.T for factor in factors)
