"""Exploratory factor analysis of ratings: the few dimensions behind many pairs of adjectives.

Extraction is by maximum likelihood or minimum residuals, rotation by promax, oblimin or varimax; the formulas are in
`karat.models.factors`. The published analysis of machine translations (Macketanz et al. 2022) used maximum likelihood
and "promax with Kaiser normalisation" in SPSS: `kaiser="spss"`. Programs normalise rows at different steps, which
changes the loadings; `karat.models.factors.rotation` has the list.

Notes warn of problems of a solution:

- A Heywood case: a pair with no unique variance (uniqueness at .005), from too many factors or too few cases.
- A factor carried by fewer than three pairs, which cannot be distinguished from a peculiarity of those pairs.
- Discriminant validity: two factors that correlate at .85 or more, or whose squared correlation is above the average
  variance that one of them extracts from its pairs (Fornell and Larcker 1981).
- Another minimum that fits better, a search that did not converge, a rotation that ended early.

A pair is carried by the factor on which its absolute loading is largest, if that is .4 or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.measure.dimensions.matrix import Correlations, Kind, check_invertible, correlations_of
from karat.measure.result import MeasureError, MeasureResult
from karat.messages import Message, check_word
from karat.models.factors import Extraction, FactorFit, Rotation, extract, fit_of, matched, rotate, score_weights
from karat.models.factors.extraction import LOWEST
from karat.models.factors.fit import degrees_of_freedom
from karat.plots import Figure
from karat.plots.shares import matrix_plot
from karat.types import Floats

Method = Literal["ml", "minres"]
RotationName = Literal["promax", "oblimin", "varimax"]
Kaiser = Literal["none", "varimax", "spss", "all"]
KAISER: dict[str | None, tuple[str, ...]] = {
    "promax": ("varimax", "spss", "all", "none"),
    "varimax": ("varimax", "none"),
    "oblimin": ("none", "all"),
    None: ("none",),
}
"""The normalisations of each rotation, the usual one first."""
PRECISE = 1e-13


@dataclass(frozen=True)
class Factors(MeasureResult):
    """A factor solution: pattern loadings, uniquenesses, correlations of factors, and fit."""

    frame: pl.DataFrame
    """pair, a column of loadings for each factor, communality, uniqueness, and the factor that carries the pair."""
    loadings: Floats
    uniquenesses: Floats
    correlations: Floats
    """The correlations of the factors."""
    fit: FactorFit
    explained: pl.DataFrame
    """factor; sums of squares and per cent of variance, before rotation (sorted by size, because unrotated factors are
    others than the rotated ones) and after it (with the variance that correlated factors share divided among them)."""
    pairs: tuple[str, ...]
    names: tuple[str, ...]
    converged: bool
    source: Correlations = field(repr=False, kw_only=True)
    numbers: ClassVar = ("chi2", "dof", "p", "rmsea", "converged")

    def exported(self) -> dict[str, pl.DataFrame]:
        """The loadings, the correlations of factors, and the variance that they explain."""
        columns = {name: self.correlations[:, place] for place, name in enumerate(self.names)}
        correlations = pl.DataFrame({"factor": list(self.names), **columns})
        return {"loadings": self.table(), "factor-correlations": correlations, "explained": self.explained}

    @property
    def communalities(self) -> Floats:
        """The share of each pair's variance that the factors explain."""
        return np.asarray(1 - self.uniquenesses)

    @property
    def chi2(self) -> float:
        """The statistic of the test of fit, small if the factors suffice."""
        return self.fit.chi2

    @property
    def dof(self) -> int:
        """Its degrees of freedom."""
        return self.fit.dof

    @property
    def p_value(self) -> float:
        """Its p value; NaN without degrees of freedom."""
        return self.fit.p_value

    @property
    def rmsea(self) -> float:
        """The root mean square error of approximation; its 90 % interval is in `fit`."""
        return self.fit.rmsea

    def table(self) -> pl.DataFrame:
        """The loadings, pairs of the same factor together, the largest first."""
        best = np.abs(self.loadings).max(axis=1)
        order = np.lexsort((-best, np.where(carriers(self.loadings) < 0, len(self.names), carriers(self.loadings))))
        return self.frame.select(pl.all().gather(order.tolist()))

    def plot(self, width_cm: float = 16) -> Figure:
        """The loadings, coloured by size and sign."""
        rows = self.table().rename({"pair": "label"})
        return matrix_plot(rows, self.names, str(self.summary[0]), "loadings", width_cm)

    def named(self, *names: str) -> Factors:
        """The same solution with names for its factors, in their order.

        >>> one = [[1, 0.6, 0.5], [0.6, 1, 0.4], [0.5, 0.4, 1]]
        >>> factors(one, 1, observations=100).named("clarity").frame.columns[:2]
        ['pair', 'clarity']
        """
        if len(names) != len(self.names) or len(set(names)) < len(names):
            raise MeasureError(Message("factors.names", {"n": len(self.names)}))
        new = dict(zip(self.names, names, strict=True))
        frame = self.frame.rename(new).with_columns(pl.col("factor").replace(new))
        explained = self.explained.with_columns(pl.col("factor").replace(new))
        return replace(self, frame=frame, explained=explained, names=tuple(names))

    def scores(self, method: Literal["regression", "bartlett"] = "regression") -> pl.DataFrame:
        """The scores of complete cases on each factor, with participant and text if they are known.

        >>> ratings = {"a": [1, 2, 3, 4, 5], "b": [1, 3, 2, 4, 5], "c": [2, 1, 3, 5, 4]}
        >>> factors(ratings, 1).scores()["F1"].round(1).to_list()[:2]
        [-1.3, -0.6]
        """
        if self.source.values is None:
            raise MeasureError(Message("factors.no_ratings"))
        check_word(MeasureError, "method", method, ("regression", "bartlett"))
        check_invertible(self.source)
        values = self.source.values
        standard = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
        weights = score_weights(self.source.matrix, self.loadings, self.correlations, self.uniquenesses, method)
        scores = pl.DataFrame(standard @ weights, schema=list(self.names), orient="row")
        return scores if self.source.keys is None else pl.concat([self.source.keys, scores], how="horizontal")

    @property
    def summary(self) -> tuple[Message, ...]:
        """The variance that the factors explain, and their fit."""
        share = round(float(self.explained["unrotated_percent"].sum()) / 100, 2)
        explained = {"n": len(self.names), "share": share, "pairs": len(self.pairs)}
        if self.dof < 1:
            return Message("factors.explained", explained), Message("factors.no_test")
        fit = {"dof": self.dof, "chi2": self.chi2, "p": self.p_value, "rmsea": self.rmsea}
        return Message("factors.explained", explained), Message("factors.fit", fit)

    def __str__(self) -> str:
        return " ".join(map(str, self.summary)) + "".join(f"\nNote: {note!s}" for note in self.notes)


