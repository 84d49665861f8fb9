"""Correlations against numpy and scipy, recovery of polychoric ones, adequacy, and leave-one-out regression."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.models.factors import bartlett, kmo, nearest_correlation, pearson, polychoric, regress
from karat.models.factors.correlations import bivariate_normal, cell_probabilities, table_correlation
from messages import refuses


def test_pearson_agrees_with_numpy() -> None:
    values = np.random.default_rng(1).standard_normal((30, 4)) + 100
    np.testing.assert_allclose(pearson(values), np.corrcoef(values, rowvar=False))
    assert np.diag(pearson(values)).tolist() == [1.0] * 4


@given(x=st.floats(-3, 3), y=st.floats(-3, 3), rho=st.floats(-0.99, 0.99))
@settings(max_examples=60)
def test_the_bivariate_normal_agrees_with_scipy(x: float, y: float, rho: float) -> None:
    expected = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([x, y])
    assert float(bivariate_normal(np.array(x), np.array(y), rho)) == pytest.approx(float(expected), abs=1e-6)


@given(rho=st.floats(-0.95, 0.95))
@settings(max_examples=20)
def test_a_table_of_expected_counts_gives_its_correlation(rho: float) -> None:
    cells = cell_probabilities(np.array([-1.0, 0.2, 0.9]), np.array([-0.4, 0.7]), rho)
    assert cells.sum() == pytest.approx(1)
    assert (cells > 0).all()
    assert table_correlation(cells * 1000) == pytest.approx(rho, abs=1e-5)


def test_polychoric_exceeds_pearson_for_coarse_answers() -> None:
    random = np.random.default_rng(2)
    latent = random.multivariate_normal([0, 0, 0], [[1, 0.7, 0.3], [0.7, 1, 0.5], [0.3, 0.5, 1]], size=3000)
    answers = np.digitize(latent, [-0.5, 0.8]).astype(float)
    result = polychoric(answers)
    np.testing.assert_allclose(result[np.triu_indices(3, 1)], [0.7, 0.3, 0.5], atol=0.04)
    assert (np.corrcoef(answers, rowvar=False)[np.triu_indices(3, 1)] < result[np.triu_indices(3, 1)]).all()


def test_missing_answers_are_excluded_pairwise() -> None:
    random = np.random.default_rng(3)
    answers = random.integers(1, 5, (80, 3)).astype(float)
    gaps = answers.copy()
    gaps[:10, 2] = np.nan
    result = polychoric(gaps)
    assert result[0, 1] == polychoric(answers)[0, 1]
    assert result[0, 2] == polychoric(answers[10:])[0, 2]


def test_a_single_answer_has_no_correlation() -> None:
    assert np.isnan(table_correlation(np.array([[3.0, 4.0]])))


def test_an_impossible_matrix_is_fixed() -> None:
    wrong = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    fixed, changed = nearest_correlation(wrong)
    assert changed
    assert np.linalg.eigvalsh(fixed).min() > 0
    np.testing.assert_allclose(np.diag(fixed), 1)


def values() -> np.ndarray:
    random = np.random.default_rng(1)
    return random.standard_normal((200, 2)) @ random.uniform(0, 1, (2, 5)) + random.standard_normal((200, 5))


def test_partial_correlations_are_those_of_residuals() -> None:
    data = values()
    data = data - data.mean(axis=0)
    partial = np.zeros((5, 5))
    for i in range(5):
        for j in range(5):
            if i != j:
                others = data[:, [k for k in range(5) if k not in (i, j)]]
                left = [data[:, k] - others @ np.linalg.lstsq(others, data[:, k], rcond=None)[0] for k in (i, j)]
                partial[i, j] = np.corrcoef(left)[0, 1]
    matrix = np.corrcoef(data, rowvar=False)
    r, q = matrix**2 - np.eye(5), partial**2
    whole, each = kmo(matrix)
    assert whole == pytest.approx(r.sum() / (r.sum() + q.sum()))
    np.testing.assert_allclose(each, r.sum(axis=1) / (r.sum(axis=1) + q.sum(axis=1)))


def test_bartlett() -> None:
    matrix = np.corrcoef(values(), rowvar=False)
    chi2, dof, p = bartlett(matrix, 200)
    assert chi2 == pytest.approx(-(199 - 15 / 6) * np.log(np.linalg.det(matrix)))
    assert dof == 10
    assert p == pytest.approx(stats.chi2.sf(chi2, 10))


def test_uncorrelated_variables_have_no_kmo() -> None:
    assert np.isnan(kmo(np.eye(3))[0])


def data(n: int = 25) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    x = random.standard_normal((n, 3)) @ np.array([[1, 0.6, 0], [0, 1, 0], [0, 0, 1]])
    return x @ [1.0, -0.5, 0.0] + random.standard_normal(n), x


def test_one_predictor_agrees_with_scipy() -> None:
    y, x = data()
    result, other = regress(y, x[:, :1]), stats.linregress(x[:, 0], y)
    assert result.weights[0] == pytest.approx(other.slope)
    assert result.errors[0] == pytest.approx(other.stderr)
    assert result.p_values[0] == pytest.approx(other.pvalue) == result.p_value
    assert result.r2 == pytest.approx(other.rvalue**2)
    assert result.inflation[0] == pytest.approx(1)
    assert result.standardised[0] == pytest.approx(other.rvalue)


def test_cross_validation_agrees_with_a_loop() -> None:
    y, x = data()
    missed, plain = 0.0, 0.0
    for case in range(len(y)):
        rest = np.arange(len(y)) != case
        weights = np.linalg.lstsq(np.column_stack([np.ones(rest.sum()), x[rest]]), y[rest], rcond=None)[0]
        missed += (y[case] - weights[0] - x[case] @ weights[1:]) ** 2
        plain += (y[case] - y[rest].mean()) ** 2
    assert regress(y, x).left_out_r2 == pytest.approx(1 - missed / plain)


def test_inflation_agrees_with_regressions_on_the_others() -> None:
    y, x = data()
    for column in range(3):
        others = np.delete(x, column, axis=1)
        assert regress(y, x).inflation[column] == pytest.approx(1 / (1 - regress(x[:, column], others).r2))


def test_intervals_contain_weights_and_f_test_agrees_with_r2() -> None:
    y, x = data()
    result = regress(y, x)
    assert (result.lower < result.weights).all()
    assert (result.weights < result.upper).all()
    f = result.r2 / 3 / ((1 - result.r2) / 21)
    assert result.f == pytest.approx(f)
    assert result.p_value == pytest.approx(stats.f.sf(f, 3, 21))


def test_too_few_cases_and_repeated_predictors_are_refused() -> None:
    y, x = data()
    with refuses(ValueError, "4 cases", "3 predictors"):
        regress(y[:4], x[:4])
    with refuses(ValueError):
        regress(y, np.column_stack([x, x[:, 0]]))
