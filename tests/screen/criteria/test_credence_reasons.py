"""The reasons of credence: what is reported, about which participants, and in which order."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from karat.messages import Message, render
from karat.screen.credence_model import reasons
from screen.judged import message

ROW: dict[str, Any] = {
    "attentive": 0.0004, "behaviour": "random guessing", "switch_trial": None, "switch_from": None, "switch_to": None,
    "agreement": -3.0, "controls": -0.2, "sequence": 0.8, "times": -7.0, "speakers": 2,
}  # fmt: skip
TRIALS = ("switch_trial", "switch_from", "switch_to")


def values(row: dict[str, Any], groups: int = 1) -> dict[str, Any]:
    code, found = reasons(groups)
    table = pl.DataFrame([row], schema_overrides=dict.fromkeys(TRIALS, pl.Int64))
    code_found, values_found = message(table.select(message=code, values=found).row(0, named=True))
    assert code_found == "credence.probability"
    return values_found


def test_what_counts_most_comes_first_and_little_is_left_out() -> None:
    assert values(ROW) == {
        "below": 0.001,
        "behaviour": "random guessing",
        "against": ["evidence.times", "evidence.agreement"],
        "in_favour": ["evidence.sequence"],
    }


def test_the_sentence_in_both_languages() -> None:
    missing = dict.fromkeys(("probability", "above", "switch", "switch_from", "switch_to", "speakers"))
    found = Message("credence.probability", missing | values(ROW))
    english, german = str(found), render(found, "de")
    assert (".001" in english, "0,001" in german) == (True, True)
    for code in ("evidence.times", "evidence.agreement", "evidence.sequence"):
        assert render(Message(f"word.{code}")) in english
        assert render(Message(f"word.{code}"), "de") in german


def test_of_somebody_attentive_there_is_nothing_to_explain() -> None:
    assert values(ROW | {"attentive": 0.98, "behaviour": "attentive"}) == {"probability": 0.98}
    doubtful = values(ROW | {"attentive": 0.6, "behaviour": "attentive"})
    assert doubtful.keys() == {"probability", "against", "in_favour"}


def test_the_group_is_named_where_there_are_two() -> None:
    assert values(ROW, 2)["speakers"] == 2
    assert "speakers" not in values(ROW)


def test_since_when() -> None:
    changed = ROW | {"behaviour": "repeated pattern", "switch_trial": 9, "switch_from": 9, "switch_to": 9}
    assert values(changed)["switch"] == 9
    assert "switch_from" not in values(changed)
    found = values(changed | {"switch_to": 12})
    assert (found["switch"], found["switch_from"], found["switch_to"]) == (9, 9, 12)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, {"below": 0.001}),
        (0.001, {"probability": 0.001}),
        (0.0315, {"probability": 0.032}),
        (0.99949, {"above": 0.999}),
        (1.0, {"above": 0.999}),
    ],
)
def test_probabilities(value: float, written: dict[str, float]) -> None:
    found = values(ROW | {"attentive": value})
    assert {name: found[name] for name in ("probability", "below", "above") if name in found} == written