def factors(
    matrix: Any,
    n: int,
    method: Method = "ml",
    rotation: RotationName | None = "promax",
    kaiser: Kaiser | None = None,
    *,
    correlations: Kind = "pearson",
    observations: int | None = None,
    start: Literal["usual", "best"] = "usual",
) -> Factors:
    """The n factors of ratings (a `RatingsMatrix`, a table or an array), or of correlations with their observations.

    `kaiser` selects the rows that the rotation normalises: by default "varimax" for promax and varimax, "none" for
    oblimin.

    Parameters
    ----------
    n
        The number of factors.
    method
        Maximum likelihood or minimum residuals.
    rotation
        The rotation; None leaves the factors as extracted.
    start
        Whether the search has only the usual start, or the best of several.

    >>> one = [[1, 0.6, 0.5, 0.4], [0.6, 1, 0.5, 0.4], [0.5, 0.5, 1, 0.3], [0.4, 0.4, 0.3, 1]]
    >>> found = factors(one, 1, observations=200)
    >>> found.loadings[:, 0].round(2).tolist(), found.dof, round(found.p_value, 2)
    ([0.78, 0.78, 0.64, 0.51], 2, 0.84)
    """
    source = correlations_of(matrix, correlations, observations)
    usual = _checked(source, n, method, rotation, kaiser, start)
    if method == "ml":
        check_invertible(source)
    extraction = extract(source.matrix, n, method, start)
    rotated = rotate(extraction.loadings, rotation, usual)
    exact = rotate(extraction.loadings, rotation, usual, gain=PRECISE) if rotation in ("promax", "varimax") else rotated
    names = tuple(f"F{number}" for number in range(1, n + 1))
    fit = fit_of(source.matrix, extraction.loadings, extraction.uniquenesses, source.observations)
    notes = [*source.notes, *solution_notes(source.pairs, names, extraction, rotated, exact)]
    if fit.dof < 1:
        notes.append(Message("factors.no_degrees_of_freedom"))
    if source.observations < 5 * len(source.pairs):
        notes.append(Message("factors.few_cases", {"cases": source.observations, "pairs": len(source.pairs)}))
    settings = {
        "n": n, "method": method, "rotation": rotation, "kaiser": usual, "correlations": correlations, "start": start,
        "observations": source.observations,
    }  # fmt: skip
    return Factors(
        _frame(source.pairs, names, rotated.loadings, extraction.uniquenesses), rotated.loadings,
        extraction.uniquenesses,
        rotated.correlations, fit, _explained(names, extraction.loadings, rotated), source.pairs, names,
        extraction.converged and rotated.converged, settings=settings, notes=tuple(notes), source=source,
    )  # fmt: skip


