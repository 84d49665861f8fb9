"""Completion and speed."""

from __future__ import annotations

from datetime import UTC, datetime
from statistics import median
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.messages import Message
from karat.screen.criteria.completion import completion
from karat.screen.criteria.speed import speed
from karat.study.criteria import criterion_settings
from messages import raises, reasons, refuses

Times = dict[str, list[float | None]]


def judgments(people: Times, **about: list[Any]) -> karat.Judgments:
    rows = [
        {"participant": name, "item": f"i{n}", "response": None if time is None else "1", "trial": n, "rt": time}
        for name, times in people.items()
        for n, time in enumerate(times, start=1)
    ]
    frame = pl.DataFrame(rows, schema_overrides={"response": pl.String, "rt": pl.Float64})
    return karat.Judgments(frame, karat.Ordinal(5), {"participant": list(people), **about} if about else None)


def record(length: int, seed: int) -> list[float | None]:
    return [round(float(time), 3) for time in np.random.default_rng(seed).uniform(1, 9, length)]


def answered(number: int, trials: int, **more: Any) -> Message:
    return Message("completion.answered", {"answered": number, "trials": trials, **more})


def test_incomplete_people_are_flagged_with_where_they_stopped() -> None:
    evidence = completion(
        judgments({"p1": [1.0] * 10, "p2": [1.0] * 8, "p3": [1.0] * 7 + [None, 1.0, None]}), trials=10
    )
    rows = {row["participant"]: row for row in evidence.participants.to_dicts()}
    assert [rows[p]["score"] for p in ("p1", "p2", "p3")] == [1.0, 0.8, 0.8]
    assert evidence.flagged == ["p2", "p3"]
    assert [rows[p]["last"] for p in ("p1", "p2", "p3")] == [10, 8, 9]
    assert reasons(evidence) == {
        "p1": answered(10, 10), "p2": answered(8, 10, last=8), "p3": answered(8, 10, last=9),
    }  # fmt: skip
    assert completion(judgments({"p1": [1.0] * 9}), trials=10).flagged == []
    assert evidence.summary == (Message("evidence.flagged", {"flagged": 2, "participants": 3}),)
    assert evidence.table()["participant"].to_list() == ["p2", "p3", "p1"]


def test_exactly_the_share_that_is_asked_for_is_enough() -> None:
    for fifths in (7, 11, 14, 19, 22):
        people: Times = {"enough": [1.0] * (4 * fifths), "less": [1.0] * (4 * fifths - 1)}
        assert completion(judgments(people), at_least=0.8, trials=5 * fifths).flagged == ["less"]


def whole(trials: int, people: int = 12) -> Times:
    return {f"w{number}": record(trials, 100 + number) for number in range(people)}


def test_a_length_that_many_reach_is_that_of_the_questionnaire() -> None:
    evidence = completion(judgments(whole(50) | {"half": record(25, 1), "slip": record(46, 2)}))
    assert evidence.flagged == ["half"]
    assert evidence.notes[0] == Message("completion.length_assumed", {"trials": 50})
    small = judgments(whole(50, 4) | {"half": record(25, 1)})
    assert completion(small).flagged == ["half"]
    assert completion(karat.Judgments(small.frame.drop("trial"), karat.Ordinal(5))).flagged == []
    few = completion(judgments(whole(50, 5) | {"half": record(25, 1), "less": record(26, 2)}))
    assert few.flagged == []
    assert few.notes[0] == Message("completion.length_unknown", {"least": 25, "most": 50})
    rng = np.random.default_rng(4)
    uneven = {f"p{n}": record(int(trials), n) for n, trials in enumerate(rng.integers(52, 61, 80))}
    assert completion(judgments(uneven)).flagged == []


def test_a_shorter_list_is_no_half_questionnaire() -> None:
    shorter: Times = {f"s{number}": record(40, number) for number in range(10)}
    read = judgments(whole(60, 20) | shorter | {"left": record(31, 50)})
    evidence = completion(read)
    assert evidence.flagged == ["left"]
    assert reasons(evidence)["s3"] == answered(40, 60, last=40, fewest=10)
    assert len(completion(read, trials=60).flagged) == 11


def test_listed_people_without_answers_are_incomplete() -> None:
    frame = judgments({"p1": [1.0] * 3}).frame
    read = karat.Judgments(frame, karat.Ordinal(5), {"participant": ["p1", "p9"]})
    assert completion(read).flagged == ["p9"]
    assert reasons(completion(read))["p9"] == answered(0, 3)


