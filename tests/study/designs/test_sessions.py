"""Sessions: attention pairs as in appendix A, and repeats that are far apart."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.study.designs import DesignError, attention_halves, repeated_pairs
from messages import raises


def table(tests: int, attention: int) -> pl.DataFrame:
    rows = [("test", f"t{i // 2}") for i in range(tests)]
    rows += [("attention", f"x{i // 2}") for i in range(2 * attention)]
    return pl.DataFrame([*rows, ("practice", None)], schema=["function", "pair"], orient="row")


@given(st.integers(0, 9), st.integers(0, 5), st.integers(0, 99))
def test_ratings_see_one_member_in_each_half(tests: int, attention: int, seed: int) -> None:
    items = table(2 * tests, attention)
    halves = attention_halves(items, np.random.default_rng(seed))
    shown = [{row for row in half if items["function"][row] == "attention"} for half in halves]
    assert [Counter(items["pair"][row] for row in half) for half in shown] == [
        Counter({f"x{i}": 1 for i in range(attention)})
    ] * 2
    assert not shown[0] & shown[1]
    assert abs(2 * sum(row % 2 == 0 for row in shown[0]) - attention) <= 1
    others = [row for row in range(items.height) if items["function"][row] != "attention"]
    assert all([row for row in half if row in others] == others for half in halves)


def test_either_member_comes_first_equally_often() -> None:
    items = table(0, 1)
    first = sum(0 in attention_halves(items, np.random.default_rng(seed))[0] for seed in range(1000))
    assert 450 < first < 550


def test_an_attention_pair_of_three_is_refused() -> None:
    items = pl.DataFrame({"function": ["attention"] * 3, "pair": ["x"] * 3})
    with raises(DesignError, "pairs.rows"):
        attention_halves(items, np.random.default_rng(1))


@given(st.integers(1, 12), st.integers(0, 13), st.integers(0, 99))
def test_repeats_are_far(n: int, repeats: int, seed: int) -> None:
    questions = [f"q{i}" for i in range(n)]
    if repeats > n:
        with raises(DesignError, "sessions.repeats"):
            repeated_pairs(questions, repeats, np.random.default_rng(seed))
        return
    own = repeated_pairs(questions, repeats, np.random.default_rng(seed))
    assert len(own) == n + repeats
    first = {showing.question: place for place, showing in enumerate(own) if showing.repetition == 1}
    second = {showing.question: place for place, showing in enumerate(own) if showing.repetition == 2}
    assert set(first) == set(questions)
    assert len(second) == repeats
    assert all(place - first[question] >= (n + 1) // 2 for question, place in second.items())


def plans(questions: list[str], repeats: int, number: int) -> list[list[tuple[str, int, bool]]]:
    """The showings of many participants."""
    rng = np.random.default_rng(1)
    shown = [repeated_pairs(questions, repeats, rng) for _ in range(number)]
    return [[(one.question, one.repetition, one.flipped) for one in own] for own in shown]


@pytest.mark.slow
def test_orders_of_repeats_are_evenly_drawn() -> None:
    patterns = Counter(tuple(question for question, _, _ in own) for own in plans(["a", "b", "c"], 2, 6000))
    allowed = {
        order
        for order in permutations([0, 1, 2, 0, 1])
        if all(4 - order[::-1].index(i) - order.index(i) >= 2 for i in (0, 1))
    }
    expected = 3 * len(allowed)
    assert len(patterns) == expected
    chi = sum((number - 6000 / expected) ** 2 / (6000 / expected) for number in patterns.values())
    assert chi < expected - 1 + 3.3 * (2 * (expected - 1)) ** 0.5


def test_polarity_is_a_fair_coin_for_each_showing() -> None:
    every = plans(["a", "b", "c"], 1, 1000)
    assert 0.45 < sum(flipped for own in every for _, _, flipped in own) / 4000 < 0.55
    changed = 0
    for own in every:
        again = next(one for one in own if one[1] == 2)
        changed += again[2] != next(one[2] for one in own if one[0] == again[0])
    assert 430 < changed < 570
