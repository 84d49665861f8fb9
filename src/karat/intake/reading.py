"""What a reader is given, what it gives back, and how it is registered.

Where a file leaves something open, karat asks at most three questions, each with a best guess and a sample. The answers
are kept in `FILE.karat.toml`, so that the next command on that file needs no options.
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
from karat.messages import Message


@dataclass(frozen=True)
class Options:
    """What is known about the files; empty where karat should find out."""

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
    """What one row of a wide table is."""
    accept: bool = False
    """Whether karat's first proposals are taken where the file leaves something open."""
    keep_all: bool = False
    """Whether answers that look like clicks to go on, questionnaires and consent are kept as judgments."""
    apart: Sequence[str] = ()
    """Participants whose answers are left out, such as language models: names, patterns, or `COLUMN=VALUE`."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """A value of the column of item functions, or a pattern such as `filler*` -> the item function."""


def pairs_of(texts: str | Sequence[str], flag: str) -> dict[str, str]:
    """Each of the texts, or parts of a text between commas, split at its = sign."""
    pairs = {}
    for text in (texts.split(",") if texts else ()) if isinstance(texts, str) else texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise KaratError(f"{flag} {text}: use the form NAME=VALUE.")
        pairs[name.strip()] = value.strip()
    return pairs


BEGIN = "*"
"""The answer in `Options.answers` that stands for all: texts are grouped by how they begin."""


def answers_of(text: str) -> dict[str, str]:
    """What `--answers` says of the answers."""
    text = text.strip()
    return {BEGIN: "begin"} if text == "begin" else pairs_of(text, "--answers")


def as_message(said: Message | str) -> Message:
    """A message as it is; words of a reader from another package as a message that says them in every language.

    >>> as_message("screens without a sentence").code
    'intake.text'
    """
    return said if isinstance(said, Message) else Message("intake.text", {"text": said})


@dataclass
class Reading:
    """What a reader found in its files.

    Nothing is dropped in silence: every unit of the source (a row, or a cell of a wide table) became a judgment, or
    is set aside with a reason because it is none, or is bad and has its problem:
    `units_in == frame.height + sum(set_aside.values()) + bad_units`.
    """

    frame: pl.DataFrame
    """The judgments: karat's columns as far as the source has them, and the source's own. Empty for files that only
    describe participants."""
    locate: Callable[[int], Place]
    """Where a row of the frame comes from."""
    units_in: int
    unit: str = "rows"
    set_aside: dict[Message, int] = field(default_factory=dict)
    """What is not a judgment, by reason."""
    bad_units: int = 0
    problems: Problems = field(default_factory=Problems)
    notes: list[Message] = field(default_factory=list)
    """What was assumed."""
    participants: pl.DataFrame | None = None
    scales: dict[str, Scale] | None = None
    """The scales by question, where the source has them."""
    frozen: dict[str, Any] | None = None
    """The rules and items with which the study started, where the source is an export of karat that has them."""
    open: list[Question] = field(default_factory=list)
    """What the user must confirm before this reading counts."""
    used: tuple[str, ...] = ()
    """The columns of the user's mapping that the reader itself has used."""
    taken: dict[str, str] = field(default_factory=dict)
    """The file's own columns, and as which of karat's each was taken; empty where the reader has names of its own."""

    def set_apart(self, reason: Message | str, count: int = 1) -> None:
        """Count units that are not judgments, with the reason; readers of other packages give it in words."""
        if count:
            known = as_message(reason)
            self.set_aside[known] = self.set_aside.get(known, 0) + count

    def without(self, gone: pl.Series, reason: Message) -> Reading:
        """The reading without the rows of a mask, which are set aside, and without people who have no other row."""
        if not gone.any():
            return self
        frame, people = self.frame.filter(~gone), self.participants
        if people is not None and "participant" in frame.columns:
            lost = set(self.frame["participant"].unique()) - set(frame["participant"].unique())
            people = people.filter(~pl.col("participant").is_in(list(lost)))
        locate, aside = located(self.locate, (~gone).arg_true()), dict(self.set_aside)
        shorter = replace(self, frame=frame, locate=locate, participants=people, set_aside=aside)
        shorter.set_apart(reason, int(gone.sum()))
        return shorter

    @property
    def is_balanced(self) -> bool:
        """Whether every unit is accounted for."""
        return self.units_in == self.frame.height + sum(self.set_aside.values()) + self.bad_units


