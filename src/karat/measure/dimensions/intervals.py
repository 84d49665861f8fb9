"""Intervals of loadings and factor correlations by resampling participants.

A draw takes as many participants as there are, with replacement, each with all cases, and analyses them again. Its
factors are brought next to those of the whole sample by congruence (order and signs). Intervals are the quantiles of
the draws. A factor with a mean congruence under .85 is another one in many draws (Lorenzo-Seva and ten Berge 2006).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.measure.dimensions.factors import Factors
from karat.measure.errors import MeasureError
from karat.messages import Message
from karat.models.factors import congruence, extract, matched, nearest_correlation, pearson, polychoric, rotate
from karat.types import Floats, Progress

SIMILAR = 0.85


@dataclass(frozen=True)
class FactorIntervals:
    """How far loadings and correlations of factors vary between samples of participants."""

    loadings: pl.DataFrame
    """pair, factor, loading, lower, upper."""
    correlations: pl.DataFrame
    """first, second, correlation, lower, upper; without rows for one factor."""
    congruence: pl.DataFrame
    """factor, and its mean congruence with the draws."""
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()

    def table(self) -> pl.DataFrame:
        """The loadings with their intervals."""
        return self.loadings

    @property
    def summary(self) -> tuple[Message, ...]:
        """How wide the intervals of loadings are."""
        width = float(np.mean((self.loadings["upper"] - self.loadings["lower"]).to_numpy()))
        about = {"level": self.settings["level"], "width": width, "draws": self.settings["draws"]}
        return (Message("factor_intervals.width", about),)

    def __str__(self) -> str:
        return " ".join(map(str, (*self.summary, *self.notes)))


def factor_intervals(
    found: Factors,
    draws: int = 200,
    level: float = 0.95,
    seed: int = 1,
    *,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> FactorIntervals:
    """Intervals of a solution by resampling participants; of a table without participants, by resampling its rows.

    `executor` says where the draws are analysed (`karat.executors.open_executor`).

    >>> random = np.random.default_rng(1)
    >>> truth = random.standard_normal((200, 1))
    >>> ratings = pl.DataFrame(truth + random.standard_normal((200, 4)), schema=list("abcd"))
    >>> from karat.measure.dimensions.factors import factors
    >>> factor_intervals(factors(ratings, 1), draws=20).table().shape
    (4, 5)
    """
    source = found.source
    if source.values is None:
        raise MeasureError(Message("factor_intervals.no_ratings"))
    if draws < 2 or not 0 < level < 1:
        raise MeasureError(Message("factor_intervals.settings"))
    notes = []
    if source.keys is not None and "participant" in source.keys.columns:
        _, who = np.unique(source.keys["participant"].to_numpy(), return_inverse=True)
    else:
        who = np.arange(len(source.values))
        notes.append(Message("factor_intervals.no_participants"))
    cases = np.split(np.argsort(who, kind="stable"), np.cumsum(np.bincount(who))[:-1])
    random = np.random.default_rng(seed)
    people = [random.integers(0, len(cases), len(cases)) for _ in range(draws)]
    again = executor.map(_drawn, (found, cases), people, name="factor intervals", progress=progress)
    drawn = [one for one in again if one is not None]
    if len(drawn) < draws:
        notes.append(Message("factor_intervals.left_out", {"n": draws - len(drawn)}))
    if len(drawn) < 2:
        raise MeasureError(Message("factor_intervals.no_solutions"))
    loadings, correlations = (np.stack(parts) for parts in zip(*drawn, strict=True))
    similar = np.stack([np.diag(congruence(found.loadings, own)) for own in loadings]).mean(axis=0)
    unstable = [name for name, value in zip(found.names, similar, strict=True) if value < SIMILAR]
    if unstable:
        notes.append(
            Message("factor_intervals.unstable", {"factors": unstable, "n": len(unstable), "congruence": SIMILAR})
        )
    settings = {"draws": draws, "level": level, "seed": seed, "participants": len(cases)}
    return FactorIntervals(
        _loading_table(found, loadings, level), _correlation_table(found, correlations, level),
        pl.DataFrame({"factor": found.names, "congruence": similar}), settings, tuple(notes),
    )  # fmt: skip


def _drawn(about: tuple[Factors, list[NDArray[np.int64]]], people: NDArray[np.int64]) -> tuple[Floats, Floats] | None:
    """The analysis of one draw of participants."""
    found, cases = about
    values = found.source.values
    return None if values is None else _again(found, values[np.concatenate([cases[person] for person in people])])


def _again(found: Factors, values: Floats) -> tuple[Floats, Floats] | None:
    """The loadings and factor correlations of resampled ratings, matched; None where there is no solution."""
    if (np.ptp(values, axis=0) == 0).any():
        return None
    kind = found.settings["correlations"]
    matrix = pearson(values) if kind == "pearson" else nearest_correlation(polychoric(values))[0]
    if np.linalg.eigvalsh(matrix).min() < 1e-10:
        return None
    extraction = extract(matrix, len(found.names), found.settings["method"], others=0)
    if not extraction.converged:
        return None
    rotated = rotate(extraction.loadings, found.settings["rotation"], found.settings["kaiser"])
    order, signs = matched(rotated.loadings, found.loadings)
    return rotated.loadings[:, order] * signs, rotated.correlations[np.ix_(order, order)] * np.outer(signs, signs)


def _loading_table(found: Factors, drawn: Floats, level: float) -> pl.DataFrame:
    lower, upper = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    rows = [
        (pair, name, found.loadings[i, j], lower[i, j], upper[i, j])
        for i, pair in enumerate(found.pairs)
        for j, name in enumerate(found.names)
    ]
    return pl.DataFrame(rows, schema=["pair", "factor", "loading", "lower", "upper"], orient="row")


def _correlation_table(found: Factors, drawn: Floats, level: float) -> pl.DataFrame:
    lower, upper = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    rows = [
        (found.names[i], found.names[j], float(found.correlations[i, j]), float(lower[i, j]), float(upper[i, j]))
        for i in range(len(found.names))
        for j in range(i + 1, len(found.names))
    ]
    schema = {"first": pl.String, "second": pl.String} | dict.fromkeys(("correlation", "lower", "upper"), pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")
