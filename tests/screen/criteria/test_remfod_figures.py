"""Figures of response times: they say the finding, draw every trial once, and stand odd data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import karat
from karat.plots.style import to_svg
from karat.plots.times import kernel_density
from karat.screen.criteria.remfod import Remfod, remfod
from karat.screen.time_rules import TIME_RULES
from messages import raises

LIKERT = karat.datasets.load("likert")
EVIDENCE = remfod(LIKERT)


def judgments(times: list[float], people: list[str] | None = None) -> karat.Judgments:
    frame = {
        "participant": people or ["p1"] * len(times), "item": [f"i{n}" for n in range(len(times))],
        "response": ["1"] * len(times), "rt": times, "words": [3 + n % 7 for n in range(len(times))],
    }  # fmt: skip
    return karat.Judgments(frame, karat.Ordinal(5))


def everything_inside(figure: object) -> None:
    figure.draw_without_rendering()  # type: ignore[attr-defined]
    page = figure.bbox  # type: ignore[attr-defined]
    for axes in figure.axes:  # type: ignore[attr-defined]
        low, high = sorted(axes.get_ylim())
        ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
        seen = [label for place, label in ticks if low <= place <= high]
        for text in (*axes.texts, axes.title, axes._left_title, *seen, axes.xaxis.label):
            if text.get_text():
                box = text.get_window_extent()
                assert page.x0 - 1 <= box.x0, text.get_text()
                assert box.x1 <= page.x1 + 1, text.get_text()
                assert page.y0 - 1 <= box.y0, text.get_text()
                assert box.y1 <= page.y1 + 1, text.get_text()


@pytest.mark.few(1)
@pytest.mark.parametrize("width", [8, 16])
def test_everybody_has_a_row_and_every_trial_a_mark(width: float) -> None:
    figure = EVIDENCE.plot(width_cm=width, rows=100)
    (axes,) = figure.axes
    assert len(axes.get_yticks()) == 48
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["p13  79.2 %", "p11  84.7 %"]
    drawn = [len(line.get_xdata()) for line in axes.lines]
    assert sum(drawn[:5]) == EVIDENCE.timed.height
    assert sum(drawn[1:5]) == EVIDENCE.trials.height
    title = figure.get_suptitle().replace("\n", " ")
    assert title == "5 of 48 participants flagged for under 90 % genuine response times"
    everything_inside(figure)


def test_least_genuine_people_are_drawn_others_counted() -> None:
    (axes,) = EVIDENCE.plot(rows=10).axes
    assert len(axes.get_yticks()) == 10
    assert "38 participants with the same share or a larger one not shown" in axes.get_title(loc="left")


@pytest.mark.few(2)
@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("participant", ["p08", "p06"])
def test_one_participant_with_the_cutoffs(participant: str, width: float) -> None:
    figure = EVIDENCE.plot(participant, width_cm=width)
    (axes,) = figure.axes
    own = EVIDENCE.participants.filter(EVIDENCE.participants["participant"] == participant).row(0, named=True)
    times, boxes = axes.lines[0], axes.lines[1]
    assert len(times.get_xdata()) == own["trials"]
    assert len(boxes.get_xdata()) == own["intermissions"] + own["rushes"]
    title = figure.get_suptitle().replace("\n", " ")
    assert title.startswith(f"{participant}: {own['intermissions']} intermission")
    assert f"in {own['trials']} timed trials" in title
    for side in ("own", "all"):
        assert any(text.get_text().startswith(side) for text in axes.texts)
    everything_inside(figure)


def test_marks_of_single_criteria_are_those_of_their_rules() -> None:
    (axes,) = EVIDENCE.plot("p08").axes
    marked = {str(line.get_marker()): len(line.get_xdata()) for line in axes.lines if line.get_marker() in ("+", "x")}
    for rule, marker in (("participant", "+"), ("function", "x")):
        found = remfod(LIKERT, rule).trials
        assert marked[marker] == found.filter(found["participant"] == "p08").height


@pytest.mark.few(1)
@pytest.mark.parametrize("width", [8, 16])
def test_densities_of_functions_and_participants(width: float) -> None:
    figure = EVIDENCE.plot_density(width_cm=width)
    functions, people = figure.axes
    assert [label.get_text().split("\n")[0] for label in functions.get_yticklabels()] == [
        "attention", "control", "filler", "test", "calibration",
    ]  # fmt: skip
    assert len(people.lines) == 48 + 1
    assert len([line for line in people.lines if line.get_linestyle() == "--"]) == 5
    assert "12.8 between participants" in " ".join(figure.get_suptitle().split())
    everything_inside(figure)


@pytest.mark.few(3)
@pytest.mark.parametrize("rule", list(TIME_RULES))
def test_every_rule_can_be_drawn(rule: str) -> None:
    evidence = remfod(LIKERT, rule)
    assert evidence.plot("p08").axes[0].lines
    assert evidence.plot().get_suptitle().startswith(f"{len(evidence.flagged)} of 48")


@pytest.mark.few(1)
@pytest.mark.parametrize("times", [[2.0], [2.0] * 9, [0.0] * 5, [0.0, 2.0, 2.1, 1.9, 2.0, 300.0], [1e-5, 1e5]], ids=str)
def test_odd_times_can_be_drawn(times: list[float]) -> None:
    evidence = remfod(judgments(times))
    for figure in (evidence.plot(), evidence.plot("p1"), evidence.plot_density()):
        assert to_svg(figure, "t", "d").startswith("<svg")


def test_many_participants_are_thinned_out_and_said() -> None:
    people = [f"p{n:03d}" for n in range(400)]
    evidence = remfod(judgments([1 + n % 9 / 10 for n in range(800)], people * 2))
    (_, axes) = evidence.plot_density().axes
    assert len(axes.lines) == 134 + 1
    assert "one in 3 drawn" in axes.get_title(loc="left")


def test_names_are_drawn_as_they_are_and_long_ones_shortened() -> None:
    people = ["$x_{"] * 3 + ["5f3c2a1b9d8e7f6a5b4c3d2e"] * 3
    evidence = remfod(judgments([1.0, 1.1, 1.2, 2.0, 2.1, 2.3], people))
    labels = [label.get_text() for label in evidence.plot(width_cm=8).axes[0].get_yticklabels()]
    assert labels == ["$x_{  100 %", "5f3c2…c3d2e  100 %"]
    for name in dict.fromkeys(people):
        everything_inside(evidence.plot(name, width_cm=8))


def test_adjusted_times_are_called_so() -> None:
    evidence = remfod(judgments([1.0 + n % 5 for n in range(30)]), length="words")
    assert evidence.plot().axes[0].get_xlabel() == "response time adjusted for length (s)"


def test_who_is_not_there_is_said() -> None:
    with raises(karat.KaratError, "unknown.participant", name="p088", close="p08"):
        EVIDENCE.plot("p088")
    frame = judgments([2.0, 3.0], ["a", "b"]).frame
    frame = frame.with_columns(rt=frame["rt"].set(frame["participant"] == "b", None))
    with raises(karat.KaratError, "remfod.nothing_to_draw"):
        remfod(karat.Judgments(frame, karat.Ordinal(5))).plot("b")


def test_a_density_is_that_of_a_plain_loop_and_sums_to_one() -> None:
    times = np.exp(np.random.default_rng(1).normal(1.5, 0.4, 500))
    at, heights = kernel_density(times)
    logs, grid = np.log(times), np.log(at)
    quarter, three = np.quantile(logs, [0.25, 0.75])
    width = 0.9 * min(logs.std(), (three - quarter) / 1.34) * 500**-0.2
    plain = [np.exp(-0.5 * ((x - logs) / width) ** 2).sum() / (500 * width * np.sqrt(2 * np.pi)) for x in grid]
    assert heights == pytest.approx(np.array(plain), abs=0.002)
    assert np.trapezoid(heights, grid) == pytest.approx(1, abs=0.005)


def test_what_is_drawn_is_no_part_of_what_is_reported() -> None:
    assert isinstance(EVIDENCE, Remfod)
    assert EVIDENCE.timed is not None
    assert "timed" not in json.dumps(EVIDENCE.to_dict(), default=str)
