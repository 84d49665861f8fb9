"""Fits: what the answers' order and layout must not change, what cannot be fitted, and what a fit says of itself."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from karat.models.glrm import crossed as module
from karat.models.glrm import fit_crossed
from models.glrm.dense import differences
from models.glrm.simulated import answers

Family = Literal["binary", "ordinal", "gaussian"]
FAMILIES: list[Family] = ["binary", "ordinal", "gaussian"]


def with_covariate(family: str, x: Any) -> Any:
    return x[:, None] if family == "ordinal" else np.column_stack([np.ones(len(x)), x])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_the_gradient_is_zero_and_the_hessian_that_of_the_likelihood(family: Family, share: float) -> None:
    response, worker, task, x = answers(family, share=share)
    fit = fit_crossed(response, worker, task, with_covariate(family, x), family=family)
    assert fit.converged
    at = fit.objective(fit.parameters, fit.modes)
    assert -at.value == pytest.approx(fit.log_likelihood, abs=1e-8)
    assert np.abs(at.gradient).max() < 2e-3
    errors = np.sqrt(np.diag(fit.covariance))
    for k, error in enumerate(errors):
        step = 0.01 * error
        slope = [
            fit.objective(fit.parameters + sign * step * np.eye(len(errors))[k], fit.modes).gradient for sign in (1, -1)
        ]
        assert fit.hessian[k] == pytest.approx((slope[0] - slope[1]) / (2 * step), rel=2e-2, abs=1e-2 / error)
    value = differences(lambda p: fit.objective(p, fit.modes).value, fit.parameters, 1e-4)
    assert value == pytest.approx(at.gradient, abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sheets", [1, 2])
def test_neither_order_nor_layout_nor_side_matters(
    family: Family, sheets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    response, worker, task, x = answers(family, share=0.6, sheets=sheets)
    design = with_covariate(family, x)
    one = fit_crossed(response, worker, task, design, family=family)
    mixed = np.random.default_rng(1).permutation(len(x))
    names = np.array([f"w{number:02d}" for number in worker])
    for other in (
        fit_crossed(response[mixed], names[mixed], task[mixed], design[mixed], family=family),
        fit_crossed(response, task, worker, design, family=family),
    ):
        assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-7)
        assert other.coefficients == pytest.approx(one.coefficients, abs=1e-4)
    assert other.variances["task"] == pytest.approx(one.variances["worker"], rel=1e-3)
    assert other.worker_effects == pytest.approx(one.task_effects, abs=1e-3)
    monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr(module, "PADDED", 0)
    listed = fit_crossed(response, worker, task, design, family=family)
    assert type(listed.objective.layout) is not type(one.objective.layout)
    assert listed.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-7)
    assert listed.parameters == pytest.approx(one.parameters, abs=1e-4)


def test_two_ordered_categories_are_a_binary_answer() -> None:
    response, worker, task, x = answers()
    binary = fit_crossed(response, worker, task, np.column_stack([np.ones(len(x)), x]))
    ordinal = fit_crossed(response, worker, task, x[:, None], family="ordinal")
    assert ordinal.log_likelihood == pytest.approx(binary.log_likelihood, abs=1e-7)
    assert ordinal.thresholds[0] == pytest.approx(-binary.coefficients[0], abs=1e-3)
    assert ordinal.coefficients[0] == pytest.approx(binary.coefficients[1], abs=1e-3)
    assert ordinal.standard_errors[0] == pytest.approx(binary.standard_errors[1], rel=1e-3)


def test_a_start_at_zero_deviations_does_not_stay_there() -> None:
    response, worker, task, _ = answers()
    usual = fit_crossed(response, worker, task)
    assert fit_crossed(response, worker, task, start=[0, 0, 0]).log_likelihood == pytest.approx(usual.log_likelihood)
    assert fit_crossed(response, worker, task, start=usual.parameters).log_likelihood == pytest.approx(
        usual.log_likelihood
    )
    given = np.zeros(3)
    fit_crossed(response, worker, task, start=given)
    assert not given.any()
    with pytest.raises(ValueError, match="start must have 3 numbers"):
        fit_crossed(response, worker, task, start=[0, 0])


@pytest.mark.parametrize("family", FAMILIES)
def test_no_variance_is_a_singular_fit(family: Family) -> None:
    response, worker, task, _ = answers(family, deviations=(0, 0, 0), seed=3)
    fit = fit_crossed(response, worker, task, family=family)
    assert fit.converged
    assert min(fit.variances["worker"], fit.variances["task"]) < 1e-6
    assert any("singular" in note for note in fit.notes)


def test_workers_with_one_answer_are_named_and_do_no_harm() -> None:
    response, worker, task, _ = answers(share=0.9)
    response[worker == 4] = 1
    response[worker == 7] = 0
    fit = fit_crossed(response, worker, task)
    assert fit.converged
    assert {4, 7} <= set(fit.same_answer_workers)
    assert f"{len(fit.same_answer_workers)} of 20 workers gave one answer only." in str(fit)


def test_separation_is_said() -> None:
    random = np.random.default_rng(1)
    _, worker, task, _ = answers()
    column = (worker == 3).astype(float)
    response = (random.random(len(worker)) < 0.5) | (worker == 3)
    fit = fit_crossed(response, worker, task, np.column_stack([np.ones(len(worker)), column]))
    assert not fit.converged
    assert "the coefficient of column 1 grows without bound" in str(fit)


@pytest.mark.parametrize(("family", "levels"), [("binary", 2), ("ordinal", 3)])
def test_unanimous_tasks_are_said(family: Family, levels: int) -> None:
    _, worker, task, _ = answers()
    fit = fit_crossed(task % levels, worker, task, family=family)
    assert not fit.converged
    assert "the variance of task grows without bound" in str(fit)


def test_empty_categories_are_no_thresholds() -> None:
    response, worker, task, _ = answers("ordinal")
    fit = fit_crossed(np.array([1, 2, 5, 9])[response], worker, task, family="ordinal")
    assert fit.categories.tolist() == [1, 2, 5, 9]
    assert len(fit.thresholds) == 3
    assert np.all(np.diff(fit.thresholds) > 0)


def test_it_prints_like_a_sentence() -> None:
    response, worker, task, _ = answers()
    text = str(fit_crossed(response, worker, task))
    assert text.startswith("240 yes-or-no answers of 20 workers to 12 tasks: variances worker ")
    assert "; log-likelihood -" in text
    assert "Converged after" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"worker": [0, 1]}, "equally long"), ({"response": [], "worker": [], "task": []}, "no answers"),
        ({"response": [0, 1, 2, 1]}, "two values, this one 3"), ({"response": [1, 1, 1, 1]}, "answers are the same"),
        ({"response": [0, 1, np.nan, 1]}, "missing or infinite"), ({"task": [0, 0, 0, 0]}, "two workers and two tasks"),
        ({"design": [[1.0], [1.0]]}, "a row of finite numbers"), ({"reml": True}, "REML is for measured"),
        ({"design": [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]}, "depend on each other"),
        ({"family": "gaussian", "interaction": True}, "needs repeated answers"),
        ({"family": "ordinal", "design": [[1.0], [1.0], [1.0], [1.0]]}, "no intercept"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted(change: dict[str, Any], message: str) -> None:
    whole: dict[str, Any] = {"response": [0, 1, 1, 0], "worker": [0, 0, 1, 1], "task": [0, 1, 0, 1]} | change
    with pytest.raises(ValueError, match=message):
        fit_crossed(whole.pop("response"), whole.pop("worker"), whole.pop("task"), whole.pop("design", None), **whole)
