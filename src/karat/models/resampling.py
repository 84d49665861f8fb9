"""Bootstrap samples of participants, with weights, coefficients for all samples at once, and intervals.

A bootstrap sample of n participants draws n of them with replacement, so that participant p counts w_p times. A sum
over answers becomes a sum weighted by w_p. The sums for all samples are the product of a sparse matrix with the matrix
of the w_p, so no table is rebuilt per sample.

Two copies of the same participant agree perfectly, which would inflate any coefficient of agreement. All coefficients
that are based on pairs of participants therefore exclude pairs of copies: if the sum of weights in a cell is N = sum of
w_p, the number of pairs of different participants is N^2 - sum of w_p^2.

Intraclass correlations. Ratings are y = mean + item + rater + rest. Half the squared difference of two ratings has the
expectation

    A = s_r + s_e           same item, different raters
    B = s_i + s_e           same rater, different items
    C = s_i + s_r + s_e     both different

so that s_i = C - A, s_r = C - B and s_e = A + B - C (Koch 1967, who sums over such pairs). A and B are pooled within
items and raters, like mean squares. Without missing ratings these are the estimates of the two-way analysis of
variance. With missing ratings they remain unbiased without imputation, even if some lists of a design have no stimulus
in common. They can be negative. All are sums, so each bootstrap sample of raters costs a matrix product; pairs of two
copies of a rater are excluded.

With k raters per item, and D the mean over all pairs of different items (McGraw and Wong 1996; Shrout and Fleiss 1979)

    ICC(1)   = 1 - A / D                  raters differ between items and are not distinguished
    ICC(A,1) = s_i / (s_i + s_r + s_e)    ICC(A,k) = s_i / (s_i + (s_r + s_e) / k)    absolute agreement
    ICC(C,1) = s_i / (s_i + s_e)          ICC(C,k) = s_i / (s_i + s_e / k)            consistency

Rank correlations of two sets of scores. An item that occurs w times in a sample counts w times. With weighted ranks R =
(weight of all smaller values) + (weight of equal ones + 1) / 2, Spearman's coefficient is the weighted correlation of
the ranks; Kendall's tau-b is

    sum of w_i w_j sign(x_i - x_j) sign(y_i - y_j) / sqrt(weight of pairs untied in x * weight of pairs untied in y),

to which copies of an item, tied in both, contribute nothing. Both are equal to those of a table that contains the
copies.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from karat.types import Floats, Ints

LEAST_SHARE = 0.5
"""The minimum share of samples with a value for an interval to be reported."""


def resamples(people: int, samples: int, seed: int) -> Floats:
    """The weight of each participant (rows) in each bootstrap sample (columns)."""
    return stratified_resamples(np.zeros(people), samples, seed)


def stratified_resamples(groups: ArrayLike, samples: int, seed: int) -> Floats:
    """The weights of participants in bootstrap samples drawn within groups, so that group sizes stay the same."""
    group = np.asarray(groups)
    random = np.random.default_rng(seed)
    weights = np.empty((len(group), samples))
    for stratum in np.unique(group):
        members = np.flatnonzero(group == stratum)
        weights[members] = random.multinomial(len(members), np.full(len(members), 1 / len(members)), size=samples).T
    return weights


def percentile_interval(values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The central interval of the values of bootstrap samples; NaN if most samples have no value."""
    finite = values[np.isfinite(values)]
    if not len(finite) or len(finite) < LEAST_SHARE * len(values):
        return float("nan"), float("nan")
    lower, upper = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(lower), float(upper)


