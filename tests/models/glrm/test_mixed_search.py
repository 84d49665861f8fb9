"""The search leaves saddles, reaches singular ends, simplifies singular covariances and says what is not determined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.messages import Message
from karat.models.glrm.mixed.search import (
    leave_saddle,
    search,
    simpler,
    singular_directions,
    smaller_factors,
    tidy_factors,
)
from karat.models.glrm.mixed.terms import RandomBlock, RandomTerm, random_term
from karat.models.glrm.optimise import Convergence
from messages import refuses

NAMES = ["a", "b", "c"]


@dataclass(frozen=True)
class At:
    value: float
    gradient: Any
    information: Callable[[], Any]
    modes: Any = None


def block(width: int, full: bool) -> RandomBlock:
    return RandomBlock(0, "item", tuple("abcd"[:width]), width, 1, full, 0, None)


def of_covariance(target: Any, weight: float = 20.0) -> Callable[[Any, Any], At]:
    """Half the squared distance of L L' from a matrix, which need not be a covariance."""

    def function(theta: Any, _: Any) -> At:
        lower = np.array([[theta[0], 0.0], [theta[1], theta[2]]])
        error = lower @ lower.T - target
        slope = 2 * weight * error @ lower
        return At(weight * (error**2).sum() / 2, slope[[0, 1, 1], [0, 0, 1]], lambda: weight * np.eye(3))

    return function


@pytest.mark.parametrize("start", [[1.0, 0.0, 1.0], [-0.3, 0.2, 0.5], [0.1, 0.0, 0.1]])
def test_a_covariance_is_found_from_anywhere(start: list[float]) -> None:
    target = np.array([[1.0, 0.4], [0.4, 0.5]])
    found = search(of_covariance(target), np.array(start), [(0, block(2, True))], NAMES)
    lower = np.linalg.cholesky(target)
    assert found.convergence.converged
    assert found.parameters == pytest.approx(lower[[0, 1, 1], [0, 0, 1]], abs=1e-4)
    # What is reported of the end belongs to it, and not to the same covariance with other signs.
    at = of_covariance(target)(found.parameters, None)
    assert (found.at.value, found.at.gradient.tolist()) == (at.value, at.gradient.tolist())


def test_a_singular_covariance_is_reached_exactly() -> None:
    """The nearest covariance to a matrix with a negative eigenvalue has rank one."""
    target = np.array([[1.0, 1.2], [1.2, 1.0]])
    found = search(of_covariance(target), np.array([1.0, 0.0, 1.0]), [(0, block(2, True))], NAMES)
    assert found.convergence.converged
    assert found.parameters[2] == pytest.approx(0.0, abs=1e-12)
    assert found.parameters[:2] == pytest.approx([np.sqrt(1.1)] * 2, abs=1e-4)


def test_missing_first_variance_lets_lambda_turn() -> None:
    """Only b^2 + c^2 matters where the first row is zero; that is no fault."""
    target = np.array([[-0.5, 0.0], [0.0, 0.8]])
    found = search(of_covariance(target), np.array([1.0, 0.3, 1.0]), [(0, block(2, True))], NAMES)
    assert found.convergence.converged
    assert found.parameters[0] == pytest.approx(0.0, abs=1e-3)
    assert (found.parameters[1:] ** 2).sum() == pytest.approx(0.8, abs=1e-3)


def test_a_saddle_at_zero_is_left() -> None:
    """(t^2 - 1)^2 has no slope at zero, from where the search starts."""

    def function(theta: Any, _: Any) -> At:
        t = float(theta[0])
        return At((t * t - 1) ** 2, np.array([4 * t * (t * t - 1)]), lambda: np.eye(1))

    found = search(function, np.zeros(1), [(0, block(1, False))], NAMES)
    assert found.convergence.converged
    assert found.parameters == pytest.approx([1.0], abs=1e-4)


def test_what_the_data_do_not_determine_is_named() -> None:
    """Only a + b matters."""

    def function(x: Any, _: Any) -> At:
        return At(float(x.sum() - 1) ** 2, np.full(2, 2 * (x.sum() - 1)), lambda: np.eye(2))

    found = search(function, np.zeros(2), [], NAMES[:2])
    assert not found.convergence.converged
    assert found.convergence.flat == ("a", "b")
    assert found.convergence.reason == Message("fit.reason_flat", {"names": ["a", "b"]})
    assert np.isnan(found.covariance).all()


