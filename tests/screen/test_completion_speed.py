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
from karat.screen.completion import completion
from karat.screen.speed import speed
from karat.study.criteria import criterion_settings

Times = dict[str, list[float | None]]


def judgments(people: Times, **about: list[Any]) -> karat.Judgments:
    rows = [
        {"participant": name, "item": f"i{n}", "response": None if time is None else "1", "trial": n, "rt": time}
        for name, times in people.items()
        for n, time in enumerate(times, start=1)
    ]
    frame = pl.DataFrame(rows, schema_overrides={"response": pl.String, "rt": pl.Float64})
    return karat.Judgments(frame, karat.Ordinal(5), {"participant": list(people), **about} if about else None)


def reasons(evidence: Any) -> dict[str, str]:
    return dict(evidence.participants.select("participant", "reason").iter_rows())


def test_incomplete_people_are_flagged_with_where_they_stopped() -> None:
    evidence = completion(judgments({"p1": [1.0] * 10, "p2": [1.0] * 8, "p3": [1.0] * 7 + [None, 1.0, None]}))
    rows = {row["participant"]: row for row in evidence.participants.to_dicts()}
    assert [rows[p]["score"] for p in ("p1", "p2", "p3")] == [1.0, 0.8, 0.8]
    assert evidence.flagged == ["p2", "p3"]
    assert [rows[p]["last"] for p in ("p1", "p2", "p3")] == [10, 8, 9]
    assert rows["p1"]["reason"] == "answered 10 of 10 trials"
    assert rows["p2"]["reason"] == "answered 8 of 10 trials; the last at position 8"
    assert rows["p3"]["reason"] == "answered 8 of 10 trials; the last at position 9"
    assert "taken to have 10 trials" in evidence.notes[0]
    assert completion(judgments({"p1": [1.0] * 9}), trials=10).flagged == []
    assert str(evidence) == "completion: 2 of 3 participants flagged."
    assert evidence.table()["participant"].to_list() == ["p2", "p3", "p1"]


def test_exactly_the_share_that_is_asked_for_is_enough() -> None:
    for fifths in (7, 11, 14, 19, 22):
        people: Times = {"all": [1.0] * (5 * fifths), "enough": [1.0] * (4 * fifths), "less": [1.0] * (4 * fifths - 1)}
        assert completion(judgments(people), at_least=0.8).flagged == ["less"]


def test_listed_people_without_answers_are_incomplete() -> None:
    frame = judgments({"p1": [1.0] * 3}).frame
    read = karat.Judgments(frame, karat.Ordinal(5), {"participant": ["p1", "p9"]})
    assert completion(read).flagged == ["p9"]
    assert reasons(completion(read))["p9"] == "answered 0 of 3 trials"


def test_sessions_count_together_and_the_last_position_is_in_the_last_session() -> None:
    frame = judgments({"p1": [1.0] * 10, "p2": [1.0] * 10}).frame
    second = frame.filter((pl.col("participant") == "p1") | (pl.col("trial") <= 4)).with_columns(session=pl.lit("2"))
    read = karat.Judgments(pl.concat([frame.with_columns(session=pl.lit("1")), second]), karat.Ordinal(5))
    evidence = completion(read)
    assert evidence.participants["score"].to_list() == [1.0, 0.7]
    assert reasons(evidence)["p2"] == "answered 14 of 20 trials; the last at position 4 of session 2"
    assert evidence.participants["last"].to_list() == [10, 4]


def test_a_trial_with_several_questions_is_one_trial() -> None:
    rows = [
        {"participant": who, "item": f"i{trial}", "question": question, "trial": trial, "response": "1"}
        for who, length in (("p1", 10), ("p2", 5))
        for trial in range(1, length + 1)
        for question in ("good-bad", "long-short", "old-new")
    ]
    frame = pl.DataFrame(rows)
    evidence = completion(karat.Judgments(frame, karat.Ordinal(5)))
    assert evidence.participants["answered"].to_list() == [10, 5]
    without = completion(karat.Judgments(frame.drop("trial"), karat.Ordinal(5)))
    assert without.participants["answered"].to_list() == [10, 5]
    assert "last" not in without.participants.columns
    assert reasons(without)["p2"] == "answered 5 of 10 trials"
    partly = frame.filter((pl.col("trial") > 1) | (pl.col("question") == "old-new"))
    assert completion(karat.Judgments(partly, karat.Ordinal(5))).participants["answered"].to_list() == [10, 5]


