"""Records of delimited text: a quotation mark that is not closed is found, with its line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.judgments.source import SourceFile
from karat.judgments.tables import CLOSE_IT, read_table, records
from messages import refuses

ROWS = [f"p{number},i{number},4,fine" for number in range(1, 11)]
HEADER = "participant,item,response,comment"


def text_with(cells: dict[int, str]) -> str:
    """Ten rows, of which some end in another cell; row 1 stands in line 2."""
    rows = [row.replace("fine", cells.get(number, "fine")) for number, row in enumerate(ROWS, start=1)]
    return "\n".join([HEADER, *rows]) + "\n"


@pytest.mark.parametrize(
    ("cells", "line", "lines"),
    [
        ({4: '"left open'}, 5, "lines 5 to 11"),
        ({4: '"left open', 6: '"closed"'}, 5, "lines 5 to 7"),
        ({4: '"left open', 6: '"closed, with a comma"'}, 5, "lines 5 to 7"),
        ({4: '"left open', 6: '"again'}, 5, "lines 5 to 7"),
        ({4: '"left ""open', 6: '"again'}, 5, "lines 5 to 7"),
        ({2: '"on two\nlines"', 4: '"left open'}, 6, "lines 6 to 12"),
        ({10: '"left open'}, 11, None),
    ],
)
def test_a_quotation_mark_that_is_not_closed(
    cells: dict[int, str], line: int, lines: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text_with(cells), encoding="utf-8")
    (problem,) = read_table(SourceFile(path)).problems
    assert (problem.number, problem.fix) == (line, CLOSE_IT)
    assert (lines or "") in problem.what
    with refuses(karat.KaratError, "t.csv", f"line {line}"):
        karat.read(path)


def test_a_mark_that_opens_behind_a_cell_of_two_lines() -> None:
    (_, found) = records('a,b,c\n"x\ny",2,"z\n3,4,5\n', ",", "t.csv")
    assert (found.line, found.last, found.opened) == (2, 4, 3)


def test_a_header_that_is_not_closed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('participant,"item,response\np1,i1,4\n', encoding="utf-8")
    with refuses(karat.KaratError, "t.csv", "line 1", "lines 1 to 2"):
        read_table(SourceFile(path), ",")


def test_a_long_cell_names_the_line_of_its_mark() -> None:
    text = text_with({2: '"left open'}) + "p,i,4,fine\n" * 200_000
    with refuses(karat.KaratError, "t.csv", "line 3", "1 MB"):
        list(records(text, ",", "t.csv"))


@pytest.mark.parametrize(
    "cells",
    [
        {4: '"on two\nlines"'},
        {4: '"on two\nlines" '},
        {4: '"say ""so""\n"'},
        {4: '5" wide', 5: 'the "best"'},
        {4: '"a" b', 5: '""'},
        {10: '"the end"'},
    ],
)
def test_marks_that_lose_no_line_are_no_flaw(cells: dict[int, str]) -> None:
    found = list(records(text_with(cells), ",", "t.csv"))
    assert len(found) == 11
    assert all(record.opened is None for record in found)


@given(
    st.lists(st.lists(st.text('a",;\n\r \t', max_size=6), min_size=2, max_size=3), min_size=1, max_size=5),
    st.sampled_from(",;\t|"),
    st.booleans(),
)
def test_what_a_program_writes_has_no_flaw(rows: list[list[str]], delimiter: str, quote_all: bool) -> None:
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    csv.writer(text, delimiter=delimiter, quoting=quoting).writerows(rows)
    found = list(records(text.getvalue(), delimiter, "t.csv"))
    assert [record.cells for record in found] == rows
    assert all(record.opened is None for record in found)
