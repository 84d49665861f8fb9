"""The options, the result and the registration of readers, and the questions that they leave to the user.

If a file leaves something open, karat asks at most three questions, each with a best guess and a sample. The answers
are saved in `FILE.karat.toml`, so that the next command on that file needs no options.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

import polars as pl

from karat.errors import IntakeError, KaratError, Problems
from karat.judgments.checks import Place, located
from karat.judgments.scales import Scale, parse_scale
from karat.judgments.source import SourceFile
from karat.judgments.tables import FileTable
from karat.messages import Message


@dataclass(frozen=True)
class Options:
    """What the user says about the files; karat works out what is empty."""

    mapping: Mapping[str, str] = field(default_factory=dict)
    """karat's column -> the file's column."""
    scale: Scale | Mapping[str, Scale] | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    """An answer as the file spells it -> as the scale spells it."""
    rt_unit: Literal["s", "ms"] | None = None
    decimal: Literal[".", ","] | None = None
    delimiter: str | None = None
    sheet: str | None = None
    wide: Literal["participant", "item", "trial"] | None = None
    """The unit of each row of a wide table."""
    accept: bool = False
    """Whether to take karat's first proposals if the file leaves something open."""
    keep_all: bool = False
    """Whether likely clicks to continue, questionnaires and consent count as judgments."""
    apart: Sequence[str] = ()
    """Participants to leave out, such as language models: names, patterns, or `COLUMN=VALUE`."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """A value of the column of item functions, or a pattern such as `filler*` -> the item function."""


def pairs_of(texts: str | Sequence[str], flag: str) -> dict[str, str]:
    """The names and values in texts of the form NAME=VALUE, or in one text with commas between them."""
    pairs = {}
    for text in (texts.split(",") if texts else ()) if isinstance(texts, str) else texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise KaratError(f"{flag} {text}: use the form NAME=VALUE.")
        pairs[name.strip()] = value.strip()
    return pairs


BEGIN = "*"
"""The key of `Options.answers` that applies to all answers: texts are grouped by how they begin."""


def answers_of(text: str) -> dict[str, str]:
    """The answers that `--answers` lists, or the request to group answers by how they begin."""
    text = text.strip()
    return {BEGIN: "begin"} if text == "begin" else pairs_of(text, "--answers")


def as_message(text: Message | str) -> Message:
    """The message itself, or a message with the same text in every language for words from another package.

    >>> as_message("screens without a sentence").code
    'intake.text'
    """
    return text if isinstance(text, Message) else Message("intake.text", {"text": text})


@dataclass
class Reading:
    """The judgments that a reader finds in its files, and an account of everything else.

    Nothing is dropped silently: every unit of the source (a row, or a cell of a wide table) is a judgment, is set
    aside with a reason, or is bad and has a problem:
    `units_in == frame.height + sum(set_aside.values()) + bad_units`.
    """

    frame: pl.DataFrame
    """The judgments, with karat's columns as far as the source has them and the source's own columns. Empty for files
    that only describe participants."""
    locate: Callable[[int], Place]
    """The place in the files that a row of the frame comes from."""
    units_in: int
    unit: str = "rows"
    set_aside: dict[Message, int] = field(default_factory=dict)
    """The number of units that are not judgments, by reason."""
    bad_units: int = 0
    problems: Problems = field(default_factory=Problems)
    notes: list[Message] = field(default_factory=list)
    """The assumptions."""
    participants: pl.DataFrame | None = None
    scales: dict[str, Scale] | None = None
    """The scales by question, if the source has them."""
    frozen: dict[str, Any] | None = None
    """The rules and items with which the study started, if the source is an export of karat with them."""
    open: list[Question] = field(default_factory=list)
    """The questions that the user must answer before this reading counts."""
    used: tuple[str, ...] = ()
    """The columns of the user's mapping that the reader has already applied."""
    taken: dict[str, str] = field(default_factory=dict)
    """karat's column for each of the file's own columns; empty if the reader uses its own names."""

    def add_table(self, table: FileTable, cells: int = 1) -> None:
        """Take over a table's notes and problems, and count `cells` units per row; rows that cannot be read are bad."""
        self.units_in += table.rows_in * cells
        self.bad_units += (table.rows_in - table.frame.height) * cells
        self.problems.extend(table.problems)
        self.notes += table.notes

    def set_apart(self, reason: Message | str, count: int = 1) -> None:
        """Count units that are not judgments, by reason; readers of other packages give the reason as text."""
        if count:
            message = as_message(reason)
            self.set_aside[message] = self.set_aside.get(message, 0) + count

    def without(self, mask: pl.Series, reason: Message) -> Reading:
        """The reading without the masked rows, which are set aside, and without participants who have no other rows."""
        if not mask.any():
            return self
        frame, people = self.frame.filter(~mask), self.participants
        if people is not None and "participant" in frame.columns:
            dropped = set(self.frame["participant"].unique()) - set(frame["participant"].unique())
            people = people.filter(~pl.col("participant").is_in(list(dropped)))
        locate, aside = located(self.locate, (~mask).arg_true()), dict(self.set_aside)
        shorter = replace(self, frame=frame, locate=locate, participants=people, set_aside=aside)
        shorter.set_apart(reason, int(mask.sum()))
        return shorter

    @property
    def is_balanced(self) -> bool:
        """Whether every unit is accounted for."""
        return self.units_in == self.frame.height + sum(self.set_aside.values()) + self.bad_units


