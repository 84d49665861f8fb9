"""Crossed Newton systems with several effects per group, by the Schur complement of blocks.

In place of the numbers in `schur` there is a q x q block per worker, a p x p block per task and a q x p block per cell.
The side with more effects is eliminated. If that is the workers, L are the Cholesky factors of their blocks and A =
L^-1 B, the complement is S = Dt - A'A. Its rows are ordered by effect, then task. If most pairs of worker and task have
no answers, A is a sparse matrix with the blocks of the cells that have.

`DenseCurvature` is the curvature Z'WZ of two sides with answers for most pairs of levels, with a dense block per pair.

The protocols `Curvature` (of Z'WZ, dense or sparse) and `Factorised` (of the factorised M = I + Lambda'Z'W Z Lambda)
are what the estimators need. `BlockSchur` eliminates the side with more effects by dense blocks; `mixed.sparse` is for
pairs of levels that mostly have no answers, and for more than two sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import linalg, sparse

from karat.models.glrm.mixed.terms import Side, sparse_matrix
from karat.models.glrm.schur import cells_of_product, mirrored
from karat.types import Floats, Ints


class BlockSchur:
    """A factorised M: `worker` is (workers, q, q), `between` (workers, q, p, tasks), `task` (p, p, tasks).

    With `cells`, the sorted pairs of worker and task that have answers, `between` is (cells, q, p).
    """

    def __init__(self, worker: Floats, between: Floats, task: Floats, cells: tuple[Ints, Ints] | None = None) -> None:
        self.transposed = worker.shape[0] * worker.shape[1] < task.shape[1] * task.shape[2]
        order = None
        if self.transposed:
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
        """M^-1 times effects of workers, (workers, q), and tasks, (p, tasks), or several along the last axis."""
        many, few = (task.swapaxes(0, 1), worker.swapaxes(0, 1)) if self.transposed else (worker, task)
        columns = task.shape[2] if task.ndim == 3 else 1
        outer = (self.root @ many.reshape(self.many, self.q, columns)).reshape(self.many * self.q, columns)
        inner = few.reshape(self.p * self.few, columns) - self.scaled.T @ outer
        inner = linalg.lapack.dpotrs(self.factor, inner, lower=1)[0]
        outer = (outer - self.scaled @ inner).reshape(self.many, self.q, columns)
        outer, inner = (self.root.swapaxes(1, 2) @ outer).reshape(many.shape), inner.reshape(few.shape)
        return (inner.swapaxes(0, 1), outer.swapaxes(0, 1)) if self.transposed else (outer, inner)

    def covariance(self) -> tuple[Floats, Floats, Floats]:
        """The blocks of the inverse: (workers, q, q), (p, p, tasks) and, for cells, (workers, q, p, tasks).

        If `between` was (cells, q, p), so is the last.
        """
        inverse, failed = linalg.lapack.dpotri(self.factor, lower=1)
        if failed:
            raise linalg.LinAlgError("the Schur complement cannot be inverted")
        back = self.root.swapaxes(1, 2)
        if self.cells is None:
            # The product and the blocks of tasks need only the lower triangle.
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
        if not self.transposed:
            return many, task, between
        if self.cells is None:
            return task.transpose(2, 0, 1), many.transpose(1, 2, 0), between.transpose(3, 2, 1, 0)
        swapped = np.empty((len(between), self.p, self.q))
        swapped[self.cells.order] = between.swapaxes(1, 2)
        return task.transpose(2, 0, 1), many.transpose(1, 2, 0), swapped

    def task_draw(self, random: np.random.Generator, *draws: int) -> Floats:
        """The task effects (p x tasks, and x `draws` if given) of draws from N(0, M^-1)."""
        few = linalg.solve_triangular(self.factor, random.normal(size=(len(self.factor), *draws)), lower=True, trans=1)
        if not self.transposed:
            return np.asarray(few.reshape(self.p, self.few, *draws))
        # Given the effects of the smaller side, here the workers, those of each task are independent and normal.
        many = random.normal(size=(self.many, self.q, *draws)) - (self.scaled @ few).reshape(-1, self.q, *draws)
        return np.asarray(np.einsum("jlk,jl...->kj...", self.root, many))


@dataclass(frozen=True)
class BlockCells:
    """Cells of two sides, sorted by the first, and the places of their q x p blocks in a sparse matrix.

    The matrix has a row for each effect of each level of the first side. Its columns are ordered by effect, then level.
    """

    level: Ints
    other: Ints
    levels: int
    q: int
    p: int
    others: int
    order: Ints | None
    """The number of each cell in the order of the second side."""

    @cached_property
    def starts(self) -> Ints:
        """The first cell of each level, and the number of cells."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.level, minlength=self.levels))])

    @cached_property
    def place(self) -> Ints:
        """The place of each number of the blocks in the data of the matrix: by row, then by cell."""
        first, cell = self.starts[self.level], np.arange(len(self.level))
        rows = first * self.q + np.arange(self.q)[:, None] * np.diff(self.starts)[self.level] + cell - first
        return np.asarray((rows * self.p).T[:, :, None] + np.arange(self.p))

    def matrix(self, blocks: Floats) -> Any:
        """The sparse matrix with these blocks."""
        data, column = np.empty(blocks.size), np.empty(blocks.size, dtype=np.int64)
        data[self.place] = blocks
        column[self.place] = (np.arange(self.p) * self.others + self.other[:, None])[:, None]
        lengths = np.repeat(np.diff(self.starts) * self.p, self.q)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return sparse.csr_array((data, column, starts), shape=(self.levels * self.q, self.p * self.others))

    def blocks(self, data: Floats) -> Floats:
        """The blocks, from the data of a matrix of this form."""
        return np.asarray(data[self.place])

    def sums(self, blocks: Floats) -> Floats:
        """The sum of the blocks over the cells of each level."""
        sums = [np.bincount(self.level, column, self.levels) for column in blocks.reshape(len(blocks), -1).T]
        return np.stack(sums, axis=-1).astype(np.float64, copy=False).reshape(self.levels, *blocks.shape[1:])


