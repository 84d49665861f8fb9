"""The options for reading result files, shared by every command that takes such files."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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


WIDE = "participant, item or trial, depending on what one row of the table is."


@dataclass(frozen=True)
class ReadOptions:
    """Which files to read, and how."""

    files: Annotated[
        list[Path], typer.Argument(help="Result files, or folders of them, from one study.", show_default=False)
    ]
    source: Annotated[
        str,
        typer.Option(
            "--from",
            help="Name the tool that wrote the files, such as pcibex or jspsych; auto detects it.",
            metavar="NAME",
        ),
    ] = "auto"
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="Use column B of the file as karat's column A; leave B empty to ignore A. Repeatable.",
            metavar="A=B",
        ),
    ] = None
    item_column: Annotated[
        str | None,
        typer.Option(
            "--item", help="Use this column as the item; join several with +, as in verb+content.", metavar="NAME"
        ),
    ] = None
    response_column: Annotated[
        str | None, typer.Option("--response", help="Use this column as the answer.", metavar="NAME")
    ] = None
    scale: Annotated[
        list[str] | None,
        typer.Option(
            help="Set the scale, such as ordinal:1-5, choice:none or nominal:A,B; for question Q only: Q=ordinal:1-5. "
            "Repeatable.",
            metavar="SCALE",
        ),
    ] = None
    answers: Annotated[
        str | None,
        typer.Option(
            help="Translate answers as the file spells them, such as 1=left,-1=right,0=none; begin groups texts by "
            "how they begin.",
            metavar="A=B,...",
        ),
    ] = None
    rt_unit: Annotated[str | None, typer.Option(help="Set the unit of response times: s or ms.", metavar="UNIT")] = None
    decimal: Annotated[str | None, typer.Option(help="Set the decimal separator: . or ,", metavar="SIGN")] = None
    delimiter: Annotated[
        str | None, typer.Option(help="Set the column separator, such as ; or tab.", metavar="SIGN")
    ] = None
    encoding: Annotated[
        str | None, typer.Option(help="Set the text encoding, such as utf-8 or latin-1.", metavar="NAME")
    ] = None
    sheet: Annotated[str | None, typer.Option(help="Read this sheet of a spreadsheet.", metavar="NAME")] = None
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip rows that cannot be read, and list them.")] = False

    wide: Annotated[
        str | None, typer.Option(help="Say what one row of a wide table is: participant, item or trial.", metavar="ROW")
    ] = None
    item_functions: Annotated[
        str | None, typer.Option(help="Say what trials are for, such as 'main=test,filler*=filler'.", metavar="A=B,...")
    ] = None
    keep_all: Annotated[
        bool, typer.Option("--keep-all", help="Keep clicks, questionnaires and consent, which are otherwise set aside.")
    ] = False
    yes: Annotated[
        bool, typer.Option("--yes", help="Accept karat's first suggestion wherever a file is ambiguous.")
    ] = False

    @property
    def columns(self) -> dict[str, str]:
        """karat's columns as named by --map, --item and --response."""
        short = {"item": self.item_column, "response": self.response_column}
        named = {column: source for column, source in short.items() if source is not None}
        return {**pairs_of(self.mapping or [], "--map"), **named}

    def intake(self, *, quiet: bool) -> Intake:
        """Read the files with these options."""
        from karat.intake import Options, read_files

        options = Options(
            mapping=self.columns,
            scale=scales_of(self.scale or []),
            answers={"*": "begin"} if self.answers == "begin" else _pairs_in(self.answers, "--answers"),
            rt_unit=_one_of("--rt-unit", self.rt_unit, ("s", "ms"), "s or ms."),
            decimal=_one_of("--decimal", self.decimal, (".", ","), ". or ,"),
            delimiter=_delimiter(self.delimiter),
            sheet=self.sheet,
            wide=_one_of("--wide", self.wide, ("participant", "item", "trial"), WIDE),
            accept=self.yes,
            keep_all=self.keep_all,
            functions=_pairs_in(self.item_functions, "--item-functions"),
        )
        with working(f"reading {', '.join(file.name for file in self.files[:3])}", quiet=quiet):
            return read_files(self.files, self.source, options, encoding=self.encoding, skip_bad=self.skip_bad)

    def typed(self, command: str) -> list[str]:
        """A command as it was typed, without the name of the program; of a call from Python, with its files."""
        return sys.argv[1:] if sys.argv[1:2] == [command] else [command, *map(str, self.files)]

    def known(self, study: Study | None, command: str, *, quiet: bool) -> Known:
        """The judgments with what the study file says about their trials, and lines on how they were read.

        Where the files leave something open, `command` is the one to run again with the answers.
        """
        from karat.intake.reading import ProposalError
        from karat.study.results import with_study

        try:
            intake = self.intake(quiet=quiet)
        except ProposalError as error:
            raise error.of_command(self.typed(command)) from None
        with intake.naming_places():
            judgments, notes = (intake.judgments, []) if study is None else with_study(intake.judgments, study)
        return Known(judgments, notes, [*reading_lines(intake), *(f"note       {note}" for note in notes)])


@dataclass(frozen=True)
class Known:
    """Judgments as a command gets them."""

    judgments: Judgments
    notes: list[Message]
    """What was assumed when they were matched with the study."""
    lines: list[str]
    """How they were read, for printing."""


def reading_lines(intake: Intake) -> list[str]:
    """How the files were read: by which readers, what was set aside, and what was assumed."""
    lines = [f"read       {file} as {title}" for file, title in intake.sources]
    if intake.set_aside:
        reasons = "; ".join(f"{reason} ({count:,})" for reason, count in intake.set_aside.items())
        lines.append(f"set aside  {sum(intake.set_aside.values()):,} of {intake.units_in:,} {intake.unit}: {reasons}")
    if intake.skipped:
        lines.append(f"skipped    {intake.skipped_units:,} of {intake.units_in:,} {intake.unit} that could not be read")
        lines += [f"           {line}" for line in intake.skipped.lines(len(intake.sources) > 1)]
    return lines + [f"note       {note}" for note in intake.notes]


def intake_lines(intake: Intake) -> list[str]:
    """How the files were read and what is in them, including how many answers have a known correct answer."""
    lines = reading_lines(intake) + intake.judgments.summary().splitlines()
    if "expected" in intake.judgments.frame.columns:
        answers = counted(intake.judgments.answers, "answer")
        lines.append(f"expected   the correct answer is known for {intake.expected:,} of {answers}")
    return lines


reads_files = option_group(ReadOptions, "reading")
"""Adds the files and options of `ReadOptions` to a command, which gets them as its parameter `reading`."""


def pairs_of(texts: list[str], flag: str) -> dict[str, str]:
    """Split each text at its = sign."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise KaratError(f"{flag} {text}: use the form NAME=VALUE.")
        pairs[name.strip()] = value.strip()
    return pairs


def _pairs_in(text: str | None, flag: str) -> dict[str, str]:
    return pairs_of(text.split(",") if text else [], flag)


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


def _one_of(flag: str, text: str | None, known: tuple[str, ...], words: str) -> Any:
    """The value of an option that has few of them."""
    if text is not None and text not in known:
        raise KaratError(f"{flag} {text}: use {words}")
    return text


def _delimiter(text: str | None) -> str | None:
    sign = {"tab": "\t", "\\t": "\t"}.get(text or "", text)
    if sign is not None and (len(sign) != 1 or sign in '"\r\n' or not sign.isascii()):
        raise KaratError(f"--delimiter {text}: use a single character such as , or ; or the word tab.")
    return sign
