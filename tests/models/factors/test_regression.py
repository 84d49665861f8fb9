"""Regression beside loops that leave one case out, and beside scipy for one predictor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from karat.models.factors import regress
from messages import refuses


def data(n: int = 25) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    x = random.standard_normal((n, 3)) @ np.array([[1, 0.6, 0], [0, 1, 0], [0, 0, 1]])
    return x @ [1.0, -0.5, 0.0] + random.standard_normal(n), x


def test_one_predictor_beside_scipy() -> None:
    y, x = data()
    found, other = regress(y, x[:, :1]), stats.linregress(x[:, 0], y)
    assert found.weights[0] == pytest.approx(other.slope)
    assert found.errors[0] == pytest.approx(other.stderr)
    assert found.p_values[0] == pytest.approx(other.pvalue) == found.p_value
    assert found.r2 == pytest.approx(other.rvalue**2)
    assert found.inflation[0] == pytest.approx(1)
    assert found.standardised[0] == pytest.approx(other.rvalue)


def test_cases_left_out_one_by_one() -> None:
    y, x = data()
    missed, plain = 0.0, 0.0
    for case in range(len(y)):
        rest = np.arange(len(y)) != case
        weights = np.linalg.lstsq(np.column_stack([np.ones(rest.sum()), x[rest]]), y[rest], rcond=None)[0]
        missed += (y[case] - weights[0] - x[case] @ weights[1:]) ** 2
        plain += (y[case] - y[rest].mean()) ** 2
    assert regress(y, x).left_out_r2 == pytest.approx(1 - missed / plain)


def test_inflation_is_that_of_the_regression_on_the_others() -> None:
    y, x = data()
    for column in range(3):
        others = np.delete(x, column, axis=1)
        assert regress(y, x).inflation[column] == pytest.approx(1 / (1 - regress(x[:, column], others).r2))


def test_intervals_hold_the_weights_and_the_f_test_is_that_of_r2() -> None:
    y, x = data()
    found = regress(y, x)
    assert (found.lower < found.weights).all()
    assert (found.weights < found.upper).all()
    f = found.r2 / 3 / ((1 - found.r2) / 21)
    assert found.f == pytest.approx(f)
    assert found.p_value == pytest.approx(stats.f.sf(f, 3, 21))


def test_too_few_cases_and_repeated_predictors_are_refused() -> None:
    y, x = data()
    with refuses(ValueError, "4 cases", "3 predictors"):
        regress(y[:4], x[:4])
    with refuses(ValueError):
        regress(y, np.column_stack([x, x[:, 0]]))
