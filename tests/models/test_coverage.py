"""Intervals of 95 % hold the truth in 93 to 97 % of simulated studies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from benchmarks import coverage as planned
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


def test_shift_of_all_strengths_does_not_count() -> None:
    truth = np.linspace(-1, 1, ITEMS)
    covariance = 0.01 * np.eye(ITEMS)
    assert of_strengths(truth + 5, ChoiceFit(truth, covariance, 0.0, True, 0.0)).held == 1.0
    wrong = truth.copy()
    wrong[:2] += [1.0, -1.0]
    assert of_strengths(wrong, ChoiceFit(truth, covariance, 0.0, True, 0.0)).held == 1 - 2 / ITEMS


@pytest.mark.few(1)
@pytest.mark.parametrize("name", list(MODELS))
def test_a_study_is_the_same_each_time(name: str) -> None:
    assert MODELS[name](7) == MODELS[name](7)


def test_a_study_without_an_estimate_is_refused() -> None:
    assert bradley_terry(200).refused


@pytest.mark.slow
def test_small_study_lacks_first_effect_and_repeats() -> None:
    cell = planned.Cell(16, 12, "5 points")
    assert planned.study(cell, 3).frame.equals(planned.study(cell, 3).frame)
    assert not planned.study(cell, 3).frame.equals(planned.study(cell, 4).frame)
    frame = planned.study(cell, 0).frame
    assert frame.group_by("participant", "a", "b").len()["len"].to_list() == [3] * 64
    counts = planned.counted(planned.Cell(16, 12, "yes or no"), 0)
    assert (counts["runs"], counts["none"]) == (1, 0)
    assert counts["main effect"] <= counts["main effect by z"]


def test_a_rate_outside_of_the_wanted_range_is_reported() -> None:
    cells = [planned.Cell(16, 12, "yes or no"), planned.Cell(16, 12, "5 points")]
    well = {"runs": 2000, "none": 0, "simplified": 1000, "main effect": 100, "main effect by z": 130, "interaction": 95,
            "interaction by z": 120}  # fmt: skip
    found = planned.rates({str(cell): well for cell in cells}, cells)
    interval = binomtest(100, 2000).proportion_ci(0.99)
    assert found[0]["interval"] == pytest.approx((interval.low, interval.high))
    assert planned.missed(found) == []
    wrong = planned.rates({str(cells[0]): well | {"main effect": 160}, str(cells[1]): well}, cells)
    assert planned.missed(wrong) == ["16 x 12, yes or no, default, main effect: 0.080"]


@pytest.mark.slow
def test_smallest_planned_tests_hold_their_level() -> None:
    counts = [planned.counted(planned.Cell(16, 12, "yes or no"), number) for number in range(300)]
    hits = sum(one[name] for one in counts for name in planned.NAMES)
    assert hits <= 45  # 600 tests at .05 have more than that once in a thousand times
