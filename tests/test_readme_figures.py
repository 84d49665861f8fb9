"""The figures in docs/performance.md: which benchmark writes each of them, and how; the README quotes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.marked import write_rows
from conftest import ROOT
from messages import refuses

SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))
TABLE = """| what | beside | ratio | command |
| --- | --- | --- | --- |
| `karat --help` | `import polars` | 0.9 times | `python benchmarks/start.py` |
| reading | polars | ? | `python benchmarks/read.py` |
"""


def rows() -> list[list[str]]:
    """The cells of every row with a benchmark."""
    lines = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8").splitlines()
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "`python benchmarks/" in line]
    assert table
    return table


@pytest.mark.parametrize("cells", rows(), ids=lambda cells: cells[0][:40])
def test_each_row_is_written_by_the_benchmark_that_it_names(cells: list[str]) -> None:
    what, _, ratio, command = cells
    script = re.search(r"benchmarks/(\w+)\.py", command)
    assert script
    name = script[1]
    places = [ROOT / "benchmarks" / f"{name}.py", *(ROOT / "benchmarks").glob(f"{name.split('_')[0]}_parts/page.py")]
    assert any(what in place.read_text(encoding="utf-8") for place in places), what
    assert re.search(r"\d", ratio), f"{what} has not been measured"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_benchmark_writes_what_it_measured(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert '"--write"' in text
    assert "[--write]" in text.partition("\n")[0] or "--write" in text.split('"""')[1]


def test_the_readme_quotes_measured_figures() -> None:
    """Quantities in the README are those of a measured row; a wrong figure would be found nowhere else."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("## What makes it different")[2]
    measured = " ".join(cells[0] + " " + cells[2] for cells in rows())
    quoted = re.findall(r"\d[\d,]* of (?:\d[\d,]*)|\d[\d,]* times|\d{1,3}(?:,\d{3})+", readme)
    assert len(quoted) >= 4
    assert [figure for figure in quoted if figure not in measured] == []


def test_only_the_ratio_of_a_row_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text(TABLE, encoding="utf-8")
    write_rows({"reading": "3.1 times"}, page)
    assert page.read_text(encoding="utf-8") == TABLE.replace("| ? |", "| 3.1 times |")


@pytest.mark.parametrize(("table", "number"), [("", 0), (TABLE + TABLE, 2)])
def test_a_row_that_is_missing_or_there_twice_is_named(tmp_path: Path, table: str, number: int) -> None:
    page = tmp_path / "performance.md"
    page.write_text(table, encoding="utf-8")
    with refuses(SystemExit, page, f"{number} rows", "| reading |"):
        write_rows({"reading": "3.1 times"}, page)
