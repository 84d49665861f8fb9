"""The search on functions whose minimum is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from karat.models.glrm.optimise import Convergence, minimise, minimise_off_zero, solve, updated


@dataclass
class At:
    value: float
    gradient: Any
    information: Callable[[], Any]
    modes: Any = None


def rosenbrock(x: Any, modes: Any) -> At:
    a, b = x
    gradient = np.array([-2 * (1 - a) - 40 * a * (b - a * a), 20 * (b - a * a)])
    return At((1 - a) ** 2 + 10 * (b - a * a) ** 2, gradient, lambda: np.diag([82.0, 20.0]))


def two_valleys(x: Any, modes: Any) -> At:
    """Even in the first parameter, as a likelihood is in a deviation: a saddle at 0, minima at -1 and 1."""
    a, b = x
    return At((a * a - 1) ** 2 + b * b, np.array([4 * a * (a * a - 1), 2 * b]), lambda: np.diag([8.0, 2.0]))


def test_a_curved_valley() -> None:
    best, convergence = solve(rosenbrock, np.array([-1.2, 1.0]), None)
    assert best.parameters == pytest.approx([1, 1], abs=1e-3)
    assert convergence.converged
    assert "Converged after" in str(convergence)
    assert best.hessian == pytest.approx(np.array([[82, -40], [-40, 20]]), rel=0.05)


def test_a_saddle_with_no_slope_is_left() -> None:
    best, convergence = solve(two_valleys, np.array([0.0, 0.5]), None)
    assert convergence.converged
    assert abs(best.parameters[0]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(("function", "start"), [(rosenbrock, (-1.2, 1.0)), (two_valleys, (0.0, 0.5))])
def test_evaluations_are_counted(function: Callable[[Any, Any], At], start: tuple[float, float]) -> None:
    calls = []
    best, convergence = solve(lambda x, modes: calls.append(0) or function(x, modes), np.array(start), None)
    assert convergence.evaluations == best.evaluations == len(calls)
    assert f"Converged after {len(calls)} evaluations: " in str(convergence)


def test_a_hessian_given_is_used() -> None:
    def bowl(x: Any, modes: Any) -> At:
        return At(float(50 * x[0] ** 2 + x[1] ** 2), np.array([100 * x[0], 2 * x[1]]), lambda: np.eye(2))

    start = np.array([0.5, -0.5])
    best = minimise(bowl, start, bowl(start, None), np.diag([100.0, 2.0]), 1e-12)
    assert best.evaluations == 1
    assert best.parameters == pytest.approx([0, 0], abs=1e-12)


def test_what_did_not_converge_says_so() -> None:
    def slope(x: Any, modes: Any) -> At:
        return At(float(np.exp(-x[0])), np.array([-np.exp(-x[0])]), lambda: np.eye(1))

    best = minimise(slope, np.zeros(1), slope(np.zeros(1), None), None, 0.0, limit=5)
    assert best.evaluations <= 6
    assert "NOT converged after 5 evaluations: the search stopped short" in str(Convergence(False, 1.0, 1.0, True, 5))
    assert "not positive definite" in str(Convergence(False, 1.0, 1.0, False, 5))
    with pytest.raises(ValueError, match="no likelihood"):
        solve(lambda x, modes: None, np.zeros(1), None)


def test_an_end_that_is_no_minimum_is_told() -> None:
    def point(x: Any, modes: Any) -> At | None:
        return None if x[0] else At(1.0, np.zeros(1), lambda: np.eye(1))

    def hilltop(x: Any, modes: Any) -> At:
        a = float(x[0])
        return At(1e4 * a**4 - a * a, np.array([4e4 * a**3 - 2 * a]), lambda: np.eye(1))

    best, alone = solve(point, np.zeros(1), None)
    assert (best.parameters.tolist(), alone) == ([0.0], Convergence(False, 0.0, 0.0, False, 2))
    best, above = solve(hilltop, np.zeros(1), None)
    assert (best.parameters.tolist(), above) == ([0.0], Convergence(False, 0.0, 0.0, False, 3))
    assert np.isnan(above.covariance(best.hessian)).all()


def test_the_decrement_is_that_of_the_verified_hessian() -> None:
    best, convergence = solve(rosenbrock, np.array([-1.2, 1.0]), None)
    assert best.decrement == convergence.decrement > 0
    slope = best.at.gradient
    assert best.decrement == pytest.approx(slope @ np.linalg.inv(best.hessian) @ slope / 2, rel=1e-6)
    assert convergence.gradient == np.abs(slope).max()


def test_the_update_stays_positive_definite() -> None:
    new = updated(np.eye(2), np.array([1.0, 0.0]), np.array([-3.0, 1.0]))
    assert np.linalg.eigvalsh(new)[0] > 0
    step, change = np.array([0.3, -0.2]), np.array([0.5, -0.1])
    assert updated(np.eye(2), step, change) @ step == pytest.approx(change)


def test_a_deviation_of_zero_is_tried_from_beside_it() -> None:
    at_saddle = two_valleys(np.zeros(2), None)
    stuck = minimise(two_valleys, np.zeros(2), at_saddle, None, 1e-9)
    assert stuck.decrement == 0

    def turned(x: Any, modes: Any) -> At:
        at = two_valleys(x[::-1], modes)
        return At(at.value, at.gradient[::-1], lambda: np.diag([2.0, 8.0]))

    stuck = minimise(turned, np.zeros(2), turned(np.zeros(2), None), None, 1e-9)
    free = minimise_off_zero(turned, stuck, 1, 1e-9)
    assert free.parameters == pytest.approx([0, 1], abs=1e-3)
    bowl = minimise(rosenbrock, np.array([0.5, 0.5]), rosenbrock(np.array([0.5, 0.5]), None), None, 1e-9)
    assert minimise_off_zero(rosenbrock, bowl, 2, 1e-9) is bowl
