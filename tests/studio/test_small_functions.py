"""Small functions of the studio: names of folders and keys, tables as grids, and columns with two ends."""

from __future__ import annotations

from pathlib import Path

from karat.studio.column_guesses import ColumnGuesses
from karat.studio.study_files import Snapshot, key_name, named_tables, read_grid, table_bytes
from karat.studio.workspace import folder_name


def test_tables_that_a_study_names() -> None:
    assert named_tables({"block": [{"items": ["a.csv", "b.csv"]}, {"items": "a.csv"}, 3]}) == ["a.csv", "b.csv"]


def test_tables_as_grids_and_back(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text('item;sentence\n1;"It\nrained."\n2;x\n')
    grid = read_grid(path, "items.csv")
    assert (grid.rows, grid.lines) == ((("1", "It\nrained."), ("2", "x")), (2, 4))
    assert table_bytes(["item", "sentence"], [["1", "Yes, it is."], ["", ""]]) == b'item,sentence\n1,"Yes, it is."\n'


def test_names_of_keys_folders_and_moments() -> None:
    assert key_name(["block", 0, "scale", "points"]) == "block 1, scale, points"
    assert folder_name("Whether-islands: pilot 2") == "whether-islands-pilot-2"
    assert Snapshot("20261117-063112-2", ()).when == "2026-11-17 06:31:12"


def test_two_columns_hold_the_ends_of_a_range() -> None:
    guesses = ColumnGuesses(names=("low", "high"), mapped={"expected": "low..high"})
    assert guesses.ends("expected") == ("low", "high")
