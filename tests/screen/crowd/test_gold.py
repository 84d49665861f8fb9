"""Recorded right answers beside the crowd's."""

from __future__ import annotations

import polars as pl
import pytest

import karat
from karat.judgments.scales import Scale
from karat.messages import Message
from karat.screen.crowd.gold import gold
from karat.screen.evidence import ScreenError
from messages import raises


def judgments(items: dict[str, tuple[str | None, list[object]]], scale: Scale) -> karat.Judgments:
    rows = [
        {"participant": f"p{n}", "item": item, "response": str(answer), "expected": right}
        for item, (right, answers) in items.items()
        for n, answer in enumerate(answers)
    ]
    return karat.Judgments(pl.DataFrame(rows, infer_schema_length=None), scale)


def test_a_key_against_a_near_unanimous_crowd_is_doubtful() -> None:
    table = judgments(
        {
            "wrong": ("0", [1] * 9 + [0]), "hard": ("0", [1] * 8 + [0] * 2), "right": ("1", [1] * 10),
            "few": ("0", [1] * 4), "open": (None, [1] * 10),
        },
        karat.Binary(),
    )  # fmt: skip
    found = gold(table)
    assert found.items["item"].to_list() == ["wrong", "hard", "right", "few"]
    assert found.doubtful["item"].to_list() == ["wrong"]
    row = found.items.row(0, named=True)
    assert (row["majority"], row["share"], row["answers"]) == ("1", 0.9, 10)
    assert row["right_share"] == pytest.approx(0.1)
    assert found.notes[0] == Message("gold.doubtful", {"n": 1, "items": ["wrong"], "more": None})
    assert found.summary == (Message("gold.found", {"doubtful": 1, "items": 4}),)
    assert str(found) == str(found.summary[0])
    assert gold(table, near_unanimous=0.8).doubtful["item"].to_list() == ["wrong", "hard"]


def test_ordered_sides_and_single_labels_count_together() -> None:
    answers: list[object] = [4, 5, 4, 5, 4, 5, 4, 5, 4, 5]
    assert gold(judgments({"a": ("1-2", answers)}, karat.Ordinal(5))).doubtful.height == 1
    assert gold(judgments({"a": ("3", [1, 5] * 5)}, karat.Ordinal(5))).doubtful.height == 0
    labels = karat.Nominal(["a", "b", "c"])
    assert gold(judgments({"a": ("a", ["b", "c"] * 5)}, labels)).doubtful.height == 0
    assert gold(judgments({"a": ("a|b", ["c"] * 10)}, labels)).doubtful.height == 1


def test_what_cannot_be_compared_is_reported() -> None:
    numbers = judgments({"a": ("1-2", [7.5] * 10)}, karat.Continuous(0, 10))
    assert gold(numbers).items.height == 0
    assert gold(numbers).notes[0].code == "gold.not_comparable"
    with raises(ScreenError, "gold.no_key"):
        gold(judgments({"a": (None, [1] * 3)}, karat.Binary()))
    with raises(ScreenError, "gold.bad_share"):
        gold(numbers, near_unanimous=0.5)
