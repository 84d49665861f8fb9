"""The layout of crossed answers: a list, sorted by cell, and a matrix of cells.

The layout converts between *answers* (one number per answer), *cells* (one number per pair of a worker and a task they
answered) and *groups* (one number per worker, or per task), which is all that the estimators need. If most workers
answered most tasks, the matrix of cells, workers x tasks, is a table with zeros in empty cells; otherwise it is sparse.

`arrange` checks and numbers the answers with their workers, tasks and fixed effects.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from karat.messages import Message
from karat.types import Bools, Floats, Ints

Factor = Literal["worker", "task"]
PADDED = 4
"""A table may have this many times as many places as answers."""
SMALL = 20_000
"""A table with at most this many places is never stored as a list."""


@dataclass(frozen=True)
class CrossedLayout:
    """Answers, sorted by cell; a cell is a pair of a worker and a task they answered."""

    workers: int
    tasks: int
    cell: Ints
    """The cell of each answer."""
    worker: Ints
    """The worker of each cell."""
    task: Ints
    listed: bool
    """Whether the matrix of cells is sparse."""
    order: Ints | None = None
    """The number of the caller's answer in each place."""

    @property
    def answers(self) -> int:
        return len(self.cell)

    @property
    def single(self) -> bool:
        """Whether no cell has more than one answer."""
        return len(self.cell) == len(self.worker)

    @property
    def complete(self) -> bool:
        """Whether every worker answered every task, so that cells are a table by themselves."""
        return len(self.worker) == self.workers * self.tasks

    def place(self, values: NDArray[Any]) -> NDArray[Any]:
        """The caller's answers in the layout's order."""
        return values[self.order]

    def cells(self, answers: Floats) -> Floats:
        return answers if self.single else _sums(self.cell, answers, len(self.worker))

    def spread(self, cells: Floats) -> Floats:
        return cells if self.single else cells[self.cell]

    def by_worker(self, cells: Floats) -> Floats:
        return self.table(cells).sum(axis=1) if self.complete else _sums(self.worker, cells, self.workers)

    def by_task(self, cells: Floats) -> Floats:
        return self.table(cells).sum(axis=0) if self.complete else _sums(self.task, cells, self.tasks)

    def sum_of_effects(self, worker: Floats, task: Floats) -> Floats:
        return (worker[:, None] + task).ravel() if self.complete else worker[self.worker] + task[self.task]

    def table(self, cells: Floats) -> Floats:
        """Cells as workers x tasks; 0 where there is no answer."""
        if self.complete:
            return cells.reshape(self.workers, self.tasks)
        table = np.zeros((self.workers, self.tasks))
        table[self.worker, self.task] = cells
        return table

    def matrix(self, cells: Floats) -> Any:
        """The matrix of cells, as a table or sparse."""
        if not self.listed:
            return self.table(cells)
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.worker, minlength=self.workers))])
        return sparse.csr_array((cells, self.task, starts), shape=(self.workers, self.tasks))

    def of_matrix(self, numbers: Floats) -> Floats:
        """The numbers of cells in a table, or in the data of a sparse matrix."""
        if self.listed:
            return numbers
        return numbers.ravel() if self.complete else numbers[self.worker, self.task]

    def without(self, factor: Factor, group: int) -> CrossedLayout:
        others = (self.worker if factor == "worker" else self.task) != group
        number = np.cumsum(others) - 1
        worker, task = self.worker[others], self.task[others]
        workers, tasks = self.workers, self.tasks
        if factor == "worker":
            worker, workers = worker - (worker > group), workers - 1
        else:
            task, tasks = task - (task > group), tasks - 1
        return CrossedLayout(workers, tasks, number[self.cell[others[self.cell]]], worker, task, self.listed)

    def drop(self, answers: NDArray[Any], factor: Factor, group: int) -> NDArray[Any]:
        of_cell = self.worker if factor == "worker" else self.task
        return np.asarray(answers[of_cell[self.cell] != group])

    def answers_of(self, worker: int) -> tuple[Bools, Ints]:
        """A mask of a worker's answers, and the task of each."""
        mask: Bools = self.worker[self.cell] == worker
        return mask, self.task[self.cell[mask]]


def crossed(worker: Ints, task: Ints, workers: int, tasks: int, listed: bool | None = None) -> CrossedLayout:
    """Lay answers out; the matrix of cells is sparse if most of a table would be empty, or as `listed` requires.

    >>> layout = crossed(np.array([0, 1, 1]), np.array([0, 0, 1]), 2, 2)
    >>> layout.matrix(layout.cells(layout.place(np.array([5.0, 6.0, 7.0])))).tolist()
    [[5.0, 0.0], [6.0, 7.0]]
    """
    flat = worker * tasks + task
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    cells = ordered[first]
    sparse_cells = is_listed(workers * tasks, len(flat)) if listed is None else listed
    return CrossedLayout(workers, tasks, np.cumsum(first) - 1, cells // tasks, cells % tasks, sparse_cells, order)


def is_listed(places: float, answers: float) -> bool:
    """Whether a table with this many places and answers would be sparse enough to use a list."""
    return places > max(PADDED * answers, SMALL)


def _sums(group: Ints, values: Floats, groups: int) -> Floats:
    return np.bincount(group, values, groups).astype(np.float64, copy=False)


@dataclass(frozen=True)
class CrossedAnswers:
    """Answers with the numbers of their workers and tasks; `workers` and `tasks` are the sorted names."""

    response: NDArray[Any]
    design: Floats
    worker: Ints
    task: Ints
    workers: NDArray[Any]
    tasks: NDArray[Any]

    @cached_property
    def layout(self) -> CrossedLayout:
        """The layout of the answers."""
        return crossed(self.worker, self.task, len(self.workers), len(self.tasks))


def arrange(response: ArrayLike, worker: ArrayLike, task: ArrayLike, design: ArrayLike | None) -> CrossedAnswers:
    """Check the arrays and number workers and tasks; without a design there is only an intercept."""
    answers, worker_ids, task_ids = np.asarray(response), np.asarray(worker), np.asarray(task)
    if any(values.shape != (answers.size,) for values in (answers, worker_ids, task_ids)):
        raise ValueError("response, worker and task must be one-dimensional and equally long.")
    if len(answers) == 0:
        raise ValueError(Message("models.no_answers"))
    if answers.dtype.kind == "f" and not np.all(np.isfinite(answers)):
        raise ValueError("response has missing or infinite values. Leave those answers out.")
    x = np.ones((len(answers), 1)) if design is None else np.asarray(design, dtype=np.float64)
    if x.ndim != 2 or len(x) != len(answers) or not np.all(np.isfinite(x)):
        raise ValueError("design must have a row of finite numbers for every answer.")
    if dependent(x):
        raise ValueError("The columns of the design depend on each other. Leave out those that follow from others.")
    workers, worker_number = np.unique(worker_ids, return_inverse=True)
    tasks, task_number = np.unique(task_ids, return_inverse=True)
    if len(workers) < 2 or len(tasks) < 2:
        raise ValueError(Message("models.two_of_each"))
    return CrossedAnswers(answers, x, worker_number, task_number, workers, tasks)


def dependent(design: Floats) -> bool:
    """Whether a column is zero or linearly dependent on the others."""
    return dependent_products(design.T @ design)


def dependent_products(products: Floats) -> bool:
    """Whether a column is zero or linearly dependent on the others, given X'X."""
    size = np.sqrt(np.diag(products))
    if not len(size) or np.any(size == 0):
        return bool(len(size))
    return bool(np.linalg.eigvalsh(products / np.outer(size, size))[0] < 1e-10)
