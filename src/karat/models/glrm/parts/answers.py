"""Answers stored in parts: the parts, summaries of their answers, and samples of workers.

A part has all answers of some workers, and is read when it is needed. Tasks have the same number in all parts, and the
numbers of workers continue from part to part. Workers are sampled by a random number each, from one stream in the order
of the workers, so the sample does not depend on how workers are divided into parts.

The random effects of tasks are a dense system, which limits their number. If there are more tasks, workers are sampled
in the order of their random numbers as long as their tasks are within the limit. With m_t the smallest number among the
workers who answered task t, workers below z have answered the tasks with m_t < z; so the sample consists of the workers
below the (limit + 1)-th smallest m_t.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from karat.messages import Message
from karat.models.glrm.crossed import crossed, dependent_products
from karat.models.glrm.families import BinaryFamily, Family, FamilyName, Gaussian, OrdinalFamily
from karat.models.glrm.objective import Objective
from karat.models.numerics import one_thread
from karat.types import Floats, Ints

Map = Callable[[Callable[[Any, Any], Any], Any, Sequence[Any]], list[Any]]
"""`map(function, shared, tasks)` returns `function(shared, task)` for each task, in the order of `tasks`."""


@dataclass(frozen=True)
class PartAnswers:
    """The answers of the workers of a part, who are numbered from 0 and have at least one answer each."""

    response: NDArray[Any]
    worker: Ints
    task: NDArray[Any]
    """The number or name of each task, the same in every part."""
    design: Floats | None = None
    """As in `fit_crossed`."""

    @property
    def workers(self) -> int:
        """The number of workers of the part."""
        return int(self.worker.max(initial=-1)) + 1

    def read(self) -> PartAnswers:
        """These answers, so that answers in memory can be used as a part."""
        return self


class AnswerPart(Protocol):
    """A part, from which answers are read."""

    @property
    def workers(self) -> int: ...
    def read(self) -> PartAnswers: ...


def in_turn(function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any]) -> list[Any]:
    """The simplest map: one task after the other, in this process."""
    return [function(shared, task) for task in tasks]


@dataclass(frozen=True)
class Sample:
    """The workers with a random number below a limit."""

    seed: int
    below: float

    def among(self, first: int, workers: int) -> NDArray[np.bool_]:
        """Which of `workers` consecutive workers from number `first` are in the sample."""
        return random_numbers(self.seed, first, workers) < self.below


def random_numbers(seed: int, first: int, workers: int) -> Floats:
    """The random numbers of `workers` consecutive workers from number `first`."""
    stream = np.random.PCG64(seed)
    stream.advance(first)
    return np.random.Generator(stream).random(workers)


@dataclass(frozen=True)
class Placed:
    """A part with the number of its first worker among those of all parts."""

    part: AnswerPart
    first: int

    def read(self, sample: Sample | None) -> tuple[PartAnswers, Ints]:
        """The answers of the workers in the sample, numbered from 0, and their numbers among all workers."""
        answers = self.part.read()
        workers = answers.workers
        if sample is None:
            return answers, self.first + np.arange(workers)
        sampled = sample.among(self.first, workers)
        rows = sampled[answers.worker]
        design = None if answers.design is None else answers.design[rows]
        number = np.cumsum(sampled) - 1
        numbers = self.first + np.flatnonzero(sampled)
        return PartAnswers(answers.response[rows], number[answers.worker[rows]], answers.task[rows], design), numbers


@dataclass(frozen=True)
class View:
    """The family, the sorted tasks and categories of all parts, and the sample."""

    family: FamilyName
    tasks: NDArray[Any]
    categories: NDArray[Any]
    sample: Sample | None = None

    def objective(self, placed: Placed) -> Objective:
        """The objective of a part, with the tasks of all parts."""
        answers, _ = placed.read(self.sample)
        task = np.searchsorted(self.tasks, answers.task)
        layout = crossed(answers.worker, task, answers.workers, len(self.tasks))
        number = np.searchsorted(self.categories, answers.response)
        likelihood: Family
        if self.family == "gaussian":
            likelihood = Gaussian(layout.place(answers.response.astype(np.float64)))
        elif self.family == "binary":
            likelihood = BinaryFamily(layout.place(2.0 * number - 1))
        else:
            likelihood = OrdinalFamily(layout.place(number), len(self.categories))
        return Objective(layout, likelihood, layout.place(_design(answers, self.family)))


def _design(answers: PartAnswers, family: FamilyName) -> Floats:
    if answers.design is not None:
        return answers.design
    return np.ones((len(answers.response), int(family != "ordinal")))


@dataclass(frozen=True)
class PartSummary:
    """A summary of the answers of one or more parts."""

    workers: Ints
    """Their numbers among all workers."""
    same: Ints
    """The positions in `workers` of those with at least two answers, all of them the same."""
    tasks: NDArray[Any]
    categories: NDArray[Any]
    counts: Ints
    """The number of answers in each category."""
    products: Floats
    """X'X, where X is the design after a column of ones."""
    size: Floats
    """The largest absolute value in each column of the design."""


def describe(shared: tuple[FamilyName, Sample | None], placed: Placed) -> PartSummary:
    """A summary of the answers of one part."""
    family, sample = shared
    answers, workers = placed.read(sample)
    _check(answers)
    design = _design(answers, family)
    categories, number = np.unique(answers.response, return_inverse=True)
    weights = None, number, number * number
    count, first, second = (np.bincount(answers.worker, weight, len(workers)) for weight in weights)
    same = (count > 1) & (np.abs(second * count - first * first) < 0.5)
    columns = np.column_stack([np.ones(len(design)), design])
    return PartSummary(
        workers, np.flatnonzero(same), np.unique(answers.task), categories,
        np.bincount(number, minlength=len(categories)), columns.T @ columns, np.abs(design).max(axis=0, initial=0.0),
    )  # fmt: skip


