"""Variances from pairs beside the analysis of variance, sums over all pairs, and parameters that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.agreement import variance_components
from karat.models.resampling import components, resamples, stepped_up

SHROUT = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)


def long(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    items, raters = np.nonzero(~np.isnan(table))
    return items, raters, table[items, raters]


def test_the_family_of_a_published_table() -> None:
    """Shrout and Fleiss (1979), table 4: .17, .29, .71 for one judge, .44, .62, .91 for the mean of four."""
    found = components(*long(SHROUT))
    one = [found.icc_one_way(), found.icc_agreement(), found.icc_consistency()]
    four = [found.icc_one_way(4), found.icc_agreement(4), found.icc_consistency(4)]
    assert [round(float(value[0]), 2) for value in one] == [0.17, 0.29, 0.71]
    assert [round(float(value[0]), 2) for value in four] == [0.44, 0.62, 0.91]


@given(st.integers(0, 10_000))
def test_complete_tables_have_anova_variances(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.normal(size=(6, 1)) * 2 + random.normal(size=(1, 4)) + random.normal(size=(6, 4)) + 1e3
    found = components(*long(table))
    expected = variance_components(*long(table))
    np.testing.assert_allclose([found.items[0], found.raters[0], found.rest[0]], expected, rtol=1e-6, atol=1e-7)


@given(st.integers(0, 10_000), st.floats(0.3, 1.0))
def test_samples_are_pairs_of_copies_that_are_not_the_same_rater(seed: int, share: float) -> None:
    random = np.random.default_rng(seed)
    table = random.normal(size=(6, 5)) + random.normal(size=(6, 1))
    table[random.random(table.shape) > share] = np.nan
    items, raters, values = long(table)
    if not len(items):
        return
    weights = np.hstack([np.ones((int(raters.max()) + 1, 1)), resamples(int(raters.max()) + 1, 3, seed)])
    found = components(items, raters, values, weights)
    for column, times in enumerate(weights.T):
        expected = slow(items, raters, values, times)
        lines = [part[column] for part in (found.items, found.raters, found.rest)]
        np.testing.assert_allclose(lines, expected, rtol=1e-7, atol=1e-8)


def slow(items: np.ndarray, raters: np.ndarray, values: np.ndarray, times: np.ndarray) -> list[float]:
    """Over all pairs of ratings one by one."""
    sums = {"item": [0.0, 0.0], "rater": [0.0, 0.0], "none": [0.0, 0.0]}
    in_item = {i: sum(times[raters[items == i]]) for i in set(items)}
    of_rater = {r: (raters == r).sum() for r in set(raters)}
    for a in range(len(items)):
        for b in range(len(items)):
            if a == b:
                continue
            half = (values[a] - values[b]) ** 2 / 2
            both = times[raters[a]] * times[raters[b]]
            if items[a] == items[b]:
                kind, weight = "item", both / in_item[items[a]] if in_item[items[a]] else 0.0
            elif raters[a] == raters[b]:
                kind, weight = "rater", times[raters[a]] / of_rater[raters[a]]
            else:
                kind, weight = "none", both
            sums[kind][0] += weight * half
            sums[kind][1] += weight
    a, b, c = (part / weight if weight > 0 else float("nan") for part, weight in sums.values())
    return [c - a, c - b, a + b - c]


def test_known_variances_are_found_with_missing_ratings() -> None:
    random = np.random.default_rng(4)
    table = 2 * random.normal(size=(600, 1)) + random.normal(size=(1, 300)) + 1.5 * random.normal(size=(600, 300))
    table[random.random(table.shape) < 0.9] = np.nan
    found = components(*long(table))
    np.testing.assert_allclose([found.items[0], found.raters[0], found.rest[0]], [4.0, 1.0, 2.25], rtol=0.2)


def test_lists_that_share_no_stimulus() -> None:
    """Raters differ between lists as within them; stimuli of other lists are compared through nobody."""
    random = np.random.default_rng(5)
    table = np.full((200, 80), np.nan)
    whole = random.normal(size=(200, 1)) + random.normal(size=(1, 80)) + random.normal(size=(200, 80))
    for part in range(4):
        table[part::4, part::4] = whole[part::4, part::4]
    found = components(*long(table))
    np.testing.assert_allclose([found.items[0], found.raters[0], found.rest[0]], [1, 1, 1], atol=0.35)


def test_spearman_and_brown() -> None:
    assert stepped_up(np.array([0.5, 0.0, 1.0]), 2) == pytest.approx([2 / 3, 0, 1])


def test_nothing_to_compare_is_missing() -> None:
    assert np.isnan(components([], [], []).items[0])
    assert np.isnan(components([0, 1], [0, 0], [1.0, 2.0]).items[0])
