"""Singular covariances are named, and simplified one step at a time."""

from __future__ import annotations

import numpy as np

from karat.models.glrm.mixed_singular import simpler, singular_directions
from karat.models.glrm.terms import RandomTerm, random_term

CODES = np.array([0, 0, 1, 1])
COLUMNS = np.array([[1.0, 0, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1]])
NAMES = ("(Intercept)", "x", "z")


def term(columns: int = 2, covariance: str = "full") -> RandomTerm:
    return random_term("item", CODES, COLUMNS[:, :columns], NAMES[:columns], covariance)  # type: ignore[arg-type]


def test_a_regular_covariance_is_not_named() -> None:
    assert singular_directions(term(), np.array([[1.0, 0], [0.5, 0.1]])) == []
    assert singular_directions(term(2, "diagonal"), np.diag([1.0, 0.1])) == []
    assert singular_directions(term(2, "shared"), 0.1 * np.eye(2)) == []


def test_a_variance_of_zero_is_named() -> None:
    zero = "The fit is singular: the variance of x for item is zero."
    assert singular_directions(term(), np.array([[1.0, 0], [0, 0]])) == [zero]
    assert singular_directions(term(2, "diagonal"), np.diag([1.0, 0.0])) == [zero]
    both = "The fit is singular: the variance of (Intercept), x for item is zero."
    assert singular_directions(term(2, "shared"), np.zeros((2, 2))) == [both]


def test_a_perfect_correlation_has_its_sign() -> None:
    assert "correlate with 1." in singular_directions(term(), np.array([[1.0, 0], [0.5, 0]]))[0]
    assert "correlate with -1." in singular_directions(term(), np.array([[1.0, 0], [-0.5, 0]]))[0]


def test_a_lost_direction_is_named_by_its_weights() -> None:
    """z is the sum of the other two, each with deviation 1."""
    factor = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]])
    (said,) = singular_directions(term(3), factor)
    assert "vary in 2 of 3 directions" in said
    assert "-0.50 (Intercept) -0.50 x +0.71 z has no variance" in said


def test_correlations_go_first_then_the_smallest_variance_then_the_term() -> None:
    other = random_term("participant", CODES)
    first = simpler([term(), other], [np.array([[1.0, 0], [0.5, 0]]), np.eye(1)], [True, False])
    assert first is not None
    assert [str(one) for one in first[0]] == ["(1 + x || item)", "(1 | participant)"]
    assert first[1] == "(1 + x | item) was singular; its correlations were left out: (1 + x || item)."
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
    both = [term(2, "diagonal"), random_term("participant", CODES, COLUMNS[:, :2], NAMES[:2], "diagonal")]
    step = simpler(both, [np.diag([0.5, 2e-5]), np.diag([1e-5, 0.7])], [True, True])
    assert step is not None
    assert [str(one) for one in step[0]] == ["(1 + x || item)", "(0 + x | participant)"]
    assert step[1].startswith("(Intercept) for participant had no variance")
