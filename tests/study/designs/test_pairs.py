"""Pairs: random pairs are even, without repetition and linked; what is refused cannot be."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.study.designs import DesignError, RandomPairs, random_pairs
from messages import raises


def linked(n: int, pairs: list[tuple[int, int]]) -> bool:
    reached, waiting = {0}, [0]
    while waiting:
        here = waiting.pop()
        for a, b in pairs:
            for one, other in ((a, b), (b, a)):
                if one == here and other not in reached:
                    reached.add(other)
                    waiting.append(other)
    return len(reached) == n


def spread(n: int, shown: list[int]) -> int:
    count = Counter(shown)
    return max(count[i] for i in range(n)) - min(count[i] for i in range(n))


def check(n: int, each: int, participants: int, design: RandomPairs) -> None:
    every = [pair for own in design.participants for pair in own]
    assert [len(own) for own in design.participants] == [each] * participants
    for own in design.participants:
        assert len({frozenset(pair) for pair in own}) == each
        assert all(a != b for a, b in own)
        assert spread(n, [item for pair in own for item in pair]) <= 1
        sides = Counter(a for a, _ in own)
        sides.subtract(b for _, b in own)
        assert all(abs(difference) <= 1 for difference in sides.values())
    assert spread(n, [item for pair in every for item in pair]) <= 1
    left, right = Counter(a for a, _ in every), Counter(b for _, b in every)
    assert all(abs(left[i] - right[i]) <= 1 for i in range(n))
    assert linked(n, every)


@given(st.integers(2, 14), st.integers(1, 40), st.integers(1, 12), st.integers(0, 99))
def test_random_pairs_keep_every_promise(n: int, each: int, participants: int, seed: int) -> None:
    if each > n * (n - 1) // 2 or each * participants < n - 1:
        with raises(DesignError, "pairs.too_many" if each > n * (n - 1) // 2 else "pairs.too_few"):
            random_pairs(n, each, participants, seed)
        return
    check(n, each, participants, random_pairs(n, each, participants, seed))


@pytest.mark.parametrize(
    ("n", "each", "participants"), [(30, 1, 29), (31, 15, 2), (30, 15, 2), (60, 2, 30), (9, 36, 1)]
)
def test_just_enough_pairs_are_linked(n: int, each: int, participants: int) -> None:
    for seed in range(20):
        check(n, each, participants, random_pairs(n, each, participants, seed))


@pytest.mark.parametrize(("n", "each", "participants"), [(3, 1, 1), (4, 1, 2), (4, 2, 1), (5, 1, 3), (3, 4, 1)])
def test_what_is_refused_no_search_finds(n: int, each: int, participants: int) -> None:
    with pytest.raises(DesignError):
        random_pairs(n, each, participants, 1)
    own = list(combinations(combinations(range(n), 2), each))
    assert not any(linked(n, [pair for one in plan for pair in one]) for plan in product(own, repeat=participants))


def test_the_second_papers_size() -> None:
    check(300, 150, 20, random_pairs(300, 150, 20, 7))


def test_same_seed_same_pairs() -> None:
    assert random_pairs(6, 3, 4, 5) == random_pairs(6, 3, 4, 5) != random_pairs(6, 3, 4, 6)


def test_all_pairs_and_sides_are_equally_probable() -> None:
    count = Counter(random_pairs(4, 2, 2, seed).participants[0][0] for seed in range(2400))
    assert len(count) == 12
    assert sum((number - 200) ** 2 / 200 for number in count.values()) < 31.3  # chi-squared, 11 df, p = .001


@pytest.mark.parametrize(("items", "each", "participants"), [(1, 1, 1), (2, 0, 1), (2, 1, 0)])
def test_senseless_numbers_are_refused(items: int, each: int, participants: int) -> None:
    with pytest.raises(DesignError):
        random_pairs(items, each, participants, 1)
