"""The style of figures: sizes, reproducible and accessible SVG, labels that do not touch, and no pyplot."""

from __future__ import annotations

import itertools
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from karat import plots as colours
from karat.plots import style as figures

SVG = "{http://www.w3.org/2000/svg}"


def drawn(width: float = 16) -> Figure:
    with figures.figure(width, 7) as figure:
        axes = figure.subplots()
        axes.plot([1, 2000], [1, 3], colours.KEPT_MARKER, color=colours.KEPT)
        axes.plot([500], [2], colours.FLAGGED_MARKER, color=colours.FLAGGED)
        axes.set_ylim(0, 4)
        axes.set_ylabel("share of <genuine> trials & more")
        figures.thousands(axes.xaxis)
        figures.threshold_line(axes, 1.5, "1.5 s")
        figures.threshold_line(axes, 100, "100 trials", across="x")
        figures.say(
            figure, "A finding that is said in a sentence which is rather long, so that it needs lines", "○ kept"
        )
    return figure


@pytest.mark.slow
def test_the_same_figure_is_the_same_svg_letter_by_letter() -> None:
    first, second = (figures.to_svg(drawn(), "A title", "What is to be seen.") for _ in range(2))
    assert first == second
    code = (
        "from karat.plots import style as figures\n"
        "with figures.figure(8, 5) as f: f.subplots().plot([1, 2], [1, 2], 'o')\n"
        "print(figures.to_svg(f, 'a', 'b'))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)]
    assert runs[0] == runs[1]
    assert b"date" not in runs[0].lower()


def test_the_svg_is_sound_says_what_it_shows_and_keeps_texts() -> None:
    text = figures.to_svg(drawn(), "Times < 3 s & more", 'The "first" figure.')
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert [child.text for child in root][:2] == ["Times < 3 s & more", 'The "first" figure.']
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-labelledby"].split() == [root[0].attrib["id"], root[1].attrib["id"]]
    texts = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    assert {"1.5 s", "100 trials", "share of <genuine> trials & more", "○ kept"} <= set(texts)
    assert "1,000" in texts


def test_two_figures_in_one_page_have_different_names() -> None:
    first, second = (ET.fromstring(figures.to_svg(drawn(), title, "d")) for title in ("a", "b"))
    assert first[0].attrib["id"] != second[0].attrib["id"]


@pytest.mark.parametrize("width", [8, 16])
def test_figure_holds_everything_in_readable_letters(width: float) -> None:
    figure = drawn(width)
    figure.draw_without_rendering()
    assert tuple(figure.get_size_inches() * 2.54) == pytest.approx((width, 7))
    page = figure.bbox
    for text in [figure._suptitle, *figure.axes[0].texts, figure.axes[0].yaxis.label]:  # type: ignore[attr-defined]
        box = text.get_window_extent()
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, text.get_text()
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, text.get_text()
        assert text.get_fontsize() >= 7


@pytest.mark.slow
def test_the_style_ends_with_the_block_and_no_window_is_opened() -> None:
    before = dict(mpl.rcParams)
    drawn()
    assert dict(mpl.rcParams) == before
    code = (
        "import sys, karat\n"
        "karat.screen.remfod(karat.datasets.load('likert')).plot()\n"
        "print('matplotlib.figure' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True False\n"


@given(st.lists(st.floats(0, 300), max_size=8))
def test_labels_are_moved_apart_and_keep_their_order(places: list[float]) -> None:
    moved = figures.moved_apart(sorted(places), 10)
    assert len(moved) == len(places)
    assert all(later - earlier >= 10 - 1e-6 for earlier, later in itertools.pairwise(moved))
    if all(later - earlier >= 10 for earlier, later in zip(sorted(places), sorted(places)[1:], strict=False)):
        assert moved == pytest.approx(sorted(places))


def test_lines_of_a_text_fit_and_given_lines_stay() -> None:
    with figures.figure(8, 5) as figure:
        text = figures.wrapped(figure, "word " * 40 + "\nsecond", 7)
        figure.text(0, 0, text, fontsize=7)
        assert figure.texts[0].get_window_extent().x1 <= figure.bbox.x1
    assert text.splitlines()[-1] == "second"


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize(("colour", "least"), [(colours.KEPT, 4.5), (colours.FLAGGED, 3.0), (colours.GREY, 4.5)])
def test_colours_stand_out_from_the_ground(colour: str, least: float) -> None:
    assert 1.05 / (luminance(colour) + 0.05) >= least
