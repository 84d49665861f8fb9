"""Delimited text and spreadsheets as tables of text, with the line on which each row begins.

Files are read with polars' parser, which silently fills short rows and reports little about malformed ones. Where its
result does not prove that every row is complete, a slower parser finds the faulty lines.

An unclosed quotation mark silently joins many lines to one record: the cell goes on to the next quotation mark,
wherever that is, or to the end of the file. A cell that really spans several lines can be recognised by its end: a
separator, a line end or the end of the text follows the closing mark.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

import polars as pl

from karat.errors import IntakeError, Problem, Problems, counted
from karat.judgments.checks import Place, places
from karat.judgments.failed_formulas import failed_note
from karat.judgments.message_tables import listed
from karat.judgments.source import LONGEST_CELL, SourceFile
from karat.messages import Message

DELIMITERS = (",", ";", "\t", "|")
PARSED_AT_ONCE = 4 * 1024 * 1024
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
PACKED = {
    b"PK\x03\x04": "a packed file (a spreadsheet, a document or a zip archive)",
    b"\xd0\xcf\x11\xe0": "a document of an older Excel or Word",
    b"\x1f\x8b": "packed by gzip",
    b"BZh": "packed by bzip2",
    b"\xfd7zXZ": "packed by xz",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"%PDF": "a PDF document",
    b"{\\rtf": "a document in rich text",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"$FL2": "a data file of SPSS",
    b"<stata_dta>": "a data file of Stata",
    b"RDX": "a data file of R",
    b"X\n\x00\x00": "a data file of R",
    b"SQLite format 3": "a database",
    b"PAR1": "a Parquet file",
    b"ARROW1": "a Feather file",
}
"""The first bytes of files that are not text."""
MEND_ROW = "Fix the row, or leave it out with --skip-bad."


@dataclass
class FileTable:
    """A file as a table of text. Empty cells are missing."""

    file: SourceFile
    frame: pl.DataFrame
    locate: Callable[[int], Place]
    """The place of a row of the frame in the file."""
    delimiter: str = ""
    problems: Problems = field(default_factory=Problems)
    notes: list[Message] = field(default_factory=list)
    labels: Mapping[str, str] = field(default_factory=dict)
    """The second header row, by column, such as the text of its question."""

    @property
    def rows_in(self) -> int:
        """The number of rows below the header, without blank lines."""
        return self.frame.height + len(self.problems.places())


class CsvLines(Sequence[int]):
    """The line on which each row of a delimited file begins; counted when a line is first needed."""

    def __init__(self, file: SourceFile, delimiter: str) -> None:
        self.file, self.delimiter = file, delimiter

    @cached_property
    def _starts(self) -> list[int]:
        rows = records(self.file.text(), self.delimiter, self.file.name)
        return [record.line for record in rows if any(record.cells)][1:]

    def __getitem__(self, row: int) -> int:  # type: ignore[override]
        # After a stray quotation mark the parsers may count rows differently; then the last line is the best guess.
        return self._starts[row] if row < len(self._starts) else max(self._starts, default=1)

    def __len__(self) -> int:
        return len(self._starts)


def header_of(file: SourceFile, delimiter: str | None = None) -> list[str]:
    """The cells of the first line, to recognise a delimited file; empty for files of another kind."""
    if file.suffix in SPREADSHEETS or (b"\0" in file.head and not file.encoding.startswith("utf-16")):
        return []
    try:
        rows = csv.reader(io.StringIO(file.sample, newline=""), delimiter=delimiter or delimiter_of(file.sample))
        return [cell.strip() for cell in next(rows, [])]
    except csv.Error:
        return []


def delimiter_of(sample: str) -> str:
    """The delimiter that splits the first lines of a text into equally many cells, more than one if possible.

    If several do, a sign with a blank after it is punctuation rather than a delimiter. Titles above the table have
    fewer cells.
    """
    scores = {}
    for delimiter in DELIMITERS:
        widths = list(_sample_widths(sample, delimiter))
        usual = max(widths, key=lambda width: (widths.count(width), width), default=1)
        if usual > 1:
            first = widths.index(usual)
            share = widths.count(usual) / len(widths[first:])
            scores[delimiter] = -first, widths[0] > 1, share, f"{delimiter} " not in sample, usual
    return max(scores, key=lambda delimiter: scores[delimiter], default=",")


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


Numbers = Callable[[Sequence[str]], Mapping[str, pl.DataType]]
"""A function from column names to the types of the columns that should hold numbers."""


def read_table(
    file: SourceFile, delimiter: str | None = None, sheet: str | None = None, numbers: Numbers | None = None
) -> FileTable:
    """Read a delimited file or a spreadsheet whose first row names the columns.

    All cells are text. To save memory, the columns that `numbers` selects are read as numbers if they hold nothing
    else.
    """
    if file.suffix in SPREADSHEETS:
        return _read_spreadsheet(file, sheet)
    if file.size == 0:
        raise IntakeError(f"{file.name} is empty.")
    _refuse_no_text(file)
    delimiter = delimiter or delimiter_of(file.sample)
    titles = _titles(csv.reader(io.StringIO(file.sample, newline=""), delimiter=delimiter))
    table = (
        (not titles and numbers and _read_fast(file, delimiter, numbers))
        or (not titles and _read_fast(file, delimiter))
        or read_slowly(file, delimiter, titles)
    )
    table.notes += file.encoding_note
    _refuse_long_cells(table)
    return table


MOST_TITLES, FEWEST_NAMED = 10, 3


def _titles(rows: Iterable[Sequence[str | None]]) -> list[str]:
    """The titles above the header of a table: rows with one or two cells, before one with more.

    >>> _titles([["Pilot of May", ""], ["", ""], ["person", "item", "rating"]]), _titles([["person", "item", "rating"]])
    (['Pilot of May', ''], [])
    """
    above: list[str] = []
    most = 0
    try:
        for row in itertools.islice(rows, MOST_TITLES):
            filled = [cell for cell in row if cell]
            if len(filled) >= FEWEST_NAMED:
                # A sentence with a comma, or a name with its value, is a title only above a wider table.
                return above if len(filled) > FEWEST_NAMED or most < FEWEST_NAMED - 1 else []
            most = max(most, len(filled))
            above.append(" ".join(filled))
    except csv.Error:
        pass
    return []


def _title_note(file: SourceFile, titles: Sequence[str]) -> list[Message]:
    texts = [text for text in titles if text]
    return [Message("file.title", {"file": file.name, "texts": listed(texts)})] if texts else []


def _refuse_no_text(file: SourceFile) -> None:
    """Raise IntakeError for a file that is not a table in text, or that begins with a line for Excel."""
    packed = next((what for start, what in PACKED.items() if file.head.startswith(start)), None)
    if packed is not None:
        raise IntakeError(
            f"{file.name} is {packed}, not a table in text. Export the table as CSV; if this is a spreadsheet or a "
            "Parquet file, give it its own ending, such as .xlsx, .ods or .parquet."
        )
    if re.match(r"\s*<(!doctype|html|\?xml|div|body)\b", file.sample, re.IGNORECASE):
        raise IntakeError(f"{file.name} is a web page or an XML file, not a table in text. Export the table as CSV.")
    first = file.sample.lstrip("\ufeff").partition("\n")[0].strip()
    if re.fullmatch(r"sep=.", first, re.IGNORECASE):
        raise IntakeError(f"{file.name} begins with {first}, which only Excel understands. Delete the first line.")


@cache
def _quoted_cell(delimiter: str) -> re.Pattern[bytes]:
    sign = re.escape(delimiter.encode())
    return re.compile(rb"(?<![^\r\n" + sign + rb'])"[^"]*+(?:""[^"]*+)*+"(?=[\r\n' + sign + rb"]|\Z)")


def _is_odd(piece: bytes, delimiter: str) -> bool:
    """Whether records contain something that parsers read differently.

    That is a NUL byte, a carriage return alone at a line end, or a quotation mark within a cell or not closed.
    """
    if b"\0" in piece or (b"\r" in piece and piece.count(b"\r\n") != piece.count(b"\r")):
        return True
    return b'"' in piece and b'"' in _quoted_cell(delimiter).sub(b"", piece)


def _header_names(cells: Sequence[str]) -> tuple[list[str], list[Message]]:
    """Distinct column names, and notes on the names that were changed."""
    names: list[str] = []
    copies: dict[str, list[str]] = {}
    for position, cell in enumerate(cells, start=1):
        name = cell.strip().lstrip("\ufeff")
        name = f"unnamed_{position}" if name in ("", "*") else name  # To Polars, * is every column.
        if name in names:
            copy = next(f"{name}_{n}" for n in range(2, len(cells) + 2) if f"{name}_{n}" not in names)
            copies.setdefault(name, []).append(copy)
            name = copy
        names.append(name)
    notes = [
        Message("file.column_twice", {"column": name, "copy": more[0]}) if len(more) == 1
        else Message("file.column_again", {"column": name, "n": len(more) + 1, "copy": more[0], "last": more[-1]})
        for name, more in copies.items()
    ]  # fmt: skip
    return names, notes


def _read_fast(file: SourceFile, delimiter: str, numbers: Numbers = lambda names: {}) -> FileTable | None:
    """The table as polars parses it, or None if that does not prove that every row is complete."""
    if file.encoding not in ("utf-8", "utf-8-sig"):
        return None
    first, newline, _ = file.head.partition(b"\n")
    if not newline or not first.strip() or first.count(b'"') % 2 or b"\r" in first.rstrip(b"\r"):
        return None
    header = next(csv.reader([first.decode("utf-8-sig", "replace").rstrip("\r")], delimiter=delimiter), [])
    names, notes = _header_names(header)
    has_quotes = False
    # A few megabytes at a time, so that the file and its table are never both in memory.
    parsed: list[pl.DataFrame] = []
    try:
        schema = dict.fromkeys(names, pl.String()) | dict(numbers(names))
        for piece in file.pieces(quoted=True, size=PARSED_AT_ONCE):
            if _is_odd(piece, delimiter):
                return None
            has_quotes = has_quotes or b'"' in piece
            skip = 0 if parsed else 1
            rows = pl.read_csv(
                piece, has_header=False, skip_rows=skip, schema=schema, separator=delimiter, raise_if_empty=False
            )
            parsed.append(rows if rows.width == len(schema) else pl.DataFrame(schema=schema))
        frame = pl.concat(parsed, how="vertical")
    except pl.exceptions.PolarsError:
        return None
    if has_quotes:
        frame = frame.with_columns(pl.col(pl.String).replace("", None))
    # polars fills short rows, so an empty last cell is certain only if the other parser finds it too.
    if frame[names[-1]].null_count():
        parsed_again = records(file.text(), delimiter, file.name)
        if not all(len(record.cells) == len(names) and any(record.cells) for record in parsed_again):
            return None
    # Without quotation marks a row is a line; blank lines would have shown as empty last cells.
    lines = CsvLines(file, delimiter) if has_quotes else range(2, frame.height + 2)
    return FileTable(file, frame, places(file.name, lines), delimiter, notes=notes)


def read_slowly(file: SourceFile, delimiter: str, titles: Sequence[str] = ()) -> FileTable:
    """The table as Python's parser reads it, with the line of every incomplete row."""
    rows_of_text = [record for record in records(file.text(), delimiter, file.name) if any(record.cells)]
    del rows_of_text[: sum(map(bool, titles))]
    if not rows_of_text:
        raise IntakeError(f"{file.name} is empty.")
    header = rows_of_text.pop(0)
    if header.opened is not None:
        problem = Problem(header.unclosed, CLOSE_IT, file=file.name, number=header.opened)
        raise IntakeError(f"{file.name} cannot be read:", [problem])
    names, notes = _header_names(header.cells)
    notes += _title_note(file, titles)
    # All lines may end with a delimiter. If only some lines are longer, a delimiter within a cell shifted the others.
    padded = all(len(record.cells) > len(names) for record in rows_of_text)
    problems = Problems()
    rows: list[list[str | None]] = []
    lines: list[int] = []
    for record in rows_of_text:
        flaw = _flaw(record, len(names), padded)
        if flaw is not None:
            what, fix, line = flaw
            problems.add(what, fix, file=file.name, number=line)
            continue
        rows.append([cell or None for cell in record.cells[: len(names)]])
        lines.append(record.line)
    schema = dict.fromkeys(names, pl.String())
    frame = pl.DataFrame(rows, schema=schema, orient="row") if rows else pl.DataFrame(schema=schema)
    return FileTable(file, frame, places(file.name, lines), delimiter, problems, notes)


