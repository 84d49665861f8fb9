"""The picture of checks, crosses and tildes."""

from __future__ import annotations

from karat.measure import compare_decisions
from karat.plots.style import to_svg


def test_symbols_stand_at_their_pair_and_measure() -> None:
    found = compare_decisions({"likert": {"1": "expert", "2": "none"}, "choice": {"1": "reverse", "2": "none"}})
    drawn = found.plot()
    (axes,) = drawn.axes
    assert [(text.get_position(), text.get_text()) for text in axes.texts] == [((0, 0), "✓"), ((1, 0), "×")]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["likert", "choice"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1"]
    assert drawn.get_suptitle() == "Measures differ on 1 of 2 pairs"
    assert "no difference found" in to_svg(drawn, "Decisions", "A table.")


def test_many_pairs_are_cut_and_the_cut_is_reported() -> None:
    pairs = [f"a rather long name of the pair with the number {number}" for number in range(80)]
    found = compare_decisions({"a": dict.fromkeys(pairs, "expert"), "b": dict.fromkeys(pairs, "none")})
    drawn = found.plot()
    assert len(drawn.axes[0].get_yticks()) == 60
    assert "(the first 60 are shown)" in drawn.get_suptitle().replace("\n", " ")
    assert all(len(label.get_text()) <= 40 for label in drawn.axes[0].get_yticklabels())


def test_measures_that_agree_have_an_empty_table() -> None:
    found = compare_decisions({"a": {"1": "expert"}, "b": {"1": "expert"}})
    assert not found.plot().axes[0].texts
