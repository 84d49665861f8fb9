"""Means of participants with Student's interval, and the difference of two groups with Welch's.

    mean ± t(n - 1) s / sqrt(n)
    mean_a - mean_b ± t(df) sqrt(s_a^2 / n_a + s_b^2 / n_b),   df after Welch and Satterthwaite

One value has a mean and no interval (NaN).
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from karat.types import Floats

Estimate = tuple[float, float, float]
"""A mean or difference, and the lower and upper end of its interval."""


def mean_interval(values: Floats, level: float = 0.95) -> Estimate:
    """The mean of values and its interval.

    >>> [round(end, 3) for end in mean_interval(np.array([1.0, 2.0, 3.0, 4.0]))]
    [2.5, 0.446, 4.554]
    """
    n = len(values)
    if not n:
        return np.nan, np.nan, np.nan
    mean = float(values.mean())
    if n < 2:
        return mean, np.nan, np.nan
    half = float(stdtrit(n - 1, (1 + level) / 2) * values.std(ddof=1) / np.sqrt(n))
    return mean, mean - half, mean + half


def difference_interval(first: Floats, second: Floats, level: float = 0.95) -> Estimate:
    """The mean of the first values minus that of the second, which are of other participants, and its interval.

    >>> [round(end, 3) for end in difference_interval(np.array([3.0, 4.0, 5.0]), np.array([1.0, 2.0, 3.0]))]
    [2.0, -0.267, 4.267]
    """
    if not len(first) or not len(second):
        return np.nan, np.nan, np.nan
    difference = float(first.mean() - second.mean())
    if len(first) < 2 or len(second) < 2:
        return difference, np.nan, np.nan
    squares = np.array([values.var(ddof=1) / len(values) for values in (first, second)])
    if not squares.sum():
        return difference, difference, difference
    freedom = squares.sum() ** 2 / (squares**2 / np.array([len(first) - 1, len(second) - 1])).sum()
    half = float(stdtrit(freedom, (1 + level) / 2) * np.sqrt(squares.sum()))
    return difference, difference - half, difference + half
