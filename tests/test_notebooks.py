"""The notebooks are those of the tutorials, and run from top to bottom."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nbformat
import pytest

from conftest import ROOT
from tools import make_results
from tools.make_notebooks import notebook, notebooks

FOLDER = ROOT / "docs" / "notebooks"


def test_there_is_one_for_each_tutorial() -> None:
    assert sorted(path.name for path in FOLDER.glob("*.ipynb")) == sorted(notebooks())
    tutorials = {path.stem for path in (ROOT / "docs" / "tutorials").glob("*.md")}
    assert tutorials - {Path(name).stem for name in notebooks()} == {"install", "browser-app", "studio"}


@pytest.mark.parametrize("name", list(notebooks()))
def test_its_tutorial_says_so(name: str) -> None:
    page = (ROOT / "docs" / "tutorials" / name).with_suffix(".md").read_text(encoding="utf-8")
    assert f"[as a notebook](../notebooks/{name})" in page
    assert "as a notebook" not in notebooks()[name]


@pytest.mark.parametrize("name", list(notebooks()))
def test_it_is_that_of_the_tutorial(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == notebooks()[name], "run python tools/make_notebooks.py"


def test_blocks_become_cells() -> None:
    blocks = [("python", "x = 1"), ("console", "$ karat a\nsaid\n$ karat b"), ("toml", "y = 2")]
    blocks += [("console", "$ karat serve a\nsaid")]
    page = "# A\n[b](b.md#c), [d](../d.md)\n" + "".join(f"```{name}\n{text}\n```\n" for name, text in blocks)
    made = nbformat.reads(notebook(page), as_version=4)
    lines = [(cell.cell_type, cell.source) for cell in made.cells]
    assert lines == [
        ("markdown", "# A\n[b](../tutorials/b.md#c), [d](../d.md)"),
        ("code", "x = 1"),
        ("code", "!karat a\n!karat b"),
        ("markdown", "```toml\ny = 2\n```\n```console\n$ karat serve a\nsaid\n```"),
    ]


# What notebooks compute is computed by the tests of their pages too, in the default run.
@pytest.mark.slow
@pytest.mark.parametrize("name", list(notebooks()))
def test_it_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient  # takes a second to load

    # The kernel finds karat where this Python has it, and leaves no traces in the home folder.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    folder = tmp_path / "page"
    folder.mkdir()
    shutil.copy(make_results.PATH, folder)
    for sheet in (ROOT / "docs" / "tutorials").glob("*.csv"):  # readers download them
        shutil.copy(sheet, folder)
    read = nbformat.read(FOLDER / name, as_version=4)
    ran = NotebookClient(read, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in ran.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs
    streams = "".join(output.text for output in outputs if output.output_type == "stream")
    assert "Traceback" not in streams
    assert "command not found" not in streams
    if name == "python.ipynb":
        shown = [output.data.get("text/html", "") for output in outputs if output.output_type == "execute_result"]
        assert sum("<svg" in page for page in shown) >= 2
