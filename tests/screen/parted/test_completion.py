"""Completion in parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat import screen
from karat.screen import ScreenError
from karat.screen.parted.completion import completion_in_parts
from screen.judged import crowd as judged_crowd
from screen.parted.splitting import SPLITS, assert_same, crowd, whole


def with_doubles(judgments: karat.Judgments) -> karat.Judgments:
    """Two records come again under other names at the end, one of them cut short, and two names are one person."""
    frame = judgments.frame
    again = frame.filter(pl.col("participant") == "p02").with_columns(participant=pl.lit("z1"))
    shorter = frame.filter(pl.col("participant") == "p05", pl.col("trial") <= 15).with_columns(participant=pl.lit("z2"))
    started = ["2026-05-03T12:00:00Z"] * 10 + ["2026-05-02T12:00:00Z"] * 12
    names = [*judgments.participants["participant"].to_list(), "z1", "z2", "silent"]
    people = pl.DataFrame({
        "participant": names, "started": [*started, None],
        "person": ["same" if name in ("p00", "p19", "silent") else None if name == "p07" else name for name in names],
    })  # fmt: skip
    return karat.Judgments(pl.concat([frame, again, shorter]), judgments.scales, people)


@pytest.mark.parametrize("shares", [*SPLITS, (0.3,) + (0.1,) * 7], ids=len)
@pytest.mark.parametrize(
    "settings", [{}, {"trials": 40}, {"trials": 25, "at_least": 0.5}, {"person": "person"}], ids=str
)
def test_the_same_as_in_memory(settings: dict[str, Any], shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(with_doubles(judged_crowd(karat.Ordinal(5))), shares, tmp_path)
    together = screen.completion(whole(parted.parts), **settings)
    assert {"p00", "p02", "p05", "silent"} <= set(together.flagged)
    assert_same(completion_in_parts(parted, **settings), together)


@pytest.mark.parametrize("name", ["likert", "crowd"])
def test_datasets(name: str, tmp_path: Path) -> None:
    parted = crowd(karat.datasets.load(name), (0.2, 0.5, 0.3), tmp_path)
    assert_same(completion_in_parts(parted), screen.completion(whole(parted.parts)))


def test_without_times_or_positions(tmp_path: Path) -> None:
    judgments = judged_crowd(karat.Ordinal(5))
    bare = karat.Judgments(judgments.frame.drop("rt", "trial"), karat.Ordinal(5))
    parted = crowd(bare, (0.5, 0.5), tmp_path)
    assert_same(completion_in_parts(parted), screen.completion(whole(parted.parts)))


def test_what_cannot_be_done(tmp_path: Path) -> None:
    parted = crowd(with_doubles(judged_crowd(karat.Ordinal(5))), (0.5, 0.5), tmp_path)
    with pytest.raises(ScreenError, match="no column persn; is person meant"):
        completion_in_parts(parted, person="persn")
    with pytest.raises(ScreenError, match="at_least"):
        completion_in_parts(parted, at_least=2)


@settings(max_examples=15)
@given(cuts=st.lists(st.floats(0.01, 1), min_size=1, max_size=6), at_least=st.sampled_from([0.3, 0.9, 1.0]))
def test_however_it_is_split(cuts: list[float], at_least: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    shares = [cut / sum(cuts) for cut in cuts]
    parted = crowd(with_doubles(judged_crowd(karat.Binary(), items=12)), shares, tmp_path_factory.mktemp("split"))
    assert_same(completion_in_parts(parted, at_least), screen.completion(whole(parted.parts), at_least))
