"""Crossed Newton systems whose groups have several effects each: the Schur complement by blocks.

As `schur`, with a q x q block for every worker, a p x p block for every task and a q x p block for every cell. The
side with more effects is eliminated, say the workers: with L the Cholesky factors of their blocks and A = L^-1 B, the
complement is S = Dt - A'A. Its rows are ordered by effect, then task. Where most workers and tasks never met, A is a
sparse matrix with the blocks of the cells alone.

The curvature Z'WZ of two sides whose levels mostly met: a dense block for every pair of levels.

What the estimators ask of a curvature, dense or sparse, is `Curvature`, and of M = I + Lambda'Z'W Z Lambda, factorised,
`Factorised`. Here the side with more effects is eliminated by dense blocks (`BlockSchur`); `mixed.sparse` has the
same for levels that mostly never met, and for more than two sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import linalg, sparse

from karat.models.glrm.mixed.terms import Side, gathered
from karat.models.glrm.schur import Schur, cells_of_product, mirrored
from karat.types import Floats, Ints


class BlockSchur:
    """A factorised M: `worker` is (workers, q, q), `between` (workers, q, p, tasks), `task` (p, p, tasks).

    With `cells`, the worker and the task of each pair that met, sorted, `between` is (cells, q, p).
    """

    def __init__(self, worker: Floats, between: Floats, task: Floats, cells: tuple[Ints, Ints] | None = None) -> None:
        self.turned = worker.shape[0] * worker.shape[1] < task.shape[1] * task.shape[2]
        order = None
        if self.turned:
            worker, task = task.transpose(2, 0, 1), worker.transpose(1, 2, 0)
            between = between.transpose(3, 2, 1, 0) if cells is None else between.swapaxes(1, 2)
            if cells is not None:
                order = np.argsort(cells[1], kind="stable")
                cells, between = (cells[1][order], cells[0][order]), between[order]
        self.many, self.q = worker.shape[:2]
        self.p, self.few = task.shape[1:]
        lower = np.linalg.cholesky(worker)
        self.log_lower = float(np.log(np.einsum("ikk->ik", lower)).sum())
        self.root = np.linalg.inv(lower)
        self.cells = None if cells is None else BlockCells(*cells, self.many, self.q, self.p, self.few, order)
        self.scaled: Any
        if self.cells is None:
            self.scaled = (self.root @ between.reshape(self.many, self.q, -1)).reshape(self.many * self.q, -1)
            inner = self.scaled.T @ self.scaled
        else:
            self.scaled = self.cells.matrix(self.root[self.cells.level] @ between)
            inner = (self.scaled.T @ self.scaled).toarray()
        np.negative(inner, out=inner)
        np.einsum("kjlj->klj", inner.reshape(self.p, self.few, self.p, self.few))[...] += task
        self.factor, failed = linalg.lapack.dpotrf(inner, lower=1, overwrite_a=1)
        if failed:
            raise linalg.LinAlgError("the Schur complement is not positive definite")

    @property
    def half_log_determinant(self) -> float:
        """Half the log of the determinant of M."""
        return self.log_lower + float(np.log(self.factor.diagonal()).sum())

    def solve(self, worker: Floats, task: Floats) -> tuple[Floats, Floats]:
        """M^-1 times effects of workers, (workers, q), and tasks, (p, tasks), or several of each along a last axis."""
        many, few = (task.swapaxes(0, 1), worker.swapaxes(0, 1)) if self.turned else (worker, task)
        columns = task.shape[2] if task.ndim == 3 else 1
        outer = (self.root @ many.reshape(self.many, self.q, columns)).reshape(-1, columns)
        inner = few.reshape(-1, columns) - self.scaled.T @ outer
        inner = linalg.lapack.dpotrs(self.factor, inner, lower=1)[0]
        outer = (outer - self.scaled @ inner).reshape(self.many, self.q, columns)
        outer, inner = (self.root.swapaxes(1, 2) @ outer).reshape(many.shape), inner.reshape(few.shape)
        return (inner.swapaxes(0, 1), outer.swapaxes(0, 1)) if self.turned else (outer, inner)

    def covariance(self) -> tuple[Floats, Floats, Floats]:
        """The blocks of the inverse: (workers, q, q), (p, p, tasks) and, for cells, (workers, q, p, tasks).

        Those for cells are (cells, q, p) where `between` was.
        """
        inverse, failed = linalg.lapack.dpotri(self.factor, lower=1)
        if failed:
            raise linalg.LinAlgError("the Schur complement cannot be inverted")
        back = self.root.swapaxes(1, 2)
        if self.cells is None:
            # Only the lower triangle is there, which is all that the product and the blocks of tasks need.
            product = linalg.blas.dsymm(1.0, inverse, self.scaled.T, lower=1).T.reshape(self.many, self.q, -1)
            inner = product @ self.scaled.reshape(product.shape).swapaxes(1, 2)
            between = (back @ product).reshape(self.many, self.q, self.p, self.few)
        else:
            product = self.cells.blocks(cells_of_product(self.scaled, mirrored(inverse)))
            inner = self.cells.sums(product @ self.cells.blocks(self.scaled.data).swapaxes(1, 2))
            between = back[self.cells.level] @ product
        np.einsum("ikk->ik", inner)[...] += 1.0
        np.negative(between, out=between)
        lower = np.einsum("kjlj->klj", inverse.reshape(self.p, self.few, self.p, self.few))
        first, second = np.indices((self.p, self.p))
        task, many = lower[np.maximum(first, second), np.minimum(first, second)], back @ inner @ self.root
        if not self.turned:
            return many, task, between
        if self.cells is None:
            return task.transpose(2, 0, 1), many.transpose(1, 2, 0), between.transpose(3, 2, 1, 0)
        turned = np.empty((len(between), self.p, self.q))
        turned[self.cells.order] = between.swapaxes(1, 2)
        return task.transpose(2, 0, 1), many.transpose(1, 2, 0), turned

    def task_draw(self, random: np.random.Generator) -> Floats:
        """The effects of tasks (p x tasks) of a draw from N(0, M^-1)."""
        few = linalg.solve_triangular(self.factor, random.normal(size=len(self.factor)), lower=True, trans=1)
        if not self.turned:
            return np.asarray(few.reshape(self.p, self.few))
        # Given the workers, the effects of each task are normal around what the workers leave.
        left = random.normal(size=(self.many, self.q)) - (self.scaled @ few).reshape(-1, self.q)
        return np.asarray(np.einsum("jlk,jl->kj", self.root, left))


@dataclass(frozen=True)
class BlockCells:
    """Cells of two sides, sorted by the first, and where the numbers of their q x p blocks stand in a sparse matrix.

    The matrix has a row for each effect of each level of the first side. Its columns are ordered by effect, then level.
    """

    level: Ints
    other: Ints
    levels: int
    q: int
    p: int
    others: int
    order: Ints | None
    """The number of each cell where they are sorted by the second side."""

    @cached_property
    def starts(self) -> Ints:
        """The first cell of each level, and the end."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.level, minlength=self.levels))])

    @cached_property
    def place(self) -> Ints:
        """The place of each number of the blocks among those of the matrix: row by row, then cell by cell."""
        first, cell = self.starts[self.level], np.arange(len(self.level))
        rows = first * self.q + np.arange(self.q)[:, None] * np.diff(self.starts)[self.level] + cell - first
        return np.asarray((rows * self.p).T[:, :, None] + np.arange(self.p))

    def matrix(self, blocks: Floats) -> Any:
        """The matrix that has these blocks."""
        data, column = np.empty(blocks.size), np.empty(blocks.size, dtype=np.int64)
        data[self.place] = blocks
        column[self.place] = (np.arange(self.p) * self.others + self.other[:, None])[:, None]
        lengths = np.repeat(np.diff(self.starts) * self.p, self.q)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return sparse.csr_array((data, column, starts), shape=(self.levels * self.q, self.p * self.others))

    def blocks(self, data: Floats) -> Floats:
        """The blocks, from the numbers of such a matrix."""
        return np.asarray(data[self.place])

    def sums(self, blocks: Floats) -> Floats:
        """Blocks added up over the cells of each level."""
        found = [np.bincount(self.level, one, self.levels) for one in blocks.reshape(len(blocks), -1).T]
        return np.stack(found, axis=-1).astype(np.float64, copy=False).reshape(self.levels, *blocks.shape[1:])


