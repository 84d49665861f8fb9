"""Shared parts of commands: the layout of `--help`, and groups of options as dataclasses."""

from __future__ import annotations

import copy
import inspect
import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import MISSING, dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from karat.cli.progress import working
from karat.errors import KaratError, counted

if TYPE_CHECKING:
    from karat.executors import Executor
    from karat.intake import Intake
    from karat.judgments import Judgments
    from karat.judgments.scales import Scale
    from karat.messages import Message
    from karat.study.study import Study


def _prepared(command: Any) -> Any:
    """A copy of a command as Typer should print it: brackets kept, paragraphs reflowed, no Python types.

    Typer would read `[screening]` as markup and drop it, keep the line breaks of docstrings, and show `<bool>` after
    every flag.
    """
    prepared = copy.copy(command)
    prepared.help = _escaped("\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n")))
    prepared.epilog = _escaped(command.epilog or "")
    prepared.params = [_prepared_parameter(parameter) for parameter in command.params]
    return prepared


def _prepared_parameter(parameter: Any) -> Any:
    prepared = copy.copy(parameter)
    prepared.help = _escaped(getattr(parameter, "help", None) or "")
    if isinstance(prepared, TyperArgument):
        name = prepared.metavar or (prepared.name or "").upper() + ("..." if prepared.nargs != 1 else "")
        usage = name if prepared.required else f"[{name}]"
        prepared.metavar = name
        vars(prepared).update(display_type_rich=lambda ctx: None, get_usage_pieces=lambda ctx: [usage])
    elif prepared.metavar is None:
        prepared.metavar = "" if prepared.is_flag else prepared.display_type(None).strip("<>").upper()
    return prepared


def _escaped(text: str) -> str:
    return text.replace("[", r"\[")


class PreparedHelp:
    """Shows every help text in full."""

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
    """The group of all commands, with the same layout."""


def option_group(kind: type[Any], name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of a dataclass as arguments and options, in place of its parameter `name`.

    A field without a default becomes an argument and comes first.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        hints = {**get_type_hints(command, include_extras=True), **get_type_hints(kind, include_extras=True)}
        every = [
            inspect.Parameter(
                parameter.name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name],
                default=inspect.Parameter.empty if parameter.default is MISSING else parameter.default,
            )
            for parameter in fields(kind)
        ]  # fmt: skip
        parameters = [parameter for parameter in every if parameter.default is inspect.Parameter.empty]
        flags = [parameter for parameter in every if parameter.default is not inspect.Parameter.empty]
        for called, original in inspect.signature(command).parameters.items():
            keyword = original.replace(
                kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints.get(called, original.annotation)
            )
            parameters += flags if called == name else [keyword]

        @wraps(command)
        def wrapped(**arguments: Any) -> None:
            group = kind(**{parameter.name: arguments.pop(parameter.name) for parameter in every})
            command(**{name: group}, **arguments)

        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return wrapped

    return decorated


def option(help: str, metavar: str | None = None, *names: str, **limits: Any) -> Any:  # noqa: A002
    """An option with its help and metavar, and its names if they differ from the parameter."""
    return typer.Option(*names, help=help, metavar=metavar, **limits)


def argument(help: str, metavar: str | None = None, **more: Any) -> Any:  # noqa: A002
    """An argument with its help and metavar."""
    return typer.Argument(help=help, metavar=metavar, **more)


