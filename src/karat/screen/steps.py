"""What is being done: a progress may want to hear the name of each step, and what each criterion found.

`Progress` is told how many tasks of a pass are done. A pass is short where parts are few, and what follows it in this
process alone, such as a fit, has no tasks. A progress that is also `StepProgress` is therefore told of these by name.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from karat.messages import Message
from karat.types import Progress


@runtime_checkable
class StepProgress(Protocol):
    """A progress that hears of steps as well as of tasks."""

    def __call__(self, done: int, total: int) -> None:
        """So many tasks of the step are done."""

    def begins(self, step: str) -> None:
        """A step begins, or goes on with something that cannot be counted."""

    def ends(self, found: Message) -> None:
        """A step is done, with what it found."""


def begin(progress: Progress | None, step: str) -> None:
    """Tell a progress that a step begins, if it wants to know.

    >>> begin(lambda done, total: None, "markov")
    """
    if isinstance(progress, StepProgress):
        progress.begins(step)


def end(progress: Progress | None, found: Message) -> None:
    """Tell a progress that a step is done, if it wants to know.

    >>> end(None, Message("screening.flagged", {"criterion": "markov", "flagged": 3, "participants": 120}))
    """
    if isinstance(progress, StepProgress):
        progress.ends(found)
