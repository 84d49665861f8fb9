"""Small functions of the studio: names of folders and keys, tables as grids, columns with two ends, rehearsals."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from karat.studio.column_guesses import ColumnGuesses
from karat.studio.servers import Rehearsal, password
from karat.studio.study_files import Snapshot, key_name, named_tables, read_grid, table_bytes
from karat.studio.workspace import Project, folder_name


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


def test_a_rehearsal_that_says_much_ends(tmp_path: Path) -> None:
    program = (
        "import json, sys; sys.stderr.write('warning ' * 100_000); print(json.dumps({'lines': ['Fertig für heute']}))"
    )
    rehearsal = Rehearsal([sys.executable, "-c", program], tmp_path / "output")
    end = time.monotonic() + 60
    while (progress := rehearsal.progress())["working"]:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert progress == {"working": False, "failed": False, "lines": ["Fertig für heute"]}


def test_requests_at_once_get_one_password(tmp_path: Path) -> None:
    start = Barrier(8)

    def ask(number: int) -> str:
        start.wait()
        return password(project)

    for number in range(5):
        project = Project("id", tmp_path / str(number), "name", "title", "draft", 0.0)
        with ThreadPoolExecutor(8) as pool:
            (given,) = set(pool.map(ask, range(8)))
        assert given == password(project) != ""
