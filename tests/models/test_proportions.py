"""Shares, means and sensitivity with intervals, against counting, scipy and their defining equations."""

from __future__ import annotations

from itertools import combinations
from math import comb, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest

from benchmarks import coverage as planned
from karat.models.choices import ChoiceFit
from karat.models.proportions import (
    clopper_pearson,
    difference_interval,
    fisher,
    holm,
    hypergeometric,
    least_fisher,
    mean_interval,
    sensitivity,
    wilson,
)
from messages import refuses
from tools.coverage import ITEMS, MODELS, PARTICIPANTS, WANTED, bradley_terry, compared, coverage, of_strengths

Z = 1.959963984540054


def counted_fisher(flagged: int, group: int, marked: int, everybody: int) -> float:
    """Fisher's p by enumeration of all possible sets of marked ones."""
    ways = [sum(one < group for one in chosen) for chosen in combinations(range(everybody), marked)]
    seen = ways.count(flagged)
    return sum(ways.count(number) for number in set(ways) if ways.count(number) <= seen) / len(ways)


@pytest.mark.parametrize("everybody", [1, 4, 7, 9])
def test_fisher_agrees_with_enumeration(everybody: int) -> None:
    for group in range(everybody + 1):
        for marked in range(everybody + 1):
            numbers, probabilities = hypergeometric(group, marked, everybody)
            assert probabilities.sum() == pytest.approx(1)
            for flagged in numbers.tolist():
                expected = counted_fisher(flagged, group, marked, everybody)
                assert fisher(flagged, group, marked, everybody) == pytest.approx(expected)
            least = min(counted_fisher(flagged, group, marked, everybody) for flagged in numbers.tolist())
            assert least_fisher(group, marked, everybody) == pytest.approx(least)


def test_fisher_with_whole_numbers_of_a_large_table() -> None:
    ways = {k: comb(300, k) * comb(700, 60 - k) for k in range(61)}
    expected = sum(number for number in ways.values() if number <= ways[28]) / comb(1000, 60)
    assert fisher(28, 300, 60, 1000) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_exact_intervals_agree_with_scipy(level: float) -> None:
    for k, n in ((0, 1), (0, 7), (3, 13), (7, 7), (1, 200)):
        expected = binomtest(k, n).proportion_ci(level, "exact")
        assert clopper_pearson(k, n, level) == pytest.approx((expected.low, expected.high))
    # An effective number need not be an integer.
    assert clopper_pearson(3, 13, level)[0] < clopper_pearson(3.3, 14.3, level)[0]


@given(st.integers(1, 500), st.data())
def test_wilson_contains_the_share_and_solves_its_equation(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    lower, upper = (float(end) for end in wilson(k, n))
    assert 0 <= lower <= k / n <= upper <= 1
    for end in (lower, upper):
        if 0 < end < 1:
            assert abs(k / n - end) == pytest.approx(Z * sqrt(end * (1 - end) / n), abs=1e-9)


def test_wilson_without_trials_is_nan() -> None:
    assert np.isnan(wilson(0, 0)).all()


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_step_by_step(values: list[float]) -> None:
    adjusted = holm(values)
    before = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        before = max(before, min(1.0, values[index] * (len(values) - rank)))
        assert adjusted[index] == pytest.approx(before)


def test_holm_agrees_with_its_definition() -> None:
    assert holm([0.04, 0.001, 0.02, 0.5]).tolist() == pytest.approx([0.08, 0.004, 0.06, 0.5])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]


def test_a_missing_p_is_not_counted() -> None:
    adjusted = holm([0.04, np.nan, 0.01])
    assert adjusted[[0, 2]].tolist() == pytest.approx([0.04, 0.02])
    assert np.isnan(adjusted[1])
    assert np.isnan(holm([np.nan])).all()


def test_the_interval_of_a_mean_agrees_with_the_t_test() -> None:
    values = np.random.default_rng(3).normal(0.4, 1, 23)
    mean, lower, upper = mean_interval(values)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert (mean, lower, upper) == pytest.approx((values.mean(), expected.low, expected.high))


def test_the_interval_of_a_difference_agrees_with_welchs_test() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.normal(1, 1, 12), rng.normal(0, 3, 31)
    difference, lower, upper = difference_interval(first, second)
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    assert (difference, lower, upper) == pytest.approx((first.mean() - second.mean(), expected.low, expected.high))


def test_too_few_values_have_no_interval() -> None:
    one, none = np.array([2.0]), np.array([])
    assert np.isnan(mean_interval(none)).all()
    assert mean_interval(one)[0] == 2
    assert np.isnan(mean_interval(one)[1:]).all()
    assert np.isnan(difference_interval(one, none)).all()
    assert difference_interval(one, np.array([1.0, 1.0]))[0] == 1
    assert difference_interval(np.array([2.0, 2.0]), np.array([1.0, 1.0])) == (1, 1, 1)


