"""Crossed Newton systems by the Schur complement.

The curvature of the penalised likelihood in the worker effects u and the task effects v is

    M = [ diag(dw)    B     ]
        [    B'    diag(dt) ].

The larger side is eliminated; what remains for the smaller is S = diag(dt) - B' diag(1/dw) B, a dense matrix that is
factorised by Cholesky. With G = B / dw and P = S^-1, the inverse of M has diag P for the smaller side, 1/dw +
rowsum(G P * G) for the larger, and -G P between them, of which only the cells that were answered are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from karat.models.glrm.crossed import Floats

CHUNK = 4_000_000
"""How many numbers of a sparse system's covariance are held at a time."""


class Schur:
    """A factorised M; `matrix` is B, dense or compressed by rows."""

    def __init__(self, matrix: Any, worker: Floats, task: Floats) -> None:
        self.turned = len(worker) < len(task)
        self.matrix = matrix.T if self.turned else matrix
        self.many, few = (task, worker) if self.turned else (worker, task)
        root = 1.0 / np.sqrt(self.many)
        if sparse.issparse(matrix):
            self.matrix = sparse.csr_array(self.matrix)
            scaled = self.matrix.copy()
            scaled.data *= np.repeat(root, np.diff(scaled.indptr))
            inner = (scaled.T @ scaled).toarray()
        else:
            scaled = self.matrix * root[:, None]
            inner = scaled.T @ scaled
        np.negative(inner, out=inner)
        inner.flat[:: len(few) + 1] += few
        self.factor = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)

    @property
    def half_log_determinant(self) -> float:
        """Half the log of the determinant of M."""
        return float(np.log(self.many).sum() / 2 + np.log(self.factor.diagonal()).sum())

    def solve(self, worker: Floats, task: Floats) -> tuple[Floats, Floats]:
        """M^-1 times one right-hand side, or several side by side."""
        many, few = (task, worker) if self.turned else (worker, task)
        divisor = self.many if many.ndim == 1 else self.many[:, None]
        scaled = many / divisor
        inner = linalg.cho_solve((self.factor, True), few - self.matrix.T @ scaled, check_finite=False)
        outer = scaled - (self.matrix @ inner) / divisor
        return (inner, outer) if self.turned else (outer, inner)

    def covariance(self) -> tuple[Floats, Floats, Floats]:
        """The variances of the worker effects, of the task effects, and their covariance in each cell."""
        inverse, failed = linalg.lapack.dpotri(self.factor, lower=1)
        if failed:
            raise linalg.LinAlgError("the Schur complement cannot be inverted")
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        if sparse.issparse(self.matrix):
            between, many = self._sparse_between(inverse)
        else:
            product = self.matrix @ inverse
            product /= -self.many[:, None]
            many = (1.0 - np.einsum("ij,ij->i", product, self.matrix)) / self.many
            between = product.T if self.turned else product
        few = inverse.diagonal().copy()
        return (few, many, between) if self.turned else (many, few, between)

    def _sparse_between(self, inverse: Floats) -> tuple[Floats, Floats]:
        rows, columns = len(self.many), inverse.shape[0]
        starts, column = self.matrix.indptr, self.matrix.indices
        row = np.repeat(np.arange(rows), np.diff(starts))
        between = np.empty(len(column))
        step = max(1, CHUNK // columns)
        for first in range(0, rows, step):
            last = min(first + step, rows)
            part = slice(starts[first], starts[last])
            product = self.matrix[first:last] @ inverse
            between[part] = product[row[part] - first, column[part]]
        between /= -self.many[row]
        many = (1.0 - np.bincount(row, between * self.matrix.data, rows)) / self.many
        if self.turned:
            back = sparse.csr_array((between, column, starts), shape=self.matrix.shape).T.tocsr()
            back.sort_indices()
            between = back.data
        return between, many
