"""Measured answers beside the multivariate normal density."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from karat.models.glrm import fit_crossed
from karat.models.glrm.mixed.gaussian import GaussianObjective
from messages import raises, refuses
from models.glrm.dense import differences, indicator
from models.glrm.simulated import answers


@pytest.mark.parametrize("reml", [False, True])
@pytest.mark.parametrize(("share", "sheets"), [(1.0, 1), (0.5, 2)])
def test_the_likelihood_is_that_of_the_normal_distribution(reml: bool, share: float, sheets: int) -> None:
    y, worker, task, x = answers("gaussian", 9, 6, share, sheets)
    design = np.column_stack([np.ones(len(y)), x])
    fit = fit_crossed(y, worker, task, design, family="gaussian", reml=reml)
    variances = fit.variances
    v = variances["residual"] * np.eye(len(y))
    for name, group in (("worker", worker), ("task", task)):
        v += variances[name] * indicator(group) @ indicator(group).T
    error = y - design @ fit.coefficients
    inner = design.T @ np.linalg.solve(v, design)
    size = len(y) - reml * 2
    plain = -(size * np.log(2 * np.pi) + np.linalg.slogdet(v)[1] + error @ np.linalg.solve(v, error)) / 2
    plain -= reml * np.linalg.slogdet(inner)[1] / 2
    assert fit.log_likelihood == pytest.approx(plain, abs=1e-7)
    assert fit.coefficients == pytest.approx(np.linalg.solve(inner, design.T @ np.linalg.solve(v, y)))
    assert fit.coefficient_covariance == pytest.approx(np.linalg.inv(inner))
    predicted = variances["worker"] * indicator(worker).T @ np.linalg.solve(v, error)
    assert fit.worker_effects == pytest.approx(predicted, abs=1e-8)
    assert isinstance(fit.objective, GaussianObjective)


@pytest.mark.parametrize("reml", [False, True])
def test_its_gradient(reml: bool) -> None:
    y, worker, task, x = answers("gaussian", 9, 6, 0.6, 2)
    objective = fit_crossed(y, worker, task, x[:, None], family="gaussian", reml=reml).objective
    for theta in (np.array([0.7, 1.4]), np.array([0.0, 0.2])):
        at = objective(theta, None)
        assert at.gradient == pytest.approx(differences(lambda t: objective(t, None).value, theta), abs=1e-6)


def test_the_laplace_engine_agrees_since_it_is_exact_here() -> None:
    y, worker, task, _ = answers("gaussian", sheets=3, deviations=(1.0, 1.0, 0.0), seed=4)
    closed = fit_crossed(y, worker, task, family="gaussian")
    laplace = fit_crossed(y, worker, task, family="gaussian", interaction=True)
    assert laplace.converged
    assert list(laplace.variances) == ["worker", "task", "worker:task", "residual"]
    assert laplace.names == (
        "x0", "log residual", "deviation of worker", "deviation of task", "deviation of worker:task"
    )  # fmt: skip
    assert laplace.same_answer_workers.tolist() == []
    assert laplace.log_likelihood >= closed.log_likelihood - 1e-7
    fixed = np.append(laplace.parameters[:-1], 0.0)
    fixed[:4] = (
        closed.coefficients[0], np.log(closed.variances["residual"]) / 2,
        np.sqrt(closed.variances["worker"]), np.sqrt(closed.variances["task"]),
    )  # fmt: skip
    at = laplace.objective(fixed, laplace.objective.zero_modes())
    assert -at.value == pytest.approx(closed.log_likelihood, abs=1e-6)


def test_answers_without_a_residual_are_refused() -> None:
    _, worker, task, _ = answers()
    with raises(ValueError, "models.no_start"):
        fit_crossed(np.zeros(len(worker)), worker, task, family="gaussian")
    with refuses(ValueError, "design"):
        fit_crossed(worker + 0.5 * task, worker, task, np.empty((len(worker), 0)), family="gaussian")


def test_units_do_not_matter() -> None:
    y, worker, task, _ = answers("gaussian")
    one = fit_crossed(y, worker, task, family="gaussian")
    other = fit_crossed(1e4 + 1e3 * y, worker, task, family="gaussian")
    assert other.converged
    for name, value in one.variances.items():
        assert other.variances[name] == pytest.approx(1e6 * value, rel=1e-3)
    # Logits so large would be a sign of separation; measured answers may be as large as they like.
    y, worker, task, _ = answers("gaussian", sheets=3, deviations=(1.0, 1.0, 0.5), seed=4)
    large = fit_crossed(1e4 + 1e3 * y, worker, task, family="gaussian", interaction=True)
    assert large.converged
    assert large.convergence.reason is None


@pytest.mark.parametrize("mean", [1e4, 1e6, 1e9])
def test_a_large_mean_costs_no_digits(mean: float) -> None:
    y, worker, task, x = answers("gaussian", share=0.8)
    design = np.column_stack([np.ones(len(y)), x])
    one = fit_crossed(y, worker, task, design, family="gaussian")
    other = fit_crossed(mean + y, worker, task, design, family="gaussian")
    assert other.converged
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-5)
    assert other.coefficients - [mean, 0] == pytest.approx(one.coefficients, abs=1e-5)
    for name, value in one.variances.items():
        assert other.variances[name] == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("reml", [False, True])
def test_a_fit_says_how_it_was_made(reml: bool) -> None:
    y, worker, task, _ = answers("gaussian")
    fit = fit_crossed(y, worker, task, family="gaussian", reml=reml)
    assert fit.reml is reml
    assert fit.objective.reml is reml
    assert fit.summary[0].code == ("fit.crossed_reml" if reml else "fit.crossed")
    assert fit.summary[0].values["value"] == fit.log_likelihood
    assert fit.same_answer_workers.tolist() == fit.thresholds.tolist() == fit.categories.tolist() == []
    assert fit.names == ("relative deviation of worker", "relative deviation of task")


@pytest.mark.parametrize("reml", [False, True])
@pytest.mark.parametrize("factor", ["worker", "task"])
def test_without_a_group_it_is_the_criterion_of_the_others(factor: Any, reml: bool) -> None:
    y, worker, task, x = answers("gaussian", 9, 6, 0.6, 2)
    design = np.column_stack([np.ones(len(y)), x])
    fit = fit_crossed(y, worker, task, design, family="gaussian", reml=reml)
    rest, modes, kept = fit.objective.without(fit.modes, factor, 2)
    others = (worker if factor == "worker" else task) != 2
    alone = fit_crossed(y[others], worker[others], task[others], design[others], family="gaussian", reml=reml)
    theta = np.array([0.7, 1.4])
    found, expected = rest(theta, modes), alone.objective(theta, None)
    assert found.value == pytest.approx(expected.value)
    assert found.gradient == pytest.approx(expected.gradient)
    assert (rest.answers, kept.tolist()) == (others.sum(), [True, True])


def test_what_it_is_not_defined_for() -> None:
    y, worker, task, x = answers("gaussian", 9, 6, 0.6, 2)
    objective = fit_crossed(y, worker, task, x[:, None], family="gaussian").objective
    for theta in ((np.nan, 1.0), (1.0, np.inf)):
        assert objective(np.array(theta), None) is None
    for slope in (0.0, 1e-7, 1e7):
        exact = replace(objective, value=slope * objective.design[..., 0])
        assert exact(np.ones(2), None) is None
    small = replace(objective, value=1e-9 * objective.value)
    assert small(np.ones(2), None).residual_variance == pytest.approx(
        1e-18 * objective(np.ones(2), None).residual_variance
    )
    assert (objective.parameters, objective.answers, objective.deviations) == (2, len(y), 2)
