"""Item tables with what a norming study found."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat
from karat.measure.result import MeasureError
from karat.measure.scaling.select_controls import Controls
from messages import raises, refuses

ITEMS = 'item,function,status,sentence,expected,verified\nc1,control,grammatical,"He, too, left.",,\n' \
        "c2,control,ungrammatical,Left he too.,1,\nt1,test,,She came.,,\n"  # fmt: skip


def found(rows: list[tuple[str, str | None, str | None, bool]]) -> Controls:
    schema = {"item": pl.String, "status": pl.String, "expected": pl.String, "clear": pl.Boolean}
    table = pl.DataFrame(rows, schema=schema, orient="row").with_columns(mean=pl.lit(1.0))
    return Controls(table.select("item", "status", "mean", "expected", "clear"))


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "items.csv"
    path.write_text(ITEMS, encoding="utf-8")
    return path


CONTROLS = found([("c1", "grammatical", "3-5", True), ("c2", "ungrammatical", None, False)])


def test_verified_and_expected_are_filled_and_all_else_is_kept(items: Path, tmp_path: Path) -> None:
    out = CONTROLS.write(items, tmp_path / "new.csv")
    assert out.read_text(encoding="utf-8") == (
        'item,function,status,sentence,expected,verified\nc1,control,grammatical,"He, too, left.",3-5,yes\n'
        "c2,control,ungrammatical,Left he too.,1,no\nt1,test,,She came.,,\n"
    )
    assert items.read_text(encoding="utf-8") == ITEMS


def test_nothing_is_overwritten_unless_said(items: Path, tmp_path: Path) -> None:
    with raises(MeasureError, "verified_items.no_target"):
        CONTROLS.write(items)
    with raises(MeasureError, "verified_items.target_exists"):
        CONTROLS.write(items, items)
    with raises(MeasureError, "verified_items.two_targets"):
        CONTROLS.write(items, tmp_path / "new.csv", in_place=True)
    assert items.read_text(encoding="utf-8") == ITEMS
    assert CONTROLS.write(items, in_place=True) == items
    assert "3-5,yes" in items.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["items.csv"]


def test_columns_are_added_where_there_are_none(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_bytes("item;sentence\r\nc1;Ging ä\r\nc9;Kam\r\n".encode("cp1252"))
    one = Controls(CONTROLS.frame.drop("status"))
    written = one.write(path, tmp_path / "new.csv").read_bytes()
    assert written == "item;sentence;expected;verified\r\nc1;Ging ä;3-5;yes\r\nc9;Kam;;\r\n".encode("cp1252")


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text(ITEMS, encoding="utf-8-sig")
    assert CONTROLS.write(path, in_place=True).read_bytes().startswith(b"\xef\xbb\xbfitem,")


def test_versions_that_the_table_does_not_tell_apart(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("item,sentence\nc1,x\n", encoding="utf-8")
    torn = found([("c1", "grammatical", "3-5", True), ("c1", "ungrammatical", None, False)])
    with raises(MeasureError, "verified_items.versions", file="items.csv", item="c1", columns=["status"]):
        torn.write(path, in_place=True)
    path.write_text("item,status,sentence\nc1,ungrammatical,x\nc1,grammatical,y\n", encoding="utf-8")
    result = pl.read_csv(torn.write(path, in_place=True))
    assert result["verified"].to_list() == ["no", "yes"]


def test_tables_of_another_study(items: Path, tmp_path: Path) -> None:
    with raises(MeasureError, "verified_items.no_items"):
        found([("z1", None, "1-2", True)]).write(items, in_place=True)
    other = tmp_path / "other.csv"
    other.write_text("name,sentence\nc1,x\n", encoding="utf-8")
    with raises(MeasureError, "verified_items.no_item_column"):
        CONTROLS.write(other, in_place=True)
    with refuses(karat.errors.KaratError, tmp_path / "missing.csv", "items.csv"):
        CONTROLS.write(tmp_path / "missing.csv", in_place=True)


def test_spreadsheets_are_written_as_csv(tmp_path: Path) -> None:
    path = tmp_path / "items.xlsx"
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["item", "status", "sentence"], ["c1", "grammatical", "He left."]):
        book.active.append(row)
    book.save(path)
    with raises(MeasureError, "verified_items.spreadsheet"):
        CONTROLS.write(path, in_place=True)
    with raises(MeasureError, "verified_items.not_csv", name="new.csv"):
        CONTROLS.write(path, tmp_path / "new.xlsx")
    out = CONTROLS.write(path, tmp_path / "new.csv")
    assert out.read_text() == "item,status,sentence,expected,verified\nc1,grammatical,He left.,3-5,yes\n"


def test_a_written_table_satisfies_the_check_of_controls(items: Path) -> None:
    """`karat check` takes yes for verified, and reads the expected answers on the scale."""
    CONTROLS.write(items, in_place=True)
    row = pl.read_csv(items).row(0, named=True)
    assert row["verified"] == "yes"
    assert sorted(karat.Ordinal(5).expected(row["expected"])) == ["3", "4", "5"]


def test_when_and_where_stimuli_were_verified(items: Path) -> None:
    CONTROLS.write(items, in_place=True, verified="2026-03, norming study")
    assert pl.read_csv(items)["verified"][0] == "2026-03, norming study"


def test_tables_are_readable_like_other_files(items: Path, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("item\n")
    written = CONTROLS.write(items, tmp_path / "new.csv")
    assert written.stat().st_mode == (tmp_path / "other.csv").stat().st_mode
    assert not list(tmp_path.glob(".*"))
    items.chmod(0o640)
    CONTROLS.write(items, in_place=True)
    assert items.stat().st_mode & 0o777 == 0o640