def test_the_covariance_is_the_inverse_of_the_hessian() -> None:
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])

    def function(x: Any, _: Any) -> At:
        return At(float(x @ matrix @ x) / 2, matrix @ x, lambda: np.diag([2.0, 9.0]))

    found = search(function, np.array([1.0, -2.0]), [], NAMES[:2])
    assert found.hessian == pytest.approx(matrix, abs=1e-8)
    assert found.covariance == pytest.approx(np.linalg.inv(matrix), abs=1e-8)
    assert found.convergence.message.code == "fit.converged_scaled"


def test_a_start_that_is_not_allowed_is_refused() -> None:
    with refuses(ValueError, "thresholds"):
        search(lambda x, _: None, np.zeros(1), [], NAMES[:1])


TURN = np.array([[2.0, 0.0], [0.6, 0.5]])
"""Parameters are seen through this matrix, so that their information is not diagonal."""


@dataclass
class Counted:
    """A function that remembers where it was asked."""

    function: Callable[[Any], At | None]
    points: list[Any] = field(default_factory=list)

    def __call__(self, x: Any, modes: Any) -> At | None:
        self.points.append(x.copy())
        return self.function(x)


def quadratic(matrix: Any, information: Any, slope: Any = 0.0, value: float | None = None) -> Counted:
    """x'Mx / 2 + slope'x; with `value` the gradient belongs to it, but the value never falls."""

    def function(x: Any) -> At:
        own = float(x @ matrix @ x) / 2 + float(np.sum(slope * x))
        return At(own if value is None else value, matrix @ x + slope, lambda: information)

    return Counted(function)


def test_evaluations_are_counted_and_what_was_found_is_said() -> None:
    matrix, information = np.array([[4.0, 1.0], [1.0, 3.0]]), TURN @ TURN.T
    function = quadratic(matrix, information, np.array([1.0, -2.0]))
    found = search(function, np.array([3.0, -2.0]), [], NAMES[:2])
    assert found.parameters == pytest.approx(np.linalg.solve(matrix, [-1.0, 2.0]), abs=1e-4)
    assert found.covariance == pytest.approx(np.linalg.inv(matrix), rel=1e-6)
    gradient = matrix @ found.parameters + [1.0, -2.0]
    slope = np.abs(np.linalg.solve(np.linalg.cholesky(information), gradient)).max()
    decrement = gradient @ np.linalg.solve(matrix, gradient) / 2
    assert found.convergence.reason is None
    message = found.convergence.message
    assert (message.code, message.values["evaluations"]) == ("fit.converged_scaled", len(function.points))
    assert message.values["gradient"] == float(f"{slope:.1e}")
    assert message.values["decrement"] == float(f"{decrement:.1e}")


def test_too_large_information_does_not_end_the_search() -> None:
    """By the information nothing is left to gain at the start; by the Hessian there is, and the search goes on."""
    matrix = np.array([[4.0, 1.0], [1.0, 0.5]])
    information = 100 * np.array([[4.0, 0.5], [0.5, 0.4]])
    start = np.array([1.0, -1.0]) * 1e-4
    gradient = matrix @ start
    assert gradient @ np.linalg.solve(information, gradient) / 2 < 1e-9
    assert gradient @ np.linalg.solve(matrix, gradient) / 2 > 1e-8
    function = quadratic(matrix, information)
    found = search(function, start, [], NAMES[:2])
    assert found.convergence.converged
    # The start; once more when it is tidied and four for the curvature; a step; and the same again.
    assert found.convergence.evaluations == len(function.points) == 1 + 5 + 1 + 5
    assert np.abs(found.parameters).max() < 1e-9


