"""Inconsistency in parts."""

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

SCALES = [karat.Binary(), karat.Ordinal(5), karat.Choice(), karat.Nominal("abc"), karat.Magnitude()]


def repeated(scale: Any, seed: int = 1) -> karat.Judgments:
    """Items come again, but not for the last five participants."""
    judgments = judged_crowd(scale, seed=seed)
    item = "i" + (pl.col("item").str.slice(1).cast(pl.Int64) % 10).cast(pl.String)
    item = pl.when(pl.col("participant") < "p15").then(item).otherwise("item")
    frame = judgments.frame.with_columns(item=item)
    if "left" in frame.columns:
        # The sides show what the item has, in the order in which they were shown.
        sides = {name: pl.col(name).str.slice(0, 1) + pl.col("item").str.slice(1) for name in ("left", "right")}
        frame = frame.with_columns(**sides)
    return karat.Judgments(frame, scale)


@pytest.mark.few(2)
@pytest.mark.parametrize("shares", FIVE_FIRST, ids=len)
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.kind)
def test_the_same_as_in_memory(scale: Any, shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(repeated(scale), shares, tmp_path)
    together = screen.inconsistency(whole(parted.parts), upper=0.5)
    assert together.flagged or together.settings["mad"] == 0
    assert_same(screen.inconsistency(parted, upper=0.5), together)
    assert_same(screen.inconsistency(parted), screen.inconsistency(whole(parted.parts)))


@pytest.mark.parametrize("shares", FIVE_FIRST, ids=len)
def test_several_scales(shares: Sequence[float], tmp_path: Path) -> None:
    scales = {"rated": karat.Ordinal(7), "sized": karat.Magnitude()}
    frames = [repeated(scale, 3).frame.with_columns(question=pl.lit(name)) for name, scale in scales.items()]
    frame = pl.concat(frames).sort("participant", maintain_order=True)
    frame = frame.filter((pl.col("question") == "rated") | (pl.col("participant") > "p08"))
    parted = crowd(karat.Judgments(frame, scales), shares, tmp_path)
    assert_same(screen.inconsistency(parted), screen.inconsistency(whole(parted.parts)))


def test_nothing_came_again(tmp_path: Path) -> None:
    with raises(ScreenError, "inconsistency.no_repeats"):
        screen.inconsistency(crowd(judged_crowd(karat.Ordinal(5)), (0.5, 0.5), tmp_path))
