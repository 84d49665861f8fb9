"""karat convert: results of other tools as judgments, after at most three questions, each with a best guess."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli.options import (
    Json,
    Quiet,
    ReadOptions,
    SafeCsv,
    intake_lines,
    option,
    print_json,
    reads_files,
    table_file,
)
from karat.errors import IntakeError, KaratError
from karat.signals import interruptible

if TYPE_CHECKING:
    from karat.intake import Intake
    from karat.intake.reading import Proposal, Question
    from karat.judgments import Judgments

MOST_QUESTIONS = 3
SHOWN_ROWS = 4
COLUMN_NAME = "intake.text"
SHOWN_COLUMNS = ("participant", "item", "response", "trial", "rt", "function", "question")

EXAMPLE = "Example: karat convert results.csv prolific_export.csv --map item=sentence_id -o judgments.parquet"


@reads_files
def convert(
    out: Annotated[Path | None, option("Write to FILE (CSV or Parquet, by suffix).", "FILE", "-o", "--out")] = None,
    *,
    reading: ReadOptions,
    parts: Annotated[
        int | None, option("Write a folder of N Parquet files, with each participant in one of them.", "N", min=1)
    ] = None,
    safe_for_spreadsheets: SafeCsv = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Read results from other tools into one table of judgments, and summarise it.

    In a terminal, karat asks at most three questions if a file is ambiguous, and saves the answers in FILE.karat.toml
    next to it. Elsewhere it prints its suggestions as a command and writes nothing; --yes accepts them.

    --parts divides the table by participant, so that karat screen can screen it in parts. The table may then be larger
    than memory; it is read a few rows at a time.
    """
    if parts is not None:
        from karat.cli.parted import write_parts

        files, lines, account = write_parts(reading, out, parts, quiet=quiet or as_json)
        if as_json:
            print_json(account | {"written": [str(path) for path in files]})
        elif not quiet:
            typer.echo("\n".join(lines))
        return
    _check_out(out, reading.files, safe_for_spreadsheets)
    intake = read_and_ask(reading, quiet=quiet or as_json)
    if out is not None:
        write_judgments(intake.judgments, out, safe_for_spreadsheets=safe_for_spreadsheets)
    if as_json:
        print_json(intake.to_dict() | {"written": str(out) if out else None})
    elif not quiet:
        typer.echo("\n".join(intake_lines(intake)))
        typer.echo(f"written    {out}" if out else "Nothing was written. Use -o judgments.parquet to keep the table.")


def write_judgments(judgments: Judgments, out: Path, *, safe_for_spreadsheets: bool = False) -> None:
    """Write judgments in the format of the file name."""
    if table_file(out).suffix == ".csv":
        judgments.to_csv(out, safe_for_spreadsheets=safe_for_spreadsheets)
    else:
        judgments.to_parquet(out)


def _check_out(out: Path | None, files: list[Path], safe_for_spreadsheets: bool) -> None:
    if out is None:
        return
    if table_file(out).suffix != ".csv" and safe_for_spreadsheets:
        raise KaratError("--safe-for-spreadsheets is for CSV. Use -o with a name that ends in .csv.")
    if any(out.exists() and file.exists() and out.samefile(file) for file in files):
        raise KaratError(f"{out} is one of the files to read. Choose another name, so that nothing is lost.")


@dataclass
class Answers:
    """The answers so far."""

    mapping: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    named: bool = False
    """Whether the user named a column that karat had not suggested."""

    def add(self, choice: Proposal) -> None:
        self.mapping.update(choice.mapping)
        self.flags.update(choice.options)
        self.named |= choice.detail.code == COLUMN_NAME


def read_and_ask(reading: ReadOptions, *, quiet: bool) -> Intake:
    """Read the files; in a terminal, ask about ambiguities and save the answers."""
    from karat.intake.reading import ProposalError

    answers, count = Answers(), 0
    before = answers
    while True:
        try:
            intake = _with_answers(reading, answers).intake(quiet=quiet)
            break
        except IntakeError as error:
            if not isinstance(error, ProposalError):
                if not answers.named:
                    raise
                # The named column does not exist or cannot be read this way, so the questions come again.
                typer.echo(f"\n{error}")
                answers, count = before, 0
                continue
            if quiet or not (sys.stdin.isatty() and sys.stdout.isatty()):
                raise error.of_command(reading.typed("convert")) from None
            before = Answers(dict(answers.mapping), dict(answers.flags))
            answers = Answers(dict(answers.mapping), dict(answers.flags))
            for question in error.questions:
                if count < MOST_QUESTIONS:
                    answers.add(_ask(question))
                    count += 1
                else:
                    answers.add(question.choices[0])
    if count:
        _show(intake, reading.files, answers)
    return intake


def _with_answers(reading: ReadOptions, answers: Answers) -> ReadOptions:
    pairs = [f"{column}={source}" for column, source in answers.mapping.items()]
    return replace(
        reading,
        mapping=[*(reading.mapping or []), *pairs] or None,
        wide=answers.flags.get("wide", reading.wide),
        answers=answers.flags.get("answers", reading.answers),
    )


def _ask(question: Question) -> Proposal:
    """Ask a question; the answer is the number of a proposal, or the name of a column."""
    from karat.intake.reading import Proposal
    from karat.messages import Message

    typer.echo(f"\n{question.text()}")
    for number, choice in enumerate(question.choices, start=1):
        typer.echo(f"  {number}: {choice.label} ({choice.detail})")
    takes_column = question.role in ("participant", "item", "response")
    hint = "number, or the name of a column" if takes_column else "number"
    while True:
        with interruptible():
            reply = str(typer.prompt(f"Your answer ({hint})", default="1")).strip()
        if reply.isdigit() and 1 <= int(reply) <= len(question.choices):
            return question.choices[int(reply) - 1]
        if takes_column and reply:
            return Proposal({question.role: reply}, Message(COLUMN_NAME, {"text": reply}))
        typer.echo(f"Answer with a number from 1 to {len(question.choices)}.")


def _show(intake: Intake, files: list[Path], answers: Answers) -> None:
    """Show the first rows as karat reads them, and where the answers are saved."""
    from karat.intake.reading import remember
    from karat.intake.roles import cut

    frame = intake.judgments.frame.head(SHOWN_ROWS)
    names = [name for name in SHOWN_COLUMNS if name in frame.columns]
    typer.echo("\nThe first rows as karat reads them (participants are not shown by name):")
    typer.echo("  " + " | ".join(names))
    order = {who: f"p{number}" for number, who in enumerate(frame["participant"].unique(maintain_order=True), start=1)}
    for row in frame.select(names).iter_rows(named=True):
        cells = [
            order[value] if name == "participant" else "" if value is None else cut(str(value))
            for name, value in row.items()
        ]
        typer.echo("  " + " | ".join(cells))
    file = remember(files[0], answers.mapping, answers.flags) if len(files) == 1 else None
    typer.echo(f"\nkept       {file}: the next command on this file needs no options" if file else "")
