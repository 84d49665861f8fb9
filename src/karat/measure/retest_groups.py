"""Groups of judgments that are compared with each other: sessions of the same participants, or other participants.

Bootstrap samples draw participants among those who took part in the same groups, so that groups keep their sizes and
somebody who came twice is drawn with both sessions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from karat.judgments import Judgments
from karat.measure.errors import MeasureError
from karat.measure.item_scores import drawn_again
from karat.measure.rated import known_column
from karat.messages import Message
from karat.models.resampling import stratified_resamples

CAME_BACK = 0.9
"""The share of the smaller group that must be in the other for a comparison to be within participants."""


def grouped(judgments: Judgments, by: str) -> tuple[Judgments, list[str], list[Message]]:
    """The judgments with the group of each answer in _group, the groups, and a note on answers without one."""
    frame = judgments.frame
    if by in frame.columns:
        frame = frame.with_columns(_group=pl.col(by).cast(pl.String))
    else:
        known_column(judgments.participants, by, "stability")
        names = judgments.participants.select("participant", _group=pl.col(by).cast(pl.String))
        frame = frame.join(names, on="participant", how="left", maintain_order="left")
    missing = frame["_group"].null_count()
    notes = [Message("stability.no_group", {"n": missing, "by": by})] if missing else []
    frame = frame.filter(pl.col("_group").is_not_null())
    groups = sorted(frame["_group"].unique().to_list())
    if not groups:
        raise MeasureError(Message("stability.empty_column", {"by": by}))
    if len(groups) < 2:
        raise MeasureError(Message("stability.one_group", {"by": by, "group": groups[0]}))
    return judgments.with_frame(frame), groups, notes


def only(judgments: Judgments, functions: Sequence[str]) -> Judgments:
    """The judgments of trials with these functions."""
    kept = judgments.frame.filter(pl.col("function").is_in(list(functions)))
    return judgments.with_frame(kept)


def kind_of(first: set[str], second: set[str]) -> str:
    """Whether two groups are the same participants, others, or some of each.

    >>> kind_of({"p1", "p2"}, {"p1", "p2", "p3"}), kind_of({"p1"}, {"p2"}), kind_of({"p1", "p2"}, {"p2", "p3"})
    ('within', 'between', 'mixed')
    """
    shared = len(first & second)
    if not shared:
        return "between"
    return "within" if shared >= CAME_BACK * min(len(first), len(second)) else "mixed"


def memberships(frame: pl.DataFrame, people: list[str]) -> tuple[dict[str, set[str]], list[str]]:
    """Who is in each group, and for each participant the groups they are in, as one text."""
    pairs = frame.select("participant", "_group").unique()
    members: dict[str, set[str]] = {}
    for name, group in pairs.iter_rows():
        members.setdefault(group, set()).add(name)
    return members, ["|".join(sorted(group for group, own in members.items() if name in own)) for name in people]


def samples_of(judgments: Judgments, samples: int, seed: int) -> Iterator[Judgments]:
    """The judgments themselves, then bootstrap samples of them."""
    yield judgments
    people = judgments.frame["participant"].unique(maintain_order=True).to_list()
    _, strata = memberships(judgments.frame, people)
    for counts in stratified_resamples(strata, samples, seed).T:
        drawn = {name: int(times) for name, times in zip(people, counts, strict=True) if times}
        yield drawn_again(judgments, drawn)


def group_of(judgments: Judgments, group: str) -> Judgments:
    """The judgments of one group."""
    kept = judgments.frame.filter(pl.col("_group") == group).drop("_group")
    people = judgments.participants.filter(pl.col("participant").is_in(kept["participant"].unique().to_list()))
    return judgments.with_frame(kept, people)
