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
from karat.messages import Message
from karat.screen import ScreenError
from karat.screen.criteria.completion import length_of
from messages import raises, reasons
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


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "shares",
    [SPLITS[2], *(pytest.param(one, marks=pytest.mark.slow) for one in (*SPLITS[:2], (0.3,) + (0.1,) * 7))],
    ids=len,
)
@pytest.mark.parametrize(
    "settings", [{}, {"trials": 40}, {"trials": 25, "at_least": 0.5}, {"person": "person"}], ids=str
)
def test_the_same_as_in_memory(settings: dict[str, Any], shares: Sequence[float], tmp_path: Path) -> None:
    parted = crowd(with_doubles(judged_crowd(karat.Ordinal(5))), shares, tmp_path)
    together = screen.completion(whole(parted.parts), **settings)
    assert {"p00", "p02", "p05", "silent"} <= set(together.flagged)
    assert_same(screen.completion(parted, **settings), together)


@pytest.mark.parametrize("name", ["likert", "crowd"])
def test_datasets(name: str, tmp_path: Path) -> None:
    parted = crowd(karat.datasets.load(name), (0.2, 0.5, 0.3), tmp_path)
    assert_same(screen.completion(parted), screen.completion(whole(parted.parts)))


def test_without_times_or_positions(tmp_path: Path) -> None:
    judgments = judged_crowd(karat.Ordinal(5))
    bare = karat.Judgments(judgments.frame.drop("rt", "trial"), karat.Ordinal(5))
    parted = crowd(bare, (0.5, 0.5), tmp_path)
    assert_same(screen.completion(parted), screen.completion(whole(parted.parts)))


def test_what_cannot_be_done(tmp_path: Path) -> None:
    parted = crowd(with_doubles(judged_crowd(karat.Ordinal(5))), (0.5, 0.5), tmp_path)
    with raises(ScreenError, "participants.no_column"):
        screen.completion(parted, person="persn")
    with raises(ScreenError, "setting.refused", setting="at_least"):
        screen.completion(parted, at_least=2)


@pytest.mark.slow
@settings(max_examples=6)
@given(cuts=st.lists(st.floats(0.01, 1), min_size=1, max_size=6), at_least=st.sampled_from([0.3, 0.9, 1.0]))
def test_however_it_is_split(cuts: list[float], at_least: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    shares = [cut / sum(cuts) for cut in cuts]
    parted = crowd(with_doubles(judged_crowd(karat.Binary(), items=12)), shares, tmp_path_factory.mktemp("split"))
    assert_same(screen.completion(parted, at_least), screen.completion(whole(parted.parts), at_least))


def test_a_crowd_in_which_everybody_took_as_many_as_they_liked(tmp_path: Path) -> None:
    counts = {f"w{number:02}": number for number in (0, 3, 12, 13, 14, 15, 16, 20)}
    rows = [(who, f"t{task}", "2") for who, number in counts.items() for task in range(number)]
    frame = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    people = pl.DataFrame({"participant": list(counts)})
    judgments = karat.Judgments(frame, karat.Ordinal(3), people)
    together = screen.completion(judgments)
    assert together.flagged == ["w00"]
    assert together.settings["trials"] is None
    assert together.notes[0] == Message("completion.length_unknown", {"least": 3, "most": 20})
    assert reasons(together)["w12"] == Message("completion.answered_of_unknown", {"answered": 12})
    parted = crowd(judgments, (0.5, 0.5), tmp_path)
    assert_same(screen.completion(parted), screen.completion(whole(parted.parts)))
    # A stated length is taken at its word.
    assert len(screen.completion(judgments, trials=20).flagged) == 7


@pytest.mark.parametrize("tasks", ["a" * 6 + "bcd", "a" * 8 + "bcdef", "a" * 10 + "bcdefg"])
def test_annotators_with_unequal_shares_are_not_incomplete(tasks: str, tmp_path: Path) -> None:
    """Models and some annotators judged all items, the others what was left to them."""
    counts = {f"{place:02}": 60 - 5 * (ord(letter) - ord("a")) for place, letter in enumerate(tasks)}
    rows = [(who, f"t{task}", "2") for who, number in counts.items() for task in range(number)]
    frame = pl.DataFrame(rows, schema=["participant", "item", "response"], orient="row")
    judgments = karat.Judgments(frame, karat.Ordinal(3))
    assert screen.completion(judgments).flagged == []
    parted = crowd(judgments, (0.5, 0.5), tmp_path)
    assert_same(screen.completion(parted), screen.completion(whole(parted.parts)))


def test_shorter_lists_in_parts(tmp_path: Path) -> None:
    counts = {f"p{place:02}": 60 if place < 25 else 40 if place < 37 else 17 for place in range(39)}
    rows = [(who, f"t{task}", "2", task + 1) for who, number in counts.items() for task in range(number)]
    frame = pl.DataFrame(rows, schema=["participant", "item", "response", "trial"], orient="row")
    parted = crowd(karat.Judgments(frame, karat.Ordinal(3)), (0.3, 0.3, 0.4), tmp_path)
    together = screen.completion(whole(parted.parts))
    assert together.flagged == ["p37", "p38"]
    assert_same(screen.completion(parted), together)


@given(st.lists(st.integers(90, 100), min_size=1, max_size=40))
def test_the_length_is_known_where_many_have_nearly_all_of_it(answered: list[int]) -> None:
    longest = max(answered)
    nearly = sum(number >= 0.98 * longest for number in answered)
    known = nearly == len(answered) or nearly >= max(10, len(answered) / 2) or nearly >= max(4, len(answered) * 3 / 4)
    expected = longest if known else None
    assert length_of(pl.Series(answered), None) == expected
    assert length_of(pl.Series([*answered, 0, 0, 0]), None) == expected
    assert length_of(pl.Series(answered), 7) == 7
