"""Schur complements and the covariance of task effects beside whole and inverted matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from karat.models.glrm import fit_crossed
from karat.models.glrm import schur as module
from karat.models.glrm.blocks import BlockSchur
from karat.models.glrm.fit import task_covariance, task_errors
from karat.models.glrm.objective import solve_effects
from karat.models.glrm.schur import chunks
from messages import refuses
from models.glrm.dense import indicator, logistic, second


def system(workers: int, tasks: int) -> tuple[Any, Any, Any, Any]:
    """Workers and tasks, of which two each, the last among them, have no answer."""
    random = np.random.default_rng(workers)
    b = random.random((workers, tasks)) * (random.random((workers, tasks)) < 0.6)
    b[[2, -1]], b[:, [3, -1]] = 0, 0
    dw, dt = 1 + b.sum(axis=1), 1 + b.sum(axis=0)
    return b, dw, dt, np.block([[np.diag(dw), b], [b.T, np.diag(dt)]])


def one_effect(b: Any, dw: Any, dt: Any, listed: bool) -> BlockSchur:
    """The system with one effect per worker and task, as a table or by cells."""
    cells = np.nonzero(b) if listed else None
    return BlockSchur(dw[:, None, None], (b[b != 0] if listed else b)[:, None, None], dt[None, None], cells)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(("workers", "tasks"), [(9, 5), (5, 9), (6, 6)])
def test_solutions_determinant_and_covariance(workers: int, tasks: int, listed: bool) -> None:
    b, dw, dt, whole = system(workers, tasks)
    schur = one_effect(b, dw, dt, listed)
    assert len(schur.factor) == min(workers, tasks)
    assert schur.half_log_determinant == pytest.approx(np.linalg.slogdet(whole)[1] / 2)
    inverse = np.linalg.inv(whole)
    for shape in ((), (3,)):
        right = np.random.default_rng(1).normal(size=(workers + tasks, *shape))
        ours = np.concatenate(solve_effects(schur, right[:workers], right[workers:]))
        assert ours == pytest.approx(inverse @ right)
    of_worker, of_task, between = schur.covariance()
    assert of_worker[:, 0, 0] == pytest.approx(np.diag(inverse)[:workers])
    assert of_task[0, 0] == pytest.approx(np.diag(inverse)[workers:])
    cells = inverse[:workers, workers:]
    assert between[:, 0, 0] == pytest.approx(cells[b != 0] if listed else cells)


@pytest.mark.parametrize("chunk", [1, 12, 4_000_000])
@pytest.mark.parametrize("pair", [0, 60])
def test_products_in_cells(pair: int, chunk: int) -> None:
    """They come from whole rows, or pair by pair where a pair is said to cost nothing."""
    b, *_ = system(9, 5)
    inverse = np.random.default_rng(1).normal(size=(5, 5))
    found = module.cells_of_product(sparse.csr_array(b), inverse, pair, chunk)
    assert found == pytest.approx((b @ inverse)[b != 0])


@pytest.mark.parametrize(
    ("workers", "tasks", "q", "p"), [(9, 5, 3, 3), (4, 8, 2, 2), (9, 5, 2, 1), (7, 5, 1, 2), (3, 5, 2, 4)]
)
def test_blocks(workers: int, tasks: int, q: int, p: int) -> None:
    random = np.random.default_rng(q)
    left, right = random.normal(size=(workers, tasks, 2, q)) / 3, random.normal(size=(workers, tasks, 2, p)) / 3
    between = np.einsum("ijak,ijal->iklj", left, right)
    of_worker = np.eye(q) + np.einsum("ijak,ijal->ikl", left, left)
    of_task = np.eye(p)[:, :, None] + np.einsum("ijak,ijal->klj", right, right)
    whole = np.zeros((workers * q + p * tasks,) * 2)
    size = workers * q
    for i in range(workers):
        whole[i * q : (i + 1) * q, i * q : (i + 1) * q] = of_worker[i]
    whole[:size, size:] = between.reshape(size, -1)
    whole[size:, :size] = whole[:size, size:].T
    corner = np.zeros((p, tasks, p, tasks))
    np.einsum("kjlj->klj", corner)[...] = of_task
    whole[size:, size:] = corner.reshape(p * tasks, -1)
    schur = BlockSchur(of_worker, between, of_task)
    assert len(schur.factor) == min(size, p * tasks)
    assert schur.half_log_determinant == pytest.approx(np.linalg.slogdet(whole)[1] / 2)
    inverse = np.linalg.inv(whole)
    for shape in ((), (3,)):
        u, v = random.normal(size=(workers, q, *shape)), random.normal(size=(p, tasks, *shape))
        expected = inverse @ np.concatenate([u.reshape(size, *shape), v.reshape(-1, *shape)])
        ours_u, ours_v = schur.solve(u, v)
        assert ours_u.reshape(size, *shape) == pytest.approx(expected[:size])
        assert ours_v.reshape(p * tasks, *shape) == pytest.approx(expected[size:])
    cov_worker, cov_task, cov_between = schur.covariance()
    assert cov_between.reshape(size, -1) == pytest.approx(inverse[:size, size:])
    assert cov_task == pytest.approx(np.einsum("kjlj->klj", inverse[size:, size:].reshape(p, tasks, p, tasks)))
    for i in range(workers):
        assert cov_worker[i] == pytest.approx(inverse[i * q : (i + 1) * q, i * q : (i + 1) * q])


@pytest.mark.parametrize(
    ("size", "cells", "pairs"), [(100, 1, True), (121, 2, True), (120, 2, False), (100, 40, False)]
)
def test_few_cells_in_long_rows_are_multiplied_in_pairs(
    size: int, cells: int, pairs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 60 as the price of a pair, a row of 100 tasks pays for whole products from two answers on, of 121 not."""
    taken: list[str] = []
    for name in ("_product_by_pairs", "_product_by_rows"):
        own = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, name=name, own=own: taken.append(name) or own(*given))
    b = np.zeros((size, size))
    for worker in range(size):
        b[worker, (worker + 7 * np.arange(cells)) % size] = 0.5
    *_, between = one_effect(b, 1 + b.sum(axis=1), 1 + b.sum(axis=0), True).covariance()
    assert taken == ["_product_by_pairs" if pairs else "_product_by_rows"]
    whole = np.block([[np.diag(1 + b.sum(axis=1)), b], [b.T, np.diag(1 + b.sum(axis=0))]])
    assert between[:, 0, 0] == pytest.approx(np.linalg.inv(whole)[:size, size:][b != 0])


