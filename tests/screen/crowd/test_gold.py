"""Answers of crowds as models take them, and their agreement with right answers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karat
from karat.judgments.scales import Scale
from karat.messages import Message
from karat.models import glrm
from karat.screen.crowd.answers import crowd, fit
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
    with raises(ScreenError, "setting.refused", setting="near_unanimous"):
        gold(numbers, near_unanimous=0.5)


SIDES = pl.DataFrame({
    "participant": ["p", "q"] * 3, "item": ["i", "i", "j", "j", "k", "k"],
    "left": ["a", "b", "c", "d", None, None], "right": ["b", "a", "d", "c", None, None],
    "response": ["left", "left", "right", "left", "left", "right"],
})  # fmt: skip


def test_choices_are_of_items_whichever_side_they_stood_on() -> None:
    found = crowd(karat.Judgments(SIDES.head(4), karat.Choice()), "x")
    codes = dict(zip(found.rows.select("participant", "item").rows(), found.response.tolist(), strict=True))
    assert codes == {("p", "i"): 0, ("q", "i"): 1, ("p", "j"): 1, ("q", "j"): 1}
    assert found.family == "binary"


def test_choices_between_items_without_names_are_of_sides() -> None:
    found = crowd(karat.Judgments(SIDES, karat.Choice()), "x")
    codes = dict(zip(found.rows.select("participant", "item").rows(), found.response.tolist(), strict=True))
    assert (codes["p", "k"], codes["q", "k"]) == (0, 1)
    assert found.family == "binary"


def test_a_model_that_cannot_be_fitted_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("22-th leading minor of the array is not positive definite")

    monkeypatch.setattr(glrm, "fit_crossed", fails)
    answers = crowd(karat.datasets.load("crowd"), "spammer_index")
    with raises(karat.screen.ScreenError, "crowd.not_fitted", answers=9600, categories=2):
        fit(answers)
