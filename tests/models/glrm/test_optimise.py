"""The search on functions whose minimum is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from karat.messages import Message
from karat.models.glrm.optimise import (
    Convergence,
    bfgs_update,
    cholesky_root,
    difference_hessian,
    minimise,
    minimise_off_zero,
    solve,
)
from messages import raises


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
    assert convergence.message.code == "fit.converged"
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
    assert (convergence.message.code, convergence.message.values["evaluations"]) == ("fit.converged", len(calls))


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
    assert best.evaluations == 5
    left = {"evaluations": 5, "gradient": 0.25, "decrement": 1.2}
    reason = Message("fit.reason_modes")
    for curved, given, expected in (
        (True, None, Message("fit.reason_stopped")),
        (False, None, Message("fit.reason_hessian")),
        (True, reason, reason),
    ):
        message = Convergence(False, 1.2, 0.25, curved, 5, given).message
        assert message == Message("fit.not_converged", left | {"reason": expected})
    assert Convergence(True, 1.2, 0.25, True, 5).message == Message("fit.converged", left)
    with raises(ValueError, "models.no_start"):
        solve(lambda x, modes: None, np.zeros(1), None)


def test_an_end_that_is_no_minimum_is_reported() -> None:
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
    new = bfgs_update(np.eye(2), np.array([1.0, 0.0]), np.array([-3.0, 1.0]))
    assert np.linalg.eigvalsh(new)[0] > 0
    step, change = np.array([0.3, -0.2]), np.array([0.5, -0.1])
    assert bfgs_update(np.eye(2), step, change) @ step == pytest.approx(change)


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


def walled(x: Any, modes: Any) -> At | None:
    """A bent valley in three parameters that ends at a wall; its information is neither constant nor diagonal."""
    a, b, c = x
    if a + b > 2.5:
        return None
    rest = np.array([1 - a, 3 * (b - a * a), c - a * b])
    slopes = np.array([[-1.0, 0, 0], [-6 * a, 3, 0], [-b, -a, 1]])
    return At(float(rest @ rest) / 2, slopes.T @ rest, lambda: slopes.T @ slopes + 0.3, tuple(x))


def wavy(x: Any, modes: Any) -> At:
    """Hills between the start and the minimum, where the curvature is negative."""
    mixed = np.array([[1.0, 0.4], [0.4, 0.5]])
    value = float(x @ mixed @ x) / 20 + 2 - np.cos(x).sum()
    return At(value, mixed @ x / 10 + np.sin(x), lambda: mixed / 10 + np.eye(2) / 5, tuple(x))


def textbook(function: Any, x: Any, given: Any, tolerance: float) -> list[tuple[Any, Any]]:
    """The points that damped BFGS tries, each with the point it comes from, by whole matrices and their inverses."""
    at, core, tried = function(x, None), np.eye(len(x)), []
    while True:
        lower = np.linalg.cholesky(at.information() if given is None else given)
        step = -np.linalg.inv(lower @ core @ lower.T) @ at.gradient
        slope = float(at.gradient @ step)
        if -slope / 2 <= tolerance:
            return tried
        length = min([1.0, *(max(1.0, abs(own)) / abs(far) for own, far in zip(x, step, strict=True))])
        while True:
            tried.append((x + length * step, tuple(x)))
            after = function(x + length * step, None)
            if after is not None and after.value <= at.value + 1e-4 * length * slope:
                break
            if after is None:
                length /= 2
                continue
            # The parabola with both values and the slope at the beginning.
            square = (after.value - at.value - slope * length) / length**2
            length = min(max(-slope / (2 * square), length / 10), length / 2)
        s, y = lower.T @ (length * step), np.linalg.inv(lower) @ (after.gradient - at.gradient)
        if s @ y < 0.2 * (s @ core @ s):
            share = 0.8 * (s @ core @ s) / (s @ core @ s - s @ y)
            y = share * y + (1 - share) * core @ s
        core = core - np.outer(core @ s, core @ s) / (s @ core @ s) + np.outer(y, y) / (y @ s)
        x, at = x + length * step, after


@pytest.mark.parametrize(
    ("function", "start", "given"),
    [
        (walled, (-1.2, 1.0, 0.5), None), (walled, (-1.2, 1.0, 0.5), np.eye(3) + 0.5), (walled, (0.0, -3.0, 4.0), None),
        (wavy, (2.5, -4.0), None), (wavy, (7.0, 3.0), np.array([[0.3, 0.1], [0.1, 0.2]])),
    ],
)  # fmt: skip
def test_the_search_takes_the_steps_of_the_textbook(function: Any, start: Any, given: Any) -> None:
    """Each from the modes of the point where it begins."""
    calls: list[tuple[Any, Any]] = []
    begin = np.array(start)

    def noted(x: Any, modes: Any) -> At | None:
        calls.append((x, modes))
        at: At | None = function(x, modes)
        return at

    best = minimise(noted, begin, function(begin, None), given, 1e-6)
    expected = textbook(function, begin, given, 1e-6)
    assert best.evaluations == len(calls) == len(expected) > 5
    for (x, modes), (own, came_from) in zip(calls, expected, strict=True):
        assert x == pytest.approx(own, rel=1e-5, abs=1e-7)
        assert modes == pytest.approx(came_from, rel=1e-5, abs=1e-7)
    slope = best.at.gradient
    assert best.decrement == pytest.approx(slope @ np.linalg.inv(best.hessian) @ slope / 2)


def test_at_the_minimum_nothing_is_tried() -> None:
    best = minimise(rosenbrock, np.ones(2), rosenbrock(np.ones(2), None), None, 0.0)
    assert (best.evaluations, best.decrement) == (0, 0.0)


@pytest.mark.parametrize("beyond", [None, np.inf, np.nan, 2.0])
def test_a_search_that_finds_nothing_lower_stays(beyond: float | None) -> None:
    information, slope = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([1.0, -2.0])
    at, tried = At(1.0, slope, lambda: information), []

    def nowhere(x: Any, modes: Any) -> At | None:
        tried.append(x)
        return None if beyond is None else At(beyond, slope, lambda: information)

    best = minimise(nowhere, np.zeros(2), at, None, 1e-9)
    assert best.at is at
    assert best.parameters.tolist() == [0.0, 0.0]
    assert best.hessian == pytest.approx(information)
    assert best.decrement == pytest.approx(slope @ np.linalg.inv(information) @ slope / 2)
    assert best.evaluations == len(tried) == 30
    # A parabola that rises steeply has its minimum near the beginning; a step still keeps a tenth of its length.
    shorter = [after[1] / before[1] for before, after in pairwise(tried)]
    assert shorter[2:] == pytest.approx([0.1 if beyond == 2.0 else 0.5] * 27)


@pytest.mark.parametrize("value", [1e6, -1e6])
def test_a_rise_no_larger_than_rounding_is_no_rise(value: float) -> None:
    def flat(rise: float) -> Any:
        return lambda x, modes: At(value + rise, np.zeros(1), lambda: np.eye(1))

    at = At(value, np.array([1e-4]), lambda: np.eye(1))
    assert minimise(flat(0.5e-6), np.zeros(1), at, None, 1e-12).evaluations == 1
    assert minimise(flat(2e-6), np.zeros(1), at, None, 1e-12).evaluations == 30


def test_step_gains_a_ten_thousandth_of_its_slope() -> None:
    gains = iter([0.9e-4, 0.6e-4])
    best = minimise(
        lambda x, modes: At(-next(gains), np.zeros(1), lambda: np.eye(1)),
        np.zeros(1), At(0.0, np.ones(1), lambda: np.eye(1)), None, 1e-12,
    )  # fmt: skip
    assert best.parameters == pytest.approx([-0.5])


def test_the_root_of_a_matrix_or_of_its_diagonal() -> None:
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert cholesky_root(matrix) @ cholesky_root(matrix).T == pytest.approx(matrix)
    assert cholesky_root(matrix)[0, 1] == 0
    assert cholesky_root(np.array([[-4.0, 1.0], [1.0, 0.0]])).tolist() == [[2.0, 0.0], [0.0, 1e-4]]


def test_no_step_is_no_news_of_the_hessian() -> None:
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert bfgs_update(matrix, np.zeros(2), np.ones(2)).tolist() == matrix.tolist()


def test_the_hessian_of_differences_away_from_a_minimum() -> None:
    x, scale, calls = np.array([-0.5, 0.8]), np.array([4.0, 25.0]), []

    def noted(at: Any, modes: Any) -> At:
        calls.append((at - x, modes))
        return rosenbrock(at, modes)

    at = rosenbrock(x, None)
    at.modes = "those of x"
    hessian = difference_hessian(noted, x, at, scale)
    assert hessian == pytest.approx(np.array([[2 + 120 * 0.25 - 40 * 0.8, 20.0], [20.0, 20.0]]), abs=0.05)
    assert [call[1] for call in calls] == ["those of x"] * 2
    assert np.array([call[0] for call in calls]) == pytest.approx(np.diag([1e-3 / 2, 1e-3 / 5]))


def quadratic(curvature: Any, information: Any) -> Callable[[Any, Any], At]:
    """Its minimum is at zero."""
    return lambda x, modes: At(float(x @ curvature @ x) / 2, curvature @ x, lambda: information, tuple(x))


def test_unconfirmed_minimum_is_searched_on() -> None:
    """A start, two differences, one step of Newton's and two differences; the information had ended it at once."""
    curvature = np.array([[3.0, 1.0], [1.0, 2.0]])
    best, convergence = solve(quadratic(curvature, 1e12 * np.eye(2)), np.array([0.5, -0.25]), None)
    assert best.parameters == pytest.approx([0, 0], abs=1e-6)
    assert (convergence.converged, convergence.curved, convergence.evaluations) == (True, True, 6)
    assert convergence.covariance(best.hessian) == pytest.approx(np.array([[2.0, -1.0], [-1.0, 3.0]]) / 5, rel=1e-5)


