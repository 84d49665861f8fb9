"""Make the results that readers of a tutorial download: python tools/make_results.py

They are part of the questionnaire that comes with karat, under the names that another tool might give its columns, so
that karat has something to guess. A test fails where the file is not what this script would write.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

import karat

PATH = Path(__file__).parent.parent / "docs" / "tutorials" / "results.csv"
PEOPLE = 24


def results() -> str:
    """The file as text."""
    frame = karat.datasets.load("likert").frame
    people = frame["participant"].unique(maintain_order=True).head(PEOPLE)
    shown = frame.filter(pl.col("participant").is_in(people.to_list())).select(
        pl.col("participant").alias("workerId"),
        pl.col("item").alias("sentence"),
        pl.col("response").alias("ANSWER"),
        (pl.col("rt") * 1000).round().cast(pl.Int64).alias("rt"),
        (pl.col("trial") - 1).alias("trial_index"),
        pl.col("function").alias("item_type"),
        "expected",
        "order",
        "integration",
    )
    return shown.write_csv()


if __name__ == "__main__":
    PATH.write_text(results(), encoding="utf-8")
