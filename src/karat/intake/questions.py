"""What karat asks where a file does not say it: at most three questions, each with a best guess and a sample."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from karat.errors import IntakeError
from karat.messages import Message

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

    def text(self) -> Message:
        """The question in words."""
        return ASKED[self.role]


class ProposalError(IntakeError):
    """A file that can be read once something is confirmed: the questions, and the command with karat's own answers."""

    def __init__(self, file: str, questions: Sequence[Question]) -> None:
        self.file = file
        self.questions = tuple(questions[:MOST_QUESTIONS])
        lines = []
        for question in self.questions:
            best, *others = question.choices
            lines.append(f"{question.text()} {best.label}: {best.detail}")
            if others:
                lines.append(f"  or {'; '.join(other.label for other in others[:2])}")
        flags = [flag for question in self.questions for flag in question.choices[0].flags]
        self.flags = flags
        command = " ".join(shlex.quote(part) for part in ["karat", "convert", file, *flags, "-o", "judgments.parquet"])
        head = Message("ask.headline", {"file": file, "n": len(self.questions)})
        tail = Message("ask.command", {"command": command})
        super().__init__("\n".join([str(head), *(f"  {line}" for line in lines), str(tail)]))

    def __reduce__(self) -> tuple[type[ProposalError], tuple[str, tuple[Question, ...]]]:
        return type(self), (self.file, self.questions)
