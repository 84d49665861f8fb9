"""Risk levels: three dimensions, and what is missing for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from karat.messages import Message
from karat.screen.criteria.risk import risk, risk_levels, typical_run
from karat.screen.evidence import ScreenError
from messages import codes, raises
from screen.judged import message

CROWD = karat.datasets.load("crowd")


def crowd(seed: int = 1) -> pl.DataFrame:
    """30 people, 60 tasks; p0 is quick, always answers 1 and so is often wrong."""
    random = np.random.default_rng(seed)
    truth = random.permutation(np.arange(60) % 2)
    answers = np.where(random.random((30, 60)) < 0.9, truth, 1 - truth)
    answers[0] = 1
    times = np.exp(random.normal(1.2, 0.2, (30, 60)))
    times[0] = 0.5
    return pl.DataFrame({
        "participant": np.repeat([f"p{n}" for n in range(30)], 60), "item": [f"i{n}" for n in range(60)] * 30,
        "response": answers.ravel(), "trial": list(range(1, 61)) * 30, "rt": times.ravel(),
        "expected": np.tile(truth, 30),
    })  # fmt: skip


def levels(frame: pl.DataFrame, flagged: list[str], **settings: Any) -> dict[str, dict[str, Any]]:
    found = risk_levels(karat.Judgments(frame, karat.Binary()), flagged, **settings)
    return {row["participant"]: row for row in found.participants.to_dicts()}


def test_scores_add_up_and_only_high_risk_is_flagged() -> None:
    found = levels(crowd(), ["p0", "p1"])
    assert (found["p0"]["pattern"], found["p0"]["time"], found["p0"]["accuracy"]) == (1, 1, 1)
    assert found["p0"]["level"] == "high"
    assert found["p0"]["flagged"]
    low = "far below the mean"
    high = {"level": "risk high", "score": 3.0, "run": 60, "time": low, "accuracy": low}
    assert message(found["p0"]) == ("risk.accuracy", high)
    assert found["p1"]["pattern"] == 0.5
    assert not found["p1"]["flagged"]
    assert found["p2"]["level"] is None
    assert found["p2"]["score"] is None
    assert message(found["p2"]) == ("risk.not_flagged", {})


def test_every_score_is_the_one_of_the_paper() -> None:
    frame = crowd()
    everyone = [f"p{n}" for n in range(30)]
    found = levels(frame, everyone)
    means = frame.group_by("participant").agg(
        time=pl.col("rt").mean(), right=(pl.col("response") == pl.col("expected")).mean()
    )
    for column, score, middle in (("time", "time", frame["rt"].mean()), ("right", "accuracy", means["right"].mean())):
        spread = means[column].std()
        assert isinstance(middle, float)
        assert isinstance(spread, float)
        for name, value in means.select("participant", column).iter_rows():
            expected = 1.0 if value < middle - spread else 0.5 if value < middle else 0.0
            assert found[name][score] == expected
    for row in found.values():
        assert row["score"] == row["pattern"] + row["time"] + row["accuracy"]
        assert row["level"] == (
            "high" if row["score"] >= 2.5 else "moderate" if row["score"] >= 1.5 else "undetermined"
        )


def test_majority_counts_without_right_answers() -> None:
    frame = crowd().drop("expected")
    evidence = risk_levels(karat.Judgments(frame, karat.Binary()), ["p0"])
    assert codes(evidence.notes)[0] == "risk.no_right_answers"
    assert evidence.participants["message"][0] == "risk.agreement"
    assert evidence.participants["values"][0]["run"] == 60
    assert evidence.participants["accuracy"][0] == 1
    majority = frame.group_by("item").agg((pl.col("response").mean() > 0.5).cast(pl.Int64).alias("most"))
    own = frame.filter(pl.col("participant") == "p0").join(majority, on="item")
    assert evidence.participants["share_right"][0] == pytest.approx((own["response"] == own["most"]).mean())


def test_a_doubtful_key_does_not_make_people_inaccurate() -> None:
    frame = crowd()
    turned = frame.with_columns(
        expected=pl.when(pl.col("item").is_in(["i1", "i2"])).then(1 - pl.col("expected")).otherwise("expected"),
        response=pl.when(pl.col("item").is_in(["i1", "i2"])).then(pl.col("expected")).otherwise("response"),
    )
    evidence = risk_levels(karat.Judgments(turned, karat.Binary()), ["p0"])
    assert Message("gold.doubtful", {"n": 2, "items": ["i1", "i2"], "more": None}) in evidence.notes
    assert Message("gold.left_out", {"n": 2}) in evidence.notes
    counted = risk_levels(karat.Judgments(turned, karat.Binary()), ["p0"], doubtful="counted")
    assert (counted.participants["share_right"] < evidence.participants["share_right"]).all()
    with raises(ScreenError, "setting.refused", setting="doubtful"):
        risk_levels(karat.Judgments(turned, karat.Binary()), [], doubtful="dropped")  # type: ignore[arg-type]


def test_no_accuracy_without_keys_or_majority() -> None:
    frame = crowd().drop("expected").with_columns(item=pl.format("{}-{}", "participant", "item"))
    with raises(ScreenError, "risk.no_majority"):
        levels(frame, ["p0"])


def test_times_are_needed_and_a_limit_is_refused() -> None:
    frame = crowd()
    with raises(ScreenError, "times.none"):
        levels(frame.drop("rt"), ["p0"])
    with raises(ScreenError, "time_limit.stated"):
        levels(frame, ["p0"], time_limit=10)


def test_long_runs_grow_with_answers_and_shrink_with_kinds() -> None:
    assert typical_run(77, 2) == 13
    assert typical_run(770, 2) > typical_run(77, 2) > typical_run(77, 3) > typical_run(77, 7)


def test_of_the_bundled_crowd_those_with_a_pattern_have_levels() -> None:
    evidence = risk(CROWD, simulations=1000)
    found = evidence.participants.join(CROWD.participants, on="participant")
    patterned = found.filter(pl.col("behaviour").is_in(["one answer", "repeated pattern"]))
    assert patterned["level"].null_count() == 0
    assert evidence.criterion == "risk"
    assert found.filter(pl.col("flagged"))["behaviour"].is_in(["one answer", "repeated pattern"]).all()


def test_who_is_as_accurate_as_everybody_is_not_below_the_mean() -> None:
    right = [1, 1, 1, 0, 1, 1, 0, 1, 1, 0]
    people = [f"p{n}" for n in range(11)]
    table = pl.DataFrame({
        "participant": np.repeat(people, 10), "item": [f"i{n}" for n in range(10)] * 11, "response": right * 11,
        "trial": list(range(1, 11)) * 11, "rt": [1.1] * 110, "expected": ["1"] * 110,
    })  # fmt: skip
    found = risk_levels(karat.Judgments(table, karat.Binary()), people, doubtful="counted", time_limit=0)
    assert found.participants.select("time", "accuracy").unique().rows() == [(0.0, 0.0)]
