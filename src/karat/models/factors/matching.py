"""Which factor of one solution is which of another, by congruence.

Tucker's (1951) coefficient of congruence of two columns is their product over their lengths, sum xy / sqrt(sum x^2 sum
y^2). Columns are matched so that the sum of absolute coefficients is largest, and turned where it is negative.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from karat.types import Floats, Ints


def congruence(first: Floats, second: Floats) -> Floats:
    """The coefficients of all columns of the first with all of the second; 0 for a column of zeros.

    >>> congruence(np.array([[1.0], [1.0]]), np.array([[2.0, 1.0], [2.0, -1.0]])).round(3).tolist()
    [[1.0, 0.0]]
    """
    lengths = np.outer(np.sqrt((first**2).sum(axis=0)), np.sqrt((second**2).sum(axis=0)))
    products = first.T @ second
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


def matched(loadings: Floats, target: Floats) -> tuple[Ints, Floats]:
    """The order and the signs that bring the columns of loadings next to those of the target.

    >>> order, signs = matched(np.array([[0.0, -1.0], [1.0, 0.0]]), np.eye(2))
    >>> order.tolist(), signs.tolist()
    ([1, 0], [-1.0, 1.0])
    """
    table = congruence(target, loadings)
    _, order = linear_sum_assignment(-np.abs(table))
    signs = np.where(table[np.arange(len(order)), order] < 0, -1.0, 1.0)
    return order.astype(np.int64), signs
