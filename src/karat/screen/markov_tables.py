"""The transitions of a design as tables: matrices and their divergences from patterns, with the answers' own names."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.models.markov import Target, parts, row_divergences, transition_counts
from karat.screen.markov_cutoffs import Design


def counts_of(design: Design) -> NDArray[np.int32]:
    """How often each answer followed each, of every participant."""
    return transition_counts(design.codes, design.lengths, len(design.levels))


def target_name(target: Target, levels: tuple[str, ...]) -> str:
    """A pattern in a few words."""
    if target.kind == "primary choice":
        return f"always {levels[target.way[0]]}"
    if target.kind == "repeated pattern":
        return "round " + ", ".join(levels[answer] for answer in target.way)
    return {"stay": "staying", "random guessing": "evenly at random"}[target.kind]


def scale_name(design: Design) -> str:
    """A scale by its ends."""
    return f"{design.levels[0]} to {design.levels[-1]}"


def row_table(design: Design) -> pl.DataFrame:
    """participant, target, state, kld: the divergence of every row from every target."""
    return pl.concat(_row_parts(design))


def _row_parts(design: Design) -> Iterator[pl.DataFrame]:
    patterns = design.patterns
    matrices = [target.matrix for target in patterns]
    kinds, counts = len(design.levels), counts_of(design)
    names = pl.Series([target_name(target, design.levels) for target in patterns])
    for part in parts(len(counts), len(patterns) * kinds):
        found = row_divergences(counts[part], matrices)
        people, number, _ = found.shape
        yield pl.DataFrame(
            {
                "participant": design.participants[part].gather(np.repeat(np.arange(people), number * kinds)),
                "target": names.gather(np.tile(np.repeat(np.arange(number), kinds), people)),
                "state": pl.Series(design.levels).gather(np.tile(np.arange(kinds), people * number)),
                "kld": pl.Series(found.ravel()).fill_nan(None),
            }
        )


def transition_table(design: Design) -> pl.DataFrame:
    """participant, state, next, count, share: the observed transitions."""
    kinds, counts = len(design.levels), counts_of(design)
    people, levels = len(counts), pl.Series(design.levels)
    left = counts.sum(axis=2, keepdims=True)
    share = np.divide(counts, left, out=np.full(counts.shape, np.nan), where=left > 0)
    return pl.DataFrame(
        {
            "participant": design.participants.gather(np.repeat(np.arange(people), kinds * kinds)),
            "state": levels.gather(np.tile(np.repeat(np.arange(kinds), kinds), people)),
            "next": levels.gather(np.tile(np.arange(kinds), people * kinds)),
            "count": counts.ravel().astype(np.int64),
            "share": pl.Series(share.ravel()).fill_nan(None),
        }
    )
