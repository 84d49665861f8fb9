"""Subsets: ratings are even, nobody sees an item twice, and items meet evenly."""

from __future__ import annotations

import math
import time
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.study.designs import DesignError, Subsets, subsets
from messages import raises


def check(n: int, k: int, r: int, design: Subsets) -> None:
    assert len(design.participants) == math.ceil(n * r / k)
    assert all(len(set(own)) == len(own) == k for own in design.participants)
    ratings = Counter(item for own in design.participants for item in own)
    assert set(ratings) == set(range(n))
    assert set(ratings.values()) <= {r, r + 1}
    assert (n * r % k == 0) == (set(ratings.values()) == {r})
    met = Counter(pair for own in design.participants for pair in combinations(sorted(own), 2))
    each = [met[pair] for pair in combinations(range(n), 2)] or [0]
    assert (design.least_meetings, design.most_meetings) == (min(each), max(each))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 6), st.integers(0, 99))
def test_every_promise_holds(n: int, k: int, r: int, seed: int) -> None:
    if k > n:
        with raises(DesignError, "subsets.too_many"):
            subsets(n, k, r, seed)
        return
    check(n, k, r, subsets(n, k, r, seed))


@pytest.mark.parametrize(("n", "k", "r"), [(7, 3, 3), (13, 4, 4), (6, 3, 5), (9, 3, 4), (5, 2, 4), (4, 4, 3)])
def test_where_a_balanced_design_is_known_it_is_found(n: int, k: int, r: int) -> None:
    found = [subsets(n, k, r, seed) for seed in range(10)]
    assert any(design.least_meetings == design.most_meetings for design in found)


def test_the_fourth_papers_design() -> None:
    design = subsets(45, 3, 30, 1)
    check(45, 3, 30, design)
    assert (design.least_meetings, design.most_meetings) == (1, 2)
    (note,) = design.notes
    assert (note.code, note.values["least"], note.values["most"]) == ("subsets.meetings", 1, 2)
    assert round(note.values["mean"], 2) == 1.36
    assert design == subsets(45, 3, 30, 1)


@pytest.mark.slow
def test_a_large_design_takes_seconds() -> None:
    start = time.process_time()
    design = subsets(500, 25, 20, 1)
    assert time.process_time() - start < 30
    check(500, 25, 20, design)
    assert design.most_meetings <= 5


def test_an_extra_rating_is_reported() -> None:
    note = subsets(5, 3, 2, 1).notes[0]
    assert note.code == "subsets.extra_ratings"
    assert note.values == {"n": 2, "items": 5, "ratings": 2, "more": 3, "per_participant": 3}


def test_senseless_numbers_are_refused() -> None:
    with raises(DesignError, "subsets.numbers"):
        subsets(5, 0, 2, 1)