def test_rows_without_a_position_are_trials_of_their_own() -> None:
    frame = judgments({"p1": [1.0] * 4}).frame.with_columns(trial=pl.when(pl.col("trial") < 3).then("trial"))
    assert completion(karat.Judgments(frame, karat.Ordinal(5))).participants["answered"].to_list() == [4]


def test_settings_that_cannot_be() -> None:
    with pytest.raises(karat.KaratError, match="share from 0 to 1"):
        completion(judgments({"p1": [1.0]}), at_least=90)
    with pytest.raises(karat.KaratError, match="nobody answered"):
        completion(judgments({"p1": [None]}))
    with pytest.raises(karat.KaratError, match="whole number from 1"):
        completion(judgments({"p1": [1.0]}), trials=0)
    more = completion(judgments({"p1": [1.0, 2.0]}), trials=1)
    assert more.notes[-1] == "1 participant answered more than the stated 1 trial."


def test_the_same_person_is_flagged_but_for_the_first_start() -> None:
    people: Times = {"p1": [1.0] * 10, "p2": [2.0] * 10, "p3": [3.0] * 10, "p4": [4.0] * 10}
    started = [datetime(2026, 3, day, tzinfo=UTC) for day in (9, 2, 3, 1)]
    read = judgments(people, person=["A", " A", "B", None], started=started)
    evidence = completion(read)
    assert evidence.flagged == ["p1"]
    assert reasons(evidence)["p1"] == "the same person as p2; answered 10 of 10 trials"
    assert evidence.participants["same_as"].to_list() == ["p2", None, None, None]
    assert "1 participant without an entry in person." in evidence.notes
    as_text = judgments(people, person=["A", "A", "B", None], started=[str(moment) for moment in started])
    assert completion(as_text).flagged == ["p1"]


def test_without_a_start_the_most_complete_stands_and_then_the_first() -> None:
    read = judgments({"p1": [1.0] * 9, "p2": [2.0] * 10, "p3": [3.0] * 10}, worker=["A", "A", "A"])
    assert completion(read).flagged == []
    evidence = completion(read, person="worker")
    assert evidence.flagged == ["p1", "p3"]
    assert set(evidence.participants["same_as"].drop_nulls()) == {"p2"}
    assert evidence.settings["person"] == "worker"
    with pytest.raises(karat.KaratError, match=r"no column wrker; is worker meant\?"):
        completion(read, person="wrker")


def test_whoever_turned_back_before_the_first_trial_stands_for_nobody() -> None:
    frame = judgments({"p2": [1.0] * 10}).frame
    people = {"participant": ["p1", "p2"], "person": ["A", "A"], "started": ["2026-03-01", "2026-03-02"]}
    evidence = completion(karat.Judgments(frame, karat.Ordinal(5), people))
    assert evidence.flagged == ["p1"]
    assert reasons(evidence)["p1"] == "the same person as p2; answered 0 of 10 trials"


def record(length: int, seed: int) -> list[float | None]:
    return [round(float(time), 3) for time in np.random.default_rng(seed).uniform(1, 9, length)]


def test_one_record_under_two_names() -> None:
    people: Times = {"p1": record(20, 1), "p2": record(20, 2), "copy": record(20, 1), "half": record(20, 1)[:12]}
    evidence = completion(judgments(people))
    assert evidence.flagged == ["copy", "half"]
    assert reasons(evidence)["copy"] == (
        "the same record as p1 (20 trials alike, times included); answered 20 of 20 trials"
    )
    assert reasons(evidence)["half"] == (
        "the same record as p1 (12 trials alike, times included); answered 12 of 20 trials; the last at position 12"
    )


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
    assert "no response times" in untimed.notes[-1]


def test_records_are_compared_in_the_order_of_presentation() -> None:
    frame = judgments({"p1": record(20, 1), "p2": record(20, 1)}).frame
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    assert len(completion(karat.Judgments(shuffled, karat.Ordinal(5))).flagged) == 1


def test_simple_and_clever_spammers() -> None:
    people: Times = {"fast": [1.0] * 9, "clever": [1.0] * 8 + [60.0], "earnest": [5.0] * 9}
    evidence = speed(judgments(people))
    assert evidence.flagged == ["fast", "clever"]
    assert reasons(evidence) == {
        "fast": "mean 1.00 s, median 1.00 s: mean below 3 s, median below 3 s",
        "clever": "mean 7.56 s, median 1.00 s: median below 3 s",
        "earnest": "mean 5.00 s, median 5.00 s",
    }
    assert speed(judgments(people), mean_below=None, median_below=None).flagged == []


