"""A job as it is done in another process: its result, or its error, comes back as something that can be carried.

An error of a job is a result like any other. So what goes wrong on the way - a process that died, a scheduler that is
gone - cannot be taken for it, nor it for that.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from karat.errors import KaratError
from karat.executors.executor import ExecutorError


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
    """The error itself where it can go to another process, with where it was raised; else one with its words.

    >>> portable(ValueError("too small"))
    ValueError('too small')
    """
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
