"""Participants drawn again: how often each one counts in a bootstrap sample, and intervals from many samples.

A bootstrap sample of n participants draws n of them with replacement, so that participant p counts w_p times. A sum
over answers becomes a sum weighted by w_p, and sums for all samples at once are one product of a sparse matrix with the
matrix of the w_p: no table is put together anew.

Two copies of the same participant agree perfectly, which would make any coefficient of agreement too large. All
coefficients that are made of pairs of participants therefore leave out the pairs of copies: where a cell has the sum of
weights N = sum of w_p, the pairs of different participants number N^2 - sum of w_p^2.

Intraclass correlations. Ratings are y = mean + item + rater + rest. Half the squared difference of two ratings has the
expectation

    A = s_r + s_e           same item, different raters
    B = s_i + s_e           same rater, different items
    C = s_i + s_r + s_e     both different

so that s_i = C - A, s_r = C - B and s_e = A + B - C (Koch 1967, who sums over such pairs). A and B are pooled within
items and raters, as mean squares are. Without missing ratings these are the estimates of the two-way analysis of
variance; with missing ones they stay unbiased, also where some lists of a design share no stimulus, and nothing is
filled in. They can be negative. All are sums, so that bootstrap samples of raters cost a product of matrices each;
pairs of two copies of a rater are left out.

With k raters per item, and D the mean of all pairs of different items (McGraw and Wong 1996; Shrout and Fleiss 1979)

    ICC(1)   = 1 - A / D                  raters differ from item to item and are not distinguished
    ICC(A,1) = s_i / (s_i + s_r + s_e)    ICC(A,k) = s_i / (s_i + (s_r + s_e) / k)    absolute agreement
    ICC(C,1) = s_i / (s_i + s_e)          ICC(C,k) = s_i / (s_i + s_e / k)            consistency

Rank correlations of two sets of scores. An item that a sample drew w times counts w times. With weighted ranks R =
(weight of all smaller values) + (weight of equal ones + 1) / 2, Spearman's coefficient is the weighted correlation of
the ranks; Kendall's tau-b is

    sum of w_i w_j sign(x_i - x_j) sign(y_i - y_j) / sqrt(weight of pairs untied in x * weight of pairs untied in y),

to which the copies of an item, tied in both, add nothing. Both are what they would be of a table with the copies in it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from karat.types import Floats, Ints

LEAST_SHARE = 0.5
"""The share of samples that must give a value for an interval to be reported."""


def resamples(people: int, samples: int, seed: int) -> Floats:
    """How often each participant (rows) counts in each bootstrap sample (columns)."""
    return stratified_resamples(np.zeros(people), samples, seed)


def stratified_resamples(groups: ArrayLike, samples: int, seed: int) -> Floats:
    """The same, where participants are drawn within their groups, so that groups keep their sizes."""
    group = np.asarray(groups)
    random = np.random.default_rng(seed)
    weights = np.empty((len(group), samples))
    for one in np.unique(group):
        members = np.flatnonzero(group == one)
        weights[members] = random.multinomial(len(members), np.full(len(members), 1 / len(members)), size=samples).T
    return weights


def percentile_interval(values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The middle part of the values of bootstrap samples; missing (NaN) where most samples have none."""
    known = values[np.isfinite(values)]
    if not len(known) or len(known) < LEAST_SHARE * len(values):
        return float("nan"), float("nan")
    lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(lower), float(upper)


