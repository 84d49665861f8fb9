"""Classify dropped files (a study file with its tables, results, or both), and guess the roles of columns."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import polars as pl

from karat.intake.guess import guess_mapping, joined
from karat.intake.intake import by_reader
from karat.intake.readers.generic import table_of
from karat.intake.reading import SUFFIX, Reader
from karat.intake.roles import find_roles, is_native
from karat.judgments.columns import COLUMNS
from karat.judgments.files import companions
from karat.judgments.source import SourceFile
from karat.studio.corrections import Corrections
from karat.studio.folder import StudioError, files_in, unpack
from karat.studio.study_files import named_tables
from karat.study.setting_base import NAME

EXAMPLES = 3
LONGEST = 24
SAMPLED = 2000
"""Rows in which examples are looked for."""


@dataclass(frozen=True)
class ColumnGuesses:
    """The columns of the files and the mapping."""

    names: tuple[str, ...] = ()
    examples: dict[str, str] = field(default_factory=dict)
    guessed: dict[str, str] = field(default_factory=dict)
    """karat's column -> the file's, before any correction."""
    mapped: dict[str, str] = field(default_factory=dict)
    """The mapping with the corrections."""
    maps: bool = False
    """Whether the reader uses the names of columns, so that it may guess again after a correction."""

    def ends(self, column: str) -> tuple[str, str]:
        """The file's column for karat's `column`, and a second one if two columns have the ends of a range."""
        low, *high = joined(self.mapped.get(column, ""), self.names)
        return low, high[0] if high else ""


def columns_of(paths: Sequence[Path], choices: Corrections) -> ColumnGuesses:
    """The columns of the files; each file adds what the others lack."""
    files = [SourceFile(path, choices.encoding or None) for path in paths]
    examples: dict[str, str] = {}
    guessed: dict[str, str] = {}
    mapped: dict[str, str] = {}
    maps = False
    for reader, group in by_reader(files, choices.source):
        # The columns to map are those of the file, or those that the reader of a tool returns.
        options = choices.options(mapped=False)
        frame = table_of(group[0], options).frame if reader.maps else reader.read(group, options).frame
        maps |= reader.maps and frame.width > 0
        for name in frame.columns:
            examples.setdefault(name, _examples(frame[name]))
        for target, corrections in ((guessed, {}), (mapped, {**choices.answered, **choices.mapping})):
            for column, name in _mapping(reader, frame, dict(corrections)).items():
                target.setdefault(column, name)
    nonempty = {column: name for column, name in mapped.items() if name}
    return ColumnGuesses(tuple(examples), examples, guessed, nonempty, maps)


def _mapping(reader: Reader, frame: pl.DataFrame, mapping: dict[str, str]) -> dict[str, str]:
    if not reader.maps:
        return {name: name for name in frame.columns if name in COLUMNS} | (mapping if frame.width else {})
    return guess_mapping(frame, mapping) if is_native(frame, mapping) else find_roles(frame, mapping).mapping


def _examples(column: pl.Series) -> str:
    """A few different values of a column."""
    values = column.head(SAMPLED).drop_nulls().cast(pl.String, strict=False).drop_nulls()
    if column.dtype.is_float():
        values = values.str.strip_suffix(".0")
    texts = [text for text in values.unique(maintain_order=True).head(EXAMPLES * 2).to_list() if text.strip()]
    return ", ".join(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…" for text in texts[:EXAMPLES])


@dataclass(frozen=True)
class FileClasses:
    """The files of a drop, by what they are."""

    study: Path | None
    results: tuple[Path, ...]
    tables: tuple[Path, ...] = ()
    """The tables that the study file names."""


def classify(folder: Path) -> FileClasses:
    """Separate the study and its tables from results; an archive with a study is unpacked first."""
    for archive in [path for path in files_in(folder) if path.suffix.lower() == ".zip"]:
        # Skip system files in archives.
        names = {name: PurePosixPath(name).parts for name in SourceFile(archive).zip_sizes}
        members = [name for name, parts in names.items() if not any(p.startswith((".", "__MACOSX")) for p in parts)]
        if any(name.endswith(".toml") for name in members):
            unpack(archive, members)
    paths = [path for path in files_in(folder) if not path.name.endswith(SUFFIX)]
    study = _study_in(paths)
    named = set() if study is None else _named(study)
    tables = [path for path in paths if path.resolve() in named]
    apart = {study, *tables, *companions(paths)}
    left = [path for path in paths if path not in apart]
    return FileClasses(study, tuple(left), tuple(tables))


def _study_in(files: list[Path]) -> Path | None:
    """The one study file: study.toml, else the one TOML file."""
    candidates = [path for path in files if path.suffix.lower() == ".toml"]
    named = [path for path in candidates if path.name == NAME] or candidates
    if len(named) > 1:
        raise StudioError(
            f"There are {len(named)} study files: {', '.join(map(str, named))}. Drop one study at a time."
        )
    return named[0] if named else None


def _named(study: Path) -> set[Path]:
    """The tables that a study file names; an unreadable file names none, and reading it later reports why."""
    try:
        settings = tomllib.loads(study.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return set()
    return {(study.parent / name).resolve() for name in named_tables(settings)}
