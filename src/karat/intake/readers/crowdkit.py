"""Tables of the crowd-kit library with task, worker and label, and tables of right answers with task and label."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import chained, unit_of_times
from karat.intake.lacking import overlooked
from karat.intake.readers import generic
from karat.intake.readers.generic import typed_column
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.checks import text_column
from karat.judgments.columns import COLUMNS
from karat.judgments.source import SourceFile
from karat.judgments.tables import SPREADSHEETS, FileTable, header_of
from karat.messages import Message

ANSWERS = {"task": "item", "worker": "participant", "label": "response"}
TRUTH = {"task", "label"}
JSON_LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
CORRECT_ANSWERS = Message("aside.correct_answers")


def recognises(file: SourceFile) -> bool:
    """A table with the columns task, worker and label, or with nothing but task and label."""
    names = _names(file)
    return set(ANSWERS) <= names or names == TRUTH


def _names(file: SourceFile) -> set[str]:
    if file.suffix in PARQUET:
        return _parquet_names(file)
    if file.suffix in JSON_LINES:
        return _first_keys(file.sample)
    return set() if file.suffix in SPREADSHEETS else set(header_of(file))


def _parquet_names(file: SourceFile) -> set[str]:
    if file.content is not None:
        return set()
    try:
        return set(pl.read_parquet_schema(file.path))
    except (pl.exceptions.PolarsError, OSError):
        return set()


def _first_keys(sample: str) -> set[str]:
    start = sample.find("{")
    if start < 0 or sample[:start].strip() not in ("", "["):
        return set()
    try:
        first, _ = json.JSONDecoder().raw_decode(sample, start)
    except (ValueError, RecursionError):
        return set()
    return {str(name) for name in first} if isinstance(first, dict) else set()


def read_crowdkit(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read the answers of all workers and, from files without workers, the right answers."""
    tables = [generic.table_of(file, options) for file in files]
    answers = [table for table in tables if "worker" in table.frame.columns]
    truths = [table for table in tables if "worker" not in table.frame.columns]
    if not answers:
        raise IntakeError(f"There are only right answers in {_named(truths)}; give the answers of the workers as well.")
    frame = pl.concat([_renamed(table) for table in answers], how="diagonal_relaxed")
    reading = Reading(
        frame,
        chained([(table.frame.height, table.locate) for table in answers]),
        units_in=0,
    )
    for table in tables:
        reading.add_table(table)
    reading.frame = _timed(reading, answers[0].file.name, options)
    if truths:
        _add_truth(reading, truths)
    reading.notes += overlooked([*reading.frame.columns, *options.mapping])
    return reading


def _named(tables: Sequence[FileTable]) -> str:
    return ", ".join(table.file.name for table in tables)


def _renamed(table: FileTable) -> pl.DataFrame:
    """The three columns under karat's names, then the others; those called item and the like get an underscore."""
    _refuse_lack(table, list(ANSWERS))
    others = [name for name in table.frame.columns if name not in ANSWERS]
    names = {name: f"{name}_" if name in ANSWERS.values() else name for name in others}
    return table.frame.select(
        *(text_column(table.frame[old]).alias(new) for old, new in ANSWERS.items()),
        *(
            column.alias(names[name]) if name in COLUMNS or column.dtype != pl.String
            else typed_column(column).alias(names[name])
            for name, column in table.frame.select(others).to_dict().items()
        ),
    )  # fmt: skip


def _refuse_lack(table: FileTable, needed: Sequence[str]) -> None:
    lacking = [name for name in needed if name not in table.frame.columns]
    if lacking:
        raise IntakeError(
            f"{table.file.name} has no column {' or '.join(lacking)}; crowd-kit's tables have task, worker and label. "
            "Use --from table and --map to read another one."
        )


def _timed(reading: Reading, name: str, options: Options) -> pl.DataFrame:
    """The table with response times in seconds, if somebody added a column rt; crowd-kit itself has no times."""
    frame = reading.frame
    if "rt" not in frame.columns:
        return frame
    numbers = frame["rt"].cast(pl.Float64, strict=False)
    if numbers.null_count() > frame["rt"].null_count():
        return frame
    unit = unit_of_times(numbers, frame["participant"], "rt", name, options, reading)
    return frame.with_columns(rt=numbers / 1000 if unit == "ms" else numbers)


def _add_truth(reading: Reading, truths: Sequence[FileTable]) -> None:
    """Add the right answers of a task to each answer; several are joined as a set."""
    for table in truths:
        _refuse_lack(table, sorted(TRUTH))
    rows = pl.concat(
        [table.frame.select(text_column(table.frame[name]).alias(name) for name in TRUTH) for table in truths]
    )
    labels = rows.drop_nulls().group_by("task", maintain_order=True).agg(pl.col("label").unique(maintain_order=True))
    right = dict(labels.with_columns(pl.col("label").list.join("|")).select("task", "label").iter_rows())
    reading.set_apart(CORRECT_ANSWERS, rows.height)
    expected = reading.frame["item"].replace_strict(right, default=None, return_dtype=pl.String)
    if "expected" in reading.frame.columns:
        expected = pl.select(pl.coalesce(text_column(reading.frame["expected"]), expected)).to_series()
    reading.frame = reading.frame.with_columns(expected.alias("expected"))
    unanswered = len(set(right) - set(reading.frame["item"].drop_nulls().to_list()))
    if unanswered:
        reading.notes.append(Message("crowdkit.unanswered_tasks", {"n": unanswered}))


READER = Reader(
    "crowdkit", "a table of task, worker and label, as crowd-kit has it", recognises, read_crowdkit, together=True
)
