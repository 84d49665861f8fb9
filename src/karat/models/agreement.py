"""Agreement of raters: Fleiss' kappa, intraclass correlations and others, for incomplete ratings.

Fleiss' kappa. n_ik raters put item i into category k, n_i raters in total. For pairs of raters of the same item

    P_i = sum over k of n_ik (n_ik - 1) / (n_i (n_i - 1)),    P = mean of P_i,
    p_k = mean over i of n_ik / n_i,    P_e = sum over k of p_k^2,    kappa = (P - P_e) / (1 - P_e).

Items with a single rating have no pair and are excluded. With the same number of raters for all items this is Fleiss
(1971); with missing ratings every item counts once, as in Gwet (2014).

Cohen's kappa and Gwet's AC1, for two or more raters, with weights v_kl = 1 - distance of categories (1 and 0 unless
they are ordered; 1 - (k - l)^2 / (K - 1)^2 with quadratic weights). For pairs of raters g and h of the same item

    P_i = mean over pairs of v(rating by g, rating by h),    P = mean of P_i,    coefficient = (P - P_e) / (1 - P_e),
    P_e = mean over pairs of raters of sum over k, l of v_kl p_gk p_hl                         Cohen (1960, 1968)
    P_e = sum of v_kl / (K (K - 1)) times sum over k of p_k (1 - p_k)                          Gwet (2008)

where p_gk is the share of k in the ratings by g and p_k the mean over items of the share of k. For more than two raters
the first is Conger's (1980) kappa. An item with a single rating counts in the shares only.

Intraclass correlations. Ratings are y = mean + item + rater + rest with variances s_i, s_r and s_e,

    ICC(A,1) = s_i / (s_i + s_r + s_e)   absolute agreement,     ICC(C,1) = s_i / (s_i + s_e)   consistency

(McGraw and Wong 1996). The variances come from Henderson's third method: with n ratings of I items by R raters, n_ij of
them of item i by rater j, the reductions in the sum of squares R(items | raters) and R(raters | items) and the rest SSE
have the expectations

    E SSE = (n - I - R + c) s_e
    E R(items | raters) = (n - sum of n_ij^2 / n_j) s_i + (I - c) s_e
    E R(raters | items) = (n - sum of n_ij^2 / n_i) s_r + (R - c) s_e

where c is the number of parts that have no rater or item in common. Without missing ratings these are the mean
squares of the two-way analysis of variance, and the correlations those of the usual formulas; with missing ones, no
ratings are dropped or imputed. As in those formulas, the results can be negative.

ICC with fixed error (table 4 of Ba, Mancenido, Chiou and Pan) is the Spammer Index with the variance of the logistic
distribution, pi^2 / 3 = 3.29, added to the total: s_worker / (s_worker + s_task + s_worker:task + 3.29).

Krippendorff's alpha, for any number of raters and any missing ratings, is

    alpha = 1 - D_o / D_e

D_o is the mean squared difference of two ratings of the same item, D_e that of any two ratings (Krippendorff 2004).
With n_u ratings of item u, pairs within it count 1 / (n_u - 1), so that each rating counts once; items with a single
rating are excluded. The squared difference of two ratings c and k is

    nominal    0 if they are the same, else 1
    interval   (c - k)^2
    ordinal    (number of ratings from c to k, counting those of c and k by half)^2

The ordinal difference is the interval difference of mid-ranks, so both follow from sums and sums of squares.

All coefficients except the correlations accept weights of participants for bootstrap samples (see
`karat.models.resampling`). If N_u is the sum and S_u the sum of squares of the weights in item u, the number of pairs
of different participants is N_u^2 - S_u instead of n_u (n_u - 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array

from karat.models.numerics import parts
from karat.models.resampling import as_weights, quotient, summing
from karat.types import Floats, Ints

LOGISTIC = float(np.pi**2 / 3)
"""The variance of the standard logistic distribution."""


def fleiss_kappa(items: ArrayLike, categories: ArrayLike) -> float:
    """Fleiss' kappa of ratings, with the codes of the item and the category of each rating.

    NaN if no item has two ratings or all ratings are the same.

    >>> round(fleiss_kappa([0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 0]), 4)
    0.25
    """
    item, category = np.asarray(items, dtype=np.int64), np.asarray(categories, dtype=np.int64)
    if item.shape != category.shape:
        raise ValueError("items and categories must have one entry for each rating.")
    if not len(item):
        return float("nan")
    kinds = int(category.max()) + 1
    return kappa_of_counts(
        np.bincount(item * kinds + category, minlength=(int(item.max()) + 1) * kinds).reshape(-1, kinds)
    )


def kappa_of_counts(counts: NDArray[np.int64]) -> float:
    """Fleiss' kappa from the number of ratings by item (row) and category (column).

    >>> round(kappa_of_counts(np.array([[1, 2], [3, 0]])), 4)
    0.25
    """
    raters = counts.sum(axis=1)
    counts, raters = counts[raters > 1], raters[raters > 1]
    if not len(raters):
        return float("nan")
    observed = float(np.mean((counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))))
    by_chance = float(np.sum(np.mean(counts / raters[:, None], axis=0) ** 2))
    return (observed - by_chance) / (1 - by_chance) if by_chance < 1 else float("nan")


@dataclass
class CrossedSquares:
    """Sums of squares of values with mean zero and two crossed factors, the first of which is eliminated.

    Each is a sum over the levels of the first factor, so sums of separate parts of these levels can be added.
    """

    by_first: float
    """The sum of squares between the levels of the first factor."""
    right: Floats
    """For each level of the second factor, the sum of the values minus the means of the first."""
    inner: Floats
    """sum over j of n_ij n_kj / n_j, where j is a level of the first factor, i and k are levels of the second."""
    cells_by_first: float
    """sum of n_ij^2 / n_j."""
    cells_by_second: Floats
    """sum over j of n_ij^2."""

    @classmethod
    def of(cls, first: Ints, second: Ints, y: Floats, seconds: int) -> CrossedSquares:
        """The sums of squares of values, given the codes of their levels."""
        number = np.bincount(first).astype(np.float64)
        means = np.bincount(first, y) / number
        table = coo_array((np.ones(len(y)), (first, second)), shape=(len(number), seconds)).tocsr()
        squares = table.multiply(table).tocsr()
        return cls(
            float(means**2 @ number), np.bincount(second, y - means[first], seconds).astype(np.float64),
            (table.T @ table.multiply(1 / number[:, None])).toarray(), float(np.sum(squares.sum(axis=1) / number)),
            np.asarray(squares.sum(axis=0)),
        )  # fmt: skip

    def components(self, total: float, by_second: float, firsts: int, number: Ints) -> tuple[float, float, float]:
        """The variances of the second factor, of the first and of the rest; NaN if no degrees of freedom remain.

        `total` is the sum of squares, `by_second` its part between the levels of the second factor, `firsts` the number
        of levels of the first factor, and `number` the number of values per level of the second. Overwrites `inner`.
        """
        sets = joined_sets(self.inner)
        n, seconds, separate = int(number.sum()), len(number), int(sets.max()) + 1
        degrees = n - firsts - seconds + separate
        if degrees <= 0:
            return float("nan"), float("nan"), float("nan")
        reduction = self._reduction(number.astype(np.float64), sets)
        error = max(total - self.by_first - reduction, 0.0) / degrees
        of_second = (reduction - (seconds - separate) * error) / (n - self.cells_by_first)
        of_first = self.by_first + reduction - by_second - (firsts - separate) * error
        return of_second, of_first / (n - float(np.sum(self.cells_by_second / number))), error

    def _reduction(self, number: Floats, sets: Ints) -> float:
        """The reduction in the sum of squares by the second factor, after the first.

        The normal equations have the matrix diag(n_i) - `inner`. In each set of levels that share a level of the first
        factor, one mean is free: a constant added within the set makes the matrix regular and leaves the reduction.
        """
        from scipy.linalg import cho_factor, cho_solve

        matrix = np.negative(self.inner, out=self.inner)
        matrix.flat[:: len(matrix) + 1] += number
        for label, size in enumerate(np.bincount(sets)):
            members = np.flatnonzero(sets == label)
            matrix[np.ix_(members, members)] += number.mean() / size
        return float(self.right @ cho_solve(cho_factor(matrix, lower=True, overwrite_a=True), self.right))


def joined_sets(joined: Floats) -> Ints:
    """The index of the connected component of each level in the graph with positive entries as edges."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(joined > 0, directed=False)[1])