def test_sessions_count_together_up_to_the_last_position() -> None:
    frame = judgments({"p1": [1.0] * 10, "p2": [1.0] * 10}).frame
    second = frame.filter((pl.col("participant") == "p1") | (pl.col("trial") <= 4)).with_columns(session=pl.lit("2"))
    read = karat.Judgments(pl.concat([frame.with_columns(session=pl.lit("1")), second]), karat.Ordinal(5))
    evidence = completion(read, trials=20)
    assert evidence.participants["score"].to_list() == [1.0, 0.7]
    assert reasons(evidence)["p2"] == answered(14, 20, last=4, session="2")
    assert evidence.participants["last"].to_list() == [10, 4]


def test_a_trial_with_several_questions_is_one_trial() -> None:
    rows = [
        {"participant": who, "item": f"i{trial}", "question": question, "trial": trial, "response": "1"}
        for who, length in (("p1", 10), ("p2", 5))
        for trial in range(1, length + 1)
        for question in ("good-bad", "long-short", "old-new")
    ]
    frame = pl.DataFrame(rows)
    evidence = completion(karat.Judgments(frame, karat.Ordinal(5)), trials=10)
    assert evidence.participants["answered"].to_list() == [10, 5]
    without = completion(karat.Judgments(frame.drop("trial"), karat.Ordinal(5)), trials=10)
    assert without.participants["answered"].to_list() == [10, 5]
    assert "last" not in without.participants.columns
    assert reasons(without)["p2"] == answered(5, 10)
    partly = frame.filter((pl.col("trial") > 1) | (pl.col("question") == "old-new"))
    assert completion(karat.Judgments(partly, karat.Ordinal(5))).participants["answered"].to_list() == [10, 5]


def test_rows_without_a_position_are_trials_of_their_own() -> None:
    frame = judgments({"p1": [1.0] * 4}).frame.with_columns(trial=pl.when(pl.col("trial") < 3).then("trial"))
    assert completion(karat.Judgments(frame, karat.Ordinal(5))).participants["answered"].to_list() == [4]


def test_settings_that_cannot_be() -> None:
    with raises(karat.KaratError, "setting.refused", setting="at_least"):
        completion(judgments({"p1": [1.0]}), at_least=90)
    with raises(karat.KaratError, "completion.nobody_answered"):
        completion(judgments({"p1": [None]}))
    with raises(karat.KaratError, "setting.refused", setting="trials"):
        completion(judgments({"p1": [1.0]}), trials=0)
    more = completion(judgments({"p1": [1.0, 2.0]}), trials=1)
    assert more.notes[-1] == Message("completion.more_than_stated", {"n": 1, "trials": 1})


def test_the_same_person_is_flagged_but_for_the_first_start() -> None:
    people: Times = {"p1": [1.0] * 10, "p2": [2.0] * 10, "p3": [3.0] * 10, "p4": [4.0] * 10}
    started = [datetime(2026, 3, day, tzinfo=UTC) for day in (9, 2, 3, 1)]
    read = judgments(people, person=["A", " A", "B", None], started=started)
    evidence = completion(read)
    assert evidence.flagged == ["p1"]
    assert reasons(evidence)["p1"] == answered(10, 10, same_person="p2")
    assert evidence.participants["same_as"].to_list() == ["p2", None, None, None]
    assert Message("completion.no_person", {"n": 1, "column": "person"}) in evidence.notes
    as_text = judgments(people, person=["A", "A", "B", None], started=[str(moment) for moment in started])
    assert completion(as_text).flagged == ["p1"]


def test_without_a_start_the_most_complete_stands() -> None:
    read = judgments({"p1": [1.0] * 9, "p2": [2.0] * 10, "p3": [3.0] * 10}, worker=["A", "A", "A"])
    assert completion(read).flagged == []
    evidence = completion(read, person="worker")
    assert evidence.flagged == ["p1", "p3"]
    assert set(evidence.participants["same_as"].drop_nulls()) == {"p2"}
    assert evidence.settings["person"] == "worker"
    with raises(karat.KaratError, "participants.no_column", close="worker"):
        completion(read, person="wrker")