def test_a_singular_system_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        one_effect(np.ones((3, 2)), np.ones(3), np.ones(2), False)
    with pytest.raises(np.linalg.LinAlgError):
        module.inverted(np.zeros((2, 2)))


def test_blocks_whose_factor_is_singular_have_no_covariance() -> None:
    schur = BlockSchur(np.ones((3, 1, 1)), np.zeros((3, 1, 1, 2)), np.ones((1, 1, 2)))
    schur.factor = np.zeros((2, 2))
    with pytest.raises(np.linalg.LinAlgError):
        schur.covariance()


@pytest.mark.parametrize("place", ["cell", "worker", "task"])
def test_undefined_system_has_no_determinant(place: str) -> None:
    """Which of them depends on the library of linear algebra; a search that went too far takes either, and turns back.

    Another error would end the search.
    """
    b, dw, dt, _ = system(9, 5)
    {"cell": b[0], "worker": dw, "task": dt}[place][0] = np.nan

    try:
        factorised = one_effect(b, dw, dt, False)
        found = [factorised.half_log_determinant, *(one.min() for one in solve_effects(factorised, dw, dt))]
    except np.linalg.LinAlgError:
        found = [np.nan]
    assert np.all(np.isnan(found))


@given(costs=st.lists(st.integers(0, 9), max_size=12), limit=st.integers(0, 20))
def test_rows_are_taken_until_the_next_would_cost_too_much(costs: list[int], limit: int) -> None:
    taken: list[tuple[int, int]] = []
    first, total = 0, 0
    for row, cost in enumerate(costs):
        if row > first and total + cost > limit:
            taken.append((first, row))
            first, total = row, 0
        total += cost
    taken += [(first, len(costs))] if costs else []
    assert list(chunks(np.array(costs, dtype=np.int64), limit)) == taken


