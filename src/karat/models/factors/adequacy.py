"""Whether correlations are worth a factor analysis.

Kaiser, Meyer and Olkin's measure (Kaiser and Rice 1974) compares correlations r with partial correlations q given all
other variables:

    KMO = sum r_ij^2 / (sum r_ij^2 + sum q_ij^2)    over i != j; for one variable i, over j != i.

Bartlett's test (1951) asks whether all correlations are zero:

    chi2 = -(n - 1 - (2p + 5) / 6) log det R    with p (p - 1) / 2 degrees of freedom.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from karat.types import Floats


def kmo(correlation: Floats) -> tuple[float, Floats]:
    """The measure of all variables together, and of each.

    >>> whole, each = kmo(np.array([[1, 0.6, 0.5], [0.6, 1, 0.4], [0.5, 0.4, 1]]))
    >>> round(whole, 3), each.round(3).tolist()
    (0.658, [0.616, 0.654, 0.737])
    """
    inverse = np.linalg.inv(correlation)
    scale = 1 / np.sqrt(np.diag(inverse))
    partial = inverse * np.outer(scale, scale)
    r, q = correlation**2, partial**2
    np.fill_diagonal(r, 0.0)
    np.fill_diagonal(q, 0.0)
    # Where nothing is correlated at all there is nothing to compare: NaN.
    with np.errstate(invalid="ignore"):
        return float(r.sum() / (r.sum() + q.sum())), r.sum(axis=1) / (r.sum(axis=1) + q.sum(axis=1))


def bartlett(correlation: Floats, n: int) -> tuple[float, int, float]:
    """Chi-squared, degrees of freedom and p value of the test that nothing is correlated.

    >>> bartlett(np.eye(3), 50)
    (0.0, 3, 1.0)
    """
    p = len(correlation)
    chi2 = max(0.0, (n - 1 - (2 * p + 5) / 6) * -float(np.linalg.slogdet(correlation)[1]))
    dof = p * (p - 1) // 2
    return chi2, dof, float(chdtrc(dof, chi2))
