"""The measured error of rt: what the benchmark makes of its trials, the page that it writes, and a few real trials."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.timing import (
    BEGIN,
    END,
    FRAME,
    HEADING,
    KINDS,
    PAGE,
    SPEEDS,
    Plan,
    delays,
    measure,
    section,
    table,
    written,
)
from field.browser import MISSING, chromium_path
from field.web.stub import WEB
from messages import refuses

FEW = 11
ROW = re.compile(r"\| (\w+) \| ([\w ]+) \| (\d+) \|((?: −?\d+\.\d \|){5}) (\d+) % \|")


def made_up(errors: list[float]) -> pl.DataFrame:
    """Trials of every kind at every speed with the same errors."""
    rows = [(slower, kind, f"{kind}{slower}", error) for slower in SPEEDS for kind in KINDS for error in errors]
    return pl.DataFrame(rows, schema=["slower", "kind", "participant", "error"], orient="row").with_columns(
        beyond=pl.col("error") + 5, isolated=True, frame_rate=60.0, resolution=0.005, version=pl.lit("1.2")
    )


def figures(text: str) -> list[tuple[str, str, int, list[float], int]]:
    """The rows of all tables in a text."""
    assert text.count(HEADING) == 2
    return [
        (kind, speed, int(trials), [float(value) for value in values.replace("−", "-").split("|")[:-1]], int(share))
        for kind, speed, trials, values, share in ROW.findall(text)
    ]


def test_a_table() -> None:
    errors = [-20.0, -1.0, 0.0, 1.0, 40.0]
    result = figures(section(made_up(errors), load=0.1))
    assert [(kind, speed) for kind, speed, *_ in result] == 2 * [(k, s) for s in SPEEDS.values() for k in KINDS]
    _, _, trials, values, share = result[0]
    expected = [4.0, np.std(errors, ddof=1), -16.2, 0.0, 32.2]
    assert trials == 5
    assert values == pytest.approx(expected, abs=0.05)
    assert share == 40
    assert result[6][3][0] == pytest.approx(9.0)  # the second table is of the other difference


def test_trials_with_ignored_input_have_no_delay() -> None:
    measured = made_up([1.0, 2.0, 3.0]).with_columns(beyond=pl.when(pl.col("error") > 1).then(500.0).otherwise(None))
    assert "| mouse | full speed | 2 | 500.0 |" in table(measured, "beyond")[2]


def test_delays_cover_the_range() -> None:
    waits = delays(50, seed=3)
    assert min(waits) == pytest.approx(200)
    assert max(waits) == pytest.approx(3000)
    assert waits != sorted(waits)
    assert waits == delays(50, seed=3)


def test_figures_are_put_between_the_marks() -> None:
    page = f"Before.\n\n{BEGIN}\n\nold\n\n{END}\n\nAfter.\n"
    assert written(page, "new") == f"Before.\n\n{BEGIN}\n\nnew\n\n{END}\n\nAfter.\n"
    with refuses(ValueError, BEGIN, END):
        written("Before.", "new")


def test_the_page_has_the_figures_of_the_benchmark() -> None:
    text = PAGE.read_text(encoding="utf-8")
    result = figures(text.partition(BEGIN)[2].partition(END)[0])
    assert [(kind, speed) for kind, speed, *_ in result] == 2 * [(k, s) for s in SPEEDS.values() for k in KINDS]
    for _, speed, trials, (_, sd, low, median, high), _ in result[:6]:
        assert trials >= (100 if speed == SPEEDS[1] else 30)
        assert sd > 0
        assert low <= median <= high
    assert written(text, text.partition(BEGIN)[2].partition(END)[0].strip()) == text


@pytest.mark.slow
@pytest.mark.browser
def test_rt_is_within_a_frame_of_what_a_probe_sees(tmp_path: Path) -> None:
    """The median of a few trials, by the page's own clock: single ones may be late on a busy machine."""
    pytest.importorskip("playwright.async_api", reason="playwright is not installed: make setup-dev")
    if chromium_path() is None:
        pytest.skip(MISSING)
    if not (WEB / "vendor" / "jspsych.js").is_file():
        pytest.skip("the browser assets are missing: make setup")
    with ThreadPoolExecutor(1) as thread:  # apart from the event loop that the browser of other tests may have here
        measured = thread.submit(measure, tmp_path, [Plan("key", 1, FEW, longest=500.0)]).result()
    assert measured.height == FEW
    assert measured["isolated"].all()
    assert abs(float(np.median(measured["error"]))) < FRAME
    assert measured["rt"].min() >= 0.15  # what comes sooner is no answer
