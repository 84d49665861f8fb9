"""How large a table of labels may be for its Spammer Index."""

from __future__ import annotations

from math import isqrt

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.messages import message_of
from karat.models.glrm import nominal
from karat.screen import ScreenError
from karat.screen.crowd import answers as crowd_answers
from karat.screen.crowd.answers import (
    LONG,
    Crowd,
    crowd,
    is_quick,
    labels_take,
    refuse_large,
    seconds_of,
    share_in_time,
)
from messages import raises


def labels(workers: int, tasks: int) -> Crowd:
    rows = pl.DataFrame({"_worker": range(workers)}).join(pl.DataFrame({"_stimulus": range(tasks)}), how="cross")
    return Crowd(rows.with_columns(_code=pl.int_range(pl.len()) % 3), "nominal", ("a", "b", "c"), ())


@given(st.integers(2, 10**6), st.integers(2, 10**6), st.integers(3, 8))
def test_sample_fits_in_time_and_is_hardly_too_small(workers: int, tasks: int, kinds: int) -> None:
    share = share_in_time(workers, tasks, kinds)
    assert 0 < share <= 1
    tiny = share * min(workers, tasks) <= 1
    assert tiny or seconds_of(share * workers, share * tasks, kinds) <= LONG
    if share < 1:
        larger = share / crowd_answers.STEP
        assert seconds_of(larger * workers, larger * tasks, kinds) > LONG


def test_workers_and_tasks_cost_the_same() -> None:
    assert seconds_of(20, 300, 4) == seconds_of(300, 20, 4)
    assert seconds_of(20, 300, 4) < seconds_of(20, 300, 5) < seconds_of(30, 300, 5)


def test_what_memory_cannot_hold_is_refused() -> None:
    most = isqrt(nominal.LARGEST // 4)
    rows = pl.DataFrame({"_worker": range(most + 1), "_stimulus": range(most + 1)}).with_columns(
        _code=pl.col("_worker") % 3
    )
    refuse_large(Crowd(rows[:most], "nominal", ("a", "b", "c"), ()), "deletion")
    with raises(ScreenError, "crowd.too_many_labels") as caught:
        refuse_large(Crowd(rows, "nominal", ("a", "b", "c"), ()), "deletion")
    values = {"criterion": "deletion", "participants": most + 1, "items": most + 1, "labels": 3}
    assert message_of(caught.value).values == values
    assert "karat convert" in str(caught.value)
    # Other models have no such table.
    refuse_large(crowd(karat.datasets.load("crowd"), "deletion"), "deletion")


def test_few_answers_take_less_time_than_a_table() -> None:
    assert seconds_of(200, 5_000, 4, 200 * 5_000) == seconds_of(200, 5_000, 4)
    assert seconds_of(200, 5_000, 4, 10_000) < seconds_of(200, 5_000, 4, 50_000) < seconds_of(200, 5_000, 4)
    assert share_in_time(200, 5_000, 4, answers=10_000) == 1 > share_in_time(200, 5_000, 4)


def test_how_long_labels_take() -> None:
    assert labels_take(labels(20, 15)) == seconds_of(20, 15, 3)
    assert is_quick("nominal", 300, 20, 15, 3)
    assert not is_quick("nominal", 300, 2000, 1500, 3)
    assert not is_quick("ordinal", 10**6, 20, 15, 5)
