"""The Laplace likelihood of slopes beside the same written out densely, and its gradient beside differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.models.glrm.families import Binary, Ordinal
from karat.models.glrm.mixed_laplace import LaplaceObjective
from karat.models.glrm.mixed_mode import Crossing
from karat.models.glrm.mixed_sides import sides
from karat.models.glrm.terms import RandomTerm, random_term
from models.glrm.dense import dense_laplace, differences, logistic
from models.glrm.mixed_cases import THRESHOLDS, expanded, fixed, slopes, vector

LOWER = np.array([[0.9, 0.0], [0.4, 0.7]])
OTHER = np.array([[0.6, 0.0], [-0.3, 0.5]])
DESIGNS = ["full", "few participants", "diagonal", "one factor", "rounds", "singular"]


def model(design: str, family: str) -> tuple[LaplaceObjective, Any, list[tuple[RandomTerm, Any]]]:
    """The objective, theta, and the terms with their own Lambda."""
    participants, items = (5, 11) if design == "few participants" else (12, 6)
    y, columns, who, what = slopes(family, participants, items)
    participant = vector("participant", who, columns)
    item = vector("item", what, columns)
    if design == "diagonal":
        participant = vector("participant", who, columns, "diagonal")
        terms = [(participant, np.diag([0.9, 0.7])), (random_term("item", what), np.eye(1))]
        theta = [0.9, 0.7, 1.0]
    elif design == "one factor":
        terms, theta = [(participant, LOWER)], [0.9, 0.4, 0.7]
    elif design == "rounds":
        rounds = np.arange(len(who)) % 3
        terms = [
            (participant, LOWER), (item, OTHER), (random_term("participant:round", who * 3 + rounds), 0.5 * np.eye(1)),
            (random_term("item:round", what * 3 + rounds), 0.8 * np.eye(1)),
        ]  # fmt: skip
        theta = [0.9, 0.4, 0.7, 0.5, 0.6, -0.3, 0.5, 0.8]
    elif design == "singular":
        terms = [(participant, np.array([[0.9, 0.0], [0.4, 0.0]])), (item, np.zeros((2, 2)))]
        theta = [0.9, 0.4, 0.0, 0.0, 0.0, 0.0]
    else:
        terms, theta = [(participant, LOWER), (item, OTHER)], [0.9, 0.4, 0.7, 0.6, -0.3, 0.5]
    likelihood = Binary(2.0 * y - 1) if family == "binary" else Ordinal(y, 4)
    offset = np.linspace(-0.3, 0.3, len(y))
    crossing = Crossing(*sides([term for term, _ in terms]))
    return LaplaceObjective(crossing, likelihood, fixed(family, columns)[0], offset), theta, terms


def parameters(family: str, theta: Any) -> Any:
    return np.array([0.3, 0.6, *theta] if family == "binary" else [0.6, *THRESHOLDS, *theta])


def log_likelihood(family: str, objective: LaplaceObjective, eta: Any) -> Any:
    if family == "binary":
        return np.log(logistic(objective.family.answers * eta))
    ends = np.array([-np.inf, *THRESHOLDS, np.inf])
    category = objective.family.answers
    with np.errstate(over="ignore"):
        return np.log(logistic(ends[category + 1] - eta) - logistic(ends[category] - eta))


@pytest.mark.parametrize("family", ["binary", "ordinal"])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_value_is_that_of_a_dense_computation(design: str, family: str) -> None:
    objective, theta, terms = model(design, family)
    at = objective(parameters(family, theta))
    assert at is not None
    assert at.found
    beta = objective.split(parameters(family, theta))[0]
    effects = np.concatenate([expanded(term, factor) for term, factor in terms], axis=1)
    offset = objective.offset + objective.design @ beta
    dense = dense_laplace(lambda eta: log_likelihood(family, objective, eta), offset, effects)
    assert at.value == pytest.approx(dense, abs=1e-6)


@pytest.mark.parametrize("family", ["binary", "ordinal"])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_gradient_is_that_of_differences(design: str, family: str) -> None:
    objective, theta, _ = model(design, family)
    x = parameters(family, theta)
    at = objective(x)
    assert at is not None

    def value(x: Any) -> float:
        moved = objective(x, at.modes)
        assert moved is not None
        return moved.value

    assert at.gradient == pytest.approx(differences(value, x), abs=2e-6)


def test_the_information_is_positive_definite_and_of_the_hessians_size() -> None:
    objective, theta, _ = model("full", "binary")
    x = parameters("binary", theta)
    at = objective(x)
    assert at is not None
    information = at.information()
    assert np.linalg.eigvalsh(information)[0] > 0
    hessian = np.array([
        (objective(x + 1e-4 * e).gradient - objective(x - 1e-4 * e).gradient) / 2e-4  # type: ignore[union-attr]
        for e in np.eye(len(x))
    ])  # fmt: skip
    ratio = np.diag(hessian)[:2] / np.diag(information)[:2]
    assert np.all((ratio > 0.5) & (ratio < 2))


def test_the_information_does_not_vanish_without_variance() -> None:
    objective, theta, _ = model("full", "binary")
    at = objective(parameters("binary", np.zeros(len(theta))))
    assert at is not None
    assert np.linalg.eigvalsh(at.information())[0] > 0.01


def test_parameters_that_are_not_allowed_have_no_value() -> None:
    objective, theta, _ = model("full", "ordinal")
    x = parameters("ordinal", theta)
    assert objective(np.where(np.arange(len(x)) == 1, 5.0, x)) is None
    assert objective(x * np.nan) is None