REGULAR = 1e-2
"""Solving with a triangle Lambda is accurate enough if its diagonal exceeds this."""
Sides = tuple[Floats, ...]
"""An array for each side."""


class Factorised(Protocol):
    """M at given Lambda, factorised."""

    @property
    def half_log_determinant(self) -> float: ...
    def solve(self, right: Sides) -> Sides: ...
    def by_determinant(self) -> Sides: ...
    def spread(self) -> Floats: ...


class Curvature(Protocol):
    """Z'WZ; `sides` has a block for each level of every side, (levels, effects, effects)."""

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
        """The sparse map from weights to the blocks between the sides, with a row for each number of the blocks."""
        rows, (first, second) = np.arange(len(self.first.codes)), (self.first, self.second)
        parts = [
            (
                ((first.codes * first.effects + k) * second.effects + j) * second.groups + second.codes,
                rows,
                first_column * second_column,
            )
            for k, first_column in enumerate(first.columns)
            for j, second_column in enumerate(second.columns)
        ]
        return sparse_matrix(parts, (first.groups * first.effects * second.effects * second.groups, len(rows)))

    @cached_property
    def _gathering(self) -> Any:
        """The map from weights to all blocks of Z'WZ."""
        return sparse.vstack([self.first.squares, self.second.squares, self._crossed], format="csr")

    @cached_property
    def _spreading(self) -> Any:
        """The map from all blocks of K to z'Kz of every row; blocks between the sides count twice."""
        return sparse.vstack([self.first.squares, self.second.squares, 2 * self._crossed]).T.tocsr()

    def curvature(self, weight: Floats) -> DenseCurvature:
        """Z'WZ for these weights of the rows."""
        first, second = self.first, self.second
        blocks = self._gathering @ weight
        end_first = first.groups * first.effects**2
        end_second = end_first + second.groups * second.effects**2
        return DenseCurvature(
            self,
            blocks[:end_first].reshape(first.groups, first.effects, first.effects),
            blocks[end_first:end_second].reshape(second.groups, second.effects, second.effects),
            blocks[end_second:].reshape(first.groups, first.effects, second.effects, second.groups),
        )

    def spread(self, first: Floats, second: Floats, between: Floats) -> Floats:
        """z'Kz of every row, for the blocks of a covariance K of the effects."""
        return np.asarray(self._spreading @ np.concatenate([first.ravel(), second.ravel(), between.ravel()]))


