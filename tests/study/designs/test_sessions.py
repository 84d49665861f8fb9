"""Sessions: attention pairs as in appendix A, halves that are alike, and repeats that are far apart."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.study.designs import DesignError, repeated_pairs, sessions
from messages import raises


def table(tests: int, attention: int, practice: int = 1) -> pl.DataFrame:
    rows = [("test", f"t{i // 2}", "ab"[i % 2]) for i in range(tests)]
    rows += [("attention", f"x{i // 2}", None) for i in range(2 * attention)]
    rows += [("practice", None, None)] * practice
    return pl.DataFrame(rows, schema={"function": pl.String, "pair": pl.String, "condition": pl.String}, orient="row")


@given(st.integers(0, 9), st.integers(0, 5), st.integers(1, 9), st.integers(0, 99), st.booleans())
def test_ratings_see_one_member_in_each_half(
    tests: int, attention: int, participants: int, seed: int, repeat: bool
) -> None:
    items = table(2 * tests, attention)
    plan = sessions(items, "rating", participants, seed, repeat=repeat)
    assert len(plan.participants) == participants
    first_member: Counter[int] = Counter()
    for halves in plan.participants:
        shown = [{row for row in half if items["function"][row] == "attention"} for half in halves]
        assert [Counter(items["pair"][row] for row in half) for half in shown] == [
            Counter({f"x{i}": 1 for i in range(attention)})
        ] * 2
        assert not shown[0] & shown[1]
        firsts = [row % 2 == 0 for row in shown[0]]
        assert abs(2 * sum(firsts) - attention) <= 1
        first_member.update(row for row in shown[0] if row % 2 == 0)
        others = [{row for row in half if items["function"][row] != "attention"} for half in halves]
        assert others[0] | others[1] == {row for row in range(items.height) if items["function"][row] != "attention"}
        if repeat:
            assert others[0] == others[1]
        else:
            assert {items["function"][row] for row in others[0] & others[1]} == {"practice"}
            assert abs(len(others[0]) - len(others[1])) <= 1
    for pair in range(attention):
        assert abs(2 * first_member[2 * tests + 2 * pair] - participants) <= 1


@given(st.integers(0, 9), st.integers(1, 9), st.integers(0, 99))
def test_choices_see_both_pairs_in_both_halves(tests: int, participants: int, seed: int) -> None:
    items = table(2 * tests, 2)
    attention = {row for row in range(items.height) if items["function"][row] == "attention"}
    for halves in sessions(items, "choice", participants, seed, repeat=False).participants:
        assert all(attention <= set(half) for half in halves)
        tested = [{items["pair"][row] for row in half if items["function"][row] == "test"} for half in halves]
        assert not tested[0] & tested[1]
        assert abs(len(tested[0]) - len(tested[1])) <= 1


@given(st.integers(0, 20), st.integers(0, 99))
def test_halves_are_alike(tests: int, seed: int) -> None:
    items = table(tests, 0)
    plan = sessions(items, "rating", 2, seed, repeat=False, alike=["condition"])
    count = [Counter(items["condition"][row] for row in half) for half in plan.participants[0]]
    assert all(abs(count[0][condition] - count[1][condition]) <= 1 for condition in "ab")
    assert abs(len(plan.participants[0][0]) - len(plan.participants[0][1])) <= 1
    assert plan.participants[0] == plan.participants[1][::-1]
    uneven = [condition for condition in "ab" if (count[0] + count[1])[condition] % 2]
    assert len([note for note in plan.notes if "test" in note.values.get("kind", ())]) == len(uneven)


def test_one_session_shows_all_and_a_list_its_rows() -> None:
    items = table(4, 2)
    assert sessions(items, "rating", 2, 1, number=1).participants == ((tuple(range(9)),),) * 2
    for half in sessions(items, "choice", 1, 1, rows=[0, 1, 4, 5]).participants[0]:
        assert half == (0, 1, 4, 5)


def test_what_cannot_be_is_named() -> None:
    items = table(2, 1)
    with raises(DesignError, "sessions.no_pair"):
        sessions(items.with_columns(pair=pl.lit(None)), "rating", 1, 1)
    with raises(DesignError, "design.no_column"):
        sessions(items, "rating", 1, 1, alike=["x"])
    with raises(DesignError, "sessions.task"):
        sessions(items, "label", 1, 1)  # type: ignore[arg-type]
    with raises(DesignError, "sessions.participants"):
        sessions(items, "rating", 0, 1)
    with raises(DesignError, "sessions.half_pair"):
        sessions(items, "rating", 1, 1, rows=[0, 2])


@given(st.integers(1, 12), st.integers(0, 13), st.integers(1, 6), st.integers(0, 14), st.integers(0, 99))
def test_repeats_are_far_and_even(n: int, repeats: int, participants: int, distance: int, seed: int) -> None:
    questions = [f"q{i}" for i in range(n)]
    if repeats > n or (repeats and not 1 <= distance <= n):
        with raises(DesignError, "sessions.repeats" if repeats > n else "sessions.distance"):
            repeated_pairs(questions, repeats, seed, participants, distance)
        return
    plan = repeated_pairs(questions, repeats, seed, participants, distance)
    again: Counter[str] = Counter()
    for own in plan.participants:
        assert len(own) == n + repeats
        first = {showing.question: place for place, showing in enumerate(own) if showing.repetition == 1}
        second = {showing.question: place for place, showing in enumerate(own) if showing.repetition == 2}
        assert set(first) == set(questions)
        assert len(second) == repeats
        assert all(place - first[question] >= distance for question, place in second.items())
        again.update(second.keys())
    numbers = [again[question] for question in questions]
    assert max(numbers) - min(numbers) <= 1
    assert (max(numbers) > min(numbers)) == bool(plan.notes)


def valid_orders(n: int, repeats: int, distance: int) -> set[tuple[int, ...]]:
    shown = [*range(n), *range(repeats)]
    return {
        order
        for order in permutations(shown)
        if all(len(order) - 1 - order[::-1].index(i) - order.index(i) >= distance for i in range(repeats))
    }


@pytest.mark.parametrize(("n", "repeats"), [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 2)])
def test_what_is_refused_no_search_finds(n: int, repeats: int) -> None:
    assert valid_orders(n, repeats, n)
    assert not valid_orders(n, repeats, n + 1)
    with raises(DesignError, "sessions.distance"):
        repeated_pairs([str(i) for i in range(n)], repeats, 1, distance=n + 1)


@pytest.mark.slow
def test_orders_of_repeats_are_evenly_drawn() -> None:
    patterns = Counter(
        tuple(showing.question for showing in own)
        for own in repeated_pairs(["a", "b", "c"], 2, 1, participants=6000, distance=2).participants
    )
    expected = 3 * len(valid_orders(3, 2, 2))
    assert len(patterns) == expected
    chi = sum((number - 6000 / expected) ** 2 / (6000 / expected) for number in patterns.values())
    assert chi < expected - 1 + 3.3 * (2 * (expected - 1)) ** 0.5


def test_polarity_is_a_fair_coin_for_each_showing() -> None:
    plans = repeated_pairs(["a", "b", "c"], 1, 1, participants=1000).participants
    assert 0.45 < sum(showing.flipped for own in plans for showing in own) / 4000 < 0.55
    changed = 0
    for own in plans:
        again = next(showing for showing in own if showing.repetition == 2)
        changed += again.flipped != next(one for one in own if one.question == again.question).flipped
    assert 430 < changed < 570


def test_a_question_named_twice_is_refused() -> None:
    with raises(DesignError, "sessions.question_twice"):
        repeated_pairs(["a", "a"], 1, 1)
