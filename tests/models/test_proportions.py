"""Shares of small groups, against counting and against the equation that defines the interval."""

from __future__ import annotations

from itertools import combinations
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.proportions import fisher, holm, hypergeometric, least_fisher, wilson

Z = 1.959963984540054


def counted_fisher(flagged: int, group: int, marked: int, everybody: int) -> float:
    """Fisher's p by going through all ways in which the marked ones could have fallen."""
    ways = [sum(one < group for one in chosen) for chosen in combinations(range(everybody), marked)]
    seen = ways.count(flagged)
    return sum(ways.count(number) for number in set(ways) if ways.count(number) <= seen) / len(ways)


@pytest.mark.parametrize("everybody", [1, 4, 7, 9])
def test_fisher_is_what_counting_gives(everybody: int) -> None:
    for group in range(everybody + 1):
        for marked in range(everybody + 1):
            numbers, probabilities = hypergeometric(group, marked, everybody)
            assert probabilities.sum() == pytest.approx(1)
            for flagged in numbers.tolist():
                expected = counted_fisher(flagged, group, marked, everybody)
                assert fisher(flagged, group, marked, everybody) == pytest.approx(expected)
            least = min(counted_fisher(flagged, group, marked, everybody) for flagged in numbers.tolist())
            assert least_fisher(group, marked, everybody) == pytest.approx(least)


def test_fisher_with_whole_numbers_of_a_large_table() -> None:
    ways = {k: comb(300, k) * comb(700, 60 - k) for k in range(61)}
    expected = sum(number for number in ways.values() if number <= ways[28]) / comb(1000, 60)
    assert fisher(28, 300, 60, 1000) == pytest.approx(expected, rel=1e-8)


@given(st.integers(1, 500), st.data())
def test_wilson_contains_the_share_and_solves_its_equation(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    lower, upper = (float(end) for end in wilson(k, n))
    assert 0 <= lower <= k / n <= upper <= 1
    for end in (lower, upper):
        if 0 < end < 1:
            assert abs(k / n - end) == pytest.approx(Z * sqrt(end * (1 - end) / n), abs=1e-9)


def test_wilson_of_nothing_is_not_known() -> None:
    assert np.isnan(wilson(0, 0)).all()


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_step_by_step(values: list[float]) -> None:
    adjusted = holm(values)
    before = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        before = max(before, min(1.0, values[index] * (len(values) - rank)))
        assert adjusted[index] == pytest.approx(before)


def test_holm_beside_its_definition() -> None:
    assert holm([0.04, 0.001, 0.02, 0.5]).tolist() == pytest.approx([0.08, 0.004, 0.06, 0.5])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]


def test_a_missing_p_is_not_counted() -> None:
    adjusted = holm([0.04, np.nan, 0.01])
    assert adjusted[[0, 2]].tolist() == pytest.approx([0.04, 0.02])
    assert np.isnan(adjusted[1])
    assert np.isnan(holm([np.nan])).all()
