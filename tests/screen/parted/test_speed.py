"""Speed in parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import karat
from karat import screen
from karat.screen import ScreenError
from messages import raises
from screen.judged import crowd as judged_crowd
from screen.parted.splitting import FIVE_FIRST, assert_same, crowd, whole

EXPECTED = {"share_of_expected": 0.4, "expected_minutes": 3.0, "mean_below": None, "median_below": None}


def some_untimed() -> karat.Judgments:
    """The last participants have no times; the platform noted working times for some of them."""
    judgments = judged_crowd(karat.Ordinal(5))
    names = judgments.participants["participant"].to_list()
    people = pl.DataFrame({"participant": names, "working_time": [60.0 if name > "p14" else None for name in names]})
    rt = pl.when(pl.col("participant") < "p12").then("rt")
    return karat.Judgments(judgments.frame.with_columns(rt=rt), judgments.scales, people)


@pytest.mark.few(2)
@pytest.mark.parametrize("shares", FIVE_FIRST, ids=len)
@pytest.mark.parametrize(
    "settings",
    [{"relative_below": 0.9}, EXPECTED, {"mean_below": 2.6}, {"mean_below": 2.5, "median_below": None}],
    ids=str,
)
def test_the_same_as_in_memory(settings: dict[str, Any], shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(some_untimed(), shares, tmp_path)
    together = screen.speed(whole(parted.parts), **settings)
    assert together.flagged
    assert_same(screen.speed(parted, **settings), together)


def test_a_quick_task_is_quick_over_all_parts(tmp_path: Path) -> None:
    parted = crowd(some_untimed(), (0.2, 0.8), tmp_path)
    together = screen.speed(whole(parted.parts))
    assert [note.code for note in together.notes] == ["speed.untimed", "speed.quick_mean", "speed.quick_median"]
    assert together.flagged == []
    assert_same(screen.speed(parted), together)


def test_working_times_alone_are_enough(tmp_path: Path) -> None:
    some = some_untimed()
    bare = karat.Judgments(some.frame.drop("rt"), some.scales, some.participants)
    parted = crowd(bare, (0.5, 0.5), tmp_path)
    assert_same(screen.speed(parted, **EXPECTED), screen.speed(bare, **EXPECTED))  # type: ignore[arg-type]
    with raises(ScreenError, "times.none"):
        screen.speed(parted)


def test_times_of_practice_are_none(tmp_path: Path) -> None:
    judgments = judged_crowd(karat.Ordinal(5))
    function = pl.when(pl.col("participant") > "p15").then(pl.lit("practice")).otherwise(pl.lit("test"))
    rt = pl.when(pl.col("participant") > "p15").then("rt")
    frame = judgments.frame.with_columns(function=function, rt=rt)
    with raises(ScreenError, "times.only_practice"):
        screen.speed(crowd(karat.Judgments(frame, judgments.scales), (0.5, 0.5), tmp_path))
