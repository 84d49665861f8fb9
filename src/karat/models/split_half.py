"""Split-half reliability: the correlation of the item means of two random halves of the participants.

Participants are divided into two halves at random. Items with answers in both halves have a mean in each, and r is the
correlation of both means over items, averaged over many splits. The mean of all participants has about twice as many
answers, so its reliability is, by Spearman and Brown,

    2 r / (1 + r),    in general  m r / (1 + (m - 1) r)  for m times as many answers as in a half.

If participants did not answer all items, the answers to an item are divided into halves of unequal size, whose means
have more error than those of equal halves: the error of n answers is proportional to 1 / n. Therefore m is the mean of
1 / n over the items of both halves, divided by that of all answers to these items.

In bootstrap samples all copies of a participant are in the same half, because they would otherwise agree with
themselves. Copies add no information, so answers with weights w_p count as (sum of w_p)^2 / (sum of w_p^2) answers, and
m refers to all answers of the study. The intervals are therefore those of a study of the same size.

Single raters and all others: correlations with their means, and answers equal to their majority.

If the reliability of item means is rel, perfect predictions have a correlation of sqrt(rel) with the observed means.
For a single rater the ceiling is between the correlation of the rater's answers with the mean of all others and that
with the mean of all raters (Nili et al. 2014). For categories it is the share of answers equal to the majority of the
others; a tie of t categories counts as 1 / t of an equal answer.

In weighted samples the copies of a rater do not count as others (see `karat.models.resampling`).
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from karat.models.numerics import parts
from karat.models.resampling import as_weights, quotient, stepped_up, summing
from karat.types import Floats, Ints, Map

FEWEST_ITEMS = 3
SPLITS_PER_BATCH = 512
"""The number of splits that are computed at once."""
CELLS = 250_000
"""The maximum number of cells in a table of samples that are computed together."""


def split_half(
    items: ArrayLike,
    raters: ArrayLike,
    values: ArrayLike,
    splits: int = 200,
    weights: ArrayLike | None = None,
    seed: int = 1,
    mapper: Map = map,
) -> Floats:
    """The reliability of item means by random halves of raters, for each column of weights.

    NaN if fewer than three items have answers in both halves or their means do not vary. `mapper` may be the map of a
    process pool; this does not change the results.

    >>> items, raters = np.repeat(np.arange(6), 8), np.tile(np.arange(8), 6)
    >>> noise = np.random.default_rng(1).normal(size=48)
    >>> split_half(items, raters, items + noise).round(2).tolist()
    [0.97]
    """
    item = np.unique(np.asarray(items), return_inverse=True)[1]
    rater, y = np.asarray(raters, dtype=np.int64), np.asarray(values, dtype=np.float64)
    w = as_weights(weights, int(rater.max()) + 1)
    shape = (int(item.max()) + 1, len(w))
    number, total = summing(item, rater, shape=shape), summing(item, rater, y - y.mean(), shape)
    sample = np.repeat(np.arange(w.shape[1]), splits)
    results = mapper(partial(_splits, number, total, w, splits, seed), range(0, len(sample), SPLITS_PER_BATCH))
    correlation, times = (np.concatenate(arrays) for arrays in zip(*results, strict=True))
    with_value = np.isfinite(correlation)
    used = np.bincount(sample, with_value, w.shape[1])
    mean = quotient(np.bincount(sample, np.where(with_value, correlation, 0.0), w.shape[1]), used)
    return stepped_up(mean, quotient(np.bincount(sample, np.where(with_value, times, 0.0), w.shape[1]), used))


def _splits(number: Any, total: Any, w: Floats, splits: int, seed: int, start: int) -> tuple[Floats, Floats]:
    """The correlations of a batch of splits, and the factor m from a half to all answers."""
    random = np.random.default_rng(seed)
    # Every participant uses one random number per split; those of previous batches are skipped.
    random.bit_generator.advance(len(w) * start)  # type: ignore[attr-defined]
    columns = np.arange(start, min(start + SPLITS_PER_BATCH, w.shape[1] * splits)) // splits
    part = w[:, columns]
    first = part * _half(part > 0, random)
    second = part - first
    counts = [number @ half for half in (first, second)]
    means = [quotient(total @ half, count) for half, count in zip((first, second), counts, strict=True)]
    both = (counts[0] > 0) & (counts[1] > 0)
    # The error of a mean is proportional to 1 / n, or to sum of w^2 / (sum of w)^2.
    errors = [quotient(number @ half**2, count**2) for half, count in zip((first, second), counts, strict=True)]
    of_all = np.where(both, 1 / number.sum(axis=1)[:, None], 0.0).sum(axis=0)
    of_halves = np.where(both, errors[0] + errors[1], 0.0).sum(axis=0) / 2
    return column_correlations(*means), quotient(of_halves, of_all)


def _half(present: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.bool_]:
    """A random half of the participants present in each column."""
    order = np.argsort(np.where(present, random.random(present.shape), 2.0), axis=0)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(len(present))[:, None], axis=0)
    return np.asarray(ranks < present.sum(axis=0) // 2)


def column_correlations(first: Floats, second: Floats) -> Floats:
    """The correlation of each pair of columns of two tables over the rows with finite values in both."""
    return np.asarray(within_raters(np.zeros(len(first), dtype=np.int64), first, second, 1)[0])


def with_the_mean(
    items: ArrayLike, raters: ArrayLike, values: ArrayLike, weights: ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """The mean correlation of raters with the mean of all others and with that of all raters, per column of weights."""
    item = np.unique(np.asarray(items), return_inverse=True)[1]
    rater, y = np.asarray(raters, dtype=np.int64), np.asarray(values, dtype=np.float64)
    y = y - y.mean()
    w = as_weights(weights, int(rater.max()) + 1)
    shape = (int(item.max()) + 1, len(w))
    number, total = summing(item, rater, shape=shape), summing(item, rater, y, shape)
    correlations = np.empty((2, w.shape[1]))
    for part in parts(w.shape[1], len(y), CELLS):
        weight = w[:, part]
        rater_weight, answers, sums = weight[rater], (number @ weight)[item], (total @ weight)[item]
        for row, excluded in enumerate((rater_weight, np.zeros_like(rater_weight))):
            others = quotient(sums - excluded * y[:, None], answers - excluded)
            r = within_raters(rater, y, np.where(rater_weight > 0, others, np.nan), len(w))
            correlations[row, part] = _weighted_mean(r, weight)
    return correlations[0], correlations[1]


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    """The weighted mean of the finite values in each column."""
    finite = np.isfinite(values)
    return quotient(np.where(finite, values * weights, 0.0).sum(axis=0), np.where(finite, weights, 0.0).sum(axis=0))


def with_the_majority(
    items: ArrayLike, raters: ArrayLike, categories: ArrayLike, weights: ArrayLike | None = None
) -> Floats:
    """The mean share over raters of answers equal to the majority of the others, for each column of weights."""
    item = np.unique(np.asarray(items), return_inverse=True)[1]
    rater = np.asarray(raters, dtype=np.int64)
    distinct, category = np.unique(np.asarray(categories), return_inverse=True)
    w = as_weights(weights, int(rater.max()) + 1)
    means = np.empty(w.shape[1])
    for part in parts(w.shape[1], len(item) * len(distinct), CELLS):
        hit = equal_to_majority(item, category, len(distinct), w[rater, part])
        means[part] = _weighted_mean(shares(rater, hit, len(w)), w[:, part])
    return means


def equal_to_majority(item: Ints, category: Ints, kinds: int, weights: Floats) -> Floats:
    """Whether each answer is the majority of the others: 1, 0, or 1 / t in a tie of t; NaN without others.

    `weights` has one row per answer and may have several columns.
    """
    columns, place = weights.reshape(len(item), -1), np.arange(len(item))
    counts = _sums(item * kinds + category, (int(item.max()) + 1) * kinds) @ columns
    others: Floats = counts.reshape(-1, kinds, columns.shape[1])[item]
    others[place, category] -= columns
    highest = others.max(axis=1)
    tied = others >= highest[:, None] - 1e-9
    hit = np.where(tied[place, category], 1 / tied.sum(axis=1), 0.0)
    return np.where((columns > 0) & (highest > 1e-9), hit, np.nan).reshape(weights.shape)


def shares(rater: Ints, hit: Floats, people: int) -> Floats:
    """The mean of the finite values of each rater, in each column.

    >>> shares(np.array([0, 0, 1]), np.array([1.0, 0.0, np.nan]), 2).tolist()
    [0.5, nan]
    """
    by_rater, finite = _sums(rater, people), np.isfinite(hit)
    return quotient(by_rater @ np.where(finite, hit, 0.0), by_rater @ finite.astype(np.float64))


def _sums(group: Ints, groups: int) -> csr_array:
    """A sparse matrix that, multiplied by columns of values, sums them over each group."""
    return summing(group, np.arange(len(group)), shape=(groups, len(group)))


def within_raters(rater: NDArray[np.int64], x: Floats, y: Floats, people: int) -> Floats:
    """The correlation of two values within each rater, over the answers with both; NaN for fewer than three answers.

    `y` may have several columns, and so may `x`.
    """
    columns, others, by_rater = y.reshape(len(x), -1), x.reshape(len(x), -1), _sums(rater, people)
    complete = np.isfinite(others) & np.isfinite(columns)
    number = by_rater @ complete.astype(np.float64)
    first, second = np.where(complete, others, 0.0), np.where(complete, columns, 0.0)
    # Differences due to rounding are not variation.
    least = 1e-20 * np.maximum(np.abs(first).max(axis=0, initial=0.0), np.abs(second).max(axis=0, initial=0.0)) ** 2
    for values in (first, second):
        values -= (by_rater @ values / np.maximum(number, 1))[rater]
        values *= complete
    xx, yy, xy = by_rater @ (first * first), by_rater @ (second * second), by_rater @ (first * second)
    varies = (xx > least) & (yy > least) & (number >= FEWEST_ITEMS)
    r = np.clip(quotient(np.where(varies, xy, 0.0), np.where(varies, np.sqrt(xx * yy), 0.0)), -1.0, 1.0)
    return r.reshape(people, *y.shape[1:])