def centred_interval(estimate: float, values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The interval of a correlation, from the spread of bootstrap samples around their mean, by Fisher's z.

    Means in a bootstrap sample contain sampling noise twice, so their correlations are below the estimate. Only their
    spread is used, not their location.
    """
    if not np.isfinite(estimate):
        return float("nan"), float("nan")
    bound = 1 - 1e-12
    z = np.arctanh(np.clip(values, -bound, bound))
    lower, upper = percentile_interval(z - np.nanmean(z) if np.isfinite(z).any() else z, level)
    centre = np.arctanh(np.clip(estimate, -bound, bound))
    # The interval always contains the estimate, whatever the samples and however a coefficient of 1 is rounded.
    return min(float(np.tanh(centre + lower)), estimate), max(float(np.tanh(centre + upper)), estimate)


def interval_around(estimate: float, values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of a coefficient or, if it does not contain the estimate, the centred interval.

    Some coefficients of bootstrap samples are on one side of the estimate, because copies of a participant agree with
    themselves or contribute nothing. Their spread is then applied around the estimate, as for correlations.

    >>> lower, upper = interval_around(0.85, np.array([0.9, 0.93, 0.96]))
    >>> round(lower, 2), round(upper, 2)
    (0.78, 0.9)
    >>> interval_around(0.93, np.array([0.9, 0.93, 0.96]), level=1.0)
    (0.9, 0.96)
    """
    if not np.isfinite(estimate):
        return float("nan"), float("nan")
    lower, upper = percentile_interval(values, level)
    return centred_interval(estimate, values, level) if estimate < lower or estimate > upper else (lower, upper)


def summing(rows: Ints, raters: Ints, values: Floats | None = None, shape: tuple[int, int] | None = None) -> csr_array:
    """A sparse matrix that, multiplied by the weights of participants, sums values over the answers of each row.

    >>> summing(np.array([0, 0, 1]), np.array([0, 1, 1])).toarray().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    size = shape or (int(rows.max()) + 1, int(raters.max()) + 1)
    return csr_array((np.ones(len(rows)) if values is None else values, (rows, raters)), shape=size)


def as_weights(weights: ArrayLike | None, people: int) -> Floats:
    """The weights of participants as a matrix with one column per sample; by default, one column of ones.

    >>> as_weights(None, 3).shape
    (3, 1)
    """
    if weights is None:
        return np.ones((people, 1))
    matrix = np.asarray(weights, dtype=np.float64)
    return matrix if matrix.ndim == 2 else matrix[:, None]


def quotient(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """The quotient of two arrays; NaN unless the divisor is positive.

    >>> quotient(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0))


@dataclass(frozen=True)
class Components:
    """The variance components, one entry per sample of raters; NaN with fewer than two items or raters."""

    items: Floats
    raters: Floats
    rest: Floats
    one_way: Floats
    """The mean D over all pairs of different items."""

    def icc_one_way(self, k: float = 1) -> Floats:
        """ICC(1), or ICC(1,k) for the mean of k ratings."""
        return stepped_up(np.clip(1 - quotient(self.raters + self.rest, self.one_way), -1.0, 1.0), k)

    def icc_agreement(self, k: float = 1) -> Floats:
        """ICC(A,1), or ICC(A,k) for the mean of k ratings."""
        return _share(self.items, (self.raters + self.rest) / k)

    def icc_consistency(self, k: float = 1) -> Floats:
        """ICC(C,1), or ICC(C,k) for the mean of k ratings."""
        return _share(self.items, self.rest / k)


def _share(part: Floats, error: Floats) -> Floats:
    """The share of a variance in its sum with an error; the absolute value in the sum keeps it between -1 and 1."""
    return quotient(part, np.abs(part) + np.maximum(error, 0.0))


def stepped_up(reliability: Floats, k: float | Floats) -> Floats:
    """The reliability of k times as many ratings by Spearman and Brown: k r / (1 + (k - 1) |r|).

    A negative reliability cannot be stepped up; its absolute value in the denominator keeps the result above -1 (Krus
    and Helmstadter 1993).
    """
    return quotient(k * reliability, 1 + (k - 1) * np.abs(reliability))


