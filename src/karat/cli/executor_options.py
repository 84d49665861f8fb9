"""The flags that say where work is done: one set of them for every command whose work can be shared."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.option_groups import option_group

if TYPE_CHECKING:
    from karat.executors import Executor


@dataclass(frozen=True)
class ExecutorOptions:
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

    def open_executor(self) -> AbstractContextManager[Executor]:
        """The place, for the time of a `with` block."""
        from karat.executors import open_executor

        return open_executor(self.cluster, processes=self.processes, memory=self.memory, checkpoint=self.checkpoint)


def with_executor_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of `ExecutorOptions` where its parameter `place` stands; it gets them as one."""
    return option_group(ExecutorOptions, "place")(command)
