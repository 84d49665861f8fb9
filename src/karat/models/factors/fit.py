"""The fit of factor models, factor scores, and ordinary regression.

With F = log det Sigma - log det R + trace(R Sigma^-1) - p of the model Sigma = L L' + Psi, n cases, p variables and k
factors,

    chi2  = c F,          c = n - 1 - (2p + 5) / 6 - 2k / 3      (Bartlett's correction)
    dof   = ((p - k)^2 - p - k) / 2
    RMSEA = sqrt(max(chi2 / (n dof) - 1 / (n - 1), 0)),    with an interval from the noncentral chi-squared distribution
    TLI   = (c F0 / dof0 - chi2 / dof) / (c F0 / dof0 - 1),    F0 = -log det R, dof0 = p (p - 1) / 2
    RMSR  = root mean square of the residual correlations
    BIC   = chi2 - dof log n

as in R's factanal (chi2) and psych (the others).

Factor scores are the positions of the cases on the factors. With pattern loadings L, factor correlations Phi,
uniquenesses Psi and standardised answers z, the scores are z W:

    regression   W = R^-1 L Phi                       (Thurstone 1935): least error, variance below 1
    bartlett     W = Psi^-1 L (L' Psi^-1 L)^-1        (Bartlett 1937): unbiased, variance above 1

Ordinary regression of one variable on a few others is

    y = b0 + sum b_j x_j + e,   b = (X'X)^-1 X'y,   cov(b) = s^2 (X'X)^-1

Standardised weights are b_j sd(x_j) / sd(y). The variance inflation of x_j is 1 / (1 - R_j^2) with R_j^2 from the
regression of x_j on the others. The R^2 of leave-one-out cross-validation is 1 - sum (y_i - prediction
without i)^2 / sum (y_i - mean of y without i)^2, computed in closed form from the leverages.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import chdtrc, chndtr, fdtrc, stdtr, stdtrit

from karat.types import Floats


@dataclass(frozen=True)
class FactorFit:
    """The measures of fit; without degrees of freedom p_value, rmsea, tli and bic are NaN."""

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
    """The degrees of freedom of a model; negative if there are more parameters than correlations."""
    return ((p - k) ** 2 - p - k) // 2


def fit_of(correlation: Floats, loadings: Floats, uniquenesses: Floats, n: int, level: float = 0.90) -> FactorFit:
    """The fit of unrotated loadings to a correlation matrix of n cases.

    >>> x = np.array([0.9, 0.8, 0.7, 0.6])
    >>> fit = fit_of(np.outer(x, x) + np.diag(1 - x**2), x[:, None], 1 - x**2, 100)
    >>> round(fit.chi2, 6), fit.dof, round(fit.p_value, 6)
    (0.0, 2, 1.0)
    """
    p, k = loadings.shape
    model = loadings @ loadings.T + np.diag(uniquenesses)
    ratio = np.linalg.solve(model, correlation)
    sign, log_det = np.linalg.slogdet(correlation)
    objective = float(np.linalg.slogdet(model)[1] - log_det + np.trace(ratio) - p) if sign > 0 else np.nan
    objective = max(objective, 0.0) if np.isfinite(objective) else np.nan
    factor = n - 1 - (2 * p + 5) / 6 - 2 * k / 3
    chi2, dof = factor * objective, degrees_of_freedom(p, k)
    residuals = (correlation - model)[~np.eye(p, dtype=bool)]
    rmsr = float(np.sqrt((residuals**2).mean()))
    if dof < 1 or not np.isfinite(chi2):
        nan = float("nan")
        return FactorFit(objective, chi2, dof, nan, nan, (nan, nan), nan, rmsr, nan)
    rmsea = float(np.sqrt(max(chi2 / (n * dof) - 1 / (n - 1), 0.0)))
    null = factor * -float(log_det) / (p * (p - 1) / 2)
    tli = (null - chi2 / dof) / (null - 1) if null != 1 else np.nan
    interval = _interval(chi2, dof, n, level)
    return FactorFit(
        objective, chi2, dof, float(chdtrc(dof, chi2)), rmsea, interval, tli, rmsr, chi2 - dof * float(np.log(n))
    )  # fmt: skip


def _interval(chi2: float, dof: int, n: int, level: float) -> tuple[float, float]:
    """The RMSEA values whose noncentral distributions have this chi-squared value as upper and lower quantile."""
    low, high = (1 - level) / 2, (1 + level) / 2

    from scipy.optimize import brentq

    def noncentrality(share: float) -> float:
        if chndtr(chi2, dof, 0.0) <= share:
            return 0.0
        top = max(chi2, 1.0)
        while chndtr(chi2, dof, top) > share:
            top *= 2
        return float(brentq(lambda value: chndtr(chi2, dof, value) - share, 0.0, top))

    lower, upper = (float(np.sqrt(noncentrality(share) / (n * dof))) for share in (high, low))
    return lower, upper


def score_weights(
    correlation: Floats,
    loadings: Floats,
    factor_correlations: Floats,
    uniquenesses: Floats,
    method: Literal["regression", "bartlett"] = "regression",
) -> Floats:
    """The weights of standardised answers for factor scores, one column per factor.

    >>> loadings = np.array([[0.9], [0.8], [0.7]])
    >>> psi = 1 - loadings[:, 0] ** 2
    >>> score_weights(loadings @ loadings.T + np.diag(psi), loadings, np.eye(1), psi).round(3)[:, 0].tolist()
    [0.592, 0.278, 0.172]
    """
    if method == "regression":
        return np.asarray(np.linalg.solve(correlation, loadings @ factor_correlations))
    weighted = loadings / uniquenesses[:, None]
    return np.asarray(weighted @ np.linalg.inv(loadings.T @ weighted))


@dataclass(frozen=True)
class Regression:
    """The constant, the weights of the predictors with tests and intervals, and the explained variance."""

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
    """The regression of y on the columns of x; requires more cases than columns + 1.

    >>> x = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> regression = regress(np.array([1.0, 2.0, 2.0, 4.0]), x)
    >>> regression.weights.round(2).tolist(), round(regression.r2, 3)
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
    press = float(((residuals / (1 - leverage)) ** 2).sum()) / (total * (n / (n - 1)) ** 2)
    return Regression(
        float(weights[0]), weights[1:], errors, t, 2 * stdtr(dof, -np.abs(t)), weights[1:] - half, weights[1:] + half,
        weights[1:] * spread / y.std(ddof=1), (n - 1) * spread**2 * np.diag(inverse)[1:],
        r2, 1 - (1 - r2) * (n - 1) / dof, 1 - press, float(f), float(fdtrc(k, dof, f)), dof,
    )  # fmt: skip