def test_reasons_stay_on_the_right_side_of_the_cutoff() -> None:
    evidence = speed(judgments({"p1": [2.9996], "p2": [3.0], "p3": [3.0004]}), mean_below=None)
    assert evidence.flagged == ["p1"]
    assert reasons(evidence) == {
        "p1": "mean 3.00 s, median 2.9996 s: median below 3 s",
        "p2": "mean 3.00 s, median 3.00 s",
        "p3": "mean 3.00 s, median 3.0004 s",
    }


def test_working_time_at_or_under_a_share_is_flagged() -> None:
    people: Times = {"p1": [5.0] * 3, "p2": [5.0] * 3, "p3": [5.0] * 3}
    read = judgments(people, working_time=[240.0, 240.1, None])
    evidence = speed(read, share_of_expected=0.4, expected_minutes=10)
    assert evidence.flagged == ["p1", "p3"]
    assert reasons(evidence)["p1"] == (
        "mean 5.00 s, median 5.00 s: worked 4.00 minutes, at or under 0.4 of the expected 10"
    )
    assert evidence.participants["working_time"].to_list() == [240.0, 240.1, 15.0]
    with pytest.raises(karat.KaratError, match="expected_minutes"):
        speed(read, share_of_expected=0.4)
    third = judgments({"p1": [5.0]}, working_time=[0.7 * 3 * 60])
    assert speed(third, share_of_expected=0.7, expected_minutes=3).flagged == ["p1"]


def test_a_share_of_the_median_participant() -> None:
    people: Times = {"p1": [2.0, 2.0, 9.0], "p2": [8.0], "p3": [10.0], "p4": [6.0], "p5": [4.0]}
    evidence = speed(judgments(people), mean_below=None, median_below=None, relative_below=0.5)
    assert evidence.flagged == ["p1"]
    assert evidence.participants["threshold"].to_list() == [3.0] * 5
    assert reasons(evidence)["p1"] == (
        "mean 4.33 s, median 2.00 s: median below 3.00 s, 0.5 of the median participant's"
    )
    alone = speed(judgments({"p1": [2.0]}), mean_below=None, median_below=None, relative_below=0.9)
    assert alone.flagged == []


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.floats(0.1, 20), min_size=1, max_size=6), min_size=1, max_size=6),
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
    assert all((": " in reason) == (name in evidence.flagged) for name, reason in reasons(evidence).items())


def test_people_without_times_keep_their_row() -> None:
    frame = judgments({"p1": [1.0, 1.0], "p2": [5.0, 5.0]}).frame
    untimed = frame.with_columns(rt=pl.when(pl.col("participant") == "p2").then("rt"))
    evidence = speed(karat.Judgments(untimed, karat.Ordinal(5)))
    assert reasons(evidence)["p1"] == "no timed trials"
    assert evidence.participants["flagged"].to_list() == [False, False]
    assert evidence.notes == ("1 participant without timed trials outside practice.",)
    with pytest.raises(karat.KaratError, match="needs response times"):
        speed(karat.Judgments(frame.drop("rt"), karat.Ordinal(5)))
    people = {"participant": ["p1", "p2"], "working_time": [60.0, 900.0]}
    by_platform = karat.Judgments(frame.drop("rt"), karat.Ordinal(5), people)
    evidence = speed(by_platform, share_of_expected=0.4, expected_minutes=10)
    assert reasons(evidence) == {
        "p1": "no timed trials: worked 1.00 minutes, at or under 0.4 of the expected 10",
        "p2": "no timed trials",
    }


def test_negative_times_do_not_enter_and_wrong_settings_are_refused() -> None:
    with pytest.raises(karat.KaratError, match="is not a response time"):
        judgments({"p1": [-1.0]})
    read = judgments({"p1": [1.0]})
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"mean_below": 0}, "above 0"), ({"relative_below": 1.5}, "share between 0 and 1"),
        ({"share_of_expected": 40, "expected_minutes": 10}, "share between 0 and 1"),
    ]  # fmt: skip
    for stated, what in wrong:
        with pytest.raises(karat.KaratError, match=what):
            speed(read, **stated)


def test_settings_of_a_study_file_fit_the_functions() -> None:
    read = judgments({"p1": [5.0] * 3, "p2": [5.0] * 3})
    assert completion(read, **criterion_settings("completion", {}).model_dump()).flagged == []
    assert speed(read, **criterion_settings("speed", {"relative_below": 0.3}).model_dump()).flagged == []