def components(items: ArrayLike, raters: ArrayLike, values: ArrayLike, weights: ArrayLike | None = None) -> Components:
    """The variances of items, raters and the rest for each column of raters' weights.

    No participant may have rated an item twice.

    >>> variances = components([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [1.0, 2, 3, 5, 6, 6])
    >>> [round(float(part[0]), 4) for part in (variances.items, variances.raters, variances.rest)]
    [4.8333, 0.3333, 0.5]
    """
    item = np.unique(np.asarray(items), return_inverse=True)[1]
    rater = np.asarray(raters, dtype=np.int64)
    y = np.asarray(values, dtype=np.float64)
    if not len(y):
        return Components(*(np.full(1, np.nan) for _ in range(4)))
    y = y - y.mean()
    w = as_weights(weights, int(rater.max()) + 1)
    shape = (int(item.max()) + 1, len(w))
    number = summing(item, rater, shape=shape)
    count, first, second = number @ w, summing(item, rater, y, shape) @ w, summing(item, rater, y**2, shape) @ w
    copies = number @ w**2
    within_items = np.maximum(count * second - first**2, 0.0)
    same_item = quotient(
        np.divide(within_items, count, out=np.zeros_like(count), where=count > 0).sum(axis=0),
        np.divide(count**2 - copies, count, out=np.zeros_like(count), where=count > 0).sum(axis=0),
    )
    number_by_rater, sum_by_rater, squares_by_rater = (
        np.bincount(rater, part, len(w)) for part in (np.ones(len(y)), y, y**2)
    )
    spread = np.maximum(number_by_rater * squares_by_rater - sum_by_rater**2, 0.0)
    same_rater = quotient(
        np.divide(spread, number_by_rater, out=np.zeros_like(number_by_rater), where=number_by_rater > 0) @ w,
        np.maximum(number_by_rater - 1, 0.0) @ w,
    )
    total, sum_y, sum_y2 = count.sum(axis=0), first.sum(axis=0), second.sum(axis=0)
    different = total * sum_y2 - sum_y**2 - within_items.sum(axis=0) - spread @ w**2
    pairs = total**2 - (count**2).sum(axis=0) - number_by_rater**2 @ w**2 + number_by_rater @ w**2
    both_different = quotient(np.maximum(different, 0.0), pairs)
    one_way = quotient(np.maximum(different, 0.0) + spread @ w, pairs + (number_by_rater**2 - number_by_rater) @ w)
    return Components(
        both_different - same_item, both_different - same_rater, same_item + same_rater - both_different, one_way
    )


BLOCK = 512
"""The number of items that are compared with all others at a time."""


def pearson(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Pearson's correlation for each column of weights."""
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


def kendall(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None, block: int = BLOCK) -> Floats:
    """Kendall's tau-b for each column of weights.

    >>> kendall([1, 2, 3, 4], [1, 3, 2, 4]).round(3).tolist()
    [0.667]
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    weight = as_weights(weights, len(first))
    concordance, untied_x, untied_y = np.zeros((3, weight.shape[1]))
    for start in range(0, len(first), block):
        part = slice(start, start + block)
        a, b = np.sign(first[part, None] - first), np.sign(second[part, None] - second)
        part_weight = weight[part]
        concordance += (part_weight * ((a * b) @ weight)).sum(axis=0)
        untied_x += (part_weight * (np.abs(a) @ weight)).sum(axis=0)
        untied_y += (part_weight * (np.abs(b) @ weight)).sum(axis=0)
    return quotient(concordance, np.sqrt(untied_x * untied_y))


def weighted_ranks(values: ArrayLike, weights: ArrayLike) -> Floats:
    """The mean rank of each value (rows) in each sample (columns), from the lowest."""
    weight = np.asarray(weights, dtype=np.float64)
    distinct, place = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    total = np.zeros((len(distinct), weight.shape[1]))
    np.add.at(total, place, weight)
    return (np.cumsum(total, axis=0) - total / 2 + 0.5)[place]


def _weighted(x: Floats, y: Floats, weight: Floats) -> Floats:
    """The weighted correlation of columns; NaN if one of them does not vary."""
    total = weight.sum(axis=0)
    # Rounding errors in a constant column are not variation.
    least_x, least_y = (1e-20 * total * float(np.max(np.abs(table), initial=0.0)) ** 2 for table in (x, y))
    x, y = x - (weight * x).sum(axis=0) / total, y - (weight * y).sum(axis=0) / total
    product, x_squares, y_squares = ((weight * a * b).sum(axis=0) for a, b in ((x, y), (x, x), (y, y)))
    x_squares, y_squares = np.where(x_squares > least_x, x_squares, 0.0), np.where(y_squares > least_y, y_squares, 0.0)
    return quotient(product, np.sqrt(x_squares * y_squares))
