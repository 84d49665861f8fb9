"""What commands share: the form of `--help`, and groups of options defined once as dataclasses."""

from __future__ import annotations

import copy
import inspect
import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from karat.errors import KaratError, counted

if TYPE_CHECKING:
    from karat.executors import Executor
    from karat.judgments import Judgments
    from karat.study.study import Study


def _prepared(command: Any) -> Any:
    """A copy of a command as Typer should print it: brackets kept, paragraphs reflowed, no Python types.

    Typer would read `[screening]` as markup and drop it, keep the line breaks of docstrings, and show `<bool>` after
    every flag.
    """
    shown = copy.copy(command)
    shown.help = _escaped("\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n")))
    shown.epilog = _escaped(command.epilog or "")
    shown.params = [_prepared_parameter(parameter) for parameter in command.params]
    return shown


def _prepared_parameter(parameter: Any) -> Any:
    shown = copy.copy(parameter)
    shown.help = _escaped(getattr(parameter, "help", None) or "")
    if isinstance(shown, TyperArgument):
        name = shown.metavar or (shown.name or "").upper() + ("..." if shown.nargs != 1 else "")
        usage = name if shown.required else f"[{name}]"
        shown.metavar = name
        vars(shown).update(display_type_rich=lambda ctx: None, get_usage_pieces=lambda ctx: [usage])
    elif shown.metavar is None:
        shown.metavar = "" if shown.is_flag else shown.display_type(None).strip("<>").upper()
    return shown


def _escaped(text: str) -> str:
    return text.replace("[", r"\[")


class PreparedHelp:
    """What shows every help text in full."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super(PreparedHelp, _prepared(self)).format_help(ctx, formatter)  # type: ignore[misc]

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """The usage line names arguments as the table below it does."""
        super(PreparedHelp, _prepared(self)).format_usage(ctx, formatter)  # type: ignore[misc]

    def get_help_option(self, ctx: Any) -> Any:
        """The option --help, without a type."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.metavar = ""
        return option


class HelpCommand(PreparedHelp, TyperCommand):
    """A command whose `--help` shows every help text in full."""


class HelpGroup(PreparedHelp, TyperGroup):
    """The group of all commands, printed like them."""


def option_group(kind: type[Any], name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of a dataclass as arguments and options, in place of its parameter `name`.

    A field without a default becomes an argument and comes first.
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
    """Whether the command runs in an interactive terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")


def has_screen() -> bool:
    """Whether there is a display to open a page on."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def print_json(data: object) -> None:
    """Print a result as --json asks for."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))


Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-for-spreadsheets/--raw",
        help="In CSV, mark text that a spreadsheet would run as a formula, or leave it as it is.",
    ),
]
SafeAnyway = Annotated[
    bool,
    typer.Option(
        "--safe-for-spreadsheets", hidden=True, help="Accepted for consistency with convert; CSV is always safe here."
    ),
]
KeepAnyway = Annotated[Path | None, typer.Option(hidden=True, help="An older name of --out.")]
StudyPath = Annotated[
    Path | None,
    typer.Option(
        help="Apply the screening rules of this study file (or of study.toml in this folder).", metavar="FILE"
    ),
]
RulesPath = Annotated[
    Path | None,
    typer.Option(
        help="Apply the rules in this file, which has only a [screening] section; for results without a study file.",
        metavar="FILE",
    ),
]


def load_rules(study: Path | None, rules: Path | None) -> tuple[Study | None, dict[str, Any] | None]:
    """The study, and the rules of a file that has only rules."""
    from karat.study.file import read_rules
    from karat.study.study import load

    if study is not None and rules is not None:
        raise KaratError("Use --study or --rules, not both: the study file already has the rules.")
    return None if study is None else load(study), None if rules is None else read_rules(rules)


@dataclass(frozen=True)
class ExecutorOptions:
    """Where the work runs, with how much memory, and where its checkpoints go."""

    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Run on a Dask cluster: local, an address such as tcp://host:8786, or a file such as cluster.toml.",
        ),
    ] = None  # fmt: skip
    processes: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N",
            help="Share the work among N processes on this machine (default: 1; for power, one per processor).",
        ),
    ] = None  # fmt: skip
    memory: Annotated[
        str | None, typer.Option(help="Limit the memory of all processes together, such as 8GB.", metavar="SIZE")
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
                     help="Save finished work in this folder; after an interruption, the same command resumes.",
                     metavar="DIR"),
    ] = None  # fmt: skip

    def open_executor(self) -> AbstractContextManager[Executor]:
        """The executor, open during a `with` block."""
        from karat.executors import open_executor

        return open_executor(self.cluster, processes=self.processes, memory=self.memory, checkpoint=self.checkpoint)


with_executor_options = option_group(ExecutorOptions, "place")
"""Adds the options of `ExecutorOptions` to a command, which gets them as its parameter `place`."""


def found_line(judgments: Judgments) -> str:
    """How many participants have answers and how many have none, and how many items and answers there are.

    >>> import karat
    >>> found_line(karat.datasets.load("likert"))
    '48 participants, 75 items, 3,566 answers'
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
