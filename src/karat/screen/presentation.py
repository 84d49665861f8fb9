"""The order in which participants saw the trials: by the column trial, else by the times of answers, else by rows."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

BY_ROWS = "There is no column trial: the order of the rows is taken as the order of presentation."
BY_TIME = (
    "There is no column trial: the order of the times of answers is taken as the order of presentation, and that of "
    "the rows where times are equal or missing."
)


def order_notes(columns: Collection[str]) -> tuple[str, ...]:
    """By what the trials are ordered that have no positions; nothing where they have.

    >>> order_notes(["participant", "time"]) == (BY_TIME,), order_notes(["trial", "time"])
    (True, ())
    """
    if "trial" in columns:
        return ()
    return (BY_TIME,) if "time" in columns else (BY_ROWS,)


def with_positions(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with a column trial: where there is none, by the times of answers or the order of rows.

    Of files that were put together some may have positions and others times: who has no position at all is then
    numbered by times.

    >>> with_positions(pl.DataFrame({"participant": ["p", "q", "p"]}))["trial"].to_list()
    [1, 1, 2]
    >>> with_positions(pl.DataFrame({"participant": ["p", "q", "p"], "time": [9, 8, 7]}))["trial"].to_list()
    [2, 1, 1]
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

    Without a column trial that is the order of `time`, if there is such a column.

    >>> presented(pl.DataFrame({"participant": ["p", "q", "p"], "trial": [2, 1, 1]})).rows()
    [('p', 1), ('p', 2), ('q', 1)]
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
