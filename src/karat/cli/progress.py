"""A sign of life for whatever takes longer than two seconds, on a terminal and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer


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
