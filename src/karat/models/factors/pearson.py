"""Pearson's correlations of the columns of a table, nothing missing."""

from __future__ import annotations

import numpy as np

from karat.types import Floats


def pearson(values: Floats) -> Floats:
    """The correlation matrix of columns that all vary.

    >>> pearson(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])).round(3).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    centred = values - values.mean(axis=0)
    scaled = centred / np.sqrt((centred**2).sum(axis=0))
    found = scaled.T @ scaled
    np.fill_diagonal(found, 1.0)
    return np.asarray(np.clip(found, -1.0, 1.0))
