"""KMO beside partial correlations from regressions, Bartlett's test beside scipy's distribution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from karat.models.factors import bartlett, kmo


def values() -> np.ndarray:
    random = np.random.default_rng(1)
    return random.standard_normal((200, 2)) @ random.uniform(0, 1, (2, 5)) + random.standard_normal((200, 5))


def test_partial_correlations_are_those_of_residuals() -> None:
    data = values()
    data = data - data.mean(axis=0)
    partial = np.zeros((5, 5))
    for i in range(5):
        for j in range(5):
            if i != j:
                others = data[:, [k for k in range(5) if k not in (i, j)]]
                left = [data[:, k] - others @ np.linalg.lstsq(others, data[:, k], rcond=None)[0] for k in (i, j)]
                partial[i, j] = np.corrcoef(left)[0, 1]
    matrix = np.corrcoef(data, rowvar=False)
    r, q = matrix**2 - np.eye(5), partial**2
    whole, each = kmo(matrix)
    assert whole == pytest.approx(r.sum() / (r.sum() + q.sum()))
    np.testing.assert_allclose(each, r.sum(axis=1) / (r.sum(axis=1) + q.sum(axis=1)))


def test_bartlett() -> None:
    matrix = np.corrcoef(values(), rowvar=False)
    chi2, dof, p = bartlett(matrix, 200)
    assert chi2 == pytest.approx(-(199 - 15 / 6) * np.log(np.linalg.det(matrix)))
    assert dof == 10
    assert p == pytest.approx(stats.chi2.sf(chi2, 10))


def test_what_is_not_correlated_has_no_kmo() -> None:
    assert np.isnan(kmo(np.eye(3))[0])
