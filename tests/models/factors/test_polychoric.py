"""Polychoric correlations: the normal distribution beside scipy's, and correlations found again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from karat.models.factors import nearest_correlation, polychoric
from karat.models.factors.correlations import bivariate_normal, cell_probabilities, table_correlation


@given(x=st.floats(-3, 3), y=st.floats(-3, 3), rho=st.floats(-0.99, 0.99))
@settings(max_examples=60)
def test_the_distribution_is_scipys(x: float, y: float, rho: float) -> None:
    expected = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([x, y])
    assert float(bivariate_normal(np.array(x), np.array(y), rho)) == pytest.approx(float(expected), abs=1e-6)


@given(rho=st.floats(-0.95, 0.95))
@settings(max_examples=20)
def test_a_table_of_expected_counts_gives_its_correlation(rho: float) -> None:
    cells = cell_probabilities(np.array([-1.0, 0.2, 0.9]), np.array([-0.4, 0.7]), rho)
    assert cells.sum() == pytest.approx(1)
    assert (cells > 0).all()
    assert table_correlation(cells * 1000) == pytest.approx(rho, abs=1e-5)


def test_coarse_answers_hide_less_than_pearson_thinks() -> None:
    random = np.random.default_rng(2)
    latent = random.multivariate_normal([0, 0, 0], [[1, 0.7, 0.3], [0.7, 1, 0.5], [0.3, 0.5, 1]], size=3000)
    answers = np.digitize(latent, [-0.5, 0.8]).astype(float)
    found = polychoric(answers)
    np.testing.assert_allclose(found[np.triu_indices(3, 1)], [0.7, 0.3, 0.5], atol=0.04)
    assert (np.corrcoef(answers, rowvar=False)[np.triu_indices(3, 1)] < found[np.triu_indices(3, 1)]).all()


def test_missing_answers_are_left_out_pair_by_pair() -> None:
    random = np.random.default_rng(3)
    answers = random.integers(1, 5, (80, 3)).astype(float)
    gaps = answers.copy()
    gaps[:10, 2] = np.nan
    found = polychoric(gaps)
    assert found[0, 1] == polychoric(answers)[0, 1]
    assert found[0, 2] == polychoric(answers[10:])[0, 2]


def test_one_answer_alone_has_no_correlation() -> None:
    assert np.isnan(table_correlation(np.array([[3.0, 4.0]])))


def test_a_matrix_that_cannot_be_is_fixed() -> None:
    wrong = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    fixed, changed = nearest_correlation(wrong)
    assert changed
    assert np.linalg.eigvalsh(fixed).min() > 0
    np.testing.assert_allclose(np.diag(fixed), 1)
