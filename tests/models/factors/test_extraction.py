"""Recovery of factors and their number, zero slopes at the solution, and a search over loadings."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

from karat.models.factors import LOWEST, acceleration, extract, map_test, parallel_analysis
from karat.models.factors.extraction import likelihood_discrepancy, residual_discrepancy
from messages import refuses

Method = Literal["ml", "minres"]


def correlated(seed: int, p: int = 7, k: int = 2, n: int = 300) -> np.ndarray:
    """A correlation matrix of data with k factors."""
    random = np.random.default_rng(seed)
    loadings = random.uniform(-0.9, 0.9, (p, k))
    values = random.standard_normal((n, k)) @ loadings.T + random.uniform(0.4, 0.9, p) * random.standard_normal((n, p))
    return np.corrcoef(values, rowvar=False)


@pytest.mark.parametrize("method", ["ml", "minres"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_a_model_without_error_is_recovered(method: Method, seed: int) -> None:
    random = np.random.default_rng(seed)
    loadings = random.uniform(0.5, 0.8, (6, 1))
    model = loadings @ loadings.T + np.diag(1 - (loadings**2)[:, 0])
    result = extract(model, 1, method, others=0)
    assert result.converged
    np.testing.assert_allclose(result.loadings, loadings, atol=1e-4)
    np.testing.assert_allclose(result.uniquenesses, 1 - (loadings**2)[:, 0], atol=1e-4)


@pytest.mark.parametrize("problem", [likelihood_discrepancy, residual_discrepancy])
def test_slopes_agree_with_the_objective(problem: object) -> None:
    matrix, logs = correlated(3), np.log(np.random.default_rng(1).uniform(0.2, 0.8, 7))
    slope = approx_fprime(logs, lambda at: problem(np.exp(at), matrix, 2)[0], 1e-7)  # type: ignore[operator]
    np.testing.assert_allclose(problem(np.exp(logs), matrix, 2)[1], slope, atol=1e-5)  # type: ignore[operator]


@pytest.mark.parametrize("method", ["ml", "minres"])
def test_the_slope_at_the_solution_is_zero(method: Method) -> None:
    matrix = correlated(5)
    result = extract(matrix, 2, method)
    assert result.converged
    assert result.gradient < 1e-5
    problem = likelihood_discrepancy if method == "ml" else residual_discrepancy
    slope = approx_fprime(np.log(result.uniquenesses), lambda at: problem(np.exp(at), matrix, 2)[0], 1e-7)
    free = ~result.at_bound
    assert np.abs(slope[free]).max() < 1e-4


@pytest.mark.slow
def test_no_search_over_loadings_finds_a_higher_likelihood() -> None:
    matrix, p, k = correlated(7), 7, 2
    result = extract(matrix, k, start="best")

    def discrepancy(values: np.ndarray) -> float:
        loadings, roots = values[: p * k].reshape(p, k), values[p * k :]
        model = loadings @ loadings.T + np.diag(roots**2 + LOWEST)
        return float(np.linalg.slogdet(model)[1] + np.trace(np.linalg.solve(model, matrix)))

    constant = np.linalg.slogdet(matrix)[1] + p
    starts = [np.random.default_rng(seed).uniform(-0.8, 0.8, p * k + p) for seed in range(6)]
    others = [minimize(discrepancy, start, method="L-BFGS-B", options={"maxfun": 50_000}).fun for start in starts]
    assert result.objective == pytest.approx(min(others) - constant, abs=1e-5)


def test_minimum_residuals_are_smaller_than_those_of_likelihood() -> None:
    matrix = correlated(9)
    sums = []
    for method in ("minres", "ml"):
        result = extract(matrix, 2, method)  # type: ignore[arg-type]
        left = matrix - result.loadings @ result.loadings.T
        np.fill_diagonal(left, 0)
        sums.append((left**2).sum())
    assert sums[0] < sums[1]
    assert extract(matrix, 2, "minres").objective == pytest.approx(sums[0] / 2, rel=1e-6)


def test_a_heywood_case_is_at_the_bound() -> None:
    matrix = np.array([[1, 0.9, 0.8], [0.9, 1, 0.5], [0.8, 0.5, 1]])
    result = extract(matrix, 1)
    assert result.at_bound.tolist() == [True, False, False]
    assert result.uniquenesses[0] == pytest.approx(LOWEST)


@pytest.mark.slow
def test_lowest_minimum_of_all_starts_is_reported() -> None:
    matrix = correlated(2, p=8, k=3, n=60)
    usual, best = extract(matrix, 4, others=30), extract(matrix, 4, start="best", others=30)
    assert usual.lowest == best.objective == best.lowest
    assert best.objective <= usual.objective
    assert not np.allclose(usual.uniquenesses, best.uniquenesses) or usual.objective == pytest.approx(best.objective)


def test_too_many_factors_are_refused() -> None:
    with refuses(ValueError, "1 to 2", "3 variables"):
        extract(np.eye(3), 3)


def data(k: int, p: int = 12, n: int = 400, seed: int = 1) -> np.ndarray:
    """Cases with k factors, each with the same number of variables."""
    random = np.random.default_rng(seed)
    loadings = np.zeros((p, k))
    loadings[np.arange(p), np.arange(p) % k] = 0.8
    return random.standard_normal((n, k)) @ loadings.T + 0.6 * random.standard_normal((n, p))


@pytest.mark.few(1)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_number_of_factors_is_recovered(k: int) -> None:
    values = data(k)
    matrix = np.corrcoef(values, rowvar=False)
    for ratings in (None, values):
        result = parallel_analysis(matrix, len(values), ratings, draws=20)
        assert (result.factors, result.components) == (k, k)
    assert map_test(matrix)[0] == map_test(matrix, power=4)[0] == k
    assert acceleration(np.linalg.eigvalsh(matrix)[::-1]) == k


@pytest.mark.slow
def test_noise_rarely_has_a_component() -> None:
    wrong = 0
    for seed in range(10):
        matrix = np.corrcoef(np.random.default_rng(seed).standard_normal((40, 4)), rowvar=False)
        wrong += parallel_analysis(matrix, 40, draws=20, seed=seed).components > 0
        assert map_test(matrix)[0] == 0
    # The expected number is 0.5 of 10; more than 4 have a probability below .001.
    assert wrong <= 4


def test_the_same_seed_gives_the_same_quantiles() -> None:
    matrix = np.corrcoef(data(2), rowvar=False)
    first, second = (parallel_analysis(matrix, 400, draws=5, seed=3) for _ in range(2))
    assert first.factor_quantiles.tolist() == second.factor_quantiles.tolist()
    assert first.factor_quantiles.tolist() != parallel_analysis(matrix, 400, draws=5, seed=4).factor_quantiles.tolist()


def test_average_partials_agree_with_regressions_on_components() -> None:
    values = data(2, p=6)
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    matrix = np.corrcoef(values, rowvar=False)
    _, averages = map_test(matrix)
    vectors = np.linalg.eigh(matrix)[1][:, ::-1]
    for number in range(1, 4):
        components = standard @ vectors[:, :number]
        left = standard - components @ np.linalg.lstsq(components, standard, rcond=None)[0]
        partial = np.corrcoef(left, rowvar=False)
        assert averages[number] == pytest.approx((partial[~np.eye(6, dtype=bool)] ** 2).mean())


def test_too_few_eigenvalues_have_no_bend() -> None:
    assert acceleration(np.array([1.2, 0.8])) == 0
