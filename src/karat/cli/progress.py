"""A sign of life for whatever takes longer than two seconds: on a terminal what is being done and how far it is.

Elsewhere, as in the log of a job, only work of many steps says something: a line for each step that is done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.messages import Message


@contextmanager
def counting(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A bar for work that can say how far it is; gives the function to tell it by: done, of how many."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


class StepBar:
    """Work of several steps: which one is being done, how far it is, and how many of how many are done.

    >>> steps = StepBar("screening", 2)
    >>> steps.begins("markov")
    >>> from karat.messages import Message
    >>> steps.ends(Message("screening.flagged", {"criterion": "markov", "flagged": 3, "participants": 120}))
    >>> steps.done
    1
    """

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done, self.step = what, total, 0, ""

    def __call__(self, done: int, total: int) -> None:
        """So many tasks of the step are done."""

    def begins(self, step: str) -> None:
        """A step begins, or goes on with something that cannot be counted."""
        self.step = step

    def ends(self, found: Message) -> None:
        """A step is done, with what it found."""
        self.done += 1

    def __str__(self) -> str:
        return f"{self.what}: {self.step}, {self.done} of {self.total} done" if self.step else self.what


class ShownSteps(StepBar):
    """Steps on a terminal: a bar for the tasks of the step, named."""

    def __init__(self, what: str, total: int, progress: Any) -> None:
        super().__init__(what, total)
        self.progress = progress
        self.task = progress.add_task(what, total=None)

    def __call__(self, done: int, total: int) -> None:
        self.progress.update(self.task, completed=done, total=total)

    def begins(self, step: str) -> None:
        super().begins(step)
        # Without a total the bar moves to and fro, instead of standing at the end of the step before. The library takes
        # no total back once it is known, and its reset would start the time anew.
        task = self.progress.tasks[self.task]
        task.total, task.finished_time = None, None
        self.progress.update(self.task, completed=0, description=str(self))

    def ends(self, found: Message) -> None:
        super().ends(found)
        self.progress.update(self.task, description=str(self))


class _Printed(StepBar):
    """Steps elsewhere: a line for each that is done, once the work has taken longer than two seconds."""

    def __init__(self, what: str, total: int, after: float) -> None:
        super().__init__(what, total)
        self.held: list[str] = []
        self.until = monotonic() + after

    def ends(self, found: Message) -> None:
        super().ends(found)
        self.held.append(f"{self.what}, {self.done} of {self.total}: {found}")
        if monotonic() >= self.until:
            print("\n".join(self.held), file=sys.stderr, flush=True)
            self.held = []


@contextmanager
def stepping(what: str, total: int, *, quiet: bool = False, after: float = 2.0) -> Iterator[StepBar]:
    """Show which of several steps is being done, once they have taken longer than two seconds."""
    if quiet or not sys.stderr.isatty():
        yield StepBar(what, total) if quiet else _Printed(what, total, after)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    progress = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    timer = Timer(after, progress.start)
    timer.start()
    try:
        yield ShownSteps(what, total, progress)
    finally:
        timer.cancel()
        progress.stop()


@contextmanager
def working(what: str, *, quiet: bool = False, after: float = 2.0) -> Iterator[None]:
    """Show what is being done, with the time it takes, once it has taken longer than two seconds."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task(what, total=None)
    timer = Timer(after, progress.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        progress.stop()