@pytest.mark.parametrize("pair", [0, 60])
def test_row_costs_its_pairs_or_its_length(pair: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[list[int], int]] = []
    monkeypatch.setattr(module, "chunks", lambda costs, limit: asked.append((list(costs), limit)) or chunks(costs, 17))
    b, *_ = system(9, 5)
    module.cells_of_product(sparse.csr_array(b), np.eye(5), pair, 17)
    assert asked == [([int((row != 0).sum()) ** 2 if pair == 0 else 5 for row in b], 17)]


Floats = NDArray[np.float64]


def answers(workers: int, tasks: int, share: float, seed: int) -> tuple[NDArray[np.int64], ...]:
    """Who answered what, with a latent value above which every answer lies."""
    random = np.random.default_rng(seed)
    who, what = np.divmod(np.arange(workers * tasks), tasks)
    kept = random.random(len(who)) < share
    who, what = who[kept], what[kept]
    eta = random.normal(0, 1, workers)[who] + random.normal(0, 1.5, tasks)[what]
    latent = eta + random.logistic(size=len(who))
    return who, what, np.digitize(latent, [-1.0, 0.0, 1.5])


def dense_covariance(fit: object, who: NDArray[np.int64], what: NDArray[np.int64], log: object, eta: Floats) -> Floats:
    """The tasks' block of the inverse of the whole penalised Hessian, in units of the predictor."""
    z = np.hstack([indicator(who), indicator(what)])
    workers = int(who.max()) + 1
    variance = np.concatenate([
        np.full(workers, fit.variances["worker"]), np.full(z.shape[1] - workers, fit.variances["task"])  # type: ignore[attr-defined]
    ])  # fmt: skip
    hessian = np.diag(1 / variance) - z.T @ (second(log, eta)[:, None] * z)  # type: ignore[arg-type]
    return np.linalg.inv(hessian)[workers:, workers:]


@pytest.mark.parametrize(("workers", "tasks", "share"), [(20, 8, 1.0), (8, 20, 0.8), (40, 25, 0.3)])
def test_yes_or_no_answers(workers: int, tasks: int, share: float) -> None:
    who, what, category = answers(workers, tasks, share, workers)
    yes = category > 1
    fit = fit_crossed(yes, who, what)
    eta = fit.coefficients[0] + fit.worker_effects[who] + fit.task_effects[what]
    sign = np.where(yes, 1.0, -1.0)
    dense = dense_covariance(fit, who, what, lambda at: np.log(logistic(sign * at)), eta)
    found = task_covariance(fit)
    np.testing.assert_allclose(found, dense, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(task_errors(fit), np.sqrt(dense.diagonal()), rtol=1e-4)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize(("workers", "tasks"), [(18, 7), (7, 18)])
def test_ordered_answers(workers: int, tasks: int) -> None:
    who, what, category = answers(workers, tasks, 0.9, 5)
    fit = fit_crossed(category, who, what, family="ordinal")
    edges = np.concatenate([[-np.inf], fit.thresholds, [np.inf]])

    def log(at: Floats) -> Floats:
        return np.log(logistic(edges[category + 1] - at) - logistic(edges[category] - at))

    eta = fit.worker_effects[who] + fit.task_effects[what]
    np.testing.assert_allclose(
        task_covariance(fit), dense_covariance(fit, who, what, log, eta), rtol=1e-4, atol=1e-7
    )  # fmt: skip


def test_a_long_list_of_answers_is_no_table() -> None:
    """Few answers among many workers and tasks are laid out as a list; the covariance is the same."""
    random = np.random.default_rng(3)
    who, what = random.integers(0, 400, 3000), random.integers(0, 60, 3000)
    yes = random.normal(0, 1.5, 60)[what] + random.logistic(size=3000) > 0
    fit = fit_crossed(yes, who, what)
    assert fit.objective.layout.listed
    np.testing.assert_allclose(task_covariance(fit).diagonal(), task_errors(fit) ** 2, rtol=1e-8)


def test_measured_answers_are_refused() -> None:
    who, what, _ = answers(6, 5, 1.0, 2)
    fit = fit_crossed(np.random.default_rng(1).normal(size=len(who)), who, what, family="gaussian")
    with refuses(ValueError):
        task_covariance(fit)
