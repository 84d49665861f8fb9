"""Shares and means of small groups: intervals, tests, adjustment for multiple tests, and sensitivity and bias.

Wilson's interval for a share of k in n, with z the normal quantile, is

    (k + z^2/2 ± z sqrt(k (n - k)/n + z^2/4)) / (n + z^2)

It stays between 0 and 1 and has a positive width even if k is 0 or n (Wilson 1927). Clopper and Pearson's interval
contains the shares for which neither k or more nor k or fewer of n have a probability below .025; n need not be an
integer. Fisher's test conditions on the margins of a 2 x 2 table: if K of N are marked, the number of marked ones in a
group of n is hypergeometric, and the two-sided p is the probability of all numbers that are at most as probable as the
observed one.

Sensitivity and bias of yes-no answers are those of signal detection theory with equal variances. Of n sentences with
the correct answer yes, h are answered yes (hits); of m with the correct answer no, f are (false alarms). With

    H = (h + 1/2) / (n + 1),   F = (f + 1/2) / (m + 1)

    d' = z(H) - z(F)             the separation of the two kinds; 0 is guessing
    c  = -(z(H) + z(F)) / 2      the bias; below 0 towards yes, above 0 towards no

where z is the inverse of the normal distribution function (Macmillan and Creelman 2005). Adding one half to all counts,
not only to extreme ones, is the log-linear correction (Hautus 1995), which keeps both measures finite.

Means of participants have Student's interval, and differences between two groups have Welch's,

    mean ± t(n - 1) s / sqrt(n)
    mean_a - mean_b ± t(df) sqrt(s_a^2 / n_a + s_b^2 / n_b),   df by Welch and Satterthwaite.

A single value has a mean but no interval (NaN).
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, gammaln, ndtri, stdtrit

from karat.types import Floats

TOLERANCE = 1e-7
"""Probabilities, computed from logarithms, count as equal if their relative difference is smaller than this."""


def wilson(successes: ArrayLike, trials: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """The lower and upper limit of Wilson's interval; NaN if there are no trials.

    >>> lower, upper = wilson([0, 5], [10, 10])
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([0.0, 0.237], [0.278, 0.763])
    """
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=float), np.asarray(trials, dtype=float))
    z = float(ndtri((1 + level) / 2))
    total = np.where(n > 0, n, np.nan)
    half = z * np.sqrt(k * (n - k) / total + z * z / 4)
    share = k / total
    # At 0 and n one limit equals the share; rounding must not move it beyond.
    lower = np.where(k == 0, share, np.minimum((k + z * z / 2 - half) / (total + z * z), share))
    upper = np.where(k == n, share, np.maximum((k + z * z / 2 + half) / (total + z * z), share))
    return lower, upper


def clopper_pearson(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """The lower and upper limit of Clopper and Pearson's interval, which is conservative.

    >>> [round(value, 3) for value in clopper_pearson(5, 10)]
    [0.187, 0.813]
    """
    k, rest, tail = successes, trials - successes, (1 - level) / 2
    lower = float(betaincinv(k, rest + 1, tail)) if k > 0 else 0.0
    return lower, float(betaincinv(k + 1, rest, 1 - tail)) if rest > 0 else 1.0


def hypergeometric(group: int, marked: int, everybody: int) -> tuple[NDArray[np.int64], Floats]:
    """The possible numbers of marked ones in a group, and their probabilities if `marked` of `everybody` are."""
    rest = everybody - group
    k = np.arange(max(0, marked - rest), min(group, marked) + 1)
    log = _log_choose(group, k) + _log_choose(rest, marked - k) - _log_choose(everybody, np.asarray(marked))
    return k, np.exp(log)


@lru_cache(maxsize=1024)
def fisher(flagged: int, group: int, marked: int, everybody: int) -> float:
    """The two-sided p of `flagged` in a group of size `group`, if `marked` of `everybody` are flagged.

    >>> round(fisher(6, 9, 9, 48), 6)
    0.000474
    """
    numbers, probabilities = hypergeometric(group, marked, everybody)
    observed = probabilities[flagged - numbers[0]]
    return float(min(1.0, probabilities[probabilities <= observed * (1 + TOLERANCE)].sum()))


def least_fisher(group: int, marked: int, everybody: int) -> float:
    """The smallest p that Fisher's test can give with these margins."""
    numbers, _ = hypergeometric(group, marked, everybody)
    return min(fisher(int(end), group, marked, everybody) for end in (numbers[0], numbers[-1]))


def holm(p: ArrayLike) -> Floats:
    """Holm-adjusted p values: the i-th smallest of m times m - i + 1, and at least the previous one.

    Missing values (NaN) stay missing and do not count in m.

    >>> holm([0.01, 0.04, float("nan"), 0.03]).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    return _adjusted(p, lambda ranked, m: np.maximum.accumulate(ranked * np.arange(m, 0, -1)))


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Benjamini-Hochberg-adjusted p values, for the false discovery rate: the i-th smallest of m times m / i.

    Missing values (NaN) stay missing and do not count in m.

    >>> benjamini_hochberg([0.01, 0.04, float("nan"), 0.03]).round(3).tolist()
    [0.03, 0.04, nan, 0.04]
    """
    return _adjusted(p, lambda ranked, m: np.minimum.accumulate((ranked * m / np.arange(1, m + 1))[::-1])[::-1])


def _adjusted(p: ArrayLike, step: Callable[[Floats, int], Floats]) -> Floats:
    """Adjusted p values, where `step` adjusts the sorted non-missing ones, given their number."""
    values = np.asarray(p, dtype=float)
    # Missing values are sorted last.
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    adjusted = np.full_like(values, np.nan)
    adjusted[order] = np.minimum(step(values[order], len(order)), 1.0)
    return adjusted


def _log_choose(n: int, k: NDArray[np.int64]) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def sensitivity(
    hits: ArrayLike, yes_trials: ArrayLike, false_alarms: ArrayLike, no_trials: ArrayLike
) -> tuple[Floats, Floats]:
    """d' and c of each participant; NaN without answers to one of the two kinds of sentences.

    >>> d_prime, criterion = sensitivity([9, 8, 3], [10, 8, 3], [2, 8, 0], [10, 8, 0])
    >>> d_prime.round(3).tolist(), criterion.round(3).tolist()
    ([1.845, 0.0, nan], [-0.174, -1.593, nan])
    """
    h, n, f, m = np.broadcast_arrays(
        *(np.asarray(counts, dtype=np.float64) for counts in (hits, yes_trials, false_alarms, no_trials))
    )
    if np.any(h < 0) or np.any(f < 0) or np.any(h > n) or np.any(f > m):
        raise ValueError("hits and false alarms must be at least 0 and at most as many as the trials.")
    defined = (n > 0) & (m > 0)
    hit, alarm = ndtri((h + 0.5) / (n + 1)), ndtri((f + 0.5) / (m + 1))
    return np.where(defined, hit - alarm, np.nan), np.where(defined, -(hit + alarm) / 2, np.nan)


Estimate = tuple[float, float, float]
"""A mean or difference, and the lower and upper limit of its interval."""


def mean_interval(values: Floats, level: float = 0.95) -> Estimate:
    """The mean of values and its interval.

    >>> [round(value, 3) for value in mean_interval(np.array([1.0, 2.0, 3.0, 4.0]))]
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
    """The mean of the first values minus that of the second, from other participants, and its interval.

    >>> [round(value, 3) for value in difference_interval(np.array([3.0, 4.0, 5.0]), np.array([1.0, 2.0, 3.0]))]
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