REGULAR = 1e-2
"""The diagonal of a triangle Lambda above which dividing by it costs no digits that matter."""
Sides = tuple[Floats, ...]
"""An array for each side."""


class Factorised(Protocol):
    """M at some Lambda, ready to be solved with."""

    @property
    def half_log_determinant(self) -> float: ...
    def solve(self, right: Sides) -> Sides: ...
    def by_determinant(self) -> Sides: ...
    def spread(self) -> Floats: ...


class Curvature(Protocol):
    """Z'WZ: `sides` has a block for each level of every side, (levels, effects, effects)."""

    @property
    def sides(self) -> Sides: ...
    def times(self, effects: Sides) -> Sides: ...
    def factorise(self, factors: Sides) -> Factorised: ...


@dataclass(frozen=True)
class DenseLayout:
    """Two sides, and the cell of each row in the table of their levels."""

    first: Side
    second: Side

    @cached_property
    def _crossed(self) -> Any:
        """What makes the blocks between the sides of weights: a row for each of their numbers, sparse."""
        rows, (first, second) = np.arange(len(self.first.codes)), (self.first, self.second)
        parts = [
            (((first.codes * first.effects + k) * second.effects + j) * second.groups + second.codes, rows, one * other)
            for k, one in enumerate(first.columns)
            for j, other in enumerate(second.columns)
        ]
        return gathered(parts, (first.groups * first.effects * second.effects * second.groups, len(rows)))

    @cached_property
    def _gathering(self) -> Any:
        """What makes all blocks of Z'WZ of weights."""
        return sparse.vstack([self.first.squares, self.second.squares, self._crossed], format="csr")

    @cached_property
    def _spreading(self) -> Any:
        """What makes z'Kz of every row of all blocks of K; those between the sides stand for two."""
        return sparse.vstack([self.first.squares, self.second.squares, 2 * self._crossed]).T.tocsr()

    def curvature(self, weight: Floats) -> DenseCurvature:
        """Z'WZ for the weights of the rows."""
        first, second = self.first, self.second
        blocks = self._gathering @ weight
        one = first.groups * first.effects**2
        other = one + second.groups * second.effects**2
        return DenseCurvature(
            self,
            blocks[:one].reshape(first.groups, first.effects, first.effects),
            blocks[one:other].reshape(second.groups, second.effects, second.effects),
            blocks[other:].reshape(first.groups, first.effects, second.effects, second.groups),
        )

    def spread(self, first: Floats, second: Floats, between: Floats) -> Floats:
        """z'Kz of every row, for a covariance K of the effects given by its blocks."""
        return np.asarray(self._spreading @ np.concatenate([first.ravel(), second.ravel(), between.ravel()]))


