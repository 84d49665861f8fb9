"""karat report: what it reads, writes and says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from karat.cli.report import report
from karat.errors import KaratError
from messages import refuses

ROWS = "participant,item,response,trial\n" + "".join(
    f"p{person},{item},{1 + (3 * person + number) % 5},{number}\n"
    for person in range(4)
    for number, item in enumerate("abcd", start=1)
)


def run(*arguments: str | Path) -> str:
    app = typer.Typer()
    app.command()(report)
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    if isinstance(done.exception, KaratError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_text(ROWS)
    return path


def test_it_writes_a_page_and_says_so(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    output = run(results, "--scale", "ordinal:1-5", "-o", out)
    assert f"written    {out}" in output
    assert "4 participants" in output
    assert "karat report" in out.read_text(encoding="utf-8")


@pytest.mark.slow
def test_markdown_in_german_and_json_on_the_terminal(results: Path, tmp_path: Path) -> None:
    output = run(results, "--scale", "ordinal:1-5", "--format", "md", "--language", "de", "-o", tmp_path / "page.md")
    assert "figures in" in output
    assert "## Text für den Artikel" in (tmp_path / "page.md").read_text(encoding="utf-8")
    data = json.loads(run(results, "--scale", "ordinal:1-5", "--json"))
    assert data["screening"]["summary"]["participants"] == 4


def test_nothing_is_overwritten_or_written_by_mistake(results: Path, tmp_path: Path) -> None:
    with refuses(KaratError, "page.pdf", ".json", ".md", "page.html"):
        run(results, "-o", tmp_path / "page.pdf")
    with refuses(KaratError, results):
        run(results, "--format", "html", "-o", results)
    assert results.read_text() == ROWS


@pytest.mark.slow
def test_rules_alone_exclude_and_have_a_source(results: Path, tmp_path: Path) -> None:
    rules, out = tmp_path / "rules.toml", tmp_path / "page.md"
    rules.write_text("[screening]\ncompletion = { trials = 4 }\n")
    results.write_text(ROWS + "late,a,3,1\n")
    output = run(results, "--scale", "ordinal:1-5", "--rules", rules, "-o", out)
    assert "4 of 5 participants" in output
    assert "The exclusion criteria were chosen for this analysis" in out.read_text(encoding="utf-8")
