"""The flags by which result files are read: one set of them for every command that takes such files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from karat.cli.options import option_group
from karat.cli.progress import working
from karat.errors import KaratError, counted

if TYPE_CHECKING:
    from karat.intake import Intake
    from karat.judgments import Judgments
    from karat.judgments.scales import Scale
    from karat.messages import Message
    from karat.study.study import Study


@dataclass(frozen=True)
class ReadOptions:
    """Which files are read, and how."""

    files: Annotated[list[Path], typer.Argument(help="Result files or folders of one study.", show_default=False)]
    source: Annotated[str, typer.Option("--from", help="The tool that wrote the files, or auto.", metavar="NAME")] = (
        "auto"
    )
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", help="karat's column = the file's column; empty to leave it out. Repeat.", metavar="A=B"),
    ] = None
    item_column: Annotated[
        str | None,
        typer.Option("--item", help="The column with the items, or several joined by +: verb+content.", metavar="NAME"),
    ] = None
    response_column: Annotated[
        str | None, typer.Option("--response", help="The column with the answers.", metavar="NAME")
    ] = None
    scale: Annotated[
        list[str] | None,
        typer.Option("--scale", help="Such as ordinal:1-5, choice:none, nominal:A,B; for one question: Q=ordinal:1-5."),
    ] = None
    answers: Annotated[
        str | None,
        typer.Option(
            "--answers",
            help="How the file spells answers, such as 1=left,-1=right,0=none; begin groups texts by how they begin.",
        ),
    ] = None
    rt_unit: Annotated[
        str | None, typer.Option("--rt-unit", help="Unit of response times: s or ms.", metavar="UNIT")
    ] = None
    decimal: Annotated[str | None, typer.Option("--decimal", help="Decimal sign: . or ,", metavar="SIGN")] = None
    delimiter: Annotated[str | None, typer.Option("--delimiter", help="What separates cells.", metavar="SIGN")] = None
    encoding: Annotated[str | None, typer.Option("--encoding", help="Such as utf-8 or latin-1.", metavar="NAME")] = None
    sheet: Annotated[str | None, typer.Option("--sheet", help="Which sheet of a spreadsheet.", metavar="NAME")] = None
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out rows that cannot be read, and list them.")] = (
        False
    )

    wide: Annotated[
        str | None,
        typer.Option("--wide", help="What one row of a wide table is: participant or item.", metavar="ROW"),
    ] = None
    item_functions: Annotated[
        str | None,
        typer.Option(
            "--item-functions", help="What trials are for, such as 'main=test,filler*=filler'.", metavar="A=B,..."
        ),
    ] = None
    keep_all: Annotated[
        bool, typer.Option("--keep-all", help="Keep clicks, questionnaires and consent, which are set aside otherwise.")
    ] = False
    yes: Annotated[
        bool, typer.Option("--yes", help="Accept karat's first proposals where a file leaves something open.")
    ] = False

    @property
    def columns(self) -> dict[str, str]:
        """karat's columns as the flags name them: --map, --item and --response."""
        short = {"item": self.item_column, "response": self.response_column}
        named = {column: source for column, source in short.items() if source is not None}
        return {**pairs_of(self.mapping or [], "--map"), **named}

    def intake(self, *, quiet: bool) -> Intake:
        """Read the files as the flags say."""
        from karat.intake import Options, read_files

        options = Options(
            mapping=self.columns,
            scale=scales_of(self.scale or []),
            answers={"*": "begin"} if self.answers == "begin" else _pairs_in(self.answers, "--answers"),
            rt_unit=_rt_unit(self.rt_unit),
            decimal=_decimal(self.decimal),
            delimiter=_delimiter(self.delimiter),
            sheet=self.sheet,
            wide=_wide(self.wide),
            accept=self.yes,
            keep_all=self.keep_all,
            functions=_pairs_in(self.item_functions, "--item-functions"),
        )
        with working(f"reading {', '.join(file.name for file in self.files[:3])}", quiet=quiet):
            return read_files(self.files, self.source, options, encoding=self.encoding, skip_bad=self.skip_bad)

    def known(self, study: Study | None, *, quiet: bool) -> Known:
        """The judgments with what the study file says of their trials, and how everything was read, in lines."""
        from karat.study.results import with_study

        intake = self.intake(quiet=quiet)
        with intake.naming_places():
            judgments, notes = (intake.judgments, []) if study is None else with_study(intake.judgments, study)
        return Known(judgments, notes, [*reading_lines(intake), *(f"note       {note}" for note in notes)])


