"""Fits: what the answers' order and layout must not change, what cannot be fitted, and what a fit says of itself."""

from __future__ import annotations

import importlib
from typing import Any, Literal

import numpy as np
import pytest

from karat.messages import Message
from karat.models.glrm import fit_crossed
from karat.models.glrm.fit import group_message
from karat.models.glrm.mixed.sparse import SparseLayout
from karat.models.glrm.optimise import solve
from messages import raises, refuses
from models.glrm.dense import differences, indicator
from models.glrm.simulated import answers

Family = Literal["binary", "ordinal", "gaussian"]
FAMILIES: list[Family] = ["binary", "ordinal", "gaussian"]


def with_covariate(family: str, x: Any) -> Any:
    return x[:, None] if family == "ordinal" else np.column_stack([np.ones(len(x)), x])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_gradient_is_zero_hessian_is_the_likelihoods(family: Family, share: float) -> None:
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
def test_neither_order_nor_side_matters(family: Family, sheets: int) -> None:
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


@pytest.mark.parametrize("family", FAMILIES)
def test_few_answers_of_many_are_listed(family: Family) -> None:
    response, worker, task, _ = answers(family, workers=160, tasks=130, share=0.06)
    one, turned = fit_crossed(response, worker, task, family=family), fit_crossed(response, task, worker, family=family)
    layout = getattr(one.objective, "crossing", one.objective).layout
    assert isinstance(layout, SparseLayout) if family == "gaussian" else layout.listed
    assert turned.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-6)
    assert turned.variances["task"] == pytest.approx(one.variances["worker"], rel=1e-2)


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
    for zero, beside in [([0, 0, 0], [0.0, 0.1, 0.1]), ([0, 0, 1], [0.0, 0.1, 1.0]), ([0, 1, 0], [0.0, 1.0, 0.1])]:
        same = [fit_crossed(response, worker, task, start=start) for start in (zero, beside)]
        assert same[0].parameters.tolist() == same[1].parameters.tolist()
        assert same[0].convergence == same[1].convergence
    with refuses(ValueError, "start", 3, 2):
        fit_crossed(response, worker, task, start=[0, 0])


class BeginError(Exception):
    """Raised with the parameters from which a search would begin."""


