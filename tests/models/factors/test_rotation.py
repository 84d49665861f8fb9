"""Rotations: invariances, and brute-force searches of their criteria."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.models.factors import congruence, matched, rotate
from karat.models.factors.rotation import GAINS, Kaiser, Method

METHODS: list[tuple[Method, Kaiser]] = [
    ("promax", "none"), ("promax", "varimax"), ("promax", "spss"), ("promax", "all"),
    ("oblimin", "none"), ("oblimin", "all"), ("varimax", "none"), ("varimax", "varimax"),
]  # fmt: skip


def loadings_of(seed: int, p: int = 9, k: int = 3) -> np.ndarray:
    """Loadings with a simple structure, randomly rotated."""
    random = np.random.default_rng(seed)
    simple = random.uniform(-0.15, 0.15, (p, k))
    simple[np.arange(p), np.arange(p) % k] = random.uniform(0.5, 0.9, p)
    return simple @ np.linalg.qr(random.standard_normal((k, k)))[0]


@pytest.mark.few(2)
@pytest.mark.parametrize(("method", "kaiser"), METHODS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=8)
def test_rotations_reproduce_the_same_correlations(method: Method, kaiser: Kaiser, seed: int) -> None:
    loadings = loadings_of(seed)
    result = rotate(loadings, method, kaiser)
    np.testing.assert_allclose(
        result.loadings @ result.correlations @ result.loadings.T, loadings @ loadings.T, atol=1e-8
    )
    np.testing.assert_allclose(np.diag(result.correlations), 1)
    assert (result.loadings.sum(axis=0) >= 0).all()
    assert (np.diff((result.loadings**2).sum(axis=0)) <= 1e-12).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("kaiser", ["none", "varimax"])
def test_no_angle_has_a_larger_varimax_criterion(kaiser: Kaiser) -> None:
    loadings = loadings_of(4, k=2)
    rows = np.sqrt((loadings**2).sum(axis=1, keepdims=True)) if kaiser == "varimax" else 1.0

    def criterion(turned: np.ndarray) -> float:
        return float(((turned / rows) ** 2).var(axis=0).sum())

    angles = np.linspace(0, np.pi / 2, 20_001)
    best = max(
        criterion(loadings @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])) for a in angles
    )  # fmt: skip
    assert criterion(rotate(loadings, "varimax", kaiser, gain=1e-14).loadings) == pytest.approx(best, abs=1e-7)


@pytest.mark.slow
def test_no_pair_of_angles_has_a_smaller_oblimin_criterion() -> None:
    loadings = loadings_of(6, k=2)

    def criterion(pattern: np.ndarray) -> float:
        return float((pattern[:, 0] ** 2 * pattern[:, 1] ** 2).sum())

    angles = np.linspace(0, np.pi, 181)
    best = np.inf
    for first in angles:
        for second in angles:
            turn = np.array([[np.cos(first), np.cos(second)], [np.sin(first), np.sin(second)]])
            if abs(np.linalg.det(turn)) > 0.1:
                best = min(best, criterion(loadings @ np.linalg.inv(turn).T))
    result = criterion(rotate(loadings, "oblimin", "none").loadings)
    assert result <= best
    assert result == pytest.approx(best, rel=0.05)


def test_promax_is_the_regression_of_the_target_row_by_row() -> None:
    loadings = loadings_of(8)
    turned = rotate(loadings, "varimax", "none").loadings
    result = rotate(loadings, "promax", "none")
    columns = []
    for column in turned.T:
        target = np.sign(column) * np.abs(column) ** 4
        columns.append(np.linalg.solve(turned.T @ turned, turned.T @ target))
    towards = np.column_stack(columns)
    scale = np.sqrt(np.diag(np.linalg.inv(towards.T @ towards)))
    expected = turned @ towards * scale
    order, signs = matched(result.loadings, expected)
    np.testing.assert_allclose(result.loadings[:, order] * signs, expected, atol=1e-6)


def test_variants_of_promax_differ_if_communalities_differ() -> None:
    loadings = loadings_of(10) * np.linspace(0.3, 1, 9)[:, None]
    variants: list[Kaiser] = ["none", "varimax", "spss", "all"]
    first, *others = (rotate(loadings, "promax", kaiser).loadings for kaiser in variants)
    for other in others:
        order, signs = matched(other, first)
        assert np.abs(other[:, order] * signs - first).max() > 0.001


def test_the_limit_of_varimax_can_be_set() -> None:
    loadings = loadings_of(12, p=30, k=5)
    early, late = (rotate(loadings, "varimax", "varimax", gain=gain).loadings for gain in (1e-2, 1e-14))
    spread = [((turned / np.sqrt((turned**2).sum(axis=1, keepdims=True))) ** 2).var(axis=0).sum()
              for turned in (early, late)]  # fmt: skip
    assert spread[0] <= spread[1]
    assert GAINS["varimax"] == GAINS["all"] == 1e-5


def test_a_single_factor_is_only_reflected() -> None:
    result = rotate(np.array([[-0.8], [-0.7], [0.1]]), "promax")
    assert result.loadings[:, 0].tolist() == [0.8, 0.7, -0.1]
    assert result.correlations.tolist() == [[1.0]]


@given(
    seed=st.integers(0, 1000), order=st.permutations(range(4)), flips=st.lists(st.booleans(), min_size=4, max_size=4)
)
def test_shuffled_columns_are_matched(seed: int, order: list[int], flips: list[bool]) -> None:
    loadings = np.linalg.qr(np.random.default_rng(seed).standard_normal((9, 4)))[0]
    shuffled = loadings[:, order] * np.where(flips, -1, 1)
    places, signs = matched(shuffled, loadings)
    np.testing.assert_allclose(shuffled[:, places] * signs, loadings)


def test_a_column_of_zeros_matches_no_other() -> None:
    assert congruence(np.zeros((3, 1)), np.ones((3, 1))).tolist() == [[0.0]]
