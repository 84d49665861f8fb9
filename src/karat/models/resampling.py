"""Participants drawn again: how often each one counts in a bootstrap sample, and intervals from many samples.

A bootstrap sample of n participants draws n of them with replacement, so that participant p counts w_p times. A sum
over answers becomes a sum weighted by w_p, and sums for all samples at once are one product of a sparse matrix with the
matrix of the w_p: no table is put together anew.

Two copies of the same participant agree perfectly, which would make any coefficient of agreement too large. All
coefficients that are made of pairs of participants therefore leave out the pairs of copies: where a cell has the sum of
weights N = sum of w_p, the pairs of different participants number N^2 - sum of w_p^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from karat.types import Floats, Ints

LEAST_SHARE = 0.5
"""The share of samples that must give a value for an interval to be told."""


def resamples(people: int, samples: int, seed: int) -> Floats:
    """How often each participant (rows) counts in each bootstrap sample (columns).

    >>> weights = resamples(5, 3, seed=1)
    >>> weights.shape, weights.sum(axis=0).tolist()
    ((5, 3), [5.0, 5.0, 5.0])
    """
    drawn = np.random.default_rng(seed).multinomial(people, np.full(people, 1 / people), size=samples)
    return np.ascontiguousarray(drawn.T, dtype=np.float64)


def stratified_resamples(groups: ArrayLike, samples: int, seed: int) -> Floats:
    """The same, where participants are drawn within their groups, so that groups keep their sizes.

    >>> weights = stratified_resamples([0, 0, 1, 1, 1], 4, seed=1)
    >>> weights[:2].sum(axis=0).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    group = np.asarray(groups)
    random = np.random.default_rng(seed)
    weights = np.empty((len(group), samples))
    for one in np.unique(group):
        members = np.flatnonzero(group == one)
        weights[members] = random.multinomial(len(members), np.full(len(members), 1 / len(members)), size=samples).T
    return weights


def percentile_interval(values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The middle part of the values of bootstrap samples; missing (NaN) where most samples have none.

    >>> percentile_interval(np.arange(101.0), level=1.0)
    (0.0, 100.0)
    """
    known = values[np.isfinite(values)]
    if not len(known) or len(known) < LEAST_SHARE * len(values):
        return float("nan"), float("nan")
    lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(lower), float(upper)


def centred_interval(estimate: float, values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The interval of a correlation, from the spread of bootstrap samples around their own mean, by Fisher's z.

    Means of a bootstrap sample carry the noise of the sample twice, so that their correlations lie below the estimate:
    their spread tells how far it may be off, their place does not.

    >>> lower, upper = centred_interval(0.8, np.array([0.6, 0.7, 0.75]))
    >>> round(lower, 3), round(upper, 3)
    (0.742, 0.84)
    """
    if not np.isfinite(estimate):
        return float("nan"), float("nan")
    edge = 1 - 1e-12
    z = np.arctanh(np.clip(values, -edge, edge))
    lower, upper = percentile_interval(z - np.nanmean(z) if np.isfinite(z).any() else z, level)
    own = np.arctanh(np.clip(estimate, -edge, edge))
    return float(np.tanh(own + lower)), float(np.tanh(own + upper))


def summing(rows: Ints, raters: Ints, values: Floats | None = None, shape: tuple[int, int] | None = None) -> csr_array:
    """The sparse matrix whose product with the weights of participants sums values over the answers of each row.

    >>> summing(np.array([0, 0, 1]), np.array([0, 1, 1])).toarray().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    size = shape or (int(rows.max()) + 1, int(raters.max()) + 1)
    return csr_array((np.ones(len(rows)) if values is None else values, (rows, raters)), shape=size)


def as_weights(weights: ArrayLike | None, people: int) -> Floats:
    """Weights of participants as a matrix with one column a sample; without any, everybody counts once.

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
    found: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)
    return found
