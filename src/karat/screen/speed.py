"""Speed: who was too fast on the whole.

Häussler and Juzek tell simple spammers, whose mean time is low, from clever ones, who hide behind a few long pauses:
their median is low. Macketanz et al. exclude whoever worked at or under 40 % of the expected duration.
"""

from __future__ import annotations

import polars as pl

from karat.judgments import Judgments
from karat.screen.evidence import Evidence, ScreenError, timed

SECONDS = 3.0


def speed(
    judgments: Judgments,
    mean_below: float | None = SECONDS,
    median_below: float | None = SECONDS,
    share_of_expected: float | None = None,
    expected_minutes: float | None = None,
) -> Evidence:
    """Mean and median response time of each participant, and the total time where a share of it is asked for.

    A mean or median below its cutoff (seconds) is flagged; so is a working time at or under `share_of_expected` of
    `expected_minutes`. The score is the median.

    >>> import karat
    >>> speed(karat.datasets.load("likert"), mean_below=1, median_below=1).flagged
    ['p06', 'p35']
    """
    frame = timed(judgments, "speed")
    times = frame.group_by("participant", maintain_order=True).agg(
        pl.col("rt").mean().alias("mean"), pl.col("rt").median().alias("median"), pl.col("rt").sum().alias("total")
    )
    flags = {
        "mean": pl.lit(False) if mean_below is None else pl.col("mean") < mean_below,
        "median": pl.lit(False) if median_below is None else pl.col("median") < median_below,
        "working time": pl.lit(False),
    }
    if share_of_expected is not None:
        if expected_minutes is None:
            raise ScreenError("speed: a share of the expected duration needs expected_minutes=...")
        times = _with_working_time(times, judgments)
        flags["working time"] = pl.col("working_time") <= share_of_expected * expected_minutes * 60
    for name, flag in flags.items():
        times = times.with_columns(flag.fill_null(False).alias(f"_{name}"))
    told = pl.format("mean {} s, median {} s", pl.col("mean").round(2), pl.col("median").round(2))
    which = pl.concat_list(
        [pl.when(pl.col(f"_{name}")).then(pl.lit(f"{name} too short")) for name in flags]
    ).list.drop_nulls().list.join(", ")  # fmt: skip
    flagged = pl.any_horizontal(f"_{name}" for name in flags)
    table = times.with_columns(
        score=pl.col("median"),
        threshold=pl.lit(median_below, dtype=pl.Float64),
        flagged=flagged,
        reason=pl.when(flagged).then(pl.format("{}: {}", told, which)).otherwise(told),
    )
    more = ["working_time"] if "working_time" in table.columns else []
    settings = {
        "mean_below": mean_below, "median_below": median_below, "share_of_expected": share_of_expected,
        "expected_minutes": expected_minutes,
    }  # fmt: skip
    names = ["participant", "score", "threshold", "flagged", "reason", "mean", "median", *more]
    return Evidence(table.select(names), "speed", settings)


def _with_working_time(times: pl.DataFrame, judgments: Judgments) -> pl.DataFrame:
    """The working time that the platform or the server noted, else the sum of all response times."""
    people = judgments.participants
    if "working_time" not in people.columns:
        return times.with_columns(pl.col("total").alias("working_time"))
    noted = people.select("participant", pl.col("working_time").cast(pl.Float64))
    joined = times.join(noted, on="participant", how="left", maintain_order="left")
    return joined.with_columns(pl.coalesce("working_time", "total").alias("working_time"))
