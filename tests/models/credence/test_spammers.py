"""Answers without looking: sums over favourites and paces against enumeration and integrals, and changes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.integrate import quad
from scipy.special import betaln, gammaln, logsumexp

from karat.models.credence.spammers import (
    ATTENTIVE,
    GRID,
    HURRIED,
    LOG_WEIGHTS,
    PERIODS,
    PRIOR_CHANGES,
    RUSHING,
    Regime,
    guesses,
    learned_rates,
    log_when,
    patterns,
    periods,
    since,
    until,
)

Answers = st.lists(st.integers(-1, 2), min_size=1, max_size=9)


def with_favourites(levels: list[int], favourites: tuple[int, ...], count: int) -> float:
    """The log probability of answers if trial t has the favourite t mod L, each with its own rate."""
    total = 0.0
    for place, favourite in enumerate(favourites):
        own = [level for level in levels[place :: len(favourites)] if level >= 0]
        rest = 1 / (count - 1)
        total += float(gammaln(9) - gammaln(9 + len(own)))
        for level in range(count):
            prior = 8.0 if level == favourite else rest
            total += float(gammaln(prior + own.count(level)) - gammaln(prior))
    return total


@settings(max_examples=40)
@given(Answers, st.sampled_from([1, 2, 3]))
def test_sums_over_favourites_agree_with_enumeration(levels: list[int], length: int) -> None:
    count = 3
    every = list(product(range(count), repeat=length))
    if length > 1:
        every = [one for one in every if len(set(one)) > 1]
    # The phase of a pattern is counted from the first trial, even if the behaviour begins later.
    result = patterns(np.array([levels]), count, length)[0]
    for first in range(len(levels) + 1):
        rest = [-1] * first + levels[first:]
        expected = logsumexp([with_favourites(rest, one, count) for one in every]) - np.log(len(every))
        assert result[first] == pytest.approx(expected, abs=1e-6)


def test_a_favourite_of_two_answers_is_a_beta_rate() -> None:
    # With two answers, the rate of the favourite is Beta(8, 1).
    result = patterns(np.array([[0, 0, 1, 0]]), 2, 1)[0, 0]
    either = [betaln(8 + right, 1 + 4 - right) - betaln(8, 1) for right in (3, 1)]
    assert result == pytest.approx(logsumexp(either) - np.log(2))


@given(Answers)
def test_guesses_are_even_or_follow_a_taste(levels: list[int]) -> None:
    result = guesses(np.array([levels]), 3)[0]
    for first in range(len(levels) + 1):
        rest = [level for level in levels[first:] if level >= 0]
        taste = gammaln(9) - gammaln(9 + len(rest)) + sum(gammaln(3 + rest.count(k)) - gammaln(3) for k in range(3))
        even = -len(rest) * np.log(3)
        assert result[first] == pytest.approx(np.logaddexp(np.log(0.75) + even, np.log(0.25) + taste))


def test_the_taste_is_an_integral_over_rates() -> None:
    rate = quad(lambda p: 30 * p**2 * (1 - p) ** 2 * p**3 * (1 - p), 0, 1)[0]
    result = guesses(np.array([[0, 0, 1, 0]]), 2)[0, 0]
    assert np.exp(result) == pytest.approx(0.75 / 16 + 0.25 * rate)


@given(st.sampled_from([2, 3]), st.integers(1, 3))
def test_probabilities_of_all_answers_sum_to_one(count: int, length: int) -> None:
    everything = np.array(list(product(range(count), repeat=4)))
    assert np.exp(patterns(everything, count, length)[:, 0]).sum() == pytest.approx(1)
    assert np.exp(guesses(everything, count)[:, 0]).sum() == pytest.approx(1)


RANDOM = np.random.default_rng(1)
TIMES = RANDOM.normal(0.2, 0.4, (3, 8))
TIMES[1, 3] = np.nan


def integrated(regime: Regime, times: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The log probability of times with the pace integrated out."""
    known = times[np.isfinite(times)]

    def at(pace: float) -> float:
        noise = stats.t.pdf((known - pace) / regime.scatter, 4) / regime.scatter
        return float(noise.prod() * stats.norm.pdf(pace, regime.mean, regime.deviation))

    low, high = regime.mean - 6 * regime.deviation, regime.mean + 6 * regime.deviation
    return float(np.log(integrate.quad(at, low, high, limit=200)[0]))