def _check(answers: PartAnswers) -> None:
    response, worker, task, design = answers.response, answers.worker, answers.task, answers.design
    if not response.ndim == worker.ndim == task.ndim == 1 or not len(response) == len(worker) == len(task):
        raise ValueError("response, worker and task of a part must be one-dimensional and equally long.")
    if response.dtype.kind == "f" and not np.all(np.isfinite(response)):
        raise ValueError("response has missing or infinite values. Leave those answers out.")
    if np.any(np.bincount(worker) == 0):
        raise ValueError("The workers of a part must be numbered from 0, and each must have an answer.")
    if design is not None and (design.ndim != 2 or len(design) != len(response) or not np.all(np.isfinite(design))):
        raise ValueError("The design of a part must have a row of finite numbers for every answer.")


def merge(parts: Sequence[PartSummary], family: FamilyName) -> PartSummary:
    """A summary of all parts; raise ValueError if they cannot be fitted."""
    if len({len(part.size) for part in parts}) > 1:
        raise ValueError("The designs of the parts must have the same columns.")
    categories = np.unique(np.concatenate([part.categories for part in parts]))
    counts = np.zeros(len(categories), dtype=np.int64)
    for part in parts:
        counts[np.searchsorted(categories, part.categories)] += part.counts
    firsts = np.cumsum([0, *(len(part.workers) for part in parts[:-1])])
    total = PartSummary(
        np.concatenate([part.workers for part in parts]),
        np.concatenate([first + part.same for first, part in zip(firsts, parts, strict=True)]),
        np.unique(np.concatenate([part.tasks for part in parts])), categories, counts,
        np.sum([part.products for part in parts], axis=0), np.max([part.size for part in parts], axis=0),
    )  # fmt: skip
    if len(total.workers) < 2 or len(total.tasks) < 2:
        raise ValueError(Message("models.two_of_each"))
    if len(categories) < 2:
        raise ValueError(Message("models.same_answers"))
    if family == "binary" and len(categories) > 2:
        raise ValueError(Message("models.two_values", {"n": len(categories)}))
    if dependent_products(total.products[1:, 1:]):
        raise ValueError("The columns of the design depend on each other. Leave out those that follow from others.")
    if family == "ordinal" and dependent_products(total.products):
        raise ValueError("The design of ordered answers has no intercept: the thresholds stand for it. Leave it out.")
    return total


def lowest(seed: int, placed: Placed) -> tuple[NDArray[Any], Floats]:
    """The tasks of a part, and the smallest random number among the workers who answered each."""
    answers, workers = placed.read(None)
    numbers = random_numbers(seed, placed.first, len(workers))[answers.worker]
    tasks, place = np.unique(answers.task, return_inverse=True)
    smallest = np.full(len(tasks), np.inf)
    np.minimum.at(smallest, place, numbers)
    return tasks, smallest


def sample_of(parts: Sequence[tuple[NDArray[Any], Floats]], seed: int, limit: int) -> Sample | None:
    """The sample of workers with at most `limit` tasks, or None if there are no more tasks than that."""
    tasks, place = np.unique(np.concatenate([tasks for tasks, _ in parts]), return_inverse=True)
    if len(tasks) <= limit:
        return None
    smallest = np.full(len(tasks), np.inf)
    np.minimum.at(smallest, place, np.concatenate([numbers for _, numbers in parts]))
    return Sample(seed, float(np.partition(smallest, limit)[limit]))


MOST_NUMBERS = 200_000_000
"""The largest total size, in numbers, of sums in memory at the same time."""

Passes = Callable[[int], object]
"""Called with the number of passes through the answers."""


class PassesError(ValueError):
    """The fit needs more passes through the answers than are allowed."""


class Sums:
    """Numbers and arrays that are summed over parts, in dataclass fields."""

    def add(self, other: Any) -> None:
        """Add the sums of further parts; arrays are added in place."""
        for field in fields(self):  # type: ignore[arg-type]
            total = getattr(self, field.name)
            total += getattr(other, field.name)
            setattr(self, field.name, total)


class Crew:
    """The parts with a map over them, and a count of the passes through them."""

    def __init__(
        self, parts: Sequence[Placed], mapper: Map, most: int, passes: Passes | None = None, held: int = MOST_NUMBERS
    ) -> None:
        self.parts, self.mapper, self.most, self.after_pass = parts, mapper, most, passes
        self.passes, self.held = 0, held

    def total(self, function: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any], numbers: int) -> Any:
        """The sum of `function(shared, item)` over one item for each part, by the method `add` of the results.

        Each result has about `numbers` numbers. If the results of all items are too large for memory, items are grouped
        into portions, each of which is summed by one call. The grouping does not depend on the mapper.
        """
        if self.passes >= self.most:
            raise PassesError(Message("models.passes", {"n": self.passes}))
        portions = min(len(items), max(2, self.held // max(numbers, 1)))
        ends = [len(items) * number // portions for number in range(portions + 1)]
        total, *rest = self.mapper(_sum_of, (function, shared), [items[first:last] for first, last in pairwise(ends)])
        for other in rest:
            total.add(other)
        self.passes += 1
        if self.after_pass is not None:
            self.after_pass(self.passes)
        return total


def _sum_of(call: tuple[Callable[[Any, Any], Any], Any], items: Sequence[Any]) -> Any:
    function, shared = call
    with one_thread():
        total = function(shared, items[0])
        for item in items[1:]:
            total.add(function(shared, item))
    return total
