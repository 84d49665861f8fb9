"""What a mixed model is fitted to is checked; what a design cannot identify is reported beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.messages import Message
from karat.models.glrm.families import BinaryFamily, OrdinalFamily
from karat.models.glrm.mixed.fit import fit_mixed
from karat.models.glrm.mixed.laplace import lacking_information, unidentified
from karat.models.glrm.mixed.result import MixedProblem, check
from karat.models.glrm.mixed.terms import random_term, sides
from messages import raises, refuses

TERMS = [random_term("item", [0, 0, 1, 1])]
PLAIN: dict[str, Any] = {
    "response": ["no", "yes", "yes", "no"], "design": [[1, 0.5], [1, 1.5], [1, 2.5], [1, -1]], "names": ["1", "x"],
    "terms": TERMS, "family": "binary", "reml": False, "offset": None,
}  # fmt: skip


def checked(**change: Any) -> MixedProblem:
    return check(**{**PLAIN, **change})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"family": "poisson"},
            'The family of a mixed model is "binary", "ordinal" or "gaussian", not \'poisson\'.',
        ),
        ({"reml": True}, "REML is for measured answers; a binary model is fitted by maximum likelihood."),
        ({"offset": [0.0]}, "offset must have a finite number for every answer."),
        ({"offset": [0.0, np.nan, 0.0, 0.0]}, "offset must have a finite number for every answer."),
        ({"response": [1] * 4}, "models.same_answers"),
        ({"response": [0, 1, 2, 0]}, "models.two_values"),
        ({"response": [[0, 1, 1, 0]]}, "response must be one-dimensional, with at least one answer."),
        ({"response": []}, "response must be one-dimensional, with at least one answer."),
        ({"response": [0, 1, np.nan, 0]}, "response has missing or infinite values. Leave those answers out."),
        ({"design": [[1, 0.5]] * 3}, "design must have a row of finite numbers for every answer."),
        ({"design": [1.0, 2.0, 3.0, 4.0]}, "design must have a row of finite numbers for every answer."),
        ({"design": [[1, np.inf]] * 4}, "design must have a row of finite numbers for every answer."),
        ({"names": ["x"]}, "design has 2 columns and 1 names."),
        ({"terms": []}, "A mixed model needs a random-effect term."),
        ({"terms": [*TERMS, random_term("item", [0, 1, 1])]}, "Every term must have a row for every answer."),
        (
            {"design": [[1, 2.0]] * 4},
            "Column x of the design follows from those before it. Leave it out.",
        ),
        (
            {"design": [[0, 2.0], [0, 3.0], [0, 1.0], [0, 7.0]]},
            "Column 1 of the design follows from those before it. Leave it out.",
        ),
        (
            {"family": "ordinal", "response": [0, 1, 2, 1]},
            "Column 1 of the design follows from those before it, or from the thresholds, which take the place of an "
            "intercept. Leave it out.",
        ),
        (
            {"family": "gaussian", "response": [0.1, 0.2, 0.3, 0.5], "design": np.empty((4, 0)), "names": []},
            "The design of measured answers needs at least one column, usually an intercept.",
        ),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_a_whole_sentence(change: dict[str, Any], said: str) -> None:
    with raises(ValueError, said):
        checked(**change)


def test_answers_become_numbers_and_keep_their_names() -> None:
    problem = checked(offset=[1, 2, 3, 4])
    assert problem.response.tolist() == [0, 1, 1, 0]
    assert problem.categories.tolist() == ["no", "yes"]
    assert problem.design.tolist() == PLAIN["design"]
    assert (problem.names, problem.terms, problem.family, problem.reml) == (("1", "x"), tuple(TERMS), "binary", False)
    assert problem.offset.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert problem.offset.dtype == checked(design=[[1, 0], [1, 1], [1, 1], [1, 0]]).design.dtype == np.float64
    likelihood = problem.likelihood()
    assert isinstance(likelihood, BinaryFamily)
    assert likelihood.answers.tolist() == [-1.0, 1.0, 1.0, -1.0]
    assert checked().offset.tolist() == [0.0] * 4


def test_ordered_answers_use_all_their_categories() -> None:
    problem = checked(family="ordinal", response=[7, 3, 3, 5], design=[[0.5], [1.5], [2.5], [-1]], names=["x"])
    likelihood = problem.likelihood()
    assert isinstance(likelihood, OrdinalFamily)
    assert likelihood.answers.tolist() == [2, 0, 0, 1]
    assert likelihood.parameters == 2


def test_measured_answers_are_those_without_the_offset() -> None:
    problem = checked(family="gaussian", response=[1, 2, 4, 8], offset=[0.5, 0, 0, -1], reml=True)
    assert problem.response.tolist() == [0.5, 2.0, 4.0, 9.0]
    assert problem.categories.tolist() == []
    assert (problem.names, problem.terms, problem.family, problem.reml) == (("1", "x"), tuple(TERMS), "gaussian", True)
    assert problem.offset.tolist() == [0.5, 0.0, 0.0, -1.0]


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_columns_are_told_apart_in_any_unit(unit: float) -> None:
    design = np.array(PLAIN["design"]) * [1.0, unit]
    assert checked(design=design).design.tolist() == design.tolist()
    twice = np.column_stack([design, design @ [2.0, 3.0]])
    with refuses(ValueError, "Column z"):
        checked(design=twice, names=["1", "x", "z"])


def test_the_first_column_too_many_is_named() -> None:
    design = np.random.default_rng(1).normal(size=(4, 6))
    with refuses(ValueError, "Column e"):
        checked(design=design, names=list("abcdef"))
    with refuses(ValueError, "Column d", "thresholds"):
        checked(design=design, names=list("abcdef"), family="ordinal")
    assert checked(design=design[:, :4], names=list("abcd")).names == ("a", "b", "c", "d")
    assert checked(design=design[:, :3], names=list("abc"), family="ordinal").names == ("a", "b", "c")
    # A column that is nearly, but not quite, one before it may stay.
    near = np.column_stack([design[:, 0], design[:, 0] + 1e-5 * design[:, 1]])
    assert checked(design=near).design.shape == (4, 2)


WHO, WHAT = np.indices((12, 8)).reshape(2, -1)
NAMES = ("(Intercept)", "a", "b", "a:b")


def columns(every: int) -> np.ndarray:
    """Two conditions and their interaction; within items b turns with every so many participants, a with each."""
    a = np.where((WHO + WHAT) % 2, -1.0, 1.0)
    b = np.where((WHO // every + WHAT // 2) % 2, -1.0, 1.0)
    return np.column_stack([np.ones(len(a)), a, b, a * b])


@pytest.mark.parametrize("residual", [False, True])
def test_conditions_confounded_within_items_are_found(residual: bool) -> None:
    terms = [random_term("participant", WHO, columns(1), NAMES), random_term("item", WHAT, columns(1), NAMES)]
    first, second = sides(terms)
    assert unidentified(first, residual) == []
    assert unidentified(second, residual) == ["item"]


@pytest.mark.parametrize("residual", [False, True])
def test_conditions_crossed_within_items_are_not(residual: bool) -> None:
    terms = [random_term("participant", WHO, columns(2), NAMES), random_term("item", WHAT, columns(2), NAMES)]
    assert [unidentified(side, residual) for side in sides(terms)] == [[], []]


def test_a_side_without_effects_has_nothing_to_determine() -> None:
    _, nothing = sides([random_term("participant", WHO)])
    assert unidentified(nothing, True) == []


def test_the_factor_that_lacks_is_named_among_others_of_its_side() -> None:
    """Every answer is a level of the last factor, which cannot be separated from the residual."""
    who, what, when = np.indices((6, 4, 2)).reshape(3, -1)
    rounds, trial = random_term("who:round", who * 2 + when), random_term("who:trial", np.arange(len(who)))
    slopes = random_term("who", who, np.column_stack([np.ones(len(who)), what - 1.5]), ("(Intercept)", "x"))
    for terms in ([slopes, rounds, trial], [slopes, trial, rounds], [random_term("who", who), trial, rounds]):
        side, _ = sides([*terms, random_term("what", what)])
        assert len(side.blocks) == 3
        assert unidentified(side, residual=True) == ["who:trial"]
        assert unidentified(side, residual=False) == []


def test_one_level_with_two_answers_identifies_effects() -> None:
    codes = np.array([*range(10), 9])
    side, _ = sides([random_term("trial", codes)])
    assert unidentified(side, residual=True) == []


def test_effects_that_no_level_has_both_of_have_no_covariance() -> None:
    """Two groups of participants: what would vary together never meets."""
    group = (np.arange(2)[:, None] == WHO % 2).T * 1.0
    terms = [random_term("participant", WHO, group, ("one", "other")), random_term("item", WHAT)]
    first, second = sides(terms)
    assert unidentified(first, residual=True) == ["participant"]
    assert unidentified(second, residual=True) == []
    apart = random_term("participant", WHO, group, ("one", "other"), "diagonal")
    assert unidentified(sides([apart, terms[1]])[0], residual=True) == []


def test_information_is_judged_relative_to_that_of_each_element() -> None:
    side, _ = sides([random_term("participant", WHO, columns(2)[:, :2], NAMES[:2]), random_term("item", WHAT)])
    size = np.array([1e6, 1.0, 1e-6])
    related = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.3], [0.2, 0.3, 1.0]])
    assert lacking_information(side, related * np.outer(size, size)) == []
    assert lacking_information(side, np.ones((3, 3)) * np.outer(size, size)) == ["participant"]


@pytest.mark.parametrize("family", ["binary", "gaussian"])
def test_a_confounded_fit_has_not_converged_though_singular(family: str) -> None:
    random = np.random.default_rng(1)
    z = columns(1)
    value = random.normal(size=12)[WHO] + random.normal(size=len(WHO))
    terms = [random_term("participant", WHO), random_term("item", WHAT, z, NAMES)]
    response = value if family == "gaussian" else value > 0
    fit = fit_mixed(response, z[:, :2], NAMES[:2], terms, family=family)  # type: ignore[arg-type]
    assert fit.singular
    assert not fit.converged
    assert fit.convergence.reason == Message("fit.reason_covariances", {"groups": ["item"]})
    plain = fit_mixed(response, z[:, :2], NAMES[:2], [terms[0], random_term("item", WHAT)], family=family)  # type: ignore[arg-type]
    assert plain.converged
