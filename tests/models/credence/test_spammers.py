"""Answers without looking: sums over favourites against their enumeration, and all changes against counting anew."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import betaln, gammaln, logsumexp

from karat.models.credence.spammers import guesses, patterns

Answers = st.lists(st.integers(-1, 2), min_size=1, max_size=9)


def with_favourites(levels: list[int], favourites: tuple[int, ...], count: int) -> float:
    """The log probability of answers if trial t has the favourite t mod L; each place of it has its own rate."""
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
def test_the_sum_over_favourites_is_that_of_the_enumeration(levels: list[int], length: int) -> None:
    count = 3
    every = list(product(range(count), repeat=length))
    if length > 1:
        every = [one for one in every if len(set(one)) > 1]
    # Patterns begin with the first trial of all, also for those who begin later.
    found = patterns(np.array([levels]), count, length)[0]
    for first in range(len(levels) + 1):
        rest = [-1] * first + levels[first:]
        expected = logsumexp([with_favourites(rest, one, count) for one in every]) - np.log(len(every))
        assert found[first] == pytest.approx(expected, abs=1e-6)


def test_a_favourite_of_two_answers_is_a_beta_rate() -> None:
    # Of two answers, eight and one are the shapes of the rate at which the favourite is given.
    found = patterns(np.array([[0, 0, 1, 0]]), 2, 1)[0, 0]
    either = [betaln(8 + right, 1 + 4 - right) - betaln(8, 1) for right in (3, 1)]
    assert found == pytest.approx(logsumexp(either) - np.log(2))


@given(Answers)
def test_guesses_are_even_or_of_a_taste(levels: list[int]) -> None:
    found = guesses(np.array([levels]), 3)[0]
    for first in range(len(levels) + 1):
        rest = [level for level in levels[first:] if level >= 0]
        taste = gammaln(9) - gammaln(9 + len(rest)) + sum(gammaln(3 + rest.count(k)) - gammaln(3) for k in range(3))
        even = -len(rest) * np.log(3)
        assert found[first] == pytest.approx(np.logaddexp(np.log(0.75) + even, np.log(0.25) + taste))


def test_the_taste_is_an_integral_over_rates() -> None:
    rate = quad(lambda p: 30 * p**2 * (1 - p) ** 2 * p**3 * (1 - p), 0, 1)[0]
    found = guesses(np.array([[0, 0, 1, 0]]), 2)[0, 0]
    assert np.exp(found) == pytest.approx(0.75 / 16 + 0.25 * rate)


@given(st.sampled_from([2, 3]), st.integers(1, 3))
def test_probabilities_of_all_answers_sum_to_one(count: int, length: int) -> None:
    everything = np.array(list(product(range(count), repeat=4)))
    assert np.exp(patterns(everything, count, length)[:, 0]).sum() == pytest.approx(1)
    assert np.exp(guesses(everything, count)[:, 0]).sum() == pytest.approx(1)
