"""Flags that several commands have (rules, executors), each said once in a dataclass that a command gets whole."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from karat.errors import KaratError, counted

if TYPE_CHECKING:
    from karat.executors import Executor
    from karat.judgments import Judgments
    from karat.study.study import Study


def option_group(kind: type[Any], name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of a dataclass as arguments and flags, in place of its one parameter `name`.

    A field without a default is an argument of the command and stands first, as arguments must.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        hints = {**get_type_hints(command, include_extras=True), **get_type_hints(kind, include_extras=True)}
        every = [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name],
                default=inspect.Parameter.empty if one.default is MISSING else one.default,
            )
            for one in fields(kind)
        ]  # fmt: skip
        parameters = [one for one in every if one.default is inspect.Parameter.empty]
        flags = [one for one in every if one.default is not inspect.Parameter.empty]
        for called, own in inspect.signature(command).parameters.items():
            keyword = own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints.get(called, own.annotation))
            parameters += flags if called == name else [keyword]

        @wraps(command)
        def wrapped(**given: Any) -> None:
            own = kind(**{one.name: given.pop(one.name) for one in every})
            command(**{name: own}, **given)

        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {one.name: one.annotation for one in parameters}
        return wrapped

    return decorated


def has_terminal() -> bool:
    """Whether somebody reads what is printed and can press a key."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")


def has_screen() -> bool:
    """Whether there is a screen that could show a page."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


StudyPath = Annotated[
    Path | None, typer.Option("--study", help="The study file that states the rules, or its folder.", metavar="FILE")
]
RulesPath = Annotated[
    Path | None,
    typer.Option("--rules", help="A file with [screening] alone, where there is no study file.", metavar="FILE"),
]


def load_rules(study: Path | None, rules: Path | None) -> tuple[Study | None, dict[str, Any] | None]:
    """The study of a file, and the rules of another that has nothing else."""
    from karat.study.file import read_rules
    from karat.study.study import load

    if study is not None and rules is not None:
        raise KaratError("A study file states the rules itself: say --study or --rules, not both.")
    return None if study is None else load(study), None if rules is None else read_rules(rules)


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


def found_line(judgments: Judgments) -> str:
    """How many participants have answers and how many have none, and how many items and answers there are.

    >>> import karat
    >>> found_line(karat.datasets.load("likert"))
    '48 participants, 62 items, 3,744 answers'
    """
    frame = judgments.frame
    answered = frame["participant"].n_unique()
    silent = judgments.participants.height - answered
    if not silent:
        return judgments.summary().splitlines()[0]
    counts = [(frame["item"].n_unique(), "item"), (judgments.answers, "answer")]
    counts += [(frame["question"].n_unique(), "question")] if "question" in frame.columns else []
    people = f"{counted(answered, 'participant')} with answers, {silent:,} without"
    return ", ".join([people, *(counted(number, word) for number, word in counts)])
