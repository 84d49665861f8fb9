"""Delimited text and spreadsheets as tables of text."""

from __future__ import annotations

import csv
import io
import tempfile
from datetime import datetime
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.judgments import tables
from karat.judgments.source import SourceFile
from karat.judgments.tables import delimiter_of, header_of, read_table
from karat.messages import Message
from messages import refuses


def on_disk(folder: Path, content: bytes | str, name: str = "t.csv") -> SourceFile:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return SourceFile(path)


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@given(
    st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=5), st.sampled_from(",;\t|"), st.booleans()
)
def test_fast_and_slow_parser_agree(rows: list[list[str]], delimiter: str, quote_all: bool) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL)
    writer.writerow(["a", "b", "c"])
    writer.writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        file = on_disk(Path(folder), text.getvalue())
        read = read_table(file, delimiter)
        slow = tables.read_slowly(file, delimiter)
        expected = [tuple(cell or None for cell in row) for row in rows if any(row)]
        assert read.frame.rows() == slow.frame.rows() == expected
        assert [read.locate(i) for i in range(len(expected))] == [slow.locate(i) for i in range(len(expected))]


@pytest.mark.parametrize(
    ("text", "line", "named"),
    [
        ("a,b\n1,2\n3\n4,5\n", 3, "1 cell"),
        ("a,b\n1,2\n3,4,5\n", 3, "3 cells"),
        ('a,b\n"x\ny",2\n3\n', 4, "1 cell"),
        ('a,b\n"x","y"\n"z"\n', 3, "1 cell"),
        ("a,b\n1,2\n3,\0\n", 3, "NUL byte"),
        ("a,b\r1,2\r3\r", 3, "1 cell "),
        ("a,b\r1\n3,4\n", 2, "1 cell"),
    ],
)
def test_rows_that_are_not_whole_are_named(text: str, line: int, named: str, tmp_path: Path) -> None:
    read = read_table(on_disk(tmp_path, text))
    (problem,) = read.problems
    assert (problem.number, problem.file) == (line, "t.csv")
    assert named in f"{problem.what} "
    assert read.rows_in == read.frame.height + 1


def test_a_long_row_beside_columns_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(f"participant,item,response,rt,a,b\np1,x,1,0.5,{'a' * 700_000},{'b' * 700_000}\np1,y,2,0.7,c,d\n")
    assert karat.read(path, scale="ordinal:1-5").frame["rt"].to_list() == [0.5, 0.7]


def test_blank_lines_and_empty_last_cells_are_no_problem(tmp_path: Path) -> None:
    read = read_table(on_disk(tmp_path, "a,b\n1,\n\n2,x\n,\n"))
    assert read.frame.rows() == [("1", None), ("2", "x")]
    assert (read.rows_in, len(read.problems)) == (2, 0)
    assert [read.locate(row)[2] for row in range(2)] == [2, 4]
    assert read.locate(1) == ("t.csv", "line", 4)


def test_lines_are_right_where_cells_span_them(tmp_path: Path) -> None:
    read = read_table(on_disk(tmp_path, 'a,b\n"x\n\ny",2\nz,3\n'))
    assert read.frame["a"].to_list() == ["x\n\ny", "z"]
    assert [read.locate(row)[2] for row in (0, 1)] == [2, 5]


def test_a_trailing_delimiter_is_no_cell(tmp_path: Path) -> None:
    read = read_table(on_disk(tmp_path, "a,b\n1,2,\n"))
    assert read.frame.rows() == [("1", "2")]


def test_header_names_are_made_different(tmp_path: Path) -> None:
    read = read_table(on_disk(tmp_path, ",x,x, y \n1,2,3,4\n"))
    assert read.frame.columns == ["unnamed_1", "x", "x_2", "y"]
    assert read.notes == [Message("file.column_twice", {"column": "x", "copy": "x_2"})]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    read = read_table(on_disk(tmp_path, "größe,b\r\nnaïve,2\r\n".encode(encoding)))
    assert read.frame.to_dicts() == [{"größe": "naïve", "b": "2"}]
    assert bool(read.notes) == (encoding == "cp1252")


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_empty_files(content: str, tmp_path: Path) -> None:
    with refuses(karat.IntakeError, "t.csv"):
        read_table(on_disk(tmp_path, content))