COUNTS = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, COUNTS)
def test_the_formula(yes: tuple[int, int], no: tuple[int, int]) -> None:
    z = NormalDist().inv_cdf
    hit, alarm = z((yes[0] + 0.5) / (yes[1] + 1)), z((no[0] + 0.5) / (no[1] + 1))
    d_prime, criterion = sensitivity(*yes, *no)
    assert float(d_prime) == pytest.approx(hit - alarm, abs=1e-9)
    assert float(criterion) == pytest.approx(-(hit + alarm) / 2, abs=1e-9)


@given(COUNTS, COUNTS)
def test_reversed_answers_have_opposite_sensitivity_and_bias(yes: tuple[int, int], no: tuple[int, int]) -> None:
    d_prime, criterion = sensitivity(*yes, *no)
    turned, bias = sensitivity(yes[1] - yes[0], yes[1], no[1] - no[0], no[1])
    assert float(turned) == pytest.approx(-float(d_prime), abs=1e-9)
    assert float(bias) == pytest.approx(-float(criterion), abs=1e-9)


def test_perfect_answers_stay_finite_constant_ones_undefined() -> None:
    d_prime, criterion = sensitivity([8, 8, 0], [8, 8, 0], [0, 0, 1], [8, 0, 8])
    assert d_prime[0] == pytest.approx(2 * NormalDist().inv_cdf(8.5 / 9))
    assert criterion[0] == pytest.approx(0)
    assert np.isnan(d_prime[1:]).all()
    assert np.isnan(criterion[1:]).all()


def test_no_participants_give_empty_results() -> None:
    d_prime, criterion = sensitivity([], [], [], [])
    assert d_prime.shape == criterion.shape == (0,)


@pytest.mark.parametrize("counts", [(9, 8, 0, 8), (0, 8, 9, 8), (-1, 8, 0, 8)])
def test_more_hits_than_trials_are_an_error(counts: tuple[int, int, int, int]) -> None:
    with refuses(ValueError):
        sensitivity(*counts)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MODELS))
def test_intervals_have_their_nominal_coverage(name: str) -> None:
    result = coverage(MODELS[name], runs=500)
    assert WANTED[0] <= result.share <= WANTED[1], str(result)
    assert result.refused <= 10


def test_each_participant_judges_every_item_twice() -> None:
    truth, left, right, who = compared(np.random.default_rng(1))
    assert len(truth) == ITEMS
    assert (left != right).all()
    for person in range(PARTICIPANTS):
        met = np.concatenate([left[who == person], right[who == person]])
        assert (np.bincount(met) == 2).all()


def test_a_shift_of_all_strengths_does_not_matter() -> None:
    truth = np.linspace(-1, 1, ITEMS)
    covariance = 0.01 * np.eye(ITEMS)
    assert of_strengths(truth + 5, ChoiceFit(truth, covariance, 0.0, True, 0.0)).held == 1.0
    wrong = truth.copy()
    wrong[:2] += [1.0, -1.0]
    assert of_strengths(wrong, ChoiceFit(truth, covariance, 0.0, True, 0.0)).held == 1 - 2 / ITEMS


@pytest.mark.few(1)
@pytest.mark.parametrize("name", list(MODELS))
def test_simulated_studies_are_reproducible(name: str) -> None:
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


def test_a_rate_outside_the_expected_range_is_reported() -> None:
    cells = [planned.Cell(16, 12, "yes or no"), planned.Cell(16, 12, "5 points")]
    well = {"runs": 2000, "none": 0, "simplified": 1000, "main effect": 100, "main effect by z": 130, "interaction": 95,
            "interaction by z": 120}  # fmt: skip
    result = planned.rates({str(cell): well for cell in cells}, cells)
    interval = binomtest(100, 2000).proportion_ci(0.99)
    assert result[0]["interval"] == pytest.approx((interval.low, interval.high))
    assert planned.missed(result) == []
    wrong = planned.rates({str(cells[0]): well | {"main effect": 160}, str(cells[1]): well}, cells)
    assert planned.missed(wrong) == ["16 x 12, yes or no, default, main effect: 0.080"]


@pytest.mark.slow
def test_smallest_planned_tests_hold_their_level() -> None:
    counts = [planned.counted(planned.Cell(16, 12, "yes or no"), number) for number in range(300)]
    hits = sum(one[name] for one in counts for name in planned.NAMES)
    assert hits <= 45  # 600 tests at .05 have more than that once in a thousand times
