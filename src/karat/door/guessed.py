"""The columns that the files have, with a few of their values, and what karat takes each for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from karat.columns import COLUMNS
from karat.door.choices import Choices
from karat.intake.guess import guess_columns
from karat.intake.readers import reader_for, reader_named
from karat.intake.readers.generic import table_of
from karat.intake.reading import Reader
from karat.source import SourceFile
from karat.times import UNIX_2000

EXAMPLES = 3
LONGEST = 24
SAMPLED = 2000
"""Rows in which examples are looked for."""


@dataclass(frozen=True)
class Columns:
    """The columns of the files and the mapping."""

    readers: tuple[tuple[str, str], ...] = ()
    """Each file, and the name of the reader that takes it."""
    names: tuple[str, ...] = ()
    examples: dict[str, str] = field(default_factory=dict)
    guessed: dict[str, str] = field(default_factory=dict)
    """karat's column -> the file's, before any correction."""
    mapped: dict[str, str] = field(default_factory=dict)
    """The same with the corrections."""
    maps: bool = False
    """Whether the reader takes columns by their names, so that it may guess anew after a correction."""


def columns_of(paths: Sequence[Path], choices: Choices) -> Columns:
    """What the files have; of several files each adds what the others lack.

    >>> path = getfixture("tmp_path") / "results.csv"
    >>> _ = path.write_text("workerId,sentence,ANSWER\\nw1,s1,5\\nw1,s2,3\\n")
    >>> found = columns_of([path], Choices(mapping={"response": "sentence"}))
    >>> found.guessed
    {'participant': 'workerId', 'item': 'sentence', 'response': 'ANSWER'}
    >>> found.mapped["response"], found.examples["ANSWER"]
    ('sentence', '5, 3')
    """
    files = [SourceFile(path, choices.encoding or None) for path in paths]
    readers = [reader_for(file) if choices.source == "auto" else reader_named(choices.source) for file in files]
    examples: dict[str, str] = {}
    guessed: dict[str, str] = {}
    mapped: dict[str, str] = {}
    maps = False
    for reader, group in _groups(readers, files):
        frame = _frame(reader, group, choices)
        maps |= reader.maps and frame.width > 0
        for name in frame.columns:
            examples.setdefault(name, _examples(frame[name]))
        for found, told in ((guessed, {}), (mapped, choices.mapping)):
            for column, name in _mapping(reader, frame, dict(told)).items():
                found.setdefault(column, name)
    named = tuple((file.name, reader.name) for file, reader in zip(files, readers, strict=True))
    shown = {column: name for column, name in mapped.items() if name}
    return Columns(named, tuple(examples), examples, guessed, shown, maps)


def _groups(readers: Sequence[Reader], files: Sequence[SourceFile]) -> list[tuple[Reader, list[SourceFile]]]:
    """The files by their readers: one at a time, or together where a tool spreads a study over several."""
    groups: dict[tuple[str, int], tuple[Reader, list[SourceFile]]] = {}
    for number, (reader, file) in enumerate(zip(readers, files, strict=True)):
        groups.setdefault((reader.name, 0 if reader.together else number), (reader, []))[1].append(file)
    return list(groups.values())


def _frame(reader: Reader, files: Sequence[SourceFile], choices: Choices) -> pl.DataFrame:
    """The table whose columns can be mapped: the file's own, or what the reader of a tool makes of it."""
    options = choices.options(mapped=False)
    return table_of(files[0], options).frame if reader.maps else reader.read(files, options).frame


def _mapping(reader: Reader, frame: pl.DataFrame, told: dict[str, str]) -> dict[str, str]:
    if not reader.maps:
        return {name: name for name in frame.columns if name in COLUMNS} | (told if frame.width else {})
    mapping = guess_columns(frame.columns, told)
    # A column called time with numbers too small for points in time holds response times, as when it is read.
    if "time" in mapping and "rt" not in mapping and "time" not in told:
        numbers = frame[mapping["time"]].cast(pl.Float64, strict=False).drop_nulls()
        if len(numbers) and (numbers < UNIX_2000).all():
            mapping["rt"] = mapping.pop("time")
    return mapping


def _examples(column: pl.Series) -> str:
    """A few different values of a column."""
    values = column.head(SAMPLED).drop_nulls().cast(pl.String, strict=False).drop_nulls()
    if column.dtype.is_float():
        values = values.str.strip_suffix(".0")
    texts = [text for text in values.unique(maintain_order=True).head(EXAMPLES * 2).to_list() if text.strip()]
    return ", ".join(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…" for text in texts[:EXAMPLES])
