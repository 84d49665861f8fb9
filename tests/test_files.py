"""Files that karat writes: escaped formulas, whole files or none."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.judgments.files import csv_types, escape_formulas, replacing, unescape_formulas
from messages import refuses

CELLS = st.lists(st.one_of(st.none(), st.text(max_size=6), st.from_regex(r"'*[=+\-@\t\r].{0,4}", fullmatch=True)))


@given(CELLS)
def test_escaping_can_be_taken_back(cells: list[str | None]) -> None:
    table = pl.DataFrame({"a": pl.Series(cells, dtype=pl.String), "n": pl.Series([-1] * len(cells), dtype=pl.Int64)})
    assert unescape_formulas(escape_formulas(table)).equals(table)


@given(CELLS)
def test_no_escaped_cell_can_run(cells: list[str | None]) -> None:
    for cell in escape_formulas(pl.DataFrame({"a": pl.Series(cells, dtype=pl.String)}))["a"].drop_nulls().to_list():
        if cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
            float(cell.replace(",", "."))


@pytest.mark.parametrize("number", ["-3", "-3.5", "-0,5", "+7", "-1e-05", "-.5"])
def test_numbers_are_not_corrupted(number: str) -> None:
    assert escape_formulas(pl.DataFrame({"a": [number]}))["a"].to_list() == [number]


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")

    def stop_half_way() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError("stop")

    with refuses(RuntimeError, "stop"):
        stop_half_way()
    assert path.read_text() == "old"
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("x.txt", "new")]


def test_csv_says_what_it_cannot_hold() -> None:
    with refuses(karat.KaratError, "a (List(Int64))"):
        csv_types(pl.DataFrame({"a": [[1]]}))


def test_columns_that_somebody_kept_stay(tmp_path: Path) -> None:
    rows = {"participant": ["p1"], "item": ["a"], "response": ["1"], "name": ["Ada"]}
    kept = karat.Judgments(rows, karat.Binary(), {"participant": ["p1"], "email": ["x@example.org"]})
    for path, write in ((tmp_path / "j.csv", kept.to_csv), (tmp_path / "j.parquet", kept.to_parquet)):
        write(path)
        assert karat.read(path) == kept


def test_damaged_metadata_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    karat.datasets.load("crowd").to_csv(path)
    metadata = tmp_path / "j.csv-metadata.json"
    for text in ("{", "[]", '{"columns": {}}', '{"columns": {"a": "x"}, "scales": {"": {"kind": "no"}}}'):
        metadata.write_text(text)
        with pytest.raises(karat.KaratError):
            karat.read(path)
    assert len(karat.read(path, source="table")) == 9600


def test_an_edited_csv_is_checked_again(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    karat.datasets.load("crowd").to_csv(path)
    text = path.read_text().splitlines()
    text[5] = text[5].replace(",test,", ",tset,")
    path.write_text("\n".join(text) + "\n")
    with refuses(karat.IntakeError, "j.csv", "line 6", "function", "tset", "test"):
        karat.read(path)
