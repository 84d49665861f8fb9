"""Straightlining: runs, periods and sides in the order of presentation."""

from __future__ import annotations

from itertools import groupby, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
import strategies
from karat.screen.straightlining import straightlining
from screen.judged import FIVE, judgments


def varied(trials: int, seed: int = 0) -> list[int]:
    return [int(answer) for answer in np.random.default_rng(seed).integers(1, 6, trials)]


def rows(judgments: karat.Judgments, **settings: Any) -> dict[str, dict[str, Any]]:
    return {row["participant"]: row for row in straightlining(judgments, **settings).participants.to_dicts()}


def test_every_pattern_is_named() -> None:
    earnest = varied(75)
    people = {
        "same": [3] * 75, "zigzag": [1, 5] * 37 + [1], "waltz": [1, 2, 5] * 25, "run": [4] * 20 + varied(55, 1),
        "earnest": earnest,
    }  # fmt: skip
    found = rows(judgments(people))
    assert found["same"]["reason"] == "the same answer 3 in all 75 trials"
    assert found["same"]["score"] == pytest.approx(5.0**-74)
    assert found["zigzag"]["reason"] == "answers repeat every 2 trials in 73 of 73"
    assert found["waltz"]["reason"] == "answers repeat every 3 trials in 72 of 72"
    assert found["run"]["reason"].startswith("the answer 4 in 2")
    assert found["earnest"]["reason"].startswith("no pattern: the longest run is ")
    assert [name for name, row in found.items() if row["flagged"]] == ["same", "zigzag", "waltz", "run"]
    assert found["same"]["variability"] == 0
    assert found["earnest"]["variability"] == pytest.approx(np.std(earnest, ddof=1))
    assert found["earnest"]["threshold"] == 0.001


def test_the_order_is_that_of_presentation() -> None:
    """Sorted by item the answers alternate and sorted by row they run; the trials say neither."""
    presented = varied(60)
    table = judgments({"p1": presented}).frame
    by_answer = table.sort("response")
    assert straightlining(karat.Judgments(by_answer, FIVE)).flagged == []
    evidence = straightlining(karat.Judgments(by_answer.drop("trial"), FIVE))
    assert evidence.flagged == ["p1"]
    assert "no column trial" in evidence.notes[0]


def test_sessions_follow_each_other() -> None:
    table = judgments({"p1": [1] * 20 + [5] * 20}).frame.with_columns(
        session=pl.lit("b"), trial=pl.int_range(1, 41) % 20 + 1
    )
    later = table.with_columns(session=pl.when(pl.int_range(40) < 20).then(pl.lit("b")).otherwise(pl.lit("a")))
    assert rows(karat.Judgments(later, FIVE))["p1"]["longest_run"] == 20


def test_a_side_in_a_choice_task() -> None:
    left = ["left"] * 60 + ["right"] * 15
    np.random.default_rng(2).shuffle(left)
    found = rows(judgments({"p1": left, "p2": ["left", "right", "right"] * 2 + ["none"] * 2}, karat.Choice(none=True)))
    assert found["p1"]["reason"] == "the left side in 60 of 75 choices"
    assert found["p1"]["left_share"] == 0.8
    assert found["p2"]["side_p"] == pytest.approx(2 * (15 + 6 + 1) / 64)
    assert found["p2"]["variability"] is None


def test_practice_and_missing_answers_are_left_out() -> None:
    people: dict[str, list[Any]] = {"p1": [1, 2, *[3] * 10, None], "p2": [1, 2], "p3": [None] * 4}
    table = judgments(people, function=pl.when(pl.col("trial") <= 2).then(pl.lit("practice")).otherwise(pl.lit("test")))
    found = rows(table)
    assert found["p1"]["reason"] == "the same answer 3 in all 10 trials"
    for name in ("p2", "p3"):
        assert found[name]["score"] is None
        assert not found[name]["flagged"]
        assert found[name]["reason"] == "no answers outside practice"
    with pytest.raises(karat.KaratError, match="nobody answered"):
        straightlining(judgments({"p1": [None]}, response=pl.lit(None, dtype=pl.String)))
    with pytest.raises(karat.KaratError, match="alpha"):
        straightlining(table, alpha=1.0)


def test_own_shares_spare_those_who_find_most_things_good() -> None:
    mostly = np.random.default_rng(8).choice([1, 5], 80, p=[0.05, 0.95]).tolist()
    table = judgments({"p1": mostly})
    assert straightlining(table).flagged == []
    assert straightlining(table, shares="even").flagged == ["p1"]


def test_scales_are_looked_at_one_by_one() -> None:
    table = judgments({"p1": [1, 2] * 20}).frame.with_columns(
        question=pl.when(pl.col("trial") % 2 == 1).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    evidence = straightlining(karat.Judgments(table, {"a": karat.Ordinal(7), "b": karat.Ordinal(5)}))
    assert evidence.participants["reason"][0] == "the same answer 1 in all 20 answers (answers on the ordinal scale)"
    evidence = straightlining(karat.Judgments(table, karat.Ordinal(7)))
    assert evidence.participants["reason"][0] == "answers repeat every 2 answers in 38 of 38"


@given(st.lists(st.integers(1, 3), min_size=1, max_size=7))
def test_runs_agree_with_enumeration(answers: list[int]) -> None:
    def longest(sequence: tuple[int, ...] | list[int]) -> int:
        return max(len(list(run)) for _, run in groupby(sequence))

    share = {answer: answers.count(answer) / len(answers) for answer in (1, 2, 3)}
    chance = sum(
        float(np.prod([share[answer] for answer in sequence]))
        for sequence in product((1, 2, 3), repeat=len(answers))
        if longest(sequence) >= longest(answers)
    )
    found = rows(judgments({"p1": answers}, karat.Ordinal(3)))["p1"]
    assert found["longest_run"] == longest(answers)
    assert found["longest_run_p"] == pytest.approx(chance)


@given(strategies.judgments(), st.sampled_from(["own", "even"]))
def test_everybody_gets_evidence_whatever_the_scale_and_the_order_of_rows(table: karat.Judgments, shares: Any) -> None:
    if table.frame["response"].null_count() == len(table):
        return
    found = rows(table, shares=shares)
    turned = rows(karat.Judgments(table.frame.reverse(), table.scales), shares=shares)
    assert found.keys() == set(table.frame["participant"])
    for name, row in found.items():
        assert row["score"] is None or 0 <= row["score"] <= 1
        assert row["flagged"] == (row["score"] is not None and row["score"] < 0.001)
        assert (row["score"], row["reason"]) == (turned[name]["score"], turned[name]["reason"])


def test_somebody_who_guesses_is_rarely_flagged() -> None:
    """Five tests at 0.01: at most about 5 % of those with independent answers, whatever their shares."""
    rng = np.random.default_rng(11)
    for p in ([0.2] * 5, [0.6, 0.2, 0.1, 0.05, 0.05]):
        people = {f"p{n}": rng.choice([1, 2, 3, 4, 5], 60, p=p).tolist() for n in range(1000)}
        assert len(straightlining(judgments(people), alpha=0.01).flagged) < 65