def _flaw(record: Record, width: int, padded: bool) -> tuple[str, str, int] | None:
    """The flaw of a row, its fix and its line; None for a correct row."""
    cells = record.cells
    if record.opened is not None:
        return record.unclosed, CLOSE_IT, record.opened
    if any("\0" in cell for cell in cells):
        return "the row holds a NUL byte", MEND_ROW, record.line
    if len(cells) < width or any(cells[width:]) or (len(cells) > width and not padded):
        return f"the row has {counted(len(cells), 'cell')} where the header has {width}", MEND_ROW, record.line
    return None


def _refuse_long_cells(table: FileTable) -> None:
    texts = table.frame.select(pl.col(pl.String))
    if texts.is_empty():
        return
    longest = texts.select(pl.all().str.len_bytes().max().fill_null(0)).row(0)
    for name, length in zip(texts.columns, longest, strict=True):
        if length > LONGEST_CELL:
            lengths = table.frame[name].str.len_bytes()
            row = int(lengths.arg_max() or 0)
            what = f"the cell has {length:,} bytes"
            problem = Problem(what, "A cell may have 1 MB.", name, None, *table.locate(row))
            raise IntakeError(f"{table.file.name} cannot be read:", [problem])


def _read_spreadsheet(file: SourceFile, sheet: str | None) -> FileTable:
    """The named sheet of a spreadsheet, by default the first; numbers as displayed, dates as ISO 8601."""
    names = file.workbook.sheet_names
    if sheet is not None and sheet not in names:
        raise IntakeError(f"{file.name} has no sheet {sheet}; it has {', '.join(names)}.")
    chosen = sheet or names[0]
    with file.as_spreadsheet():
        raw = pl.DataFrame(file.workbook.load_sheet(chosen, header_row=None, dtypes="string", skip_rows=0))
    cells = raw.with_columns(pl.all().cast(pl.String).replace("", None))
    if cells.height == 0:
        raise IntakeError(f"{file.name} is empty.")
    titles = _titles(cells.iter_rows())
    columns, notes = _header_names([cell or "" for cell in cells.row(len(titles))])
    notes += _title_note(file, titles)
    body = cells.slice(len(titles) + 1)
    body.columns = columns
    notes += failed_note(file, names.index(chosen))
    if len(names) > 1 and sheet is None:
        notes.append(Message("file.sheet", {"file": file.name, "sheet": chosen, "others": names[1:]}))
    numbered = body.with_row_index("_row", offset=len(titles) + 2)
    filled = numbered.filter(~pl.all_horizontal(pl.col(columns).is_null()))
    where = places(file.name, filled["_row"].to_list(), "row")
    return FileTable(file, filled.select(columns), where, notes=notes)


