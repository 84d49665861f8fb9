"""The time filter: whose mean response time is below that of all.

An auxiliary rule of Ba, Mancenido, Chiou and Pan, to be used together with patterns of answers, because many fast
participants answer well. Paper and tables differ, so there are two versions. "mean" (the note of table 2) takes the
mean of all response times as the cutoff, and flags about half of the participants. "mean-sd" (the text) takes the mean
of the participants' means minus their standard deviation, and flags about a sixth if these means are normal. Either
flags somebody in any crowd, which a note says.

By difficulty, the cutoff is computed at each level of a column, and participants are flagged if they are below it at
every level they saw, because a short time on hard trials means more. Score and threshold are those of the level at
which a participant is farthest above the cutoff, or least below it.

With a time limit per trial, times are short by design, and the authors advise against the filter. It is refused if
`time_limit` is set, or if times pile up at a maximum: at least 1 % of them, and ten, are within 1 % of the longest, and
more than in the tenth below it. `time_limit=0` means that there was no limit.
"""

from typing import Literal

import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.judgments.columns import unknown_name
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, round_beside, timed, verdicts
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out

PILE_SHARE, PILE_LEAST = 0.01, 10
DIGITS = 12


class TimeFilterSettings(CriterionSettings):
    """Settings for flagging low mean response times."""

    rule: Literal["mean", "mean-sd"] = Field(
        "mean-sd", description="A mean time below the mean of all times is flagged, or one standard deviation below."
    )
    by_difficulty: str | None = Field(
        None, description="A column: times must be short at each of its levels, such as easy and hard."
    )
    time_limit: float | None = Field(
        None, ge=0, description="The time limit of a trial in seconds, which rules this out; 0 if there was none."
    )


def time_filter(
    judgments: Judgments,
    rule: Literal["mean", "mean-sd"] = "mean-sd",
    by_difficulty: str | None = None,
    time_limit: float | None = None,
) -> Evidence:
    """The mean response time of each participant; flagged if it is below the cutoff of the rule.

    >>> import karat
    >>> crowd = karat.datasets.load("crowd")
    >>> len(time_filter(crowd, rule="mean").flagged) > len(time_filter(crowd).flagged) > 0
    True
    """
    check_settings(TimeFilterSettings, rule=rule)
    frame = timed(judgments)
    refuse_time_limit(frame["rt"], time_limit)
    if by_difficulty is not None and by_difficulty not in frame.columns:
        raise ScreenError(unknown_name("unknown.column", by_difficulty, frame.columns))
    level = pl.lit("all") if by_difficulty is None else pl.col(by_difficulty).cast(pl.String)
    rows = frame.with_columns(_level=level).filter(pl.col("_level").is_not_null())
    means = rows.group_by("participant", "_level", maintain_order=True).agg(evened(pl.col("rt").mean()).alias("mean"))
    cutoffs = time_cutoffs(rows, means, rule)
    table = means.join(cutoffs, on="_level", how="left", maintain_order="left")
    table = table.with_columns(_ahead=pl.col("mean") - pl.col("cutoff"))
    # Participants below the cutoff at their best level are below it at every level.
    decided = table.sort("_ahead", descending=True, nulls_last=True, maintain_order=True)
    decided = decided.unique("participant", keep="first", maintain_order=True)
    people = everybody(judgments).join(decided, on="participant", how="left", maintain_order="left")
    mean, cutoff = pl.col("mean"), pl.col("cutoff")
    below = (mean < cutoff).fill_null(False)
    levels = pl.col("_level") if by_difficulty else pl.lit(None, pl.String)
    values = {"mean": round_beside(mean, cutoff), "cutoff": cutoff.round(2), "level": levels}
    participants = verdicts(people, mean, cutoff, below, _message(below, rule), values)
    settings = {"rule": rule, "by_difficulty": by_difficulty, "time_limit": time_limit}
    notes = [Message("time_filter.half") if rule == "mean" else Message("time_filter.sixth")]
    without = frame.height - rows.height
    notes += [Message("time_filter.without_level", {"n": without, "column": by_difficulty})] if without else []
    return Evidence(participants, "time_filter", settings, tuple(notes))


def refuse_time_limit(times: pl.Series, time_limit: float | None) -> None:
    """Raise ScreenError if trials had a time limit, as stated or because times pile up at a maximum.

    >>> refuse_time_limit(pl.Series([1.0, 2.0, 30.0]), None)
    """
    check_settings(TimeFilterSettings, time_limit=time_limit)
    if time_limit:
        raise ScreenError(Message("time_limit.stated", {"seconds": time_limit}))
    longest = times.max()
    if time_limit is not None or not isinstance(longest, float) or times.n_unique() < PILE_LEAST:
        return
    at_end = int((times >= 0.99 * longest).sum())
    before = int(((times >= 0.89 * longest) & (times < 0.99 * longest)).sum())
    if at_end >= PILE_LEAST and at_end >= PILE_SHARE * len(times) and at_end > before:
        raise ScreenError(Message("time_limit.suspected", {"n": at_end, "times": len(times), "longest": longest}))


def time_cutoffs(rows: pl.DataFrame, means: pl.DataFrame, rule: str) -> pl.DataFrame:
    """The cutoff at each level of difficulty: `_level`, cutoff."""
    if rule == "mean":
        return rows.group_by("_level", maintain_order=True).agg(evened(pl.col("rt").mean()).alias("cutoff"))
    spread = pl.col("mean").std().fill_null(0.0)
    return means.group_by("_level", maintain_order=True).agg(evened(pl.col("mean").mean() - spread).alias("cutoff"))


def evened(value: pl.Expr) -> pl.Expr:
    """A number rounded to twelve digits, so that equal values are not below a mean by rounding errors.

    >>> pl.select(evened(pl.lit(0.7 + 1e-16)) < evened(pl.lit(0.7000000000000001))).item()
    False
    """
    return value.round_sig_figs(DIGITS)


def _message(below: pl.Expr, rule: str) -> pl.Expr:
    """The code of each reason."""
    if rule == "mean":
        side = pl.when(below).then(pl.lit("time_filter.below_mean")).otherwise(pl.lit("time_filter.not_below_mean"))
    else:
        side = pl.when(below).then(pl.lit("time_filter.below_sd")).otherwise(pl.lit("time_filter.not_below_sd"))
    return pl.when(pl.col("mean").is_null()).then(pl.lit("time_filter.no_times")).otherwise(side)


CRITERION = Criterion(
    name="time_filter",
    title="Mean time",
    asks="whose mean response time is low among all",
    settings=TimeFilterSettings,
    computed_by=time_filter,
    stage="clock",
    shown_blind=True,
    of_the_study=("by_difficulty", "time_limit"),
    wording=lambda settings: [settings["rule"]],
    cites=("ba2024",),
    alternatives=(
        Alternative("mean - SD", {"rule": "mean-sd"}, "Ba, Mancenido, Chiou and Pan, text"),
        Alternative("below the mean", {"rule": "mean"}, "Ba, Mancenido, Chiou and Pan, table 2"),
        left_out(),
    ),
)
