"""When behaviour changes: even before anything is learned, and about where the crowd changes afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.credence.spammers import PERIODS, PRIOR_CHANGES, learned_rates, log_when, periods


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_who_may_change_changes_somewhere(answered: list[int], seed: int) -> None:
    given_answers = np.array(answered)
    period = periods(50, given_answers)
    place = np.arange(51)
    allowed = (place >= 1) & (place <= given_answers[:, None] - 3)
    rates = np.random.default_rng(seed).uniform(0.1, 9, PERIODS)
    found = np.exp(log_when(period, allowed, rates)).sum(axis=1)
    assert found == pytest.approx(allowed.any(axis=1).astype(float))
    assert (np.diff(period, axis=1) >= 0).all()
    assert period.max() < PERIODS


def test_without_changes_all_trials_are_as_probable() -> None:
    period, allowed = periods(30, np.array([30, 20])), np.ones((2, 31), dtype=bool)
    rates = learned_rates(period, allowed, np.zeros((2, 31)))
    assert (rates == PRIOR_CHANGES).all()


def test_changes_are_learned_for_each_period_and_its_neighbours() -> None:
    period = periods(40, np.full(3, 40))
    allowed = np.broadcast_to((np.arange(41) >= 1) & (np.arange(41) <= 36), (3, 41))
    change = np.zeros((3, 41))
    change[:, 20] = [1.0, 0.5, 0.0]
    rates = learned_rates(period, allowed, change)
    # Two of 36 possible trials lie in each of the periods in the middle.
    expected = {9: 0.25 * 1.5 * 18, 10: 0.5 * 1.5 * 18, 11: 0.25 * 1.5 * 18, 8: 0.0, 12: 0.0}
    for place, more in expected.items():
        assert rates[place] == pytest.approx(PRIOR_CHANGES + more)
