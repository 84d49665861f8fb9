"""Cells in which a formula failed: reported as what they are, in result files too."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

import karat
from karat.judgments.failed_formulas import FIX, WHAT, is_failed
from karat.messages import Message

COLUMNS = ["participant", "item", "response", "rt", "function", "expected", "comment"]


def cells(column: str, sign: str) -> list[list[str]]:
    """Twelve ratings, one of them with a sign in a cell; the sixth row stands in line 7."""
    rows = [[f"p{n // 4}", f"i{n % 4}", str(n % 5 + 1), "1.5", "control", "1-2", "fine"] for n in range(12)]
    rows[5][COLUMNS.index(column)] = sign
    return rows


@pytest.mark.few(11)
@pytest.mark.parametrize("scale", [None, karat.Ordinal(5)])
@pytest.mark.parametrize("column", COLUMNS[:-1])
@pytest.mark.parametrize("sign", ["#REF!", "#N/A", "#NAME?"])
def test_results_with_a_failed_formula(scale: karat.Ordinal | None, column: str, sign: str, tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("\n".join(",".join(row) for row in [COLUMNS, *cells(column, sign)]), encoding="utf-8")
    with pytest.raises(karat.IntakeError) as error:
        karat.read(path, scale=scale)
    (problem,) = error.value.problems
    assert (problem.what, problem.fix, problem.column, problem.number) == (WHAT, FIX, column, 7)
    assert is_failed(problem.value)


def test_other_columns_may_hold_what_they_like(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("\n".join(",".join(row) for row in [COLUMNS, *cells("comment", "#N/A")]), encoding="utf-8")
    assert karat.read(path).frame.height == 12


def test_a_spreadsheet_of_results_tells_what_was_read_as_empty(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["nothing"])
    sheet = book.create_sheet("ratings")
    for row in [COLUMNS, *cells("response", "#REF!")]:
        sheet.append(row)
    sheet["C7"].data_type = "e"
    book.save(tmp_path / "results.xlsx")
    judgments = karat.read(tmp_path / "results.xlsx", sheet="ratings")
    values = {"file": "results.xlsx", "n": 1, "row": "7", "sign": "#REF!"}
    assert Message("file.failed_formulas", values) in judgments.notes
    assert judgments.frame["response"].null_count() == 1
