"""Common factors of a correlation matrix, by maximum likelihood or minimum residuals, and the number of factors.

The model is R = L L' + Psi with k columns of loadings L and a diagonal of uniquenesses Psi. Given Psi, the best L
follows from an eigendecomposition, so the search is over the uniquenesses only.

Maximum likelihood (Lawley 1940, Joreskog 1967): with the eigenvalues e of Psi^-1/2 R Psi^-1/2 in descending order,

    F(Psi) = sum over j > k of (e_j - log e_j - 1),   dF/d log psi_i = sum over j > k of (1 - e_j) v_ij^2.

Minimum residuals (Harman and Jones 1966), which is unweighted least squares: with the eigenvalues e of R - Psi,

    F(Psi) = 1/2 sum over j > k of e_j^2,             dF/d psi_i = - sum over j > k of e_j v_ij^2.

The search (L-BFGS-B) starts at (1 - k / 2p) / diag(R^-1), as in other programs. There may be more than one minimum, so
random uniquenesses are also tried, and the result reports the lowest minimum of all starts. With `start="best"` the
result is this minimum. Uniquenesses are between .005 and 1, as in R's factanal; a value of .005 is a Heywood case.

**Parallel analysis** (Horn 1965) compares eigenvalues with those of data without any factor, which are normal deviates
or ratings shuffled within each column. It counts the eigenvalues, from the first on, that exceed the given quantile of
the random ones. The eigenvalues of components are those of R. The eigenvalues of factors are those of R with the
communalities of one common factor (by minimum residuals) on its diagonal.

**MAP** (Velicer 1976) removes 0, 1, 2, ... principal components and computes the remaining partial correlations. The
number of components is the one with their smallest mean square. `power=4` is the revised test (Velicer, Eaton and Fava
2000).

**Acceleration** counts the eigenvalues before the bend, where their second difference is largest (Raiche et al. 2013).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from karat.models.factors.correlations import pearson
from karat.models.numerics import one_thread
from karat.types import Floats

Method = Literal["ml", "minres"]
LOWEST = 0.005
"""The smallest uniqueness."""
STARTS = 10
"""The number of random starts in addition to the default one."""
FLAT = 1e-5
"""A search has converged if the largest slope is below this."""


@dataclass(frozen=True)
class Extraction:
    """Unrotated loadings, with the largest factor first, and the result of the search."""

    loadings: Floats
    uniquenesses: Floats
    objective: float
    """F of the method at its minimum."""
    gradient: float
    """The largest remaining slope, excluding uniquenesses at a bound that they would cross."""
    converged: bool
    lowest: float
    """The lowest F of all starts; below the objective if another solution fits better."""

    @property
    def at_bound(self) -> NDArray[np.bool_]:
        """A mask of the uniquenesses at the lower bound."""
        return np.asarray(self.uniquenesses <= LOWEST * (1 + 1e-6))


def extract(
    correlation: Floats,
    k: int,
    method: Method = "ml",
    start: Literal["usual", "best"] = "usual",
    others: int = STARTS,
    seed: int = 1,
) -> Extraction:
    """The k common factors of a correlation matrix.

    >>> loadings = np.array([0.9, 0.8, 0.7])
    >>> extraction = extract(np.outer(loadings, loadings) + np.diag(1 - loadings**2), 1)
    >>> extraction.loadings[:, 0].round(3).tolist(), extraction.converged
    ([0.9, 0.8, 0.7], True)
    """
    p = len(correlation)
    if not 1 <= k < p:
        raise ValueError(f"There can be 1 to {p - 1} factors of {p} variables.")
    problem = likelihood_discrepancy if method == "ml" else residual_discrepancy
    random = np.random.default_rng(seed)
    inverse = np.linalg.pinv(correlation, hermitian=True)
    initial = (1 - 0.5 * k / p) / np.maximum(np.diag(inverse), 1.0)
    with one_thread():
        default = _minimise(correlation, k, problem, np.clip(initial, LOWEST, 1.0), method)
        alternatives = [_minimise(correlation, k, problem, random.uniform(0.1, 0.9, p), method) for _ in range(others)]
    converged = [extraction for extraction in (default, *alternatives) if extraction.converged] or [default]
    best = min(converged, key=lambda extraction: extraction.objective)
    # A search that did not converge is the result only if no other search converged.
    result = best if start == "best" or not default.converged else default
    return replace(result, lowest=best.objective)


_Problem = Callable[[Floats, Floats, int], tuple[float, Floats]]


def _minimise(correlation: Floats, k: int, problem: _Problem, start: Floats, method: Method) -> Extraction:
    """The minimum from one start; the search is over the logarithms of the uniquenesses."""
    from scipy.optimize import minimize

    def value_and_slope(logs: Floats) -> tuple[float, Floats]:
        return problem(np.exp(logs), correlation, k)

    bounds = [(np.log(LOWEST), 0.0)] * len(start)
    result = minimize(
        value_and_slope, np.log(start), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-8, "maxcor": 20},
    )  # fmt: skip
    logs = np.clip(result.x, np.log(LOWEST), 0.0)
    value, slope = value_and_slope(logs)
    at_bound = ((logs <= np.log(LOWEST) + 1e-9) & (slope > 0)) | ((logs >= -1e-9) & (slope < 0))
    gradient = float(np.abs(np.where(at_bound, 0.0, slope)).max())
    uniquenesses = np.maximum(np.exp(logs), LOWEST)
    return Extraction(
        _loadings(uniquenesses, correlation, k, method), uniquenesses, value, gradient, gradient < FLAT, value
    )


def likelihood_discrepancy(uniquenesses: Floats, correlation: Floats, k: int) -> tuple[float, Floats]:
    """F of maximum likelihood, and its slope in the logarithms of the uniquenesses."""
    scale = 1 / np.sqrt(uniquenesses)
    values, vectors = eigh(correlation * np.outer(scale, scale), subset_by_index=[0, len(scale) - k - 1])
    values = np.maximum(values, 1e-12)
    return float((values - np.log(values) - 1).sum()), np.asarray(vectors**2 @ (1 - values))


def residual_discrepancy(uniquenesses: Floats, correlation: Floats, k: int) -> tuple[float, Floats]:
    """F of minimum residuals, and its slope in the logarithms of the uniquenesses."""
    values, vectors = eigh(correlation - np.diag(uniquenesses), subset_by_index=[0, len(uniquenesses) - k - 1])
    return float((values**2).sum() / 2), np.asarray(-(vectors**2 @ values) * uniquenesses)


def _loadings(uniquenesses: Floats, correlation: Floats, k: int, method: Method) -> Floats:
    """The loadings for these uniquenesses: the largest factor first, each with a positive sum."""
    root = np.sqrt(uniquenesses) if method == "ml" else np.ones(len(uniquenesses))
    reduced = correlation if method == "ml" else correlation - np.diag(uniquenesses)
    p = len(root)
    values, vectors = eigh(reduced / np.outer(root, root), subset_by_index=[p - k, p - 1])
    lengths = np.sqrt(np.maximum(values - (1.0 if method == "ml" else 0.0), 0.0))
    loadings = root[:, None] * (vectors * lengths)[:, ::-1]
    signs = np.where(loadings.sum(axis=0) < 0, -1.0, 1.0)
    return np.asarray(loadings * signs)


@dataclass(frozen=True)
class Parallel:
    """The eigenvalues of the data, the quantiles of those of random data, and the numbers of factors and components."""

    factors: int
    components: int
    factor_values: Floats
    factor_quantiles: Floats
    component_values: Floats
    component_quantiles: Floats


def parallel_analysis(
    correlation: Floats,
    n: int,
    values: Floats | None = None,
    draws: int = 100,
    quantile: float = 0.95,
    seed: int = 1,
) -> Parallel:
    """The numbers of factors and components that exceed those of random data of the same size.

    With `values` (cases in rows, none missing), random data are these with shuffled columns, otherwise normal deviates.

    >>> loadings = np.array([0.9, 0.8, 0.7, 0.8])
    >>> result = parallel_analysis(np.outer(loadings, loadings) + np.diag(1 - loadings**2), 200, draws=20)
    >>> result.factors, result.components
    (1, 1)
    """
    random = np.random.default_rng(seed)
    p = len(correlation)
    by_component, by_factor = np.empty((draws, p)), np.empty((draws, p))
    with one_thread():
        for draw in range(draws):
            sample = random.standard_normal((n, p)) if values is None else random.permuted(values, axis=0)
            chance = pearson(sample)
            by_component[draw], by_factor[draw] = _eigenvalues(chance), _common_eigenvalues(chance)
    components, factors = _eigenvalues(correlation), _common_eigenvalues(correlation)
    of_components = np.quantile(by_component, quantile, axis=0)
    of_factors = np.quantile(by_factor, quantile, axis=0)
    return Parallel(
        _leading_count(factors > of_factors), _leading_count(components > of_components),
        factors, of_factors, components, of_components,
    )  # fmt: skip


def _eigenvalues(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.eigvalsh(matrix)[::-1])


def _common_eigenvalues(correlation: Floats) -> Floats:
    """The eigenvalues of a correlation matrix with the communalities of one factor on its diagonal."""
    single = extract(correlation, 1, "minres", others=0)
    return _eigenvalues(correlation - np.diag(single.uniquenesses))


def _leading_count(above: NDArray[np.bool_]) -> int:
    """The number of true values before the first false one."""
    return len(above) if above.all() else int(np.argmin(above))


def map_test(correlation: Floats, power: int = 2) -> tuple[int, Floats]:
    """The number of components with the smallest average partial correlation, and the averages from 0 components on.

    >>> loadings = np.array([0.9, 0.8, 0.7, 0.8])
    >>> map_test(np.outer(loadings, loadings) + np.diag(1 - loadings**2))[0]
    1
    """
    p = len(correlation)
    eigenvalues, vectors = np.linalg.eigh(correlation)
    loadings = vectors[:, ::-1] * np.sqrt(np.maximum(eigenvalues[::-1], 0.0))
    others = ~np.eye(p, dtype=bool)
    averages = np.full(p - 1, np.nan)
    for number in range(p - 1):
        residual = correlation - loadings[:, :number] @ loadings[:, :number].T
        spread = np.diag(residual)
        if spread.min() <= 1e-12:
            break
        partial = residual / np.sqrt(np.outer(spread, spread))
        averages[number] = (np.abs(partial[others]) ** power).mean()
    return int(np.nanargmin(averages)), averages


def acceleration(eigenvalues: Floats) -> int:
    """The number of eigenvalues before the sharpest bend.

    >>> acceleration(np.array([4.0, 2.5, 0.6, 0.5, 0.4]))
    2
    """
    if len(eigenvalues) < 3:
        return 0
    return int(np.argmax(np.diff(eigenvalues, 2))) + 1
