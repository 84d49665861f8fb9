"""The recorded right answers beside the crowd's, over all parts (`karat.screen.gold`)."""

from __future__ import annotations

import polars as pl

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered
from karat.messages import Message
from karat.screen.gold import KEYS, NEAR_UNANIMOUS, doubts_of, has_key, judged_items, with_key, with_sides
from karat.screen.parted.crowd import InParts


def doubts_in_parts(crowd: InParts) -> list[Message]:
    """What is doubtful about the right answers; nothing where none is recorded."""
    counts = [one for one in crowd.map(_count, None, name="right answers") if one is not None]
    if not counts:
        return []
    together = pl.concat(counts).group_by(*KEYS, "response", maintain_order=True).agg(pl.col("answers").sum())
    table, refused = with_sides(together, crowd.scales)
    order = table.select(KEYS).unique(maintain_order=True)
    items = judged_items(table.sort(KEYS, maintain_order=True), NEAR_UNANIMOUS)
    return doubts_of(order.join(items, on=KEYS, how="inner", maintain_order="left"), refused)


def _count(judgments: Judgments, _: None, number: int) -> pl.DataFrame | None:
    """How often each answer was given to each item of which the right answer is recorded."""
    rows = answered(judgments)
    if not has_key(rows):
        return None
    # Numbers are not compared: all of them count as one answer.
    numbers = [question for question, scale in judgments.scales.items() if not getattr(scale, "levels", ())]
    given = pl.when(~pl.col("question").is_in(numbers)).then("response")
    return with_key(rows).group_by(*KEYS, given, maintain_order=True).len("answers")
