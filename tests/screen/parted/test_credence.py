"""Credence in parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import karat
from karat.messages import Message
from karat.screen import ScreenError, credence
from messages import raises
from screen.judged import crowd as judged_crowd
from screen.judged import guessers
from screen.parted.splitting import FIVE_FIRST, SPLITS, assert_same, crowd, whole


@pytest.mark.slow
@pytest.mark.parametrize("shares", FIVE_FIRST, ids=len)
def test_all_are_learned_from_where_they_are_few(shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(judged_crowd(karat.Ordinal(5)), shares, tmp_path)
    assert_same(credence(parted), credence(whole(parted.parts)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "scale",
    [
        karat.Ordinal(5),
        *(pytest.param(one, marks=pytest.mark.slow) for one in (karat.Choice(none=True), karat.Nominal("abc"))),
    ],
    ids=lambda scale: scale.kind,
)
def test_those_who_are_not_drawn_are_judged_by_what_was_learned(scale: Any, tmp_path: Path) -> None:
    judgments = judged_crowd(scale, people=70, items=30, spammers=9)
    parted = crowd(judgments, (0.1, 0.3, 0.2, 0.4), tmp_path)
    found = credence(parted, drawn=45)
    together = credence(whole(parted.parts))
    table, expected = found.scan().collect(), together.participants
    assert table.schema == expected.schema
    assert table["participant"].to_list() == expected["participant"].to_list()
    assert found.participants == 70
    gap = (table["attentive"] - expected["attentive"]).abs()
    assert float(np.mean(gap.to_numpy() < 0.2)) > 0.9
    out = set(guessers(judgments, 9))
    flagged = set(table.filter("flagged")["participant"].to_list())
    assert len(flagged & out) >= len(set(together.flagged) & out) - 3
    assert len(flagged - out) <= len(set(together.flagged) - out) + 2
    drawn = found.notes[-1]
    assert isinstance(drawn, Message)
    assert drawn.code == "credence.drawn"
    assert drawn.values["drawn"] in (45, 46)
    assert 0 < drawn.values["error"] < 10


@pytest.mark.slow
def test_the_split_makes_no_difference(tmp_path: Path) -> None:
    judgments = judged_crowd(karat.Ordinal(5), people=40)
    tables = [
        credence(crowd(judgments, shares, tmp_path / str(len(shares))), drawn=25).scan().collect() for shares in SPLITS
    ]
    assert_frame_equal(tables[0], tables[1], rel_tol=1e-6)
    assert_frame_equal(tables[0], tables[2], rel_tol=1e-6)


@pytest.mark.slow
def test_conditions_several_scales_and_unknown_stimuli(tmp_path: Path) -> None:
    rated = judged_crowd(karat.Ordinal(5), people=60)
    number = pl.col("participant").str.slice(1).cast(pl.Int64)
    frame = rated.frame.with_columns(
        question=pl.when(pl.col("item") < "i15").then(pl.lit("one")).otherwise(pl.lit("two")),
        order=pl.when((number + pl.col("trial")) % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b")),
        age=number % 5,
    )
    yes = pl.when(pl.col("response").cast(pl.Int64) > 2).then(pl.lit("1")).otherwise(pl.lit("0"))
    frame = frame.with_columns(response=pl.when(pl.col("question") == "two").then(yes).otherwise("response"))
    # Everybody has one stimulus of their own, which hardly anybody of those who are drawn has judged.
    own = pl.when(pl.col("trial") == 3).then(pl.col("participant")).otherwise("item")
    judgments = karat.Judgments(frame.with_columns(item=own), {"one": karat.Ordinal(5), "two": karat.Binary()})
    parted = crowd(judgments, (0.05, 0.45, 0.5), tmp_path)
    found = credence(parted, drawn=40)
    lost = found.notes[-1]
    assert isinstance(lost, Message)
    assert lost.code == "credence.left_out"
    assert lost.values["answers"] in (19, 20)
    table, expected = found.scan().collect(), credence(whole(parted.parts)).participants
    assert table.schema == expected.schema
    assert float(np.corrcoef(table["log_odds"], expected["log_odds"])[0, 1]) > 0.8


@pytest.mark.slow
def test_times_are_compared_with_those_of_drawn_people(tmp_path: Path) -> None:
    judgments = judged_crowd(karat.Ordinal(5), people=60)
    rushed = pl.when(pl.col("participant") > "p50").then(0.15 + 0.01 * pl.col("rt")).otherwise("rt")
    hasty = karat.Judgments(judgments.frame.with_columns(rt=rushed), karat.Ordinal(5))
    parted = crowd(hasty, (0.5, 0.5), tmp_path)
    table = credence(parted, drawn=45).scan().collect()
    expected = credence(whole(parted.parts)).participants
    assert float(np.corrcoef(table["times"], expected["times"])[0, 1]) > 0.9


@pytest.mark.slow
def test_numbers_are_only_looked_at_where_all_are_drawn(tmp_path: Path) -> None:
    parted = crowd(judged_crowd(karat.Magnitude()), (0.5, 0.5), tmp_path)
    assert_same(credence(parted), credence(whole(parted.parts)))
    with raises(ScreenError, "credence.numbers_in_parts"):
        credence(parted, drawn=10)