def sheets_of(file: SourceFile) -> list[str]:
    """The names of the sheets of a spreadsheet, in their order; empty for other files."""
    return list(file.workbook.sheet_names) if file.suffix in SPREADSHEETS else []


CLOSE_IT = 'Close it, or write it twice ("") where it belongs to the text of a cell.'


class Record(NamedTuple):
    """The cells of a record, and its lines."""

    line: int
    cells: list[str]
    last: int
    """The line on which it ends."""
    opened: int | None = None
    """The line of an unclosed quotation mark."""

    @property
    def unclosed(self) -> str:
        """The flaw of a record with an unclosed quotation mark."""
        lost = f": lines {self.line} to {self.last} are read as one row" if self.last > self.line else ""
        return f"the quotation mark that opens here is not closed{lost}"


def records(text: str, delimiter: str, name: str) -> Iterator[Record]:
    """The records of a text; IntakeError names the file and the line that cannot be parsed."""
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=delimiter)
    limit = csv.field_size_limit(LONGEST_CELL)
    start = 1
    try:
        for cells in reader:
            opened = start + before if (before := lines.before_open(delimiter)) is not None else None
            yield Record(start, cells, reader.line_num, opened)
            start = reader.line_num + 1
            lines.taken.clear()
    except csv.Error as error:
        before = lines.before_open(delimiter)
        what = "a cell is longer than 1 MB" if "limit" in str(error) else f"the row is not readable ({error})"
        sure = "may not be" if before is None else "is not"
        fix = f"A quotation mark {sure} closed. {CLOSE_IT}"
        problem = Problem(what, fix, file=name, number=start + (before or 0))
        raise IntakeError(f"{name} cannot be read:", [problem]) from None
    finally:
        csv.field_size_limit(limit)