@dataclass(frozen=True)
class Reader:
    """A source of judgments: its name for `--from`, how a file of it is recognised, and how its files are read.

    `read` gets one file, or, where a tool spreads one study over several (`together`), all files of this source. The
    user's mapping is laid over what it gives, unless it `maps` the columns itself; columns that name people are then
    left out, unless karat wrote the file and they were let in before (`keeps_names`).
    """

    name: str
    title: str
    recognises: Callable[[SourceFile], bool]
    read: Callable[[Sequence[SourceFile], Options], Reading]
    together: bool = False
    maps: bool = False
    keeps_names: bool = False


MOST_QUESTIONS = 3
ASKED = {
    "participant": Message("ask.participant"),
    "item": Message("ask.item"),
    "response": Message("ask.response"),
    "wide": Message("ask.wide"),
    "answers": Message("ask.answers"),
}
"""The questions by what they are about."""


@dataclass(frozen=True)
class Proposal:
    """One answer to a question: what it sets, and what speaks for it."""

    mapping: Mapping[str, str]
    detail: Message
    options: Mapping[str, str] = field(default_factory=dict)
    """Flags other than --map, such as wide or scale."""

    @property
    def label(self) -> str:
        """The answer in short: the columns, or the value of the flag."""
        said = [source.replace("+", " + ") for source in self.mapping.values()] + list(self.options.values())
        return ", ".join(said)

    @property
    def flags(self) -> list[str]:
        """The answer as flags of the command line."""
        flags = [part for role, source in self.mapping.items() for part in ("--map", f"{role}={source}")]
        return flags + [part for name, value in self.options.items() for part in (f"--{name}", value)]


@dataclass(frozen=True)
class Question:
    """What is asked (participant, item, response, ...) and the answers that karat proposes, the best first."""

    role: str
    choices: tuple[Proposal, ...]
    by_name: bool = False
    """Whether the user must name the answer, because nothing in the file speaks for the first proposal."""

    def text(self) -> Message:
        """The question in words."""
        return ASKED[self.role]


class ProposalError(IntakeError):
    """A file that can be read once something is confirmed: the questions, and the command with karat's own answers."""

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
        kept = again[0] != "convert" or {"-o", "--out"} & {*again}
        command = shlex.join(["karat", *again, *([] if kept else ["-o", "judgments.parquet"])])
        head = Message("ask.headline", {"file": file, "n": len(self.questions)})
        code = "ask.command_only" if any(question.by_name for question in self.questions) else "ask.command"
        tail = Message(code, {"command": command})
        super().__init__("\n".join([str(head), *(f"  {line}" for line in lines), str(tail)]))

    def of_command(self, typed: Sequence[str]) -> ProposalError:
        """The same questions to somebody who typed this command, such as report FILE: it is the one to run again."""
        return ProposalError(self.file, self.questions, self.paths, typed)

    def __reduce__(self) -> tuple[type[ProposalError], tuple[object, ...]]:
        return type(self), (self.file, self.questions, self.paths, self.typed)


SUFFIX = ".karat.toml"
FLAGS = ("wide", "scale", "answers")


def notes_path(file: Path) -> Path:
    """Where the answers about a file or folder are kept.

    >>> notes_path(Path("data/results.csv")).name
    'results.csv.karat.toml'
    """
    # The name of a folder that is given as . or .. is that of the folder.
    file = file if file.name not in ("", "..") else file.resolve()
    return file.parent / (file.name + SUFFIX)


def remember(file: Path, mapping: Mapping[str, str], flags: Mapping[str, str]) -> Path | None:
    """Write the answers beside the file; None where the folder cannot be written to."""
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
    """The options with what was answered before; what is said now comes first."""
    notes = []
    for path in map(Path, paths):
        kept = notes_path(path)
        if not kept.is_file():
            continue
        data = _loaded(kept)
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
        notes.append(Message("intake.remembered", {"file": kept.name}))
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
