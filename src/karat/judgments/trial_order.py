"""The order in which participants saw the trials: by the column trial, else by the times of answers, else unknown.

The rows of a table are often in another order than the trials, so their order is not used. A method that needs the
order of trials does not run where it is unknown (`check_order`). If the rows are in order, `Judgments.with_row_order()`
declares it.
"""

from collections.abc import Collection

import polars as pl

from karat.errors import KaratError
from karat.messages import Message


def order_is_known(columns: Collection[str]) -> bool:
    """Whether a table has the order in which trials were shown."""
    return "trial" in columns or "time" in columns


def check_order(columns: Collection[str], error: type[KaratError], name: str) -> None:
    """Raise an error of this class if the order of trials, which a method needs, is unknown."""
    if not order_is_known(columns):
        raise error(Message("order.needed", {"name": name}))


def order_messages(columns: Collection[str]) -> tuple[Message, ...]:
    """A message on the order of trials without positions; none if they have positions."""
    if "trial" in columns:
        return ()
    return (Message("order.by_time"),) if "time" in columns else (Message("order.unknown"),)


def with_positions(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with a column trial; where it has none, by the times of answers or the order of rows.

    Numbers by rows identify trials but do not order them. In files that were joined, some participants may have
    positions and others times; then participants without positions are numbered by times.
    """
    positioned, timed = "trial" in frame.columns, "time" in frame.columns
    if positioned and not (timed and frame["trial"].null_count()):
        return frame
    trial = pl.int_range(1, pl.len() + 1)
    if timed:
        # A row without a time, such as that of an unanswered trial, follows the row before.
        by_time = pl.col("time").forward_fill().backward_fill().rank("ordinal").cast(pl.Int64)
        trial = pl.coalesce(by_time, trial)
    if positioned:
        trial = pl.when(pl.col("trial").is_null().all()).then(trial).otherwise("trial")
    return frame.with_columns(trial=trial.over("participant"))


def presented(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows sorted by participant and session, as these come, and then by presentation.

    Without a column trial, that is the order of `time`; without either, rows stay as they are.
    """
    by = next((name for name in ("trial", "time") if name in rows.columns), None)
    # A large table that is in order is not sorted.
    if "session" not in rows.columns and in_order(rows, by):
        return rows
    groups = ["participant", "session"] if "session" in rows.columns else ["participant"]
    firsts = [pl.col("_row").min().over(groups[: place + 1]).alias(f"_{name}") for place, name in enumerate(groups)]
    added = [f"_{name}" for name in groups]
    placed = rows.with_row_index("_row").with_columns(firsts)
    if {"trial", "time"} & set(rows.columns):
        placed, added = placed.with_columns(with_positions(rows)["trial"].alias("_trial")), [*added, "_trial"]
    return placed.sort(added, maintain_order=True, nulls_last=True).drop("_row", *added)


def in_order(rows: pl.DataFrame, by: str | None, strictly: bool = False) -> bool:
    """Whether the rows of each participant are together and do not fall, or strictly rise, by a column, if any."""
    who, last = rows["participant"], max(rows.height - 1, 0)
    if who.null_count() or (by is not None and rows[by].null_count()):
        return False
    # Slices compare neighbours without copying.
    changes = who.slice(1) != who.slice(0, last)
    firsts = who.head(1).append(who.slice(1).filter(changes))
    if firsts.n_unique() < firsts.len() or by is None:
        return firsts.n_unique() == firsts.len()
    later, earlier = rows[by].slice(1), rows[by].slice(0, last)
    return bool((changes | (later > earlier if strictly else later >= earlier)).all())
