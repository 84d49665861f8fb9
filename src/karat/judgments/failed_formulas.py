"""Cells of a spreadsheet in which a formula failed.

Formulas fail when they refer to missing cells, or when a sentence begins with = or - and is taken for a formula. The
cell then holds a sign such as #REF! or #NAME?. A CSV export keeps the sign as text; the reader of spreadsheets returns
an empty cell.
"""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, ParseError, iterparse

import polars as pl

from karat.errors import IntakeError
from karat.judgments.source import SourceFile
from karat.messages import Message

SIGN = r"^(?:#[A-ZÀ-Þ/0]+[?!]|#N/A|#NV|Err:\d{3})$"
"""The sign of a failed formula, also in spreadsheets in other languages."""
WHAT = "is a spreadsheet error: a formula that failed"
FIX = "Correct the formula in the spreadsheet and export the table again."
WITH_XML = (".xlsx", ".xlsm")
BOOK, LINKS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"


def is_failed(cell: str | None) -> bool:
    """Whether a cell holds the sign of a failed formula."""
    return cell is not None and re.fullmatch(SIGN, cell, re.IGNORECASE) is not None


def failed_cells(column: pl.Series) -> pl.Series:
    """A mask of the cells that hold the sign of a failed formula. Each distinct cell is tested once."""
    distinct = column.unique()
    failed = distinct.filter(distinct.str.contains(SIGN))
    if failed.is_empty():
        return pl.repeat(False, len(column), eager=True)
    return column.is_in(failed.implode()).fill_null(False)


def columns_with_failed(frame: pl.DataFrame) -> list[str]:
    """The columns of text that hold the sign of a failed formula."""
    failed = frame.select(pl.col(pl.String).str.contains(SIGN).any())
    return [name for name in failed.columns if failed[name][0]]


def with_failed_formulas(frame: pl.DataFrame, numbers: Sequence[int], file: SourceFile, sheet: int = 0) -> pl.DataFrame:
    """A table with the signs of failed formulas filled in; `numbers` are the rows of the sheet."""
    rows = {number: row for row, number in enumerate(numbers)}
    for number, column, sign in failed_formulas(file, sheet):
        if number in rows and column < frame.width:
            cells = frame[frame.columns[column]].to_list()
            cells[rows[number]] = sign
            frame = frame.with_columns(pl.Series(frame.columns[column], cells, dtype=pl.String))
    return frame


def failed_note(file: SourceFile, sheet: int = 0) -> list[Message]:
    """A note on a sheet with failed formulas, which are read as empty cells."""
    failed = failed_formulas(file, sheet)
    if not failed:
        return []
    row, _, sign = failed[0]
    return [Message("file.failed_formulas", {"file": file.name, "n": len(failed), "row": str(row), "sign": sign})]


def failed_formulas(file: SourceFile, sheet: int = 0) -> list[tuple[int, int, str]]:
    """Row (from 1), column (from 0 at the first filled one) and sign of each failed formula of a sheet."""
    if file.suffix not in WITH_XML:
        return []
    try:
        content = file.zip_member(_sheet(file, sheet)).content or b""
        # Few sheets have errors, and a search for one is much cheaper than reading all cells.
        cells = list(_cells(content)) if b't="e"' in content else []
    except (ParseError, KeyError, StopIteration, IndexError, IntakeError):
        # The file was read although it is not built like a spreadsheet; its cells are checked one by one later.
        return []
    first = min((column for _, column, _, _ in cells), default=0)
    return [(row, column - first, text) for row, column, kind, text in cells if kind == "e"]


def _sheet(file: SourceFile, number: int) -> str:
    """The member of the archive that holds a sheet, counted from 0."""
    sheet = [element for element in _elements(file, BOOK) if _name(element) == "sheet"][number]
    link = next(value for key, value in sheet.attrib.items() if key.endswith("}id"))
    target = next(element.attrib["Target"] for element in _elements(file, LINKS) if element.attrib.get("Id") == link)
    return target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl") / target)


def _elements(file: SourceFile, member: str) -> list[Element]:
    content = file.zip_member(member).content or b""
    # Unsafe archives were refused before, and spreadsheets declare no document type.
    return [element for _, element in iterparse(BytesIO(content))]  # noqa: S314


def _cells(content: bytes) -> Iterator[tuple[int, int, str, str]]:
    """Row, column, kind and text of the cells that are not empty."""
    for _, element in iterparse(BytesIO(content)):  # noqa: S314
        if _name(element) == "c" and (place := re.fullmatch(r"([A-Z]+)(\d+)", element.attrib.get("r", ""))):
            text = "".join(part.text or "" for part in element.iter() if _name(part) in ("v", "t"))
            if text:
                yield int(place[2]), _column(place[1]), element.attrib.get("t", "n"), text
        elif _name(element) == "row":
            element.clear()


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _column(letters: str) -> int:
    """The number of a column, from 0."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1
