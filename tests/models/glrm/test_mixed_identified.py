"""What a design cannot identify is reported beforehand, and what it can tell is not held against it."""

from __future__ import annotations

import numpy as np
import pytest

from karat.messages import Message
from karat.models.glrm.mixed.fit import fit_mixed
from karat.models.glrm.mixed.laplace import lacking_information, undetermined
from karat.models.glrm.mixed.terms import random_term, sides

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
    assert undetermined(first, residual) == []
    assert undetermined(second, residual) == ["item"]


@pytest.mark.parametrize("residual", [False, True])
def test_conditions_crossed_within_items_are_not(residual: bool) -> None:
    terms = [random_term("participant", WHO, columns(2), NAMES), random_term("item", WHAT, columns(2), NAMES)]
    assert [undetermined(side, residual) for side in sides(terms)] == [[], []]


def test_a_side_without_effects_has_nothing_to_determine() -> None:
    _, nothing = sides([random_term("participant", WHO)])
    assert undetermined(nothing, True) == []


def test_the_factor_that_lacks_is_named_among_others_of_its_side() -> None:
    """Every answer is a level of the last factor, which cannot be separated from the residual."""
    who, what, when = np.indices((6, 4, 2)).reshape(3, -1)
    rounds, trial = random_term("who:round", who * 2 + when), random_term("who:trial", np.arange(len(who)))
    slopes = random_term("who", who, np.column_stack([np.ones(len(who)), what - 1.5]), ("(Intercept)", "x"))
    for terms in ([slopes, rounds, trial], [slopes, trial, rounds], [random_term("who", who), trial, rounds]):
        side, _ = sides([*terms, random_term("what", what)])
        assert len(side.blocks) == 3
        assert undetermined(side, residual=True) == ["who:trial"]
        assert undetermined(side, residual=False) == []


def test_one_level_with_two_answers_identifies_effects() -> None:
    codes = np.array([*range(10), 9])
    side, _ = sides([random_term("trial", codes)])
    assert undetermined(side, residual=True) == []


def test_effects_that_no_level_has_both_of_have_no_covariance() -> None:
    """Two groups of participants: what would vary together never meets."""
    group = (np.arange(2)[:, None] == WHO % 2).T * 1.0
    terms = [random_term("participant", WHO, group, ("one", "other")), random_term("item", WHAT)]
    first, second = sides(terms)
    assert undetermined(first, residual=True) == ["participant"]
    assert undetermined(second, residual=True) == []
    apart = random_term("participant", WHO, group, ("one", "other"), "diagonal")
    assert undetermined(sides([apart, terms[1]])[0], residual=True) == []


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
