"""What a map is, and the simplest one: one task after the other, here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from karat.errors import KaratError

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")
Progress = Callable[[int, int], object]
"""Told how many tasks are done, of how many."""
Each = Callable[[int, Any], object]
"""Told the place of a task and its result as soon as it is there."""


class WorkError(KaratError, RuntimeError):
    """Work that could not be done where it was sent, with what to do about it."""


class Work(Protocol):
    """A place where tasks are done."""

    @property
    def processes(self) -> int:
        """How many tasks are done at a time."""
        ...

    def map(
        self,
        function: Callable[[Shared, Task], Result],
        shared: Shared,
        tasks: Sequence[Task],
        *,
        name: str,
        progress: Progress | None = None,
        each: Each | None = None,
    ) -> list[Result]:
        """`function(shared, task)` of every task, in their order; `name` is what the work is called for people.

        The function is one of a module, and everything that goes in and out can be pickled. `shared` goes to every
        process once, and is not changed. A task may be done twice, where a process died. An error of the function is
        raised here. `each` is told every result as it comes in, in any order, and `progress` after it.
        """
        ...


class Here:
    """One task after the other, in this process.

    >>> Here().map(pow, 2, [1, 2, 3], name="powers")
    [2, 4, 8]
    """

    processes = 1

    def map(
        self,
        function: Callable[[Shared, Task], Result],
        shared: Shared,
        tasks: Sequence[Task],
        *,
        name: str,
        progress: Progress | None = None,
        each: Each | None = None,
    ) -> list[Result]:
        """The results in the order of the tasks."""
        results: list[Result] = []
        for place, task in enumerate(tasks):
            results.append(function(shared, task))
            told(place, results[-1], len(results), len(tasks), each, progress)
        return results


HERE = Here()


def told(place: int, result: object, done: int, total: int, each: Each | None, progress: Progress | None) -> None:
    """Tell of a result: first the result itself, so that it is kept before anybody hears that it is done."""
    if each is not None:
        each(place, result)
    if progress is not None:
        progress(done, total)


Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Like the builtin map: a function of a task, and tasks."""


def as_map(work: Work, *, name: str, progress: Progress | None = None) -> Map:
    """A work as models take it: like the builtin map, of one function and one series of tasks.

    >>> list(as_map(HERE, name="roots")(abs, [-1, 2]))
    [1, 2]
    """
    return lambda function, tasks: work.map(_called, function, list(tasks), name=name, progress=progress)


def _called(function: Callable[[Task], Result], task: Task) -> Result:
    return function(task)
