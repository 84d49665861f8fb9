"""The layout beside plain sums; answers are checked, and their workers and tasks numbered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from karat.models.glrm.crossed import CrossedLayout, arrange, crossed, dependent, dependent_products
from messages import raises

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40)
WHOLE = [(worker, task) for worker in range(5) for task in range(4)]
"""One answer in every cell: a table without holes."""


def laid_out(listed: bool, worker: Any, task: Any) -> CrossedLayout:
    """Five workers and four tasks, with a sparse matrix where that is asked for."""
    return crossed(worker, task, 5, 4, listed=listed)


@pytest.mark.parametrize("listed", [False, True])
@given(pairs=rows)
@example(pairs=WHOLE)
@example(pairs=WHOLE * 2)
def test_sums_are_those_of_the_answers(listed: bool, pairs: list[tuple[int, int]]) -> None:
    worker, task = np.array(pairs).T
    value = np.arange(1.0, len(pairs) + 1)
    layout = laid_out(listed, worker, task)
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
    assert layout.of_matrix(layout.matrix(cells).data if listed else table) == pytest.approx(cells)
    effects = layout.sum_of_effects(np.arange(5.0), 10 * np.arange(4.0))
    assert (layout.spread(effects) * placed).sum() == pytest.approx(((worker + 10 * task) * value).sum())


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("factor", ["worker", "task"])
@given(pairs=rows.filter(lambda pairs: len({w for w, _ in pairs}) > 1 and len({t for _, t in pairs}) > 1))
@example(pairs=WHOLE)
@example(pairs=WHOLE[::-1] + WHOLE)
@example(pairs=WHOLE[:-1] + WHOLE[3:])
def test_without_a_group_is_the_layout_of_the_others(listed: bool, factor: str, pairs: list[tuple[int, int]]) -> None:
    worker, task = np.array(pairs).T
    value = np.arange(1.0, len(pairs) + 1)
    layout = laid_out(listed, worker, task)
    kept = (worker if factor == "worker" else task) != 2
    rest = layout.without(factor, 2)  # type: ignore[arg-type]
    cells = rest.cells(layout.drop(layout.place(value), factor, 2))  # type: ignore[arg-type]
    assert rest.answers == kept.sum()
    assert (rest.workers, rest.tasks) == ((4, 4) if factor == "worker" else (5, 3))
    pairs_left = {(w, t) for w, t, keep in zip(worker, task, kept, strict=True) if keep}
    assert rest.single == (len(pairs_left) == kept.sum())
    by_worker, by_task = np.bincount(worker[kept], value[kept], 5), np.bincount(task[kept], value[kept], 4)
    assert rest.by_worker(cells) == pytest.approx(np.delete(by_worker, 2) if factor == "worker" else by_worker)
    assert rest.by_task(cells) == pytest.approx(np.delete(by_task, 2) if factor == "task" else by_task)


@pytest.mark.parametrize("listed", [False, True])
@given(pairs=rows)
@example(pairs=WHOLE)
@example(pairs=WHOLE[:-1] + WHOLE[3:])
def test_the_answers_of_a_worker_are_found_with_their_tasks(listed: bool, pairs: list[tuple[int, int]]) -> None:
    worker, task = np.array(pairs).T
    value = np.arange(1.0, len(pairs) + 1)
    layout = laid_out(listed, worker, task)
    mine, tasks = layout.answers_of(2)
    found = sorted(zip(layout.place(value)[mine].tolist(), tasks.tolist(), strict=True))
    assert found == list(zip(value[worker == 2].tolist(), task[worker == 2].tolist(), strict=True))


def test_a_sparse_design_is_a_list() -> None:
    random = np.random.default_rng(1)
    assert crossed(random.integers(0, 500, 2000), random.integers(0, 100, 2000), 500, 100).listed
    assert not crossed(random.integers(0, 500, 2000), random.integers(0, 100, 2000), 500, 100, listed=False).listed


def test_the_answers_of_a_single_worker_are_added_up() -> None:
    layout = crossed(np.zeros(3, dtype=np.int64), np.array([0, 1, 0]), 1, 2)
    assert layout.cells(layout.place(np.array([1.0, 10.0, 100.0]))).tolist() == [101.0, 10.0]


@pytest.mark.parametrize(("tasks", "listed"), [(101, False), (102, True)])
def test_large_table_may_be_four_times_its_answers(tasks: int, listed: bool) -> None:
    """5,050 answers fill a quarter of 200 x 101 places, and less of 200 x 102."""
    worker, task = np.divmod(np.arange(5050), 101)
    assert crossed(worker, task, 200, tasks).listed is listed


@pytest.mark.parametrize(("workers", "listed"), [(200, False), (201, True)])
def test_small_table_is_whole_however_sparse(workers: int, listed: bool) -> None:
    assert crossed(np.array([0, workers - 1]), np.array([0, 99]), workers, 100).listed is listed


@pytest.mark.parametrize("listed", [False, True])
def test_answers_of_a_cell_keep_their_order(listed: bool) -> None:
    random = np.random.default_rng(2)
    worker, task = random.integers(0, 5, 400), random.integers(0, 4, 400)
    layout = laid_out(listed, worker, task)
    placed = layout.place(np.arange(1, 401))
    for one in range(5):
        mine, tasks = layout.answers_of(one)
        for each in range(4):
            given_first = np.flatnonzero((worker == one) & (task == each)) + 1
            assert placed[mine][tasks == each].tolist() == given_first.tolist()


PLAIN: dict[str, Any] = {
    "response": [0, 1, 1, 0], "worker": ["b", "b", "a", "a"], "task": [7, 5, 7, 5], "design": None
}  # fmt: skip
LONG = "response, worker and task must be one-dimensional and equally long."
ROWS = "design must have a row of finite numbers for every answer."
FEW = "models.two_of_each"
GAPS = "response has missing or infinite values. Leave those answers out."
DEPENDENT = "The columns of the design depend on each other. Leave out those that follow from others."


def test_workers_and_tasks_are_numbered_by_name() -> None:
    answers = arrange(**PLAIN)
    assert (answers.workers.tolist(), answers.worker.tolist()) == (["a", "b"], [1, 1, 0, 0])
    assert (answers.tasks.tolist(), answers.task.tolist()) == ([5, 7], [1, 0, 1, 0])
    assert answers.design.tolist() == [[1.0]] * 4
    assert answers.response.tolist() == PLAIN["response"]
    columns = [[1, 2], [1, 3], [1, 4], [1, 7]]
    assert arrange(**{**PLAIN, "design": columns}).design.dtype == np.float64
    assert arrange(**{**PLAIN, "design": np.empty((4, 0))}).design.shape == (4, 0)
    for response in ([0.5, 1.5, 2.5, 0.0], ["no", "yes", "yes", "no"]):
        assert arrange(**{**PLAIN, "response": response}).response.tolist() == response
    assert (answers.layout.workers, answers.layout.tasks) == (2, 2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"response": [[0, 1, 1, 0]]}, LONG),
        ({"worker": [["b", "b", "a", "a"]]}, LONG),
        ({"task": [[7, 5, 7, 5]]}, LONG),
        ({"response": [0, 1, 1]}, LONG),
        ({"worker": ["b", "a", "a"]}, LONG),
        ({"task": [7, 5, 7]}, LONG),
        ({"response": [], "worker": [], "task": []}, "models.no_answers"),
        ({"response": [0.0, 1.0, np.nan, 0.0]}, GAPS),
        ({"response": [0.0, 1.0, np.inf, 0.0]}, GAPS),
        ({"design": [1.0, 1.0, 1.0, 1.0]}, ROWS),
        ({"design": np.ones((3, 1))}, ROWS),
        ({"design": [[1.0], [1.0], [np.nan], [1.0]]}, ROWS),
        ({"design": [[1, 2], [2, 4], [3, 6], [4, 8]]}, DEPENDENT),
        ({"worker": [1, 1, 1, 1]}, FEW),
        ({"task": [1, 1, 1, 1]}, FEW),
    ],
)
def test_what_does_not_belong_together_is_refused(change: dict[str, Any], said: str) -> None:
    with raises(ValueError, said):
        arrange(**{**PLAIN, **change})


def test_columns_depend_where_one_is_zero_or_follows_from_others() -> None:
    assert not dependent(np.empty((4, 0)))
    assert dependent(np.column_stack([np.ones(4), np.zeros(4)]))
    assert not dependent(np.column_stack([np.ones(4), [0.0, 0.0, 0.0, 1e-9]]))


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("short", "expected"), [(2e-10, False), (5e-11, True)])
def test_columns_with_a_correlation_of_one_depend_in_any_unit(unit: float, short: float, expected: bool) -> None:
    """Two columns of one size: the smallest eigenvalue of their products is what their cosine lacks to 1."""
    products = np.array([[1.0, (1 - short) * unit], [(1 - short) * unit, unit**2]])
    assert dependent_products(products) is expected


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=3, max_size=8))
def test_dependent_columns_are_those_of_a_lower_rank(rows: list[list[int]]) -> None:
    design = np.array(rows, dtype=np.float64)
    assert dependent(design) == (np.linalg.matrix_rank(design) < 3)
