"""Weighted rank correlations and variance components, against simple computations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from karat.models.agreement import variance_components
from karat.models.resampling import components, kendall, pearson, resamples, spearman, stepped_up, weighted_ranks

ITEMS = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.integers(0, 3)), min_size=3, max_size=12
)  # fmt: skip


@given(ITEMS)
def test_copies_count_like_rows(items: list[tuple[int, int, int]]) -> None:
    x, y, weight = (np.array(part, dtype=float) for part in zip(*items, strict=True))
    copies = np.repeat(np.arange(len(x)), weight.astype(int))
    varied = len(set(x[copies])) > 1 and len(set(y[copies])) > 1
    for ours, theirs in ((spearman, stats.spearmanr), (kendall, stats.kendalltau), (pearson, stats.pearsonr)):
        if not len(copies):
            continue
        (result,) = ours(x, y, weight)
        if varied:
            assert result == pytest.approx(theirs(x[copies], y[copies])[0], abs=1e-9)
        else:
            assert np.isnan(result)


def test_blocks_and_several_samples() -> None:
    random = np.random.default_rng(2)
    x, y = random.normal(size=(2, 30))
    weights = random.integers(0, 3, (30, 4)).astype(float)
    whole = kendall(x, y, weights)
    np.testing.assert_allclose(kendall(x, y, weights, block=7), whole)
    np.testing.assert_allclose(whole[2], kendall(x, y, weights[:, 2])[0])


def test_ranks_without_weights_are_mean_ranks() -> None:
    values = [3.0, 1.0, 3.0, 2.0]
    assert weighted_ranks(values, np.ones((4, 1)))[:, 0].tolist() == stats.rankdata(values).tolist()


def test_rounding_errors_of_a_large_constant_are_not_variation() -> None:
    weights = np.random.default_rng(1).multinomial(7, np.full(7, 1 / 7), size=20).T
    assert np.isnan(pearson(np.full(7, 1e9 / 3), np.arange(7.0), weights)).all()
    assert pearson(1e-12 * np.arange(7.0), np.arange(7.0)).tolist() == pytest.approx([1.0])


SHROUT = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)


def long(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    items, raters = np.nonzero(~np.isnan(table))
    return items, raters, table[items, raters]


def test_iccs_of_a_published_table() -> None:
    """Shrout and Fleiss (1979), table 4: .17, .29, .71 for one judge, .44, .62, .91 for the mean of four."""
    result = components(*long(SHROUT))
    one = [result.icc_one_way(), result.icc_agreement(), result.icc_consistency()]
    four = [result.icc_one_way(4), result.icc_agreement(4), result.icc_consistency(4)]
    assert [round(float(value[0]), 2) for value in one] == [0.17, 0.29, 0.71]
    assert [round(float(value[0]), 2) for value in four] == [0.44, 0.62, 0.91]


@given(st.integers(0, 10_000))
def test_complete_tables_have_anova_variances(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.normal(size=(6, 1)) * 2 + random.normal(size=(1, 4)) + random.normal(size=(6, 4)) + 1e3
    result = components(*long(table))
    expected = variance_components(*long(table))
    np.testing.assert_allclose([result.items[0], result.raters[0], result.rest[0]], expected, rtol=1e-6, atol=1e-7)


@given(st.integers(0, 10_000), st.floats(0.3, 1.0))
def test_samples_exclude_pairs_of_copies_of_a_rater(seed: int, share: float) -> None:
    random = np.random.default_rng(seed)
    table = random.normal(size=(6, 5)) + random.normal(size=(6, 1))
    table[random.random(table.shape) > share] = np.nan
    items, raters, values = long(table)
    if not len(items):
        return
    weights = np.hstack([np.ones((int(raters.max()) + 1, 1)), resamples(int(raters.max()) + 1, 3, seed)])
    result = components(items, raters, values, weights)
    for column, times in enumerate(weights.T):
        expected = slow(items, raters, values, times)
        lines = [part[column] for part in (result.items, result.raters, result.rest)]
        np.testing.assert_allclose(lines, expected, rtol=1e-7, atol=1e-8)


def slow(items: np.ndarray, raters: np.ndarray, values: np.ndarray, times: np.ndarray) -> list[float]:
    """The components by a loop over all pairs of ratings."""
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


def test_known_variances_are_recovered_with_missing_ratings() -> None:
    random = np.random.default_rng(4)
    table = 2 * random.normal(size=(600, 1)) + random.normal(size=(1, 300)) + 1.5 * random.normal(size=(600, 300))
    table[random.random(table.shape) < 0.9] = np.nan
    result = components(*long(table))
    np.testing.assert_allclose([result.items[0], result.raters[0], result.rest[0]], [4.0, 1.0, 2.25], rtol=0.2)


def test_lists_without_common_stimuli() -> None:
    """Raters differ between lists as much as within them, and no rater connects stimuli of different lists."""
    random = np.random.default_rng(5)
    table = np.full((200, 80), np.nan)
    whole = random.normal(size=(200, 1)) + random.normal(size=(1, 80)) + random.normal(size=(200, 80))
    for part in range(4):
        table[part::4, part::4] = whole[part::4, part::4]
    result = components(*long(table))
    np.testing.assert_allclose([result.items[0], result.raters[0], result.rest[0]], [1, 1, 1], atol=0.35)


def test_spearman_and_brown() -> None:
    assert stepped_up(np.array([0.5, 0.0, 1.0]), 2) == pytest.approx([2 / 3, 0, 1])


def test_undefined_coefficients_are_nan() -> None:
    assert np.isnan(components([], [], []).items[0])
    assert np.isnan(components([0, 1], [0, 0], [1.0, 2.0]).items[0])