def variance_components(items: ArrayLike, raters: ArrayLike, values: ArrayLike) -> tuple[float, float, float]:
    """The variances of items, raters and the rest, from possibly incomplete ratings."""
    codes = [np.unique(np.asarray(names), return_inverse=True)[1] for names in (items, raters)]
    numbers = [np.bincount(code) for code in codes]
    if min(map(len, numbers)) < 2:
        return float("nan"), float("nan"), float("nan")
    y = np.asarray(values, dtype=np.float64)
    y = y - y.mean()
    # The factor with more levels is eliminated.
    first = int(np.argmax([len(number) for number in numbers]))
    number = numbers[1 - first]
    squares = CrossedSquares.of(codes[first], codes[1 - first], y, len(number))
    between = float(np.sum(np.bincount(codes[1 - first], y) ** 2 / number))
    of_second, of_first, error = squares.components(float(y @ y), between, len(numbers[first]), number)
    return (of_second, of_first, error) if first == 1 else (of_first, of_second, error)


def icc_agreement(items: ArrayLike, raters: ArrayLike, values: ArrayLike) -> float:
    """ICC(A,1): the share of items in the variance of a single rating.

    >>> round(icc_agreement([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [1.0, 2, 3, 5, 6, 6]), 4)
    0.8529
    """
    of_items, of_raters, error = variance_components(items, raters, values)
    return share_of(of_items, of_items + of_raters + error)


