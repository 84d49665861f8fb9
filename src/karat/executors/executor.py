"""What a map is, and the simplest one: one job after the other, here.

A job that is done in another process sends back its result, or its error, as something that can be carried. An error of
a job is a result like any other. So what goes wrong on the way - a process that died, a scheduler that is gone - cannot
be taken for it, nor it for that.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from operator import call
from typing import Any, TypeVar

from karat.errors import KaratError
from karat.types import Map, Progress

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")
Each = Callable[[int, Any], object]
"""Called with the position of a job and its result as soon as it is available."""


class ExecutorError(KaratError, RuntimeError):
    """Work that could not be done where it was sent, with what to do about it."""


class Executor:
    """A place where jobs are done. Each kind yields results as they come in; `map` puts them in order."""

    @property
    def processes(self) -> int:
        """How many jobs are done at a time."""
        raise NotImplementedError

    def results(
        self, function: Callable[[Any, Any], Any], shared: Any, jobs: Sequence[Any], name: str
    ) -> Generator[tuple[int, Any]]:
        """The position and the result of every job, in any order."""
        raise NotImplementedError

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
        raised here. `each` is called with every result as it comes in, in any order, and `progress` after it.
        """
        found: dict[int, Result] = {}
        with closing(self.results(function, shared, jobs, name)) as coming:
            for place, result in coming:
                found[place] = result
                if each is not None:
                    each(place, result)
                if progress is not None:
                    progress(len(found), len(jobs))
        return [found[place] for place in range(len(jobs))]


class Serial(Executor):
    """One job after the other, in this process.

    >>> Serial().map(pow, 2, [1, 2, 3], name="powers")
    [2, 4, 8]
    """

    processes = 1

    def __repr__(self) -> str:
        return "SERIAL"

    def results(
        self, function: Callable[[Any, Any], Any], shared: Any, jobs: Sequence[Any], name: str
    ) -> Generator[tuple[int, Any]]:
        for place, job in enumerate(jobs):
            yield place, function(shared, job)


SERIAL = Serial()
"""One job after the other, in this process."""


def as_map(executor: Executor, *, name: str, progress: Progress | None = None) -> Map:
    """An executor as models use it: like the builtin map, with one function and one series of jobs.

    >>> list(as_map(SERIAL, name="roots")(abs, [-1, 2]))
    [1, 2]
    """
    return lambda function, jobs: executor.map(call, function, list(jobs), name=name, progress=progress)


@dataclass(frozen=True)
class Outcome:
    """What became of a job."""

    result: Any = None
    error: Exception | None = None

    def get(self) -> Any:
        """The result, or the error raised."""
        if self.error is not None:
            raise self.error
        return self.result


@dataclass(frozen=True)
class MapFunction:
    """What a process has for all jobs of one map."""

    function: Callable[[Any, Any], Any]
    shared: Any

    def outcome(self, job: Any) -> Outcome:
        """Do a job.

        >>> MapFunction(pow, 2).outcome(3).get()
        8
        """
        try:
            return Outcome(self.function(self.shared, job))
        except Exception as error:
            return Outcome(error=portable(error))


def portable(error: Exception) -> Exception:
    """The error itself where it can go to another process, with where it was raised; else one with its words."""
    if not isinstance(error, KaratError):
        error.add_note("Raised in another process:\n" + "".join(traceback.format_exception(error)))
    try:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - what this process has just written
    except Exception:
        again = None
    if type(again) is type(error) and str(again) == str(error):
        return error
    words = f"{error}" if isinstance(error, KaratError) else f"{type(error).__name__}: {error}"
    return ExecutorError(words)