def has_terminal() -> bool:
    """Whether the command runs in an interactive terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")


def has_screen() -> bool:
    """Whether there is a display to open a page on."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def print_json(data: object) -> None:
    """Print a result as JSON."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))


def no_file(folder: Path | None) -> Path | None:
    """A folder for output; a file is refused."""
    if folder is not None and folder.is_file():
        raise KaratError(f"{folder} is a file. Give a folder to write to.")
    return folder


def table_file(file: Path) -> Path:
    """A CSV or Parquet file for output; other names are refused."""
    if file.suffix not in (".csv", ".parquet"):
        raise KaratError(f"{file}: use a name that ends in .csv or .parquet.")
    return file


OutFolder = Annotated[
    Path | None,
    option("Write to this folder; without it, nothing is written.", "DIR", "-o", "--out", callback=no_file),
]
OutTable = Annotated[
    Path,
    option(
        "Write to FILE (CSV or Parquet, by suffix).", "FILE", "-o", "--out", show_default=False, callback=table_file
    ),
]
StudyArgument = Annotated[Path, argument("The study file, or its folder.", show_default=False)]
Seed = Annotated[int, option("Set the random seed.", "N", min=0)]
Json = Annotated[bool, option("Print the result as JSON.", None, "--json")]
Quiet = Annotated[bool, option("Print nothing but errors.", None, "--quiet")]
SafeCsv = Annotated[
    bool,
    option(
        "In CSV, mark text that a spreadsheet would run as a formula, or leave it as it is.",
        None,
        "--safe-for-spreadsheets/--raw",
    ),
]
SafeAnyway = Annotated[
    bool,
    option(
        "Accepted for consistency with convert; CSV is always safe here.", None, "--safe-for-spreadsheets", hidden=True
    ),
]
KeepAnyway = Annotated[Path | None, option("An older name of --out.", hidden=True)]
StudyPath = Annotated[
    Path | None, option("Apply the screening rules of this study file (or of study.toml in this folder).", "FILE")
]
RulesPath = Annotated[
    Path | None,
    option(
        "Apply the rules in this file, which has only a [screening] section; for results without a study file.", "FILE"
    ),
]


def load_rules(study: Path | None, rules: Path | None) -> tuple[Study | None, dict[str, Any] | None]:
    """The study, or the rules from a file with only rules."""
    from karat.study.file import read_rules
    from karat.study.study import load

    if study is not None and rules is not None:
        raise KaratError("Use --study or --rules, not both: the study file already has the rules.")
    return None if study is None else load(study), None if rules is None else read_rules(rules)


@dataclass(frozen=True)
class ExecutorOptions:
    """Where the work runs, its memory, and its checkpoint."""

    cluster: Annotated[
        str | None,
        option(
            "Run on a Dask cluster: local, an address such as tcp://host:8786, or a file such as cluster.toml.", "WHERE"
        ),
    ] = None
    processes: Annotated[
        int | None,
        option(
            "Share the work among N processes on this machine (default: 1; for power, one per processor).", "N", min=1
        ),
    ] = None
    memory: Annotated[str | None, option("Limit the memory of all processes together, such as 8GB.", "SIZE")] = None
    checkpoint: Annotated[
        Path | None,
        option("Save finished work in this folder; after an interruption, the same command resumes.", "DIR"),
    ] = None

    def open_executor(self) -> AbstractContextManager[Executor]:
        """The executor for a `with` block."""
        from karat.executors import open_executor

        return open_executor(self.cluster, processes=self.processes, memory=self.memory, checkpoint=self.checkpoint)


with_executor_options = option_group(ExecutorOptions, "place")
"""Adds the options of `ExecutorOptions` to a command, which gets them as its parameter `place`."""


def found_line(judgments: Judgments) -> str:
    """The numbers of participants with and without answers, of items, and of answers."""
    frame = judgments.frame
    answered = frame["participant"].n_unique()
    silent = judgments.participants.height - answered
    if not silent:
        return judgments.summary().splitlines()[0]
    counts = [(frame["item"].n_unique(), "item"), (judgments.answers, "answer")]
    counts += [(frame["question"].n_unique(), "question")] if "question" in frame.columns else []
    people = f"{counted(answered, 'participant')} with answers, {silent:,} without"
    return ", ".join([people, *(counted(number, word) for number, word in counts)])


WIDE = "participant, item or trial, depending on what one row of the table is."


@dataclass(frozen=True)
class ReadOptions:
    """The files to read, and how to read them."""

    files: Annotated[list[Path], argument("Result files, or folders of them, from one study.", show_default=False)]
    source: Annotated[
        str, option("Name the tool that wrote the files, such as pcibex or jspsych; auto detects it.", "NAME", "--from")
    ] = "auto"
    mapping: Annotated[
        list[str] | None,
        option("Use column B of the file as karat's column A; leave B empty to ignore A. Repeatable.", "A=B", "--map"),
    ] = None
    item_column: Annotated[
        str | None, option("Use this column as the item; join several with +, as in verb+content.", "NAME", "--item")
    ] = None
    response_column: Annotated[str | None, option("Use this column as the answer.", "NAME", "--response")] = None
    scale: Annotated[
        list[str] | None,
        option(
            "Set the scale, such as ordinal:1-5, choice:none or nominal:A,B; for question Q only: Q=ordinal:1-5. "
            "Repeatable.",
            "SCALE",
        ),
    ] = None
    answers: Annotated[
        str | None,
        option(
            "Translate answers as the file spells them, such as 1=left,-1=right,0=none; begin groups texts by "
            "how they begin.",
            "A=B,...",
        ),
    ] = None
    rt_unit: Annotated[str | None, option("Set the unit of response times: s or ms.", "UNIT")] = None
    decimal: Annotated[str | None, option("Set the decimal separator: . or ,", "SIGN")] = None
    delimiter: Annotated[str | None, option("Set the column separator, such as ; or tab.", "SIGN")] = None
    encoding: Annotated[str | None, option("Set the text encoding, such as utf-8 or latin-1.", "NAME")] = None
    sheet: Annotated[str | None, option("Read this sheet of a spreadsheet.", "NAME")] = None
    skip_bad: Annotated[bool, option("Skip rows that cannot be read, and list them.", None, "--skip-bad")] = False

    wide: Annotated[str | None, option("Say what one row of a wide table is: participant, item or trial.", "ROW")] = (
        None
    )
    item_functions: Annotated[
        str | None, option("Say what trials are for, such as 'main=test,filler*=filler'.", "A=B,...")
    ] = None
    set_apart: Annotated[
        str | None,
        option(
            "Leave out the answers of these participants, such as language models: names, patterns or COLUMN=VALUE.",
            "NAME,...",
        ),
    ] = None
    rows_in_order: Annotated[
        bool, option("Say that each participant's rows are in the order of presentation.", None, "--rows-in-order")
    ] = False
    keep_all: Annotated[
        bool, option("Keep clicks, questionnaires and consent, which are otherwise set aside.", None, "--keep-all")
    ] = False
    yes: Annotated[bool, option("Accept karat's first suggestion wherever a file is ambiguous.", None, "--yes")] = False

    @property
    def columns(self) -> dict[str, str]:
        """karat's columns as named by --map, --item and --response."""
        from karat.intake.reading import pairs_of

        short = {"item": self.item_column, "response": self.response_column}
        named = {column: source for column, source in short.items() if source is not None}
        return {**pairs_of(self.mapping or [], "--map"), **named}

    def intake(self, *, quiet: bool) -> Intake:
        """Read the files with these options."""
        from karat.intake import Options, read_files
        from karat.intake.reading import answers_of, pairs_of
        from karat.judgments.trial_order import order_is_known
        from karat.messages import Message

        options = Options(
            mapping=self.columns,
            scale=scales_of(self.scale or []),
            answers=answers_of(self.answers or ""),
            rt_unit=_one_of("--rt-unit", self.rt_unit, ("s", "ms"), "s or ms."),
            decimal=_one_of("--decimal", self.decimal, (".", ","), ". or ,"),
            delimiter=_delimiter(self.delimiter),
            sheet=self.sheet,
            wide=_one_of("--wide", self.wide, ("participant", "item", "trial"), WIDE),
            accept=self.yes,
            keep_all=self.keep_all,
            apart=[name.strip() for name in (self.set_apart or "").split(",") if name.strip()],
            functions=pairs_of(self.item_functions or "", "--item-functions"),
        )
        with working(f"reading {', '.join(file.name for file in self.files[:3])}", quiet=quiet):
            intake = read_files(self.files, self.source, options, encoding=self.encoding, skip_bad=self.skip_bad)
        if not self.rows_in_order or order_is_known(intake.judgments.frame.columns):
            return intake
        return replace(
            intake, judgments=intake.judgments.with_row_order(), notes=(*intake.notes, Message("order.rows_in_order"))
        )

    def typed(self, command: str) -> list[str]:
        """The command as typed, without the name of the program; for a call from Python, the command and its files."""
        return sys.argv[1:] if sys.argv[1:2] == [command] else [command, *map(str, self.files)]

    def known(self, study: Study | None, command: str, *, quiet: bool) -> Known:
        """The judgments, matched with the study file, and lines on how they were read.

        If the files are ambiguous, the error suggests how to repeat `command`.
        """
        from karat.intake.reading import ProposalError
        from karat.study.results import with_study

        try:
            intake = self.intake(quiet=quiet)
        except ProposalError as error:
            raise error.of_command(self.typed(command)) from None
        with intake.naming_places():
            judgments, notes = (intake.judgments, []) if study is None else with_study(intake.judgments, study)
        return Known(judgments, notes, intake)


