"""The documentation: it builds strictly, its pages are those of the code, and every example in it runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from tools.make_reference import pages

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIXTURES = ROOT / "tests" / "intake" / "fixtures"


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python and console blocks of a page run in order, in one folder that has the readers' example files."""
    folder = tmp_path / "page"
    shutil.copytree(FIXTURES, folder)
    monkeypatch.chdir(folder)
    names: dict[str, object] = {"__name__": "__page__"}
    for language, text in blocks(page):
        if language == "python":
            exec(compile(text, str(page), "exec"), names)
        elif language == "console":
            for command, expected in commands(text):
                assert_told(command, expected, run(command))


def commands(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that it should print."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line.rstrip())
    return found


def run(command: str) -> list[str]:
    """What a command prints, on either stream, blank lines left out."""
    program = f'"{sys.executable}" -m karat'
    done = subprocess.run(
        re.sub(r"^karat\b", lambda _: program, command),
        shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"COLUMNS": "120", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    return [line.rstrip() for line in done.stdout.splitlines() if line.strip()]


def assert_told(command: str, expected: list[str], told: list[str]) -> None:
    """Compare line by line; a line `...` stands for any lines, three dots inside a line for any text."""
    lines = [line for line in expected if line.strip()]
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n" for line in lines
    )
    text = "".join(line + "\n" for line in told)
    assert re.fullmatch(pattern, text), f"$ {command}\nprinted:\n{text}\nthe page says:\n" + "\n".join(lines)


def test_the_comparison_can_fail() -> None:
    assert_told("x", ["a", "...", "c 1 ... 3"], ["a", "b", "b", "c 1 2 3"])
    for wrong in (["a"], ["a", "c 1 2 4"], ["b", "c 1 2 3"]):
        with pytest.raises(AssertionError):
            assert_told("x", ["a", "...", "c 1 ... 3"], wrong)


def test_it_builds_strictly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "reference" / "sources" / "index.html").is_file()
    home = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "fonts.g" + "oogleapis" not in home


@pytest.mark.parametrize("name", list(pages()))
def test_generated_pages_are_those_of_the_code(name: str) -> None:
    told = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert told == pages()[name], "run python tools/make_reference.py"


def test_every_source_is_documented() -> None:
    from karat.intake.readers import READERS

    text = (ROOT / "docs" / "reference" / "sources.md").read_text(encoding="utf-8")
    assert [reader.name for reader in READERS if f"`{reader.name}`" not in text] == []


def test_figures_in_the_readme_name_their_command() -> None:
    rows = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if " times " in line]
    assert rows
    for line in rows:
        script = re.search(r"`python (benchmarks/\w+\.py)`", line)
        assert script, line
        assert (ROOT / script[1]).is_file()
