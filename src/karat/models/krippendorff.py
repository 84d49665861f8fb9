"""Krippendorff's alpha, for any number of raters and any missing ratings, and Fleiss' kappa over bootstrap samples.

    alpha = 1 - D_o / D_e

D_o is the mean squared difference of two ratings of the same item, D_e that of any two ratings (Krippendorff 2004).
With n_u ratings of item u, pairs within it count 1 / (n_u - 1), so that each rating counts once; items with a single
rating are left out. The squared difference of two ratings c and k is

    nominal    0 where they are the same, 1 where not
    interval   (c - k)^2
    ordinal    (number of ratings from c to k, those of c and k themselves counted by half)^2

The ordinal difference is the interval difference of mid-ranks, so that both come from sums and sums of squares.

Participants may have weights, for bootstrap samples (see `karat.models.resampling`). With N_u the sum and S_u the sum
of squares of the weights in item u, the pairs of different participants number N_u^2 - S_u instead of n_u (n_u - 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.models.resampling import as_weights, quotient, summing
from karat.types import Floats, Ints

Level = Literal["nominal", "ordinal", "interval"]
CELLS = 20_000_000
"""How many numbers a table of items, categories and samples may have at once."""


def krippendorff_alpha(
    items: ArrayLike,
    raters: ArrayLike,
    values: ArrayLike,
    level: Level = "nominal",
    weights: ArrayLike | None = None,
) -> Floats:
    """Krippendorff's alpha of ratings, one an entry, for each column of participants' weights.

    Nobody may have rated an item twice. Missing (NaN) where no item has two ratings, or all ratings are the same.

    >>> items, raters = [0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 0, 1, 1, 2]
    >>> krippendorff_alpha(items, raters, [1, 1, 2, 3, 3, 2, 2], "ordinal").round(4).tolist()
    [0.7857]
    """
    item, rater = _codes(items), np.asarray(raters, dtype=np.int64)
    y = np.asarray(values, dtype=np.float64)
    if not len(item):
        return np.full(1, np.nan)
    if level == "interval":
        return _of_numbers(item, rater, y - y.mean(), as_weights(weights, int(rater.max()) + 1))
    distinct, category = np.unique(y, return_inverse=True)
    matrix = as_weights(weights, int(rater.max()) + 1)
    return np.concatenate(
        [
            _of_categories(counts, squares, ordinal=level == "ordinal")
            for counts, squares in _tables(item, rater, category, len(distinct), matrix)
        ]
    )


def resampled_kappa(items: ArrayLike, raters: ArrayLike, categories: ArrayLike, weights: ArrayLike) -> Floats:
    """Fleiss' kappa for each column of participants' weights; with weights of 1 that of `fleiss_kappa`.

    >>> resampled_kappa([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [1, 1, 0, 0, 0, 0], np.ones((3, 1))).round(4).tolist()
    [0.25]
    """
    item, rater = _codes(items), np.asarray(raters, dtype=np.int64)
    distinct, category = np.unique(np.asarray(categories), return_inverse=True)
    found = []
    for counts, squares in _tables(item, rater, category, len(distinct), as_weights(weights, int(rater.max()) + 1)):
        total, pairs = counts.sum(axis=1), counts.sum(axis=1) ** 2 - squares.sum(axis=1)
        paired = pairs > 0
        used = np.maximum(paired.sum(axis=0), 1)
        same = quotient((counts**2 - squares).sum(axis=1), pairs)
        observed = np.where(paired, same, 0.0).sum(axis=0) / used
        shares = np.where(paired[:, None], counts / np.where(total > 0, total, 1.0)[:, None], 0.0).sum(axis=0) / used
        by_chance = (shares**2).sum(axis=0)
        defined = paired.any(axis=0) & (by_chance < 1 - 1e-12)
        found.append(np.where(defined, (observed - by_chance) / np.where(defined, 1 - by_chance, 1.0), np.nan))
    return np.concatenate(found)


def _codes(names: ArrayLike) -> Ints:
    return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64)


def _tables(
    item: Ints, rater: Ints, category: NDArray[np.integer], kinds: int, weights: Floats
) -> Iterator[tuple[Floats, Floats]]:
    """Sums of weights and of their squares by item, category and sample, a few samples at a time."""
    rows = int(item.max()) + 1
    matrix = summing(item * kinds + category, rater, shape=(rows * kinds, len(weights)))
    step = max(1, CELLS // (rows * kinds))
    for start in range(0, weights.shape[1], step):
        part = weights[:, start : start + step]
        yield (matrix @ part).reshape(rows, kinds, -1), (matrix @ part**2).reshape(rows, kinds, -1)


def _of_categories(counts: Floats, squares: Floats, ordinal: bool) -> Floats:
    """Alpha from tables of items by categories by samples."""
    pairs = counts.sum(axis=1) ** 2 - squares.sum(axis=1)
    paired = pairs > 0
    counts, squares = np.where(paired[:, None], counts, 0.0), np.where(paired[:, None], squares, 0.0)
    total = counts.sum(axis=1)
    margin = counts.sum(axis=0)
    if ordinal:
        # Mid-ranks among the ratings that have a partner, centred so that squares stay small.
        places = np.cumsum(margin, axis=0) - margin / 2
        places = places - places.mean(axis=0)
    else:
        places = None
    observed = _difference(counts, places)
    within = (observed * quotient(total, pairs)).sum(axis=0, where=paired)
    overall = _difference(margin[None], places)[0]
    number, alone = margin.sum(axis=0), squares.sum(axis=(0, 1))
    return 1 - quotient(quotient(within, number), quotient(overall, number**2 - alone))


def _difference(counts: Floats, places: Floats | None) -> Floats:
    """The squared differences of all pairs within each row: of places, or 1 for two categories."""
    total = counts.sum(axis=1)
    if places is None:
        return np.asarray(total**2 - (counts**2).sum(axis=1))
    first, second = (counts * places).sum(axis=1), (counts * places**2).sum(axis=1)
    return np.asarray(np.maximum(2 * (total * second - first**2), 0.0))


def _of_numbers(item: Ints, rater: Ints, y: Floats, weights: Floats) -> Floats:
    """Alpha of interval ratings from sums by item."""
    shape = (int(item.max()) + 1, len(weights))
    count = summing(item, rater, shape=shape)
    total, first, second = (
        count @ weights,
        summing(item, rater, y, shape) @ weights,
        summing(item, rater, y**2, shape) @ weights,
    )
    squares = count @ weights**2
    pairs = total**2 - squares
    paired = pairs > 0
    observed = np.maximum(2 * (total * second - first**2), 0.0)
    within = (observed * quotient(total, pairs)).sum(axis=0, where=paired)
    number, one, two, alone = (part.sum(axis=0, where=paired) for part in (total, first, second, squares))
    overall = np.maximum(2 * (number * two - one**2), 0.0)
    spread = np.where(overall > 1e-12 * number**2 * max(float(np.max(y**2)), 1e-300), overall, 0.0)
    return 1 - quotient(quotient(within, number), quotient(spread, number**2 - alone))
