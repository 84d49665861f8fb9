"""Ordinary regression of one variable on a few others, with what is needed to compare their weights.

    y = b0 + sum b_j x_j + e,   b = (X'X)^-1 X'y,   cov(b) = s^2 (X'X)^-1

Standardised weights are b_j sd(x_j) / sd(y). The variance inflation of x_j is 1 / (1 - R_j^2) with R_j^2 from the
regression of x_j on the others. The R^2 of left-out cases is 1 - sum (y_i - prediction without i)^2 / sum (y_i - mean
of y without i)^2, in closed form from the leverages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from karat.types import Floats


@dataclass(frozen=True)
class Regression:
    """Weights of the predictors, without the constant, and how much they explain."""

    constant: float
    weights: Floats
    errors: Floats
    t: Floats
    p_values: Floats
    lower: Floats
    upper: Floats
    standardised: Floats
    inflation: Floats
    r2: float
    adjusted_r2: float
    left_out_r2: float
    f: float
    p_value: float
    dof: int


def regress(y: Floats, x: Floats, level: float = 0.95) -> Regression:
    """The regression of y on the columns of x; more cases than columns + 1 are needed.

    >>> x = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> found = regress(np.array([1.0, 2.0, 2.0, 4.0]), x)
    >>> found.weights.round(2).tolist(), round(found.r2, 3)
    ([0.9], 0.853)
    """
    n, k = x.shape
    dof = n - k - 1
    if dof < 1:
        raise ValueError(f"{n} cases are too few for {k} predictors.")
    design = np.column_stack([np.ones(n), x])
    if np.linalg.matrix_rank(design) < k + 1:
        raise ValueError("The predictors are not independent of each other.")
    inverse = np.linalg.inv(design.T @ design)
    weights: Floats = np.asarray(np.linalg.lstsq(design, y, rcond=None)[0], dtype=np.float64)
    residuals = y - design @ weights
    unexplained, total = float(residuals @ residuals), float(((y - y.mean()) ** 2).sum())
    errors = np.sqrt(unexplained / dof * np.diag(inverse))[1:]
    with np.errstate(divide="ignore"):
        t = weights[1:] / errors
    half = stdtrit(dof, (1 + level) / 2) * errors
    spread = x.std(axis=0, ddof=1)
    r2 = 1 - unexplained / total
    f = (total - unexplained) / k / (unexplained / dof) if unexplained > 0 else np.inf
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    alone = float(((residuals / (1 - leverage)) ** 2).sum()) / (total * (n / (n - 1)) ** 2)
    return Regression(
        float(weights[0]), weights[1:], errors, t, 2 * stdtr(dof, -np.abs(t)), weights[1:] - half, weights[1:] + half,
        weights[1:] * spread / y.std(ddof=1), (n - 1) * spread**2 * np.diag(inverse)[1:],
        r2, 1 - (1 - r2) * (n - 1) / dof, 1 - alone, float(f), float(fdtrc(k, dof, f)), dof,
    )  # fmt: skip
