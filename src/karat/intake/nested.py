"""Columns whose cells hold several values: lists and records, as Parquet and JSON can have them.

A judgment has one answer. A column that is needed and nested is refused with the way out; one that is not needed is
left out of a Parquet table with a note, and stays as its text in JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from karat.errors import IntakeError
from karat.intake.guess import guess_columns, joined
from karat.judgments.checks import LISTS, kind_of_cells
from karat.judgments.columns import COLUMNS, REQUIRED
from karat.judgments.message_tables import listed
from karat.judgments.tables import FileTable
from karat.messages import Message


def without_nested(table: FileTable, told: Mapping[str, str]) -> FileTable:
    """A Parquet table without its nested columns; IntakeError where one of them is needed."""
    nested = {name: kind for name, dtype in table.frame.schema.items() if (kind := kind_of_cells(dtype))}
    if not nested:
        return table
    refuse_needed(table, nested, told)
    values = {"n": len(nested), "columns": listed(list(nested)), "kinds": list(dict.fromkeys(nested.values()))}
    note = Message("column.nested", values)
    return replace(table, frame=table.frame.drop(nested), notes=[*table.notes, note])


def refuse_needed(table: FileTable, nested: Mapping[str, str], told: Mapping[str, str]) -> None:
    """IntakeError where a nested column was mapped, or where nothing else could be what every table needs."""
    columns = table.frame.columns
    wanted = {name: ours for ours, source in told.items() for name in joined(source, columns) if name in nested}
    flat = guess_columns([name for name in columns if name not in nested], dict(told))
    guessed = guess_columns(list(nested), {})
    wanted |= {guessed[ours]: ours for ours in REQUIRED if ours not in flat and ours in guessed}
    for name, ours in wanted.items():
        raise IntakeError(f"{table.file.name}: {name} holds {nested[name]}; {_mend(table, name, nested[name], ours)}")


def _mend(table: FileTable, name: str, kind: str, ours: str) -> str:
    needs = "one answer" if ours == "response" else f"one {ours if ours in COLUMNS else 'value'}"
    if kind == LISTS:
        return (
            f"karat needs {needs} a row. Explode the column, so that each value has a row of its own, or say "
            f"--map {ours}=NAME with a column that holds one value."
        )
    dtype = table.frame.schema[name]
    fields = [field.name for field in dtype.fields] if isinstance(dtype, pl.Struct) else []
    of = f" ({', '.join(fields)})" if fields else ""
    return f"karat needs {needs} a row. Make the fields{of} columns, as unnest does, and say --map {ours}=NAME."
