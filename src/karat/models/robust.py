"""Medians and median absolute deviations of many groups at once, from values that are sorted within each group.

For sorted values x of a group with median m, the k smallest deviations |x - m| belong to neighbours x[i], ...,
x[i+k-1], so the k-th smallest deviation is the least max(m - x[i], x[i+k-1] - m) over i. The first term falls and the
second rises with i: where they cross is found by bisection, for all groups together. Nothing is sorted again.
"""

from __future__ import annotations

import numpy as np

from karat.types import Floats, Ints

MAD_CONSTANT = 1.4826
"""Makes the deviation of a normal distribution its standard deviation; R's default."""


def grouped_median_mad(values: Floats, counts: Ints, constant: float = MAD_CONSTANT) -> tuple[Floats, Floats]:
    """Median and median absolute deviation of each group; `counts` says how many values each has, one after the other.

    A group without values has neither (NaN).

    >>> medians, deviations = grouped_median_mad(np.array([1.0, 2.0, 9.0, 5.0]), np.array([3, 1]), constant=1)
    >>> medians.tolist(), deviations.tolist()
    ([2.0, 5.0], [1.0, 0.0])
    """
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    filled = counts > 0
    medians = np.full(len(counts), np.nan)
    deviations = np.full(len(counts), np.nan)
    start, count = starts[filled], counts[filled]
    low, high = values[start + (count - 1) // 2], values[start + count // 2]
    median = (low + high) / 2
    medians[filled] = median
    smaller = _kth_deviation(values, start, count, median, (count + 1) // 2)
    larger = np.where(count % 2 == 1, smaller, _kth_deviation(values, start, count, median, count // 2 + 1))
    deviations[filled] = constant * (smaller + larger) / 2
    return medians, deviations


def _kth_deviation(values: Floats, start: Ints, count: Ints, median: Floats, k: Ints) -> Floats:
    """The k-th smallest deviation from the median, group by group."""
    k = np.minimum(k, count)
    low, high = np.zeros_like(count), count - k
    while np.any(low < high):
        middle = (low + high) // 2
        crossed = values[start + middle + k - 1] - median >= median - values[start + middle]
        high = np.where(crossed, middle, high)
        low = np.where(crossed, low, np.minimum(middle + 1, high))
    best = np.maximum(median - values[start + low], values[start + low + k - 1] - median)
    before = np.maximum(low - 1, 0)
    other = np.maximum(median - values[start + before], values[start + before + k - 1] - median)
    nearest: Floats = np.minimum(best, other)
    return nearest
