"""Correlations of two sets of scores, of the study and of bootstrap samples of its items at once.

An item that a sample drew w times counts w times. With weighted ranks R = (weight of all smaller values) + (weight of
equal ones + 1) / 2, Spearman's coefficient is the weighted correlation of the ranks; Kendall's tau-b is

    sum of w_i w_j sign(x_i - x_j) sign(y_i - y_j) / sqrt(weight of pairs untied in x * weight of pairs untied in y),

to which the copies of an item, tied in both, add nothing. Both are what they would be of a table with the copies in it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from karat.models.resampling import as_weights, quotient
from karat.types import Floats

BLOCK = 512
"""How many items are set against all others at a time."""


def pearson(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Pearson's correlation for each column of weights.

    >>> pearson([1, 2, 3], [1, 3, 2]).round(3).tolist()
    [0.5]
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    weight = as_weights(weights, len(first))
    return _weighted(first[:, None], second[:, None], weight)


def spearman(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Spearman's rank correlation for each column of weights.

    >>> spearman([1, 2, 30], [1, 3, 2]).round(3).tolist()
    [0.5]
    """
    weight = as_weights(weights, len(np.asarray(x)))
    return _weighted(weighted_ranks(x, weight), weighted_ranks(y, weight), weight)


def kendall(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Kendall's tau-b for each column of weights.

    >>> kendall([1, 2, 3, 4], [1, 3, 2, 4]).round(3).tolist()
    [0.667]
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    weight = as_weights(weights, len(first))
    both, one, other = np.zeros((3, weight.shape[1]))
    for start in range(0, len(first), BLOCK):
        part = slice(start, start + BLOCK)
        a, b = np.sign(first[part, None] - first), np.sign(second[part, None] - second)
        own = weight[part]
        both += (own * ((a * b) @ weight)).sum(axis=0)
        one += (own * (np.abs(a) @ weight)).sum(axis=0)
        other += (own * (np.abs(b) @ weight)).sum(axis=0)
    return quotient(both, np.sqrt(one * other))


def weighted_ranks(values: ArrayLike, weights: ArrayLike) -> Floats:
    """The mean rank of each value (rows) in each sample (columns), from the lowest.

    >>> weighted_ranks([10, 30, 20], np.ones((3, 1))).ravel().tolist()
    [1.0, 3.0, 2.0]
    """
    weight = np.asarray(weights, dtype=np.float64)
    distinct, place = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    total = np.zeros((len(distinct), weight.shape[1]))
    np.add.at(total, place, weight)
    ranks: Floats = (np.cumsum(total, axis=0) - total / 2 + 0.5)[place]
    return ranks


def _weighted(x: Floats, y: Floats, weight: Floats) -> Floats:
    """The weighted correlation of columns; NaN where one does not vary."""
    total = weight.sum(axis=0)
    # What rounding leaves of a constant is not variation.
    least_x, least_y = (1e-20 * total * float(np.max(np.abs(table), initial=0.0)) ** 2 for table in (x, y))
    x, y = x - (weight * x).sum(axis=0) / total, y - (weight * y).sum(axis=0) / total
    product, one, other = ((weight * a * b).sum(axis=0) for a, b in ((x, y), (x, x), (y, y)))
    one, other = np.where(one > least_x, one, 0.0), np.where(other > least_y, other, 0.0)
    return quotient(product, np.sqrt(one * other))
