"""Ratings in a table: aligned, averaged, and honest about what hangs together."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure import MeasureError, ratings_matrix
from karat.measure.dimensions.matrix import rating_of
from karat.messages import Message
from measure.differential import PAIRS, differential
from messages import raises


def small(**columns: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "participant": ["p1"] * 4, "item": ["a", "a", "b", "b"], "question": ["clear", "simple"] * 2,
        "response": [7, 2, 3, 6],
    }  # fmt: skip
    return plain | columns


def test_every_cell_beside_a_loop() -> None:
    judgments = differential(people=8)
    found = ratings_matrix(judgments)
    cells = {(row["participant"], row["item"]): row for row in found.frame.to_dicts()}
    for row in judgments.frame.to_dicts():
        point = int(row["response"])
        assert cells[row["participant"], row["item"]][row["question"]] == (
            point if row["polarity"] == 1 else 8 - point
        )  # fmt: skip
    assert found.pairs == PAIRS
    assert found.values.shape == (24, 6)


def test_texts_are_means_over_participants() -> None:
    judgments = differential(people=20)
    cases, texts = ratings_matrix(judgments).frame, ratings_matrix(judgments, "text")
    expected = cases.group_by("item").agg(pl.col(PAIRS).mean()).sort("item")
    assert texts.frame.sort("item").equals(expected)
    assert texts.notes == ()


def test_cases_that_hang_together_are_reported() -> None:
    (note,) = ratings_matrix(differential(people=10)).notes
    assert note == Message("ratings.dependent_cases", {"cases": 30, "participants": 10})


def test_only_test_trials_unless_asked() -> None:
    judged = karat.Judgments(small(function=["test", "test", "filler", "filler"]), karat.Ordinal(7))
    assert ratings_matrix(judged).frame["item"].to_list() == ["a"]
    assert ratings_matrix(judged, functions=("test", "filler")).frame["item"].to_list() == ["a", "b"]
    with raises(MeasureError, "rated.no_answers"):
        ratings_matrix(judged, functions=("control",))


def test_repeated_answers_are_averaged_missing_stay_missing() -> None:
    table = small(item=["a", "a", "a", "b"], question=["clear", "simple", "clear", "simple"], response=[7, 2, 5, None])
    found = ratings_matrix(karat.Judgments(table, karat.Ordinal(7)))
    assert found.frame.rows() == [("p1", "a", 6.0, 2.0)]
    assert Message("ratings.averaged", {"n": 1}) in found.notes
    table["response"] = [7, 2, None, 3]
    found = ratings_matrix(karat.Judgments(table, karat.Ordinal(7)))
    assert np.isnan(found.values[1, 0])
    (summary,) = found.summary
    assert summary.values["missing"] == 1


def test_a_missing_polarity_is_reported() -> None:
    found = ratings_matrix(karat.Judgments(small(), karat.Ordinal(7)))
    assert Message("ratings.no_polarity") in found.notes
    found = ratings_matrix(karat.Judgments(small(polarity=[1, None, 1, -1]), karat.Ordinal(7)))
    assert Message("ratings.polarity_missing", {"n": 1}) in found.notes


@pytest.mark.parametrize(
    ("scale", "response", "expected"),
    [
        (karat.Ordinal(range(-3, 4)), "2", [2.0, -2.0]),
        (karat.Ordinal(["low", "middle", "high"]), "high", [3.0, 1.0]),
        (karat.Continuous(0, 100), "30", [30.0, 70.0]),
        (karat.Continuous(), "30", [30.0, -30.0]),
        (karat.Binary(), "1", [1.0, 0.0]),
    ],
)
def test_answers_of_each_scale_are_turned(
    scale: karat.judgments.scales.Scale, response: str, expected: list[float]
) -> None:
    frame = pl.DataFrame({"response": [response] * 2, "polarity": [1, -1]})
    assert frame.select(rating_of(scale, aligned=True)).to_series().to_list() == expected


def test_what_cannot_be_a_differential_is_refused() -> None:
    table = small()
    with raises(MeasureError, "ratings.no_questions"):
        ratings_matrix(karat.datasets.load("likert"))
    with raises(MeasureError, "ratings.one_pair"):
        ratings_matrix(karat.Judgments(table | {"question": ["clear"] * 4}, karat.Ordinal(7)))
    with raises(MeasureError, "ratings.pair_name"):
        ratings_matrix(karat.Judgments(table | {"question": ["clear", "item"] * 2}, karat.Ordinal(7)))
    with raises(MeasureError, "ratings.no_numbers"):
        ratings_matrix(karat.Judgments(table, karat.Nominal(range(1, 8))))
    with raises(MeasureError, "setting.refused", setting="unit"):
        ratings_matrix(differential(people=5), "person")  # type: ignore[arg-type]


def test_some_pairs_alone() -> None:
    found = ratings_matrix(differential(people=6)).only(["simple", "clear"])
    assert found.frame.columns == ["participant", "item", "simple", "clear"]
    with raises(MeasureError, "ratings.no_pair"):
        found.only(["warm"])
