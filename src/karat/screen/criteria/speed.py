"""Speed: participants who were too fast overall.

Häussler and Juzek distinguish simple spammers, whose mean time is low, from clever ones, who hide behind a few long
pauses, so that only their median is low. What is fast depends on the task, so a cutoff may also be a share of the
median of all participants' medians. Macketanz et al. exclude participants who worked at most 40 % of the expected
duration. Rules that state one of these two shares have no cutoff in seconds unless they state one, because 3 seconds
are long for a single adjective pair. If half of at least `FEWEST` participants are below these 3 seconds, the task is
quick, not the participants; the cutoff then flags nobody, and a note says so. Any other cutoff is applied as stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import Field

from karat.judgments import Judgments
from karat.messages import Message
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, round_beside, timed, verdicts
from karat.screen.one_part import parts_of
from karat.study.criterion import Alternative, Criterion, CriterionSettings, Given, left_out

if TYPE_CHECKING:
    from karat.study.check.draft import Draft

SECONDS = 3.0
FEWEST, QUICK = 5, {"mean": "speed.quick_mean", "median": "speed.quick_median"}


class SpeedSettings(CriterionSettings):
    """Settings for flagging participants who were too fast overall."""

    mean_below: float | None = Field(
        SECONDS,
        gt=0,
        description="Mean times below this many seconds are flagged; unused if only another is stated.",
    )
    median_below: float | None = Field(
        SECONDS, gt=0, description="Medians below this many seconds are flagged; unused if only another is stated."
    )
    relative_below: float | None = Field(
        None, gt=0, lt=1, description="A median time below this share of the median participant's is flagged."
    )
    share_of_expected: float | None = Field(
        None, gt=0, lt=1, description="A total time at or under this share of the stated minutes is flagged."
    )
    expected_minutes: float | None = Field(
        None, gt=0, description="How long the study should take; by default the minutes of the recruitment."
    )


def speed(
    judgments: Judgments,
    mean_below: float | None = SECONDS,
    median_below: float | None = SECONDS,
    relative_below: float | None = None,
    share_of_expected: float | None = None,
    expected_minutes: float | None = None,
) -> Evidence:
    """Mean and median response time of each participant, and with `share_of_expected` the working time.

    A mean or median below its cutoff (seconds) is flagged, and a median below `relative_below` of the median of all
    participants' medians; so is a working time at or under `share_of_expected` of `expected_minutes`. The working time
    is recorded by the platform or the server, else the sum of the response times. The score is the median, and the
    threshold the larger cutoff for it. Further columns: mean, median and, if used, working_time (seconds).

    >>> import karat
    >>> evidence = speed(karat.datasets.load("likert"), mean_below=1, median_below=1)
    >>> evidence.flagged, evidence.table()["reason"][0]
    (['p06', 'p35'], 'mean 0.64 s, median 0.63 s; mean below 1 s; median below 1 s')
    """
    settings = {
        "mean_below": mean_below, "median_below": median_below, "relative_below": relative_below,
        "share_of_expected": share_of_expected, "expected_minutes": expected_minutes,
    }  # fmt: skip
    check_settings(SpeedSettings, **settings)
    if share_of_expected is not None and expected_minutes is None:
        raise ScreenError(Message("speed.no_expected_minutes"))
    parts = parts_of(judgments)
    tables, clocks = parts.keep("speed", _gather, share_of_expected is not None)
    # The platform's working time can replace response times.
    times = any(part.times for part in clocks)
    if (times or not any(part.clock for part in clocks)) and not any(part.timed for part in clocks):
        # Raises the error about missing times.
        timed(parts.read(next((number for number, part in enumerate(clocks) if part.times), 0)))
    per_person = tables.scan().select("mean", "median").collect()
    silent = per_person["median"].null_count()
    notes = [Message("speed.untimed", {"n": silent})] if silent else []
    middle = per_person["median"].median()
    relative = relative_below * middle if relative_below is not None and isinstance(middle, float) else None
    quick: dict[str, None] = {}
    for name, code in QUICK.items() if per_person.height - silent >= FEWEST else ():
        cutoff, usual = settings[f"{name}_below"], per_person[name].median()
        if cutoff == SECONDS and isinstance(usual, float) and usual < SECONDS:
            quick[f"{name}_below"] = None
            notes.append(Message(code, {"usual": usual, "cutoff": cutoff}))
    return tables.judge(_judge, (relative, {**settings, **quick}), settings, tuple(notes))


@dataclass(frozen=True)
class _Clocks:
    """The sources of time in a part."""

    clock: bool
    """Whether the working time is needed and recorded for anybody."""
    times: bool
    """Whether any trial has a response time."""
    timed: bool
    """Whether any trial other than practice has one."""


def _gather(judgments: Judgments, working_time: bool, number: int) -> tuple[pl.DataFrame, _Clocks]:
    """Mean, median and working time of everybody who answered, null if unknown."""
    frame, people = judgments.frame, judgments.participants
    times = "rt" in frame.columns and frame["rt"].null_count() < frame.height
    clock = working_time and "working_time" in people.columns and people["working_time"].null_count() < people.height
    rt = pl.col("rt") if times else pl.lit(None, dtype=pl.Float64)
    rows = frame.filter(pl.col("function") != "practice", rt.is_not_null())
    per_person = rows.group_by("participant", maintain_order=True).agg(
        rt.mean().alias("mean"), rt.median().alias("median"), rt.sum().alias("total")
    )
    table = everybody(judgments).join(per_person, on="participant", how="left", maintain_order="left")
    worked = pl.col("total")
    if clock:
        recorded = people.select("participant", _clock=pl.col("working_time").cast(pl.Float64, strict=False))
        table = table.join(recorded, on="participant", how="left", maintain_order="left")
        worked = pl.coalesce("_clock", "total")
    columns = ("mean", "median", worked.alias("working_time"))
    return table.select("participant", *columns), _Clocks(clock, times, rows.height > 0)


def _judge(times: pl.DataFrame, shared: tuple[float | None, Mapping[str, float | None]]) -> pl.DataFrame:
    """The table of participants, given their times, the cutoff that depends on all, and the settings."""
    relative, settings = shared
    median_below, share, minutes = map(settings.get, ("median_below", "share_of_expected", "expected_minutes"))
    limit = None
    if share is not None and minutes is not None:
        # Rounded, because 0.4 of 10 minutes should be exactly 240 seconds.
        limit = round(share * minutes * 60, 6)
    mean, median, worked = pl.col("mean"), pl.col("median"), pl.col("working_time")
    below_mean = _below(mean, settings["mean_below"])
    below_median, below_relative = _below(median, median_below), _below(median, relative)
    short = pl.lit(False) if limit is None else (worked <= limit).fill_null(False)
    lowest = pl.min_horizontal(below_median, below_relative).fill_null(_number(median_below))
    # Cutoffs are missing unless the participant is below them.
    values = {
        "mean": round_beside(mean, _number(settings["mean_below"])), "median": round_beside(median, lowest),
        "mean_below": below_mean, "median_below": below_median, "relative": round_beside(below_relative, median),
        "relative_below": pl.when(below_relative.is_not_null()).then(_number(settings["relative_below"])),
        "worked": pl.when(short).then((worked / 60).round(2)), "share": pl.when(short).then(_number(share)),
        "expected": pl.when(short).then(_number(minutes)),
    }  # fmt: skip
    flagged = pl.any_horizontal(*(cut.is_not_null() for cut in (below_mean, below_median, below_relative)), short)
    cutoffs = [cutoff for cutoff in (median_below, relative) if cutoff is not None]
    message = pl.when(median.is_null()).then(pl.lit("speed.no_times")).otherwise(pl.lit("speed.times"))
    further = ("mean", "median", *(() if limit is None else ("working_time",)))
    return verdicts(times, median, _number(max(cutoffs, default=None)), flagged, message, values, *further)


def _number(value: float | None) -> pl.Expr:
    return pl.lit(value, dtype=pl.Float64)


def _below(value: pl.Expr, cutoff: float | None) -> pl.Expr:
    """The cutoff if the value is below it."""
    return pl.when(value < _number(cutoff)).then(_number(cutoff))


def _implied(settings: Given) -> dict[str, Any]:
    """No cutoffs in seconds if a study states one of another kind, because TOML has no null."""
    other = any(settings.get(key) is not None for key in ("relative_below", "share_of_expected"))
    return dict.fromkeys(("mean_below", "median_below")) if other else {}


def _impossible(draft: Draft, settings: SpeedSettings) -> Iterator[tuple[str, str]]:
    """The problem of a share of a duration that is not stated."""
    if (
        settings.share_of_expected is not None
        and settings.expected_minutes is None
        and draft.study.settings.recruitment.minutes is None
    ):
        yield "share_of_expected needs the minutes that the study is said to take.", "State [recruitment] minutes."


def _wording(settings: Given) -> list[str]:
    cutoffs = ("mean_below", "median_below", "relative_below", "share_of_expected")
    return [key for key in cutoffs if settings.get(key) is not None]


def _cites(settings: Given) -> tuple[str, ...]:
    seconds = any(settings.get(key) is not None for key in ("mean_below", "median_below"))
    return ("pieper", "haeussler2016") * seconds + ("macketanz2022",) * (settings.get("share_of_expected") is not None)


CRITERION = Criterion(
    name="speed",
    title="Speed",
    asks="who was too fast on the whole",
    settings=SpeedSettings,
    computed_by=speed,
    stage="clock",
    in_parts=True,
    shown_blind=True,
    from_study=lambda study: {"expected_minutes": study.settings.recruitment.minutes or round(study.minutes(), 1)},
    of_the_study=("expected_minutes",),
    implied=_implied,
    impossible=_impossible,
    wording=_wording,
    shares=("relative_below", "share_of_expected"),
    idle_without={"expected_minutes": "share_of_expected"},
    cites=_cites,
    alternatives=(
        Alternative("3 s", {"mean_below": 3.0, "median_below": 3.0}, "Häussler and Juzek", usual=True),
        Alternative(
            "40 % of the median",
            {"mean_below": None, "median_below": None, "relative_below": 0.4},
            "the share of Macketanz et al., relative to the others",
        ),
        left_out(usual=True),
    ),
)
