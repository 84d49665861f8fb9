"""Adequacy of answers for factors, and which pairs of a pre-study are kept by the published rule."""

from __future__ import annotations

import numpy as np
import pytest

import karat
from karat.measure import MeasureError, adequacy, ratings_matrix, suitability
from karat.measure.dimensions.adequacy import word
from karat.messages import Message
from measure.differential import differential
from messages import codes, raises

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
    assert both.notes == (Message("suitability.other_rule", {"rule": "either", "kept": 2}),)
    about = {"kept": 2, "pairs": 5, "mean": 3.2, "sd": 1.2}
    assert either.summary == (Message("suitability.either", about),)
    assert codes(both.summary) == ["suitability.both"]


def test_reasons_and_numbers() -> None:
    table = {row["pair"]: row for row in suitability(prestudy(), "either").pairs.to_dicts()}
    assert {pair: row["message"] for pair, row in table.items()} == {
        "good": "suitability.suitable", "low": "suitability.low", "split": "suitability.wide",
        "bad": "suitability.low_and_wide", "edge": "suitability.suitable",
    }  # fmt: skip
    assert table["low"]["values"] == pytest.approx({"mean": 2.5, "sd": 0.57735, "mean_limit": 3.2, "sd_limit": 1.2})
    assert (table["bad"]["mean"], table["bad"]["n"]) == (2.25, 4)
    assert table["bad"]["sd"] == pytest.approx(1.8930, abs=1e-4)
    shown = suitability(prestudy()).table()
    assert shown.row(0, named=True)["pair"] == "good"
    assert shown.columns[-1] == "reason"
    assert shown["reason"].null_count() == 0


def test_limits_are_not_themselves_too_low_or_too_wide() -> None:
    assert "edge" in suitability(prestudy(), "either", mean=3.2).kept
    assert "edge" in suitability(prestudy(), "either", mean=3.3).dropped


def test_what_cannot_be_asked_for() -> None:
    with raises(MeasureError, "setting.refused", setting="rule"):
        suitability(prestudy(), "any")  # type: ignore[arg-type]
    once = karat.Judgments({"participant": ["p1"], "item": ["a"], "response": [3]}, karat.Ordinal(5))
    with raises(MeasureError, "suitability.one_rating"):
        suitability(once)
    with raises(MeasureError, "suitability.no_answers"):
        suitability(prestudy(), functions=("filler",))


def test_a_differential_is_adequate_and_says_so() -> None:
    found = adequacy(ratings_matrix(differential()))
    assert 0.7 < found.kmo < 0.9
    assert found.bartlett.p_value < 1e-10
    kmo, bartlett = found.summary
    assert (kmo.code, kmo.values["word"]) == ("adequacy.kmo", word(found.kmo))
    assert (bartlett.code, bartlett.values["cases"]) == ("adequacy.bartlett", 180)
    assert bartlett.values["p"] == found.bartlett.p_value
    assert found.table()["kmo"].is_sorted()
    assert "ratings.dependent_cases" in [note.code for note in found.notes]


def test_a_pair_that_belongs_to_nothing_is_named() -> None:
    random = np.random.default_rng(1)
    values = np.column_stack([
        random.standard_normal((80, 1)) + 0.5 * random.standard_normal((80, 3)), random.standard_normal(80)
    ])  # fmt: skip
    found = adequacy({name: values[:, number].tolist() for number, name in enumerate(("a", "b", "c", "noise"))})
    assert found.table()["pair"][0] == "noise"
    assert found.summary[-1] == Message("adequacy.low", {"limit": 0.5, "pairs": ["noise"]})


@pytest.mark.parametrize(("value", "text"), [(0.95, "marvellous"), (0.5, "miserable"), (0.49, "unacceptable")])
def test_kaisers_words(value: float, text: str) -> None:
    assert word(value) == text


def test_too_few_cases_are_refused() -> None:
    with raises(MeasureError, "adequacy.too_few_cases", cases=4, pairs=3):
        adequacy([[1, 0.6, 0.5], [0.6, 1, 0.4], [0.5, 0.4, 1]], observations=4)
