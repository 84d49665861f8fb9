"""Measures of fit and scores against their definitions; the RMSEA interval against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from karat.models.factors import extract, fit_of, score_weights
from karat.models.factors.fit import degrees_of_freedom


def example(n: int = 150, k: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    values = random.standard_normal((n, 2)) @ random.uniform(-1, 1, (2, 6)) + random.standard_normal((n, 6))
    matrix = np.corrcoef(values, rowvar=False)
    result = extract(matrix, k)
    return matrix, result.loadings, result.uniquenesses


def test_chi_squared_agrees_with_the_extraction() -> None:
    matrix, loadings, uniquenesses = example()
    fit = fit_of(matrix, loadings, uniquenesses, 150)
    assert fit.objective == pytest.approx(extract(matrix, 1).objective, abs=1e-9)
    assert fit.chi2 == pytest.approx((150 - 1 - 17 / 6 - 2 / 3) * fit.objective)
    assert fit.p_value == pytest.approx(stats.chi2.sf(fit.chi2, 9))
    assert fit.bic == pytest.approx(fit.chi2 - 9 * np.log(150))


def test_rmsea_limits_have_the_observed_value_as_quantile() -> None:
    fit = fit_of(*example(), 150)
    low, high = fit.rmsea_interval
    assert low < fit.rmsea < high
    for end, share in ((low, 0.95), (high, 0.05)):
        assert stats.ncx2.cdf(fit.chi2, fit.dof, end**2 * 150 * fit.dof) == pytest.approx(share, abs=1e-6)


def test_residuals_agree_with_a_loop() -> None:
    matrix, loadings, uniquenesses = example()
    squares = [(matrix[i, j] - loadings[i] @ loadings[j]) ** 2 for i in range(6) for j in range(6) if i != j]
    assert fit_of(matrix, loadings, uniquenesses, 150).rmsr == pytest.approx(np.sqrt(np.mean(squares)))


def test_without_degrees_of_freedom_there_is_no_test() -> None:
    matrix, loadings, uniquenesses = example(k=3)
    fit = fit_of(matrix, loadings, uniquenesses, 150)
    assert fit.dof == degrees_of_freedom(6, 3) == 0
    assert np.isnan(fit.p_value)
    assert np.isnan(fit.rmsea)


def model() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    loadings = np.zeros((6, 2))
    loadings[np.arange(6), np.arange(6) % 2] = random.uniform(0.5, 0.9, 6)
    phi = np.array([[1, 0.4], [0.4, 1]])
    psi = 1 - np.diag(loadings @ phi @ loadings.T)
    return loadings @ phi @ loadings.T + np.diag(psi), loadings, phi, psi


def test_regression_scores_regress_factors_on_answers() -> None:
    matrix, loadings, phi, psi = model()
    random = np.random.default_rng(2)
    factors = random.multivariate_normal([0, 0], phi, size=200_000)
    answers = factors @ loadings.T + np.sqrt(psi) * random.standard_normal((200_000, 6))
    expected = np.linalg.lstsq(answers, factors, rcond=None)[0]
    np.testing.assert_allclose(score_weights(matrix, loadings, phi, psi), expected, atol=0.01)


def test_bartlett_scores_restore_factors_without_error() -> None:
    matrix, loadings, phi, psi = model()
    factors = np.random.default_rng(3).standard_normal((20, 2))
    weights = score_weights(matrix, loadings, phi, psi, "bartlett")
    np.testing.assert_allclose(factors @ loadings.T @ weights, factors)


def test_the_variance_of_regression_scores_is_their_validity() -> None:
    matrix, loadings, phi, psi = model()
    weights = score_weights(matrix, loadings, phi, psi)
    variance = np.diag(weights.T @ matrix @ weights)
    assert variance == pytest.approx(np.diag(weights.T @ loadings @ phi))
    assert (variance < 1).all()
