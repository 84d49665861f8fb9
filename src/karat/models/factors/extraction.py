"""Common factors of a correlation matrix, by maximum likelihood and by minimum residuals, and how many there are.

The model is R = L L' + Psi with k columns of loadings L and a diagonal of uniquenesses Psi. For given Psi the best L
follows from eigenvalues, so that only the uniquenesses are searched for.

Maximum likelihood (Lawley 1940, Joreskog 1967): with the eigenvalues e of Psi^-1/2 R Psi^-1/2, the largest first,

    F(Psi) = sum over j > k of (e_j - log e_j - 1),   dF/d log psi_i = sum over j > k of (1 - e_j) v_ij^2.

Minimum residuals (Harman and Jones 1966), which are unweighted least squares: with those of R - Psi,

    F(Psi) = 1/2 sum over j > k of e_j^2,             dF/d psi_i = - sum over j > k of e_j v_ij^2.

The search (L-BFGS-B) begins at (1 - k / 2p) / diag(R^-1), as in other programs. There may be more than one minimum:
random uniquenesses are tried too, and the lowest minimum that any start reached is noted. With `start="best"` it is the
one that is given. Uniquenesses stay between .005 and 1, as in R's factanal: one that ends at .005 is a Heywood case.

**Parallel analysis** (Horn 1965) compares eigenvalues with those of data without any factor: normal deviates, or each
column of the ratings shuffled. Counted are the eigenvalues, from the first on, that are above the given quantile of
theirs. Components are eigenvalues of R; factors those of R with the communalities of one common factor (by minimum
residuals) on its diagonal.

**MAP** (Velicer 1976) takes out 0, 1, 2, ... principal components and looks at the partial correlations that are left:
the number with the smallest mean square is the answer. `power=4` is the revised test (Velicer, Eaton and Fava 2000).

**The bend** is where the second difference of the eigenvalues is largest (Raiche et al. 2013): the eigenvalues before
it are counted.
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
"""How many random starts are tried beside the usual one."""
FLAT = 1e-5
"""The slope under which a search has arrived."""


@dataclass(frozen=True)
class Extraction:
    """Unrotated loadings, the largest factor first, and what the search found."""

    loadings: Floats
    uniquenesses: Floats
    objective: float
    """F of the method at its minimum."""
    gradient: float
    """The largest slope that is left, of those uniquenesses that can still move that way."""
    converged: bool
    lowest: float
    """The lowest F that any start reached; below the objective where another solution fits better."""

    @property
    def at_bound(self) -> NDArray[np.bool_]:
        """Which uniquenesses stand at the smallest value allowed."""
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

    >>> one = np.array([0.9, 0.8, 0.7])
    >>> found = extract(np.outer(one, one) + np.diag(1 - one**2), 1)
    >>> found.loadings[:, 0].round(3).tolist(), found.converged
    ([0.9, 0.8, 0.7], True)
    """
    p = len(correlation)
    if not 1 <= k < p:
        raise ValueError(f"There can be 1 to {p - 1} factors of {p} variables.")
    problem = likelihood_discrepancy if method == "ml" else residual_discrepancy
    random = np.random.default_rng(seed)
    inverse = np.linalg.pinv(correlation, hermitian=True)
    first = (1 - 0.5 * k / p) / np.maximum(np.diag(inverse), 1.0)
    with one_thread():
        usual = _searched(correlation, k, problem, np.clip(first, LOWEST, 1.0), method)
        rest = [_searched(correlation, k, problem, random.uniform(0.1, 0.9, p), method) for _ in range(others)]
    arrived = [found for found in (usual, *rest) if found.converged] or [usual]
    best = min(arrived, key=lambda found: found.objective)
    # A search that did not arrive is not a result as long as another did.
    chosen = best if start == "best" or not usual.converged else usual
    return replace(chosen, lowest=best.objective)


_Problem = Callable[[Floats, Floats, int], tuple[float, Floats]]


