"""The specification curve: what it says, what it draws, and that it is the same each time."""

from __future__ import annotations

import numpy as np
import pytest

import karat
from karat.plots.specification_curve import level_strokes
from karat.screen.compare.multiverse import multiverse

LIKERT = karat.datasets.load("likert")
ORDER = {"factor": "order", "levels": ["PP>OBJ", "OBJ>PP"]}


def test_estimates_are_sorted_and_the_stated_one_is_marked() -> None:
    found = multiverse(LIKERT, {"attention": {}, "controls": {}}, ORDER)
    drawn = found.plot()
    curve, kept, settings = drawn.axes
    heights = np.asarray(curve.lines[0].get_ydata(), dtype=float)
    assert (np.diff(heights) >= 0).all()
    assert "as stated" in {text.get_text() for text in curve.texts}
    assert kept.get_title(loc="left") == "participants who stay, of 48"
    labels = [label.get_text() for label in settings.get_yticklabels()]
    assert labels == ["Control sentences", "positional, .05  ◆", "positional, .01", "extended", "strict", "out",
                      "Attention trials", "positional, .05  ◆", "no slips", "out"]  # fmt: skip
    assert drawn.get_suptitle().replace("\n", " ").startswith("The difference lies between .")


@pytest.mark.few(1)
@pytest.mark.parametrize("rules", [{"attention": {}}, {"exclude": "any"}, None])
def test_draws_with_few_criteria_and_narrow(rules: dict | None) -> None:
    plain = karat.Judgments(LIKERT.frame.drop("order", "integration"), LIKERT.scales, LIKERT.participants)
    drawn = multiverse(plain, rules).plot(width_cm=8)
    assert len(drawn.axes) == 2
    assert "48 participants stay" in drawn.get_suptitle().replace("\n", " ")
    drawn.canvas.draw()


@pytest.mark.slow
def test_the_svg_is_the_same_each_time() -> None:
    found = multiverse(LIKERT, {"attention": {}}, ORDER)
    assert found.to_svg() == found.to_svg()
    assert "sorted by estimate</text>" in found.to_svg()


def test_equal_neighbours_are_one_stroke() -> None:
    x, y = level_strokes(np.array([1.0, 1.0, 2.0]))
    assert x[[0, 1, 3, 4]].tolist() == [0.5, 2.5, 2.5, 3.5]
    assert y.tolist() == [1, 1, 1, 2, 2, 2]
