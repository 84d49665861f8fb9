"""Attention trials: so many right, or no pair turned round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import polars as pl
import pytest

import karat
from karat.messages import Message
from karat.screen.criteria.attention import attention, pair_chance
from karat.screen.criteria.controls import controls
from messages import raises, reasons


def pairs(people: Mapping[str, Sequence[tuple[object, object]]], scale: karat.Scale, **about: Any) -> karat.Judgments:
    """Ratings of the better and the worse sentence of each pair: all better ones first, as if in the first half."""
    rows = [
        {"participant": name, "item": f"{status}{n}", "response": None if pair[side] is None else str(pair[side]),
         "function": "attention", "status": status, "pair": f"pair{n}", **about}
        for name, answers in people.items()
        for side, status in enumerate(("grammatical", "ungrammatical"))
        for n, pair in enumerate(answers)
    ]  # fmt: skip
    return karat.Judgments(pl.DataFrame(rows, schema_overrides={"response": pl.String}), scale)


def test_ratings_of_one_kind_are_counted() -> None:
    frame = {
        "participant": ["p1"] * 6 + ["p2"] * 6, "item": list("abcdef") * 2, "function": ["attention"] * 12,
        "status": ["ungrammatical"] * 12, "expected": ["1-2"] * 12, "response": list("111123") + list("111133"),
    }  # fmt: skip
    evidence = attention(karat.Judgments(frame, karat.Ordinal(5)))
    assert evidence.flagged == ["p2"]
    reason = reasons(evidence)["p2"]
    assert reason == Message("answers.right", {"right": 4, "trials": 6, "needed": 5, "p": reason.values["p"]})
    assert reason.values["p"] == pytest.approx(128 / 3125)
    assert attention(karat.Judgments(frame, karat.Ordinal(5)), slips=0).flagged == ["p1", "p2"]
    assert evidence.criterion == "attention"
    assert evidence.settings == {"account": "positional", "alpha": 0.05, "slips": None}


def test_worse_sentence_rated_better_fails_a_tie_does_not() -> None:
    people: dict[str, list[tuple[object, object]]] = {
        "good": [(5, 1), (4, 2)], "tie": [(3, 3), (5, 5)], "turned": [(5, 1), (2, 3)], "silent": [(5, 1), (5, None)],
    }  # fmt: skip
    evidence = attention(pairs(people, karat.Ordinal(5)), account="pairwise")
    assert evidence.flagged == ["turned", "silent"]
    reason = reasons(evidence)["silent"]
    values = {"right": 1, "trials": 2, "needed": 2, "unanswered": 1, "p": pytest.approx(0.36)}
    assert (reason.code, reason.values) == ("pairs.right", values)
    assert evidence.participants["score"].to_list() == [1.0, 1.0, 0.5, 0.5]
    assert [(one.code, one.values) for one in evidence.notes] == [
        ("passing.guessing", {"p": pytest.approx(0.36), "alpha": 0.05})
    ]
    assert attention(pairs(people, karat.Ordinal(5)), account="pairwise", slips=1).flagged == []


def test_magnitudes_are_compared_as_numbers() -> None:
    people: dict[str, list[tuple[object, object]]] = {"p1": [(100, 20), (9, 8.5)], "p2": [(9, 10), (50, 1)]}
    evidence = attention(pairs(people, karat.Magnitude(100)), account="pairwise")
    assert evidence.flagged == ["p2"]
    assert evidence.participants["guess_probability"].to_list() == [0.25, 0.25]


def test_choices_fail_when_the_worse_sentence_is_chosen() -> None:
    frame = {
        "participant": [name for name in ("p1", "p2", "p3", "p4") for _ in range(2)], "item": ["a", "b"] * 4,
        "left": ["x"] * 8, "right": ["y"] * 8, "function": ["attention"] * 8, "expected": ["left", "right"] * 4,
        "response": ["left", "right", "left", "left", "left", "none", "left", None],
    }  # fmt: skip
    evidence = attention(karat.Judgments(frame, karat.Choice(none=True)), account="pairwise")
    assert evidence.flagged == ["p2", "p4"]
    assert evidence.participants["guess_probability"][0] == pytest.approx(4 / 9)


def test_expected_answers_show_the_better_sentence() -> None:
    read = pairs({"p1": [(5, 1)], "p2": [(1, 5)]}, karat.Ordinal(5))
    expected = pl.when(pl.col("status") == "grammatical").then(pl.lit("3-5")).otherwise(pl.lit("1-2"))
    frame = read.frame.with_columns(expected=expected).drop("status")
    assert attention(karat.Judgments(frame, karat.Ordinal(5)), account="pairwise").flagged == ["p2"]


def test_half_a_pair_says_nothing() -> None:
    frame = pairs({"p1": [(5, 1)], "p2": [(1, 5)]}, karat.Ordinal(5)).frame
    half = frame.filter((pl.col("participant") == "p1") | (pl.col("status") == "grammatical"))
    evidence = attention(karat.Judgments(half, karat.Ordinal(5)), account="pairwise")
    assert evidence.flagged == []
    assert evidence.participants["score"].to_list() == [1.0, None]
    assert reasons(evidence)["p2"] == Message("pairs.none")
    assert Message("pairs.half_seen", {"n": 1}) in evidence.notes
    with raises(karat.KaratError, "pairs.nobody_saw_one"):
        attention(karat.Judgments(frame.drop("pair"), karat.Ordinal(5)), account="pairwise")


@pytest.mark.parametrize(("points", "goods", "bads"), [(2, 1, 1), (5, 1, 1), (3, 2, 1), (3, 2, 2)])
def test_the_chance_of_a_pair_by_enumeration(points: int, goods: int, bads: int) -> None:
    every = list(product(range(points), repeat=goods + bads))
    passed = sum(max(one[goods:]) <= min(one[:goods]) for one in every)
    assert pair_chance(karat.Ordinal(points), goods, bads) == Fraction(passed, len(every))


def test_twice_rated_pairs_must_not_be_reversed() -> None:
    once = pairs({"p1": [(5, 1)], "p2": [(5, 1)]}, karat.Ordinal(5)).frame
    again = pairs({"p1": [(4, 3)], "p2": [(4, 5)]}, karat.Ordinal(5)).frame
    both = karat.Judgments(pl.concat([once, again]), karat.Ordinal(5))
    assert attention(both, account="pairwise").flagged == ["p2"]


def test_no_pair_may_fail_unless_slips_are_stated() -> None:
    people: dict[str, Any] = {
        "one": [(5, 1)] * 7 + [(1, 5)], "two": [(5, 1)] * 6 + [(1, 5)] * 2,
    }  # fmt: skip
    read = pairs(people, karat.Magnitude())
    assert attention(read, account="pairwise").flagged == ["one", "two"]
    evidence = attention(read, account="pairwise", slips=1)
    assert evidence.flagged == ["two"]
    assert evidence.participants["needed"].to_list() == [7, 7]
    assert evidence.participants["guess_probability"].to_list() == [9 / 256] * 2


def test_more_slips_than_pairs_ask_for_nothing() -> None:
    evidence = attention(pairs({"p1": [(1, 5)] * 2}, karat.Ordinal(5)), account="pairwise", slips=2)
    assert evidence.flagged == []
    assert evidence.participants["score"].to_list() == [None]
    nothing = Message("passing.nothing_required", {"n": 2, "slips": 2})
    assert reasons(evidence)["p1"] == nothing
    assert evidence.notes == (Message("passing.nobody_judged", {"why": nothing}),)


def test_equal_magnitudes_pass_and_are_reported() -> None:
    evidence = attention(pairs({"p1": [(50, 50), (60, 10)]}, karat.Magnitude()), account="pairwise")
    assert evidence.flagged == []
    assert evidence.notes[0] == Message("pairs.rated_equally", {"n": 1})


@pytest.mark.parametrize("column", ["session", "block"])
def test_partners_stand_in_different_halves_or_sessions(column: str) -> None:
    read = pairs({"p1": [(5, 1)] * 6, "p2": [(1, 5)] * 6}, karat.Ordinal(5))
    half = pl.when(pl.col("status") == "grammatical").then(pl.lit("1")).otherwise(pl.lit("2"))
    apart = read.frame.with_columns(half.alias(column), trial=pl.int_range(1, 13).append(pl.int_range(1, 13)))
    evidence = attention(karat.Judgments(apart, karat.Ordinal(5)), account="pairwise")
    assert evidence.flagged == ["p2"]
    assert evidence.participants["trials"].to_list() == [6, 6]


def test_choices_in_both_halves_are_pairs_of_their_own() -> None:
    frame = {
        "participant": ["p1"] * 4, "item": ["a", "b"] * 2, "left": ["x"] * 4, "right": ["y"] * 4,
        "session": ["1", "1", "2", "2"], "trial": [1, 2, 1, 2], "function": ["attention"] * 4,
        "expected": ["left", "right"] * 2, "response": ["left", "right", "left", "left"],
    }  # fmt: skip
    evidence = attention(karat.Judgments(frame, karat.Choice()), account="pairwise")
    assert evidence.participants.select("right", "trials", "guess_probability").row(0) == (3, 4, 1 / 16)
    assert evidence.flagged == ["p1"]


def test_controls_can_be_judged_by_pairs_too() -> None:
    frame = pairs({"p1": [(5, 1)] * 6, "p2": [(5, 1)] * 5 + [(1, 5)]}, karat.Ordinal(5)).frame
    read = karat.Judgments(frame.with_columns(function=pl.lit("control")), karat.Ordinal(5))
    evidence = controls(read, account="pairwise")
    assert evidence.flagged == ["p2"]
    assert evidence.notes == ()
    assert evidence.participants["guess_probability"][0] == pytest.approx(0.6**6)


def test_what_cannot_run_says_why() -> None:
    read = pairs({"p1": [(5, 1)]}, karat.Ordinal(5))
    with raises(karat.KaratError, "setting.refused", setting="account"):
        attention(read, account="relational")
    with raises(karat.KaratError, "answers.no_key"):
        attention(read)
    with raises(karat.KaratError, "pairs.categories"):
        attention(karat.Judgments(read.frame, karat.Nominal([1, 5])), account="pairwise")
    with raises(karat.KaratError, "answers.no_trials"):
        attention(karat.datasets.load("crowd"))
