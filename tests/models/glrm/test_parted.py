"""The fit in parts of workers beside the same fit in memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from karat.executors import SERIAL, open_executor
from karat.executors.checkpoint import Checkpoint
from karat.models.agreement import fleiss_kappa, icc_agreement, icc_consistency
from karat.models.glrm import Fit, fit_crossed, fit_crossed_in_parts, leave_one_out, worker_share
from karat.models.glrm.fit import start_values
from karat.models.glrm.parts.answers import (
    Crew,
    PartAnswers,
    PassesError,
    Placed,
    Sample,
    describe,
    merge,
    random_numbers,
)
from karat.models.glrm.parts.fit import agreement_in_parts
from karat.models.glrm.schur import covariance_of_many
from messages import raises, refuses
from models.glrm.parted_cases import DyingPart, parted_objective, split
from models.glrm.simulated import answers

Family = Literal["binary", "ordinal"]
FAMILIES: list[Family] = ["binary", "ordinal"]


def with_covariate(family: str, x: Any) -> Any:
    return x[:, None] if family == "ordinal" else np.column_stack([np.ones(len(x)), x])


def same(parted: Fit, whole: Fit) -> None:
    assert parted.converged
    assert whole.converged
    assert parted.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-9)
    assert parted.parameters == pytest.approx(whole.parameters, abs=1e-6)
    assert parted.hessian == pytest.approx(whole.hessian, rel=1e-4, abs=1e-4 * np.abs(whole.hessian).max())
    assert parted.standard_errors == pytest.approx(whole.standard_errors, rel=1e-5)
    assert parted.worker_effects == pytest.approx(whole.worker_effects, abs=1e-6)
    assert parted.task_effects == pytest.approx(whole.task_effects, abs=1e-6)
    assert parted.names == whole.names
    assert parted.answers == whole.answers
    assert parted.same_answer_workers.tolist() == whole.same_answer_workers.tolist()
    assert parted.notes == whole.notes
    assert parted.categories.tolist() == whole.categories.tolist()


@pytest.mark.few(1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("share", "sheets"), [(1.0, 1), (0.4, 1), (0.6, 2)])
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_the_fit_is_that_of_all_answers(family: Family, share: float, sheets: int, parts: int) -> None:
    response, worker, task, x = answers(family, share=share, sheets=sheets)
    design = with_covariate(family, x)
    whole = fit_crossed(response, worker, task, design, family=family)
    same(fit_crossed_in_parts(split(response, worker, task, design, parts=parts), family=family), whole)


@pytest.mark.few(1)
@pytest.mark.parametrize("family", FAMILIES)
def test_part_lacks_a_task_and_a_category(family: Family) -> None:
    response, worker, task, _ = answers(family, workers=24, tasks=14)
    kept = ~((worker < 5) & (task < 3)) & ~((worker >= 5) & (worker < 9) & (response == response.max()))
    kept &= (worker != 11) | (task == 4)
    kept &= (worker != 20) | (response == response[worker == 20][0])
    response, worker, task = response[kept], worker[kept], task[kept]
    whole = fit_crossed(response, worker, task, family=family)
    assert len(whole.same_answer_workers)
    for ends in ([5, 9, 12], [11, 12], [1, 23]):
        parted = fit_crossed_in_parts(split(response, worker, task, ends=ends), family=family)
        same(parted, whole)


@pytest.mark.few(1)
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_value_gradient_and_information_anywhere(family: Family, listed: bool) -> None:
    sizes = {"workers": 320, "tasks": 130, "share": 0.03} if listed else {"share": 0.7, "sheets": 2}
    response, worker, task, x = answers(family, **sizes)
    design = with_covariate(family, x)
    whole = fit_crossed(response, worker, task, design, family=family)
    parted = fit_crossed_in_parts(split(response, worker, task, design, parts=2 if listed else 3), family=family)
    random = np.random.default_rng(1)
    for size in (0.0, 0.3, 1.0):
        point = whole.parameters + size * np.sort(random.normal(size=len(whole.parameters)))
        one, other = whole.objective(point, whole.modes), parted.objective(point, parted.modes)
        assert other.converged
        assert other.value == pytest.approx(one.value, rel=1e-11)
        assert other.gradient == pytest.approx(one.gradient, abs=1e-6)
        assert other.information() == pytest.approx(one.information(), rel=1e-6, abs=1e-6)
    crossing = whole.parameters.copy()
    crossing[-1] = np.nan
    assert parted.objective(crossing, parted.modes) is None


@pytest.mark.few(1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("deviations", [(1.0, 1.5, 0.0), (0.0, 1.5, 0.0), (1.5, 0.0, 0.0)])
def test_the_share_of_workers_has_the_same_interval(family: Family, deviations: tuple[float, float, float]) -> None:
    response, worker, task, _ = answers(family, deviations=deviations, seed=3)
    whole = worker_share(fit_crossed(response, worker, task, family=family))
    parted = worker_share(fit_crossed_in_parts(split(response, worker, task, parts=3), family=family))
    assert parted.value == pytest.approx(whole.value, abs=1e-6)
    assert parted.lower == pytest.approx(whole.lower, abs=1e-6)
    assert parted.upper == pytest.approx(whole.upper, abs=1e-6)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.integers(1, 19), max_size=4), st.integers(0, 1000))
def test_where_parts_end_does_not_matter(ends: list[int], seed: int) -> None:
    response, worker, task, _ = answers(share=0.8, seed=seed)
    whole = fit_crossed(response, worker, task)
    parted = fit_crossed_in_parts(split(response, worker, task, ends=sorted(ends)))
    assert parted.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-8)
    assert parted.parameters == pytest.approx(whole.parameters, abs=1e-4)


def test_sums_that_are_too_many_to_hold_are_added_up_in_portions() -> None:
    response, worker, task, _ = answers()
    asked: list[int] = []

    def mapper(function: Any, shared: Any, tasks: Any) -> list[Any]:
        asked.append(len(tasks))
        return [function(shared, task) for task in tasks]

    parts = split(response, worker, task, parts=7)
    one = fit_crossed_in_parts(parts, mapper)
    assert set(asked) == {7}
    asked.clear()
    other = fit_crossed_in_parts(parts, mapper, held=3 * 12**2)
    assert set(asked[1:]) == {3}
    assert other.log_likelihood == pytest.approx(one.log_likelihood, rel=1e-12)


def test_passes_are_counted_and_limited() -> None:
    response, worker, task, _ = answers()
    lines: list[int] = []
    fit = fit_crossed_in_parts(split(response, worker, task), passes=lines.append)
    assert lines == list(range(1, fit.objective.crew.passes + 1))
    assert len(lines) < 60
    with raises(PassesError, "models.passes", n=10):
        fit_crossed_in_parts(split(response, worker, task), most=10)


def test_too_many_tasks_are_those_of_workers_at_random() -> None:
    random = np.random.default_rng(2)
    worker = np.repeat(np.arange(120), 15)
    # Workers come in flocks of forty, who answer the same tasks: more workers, more tasks.
    task = np.concatenate([random.choice(60, 15, replace=False) + 30 * (who % 3) for who in range(120)])
    eta = random.normal(0, 1, 120)[worker] + random.normal(0, 1.5, 150)[task]
    response = (eta + random.logistic(size=len(eta)) > 0) * 1
    found = [fit_crossed_in_parts(split(response, worker, task, parts=parts), tasks=80, seed=5) for parts in (1, 2, 5)]
    kept = np.isin(worker, found[0].workers)
    assert len(np.unique(task[kept])) <= 80
    numbers = random_numbers(5, 0, 120)
    drawn = np.argsort(numbers)[: len(found[0].workers)]
    assert found[0].workers.tolist() == sorted(drawn.tolist())
    following = np.argsort(numbers)[: len(found[0].workers) + 1]
    assert len(np.unique(task[np.isin(worker, following)])) > 80
    whole = fit_crossed(response[kept], worker[kept], task[kept])
    for fit in found:
        assert fit.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-8)
        assert fit.tasks.tolist() == whole.tasks.tolist()
        assert (fit.notes[0].code, fit.notes[0].values) == ("fit.sampled", {
            "all_tasks": len(np.unique(task)), "limit": 80, "n": kept.sum(), "workers": len(fit.workers),
            "all_workers": 120, "seed": 5, "tasks": len(fit.tasks),
        })  # fmt: skip
        assert fit.notes[1:] == whole.notes


def test_random_numbers_do_not_depend_on_parts() -> None:
    whole = random_numbers(7, 0, 100)
    assert np.concatenate([random_numbers(7, 0, 30), random_numbers(7, 30, 1), random_numbers(7, 31, 69)]).tolist() == (
        whole.tolist()
    )
    assert Sample(7, 0.25).among(0, 100).tolist() == (whole < 0.25).tolist()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sets", [1, 2])
def test_agreement_is_that_of_all_answers(family: Family, sets: int) -> None:
    response, worker, task, _ = answers(family, share=0.7, sheets=2)
    kept = (worker < 9) == (task < 5) if sets == 2 else worker >= 0
    response, worker, task = response[kept], worker[kept], task[kept]
    found = agreement_in_parts(fit_crossed_in_parts(split(response, worker, task, parts=3), family=family))
    kappa, absolute, consistent = found
    assert kappa == pytest.approx(fleiss_kappa(task, response), abs=1e-12)
    assert absolute == pytest.approx(icc_agreement(task, worker, response), abs=1e-9)
    assert consistent == pytest.approx(icc_consistency(task, worker, response), abs=1e-9)
    with refuses(ValueError, "karat.models.agreement"):
        agreement_in_parts(fit_crossed(response, worker, task, family=family))


def test_cells_of_a_sparse_product_are_those_of_a_table() -> None:
    random = np.random.default_rng(1)
    dense = random.random((30, 12)) * (random.random((30, 12)) < 0.3)
    dense[[0, 7, 29]] = 0.0
    many, inverse = 1 + dense.sum(axis=1), random.random((12, 12))
    inverse = inverse @ inverse.T
    matrix = sparse.csr_array(dense)
    between, variances = covariance_of_many(dense, many, inverse)
    cells, found = covariance_of_many(matrix, many, inverse)
    assert cells == pytest.approx(between[dense > 0], rel=1e-12)
    assert found == pytest.approx(variances, rel=1e-12)


def test_what_cannot_be_fitted_is_said() -> None:
    response, worker, task, x = answers()
    whole = PartAnswers(response, worker, task)
    with refuses(ValueError, "gaussian", "binary", "ordinal"):
        fit_crossed_in_parts([whole], family="gaussian")  # type: ignore[arg-type]
    for parts, code in (
        ([], "models.no_answers"),
        ([PartAnswers(response * 0, worker, task)], "models.same_answers"),
        ([PartAnswers(np.arange(len(worker)) % 3, worker, task)], "models.two_values"),
        ([PartAnswers(response, worker * 0, task)], "models.two_of_each"),
    ):
        with raises(ValueError, code):
            fit_crossed_in_parts(parts)
    for part, *names in (
        (PartAnswers(response, worker + 1, task), "workers", 0),
        (PartAnswers(response[1:], worker, task), "response", "worker", "task"),
        (PartAnswers(response * np.nan, worker, task), "response"),
        (PartAnswers(response, worker, task, x), "design", "row"),
        (PartAnswers(response, worker, task, np.column_stack([x, 2 * x])), "design", "columns"),
    ):
        with refuses(ValueError, *names):
            fit_crossed_in_parts([part])
    with refuses(ValueError, "design", "intercept"):
        fit_crossed_in_parts([PartAnswers(response, worker, task, np.ones((len(x), 1)))], family="ordinal")
    with refuses(ValueError, "designs", "columns"):
        fit_crossed_in_parts([whole, PartAnswers(response, worker, task, np.column_stack([x, x**2]))])
    with refuses(ValueError, "start", 3, 1):
        fit_crossed_in_parts([whole], start=[1.0])
    with refuses(ValueError, "fit_crossed"):
        leave_one_out(fit_crossed_in_parts([whole]))
    with raises(ValueError, "models.sample_tasks"):
        fit_crossed_in_parts([whole], tasks=5)


def test_a_search_starts_from_the_shares_of_the_categories() -> None:
    response, worker, task, x = answers("ordinal")
    design = x[:, None]
    objective = parted_objective(response, worker, task, design, family="ordinal")
    known = merge([describe(("ordinal", None), one) for one in objective.crew.parts], "ordinal")
    start = start_values(objective, known, None)
    assert (start[0], start[-2:].tolist()) == (0.0, [1.0, 1.0])
    assert 1 / (1 + np.exp(-start[1:-2])) == pytest.approx([np.mean(response <= kind) for kind in range(3)])
    # Where a deviation is asked to start at zero it starts beside it, and what was asked for stays as it is.
    asked = [0.5, -1.0, 0.0, 1.0, 0.0, -0.02]
    assert start_values(objective, known, asked).tolist() == [0.5, -1.0, 0.0, 1.0, 0.1, -0.02]
    assert start_values(objective, known, np.array([0, -1, 0, 1, -0.009, 2])).tolist() == [
        0.0,
        -1.0,
        0.0,
        1.0,
        0.1,
        2.0,
    ]
    given = np.zeros(6)
    start_values(objective, known, given)
    assert given.tolist() == [0.0] * 6


def test_a_start_is_taken() -> None:
    response, worker, task, _ = answers()
    parts = split(response, worker, task)
    one = fit_crossed_in_parts(parts)
    again = fit_crossed_in_parts(parts, start=one.parameters)
    assert again.log_likelihood == pytest.approx(one.log_likelihood, rel=1e-10)
    assert again.convergence.evaluations < one.convergence.evaluations


@pytest.mark.few(1)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_fit_that_was_broken_off_goes_on_from_what_is_kept(family: Family, tmp_path: Path) -> None:
    response, worker, task, _ = answers(family)
    parts = split(response, worker, task)
    whole = fit_crossed_in_parts(parts, family=family)
    passes = whole.objective.crew.passes
    interval = worker_share(whole)
    for broken_off in (10, passes // 3):
        with pytest.raises(PassesError):
            fit_crossed_in_parts(parts, family=family, most=broken_off, keep=Checkpoint(SERIAL, tmp_path).once)
    fit = fit_crossed_in_parts(parts, family=family, keep=Checkpoint(SERIAL, tmp_path).once)
    assert fit.objective.crew.passes < passes
    assert fit.parameters.tolist() == whole.parameters.tolist()
    assert fit.hessian.tolist() == whole.hessian.tolist()
    assert (worker_share(fit).lower, worker_share(fit).upper) == (interval.lower, interval.upper)
    again = fit_crossed_in_parts(parts, family=family, keep=Checkpoint(SERIAL, tmp_path).once, most=1)
    assert worker_share(again) == worker_share(fit)


def test_a_kept_evaluation_that_cannot_be_read_is_computed(tmp_path: Path) -> None:
    response, worker, task, _ = answers()
    parts = split(response, worker, task)
    whole = fit_crossed_in_parts(parts, keep=Checkpoint(SERIAL, tmp_path).once)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:100])
    fit = fit_crossed_in_parts(parts, keep=Checkpoint(SERIAL, tmp_path).once)
    assert fit.parameters.tolist() == whole.parameters.tolist()
    assert fit.objective.crew.passes == whole.objective.crew.passes


@pytest.mark.slow
def test_a_process_that_is_killed_changes_nothing(tmp_path: Path) -> None:
    response, worker, task, _ = answers()
    parts = split(response, worker, task, parts=2)
    here = fit_crossed_in_parts(parts)
    dying = [Placed(parts[0], 0), Placed(DyingPart(parts[1], tmp_path, reading=1), parts[0].workers)]
    with open_executor(processes=2) as executor:
        # One evaluation of the likelihood is a few passes; a fit would start processes too often for a quick test.
        crew = Crew(dying, partial(executor.map, name="fit"), 100)
        there = replace(here.objective, crew=crew)(here.parameters, here.objective.zero_modes())
    at = here.objective(here.parameters, here.objective.zero_modes())
    assert there.value == at.value
    assert there.gradient.tolist() == at.gradient.tolist()
    assert there.modes.worker.tolist() == at.modes.worker.tolist()
    assert len(list(tmp_path.iterdir())) == crew.passes + 1


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "family"), [(2, "ordinal"), (4, "binary")])
def test_a_cluster_gives_the_same_also_when_a_worker_is_killed(processes: int, family: Family, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    response, worker, task, _ = answers(family, workers=40)
    parts = split(response, worker, task, parts=5)
    here = fit_crossed_in_parts(parts, family=family)
    dying = [*parts[:3], DyingPart(parts[3], tmp_path, reading=20), parts[4]]
    with open_executor("local", processes=processes) as executor:
        there = fit_crossed_in_parts(dying, partial(executor.map, name="fit"), family=family)
        if processes == 2:
            assert worker_share(there) == worker_share(here)
    assert there.log_likelihood == here.log_likelihood
    assert there.parameters.tolist() == here.parameters.tolist()
    assert there.worker_effects.tolist() == here.worker_effects.tolist()
    assert len(list(tmp_path.iterdir())) > 20
