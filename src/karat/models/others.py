"""One rater beside all others: correlations with their means, and answers equal to their majority.

Where the reliability of item means is rel, predictions that are right for every item correlate by sqrt(rel) with the
means that were seen. For a single rater the ceiling lies between the correlation of the rater's answers with the mean
of all others and that with the mean of all, the rater included (Nili et al. 2014). For categories it is the share of
answers equal to the majority of the others; a tie of t categories counts as 1 / t of an equal answer.

In samples with weights the copies of a rater are no others (see `karat.models.resampling`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.models.resampling import as_weights, quotient
from karat.models.split_half import FEWEST_ITEMS
from karat.types import Floats, Ints


def with_the_mean(
    items: ArrayLike, raters: ArrayLike, values: ArrayLike, weights: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """The mean correlation of raters with the mean of all others, and with the mean of all, for each column of weights.

    >>> items, raters = np.repeat(np.arange(6), 8), np.tile(np.arange(8), 6)
    >>> noise = np.random.default_rng(1).normal(size=48)
    >>> lower, upper = with_the_mean(items, raters, items + noise)
    >>> lower.round(2).tolist(), upper.round(2).tolist()
    ([0.87], [0.9])
    """
    item = np.unique(np.asarray(items), return_inverse=True)[1]
    rater, y = np.asarray(raters, dtype=np.int64), np.asarray(values, dtype=np.float64)
    y = y - y.mean()
    w = as_weights(weights, int(rater.max()) + 1)
    found = np.empty((2, w.shape[1]))
    for sample, own in enumerate(w.T):
        each = own[rater]
        number, total = np.bincount(item, each), np.bincount(item, each * y)
        for row, without in enumerate((each, np.zeros_like(each))):
            others = quotient(total[item] - without * y, number[item] - without)
            r = within_raters(rater, y, np.where(each > 0, others, np.nan), len(own))
            known = np.isfinite(r)
            found[row, sample] = np.average(r[known], weights=own[known]) if own[known].sum() else np.nan
    return found[0], found[1]


def with_the_majority(
    items: ArrayLike, raters: ArrayLike, categories: ArrayLike, weights: ArrayLike | None = None
) -> Floats:
    """The share of answers equal to the majority of the others, each rater counted once, for each column of weights.

    >>> with_the_majority([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1]).round(4).tolist()
    [0.6667]
    """
    item = np.unique(np.asarray(items), return_inverse=True)[1]
    rater = np.asarray(raters, dtype=np.int64)
    distinct, category = np.unique(np.asarray(categories), return_inverse=True)
    w = as_weights(weights, int(rater.max()) + 1)
    found = np.empty(w.shape[1])
    for sample, own in enumerate(w.T):
        hit = equal_to_majority(item, category, len(distinct), own[rater])
        share = shares(rater, hit, len(own))
        known = np.isfinite(share)
        found[sample] = np.average(share[known], weights=own[known]) if own[known].sum() else np.nan
    return found


def equal_to_majority(item: Ints, category: Ints, kinds: int, weights: Floats) -> Floats:
    """For each answer, whether it is the majority of the others: 1, 0, or 1 / t in a tie of t; NaN without others.

    >>> equal_to_majority(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 0]), 2, np.ones(4)).tolist()
    [0.5, 0.5, 0.0, nan]
    """
    counts = np.bincount(item * kinds + category, weights, (int(item.max()) + 1) * kinds).reshape(-1, kinds)
    others: Floats = counts[item].astype(np.float64)
    place = np.arange(len(item))
    others[place, category] -= weights
    highest = others.max(axis=1)
    tied = others >= highest[:, None] - 1e-9
    hit = np.where(tied[place, category], 1 / tied.sum(axis=1), 0.0)
    return np.where((weights > 0) & (highest > 1e-9), hit, np.nan)


def shares(rater: Ints, hit: Floats, people: int) -> Floats:
    """The mean of what is known for each rater.

    >>> shares(np.array([0, 0, 1]), np.array([1.0, 0.0, np.nan]), 2).tolist()
    [0.5, nan]
    """
    known = np.isfinite(hit)
    number = np.bincount(rater[known], minlength=people).astype(np.float64)
    return quotient(np.bincount(rater[known], hit[known], people), number)


def within_raters(rater: NDArray[np.int64], x: Floats, y: Floats, people: int) -> Floats:
    """The correlation of two values within each rater, over the answers that have both; NaN under three answers.

    >>> within_raters(np.array([0, 0, 0, 1]), np.array([1.0, 2, 3, 1]), np.array([1.0, 3, 5, 1]), 2).tolist()
    [1.0, nan]
    """
    known = np.isfinite(x) & np.isfinite(y)
    rater, x, y = rater[known], x[known], y[known]
    number = np.bincount(rater, minlength=people)
    dx = x - (np.bincount(rater, x, people) / np.maximum(number, 1))[rater]
    dy = y - (np.bincount(rater, y, people) / np.maximum(number, 1))[rater]
    xx, yy, xy = (np.bincount(rater, product, people) for product in (dx * dx, dy * dy, dx * dy))
    # What differs only by rounding does not vary.
    least = 1e-20 * float(np.max(np.abs(np.concatenate([x, y])), initial=0.0)) ** 2
    varies = (xx > least) & (yy > least) & (number >= FEWEST_ITEMS)
    return np.clip(quotient(np.where(varies, xy, 0.0), np.where(varies, np.sqrt(xx * yy), 0.0)), -1.0, 1.0)
