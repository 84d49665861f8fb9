"""Split halves, single raters against the others, and samples of participants."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.resampling import centred_interval, components, percentile_interval, resamples, stratified_resamples
from karat.models.split_half import (
    column_correlations,
    equal_to_majority,
    split_half,
    with_the_majority,
    with_the_mean,
    within_raters,
)


def crossed(items: int, raters: int, seed: int, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    table = random.normal(size=(items, 1)) + noise * random.normal(size=(items, raters))
    item, rater = np.nonzero(np.ones_like(table))
    return item, rater, table[item, rater]


def test_random_halves_are_close_to_all_halves() -> None:
    item, rater, value = crossed(12, 6, 1)
    table = value.reshape(12, 6)
    result = []
    for half in combinations(range(6), 3):
        rest = [one for one in range(6) if one not in half]
        result.append(np.corrcoef(table[:, half].mean(axis=1), table[:, rest].mean(axis=1))[0, 1])
    r = np.mean(result)
    assert split_half(item, rater, value, splits=20_000)[0] == pytest.approx(2 * r / (1 + r), abs=0.01)


def test_reliability_agrees_with_variances_for_many_items() -> None:
    item, rater, value = crossed(400, 20, 2, noise=2.0)
    assert split_half(item, rater, value)[0] == pytest.approx(20 / (20 + 4), abs=0.02)
    assert split_half(item, rater, value)[0] == pytest.approx(
        components(item, rater, value).icc_consistency(20)[0], abs=0.005
    )


def test_reliability_agrees_with_variances_for_unequal_halves() -> None:
    random = np.random.default_rng(3)
    item, rater, value = crossed(3000, 40, 4, noise=1.3)
    some = random.random((3000, 40)).argsort(axis=1).ravel() < 6
    result = split_half(item[some], rater[some], value[some], splits=20)[0]
    assert result == pytest.approx(1 / (1 + 1.3**2 / 6), abs=0.01)


def test_samples_refer_to_a_study_of_the_same_size() -> None:
    """Copies of a participant in both halves would increase the reliability, fewer distinct ones decrease it."""
    item, rater, value = crossed(300, 24, 3, noise=3.0)
    estimate = split_half(item, rater, value)[0]
    drawn = split_half(item, rater, value, 4, resamples(24, 200, 1))
    assert drawn.mean() == pytest.approx(estimate, abs=0.03)


def test_halves_without_common_items_are_missing() -> None:
    assert np.isnan(split_half([0, 1, 2, 3], [0, 0, 1, 1], [1.0, 2, 3, 4])[0])
    assert np.isnan(split_half([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], np.ones(6))[0])


@given(st.integers(0, 1000))
def test_column_correlations_are_correlations(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.normal(size=(2, 9, 3))
    x[random.random(x.shape) < 0.2] = np.nan
    for column, result in enumerate(column_correlations(x, y)):
        kept = ~np.isnan(x[:, column])
        if kept.sum() >= 3:
            assert result == pytest.approx(np.corrcoef(x[kept, column], y[kept, column])[0, 1])


def test_single_raters_against_the_others() -> None:
    item, rater, value = crossed(15, 5, 4)
    table = value.reshape(15, 5)
    others = [np.corrcoef(table[:, p], np.delete(table, p, axis=1).mean(axis=1))[0, 1] for p in range(5)]
    everybody = [np.corrcoef(table[:, p], table.mean(axis=1))[0, 1] for p in range(5)]
    lower, upper = with_the_mean(item, rater, value)
    assert (lower[0], upper[0]) == (pytest.approx(np.mean(others)), pytest.approx(np.mean(everybody)))
    times = np.array([2.0, 0, 1, 1, 1])
    lower, _ = with_the_mean(item, rater, value, times)
    expected = []
    for p in np.flatnonzero(times):
        rest = np.where(np.arange(5) == p, 0.0, times)
        expected += [np.corrcoef(table[:, p], table @ rest)[0, 1]] * int(times[p])
    assert lower[0] == pytest.approx(np.mean(expected))


def test_majority_of_the_others_by_hand() -> None:
    item, category = np.array([0, 0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 2, 1, 0, 0])
    np.testing.assert_array_equal(equal_to_majority(item, category, 3, np.ones(7)), [1 / 3, 1 / 3, 0, 0, 0, 0, np.nan])
    assert with_the_majority([0, 0, 0], [0, 1, 2], [1, 1, 1])[0] == 1


def test_correlations_within_raters_need_three_answers_that_vary() -> None:
    rater = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    result = within_raters(rater, np.array([1.0, 2, 4, 1, 2, 3, 1, 2]), np.array([1.0, 3, 2, 5, 5, 5, 1, 2]), 3)
    assert result[0] == pytest.approx(np.corrcoef([1, 2, 4], [1, 3, 2])[0, 1])
    assert np.isnan(result[1:]).all()


def test_samples_preserve_group_sizes() -> None:
    weights = stratified_resamples(["a", "a", "b", "b", "b"], 50, 1)
    assert (weights[:2].sum(axis=0) == 2).all()
    assert (weights[2:].sum(axis=0) == 3).all()
    assert len({tuple(column) for column in weights.T}) > 10
    np.testing.assert_array_equal(resamples(4, 5, 9), resamples(4, 5, 9))


def test_intervals() -> None:
    assert np.isnan(percentile_interval(np.array([np.nan, np.nan, 1.0]))).all()
    assert np.isnan(centred_interval(float("nan"), np.array([0.1, 0.2]))).all()
    lower, upper = centred_interval(0.9, np.tanh(np.arctanh(0.5) + np.linspace(-1, 1, 201)))
    assert np.arctanh([lower, upper]) == pytest.approx(np.arctanh(0.9) + np.array([-0.95, 0.95]))
