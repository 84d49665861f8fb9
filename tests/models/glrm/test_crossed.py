"""Both layouts beside plain sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm import crossed as module
from karat.models.glrm.crossed import Listed, Table, crossed

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40)


def laid_out(listed: bool, worker: Any, task: Any) -> Table | Listed:
    """Five workers and four tasks, as a list where that is asked for."""
    with pytest.MonkeyPatch.context() as patch:
        if listed:
            patch.setattr(module, "SMALL", 0)
            patch.setattr(module, "PADDED", 0)
        return crossed(worker, task, 5, 4)


@pytest.mark.parametrize("listed", [False, True])
@given(pairs=rows)
def test_sums_are_those_of_the_answers(listed: bool, pairs: list[tuple[int, int]]) -> None:
    worker, task = np.array(pairs).T
    value = np.arange(1.0, len(pairs) + 1)
    layout = laid_out(listed, worker, task)
    assert isinstance(layout, Listed if listed else Table)
    assert layout.answers == len(pairs)
    assert layout.single == (len(set(pairs)) == len(pairs))
    placed = layout.place(value)
    cells = layout.cells(placed)
    assert layout.by_worker(cells) == pytest.approx(np.bincount(worker, value, 5))
    assert layout.by_task(cells) == pytest.approx(np.bincount(task, value, 4))
    table = layout.matrix(cells)
    table = table.toarray() if listed else table
    plain = np.zeros((5, 4))
    np.add.at(plain, (worker, task), value)
    assert table == pytest.approx(plain)
    present = np.ones(len(pairs)) if layout.present is None else layout.present
    effects = layout.sum_of_effects(np.arange(5.0), 10 * np.arange(4.0))
    assert (layout.spread(effects) * placed * present).sum() == pytest.approx(((worker + 10 * task) * value).sum())


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("factor", ["worker", "task"])
@given(pairs=rows.filter(lambda pairs: len({w for w, _ in pairs}) > 1 and len({t for _, t in pairs}) > 1))
def test_without_a_group_is_the_layout_of_the_others(listed: bool, factor: str, pairs: list[tuple[int, int]]) -> None:
    worker, task = np.array(pairs).T
    value = np.arange(1.0, len(pairs) + 1)
    layout = laid_out(listed, worker, task)
    kept = (worker if factor == "worker" else task) != 2
    rest = layout.without(factor, 2)  # type: ignore[arg-type]
    cells = rest.cells(layout.drop(layout.place(value), factor, 2))  # type: ignore[arg-type]
    assert rest.answers == kept.sum()
    by_worker, by_task = np.bincount(worker[kept], value[kept], 5), np.bincount(task[kept], value[kept], 4)
    assert rest.by_worker(cells) == pytest.approx(np.delete(by_worker, 2) if factor == "worker" else by_worker)
    assert rest.by_task(cells) == pytest.approx(np.delete(by_task, 2) if factor == "task" else by_task)


@pytest.mark.parametrize("listed", [False, True])
@given(pairs=rows)
def test_the_answers_of_a_worker_are_found_with_their_tasks(listed: bool, pairs: list[tuple[int, int]]) -> None:
    worker, task = np.array(pairs).T
    value = np.arange(1.0, len(pairs) + 1)
    layout = laid_out(listed, worker, task)
    mine, tasks = layout.answers_of(2)
    found = sorted(zip(layout.place(value)[mine].tolist(), tasks.tolist(), strict=True))
    assert found == list(zip(value[worker == 2].tolist(), task[worker == 2].tolist(), strict=True))


def test_a_sparse_design_is_a_list() -> None:
    random = np.random.default_rng(1)
    assert isinstance(crossed(random.integers(0, 500, 2000), random.integers(0, 100, 2000), 500, 100), Listed)
    assert isinstance(
        crossed(random.integers(0, 500, 2000), random.integers(0, 100, 2000), 500, 100, whole=True), Table
    )
