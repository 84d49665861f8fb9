"""The line plot of a semantic differential."""

from __future__ import annotations

import pytest

import karat
from karat.measure import MeasureError, profiles
from karat.messages import message_of
from karat.plots.style import to_svg
from measure.differential import differential
from messages import raises


def test_a_line_for_each_group_named_where_it_begins() -> None:
    found = profiles(differential(), "source")
    drawn = found.plot(poles={"clear": ("unclear", "clear")})
    axes = drawn.axes[0]
    assert len(axes.lines) == 2
    assert {text.get_text() for text in axes.texts} == {"city", "country"}
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["unclear", "precise"]
    assert axes.get_ylim() == (5.5, -0.5)
    assert "lie farthest apart on" in drawn.get_suptitle()
    assert found.plot(["city"]).get_suptitle() == "The profile of city on 6 pairs"
    assert "country</text>" in to_svg(drawn, "Profiles", "Two lines.")


def test_points_stand_at_the_means() -> None:
    found = profiles(differential(), "source")
    for line, group in zip(found.plot().axes[0].lines, found.groups, strict=True):
        means = [row["mean"] for row in found.frame.to_dicts() if row["group"] == group]
        assert list(line.get_xdata()) == pytest.approx(means)


def test_a_wide_interval_does_not_push_the_means_together() -> None:
    # Two ratings as different as those of b have an interval many times as wide as the scale.
    ratings = {"participant": ["p1", "p2"] * 4, "item": [*"aaaabbbb"],
               "question": ["clear", "clear", "neat", "neat"] * 2,
               "response": [10.0, 12.0, 50.0, 52.0, 1.0, 99.0, 90.0, 92.0]}  # fmt: skip
    found = profiles(karat.Judgments(ratings, karat.Continuous(0, 100)))
    assert found.frame["upper"].max() > 500
    left, right = found.plot().axes[0].get_xlim()
    assert -50 < left < 10
    assert 90 < right < 150


def test_lines_that_are_not_all_say_so() -> None:
    found = profiles(differential())
    assert found.plot(list(found.groups[:3])).get_suptitle().startswith("Of the 3 shown, ")


def test_too_many_lines_and_unknown_groups_are_refused() -> None:
    found = profiles(differential())
    with raises(MeasureError, "profiles.lines") as caught:
        found.plot()
    assert message_of(caught.value).values["n"] == 12
    with raises(MeasureError, "profiles.unknown_group"):
        found.plot(["t99"])
    assert len(found.plot(["t00", "t01"]).axes[0].lines) == 2