def test_weights_of_the_grid_are_a_normal_population() -> None:
    weights = np.exp(LOG_WEIGHTS)
    assert weights.sum() == pytest.approx(1)
    assert weights @ GRID == pytest.approx(0, abs=1e-12)
    assert weights @ GRID**2 == pytest.approx(1, abs=0.05)


@pytest.mark.few(1)
@pytest.mark.parametrize("regime", [ATTENTIVE, HURRIED], ids=["attentive", "hurried"])
def test_sums_over_the_grid_are_integrals_over_paces(regime: Regime) -> None:
    before, _ = until(regime.log_density(TIMES))
    rest, _ = since(regime.log_density(TIMES))
    for person, times in enumerate(TIMES):
        for trial in (0, 3, 8):
            assert before[person, trial] == pytest.approx(integrated(regime, times[:trial]), abs=0.06)
            assert rest[person, trial] == pytest.approx(integrated(regime, times[trial:]), abs=0.06)


def test_densities_are_students_and_zero_for_missing_times() -> None:
    density = RUSHING.log_density(TIMES)
    pace = RUSHING.mean + RUSHING.deviation * GRID[4]
    expected = stats.t.logpdf(TIMES[0], 4, pace, RUSHING.scatter)
    assert density[0, :, 4] == pytest.approx(expected, abs=1e-4)
    assert (density[1, 3] == 0).all()


def test_before_and_since_agree_at_both_ends() -> None:
    density = ATTENTIVE.log_density(TIMES)
    before, one = until(density)
    rest, other = since(density)
    assert before[:, -1] == pytest.approx(rest[:, 0], abs=1e-4)
    assert before[:, 0] == pytest.approx(0, abs=1e-5)
    assert rest[:, -1] == pytest.approx(0, abs=1e-5)
    assert one == pytest.approx(other, abs=1e-4)
    assert one.sum(axis=1) == pytest.approx(1)


def test_a_regime_is_learned_from_its_members() -> None:
    random = np.random.default_rng(2)
    pace = random.normal(-1.0, 0.3, 300)
    times = pace[:, None] + 0.25 * random.standard_t(4, (300, 40))
    regime = HURRIED
    for _ in range(30):
        _, posterior = since(regime.log_density(times))
        regime = regime.improved(HURRIED, times, posterior, np.ones(times.shape), centred=False)
    assert regime.mean == pytest.approx(-1.0, abs=0.06)
    assert regime.deviation == pytest.approx(0.3, abs=0.05)
    assert regime.scatter == pytest.approx(0.25, abs=0.03)
    nobody = HURRIED.improved(HURRIED, times, posterior, np.zeros(times.shape), centred=False)
    assert (nobody.mean, nobody.deviation, nobody.scatter) == pytest.approx((-0.6, 0.5, 0.4))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_change_probabilities_sum_to_one_if_a_change_is_allowed(answered: list[int], seed: int) -> None:
    given_answers = np.array(answered)
    period = periods(50, given_answers)
    place = np.arange(51)
    allowed = (place >= 1) & (place <= given_answers[:, None] - 3)
    rates = np.random.default_rng(seed).uniform(0.1, 9, PERIODS)
    result = np.exp(log_when(period, allowed, rates)).sum(axis=1)
    assert result == pytest.approx(allowed.any(axis=1).astype(float))
    assert (np.diff(period, axis=1) >= 0).all()
    assert period.max() < PERIODS


def test_without_changes_all_rates_are_equal() -> None:
    period, allowed = periods(30, np.array([30, 20])), np.ones((2, 31), dtype=bool)
    rates = learned_rates(period, allowed, np.zeros((2, 31)))
    assert (rates == PRIOR_CHANGES).all()


def test_rates_are_smoothed_over_neighbouring_periods() -> None:
    period = periods(40, np.full(3, 40))
    allowed = np.broadcast_to((np.arange(41) >= 1) & (np.arange(41) <= 36), (3, 41))
    change = np.zeros((3, 41))
    change[:, 20] = [1.0, 0.5, 0.0]
    rates = learned_rates(period, allowed, change)
    # Each of the middle periods contains two of the 36 possible trials.
    expected = {9: 0.25 * 1.5 * 18, 10: 0.5 * 1.5 * 18, 11: 0.25 * 1.5 * 18, 8: 0.0, 12: 0.0}
    for place, more in expected.items():
        assert rates[place] == pytest.approx(PRIOR_CHANGES + more)
