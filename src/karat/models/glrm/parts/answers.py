"""Answers that lie in parts of workers: what a part is, what is known of all parts together, and samples of workers.

A part holds all answers of some workers, and is read when it is needed. Tasks have the same number in all parts, and
workers are numbered on from part to part. A sample of workers is drawn by a random number for each of them, from one
stream in the order of the workers, so that it does not depend on where one part ends and the next begins.

The random effects of tasks are a dense system, which limits their number. Where there are more tasks than that, workers
are taken in the order of their random numbers for as long as their tasks stay under the limit. With m_t the smallest
number among the workers who answered task t, those below z have answered the tasks with m_t < z; so the sample are the
workers below the (limit + 1)-th smallest m_t.
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
"""`map(function, shared, tasks)`: what the function gives for what is shared and each task, in the order of tasks."""


@dataclass(frozen=True)
class PartAnswers:
    """The answers of some workers; those of a part are numbered from 0, and each has an answer."""

    response: NDArray[Any]
    worker: Ints
    task: NDArray[Any]
    """Numbers or names that mean the same task in every part."""
    design: Floats | None = None
    """As that of `fit_crossed`."""

    @property
    def workers(self) -> int:
        """How many workers the part has."""
        return int(self.worker.max(initial=-1)) + 1

    def read(self) -> PartAnswers:
        """Answers in memory are a part themselves."""
        return self


class AnswerPart(Protocol):
    """Where the answers of a part come from."""

    @property
    def workers(self) -> int: ...
    def read(self) -> PartAnswers: ...


def in_turn(function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any]) -> list[Any]:
    """The simplest map: one part after the other, here."""
    return [function(shared, task) for task in tasks]


@dataclass(frozen=True)
class Sample:
    """The workers whose random number is below a limit."""

    seed: int
    below: float

    def among(self, first: int, workers: int) -> NDArray[np.bool_]:
        """Which of this many workers, the first with the number `first` among all, are in the sample."""
        return random_numbers(self.seed, first, workers) < self.below


def random_numbers(seed: int, first: int, workers: int) -> Floats:
    """The random number of each worker, from the place of the first of them in the stream."""
    stream = np.random.PCG64(seed)
    stream.advance(first)
    return np.random.Generator(stream).random(workers)


@dataclass(frozen=True)
class Placed:
    """A part, and the number of its first worker among those of all parts."""

    part: AnswerPart
    first: int

    def read(self, sample: Sample | None) -> tuple[PartAnswers, Ints]:
        """The answers of those in the sample, numbered from 0, and who they are among all workers."""
        answers = self.part.read()
        workers = answers.workers
        if sample is None:
            return answers, self.first + np.arange(workers)
        kept = sample.among(self.first, workers)
        rows = kept[answers.worker]
        design = None if answers.design is None else answers.design[rows]
        number = np.cumsum(kept) - 1
        who = self.first + np.flatnonzero(kept)
        return PartAnswers(answers.response[rows], number[answers.worker[rows]], answers.task[rows], design), who


@dataclass(frozen=True)
class View:
    """How the answers of a part are to be looked at: the tasks and categories of all parts, sorted, and the sample."""

    family: FamilyName
    tasks: NDArray[Any]
    categories: NDArray[Any]
    sample: Sample | None = None

    def objective(self, placed: Placed) -> Objective:
        """The answers of a part laid out, tasks that nobody in it answered among the others."""
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
class Described:
    """What is known of the answers of some parts."""

    workers: Ints
    """The numbers among all workers."""
    same: Ints
    """Those who gave one answer only, at least twice, by their places in `workers`."""
    tasks: NDArray[Any]
    categories: NDArray[Any]
    counts: Ints
    """The answers in each category."""
    products: Floats
    """Of the columns of the design with each other, a column of ones the first."""
    size: Floats
    """The largest number in each column, without its sign."""


def describe(shared: tuple[FamilyName, Sample | None], placed: Placed) -> Described:
    """What is known of the answers of one part."""
    family, sample = shared
    answers, who = placed.read(sample)
    _check(answers)
    design = _design(answers, family)
    categories, number = np.unique(answers.response, return_inverse=True)
    count, first, second = (np.bincount(answers.worker, one, len(who)) for one in (None, number, number * number))
    same = (count > 1) & (np.abs(second * count - first * first) < 0.5)
    whole = np.column_stack([np.ones(len(design)), design])
    return Described(
        who, np.flatnonzero(same), np.unique(answers.task), categories, np.bincount(number, minlength=len(categories)),
        whole.T @ whole, np.abs(design).max(axis=0, initial=0.0),
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


def merged(parts: Sequence[Described], family: FamilyName) -> Described:
    """What is known of all parts; an error where nothing can be fitted to them."""
    if len({len(part.size) for part in parts}) > 1:
        raise ValueError("The designs of the parts must have the same columns.")
    categories = np.unique(np.concatenate([part.categories for part in parts]))
    counts = np.zeros(len(categories), dtype=np.int64)
    for part in parts:
        counts[np.searchsorted(categories, part.categories)] += part.counts
    firsts = np.cumsum([0, *(len(part.workers) for part in parts[:-1])])
    found = Described(
        np.concatenate([part.workers for part in parts]),
        np.concatenate([first + part.same for first, part in zip(firsts, parts, strict=True)]),
        np.unique(np.concatenate([part.tasks for part in parts])), categories, counts,
        np.sum([part.products for part in parts], axis=0), np.max([part.size for part in parts], axis=0),
    )  # fmt: skip
    if len(found.workers) < 2 or len(found.tasks) < 2:
        raise ValueError(Message("models.two_of_each"))
    if len(categories) < 2:
        raise ValueError(Message("models.same_answers"))
    if family == "binary" and len(categories) > 2:
        raise ValueError(Message("models.two_values", {"n": len(categories)}))
    if dependent_products(found.products[1:, 1:]):
        raise ValueError("The columns of the design depend on each other. Leave out those that follow from others.")
    if family == "ordinal" and dependent_products(found.products):
        raise ValueError("The design of ordered answers has no intercept: the thresholds stand for it. Leave it out.")
    return found


def lowest(seed: int, placed: Placed) -> tuple[NDArray[Any], Floats]:
    """The tasks of a part, and the smallest random number among the workers who answered each."""
    answers, who = placed.read(None)
    numbers = random_numbers(seed, placed.first, len(who))[answers.worker]
    tasks, place = np.unique(answers.task, return_inverse=True)
    smallest = np.full(len(tasks), np.inf)
    np.minimum.at(smallest, place, numbers)
    return tasks, smallest


def sample_of(parts: Sequence[tuple[NDArray[Any], Floats]], seed: int, limit: int) -> Sample | None:
    """The sample of workers whose tasks stay under the limit; None where those of all workers do."""
    tasks, place = np.unique(np.concatenate([tasks for tasks, _ in parts]), return_inverse=True)
    if len(tasks) <= limit:
        return None
    smallest = np.full(len(tasks), np.inf)
    np.minimum.at(smallest, place, np.concatenate([numbers for _, numbers in parts]))
    return Sample(seed, float(np.partition(smallest, limit)[limit]))


HELD = 200_000_000
"""How many numbers the sums that are brought together may have, in all."""

Passes = Callable[[int], object]
"""Called with the number of passes over the answers."""


class PassesError(ValueError):
    """The answers would have to be gone through more often than was allowed."""


class Sums:
    """Numbers and arrays that parts give, a field each."""

    def add(self, other: Any) -> None:
        """Take the sums of further parts; arrays are added in place."""
        for one in fields(self):  # type: ignore[arg-type]
            total = getattr(self, one.name)
            total += getattr(other, one.name)
            setattr(self, one.name, total)


class Crew:
    """The parts, and the map that asks them; counts how often they were asked."""

    def __init__(
        self, parts: Sequence[Placed], mapper: Map, most: int, passes: Passes | None = None, held: int = HELD
    ) -> None:
        self.parts, self.mapper, self.most, self.after_pass = parts, mapper, most, passes
        self.passes, self.held = 0, held

    def total(self, function: Callable[[Any, Any], Any], shared: Any, items: Sequence[Any], numbers: int) -> Any:
        """The sum of `function(shared, item)` over one item for each part, by the method `add` of what it gives.

        A sum has this many `numbers`. Several items make a portion, added up where it is, where the sums of all items
        would be too many; how they are put together does not depend on who does the work.
        """
        if self.passes >= self.most:
            raise PassesError(Message("models.passes", {"n": self.passes}))
        portions = min(len(items), max(2, self.held // max(numbers, 1)))
        ends = [len(items) * number // portions for number in range(portions + 1)]
        total, *others = self.mapper(_added, (function, shared), [items[first:last] for first, last in pairwise(ends)])
        for other in others:
            total.add(other)
        self.passes += 1
        if self.after_pass is not None:
            self.after_pass(self.passes)
        return total


def _added(given: tuple[Callable[[Any, Any], Any], Any], items: Sequence[Any]) -> Any:
    function, shared = given
    with one_thread():
        total = function(shared, items[0])
        for item in items[1:]:
            total.add(function(shared, item))
    return total
