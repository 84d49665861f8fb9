"""The order in which participants saw the trials: by the column trial, else by the times of answers, else unknown.

Rows of a table are often in another order than trials were shown in, so they say nothing. A method that looks at the
order does not run where it is unknown (`check_order`). Where rows are known to be in order,
`Judgments.with_row_order()` says so.
"""

from collections.abc import Collection

import polars as pl

from karat.errors import KaratError
from karat.messages import Message


def order_is_known(columns: Collection[str]) -> bool:
    """Whether a table says in which order trials were shown."""
    return "trial" in columns or "time" in columns


def check_order(columns: Collection[str], error: type[KaratError], name: str) -> None:
    """Raise an error of this class where a method that looks at the order would not know it."""
    if not order_is_known(columns):
        raise error(Message("order.needed", {"name": name}))


def order_messages(columns: Collection[str]) -> tuple[Message, ...]:
    """How trials are ordered that have no positions; nothing where they have."""
    if "trial" in columns:
        return ()
    return (Message("order.by_time"),) if "time" in columns else (Message("order.unknown"),)


def with_positions(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with a column trial: where there is none, by the times of answers or the order of rows.

    Numbers by rows identify trials and say nothing about their order. In files that were put together, some
    participants may have positions and others times: those without any position are then numbered by times.
    """
    stated, timed = "trial" in frame.columns, "time" in frame.columns
    if stated and not (timed and frame["trial"].null_count()):
        return frame
    trial = pl.int_range(1, pl.len() + 1)
    if timed:
        # A row without a time, as of a trial that was not answered, follows the row before.
        by_time = pl.col("time").forward_fill().backward_fill().rank("ordinal").cast(pl.Int64)
        trial = pl.coalesce(by_time, trial)
    if stated:
        trial = pl.when(pl.col("trial").is_null().all()).then(trial).otherwise("trial")
    return frame.with_columns(trial=trial.over("participant"))


def presented(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows one participant after the other, each in the order of presentation; sessions as they come.

    Without a column trial that is the order of `time`; without either, rows stay as they are.
    """
    if _stand_so(rows):
        return rows
    groups = ["participant", "session"] if "session" in rows.columns else ["participant"]
    firsts = [pl.col("_row").min().over(groups[: place + 1]).alias(f"_{name}") for place, name in enumerate(groups)]
    added = [f"_{name}" for name in groups]
    placed = rows.with_row_index("_row").with_columns(firsts)
    if {"trial", "time"} & set(rows.columns):
        placed, added = placed.with_columns(with_positions(rows)["trial"].alias("_trial")), [*added, "_trial"]
    return placed.sort(added, maintain_order=True, nulls_last=True).drop("_row", *added)


def _stand_so(rows: pl.DataFrame) -> bool:
    """Whether rows without sessions stand in the order of presentation already, so that a large table is not sorted."""
    if "session" in rows.columns:
        return False
    runs = rows["participant"].rle().struct.unnest()
    if runs["value"].n_unique() < runs.height:
        return False
    by = next((name for name in ("trial", "time") if name in rows.columns), None)
    if by is None:
        return True
    if rows[by].null_count():
        return False
    falls = (rows[by].to_physical().diff() < 0).fill_null(False).to_numpy(writable=True)
    falls[runs["len"].cum_sum().head(-1).to_numpy()] = False
    return not falls.any()
