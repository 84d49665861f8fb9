"""Small answers with slopes for the tests of mixed models, and the same models written out densely."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.models.glrm.mixed.terms import RandomTerm, random_term

Floats = NDArray[np.float64]
NAMES = ("(Intercept)", "x")
THRESHOLDS = [-1.5, 0.0, 1.5]


def slopes(
    family: str = "binary", participants: int = 16, items: int = 9, share: float = 0.9, seed: int = 1,
    participant: tuple[float, float] = (1.0, 0.8), item: tuple[float, float] = (0.8, 0.5),
) -> tuple[NDArray[Any], Floats, NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """Response, columns (1, x), participant and item; deviations of intercept and slope for both."""
    random = np.random.default_rng(seed)
    who, what = np.indices((participants, items)).reshape(2, -1)
    kept = random.random(len(who)) < share
    who, what = who[kept], what[kept]
    columns = np.column_stack([np.ones(len(who)), np.where((who + what) % 2, -0.5, 0.5)])
    of_participant = random.normal(0, participant, (participants, 2))[who]
    of_item = random.normal(0, item, (items, 2))[what]
    eta = ((of_participant + of_item + [0.2, 0.7]) * columns).sum(axis=1)
    if family == "gaussian":
        return eta + random.normal(size=len(eta)), columns, who, what
    latent = eta + random.logistic(size=len(eta))
    return np.digitize(latent, [0.0] if family == "binary" else THRESHOLDS), columns, who, what


def fixed(family: str, columns: Floats) -> tuple[Floats, tuple[str, ...]]:
    """The design and its names: ordered answers have no intercept."""
    return (columns[:, 1:], NAMES[1:]) if family == "ordinal" else (columns, NAMES)


def vector(group: str, codes: NDArray[np.int64], columns: Floats, covariance: Any = "full") -> RandomTerm:
    """(1 + x | group)."""
    return random_term(group, codes, columns, NAMES, covariance)


def expanded(term: RandomTerm, factor: Floats) -> Floats:
    """Z times Lambda of a term: a column for every level and effect."""
    level = (term.codes[:, None] == np.arange(len(term.levels))).astype(float)
    return np.concatenate([level * column[:, None] for column in (term.columns @ factor).T], axis=1)
