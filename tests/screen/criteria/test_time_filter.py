"""The time filter: both rules, by difficulty, and where a limit forbids it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from karat.messages import Message
from karat.screen.criteria.time_filter import time_filter
from karat.screen.evidence import ScreenError
from messages import raises, reasons


def judgments(times: dict[str, list[float | None]], **columns: Any) -> karat.Judgments:
    rows = [
        {"participant": name, "item": f"i{n}", "response": "1", "trial": n, "rt": value}
        for name, values in times.items()
        for n, value in enumerate(values, start=1)
    ]
    return karat.Judgments(pl.DataFrame(rows).with_columns(**columns), karat.Binary())


def test_mean_of_all_times_and_one_standard_deviation_of_means() -> None:
    times: dict[str, list[float | None]] = {"a": [1, 1, 1, 1], "b": [4, 6], "c": [9, None], "d": [5.5, 6.5]}
    table = judgments(times)
    evidence = time_filter(table, "mean")
    assert evidence.participants["threshold"][0] == pytest.approx((4 + 10 + 9 + 12) / 9)
    assert evidence.flagged == ["a"]
    assert evidence.notes[0].code == "time_filter.half"
    means = np.array([1, 5, 9, 6])
    strict = time_filter(table)
    assert strict.participants["threshold"][0] == pytest.approx(means.mean() - means.std(ddof=1))
    assert strict.flagged == ["a"]
    assert strict.notes[0].code == "time_filter.sixth"
    assert reasons(strict)["a"] == Message("time_filter.below_sd", {"mean": 1.0, "cutoff": 1.95})


def test_who_has_no_times_is_reported() -> None:
    evidence = time_filter(judgments({"a": [1, 2], "b": [None, None]}))
    assert reasons(evidence)["b"] == Message("time_filter.no_times")
    assert not evidence.participants["flagged"][1]
    assert evidence.participants["flagged"].null_count() == 0


def test_by_difficulty_somebody_must_be_below_at_every_level() -> None:
    """b is quick where it is easy and slow where it is hard; a is quick everywhere."""
    times: dict[str, list[float | None]] = {"a": [1, 1, 2, 2], "b": [1, 1, 20, 20]}
    times |= {f"p{n}": [4 + n / 10, 4, 8, 8 + n / 10] for n in range(6)}
    hard = pl.when(pl.col("trial") > 2).then(pl.lit("hard")).otherwise(pl.lit("easy"))
    table = judgments(times, difficulty=hard)
    evidence = time_filter(table, "mean", by_difficulty="difficulty")
    found = {row["participant"]: row for row in evidence.participants.to_dicts()}
    assert found["a"]["flagged"]
    assert not found["b"]["flagged"]
    assert (reasons(evidence)["a"].code, reasons(evidence)["b"].code) == (
        "time_filter.below_mean", "time_filter.not_below_mean",
    )  # fmt: skip
    assert reasons(evidence)["b"].values["level"] == "hard"
    with raises(ScreenError, "unknown.column", close="difficulty"):
        time_filter(table, by_difficulty="dificulty")


def test_a_time_limit_is_refused_whether_reported_or_seen() -> None:
    random = np.random.default_rng(1)
    free = {f"p{n}": np.exp(random.normal(1, 0.6, 50)).tolist() for n in range(20)}
    limited = {name: np.minimum(values, 5.0).tolist() for name, values in free.items()}
    assert time_filter(judgments(free)).flagged
    with raises(ScreenError, "time_limit.stated"):
        time_filter(judgments(free), time_limit=5)
    with raises(ScreenError, "time_limit.suspected"):
        time_filter(judgments(limited))
    assert time_filter(judgments(limited), time_limit=0).participants.height == 20
    with raises(ScreenError, "setting.refused", setting="time_limit"):
        time_filter(judgments(free), time_limit=-1)


def test_settings_and_missing_times_are_refused() -> None:
    with raises(ScreenError, "setting.refused", setting="rule"):
        time_filter(judgments({"a": [1.0]}), "median")  # type: ignore[arg-type]
    with raises(ScreenError, "times.none"):
        time_filter(judgments({"a": [None]}, rt=pl.lit(None, dtype=pl.Float64)))


@pytest.mark.parametrize("rule", ["mean", "mean-sd"])
@pytest.mark.parametrize("time", [1.1, 0.7, 2.3, 0.3])
def test_times_that_are_all_the_same_flag_nobody(rule: Any, time: float) -> None:
    # Means of equal times differ in their last digit by how many they are of.
    for people in (3, 5, 7, 11):
        table = judgments({f"p{n}": [time] * (5 + n) for n in range(people)})
        assert time_filter(table, rule, time_limit=0).flagged == []
