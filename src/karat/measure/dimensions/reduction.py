"""Fewer pairs, step by step, until each belongs clearly to one factor.

Macketanz et al. (2022) removed pairs "with low communalities and/or cross-loadings differing by less than 0.2". Here
one pair is removed at a time, and the factors are extracted again, since every removal changes the rest:

1. the pair with the lowest communality, while that is under `communality`;
2. else the pair whose two largest absolute loadings lie closest together, while that is under `gap`.

The paper does not say what a low communality is; .4 is a common limit (Costello and Osborne 2005). The steps end when
nothing is left to remove, or when fewer pairs would not allow so many factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments.message_tables import with_reasons
from karat.measure.dimensions.correlations import Kind
from karat.measure.dimensions.factors import Factors, Kaiser, Method, RotationName, factors
from karat.measure.dimensions.matrix import RatingsMatrix
from karat.measure.errors import MeasureError
from karat.messages import Message
from karat.models.factors import kmo
from karat.models.factors.fit import degrees_of_freedom

COMMUNALITY, GAP = 0.4, 0.2
LOG: dict[str, Any] = {
    "step": pl.Int64, "pair": pl.String, "message": pl.String,
    "values": pl.Struct({"communality": pl.Float64, "gap": pl.Float64, "limit": pl.Float64}),
    "communality": pl.Float64, "gap": pl.Float64, "pairs": pl.Int64, "chi2": pl.Float64, "dof": pl.Int64,
    "p_value": pl.Float64, "kmo": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True)
class Reduction:
    """The steps, and the factors of the pairs that are left."""

    log: pl.DataFrame
    """One row per removed pair: the message and values of the reason, and the fit of the solution before."""
    factors: Factors
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()

    @property
    def kept(self) -> list[str]:
        """The pairs that are left."""
        return list(self.factors.pairs)

    @property
    def removed(self) -> list[str]:
        """The pairs that were removed, the first one first."""
        return self.log["pair"].to_list()

    def table(self, language: str = "en") -> pl.DataFrame:
        """The steps, each with its reason."""
        return with_reasons(self.log, language)

    @property
    def summary(self) -> tuple[Message, ...]:
        """How many pairs were removed, and what the factors of the others say."""
        removed = Message("reduction.removed", {"n": self.log.height, "left": len(self.kept)})
        return removed, *self.factors.summary

    def __str__(self) -> str:
        notes = (*self.factors.notes, *self.notes)
        return " ".join(map(str, self.summary)) + "".join(f"\nNote: {note!s}" for note in notes)


def reduce_pairs(
    matrix: RatingsMatrix | Any,
    n: int,
    communality: float = COMMUNALITY,
    gap: float = GAP,
    method: Method = "ml",
    rotation: RotationName | None = "promax",
    kaiser: Kaiser | None = None,
    *,
    correlations: Kind = "pearson",
    keep: Sequence[str] = (),
) -> Reduction:
    """Remove pairs of low communality or unclear loadings one by one; those named in `keep` stay whatever happens.

    >>> random = np.random.default_rng(1)
    >>> truth = random.standard_normal((300, 1))
    >>> ratings = pl.DataFrame(truth + 0.5 * random.standard_normal((300, 5)), schema=list("abcde"))
    >>> reduction = reduce_pairs(ratings.with_columns(noise=random.standard_normal(300)), 1)
    >>> reduction.removed, reduction.table()["reason"][0]
    (['noise'], 'communality .00 is under .40')
    """
    if not 0 <= communality < 1 or not 0 <= gap < 1:
        raise MeasureError(Message("reduction.settings"))
    left, notes = matrix, []
    steps: list[tuple[Any, ...]] = []
    while True:
        found = factors(left, n, method, rotation, kaiser, correlations=correlations)
        unknown = [pair for pair in keep if pair not in found.pairs]
        if unknown:
            raise MeasureError(Message("reduction.unknown_pair", {"pair": unknown[0], "known": list(found.pairs)}))
        worst = _worst(found, communality, gap, set(keep))
        if worst is None:
            break
        pair, reason, own, distance = worst
        if degrees_of_freedom(len(found.pairs) - 1, n) < 0:
            about = {"pair": pair, "reason": reason, "factors": n, "pairs": len(found.pairs)}
            notes.append(Message("reduction.stays", about))
            break
        steps.append((
            len(steps) + 1, pair, reason.code, dict(reason.values), own, distance, len(found.pairs), found.chi2,
            found.dof, found.p_value, _kmo(found),
        ))  # fmt: skip
        left = _without(left, pair)
    settings = {"communality": communality, "gap": gap, "keep": list(keep)} | found.settings
    return Reduction(pl.DataFrame(steps, schema=LOG, orient="row"), found, settings, tuple(notes))


def gaps(loadings: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far apart the two largest absolute loadings of each pair are; with one factor, the loading itself.

    >>> gaps(np.array([[0.8, -0.7], [0.1, 0.5]])).round(2).tolist()
    [0.1, 0.4]
    """
    sizes = np.sort(np.abs(loadings), axis=1)
    return np.asarray(sizes[:, -1] - sizes[:, -2] if loadings.shape[1] > 1 else sizes[:, -1])


def _kmo(found: Factors) -> float:
    """The adequacy of the pairs; NaN where one follows from others, which minimum residuals do not mind."""
    matrix = found.source.matrix
    return kmo(matrix)[0] if np.linalg.eigvalsh(matrix).min() > 1e-10 else float("nan")


def _worst(found: Factors, communality: float, gap: float, keep: set[str]) -> tuple[str, Message, float, float] | None:
    """The pair to remove next, why, its communality and its gap."""
    distance = gaps(found.loadings)
    rows = [
        (pair, float(own), float(apart))
        for pair, own, apart in zip(found.pairs, found.communalities, distance, strict=True)
        if pair not in keep
    ]
    low = [row for row in rows if row[1] < communality]
    if low:
        pair, own, apart = min(low, key=lambda row: row[1])
        values = {"communality": own, "gap": apart, "limit": communality}
        return pair, Message("reduction.low_communality", values), own, apart
    near = [row for row in rows if row[2] < gap] if len(found.names) > 1 else []
    if near:
        pair, own, apart = min(near, key=lambda row: row[2])
        return pair, Message("reduction.close_loadings", {"communality": own, "gap": apart, "limit": gap}), own, apart
    return None


def _without(matrix: Any, pair: str) -> Any:
    """The ratings without a pair."""
    if isinstance(matrix, RatingsMatrix):
        return matrix.only([own for own in matrix.pairs if own != pair])
    if isinstance(matrix, pl.DataFrame):
        return matrix.drop(pair)
    raise MeasureError(Message("reduction.no_names"))
