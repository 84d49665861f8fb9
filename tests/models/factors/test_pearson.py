"""Pearson's correlations beside numpy's."""

from __future__ import annotations

import numpy as np

from karat.models.factors import pearson


def test_the_matrix_is_numpys() -> None:
    values = np.random.default_rng(1).standard_normal((30, 4)) + 100
    np.testing.assert_allclose(pearson(values), np.corrcoef(values, rowvar=False))
    assert np.diag(pearson(values)).tolist() == [1.0] * 4
