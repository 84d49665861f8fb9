"""Crossed Newton systems whose groups have several effects each: the Schur complement by blocks.

As `schur`, with a q x q block for every worker, a p x p block for every task and a q x p block for every cell. The
side with more effects is eliminated, say the workers: with L the Cholesky factors of their blocks and A = L^-1 B, the
complement is S = Dt - A'A. Its rows are ordered by effect, then task.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from karat.types import Floats


class BlockSchur:
    """A factorised M: `worker` is (workers, q, q), `between` (workers, q, p, tasks), `task` (p, p, tasks)."""

    def __init__(self, worker: Floats, between: Floats, task: Floats) -> None:
        self.turned = worker.shape[0] * worker.shape[1] < task.shape[1] * task.shape[2]
        if self.turned:
            worker, between, task = task.transpose(2, 0, 1), between.transpose(3, 2, 1, 0), worker.transpose(1, 2, 0)
        self.many, self.q, self.p, self.few = between.shape
        lower = np.linalg.cholesky(worker)
        self.log_lower = float(np.log(np.einsum("ikk->ik", lower)).sum())
        self.root = np.linalg.inv(lower)
        self.scaled = self.root @ between.reshape(self.many, self.q, -1)
        flat = self.scaled.reshape(self.many * self.q, -1)
        inner = flat.T @ flat
        np.negative(inner, out=inner)
        np.einsum("kjlj->klj", inner.reshape(self.p, self.few, self.p, self.few))[...] += task
        self.factor = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)

    @property
    def half_log_determinant(self) -> float:
        """Half the log of the determinant of M."""
        return self.log_lower + float(np.log(self.factor.diagonal()).sum())

    def solve(self, worker: Floats, task: Floats) -> tuple[Floats, Floats]:
        """M^-1 times effects of workers, (workers, q), and tasks, (p, tasks), or several of each along a last axis."""
        many, few = (task.swapaxes(0, 1), worker.swapaxes(0, 1)) if self.turned else (worker, task)
        columns = task.shape[2] if task.ndim == 3 else 1
        flat = self.scaled.reshape(self.many * self.q, -1)
        outer = (self.root @ many.reshape(self.many, self.q, columns)).reshape(-1, columns)
        inner = few.reshape(-1, columns) - flat.T @ outer
        inner = linalg.cho_solve((self.factor, True), inner, check_finite=False)
        outer = (outer - flat @ inner).reshape(self.many, self.q, columns)
        outer, inner = (self.root.swapaxes(1, 2) @ outer).reshape(many.shape), inner.reshape(few.shape)
        return (inner.swapaxes(0, 1), outer.swapaxes(0, 1)) if self.turned else (outer, inner)

    def covariance(self) -> tuple[Floats, Floats, Floats]:
        """The blocks of the inverse: (workers, q, q), (p, p, tasks) and, for cells, (workers, q, p, tasks)."""
        inverse, failed = linalg.lapack.dpotri(self.factor, lower=1)
        if failed:
            raise linalg.LinAlgError("the Schur complement cannot be inverted")
        # Only the lower triangle is there, which is all that the product and the blocks of tasks need.
        flat = self.scaled.reshape(self.many * self.q, -1)
        product = linalg.blas.dsymm(1.0, inverse, flat.T, lower=1).T.reshape(self.scaled.shape)
        back = self.root.swapaxes(1, 2)
        inner = product @ self.scaled.swapaxes(1, 2)
        np.einsum("ikk->ik", inner)[...] += 1.0
        between = back @ product
        np.negative(between, out=between)
        lower = np.einsum("kjlj->klj", inverse.reshape(self.p, self.few, self.p, self.few))
        first, second = np.indices((self.p, self.p))
        task = lower[np.maximum(first, second), np.minimum(first, second)]
        many, between = back @ inner @ self.root, between.reshape(self.many, self.q, self.p, self.few)
        if self.turned:
            return task.transpose(2, 0, 1), many.transpose(1, 2, 0), between.transpose(3, 2, 1, 0)
        return many, task, between
