"""Answers without looking, from each trial to the last: how probable they are, with the unknowns summed out.

Random guessing: every level as probable; or with a taste of their own, the levels' probabilities drawn evenly enough
(Dirichlet, 3 each). A repeated pattern of length L: the trials fall into L classes in turn, and each class has a
favourite level, whose probability is Beta(8, 1), any level as probable a favourite; the other levels share the rest.
Length 1 is a primary choice. With n_k answers of level k in a class of N, the favourite summed out,

    P = mean over m of  B(8 + n_m, ...) / B(8, ...) = mean_m  G(9)/G(9+N) G(8+n_m)/G(8) prod_{k != m} G(e+n_k)/G(e),

with e = 1 / (K - 1) and G the gamma function. Patterns whose favourites are all the same level are primary choices and
taken out of the longer ones. Counts are made backwards, so that all changes of behaviour cost one pass.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from karat.types import Floats, Ints

FAVOURITE = 8.0
TASTE = 3.0


def guesses(levels: Ints, count: int) -> Floats:
    """The log probability of the answers from each trial on (participants x trials + 1), by guessing; -1 is no answer.

    >>> guesses(np.array([[0, 1, -1, 1]]), 2).round(2).tolist()
    [[-2.12, -1.35, -0.69, -0.69, 0.0]]
    """
    there = levels >= 0
    even = _from(np.where(there, -np.log(count), 0.0))
    taste, _ = _pattern(levels, count, 1, _taste_tables(levels.shape[1], count))
    guessed: Floats = np.logaddexp(even + np.log(0.75), taste + np.log(0.25))
    return guessed


def patterns(levels: Ints, count: int, length: int) -> Floats:
    """The same for a repeated pattern of some length; 1 is a primary choice.

    >>> always = np.zeros((1, 10), dtype=np.int64)
    >>> bool(patterns(always, 2, 1)[0, 0] > guesses(always, 2)[0, 0])
    True
    """
    every, same = _pattern(levels, count, length, _favourite_tables(levels.shape[1], count))
    if length == 1:
        return every
    # count ** length favourites, of which `count` are the same throughout.
    share = same - every + (1 - length) * np.log(count)
    left = np.log1p(-np.exp(np.minimum(share, -1e-9)))
    found: Floats = every + left - np.log1p(-(float(count) ** (1 - length)))
    return found


def _from(values: Floats) -> Floats:
    found = np.zeros((values.shape[0], values.shape[1] + 1))
    found[:, :-1] = np.cumsum(values[:, ::-1], axis=1)[:, ::-1]
    return found


def _favourite_tables(trials: int, count: int) -> tuple[Floats, Floats, Floats]:
    n = np.arange(trials + 1)
    rest = 1 / (count - 1)
    own = gammaln(FAVOURITE + n) - gammaln(FAVOURITE)
    other = gammaln(rest + n) - gammaln(rest)
    whole = gammaln(FAVOURITE + 1) - gammaln(FAVOURITE + 1 + n)
    return own, other, whole


def _taste_tables(trials: int, count: int) -> tuple[Floats, Floats, Floats]:
    n = np.arange(trials + 1)
    own = gammaln(TASTE + n) - gammaln(TASTE)
    return own, own, gammaln(count * TASTE) - gammaln(count * TASTE + n)


def _pattern(levels: Ints, count: int, length: int, tables: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats]:
    """With any favourites, and with the same favourite in all classes."""
    own, other, whole = tables
    people, trials = levels.shape
    counts = np.zeros((people, length, count), dtype=np.int64)
    of_class, of_favourite = np.zeros((people, length)), np.zeros((people, length, count))
    every, same = np.zeros((people, trials + 1)), np.zeros((people, trials + 1))
    for trial in range(trials - 1, -1, -1):
        place, level = trial % length, levels[:, trial]
        there = np.flatnonzero(level >= 0)
        counts[there, place, level[there]] += 1
        now = counts[:, place]
        as_other = other[now]
        base = whole[now.sum(axis=1)] + as_other.sum(axis=1)
        of_favourite[:, place] = base[:, None] + own[now] - as_other
        of_class[:, place] = _mean(of_favourite[:, place])
        every[:, trial] = of_class.sum(axis=1)
        same[:, trial] = _mean(of_favourite.sum(axis=1))
    return every, same


def _mean(values: Floats) -> Floats:
    """The logarithm of the mean of the exponentials, along the last axis."""
    top = values.max(axis=-1)
    mean: Floats = top + np.log(np.exp(values - top[..., None]).mean(axis=-1))
    return mean
