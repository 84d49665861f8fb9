"""Degrees of freedom against a slow computation in theta and sigma, from differences of the likelihood alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import f as f_distribution

from karat.models.glrm.formulas.model import Model, Satterthwaite, fit, fixed_covariance, joint_degrees
from karat.models.glrm.formulas.wald import type_three
from karat.models.glrm.mixed.gaussian import GaussianObjective
from messages import refuses
from models.glrm.written_cases import GROUPS, study


def slow_degrees(model: Model, contrasts: Any = None) -> list[float]:
    """2 v^2 / g'A g with A the inverse of a Hessian of differences, in theta and sigma together."""
    contrasts = np.eye(len(model.fit.coefficients)) if contrasts is None else contrasts
    objective = model.fit.objective
    assert isinstance(objective, GaussianObjective)
    best = np.append(model.fit.theta, np.sqrt(model.fit.residual_variance))

    def criterion(x: Any) -> float:
        """At a residual deviation that need not be the best for theta."""
        at = objective(x[:-1])
        assert at is not None
        ratio = at.residual_variance / x[-1] ** 2
        return float(at.value + objective.freedom / 2 * (ratio - 1 - np.log(ratio)))

    def covariance(x: Any) -> Any:
        at = objective(x[:-1])
        assert at is not None
        return x[-1] ** 2 * at.unscaled_covariance

    size, h = len(best), 2e-4
    steps = h * np.eye(size)
    corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    hessian = np.array(
        [[sum(i * j * criterion(best + i * a + j * b) for i, j in corners) / (4 * h * h) for b in steps] for a in steps]
    )
    slopes = np.array([(covariance(best + a) - covariance(best - a)) / (2 * h) for a in steps])
    spread = np.linalg.inv(hessian)
    found = []
    for row in contrasts:
        variance, slope = row @ covariance(best) @ row, np.array([row @ one @ row for one in slopes])
        found.append(2 * variance**2 / (slope @ spread @ slope))
    return found


@pytest.mark.parametrize("reml", [True, False])
@pytest.mark.parametrize("formula", [f"time ~ condition * group + size + {GROUPS}", "time ~ size + (1 | participant)"])
def test_degrees_are_those_of_the_slow_computation(formula: str, reml: bool) -> None:
    model = fit(formula, study(), "gaussian", reml=reml)
    np.testing.assert_allclose(model.table()["df"], slow_degrees(model), rtol=2e-3)


def test_a_test_of_one_row_is_the_square_of_t() -> None:
    model = fit(f"time ~ size + {GROUPS}", study(), "gaussian")
    statistic, size, degrees, p = model.satterthwaite.test(np.array([[0.0, 1.0]]))
    table = model.table()
    assert statistic == pytest.approx(table["t"][1] ** 2)
    assert (size, degrees) == (1, pytest.approx(table["df"][1]))
    assert p == pytest.approx(table["p"][1])


def test_joint_degrees() -> None:
    # The mean of F with d degrees below is d / (d - 2), that of the sum of squared t the sum of such means.
    below = joint_degrees(np.array([10.0, 30.0]))
    assert below / (below - 2) == pytest.approx((10 / 8 + 30 / 28) / 2)
    assert joint_degrees(np.array([1.5, 30.0])) == joint_degrees(np.array([2.0, 30.0])) == 2
    near = joint_degrees(np.array([3.0, 3.5, 3.2]))
    assert near / (near - 2) == pytest.approx((3 / 1 + 3.5 / 1.5 + 3.2 / 1.2) / 3)
    below = joint_degrees(np.array([10.0, 10.5]))
    assert below / (below - 2) == pytest.approx((10 / 8 + 10.5 / 8.5) / 2, rel=1e-9)
    assert joint_degrees(np.array([7.5])) == 7.5
    assert np.isnan(joint_degrees(np.array([np.nan])))
    assert np.isnan(joint_degrees(np.array([np.nan, 3.0])))


