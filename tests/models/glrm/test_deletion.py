"""Leave-one-group-out beside refits from nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from karat.models.glrm import deletion as module
from karat.models.glrm import fit_crossed, fit_nominal, leave_one_out
from karat.models.glrm.deletion import without
from karat.models.glrm.objective import Objective
from karat.models.glrm.optimise import minimise
from messages import raises
from models.glrm.simulated import answers

Family = Literal["binary", "ordinal", "gaussian"]


@pytest.mark.few(3)
@pytest.mark.parametrize("groups", ["worker", "task"])
@pytest.mark.parametrize(
    ("family", "share", "sheets", "interaction"),
    [("binary", 1.0, 1, False), ("binary", 0.5, 1, False), ("binary", 0.8, 2, True), ("ordinal", 0.7, 1, False),
     ("ordinal", 0.7, 2, True), ("gaussian", 0.7, 1, False)],
)  # fmt: skip
def test_as_cold_refits(family: Family, share: float, sheets: int, interaction: bool, groups: Any) -> None:
    response, worker, task, x = answers(family, 10, 8, share, sheets, deviations=(1.0, 1.5, 1.0 * interaction))
    design = x[:, None] if family == "ordinal" else np.column_stack([np.ones(len(x)), x])
    fit = fit_crossed(response, worker, task, design, family=family, interaction=interaction)
    deletions = leave_one_out(fit, groups)
    assert deletions.converged.all()
    assert deletions.decrement.max() <= 1e-8
    group = worker if groups == "worker" else task
    for number in (0, 5):
        kept = group != number
        cold = fit_crossed(
            response[kept], worker[kept], task[kept], design[kept], family=family, interaction=interaction
        )
        assert deletions.log_likelihood[number] == pytest.approx(cold.log_likelihood, abs=1e-6)
        assert deletions.distance[number] == pytest.approx(2 * (cold.log_likelihood - fit.log_likelihood), abs=2e-6)
        assert deletions.parameters[number] == pytest.approx(cold.parameters, rel=1e-3, abs=2e-3)
        assert deletions.answers[number] == (~kept).sum()


def test_nominal_as_cold_refits() -> None:
    response, worker, task, _ = answers("ordinal", 10, 8, 0.9)
    deletions = leave_one_out(fit_nominal(response, worker, task))
    assert deletions.converged.all()
    for number in (0, 7):
        kept = worker != number
        cold = fit_nominal(response[kept], worker[kept], task[kept])
        assert deletions.log_likelihood[number] == pytest.approx(cold.log_likelihood, abs=1e-6)


@pytest.mark.parametrize("rare", [0, 2, 4])
def test_a_category_that_one_worker_alone_used(rare: int) -> None:
    response, worker, task, _ = answers("ordinal", 12, 10)
    response = response + (response >= rare)
    response[3] = rare
    fit = fit_crossed(response, worker, task, family="ordinal")
    deletions = leave_one_out(fit)
    assert deletions.converged.all()
    assert np.isnan(deletions.parameters[0]).sum() == 1
    assert not np.isnan(deletions.parameters[1:]).any()
    kept = worker != 0
    cold = fit_crossed(response[kept], worker[kept], task[kept], family="ordinal")
    assert deletions.log_likelihood[0] == pytest.approx(cold.log_likelihood, abs=1e-6)
    thresholds = deletions.parameters[0][:4]
    assert thresholds[~np.isnan(thresholds)] == pytest.approx(cold.thresholds, abs=2e-3)


@pytest.mark.slow
def test_category_or_baseline_of_one_worker_alone() -> None:
    response, worker, task, _ = answers("ordinal", 10, 8)
    for rare, gone in ((9, False), (-1, True)):
        changed = response.copy()
        changed[3] = rare
        deletions = leave_one_out(fit_nominal(changed, worker, task))
        assert deletions.converged[1:].sum() >= 7
        assert np.isnan(deletions.distance[0]) == gone
        assert deletions.summary[0].values["failed"] > 0 or not gone


def test_the_only_answers_of_one_kind() -> None:
    response, worker, task, _ = answers()
    response[:] = 1
    response[:6] = 0
    deletions = leave_one_out(fit_crossed(response, worker, task))
    assert np.isnan(deletions.log_likelihood[0])
    assert not deletions.converged[0]
    assert (deletions.evaluations[0], deletions.answers[0]) == (0, 0)


def test_the_map_and_the_progress_are_the_callers() -> None:
    response, worker, task, _ = answers()
    seen: list[Any] = []
    lines: list[tuple[int, int]] = []

    def mapper(function: Any, numbers: Any) -> Any:
        seen.extend(numbers)
        return [function(number) for number in seen]

    fit = fit_crossed(response, worker, task)
    deletions = leave_one_out(fit, mapper=mapper, progress=lambda done, total: lines.append((done, total)))
    assert seen == list(range(20))
    assert lines == [(done, 20) for done in range(1, 21)]
    assert deletions.distance == pytest.approx(leave_one_out(fit).distance)
    assert (deletions.full, deletions.groups) == (fit.log_likelihood, "worker")
    worst = int(np.argmax(deletions.distance))
    ended, distances = deletions.summary
    assert (ended.code, ended.values["n"], ended.values["failed"]) == ("refits.ended", 20, 0)
    assert ended.values["group"].code == distances.values["group"].code == "refits.worker"
    assert ended.values["decrement"] == pytest.approx(deletions.decrement.max(), rel=0.1)
    assert (distances.code, distances.values["number"]) == ("refits.distances", worst + 1)
    assert distances.values["mean"] == pytest.approx(deletions.distance.mean())
    assert distances.values["largest"] == deletions.distance.max()
    assert str(deletions) == f"{ended} {distances}"


@pytest.mark.slow
def test_a_fit_travels_to_other_processes() -> None:
    import pickle

    response, worker, task, _ = answers()
    for fit in (fit_crossed(response, worker, task), fit_nominal(response, worker, task)):
        again = pickle.loads(pickle.dumps(fit))
        assert leave_one_out(again).distance == pytest.approx(leave_one_out(fit).distance)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often the objective is asked for its value from now on, as a list with one number."""
    calls = [0]
    own = Objective.__call__

    def call(self: Objective, *given: Any) -> Any:
        calls[0] += 1
        return own(self, *given)

    monkeypatch.setattr(Objective, "__call__", call)
    return calls


