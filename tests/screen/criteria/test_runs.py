"""The longest run against the enumeration of all sequences."""

from __future__ import annotations

from itertools import groupby, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.screen.criteria.straightlining import binomial_tail, longest_run_tail
from messages import refuses

WEIGHTS = st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(lambda weights: sum(weights) > 0)


def enumerated(shares: list[float], trials: int, only: int | None = None) -> list[float]:
    """The distribution of the longest run from all sequences; of one answer only, where it is named."""
    chance = [0.0] * (trials + 1)
    for sequence in product(range(len(shares)), repeat=trials):
        lengths = [len(list(run)) for answer, run in groupby(sequence) if only is None or answer == only]
        chance[max(lengths, default=0)] += float(np.prod([shares[answer] for answer in sequence]))
    return chance


def longest_run_distribution(shares: list[float], trials: int) -> np.ndarray:
    """The probabilities that the longest run of any answer is 0, 1, ..., `trials` long."""
    tail = longest_run_tail([shares] * (trials + 2), [trials] * (trials + 2), range(trials + 2))
    return tail[:-1] - tail[1:]


def longest_run_of_one(share: float, trials: int) -> np.ndarray:
    """The same for one answer alone, which has the given share, by Schilling's recursion.

    The probability of at most x is 1 for n <= x, and otherwise the sum over j = 0, ..., x of share^j (1 - share) times
    that of n - 1 - j trials.
    """
    at_most = np.ones(trials + 1)
    for x in range(trials):
        weights = (1 - share) * share ** np.arange(x + 1)
        chance = np.ones(trials + 1)
        for n in range(x + 1, trials + 1):
            chance[n] = weights @ chance[n - 1 - np.arange(x + 1)]
        at_most[x] = chance[trials]
    return np.diff(at_most, prepend=0.0)


@given(WEIGHTS, st.integers(0, 6))
def test_any_answer_agrees_with_enumeration(weights: list[int], trials: int) -> None:
    shares = [weight / sum(weights) for weight in weights]
    assert longest_run_distribution(shares, trials) == pytest.approx(enumerated(shares, trials), abs=1e-12)


@given(st.floats(0, 1), st.integers(0, 9))
def test_one_answer_agrees_with_enumeration(share: float, trials: int) -> None:
    assert longest_run_of_one(share, trials) == pytest.approx(enumerated([1 - share, share], trials, 1), abs=1e-12)


def test_schillings_numbers() -> None:
    """Of 2^n tosses, A_n(3) have no run of heads over 3: 1, 2, 4, 8, 15, 29, 56, 108, 208 (Schilling's table)."""
    counts = [round(float(longest_run_of_one(0.5, n)[:4].sum()) * 2**n) for n in range(9)]
    assert counts == [1, 2, 4, 8, 15, 29, 56, 108, 208]


@given(st.integers(1, 60))
def test_runs_of_heads_or_tails_are_runs_of_heads_one_shorter(trials: int) -> None:
    """Schilling: a run of equal tosses is a run of "as before" and one toss more."""
    either = longest_run_distribution([0.5, 0.5], trials)
    assert either[1:] == pytest.approx(longest_run_of_one(0.5, trials - 1), abs=1e-12)


@given(WEIGHTS, st.integers(1, 80))
def test_tails_fall_and_the_distribution_sums_to_one(weights: list[int], trials: int) -> None:
    shares = [weight / sum(weights) for weight in weights]
    tail = longest_run_tail([shares] * (trials + 2), [trials] * (trials + 2), range(trials + 2))
    assert np.all(np.diff(tail) <= 1e-12)
    assert longest_run_distribution(shares, trials).sum() == pytest.approx(1)


def test_small_tails_keep_their_digits() -> None:
    assert longest_run_tail([[0.2] * 5], [75], [75])[0] == pytest.approx(5.0**-74, rel=1e-12)


def test_many_sequences_are_those_one_by_one() -> None:
    rng = np.random.default_rng(4)
    shares = rng.dirichlet(np.ones(4), 40)
    trials, lengths = rng.integers(0, 30, 40), rng.integers(0, 12, 40)
    together = longest_run_tail(shares, trials, lengths)
    assert longest_run_tail(shares, trials, lengths, cells=500) == pytest.approx(together, abs=1e-15)
    for row in range(40):
        assert longest_run_tail(shares[row], [trials[row]], [lengths[row]])[0] == pytest.approx(together[row])


def test_what_cannot_be_is_said() -> None:
    with refuses(ValueError, "shares, trials and lengths"):
        longest_run_tail([[0.5, 0.5]], [3, 4], [2, 2])
    with refuses(ValueError, "shares", 1):
        longest_run_tail([[0.5, 0.6]], [3], [2])
    with refuses(ValueError, "shares", 0):
        longest_run_tail([[1.5, -0.5]], [3], [2])


@given(st.integers(-1, 42), st.integers(0, 40), st.floats(0, 1))
def test_binomial_tails(successes: int, trials: int, chance: float) -> None:
    plain = sum(
        comb(trials, j) * chance**j * (1 - chance) ** (trials - j) for j in range(max(successes, 0), trials + 1)
    )
    assert binomial_tail([successes], [trials], [chance])[0] == pytest.approx(plain, rel=1e-9, abs=1e-15)
