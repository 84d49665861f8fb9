"""The picture of the thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.measure.result import MeasureError
from karat.measure.scaling.result import point_probabilities, thresholds_figure
from karat.measure.scaling.strengths import strengths
from measure.rated_items import ratings
from messages import codes, raises


def test_thresholds_stand_where_they_were_estimated() -> None:
    found = strengths(ratings(30, 10))
    drawn = thresholds_figure(found)
    above, below = drawn.axes
    dashed = [float(line.get_xdata()[0]) for line in above.lines if line.get_linestyle() == "--"  # type: ignore[index]
              and len(set(np.asarray(line.get_xdata()))) == 1]  # fmt: skip
    assert dashed == pytest.approx(found.fit.thresholds.tolist())
    texts = [text.get_text() for text in above.texts]
    assert f"1 | 2\n{found.fit.thresholds[0]:.2f}" in texts
    assert {"1", "2", "3", "4", "5"} <= set(texts)
    ticks = next(line for line in below.lines if line.get_marker() == "|")
    assert sorted(np.asarray(ticks.get_xdata())) == pytest.approx(sorted(found.frame["estimate"]))


def test_long_names_of_levels_are_not_written_at_thresholds() -> None:
    names = ["entirely bad", "rather bad", "neither", "rather good", "entirely good"]
    judgments = ratings()
    named = judgments.frame.with_columns(judgments.frame["response"].replace_strict(list("12345"), names))
    found = strengths(karat.Judgments(named, karat.Ordinal(names)))
    texts = [text.get_text() for text in thresholds_figure(found).axes[0].texts]
    assert f"{found.fit.thresholds[0]:.2f}" in texts
    assert "entirely good" in texts


def test_other_models_have_no_thresholds() -> None:
    with raises(MeasureError, "strengths.no_thresholds"):
        thresholds_figure(strengths(ratings(), "mean"))


@given(st.lists(st.floats(-6, 6), min_size=1, max_size=6, unique=True), st.floats(-8, 8))
def test_probabilities_of_points(thresholds: list[float], at: float) -> None:
    cuts = np.sort(thresholds)
    (found,) = point_probabilities(np.array([at]), cuts)
    assert found.sum() == pytest.approx(1)
    slow = [1 / (1 + np.exp(at - cut)) for cut in cuts]
    assert found[0] == pytest.approx(slow[0])
    assert found[-1] == pytest.approx(1 - slow[-1])
    assert (found >= 0).all()


def test_stimuli_that_do_not_differ() -> None:
    """Every stimulus has the same answers, from other people: the variance is zero, and so is every strength."""
    who, what = np.divmod(np.arange(360), 20)
    table = {"participant": who.astype(str), "item": what.astype(str), "response": (who + what) % 3 + 1}
    found = strengths(karat.Judgments(table, karat.Ordinal(3)))
    assert found.frame["estimate"].to_numpy() == pytest.approx(0, abs=1e-3)
    assert "strengths.no_stimulus_variance" in codes(found.notes)
    drawn = thresholds_figure(found)
    assert "0 of 20 stimuli lie above the last threshold" in drawn.get_suptitle().replace("\n", " ")