def test_search_short_of_a_minimum_is_no_minimum() -> None:
    """The slope promises what no step gains: three searches of 30 steps, each with one difference."""
    best, convergence = solve(lambda x, modes: At(float(abs(x[0])), x + 1, lambda: np.eye(1)), np.zeros(1), None)
    assert convergence.evaluations == 1 + 3 * (30 + 1)
    assert not convergence.converged
    assert convergence.curved
    assert convergence.decrement == best.decrement == pytest.approx(0.5)
    assert convergence.gradient == 1.0


def test_units_do_not_matter_to_what_is_a_minimum() -> None:
    units = np.array([1e6, 1e-6])
    curvature = np.array([[1.0, 0.5], [0.5, 1.0]]) / np.outer(units, units)
    best, convergence = solve(quadratic(curvature, curvature), 3 * units, None)
    assert convergence.converged
    assert best.parameters / units == pytest.approx([0, 0], abs=1e-4)


def test_saddle_is_left_where_it_falls_most() -> None:
    """By 0.3 at most; the direction solves H a = l D a with D the sizes of the diagonal of H."""
    hessian, calls = np.array([[-2.0, 4.0], [4.0, 50.0]]), []

    def saddle(x: Any, modes: Any) -> At:
        calls.append((x, modes))
        return At(float(x @ hessian @ x) / 2 + float((x**4).sum()), hessian @ x + 4 * x**3, lambda: np.eye(2), tuple(x))

    _, convergence = solve(saddle, np.zeros(2), "given")
    assert convergence.converged
    assert calls[0][1] == "given"
    (x, modes), along = calls[3], linalg.eigh(hessian, np.diag(np.abs(np.diag(hessian))))[1][:, 0]
    assert modes == (0.0, 0.0)
    assert np.abs(x).max() == pytest.approx(0.3)
    assert x / x[0] == pytest.approx(along / along[0], rel=1e-3)


