"""Transitivity: counts against a direct implementation of the definitions, triad by triad."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karat.models.choices import Pairs
from karat.models.choices.assumptions import TRIADS, circular_triads, compared_triads, violations, zeta
from messages import refuses


def simulated_pairs(seed: int, items: int, count: int) -> Pairs:
    random = np.random.default_rng(seed)
    left = random.integers(items, size=count)
    right = (left + random.integers(1, items, size=count)) % items
    return Pairs.of(left, right, random.integers(-1, 2, size=count), items)


def share(pairs: Pairs, one: int, two: int) -> float | None:
    wins = [
        (1 + (answer if left == one else -answer)) / 2
        for left, right, answer in zip(pairs.left, pairs.right, pairs.answer, strict=True)
        if {int(left), int(right)} == {one, two}
    ]
    return float(np.mean(wins)) if wins else None


def plain_counts(pairs: Pairs) -> tuple[list[int], int]:
    """A triad has no violation if any order of its items that the proportions permit has none."""
    counts, triads = [0, 0, 0], 0
    for three in combinations(range(pairs.items), 3):
        shares = {(a, b): share(pairs, a, b) for a, b in permutations(three, 2)}
        if None in shares.values():
            continue
        triads += 1
        fine = [False] * 3
        for a, b, c in permutations(three):
            ab, bc, ac = (shares[pair] or 0.0 for pair in ((a, b), (b, c), (a, c)))
            if ab >= 0.5 and bc >= 0.5:
                limits = (0.5, min(ab, bc), max(ab, bc))
                fine = [was or ac >= limit - 1e-9 for was, limit in zip(fine, limits, strict=True)]
        counts = [count + (not good) for count, good in zip(counts, fine, strict=True)]
    return counts, triads


@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(3, 60))
def test_violations_agree_with_the_definition(seed: int, items: int, count: int) -> None:
    pairs = simulated_pairs(seed, items, count)
    triads = compared_triads(pairs)
    counts, number = plain_counts(pairs)
    assert len(triads) == number
    assert violations(pairs, triads).tolist() == counts


@given(st.integers(0, 10**6), st.integers(3, 7))
def test_circular_triads_agree_with_a_loop(seed: int, items: int) -> None:
    random = np.random.default_rng(seed)
    left, right = np.array(list(combinations(range(items), 2))).T
    answer = random.choice([-1, 1], size=len(left))
    circles, whole = circular_triads(Pairs.of(left, right, answer, items), np.zeros(len(left), dtype=np.int64), 1)
    wins = {(a, b) if said == 1 else (b, a) for a, b, said in zip(left, right, answer, strict=True)}
    slow = sum(
        ({(a, b), (b, c), (c, a)} <= wins) or ({(b, a), (c, b), (a, c)} <= wins)
        for a, b, c in combinations(range(items), 3)
    )
    assert circles[0] == slow
    assert whole[0] == items * (items - 1) * (items - 2) // 6
    assert 0 <= zeta(circles.astype(float), items)[0] <= 1


def test_a_perfect_order_has_no_violation() -> None:
    left, right = np.array(list(combinations(range(6), 2))).T
    pairs = Pairs.of(left, right, np.ones(len(left)), 6)
    assert violations(pairs, compared_triads(pairs)).tolist() == [0, 0, 0]
    assert zeta(np.zeros(1), 6).tolist() == [1.0]


def test_the_number_of_triads_is_limited() -> None:
    left, right = np.array(list(combinations(range(60), 2))).T
    triads = compared_triads(Pairs.of(left, right, np.ones(len(left)), 60))
    assert len(triads) == TRIADS
    assert len(np.unique(triads, axis=0)) == TRIADS
    assert compared_triads(Pairs.of([0], [1], [1], 2)).shape == (0, 3)


def test_items_without_comparisons_are_not_a_triad() -> None:
    assert len(compared_triads(Pairs.of([0, 1], [1, 2], [1, 1], 3))) == 0
    with refuses(ValueError):
        Pairs.of([0], [0], [1], 3)