def test_leaving_before_the_first_trial_counts_for_nobody() -> None:
    frame = judgments({"p2": [1.0] * 10}).frame
    people = {"participant": ["p1", "p2"], "person": ["A", "A"], "started": ["2026-03-01", "2026-03-02"]}
    evidence = completion(karat.Judgments(frame, karat.Ordinal(5), people))
    assert evidence.flagged == ["p1"]
    assert reasons(evidence)["p1"] == answered(0, 10, same_person="p2")


def test_one_record_under_two_names() -> None:
    people: Times = {"p1": record(20, 1), "p2": record(20, 2), "copy": record(20, 1), "half": record(20, 1)[:12]}
    evidence = completion(judgments(people), trials=20)
    assert evidence.flagged == ["copy", "half"]
    assert reasons(evidence)["copy"] == answered(20, 20, same_record="p1", alike=20)
    assert reasons(evidence)["half"] == answered(12, 20, last=12, same_record="p1", alike=12)


def test_records_that_prove_nothing() -> None:
    few: Times = {"p1": record(9, 1), "p2": record(9, 1)}
    coarse: Times = {"p1": [1.0, 2.0, 3.0, 4.0] * 5, "p2": [1.0, 2.0, 3.0, 4.0] * 5}
    assert completion(judgments(few)).flagged == []
    assert completion(judgments(coarse)).flagged == []
    other = judgments({"p1": record(20, 1), "p2": record(20, 1)}).frame.with_columns(
        response=pl.when((pl.col("participant") == "p2") & (pl.col("trial") == 5))
        .then(pl.lit("2"))
        .otherwise("response")
    )
    assert completion(karat.Judgments(other, karat.Ordinal(5))).flagged == []
    untimed = completion(karat.Judgments(other.drop("rt"), karat.Ordinal(5)))
    assert untimed.flagged == []
    assert untimed.notes[-1].code == "completion.no_times"


def test_records_are_compared_in_the_order_of_presentation() -> None:
    frame = judgments({"p1": record(20, 1), "p2": record(20, 1)}).frame
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    assert len(completion(karat.Judgments(shuffled, karat.Ordinal(5))).flagged) == 1


def fast(mean: float, middle: float, **more: float) -> Message:
    return Message("speed.times", {"mean": mean, "median": middle, **more})


def test_simple_and_clever_spammers() -> None:
    people: Times = {"fast": [1.0] * 9, "clever": [1.0] * 8 + [60.0], "attentive": [5.0] * 9}
    evidence = speed(judgments(people))
    assert evidence.flagged == ["fast", "clever"]
    assert reasons(evidence) == {
        "fast": fast(1.0, 1.0, mean_below=3.0, median_below=3.0),
        "clever": fast(7.56, 1.0, median_below=3.0),
        "attentive": fast(5.0, 5.0),
    }
    assert speed(judgments(people), mean_below=None, median_below=None).flagged == []


def test_reasons_stay_on_the_right_side_of_the_cutoff() -> None:
    evidence = speed(judgments({"p1": [2.9996], "p2": [3.0], "p3": [3.0004]}), mean_below=None)
    assert evidence.flagged == ["p1"]
    assert reasons(evidence) == {
        "p1": fast(3.0, 2.9996, median_below=3.0),
        "p2": fast(3.0, 3.0),
        "p3": fast(3.0, 3.0004),
    }


def test_working_time_at_or_under_a_share_is_flagged() -> None:
    people: Times = {"p1": [5.0] * 3, "p2": [5.0] * 3, "p3": [5.0] * 3}
    read = judgments(people, working_time=[240.0, 240.1, None])
    evidence = speed(read, share_of_expected=0.4, expected_minutes=10)
    assert evidence.flagged == ["p1", "p3"]
    assert reasons(evidence)["p1"] == fast(5.0, 5.0, worked=4.0, share=0.4, expected=10.0)
    assert evidence.participants["working_time"].to_list() == [240.0, 240.1, 15.0]
    with raises(karat.KaratError, "speed.no_expected_minutes"):
        speed(read, share_of_expected=0.4)
    third = judgments({"p1": [5.0]}, working_time=[0.7 * 3 * 60])
    assert speed(third, share_of_expected=0.7, expected_minutes=3).flagged == ["p1"]


