"""Delimited text and spreadsheets as tables of text, cell by cell, with the line that each row began on.

The fast way is polars' parser. It fills up short rows in silence and says little about malformed ones, so a file is
counted first; where the counts do not prove that every row is whole, a slower parser finds the lines at fault.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from karat.checks import Place
from karat.errors import IntakeError, Problem, Problems
from karat.intake.source import LONGEST_CELL, SourceFile

DELIMITERS = (",", ";", "\t", "|")
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


@dataclass
class Table:
    """A file as a table of text. Empty cells are missing."""

    file: SourceFile
    frame: pl.DataFrame
    delimiter: str = ""
    place: str = "line"
    blank_rows: int = 0
    problems: Problems = field(default_factory=Problems)
    notes: list[str] = field(default_factory=list)
    row_lines: Sequence[int] | None = None
    """The line of each row, where it is not simply its position."""

    @property
    def rows_in(self) -> int:
        """How many rows the file has below its header, blank lines left out."""
        return self.frame.height + len(self.problems.places())

    @cached_property
    def _lines(self) -> Sequence[int]:
        if self.row_lines is not None:
            return self.row_lines
        starts = [line for line, cells in _records(self.file.text(), self.delimiter, self.file.name) if any(cells)]
        return starts[1:]

    def locate(self, row: int) -> Place:
        """Where a row of the frame stands in the file."""
        return self.file.name, self.place, self._lines[row]


def header_of(file: SourceFile, delimiter: str | None = None) -> list[str]:
    """The cells of the first line, for recognising a delimited file; empty where it has none.

    >>> header_of(SourceFile(__import__("pathlib").Path("x.csv"), content=b'a;"b c"\\n1;2\\n'))
    ['a', 'b c']
    """
    if file.suffix in SPREADSHEETS or (b"\0" in file.head and not file.encoding.startswith("utf-16")):
        return []
    try:
        rows = csv.reader(io.StringIO(file.sample, newline=""), delimiter=delimiter or delimiter_of(file.sample))
        return [cell.strip() for cell in next(rows, [])]
    except csv.Error:
        return []


def delimiter_of(sample: str) -> str:
    """The delimiter that cuts the first lines of a text into the same number of cells, more than one if possible.

    >>> delimiter_of("a;b;c\\n1;2,5;3\\n"), delimiter_of("a,b\\n1,2\\n")
    (';', ',')
    """
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        widths = list(_sample_widths(sample, delimiter))
        if not widths or widths[0] < 2:
            continue
        score = (sum(width == widths[0] for width in widths) / len(widths), widths[0])
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _sample_widths(sample: str, delimiter: str, most: int = 20) -> Iterator[int]:
    rows = csv.reader(io.StringIO(sample[: sample.rfind("\n") + 1] or sample, newline=""), delimiter=delimiter)
    try:
        for number, row in enumerate(rows):
            if number == most:
                return
            if row:
                yield len(row)
    except csv.Error:
        return


def read_table(file: SourceFile, delimiter: str | None = None, sheet: str | None = None) -> Table:
    """Read a delimited file or a spreadsheet whose first row names the columns."""
    if file.suffix in SPREADSHEETS:
        return _read_spreadsheet(file, sheet)
    if file.size == 0:
        raise IntakeError(f"{file.name} is empty.")
    delimiter = delimiter or delimiter_of(file.sample)
    file.refuse_long_records(quoted=True)
    table = _read_fast(file, delimiter)
    if table is None:
        table = _read_slowly(file, delimiter)
    table.notes += file.encoding_note
    _refuse_long_cells(table)
    return table


def _header_names(cells: Sequence[str]) -> tuple[list[str], list[str]]:
    """Column names, all different; and what had to be changed for that."""
    names: list[str] = []
    notes = []
    for position, cell in enumerate(cells, start=1):
        name = cell.strip().lstrip("\ufeff") or f"unnamed_{position}"
        if name in names:
            copy = next(f"{name}_{n}" for n in range(2, len(cells) + 2) if f"{name}_{n}" not in names)
            notes.append(f"The column {name} is there twice; the second is called {copy}.")
            name = copy
        names.append(name)
    return names, notes


def _read_fast(file: SourceFile, delimiter: str) -> Table | None:
    """The table by polars' parser, or None where it does not prove that every row is whole."""
    if file.encoding not in ("utf-8", "utf-8-sig") or file.content is not None:
        return None
    first, newline, _ = file.head.partition(b"\n")
    if not newline or first.count(b'"') % 2:
        return None
    header = next(csv.reader([first.decode("utf-8-sig", "replace").rstrip("\r")], delimiter=delimiter), [])
    names, notes = _header_names(header)
    counts = _count(file, delimiter)
    if counts is None:
        return None
    newlines, delimiters, quotes, last_newline = counts
    lines = newlines - 1 + (0 if last_newline else 1)
    if lines < 1 or (quotes == 0 and delimiters != (len(names) - 1) * (lines + 1)):
        return None
    try:
        frame = pl.read_csv(
            file.path, has_header=False, skip_rows=1, schema=dict.fromkeys(names, pl.String()),
            separator=delimiter, encoding="utf8", glob=False,
        )  # fmt: skip
    except (pl.exceptions.PolarsError, OSError):
        return None
    # polars fills up short rows, so an empty last cell is only an empty cell where the other parser agrees.
    if frame[names[-1]].null_count() and (quotes or len(names) == 1) and not _all_whole(file, delimiter, len(names)):
        return None
    if quotes:
        frame = frame.with_columns(pl.all().replace("", None))
    return Table(file, frame, delimiter, notes=notes, row_lines=range(2, lines + 2) if frame.height == lines else None)