@dataclass(frozen=True)
class DenseCurvature:
    """A block for each level of both sides, and (levels, effects, effects, levels) between them."""

    layout: DenseLayout
    first: Floats
    second: Floats
    between: Floats

    @property
    def sides(self) -> Sides:
        return self.first, self.second

    def times(self, effects: Sides) -> Sides:
        """Z'WZ times levels x effects (x several columns)."""
        one, other = (effect.reshape(*effect.shape[:2], -1) for effect in effects)
        first = self.first @ one + np.einsum("gabt,tbc->gac", self.between, other, optimize=True)
        second = self.second @ other + np.einsum("gabt,gac->tbc", self.between, one, optimize=True)
        return first.reshape(effects[0].shape), second.reshape(effects[1].shape)

    def factorise(self, factors: Sides) -> DenseFactorised:
        """M, ready to be solved with."""
        one, other = factors
        first = np.eye(len(one)) + one.T @ self.first @ one
        second = np.eye(len(other)) + other.T @ self.second @ other
        kind = InterceptSchur if len(one) == len(other) == 1 else BlockSchur
        schur = kind(first, turn(self.between, one.T, other.T), np.ascontiguousarray(second.transpose(1, 2, 0)))
        return DenseFactorised(self, factors, schur)


@dataclass(frozen=True)
class DenseFactorised:
    """M by dense blocks."""

    curvature: DenseCurvature
    factors: Sides
    schur: BlockSchur | InterceptSchur

    @property
    def half_log_determinant(self) -> float:
        return self.schur.half_log_determinant

    @cached_property
    def covariance(self) -> tuple[Floats, Floats, Floats]:
        """The blocks of M^-1 for each side, and between them."""
        first, second, between = self.schur.covariance()
        return first, second.transpose(2, 0, 1), between

    def solve(self, right: Sides) -> Sides:
        """M^-1 times arrays of levels x effects (x several columns)."""
        first, second = self.schur.solve(right[0], np.ascontiguousarray(right[1].swapaxes(0, 1)))
        return first, second.swapaxes(0, 1)

    def by_determinant(self) -> Sides:
        """Half the derivative of log det M in Lambda, at fixed W: the sum of Z'W Z Lambda M^-1 over levels.

        Lambda' times that is the sum of I - M^-1, from which it follows where Lambda is regular.
        """
        (one, other), curvature = self.factors, self.curvature
        var_first, var_second, between = self.covariance
        if min(np.abs(one.diagonal()).min(), np.abs(other.diagonal()).min()) > REGULAR:
            first, second = (
                len(blocks) * np.eye(len(factor)) - blocks.sum(axis=0)
                for factor, blocks in ((one, var_first), (other, var_second))
            )
            return np.linalg.solve(one.T, first), np.linalg.solve(other.T, second)
        first = np.einsum("gab,gbc->ac", curvature.first @ one, var_first)
        second = np.einsum("gab,gbc->ac", curvature.second @ other, var_second)
        unit = np.eye(len(one)), np.eye(len(other))
        first += np.tensordot(turn(curvature.between, unit[0], other.T), between, axes=((0, 2, 3), (0, 2, 3)))
        second += np.tensordot(turn(curvature.between, one.T, unit[1]), between, axes=((0, 1, 3), (0, 1, 3)))
        return first, second

    def spread(self) -> Floats:
        """The variance of the predictor of every row, z'Lambda M^-1 Lambda'z."""
        one, other = self.factors
        var_first, var_second, between = self.covariance
        turned = turn(between, one, other)
        return self.curvature.layout.spread(one @ var_first @ one.T, other @ var_second @ other.T, turned)


class InterceptSchur:
    """As `BlockSchur` where each level has one effect: numbers in place of blocks, which is much faster."""

    def __init__(self, first: Floats, between: Floats, second: Floats) -> None:
        self.schur = Schur(between[:, 0, 0], first[:, 0, 0], second[0, 0])
        self.half_log_determinant = self.schur.half_log_determinant

    def solve(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        one, other = self.schur.solve(first[:, 0], second[0])
        return one[:, None], other[None]

    def covariance(self) -> tuple[Floats, Floats, Floats]:
        first, second, between = self.schur.covariance()
        return first[:, None, None], second[None, None], between[:, None, None]


def turn(between: Floats, left: Floats, right: Floats) -> Floats:
    """Each block between two levels, times a matrix from the left and another (transposed) from the right."""
    groups, q, p, others = between.shape
    half = (left @ between.reshape(groups, q, -1)).reshape(groups, -1, p, others)
    return right @ half
