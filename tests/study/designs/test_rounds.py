"""Rounds: the distance holds, orders are new and evenly drawn, and what is refused cannot be."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.study.designs import DesignError, rounds
from messages import codes, raises


@given(st.integers(1, 12), st.integers(1, 5), st.integers(1, 14), st.integers(0, 99))
def test_every_promise_holds(n: int, number: int, distance: int, seed: int) -> None:
    if number > 1 and distance >= n and (n, distance) != (1, 1):
        with raises(DesignError, "rounds.too_far" if distance > n else "rounds.same_order"):
            rounds(n, number, seed, distance)
        return
    plan = rounds(n, number, seed, distance)
    orders = [plan.items[i * n : (i + 1) * n] for i in range(number)]
    assert all(sorted(order) == list(range(n)) for order in orders)
    assert plan.repetitions == tuple(i // n + 1 for i in range(n * number))
    if n > 1:
        assert all(one != two for one, two in pairwise(orders))
    for item in range(n):
        places = [place for place, shown in enumerate(plan.items) if shown == item]
        assert all(late - early >= distance for early, late in pairwise(places))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_what_is_refused_no_search_finds(n: int) -> None:
    first = tuple(range(n))
    for distance in range(1, n + 3):
        allowed = [o for o in permutations(first) if o != first and all(n + o.index(i) - i >= distance for i in first)]
        if allowed:
            assert rounds(n, 2, 1, distance).items
        else:
            with pytest.raises(DesignError):
                rounds(n, 2, 1, distance)


def test_orders_are_evenly_drawn() -> None:
    n, distance = 4, 3
    allowed = [
        o
        for o in permutations(range(n))
        if o != tuple(range(n)) and all(n + o.index(i) - i >= distance for i in range(n))
    ]
    count: Counter[tuple[int, ...]] = Counter()
    for seed in range(2100):
        items = rounds(n, 2, seed, distance).items
        count[tuple(items[:n].index(item) for item in items[n:])] += 1
    assert set(count) == set(allowed)
    expected = 2100 / len(allowed)
    assert sum((number - expected) ** 2 / expected for number in count.values()) < 22.5  # 6 df, p = .001


def test_rows_are_kept_and_defaults_halve() -> None:
    plan = rounds([7, 9, 11, 13], 3, 1)
    assert set(plan.items) == {7, 9, 11, 13}
    assert codes(rounds(1, 2, 1).notes) == ["rounds.one_item"]


@pytest.mark.parametrize(("items", "number", "distance"), [(0, 1, 1), (3, 0, 1), ([1, 1], 1, 1), (3, 2, 0)])
def test_senseless_requests_are_refused(items: int | list[int], number: int, distance: int) -> None:
    with pytest.raises(DesignError):
        rounds(items, number, 1, distance)
