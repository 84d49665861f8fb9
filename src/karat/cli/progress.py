"""Progress for everything that takes longer than two seconds.

In a terminal it shows the current step and how far it is. Elsewhere, as in the log of a job, only work with many steps
reports: one line per finished step.
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
    """A progress bar; yields the function that updates it with how much is done, and of how much."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


class StepBar:
    """Work in several steps: the current step, its progress, and how many steps are done."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done, self.step = what, total, 0, ""

    def __call__(self, done: int, total: int) -> None:
        """Report how many jobs of the step are done."""

    def begins(self, step: str) -> None:
        """A step begins, or continues with something that cannot be counted."""
        self.step = step

    def ends(self, result: Message) -> None:
        """A step is done, with its result."""
        self.done += 1

    def __str__(self) -> str:
        return f"{self.what}: {self.step}, {self.done} of {self.total} done" if self.step else self.what


class ShownSteps(StepBar):
    """Steps in a terminal: a named bar for the jobs of the current step."""

    def __init__(self, what: str, total: int, progress: Any) -> None:
        super().__init__(what, total)
        self.progress = progress
        self.task = progress.add_task(what, total=None)

    def __call__(self, done: int, total: int) -> None:
        self.progress.update(self.task, completed=done, total=total)

    def begins(self, step: str) -> None:
        super().begins(step)
        # Without a total the bar pulses instead of staying full from the previous step. Rich cannot unset a total, and
        # its reset would restart the clock.
        task = self.progress.tasks[self.task]
        task.total, task.finished_time = None, None
        self.progress.update(self.task, completed=0, description=str(self))

    def ends(self, result: Message) -> None:
        super().ends(result)
        self.progress.update(self.task, description=str(self))


class _Printed(StepBar):
    """Steps elsewhere: one line per finished step, once the work has taken longer than two seconds."""

    def __init__(self, what: str, total: int, after: float) -> None:
        super().__init__(what, total)
        self.held: list[str] = []
        self.until = monotonic() + after

    def ends(self, result: Message) -> None:
        super().ends(result)
        self.held.append(f"{self.what}, {self.done} of {self.total}: {result}")
        if monotonic() >= self.until:
            print("\n".join(self.held), file=sys.stderr, flush=True)
            self.held = []


@contextmanager
def stepping(what: str, total: int, *, quiet: bool = False, after: float = 2.0) -> Iterator[StepBar]:
    """Show the current one of several steps, once the work has taken longer than two seconds."""
    if quiet or not sys.stderr.isatty():
        yield StepBar(what, total) if quiet else _Printed(what, total, after)
        return
    from rich.progress import BarColumn, TaskProgressColumn

    with _display(after, BarColumn(), TaskProgressColumn()) as progress:
        yield ShownSteps(what, total, progress)


@contextmanager
def working(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Show what is running and for how long, once it has taken longer than two seconds."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    with _display(2.0) as progress:
        progress.add_task(what, total=None)
        yield


@contextmanager
def _display(after: float, *columns: Any) -> Iterator[Any]:
    """A line in the terminal with what is running and for how long, once some time has passed."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    parts = (SpinnerColumn(), TextColumn("{task.description}"), *columns, TimeElapsedColumn())
    progress = Progress(*parts, console=Console(stderr=True), transient=True)
    timer = Timer(after, progress.start)
    timer.start()
    try:
        yield progress
    finally:
        timer.cancel()
        progress.stop()
