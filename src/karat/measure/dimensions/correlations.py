"""The correlations of pairs that adequacy, the number of factors and factor analysis share.

They come from ratings (cases in rows, pairs in columns; cases with a missing rating are left out) or are given as a
correlation matrix with the number of cases behind it. Pearson's correlation takes the points of a scale as numbers;
the polychoric one as cuts through a normal variable, and is larger where few points are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from karat.judgments import frames
from karat.measure.dimensions.matrix import KEYS, RatingsMatrix
from karat.measure.errors import MeasureError
from karat.messages import Message
from karat.models.factors import nearest_correlation, pearson, polychoric
from karat.types import Floats

Kind = Literal["pearson", "polychoric"]
MOST_POINTS = 20
"""More different answers than this are no longer a scale of points."""


@dataclass(frozen=True)
class Correlations:
    """A correlation matrix, the ratings behind it where they are known, and what should be known of both."""

    matrix: Floats
    pairs: tuple[str, ...]
    observations: int
    values: Floats | None = None
    """The ratings of the complete cases."""
    keys: pl.DataFrame | None = None
    """Which participant and text each complete case is."""
    notes: tuple[Message, ...] = ()


def correlations_of(matrix: Any, kind: Kind = "pearson", observations: int | None = None) -> Correlations:
    """The correlations of a `RatingsMatrix`, of a table or an array of ratings, or a correlation matrix as it is.

    >>> correlations_of([[1.0, 0.5], [0.5, 1.0]], observations=40).observations
    40
    """
    if kind not in ("pearson", "polychoric"):
        raise MeasureError(Message("correlations.kind", {"kind": str(kind)}))
    values, pairs, keys, notes = _ratings(matrix)
    if len(pairs) < 2:
        raise MeasureError(Message("correlations.too_few_pairs"))
    if keys is None and _is_correlation(values):
        if observations is None:
            raise MeasureError(Message("correlations.no_observations"))
        return Correlations(values, pairs, observations, notes=tuple(notes))
    if observations is not None:
        raise MeasureError(Message("correlations.observations"))
    whole = np.asarray(~np.isnan(values).any(axis=1))
    if not whole.all():
        notes.append(Message("correlations.incomplete", {"n": int((~whole).sum()), "cases": len(whole)}))
    complete = values[whole]
    if len(complete) < 3:
        raise MeasureError(Message("correlations.too_few_cases", {"n": len(complete)}))
    flat = [pair for pair, spread in zip(pairs, np.ptp(complete, axis=0), strict=True) if spread == 0]
    if flat:
        raise MeasureError(Message("correlations.constant", {"pairs": flat}))
    found = pearson(complete) if kind == "pearson" else _polychoric(complete, pairs, notes)
    kept = None if keys is None else keys.filter(pl.Series(whole))
    return Correlations(found, pairs, len(complete), complete, kept, tuple(notes))


def check_invertible(correlations: Correlations) -> None:
    """Refuse correlations of which one pair follows from the others, so that nothing can be divided by them."""
    if np.linalg.eigvalsh(correlations.matrix).min() < 1e-10:
        raise MeasureError(Message("correlations.singular"))


def _ratings(matrix: Any) -> tuple[Floats, tuple[str, ...], pl.DataFrame | None, list[Message]]:
    """The numbers, the names of the columns, who and what the rows are, and notes."""
    if isinstance(matrix, RatingsMatrix):
        return matrix.values, matrix.pairs, matrix.frame.select(KEYS[matrix.unit]), list(matrix.notes)
    if isinstance(matrix, np.ndarray | list | tuple):
        numbers = np.asarray(matrix, dtype=np.float64)
        if numbers.ndim != 2:
            raise MeasureError(Message("correlations.shape"))
        return numbers, tuple(f"pair {place}" for place in range(1, numbers.shape[1] + 1)), None, []
    frame = frames.to_polars(matrix)
    words = [name for name, kind in frame.schema.items() if not kind.is_numeric() and kind != pl.Null]
    if words:
        raise MeasureError(Message("correlations.no_numbers", {"column": words[0]}))
    numbers = frame.with_columns(pl.all().cast(pl.Float64).fill_null(np.nan)).to_numpy()
    return numbers, tuple(frame.columns), None, []


def _is_correlation(values: Floats) -> bool:
    rows, columns = values.shape
    return bool(
        rows == columns
        and np.allclose(np.diag(values), 1)
        and np.allclose(values, values.T)
        and np.abs(values).max() <= 1 + 1e-9
    )


def _polychoric(values: Floats, pairs: tuple[str, ...], notes: list[Message]) -> Floats:
    many = [pair for pair, own in zip(pairs, values.T, strict=True) if len(np.unique(own)) > MOST_POINTS]
    if many:
        raise MeasureError(Message("correlations.too_many_points", {"pair": many[0], "most": MOST_POINTS}))
    found, changed = nearest_correlation(polychoric(values))
    if changed:
        notes.append(Message("correlations.nearest_matrix"))
    return found
