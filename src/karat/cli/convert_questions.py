"""The conversation of karat convert: at most three questions, each with a best guess and a sample of the data."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from karat.cli.reading import ReadOptions

if TYPE_CHECKING:
    from karat.intake import Intake
    from karat.intake.reading import Proposal, Question

MOST_QUESTIONS = 3
SHOWN_ROWS = 4
OWN = "intake.text"
SHOWN_COLUMNS = ("participant", "item", "response", "trial", "rt", "function", "question")


@dataclass
class Answers:
    """What was answered so far."""

    mapping: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    own: bool = False
    """Whether the user named a column that karat had not suggested."""

    def add(self, choice: Proposal) -> None:
        """Take an answer over."""
        self.mapping.update(choice.mapping)
        self.flags.update(choice.options)
        self.own |= choice.detail.code == OWN


def is_terminal() -> bool:
    """Whether input and output are a terminal, so that questions can be answered."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def read_and_ask(reading: ReadOptions, *, quiet: bool) -> Intake:
    """Read the files; in a terminal, ask about what is ambiguous, and remember the answers."""
    from karat.errors import IntakeError
    from karat.intake.reading import ProposalError

    answers, asked = Answers(), 0
    before = answers
    while True:
        try:
            intake = _with_answers(reading, answers).intake(quiet=quiet)
            break
        except IntakeError as error:
            if not isinstance(error, ProposalError):
                if not answers.own:
                    raise
                # The named column does not exist or cannot be read this way, so the questions come again.
                typer.echo(f"\n{error}")
                answers, asked = before, 0
                continue
            if quiet or not is_terminal():
                raise
            before = Answers(dict(answers.mapping), dict(answers.flags))
            answers = Answers(dict(answers.mapping), dict(answers.flags))
            for question in error.questions:
                if asked < MOST_QUESTIONS:
                    answers.add(_asked(question))
                    asked += 1
                else:
                    answers.add(question.choices[0])
    if asked:
        _show(intake, reading.files, answers)
    return intake


def _with_answers(reading: ReadOptions, answers: Answers) -> ReadOptions:
    given = [f"{column}={source}" for column, source in answers.mapping.items()]
    return replace(
        reading,
        mapping=[*(reading.mapping or []), *given] or None,
        wide=answers.flags.get("wide", reading.wide),
        answers=answers.flags.get("answers", reading.answers),
    )


def _asked(question: Question) -> Proposal:
    """The answer to a question: the number of a proposal, or the name of a column."""
    from karat.intake.reading import Proposal
    from karat.messages import Message

    typer.echo(f"\n{question.text()}")
    for number, choice in enumerate(question.choices, start=1):
        typer.echo(f"  {number}: {choice.label} ({choice.detail})")
    own = question.role in ("participant", "item", "response")
    hint = "number, or the name of a column" if own else "number"
    while True:
        reply = str(typer.prompt(f"Your answer ({hint})", default="1")).strip()
        if reply.isdigit() and 1 <= int(reply) <= len(question.choices):
            return question.choices[int(reply) - 1]
        if own and reply:
            return Proposal({question.role: reply}, Message(OWN, {"text": reply}))
        typer.echo(f"Answer with a number from 1 to {len(question.choices)}.")


def _show(intake: Intake, files: list[Path], answers: Answers) -> None:
    """The first rows as karat understands them, and where the answers are kept."""
    from karat.intake.reading import remember

    frame = intake.judgments.frame.head(SHOWN_ROWS)
    names = [name for name in SHOWN_COLUMNS if name in frame.columns]
    typer.echo("\nThe first rows as karat reads them (participants are not shown by name):")
    typer.echo("  " + " | ".join(names))
    order = {who: f"p{number}" for number, who in enumerate(frame["participant"].unique(maintain_order=True), start=1)}
    for row in frame.select(names).iter_rows(named=True):
        cells = [order[value] if name == "participant" else _short(value) for name, value in row.items()]
        typer.echo("  " + " | ".join(cells))
    kept = remember(files[0], answers.mapping, answers.flags) if len(files) == 1 else None
    typer.echo(f"\nkept       {kept}: the next command on this file needs no options" if kept else "")


def _short(value: object, most: int = 40) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= most else text[: most - 1] + "…"
