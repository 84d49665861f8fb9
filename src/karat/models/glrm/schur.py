"""Products for crossed Newton systems by the Schur complement; `blocks` solves such systems.

The curvature of the penalised likelihood in the worker effects u and the task effects v is

    M = [ diag(dw)    B     ]
        [    B'    diag(dt) ].

If the workers are the larger side, they are eliminated, which leaves S = diag(dt) - B' diag(1/dw) B for the tasks, a
dense matrix that is factorised by Cholesky; otherwise the tasks are. With G = B / dw and P = S^-1, the inverse of M has
diag P for the smaller side, 1/dw + rowsum(G P * G) for the larger, and -G P between them, of which only the cells with
answers are needed.
"""

from typing import Any

import numpy as np
from scipy import linalg, sparse

from karat.models.numerics import chunks
from karat.types import Floats

CHUNK = 4_000_000
"""The size of the blocks, in numbers, in which the covariance of a sparse system is computed."""
PAIR = 60
"""A product of two single cells takes this many times as long as one within whole rows."""
PART = 64
"""The number of rows mirrored at a time."""


def eliminated(matrix: Any, many: Floats) -> Floats:
    """B' diag(1/many) B, which eliminating the larger side subtracts; it can be summed over parts of that side."""
    root = 1.0 / np.sqrt(many)
    if sparse.issparse(matrix):
        scaled = matrix.copy()
        scaled.data *= np.repeat(root, np.diff(scaled.indptr))
        inner: Floats = (scaled.T @ scaled).toarray()
    else:
        scaled = matrix * root[:, None]
        inner = scaled.T @ scaled
    return inner


def inverted(factor: Floats) -> Floats:
    """P, from the Cholesky factor of S."""
    inverse, failed = linalg.lapack.dpotri(factor, lower=1)
    if failed:
        raise linalg.LinAlgError("the Schur complement cannot be inverted")
    return mirrored(inverse)


def mirrored(lower: Floats) -> Floats:
    """A symmetric matrix from its lower triangle, in place, in blocks that fit into the processor's cache.

    >>> mirrored(np.array([[1.0, 9.0], [2.0, 3.0]])).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    for first in range(0, len(lower), PART):
        here, after = slice(first, first + PART), slice(first + PART, None)
        corner = np.tril(lower[here, here])
        lower[here, here] = corner + np.tril(corner, -1).T
        lower[here, after] = lower[after, here].T
    return lower


def covariance_of_many(matrix: Any, many: Floats, inverse: Floats) -> tuple[Floats, Floats]:
    """The covariance of each cell and the variances of the larger side, or of a part of it, given P."""
    if not sparse.issparse(matrix):
        product = matrix @ inverse
        product /= -many[:, None]
        return product, (1.0 - np.einsum("ij,ij->i", product, matrix)) / many
    row = np.repeat(np.arange(len(many)), np.diff(matrix.indptr))
    between = cells_of_product(matrix, inverse)
    between /= -many[row]
    return between, (1.0 - np.bincount(row, between * matrix.data, len(many))) / many


def cells_of_product(matrix: Any, inverse: Floats, pair: float = PAIR, chunk: int = CHUNK) -> Floats:
    """B P in the nonzero cells of B, by pairs of cells or from whole rows, whichever is faster."""
    length = np.diff(matrix.indptr)
    if pair * float((length.astype(np.float64) ** 2).sum()) < len(matrix.indices) * float(len(inverse)):
        return _product_by_pairs(matrix, inverse, chunk)
    return _product_by_rows(matrix, inverse, np.repeat(np.arange(len(length)), length), chunk)


def _product_by_rows(matrix: Any, inverse: Floats, row: Any, chunk: int) -> Floats:
    """B P in the nonzero cells of B, from whole rows of the product."""
    starts, column = matrix.indptr, matrix.indices
    cells = np.empty(len(column))
    for first, last in chunks(np.full(matrix.shape[0], len(inverse)), chunk):
        part = slice(starts[first], starts[last])
        product = matrix[first:last] @ inverse
        cells[part] = product[row[part] - first, column[part]]
    return cells


def _product_by_pairs(matrix: Any, inverse: Floats, chunk: int) -> Floats:
    """B P in the nonzero cells of B, each from the few cells of its row."""
    starts, column = matrix.indptr, matrix.indices
    length = np.diff(starts)
    cells = np.empty(len(column))
    for first, last in chunks(length.astype(np.int64) ** 2, chunk):
        part = slice(starts[first], starts[last])
        times = np.repeat(length[first:last], length[first:last])
        begin = np.concatenate([[0], np.cumsum(times)[:-1]])
        # For each cell, the indices of all cells of its row.
        partner = np.repeat(np.repeat(starts[first:last], length[first:last]) - begin, times) + np.arange(times.sum())
        products = matrix.data[partner] * inverse[column[partner], np.repeat(column[part], times)]
        if len(times):
            cells[part] = np.add.reduceat(products, begin)
    return cells
