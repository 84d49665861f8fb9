"""The figure of a composition: what it says and what it draws."""

from __future__ import annotations

import pytest

import karat
from karat.messages import Message
from karat.screen.compare.composition import composition
from messages import refuses
from screen.compare.test_composition import screening, unlucky


def test_the_title_says_on_whom_the_verdict_falls() -> None:
    drawn = composition(unlucky()).plot()
    title = drawn.get_suptitle().replace("\n", " ")
    assert title == "6 of 9 with native_language = de are excluded, 3 of 39 others"
    (axis,) = drawn.axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["de", "en"]
    assert {text.get_text() for text in axis.texts} == {"excluded", "6 of 9", "3 of 39"}


def test_one_criterion_and_nobody_flagged() -> None:
    found = composition(screening({"town": ["a", "b", "b"]}, [False] * 3, attention=[True, False, False]))
    assert "Nobody of 3 is excluded" in found.plot(width_cm=8).get_suptitle()
    assert "1 of 3 are flagged by attention" in found.plot("attention").get_suptitle().replace("\n", " ")
    with refuses(karat.KaratError, "atention", "attention"):
        found.plot("atention")


@pytest.mark.slow
def test_the_svg_is_text_and_nothing_to_draw_is_a_sentence() -> None:
    assert composition(unlucky()).to_svg() == composition(unlucky()).to_svg()
    assert "<desc" in composition(unlucky()).to_svg()
    with refuses(karat.KaratError, Message("composition.no_background")):
        composition(screening({}, [True])).plot()
