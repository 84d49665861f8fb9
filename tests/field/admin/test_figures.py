"""The small pictures: sizes follow the numbers, and nothing in them needs a style of its own."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from karat.field.admin.pages import columns, spread, stacked_bar

COUNTS = st.integers(0, 10_000)


def widths(svg: str) -> dict[str, float]:
    return {rect.attrib["class"]: float(rect.attrib["width"]) for rect in ElementTree.fromstring(svg).iter("rect")}


@given(COUNTS, COUNTS, COUNTS)
def test_a_bar_has_the_shares_of_its_parts(complete: int, running: int, whole: int) -> None:
    found = widths(stacked_bar([("complete", complete), ("running", running)], whole))
    longest = max(whole, complete + running, 1e-9)
    assert abs(found.get("complete", 0) - 100 * complete / longest) < 0.01
    assert abs(found.get("running", 0) - 100 * running / longest) < 0.01
    assert found.get("complete", 0) + found.get("running", 0) <= 100.02


@given(st.lists(COUNTS, max_size=60))
def test_the_highest_column_fills_the_picture(counts: list[int]) -> None:
    rects = list(ElementTree.fromstring(columns(counts)).iter("rect"))
    assert len(rects) == sum(count > 0 for count in counts)
    if any(counts):
        assert max(float(rect.attrib["height"]) for rect in rects) == 40


@given(st.lists(st.floats(0.01, 1000), min_size=5, max_size=5).map(sorted))
def test_quantiles_stay_in_the_picture_and_in_order(quantiles: list[float]) -> None:
    picture = ElementTree.fromstring(spread(quantiles, quantiles[0], quantiles[-1]))
    box, middle = picture.iter("rect")
    start = float(box.attrib["x"])
    assert -0.01 <= start <= float(middle.attrib["x"]) + 0.51
    assert start + float(box.attrib["width"]) <= 100.51


def test_no_inline_style_and_no_text() -> None:
    for svg in (stacked_bar([("complete", 1)], 2), columns([1, 2]), spread([1, 2, 3, 4, 5], 1, 5)):
        assert "style" not in svg
        assert re.search('aria-hidden="true"', svg)
