"""Bradley-Terry and Davidson against direct maximisation of the likelihood, and by invariances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

from karat.models.choices import Pairs, fit_pairs, groups_of
from messages import refuses


def simulated_pairs(items: int, count: int, seed: int, nu: float = 0.6, side: float = 0.0) -> tuple[Pairs, Any]:
    random = np.random.default_rng(seed)
    strengths = random.normal(size=items)
    strengths -= strengths.mean()
    left = random.integers(items, size=count)
    right = (left + random.integers(1, items, size=count)) % items
    half = (strengths[left] - strengths[right] + side) / 2
    weights = np.stack([np.exp(-half), np.full(count, nu), np.exp(half)], axis=1)
    cumulated = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    answer = (random.random(count)[:, None] > cumulated).sum(axis=1) - 1
    return Pairs.of(left, right, answer, items), strengths


def plain_log_likelihood(values: Any, pairs: Pairs, ties: bool, side: bool) -> float:
    """The log-likelihood of the free parameters, choice by choice; the last strength is minus the sum of the others."""
    n = pairs.items
    strengths = np.append(values[: n - 1], -np.sum(values[: n - 1]))
    nu = np.exp(values[n - 1]) if ties else 0.0
    bias = values[-1] if side else 0.0
    total = 0.0
    for left, right, answer in zip(pairs.left, pairs.right, pairs.answer, strict=True):
        worth = {1: np.exp((strengths[left] - strengths[right] + bias) / 2), 0: nu}
        worth[-1] = 1 / worth[1]
        total += np.log(worth[int(answer)] / sum(worth.values()))
    return float(total)


@pytest.mark.few(1)
@pytest.mark.parametrize(("nu", "side"), [(0.0, False), (0.7, False), (0.7, True), (0.0, True)])
def test_fits_maximise_the_likelihood(nu: float, side: bool) -> None:
    pairs, _ = simulated_pairs(6, 240, seed=3, nu=nu, side=0.4 if side else 0.0)
    result = fit_pairs(pairs, side=side)
    size = 5 + (nu > 0) + side
    slow = minimize(
        lambda x: -plain_log_likelihood(x, pairs, nu > 0, side), np.zeros(size), method="BFGS", options={"gtol": 1e-8}
    )
    assert result.converged
    assert result.log_likelihood == pytest.approx(-slow.fun, abs=1e-6)
    assert result.strengths[:5] == pytest.approx(slow.x[:5], abs=1e-4)
    assert result.strengths.sum() == pytest.approx(0.0, abs=1e-12)
    if nu:
        assert result.tie == pytest.approx(slow.x[5], abs=1e-4)
    if side:
        assert result.side == pytest.approx(slow.x[-1], abs=1e-4)


def test_covariance_is_the_inverse_curvature() -> None:
    pairs, _ = simulated_pairs(5, 200, seed=4)
    result = fit_pairs(pairs)
    free = np.append(result.strengths[:-1], result.tie)

    def slope(x: Any) -> Any:
        return approx_fprime(x, lambda y: plain_log_likelihood(y, pairs, True, False), 1e-6)

    curvature = np.stack([(slope(free + step) - slope(free - step)) / 2e-4 for step in 1e-4 * np.eye(len(free))])
    slow = np.linalg.inv(-(curvature + curvature.T) / 2)
    assert result.covariance[:4, :4] == pytest.approx(slow[:4, :4], rel=2e-2, abs=1e-4)
    assert result.tie_error == pytest.approx(np.sqrt(slow[4, 4]), rel=2e-2)
    assert result.covariance.sum(axis=0) == pytest.approx(np.zeros(5), abs=1e-12)


def test_equal_comparisons_count_together() -> None:
    pairs, _ = simulated_pairs(5, 80, seed=5)
    twice = Pairs.of(*(np.tile(values, 2) for values in (pairs.left, pairs.right, pairs.answer)), 5)
    once, double = fit_pairs(pairs), fit_pairs(twice)
    assert double.strengths == pytest.approx(once.strengths, abs=1e-8)
    assert double.covariance == pytest.approx(once.covariance / 2, abs=1e-10)


@given(st.integers(0, 10**6), st.integers(3, 8))
def test_swapped_sides_only_change_the_side_preference(seed: int, items: int) -> None:
    pairs, _ = simulated_pairs(items, 40 * items, seed)
    swapped = Pairs.of(pairs.right, pairs.left, -pairs.answer, items)
    first, second = fit_pairs(pairs, side=True, prior_sd=3), fit_pairs(swapped, side=True, prior_sd=3)
    assert second.strengths == pytest.approx(first.strengths, abs=1e-6)
    assert first.side is not None
    assert second.side == pytest.approx(-first.side, abs=1e-6)
    assert first.gradient < 1e-3


def test_robust_errors_of_participants_who_repeat_themselves() -> None:
    """Every choice is repeated three times: this affects the errors of the model, but not the robust errors."""
    pairs, _ = simulated_pairs(5, 300, seed=6)
    people = np.arange(300) % 60
    thrice = Pairs.of(*(np.tile(values, 3) for values in (pairs.left, pairs.right, pairs.answer)), 5)
    once = fit_pairs(pairs, participant=people)
    again = fit_pairs(thrice, participant=np.tile(people, 3))
    assert again.standard_errors == pytest.approx(once.standard_errors, rel=1e-6)
    assert np.sqrt(np.diag(again.covariance)) == pytest.approx(np.sqrt(np.diag(once.covariance) / 3), rel=1e-6)


def test_unconnected_items() -> None:
    pairs = Pairs.of([0, 1, 2], [1, 0, 3], [1, 1, 1], 4)
    assert groups_of(pairs, directed=False).tolist() == [0, 0, 1, 1]
    assert groups_of(pairs).tolist() == [0, 0, 1, 2]
    tie = Pairs.of([0, 1, 2], [1, 0, 3], [1, 1, 0], 4)
    assert groups_of(tie).tolist() == [0, 0, 1, 1]


def test_a_difference_and_its_error() -> None:
    pairs, _ = simulated_pairs(4, 200, seed=8, nu=0.0)
    result = fit_pairs(pairs)
    estimate, error = result.difference(0, 3)
    weights = np.array([1.0, 0, 0, -1])
    assert estimate == pytest.approx(weights @ result.strengths)
    assert error == pytest.approx(np.sqrt(weights @ result.covariance @ weights))


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (([0], [0], [1], 2), ()),
        (([0], [2], [1], 2), ("0 to 1",)),
        (([0], [1], [2], 2), (1, 0, -1)),
        (([0, 1], [1], [1], 2), ("left", "right", "answers")),
    ],
)
def test_invalid_choices_are_refused(values: Any, names: tuple[object, ...]) -> None:
    with refuses(ValueError, *names):
        Pairs.of(*values)


def test_ties_require_a_model_with_ties() -> None:
    with refuses(ValueError, "ties"):
        fit_pairs(Pairs.of([0, 1], [1, 0], [0, 1], 2), ties=False)