def _searched(correlation: Floats, k: int, problem: _Problem, start: Floats, method: Method) -> Extraction:
    """The minimum that is found from one start; the search runs over the logarithms of the uniquenesses."""

    from scipy.optimize import minimize

    def value_and_slope(logs: Floats) -> tuple[float, Floats]:
        return problem(np.exp(logs), correlation, k)

    bounds = [(np.log(LOWEST), 0.0)] * len(start)
    done = minimize(
        value_and_slope, np.log(start), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-8, "maxcor": 20},
    )  # fmt: skip
    logs = np.clip(done.x, np.log(LOWEST), 0.0)
    value, slope = value_and_slope(logs)
    held = ((logs <= np.log(LOWEST) + 1e-9) & (slope > 0)) | ((logs >= -1e-9) & (slope < 0))
    left = float(np.abs(np.where(held, 0.0, slope)).max())
    uniquenesses = np.maximum(np.exp(logs), LOWEST)
    return Extraction(_loadings(uniquenesses, correlation, k, method), uniquenesses, value, left, left < FLAT, value)


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
    """The loadings that belong to uniquenesses: the largest factor first, each with a positive sum."""
    root = np.sqrt(uniquenesses) if method == "ml" else np.ones(len(uniquenesses))
    reduced = correlation if method == "ml" else correlation - np.diag(uniquenesses)
    p = len(root)
    values, vectors = eigh(reduced / np.outer(root, root), subset_by_index=[p - k, p - 1])
    sizes = np.sqrt(np.maximum(values - (1.0 if method == "ml" else 0.0), 0.0))
    loadings = root[:, None] * (vectors * sizes)[:, ::-1]
    signs = np.where(loadings.sum(axis=0) < 0, -1.0, 1.0)
    return np.asarray(loadings * signs)


@dataclass(frozen=True)
class Parallel:
    """Eigenvalues of the data and the quantiles of those without factors."""

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
    """The numbers of factors and components that random data of the same size do not have.

    With `values` (cases in rows, nothing missing), random data are shuffles of their columns; else normal deviates.

    >>> one = np.array([0.9, 0.8, 0.7, 0.8])
    >>> found = parallel_analysis(np.outer(one, one) + np.diag(1 - one**2), 200, draws=20)
    >>> found.factors, found.components
    (1, 1)
    """
    random = np.random.default_rng(seed)
    p = len(correlation)
    by_component, by_factor = np.empty((draws, p)), np.empty((draws, p))
    with one_thread():
        for draw in range(draws):
            sample = random.standard_normal((n, p)) if values is None else random.permuted(values, axis=0)
            chance = pearson(sample)
            by_component[draw], by_factor[draw] = _eigenvalues(chance), _common(chance)
    components, factors = _eigenvalues(correlation), _common(correlation)
    of_components = np.quantile(by_component, quantile, axis=0)
    of_factors = np.quantile(by_factor, quantile, axis=0)
    return Parallel(
        _leading(factors > of_factors), _leading(components > of_components),
        factors, of_factors, components, of_components,
    )  # fmt: skip


def _eigenvalues(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.eigvalsh(matrix)[::-1])


def _common(correlation: Floats) -> Floats:
    """The eigenvalues of a correlation matrix with the communalities of one factor on its diagonal."""
    one = extract(correlation, 1, "minres", others=0)
    return _eigenvalues(correlation - np.diag(one.uniquenesses))


def _leading(above: NDArray[np.bool_]) -> int:
    """How many are true before the first that is not."""
    return len(above) if above.all() else int(np.argmin(above))


def map_test(correlation: Floats, power: int = 2) -> tuple[int, Floats]:
    """The number of components with the smallest average partial correlation, and the averages from 0 components on.

    >>> one = np.array([0.9, 0.8, 0.7, 0.8])
    >>> map_test(np.outer(one, one) + np.diag(1 - one**2))[0]
    1
    """
    p = len(correlation)
    sizes, vectors = np.linalg.eigh(correlation)
    loadings = vectors[:, ::-1] * np.sqrt(np.maximum(sizes[::-1], 0.0))
    others = ~np.eye(p, dtype=bool)
    averages = np.full(p - 1, np.nan)
    for number in range(p - 1):
        left = correlation - loadings[:, :number] @ loadings[:, :number].T
        spread = np.diag(left)
        if spread.min() <= 1e-12:
            break
        partial = left / np.sqrt(np.outer(spread, spread))
        averages[number] = (np.abs(partial[others]) ** power).mean()
    return int(np.nanargmin(averages)), averages


def acceleration(eigenvalues: Floats) -> int:
    """How many eigenvalues stand before the sharpest bend.

    >>> acceleration(np.array([4.0, 2.5, 0.6, 0.5, 0.4]))
    2
    """
    if len(eigenvalues) < 3:
        return 0
    return int(np.argmax(np.diff(eigenvalues, 2))) + 1
