"""The base of executors, and the serial one.

A job in another process returns its result or its error as an `Outcome`. So an error of a job cannot be confused with a
failure of the executor, such as a dead process or a lost scheduler.
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
    """A failure of an executor, with what to do about it."""


class Executor:
    """A place where jobs run. Subclasses yield results as they arrive; `map` puts them in order."""

    @property
    def processes(self) -> int:
        """How many jobs run at a time."""
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
        """`function(shared, job)` for every job, in their order; `name` describes the work in messages.

        The function must be on the top level of a module, and all arguments and results must be picklable. `shared`
        goes to every process once and must not be changed. A job may run twice if a process dies. An error of the
        function is raised here. `each` is called with every result as it arrives, in any order, and `progress` after
        it.
        """
        results: dict[int, Result] = {}
        with closing(self.results(function, shared, jobs, name)) as coming:
            for place, result in coming:
                results[place] = result
                if each is not None:
                    each(place, result)
                if progress is not None:
                    progress(len(results), len(jobs))
        return [results[place] for place in range(len(jobs))]


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
    """An executor as a function like the builtin map, with one series of jobs.

    >>> list(as_map(SERIAL, name="roots")(abs, [-1, 2]))
    [1, 2]
    """
    return lambda function, jobs: executor.map(call, function, list(jobs), name=name, progress=progress)


@dataclass(frozen=True)
class Outcome:
    """The result or the error of a job."""

    result: Any = None
    error: Exception | None = None

    def get(self) -> Any:
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.result


@dataclass(frozen=True)
class MapFunction:
    """The function and the shared data of one map."""

    function: Callable[[Any, Any], Any]
    shared: Any

    def outcome(self, job: Any) -> Outcome:
        """Run a job.

        >>> MapFunction(pow, 2).outcome(3).get()
        8
        """
        try:
            return Outcome(self.function(self.shared, job))
        except Exception as error:
            return Outcome(error=portable(error))


def portable(error: Exception) -> Exception:
    """The error itself if it can be pickled, with its traceback; else an error with its message."""
    if not isinstance(error, KaratError):
        error.add_note("Raised in another process:\n" + "".join(traceback.format_exception(error)))
    try:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - from this process
    except Exception:
        again = None
    if type(again) is type(error) and str(again) == str(error):
        return error
    words = f"{error}" if isinstance(error, KaratError) else f"{type(error).__name__}: {error}"
    return ExecutorError(words)