def _checked(source: Correlations, n: int, method: str, rotation: str | None, kaiser: str | None, start: str) -> Kaiser:
    """The normalisation; refuses invalid settings."""
    p = len(source.pairs)
    check_word(MeasureError, "method", method, ("ml", "minres"))
    check_word(MeasureError, "rotation", rotation, KAISER)
    check_word(MeasureError, "start", start, ("usual", "best"))
    usual = KAISER[rotation][0] if kaiser is None else kaiser
    if kaiser is not None and rotation is not None and kaiser not in KAISER[rotation]:
        about = {"known": list(KAISER[rotation]), "rotation": rotation, "kaiser": str(kaiser)}
        raise MeasureError(Message("factors.kaiser", about))
    if n < 1 or n >= p or degrees_of_freedom(p, n) < 0:
        most = max((k for k in range(1, p) if degrees_of_freedom(p, k) >= 0), default=0)
        if not most:
            raise MeasureError(Message("factors.too_few_pairs", {"pairs": p}))
        raise MeasureError(Message("factors.number", {"pairs": p, "most": most, "n": n}))
    return usual  # type: ignore[return-value]


def _frame(pairs: Sequence[str], names: Sequence[str], loadings: Floats, uniquenesses: Floats) -> pl.DataFrame:
    carried = [None if number < 0 else names[number] for number in carriers(loadings)]
    return pl.DataFrame(
        {"pair": list(pairs)}
        | {name: loadings[:, number] for number, name in enumerate(names)}
        | {"communality": 1 - uniquenesses, "uniqueness": uniquenesses}
    ).with_columns(pl.Series("factor", carried, dtype=pl.String))


def _explained(names: Sequence[str], unrotated: Floats, rotated: Rotation) -> pl.DataFrame:
    """Sums of squared loadings before and after rotation, and their share of the variance."""
    p = len(unrotated)
    before = np.sort((unrotated**2).sum(axis=0))[::-1]
    after = np.diag(rotated.correlations @ rotated.loadings.T @ rotated.loadings)
    return pl.DataFrame({
        "factor": list(names), "unrotated": before, "unrotated_percent": 100 * before / p, "rotated": after,
        "rotated_percent": 100 * after / p,
    })  # fmt: skip


SALIENT = 0.4
FEWEST_PAIRS = 3
NOT_DISTINCT = 0.85
MOVED = 0.01


def carriers(loadings: Floats) -> NDArray[np.int64]:
    """The factor that carries each pair; -1 if no loading is large enough."""
    sizes = np.abs(loadings)
    return np.where(sizes.max(axis=1) >= SALIENT, sizes.argmax(axis=1), -1).astype(np.int64)


def solution_notes(
    pairs: Sequence[str], names: Sequence[str], extraction: Extraction, rotation: Rotation, exact: Rotation
) -> list[Message]:
    """The notes on a solution; `exact` is the rotation continued to its maximum."""
    notes = []
    if not extraction.converged:
        gradient = float(f"{extraction.gradient:.1e}")
        notes.append(Message("factors.extraction_not_converged", {"gradient": gradient}))
    bound = [pair for pair, at in zip(pairs, extraction.at_bound, strict=True) if at]
    if bound:
        notes.append(Message("factors.heywood", {"pairs": bound, "n": len(bound), "uniqueness": LOWEST}))
    if extraction.lowest < extraction.objective - max(1e-6, 1e-3 * extraction.objective):
        objectives = {"lowest": float(extraction.lowest), "objective": float(extraction.objective)}
        notes.append(Message("factors.better_start", objectives))
    if not rotation.converged:
        notes.append(Message("factors.rotation_not_converged"))
    order, signs = matched(exact.loadings, rotation.loadings)
    moved = float(np.abs(exact.loadings[:, order] * signs - rotation.loadings).max())
    if moved > MOVED:
        notes.append(Message("factors.varimax_stopped", {"moved": moved}))
    return notes + _few_pairs(pairs, names, rotation.loadings) + _not_distinct(names, rotation)


def _few_pairs(pairs: Sequence[str], names: Sequence[str], loadings: Floats) -> list[Message]:
    """Notes on factors that carry fewer than three pairs."""
    carried = carriers(loadings)
    notes = []
    for number, name in enumerate(names):
        members = [pair for pair, factor in zip(pairs, carried, strict=True) if factor == number]
        if not members:
            notes.append(Message("factors.no_pair", {"factor": name}))
        elif len(members) < FEWEST_PAIRS:
            notes.append(Message("factors.few_pairs", {"factor": name, "pairs": members}))
    return notes


def _not_distinct(names: Sequence[str], rotation: Rotation) -> list[Message]:
    """Notes on pairs of factors that may be one."""
    carried = carriers(rotation.loadings)
    extracted = [
        float((rotation.loadings[carried == number, number] ** 2).mean()) if (carried == number).any() else np.nan
        for number in range(len(names))
    ]
    notes = []
    for i in range(len(names)):
        for j in range(i):
            r = float(rotation.correlations[i, j])
            about = {"first": names[j], "second": names[i], "r": r}
            if abs(r) >= NOT_DISTINCT:
                notes.append(Message("factors.not_distinct", about))
                continue
            weak = [names[k] for k in (j, i) if r**2 > extracted[k]]
            if weak:
                notes.append(Message("factors.discriminant_validity", about | {"shared": r**2, "weak": weak}))
    return notes
