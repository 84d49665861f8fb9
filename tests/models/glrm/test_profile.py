"""The ends of a profile, on functions whose profile is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm.optimise import Evaluation, minimise
from karat.models.glrm.profile import ProfilePoint, fix_parameter, profile_ends, secant


def quadratic(hessian: Any, centre: Any) -> Any:
    def function(x: Any, modes: Any) -> Evaluation:
        gap = x - centre
        return Evaluation(float(gap @ hessian @ gap) / 2, hessian @ gap, None, lambda: np.diag(np.diag(hessian)))

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


def skewed(x: Any, modes: Any) -> Evaluation | None:
    """x - log x: the likelihood of a rate, which must be positive."""
    if x[0] <= 0:
        return None
    rate = float(x[0])
    return Evaluation(
        rate - np.log(rate) - 1 + float(x[1]) ** 2, np.array([1 - 1 / rate, 2 * x[1]]), None, lambda: np.eye(2)
    )


def test_a_skewed_profile() -> None:
    best = np.array([1.0, 0.0])
    for end in profile_ends(skewed, best, skewed(best, None), 0, 1.0, 1.96):  # type: ignore[arg-type]
        assert np.sqrt(2 * (end - np.log(end) - 1)) == pytest.approx(1.96, abs=1e-4)


def test_a_bound_and_an_open_end() -> None:
    best = np.array([1.0, 0.0])
    low, _ = profile_ends(skewed, best, skewed(best, None), 0, 1.0, 1.96, least=0.5)  # type: ignore[arg-type]
    assert low == 0.5

    def flattening(x: Any, modes: Any) -> Evaluation:
        value, slope = (
            (x[0] ** 2, 2 * x[0]) if x[0] < 0 else (1 - np.exp(-(x[0] ** 2)), 2 * x[0] * np.exp(-(x[0] ** 2)))
        )
        return Evaluation(float(value) + float(x[1]) ** 2, np.array([slope, 2 * x[1]]), None, lambda: 2 * np.eye(2))

    start = np.zeros(2)
    low, high = profile_ends(flattening, start, flattening(start, None), 0, 0.7, 1.96)
    assert low == pytest.approx(-1.96 / np.sqrt(2), abs=1e-4)
    assert high == np.inf


def test_a_function_of_the_others() -> None:
    hessian = np.array([[2.0, 1.0], [1.0, 3.0]])
    others = fix_parameter(quadratic(hessian, np.zeros(2)), 2, 0, 1.0)
    at = others(np.zeros(1), None)
    assert at is not None
    assert minimise(others, np.zeros(1), at, None, 1e-9).parameters[0] == pytest.approx(-1 / 3, abs=1e-4)
    alone = fix_parameter(lambda x, modes: Evaluation(float(x[0]), np.ones(1), "modes", lambda: np.eye(1)), 1, 0, 2.5)
    only = alone(np.empty(0), None)
    assert only is not None
    assert (only.value, only.gradient.tolist(), only.modes) == (2.5, [], "modes")


def along_a_line(zeta: Callable[[float], float], centre: float, seen: list[float] | None = None) -> Any:
    """A function of one parameter, with the profile zeta of the distance from the centre."""

    def function(x: Any, modes: Any) -> Evaluation:
        if seen is not None:
            seen.append(float(x[0]))
        return Evaluation(3.0 + zeta(float(x[0]) - centre) ** 2 / 2, np.zeros(1), None, lambda: np.eye(1))

    return function


SHAPES: dict[str, Callable[[float], float]] = {
    "flat at first": lambda x: abs(x) ** 3,
    "steep at first": lambda x: abs(x) ** 0.4,
    "soon flat": lambda x: 2.5 * np.tanh(abs(x)),
    "flat for long": lambda x: max(0.0, abs(x) - 14.0),
    "with a bend": lambda x: 0.1 * abs(x) if abs(x) < 5 else 0.5 + 40 * (abs(x) - 5),
    "with a cliff": lambda x: 0.3 * abs(x) + 5 / (1 + np.exp(-50 * (abs(x) - 4))) - 5 / (1 + np.exp(200)),
    "up and down": lambda x: abs(x) + 0.9 * np.sin(4 * x) ** 2,
    "rising late": lambda x: 1.3 * np.tanh(abs(x)) + max(0.0, abs(x) - 30),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("centre", [0.0, -7.5, 40.0])
def test_ends_lie_where_the_profile_meets_the_quantile(shape: str, centre: float) -> None:
    zeta, seen = SHAPES[shape], list[float]()
    function = along_a_line(zeta, centre, seen)
    best = np.array([centre])
    low, high = profile_ends(function, best, function(best, None), 0, 1.0, 1.96)
    assert low < centre < high
    for end in (low, high):
        assert zeta(end - centre) == pytest.approx(1.96, abs=3e-5)
    assert len(seen) < 1 + 2 * 30


@pytest.mark.parametrize("error", [0.5, 2.0])
@pytest.mark.parametrize("height", [0.0, 1.3, 1.9])
def test_an_end_is_found_within_sixty_errors_and_open_beyond(height: float, error: float) -> None:
    """A profile that stays below the quantile for long, and then rises."""
    for bend in (0.7, 3.0, 10.0, 25.0, 30.0, 40.0, 50.0, 59.0, 61.0, 90.0, np.inf):

        def zeta(x: float, bend: float = bend) -> float:
            return height * float(np.tanh(abs(x))) + 3 * max(0.0, abs(x) / error - bend)

        function, best = along_a_line(zeta, 11.0), np.array([11.0])
        low, high = profile_ends(function, best, function(best, None), 0, error, 1.96)
        if bend > 60:
            assert (low, high) == (-np.inf, np.inf)
        else:
            assert low < 11 < high
            assert zeta(low - 11) == pytest.approx(1.96, abs=3e-5)
            assert zeta(high - 11) == pytest.approx(1.96, abs=3e-5)


@pytest.mark.parametrize("place", [0, 1])
def test_parabola_searches_start_at_the_last_end(place: int) -> None:
    """The others lie on a line there, and so does zeta: a point that is too near, then the end, whatever the side."""
    hessian, centre = np.array([[2.0, 0.9], [0.9, 1.0]]), np.array([3.0, -4.0])
    given = [object()]

    def function(x: Any, modes: Any) -> Evaluation:
        assert modes in given  # those of a point that was looked at before
        given.append(object())
        gap = x - centre
        return Evaluation(float(gap @ hessian @ gap) / 2, hessian @ gap, given[-1], lambda: hessian)

    start = Evaluation(0.0, np.zeros(2), given[0], lambda: hessian)
    error = float(np.sqrt(np.linalg.inv(hessian)[place, place]))
    low, high = profile_ends(function, centre, start, place, 0.6 * error, 1.96)
    assert (low, high) == pytest.approx((centre[place] - 1.96 * error, centre[place] + 1.96 * error))
    assert len(given) - 1 == 2 * (2 + 1)


def test_blocked_line_restarts_beside_the_last_point() -> None:
    """The other parameter follows at first and then stays, and may not be larger than 1."""
    refused, given, looked_at = set[float](), object(), set[float]()

    def function(x: Any, modes: Any) -> Evaluation | None:
        assert modes is given
        if abs(x[1] - 2) >= 1:
            refused.add(float(x[0]))
            return None
        looked_at.add(float(x[0]))
        follow = 0.9 * np.tanh(2 * (x[0] - 5))
        gap = x[1] - 2 - follow
        slope = np.array([x[0] - 5 - 20 * gap * 1.8 * (1 - (follow / 0.9) ** 2), 20 * gap])
        return Evaluation(float((x[0] - 5) ** 2 / 2 + 10 * gap**2), slope, given, lambda: np.diag([1.0, 20.0]))

    best = np.array([5.0, 2.0])
    at = function(best, given)
    assert at is not None
    low, high = profile_ends(function, best, at, 0, 0.5, 1.96)
    assert (low, high) == pytest.approx((3.04, 6.96), abs=1e-4)
    # What the line refuses is found from the last point, and the value is not given up.
    assert refused
    assert refused <= looked_at


def test_a_likelihood_that_ends_before_the_quantile_has_no_end() -> None:
    def function(x: Any, modes: Any) -> Evaluation | None:
        zeta = float(x[0]) - 3
        return Evaluation(zeta**2 / 2, np.array([zeta]), None, lambda: np.eye(1)) if zeta < 1.2 else None

    best = np.array([3.0])
    low, high = profile_ends(function, best, function(best, None), 0, 1.0, 1.96)  # type: ignore[arg-type]
    assert low == pytest.approx(3 - 1.96)
    assert np.isnan(high)


def test_a_likelihood_of_positive_numbers_far_from_zero() -> None:
    """The first point is not allowed, and half the way is."""

    def moved(x: Any, modes: Any) -> Evaluation | None:
        return skewed(x - [9.0, 0.0], modes)

    best = np.array([10.0, 0.0])
    ends = profile_ends(moved, best, moved(best, None), 0, 1.0, 1.96)  # type: ignore[arg-type]
    assert 9 < ends[0] < 10 < ends[1]
    for end in ends:
        assert np.sqrt(2 * (end - 9 - np.log(end - 9) - 1)) == pytest.approx(1.96, abs=1e-4)


def test_secant_reaches_the_quantile_within_thrice() -> None:
    def point(value: float, zeta: float) -> tuple[ProfilePoint, float]:
        return ProfilePoint(value, np.empty(0), 0.0, None), zeta

    for sign in (1, -1):
        before, after = point(sign * 1.0, 0.5), point(sign * 2.0, 1.0)
        assert sign * secant(before, after, 1.75, sign * 1.0) == pytest.approx(3.5)
        assert sign * secant(before, after, 0.75, sign * 1.0) == pytest.approx(1.5)
        assert sign * secant(before, after, 10.0, sign * 1.0) == pytest.approx(5.0)
        assert sign * secant(before, after, -10.0, sign * 1.0) == pytest.approx(-1.0)
        # A short last step does not bind it, and where zeta falls it goes on as far as it may.
        near = point(sign * 1.01, 0.501)
        assert sign * secant(before, near, 10.0, sign * 2.0) == pytest.approx(1.61)
        assert sign * secant(after, point(sign * 3.0, 0.9), 1.75, sign * 1.0) == pytest.approx(6.0)
        assert sign * secant(after, point(sign * 3.0, 1.0), 1.75, sign * 1.0) == pytest.approx(6.0)
        assert sign * secant(after, after, 1.1, sign * 2.0) == pytest.approx(2.6)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_held_leaves_the_others_slopes_and_information(place: int) -> None:
    root = np.random.default_rng(3).normal(size=(3, 3))
    hessian, centre = root @ root.T + np.eye(3), np.array([0.5, -1.0, 2.0])
    given = object()

    def function(x: Any, modes: Any) -> Evaluation | None:
        gap = x - centre
        return (
            None if x[place] > 5 else Evaluation(float(gap @ hessian @ gap) / 2, hessian @ gap, given, lambda: hessian)
        )

    rest, others = fix_parameter(function, 3, place, 1.5), [k for k in range(3) if k != place]
    at = rest(np.array([0.3, 0.4]), None)
    assert at is not None
    gap = np.insert(np.array([0.3, 0.4]), place, 1.5) - centre
    assert at.value == pytest.approx(gap @ hessian @ gap / 2)
    assert at.gradient == pytest.approx((hessian @ gap)[others])
    assert at.information() == pytest.approx(hessian[np.ix_(others, others)])
    best = minimise(rest, np.array([0.3, 0.4]), at, None, 1e-9)
    # Given one, the others are where their slopes vanish; what is left is the inverse of its variance.
    moved = -np.linalg.solve(hessian[np.ix_(others, others)], hessian[others, place]) * (1.5 - centre[place])
    assert best.parameters == pytest.approx(centre[others] + moved)
    assert best.at.value == pytest.approx((1.5 - centre[place]) ** 2 / np.linalg.inv(hessian)[place, place] / 2)
    assert at.modes is best.at.modes is given
    assert fix_parameter(function, 3, place, 6.0)(np.array([0.3, 0.4]), None) is None