def _all_whole(file: SourceFile, delimiter: str, width: int) -> bool:
    return all(len(cells) == width and any(cells) for _, cells in _records(file.text(), delimiter, file.name))


def _count(file: SourceFile, delimiter: str) -> tuple[int, int, int, bool] | None:
    """Line ends, delimiters and quotation marks in a file, and whether it ends in a line end; None for odd bytes."""
    newlines = delimiters = quotes = 0
    last = b""
    separator = delimiter.encode()
    with file.open() as stream:
        while chunk := stream.read(1 << 20):
            if b"\0" in chunk or (b"\r" in chunk and chunk.count(b"\r\n") != chunk.count(b"\r")):
                return None
            newlines += chunk.count(b"\n")
            delimiters += chunk.count(separator)
            quotes += chunk.count(b'"')
            last = chunk[-1:]
    return newlines, delimiters, quotes, last == b"\n"


def _read_slowly(file: SourceFile, delimiter: str) -> Table:
    """The table by Python's parser, which names the line of every row that is not whole."""
    text = file.text()
    problems = Problems()
    rows: list[list[str | None]] = []
    lines: list[int] = []
    names: list[str] | None = None
    notes: list[str] = []
    blank = 0
    for line, cells in _records(text, delimiter, file.name):
        if not any(cells):
            blank += 1
        elif names is None:
            names, notes = _header_names(cells)
        else:
            flaw = _flaw(cells, len(names))
            if flaw:
                problems.add(flaw, "Mend the row, or leave it out with --skip-bad.", file=file.name, number=line)
                continue
            rows.append([cell or None for cell in cells[: len(names)]])
            lines.append(line)
    if names is None:
        raise IntakeError(f"{file.name} is empty.")
    schema = dict.fromkeys(names, pl.String())
    frame = pl.DataFrame(rows, schema=schema, orient="row") if rows else pl.DataFrame(schema=schema)
    return Table(file, frame, delimiter, blank_rows=blank, problems=problems, notes=notes, row_lines=lines)


def _records(text: str, delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        start = 1
        for cells in reader:
            yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        what = "a cell is longer than 1 MB" if "limit" in str(error) else f"the row is not readable ({error})"
        mend = "A quotation mark may not be closed."
        raise IntakeError(f"{name} cannot be read:", [Problem(what, mend, file=name, number=start)]) from None
    finally:
        csv.field_size_limit(limit)


def _flaw(cells: Sequence[str], width: int) -> str | None:
    if any("\0" in cell for cell in cells):
        return "the row holds a NUL byte"
    if len(cells) < width:
        return f"the row has {len(cells)} cells where the header has {width}"
    if any(cells[width:]):
        return f"the row has {len(cells)} cells where the header has {width}"
    return None


def _refuse_long_cells(table: Table) -> None:
    if not table.frame.height:
        return
    longest = table.frame.select(pl.all().str.len_bytes().max().fill_null(0)).row(0)
    for name, length in zip(table.frame.columns, longest, strict=True):
        if length > LONGEST_CELL:
            lengths = table.frame[name].str.len_bytes()
            row = int(lengths.arg_max() or 0)
            file, place, number = table.locate(row)
            problem = Problem(
                f"the cell has {length:,} bytes", "A cell may have 1 MB.", name, None, file, place, number
            )
            raise IntakeError(f"{table.file.name} cannot be read:", [problem])


def _read_spreadsheet(file: SourceFile, sheet: str | None) -> Table:
    """The first sheet, or the one that is named, of a spreadsheet; numbers as they are shown, dates as ISO 8601."""
    if file.suffix in (".xlsx", ".xlsm", ".xlsb", ".ods"):
        file.zip_members()
    import fastexcel

    with file.open() as stream:
        content = stream.read()
    try:
        book = fastexcel.read_excel(content)
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            raise IntakeError(f"{file.name} has no sheet {sheet}; it has {', '.join(names)}.")
        chosen = sheet or names[0]
        raw = pl.DataFrame(book.load_sheet(chosen, header_row=None, dtypes="string", skip_rows=0))
    except IntakeError:
        raise
    except Exception as error:  # the parser's errors share no parent with a useful name
        raise IntakeError(f"{file.name} is not a readable spreadsheet: {str(error).splitlines()[0]}.") from None
    cells = raw.with_columns(pl.all().cast(pl.String).replace("", None))
    if cells.height == 0:
        raise IntakeError(f"{file.name} is empty.")
    columns, notes = _header_names([cell or "" for cell in cells.row(0)])
    body = cells.slice(1)
    body.columns = columns
    if len(names) > 1 and sheet is None:
        notes.append(f"{file.name}: the sheet {chosen} was read; say --sheet for {', '.join(names[1:])}.")
    numbered = body.with_row_index("_row", offset=2)
    filled = numbered.filter(~pl.all_horizontal(pl.col(columns).is_null()))
    return Table(
        file, filled.select(columns), place="row", blank_rows=body.height - filled.height, notes=notes,
        row_lines=filled["_row"].to_list(),
    )  # fmt: skip
