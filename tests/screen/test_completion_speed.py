"""Completion and speed."""

from __future__ import annotations

import polars as pl
import pytest

import karat
from karat.screen import completion, speed


def judgments(people: dict[str, list[float | None]], **about: list[object]) -> karat.Judgments:
    rows = [
        {"participant": name, "item": f"i{n}", "response": None if time is None else "1", "trial": n, "rt": time}
        for name, times in people.items()
        for n, time in enumerate(times, start=1)
    ]
    frame = pl.DataFrame(rows, schema_overrides={"response": pl.String, "rt": pl.Float64})
    return karat.Judgments(frame, karat.Ordinal(5), {"participant": list(people), **about} if about else None)


def test_incomplete_people_are_flagged_with_where_they_stopped() -> None:
    evidence = completion(judgments({"p1": [1.0] * 10, "p2": [1.0] * 8, "p3": [1.0] * 8 + [None] * 2}))
    rows = {row["participant"]: row for row in evidence.participants.to_dicts()}
    assert [rows[p]["score"] for p in ("p1", "p2", "p3")] == [1.0, 0.8, 0.8]
    assert evidence.flagged == ["p2", "p3"]
    assert rows["p2"]["last"] == 8
    assert rows["p2"]["reason"] == "answered 8 of 10 trials"
    assert "taken to have 10 trials" in evidence.notes[0]
    assert completion(judgments({"p1": [1.0] * 9}), trials=10).flagged == []
    assert str(evidence) == "completion: 2 of 3 participants flagged."
    assert evidence.table()["participant"].to_list() == ["p2", "p3", "p1"]


def test_listed_people_without_answers_are_incomplete() -> None:
    frame = judgments({"p1": [1.0] * 3}).frame
    read = karat.Judgments(frame, karat.Ordinal(5), {"participant": ["p1", "p9"]})
    assert completion(read).flagged == ["p9"]


def test_settings_that_cannot_be() -> None:
    with pytest.raises(karat.KaratError, match="share from 0 to 1"):
        completion(judgments({"p1": [1.0]}), at_least=90)
    with pytest.raises(karat.KaratError, match="nobody answered"):
        completion(judgments({"p1": [None]}))


def test_simple_and_clever_spammers() -> None:
    people: dict[str, list[float | None]] = {"fast": [1.0] * 9, "clever": [1.0] * 8 + [60.0], "earnest": [5.0] * 9}
    evidence = speed(judgments(people))
    reasons = dict(evidence.participants.select("participant", "reason").iter_rows())
    assert evidence.flagged == ["fast", "clever"]
    assert reasons["fast"] == "mean 1.0 s, median 1.0 s: mean too short, median too short"
    assert reasons["clever"] == "mean 7.56 s, median 1.0 s: median too short"
    assert reasons["earnest"] == "mean 5.0 s, median 5.0 s"
    assert speed(judgments(people), mean_below=None, median_below=None).flagged == []


def test_working_time_at_or_under_a_share_is_flagged() -> None:
    people: dict[str, list[float | None]] = {"p1": [5.0] * 3, "p2": [5.0] * 3, "p3": [5.0] * 3}
    read = judgments(people, working_time=[240.0, 240.1, None])
    evidence = speed(read, share_of_expected=0.4, expected_minutes=10)
    assert evidence.flagged == ["p1", "p3"]
    with pytest.raises(karat.KaratError, match="expected_minutes"):
        speed(read, share_of_expected=0.4)
