"""karat convert --parts: judgments of any source, dealt out by participant to a folder of Parquet files.

A table is read as karat convert reads it without --parts, with the same flags, guesses and notes. Only what would take
more than a third of the memory is gone through some rows at a time: then nothing can be guessed from the whole, and a
file that karat did not write must have karat's columns, or --map, and --scale. Files of karat's own say all this
themselves and are always read so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.cli.options import ExecutorOptions
from karat.cli.parted import memory_of, other_flags
from karat.cli.progress import counting
from karat.cli.reading import ReadOptions, intake_lines, pairs_of, scales_of
from karat.errors import KaratError, counted

if TYPE_CHECKING:
    from karat.judgments import Judgments


@dataclass(frozen=True)
class Dealt:
    """The files that were written, and how the judgments in them were read."""

    files: list[Path]
    lines: list[str]
    account: dict[str, Any] = field(default_factory=dict)
    """The account as plain data, for --json; empty where the table was never there as a whole."""


def write_parts(reading: ReadOptions, out: Path | None, parts: int, *, quiet: bool) -> Dealt:
    """Write judgments to a folder in so many parts."""
    from karat.judgments.parts import repartition

    if out is None or out.suffix:
        raise KaratError("--parts writes a folder. Use -o with the name of a new one.")
    tables = _some_rows_at_a_time(reading)
    lines = [f"read       {', '.join(str(file) for file in reading.files)}, some rows at a time"]
    account: dict[str, Any] = {}
    if tables is None:
        intake = reading.intake(quiet=quiet)
        tables, lines, account = [intake.judgments], intake_lines(intake), intake.to_dict()
    with counting("writing parts", quiet=quiet) as progress:
        return Dealt(repartition(tables, out, parts, progress), lines, account)


def _some_rows_at_a_time(reading: ReadOptions) -> Iterable[Judgments] | None:
    """The tables that are too large for the memory, or that karat wrote, in pieces; None where intake reads them.

    Flags that only intake knows need the whole table, however large it is.
    """
    from karat.judgments.parts import parquet_files, pieces, pieces_of_csv
    from karat.judgments.parts.folder import are_own, bytes_in_memory, open_folder

    mapping, scale = pairs_of(reading.mapping or [], "--map"), scales_of(reading.scale or [])
    paths = parquet_files(reading.files[0]) if len(reading.files) == 1 else []
    if other_flags(reading) or not (paths or _are_foreign_csv(reading.files)):
        return None
    own = bool(paths) and are_own(paths)
    if own and not mapping:
        return pieces(open_folder(reading.files[0], scale, mapping, None))
    size = bytes_in_memory(paths) if paths else sum(file.stat().st_size for file in reading.files)
    if size <= memory_of(ExecutorOptions()) / 3:
        return None
    if own or (paths and scale is not None):
        return pieces(open_folder(reading.files[0], scale, mapping, None))
    if scale is not None:
        return pieces_of_csv(reading.files, scale, mapping)
    raise KaratError(
        f"{reading.files[0]} takes about {size / 1e9:.2g} GB, more than a third of the memory, so it is read a "
        "few rows at a time, and karat cannot guess anything. Use --scale, such as nominal:A,B,C, and --map if the "
        "columns participant, item, response and others have other names."
    )


def _are_foreign_csv(files: list[Path]) -> bool:
    """Whether these are CSV files that karat did not write: its own say their scale in a file beside them."""
    from karat.judgments.files import metadata_path

    return all(file.suffix == ".csv" and file.is_file() and not metadata_path(file).is_file() for file in files)


def dealt_lines(dealt: Dealt, out: Path | None) -> list[str]:
    """The account in a terminal."""
    return [*dealt.lines, f"written    {out}: {counted(len(dealt.files), 'part')}"]
