"""What a reader is given, what it gives back, and how it is registered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from karat.errors import Problems
from karat.intake.questions import Question
from karat.judgments.checks import Place
from karat.judgments.scales import Scale
from karat.judgments.source import SourceFile
from karat.messages import Message


@dataclass(frozen=True)
class Options:
    """What the user says about the files; empty where karat is to find out."""

    mapping: Mapping[str, str] = field(default_factory=dict)
    """karat's column -> the file's column."""
    scale: Scale | Mapping[str, Scale] | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    """An answer as the file spells it -> as the scale spells it."""
    rt_unit: Literal["s", "ms"] | None = None
    decimal: Literal[".", ","] | None = None
    delimiter: str | None = None
    sheet: str | None = None
    wide: Literal["participant", "item"] | None = None
    """What one row of a wide table is."""
    accept: bool = False
    """Whether karat's first proposals are taken where the file leaves something open."""
    keep_all: bool = False
    """Whether answers that look like clicks to go on, questionnaires and consent are kept as judgments."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """A value of the column of item functions, or a pattern such as `filler*` -> the item function."""


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
    """What is no judgment, by reason."""
    bad_units: int = 0
    problems: Problems = field(default_factory=Problems)
    notes: list[Message] = field(default_factory=list)
    """What was assumed."""
    participants: pl.DataFrame | None = None
    scales: dict[str, Scale] | None = None
    """The scales by question, where the source tells them."""
    open: list[Question] = field(default_factory=list)
    """What the user must confirm before this reading counts."""
    taken: dict[str, str] = field(default_factory=dict)
    """The file's own columns, and as which of karat's each was taken; empty where the reader has names of its own."""

    def set_apart(self, reason: Message | str, count: int = 1) -> None:
        """Count units that are no judgments, with the reason; readers of other packages give it in words."""
        if count:
            known = as_message(reason)
            self.set_aside[known] = self.set_aside.get(known, 0) + count

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