def icc_consistency(items: ArrayLike, raters: ArrayLike, values: ArrayLike) -> float:
    """ICC(C,1): like ICC(A,1), but ignoring differences between raters that are the same for all items.

    >>> round(icc_consistency([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [1.0, 2, 3, 5, 6, 6]), 4)
    0.9063
    """
    of_items, _, error = variance_components(items, raters, values)
    return share_of(of_items, of_items + error)


def icc_fixed_error(worker: float, task: float, interaction: float = 0.0) -> float:
    """The Spammer Index with the variance of the logistic distribution added to the total; lower is better.

    >>> round(icc_fixed_error(1.093592, 5.481961), 3)
    0.111
    """
    return share_of(worker, worker + task + interaction + LOGISTIC)


def coefficients(kappa: float, variances: tuple[float, float, float]) -> tuple[float, float, float]:
    """Fleiss' kappa, and ICC(A,1) and ICC(C,1) from the variances of items, raters and the rest.

    >>> coefficients(0.25, (2.0, 1.0, 1.0))[:2]
    (0.25, 0.5)
    """
    of_items, of_raters, rest = variances
    return kappa, share_of(of_items, of_items + of_raters + rest), share_of(of_items, of_items + rest)


def share_of(part: float, whole: float) -> float:
    """A part divided by the whole; NaN if the whole is zero.

    >>> share_of(1.0, 4.0), share_of(0.0, 0.0)
    (0.25, nan)
    """
    return part / whole if whole != 0 else float("nan")


Level = Literal["nominal", "ordinal", "interval"]
CELLS = 20_000_000
"""The maximum number of cells in a table of items, categories and samples."""


