"""Answers without looking, from each trial to the last: how probable they are, when they begin, and how fast they are.

Unknowns are summed out. Random guessing: every level as probable; or with a taste of their own, the levels'
probabilities drawn evenly enough (Dirichlet, 3 each). A repeated pattern of length L: the trials fall into L classes in
turn, and each class has a favourite level, whose probability is Beta(8, 1), any level as probable a favourite; the
other levels share the rest. Length 1 is a primary choice. With n_k answers of level k in a class of N, the favourite
summed out,

    P = mean over m of  B(8 + n_m, ...) / B(8, ...) = mean_m  G(9)/G(9+N) G(8+n_m)/G(8) prod_{k != m} G(e+n_k)/G(e),

with e = 1 / (K - 1) and G the gamma function. Patterns whose favourites are all the same level are primary choices and
taken out of the longer ones. Counts are made backwards, so that all changes of behaviour cost one pass.

People of one crowd tend to stop looking at about the same time, and the crowd shows when. The trials of a participant
fall into 20 periods of equal length. A change falls into period k with probability proportional to n_k r_k, with n_k
trials in it at which a change is possible, each as probable as the others of the period. The rates r are learned: with
f_k changes expected in period k by what everybody did,

    r_k = 2 + (S f)_k / (S g)_k,

where g_k is the share of all possible trials that lie in the period: before anybody answers all trials are as probable,
which is worth two changes. S averages each period with its neighbours (1/4, 1/2, 1/4): an EM step that is smoothed
(Silverman, Jones, Wilson and Nychka 1990), since a few changes tell roughly when, and not more.

Response times have a pace of the participant, beside what is usual of the stimulus:

    log seconds = usual(stimulus) + pace + noise,      noise ~ Student's t, so that a pause is a pause and no proof

Attentive the pace is N(0, tau^2), learned. Those who do not look are as fast as before, hurried or rushing: from the
trial of the change on they have a pace N(m, s^2) of that regime. Paces are summed over on a grid; sums from the first
and from the last trial give every change at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, softmax

from karat.models.credence.attentive import log_sum
from karat.types import Bools, Floats, Ints

FAVOURITE = 8.0
TASTE = 3.0


def guesses(levels: Ints, count: int) -> Floats:
    """The log probability of the answers from each trial on (participants x trials + 1), by guessing; -1 is missing.

    >>> guesses(np.array([[0, 1, -1, 1]]), 2).round(2).tolist()
    [[-2.12, -1.35, -0.69, -0.69, 0.0]]
    """
    there = levels >= 0
    even = _from(np.where(there, -np.log(count), 0.0))
    taste, _ = _pattern(levels, count, 1, _taste_tables(levels.shape[1], count))
    return np.asarray(np.logaddexp(even + np.log(0.75), taste + np.log(0.25)))


def patterns(levels: Ints, count: int, length: int) -> Floats:
    """The same for a repeated pattern of some length; 1 is a primary choice."""
    every, same = _pattern(levels, count, length, _favourite_tables(levels.shape[1], count))
    if length == 1:
        return every
    # count ** length favourites, of which `count` are the same throughout.
    share = same - every + (1 - length) * np.log(count)
    left = np.log1p(-np.exp(np.minimum(share, -1e-9)))
    return np.asarray(every + left - np.log1p(-(float(count) ** (1 - length))))


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
    return np.asarray(top + np.log(np.exp(values - top[..., None]).mean(axis=-1)))


PERIODS = 20
PRIOR_CHANGES = 2.0
NEIGHBOURS = np.array([0.25, 0.5, 0.25])


def periods(trials: int, answered: Ints) -> Ints:
    """The period of a change before each trial (participants x trials + 1), by how many answers everybody gave.

    >>> periods(4, np.array([4, 2])).tolist()
    [[0, 5, 10, 15, 19], [0, 10, 19, 19, 19]]
    """
    return np.minimum(PERIODS * np.arange(trials + 1) // np.maximum(answered, 1)[:, None], PERIODS - 1)


def log_when(period: Ints, allowed: Bools, rates: Floats) -> Floats:
    """The log probability of a change at each trial, for those who change; minus infinity where none is allowed.

    >>> log_when(np.array([[0, 1, 2]]), np.array([[False, True, True]]), np.array([1.0, 3.0, 1.0])).round(2).tolist()
    [[-inf, -0.29, -1.39]]
    """
    rate = np.where(allowed, rates[period], 0.0)
    with np.errstate(divide="ignore"):
        found: Floats = np.log(rate) - np.log(np.maximum(rate.sum(axis=1, keepdims=True), 1e-300))
    return found


def learned_rates(period: Ints, allowed: Bools, change: Floats) -> Floats:
    """The rates of all periods, from the probability of each change (participants x trials + 1)."""
    found = np.bincount(period[allowed], change[allowed], PERIODS)
    possible = np.bincount(period[allowed], minlength=PERIODS) / max(int(allowed.sum()), 1)
    near, wide = (np.convolve(values, NEIGHBOURS, "same") for values in (found, possible))
    return PRIOR_CHANGES + np.divide(near, wide, out=np.zeros(PERIODS), where=wide > 0)


DEGREES = 4.0
GRID = np.linspace(-3.0, 3.0, 15)
LOG_WEIGHTS: Floats = -(GRID**2) / 2 - np.log(np.exp(-(GRID**2) / 2).sum())
PRIOR_PEOPLE = 4.0


@dataclass(frozen=True)
class Regime:
    """A population of paces, and the scatter of the trials of one participant."""

    mean: float
    deviation: float
    scatter: float

    def log_density(self, residual: Floats) -> Floats:
        """Of each time (participants x trials) at each place of the grid; zero where there is no time."""
        places = ((self.mean + self.deviation * GRID) / self.scatter).astype(np.float32)
        ratio = (residual / self.scatter).astype(np.float32)[..., None] - places
        constant = gammaln((DEGREES + 1) / 2) - gammaln(DEGREES / 2) - np.log(np.pi * DEGREES) / 2
        found = constant - np.log(self.scatter) - (DEGREES + 1) / 2 * np.log1p(ratio**2 / DEGREES)
        return np.where(np.isfinite(residual)[..., None], found, 0.0)

    def improved(self, usual: Regime, residual: Floats, posterior: Floats, weight: Floats, centred: bool) -> Regime:
        """The regime learned anew from who is in it when (participants x trials) and the posterior of their paces."""
        people = weight.max(axis=1, initial=0.0)
        steps = posterior @ GRID
        pace = self.mean + self.deviation * steps
        spread = self.deviation**2 * np.maximum(posterior @ GRID**2 - steps**2, 0.0)
        number = float(people.sum()) + PRIOR_PEOPLE
        mean = 0.0 if centred else float(people @ pace + PRIOR_PEOPLE * usual.mean) / number
        squares = float(people @ ((pace - mean) ** 2 + spread)) + PRIOR_PEOPLE * usual.deviation**2
        known = np.isfinite(residual)
        away = np.where(known, residual, 0.0) - pace[:, None]
        share = weight * known * (DEGREES + 1) / (DEGREES + (away / self.scatter) ** 2)
        counted = float((weight * known).sum()) + PRIOR_PEOPLE
        scatter = np.sqrt((float((share * away**2).sum()) + PRIOR_PEOPLE * usual.scatter**2) / counted)
        return Regime(mean, float(np.sqrt(squares / number)), float(max(scatter, 0.05)))


ATTENTIVE = Regime(0.0, 0.35, 0.35)
HURRIED = Regime(-0.6, 0.5, 0.4)
RUSHING = Regime(-2.2, 0.5, 0.4)
"""What is supposed before there are data: those who hurry take half of the usual time, those who rush a tenth."""


def until(density: Floats) -> tuple[Floats, Floats]:
    """The log probability of the times before each trial, one more than trials, and the paces given all."""
    summed = np.zeros((density.shape[0], density.shape[1] + 1, density.shape[2]), dtype=np.float32)
    np.cumsum(density, axis=1, out=summed[:, 1:])
    return log_sum(summed + LOG_WEIGHTS.astype(np.float32)).astype(np.float64), _posterior(summed[:, -1])


def since(density: Floats) -> tuple[Floats, Floats]:
    """The log probability of the times from each trial on, and the posterior of paces given all."""
    found, paces = until(density[:, ::-1])
    return found[:, ::-1], paces


def _posterior(summed: Floats) -> Floats:
    return np.asarray(softmax(summed + LOG_WEIGHTS, axis=-1))