def even(near: float, far: float) -> Callable[[Any, Any], At]:
    """In the last parameter, a, even, with the slope a (a^2 - near^2) (a^2 - far^2); in the others a bowl."""

    def function(x: Any, modes: Any) -> At:
        *others, a = map(float, x)
        p, q = near**2, far**2
        value = 1e6 * (a**6 / 6 - (p + q) * a**4 / 4 + p * q * a**2 / 2) + sum(b * b for b in others)
        slope = 1e6 * a * (a * a - p) * (a * a - q)
        return At(value, np.array([2 * b for b in others] + [slope]), lambda: 1e3 * np.eye(len(x)), tuple(x))

    return function


@pytest.mark.parametrize(
    ("near", "far", "end"), [(0.08, 0.2, 0.2), (0.08, 0.12, 0.0), (0.0, 0.3, 0.3), (2.0, 3.0, 0.0)]
)
def test_a_deviation_of_zero_is_left_for_a_lower_value_alone(near: float, far: float, end: float) -> None:
    """Beyond a hill lies a deeper valley, or one less deep; or zero is a hill itself, or the only valley near."""
    function, calls = even(near, far), []

    def noted(x: Any, modes: Any) -> At:
        calls.append((x, modes))
        return function(x, modes)

    zero = np.zeros(2)
    stuck = minimise(function, zero, function(zero, None), None, 1e-9)
    free = minimise_off_zero(noted, stuck, 1, 1e-9)
    assert abs(free.parameters[1]) == pytest.approx(end, abs=1e-3)
    assert free.evaluations == len(calls)
    assert calls[0][0].tolist() == [0.0, 0.1]
    assert calls[0][1] == (0.0, 0.0)
    assert (len(calls) == 1) == (near == 2.0)


def test_a_lower_value_beside_zero_is_followed_back() -> None:
    """The valley lies between zero and where the search begins."""

    def valley(x: Any, modes: Any) -> At:
        a = float(x[0])
        return At(1e6 * (a * a - 0.0064) ** 2, np.array([4e6 * a * (a * a - 0.0064)]), lambda: np.eye(1) * 5e4)

    stuck = minimise(valley, np.zeros(1), valley(np.zeros(1), None), None, 1e-9)
    assert minimise_off_zero(valley, stuck, 1, 1e-9).parameters == pytest.approx([0.08], abs=1e-4)


def test_deviation_without_likelihood_at_zero_stays() -> None:
    bowl = quadratic(np.eye(4), np.eye(4))
    tried = []

    def edge(x: Any, modes: Any) -> None:
        tried.append(np.flatnonzero(x == 0.1).tolist())

    where = np.array([0.0, 0.0, 0.5, 0.0])
    stuck = minimise(bowl, where, bowl(where, None), None, 1.0)
    best = minimise_off_zero(edge, stuck, 3, 1e-9)
    assert (best.evaluations, tried) == (2, [[1], [3]])
    assert best.parameters.tolist() == where.tolist()
    # Where it rises beside zero, however little, that one look is enough.
    assert minimise_off_zero(bowl, stuck, 3, 1e-9).evaluations == 2