def krippendorff_alpha(
    items: ArrayLike,
    raters: ArrayLike,
    values: ArrayLike,
    level: Level = "nominal",
    weights: ArrayLike | None = None,
    cells: int = CELLS,
) -> Floats:
    """Krippendorff's alpha of ratings (one per entry), for each column of participants' weights.

    No participant may have rated an item twice. NaN if no item has two ratings or all ratings are the same.

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
            for counts, squares in _tables(item, rater, category, len(distinct), matrix, cells)
        ]
    )


def resampled_kappa(items: ArrayLike, raters: ArrayLike, categories: ArrayLike, weights: ArrayLike | None) -> Floats:
    """Fleiss' kappa for each column of participants' weights; with weights of 1 it equals `fleiss_kappa`."""
    item, rater = _codes(items), np.asarray(raters, dtype=np.int64)
    distinct, category = np.unique(np.asarray(categories), return_inverse=True)
    kappas = []
    for counts, squares in _tables(item, rater, category, len(distinct), as_weights(weights, int(rater.max()) + 1)):
        total, paired, observed = _observed((counts**2 - squares).sum(axis=1), counts, squares)
        shares = np.where(paired[:, None], counts / np.where(total > 0, total, 1.0)[:, None], 0.0).sum(axis=0)
        by_chance = ((shares / np.maximum(paired.sum(axis=0), 1)) ** 2).sum(axis=0)
        kappas.append(_beyond_chance(paired, observed, by_chance))
    return np.concatenate(kappas)


def _observed(agreeing: Floats, counts: Floats, squares: Floats) -> tuple[Floats, NDArray[np.bool_], Floats]:
    """The number of ratings per item, whether it has a pair, and the mean agreement of pairs over items with pairs."""
    total = counts.sum(axis=1)
    pairs = total**2 - squares.sum(axis=1)
    has_pair = pairs > 0
    mean = np.where(has_pair, quotient(agreeing, pairs), 0.0).sum(axis=0) / np.maximum(has_pair.sum(axis=0), 1)
    return total, has_pair, mean


def _beyond_chance(paired: NDArray[np.bool_], observed: Floats, by_chance: Floats) -> Floats:
    """The coefficient; NaN if no item has a pair or chance agreement is perfect."""
    defined = paired.any(axis=0) & (by_chance < 1 - 1e-12)
    return np.where(defined, (observed - by_chance) / np.where(defined, 1 - by_chance, 1.0), np.nan)


Chance = Literal["cohen", "gwet"]


def pair_agreement(
    items: ArrayLike,
    raters: ArrayLike,
    categories: ArrayLike,
    chance: Chance = "cohen",
    quadratic: bool = False,
    weights: ArrayLike | None = None,
) -> Floats:
    """Cohen's kappa (over all pairs of raters) or Gwet's AC1, for each column of weights of raters.

    Categories are numbers; with `quadratic` weights their distances count. NaN if no item has two ratings.

    >>> first, second = [2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2]
    >>> kappa = pair_agreement([*range(6), *range(6)], [0] * 6 + [1] * 6, first + second)
    >>> kappa.round(4).tolist()
    [0.4286]
    """
    item, rater = _codes(items), _codes(raters)
    distinct, category = np.unique(np.asarray(categories), return_inverse=True)
    kinds = len(distinct)
    if kinds < 2:
        return np.full(1 if weights is None else np.asarray(weights).shape[-1], np.nan)
    place = distinct.astype(np.float64) if quadratic else np.arange(kinds)
    similarity = 1 - ((place[:, None] - place) / np.ptp(place)) ** 2 if quadratic else np.eye(kinds)
    w = as_weights(weights, int(rater.max()) + 1)
    number = summing(rater * kinds + category, rater, shape=(len(w) * kinds, len(w))).sum(axis=1)
    shares = np.asarray(number, dtype=np.float64).reshape(len(w), kinds)
    shares = shares / shares.sum(axis=1, keepdims=True)
    self_agreement = np.einsum("gk,kl,gl->g", shares, similarity, shares)
    values = []
    start = 0
    for counts, squares in _tables(item, rater, category, kinds, w):
        sample_weights = w[:, start : start + counts.shape[2]]
        start += counts.shape[2]
        agreeing = np.einsum("ikb,kl,ilb->ib", counts, similarity, counts, optimize=True) - squares.sum(axis=1)
        total, paired, observed = _observed(agreeing, counts, squares)
        if chance == "cohen":
            sums = sample_weights.T @ shares
            agreement = np.einsum("bk,kl,bl->b", sums, similarity, sums) - self_agreement @ sample_weights**2
            by_chance = quotient(agreement, sample_weights.sum(axis=0) ** 2 - (sample_weights**2).sum(axis=0))
        else:
            rated = np.maximum((total > 0).sum(axis=0), 1)
            mean = (counts / np.where(total > 0, total, 1.0)[:, None]).sum(axis=0) / rated
            by_chance = similarity.sum() / (kinds * (kinds - 1)) * (mean * (1 - mean)).sum(axis=0)
        values.append(_beyond_chance(paired, observed, by_chance))
    return np.concatenate(values)


def _codes(names: ArrayLike) -> Ints:
    return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64)


def _tables(
    item: Ints, rater: Ints, category: NDArray[np.integer], kinds: int, weights: Floats, cells: int = CELLS
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the sums of weights and of their squares by item, category and sample, for a few samples at a time."""
    rows = int(item.max()) + 1
    matrix = summing(item * kinds + category, rater, shape=(rows * kinds, len(weights)))
    for columns in parts(weights.shape[1], rows * kinds, cells):
        part = weights[:, columns]
        yield (matrix @ part).reshape(rows, kinds, -1), (matrix @ part**2).reshape(rows, kinds, -1)