@dataclass(frozen=True)
class Known:
    """Judgments as a command looks at them."""

    judgments: Judgments
    notes: list[Message]
    """What was assumed when the study was laid beside them."""
    lines: list[str]
    """How they were read, to be printed."""


def reading_lines(intake: Intake) -> list[str]:
    """How the files were read: by which readers, what is none of the judgments, and what was assumed."""
    lines = [f"read       {file} as {title}" for file, title in intake.sources]
    if intake.set_aside:
        reasons = "; ".join(f"{count:,} {reason}" for reason, count in intake.set_aside.items())
        lines.append(f"set aside  {sum(intake.set_aside.values()):,} of {intake.units_in:,} {intake.unit}: {reasons}")
    if intake.skipped:
        lines.append(f"skipped    {intake.skipped_units:,} of {intake.units_in:,} {intake.unit} that could not be read")
        lines += [f"           {line}" for line in intake.skipped.lines(len(intake.sources) > 1)]
    return lines + [f"note       {note}" for note in intake.notes]


def intake_lines(intake: Intake) -> list[str]:
    """How the files were read and what is in them; also for how many answers a correct one is known."""
    lines = reading_lines(intake) + intake.judgments.summary().splitlines()
    if "expected" in intake.judgments.frame.columns:
        answers = counted(intake.judgments.answers, "answer")
        lines.append(f"expected   the correct answer is known for {intake.expected:,} of {answers}")
    return lines


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the files and flags of `ReadOptions` where its parameter `reading` stands; it gets them as one."""
    return option_group(ReadOptions, "reading")(command)


def pairs_of(texts: list[str], flag: str) -> dict[str, str]:
    """What stands before and after the sign = of each text."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise KaratError(f"{flag} {text}: write NAME=VALUE.")
        pairs[name.strip()] = value.strip()
    return pairs


def _pairs_in(text: str | None, flag: str) -> dict[str, str]:
    return pairs_of(text.split(",") if text else [], flag)


def scales_of(texts: list[str]) -> Scale | dict[str, Scale] | None:
    """The scale that the texts say, or one for each question."""
    from karat.judgments.scales import parse_scale

    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0].partition(":")[0]:
        return parse_scale(texts[0])
    named = {}
    for text in texts:
        question, equals, scale = text.partition("=")
        if not equals:
            raise KaratError(f"--scale {text}: with several scales, say for which question: QUESTION={text}.")
        named[question.strip()] = parse_scale(scale)
    return named


def _rt_unit(text: str | None) -> Literal["s", "ms"] | None:
    if text in ("s", "ms", None):
        return text  # type: ignore[return-value]
    raise KaratError(f"--rt-unit {text}: write s or ms.")


def _wide(text: str | None) -> Literal["participant", "item"] | None:
    if text in ("participant", "item", None):
        return text  # type: ignore[return-value]
    raise KaratError(f"--wide {text}: write participant or item, whichever one row of the table is.")


def _decimal(text: str | None) -> Literal[".", ","] | None:
    if text in (".", ",", None):
        return text  # type: ignore[return-value]
    raise KaratError(f"--decimal {text}: write . or ,")


def _delimiter(text: str | None) -> str | None:
    sign = {"tab": "\t", "\\t": "\t"}.get(text or "", text)
    if sign is not None and (len(sign) != 1 or sign in '"\r\n' or not sign.isascii()):
        raise KaratError(f"--delimiter {text}: write one sign such as , or ; or the word tab.")
    return sign
