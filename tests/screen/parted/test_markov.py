"""The Markov criterion in parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import karat
from karat import screen
from karat.messages import Message
from karat.screen import ScreenError
from messages import raises
from screen.judged import crowd as judged_crowd
from screen.parted.splitting import FIVE_FIRST, assert_same, crowd, whole
from screen.parted.test_alone import several_scales

QUICK: dict[str, Any] = {"simulations": 300}


@pytest.mark.few(2)
@pytest.mark.parametrize("shares", FIVE_FIRST, ids=len)
@pytest.mark.parametrize("scale", [karat.Binary(), karat.Ordinal(5), karat.Choice()], ids=lambda scale: scale.kind)
def test_the_same_as_in_memory(scale: Any, shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(judged_crowd(scale, people=30), shares, tmp_path)
    assert_same(screen.markov(parted, **QUICK), screen.markov(whole(parted.parts), **QUICK))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "settings", [{"cutoffs": "published"}, {"strategy": "average"}, {"strategy": "minimum"}], ids=str
)
def test_cutoffs_and_strategies(settings: dict[str, Any], tmp_path: Path) -> None:
    parted = crowd(karat.datasets.load("crowd"), (0.2, 0.5, 0.3), tmp_path)
    together = screen.markov(whole(parted.parts), **QUICK, **settings)
    assert together.flagged
    assert_same(screen.markov(parted, **QUICK, **settings), together)


def test_members_are_drawn_as_in_memory(tmp_path: Path) -> None:
    # More participants than simulations, and numbers of answers that differ: some are drawn in each group.
    judgments = judged_crowd(karat.Binary(), people=120, items=30)
    late = pl.col("participant") > "p50"
    frame = judgments.frame.filter(~late | (pl.col("trial") <= 20)).filter(
        (pl.col("participant") != "p03") | (pl.col("trial") < 5)
    )
    parted = crowd(karat.Judgments(frame, karat.Binary()), (0.2, 0.3, 0.1, 0.4), tmp_path)
    together = screen.markov(whole(parted.parts), simulations=40)
    assert len(together.simulated[0]) == 2
    assert_same(screen.markov(parted, simulations=40), together)


@pytest.mark.parametrize("shares", [*FIVE_FIRST, (0.8, 0.2)], ids=len)
def test_scales_that_cannot_be_looked_at(shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(several_scales(), shares, tmp_path)
    together = screen.markov(whole(parted.parts), **QUICK)
    left_out = Message("markov.left_out", {"scales": [Message("markov.scale_numbers", {"scale": "magnitude"})]})
    assert left_out in (together.notes[-2], together.notes[0])
    assert_same(screen.markov(parted, **QUICK), together)


def with_columns() -> karat.Judgments:
    """Columns of each kind: a condition, one about people, one that follows from answers, and a measurement."""
    judgments = judged_crowd(karat.Binary(), people=24)
    person = pl.col("participant").str.slice(1).cast(pl.Int64)
    frame = judgments.frame.with_columns(
        order=pl.when((person + pl.col("item").str.slice(1).cast(pl.Int64)) % 2 == 0).then(pl.lit("a")).otherwise(
            pl.lit("b")
        ),
        age=person % 7 + 20,
        correct=pl.col("response") == pl.when(pl.col("item") < "i15").then(pl.lit("1")).otherwise(pl.lit("0")),
        clicks=person * 100 + pl.col("trial"),
        empty=pl.lit(None, dtype=pl.String),
    )  # fmt: skip
    return karat.Judgments(frame, karat.Binary())


@pytest.mark.parametrize("shares", [*FIVE_FIRST, pytest.param((0.04,) * 25, marks=pytest.mark.slow)], ids=len)
def test_conditions_are_those_of_all_parts(shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(with_columns(), shares, tmp_path)
    together = screen.markov(whole(parted.parts), **QUICK)
    refused = [name for note in together.notes for name in note.values.get("names", ())]
    assert {"age", "correct", "clicks"} <= set(refused)
    assert_same(screen.markov(parted, **QUICK), together)


def test_what_cannot_be_done(tmp_path: Path) -> None:
    few = judged_crowd(karat.Ordinal(5), items=8)
    with raises(ScreenError, "markov.no_sequences"):
        screen.markov(crowd(few, (0.5, 0.5), tmp_path))
    with raises(ScreenError, "setting.refused", setting="cutoffs"):
        screen.markov(crowd(few, (0.5, 0.5), tmp_path / "other"), cutoffs="none")  # type: ignore[arg-type]
