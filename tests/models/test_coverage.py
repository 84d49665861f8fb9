"""Intervals of 95 % hold the truth in 93 to 97 % of simulated studies."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.choices import ChoiceFit
from tools.coverage import ITEMS, MODELS, PARTICIPANTS, WANTED, bradley_terry, compared, coverage, of_strengths


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MODELS))
def test_intervals_hold_the_truth_as_often_as_they_say(name: str) -> None:
    found = coverage(MODELS[name], runs=500)
    assert WANTED[0] <= found.share <= WANTED[1], str(found)
    assert found.refused <= 10


def test_everybody_meets_every_item_twice() -> None:
    truth, left, right, who = compared(np.random.default_rng(1))
    assert len(truth) == ITEMS
    assert (left != right).all()
    for person in range(PARTICIPANTS):
        met = np.concatenate([left[who == person], right[who == person]])
        assert (np.bincount(met) == 2).all()


def test_a_shift_of_all_strengths_does_not_count_and_a_wrong_one_does() -> None:
    truth = np.linspace(-1, 1, ITEMS)
    covariance = 0.01 * np.eye(ITEMS)
    assert of_strengths(truth + 5, ChoiceFit(truth, covariance, 0.0, True, 0.0)).held == 1.0
    wrong = truth.copy()
    wrong[:2] += [1.0, -1.0]
    assert of_strengths(wrong, ChoiceFit(truth, covariance, 0.0, True, 0.0)).held == 1 - 2 / ITEMS


@pytest.mark.parametrize("name", list(MODELS))
def test_a_study_is_the_same_each_time(name: str) -> None:
    assert MODELS[name](7) == MODELS[name](7)


def test_a_study_without_an_estimate_is_refused() -> None:
    assert bradley_terry(200).refused
