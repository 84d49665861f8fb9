"""Any delimited file, spreadsheet, JSON lines or Parquet file with one judgment a row.

The mapping of columns is told or guessed by name, and the guess is shown. A mapping may join two columns:
`expected=low..high` makes a range of answers from its ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.errors import IntakeError, cause
from karat.intake.cells import cell_text, from_one, seconds_of
from karat.intake.guess import guess_columns, guess_mapping, guess_rt_unit, joined
from karat.intake.lacking import refuse_misspelt
from karat.intake.nested import refuse_needed, without_nested
from karat.intake.reading import Options, Reader, Reading
from karat.judgments.checks import LISTS, RECORDS, places, text_column
from karat.judgments.columns import COLUMNS, nearest
from karat.judgments.source import SourceFile
from karat.judgments.tables import FileTable, read_table
from karat.messages import Message

MISSING = ("NA", "NaN", "nan", "null", "NULL", "")


def read_generic(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read one file with one judgment a row."""
    (file,) = files
    table = table_of(file, options)
    mapping = guess_mapping(table.frame, _told(table, options))
    notes = [*table.notes, *_mapping_note(mapping, options)]
    frame = _mapped(table, mapping)
    frame, more = _missing_answers(frame)
    notes += more
    frame, more = _numbers(table, frame, mapping, options)
    notes += more
    frame, more = _trials_from_one(frame, mapping)
    return Reading(
        frame,
        table.locate,
        units_in=table.rows_in,
        bad_units=table.rows_in - table.frame.height,
        problems=table.problems,
        notes=[*notes, *more],
        taken=_taken(table.frame.columns, mapping),
    )


def _taken(names: Sequence[str], mapping: dict[str, str]) -> dict[str, str]:
    """The file's columns, and as which of karat's each is taken."""
    found = {own: column for column, source in mapping.items() for own in joined(source, names)}
    return {name: found.get(name, "") for name in names}


def table_of(file: SourceFile, options: Options) -> FileTable:
    """A delimited file, spreadsheet, JSON (lines) or Parquet file as a table."""
    if file.suffix in (".parquet", ".pq"):
        return without_nested(_from_parquet(file), options.mapping)
    if file.suffix in (".jsonl", ".ndjson", ".json"):
        return _from_json(file, options)

    def numbers(names: Sequence[str]) -> dict[str, pl.DataType]:
        mapping = guess_columns(names, dict(options.mapping))
        types = {"rt": pl.Float64(), "trial": pl.Int64()}
        return {mapping[column]: dtype for column, dtype in types.items() if mapping.get(column) in names}

    return read_table(file, options.delimiter, options.sheet, numbers)


def _from_parquet(file: SourceFile) -> FileTable:
    try:
        frame = pl.read_parquet(file.path)
    except (pl.exceptions.PolarsError, OSError) as error:
        why = cause(error)
        raise IntakeError(
            f"{file.name} is not a readable Parquet file: {why}. It may be cut off: copy it or write it again."
        ) from None
    return FileTable(file, frame, places(file.name, range(1, frame.height + 1), "row"))


def _from_json(file: SourceFile, options: Options) -> FileTable:
    nested: dict[str, str] = {}
    rows: list[dict[str, str | None]] = []
    numbers: list[int] = []
    table = FileTable(file, pl.DataFrame(), places(file.name, numbers, "element"))
    for number, element in file.json_documents():
        if isinstance(element, dict):
            rows.append({cell_text(name) or "": cell_text(value) for name, value in element.items()})
            nested |= {name: LISTS if isinstance(value, list) else RECORDS for name, value in element.items()
                       if isinstance(value, list | dict)}  # fmt: skip
            numbers.append(number)
        else:
            table.problems.add(
                "is no object with named values", "Write one object a judgment.",
                value=str(element), file=file.name, place="element", number=number,
            )  # fmt: skip
    names = list(dict.fromkeys(name for row in rows for name in row))
    table.frame = pl.DataFrame(
        {name: [row.get(name) for row in rows] for name in names}, schema=dict.fromkeys(names, pl.String())
    )
    refuse_needed(table, nested, options.mapping)
    return table


def _told(table: FileTable, options: Options) -> dict[str, str]:
    """The mapping that the user gave, checked against the columns that are there."""
    there = table.frame.columns
    refuse_misspelt(options.mapping, there)
    for column, source in options.mapping.items():
        for name in joined(source, there):
            if name and name not in there:
                close = nearest(name, there)
                hint = f" Is it {close}?" if close else ""
                raise IntakeError(
                    f"{table.file.name} has no column {name} for --map {column}={source}.{hint} "
                    f"It has {', '.join(there)}."
                )
    return {column: source for column, source in options.mapping.items() if column}


