"""The flags that say where work is done: one set of them for every command whose work can be shared."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

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

    def without_checkpoint(self) -> Place:
        """The same place, where nothing is kept."""
        return replace(self, checkpoint=None)


def works_somewhere(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of `Place` where its parameter `place` stands; it gets them as one."""
    hints = {**get_type_hints(command, include_extras=True), **get_type_hints(Place, include_extras=True)}
    flags = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name], default=one.default)
        for one in fields(Place)
    ]
    parameters = []
    for name, own in inspect.signature(command).parameters.items():
        keyword = own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        parameters += flags if name == "place" else [keyword]

    @wraps(command)
    def wrapped(**given: Any) -> None:
        place = Place(**{one.name: given.pop(one.name) for one in flags})
        command(place=place, **given)

    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {one.name: one.annotation for one in parameters}
    return wrapped
