"""Polychoric correlations: those of normal variables that ordered answers divide into categories.

Two-step estimate (Olsson 1979): the thresholds of each question are estimated from its distribution. Then, for each
pair of questions, the correlation rho maximises the likelihood of their table,

    sum over cells of n_ab log P_ab(rho),

where P_ab is the bivariate normal probability of a rectangle. With Phi_2 the distribution function,

    Phi_2(x, y, rho) = Phi(x) Phi(y)
        + 1 / 2 pi integral from 0 to arcsin rho of exp(-(x^2 + y^2 - 2 x y sin t) / (2 cos^2 t)) dt,

computed by Gauss-Legendre quadrature. Pairs are estimated separately, so the matrix may have negative eigenvalues;
`nearest_correlation` removes them.

Two measures show whether correlations are suitable for factor analysis. The Kaiser-Meyer-Olkin measure (Kaiser and Rice
1974) compares correlations r with partial correlations q given all other variables:

    KMO = sum r_ij^2 / (sum r_ij^2 + sum q_ij^2)    over i != j; for one variable i, over j != i.

Bartlett's test (1951) asks whether all correlations are zero:

    chi2 = -(n - 1 - (2p + 5) / 6) log det R    with p (p - 1) / 2 degrees of freedom.
"""

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from karat.types import Floats

FARTHEST = 0.9999
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


def polychoric(values: Floats) -> Floats:
    """The polychoric correlation matrix of columns of ordered answers; missing answers are excluded pairwise.

    >>> x = np.array([1, 1, 2, 2, 3, 3, 1, 2, 3, 2.0])
    >>> y = np.array([1, 2, 2, 2, 3, 3, 1, 1, 2, 3.0])
    >>> polychoric(np.column_stack([x, y])).round(2).tolist()
    [[1.0, 0.78], [0.78, 1.0]]
    """
    p = values.shape[1]
    correlations = np.eye(p)
    for i in range(p):
        for j in range(i):
            both = ~np.isnan(values[:, i]) & ~np.isnan(values[:, j])
            correlations[i, j] = correlations[j, i] = _correlation(values[both, i], values[both, j])
    return correlations


def _correlation(first: Floats, second: Floats) -> float:
    """The correlation of two columns of answers."""
    rows, row = np.unique(first, return_inverse=True)
    columns, column = np.unique(second, return_inverse=True)
    counts = np.bincount(row * len(columns) + column, minlength=len(rows) * len(columns)).reshape(len(rows), -1)
    return table_correlation(counts.astype(np.float64))


def table_correlation(counts: Floats) -> float:
    """The polychoric correlation of a table of counts; NaN if a question has only one distinct answer."""
    if min(counts.shape) < 2:
        return float("nan")
    lower, upper = (ndtri(np.cumsum(counts.sum(axis=axis))[:-1] / counts.sum()) for axis in (1, 0))
    nonzero = counts > 0

    from scipy.optimize import minimize_scalar

    def loss(rho: float) -> float:
        cells = cell_probabilities(lower, upper, rho)
        return -float((counts[nonzero] * np.log(np.maximum(cells[nonzero], 1e-300))).sum())

    result = minimize_scalar(loss, bounds=(-FARTHEST, FARTHEST), method="bounded", options={"xatol": 1e-8})
    return float(result.x)


def cell_probabilities(rows: Floats, columns: Floats, rho: float) -> Floats:
    """The probabilities of all cells that these thresholds delimit."""
    below = np.zeros((len(rows) + 2, len(columns) + 2))
    below[1:-1, 1:-1] = bivariate_normal(rows[:, None], columns[None, :], rho)
    below[-1, 1:-1], below[1:-1, -1], below[-1, -1] = ndtr(columns), ndtr(rows), 1.0
    return np.asarray(np.diff(np.diff(below, axis=0), axis=1))


def bivariate_normal(x: Floats, y: Floats, rho: float) -> Floats:
    """The probability that two standard normal variables with correlation rho are below x and y."""
    half = np.arcsin(rho) / 2
    angles = half * (_PLACES + 1)
    x, y = np.asarray(x)[..., None], np.asarray(y)[..., None]
    density = np.exp(-(x**2 + y**2 - 2 * x * y * np.sin(angles)) / (2 * np.cos(angles) ** 2))
    return np.asarray((ndtr(x) * ndtr(y))[..., 0] + half / (2 * np.pi) * (density @ _WEIGHTS))


def nearest_correlation(matrix: Floats, smallest: float = 1e-4) -> tuple[Floats, bool]:
    """A correlation matrix with no eigenvalues below `smallest` before rescaling, and whether it was changed.

    >>> nearest_correlation(np.eye(2))[1]
    False
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    if eigenvalues.min() >= smallest:
        return matrix, False
    positive = (vectors * np.maximum(eigenvalues, smallest)) @ vectors.T
    scale = 1 / np.sqrt(np.diag(positive))
    return positive * np.outer(scale, scale), True


def pearson(values: Floats) -> Floats:
    """The correlation matrix of columns, which must all vary.

    >>> pearson(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])).round(3).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    centred = values - values.mean(axis=0)
    scaled = centred / np.sqrt((centred**2).sum(axis=0))
    correlations = scaled.T @ scaled
    np.fill_diagonal(correlations, 1.0)
    return np.asarray(np.clip(correlations, -1.0, 1.0))


def kmo(correlation: Floats) -> tuple[float, Floats]:
    """The Kaiser-Meyer-Olkin measure of all variables together, and of each variable.

    >>> overall, by_variable = kmo(np.array([[1, 0.6, 0.5], [0.6, 1, 0.4], [0.5, 0.4, 1]]))
    >>> round(overall, 3), by_variable.round(3).tolist()
    (0.658, [0.616, 0.654, 0.737])
    """
    inverse = np.linalg.inv(correlation)
    scale = 1 / np.sqrt(np.diag(inverse))
    partial = inverse * np.outer(scale, scale)
    r, q = correlation**2, partial**2
    np.fill_diagonal(r, 0.0)
    np.fill_diagonal(q, 0.0)
    # The measure is undefined (NaN) for variables without any correlation.
    with np.errstate(invalid="ignore"):
        return float(r.sum() / (r.sum() + q.sum())), r.sum(axis=1) / (r.sum(axis=1) + q.sum(axis=1))


def bartlett(correlation: Floats, n: int) -> tuple[float, int, float]:
    """Chi-squared, degrees of freedom and p value of Bartlett's test that all correlations are zero.

    >>> bartlett(np.eye(3), 50)
    (0.0, 3, 1.0)
    """
    p = len(correlation)
    chi2 = max(0.0, (n - 1 - (2 * p + 5) / 6) * -float(np.linalg.slogdet(correlation)[1]))
    dof = p * (p - 1) // 2
    return chi2, dof, float(chdtrc(dof, chi2))
