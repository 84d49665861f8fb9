"""The number of factors of data whose number is known."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.factors import acceleration, map_test, parallel_analysis


def data(k: int, p: int = 12, n: int = 400, seed: int = 1) -> np.ndarray:
    """Cases with k factors of equally many variables each."""
    random = np.random.default_rng(seed)
    loadings = np.zeros((p, k))
    loadings[np.arange(p), np.arange(p) % k] = 0.8
    return random.standard_normal((n, k)) @ loadings.T + 0.6 * random.standard_normal((n, p))


@pytest.mark.few(1)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_number_is_found(k: int) -> None:
    values = data(k)
    matrix = np.corrcoef(values, rowvar=False)
    for ratings in (None, values):
        found = parallel_analysis(matrix, len(values), ratings, draws=20)
        assert (found.factors, found.components) == (k, k)
    assert map_test(matrix)[0] == map_test(matrix, power=4)[0] == k
    assert acceleration(np.linalg.eigvalsh(matrix)[::-1]) == k


@pytest.mark.slow
def test_noise_has_a_component_as_rarely_as_the_quantile_says() -> None:
    wrong = 0
    for seed in range(10):
        matrix = np.corrcoef(np.random.default_rng(seed).standard_normal((40, 4)), rowvar=False)
        wrong += parallel_analysis(matrix, 40, draws=20, seed=seed).components > 0
        assert map_test(matrix)[0] == 0
    # 5 % of 10 are a half; over 4 would have a probability under .001.
    assert wrong <= 4


def test_the_same_seed_gives_the_same_quantiles() -> None:
    matrix = np.corrcoef(data(2), rowvar=False)
    first, second = (parallel_analysis(matrix, 400, draws=5, seed=3) for _ in range(2))
    assert first.factor_quantiles.tolist() == second.factor_quantiles.tolist()
    assert first.factor_quantiles.tolist() != parallel_analysis(matrix, 400, draws=5, seed=4).factor_quantiles.tolist()


def test_average_partials_beside_regressions_on_components() -> None:
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
