"""Strips: as many bars as answers, ticks where times are, and nothing for those about which nothing is known."""

from __future__ import annotations

import math
import re
from typing import Any

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given

import karat
from karat.report.build import NOT_COMPUTED, ReportData
from karat.report.figures import HEIGHT, MOST, WIDTH, answer_strips, rt_strips
from karat.report.sections.people import change_place, playback


@given(st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=2 * MOST + 3))
def test_bars_are_answers_in_their_order(answers: list[int | None]) -> None:
    if all(answer is None for answer in answers):
        answers = [*answers, 3]
    rows = pl.DataFrame({"participant": "p1", "item": [str(n) for n in range(len(answers))], "response": answers})
    (strip,) = answer_strips(karat.Judgments(rows, karat.Ordinal(5)), ["p1"])
    step = -(-len(answers) // MOST)
    shown = [answer for answer in answers[::step] if answer is not None]
    heights = [int(height) for height in re.findall(r"v-(\d+)", strip)]
    assert len(heights) == len(shown) <= MOST
    assert heights == [round((answer - 1) / 4 * (HEIGHT - 4) + 3) for answer in shown]
    places = [float(place) for place in re.findall(r"M([\d.]+) ", strip)]
    assert places == sorted(places)
    assert all(0 <= place <= WIDTH for place in places)


def test_sessions_follow_each_other() -> None:
    rows = {"participant": ["p1"] * 6, "item": ["a", "b", "c"] * 2, "response": [1, 1, 1, 5, 5, 5],
            "trial": [1, 2, 3] * 2, "session": ["1"] * 3 + ["2"] * 3}  # fmt: skip
    (strip,) = answer_strips(karat.Judgments(rows, karat.Ordinal(5)), ["p1"])
    heights = [int(height) for height in re.findall(r"v-(\d+)", strip)]
    assert heights == sorted(heights)
    assert len(heights) == 6


def test_outlying_times_are_those_of_remfod() -> None:
    likert = karat.datasets.load("likert")
    evidence = karat.screen.remfod(likert)
    people = likert.participants["participant"].to_list()
    counts = dict(evidence.trials.group_by("participant").len().iter_rows())
    for who, strip in zip(people, rt_strips(likert, people, evidence), strict=True):
        found = re.findall(r'class="f" d="([^"]+)"', strip)
        assert bool(found) == bool(counts.get(who))
        assert (found[0].count("M") if found else 0) <= counts.get(who, 0)


def test_nothing_is_drawn_of_nothing() -> None:
    rows = {"participant": ["p1"], "item": ["a"], "response": [5]}
    judgments = karat.Judgments(rows, karat.Ordinal(5), pl.DataFrame({"participant": ["p1", "p2"]}))
    assert rt_strips(judgments, ["p1", "p2"], None) == ("", "")
    assert answer_strips(judgments, ["p1", "p2"])[1] == ""


def test_times_stand_on_one_axis_for_everybody() -> None:
    rows = {"participant": ["p1"] * 3 + ["p2"] * 3, "item": ["a", "b", "c"] * 2, "response": [1] * 6,
            "rt": [1.0, 10.0, 100.0, 10.0, 10.0, 10.0]}  # fmt: skip
    first, second = rt_strips(karat.Judgments(rows, karat.Ordinal(5)), ["p1", "p2"], None)
    places = [int(place) for place in re.findall(r"M(\d+) ", first)]
    assert [int(place) for place in re.findall(r"M(\d+) ", second)] == [places[1]]
    assert abs((places[0] + places[2]) / 2 - places[1]) <= 1


def played(rows: dict[str, list[str]], scale: karat.Scale) -> dict[str, Any]:
    judgments = karat.Judgments(pl.DataFrame(rows), scale)
    found = playback(ReportData(karat.screen.run(judgments, {"completion": {}}), None, NOT_COMPUTED, NOT_COMPUTED))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("scale", "answers", "mean", "total"),
    [
        (karat.Ordinal(levels=["-2", "-1", "0", "1", "2"]), ["-2", "-1"], "mean", -3.0),
        (karat.Ordinal(levels=["bad", "fair", "good"]), ["good", "fair"], "mean point", 5.0),
        (karat.Continuous(0, 100), ["20", "60"], "mean", 80.0),
        (karat.Magnitude(), ["2", "8"], "geometric mean", math.log(16)),
    ],
)
def test_playback_sums_answers_as_they_were_given(
    scale: karat.Scale, answers: list[str], mean: str, total: float
) -> None:
    found = played({"participant": ["a", "b"], "item": ["i", "i"], "response": answers}, scale)
    (stimulus,) = found["stimuli"]
    assert (found["mean"], stimulus[3]) == (mean, 2)
    assert stimulus[2] == pytest.approx(total, abs=1e-5)


def test_playback_counts_answers_that_have_no_mean() -> None:
    rows = {"participant": ["a", "b", "c"], "item": ["i"] * 3, "response": ["yes", "no", "yes"]}
    found = played(rows, karat.Binary(levels=["no", "yes"]))
    assert found["values"] is None
    assert found["stimuli"][0][2] == {0: 1, 1: 2}


def test_a_change_is_marked_at_its_trial() -> None:
    """Practice has numbers, too, but no row."""
    rows = pl.DataFrame({"trial": [5, 6, 7], "response": ["1", None, "2"]})
    assert [change_place(rows, trial) for trial in (5, 7, 4, None)] == [1, 3, None, None]
    assert change_place(rows.drop("trial"), 2) == 3