def test_failed_short_search_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    response, worker, task, _ = answers()
    fit = fit_crossed(response, worker, task)
    calls = counted(monkeypatch)
    usual = without(fit, "worker", 3)
    assert usual.evaluations == calls[0]
    calls[0] = 0
    monkeypatch.setattr(module, "minimise", lambda *given: replace(minimise(*given), decrement=1.0))
    again = without(fit, "worker", 3)
    assert again.converged
    assert again.decrement <= 1e-8
    assert again.evaluations == calls[0] > usual.evaluations
    assert again.log_likelihood == pytest.approx(usual.log_likelihood, abs=1e-7)
    assert again.parameters == pytest.approx(usual.parameters, abs=1e-3)


def test_a_deviation_that_the_fit_lacks_is_found_without_a_group() -> None:
    """The slope at zero says nothing, so that the search looks beside it."""
    response, worker, task, _ = answers(deviations=(1.5, 1.0, 0.0))
    fit = fit_crossed(response, worker, task)
    # As where the fit is at zero, the Hessian does not tie this deviation to the others.
    parameters, hessian = np.array([*fit.parameters[:1], 0.0, *fit.parameters[2:]]), np.diag(np.diag(fit.hessian))
    flat = replace(fit, parameters=parameters, hessian=hessian)
    refit = without(flat, "worker", 3)
    assert refit.converged
    assert refit.log_likelihood == pytest.approx(without(fit, "worker", 3).log_likelihood, abs=1e-6)


def test_deviations_are_given_as_positive_and_nothing_else_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search may end on the other side of zero, where the likelihood is the same."""
    response, worker, task, x = answers("ordinal", seed=2)
    fit = fit_crossed(response, worker, task, np.column_stack([-x, x**2 + x]), family="ordinal")
    usual = without(fit, "task", 1)

    def turned(*given: Any) -> Any:
        found = minimise(*given)
        return replace(found, parameters=found.parameters * [1, 1, 1, 1, 1, -1, -1])

    monkeypatch.setattr(module, "minimise", turned)
    refit = without(fit, "task", 1)
    assert (usual.parameters < 0).sum() > 1
    assert refit.parameters == pytest.approx(usual.parameters)


def test_parameters_that_are_not_allowed_have_no_refit() -> None:
    response, worker, task, _ = answers("ordinal", workers=8, tasks=6)
    fit = fit_crossed(response, worker, task, family="ordinal")
    crossed = replace(fit, parameters=fit.parameters[[1, 0, 2, 3, 4]])
    with raises(ValueError, "models.no_start"):
        without(crossed, "worker", 3)
