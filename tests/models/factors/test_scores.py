"""Factor scores beside what defines them."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.factors import score_weights


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
