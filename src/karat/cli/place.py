"""The flags that say where work is done: one set of them for every command whose work can be shared."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.grouped import grouped

if TYPE_CHECKING:
    from karat.work import Work


@dataclass(frozen=True)
class Place:
    """Where work is done, with how much memory, and what is kept of it."""

    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster", metavar="WHERE",
            help="Do it on a Dask cluster: local, an address such as tcp://host:8786, or a file such as cluster.toml.",
        ),
    ] = None  # fmt: skip
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes", min=1,
            help="Processes of this machine that share the work; by default one, for power one a processor.",
        ),
    ] = None  # fmt: skip
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="What these processes may use together, such as 8GB.", metavar="SIZE"),
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", help="Keep finished work in this folder; the same command goes on from it.",
                     metavar="DIR"),
    ] = None  # fmt: skip

    def opened(self) -> AbstractContextManager[Work]:
        """The place, for the time of a `with` block."""
        from karat.work import opened

        return opened(self.cluster, processes=self.processes, memory=self.memory, checkpoint=self.checkpoint)


def works_somewhere(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of `Place` where its parameter `place` stands; it gets them as one."""
    return grouped(Place, "place")(command)
