"""Cells of a spreadsheet in which a formula failed.

A sentence that begins with = or - is taken for a formula by spreadsheets, and cannot be computed. The cell then holds a
sign such as #NAME?, and the reader of spreadsheets gives nothing at all for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, ParseError, iterparse

import polars as pl

from karat.errors import IntakeError
from karat.source import SourceFile
from karat.tables import Table

SIGN = r"^(?:#[A-ZÀ-Þ/0]+[?!]|#N/A|#NV|Err:\d{3})$"
"""What stands in the place of a failed formula, also in spreadsheets of other languages."""
WITH_XML = (".xlsx", ".xlsm")
BOOK, LINKS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"


def with_failed_formulas(table: Table) -> pl.DataFrame:
    """The cells of a table, with the signs of failed formulas in their places."""
    if table.file.suffix not in WITH_XML:
        return table.frame
    rows = {table.locate(row)[2]: row for row in range(table.frame.height)}
    frame = table.frame
    for number, column, sign in failed_formulas(table.file):
        if number in rows and column < frame.width:
            cells = frame[frame.columns[column]].to_list()
            cells[rows[number]] = sign
            frame = frame.with_columns(pl.Series(frame.columns[column], cells, dtype=pl.String))
    return frame


def failed_formulas(file: SourceFile) -> list[tuple[int, int, str]]:
    """Row, from 1, column, from 0 at the first that is filled, and sign of each failed formula of the first sheet."""
    try:
        cells = list(_cells(file.zip_member(_first_sheet(file)).content or b""))
    except (ParseError, KeyError, StopIteration, IntakeError):
        # What is not built as spreadsheets are has been read all the same, and is checked cell by cell.
        return []
    first = min((column for _, column, _, _ in cells), default=0)
    return [(row, column - first, text) for row, column, kind, text in cells if kind == "e"]


def _first_sheet(file: SourceFile) -> str:
    """The member of the archive that holds the first sheet."""
    sheet = next(one for one in _elements(file, BOOK) if _name(one) == "sheet")
    link = next(value for key, value in sheet.attrib.items() if key.endswith("}id"))
    target = next(one.attrib["Target"] for one in _elements(file, LINKS) if one.attrib.get("Id") == link)
    return target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl") / target)


def _elements(file: SourceFile, member: str) -> list[Element]:
    content = file.zip_member(member).content or b""
    # The archive was refused where it is unsafe to unpack, and no document type is declared in a spreadsheet.
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
    """The number of a column, from 0.

    >>> _column("A"), _column("Z"), _column("AB")
    (0, 25, 27)
    """
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1
