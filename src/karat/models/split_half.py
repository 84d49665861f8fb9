"""Split halves: how well the item means of one half of the participants go with those of the other half.

Participants are put into two halves at random; items with answers in both halves have a mean in each, and r is the
correlation of both means over items, averaged over many splits. The mean of all participants has about twice as many
answers, so that its reliability is, after Spearman and Brown,

    2 r / (1 + r),    in general  m r / (1 + (m - 1) r)  for m times as many answers as a half has.

In bootstrap samples a participant and their copies stay in the same half: they would otherwise agree with themselves.
Copies add no information, so that a half with weights w_p counts as (sum of w_p)^2 / (sum of w_p^2) participants, and m
is the number of all participants over that of a half. The intervals are so about the study as large as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.models.resampling import as_weights, quotient, summing
from karat.models.symmetric_sums import stepped_up
from karat.types import Floats

FEWEST_ITEMS = 3
AT_ONCE = 512
"""How many splits are computed at once."""
Map = Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]]


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

    Missing (NaN) where fewer than three items have answers in both halves, or their means do not vary. `mapper` may be
    the map of a pool of processes; the numbers are the same.

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
    parts = mapper(partial(_splits, number, total, w, splits, seed), range(0, len(sample), AT_ONCE))
    correlation, sizes = (np.concatenate(both) for both in zip(*parts, strict=True))
    with_value = np.isfinite(correlation)
    known = np.bincount(sample, with_value, w.shape[1])
    mean = quotient(np.bincount(sample, np.where(with_value, correlation, 0.0), w.shape[1]), known)
    return stepped_up(mean, quotient(w.sum(axis=0) * splits, np.bincount(sample, sizes, w.shape[1])))


def _splits(number: Any, total: Any, w: Floats, splits: int, seed: int, start: int) -> tuple[Floats, Floats]:
    """The correlations of some splits, and the sizes of their halves."""
    random = np.random.default_rng(seed)
    # Every participant takes one number a split: those of the splits before are passed over.
    random.bit_generator.advance(len(w) * start)  # type: ignore[attr-defined]
    columns = np.arange(start, min(start + AT_ONCE, w.shape[1] * splits)) // splits
    part = w[:, columns]
    first = part * _half(part > 0, random)
    second = part - first
    means = [quotient(total @ half, number @ half) for half in (first, second)]
    return column_correlations(*means), (_effective(first) + _effective(second)) / 2


def _half(present: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.bool_]:
    """Half of those present in each column, at random."""
    order = np.argsort(np.where(present, random.random(present.shape), 2.0), axis=0)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(len(present))[:, None], axis=0)
    halves: NDArray[np.bool_] = ranks < present.sum(axis=0) // 2
    return halves


def _effective(weights: Floats) -> Floats:
    """How many different participants carry as much information as these."""
    return np.nan_to_num(quotient(weights.sum(axis=0) ** 2, (weights**2).sum(axis=0)))


def column_correlations(first: Floats, second: Floats) -> Floats:
    """The correlation of each column of two tables over the rows that both have (NaN otherwise).

    >>> table = np.array([[1.0, 1.0], [2.0, np.nan], [4.0, 2.0], [3.0, 5.0]])
    >>> column_correlations(table, table**2).round(3).tolist()
    [0.984, 0.992]
    """
    both = np.isfinite(first) & np.isfinite(second)
    number = both.sum(axis=0)
    x, y = (np.where(both, table, 0.0) for table in (first, second))
    x = np.where(both, x - x.sum(axis=0) / np.maximum(number, 1), 0.0)
    y = np.where(both, y - y.sum(axis=0) / np.maximum(number, 1), 0.0)
    xx, yy, xy = (x * x).sum(axis=0), (y * y).sum(axis=0), (x * y).sum(axis=0)
    # What differs only by rounding does not vary.
    scale = np.maximum(np.nanmax(np.abs(first), initial=0.0), np.nanmax(np.abs(second), initial=0.0)) ** 2
    varies = (xx > 1e-20 * scale) & (yy > 1e-20 * scale) & (number >= FEWEST_ITEMS)
    found = quotient(np.where(varies, xy, 0.0), np.where(varies, np.sqrt(xx * yy), 0.0))
    return np.clip(found, -1.0, 1.0)
