"""Rank correlations of weighted items beside tables in which every copy is a row of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from karat.models.resampling import kendall, pearson, spearman, weighted_ranks

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
        (found,) = ours(x, y, weight)
        if varied:
            assert found == pytest.approx(theirs(x[copies], y[copies])[0], abs=1e-9)
        else:
            assert np.isnan(found)


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


def test_what_rounding_leaves_of_a_large_constant_does_not_vary() -> None:
    weights = np.random.default_rng(1).multinomial(7, np.full(7, 1 / 7), size=20).T
    assert np.isnan(pearson(np.full(7, 1e9 / 3), np.arange(7.0), weights)).all()
    assert pearson(1e-12 * np.arange(7.0), np.arange(7.0)).tolist() == pytest.approx([1.0])
