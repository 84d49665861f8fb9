"""The Laplace likelihood of slopes beside the same written out densely, and its gradient beside differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.models.glrm.families import BinaryFamily, OrdinalFamily
from karat.models.glrm.mixed.laplace import Crossing, LaplaceObjective, linear_information, theta_information
from karat.models.glrm.mixed.terms import RandomTerm, random_term, sides
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
    likelihood = BinaryFamily(2.0 * y - 1) if family == "binary" else OrdinalFamily(y, 4)
    offset = np.linspace(-0.3, 0.3, len(y))
    crossing = Crossing(sides([term for term, _ in terms]))
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
    assert at.converged
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


def test_information_is_positive_and_like_the_hessian() -> None:
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


def test_parameters_beyond_what_can_be_computed_have_no_value() -> None:
    """The predictor is infinite, or the curvature is."""
    objective, theta, _ = model("full", "binary")
    x = parameters("binary", theta)
    assert objective(np.array([1.7e308, 1.7e308, *theta])) is None
    assert objective(np.where(np.arange(len(x)) == 2, 1e200, x)) is None


def test_a_system_that_cannot_be_solved_has_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    objective, theta, _ = model("full", "binary")

    def fails(*_: Any) -> Any:
        raise np.linalg.LinAlgError

    monkeypatch.setattr("karat.models.glrm.blocks.DenseCurvature.factorise", fails)
    assert objective(parameters("binary", theta)) is None


def by_rows(family: str, objective: LaplaceObjective, eta: Any, psi: Any) -> Any:
    """The log-likelihood of every row."""
    if family == "binary":
        return np.log(logistic(objective.family.answers * eta))
    ends = np.array([-40.0, *psi, 40.0])
    category = objective.family.answers
    return np.log(logistic(ends[category + 1] - eta) - logistic(ends[category] - eta))


def second_differences(function: Any, x: Any, step: float = 1e-3) -> Any:
    """The matrices of second derivatives of what a function gives in every row."""
    units = step * np.eye(len(x))
    return np.array([
        [(function(x + a + b) - function(x + a - b) - function(x - a + b) + function(x - a - b)) / (4 * step**2)
         for b in units]
        for a in units
    ])  # fmt: skip


@pytest.mark.parametrize("family", ["binary", "ordinal"])
@pytest.mark.parametrize("design", ["full", "one factor", "rounds"])
def test_coefficient_information_is_that_of_dense_matrices(design: str, family: str) -> None:
    """The Hessian of the penalised likelihood in all, by differences for each row, from which the effects are taken."""
    objective, theta, terms = model(design, family)
    x = parameters(family, theta)
    beta, psi, _ = objective.split(x)
    at = objective(x)
    assert at is not None
    crossing, factors = objective.crossing, objective.crossing.factors(np.array(theta))
    eta = objective.offset + objective.design @ beta + crossing.predictor(factors, at.modes)
    rows = second_differences(lambda y: by_rows(family, objective, eta + y[0], psi + y[1:]), np.zeros(1 + len(psi)))
    effects = np.concatenate([expanded(term, factor) for term, factor in terms], axis=1)
    # Every row's predictor and thresholds, by what moves them.
    moves = np.zeros((1 + len(psi), len(eta), len(beta) + len(psi) + effects.shape[1]))
    moves[0] = np.column_stack([objective.design, np.zeros((len(eta), len(psi))), effects])
    for k in range(len(psi)):
        moves[1 + k, :, len(beta) + k] = 1.0
    whole = -np.einsum("ina,ijn,jnb->ab", moves, rows, moves, optimize=True)
    own = len(beta) + len(psi)
    inner = whole[own:, own:] + np.eye(effects.shape[1])
    fixed = whole[:own, :own] - whole[:own, own:] @ np.linalg.solve(inner, whole[own:, :own])
    information = at.information()
    assert information[:own, :own] == pytest.approx(fixed, rel=1e-4, abs=1e-4)
    assert np.count_nonzero(information[:own, own:]) == 0
    assert information == pytest.approx(information.T)


@pytest.mark.parametrize("covariance", ["full", "diagonal", "shared"])
def test_the_information_about_theta_is_fishers(covariance: Any) -> None:
    """tr(V^-1 dV V^-1 dV) / 2 with V = I + Z Lambda Lambda'Z' of all rows at once, and dV by differences."""
    _, columns, who, what = slopes(participants=6, items=5)
    rounds = np.arange(len(who)) % 2
    side, _ = sides([
        vector("participant", who, columns, covariance), random_term("item", what),
        vector("participant:round", who * 2 + rounds, columns, covariance),
    ])  # fmt: skip
    theta = np.linspace(0.4, 1.1, side.size)
    weight = np.random.default_rng(1).uniform(0.1, 0.3, len(who))
    level = who == np.arange(6)[:, None]
    whitened = side.columns * np.sqrt(weight)

    def covered(theta: Any) -> Any:
        z = side.factor(theta).T @ whitened
        return np.eye(len(who)) + (z.T @ z) * (level.T.astype(float) @ level)

    inverse = np.linalg.inv(covered(theta))
    units = 1e-3 * np.eye(side.size)
    steps = [inverse @ (covered(theta + unit) - covered(theta - unit)) / 2e-3 for unit in units]
    fisher = np.array([[np.trace(one @ other) / 2 for other in steps] for one in steps])
    curvature = side.curvature(weight)
    information, beside, precision = linear_information(side, side.factor(theta), curvature)
    assert information == pytest.approx(fisher, rel=1e-6, abs=1e-9)
    assert beside == pytest.approx([np.trace(one) / 2 for one in steps], rel=1e-6)
    for number, own in enumerate(level):
        z = whitened[:, own]
        assert precision[number] == pytest.approx(z @ inverse[np.ix_(own, own)] @ z.T)
    # What stands in where the information vanishes: a tenth of what the rows tell about each effect.
    result = np.array([np.trace(precision[:, k, k][:, None] * np.eye(6)) for k in range(side.effects)])
    row, _, element = side.pattern
    floor = np.zeros(side.size)
    for place, which in zip(row, element, strict=True):
        floor[which] += result[place]
    assert theta_information(side, side.factor(theta), curvature) == pytest.approx(
        fisher + 0.1 * np.diag(floor), rel=1e-6, abs=1e-9
    )


def test_parameters_have_their_places() -> None:
    objective, theta, _ = model("full", "ordinal")
    assert objective.parameters == 1 + 3 + 6
    beta, psi, rest = objective.split(parameters("ordinal", theta))
    assert (beta.tolist(), psi.tolist(), rest.tolist()) == ([0.6], THRESHOLDS, theta)


def test_modes_that_are_given_are_where_the_search_starts() -> None:
    objective, theta, _ = model("full", "binary")
    x = parameters("binary", theta)
    at = objective(x)
    assert at is not None
    again = objective(x, at.modes)
    assert again is not None
    assert again.value == pytest.approx(at.value, abs=1e-9)
    moved = [np.abs(one - other).max() for one, other in zip(again.modes, at.modes, strict=True)]
    assert max(moved) < 1e-6
