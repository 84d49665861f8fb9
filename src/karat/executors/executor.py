"""What a map is, and the simplest one: one job after the other, here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from karat.errors import KaratError
from karat.types import Progress

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")
Each = Callable[[int, Any], object]
"""Told the place of a job and its result as soon as it is there."""


class ExecutorError(KaratError, RuntimeError):
    """Work that could not be done where it was sent, with what to do about it."""


class Executor(Protocol):
    """A place where jobs are done."""

    @property
    def processes(self) -> int:
        """How many jobs are done at a time."""
        ...

    def map(
        self,
        function: Callable[[Shared, Job], Result],
        shared: Shared,
        jobs: Sequence[Job],
        *,
        name: str,
        progress: Progress | None = None,
        each: Each | None = None,
    ) -> list[Result]:
        """`function(shared, job)` of every job, in their order; `name` is what the work is called for people.

        The function is one of a module, and everything that goes in and out can be pickled. `shared` goes to every
        process once, and is not changed. A job may be done twice, where a process died. An error of the function is
        raised here. `each` is told every result as it comes in, in any order, and `progress` after it.
        """
        ...


class Serial:
    """One job after the other, in this process.

    >>> Serial().map(pow, 2, [1, 2, 3], name="powers")
    [2, 4, 8]
    """

    processes = 1

    def map(
        self,
        function: Callable[[Shared, Job], Result],
        shared: Shared,
        jobs: Sequence[Job],
        *,
        name: str,
        progress: Progress | None = None,
        each: Each | None = None,
    ) -> list[Result]:
        """The results in the order of the jobs."""
        results: list[Result] = []
        for place, job in enumerate(jobs):
            results.append(function(shared, job))
            report_result(place, results[-1], len(results), len(jobs), each, progress)
        return results


SERIAL = Serial()


def report_result(
    place: int, result: object, done: int, total: int, each: Each | None, progress: Progress | None
) -> None:
    """Tell of a result: first the result itself, so that it is kept before anybody hears that it is done."""
    if each is not None:
        each(place, result)
    if progress is not None:
        progress(done, total)


Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Like the builtin map: a function of a job, and jobs."""


def as_map(executor: Executor, *, name: str, progress: Progress | None = None) -> Map:
    """A work as models take it: like the builtin map, of one function and one series of jobs.

    >>> list(as_map(SERIAL, name="roots")(abs, [-1, 2]))
    [1, 2]
    """
    return lambda function, jobs: executor.map(_called, function, list(jobs), name=name, progress=progress)


def _called(function: Callable[[Job], Result], job: Job) -> Result:
    return function(job)