def begin(response: Any, family: Family, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    _, worker, task, x = answers("gaussian", sheets=2)

    def stop(function: Any, start: Any, modes: Any) -> None:
        raise BeginError(*start)

    monkeypatch.setattr(importlib.import_module("karat.models.glrm.fit"), "solve", stop)
    with pytest.raises(BeginError) as raised:
        fit_crossed(response, worker, task, with_covariate(family, x), family=family, interaction=True)
    return list(raised.value.args)


def test_where_the_search_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured answers may have any unit; the thresholds are those of the shares of the answers."""
    y, _, _, x = answers("gaussian", sheets=2)
    slope = np.cov(x, y, bias=True)[0, 1] / x.var()
    line, half = [y.mean() - slope * x.mean(), slope], np.sqrt(((y - y.mean()) ** 2).mean()) / 2
    assert begin(y, "gaussian", monkeypatch) == pytest.approx([*line, np.log(half), half, half, half / 2])
    assert begin(1e4 + 1e3 * y, "gaussian", monkeypatch) == pytest.approx(
        [1e4 + 1e3 * line[0], 1e3 * line[1], np.log(1e3 * half), 1e3 * half, 1e3 * half, 1e3 * half / 2]
    )
    assert begin(y > 0, "binary", monkeypatch) == [0, 0, 1, 1, 0.5]
    coefficient, low, high, *deviations = begin(np.digitize(y, [-1, 1]), "ordinal", monkeypatch)
    assert (coefficient, deviations) == (0, [1, 1, 0.5])
    assert 1 / (1 + np.exp(-low)) == pytest.approx((y < -1).mean())
    assert 1 / (1 + np.exp(-high)) == pytest.approx((y < 1).mean())


@pytest.mark.parametrize("interaction", [False, True])
@pytest.mark.parametrize("sign", [(-1, 1), (1, -1), (-1, -1)])
def test_deviations_are_positive_wherever_the_search_ends(interaction: bool, sign: tuple[int, int]) -> None:
    """From a start on the other side of zero it ends there, where effects of standard size have another sign."""
    response, worker, task, _ = answers(workers=12, sheets=2, deviations=(0.7, 1.5, 1.0))
    usual = fit_crossed(response, worker, task, interaction=interaction)
    start = usual.parameters * np.array([1, *sign, -1][: 3 + interaction])
    turned = fit_crossed(response, worker, task, interaction=interaction, start=start)
    assert min(usual.parameters[1:]) > 0.1
    assert turned.parameters == pytest.approx(usual.parameters, abs=1e-3)
    assert turned.hessian == pytest.approx(usual.hessian, rel=0.02, abs=0.1)
    assert turned.worker_effects == pytest.approx(usual.worker_effects, abs=1e-2)
    assert turned.task_effects == pytest.approx(usual.task_effects, abs=1e-2)
    assert turned.modes.worker * turned.parameters[1] == pytest.approx(turned.worker_effects)
    at = turned.objective(turned.parameters, turned.objective.zero_modes())
    for one, other in zip(vars(turned.modes).values(), vars(at.modes).values(), strict=True):
        assert (one is None and other is None) or one == pytest.approx(other, abs=1e-4)


@pytest.mark.parametrize("sign", [(-1, 1), (1, -1), (-1, -1)])
def test_deviations_of_measured_answers_are_positive_too(
    sign: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    response, worker, task, _ = answers("gaussian", deviations=(0.7, 1.5, 0.0))
    usual = fit_crossed(response, worker, task, family="gaussian")
    module = importlib.import_module("karat.models.glrm.fit")  # in the package the name is that of a function
    monkeypatch.setattr(module, "solve", lambda function, x, modes: solve(function, x * sign, modes))
    turned = fit_crossed(response, worker, task, family="gaussian")
    assert min(usual.parameters) > 0.1
    assert turned.parameters == pytest.approx(usual.parameters, abs=1e-3)
    assert turned.hessian == pytest.approx(usual.hessian, rel=0.02, abs=0.1)
    assert turned.worker_effects == pytest.approx(usual.worker_effects, abs=1e-3)
    assert turned.task_effects == pytest.approx(usual.task_effects, abs=1e-3)
    assert turned.modes.worker * turned.parameters[0] == pytest.approx(turned.worker_effects)
    assert turned.modes.task * turned.parameters[1] == pytest.approx(turned.task_effects)


def test_measured_cells_have_the_normal_likelihood() -> None:
    y, worker, task, _ = answers("gaussian", 8, 6, sheets=3, deviations=(1.0, 1.5, 1.2))
    fit = fit_crossed(2 * y, worker, task, family="gaussian", interaction=True)
    groups = {"worker": worker, "task": task, "worker:task": worker * 6 + task, "residual": np.arange(len(y))}
    assert list(fit.variances) == list(groups)
    v = sum(fit.variances[name] * indicator(group) @ indicator(group).T for name, group in groups.items())
    error = 2 * y - fit.coefficients[0]
    plain = -(len(y) * np.log(2 * np.pi) + np.linalg.slogdet(v)[1] + error @ np.linalg.solve(v, error)) / 2
    assert fit.log_likelihood == pytest.approx(plain, abs=1e-7)
    assert (fit.thresholds.size, fit.categories.size, fit.notes) == (0, 0, ())


def test_without_a_worker_it_begins_at_the_others_modes() -> None:
    response, worker, task, _ = answers()
    fit = fit_crossed(response, worker, task)
    _, modes, _ = fit.objective.without(fit.modes, "worker", 3)
    assert modes.worker.tolist() == np.delete(fit.modes.worker, 3).tolist()
    assert modes.task.tolist() == fit.modes.task.tolist()


def singular(*names: str) -> tuple[Message, ...]:
    return tuple(Message("fit.zero_group", {"group": group_message(name)}) for name in names)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("zero", ["worker", "task"])
def test_no_variance_is_a_singular_fit(family: Family, zero: str) -> None:
    """The tasks are of two kinds; all workers have the same answers, in another order."""
    worker, task = np.divmod(np.arange(8 * 16), 16)
    answer = np.where(task < 8, [[1], [2], [2], [2]], [[0], [0], [0], [1]])[(worker + task) % 4, np.arange(8 * 16)]
    response = answer > (task < 8) if family == "binary" else answer
    if zero == "task":
        worker, task = task, worker
    fit = fit_crossed(response, worker, task, family=family)
    assert fit.converged
    assert fit.notes == singular(zero)
    assert (fit.variances["worker"] < 1e-8, fit.variances["task"] < 1e-8) == (zero == "worker", zero == "task")


def test_balanced_answers_have_no_variance() -> None:
    """In each cell one yes and one no; or one answer per cell, which says nothing of the cells."""
    worker, task = np.divmod(np.tile(np.arange(6 * 8), 2), 8)
    opposed = fit_crossed(np.repeat([0, 1], 6 * 8), worker, task, interaction=True)
    assert opposed.notes == singular("worker", "task", "worker:task")
    chess = (worker + task)[:48] % 2
    assert fit_crossed(chess, worker[:48], task[:48]).notes == singular("worker", "task")
    assert fit_crossed(chess, worker[:48], task[:48], interaction=True).notes[-1].code == "fit.cells_not_identified"


def test_workers_with_one_answer_are_named_and_do_no_harm() -> None:
    response, worker, task, _ = answers(share=0.9)
    response[worker == 4] = 1
    response[worker == 7] = 0
    fit = fit_crossed(response, worker, task)
    assert fit.converged
    assert {4, 7} <= set(fit.same_answer_workers)
    same = Message("fit.same_answer_workers", {"n": len(fit.same_answer_workers), "workers": 20})
    assert same in fit.notes


@pytest.mark.parametrize(("family", "sheets"), [("binary", 1), ("ordinal", 1), ("ordinal", 2)])
def test_one_answer_workers_do_not_differ(family: Family, sheets: int) -> None:
    """Those with a single answer do not count, those with two may."""
    response, worker, task, _ = answers(family, 60, 12, 0.2 / sheets, sheets, seed=2)
    fit = fit_crossed(response, worker, task, family=family)
    given = [response[worker == name] for name in fit.workers]
    same = [place for place, own in enumerate(given) if len(own) > 1 and len(np.unique(own)) == 1]
    assert {1, 2} <= {len(own) for own in given}
    assert any(len(given[place]) == 2 for place in same)
    assert any(len(own) == 2 and np.ptp(own) == 1 for own in given)
    assert fit.same_answer_workers.tolist() == same
    assert Message("fit.same_answer_workers", {"n": len(same), "workers": len(fit.workers)}) in fit.notes


@pytest.mark.parametrize("interaction", [False, True])
def test_no_worker_is_named_for_one_measured_answer(interaction: bool) -> None:
    response, worker, task, _ = answers("gaussian", 8, 6, sheets=2)
    fit = fit_crossed(response, worker, task, family="gaussian", interaction=interaction)
    assert fit.workers[fit.same_answer_workers].tolist() == []


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_separation_is_said(unit: float) -> None:
    random = np.random.default_rng(1)
    _, worker, task, _ = answers()
    column = unit * (worker == 3)
    response = (random.random(len(worker)) < 0.5) | (worker == 3)
    fit = fit_crossed(response, worker, task, np.column_stack([np.ones(len(worker)), column]))
    assert fit.converged is False
    assert fit.convergence.reason == Message("fit.reason_column", {"column": 1})


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e2])
def test_determining_column_is_named_not_the_intercept(unit: float) -> None:
    """The likelihood is then flat beyond, so that there is no covariance."""
    _, worker, task, x = answers()
    fit = fit_crossed(x > 0, worker, task, np.column_stack([np.ones(len(x)), unit * x]))
    assert not fit.convergence.curved
    assert np.isnan(fit.standard_errors).all()
    assert fit.convergence.reason == Message("fit.reason_column", {"column": 1})


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_large_and_small_units_of_a_covariate_are_no_separation(unit: float) -> None:
    response, worker, task, x = answers()
    design = np.column_stack([np.ones(len(x)), x])
    one, other = fit_crossed(response, worker, task, design), fit_crossed(response, worker, task, design * [1, unit])
    assert other.converged
    assert other.coefficients[1] * unit == pytest.approx(one.coefficients[1], abs=1e-3)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_a_steep_slope_that_the_answers_tell_is_no_separation(unit: float) -> None:
    random = np.random.default_rng(1)
    _, worker, task, _ = answers()
    x = random.uniform(-1, 1, len(worker))
    x[0] = 1.0
    fit = fit_crossed(14 * x + random.logistic(size=len(x)) > 0, worker, task, unit * x[:, None])
    assert fit.converged
    assert fit.coefficients[0] * unit > 10 > fit.standard_errors[0] * unit


@pytest.mark.parametrize("side", ["worker", "task"])
@pytest.mark.parametrize(("family", "levels"), [("binary", 2), ("ordinal", 3)])
def test_unanimous_groups_are_said(family: Family, levels: int, side: str) -> None:
    _, worker, task, _ = answers()
    groups = (worker, task) if side == "task" else (task, worker)
    fit = fit_crossed(task % levels, *groups, family=family)
    assert fit.converged is False
    assert fit.convergence.reason == Message("fit.reason_variance", {"group": group_message(side)})


def test_empty_categories_are_no_thresholds() -> None:
    response, worker, task, _ = answers("ordinal")
    fit = fit_crossed(np.array([1, 2, 5, 9])[response], worker, task, family="ordinal")
    assert fit.categories.tolist() == [1, 2, 5, 9]
    assert len(fit.thresholds) == 3
    assert fit.names == (
        "threshold 1", "threshold 2", "threshold 3", "deviation of worker", "deviation of task"
    )  # fmt: skip
    assert np.all(np.diff(fit.thresholds) > 0)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("reml", [False, True])
def test_it_prints_like_a_sentence(family: Family, reml: bool) -> None:
    response, worker, task, _ = answers(family, share=0.9)
    response[worker == 4] = 1
    fit = fit_crossed(response, worker, task, family=family, reml=reml and family == "gaussian")
    first, ended = fit.summary
    assert first.code == ("fit.crossed_reml" if reml and family == "gaussian" else "fit.crossed")
    assert (first.values["n"], first.values["workers"], first.values["tasks"]) == (len(response), 20, 12)
    assert (first.values["kind"].code, first.values["value"]) == (f"fit.{family}", fit.log_likelihood)
    assert [one.values["value"] for one in first.values["variances"]] == pytest.approx(
        list(fit.variances.values()), rel=1e-3
    )
    assert list(fit.variances)[:2] == ["worker", "task"]
    assert ended == fit.convergence.message
    assert str(fit) == " ".join(map(str, (first, ended, *fit.notes)))
    assert len(fit.notes) == (family != "gaussian")


PLAIN: dict[str, Any] = {"response": [0, 1, 1, 0], "worker": [0, 0, 1, 1], "task": [0, 1, 0, 1]}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"response": [], "worker": [], "task": []}, "models.no_answers"),
        ({"response": [0, 1, 2, 1]}, "models.two_values"),
        ({"response": [1, 1, 1, 1]}, "models.same_answers"),
        ({"task": [0, 0, 0, 0]}, "models.two_of_each"),
    ],
)
def test_answers_that_cannot_be_fitted(change: dict[str, Any], code: str) -> None:
    with raises(ValueError, code):
        fit_crossed(**PLAIN | change)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"worker": [0, 1]}, ("response", "worker", "task")),
        ({"response": [0, 1, np.nan, 1]}, ("response",)),
        ({"design": [[1.0], [1.0]]}, ("design",)),
        ({"reml": True}, ("REML", "binary")),
        ({"design": [[1.0, 2.0]] * 4}, ("design", "columns")),
        ({"family": "gaussian", "interaction": True}, ("worker:task",)),
        ({"family": "gaussian", "interaction": True, "reml": True}, ("worker:task",)),
        ({"family": "gaussian", "design": np.empty((4, 0))}, ("design", "intercept")),
        ({"family": "ordinal", "design": [[1.0]] * 4}, ("design", "intercept", "thresholds")),
    ],
)
def test_arguments_that_cannot_be_fitted(change: dict[str, Any], names: tuple[str, ...]) -> None:
    with refuses(ValueError, *names):
        fit_crossed(**PLAIN | change)


def repeated(seed: int, noise: float) -> tuple[Any, Any, Any]:
    """Three answers of ten workers to eight tasks, which differ by this much where a task is repeated."""
    random = np.random.default_rng(seed)
    worker, task = np.divmod(np.tile(np.arange(80), 3), 8)
    value = random.normal(size=10)[worker] + random.normal(size=8)[task]
    return value + noise * random.normal(size=240), worker, task


def test_exact_repetitions_leave_no_residual() -> None:
    value, worker, task = repeated(1, 0.0)
    for same in (value, value + 1e6, 1e-9 * value):
        with refuses(ValueError, "worker:task"):
            fit_crossed(same, worker, task, family="gaussian", interaction=True)


@pytest.mark.few(1)
@pytest.mark.parametrize("noise", [1e-4, 1e-6])
@pytest.mark.parametrize("seed", range(3))
def test_large_surroundings_of_a_residual_end_the_search(seed: int, noise: float) -> None:
    """Rounding may cost the search the curvature that it has learned; it then learns it anew."""
    value, worker, task = repeated(seed, noise)
    found = fit_crossed(value, worker, task, family="gaussian", interaction=True)
    # 160 to 222 degrees of freedom: a standard error of about a tenth.
    assert found.variances["residual"] / noise**2 == pytest.approx(1, rel=0.3)
