"""What is fitted: answers with their workers, tasks and fixed effects, checked and numbered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.messages import Message
from karat.models.glrm.crossed import CrossedLayout, crossed
from karat.types import Floats, Ints


@dataclass(frozen=True)
class CrossedAnswers:
    """Answers with the numbers of their workers and tasks; `workers` and `tasks` are the names, sorted."""

    response: NDArray[Any]
    design: Floats
    worker: Ints
    task: Ints
    workers: NDArray[Any]
    tasks: NDArray[Any]

    @cached_property
    def layout(self) -> CrossedLayout:
        """Where each answer stands."""
        return crossed(self.worker, self.task, len(self.workers), len(self.tasks))


def arrange(response: ArrayLike, worker: ArrayLike, task: ArrayLike, design: ArrayLike | None) -> CrossedAnswers:
    """Check the arrays and lay them out; without a design there is an intercept alone."""
    answer, who, what = np.asarray(response), np.asarray(worker), np.asarray(task)
    if not answer.ndim == who.ndim == what.ndim == 1 or not len(answer) == len(who) == len(what):
        raise ValueError("response, worker and task must be one-dimensional and equally long.")
    if len(answer) == 0:
        raise ValueError(Message("models.no_answers"))
    if answer.dtype.kind == "f" and not np.all(np.isfinite(answer)):
        raise ValueError("response has missing or infinite values. Leave those answers out.")
    x = np.ones((len(answer), 1)) if design is None else np.asarray(design, dtype=np.float64)
    if x.ndim != 2 or len(x) != len(answer) or not np.all(np.isfinite(x)):
        raise ValueError("design must have a row of finite numbers for every answer.")
    if dependent(x):
        raise ValueError("The columns of the design depend on each other. Leave out those that follow from others.")
    workers, who = np.unique(who, return_inverse=True)
    tasks, what = np.unique(what, return_inverse=True)
    if len(workers) < 2 or len(tasks) < 2:
        raise ValueError(Message("models.two_of_each"))
    return CrossedAnswers(answer, x, who, what, workers, tasks)


def dependent(design: Floats) -> bool:
    """Whether a column is zero or follows from the others."""
    return dependent_products(design.T @ design)


def dependent_products(products: Floats) -> bool:
    """The same, from the products of the columns with each other."""
    size = np.sqrt(np.diag(products))
    if not len(size) or np.any(size == 0):
        return bool(len(size))
    return bool(np.linalg.eigvalsh(products / np.outer(size, size))[0] < 1e-10)
