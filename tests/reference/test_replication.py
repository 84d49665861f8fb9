"""The pages on published studies are what the script makes of the data now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.make_replication import FOLDER
from tools.replication.acceptability.page import page as acceptability
from tools.replication.crowd.page import page as crowd
from tools.replication.markdown import decimals, probability, same, table, wrapped
from tools.replication.measures.page import page as measures

LARGEST_FIGURE = 200_000
DRAWN_BY_HAND = "flow-"
AGAIN = "run make replication"


@pytest.fixture(scope="module")
def made(reference: Path) -> dict[str, str]:
    """The first page and its figures, drawn now."""
    return acceptability(reference)


@pytest.fixture(scope="module")
def acceptability_page(reference: Path) -> str:
    """The first page as it is stored."""
    return (FOLDER / "acceptability.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def crowd_page(reference: Path) -> str:
    """The second page as it is stored."""
    return (FOLDER / "crowd.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def measures_page(reference: Path) -> str:
    """The third page as it is stored."""
    return (FOLDER / "measures.md").read_text(encoding="utf-8")


def figures_of(page: str) -> set[str]:
    return set(re.findall(r"\]\((figures/[^)]*)\)", page))


def words(svg: str) -> list[str]:
    """Title, description and texts of a figure. Its coordinates may differ in the last digit between machines."""
    return re.findall(r"<(?:title|desc|text)\b[^>]*>([^<]*)<", svg)


def compare(made: dict[str, str]) -> None:
    for name, text in made.items():
        written = (FOLDER / name).read_text(encoding="utf-8")
        if name.endswith(".svg") and DRAWN_BY_HAND not in name:
            assert words(text), name
            assert words(written) == words(text), AGAIN
        else:
            assert written == text, AGAIN


@pytest.mark.slow
def test_the_page_on_acceptability_is_that_of_the_script(made: dict[str, str]) -> None:
    compare(made)


@pytest.mark.slow
def test_the_page_on_crowds_is_that_of_the_script(reference: Path, crowd_page: str) -> None:
    found = crowd(reference)
    compare(found)
    assert set(found) == {"crowd.md"} | figures_of(crowd_page)


@pytest.mark.slow
def test_the_page_on_measures_is_that_of_the_script(reference: Path, measures_page: str) -> None:
    found = measures(reference)
    compare(found)
    assert set(found) == {"measures.md"} | figures_of(measures_page)


@pytest.mark.slow
def test_there_are_no_other_files(made: dict[str, str], crowd_page: str, measures_page: str) -> None:
    files = {str(path.relative_to(FOLDER).as_posix()) for path in FOLDER.rglob("*") if path.is_file()}
    stored = {"crowd.md", "measures.md"} | figures_of(crowd_page) | figures_of(measures_page)
    assert files == set(made) | stored


def test_figures_of_acceptability_are_small(acceptability_page: str) -> None:
    assert len(figures_of(acceptability_page)) == 8
    for name in figures_of(acceptability_page):
        assert (FOLDER / name).stat().st_size < LARGEST_FIGURE, name
        assert words((FOLDER / name).read_text(encoding="utf-8")), name


def test_figures_of_the_crowd_are_small(crowd_page: str) -> None:
    assert len(figures_of(crowd_page)) == 12
    for name in figures_of(crowd_page):
        assert name.startswith("figures/crowd-")
        assert (FOLDER / name).stat().st_size < LARGEST_FIGURE, name
        assert words((FOLDER / name).read_text(encoding="utf-8")), name


def test_figures_of_the_measures_are_small(measures_page: str) -> None:
    assert len(figures_of(measures_page)) == 3
    for name in figures_of(measures_page):
        assert name.startswith("figures/measures-")
        assert (FOLDER / name).stat().st_size < LARGEST_FIGURE, name
        assert words((FOLDER / name).read_text(encoding="utf-8")), name


def test_the_numbers_of_the_measures_that_matter(measures_page: str) -> None:
    """What the page must say, whatever else changes: printed counts, golden values, and what cannot be repeated."""
    for row in (
        "| target pairs, first session | 19 | 0 / 0 | 14 / 14 | 5 / 5 |",
        "| Likert, others | 19 | 2 / 2 | 0 / 0 | 17 / 17 |",
        "| KMO | .901 | .894 | .894 |",
        "| chi-squared of four factors | 2.06 | 0.84 | 0.84 |",
        "| choice, two sessions | 4 | 2/3 | .198 | 8 |",
    ):
        assert f"\n{row}\n" in measures_page, row
    assert "143 of 150 pairs" in " ".join(measures_page.split())
    assert "The judgments of neither study are public." in measures_page


def test_the_numbers_of_the_crowd_that_matter(crowd_page: str) -> None:
    """What the page must say, whatever else changes: the published and golden values."""
    for row in (
        "| Spammer Index | .166 | .1663 | .1663 |",
        '| ICC(A,1), printed as "ICC(C,1)" | .438 | .4382 | .4382 |',
        "| primary choice | 28 | 20.6 | .3471 | .3471 | .3471 | .261 to .441 |",
        "| cutoff | 0.002212449 | 0.002212449 | 0.002212449 |",
        "| flagged | 6 | 6 | 6 |",
        "| `binary_sim`, karat | .1092 | .2127 | 11 |",
        "| high | 9 | 9 | 9 | 9 |",
    ):
        assert f"\n{row}\n" in crowd_page, row
    assert "\n| all | 29 (18) | 29 (18) | 29 (18) | " in crowd_page
    assert "the airport data are not public" in crowd_page


def test_the_numbers_that_matter(acceptability_page: str) -> None:
    """What the page must say, whatever else changes: the golden counts, and the rule that the paper meant."""
    for row in (
        "| Forced choice | intermissions | 218 | 218 | 218 |",
        "| Likert | rushes | 16 | 16 | 16 |",
        "| control, as published | 6 and 8 of 12 (.048) | 6 and 8 of 12 (.048) | 9 | 9 | 9 | yes |",
        "| control, as intended | 9 and 7 of 12 (.036) | 9 and 7 of 12 (.036) | – | 9 | 9 | yes |",
        "| p035 | flagged | passes | nothing | 11 | 7 |",
        "| Likert | 36 | 36 | 36 | yes | 37 |",
        "| 3 | 15,625 | .4440 | .4440 | .0449 | .0449 | .0564 | **.0564** |",
    ):
        assert f"\n{row}\n" in acceptability_page, row
    assert "no: " not in "".join(line for line in acceptability_page.splitlines() if line.startswith("|"))


def test_tables_and_numbers() -> None:
    assert table(("a", "b"), [("x", 1)]) == "| a | b |\n| --- | ---: |\n| x | 1 |\n"
    assert (decimals(0.04824), decimals(1.0), probability(0.0004), probability(0.842)) == (
        ".048",
        "1.000",
        "< .001",
        ".842",
    )
    assert same(["p1", "p2"], ["p2", "p1"]) == "yes"
    assert same(["p1"], ["p2"], ["p1"]) == "no: 2 differ"


def test_only_paragraphs_are_set_anew() -> None:
    long = "word " * 40
    kept = f"| {long}|\n| {long}|"
    text = wrapped(f"# Title\n\n{long}\n\n{kept}\n\n- one\n  and more\n- two\n")
    assert max(len(line) for line in text.splitlines() if line.startswith("word")) <= 120
    assert kept in text
    assert text.endswith("\n\n- one and more\n- two\n")
