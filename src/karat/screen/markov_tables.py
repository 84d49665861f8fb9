"""Answers as designs, and their transitions as tables: matrices and divergences, with the answers' own names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.models.markov import Target, parts, row_divergences, transition_counts
from karat.scales import Scale
from karat.screen.evidence import ScreenError
from karat.screen.markov_cutoffs import Design

LEAST, MOST_LEVELS = 10, 12


def levels_of(scale: Scale) -> tuple[str, ...]:
    """The answers of a scale, if they are few enough for transitions."""
    levels: tuple[str, ...] = getattr(scale, "levels", ())
    return levels if 2 <= len(levels) <= MOST_LEVELS else ()


def looked_at(
    found: Sequence[tuple[Scale, Design | None, list[str]]], order: Sequence[str]
) -> tuple[list[Design], list[str]]:
    """The designs with long enough sequences, and notes, also on their order; ScreenError where there is none."""
    designs, notes, refused = [], [*order], []
    for scale, design, told in found:
        if design is None:
            levels: tuple[str, ...] = getattr(scale, "levels", ())
            why = f"{len(levels)} answers" if levels else "numbers"
            refused.append(f"the {scale.kind} scale, with {why}")
            continue
        if int(design.lengths.max()) < LEAST:
            refused.append(f"the {scale.kind} scale, where nobody gave {LEAST} answers")
            continue
        designs.append(design)
        notes += told
        if not design.has_crowd:
            notes.append(
                "Stimuli were judged by fewer than three people on average: all get the same shares of answers in the "
                "simulation."
            )
    if not designs:
        why = " and ".join(refused) or "nobody answered anything outside practice"
        raise ScreenError(
            f"markov needs sequences of at least {LEAST} answers on a scale with 2 to {MOST_LEVELS} of them: {why}."
        )
    if refused:
        notes.append(f"Not looked at: {'; '.join(refused)}.")
    return designs, notes


def design_of(part: pl.DataFrame, stimuli: pl.Series, levels: tuple[str, ...]) -> Design:
    """Answers on one scale, one participant after the other, as a design."""
    codes = part["response"].replace_strict(dict(zip(levels, range(len(levels)), strict=True)), return_dtype=pl.Int8)
    runs = part["participant"].rle()
    return Design(
        levels, runs.struct.field("value"), codes.to_numpy(), stimuli.to_numpy().astype(np.int64),
        runs.struct.field("len").to_numpy().astype(np.int64),
    )  # fmt: skip


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
