"""Schur complements beside the whole matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from karat.models.glrm import schur as module
from karat.models.glrm.block_schur import BlockSchur
from karat.models.glrm.schur import Schur


def system(workers: int, tasks: int) -> tuple[Any, Any, Any, Any]:
    """Workers and tasks of whom one each has no answer."""
    random = np.random.default_rng(workers)
    b = random.random((workers, tasks)) * (random.random((workers, tasks)) < 0.6)
    b[2], b[:, 3] = 0, 0
    dw, dt = 1 + b.sum(axis=1), 1 + b.sum(axis=0)
    return b, dw, dt, np.block([[np.diag(dw), b], [b.T, np.diag(dt)]])


@pytest.mark.parametrize("chunk", [1, 12, 4_000_000])
@pytest.mark.parametrize(("compressed", "pair"), [(False, 60), (True, 60), (True, 0)])
@pytest.mark.parametrize(("workers", "tasks"), [(9, 5), (5, 9), (6, 6)])
def test_solutions_determinant_and_covariance(
    workers: int, tasks: int, compressed: bool, pair: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells of a sparse system come from whole rows, or pair by pair where a pair is said to cost nothing."""
    monkeypatch.setattr(module, "CHUNK", chunk)
    monkeypatch.setattr(module, "PAIR", pair)
    b, dw, dt, whole = system(workers, tasks)
    schur = Schur(sparse.csr_array(b) if compressed else b, dw, dt)
    assert schur.half_log_determinant == pytest.approx(np.linalg.slogdet(whole)[1] / 2)
    inverse = np.linalg.inv(whole)
    for shape in ((), (3,)):
        right = np.random.default_rng(1).normal(size=(workers + tasks, *shape))
        ours = np.concatenate(schur.solve(right[:workers], right[workers:]))
        assert ours == pytest.approx(inverse @ right)
    of_worker, of_task, between = schur.covariance()
    assert of_worker == pytest.approx(np.diag(inverse)[:workers])
    assert of_task == pytest.approx(np.diag(inverse)[workers:])
    cells = inverse[:workers, workers:]
    assert between == pytest.approx(cells[b != 0] if compressed else cells)


@pytest.mark.parametrize(("workers", "tasks", "q", "p"), [(9, 5, 3, 3), (4, 8, 2, 2), (7, 5, 1, 2), (3, 5, 2, 4)])
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


@pytest.mark.parametrize(("cells", "pairs"), [(1, True), (40, False)])
def test_few_cells_in_long_rows_are_multiplied_in_pairs(
    cells: int, pairs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 60 as the price of a pair, a row of 100 tasks pays for whole products from two answers on."""
    taken: list[str] = []
    for name in ("_product_by_pairs", "_product_by_rows"):
        own = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, name=name, own=own: taken.append(name) or own(*given))
    b = np.zeros((100, 100))
    for worker in range(100):
        b[worker, (worker + 7 * np.arange(cells)) % 100] = 0.5
    schur = Schur(sparse.csr_array(b), 1 + b.sum(axis=1), 1 + b.sum(axis=0))
    _, _, between = schur.covariance()
    assert taken == ["_product_by_pairs" if pairs else "_product_by_rows"]
    whole = np.block([[np.diag(1 + b.sum(axis=1)), b], [b.T, np.diag(1 + b.sum(axis=0))]])
    assert between == pytest.approx(np.linalg.inv(whole)[:100, 100:][b != 0])


def test_a_singular_system_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        Schur(np.ones((3, 2)), np.ones(3), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match="the Schur complement cannot be inverted"):
        module.inverted(np.zeros((2, 2)))
