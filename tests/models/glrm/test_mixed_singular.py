"""Singular covariances are named, and simplified one step at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karat.messages import Message
from karat.models.glrm.mixed.search import simpler, singular_directions
from karat.models.glrm.mixed.terms import RandomTerm, random_term

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
    both = [term(2, "diagonal"), random_term("participant", CODES, COLUMNS[:, :2], NAMES[:2], "diagonal")]
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
