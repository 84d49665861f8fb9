"""Straightlining, controls and attention in parts."""

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
from screen.judged import interleaved
from screen.parted.splitting import FIVE_FIRST, assert_same, crowd, whole

SCALES = [karat.Binary(), karat.Ordinal(5), karat.Choice(), karat.Nominal("abc"), karat.Magnitude()]


@pytest.mark.few(1)
@pytest.mark.parametrize("shares", FIVE_FIRST, ids=len)
@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.kind)
def test_straightlining(scale: Any, shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(judged_crowd(scale), shares, tmp_path)
    for how in ("own", "even"):
        found = screen.straightlining(parted, alpha=0.05, shares=how)
        assert_same(found, screen.straightlining(whole(parted.parts), alpha=0.05, shares=how))  # type: ignore[arg-type]
    assert found.flagged or scale.kind != "binary"


def several_scales() -> karat.Judgments:
    """Two questions on scales of their own, of which the last participants answered one only."""
    rated, sized = judged_crowd(karat.Ordinal(7), people=12), judged_crowd(karat.Magnitude(), people=9, seed=2)
    frame = pl.concat(
        [rated.frame.with_columns(question=pl.lit("rated")), sized.frame.with_columns(question=pl.lit("sized"))]
    ).sort("participant", maintain_order=True)
    return karat.Judgments(frame, {"rated": karat.Ordinal(7), "sized": karat.Magnitude()})


@pytest.mark.parametrize("shares", [*FIVE_FIRST, (0.8, 0.2)], ids=len)
def test_straightlining_on_several_scales(shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(several_scales(), shares, tmp_path)
    assert_same(screen.straightlining(parted, alpha=0.2), screen.straightlining(whole(parted.parts), alpha=0.2))


@pytest.mark.parametrize(
    "scale", [karat.Binary(("no", "yes")), karat.Nominal(["no", "yes"])], ids=["binary", "nominal"]
)
def test_periods_of_those_who_agree(scale: Any, tmp_path: Path) -> None:
    parted = crowd(karat.Judgments(interleaved(), scale), (0.3, 0.3, 0.4), tmp_path)
    found = screen.straightlining(parted)
    assert found.flagged == 2
    assert_same(found, screen.straightlining(whole(parted.parts)))


def test_straightlining_without_positions_or_answers(tmp_path: Path) -> None:
    judgments = judged_crowd(karat.Ordinal(5))
    untold = karat.Judgments(judgments.frame.drop("trial"), karat.Ordinal(5))
    with raises(ScreenError, "order.needed"):
        screen.straightlining(crowd(untold, (0.3, 0.7), tmp_path))
    (tmp_path / "silent").mkdir()
    silent = karat.Judgments(judgments.frame.with_columns(response=pl.lit(None, dtype=pl.String)), karat.Ordinal(5))
    with raises(ScreenError, "answering.nobody"):
        screen.straightlining(crowd(silent, (0.5, 0.5), tmp_path / "silent"))


ACCOUNTS: list[dict[str, Any]] = [
    {"account": "positional"}, {"account": "positional", "slips": 1}, {"account": "positional", "published": True},
    {"account": "positional", "neutral_at_most": 0.1}, {"account": "relational"}, {"account": "extended"},
    {"account": "strict"}, {"account": "positional", "alpha": 1e-9},
]  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("shares", FIVE_FIRST, ids=len)
@pytest.mark.parametrize("settings", ACCOUNTS, ids=str)
def test_controls(settings: dict[str, Any], shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(uneven(karat.datasets.load("likert")), shares, tmp_path)
    assert_same(screen.controls(parted, **settings), screen.controls(whole(parted.parts), **settings))


def uneven(judgments: karat.Judgments) -> karat.Judgments:
    """Controls of which some lack status or key in the records of some participants, and some have no answer."""
    frame = judgments.frame
    late = pl.col("participant") > "p30"
    control = pl.col("function").is_in(["control", "attention"])
    frame = frame.with_columns(
        status=pl.when(late & control & (pl.col("trial") % 3 == 0)).then(None).otherwise("status"),
        expected=pl.when(pl.col("participant") == "p47").then(None).otherwise("expected"),
        response=pl.when(control & (pl.col("participant") < "p05") & (pl.col("trial") % 7 == 0))
        .then(None)
        .otherwise("response"),
    )
    # Somebody saw no control at all, somebody only the ungrammatical ones.
    frame = frame.filter(~((pl.col("participant") == "p40") & control))
    frame = frame.filter(
        ~((pl.col("participant") == "p41") & control & (pl.col("status") == "grammatical").fill_null(True))
    )
    return karat.Judgments(frame, judgments.scales)


@pytest.mark.few(1)
@pytest.mark.parametrize("shares", FIVE_FIRST, ids=len)
@pytest.mark.parametrize("settings", [{}, {"slips": 0}, {"alpha": 0.2}], ids=str)
def test_attention(settings: dict[str, Any], shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(uneven(karat.datasets.load("likert")), shares, tmp_path)
    assert_same(screen.attention(parted, **settings), screen.attention(whole(parted.parts), **settings))


def pairs(scale: Any) -> karat.Judgments:
    """Attention pairs: the two sentences of each rated; some participants saw one sentence only."""
    base = judged_crowd(scale, people=14, items=24)
    number = pl.col("item").str.slice(1).cast(pl.Int64)
    frame = base.frame.with_columns(
        function=pl.when(number < 16).then(pl.lit("attention")).otherwise(pl.lit("test")),
        pair=pl.when(number < 14).then((number // 2).cast(pl.String)),
        status=pl.when(number % 2 == 0).then(pl.lit("grammatical")).otherwise(pl.lit("ungrammatical")),
        response=pl.when((pl.col("participant") == "p03") & (number == 2)).then(None).otherwise("response"),
    )
    alone = (pl.col("participant") >= "p10") & (pl.col("status") == "grammatical") & (pl.col("function") == "attention")
    return karat.Judgments(frame.filter(~alone), scale)


@pytest.mark.few(1)
@pytest.mark.parametrize("shares", [*FIVE_FIRST, (0.7, 0.3)], ids=len)
@pytest.mark.parametrize("scale", [karat.Ordinal(5), karat.Magnitude()], ids=lambda scale: scale.kind)
def test_pairs(scale: Any, shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(pairs(scale), shares, tmp_path)
    for slips in (None, 2, 9):
        settings = {"account": "pairwise", "slips": slips}
        assert_same(screen.attention(parted, **settings), screen.attention(whole(parted.parts), **settings))


@pytest.mark.parametrize("shares", FIVE_FIRST, ids=len)
def test_yes_or_no_with_sensitivity(shares: Sequence[float], tmp_path: Path) -> None:
    base = judged_crowd(karat.Binary())
    number = pl.col("item").str.slice(1).cast(pl.Int64)
    frame = base.frame.with_columns(
        function=pl.when(number < 12).then(pl.lit("control")).otherwise(pl.lit("test")),
        expected=(number % 2).cast(pl.String),
    )
    # Of some only trials with one right answer are there.
    frame = frame.filter((pl.col("participant") < "p17") | (pl.col("expected") == "1"))
    parted = crowd(karat.Judgments(frame, karat.Binary()), shares, tmp_path)
    together = screen.controls(whole(parted.parts))
    assert Message("sensitivity.undefined", {"undefined": 3, "participants": 20}) in together.notes
    assert_same(screen.controls(parted), together)


def test_what_cannot_be_said_of_the_whole_is_said_in_parts_too(tmp_path: Path) -> None:
    base = judged_crowd(karat.Ordinal(5))
    cases: list[tuple[karat.Judgments, Any, dict[str, Any]]] = [
        (base, screen.controls, {}),
        (karat.Judgments(base.frame.with_columns(function=pl.lit("control")), karat.Ordinal(5)), screen.controls, {}),
        (karat.Judgments(base.frame.with_columns(function=pl.lit("attention"), pair=pl.lit("1")), karat.Ordinal(5)),
         screen.attention, {"account": "pairwise"}),
        (pairs_apart(), screen.attention, {"account": "pairwise"}),
        (karat.datasets.load("likert"), screen.controls, {"account": "none"}),
    ]  # fmt: skip
    for number, (judgments, criterion, settings) in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises(ScreenError) as said:
            criterion(judgments, **settings)
        with pytest.raises(ScreenError) as result:
            criterion(crowd(judgments, (0.5, 0.5), folder), **settings)
        assert str(result.value) == str(said.value)


def pairs_apart() -> karat.Judgments:
    """Pairs of which nobody saw both sentences, though both were seen."""
    frame = pairs(karat.Ordinal(5)).frame
    good = pl.col("status") == "grammatical"
    return karat.Judgments(frame.filter((pl.col("participant") < "p05") == good), karat.Ordinal(5))


def test_means_that_nobody_has(tmp_path: Path) -> None:
    rows = [
        {"participant": f"p{n}", "item": f"i{k}", "response": "3", "function": "control",
         "status": "grammatical" if n % 2 else "ungrammatical", "expected": "3-5" if n % 2 else "1-2"}
        for n in range(6) for k in range(9)
    ]  # fmt: skip
    parted = crowd(karat.Judgments(pl.DataFrame(rows), karat.Ordinal(5)), (0.5, 0.5), tmp_path)
    found = screen.controls(parted, account="relational")
    assert_same(found, screen.controls(whole(parted.parts), account="relational"))
    assert found.notes[0].code == "passing.nobody_judged"