def test_a_search_that_cannot_fall_stops_short_and_says_so() -> None:
    matrix, information, slope = np.array([[4.0, 1.0], [1.0, 0.5]]), TURN @ TURN.T, np.array([3.0, 0.4])
    function = quadratic(matrix, information, slope, value=0.0)
    found = search(function, np.zeros(2), [], NAMES[:2])
    alone = np.abs(np.linalg.solve(np.linalg.cholesky(information), slope)).max()
    assert found.parameters.tolist() == [0.0, 0.0]
    assert found.convergence.decrement == pytest.approx(slope @ np.linalg.solve(matrix, slope) / 2)
    assert not found.convergence.converged
    assert found.convergence.curved
    message = found.convergence.message
    assert (message.code, message.values["reason"].code) == ("fit.not_converged_scaled", "fit.reason_stopped")
    assert message.values["gradient"] == float(f"{alone:.1e}")

    assert found.covariance == pytest.approx(np.linalg.inv(matrix))


@pytest.mark.parametrize("side", [[-1.0, 1.0], [-1.0], [1.0]])
def test_a_search_with_nothing_beside_its_end_says_so(side: list[float]) -> None:
    """The likelihood does not exist on one side of the start, or on both."""
    there = At(2.0, np.array([1e-6, -3e-6]), lambda: np.eye(2))
    found = search(lambda x, _: None if np.sign(x[0]) in side else there, np.zeros(2), [], NAMES[:2])
    assert found.parameters.tolist() == [0.0, 0.0]
    assert found.at is there
    assert found.hessian.shape == found.covariance.shape == (2, 2)
    assert found.hessian.dtype == np.float64
    assert np.isnan(found.hessian).all()
    assert np.isnan(found.covariance).all()
    assert replace(found.convergence, decrement=0.0) == Convergence(
        False, 0.0, 3e-6, False, 6, Message("fit.reason_beside"), scaled=True
    )
    assert np.isnan(found.convergence.decrement)


def test_a_saddle_that_cannot_be_left_is_no_maximum() -> None:
    """The gradient belongs to a saddle, but the value falls on no side of it."""
    function = quadratic(np.diag([-1.0, 2.0]), np.eye(2), value=0.0)
    found = search(function, np.zeros(2), [], NAMES[:2])
    assert found.parameters.tolist() == [0.0, 0.0]
    assert (found.convergence.converged, found.convergence.curved) == (False, False)
    assert found.convergence.reason == Message("fit.reason_hessian")
    assert found.hessian == pytest.approx(np.diag([-1.0, 2.0]))
    assert np.isnan(found.covariance).all()


def test_saddle_is_left_along_its_steepest_side() -> None:
    """(y2^2 - 1)^2 + y1^2 of parameters that are turned: in standard errors, the minimum lies one from the saddle."""

    def function(x: Any) -> At:
        y = TURN.T @ x
        slope = TURN @ [2 * y[0], 4 * y[1] * (y[1] ** 2 - 1)]
        return At((y[1] ** 2 - 1) ** 2 + y[0] ** 2, slope, lambda: TURN @ TURN.T)

    counted = Counted(function)
    found = search(counted, np.zeros(2), [], NAMES[:2])
    assert found.convergence.converged
    # The start, once more when it is tidied, four for the curvature, and then the first step.
    assert np.abs(TURN.T @ counted.points[6]) == pytest.approx([0.0, 1.0], abs=1e-6)
    assert found.convergence.evaluations == len(counted.points)


@pytest.mark.parametrize("length", [1.0, -1.0, 0.3, -0.3, 0.1, -0.1])
@pytest.mark.parametrize("elsewhere", [None, 5.0, 6.0])
def test_both_sides_of_a_saddle_are_tried_ever_closer(length: float, elsewhere: float | None) -> None:
    x, step = np.array([1.0, 2.0]), np.array([0.5, -4.0])
    here = At(5.0, np.zeros(2), lambda: np.eye(2), "modes")
    tried: list[float] = []

    def function(at: Any, modes: Any) -> At | None:
        tried.append(float((at - x)[0] / step[0]))
        assert modes == "modes"
        if np.allclose(at, x + length * step):
            return replace(here, value=4.9)
        return None if elsewhere is None else replace(here, value=elsewhere)

    left = leave_saddle(function, x, here, step)
    assert left is not None
    assert left[0] == pytest.approx(x + length * step)
    assert left[1].value == 4.9
    assert tried == pytest.approx([1.0, -1.0, 0.3, -0.3, 0.1, -0.1][: len(tried)])
    assert leave_saddle(lambda *_: here, x, here, step) is None


