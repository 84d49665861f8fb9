"""The order in which participants saw the trials: by the column trial, else by the order of the rows."""

from __future__ import annotations

import polars as pl

BY_ROWS = "There is no column trial: the order of the rows is taken as the order of presentation."


def with_positions(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with a column trial, by the order of rows where there is none.

    >>> with_positions(pl.DataFrame({"participant": ["p", "q", "p"]}))["trial"].to_list()
    [1, 1, 2]
    """
    if "trial" in frame.columns:
        return frame
    return frame.with_columns(trial=pl.int_range(1, pl.len() + 1).over("participant"))


def presented(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows one participant after the other, each in the order of presentation; sessions as they come.

    >>> presented(pl.DataFrame({"participant": ["p", "q", "p"], "trial": [2, 1, 1]})).rows()
    [('p', 1), ('p', 2), ('q', 1)]
    """
    if _stand_so(rows):
        return rows
    groups = ["participant", "session"] if "session" in rows.columns else ["participant"]
    firsts = [pl.col("_row").min().over(groups[: place + 1]).alias(f"_{name}") for place, name in enumerate(groups)]
    added = [f"_{name}" for name in groups]
    by = added + (["trial"] if "trial" in rows.columns else [])
    ordered = rows.with_row_index("_row").with_columns(firsts).sort(by, maintain_order=True, nulls_last=True)
    return ordered.drop("_row", *added)


def _stand_so(rows: pl.DataFrame) -> bool:
    """Whether rows without sessions stand in the order of presentation already, so that a large table is not sorted."""
    if "session" in rows.columns:
        return False
    runs = rows["participant"].rle().struct.unnest()
    if runs["value"].n_unique() < runs.height:
        return False
    if "trial" not in rows.columns:
        return True
    if rows["trial"].null_count():
        return False
    falls = (rows["trial"].diff() < 0).fill_null(False).to_numpy(writable=True)
    falls[runs["len"].cum_sum().head(-1).to_numpy()] = False
    return not falls.any()
