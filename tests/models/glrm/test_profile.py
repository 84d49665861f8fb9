"""The ends of a profile, on functions whose profile is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm.profile import Held, Rest, profile_ends


def quadratic(hessian: Any, centre: Any) -> Any:
    def function(x: Any, modes: Any) -> Rest:
        gap = x - centre
        return Rest(float(gap @ hessian @ gap) / 2, hessian @ gap, None, lambda: np.diag(np.diag(hessian)))

    return function


@given(st.integers(0, 10_000), st.integers(0, 2))
def test_ends_of_a_parabola_are_walds(seed: int, place: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    hessian, centre = root @ root.T + 0.3 * np.eye(3), rng.normal(size=3)
    function = quadratic(hessian, centre)
    low, high = profile_ends(function, centre, function(centre, None), place, 0.7, 1.96)
    error = float(np.sqrt(np.linalg.inv(hessian)[place, place]))
    assert high == pytest.approx(centre[place] + 1.96 * error, abs=1e-4 * error)
    assert low == pytest.approx(centre[place] - 1.96 * error, abs=1e-4 * error)


def skewed(x: Any, modes: Any) -> Rest | None:
    """x - log x: the likelihood of a rate, which must be positive."""
    if x[0] <= 0:
        return None
    rate = float(x[0])
    return Rest(rate - np.log(rate) - 1 + float(x[1]) ** 2, np.array([1 - 1 / rate, 2 * x[1]]), None, lambda: np.eye(2))


def test_a_skewed_profile() -> None:
    best = np.array([1.0, 0.0])
    for end in profile_ends(skewed, best, skewed(best, None), 0, 1.0, 1.96):  # type: ignore[arg-type]
        assert np.sqrt(2 * (end - np.log(end) - 1)) == pytest.approx(1.96, abs=1e-4)


def test_a_bound_and_an_open_end() -> None:
    best = np.array([1.0, 0.0])
    low, _ = profile_ends(skewed, best, skewed(best, None), 0, 1.0, 1.96, least=0.5)  # type: ignore[arg-type]
    assert low == 0.5

    def flattening(x: Any, modes: Any) -> Rest:
        value, slope = (
            (x[0] ** 2, 2 * x[0]) if x[0] < 0 else (1 - np.exp(-(x[0] ** 2)), 2 * x[0] * np.exp(-(x[0] ** 2)))
        )
        return Rest(float(value) + float(x[1]) ** 2, np.array([slope, 2 * x[1]]), None, lambda: 2 * np.eye(2))

    start = np.zeros(2)
    low, high = profile_ends(flattening, start, flattening(start, None), 0, 0.7, 1.96)
    assert low == pytest.approx(-1.96 / np.sqrt(2), abs=1e-4)
    assert high == np.inf


def test_a_function_of_the_others() -> None:
    hessian = np.array([[2.0, 1.0], [1.0, 3.0]])
    point = Held(quadratic(hessian, np.zeros(2)), 0, 1.0).best(np.zeros(1), None)
    assert point is not None
    assert point.rest[0] == pytest.approx(-1 / 3, abs=1e-4)
    alone = Held(quadratic(np.eye(1), np.zeros(1)), 0, 1.0).best(np.empty(0), None)
    assert alone is not None
    assert alone.nll == 0.5
