"""Straightlining: runs, periods and sides in the order of presentation."""

from __future__ import annotations

from itertools import groupby, product
from math import comb
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
import strategies
from karat.screen.criteria.straightlining import straightlining
from karat.screen.evidence import ScreenError
from messages import raises
from screen.judged import FIVE, interleaved, judgments, message


def varied(trials: int, seed: int = 0) -> list[int]:
    return [int(answer) for answer in np.random.default_rng(seed).integers(1, 6, trials)]


def rows(judgments: karat.Judgments, **settings: Any) -> dict[str, dict[str, Any]]:
    return {row["participant"]: row for row in straightlining(judgments, **settings).participants.to_dicts()}


def test_every_pattern_is_named() -> None:
    attentive = varied(75)
    people = {
        "same": [3] * 75, "zigzag": [1, 5] * 37 + [1], "waltz": [1, 2, 5] * 25, "run": [4] * 20 + varied(55, 1),
        "attentive": attentive,
    }  # fmt: skip
    found = rows(judgments(people))
    assert message(found["same"]) == ("straightlining.same", {"answer": "3", "trials": 75})
    assert found["same"]["score"] == pytest.approx(5.0**-74)
    assert message(found["zigzag"]) == ("straightlining.period", {"period": 2, "equal": 73, "comparisons": 73})
    assert message(found["waltz"]) == ("straightlining.period", {"period": 3, "equal": 72, "comparisons": 72})
    run = {"answer": "4", "run": found["run"]["longest_run"], "trials": 75}
    assert message(found["run"]) == ("straightlining.run", run)
    assert run["run"] >= 20
    longest = {"run": found["attentive"]["longest_run"], "trials": 75}
    assert message(found["attentive"]) == ("straightlining.no_pattern", longest)
    assert [name for name, row in found.items() if row["flagged"]] == ["same", "zigzag", "waltz", "run"]
    assert found["same"]["variability"] == 0
    assert found["attentive"]["variability"] == pytest.approx(np.std(attentive, ddof=1))
    assert found["attentive"]["threshold"] == 0.001


def test_the_order_is_that_of_presentation() -> None:
    """Sorted by item the answers alternate and sorted by row they run; the trials say neither."""
    presented = varied(60)
    table = judgments({"p1": presented}).frame
    by_answer = table.sort("response")
    assert straightlining(karat.Judgments(by_answer, FIVE)).flagged == []
    unordered = karat.Judgments(by_answer.drop("trial"), FIVE)
    with raises(karat.screen.ScreenError, "order.needed"):
        straightlining(unordered)
    assert straightlining(unordered.with_row_order()).flagged == ["p1"]


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
    assert message(found["p1"]) == ("straightlining.left", {"chosen": 60, "choices": 75})
    assert found["p1"]["left_share"] == 0.8
    assert found["p2"]["side_p"] == pytest.approx(2 * (15 + 6 + 1) / 64)
    assert found["p2"]["variability"] is None


def test_practice_and_missing_answers_are_left_out() -> None:
    people: dict[str, list[Any]] = {"p1": [1, 2, *[3] * 10, None], "p2": [1, 2], "p3": [None] * 4}
    table = judgments(people, function=pl.when(pl.col("trial") <= 2).then(pl.lit("practice")).otherwise(pl.lit("test")))
    found = rows(table)
    assert message(found["p1"]) == ("straightlining.same", {"answer": "3", "trials": 10})
    for name in ("p2", "p3"):
        assert found[name]["score"] is None
        assert not found[name]["flagged"]
        assert message(found[name]) == ("answering.none", {})
    with raises(ScreenError, "answering.nobody"):
        straightlining(judgments({"p1": [None]}, response=pl.lit(None, dtype=pl.String)))
    with raises(ScreenError, "setting.refused", setting="alpha"):
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
    same = {"answer": "1", "answers": 20, "scale": "ordinal"}
    assert message(evidence.participants.row(0, named=True)) == ("straightlining.same", same)
    evidence = straightlining(karat.Judgments(table, karat.Ordinal(7)))
    repeating = {"period": 2, "equal": 38, "comparisons": 38}
    assert message(evidence.participants.row(0, named=True)) == ("straightlining.period", repeating)


def test_the_side_that_was_chosen_more_often_is_named() -> None:
    right = ["left"] * 15 + ["right"] * 60
    np.random.default_rng(2).shuffle(right)
    found = rows(judgments({"p1": right}, karat.Choice()))
    assert message(found["p1"]) == ("straightlining.right", {"chosen": 60, "choices": 75})


def test_the_best_are_not_accused_where_one_side_is_better() -> None:
    """Files with a row per item and without sides have the items of each pair in the same order."""
    random = np.random.default_rng(4)
    answers = {f"p{n}": ["left" if random.random() < 0.1 else "right" for _ in range(40)] for n in range(20)}
    answers["best"] = ["right"] * 40
    assert straightlining(judgments(answers, karat.Choice())).flagged == []
    balanced = {f"p{n}": random.choice(["left", "right"], 40).tolist() for n in range(20)}
    assert straightlining(judgments(balanced | {"one side": ["right"] * 40}, karat.Choice())).flagged == ["one side"]


def test_a_side_that_everybody_chooses_accuses_nobody() -> None:
    """The better sentence is on the right in 36 of 40 trials: only who went left all the time is flagged."""
    random = np.random.default_rng(3)
    better = np.array(["right"] * 36 + ["left"] * 4)
    people = {f"p{k}": random.permutation(better).tolist() for k in range(12)}
    found = rows(judgments(people | {"left": ["left"] * 39 + ["right"]}, karat.Choice()))
    assert [name for name, row in found.items() if row["flagged"]] == ["left"]
    share = (12 * 4 - 4 + 39 + 1) / (12 * 40 + 2)  # of the left side among the choices of all others
    tail = sum(comb(40, k) * (1 - share) ** k * share ** (40 - k) for k in range(36, 41))
    assert found["p0"]["side_p"] == pytest.approx(min(2 * tail, 1))


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
def test_everybody_gets_evidence_on_any_scale_and_order(table: karat.Judgments, shares: Any) -> None:
    if table.frame["response"].null_count() == len(table):
        return
    found = rows(table, shares=shares)
    turned = rows(karat.Judgments(table.frame.reverse(), table.scales), shares=shares)
    assert found.keys() == set(table.frame["participant"])
    for name, row in found.items():
        assert row["score"] is None or 0 <= row["score"] <= 1
        assert row["flagged"] == (row["score"] is not None and row["score"] < 0.001)
        assert (row["score"], message(row)) == (turned[name]["score"], message(turned[name]))


def test_somebody_who_guesses_is_rarely_flagged() -> None:
    """Five tests at 0.01: at most about 5 % of those with independent answers, whatever their shares."""
    rng = np.random.default_rng(11)
    for p in ([0.2] * 5, [0.6, 0.2, 0.1, 0.05, 0.05]):
        people = {f"p{n}": rng.choice([1, 2, 3, 4, 5], 60, p=p).tolist() for n in range(1000)}
        assert len(straightlining(judgments(people), alpha=0.01).flagged) < 65


@pytest.mark.parametrize(
    "scale", [karat.Binary(("no", "yes")), karat.Nominal(["no", "yes"])], ids=["binary", "nominal"]
)
def test_a_period_of_the_design_is_nobodys_pattern(scale: Any) -> None:
    found = straightlining(karat.Judgments(interleaved(), scale))
    assert found.flagged == ["p00", "p01"]
    spared = found.participants.filter(pl.col("message") == "straightlining.agreeing")
    assert spared.height > 10
    assert (spared["period"] == 3).all()