def test_a_cell_of_two_megabytes_is_refused(tmp_path: Path) -> None:
    with refuses(karat.IntakeError, "t.csv", "line 3", "b", "2,000,000 bytes", "1 MB"):
        read_table(on_disk(tmp_path, f"a,b\n1,2\n3,{'x' * 2_000_000}\n"))
    with refuses(karat.IntakeError, "t.csv", "line 3", "1 MB"):
        read_table(on_disk(tmp_path, f"a,b\n1,2\n3,{'x' * 2_000_000}\n4\n"))


def test_delimiters() -> None:
    assert delimiter_of("a\tb\n1\t2\n") == "\t"
    assert delimiter_of('"a;b",c\n"d;e",f\n') == ","
    assert delimiter_of("only\n1\n") == ","
    assert delimiter_of("Nr;a (PP, nah);b (PP, fern)\n1;Er sagt, dass es, ja;Er fragt, ob, nun\n") == ";"
    assert delimiter_of("") == ","


@given(st.binary(max_size=200))
def test_header_of_never_fails(content: bytes) -> None:
    assert isinstance(header_of(SourceFile(Path("x.csv"), content=content)), list)


def workbook(path: Path, rows: list[list[object]], more: bool = False) -> SourceFile:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "ratings"
    for row in rows:
        sheet.append(row)
    if more:
        book.create_sheet("other").append(["x"])
    book.save(path)
    return SourceFile(path)


def test_spreadsheets(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["participant", "item", "rt", "when", "formula"], ["p1", 1, 2.5, datetime(2026, 5, 3, 12), "=1+1"],
        [None] * 5, ["p2", 2.0, None, None, "text"],
    ]  # fmt: skip
    read = read_table(workbook(tmp_path / "t.xlsx", rows, more=True))
    assert read.frame["participant"].to_list() == ["p1", "p2"]
    assert read.frame["item"].to_list() == ["1", "2"]
    assert read.frame["rt"].to_list() == ["2.5", None]
    assert (read.frame["when"][0] or "").startswith("2026-05-03")
    assert (read.rows_in, read.locate(1)) == (2, ("t.xlsx", "row", 4))
    assert (read.notes[0].code, read.notes[0].values["others"]) == ("file.sheet", ["other"])
    with refuses(karat.IntakeError, "t.xlsx", "sheet x", "ratings", "other"):
        read_table(SourceFile(tmp_path / "t.xlsx"), sheet="x")


def test_spreadsheets_that_are_none(tmp_path: Path) -> None:
    with refuses(karat.IntakeError, "t.xlsx", "workbook", "save"):
        read_table(on_disk(tmp_path, b"no", "t.xlsx"))
    with refuses(karat.IntakeError, "t.xls", "save"):
        read_table(on_disk(tmp_path, b"no", "t.xls"))
    with refuses(karat.IntakeError, "empty.xlsx"):
        read_table(workbook(tmp_path / "empty.xlsx", []))


def test_rows_of_which_some_are_padded_are_named(tmp_path: Path) -> None:
    # The unquoted comma has moved the cells of line 3 to the right; its last cell is empty as in the other rows.
    table = read_table(on_disk(tmp_path, "a,b,c\n1,left,\n2,Well, left,\n"))
    (problem,) = table.problems
    assert (problem.number, "4 cells" in problem.what) == (3, True)


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"PK\x03\x04rest", ("zip", ".xlsx", ".ods")),
        (b"\xd0\xcf\x11\xe0rest", ("Excel", "Word", ".xlsx", ".ods")),
        (b"\x1f\x8brest", ("gzip",)),
        (b"%PDF-1.5\n\0\1rest", ("PDF",)),
        (b"$FL2@(#) rest", ("SPSS",)),
        (b"PAR1\x15\0rest", ("Parquet", ".parquet")),
        (b"<!DOCTYPE html>\n<html><body>rest", ("web page",)),
        (b"\xef\xbb\xbfsep=;\r\na;b\r\n1;2\r\n", ("sep=;",)),
    ],
)
def test_what_is_no_table_in_text_is_refused(content: bytes, names: tuple[str, ...], tmp_path: Path) -> None:
    with refuses(karat.IntakeError, "t.csv", *names):
        read_table(on_disk(tmp_path, content))