@pytest.mark.parametrize("reml", [True, False])
def test_a_test_of_several_rows_is_made_of_independent_ones(reml: bool) -> None:
    """F by the inverse of the rows' covariance, and the degrees of its parts by the slow computation."""
    model = fit(f"time ~ condition * group + {GROUPS}", study(), "gaussian", reml=reml)
    contrasts = np.random.default_rng(3).normal(size=(3, len(model.fit.coefficients)))
    statistic, size, degrees, p = model.satterthwaite.test(contrasts)
    inner, means = contrasts @ model.fit.covariance @ contrasts.T, contrasts @ model.fit.coefficients
    assert (statistic, size) == (pytest.approx(means @ np.linalg.solve(inner, means) / 3), 3)
    parts = np.array(slow_degrees(model, np.linalg.eigh(inner)[1].T @ contrasts))
    assert degrees / (degrees - 2) == pytest.approx((parts / (parts - 2)).mean(), rel=1e-4)
    assert p == pytest.approx(f_distribution.sf(statistic, 3, degrees))
    # The units of the rows do not matter.
    for unit in (1e-8, 1e8):
        assert model.satterthwaite.test(unit * contrasts) == pytest.approx((statistic, 3, degrees, p))
    # A row that says nothing new adds nothing, and no degree of freedom above.
    again = model.satterthwaite.test(np.vstack([contrasts, contrasts[0] - 2 * contrasts[2]]))
    assert (again[0], again[1]) == (pytest.approx(statistic), 3)


def test_what_is_not_known_has_no_degrees() -> None:
    model = fit(f"time ~ size + {GROUPS}", study(), "gaussian")
    assert np.isnan(model.satterthwaite.degrees(np.zeros((1, 2)))).all()
    unknown = Satterthwaite(replace(model.fit, covariance=np.full((2, 2), np.nan)))
    statistic, size, degrees, p = unknown.test(np.eye(2))
    assert size == 2
    assert np.isnan([statistic, degrees, p]).all()
    # Where variances of random effects say nothing of a contrast's variance, it has the residual's degrees of freedom.
    sure = Satterthwaite(model.fit)
    sure.__dict__["slopes"] = np.zeros((3, 2, 2))
    assert sure.degrees(np.eye(2)).tolist() == [model.fit.n - 2] * 2
    with refuses(ValueError):
        fixed_covariance(lambda theta: None, np.ones(2))  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [np.nan, 0.0, np.inf])
def test_an_error_that_is_not_known_has_a_step_all_the_same(error: float) -> None:
    model = fit("time ~ size + (1 | participant)", study(), "gaussian")
    usual = Satterthwaite(model.fit).slopes
    again = Satterthwaite(replace(model.fit, parameter_covariance=np.array([[error]]))).slopes
    np.testing.assert_allclose(again, usual, rtol=1e-4, atol=1e-9)


def test_binary_degrees_match_likelihood_differences() -> None:
    """V at other theta from the Hessian of the Laplace likelihood in the coefficients, by differences of its slope."""
    model = fit(f"yes ~ size + {GROUPS}", study())
    found, objective = model.fit, model.fit.objective
    fixed = len(found.coefficients)

    def covariance(parameters: Any) -> Any:
        rows = []
        for step in np.eye(len(parameters))[:fixed] * 1e-3:
            ends = [objective(parameters + sign * step) for sign in (1, -1)]
            assert ends[0] is not None
            assert ends[1] is not None
            rows.append((ends[0].gradient - ends[1].gradient)[:fixed] / 2e-3)
        return np.linalg.inv(np.array(rows))

    variance = np.diag(found.covariance)
    steps = np.eye(len(found.parameters))[fixed:] * 1e-2
    slopes = [np.diag(covariance(found.parameters + h) - covariance(found.parameters - h)) / 2e-2 for h in steps]
    spread = found.parameter_covariance[fixed:, fixed:]
    expected = [2 * variance[k] ** 2 / (g @ spread @ g) for k, g in enumerate(np.array(slopes).T)]
    np.testing.assert_allclose(Satterthwaite(found).degrees(np.eye(fixed)), expected, rtol=0.1)


@pytest.mark.parametrize(("family", "answer"), [("binary", "yes"), ("ordinal", "rating")])
def test_effects_without_slopes_have_at_most_residual_degrees(family: Any, answer: str) -> None:
    model = fit(f"{answer} ~ size * condition + (1 | participant) + (1 | item)", study(), family)
    most = model.fit.n - len(model.fit.coefficients) - len(model.fit.thresholds)
    tested = type_three(model.tested_by("satterthwaite"))
    assert (tested.denominator <= most + 1e-6).all()


def test_ordered_answers_have_degrees_for_thresholds_too() -> None:
    model = fit(f"rating ~ size + {GROUPS}", study(), "ordinal")
    size = 1 + len(model.fit.thresholds)
    degrees = Satterthwaite(model.fit).degrees(np.eye(size))
    assert np.all((degrees > 1) & np.isfinite(degrees))
    assert Satterthwaite(model.fit).degrees(np.eye(1))[0] == pytest.approx(degrees[0])