def test_a_share_of_the_median_participant() -> None:
    people: Times = {"p1": [2.0, 2.0, 9.0], "p2": [8.0], "p3": [10.0], "p4": [6.0], "p5": [4.0]}
    evidence = speed(judgments(people), mean_below=None, median_below=None, relative_below=0.5)
    assert evidence.flagged == ["p1"]
    assert evidence.participants["threshold"].to_list() == [3.0] * 5
    assert reasons(evidence)["p1"] == fast(4.33, 2.0, relative=3.0, relative_below=0.5)
    alone = speed(judgments({"p1": [2.0]}), mean_below=None, median_below=None, relative_below=0.9)
    assert alone.flagged == []


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.lists(st.lists(st.floats(0.1, 20), min_size=1, max_size=6), min_size=1, max_size=4),
    st.floats(0.1, 0.9), st.floats(1, 10), st.floats(1, 10),
)  # fmt: skip
def test_cutoffs_by_loops(times: list[list[float]], share: float, mean_below: float, median_below: float) -> None:
    people: Times = {f"p{n}": list(own) for n, own in enumerate(times)}
    middle = median(median(own) for own in times)
    expected = [
        f"p{n}" for n, own in enumerate(times)
        if sum(own) / len(own) < mean_below - 1e-9 or median(own) < median_below or median(own) < share * middle
    ]  # fmt: skip
    near = any(abs(sum(own) / len(own) - mean_below) < 1e-6 for own in times)
    evidence = speed(judgments(people), mean_below=mean_below, median_below=median_below, relative_below=share)
    assert near or evidence.flagged == expected
    cutoffs = {"mean_below", "median_below", "relative"}
    for name, reason in reasons(evidence).items():
        assert bool(cutoffs & set(reason.values)) == (name in evidence.flagged)


def test_a_quick_task_makes_nobody_fast() -> None:
    people: Times = {f"p{n}": [1.0, 1.0, 1.5, 4.0 + n] for n in range(7)}
    evidence = speed(judgments(people), mean_below=2.5)
    assert evidence.flagged == ["p0", "p1", "p2"]
    assert evidence.notes == (Message("speed.quick_median", {"usual": 1.25, "cutoff": 3.0}),)
    assert speed(judgments(people)).flagged == []
    assert len(speed(judgments(dict(list(people.items())[:4]))).flagged) == 4
    share = speed(judgments({**people, "fast": [0.3] * 4}), relative_below=0.5)
    assert share.flagged == ["fast"]


def test_people_without_times_keep_their_row() -> None:
    frame = judgments({"p1": [1.0, 1.0], "p2": [5.0, 5.0]}).frame
    untimed = frame.with_columns(rt=pl.when(pl.col("participant") == "p2").then("rt"))
    evidence = speed(karat.Judgments(untimed, karat.Ordinal(5)))
    assert reasons(evidence)["p1"] == Message("speed.no_times")
    assert evidence.participants["flagged"].to_list() == [False, False]
    assert evidence.notes == (Message("speed.untimed", {"n": 1}),)
    with raises(karat.KaratError, "times.none"):
        speed(karat.Judgments(frame.drop("rt"), karat.Ordinal(5)))
    people = {"participant": ["p1", "p2"], "working_time": [60.0, 900.0]}
    by_platform = karat.Judgments(frame.drop("rt"), karat.Ordinal(5), people)
    evidence = speed(by_platform, share_of_expected=0.4, expected_minutes=10)
    assert reasons(evidence) == {
        "p1": Message("speed.no_times", {"worked": 1.0, "share": 0.4, "expected": 10.0}),
        "p2": Message("speed.no_times"),
    }


def test_negative_times_and_wrong_settings_are_refused() -> None:
    with refuses(karat.KaratError, "row 1, rt", "-1.0"):
        judgments({"p1": [-1.0]})
    read = judgments({"p1": [1.0]})
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"mean_below": 0}, "mean_below"), ({"relative_below": 1.5}, "relative_below"),
        ({"share_of_expected": 40, "expected_minutes": 10}, "share_of_expected"),
    ]  # fmt: skip
    for stated, name in wrong:
        with raises(karat.KaratError, "setting.refused", setting=name):
            speed(read, **stated)


def test_settings_of_a_study_file_fit_the_functions() -> None:
    read = judgments({"p1": [5.0] * 3, "p2": [5.0] * 3})
    assert completion(read, **criterion_settings("completion", {}).model_dump()).flagged == []
    assert speed(read, **criterion_settings("speed", {"relative_below": 0.3}).model_dump()).flagged == []
