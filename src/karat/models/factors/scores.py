"""Factor scores: where each case stands on each factor.

With pattern loadings L, factor correlations Phi, uniquenesses Psi and standardised answers z, the scores are z W:

    regression   W = R^-1 L Phi                       (Thurstone 1935): least error, variance below 1
    bartlett     W = Psi^-1 L (L' Psi^-1 L)^-1        (Bartlett 1937): unbiased, variance above 1
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.types import Floats


def score_weights(
    correlation: Floats,
    loadings: Floats,
    factor_correlations: Floats,
    uniquenesses: Floats,
    method: Literal["regression", "bartlett"] = "regression",
) -> Floats:
    """The weights of standardised answers, one column a factor.

    >>> one = np.array([[0.9], [0.8], [0.7]])
    >>> psi = 1 - one[:, 0] ** 2
    >>> score_weights(one @ one.T + np.diag(psi), one, np.eye(1), psi).round(3)[:, 0].tolist()
    [0.592, 0.278, 0.172]
    """
    if method == "regression":
        return np.asarray(np.linalg.solve(correlation, loadings @ factor_correlations))
    weighted = loadings / uniquenesses[:, None]
    return np.asarray(weighted @ np.linalg.inv(loadings.T @ weighted))
