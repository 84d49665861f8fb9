"""The dot plot of strengths."""

from __future__ import annotations

import numpy as np

import karat
from karat.measure.scaling.strengths import strengths
from measure.rated_items import ratings


def test_every_stimulus_with_its_interval_the_strongest_on_top() -> None:
    found = strengths(ratings(), "mean")
    axes = found.plot().axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == found.labels
    (segments,) = axes.collections
    ends = np.array([segment[:, 0] for segment in segments.get_segments()])  # type: ignore[attr-defined]
    np.testing.assert_allclose(ends, found.frame.select("lower", "upper").to_numpy())
    bottom, top = axes.get_ylim()
    assert bottom > top
    assert axes.get_xlabel() == "points of the scale from 1 to 5, with 95 % intervals"


def test_many_stimuli_show_both_ends_and_say_the_rest() -> None:
    found = strengths(karat.datasets.load("likert"), "mean")
    drawn = found.plot()
    shown = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert shown == found.labels[:30] + found.labels[-30:]
    assert drawn.axes[0].texts[0].get_text() == "... 36 more between these ..."
    assert found.labels[0] in drawn.get_suptitle().replace("\n", " ")


def test_long_labels_are_cut() -> None:
    frame = ratings().frame
    long = karat.Judgments(frame.with_columns(item=frame["item"] + " " + "word " * 20), karat.Ordinal(5))
    labels = strengths(long, "mean").plot().axes[0].get_yticklabels()
    assert all(len(label.get_text()) == 40 and label.get_text().endswith("…") for label in labels)


def test_one_stimulus() -> None:
    one = ratings().frame.filter(ratings().frame["item"] == "i1")
    drawn = strengths(karat.Judgments(one, karat.Ordinal(5)), "mean").plot()
    assert drawn.get_suptitle().endswith(" i1")