@dataclass(frozen=True)
class Reader:
    """A source of judgments: its name for `--from`, a test for its files, and the function that reads them.

    `read` gets one file, or all files of the source if the tool spreads a study over several (`together`). The user's
    mapping is applied to the result, unless the reader `maps` the columns itself; columns that name people are then
    left out, unless karat wrote the file and included them before (`keeps_names`). `discrepancies` compares the
    participants with answers with the table of participants of a platform's export.
    """

    name: str
    title: str
    recognises: Callable[[SourceFile], bool]
    read: Callable[[Sequence[SourceFile], Options], Reading]
    together: bool = False
    maps: bool = False
    keeps_names: bool = False
    discrepancies: Callable[[pl.Series, pl.DataFrame], list[Message]] | None = None


MOST_QUESTIONS = 3
ASKED = {
    "participant": Message("ask.participant"),
    "item": Message("ask.item"),
    "response": Message("ask.response"),
    "wide": Message("ask.wide"),
    "answers": Message("ask.answers"),
}
"""The questions by their topics."""


@dataclass(frozen=True)
class Proposal:
    """One possible answer to a question: its settings, and the reason to choose it."""

    mapping: Mapping[str, str]
    detail: Message
    options: Mapping[str, str] = field(default_factory=dict)
    """Flags other than --map, such as wide or scale."""

    @property
    def label(self) -> str:
        """The answer in short: the columns, or the value of the flag."""
        values = [source.replace("+", " + ") for source in self.mapping.values()] + list(self.options.values())
        return ", ".join(values)

    @property
    def flags(self) -> list[str]:
        """The answer as flags of the command line."""
        flags = [part for role, source in self.mapping.items() for part in ("--map", f"{role}={source}")]
        return flags + [part for name, value in self.options.items() for part in (f"--{name}", value)]


@dataclass(frozen=True)
class Question:
    """The topic of a question (participant, item, response, ...) and the answers that karat proposes, best first."""

    role: str
    choices: tuple[Proposal, ...]
    by_name: bool = False
    """Whether the user must name the answer, because nothing in the file supports the first proposal."""

    def text(self) -> Message:
        """The question in words."""
        return ASKED[self.role]