def centred_interval(estimate: float, values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The interval of a correlation, from the spread of bootstrap samples around their own mean, by Fisher's z.

    Means of a bootstrap sample carry the noise of the sample twice, so that their correlations lie below the estimate:
    their spread shows how far it may be off, their place does not.
    """
    if not np.isfinite(estimate):
        return float("nan"), float("nan")
    edge = 1 - 1e-12
    z = np.arctanh(np.clip(values, -edge, edge))
    lower, upper = percentile_interval(z - np.nanmean(z) if np.isfinite(z).any() else z, level)
    own = np.arctanh(np.clip(estimate, -edge, edge))
    # However samples lie, and however a coefficient of 1 is rounded, an interval has its estimate in it.
    return min(float(np.tanh(own + lower)), estimate), max(float(np.tanh(own + upper)), estimate)


def interval_around(estimate: float, values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of a coefficient or, where the estimate is not in it, that around the estimate.

    Some coefficients of bootstrap samples lie on one side of the estimate, since copies of a participant agree with
    themselves or add nothing. Their spread is then taken around the estimate, as for correlations.

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
    """The sparse matrix whose product with the weights of participants sums values over the answers of each row.

    >>> summing(np.array([0, 0, 1]), np.array([0, 1, 1])).toarray().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    size = shape or (int(rows.max()) + 1, int(raters.max()) + 1)
    return csr_array((np.ones(len(rows)) if values is None else values, (rows, raters)), shape=size)


def as_weights(weights: ArrayLike | None, people: int) -> Floats:
    """Weights of participants as a matrix with one column per sample; without any, everybody counts once.

    >>> as_weights(None, 3).shape
    (3, 1)
    """
    if weights is None:
        return np.ones((people, 1))
    matrix = np.asarray(weights, dtype=np.float64)
    return matrix if matrix.ndim == 2 else matrix[:, None]


def quotient(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """A division that is missing (NaN) where there is nothing to divide by.

    >>> quotient(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0))


@dataclass(frozen=True)
class Components:
    """The variances, one entry for each sample of raters; NaN where there are not two of each."""

    items: Floats
    raters: Floats
    rest: Floats
    one_way: Floats
    """The mean over all pairs of different items."""

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
    """A variance over itself and an error; estimates below 0 count with their size, so that no share leaves -1 to 1."""
    return quotient(part, np.abs(part) + np.maximum(error, 0.0))


def stepped_up(reliability: Floats, k: float | Floats) -> Floats:
    """The reliability of k times as many ratings, after Spearman and Brown: k r / (1 + (k - 1) |r|).

    A reliability below 0 says that there is none to step up; with its size in the denominator it stays above -1 (Krus
    and Helmstadter 1993).
    """
    return quotient(k * reliability, 1 + (k - 1) * np.abs(reliability))


def components(items: ArrayLike, raters: ArrayLike, values: ArrayLike, weights: ArrayLike | None = None) -> Components:
    """The variances of items, raters and the rest for each column of raters' weights.

    Nobody may have rated an item twice.

    >>> found = components([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [1.0, 2, 3, 5, 6, 6])
    >>> [round(float(part[0]), 4) for part in (found.items, found.raters, found.rest)]
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
    own, own_first, own_second = (np.bincount(rater, part, len(w)) for part in (np.ones(len(y)), y, y**2))
    spread = np.maximum(own * own_second - own_first**2, 0.0)
    same_rater = quotient(
        np.divide(spread, own, out=np.zeros_like(own), where=own > 0) @ w, np.maximum(own - 1, 0.0) @ w
    )
    total, one, two = count.sum(axis=0), first.sum(axis=0), second.sum(axis=0)
    apart = total * two - one**2 - within_items.sum(axis=0) - spread @ w**2
    pairs = total**2 - (count**2).sum(axis=0) - own**2 @ w**2 + own @ w**2
    both = quotient(np.maximum(apart, 0.0), pairs)
    one_way = quotient(np.maximum(apart, 0.0) + spread @ w, pairs + (own**2 - own) @ w)
    return Components(both - same_item, both - same_rater, same_item + same_rater - both, one_way)


BLOCK = 512
"""How many items are set against all others at a time."""


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
    both, one, other = np.zeros((3, weight.shape[1]))
    for start in range(0, len(first), block):
        part = slice(start, start + block)
        a, b = np.sign(first[part, None] - first), np.sign(second[part, None] - second)
        own = weight[part]
        both += (own * ((a * b) @ weight)).sum(axis=0)
        one += (own * (np.abs(a) @ weight)).sum(axis=0)
        other += (own * (np.abs(b) @ weight)).sum(axis=0)
    return quotient(both, np.sqrt(one * other))


def weighted_ranks(values: ArrayLike, weights: ArrayLike) -> Floats:
    """The mean rank of each value (rows) in each sample (columns), from the lowest."""
    weight = np.asarray(weights, dtype=np.float64)
    distinct, place = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    total = np.zeros((len(distinct), weight.shape[1]))
    np.add.at(total, place, weight)
    return (np.cumsum(total, axis=0) - total / 2 + 0.5)[place]


def _weighted(x: Floats, y: Floats, weight: Floats) -> Floats:
    """The weighted correlation of columns; NaN where one does not vary."""
    total = weight.sum(axis=0)
    # What rounding leaves of a constant is not variation.
    least_x, least_y = (1e-20 * total * float(np.max(np.abs(table), initial=0.0)) ** 2 for table in (x, y))
    x, y = x - (weight * x).sum(axis=0) / total, y - (weight * y).sum(axis=0) / total
    product, one, other = ((weight * a * b).sum(axis=0) for a, b in ((x, y), (x, x), (y, y)))
    one, other = np.where(one > least_x, one, 0.0), np.where(other > least_y, other, 0.0)
    return quotient(product, np.sqrt(one * other))
