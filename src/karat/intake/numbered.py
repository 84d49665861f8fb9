"""The position of each answer in its participant's sequence, where a table has times but no column for it."""

from __future__ import annotations

import polars as pl

BY_TIME = "There is no column trial: answers are numbered by their time, participant by participant."


def numbered_by_time(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The table with a column trial, and a note of it; as it is where times do not tell the order.

    They do not where one is missing, where all answers of everybody were sent at once, and where several questions are
    asked in a trial, whose answers may come one by one or together. Answers of the same time stay as they stand.

    >>> from datetime import datetime
    >>> times = [datetime(2026, 3, 1, 9, minute) for minute in (5, 2, 3)]
    >>> numbered_by_time(pl.DataFrame({"participant": ["p", "p", "q"], "time": times}))[0]["trial"].to_list()
    [2, 1, 1]
    """
    if {"trial", "question"} & set(frame.columns) or "time" not in frame.columns or frame["time"].null_count():
        return frame, []
    sequence = ["participant", "session"] if "session" in frame.columns else ["participant"]
    if frame.select(*sequence, "time").n_unique() == frame.select(sequence).n_unique():
        return frame, []
    return frame.with_columns(trial=pl.col("time").rank("ordinal").over(sequence).cast(pl.Int64)), [BY_TIME]