def _mapped(table: FileTable, mapping: dict[str, str]) -> pl.DataFrame:
    """The table under karat's names; a column that is in karat's way without being meant gets an underscore."""
    there = table.frame.columns
    used = {name for source in mapping.values() for name in joined(source, there)}
    unwanted = {column for column, source in mapping.items() if not source}
    rest = [name for name in there if name not in used | unwanted]
    columns = {column: _column(table.frame, column, source) for column, source in mapping.items() if source}
    for name in rest:
        free = name
        while free in columns or free in COLUMNS:
            free += "_"
        columns[free] = table.frame[name].alias(free)
    return pl.DataFrame(list(columns.values()))


def _column(frame: pl.DataFrame, column: str, source: str) -> pl.Series:
    parts = joined(source, frame.columns)
    if len(parts) == 1:
        return frame[source].alias(column)
    low, high = (text_column(frame[part]) for part in parts)
    both = pl.when(low.is_not_null() & high.is_not_null()).then(low + "-" + high).alias(column)
    return pl.select(both).to_series()


def _mapping_note(mapping: dict[str, str], options: Options) -> list[Message]:
    guessed = [f"{column}={source}" for column, source in mapping.items()
               if column not in options.mapping and column != source]  # fmt: skip
    return [Message("table.columns", {"columns": guessed})] if guessed else []


def _missing_answers(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    """R writes NA, jsPsych null: in answers and numbers these mean that there is none."""
    notes = []
    for name in ("response", "expected", "rt", "trial", "time"):
        if name not in frame.columns or frame[name].dtype != pl.String:
            continue
        if name in ("rt", "trial"):
            numbers = frame[name].cast(pl.Float64 if name == "rt" else pl.Int64, strict=False)
            if numbers.null_count() == frame[name].null_count():
                frame = frame.with_columns(numbers)
                continue
        distinct = frame[name].unique()
        words = distinct.filter(distinct.is_in(MISSING)).to_list()
        if words:
            gone = frame[name].is_in(words).fill_null(False)
            if name == "response":
                notes.append(Message("table.missing", {"n": int(gone.sum()), "words": words}))
            frame = frame.with_columns(pl.when(~gone).then(pl.col(name)).alias(name))
    return frame, notes


def _numbers(
    table: FileTable, frame: pl.DataFrame, mapping: dict[str, str], options: Options
) -> tuple[pl.DataFrame, list[Message]]:
    """Decimal commas, the unit of time, and numbers in the columns that are not karat's."""
    frame, notes = _decimal_commas(frame, options)
    if "rt" in frame.columns and "participant" in frame.columns:
        numbers = frame["rt"].cast(pl.Float64, strict=False)
        unit: str | None = options.rt_unit
        if unit is None:
            unit, note = guess_rt_unit(numbers, frame["participant"], mapping["rt"], table.file.name)
            notes += [] if note is None else [note]
        if unit == "ms":
            frame = frame.with_columns(seconds_of(frame["rt"]).alias("rt"))
    typed = [column for name, column in frame.to_dict().items() if name not in COLUMNS and column.dtype == pl.String]
    return frame.with_columns(typed_column(column) for column in typed), notes


def _decimal_commas(frame: pl.DataFrame, options: Options) -> tuple[pl.DataFrame, list[Message]]:
    comma = r"^\s*-?\d+,\d+\s*$"
    text = [name for name in ("rt", "response") if name in frame.columns and frame[name].dtype == pl.String]
    names = [name for name in text if frame[name].unique().str.contains(comma).any()]
    if not names or options.decimal == ".":
        return frame, []
    plain = pl.col(names)
    frame = frame.with_columns(
        pl.when(plain.str.contains(comma)).then(plain.str.replace(",", ".", literal=True)).otherwise(plain).name.keep()
    )
    return frame, [] if options.decimal else [Message("table.decimal_commas", {"columns": names})]


def typed_column(column: pl.Series) -> pl.Series:
    """A column of text as numbers where every cell is the plain spelling of one; else as it is.

    >>> typed_column(pl.Series(["1", "2"])).dtype, typed_column(pl.Series(["01", "2"])).dtype
    (Int64, String)
    """
    whole, decimal = r"^-?(0|[1-9]\d{0,17})$", r"^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$"
    for shape, dtype in ((whole, pl.Int64), (decimal, pl.Float64)):
        # The first cells decide most columns at once.
        if all(cells.str.contains(shape).fill_null(True).all() for cells in (column.head(100), column)):
            return column if column.null_count() == len(column) else column.cast(dtype)
    return column


def _trials_from_one(frame: pl.DataFrame, mapping: dict[str, str]) -> tuple[pl.DataFrame, list[Message]]:
    """Many tools count trials from 0."""
    if "trial" not in frame.columns:
        return frame, []
    numbers = frame["trial"].cast(pl.Float64, strict=False)
    if numbers.min() != 0 or numbers.null_count() > frame["trial"].null_count():
        return frame, []
    return frame.with_columns(from_one(frame["trial"]).alias("trial")), [
        Message("trial.from_zero", {"column": mapping["trial"]})
    ]


READER = Reader("table", "a table with one judgment a row", lambda file: True, read_generic, maps=True)
