"""What a study knows of its results and the files of other tools do not say: scale, function, status, right answers.

Many tools write the name of an item and the answer, and nothing of the design. Where a column is missing, it comes from
the item table, by the item and the factors that both have.
"""

from __future__ import annotations

import polars as pl

from karat.errors import counted
from karat.judgments import Judgments
from karat.study.study import Block, Study

FILLED = ("function", "subgroup", "status", "expected", "pair")


def with_study(judgments: Judgments, study: Study) -> tuple[Judgments, list[str]]:
    """The judgments with the scale of the study and with what its item tables say of each item, and what was added.

    Nothing that the results say themselves is replaced.
    """
    notes: list[str] = []
    frame = judgments.frame
    wanted = [name for name in FILLED if name not in frame.columns]
    if (frame["function"] == "test").all():
        wanted = ["function", *wanted]
    for name in wanted:
        found = _column_of(name, frame, study.blocks)
        if found is not None and found.drop_nulls().len():
            frame = frame.with_columns(pl.coalesce(found, frame[name] if name in frame.columns else found).alias(name))
            notes.append(f"{name} is taken from the item table for {counted(len(found.drop_nulls()), 'answer')}.")
    scales = {block.scale for block in study.blocks}
    taken = dict(judgments.scales)
    if len(scales) == 1 and set(taken.values()) != scales:
        (scale,) = scales
        taken = dict.fromkeys(taken, scale)
        notes.append(f"The scale is that of {study.path.name}: {scale.kind}, {scale.known()}.")
    if not notes:
        return judgments, []
    return Judgments(frame, taken, judgments.participants), notes


def _column_of(name: str, frame: pl.DataFrame, blocks: tuple[Block, ...]) -> pl.Series | None:
    """A column of the item tables for every row of the results; None where rows of one item differ in it."""
    tables = []
    keys = ["item"] + [key for key in frame.columns if any(key in block.settings.factors for block in blocks)]
    for block in blocks:
        items = block.items.frame
        # Which answer to a choice is right depends on the sides, and those were drawn for each participant.
        if name in items.columns and not (name == "expected" and block.task.compares):
            here = [key for key in keys if key in items.columns]
            lacking = [pl.lit(None, dtype=pl.String).alias(key) for key in keys if key not in here]
            tables.append(items.select(*here, name).with_columns(lacking).select(*keys, name))
    if not tables:
        return None
    table = pl.concat(tables).unique(maintain_order=True).filter(pl.col(name).is_not_null())
    if table.select(keys).is_duplicated().any():
        return None
    joined = frame.select(keys).join(table, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined[name]
