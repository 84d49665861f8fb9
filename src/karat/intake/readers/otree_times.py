"""oTree's page times: when each participant left each page, in whole seconds."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.intake.reading import Reading
from karat.intake.wide import is_true
from karat.judgments.message_tables import listed
from karat.judgments.tables import FileTable
from karat.messages import Message

EPOCH = ("epoch_time_completed", "epoch_time")
NEEDED = ("participant_code", "page_index", "app_name", "page_name", "round_number")
NO_TIMES = {"_time": pl.Float64, "_rt": pl.Float64}
PAGE_TIME = "seconds on "


def recognises_times(header: Sequence[str]) -> bool:
    """Whether a header is that of page times."""
    return set(NEEDED) <= set(header) and any(name in header for name in EPOCH)


def page_times(tables: Sequence[FileTable], reading: Reading) -> pl.DataFrame:
    """The time that each page took: from the moment the page before was left."""
    parts = []
    for table in tables:
        reading.notes += table.notes
        reading.problems.extend(table.problems)
        reading.units_in += table.rows_in
        reading.bad_units += table.rows_in - table.frame.height
        parts.append(_moments(table, reading))
    pages = pl.concat(parts).sort("_code", "_time", "_index", maintain_order=True)
    reading.set_apart(Message("aside.page_times"), pages.height)
    return pages.with_columns(_rt=(pl.col("_time") - pl.col("_time").shift(1)).over("_code"))


def _moments(table: FileTable, reading: Reading) -> pl.DataFrame:
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
    """The rounds of an app with the moment and the duration of the page that asks.

    That is the page that most rounds have: an introduction belongs to the first round, results to the last. Where
    several pages are in as many rounds, nothing tells which of them asks, and each gives a column of its own.
    """
    empty = rounds.with_columns(pl.lit(None, dtype=dtype).alias(name) for name, dtype in NO_TIMES.items())
    if pages is None:
        return empty
    mine = pages.filter((pl.col("_app") == app) & ~pl.col("_wait")).with_columns(
        pl.col("_round").cast(pl.Int64, strict=False), pl.col("_page").fill_null("unnamed")
    )
    mine = mine.filter(pl.col("_round").is_not_null())
    if not mine.height:
        reading.notes.append(Message("otree.no_page_times", {"app": app}))
        return empty
    mine = mine.unique(["_code", "_round", "_page"], keep="last", maintain_order=True)
    uses = mine.group_by("_page", maintain_order=True).len()
    asking = uses.filter(pl.col("len") == pl.col("len").max())["_page"].to_list()
    rounds = rounds.with_columns(pl.col("_round").cast(pl.Int64))
    for page in asking:
        column = pl.col("_rt").alias(f"{PAGE_TIME}{page}")
        rounds = _joined(rounds, mine.filter(pl.col("_page") == page).select("_code", "_round", "_time", column))
    if len(asking) == 1:
        others = [page for page in uses["_page"].to_list() if page not in asking]
        values = {"app": app, "page": asking[0], "others": listed(others) if others else None}
        reading.notes.append(Message("otree.page_times", values))
        return rounds.rename({f"{PAGE_TIME}{asking[0]}": "_rt"})
    values = {"app": app, "pages": listed(asking), "column": f"{PAGE_TIME}{asking[0]}"}
    reading.notes.append(Message("otree.several_pages", values))
    return rounds.with_columns(pl.lit(None, dtype=pl.Float64).alias("_rt"))


def _joined(rounds: pl.DataFrame, times: pl.DataFrame) -> pl.DataFrame:
    """The rounds with the time on one more page; an answer was given when the last of the pages was left."""
    joined = rounds.join(times, on=["_code", "_round"], how="left", maintain_order="left", suffix="_more")
    if "_time_more" not in joined.columns:
        return joined
    return joined.with_columns(pl.max_horizontal("_time", "_time_more").alias("_time")).drop("_time_more")