class _Lines:
    """The lines of a text; `taken` are those of the current record."""

    def __init__(self, text: str) -> None:
        self.stream = io.StringIO(text, newline="")
        self.taken: list[str] = []
        self.ended = False

    def __iter__(self) -> Iterator[str]:
        for line in self.stream:
            self.taken.append(line)
            yield line
        self.ended = True

    def before_open(self, delimiter: str) -> int | None:
        """How many lines of the record come before that of an unclosed quotation mark; None without one.

        A record of one line swallows no other, whatever its quotation marks, except at the end of the text.
        """
        if len(self.taken) < 2 and not self.ended:
            return None
        mark = next((match for match in _quoted(delimiter).finditer("".join(self.taken)) if match["open"]), None)
        if mark is None:
            return None
        ends = itertools.accumulate(map(len, self.taken))
        return next(number for number, end in enumerate(ends) if mark.start() < end)


@cache
def _quoted(delimiter: str) -> re.Pattern[str]:
    """Matches a cell in quotation marks, with blanks after it, or the mark of a cell that its line does not close."""
    sign = re.escape(delimiter)
    closed = rf'"[^"]*+(?:""[^"]*+)*+"[ ]*(?=[\r\n{sign}]|\Z)'
    return re.compile(rf'(?<![^\r\n{sign}])(?:{closed}|(?P<open>")(?=(?:[^"\r\n]|"")*+(?:[\r\n]|\Z)))')
