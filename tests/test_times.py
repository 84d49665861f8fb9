"""Points in time, as result files spell them."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

import karat
from karat.judgments.times import instants

FOUR = datetime(2026, 5, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["2026-05-03T04:05:00Z", "2026-05-03 04:05", "2026-05-03T06:05+02:00", "2026-05-03 06:05:00+02", "1777781100",
     "1777781100000", "03.05.2026 04:05", "3.5.2026, 4:05", "3.5.2026 4:05:00"],
)  # fmt: skip
def test_one_point_in_many_spellings(text: str) -> None:
    assert instants(pl.Series([text])).to_list() == [FOUR]


@pytest.mark.parametrize(
    "text", ["soon", "09:05", "1899-12-31 09:05:00", "2150-01-01T00:00Z", "31.02.2026 10:00", "12"]
)
def test_what_is_none(text: str) -> None:
    assert instants(pl.Series([text])).to_list() == [None]


def test_a_date_of_1899_is_none_in_any_type() -> None:
    assert instants(pl.Series([datetime(1899, 12, 31, 9, 5)])).to_list() == [None]


@pytest.mark.parametrize(
    ("times", "values"),
    [
        (["2026-03-01T09:05+02:00", "2026-03-01T08:02"], True),
        (["2026-03-01T09:05", "2026-03-01T08:02"], False),
        (["2026-03-01T09:05Z", None], False),
    ],
)
def test_zones_that_some_lack_are_reported(times: list[str | None], values: bool) -> None:
    rows = {"participant": ["p", "p"], "item": ["a", "b"], "response": [1, 2], "time": times}
    notes = karat.Judgments(rows, karat.Ordinal(5)).notes
    found = [(note.values["n"], note.values["times"]) for note in notes if note.code == "time.no_zone"]
    assert found == ([(1, 2)] if values else [])