def test_parameters_in_other_units_are_named_alike() -> None:
    """Only 1000 a + b matters, and c."""
    seen = np.array([[1000.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    function = quadratic(seen.T @ seen, np.diag([1e6, 1.0, 1.0]))
    assert search(function, np.zeros(3), [], NAMES).convergence.flat == ("a", "b")


def test_flat_parameters_partners_in_information_are_unnamed() -> None:
    function = quadratic(np.diag([1.0, 1.0, 0.0]), 0.2 * np.eye(3) + 0.8)
    found = search(function, np.zeros(3), [], NAMES)
    assert found.convergence.flat == ("c",)
    assert found.convergence.evaluations == len(function.points)


def test_of_a_flat_direction_the_large_parts_are_named() -> None:
    for direction, named in (
        ([0.5, 0.5, 0.5, 0.5], "abcd"),
        ([0.9, 0.4, 0.17, 0.0], "ab"),
        ([0.2, 0.0, 1.0, 0.35], "cd"),
    ):
        along = np.array(direction) / np.linalg.norm(direction)
        function = quadratic(np.eye(4) - np.outer(along, along), np.eye(4))
        assert search(function, np.zeros(4), [], "abcd").convergence.flat == tuple(named)


def test_several_flat_directions_are_named_each_parameter_once() -> None:
    """Nothing depends on d, and nearly nothing on a - b."""
    along = np.array([1.0, -1.0, 0.0, 0.0]) / np.sqrt(2)
    matrix = np.diag([1.0, 1.0, 1.0, 0.0]) - (1 - 5e-4) * np.outer(along, along)
    found = search(quadratic(matrix, np.eye(4)), np.zeros(4), [], "abcd")
    assert found.convergence.flat == ("d", "a", "b")
    assert found.convergence.reason == Message("fit.reason_flat", {"names": ["d", "a", "b"]})
    beside = search(quadratic(np.diag([-1.0, 1.0, 0.0]), np.eye(3), value=0.0), np.zeros(3), [], NAMES)
    assert beside.convergence.flat == ("c",)
    assert not beside.convergence.curved


def of_triangle(target: Any, weight: float = 20.0) -> Callable[[Any, Any], At]:
    """As `of_covariance`, for any size; parameters after the triangle do nothing."""
    column, row = np.triu_indices(len(target))

    def function(x: Any, _: Any) -> At:
        lower = np.zeros_like(target)
        lower[row, column] = x[: len(row)]
        error = lower @ lower.T - target
        slope = np.zeros(len(x))
        slope[: len(row)] = (2 * weight * error @ lower)[row, column]
        return At(weight * (error**2).sum() / 2, slope, lambda: weight * np.eye(len(x)))

    return function


def test_singular_lambda_may_turn_nothing_else() -> None:
    """The first effect has no variance, which leaves a triangle of rank two that can turn."""
    target = np.diag([-0.5, 0.8, 0.6])
    start = np.array([0.5, 0.2, 0.1, 0.7, 0.2, 0.6])
    names = [f"t{k}" for k in range(6)]
    found = search(of_triangle(target), start, [(0, block(3, True))], names)
    assert found.convergence.converged
    lower = block(3, True).factor(found.parameters)
    assert lower @ lower.T == pytest.approx(np.diag([0.0, 0.8, 0.6]), abs=1e-3)
    blocks = [(0, block(3, True)), (6, block(1, False))]
    beside = search(of_triangle(target), np.append(start, 0.5), blocks, [*names, "other"])
    assert beside.convergence.flat == ("other",)


def test_a_flat_direction_of_a_regular_lambda_is_named() -> None:
    """Only the first variance matters; the rest of the triangle is far from singular."""

    def function(x: Any, _: Any) -> At:
        return At((x[0] ** 2 - 0.25) ** 2, np.array([4 * x[0] * (x[0] ** 2 - 0.25), 0, 0]), lambda: np.eye(3))

    found = search(function, np.array([0.4, 0.0, 0.8]), [(0, block(2, True))], NAMES)
    assert set(found.convergence.flat) == {"b", "c"}


def test_a_zero_at_which_there_is_no_likelihood_is_not_taken() -> None:
    """A small deviation stays where the likelihood cannot be computed without it; so does all, where it never can."""
    small, here = np.array([0.05, -0.5]), At(1.0, np.zeros(2), lambda: np.eye(2))
    blocks = [(0, block(1, False)), (1, block(1, False))]
    x, at = tidy_factors(lambda x, _: None if x[0] == 0 else replace(here, value=2.0), small, here, blocks)
    assert (x.tolist(), at.value) == ([0.05, 0.5], 2.0)
    x, at = tidy_factors(lambda *_: None, small, here, blocks)
    assert x.tolist() == [0.05, 0.5]
    assert at is here
    assert small.tolist() == [0.05, -0.5]


@given(st.integers(1, 4), st.integers(0, 10_000))
def test_small_directions_go_by_nearest_lower_ranks(width: int, seed: int) -> None:
    """Beside the spectrum of the covariance, of which the smallest values are set to zero."""
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(width, width)))[0]
    deviations = np.sort(random.choice([0.02, 0.05, 0.09, 0.3, 1.0], width, replace=False))
    covariance = (turn * deviations**2) @ turn.T
    own = block(width, True)
    candidates = smaller_factors(own, np.linalg.cholesky(covariance)[own.entries])
    assert len(candidates) == np.count_nonzero(deviations < 0.1)
    for number, theta in enumerate(candidates):
        kept = np.where(np.arange(width) <= number, 0.0, deviations)
        lower = own.factor(theta)
        assert lower @ lower.T == pytest.approx((turn * kept**2) @ turn.T, abs=1e-10)
        assert lower[:, width - number - 1 :] == pytest.approx(0.0, abs=1e-12)


def test_small_uncorrelated_deviations_leave_one_by_one() -> None:
    candidates = smaller_factors(block(3, False), np.array([0.05, -0.7, -0.02]))
    assert [one.tolist() for one in candidates] == [[0.05, -0.7, 0.0], [0.0, -0.7, 0.0]]
    assert smaller_factors(block(2, False), np.array([0.1, 0.5])) == []
    assert smaller_factors(block(2, True), np.array([0.1, 0.0, 0.5])) == []


CODES = np.array([0, 0, 1, 1])
COLUMNS = np.array([[1.0, 0, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1]])
EFFECT_NAMES = ("(Intercept)", "x", "z")


def term(columns: int = 2, covariance: str = "full") -> RandomTerm:
    return random_term("item", CODES, COLUMNS[:, :columns], EFFECT_NAMES[:columns], covariance)  # type: ignore[arg-type]


def test_a_regular_covariance_is_not_named() -> None:
    assert singular_directions(term(), np.array([[1.0, 0], [0.5, 0.1]])) == []
    assert singular_directions(term(2, "diagonal"), np.diag([1.0, 0.1])) == []
    assert singular_directions(term(2, "shared"), 0.1 * np.eye(2)) == []


def test_a_variance_of_zero_is_named() -> None:
    zero = Message("fit.zero_variance", {"effects": ["x"], "group": "item"})
    assert singular_directions(term(), np.array([[1.0, 0], [0, 0]])) == [zero]
    assert singular_directions(term(2, "diagonal"), np.diag([1.0, 0.0])) == [zero]
    both = Message("fit.zero_variance", {"effects": ["(Intercept)", "x"], "group": "item"})
    assert singular_directions(term(2, "shared"), np.zeros((2, 2))) == [both]


def test_a_perfect_correlation_has_its_sign() -> None:
    for slope, sign in ((0.5, 1), (-0.5, -1)):
        (found,) = singular_directions(term(), np.array([[1.0, 0], [slope, 0]]))
        assert (found.code, found.values["correlation"]) == ("fit.correlated", sign)


def test_a_lost_direction_is_named_by_its_weights() -> None:
    """z is the sum of the other two, each with deviation 1."""
    factor = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]])
    (found,) = singular_directions(term(3), factor)
    assert (found.code, found.values["rank"], found.values["effects"]) == ("fit.directions", 2, 3)
    assert found.values["mixture"] == "-0.50 (Intercept) -0.50 x +0.71 z"


