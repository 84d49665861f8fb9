"""Answers without looking, from each trial to the last: their probability, their beginning, and their speed.

Unknown parameters are integrated out. Random guessing: all levels are equally probable, or their probabilities are a
personal taste with a Dirichlet distribution (all parameters 3). A repeated pattern of length L: the trials belong to L
classes in turn, and each class has a favourite level. Its probability is Beta(8, 1), all levels are equally probable as
the favourite, and the other levels share the rest. Length 1 is a primary choice. With n_k answers of level k in a class
of N, the favourite summed out,

    P = mean over m of  B(8 + n_m, ...) / B(8, ...) = mean_m  G(9)/G(9+N) G(8+n_m)/G(8) prod_{k != m} G(e+n_k)/G(e),

with e = 1 / (K - 1) and G the gamma function. Patterns with the same favourite in all classes are primary choices and
excluded from the longer ones. Trials are counted backwards, so one pass covers all changes of behaviour.

Participants of the same crowd tend to stop looking at about the same time. The trials of a participant are divided into
20 periods of equal length. The probability of a change in period k is proportional to n_k r_k, where n_k is the number
of its trials at which a change is possible, all equally probable. The rates r are learned: with f_k expected changes in
period k,

    r_k = 2 + (S f)_k / (S g)_k,

where g_k is the share of the possible trials that are in the period. The prior, in which all trials are equally
probable, counts as much as two changes. S averages each period with its neighbours (1/4, 1/2, 1/4). This is a smoothed
EM step (Silverman, Jones, Wilson and Nychka 1990), because a few changes show the time only roughly.

Response times depend on the stimulus and on the pace of the participant:

    log seconds = usual(stimulus) + pace + noise,      noise ~ Student's t, so that single pauses are not evidence

The pace of attentive participants is N(0, tau^2) with a learned tau. Participants who do not look are as fast as
before, hurried or rushing: from the trial of the change on, they have a pace N(m, s^2) of that regime. Paces are summed
over on a grid; cumulative sums from the first and from the last trial give all changes at once.
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
    """The log probability of the answers from each trial on (participants x trials + 1) by guessing; -1 is missing.

    >>> guesses(np.array([[0, 1, -1, 1]]), 2).round(2).tolist()
    [[-2.12, -1.35, -0.69, -0.69, 0.0]]
    """
    answered = levels >= 0
    even = _sums_from_each_trial(np.where(answered, -np.log(count), 0.0))
    taste, _ = _pattern(levels, count, 1, _taste_tables(levels.shape[1], count))
    return np.asarray(np.logaddexp(even + np.log(0.75), taste + np.log(0.25)))


def patterns(levels: Ints, count: int, length: int) -> Floats:
    """The log probability of the answers from each trial on by a repeated pattern; length 1 is a primary choice."""
    log_any, log_same = _pattern(levels, count, length, _favourite_tables(levels.shape[1], count))
    if length == 1:
        return log_any
    # Of the count ** length combinations of favourites, `count` have the same favourite throughout.
    share = log_same - log_any + (1 - length) * np.log(count)
    log_rest = np.log1p(-np.exp(np.minimum(share, -1e-9)))
    return np.asarray(log_any + log_rest - np.log1p(-(float(count) ** (1 - length))))


def _sums_from_each_trial(values: Floats) -> Floats:
    sums = np.zeros((values.shape[0], values.shape[1] + 1))
    sums[:, :-1] = np.cumsum(values[:, ::-1], axis=1)[:, ::-1]
    return sums


def _favourite_tables(trials: int, count: int) -> tuple[Floats, Floats, Floats]:
    n = np.arange(trials + 1)
    rest = 1 / (count - 1)
    favourite = gammaln(FAVOURITE + n) - gammaln(FAVOURITE)
    other = gammaln(rest + n) - gammaln(rest)
    total = gammaln(FAVOURITE + 1) - gammaln(FAVOURITE + 1 + n)
    return favourite, other, total


def _taste_tables(trials: int, count: int) -> tuple[Floats, Floats, Floats]:
    n = np.arange(trials + 1)
    level = gammaln(TASTE + n) - gammaln(TASTE)
    return level, level, gammaln(count * TASTE) - gammaln(count * TASTE + n)


def _pattern(levels: Ints, count: int, length: int, tables: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats]:
    """The log probability with any favourites, and with the same favourite in all classes."""
    favourite, other, total = tables
    people, trials = levels.shape
    counts = np.zeros((people, length, count), dtype=np.int64)
    of_class, of_favourite = np.zeros((people, length)), np.zeros((people, length, count))
    log_any, log_same = np.zeros((people, trials + 1)), np.zeros((people, trials + 1))
    for trial in range(trials - 1, -1, -1):
        position, level = trial % length, levels[:, trial]
        answered = np.flatnonzero(level >= 0)
        counts[answered, position, level[answered]] += 1
        current = counts[:, position]
        as_other = other[current]
        base = total[current.sum(axis=1)] + as_other.sum(axis=1)
        of_favourite[:, position] = base[:, None] + favourite[current] - as_other
        of_class[:, position] = _log_mean(of_favourite[:, position])
        log_any[:, trial] = of_class.sum(axis=1)
        log_same[:, trial] = _log_mean(of_favourite.sum(axis=1))
    return log_any, log_same


def _log_mean(values: Floats) -> Floats:
    """The logarithm of the mean of the exponentials along the last axis."""
    top = values.max(axis=-1)
    return np.asarray(top + np.log(np.exp(values - top[..., None]).mean(axis=-1)))


PERIODS = 20
PRIOR_CHANGES = 2.0
NEIGHBOURS = np.array([0.25, 0.5, 0.25])


def periods(trials: int, answered: Ints) -> Ints:
    """The period of a change before each trial (participants x trials + 1), from the number of answers per participant.

    >>> periods(4, np.array([4, 2])).tolist()
    [[0, 5, 10, 15, 19], [0, 10, 19, 19, 19]]
    """
    return np.minimum(PERIODS * np.arange(trials + 1) // np.maximum(answered, 1)[:, None], PERIODS - 1)


def log_when(period: Ints, allowed: Bools, rates: Floats) -> Floats:
    """The log probability of a change at each trial, given a change; minus infinity if it is not allowed there.

    >>> log_when(np.array([[0, 1, 2]]), np.array([[False, True, True]]), np.array([1.0, 3.0, 1.0])).round(2).tolist()
    [[-inf, -0.29, -1.39]]
    """
    rate = np.where(allowed, rates[period], 0.0)
    with np.errstate(divide="ignore"):
        log_share: Floats = np.log(rate) - np.log(np.maximum(rate.sum(axis=1, keepdims=True), 1e-300))
    return log_share


def learned_rates(period: Ints, allowed: Bools, change: Floats) -> Floats:
    """The rate of each period, from the probability of each change (participants x trials + 1)."""
    expected = np.bincount(period[allowed], change[allowed], PERIODS)
    possible = np.bincount(period[allowed], minlength=PERIODS) / max(int(allowed.sum()), 1)
    smoothed, width = (np.convolve(values, NEIGHBOURS, "same") for values in (expected, possible))
    return PRIOR_CHANGES + np.divide(smoothed, width, out=np.zeros(PERIODS), where=width > 0)


DEGREES = 4.0
GRID = np.linspace(-3.0, 3.0, 15)
LOG_WEIGHTS: Floats = -(GRID**2) / 2 - np.log(np.exp(-(GRID**2) / 2).sum())
PRIOR_PEOPLE = 4.0


@dataclass(frozen=True)
class Regime:
    """A population of paces, and the scatter of trials within a participant."""

    mean: float
    deviation: float
    scatter: float

    def log_density(self, residual: Floats) -> Floats:
        """The log density of each time (participants x trials) at each place of the grid; zero if missing."""
        places = ((self.mean + self.deviation * GRID) / self.scatter).astype(np.float32)
        ratio = (residual / self.scatter).astype(np.float32)[..., None] - places
        constant = gammaln((DEGREES + 1) / 2) - gammaln(DEGREES / 2) - np.log(np.pi * DEGREES) / 2
        density = constant - np.log(self.scatter) - (DEGREES + 1) / 2 * np.log1p(ratio**2 / DEGREES)
        return np.where(np.isfinite(residual)[..., None], density, 0.0)

    def improved(self, usual: Regime, residual: Floats, posterior: Floats, weight: Floats, centred: bool) -> Regime:
        """The updated regime, from the weights of its trials (participants x trials) and the posterior of the paces."""
        people = weight.max(axis=1, initial=0.0)
        steps = posterior @ GRID
        pace = self.mean + self.deviation * steps
        spread = self.deviation**2 * np.maximum(posterior @ GRID**2 - steps**2, 0.0)
        number = float(people.sum()) + PRIOR_PEOPLE
        mean = 0.0 if centred else float(people @ pace + PRIOR_PEOPLE * usual.mean) / number
        squares = float(people @ ((pace - mean) ** 2 + spread)) + PRIOR_PEOPLE * usual.deviation**2
        timed = np.isfinite(residual)
        deviation = np.where(timed, residual, 0.0) - pace[:, None]
        share = weight * timed * (DEGREES + 1) / (DEGREES + (deviation / self.scatter) ** 2)
        counted = float((weight * timed).sum()) + PRIOR_PEOPLE
        scatter = np.sqrt((float((share * deviation**2).sum()) + PRIOR_PEOPLE * usual.scatter**2) / counted)
        return Regime(mean, float(np.sqrt(squares / number)), float(max(scatter, 0.05)))


ATTENTIVE = Regime(0.0, 0.35, 0.35)
HURRIED = Regime(-0.6, 0.5, 0.4)
RUSHING = Regime(-2.2, 0.5, 0.4)
"""The priors: participants who hurry take half of the usual time, those who rush a tenth."""


def until(density: Floats) -> tuple[Floats, Floats]:
    """The log probability of the times before each trial (participants x trials + 1) and the posterior of paces."""
    summed = np.zeros((density.shape[0], density.shape[1] + 1, density.shape[2]), dtype=np.float32)
    np.cumsum(density, axis=1, out=summed[:, 1:])
    return log_sum(summed + LOG_WEIGHTS.astype(np.float32)).astype(np.float64), _posterior(summed[:, -1])


def since(density: Floats) -> tuple[Floats, Floats]:
    """The log probability of the times from each trial on, and the posterior of the paces."""
    log_probability, paces = until(density[:, ::-1])
    return log_probability[:, ::-1], paces


def _posterior(summed: Floats) -> Floats:
    return np.asarray(softmax(summed + LOG_WEIGHTS, axis=-1))
