"""oTree's page times: when each participant left each page, in whole seconds."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.intake.reading import Reading
from karat.intake.table import Table
from karat.intake.wide import is_true, listed

EPOCH = ("epoch_time_completed", "epoch_time")
NEEDED = ("participant_code", "page_index", "app_name", "page_name", "round_number")
NO_TIMES = {"_time": pl.Float64, "_rt": pl.Float64, "_page": pl.String}


def recognises_times(header: Sequence[str]) -> bool:
    """Whether a header is that of page times."""
    return set(NEEDED) <= set(header) and any(name in header for name in EPOCH)


def page_times(tables: Sequence[Table], reading: Reading) -> pl.DataFrame:
    """The time that each page took: from the moment the page before was left."""
    parts = []
    for table in tables:
        reading.notes += table.notes
        reading.problems.extend(table.problems)
        reading.units_in += table.rows_in
        reading.bad_units += table.rows_in - table.frame.height
        parts.append(_moments(table, reading))
    pages = pl.concat(parts).sort("_code", "_time", "_index", maintain_order=True)
    reading.set_apart("page times, joined to their rounds", pages.height)
    return pages.with_columns(_rt=(pl.col("_time") - pl.col("_time").shift(1)).over("_code"))


def _moments(table: Table, reading: Reading) -> pl.DataFrame:
    frame = table.frame
    epoch = next(name for name in EPOCH if name in frame.columns)
    numbers = {"_time": epoch, "_index": "page_index", "_round": "round_number"}
    moments = frame.select(
        pl.col("participant_code").alias("_code"),
        pl.col("app_name").alias("_app"),
        pl.col("page_name").alias("_page"),
        *(pl.col(old).str.strip_chars().cast(pl.Float64, strict=False).alias(new) for new, old in numbers.items()),
        is_true(frame["is_wait_page"]).alias("_wait")
        if "is_wait_page" in frame.columns
        else pl.lit(False).alias("_wait"),
    )
    wrong = moments["_time"].is_null() | moments["_time"].is_infinite() | moments["_time"].is_nan()
    for row in wrong.arg_true().to_list():
        file, place, number = table.locate(row)
        reading.problems.add(
            "is not a moment in seconds since 1970", "Mend the row, or leave it out with --skip-bad.", column=epoch,
            value=frame[epoch][row] or "", file=file, place=place, number=number,
        )  # fmt: skip
    reading.bad_units += int(wrong.sum())
    return moments.filter(~wrong)


def join_times(rounds: pl.DataFrame, app: str, pages: pl.DataFrame | None, reading: Reading) -> pl.DataFrame:
    """The rounds of an app with the moment and the duration of their last page that is no wait page."""
    empty = rounds.with_columns(pl.lit(None, dtype=dtype).alias(name) for name, dtype in NO_TIMES.items())
    if pages is None:
        return empty
    mine = pages.filter((pl.col("_app") == app) & ~pl.col("_wait"))
    if not mine.height:
        reading.notes.append(f"The page times know no app {app}; its answers have no rt.")
        return empty
    last = mine.group_by("_code", "_round", maintain_order=True).last()
    last = last.with_columns(pl.col("_round").cast(pl.Int64, strict=False)).select("_code", "_round", *NO_TIMES)
    names = last["_page"].drop_nulls().unique(maintain_order=True).to_list()
    reading.notes.append(
        f"rt of {app} is the time on the last page of each round ({listed(names)}), from the moment the page before it "
        "was left, in whole seconds: oTree keeps no finer times."
    )
    last = last.filter(pl.col("_round").is_not_null()).unique(["_code", "_round"], keep="last")
    return rounds.with_columns(pl.col("_round").cast(pl.Int64)).join(
        last, on=["_code", "_round"], how="left", maintain_order="left"
    )