def test_correlations_go_then_smallest_variance_then_term() -> None:
    other = random_term("participant", CODES)
    first = simpler([term(), other], [np.array([[1.0, 0], [0.5, 0]]), np.eye(1)], [True, False])
    assert first is not None
    assert [str(one) for one in first[0]] == ["(1 + x || item)", "(1 | participant)"]
    values = {"term": "(1 + x | item)", "rest": "(1 + x || item)"}
    assert first[1] == Message("fit.without_correlations", values)
    second = simpler(first[0], [np.diag([1.0, 0.0]), np.eye(1)], [True, False])
    assert second is not None
    assert [str(one) for one in second[0]] == ["(1 | item)", "(1 | participant)"]
    third = simpler(second[0], [np.zeros((1, 1)), np.eye(1)], [True, False])
    assert third is not None
    assert [str(one) for one in third[0]] == ["(1 | participant)"]
    assert simpler(third[0], [np.zeros((1, 1))], [True]) is None


def test_a_regular_model_stays() -> None:
    assert simpler([term()], [np.eye(2)], [False]) is None


def test_of_two_singular_terms_the_smaller_effect_goes() -> None:
    both = [
        term(2, "diagonal"),
        random_term("participant", CODES, COLUMNS[:, :2], EFFECT_NAMES[:2], "diagonal"),
    ]
    step = simpler(both, [np.diag([-0.5, 2e-5]), np.diag([-1e-5, 0.7])], [True, True])
    assert step is not None
    assert [str(one) for one in step[0]] == ["(1 + x || item)", "(0 + x | participant)"]
    values = {"effect": "(Intercept)", "group": "participant", "rest": "(0 + x | participant)"}
    assert step[1] == Message("fit.without_effect", values)


