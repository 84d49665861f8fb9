"""What a reader should know about a factor solution before using it.

- A Heywood case: a pair with no variance of its own (uniqueness at .005). Too many factors, or too few cases.
- A factor carried by fewer than three pairs, which cannot be distinguished from a peculiarity of those pairs.
- Discriminant validity: two factors that correlate at .85 or more, or whose squared correlation is above the average
  variance that one of them extracts from its own pairs (Fornell and Larcker 1981).
- Another minimum that fits better, a search that did not arrive, a rotation that ended early.

A pair is carried by the factor on which its absolute loading is largest, if that is .4 or more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from karat.messages import Message
from karat.models.factors import Extraction, Rotation, matched
from karat.models.factors.extraction import LOWEST
from karat.types import Floats

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
) -> list[Message]:
    """The notes on a solution; `exact` is the rotation carried on to its maximum."""
    found = []
    if not extraction.converged:
        gradient = float(f"{extraction.gradient:.1e}")
        found.append(Message("factors.extraction_not_converged", {"gradient": gradient}))
    bound = [pair for pair, at in zip(pairs, extraction.at_bound, strict=True) if at]
    if bound:
        found.append(Message("factors.heywood", {"pairs": bound, "n": len(bound), "uniqueness": LOWEST}))
    if extraction.lowest < extraction.objective - max(1e-6, 1e-3 * extraction.objective):
        objectives = {"lowest": float(extraction.lowest), "objective": float(extraction.objective)}
        found.append(Message("factors.better_start", objectives))
    if not rotation.converged:
        found.append(Message("factors.rotation_not_converged"))
    order, signs = matched(exact.loadings, rotation.loadings)
    moved = float(np.abs(exact.loadings[:, order] * signs - rotation.loadings).max())
    if moved > MOVED:
        found.append(Message("factors.varimax_stopped", {"moved": moved}))
    return found + _few_pairs(pairs, names, rotation.loadings) + _not_distinct(names, rotation)


def _few_pairs(pairs: Sequence[str], names: Sequence[str], loadings: Floats) -> list[Message]:
    """Factors that are carried by fewer than three pairs."""
    carried = carriers(loadings)
    found = []
    for number, name in enumerate(names):
        own = [pair for pair, factor in zip(pairs, carried, strict=True) if factor == number]
        if not own:
            found.append(Message("factors.no_pair", {"factor": name}))
        elif len(own) < FEWEST_PAIRS:
            found.append(Message("factors.few_pairs", {"factor": name, "pairs": own}))
    return found


def _not_distinct(names: Sequence[str], rotation: Rotation) -> list[Message]:
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
            about = {"first": names[j], "second": names[i], "r": r}
            if abs(r) >= NOT_DISTINCT:
                found.append(Message("factors.not_distinct", about))
                continue
            weak = [names[k] for k in (j, i) if r**2 > extracted[k]]
            if weak:
                found.append(Message("factors.discriminant_validity", about | {"shared": r**2, "weak": weak}))
    return found
