"""How well a factor model fits.

With F = log det Sigma - log det R + trace(R Sigma^-1) - p of the model Sigma = L L' + Psi, n cases, p variables and k
factors,

    chi2  = c F,          c = n - 1 - (2p + 5) / 6 - 2k / 3      (Bartlett's correction)
    dof   = ((p - k)^2 - p - k) / 2
    RMSEA = sqrt(max(chi2 / (n dof) - 1 / (n - 1), 0)),    its interval from the noncentral chi-squared distribution
    TLI   = (c F0 / dof0 - chi2 / dof) / (c F0 / dof0 - 1),    F0 = -log det R, dof0 = p (p - 1) / 2
    RMSR  = root mean square of the residual correlations
    BIC   = chi2 - dof log n

as in R's factanal (chi2) and psych (the others).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chndtr

from karat.types import Floats


@dataclass(frozen=True)
class FactorFit:
    """The measures of fit. Without degrees of freedom there is no test: p_value, rmsea and tli are NaN."""

    objective: float
    chi2: float
    dof: int
    p_value: float
    rmsea: float
    rmsea_interval: tuple[float, float]
    tli: float
    rmsr: float
    bic: float


def degrees_of_freedom(p: int, k: int) -> int:
    """What is left to test; negative where there are more parameters than correlations.

    >>> degrees_of_freedom(8, 4), degrees_of_freedom(25, 5)
    (2, 185)
    """
    return ((p - k) ** 2 - p - k) // 2


def fit_of(correlation: Floats, loadings: Floats, uniquenesses: Floats, n: int, level: float = 0.90) -> FactorFit:
    """The fit of unrotated loadings to a correlation matrix of n cases.

    >>> one = np.array([0.9, 0.8, 0.7, 0.6])
    >>> fit = fit_of(np.outer(one, one) + np.diag(1 - one**2), one[:, None], 1 - one**2, 100)
    >>> round(fit.chi2, 6), fit.dof, round(fit.p_value, 6)
    (0.0, 2, 1.0)
    """
    p, k = loadings.shape
    model = loadings @ loadings.T + np.diag(uniquenesses)
    ratio = np.linalg.solve(model, correlation)
    known = np.linalg.slogdet(correlation)
    objective = float(np.linalg.slogdet(model)[1] - known[1] + np.trace(ratio) - p) if known[0] > 0 else np.nan
    objective = max(objective, 0.0) if np.isfinite(objective) else np.nan
    factor = n - 1 - (2 * p + 5) / 6 - 2 * k / 3
    chi2, dof = factor * objective, degrees_of_freedom(p, k)
    residuals = (correlation - model)[~np.eye(p, dtype=bool)]
    rmsr = float(np.sqrt((residuals**2).mean()))
    if dof < 1 or not np.isfinite(chi2):
        nan = float("nan")
        return FactorFit(objective, chi2, dof, nan, nan, (nan, nan), nan, rmsr, nan)
    rmsea = float(np.sqrt(max(chi2 / (n * dof) - 1 / (n - 1), 0.0)))
    null = factor * -float(known[1]) / (p * (p - 1) / 2)
    tli = (null - chi2 / dof) / (null - 1) if null != 1 else np.nan
    ends = _interval(chi2, dof, n, level)
    return FactorFit(
        objective, chi2, dof, float(chdtrc(dof, chi2)), rmsea, ends, tli, rmsr, chi2 - dof * float(np.log(n))
    )  # fmt: skip


def _interval(chi2: float, dof: int, n: int, level: float) -> tuple[float, float]:
    """The RMSEA whose noncentral distribution has this chi-squared value at either end."""
    low, high = (1 - level) / 2, (1 + level) / 2

    def noncentrality(share: float) -> float:
        if chndtr(chi2, dof, 0.0) <= share:
            return 0.0
        top = max(chi2, 1.0)
        while chndtr(chi2, dof, top) > share:
            top *= 2
        return float(brentq(lambda value: chndtr(chi2, dof, value) - share, 0.0, top))

    lower, upper = (float(np.sqrt(noncentrality(share) / (n * dof))) for share in (high, low))
    return lower, upper
