"""Means and differences with intervals, against scipy's tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from karat.models.proportions import difference_interval, mean_interval


def test_the_interval_of_a_mean_is_that_of_the_t_test() -> None:
    values = np.random.default_rng(3).normal(0.4, 1, 23)
    mean, lower, upper = mean_interval(values)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert (mean, lower, upper) == pytest.approx((values.mean(), expected.low, expected.high))


def test_the_interval_of_a_difference_is_that_of_welchs_test() -> None:
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
