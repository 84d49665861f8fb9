"""The search leaves saddles, reaches singular ends exactly and says what the data do not determine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from karat.models.glrm.mixed_search import search
from karat.models.glrm.mixed_sides import Block

NAMES = ["a", "b", "c"]


@dataclass(frozen=True)
class At:
    value: float
    gradient: Any
    information: Callable[[], Any]
    modes: None = None


def block(width: int, full: bool) -> Block:
    return Block(0, "item", tuple("abc"[:width]), width, 1, full, 0, None)


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


def test_a_singular_covariance_is_reached_exactly() -> None:
    """The nearest covariance to a matrix with a negative eigenvalue has rank one."""
    target = np.array([[1.0, 1.2], [1.2, 1.0]])
    found = search(of_covariance(target), np.array([1.0, 0.0, 1.0]), [(0, block(2, True))], NAMES)
    assert found.convergence.converged
    assert found.parameters[2] == pytest.approx(0.0, abs=1e-12)
    assert found.parameters[:2] == pytest.approx([np.sqrt(1.1)] * 2, abs=1e-4)


def test_no_variance_of_the_first_effect_leaves_a_direction_in_which_lambda_turns() -> None:
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
    assert "the data do not determine a and b" in str(found.convergence)
    assert np.isnan(found.covariance).all()


def test_the_covariance_is_the_inverse_of_the_hessian() -> None:
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])

    def function(x: Any, _: Any) -> At:
        return At(float(x @ matrix @ x) / 2, matrix @ x, lambda: np.diag([2.0, 9.0]))

    found = search(function, np.array([1.0, -2.0]), [], NAMES[:2])
    assert found.hessian == pytest.approx(matrix, abs=1e-8)
    assert found.covariance == pytest.approx(np.linalg.inv(matrix), abs=1e-8)
    assert "Converged after" in found.convergence.message


def test_a_start_that_is_not_allowed_is_refused() -> None:
    with pytest.raises(ValueError, match="not allowed"):
        search(lambda x, _: None, np.zeros(1), [], NAMES[:1])
