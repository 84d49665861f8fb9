"""How many factors: parallel analysis, the minimum average partial, and the bend of the scree.

**Parallel analysis** (Horn 1965) compares eigenvalues with those of data without any factor: normal deviates, or each
column of the ratings shuffled. Counted are the eigenvalues, from the first on, that are above the given quantile of
theirs. Components are eigenvalues of R; factors those of R with the communalities of one common factor (by minimum
residuals) on its diagonal.

**MAP** (Velicer 1976) takes out 0, 1, 2, ... principal components and looks at the partial correlations that are left:
the number with the smallest mean square is the answer. `power=4` is the revised test (Velicer, Eaton and Fava 2000).

**The bend** is where the second difference of the eigenvalues is largest (Raiche et al. 2013): the eigenvalues before
it are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.models.factors.extraction import extract
from karat.models.factors.pearson import pearson
from karat.models.glrm.threads import one_thread
from karat.types import Floats


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
