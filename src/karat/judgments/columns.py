"""The columns that karat knows, with their meaning and type. Other columns stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from karat.messages import Message

if TYPE_CHECKING:
    import polars as pl

MOST_KNOWN = 20
"""Messages do not list more names than these."""

FUNCTIONS = ("test", "filler", "control", "attention", "calibration", "practice")
PROBES = ("honeypot", "shibboleth", "modality")
"""Subgroups of fillers that programs answer differently from people; `expected` is what people answer."""


@dataclass(frozen=True, slots=True)
class Column:
    """A known column: its name, the type of its values and what it means."""

    name: str
    type: Literal["text", "whole number", "number", "time"]
    meaning: str


COLUMNS: dict[str, Column] = {
    column.name: column
    for column in (
        Column("participant", "text", "who answered"),
        Column("item", "text", "what was judged: a stimulus, a task, a pair"),
        Column("response", "text", "the answer, as the scale spells it; empty where none was given"),
        Column("trial", "whole number", "position in that participant's sequence, from 1"),
        Column("rt", "number", "seconds from stimulus onset to answer"),
        Column(
            "function", "text", ", ".join(FUNCTIONS[:-1]) + f" or {FUNCTIONS[-1]}; without this column all are test"
        ),
        Column("subgroup", "text", "free: pseudo, related, unrelated, ..."),
        Column("status", "text", "grammatical, ungrammatical, marked"),
        Column("list", "text", "which list of the design the participant saw"),
        Column("block", "text", "which block of the questionnaire"),
        Column("session", "text", "which session of a test-retest study"),
        Column("repetition", "whole number", "which round of a repeated task, from 1"),
        Column("expected", "text", "the right answer, or a set of right answers: 4, 1-2, a|b"),
        Column("pair", "text", "which items belong together: minimal pairs, attention pairs"),
        Column("question", "text", "which scale an item was rated on"),
        Column("polarity", "whole number", "which way round the scale was shown: 1 or -1"),
        Column("left", "text", "the first item of a choice trial: left or above"),
        Column("right", "text", "the second item of a choice trial: right or below"),
        Column("time", "time", "when the answer was given"),
    )
}

REQUIRED = ("participant", "item", "response")


def of_type(kind: str) -> tuple[str, ...]:
    """The names of the known columns of a type."""
    return tuple(name for name, column in COLUMNS.items() if column.type == kind)


def nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word that a misspelt one probably means; None if none is close."""
    matches = get_close_matches(word.lower(), [k.lower() for k in known], n=1, cutoff=0.6)
    return next((k for k in known if matches and k.lower() == matches[0]), None)


def selector(text: str) -> tuple[str, str]:
    """The column and the pattern of COLUMN=VALUE; a name alone selects a participant.

    >>> selector("kind=model"), selector("gpt*")
    (('kind', 'model'), ('participant', 'gpt*'))
    """
    column, equals, value = text.partition("=")
    return (column, value) if equals else ("participant", text)


def meant(word: str, known: Sequence[str], otherwise: str | None = None) -> str:
    """A suggestion for a misspelt word: the closest known word, else `otherwise`, by default all of them.

    >>> meant("langauge", ["item", "language"]), meant("x", ["item"]), meant("x", ["item"], "")
    ('Did you mean language?', 'Use one of: item.', '')
    """
    close = nearest(word, known)
    if close is None:
        return f"Use one of: {', '.join(known)}." if otherwise is None else otherwise
    return f"Did you mean {close}?"


def unknown_name(code: str, name: str, known: Sequence[str], **more: object) -> Message:
    """A message that a name is unknown, with the closest known name or, if none is close, all of a few known ones.

    >>> str(unknown_name("unknown.column", "langauge", ["item", "language"]))
    'There is no column langauge. Did you mean language?'
    """
    close = nearest(name, known)
    listed = None if close or not 0 < len(known) <= MOST_KNOWN else known
    return Message(code, {"name": name, "close": close, "known": listed, **more})


def laid_over(frame: pl.DataFrame, mapping: Mapping[str, str]) -> pl.DataFrame:
    """A table with its columns renamed by a mapping from karat's names to the table's; an empty name drops a column.

    A column whose name another column takes is dropped too, unless the mapping renames it.
    """
    columns = []
    for name in frame.columns:
        targets = [column for column, source in mapping.items() if source == name]
        columns += [frame[name].alias(column) for column in targets or ([] if name in mapping else [name])]
    return frame.select(columns)
