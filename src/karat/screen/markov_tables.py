"""Answers as designs, and their transitions as tables: matrices and divergences, with the answers' own names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments.scales import Scale
from karat.messages import Message
from karat.models.markov import Target, parts, row_divergences, transition_counts
from karat.screen.evidence import ScreenError
from karat.screen.markov_cutoffs import CutoffDesign

LEAST, MOST_LEVELS = 10, 12


def levels_of(scale: Scale) -> tuple[str, ...]:
    """The answers of a scale, if they are few enough for transitions."""
    levels: tuple[str, ...] = getattr(scale, "levels", ())
    return levels if 2 <= len(levels) <= MOST_LEVELS else ()


def looked_at(
    found: Sequence[tuple[Scale, CutoffDesign | None, Sequence[Message]]], order: Sequence[Message]
) -> tuple[list[CutoffDesign], list[Message]]:
    """The designs with long enough sequences, and notes, also on their order; ScreenError where there is none."""
    designs, notes, refused = [], [*order], []
    for scale, design, own in found:
        if design is None:
            levels = len(getattr(scale, "levels", ()))
            refused.append(
                Message("markov.scale_answers", {"scale": scale.kind, "levels": levels})
                if levels
                else Message("markov.scale_numbers", {"scale": scale.kind})
            )
            continue
        if int(design.lengths.max()) < LEAST:
            refused.append(Message("markov.scale_short", {"scale": scale.kind, "least": LEAST}))
            continue
        designs.append(design)
        notes += own
        if not design.has_crowd:
            notes.append(Message("markov.no_crowd"))
    if not designs:
        why = {"least": LEAST, "most_levels": MOST_LEVELS, "scales": refused or None}
        raise ScreenError(Message("markov.no_sequences", why))
    if refused:
        notes.append(Message("markov.left_out", {"scales": refused}))
    return designs, notes


def design_of(part: pl.DataFrame, stimuli: pl.Series, levels: tuple[str, ...]) -> CutoffDesign:
    """Answers on one scale, one participant after the other, as a design."""
    codes = part["response"].replace_strict(dict(zip(levels, range(len(levels)), strict=True)), return_dtype=pl.Int8)
    runs = part["participant"].rle()
    return CutoffDesign(
        levels, runs.struct.field("value"), codes.to_numpy(), stimuli.to_numpy().astype(np.int64),
        runs.struct.field("len").to_numpy().astype(np.int64),
    )  # fmt: skip


def counts_of(design: CutoffDesign) -> NDArray[np.int32]:
    """How often each answer followed each, of every participant."""
    return transition_counts(design.codes, design.lengths, len(design.levels))


def target_name(target: Target, levels: tuple[str, ...]) -> str:
    """A pattern in a few words."""
    if target.kind == "primary choice":
        return f"always {levels[target.way[0]]}"
    if target.kind == "repeated pattern":
        return "round " + ", ".join(levels[answer] for answer in target.way)
    return {"stay": "staying", "random guessing": "evenly at random"}[target.kind]


def scale_name(design: CutoffDesign) -> str:
    """A scale by its ends."""
    return f"{design.levels[0]} to {design.levels[-1]}"


def row_table(design: CutoffDesign) -> pl.DataFrame:
    """participant, target, state, kld: the divergence of every row from every target."""
    return pl.concat(_row_parts(design))


def _row_parts(design: CutoffDesign) -> Iterator[pl.DataFrame]:
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


def transition_table(design: CutoffDesign) -> pl.DataFrame:
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
