"""Speed in parts: everybody's times are their own; only the median participant's median is that of all parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.screen.criteria.speed import (
    SECONDS,
    check_settings,
    has_clock,
    has_times,
    notes_on,
    relative_cutoff,
    times_of,
    verdicts,
)
from karat.screen.evidence import timed
from karat.screen.parted.crowd import InParts
from karat.screen.parted.evidence import PartedEvidence


@dataclass(frozen=True)
class _SpeedFacts:
    """What a part says of itself."""

    noted: bool
    clocked: bool
    timed: bool
    medians: NDArray[np.float64]


def speed_in_parts(
    crowd: InParts,
    mean_below: float | None = SECONDS,
    median_below: float | None = SECONDS,
    relative_below: float | None = None,
    share_of_expected: float | None = None,
    expected_minutes: float | None = None,
) -> PartedEvidence:
    """Mean and median response time of each participant, and the working time where a share of it is asked for."""
    settings = {
        "mean_below": mean_below, "median_below": median_below, "relative_below": relative_below,
        "share_of_expected": share_of_expected, "expected_minutes": expected_minutes,
    }  # fmt: skip
    check_settings(settings)
    asked = (share_of_expected is not None, relative_below is not None)
    seen = crowd.map(_gather, asked, name="speed")
    noted, clocked = any(one.noted for one in seen), any(one.clocked for one in seen)
    if (clocked or not noted) and not any(one.timed for one in seen):
        # One part says what all lack.
        timed(crowd.read(next((number for number, one in enumerate(seen) if one.clocked), 0)))
    relative = relative_cutoff(pl.Series(np.concatenate([one.medians for one in seen])), relative_below)
    evidence, silent = crowd.judge("speed", _judge, (noted, relative, settings), settings)
    return replace(evidence, notes=notes_on(sum(silent)))


def timed_rows(judgments: Judgments) -> pl.DataFrame | None:
    """The trials of a part with a time, practice left out; None where there are none."""
    if "rt" not in judgments.frame.columns:
        return None
    rows = judgments.frame.filter(pl.col("function") != "practice", pl.col("rt").is_not_null())
    return rows if rows.height else None


def _gather(judgments: Judgments, shared: tuple[bool, bool], number: int) -> _SpeedFacts:
    working_time, relative = shared
    rows = timed_rows(judgments)
    medians = np.empty(0)
    if relative and rows is not None:
        medians = rows.group_by("participant").agg(pl.col("rt").median())["rt"].to_numpy()
    return _SpeedFacts(has_clock(judgments, working_time), has_times(judgments), rows is not None, medians)


def _judge(
    judgments: Judgments, shared: tuple[bool, float | None, dict[str, Any]], number: int
) -> tuple[pl.DataFrame | None, int]:
    noted, relative, settings = shared
    if not judgments.frame.height:
        return None, 0
    times = times_of(judgments, timed_rows(judgments), noted)
    return verdicts(times, relative, settings), times["median"].null_count()