class ProposalError(IntakeError):
    """A file that can be read once the user confirms something: the questions, and a command that answers them."""

    def __init__(
        self, file: str, questions: Sequence[Question], paths: Sequence[str] = (), typed: Sequence[str] = ()
    ) -> None:
        self.file, self.paths, self.typed = file, tuple(paths), tuple(typed)
        self.questions = tuple(questions[:MOST_QUESTIONS])
        lines = []
        for question in self.questions:
            best, *others = question.choices
            lines.append(f"{question.text()} {best.label}: {best.detail}")
            if others:
                lines.append(f"  or {'; '.join(other.label for other in others[:2])}")
        flags = [flag for question in self.questions for flag in question.choices[0].flags]
        self.flags = flags
        again = [*(typed or ("convert", *(paths or [file]))), *flags]
        has_output = again[0] != "convert" or {"-o", "--out"} & {*again}
        command = shlex.join(["karat", *again, *([] if has_output else ["-o", "judgments.parquet"])])
        head = Message("ask.headline", {"file": file, "n": len(self.questions)})
        code = "ask.command_only" if any(question.by_name for question in self.questions) else "ask.command"
        tail = Message(code, {"command": command})
        super().__init__("\n".join([str(head), *(f"  {line}" for line in lines), str(tail)]))

    def of_command(self, typed: Sequence[str]) -> ProposalError:
        """The same error for a user who typed this command, such as report FILE, so that it proposes this one again."""
        return ProposalError(self.file, self.questions, self.paths, typed)

    def __reduce__(self) -> tuple[type[ProposalError], tuple[object, ...]]:
        return type(self), (self.file, self.questions, self.paths, self.typed)


SUFFIX = ".karat.toml"
FLAGS = ("wide", "scale", "answers")


def notes_path(file: Path) -> Path:
    """The path of the file with the answers about a file or folder.

    >>> notes_path(Path("data/results.csv")).name
    'results.csv.karat.toml'
    """
    # The paths . and .. have no name of their own.
    file = file if file.name not in ("", "..") else file.resolve()
    return file.parent / (file.name + SUFFIX)


def remember(file: Path, mapping: Mapping[str, str], flags: Mapping[str, str]) -> Path | None:
    """Write the answers beside the file; None if the folder is not writable."""
    lines = [f"# How karat reads {file.name}. Delete this file to be asked again.", "", "[map]"]
    lines += [f"{column} = {json.dumps(source, ensure_ascii=False)}" for column, source in mapping.items()]
    if flags:
        lines += ["", "[read]"]
        lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in flags.items()]
    path = notes_path(file)
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError:
        return None
    return path


def with_remembered(paths: Iterable[str | Path], options: Options) -> tuple[Options, list[Message]]:
    """The options completed with earlier answers; the current options take precedence."""
    notes = []
    for path in map(Path, paths):
        saved = notes_path(path)
        if not saved.is_file():
            continue
        data = _loaded(saved)
        mapping = {str(column): _source(source) for column, source in data.get("map", {}).items()}
        read = data.get("read", {})
        scale = options.scale
        if scale is None and "scale" in read:
            scale = parse_scale(str(read["scale"]))
        answers = options.answers
        if not answers and read.get("answers") == "begin":
            answers = {"*": "begin"}
        wide = options.wide
        if wide is None and read.get("wide") in ("participant", "item", "trial"):
            wide = cast(Any, read["wide"])
        options = replace(options, mapping={**mapping, **options.mapping}, scale=scale, answers=answers, wide=wide)
        notes.append(Message("intake.remembered", {"file": saved.name}))
    return options, notes


def _loaded(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise IntakeError(f"{path.name} cannot be read: {error}. Fix it, or delete it to be asked again.") from None
    wrong = [key for key in data if key not in ("map", "read")]
    if wrong or not all(isinstance(part, dict) for part in data.values()):
        raise IntakeError(f"{path.name} must have the tables [map] and [read] only. Fix it, or delete it.")
    return data


def _source(source: object) -> str:
    return "+".join(map(str, source)) if isinstance(source, list) else str(source)
