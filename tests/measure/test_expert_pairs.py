"""Pairs come from tables, files, lists, or the columns of the judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import karat
from karat.judgments.scales import Scale
from karat.measure import MeasureError
from karat.measure.pairs.decisions import expert_pairs
from karat.measure.rated import Rated, rated
from messages import raises

ROWS = [("1", "a", "b"), ("2", "d", "c")]


def one_of(table: dict[str, Any], scale: Scale) -> Rated:
    (one,) = rated(karat.Judgments(table, scale), "decisions")
    return one


def ratings(**columns: list[str]) -> Rated:
    table: dict[str, Any] = {
        "participant": ["p1"] * 4,
        "item": list("abcd"),
        "response": [1, 2, 3, 4],
        "pair": list("1122"),
    }
    return one_of(table | columns, karat.Ordinal(5))


def test_all_forms_say_the_same(tmp_path: Path) -> None:
    one = ratings()
    frame = pl.DataFrame(ROWS, schema=["pair", "better", "worse"], orient="row")
    frame.write_csv(tmp_path / "pairs.csv")
    for given in (ROWS, frame, tmp_path / "pairs.csv", str(tmp_path / "pairs.csv"), frame.to_dict(as_series=False)):
        assert expert_pairs(given, one).rows() == ROWS
    assert expert_pairs([(1, "a", "b")], one).rows() == [("1", "a", "b")]


def test_pairs_of_ratings_follow_from_status_or_expectation() -> None:
    status = ["grammatical", "ungrammatical", "marked", "grammatical"]
    assert expert_pairs(None, ratings(status=status)).rows() == ROWS
    assert expert_pairs(None, ratings(expected=["4-5", "1-2", "1", "2|3"])).rows() == ROWS


def test_pairs_of_magnitudes_follow_from_expectation() -> None:
    table: dict[str, Any] = {"participant": ["p1"] * 2, "item": ["a", "b"], "response": [10, 90], "pair": ["1", "1"]}
    one = one_of(table | {"expected": ["1-20", "50-100"]}, karat.Magnitude())
    assert expert_pairs(None, one).rows() == [("1", "b", "a")]


def test_pairs_of_choices_follow_from_the_right_side() -> None:
    table: dict[str, Any] = {
        "participant": ["p1", "p2", "p1"], "item": ["ab", "ab", "cd"], "response": ["left", "right", "left"],
        "left": ["a", "b", "c"], "right": ["b", "a", "d"], "expected": ["left", "right", "right"],
    }  # fmt: skip
    assert expert_pairs(None, one_of(table, karat.Choice())).rows() == [("ab", "a", "b"), ("cd", "d", "c")]
    named = one_of(table | {"pair": ["1", "1", None]}, karat.Choice())
    assert expert_pairs(None, named)["pair"].to_list() == ["1", "cd"]


def test_choices_without_a_better_side_need_a_table_of_pairs() -> None:
    table = {
        "participant": ["p1"],
        "item": ["ab"],
        "response": ["left"],
        "left": ["a"],
        "right": ["b"],
        "expected": [None],
    }
    with raises(MeasureError, "decisions.choices_without_pairs"):
        expert_pairs(None, one_of(table, karat.Choice()))


def test_a_key_that_contradicts_itself_is_reported() -> None:
    table = {
        "participant": ["p1", "p2"], "item": ["ab", "ab"], "response": ["left", "right"],
        "left": ["a", "b"], "right": ["b", "a"], "expected": ["left", "left"],
    }  # fmt: skip
    with raises(MeasureError, "decisions.repeated_pairs", pairs=["ab"], more=None):
        expert_pairs(None, one_of(table, karat.Choice()))


@pytest.mark.parametrize(
    ("given", "code", "values"),
    [
        ([], "no_pairs", {}),
        ([("1", "a")], "pairs_of_list", {}),
        (["abc"], "pairs_of_list", {}),
        ([("97", "a", "a")], "same_stimulus", {"pairs": ["97"], "more": None}),
        ([*ROWS, ROWS[0]], "repeated_pairs", {"pairs": ["1"], "more": None}),
        ({"pair": ["1"], "better": ["a"]}, "missing_column", {"column": "worse"}),
        ({"pair": ["1"], "better": ["a"], "worse": [None]}, "incomplete_pairs", {"n": 1}),
        ("nowhere.csv", "no_file", {"file": "nowhere.csv"}),
        (None, "ratings_without_pairs", {}),
    ],
)
def test_what_is_wrong_with_pairs_is_said(given: object, code: str, values: dict[str, object]) -> None:
    with raises(MeasureError, f"decisions.{code}", **values):
        expert_pairs(given, ratings())


def test_unclear_pairs_of_ratings_are_reported() -> None:
    status = ["grammatical", "ungrammatical", "marked", "marked"]
    with raises(MeasureError, "decisions.unclear_pairs", pairs=["2"], more=None):
        expert_pairs(None, ratings(status=status))


def test_choices_without_sides_are_reported() -> None:
    table = {"participant": ["p1"], "item": ["ab"], "response": ["left"]}
    with raises(MeasureError, "decisions.choices_without_pairs"):
        expert_pairs(None, one_of(table, karat.Choice()))


def test_a_file_that_is_no_table_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    for path in (tmp_path / "empty.csv", tmp_path):
        with raises(MeasureError, "decisions.unreadable_file"):
            expert_pairs(path, rated(karat.datasets.load("crowd"), "decisions")[0])