@dataclass(frozen=True)
class DenseCurvature:
    """Z'WZ as a block for each level of both sides and an array (levels, effects, effects, levels) between them."""

    layout: DenseLayout
    first: Floats
    second: Floats
    between: Floats

    @property
    def sides(self) -> Sides:
        return self.first, self.second

    def times(self, effects: Sides) -> Sides:
        """Z'WZ times levels x effects (x several columns)."""
        first_effects, second_effects = (effect.reshape(*effect.shape[:2], -1) for effect in effects)
        first = self.first @ first_effects + np.einsum("gabt,tbc->gac", self.between, second_effects, optimize=True)
        second = self.second @ second_effects + np.einsum("gabt,gac->tbc", self.between, first_effects, optimize=True)
        return first.reshape(effects[0].shape), second.reshape(effects[1].shape)

    def factorise(self, factors: Sides) -> DenseFactorised:
        """M at these factors, factorised."""
        first_factor, second_factor = factors
        first = np.eye(len(first_factor)) + first_factor.T @ self.first @ first_factor
        second = np.eye(len(second_factor)) + second_factor.T @ self.second @ second_factor
        between = turn(self.between, first_factor.T, second_factor.T)
        schur = BlockSchur(first, between, np.ascontiguousarray(second.transpose(1, 2, 0)))
        return DenseFactorised(self, factors, schur)


@dataclass(frozen=True)
class DenseFactorised:
    """M, factorised by dense blocks."""

    curvature: DenseCurvature
    factors: Sides
    schur: BlockSchur

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

        Lambda' times this is the sum of I - M^-1, which is solved for it if Lambda is regular.
        """
        (first_factor, second_factor), curvature = self.factors, self.curvature
        var_first, var_second, between = self.covariance
        if min(np.abs(first_factor.diagonal()).min(), np.abs(second_factor.diagonal()).min()) > REGULAR:
            first, second = (
                len(blocks) * np.eye(len(factor)) - blocks.sum(axis=0)
                for factor, blocks in ((first_factor, var_first), (second_factor, var_second))
            )
            return np.linalg.solve(first_factor.T, first), np.linalg.solve(second_factor.T, second)
        first = np.einsum("gab,gbc->ac", curvature.first @ first_factor, var_first)
        second = np.einsum("gab,gbc->ac", curvature.second @ second_factor, var_second)
        unit = np.eye(len(first_factor)), np.eye(len(second_factor))
        first += np.tensordot(turn(curvature.between, unit[0], second_factor.T), between, axes=((0, 2, 3), (0, 2, 3)))
        second += np.tensordot(turn(curvature.between, first_factor.T, unit[1]), between, axes=((0, 1, 3), (0, 1, 3)))
        return first, second

    def spread(self) -> Floats:
        """The variance of the predictor of every row, z'Lambda M^-1 Lambda'z."""
        first_factor, second_factor = self.factors
        var_first, var_second, between = self.covariance
        return self.curvature.layout.spread(
            first_factor @ var_first @ first_factor.T,
            second_factor @ var_second @ second_factor.T,
            turn(between, first_factor, second_factor),
        )


def turn(between: Floats, left: Floats, right: Floats) -> Floats:
    """Each block between two levels, as left @ block @ right.T."""
    groups, q, p, others = between.shape
    half = (left @ between.reshape(groups, q, -1)).reshape(groups, -1, p, others)
    return right @ half