def _of_categories(counts: Floats, squares: Floats, ordinal: bool) -> Floats:
    """Alpha from tables of items x categories x samples."""
    pairs = counts.sum(axis=1) ** 2 - squares.sum(axis=1)
    paired = pairs > 0
    counts, squares = np.where(paired[:, None], counts, 0.0), np.where(paired[:, None], squares, 0.0)
    total = counts.sum(axis=1)
    margin = counts.sum(axis=0)
    if ordinal:
        # Mid-ranks among the ratings with a partner, centred so that squares stay small.
        places = np.cumsum(margin, axis=0) - margin / 2
        places = places - places.mean(axis=0)
    else:
        places = None
    observed = _difference(counts, places)
    within = (observed * quotient(total, pairs)).sum(axis=0, where=paired)
    overall = _difference(margin[None], places)[0]
    number, self_pairs = margin.sum(axis=0), squares.sum(axis=(0, 1))
    return 1 - quotient(quotient(within, number), quotient(overall, number**2 - self_pairs))


def _difference(counts: Floats, places: Floats | None) -> Floats:
    """The sum of squared differences over all pairs within each row: of places, or 1 for different categories."""
    total = counts.sum(axis=1)
    if places is None:
        return np.asarray(total**2 - (counts**2).sum(axis=1))
    sums, squares = (counts * places).sum(axis=1), (counts * places**2).sum(axis=1)
    return np.asarray(np.maximum(2 * (total * squares - sums**2), 0.0))


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
    number, sum_y, sum_y2, self_pairs = (part.sum(axis=0, where=paired) for part in (total, first, second, squares))
    overall = np.maximum(2 * (number * sum_y2 - sum_y**2), 0.0)
    spread = np.where(overall > 1e-12 * number**2 * max(float(np.max(y**2)), 1e-300), overall, 0.0)
    return 1 - quotient(quotient(within, number), quotient(spread, number**2 - self_pairs))