@dataclass(frozen=True)
class Known:
    """Judgments for a command."""

    judgments: Judgments
    notes: list[Message]
    """The assumptions in matching them with the study."""
    intake: Intake
    """How they were read."""

    @property
    def lines(self) -> list[str]:
        """How they were read, for printing."""
        return [*reading_lines(self.intake), *(f"note       {note}" for note in self.notes)]


def reading_lines(intake: Intake) -> list[str]:
    """How the files were read: the readers, what was set aside, and what was assumed."""
    lines = [f"read       {file} as {title}" for file, title in intake.sources]
    if intake.set_aside:
        reasons = "; ".join(f"{reason} ({count:,})" for reason, count in intake.set_aside.items())
        lines.append(f"set aside  {sum(intake.set_aside.values()):,} of {intake.units_in:,} {intake.unit}: {reasons}")
    if intake.skipped:
        lines.append(f"skipped    {intake.skipped_units:,} of {intake.units_in:,} {intake.unit} that could not be read")
        lines += [f"           {line}" for line in intake.skipped.lines(len(intake.sources) > 1)]
    return lines + [f"note       {note}" for note in intake.notes]


def intake_lines(intake: Intake) -> list[str]:
    """How the files were read and what they have, including how many answers have a known correct answer."""
    lines = reading_lines(intake) + intake.judgments.summary().splitlines()
    if "expected" in intake.judgments.frame.columns:
        answers = counted(intake.judgments.answers, "answer")
        lines.append(f"expected   the correct answer is known for {intake.expected:,} of {answers}")
    return lines


reads_files = option_group(ReadOptions, "reading")
"""Adds the files and options of `ReadOptions` to a command, which gets them as its parameter `reading`."""


def scales_of(texts: list[str]) -> Scale | dict[str, Scale] | None:
    """The scale, or one per question."""
    from karat.judgments.scales import parse_scale

    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0].partition(":")[0]:
        return parse_scale(texts[0])
    named = {}
    for text in texts:
        question, equals, scale = text.partition("=")
        if not equals:
            raise KaratError(f"--scale {text}: with several scales, name the question: QUESTION={text}.")
        named[question.strip()] = parse_scale(scale)
    return named


def _one_of(flag: str, text: str | None, choices: tuple[str, ...], words: str) -> Any:
    """The value of an option with few possible values."""
    if text is not None and text not in choices:
        raise KaratError(f"{flag} {text}: use {words}")
    return text


def _delimiter(text: str | None) -> str | None:
    sign = {"tab": "\t", "\\t": "\t"}.get(text or "", text)
    if sign is not None and (len(sign) != 1 or sign in '"\r\n' or not sign.isascii()):
        raise KaratError(f"--delimiter {text}: use a single character such as , or ; or the word tab.")
    return sign
