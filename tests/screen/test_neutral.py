"""Neutral answers to controls: their share, and how large it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

import karat
from karat.messages import Message
from karat.screen.criteria.controls import controls
from messages import codes, raises, reasons

UPPER = {4: ("3-4", "1-2"), 5: ("3-5", "1-2"), 6: ("4-6", "1-3"), 7: ("4-7", "1-3")}


def rated(people: Mapping[str, Sequence[Sequence[int | None]]], scale: karat.Ordinal) -> karat.Judgments:
    """Each participant's ratings of grammatical and of ungrammatical controls."""
    rows = [
        {"participant": name, "item": f"{status}{n}", "response": None if answer is None else str(answer),
         "function": "control", "status": status, "expected": right}
        for name, groups in people.items()
        for status, right, answers in zip(
            ("grammatical", "ungrammatical"), UPPER[len(scale.levels)], groups, strict=True
        )
        for n, answer in enumerate(answers)
    ]  # fmt: skip
    return karat.Judgments(pl.DataFrame(rows, schema_overrides={"response": pl.String}), scale)


def rows(evidence: karat.screen.Evidence) -> dict[str, dict[str, Any]]:
    return {row["participant"]: row for row in evidence.participants.to_dicts()}


PEOPLE: dict[str, Sequence[Sequence[int | None]]] = {
    "clear": ([5] * 8, [1] * 8), "third": ([3] * 4 + [5] * 4, [1] * 8), "vague": ([3] * 8, [1] * 8),
    "silent": ([3] * 5 + [None] * 3, [1] * 5 + [None] * 3),
}  # fmt: skip


def test_only_more_than_the_stated_share_is_flagged() -> None:
    read = rated(PEOPLE, karat.Ordinal(5, neutral=3))
    evidence = controls(read, neutral_at_most=0.25)
    assert [row["neutral_share"] for row in rows(evidence).values()] == [0, 0.25, 0.5, 0.5]
    assert controls(read).flagged == ["silent"]
    assert evidence.flagged == ["vague", "silent"]
    values = reasons(evidence)["vague"].values
    assert (values["neutral"], values["answers"], values["neutral_at_most"]) == (8, 16, 0.25)
    assert "8 of 16 answers neutral (at most 25 % allowed)" in evidence.table()["reason"][0]
    assert evidence.settings["neutral_at_most"] == 0.25
    assert codes(evidence.notes) == ["neutral.guessing_at_most"]


def test_score_and_threshold_stay() -> None:
    read = rated(PEOPLE, karat.Ordinal(5, neutral=3))
    same = ["participant", "score", "threshold", "guess_probability", "neutral_share"]
    strict, usual = controls(read, neutral_at_most=0).participants, controls(read).participants
    assert strict.select(same).equals(usual.select(same))
    assert strict["flagged"].to_list() == [False, True, True, True]
    assert "neutral" not in reasons(controls(read))["clear"].values


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7, 1 / 3])
def test_a_share_that_no_float_holds_is_not_lost_to_rounding(share: float) -> None:
    # 30 answers, of which exactly the share is neutral.
    neutral = round(30 * share)
    read = rated({"p1": ([3] * neutral + [5] * (30 - neutral), [])}, karat.Ordinal(5, neutral=3))
    assert controls(read, neutral_at_most=share).flagged == []
    assert controls(read, neutral_at_most=share - 0.001).flagged == ["p1"]


def test_too_few_trials_still_show_who_is_neutral() -> None:
    evidence = controls(rated({"p1": ([3], [3])}, karat.Ordinal(5, neutral=3)), neutral_at_most=0.5)
    assert evidence.flagged == ["p1"]
    assert reasons(evidence)["p1"].code == "passing.too_few"
    assert reasons(evidence)["p1"].values["neutral"] == 2


def test_the_middle_is_neutral_where_the_scale_names_none() -> None:
    evidence = controls(rated(PEOPLE, karat.Ordinal(5)), neutral_at_most=0.25)
    assert evidence.flagged == ["vague", "silent"]
    assert evidence.notes[-1] == Message("neutral.middle", {"points": ["3"]})
    other = controls(rated(PEOPLE, karat.Ordinal(5, neutral=1)), neutral_at_most=0.25)
    assert [row["neutral_share"] for row in rows(other).values()] == [0.5] * 4


@pytest.mark.parametrize("points", [4, 6])
def test_an_even_scale_has_no_neutral_point(points: int) -> None:
    read = rated({"p1": ([points] * 8, [1] * 8), "p2": ([points] * 8, [points] * 8)}, karat.Ordinal(points))
    evidence = controls(read, neutral_at_most=0)
    assert evidence.flagged == ["p2"]
    assert evidence.participants["neutral_share"].to_list() == [None, None]
    assert codes(evidence.notes) == ["neutral.no_point"]
    assert "neutral" not in reasons(evidence)["p1"].values


def test_no_difference_is_neutral_in_choices() -> None:
    frame = {
        "participant": ["p1"] * 10, "item": list("abcdefghij"), "left": ["a"] * 10, "right": ["b"] * 10,
        "function": ["control"] * 10, "expected": ["left"] * 10, "response": ["left"] * 8 + ["none"] * 2,
    }  # fmt: skip
    read = karat.Judgments(frame, karat.Choice(none=True))
    assert controls(read).flagged == []
    assert controls(read, neutral_at_most=0.1).flagged == ["p1"]


def test_what_cannot_run_says_why() -> None:
    read = rated(PEOPLE, karat.Ordinal(5))
    for account in ("relational", "extended", "strict", "pairwise"):
        with raises(karat.KaratError, "controls.neutral_only_positional"):
            controls(read, account=account, neutral_at_most=0.2)
    for share in (-0.1, 1.5, True):
        with raises(karat.KaratError, "setting.refused", setting="neutral_at_most"):
            controls(read, neutral_at_most=share)
