"""Which pairs of a pre-study are kept, by both readings of the published rule."""

from __future__ import annotations

import pytest

import karat
from karat.measure import MeasureError, suitability

RATINGS = {
    "good": [5, 4, 5, 4],
    "low": [2, 3, 2, 3],
    "split": [5, 5, 1, 5],
    "bad": [1, 5, 1, 2],
    "edge": [3, 3, 3, 3.8],
}


def prestudy() -> karat.Judgments:
    rows = [(f"p{n}", pair, point) for pair, points in RATINGS.items() for n, point in enumerate(points)]
    names = ("participant", "item", "response")
    return karat.Judgments(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), karat.Continuous(1, 5))


def test_both_and_either() -> None:
    both, either = suitability(prestudy()), suitability(prestudy(), "either")
    assert both.dropped == ["bad"]
    assert either.kept == ["good", "edge"]
    assert str(both).endswith('With rule="either" it would be 2.')
    assert "mean under 3.2 or a standard deviation over 1.2" in str(either)


def test_reasons_and_numbers() -> None:
    table = {row["pair"]: row for row in suitability(prestudy(), "either").pairs.to_dicts()}
    assert table["low"]["reason"] == "mean 2.5 is under 3.2"
    assert table["split"]["reason"] == "standard deviation 2.0 over 1.2"
    assert (table["bad"]["mean"], table["bad"]["n"]) == (2.25, 4)
    assert table["bad"]["sd"] == pytest.approx(1.8930, abs=1e-4)
    assert suitability(prestudy()).table()["pair"][0] == "good"


def test_limits_are_not_themselves_too_low_or_too_wide() -> None:
    assert "edge" in suitability(prestudy(), "either", mean=3.2).kept
    assert "edge" in suitability(prestudy(), "either", mean=3.3).dropped


def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(MeasureError, match='"both" or "either"'):
        suitability(prestudy(), "any")  # type: ignore[arg-type]
    once = karat.Judgments({"participant": ["p1"], "item": ["a"], "response": [3]}, karat.Ordinal(5))
    with pytest.raises(MeasureError, match="a was rated once only"):
        suitability(once)
    with pytest.raises(MeasureError, match="no answers"):
        suitability(prestudy(), functions=("filler",))
