"""Figures and reasons of credence: what is drawn, and which sentences explain a verdict."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from karat.messages import Message, message_of, render
from karat.plots.style import to_svg
from karat.screen import ScreenError, credence
from karat.screen.credence_model import reasons
from karat.screen.criteria.credence import PARTS, Credence
from messages import raises
from screen.judged import crowd, message


@cache
def found() -> Credence:
    """A crowd with two who guess and one who begins to at trial 21, in a hurry."""
    judgments = crowd(karat.Ordinal(5), items=40)
    late = (pl.col("participant") == "p04") & (pl.col("trial") > 20)
    guessed = pl.Series(np.random.default_rng(1).integers(1, 6, judgments.frame.height)).cast(pl.String)
    frame = judgments.frame.with_columns(
        response=pl.when(late).then(guessed).otherwise(pl.col("response")),
        rt=pl.when(late).then(pl.col("rt") / 2).otherwise(pl.col("rt")),
    )
    return credence(karat.Judgments(frame, judgments.scales))


@pytest.mark.few(1)
@pytest.mark.parametrize("width", [8, 16])
def test_everybody_is_in_one_bar_and_the_cutoff_is_written(width: float) -> None:
    figure = found().plot(width_cm=width)
    (axes,) = figure.axes
    flagged, kept = (sum(bar.get_height() for bar in bars) for bars in axes.containers)
    assert (flagged, kept) == (3, 17)
    assert ".05" in [text.get_text() for text in axes.texts]
    said = figure.get_suptitle().replace("\n", " ")
    assert said == "3 of 20 participants are attentive with a probability below .05"
    assert found().to_svg().startswith("<svg role=")


@pytest.mark.few(1)
@pytest.mark.parametrize("width", [8, 16])
def test_single_participant_has_bars_and_marks(width: float) -> None:
    figure = found().plot("p04", width_cm=width)
    bars, strip, times = figure.axes
    row = found().participants.row(by_predicate=pl.col("participant") == "p04", named=True)
    drawn = [bar.get_width() for bar in bars.patches]
    assert drawn == pytest.approx([*(row[part] for part in PARTS), row["log_odds"]])
    assert drawn[-1] == pytest.approx(sum(drawn[:-1]))
    for axes in (strip, times):
        before, after = (line.get_xdata() for line in axes.lines[:2])
        assert len(before) + len(after) == 40
        assert max(before) < row["switch_trial"] + 5
        assert min(after) > row["switch_trial"] - 5
    assert f"change at trial {row['switch_trial']}" in [text.get_text() for text in strip.texts]
    assert f"from trial {row['switch_trial']} on" in figure.get_suptitle().replace("\n", " ")
    figure.draw_without_rendering()
    page = figure.bbox
    for text in (*bars.texts, *bars.get_yticklabels(), bars._left_title, *strip.texts, times.xaxis.label):
        box = text.get_window_extent()
        assert page.x0 - 1 <= box.x0 <= box.x1 <= page.x1 + 1, text.get_text()


def test_without_times_and_without_a_change_there_are_two_panels() -> None:
    judgments = crowd(karat.Binary())
    evidence = credence(karat.Judgments(judgments.frame.drop("rt"), judgments.scales))
    figure = evidence.plot("p00")
    assert len(figure.axes) == 2
    assert not figure.axes[1].texts
    assert figure.get_suptitle().startswith("p00: attentive with probability ")
    assert "answer" in to_svg(figure, "a", "b")


def test_trials_of_two_sessions_follow_each_other() -> None:
    judgments = crowd(karat.Binary())
    frame = judgments.frame.with_columns(
        session=pl.when(pl.col("trial") <= 15).then(pl.lit("1")).otherwise(pl.lit("2")),
        trial=(pl.col("trial") - 1) % 15 + 1,
    )
    figure = credence(karat.Judgments(frame, judgments.scales)).plot("p00")
    drawn = np.concatenate([line.get_xdata() for line in figure.axes[1].lines[:2]])
    assert sorted(drawn) == list(range(1, 31))


def test_a_participant_who_is_not_there_is_a_sentence() -> None:
    with raises(ScreenError, "unknown.participant") as refused:
        found().plot("p004")
    assert message_of(refused.value).values["close"].startswith("p0")
    silent = crowd(karat.Binary())
    frame = silent.frame.with_columns(
        response=pl.when(pl.col("participant") == "p00").then(None).otherwise(pl.col("response"))
    )
    with raises(ScreenError, "credence.nothing_to_draw"):
        credence(karat.Judgments(frame, silent.scales)).plot("p00")


ROW: dict[str, Any] = {
    "attentive": 0.0004, "behaviour": "random guessing", "switch_trial": None, "switch_from": None, "switch_to": None,
    "agreement": -3.0, "controls": -0.2, "sequence": 0.8, "times": -7.0, "speakers": 2,
}  # fmt: skip
TRIALS = ("switch_trial", "switch_from", "switch_to")


def values(row: dict[str, Any], groups: int = 1, in_sequence: bool = True) -> dict[str, Any]:
    code, found = reasons(groups, in_sequence=in_sequence)
    table = pl.DataFrame([row], schema_overrides=dict.fromkeys(TRIALS, pl.Int64))
    code_found, values_found = message(table.select(message=code, values=found).row(0, named=True))
    assert code_found == "credence.probability"
    return values_found


def test_what_counts_most_comes_first_and_little_is_left_out() -> None:
    assert values(ROW) == {
        "below": 0.001,
        "behaviour": "random guessing",
        "against": ["evidence.times", "evidence.agreement"],
        "in_favour": ["evidence.sequence"],
    }
    assert values(ROW, in_sequence=False)["in_favour"] == ["evidence.frequency"]


def test_the_sentence_in_both_languages() -> None:
    missing = dict.fromkeys(("probability", "above", "switch", "switch_from", "switch_to", "speakers"))
    found = Message("credence.probability", missing | values(ROW))
    english, german = str(found), render(found, "de")
    assert (".001" in english, "0,001" in german) == (True, True)
    for code in ("evidence.times", "evidence.agreement", "evidence.sequence"):
        assert render(Message(f"word.{code}")) in english
        assert render(Message(f"word.{code}"), "de") in german


def test_of_somebody_attentive_there_is_nothing_to_explain() -> None:
    assert values(ROW | {"attentive": 0.98, "behaviour": "attentive"}) == {"probability": 0.98}
    doubtful = values(ROW | {"attentive": 0.6, "behaviour": "attentive"})
    assert doubtful.keys() == {"probability", "against", "in_favour"}


def test_the_group_is_named_where_there_are_two() -> None:
    assert values(ROW, 2)["speakers"] == 2
    assert "speakers" not in values(ROW)


def test_since_when() -> None:
    changed = ROW | {"behaviour": "repeated pattern", "switch_trial": 9, "switch_from": 9, "switch_to": 9}
    assert values(changed)["switch"] == 9
    assert "switch_from" not in values(changed)
    found = values(changed | {"switch_to": 12})
    assert (found["switch"], found["switch_from"], found["switch_to"]) == (9, 9, 12)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, {"below": 0.001}),
        (0.001, {"probability": 0.001}),
        (0.0315, {"probability": 0.032}),
        (0.99949, {"above": 0.999}),
        (1.0, {"above": 0.999}),
    ],
)
def test_probabilities(value: float, written: dict[str, float]) -> None:
    found = values(ROW | {"attentive": value})
    assert {name: found[name] for name in ("probability", "below", "above") if name in found} == written
