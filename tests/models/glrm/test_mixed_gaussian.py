"""Measured answers: the criterion beside the normal density of all answers at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from karat.models.glrm.mixed.gaussian import GaussianObjective
from karat.models.glrm.mixed.laplace import FLOOR, Crossing
from karat.models.glrm.mixed.terms import random_term, sides
from models.glrm.dense import differences
from models.glrm.mixed_cases import expanded, slopes, vector

THETA = np.array([0.9, 0.4, 0.7, 0.6, -0.3, 0.5])
E00, E10, E11 = (np.outer(np.eye(2)[row], np.eye(2)[column]) for row, column in ((0, 0), (1, 0), (1, 1)))
FACTORS = np.array([[0.9, 0.0], [0.4, 0.7]]), np.array([[0.6, 0.0], [-0.3, 0.5]])


def model(reml: bool, mean: float = 0.0) -> tuple[GaussianObjective, Any]:
    """The objective, and V = I + Z Lambda Lambda'Z' written out."""
    y, columns, who, what = slopes("gaussian", 12, 6)
    terms = [vector("participant", who, columns), vector("item", what, columns)]
    effects = np.concatenate([expanded(term, factor) for term, factor in zip(terms, FACTORS, strict=True)], axis=1)
    objective = GaussianObjective(Crossing(sides(terms)), y + mean, columns, reml)
    return objective, np.eye(len(y)) + effects @ effects.T


@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_maximum_likelihood_is_the_normal_density_at_its_best(mean: float) -> None:
    objective, v = model(False, mean)
    at = objective(THETA)
    assert at is not None
    x, y = objective.design, objective.value
    inverse = np.linalg.inv(v)
    beta = np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ y)
    error = y - x @ beta
    variance = error @ inverse @ error / len(y)
    density = multivariate_normal(x @ beta, variance * v).logpdf(y)
    assert -at.value == pytest.approx(density, abs=1e-6 if mean else 1e-9)
    assert at.coefficients == pytest.approx(beta, rel=1e-9)
    assert at.residual_variance == pytest.approx(variance, rel=1e-7)
    assert at.unscaled_covariance == pytest.approx(np.linalg.inv(x.T @ inverse @ x), rel=1e-9)


def test_reml_is_the_density_of_contrasts() -> None:
    """Of n - p answers free of the fixed effects; the criterion has the determinant of X besides."""
    objective, v = model(True)
    at = objective(THETA)
    assert at is not None
    x, y = objective.design, objective.value
    n, p = x.shape
    free = np.linalg.svd(x)[0][:, p:]
    inner, contrast = free.T @ v @ free, free.T @ y
    variance = contrast @ np.linalg.solve(inner, contrast) / (n - p)
    density = multivariate_normal(np.zeros(n - p), variance * inner).logpdf(contrast)
    assert -at.value == pytest.approx(density - np.linalg.slogdet(x.T @ x)[1] / 2, abs=1e-8)
    assert at.residual_variance == pytest.approx(variance)


@pytest.mark.parametrize("reml", [False, True])
def test_the_gradient_is_that_of_differences(reml: bool) -> None:
    objective, _ = model(reml)
    at = objective(THETA)
    assert at is not None
    assert at.gradient == pytest.approx(differences(lambda x: objective(x).value, THETA), abs=1e-6)  # type: ignore[union-attr]


def test_the_modes_are_those_of_penalised_least_squares() -> None:
    objective, _ = model(False)
    at = objective(THETA)
    assert at is not None
    x, y = objective.design, objective.value
    terms = objective.crossing
    blocks = [
        (side.columns[:, :, None] * (side.codes[:, None] == np.arange(side.groups))).transpose(1, 2, 0) @ factor
        for side, factor in zip(terms.sides, FACTORS, strict=True)
    ]
    z = np.concatenate([block.reshape(len(y), -1) for block in blocks], axis=1)
    left = np.block([[x, z], [np.zeros((z.shape[1], 2)), np.eye(z.shape[1])]])
    solved = np.linalg.lstsq(left, np.concatenate([y, np.zeros(z.shape[1])]), rcond=None)[0]
    assert at.coefficients == pytest.approx(solved[:2])
    assert np.concatenate([mode.ravel() for mode in at.modes]) == pytest.approx(solved[2:], abs=1e-10)


@pytest.mark.parametrize("both", [True, False])
def test_the_information_of_each_side_is_fishers_with_a_floor(both: bool) -> None:
    """tr(V^-1 dV V^-1 dV) / 2 for V written out, of a side alone; and a little more, which does not vanish at zero."""
    y, columns, who, what = slopes("gaussian", 12, 6)
    terms = [vector("participant", who, columns), vector("item", what, columns)][: 1 + both]
    at = GaussianObjective(Crossing(sides(terms)), y, columns)(THETA[: 3 * len(terms)])
    assert at is not None
    information = at.information()
    assert information.shape == (3 * len(terms), 3 * len(terms))
    assert not information[:3, 3:].any()
    for number, (term, factor) in enumerate(zip(terms, FACTORS, strict=False)):
        z = expanded(term, np.eye(2))
        wide = np.kron(factor, np.eye(len(term.levels)))
        v = np.linalg.inv(np.eye(len(y)) + z @ wide @ wide.T @ z.T)
        moves = [np.kron(unit, np.eye(len(term.levels))) for unit in (E00, E10, E11)]
        changes = [z @ (move @ wide.T + wide @ move.T) @ z.T for move in moves]
        fisher = np.array([[np.trace(v @ one @ v @ other) / 2 for other in changes] for one in changes])
        by_column = np.diag(z.T @ v @ z).reshape(2, -1).sum(axis=1)
        part = slice(3 * number, 3 * number + 3)
        assert information[part, part] == pytest.approx(fisher + FLOOR * np.diag(by_column[[0, 1, 1]]))


@pytest.mark.parametrize("reml", [False, True])
def test_there_is_no_criterion_without_a_finite_theta(reml: bool) -> None:
    objective, _ = model(reml)
    assert objective(np.append(THETA[:-1], np.nan)) is None
    assert objective(np.append(THETA[:-1], np.inf)) is None
    with np.errstate(over="ignore", invalid="ignore"):
        assert objective(1e200 * THETA) is None  # so large that nothing can be factorised


@pytest.mark.parametrize("slope", [0.0, 1e-7, 1e7])
def test_answers_that_the_fixed_effects_tell_are_refused(slope: float) -> None:
    """They leave no residual but that of rounding, in which a search would find effects and a p below .001."""
    objective, _ = model(False)
    exact = replace(objective, value=objective.design @ [0.3 * slope, slope])
    assert exact.exact
    assert exact(THETA) is None
    assert not objective.exact


@pytest.mark.parametrize("reml", [False, True])
@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_unit_of_answers_moves_the_criterion_by_its_log(unit: float, reml: bool) -> None:
    objective, _ = model(reml)
    one, other = objective(THETA), replace(objective, value=unit * objective.value)(THETA)
    assert one is not None
    assert other is not None
    assert other.value == pytest.approx(one.value + objective.freedom * np.log(unit))
    assert other.residual_variance == pytest.approx(unit**2 * one.residual_variance)
    assert other.coefficients == pytest.approx(unit * one.coefficients)


@pytest.mark.parametrize("unit", [1.0, 1e-5])
def test_a_search_starts_near_the_deviations(unit: float) -> None:
    """Of effects that were drawn with known ones: an intercept, a slope, and rounds nested in participants."""
    random = np.random.default_rng(2)
    who, what, when = np.indices((80, 60, 2)).reshape(3, -1)
    columns = np.column_stack([np.ones(len(who)), random.choice([-1.0, 1.0], len(who))])
    rounds = 2 * who + when
    y = random.normal(5, 1, len(who)) + random.normal(0, 0.5, 160)[rounds]
    y += (random.normal(0, [0.8, 0.4], (60, 2))[what] * columns).sum(axis=1)
    terms = [random_term("participant:round", rounds), vector("item", what, columns)]
    theta = GaussianObjective(Crossing(sides(terms)), unit * y, columns).start()
    assert theta == pytest.approx([0.5, 0.8, 0.0, 0.4], rel=0.2)
    nested = sides([random_term("participant", who), *terms])
    theta = GaussianObjective(Crossing(nested), unit * y, columns).start()
    assert theta[1] == pytest.approx(0.5, rel=0.2)
    assert np.all(np.isfinite(theta))


def test_a_search_starts_somewhere_where_moments_say_nothing() -> None:
    """A level for every answer, and effects that leave hardly any residual."""
    y, columns, who, _ = slopes("gaussian", 12, 6)
    every = GaussianObjective(Crossing(sides([random_term("answer", np.arange(len(y)))])), y, columns)
    assert np.all(np.isfinite(every.start()))
    steps = GaussianObjective(Crossing(sides([random_term("participant", who)])), who + 1e-6 * y, columns)
    assert 1 < steps.start()[0] < 5


def test_the_degrees_of_freedom_and_the_parameters_are_counted() -> None:
    for reml in (False, True):
        objective, _ = model(reml)
        assert objective.freedom == len(objective.value) - 2 * reml
        assert objective.parameters == 6
