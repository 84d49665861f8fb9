"""Columns shuffled and turned are brought back."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karat.models.factors import congruence, matched


@given(
    seed=st.integers(0, 1000), order=st.permutations(range(4)), flips=st.lists(st.booleans(), min_size=4, max_size=4)
)
def test_shuffled_columns_are_brought_back(seed: int, order: list[int], flips: list[bool]) -> None:
    loadings = np.linalg.qr(np.random.default_rng(seed).standard_normal((9, 4)))[0]
    shuffled = loadings[:, order] * np.where(flips, -1, 1)
    places, signs = matched(shuffled, loadings)
    np.testing.assert_allclose(shuffled[:, places] * signs, loadings)


def test_a_column_of_zeros_is_like_no_other() -> None:
    assert congruence(np.zeros((3, 1)), np.ones((3, 1))).tolist() == [[0.0]]
