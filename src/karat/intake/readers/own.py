"""Files written by `Judgments.to_parquet` and `Judgments.to_csv`, read without loss."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from karat.errors import IntakeError, KaratError
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.files import (
    CSV_TYPES,
    METADATA_KEY,
    metadata_path,
    participants_path,
    scales_from_data,
    unescape_formulas,
)
from karat.judgments.source import SourceFile
from karat.judgments.tables import read_table
from karat.judgments.times import instants

PARQUET = (".parquet", ".pq")


def recognises(file: SourceFile) -> bool:
    """Whether a Parquet file has karat's metadata, or a CSV file has them beside it."""
    if file.content is not None:
        return False
    if file.suffix in PARQUET:
        try:
            return METADATA_KEY in pl.read_parquet_metadata(file.path)
        except (pl.exceptions.PolarsError, OSError):
            return False
    return file.suffix == ".csv" and metadata_path(file.path).is_file()


def read_own(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read a table that karat wrote."""
    (file,) = files
    try:
        return _read_parquet(file) if file.suffix in PARQUET else _read_csv(file)
    except (KeyError, TypeError, AttributeError, ValueError, pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, KaratError):
            raise
        raise IntakeError(
            f"The metadata of {file.name} are damaged ({error}). Use --from table to read it without them."
        ) from None


def _read_parquet(file: SourceFile) -> Reading:
    metadata = json.loads(pl.read_parquet_metadata(file.path)[METADATA_KEY])
    frame = pl.read_parquet(file.path)
    return Reading(
        frame,
        lambda row: (file.name, "row", row + 1),
        units_in=frame.height,
        participants=pl.read_ipc(io.BytesIO(bytes.fromhex(metadata["participants"]))),
        scales=scales_from_data(metadata["scales"]),
        frozen=metadata.get("frozen"),
    )


def _read_csv(file: SourceFile) -> Reading:
    metadata = json.loads(metadata_path(file.path).read_text(encoding="utf-8"))
    table = read_table(file, ",")
    people = SourceFile(participants_path(file.path))
    participants = (
        _typed(read_table(people, ",").frame, metadata["participants"], metadata)
        if "participants" in metadata
        else None
    )
    return Reading(
        _typed(table.frame, metadata["columns"], metadata),
        table.locate,
        units_in=table.rows_in,
        bad_units=table.rows_in - table.frame.height,
        problems=table.problems,
        notes=table.notes,
        participants=participants,
        scales=scales_from_data(metadata["scales"]),
        frozen=metadata.get("frozen"),
    )


def _typed(frame: pl.DataFrame, types: dict[str, str], metadata: dict[str, Any]) -> pl.DataFrame:
    """Text columns with the types in the metadata; a column with a cell that does not fit stays text."""
    if metadata.get("escaped"):
        frame = unescape_formulas(frame)
    if len(types) == frame.width:
        frame.columns = list(types)
    columns = []
    for name, kind in types.items():
        if name not in frame.columns:
            continue
        text = frame[name]
        typed = instants(text) if kind == "time" else _cast(text, kind)
        columns.append(typed if typed.null_count() == text.null_count() else text)
    return frame.with_columns(columns)


def _cast(text: pl.Series, kind: str) -> pl.Series:
    if kind == "truth":
        return text.replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean)
    return text.cast(CSV_TYPES[kind], strict=False)


READER = Reader("karat", "a table that karat wrote", recognises, read_own, keeps_names=True)
