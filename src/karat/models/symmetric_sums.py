"""Variances of items, raters and the rest from differences of pairs of ratings, and the intraclass correlations.

Ratings are y = mean + item + rater + rest. Half the squared difference of two ratings has the expectation

    A = s_r + s_e           same item, different raters
    B = s_i + s_e           same rater, different items
    C = s_i + s_r + s_e     both different

so that s_i = C - A, s_r = C - B and s_e = A + B - C (Koch 1967, who sums over such pairs). A and B are pooled within
items and raters, as mean squares are. Without missing ratings these are the estimates of the two-way analysis of
variance; with missing ones they stay unbiased, also where some lists of a design share no stimulus, and nothing is
filled in. They can be negative. All are sums, so that bootstrap samples of raters cost a product of matrices each;
pairs of two copies of a rater are left out (see `karat.models.resampling`).

With k raters an item, and D the mean of all pairs of different items (McGraw and Wong 1996; Shrout and Fleiss 1979)

    ICC(1)   = 1 - A / D                  raters differ from item to item and are not told apart
    ICC(A,1) = s_i / (s_i + s_r + s_e)    ICC(A,k) = s_i / (s_i + (s_r + s_e) / k)    absolute agreement
    ICC(C,1) = s_i / (s_i + s_e)          ICC(C,k) = s_i / (s_i + s_e / k)            consistency
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from karat.models.resampling import as_weights, quotient, summing
from karat.types import Floats


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
        return stepped_up(1 - quotient(self.raters + self.rest, self.one_way), k)

    def icc_agreement(self, k: float = 1) -> Floats:
        """ICC(A,1), or ICC(A,k) for the mean of k ratings."""
        return quotient(self.items, self.items + (self.raters + self.rest) / k)

    def icc_consistency(self, k: float = 1) -> Floats:
        """ICC(C,1), or ICC(C,k) for the mean of k ratings."""
        return quotient(self.items, self.items + self.rest / k)


def stepped_up(reliability: Floats, k: float | Floats) -> Floats:
    """The reliability of k times as many ratings, after Spearman and Brown: k r / (1 + (k - 1) r).

    >>> stepped_up(np.array([0.5]), 2).round(4).tolist()
    [0.6667]
    """
    return quotient(k * reliability, 1 + (k - 1) * reliability)


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
