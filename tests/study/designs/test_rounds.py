"""Rounds: the distance holds, and orders are new and evenly drawn."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.study.designs import rounds


@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 99))
def test_every_promise_holds(n: int, number: int, seed: int) -> None:
    orders = rounds(n, number, np.random.default_rng(seed))
    assert len(orders) == number
    assert all(sorted(order) == list(range(n)) for order in orders)
    if n > 1:
        assert all(one != two for one, two in pairwise(orders))
    for one, two in pairwise(orders):
        assert all(n + two.index(item) - one.index(item) >= n // 2 for item in range(n))


@pytest.mark.parametrize("n", [4, 5])
def test_orders_are_evenly_drawn(n: int) -> None:
    first = tuple(range(n))
    allowed = [o for o in permutations(first) if o != first and all(n + o.index(i) - i >= n // 2 for i in first)]
    count: Counter[tuple[int, ...]] = Counter()
    for seed in range(2100):
        one, two = rounds(n, 2, np.random.default_rng(seed))
        count[tuple(one.index(item) for item in two)] += 1
    assert set(count) == set(allowed)
    expected, df = 2100 / len(allowed), len(allowed) - 1
    chi = sum((number - expected) ** 2 / expected for number in count.values())
    assert chi < df + 3.1 * (2 * df) ** 0.5 + 3  # about p = .001
