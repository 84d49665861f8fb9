"""What a reader should be told of a factor solution before using it.

- A Heywood case: a pair with no variance of its own (uniqueness at .005). Too many factors, or too few cases.
- A factor carried by fewer than three pairs, which cannot be told from a peculiarity of those pairs.
- Discriminant validity: two factors that correlate at .85 or more, or whose squared correlation is above the average
  variance that one of them extracts from its own pairs (Fornell and Larcker 1981).
- Another minimum that fits better, a search that did not arrive, a rotation that ended early.

A pair is carried by the factor on which its absolute loading is largest, if that is .4 or more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from karat.measure.texts import coefficient
from karat.models.factors import Extraction, Rotation, matched

Floats = NDArray[np.float64]
SALIENT = 0.4
FEWEST_PAIRS = 3
NOT_DISTINCT = 0.85
MOVED = 0.01


def carriers(loadings: Floats) -> NDArray[np.int64]:
    """The factor that each pair is carried by; -1 where no loading is large enough.

    >>> carriers(np.array([[0.8, 0.1], [0.2, -0.7], [0.3, 0.3]])).tolist()
    [0, 1, -1]
    """
    sizes = np.abs(loadings)
    return np.where(sizes.max(axis=1) >= SALIENT, sizes.argmax(axis=1), -1).astype(np.int64)


def solution_notes(
    pairs: Sequence[str], names: Sequence[str], extraction: Extraction, rotation: Rotation, exact: Rotation
) -> list[str]:
    """The notes on a solution; `exact` is the rotation carried on to its maximum."""
    found = []
    if not extraction.converged:
        found.append(f"The extraction did not converge: a slope of {extraction.gradient:.1e} is left.")
    bound = [pair for pair, at in zip(pairs, extraction.at_bound, strict=True) if at]
    if bound:
        found.append(
            f"Heywood case: nothing of its own is left to {_and(bound)} (uniqueness .005). The solution stands at the "
            "edge of what is possible; try fewer factors."
        )
    if extraction.lowest < extraction.objective - max(1e-6, 1e-3 * extraction.objective):
        found.append(
            f"Another start reaches a better fit (objective {extraction.lowest:.5f} instead of "
            f'{extraction.objective:.5f}): the solution is not well determined. start="best" gives that one.'
        )
    if not rotation.converged:
        found.append("The rotation did not converge.")
    order, signs = matched(exact.loadings, rotation.loadings)
    moved = float(np.abs(exact.loadings[:, order] * signs - rotation.loadings).max())
    if moved > MOVED:
        found.append(
            f"Varimax ends here where R ends it, before its maximum; carried on, loadings change by up to {moved:.3f}."
        )
    return found + _few_pairs(pairs, names, rotation.loadings) + _not_distinct(names, rotation)


def _few_pairs(pairs: Sequence[str], names: Sequence[str], loadings: Floats) -> list[str]:
    """Factors that are carried by fewer than three pairs."""
    carried = carriers(loadings)
    found = []
    for number, name in enumerate(names):
        own = [pair for pair, factor in zip(pairs, carried, strict=True) if factor == number]
        if len(own) < FEWEST_PAIRS:
            by = f"carried by {_and(own)} alone" if own else "not carried by any pair"
            found.append(f"{name} is {by}: with fewer than three pairs a factor is poorly determined.")
    return found


def _not_distinct(names: Sequence[str], rotation: Rotation) -> list[str]:
    """Two factors that may be one."""
    carried = carriers(rotation.loadings)
    extracted = [
        float((rotation.loadings[carried == number, number] ** 2).mean()) if (carried == number).any() else np.nan
        for number in range(len(names))
    ]
    found = []
    for i in range(len(names)):
        for j in range(i):
            r = float(rotation.correlations[i, j])
            if abs(r) >= NOT_DISTINCT:
                found.append(f"{names[j]} and {names[i]} correlate {coefficient(r)}: they can hardly be told apart.")
                continue
            weak = [names[k] for k in (j, i) if r**2 > extracted[k]]
            if weak:
                found.append(
                    f"Discriminant validity: {names[j]} and {names[i]} correlate {coefficient(r)} and so share more "
                    f"variance ({coefficient(r**2)}) than is extracted from the pairs of {_and(weak)}."
                )
    return found


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
