"""Measured answers: the criterion beside the normal density of all answers at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from karat.models.glrm.mixed_gaussian import GaussianMixedObjective
from karat.models.glrm.mixed_mode import Crossing
from karat.models.glrm.mixed_sides import sides
from models.glrm.dense import differences
from models.glrm.mixed_cases import expanded, slopes, vector

THETA = np.array([0.9, 0.4, 0.7, 0.6, -0.3, 0.5])
FACTORS = np.array([[0.9, 0.0], [0.4, 0.7]]), np.array([[0.6, 0.0], [-0.3, 0.5]])


def model(reml: bool, mean: float = 0.0) -> tuple[GaussianMixedObjective, Any]:
    """The objective, and V = I + Z Lambda Lambda'Z' written out."""
    y, columns, who, what = slopes("gaussian", 12, 6)
    terms = [vector("participant", who, columns), vector("item", what, columns)]
    effects = np.concatenate([expanded(term, factor) for term, factor in zip(terms, FACTORS, strict=True)], axis=1)
    objective = GaussianMixedObjective(Crossing(*sides(terms)), y + mean, columns, reml)
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
        for side, factor in zip((terms.first, terms.second), FACTORS, strict=True)
    ]
    z = np.concatenate([block.reshape(len(y), -1) for block in blocks], axis=1)
    left = np.block([[x, z], [np.zeros((z.shape[1], 2)), np.eye(z.shape[1])]])
    solved = np.linalg.lstsq(left, np.concatenate([y, np.zeros(z.shape[1])]), rcond=None)[0]
    assert at.coefficients == pytest.approx(solved[:2])
    assert np.concatenate([mode.ravel() for mode in at.modes]) == pytest.approx(solved[2:], abs=1e-10)