def test_a_term_that_goes_leaves_those_before_and_after_it() -> None:
    three = [random_term("participant", CODES), term(), random_term("list", CODES)]
    first = simpler(three, [np.eye(1), np.array([[1.0, 0], [0.5, 0]]), np.eye(1)], [False, True, False])
    assert first is not None
    assert [str(one) for one in first[0]] == ["(1 | participant)", "(1 + x || item)", "(1 | list)"]
    second = simpler(first[0], [np.eye(1), np.diag([1.0, 0.0]), np.eye(1)], [False, True, False])
    assert second is not None
    assert [str(one) for one in second[0]] == ["(1 | participant)", "(1 | item)", "(1 | list)"]
    assert second[1] == Message("fit.without_effect", {"effect": "x", "group": "item", "rest": "(1 | item)"})
    third = simpler(second[0], [np.eye(1), np.zeros((1, 1)), np.eye(1)], [False, True, False])
    assert third is not None
    assert [str(one) for one in third[0]] == ["(1 | participant)", "(1 | list)"]
    assert third[1] == Message("fit.without_term", {"term": "(1 | item)"})


def test_effects_with_one_variance_go_together() -> None:
    other = random_term("participant", CODES)
    step = simpler([other, term(3, "shared")], [np.eye(1), np.zeros((3, 3))], [False, True])
    assert step is not None
    assert [str(one) for one in step[0]] == ["(1 | participant)"]
    assert step[1] == Message("fit.without_term", {"term": "(one variance for (Intercept), x, z | item)"})
    assert simpler([term(3, "shared")], [np.zeros((3, 3))], [True]) is None


@given(st.integers(0, 10_000))
def test_the_direction_that_is_named_has_no_variance(seed: int) -> None:
    """The weights, applied to effects of deviation 1, cancel them; the largest of the weights is positive."""
    random = np.random.default_rng(seed)
    factor = np.tril(random.uniform(0.2, 1, (3, 3)) * random.choice([-1, 1], (3, 3)))
    factor[2, 2] = 0.0  # a lower triangle of rank two
    (found,) = singular_directions(term(3), factor)
    weights = np.array(list(found.values["weights"].values()))
    deviations = np.sqrt((factor**2).sum(axis=1))
    assert np.abs(weights @ (factor / deviations[:, None])).max() < 0.02
    assert weights[np.abs(weights).argmax()] > 0 or np.sort(np.abs(weights))[-1] - np.sort(np.abs(weights))[-2] < 0.011


def test_effects_of_one_direction_alone_are_counted() -> None:
    factor = np.outer([1.0, -2.0, 0.5], [1.0, 0.0, 0.0])
    (found,) = singular_directions(term(3), factor)
    assert (found.values["group"], found.values["rank"], found.values["effects"]) == ("item", 1, 3)
