"""Figures stay legible where they are printed 8 cm wide, and labels with a key show every participant."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from karat.report.first_figure import data, svg
from karat.report.outcomes import Outcomes
from karat.report.sections import sections
from karat.section import Figure, Section
from report.small import PEOPLE, gathered, labelled

PRINTED = 8 / 2.54 * 72
"""The width of a printed figure in points."""
LEAST = 4.85
SIZES = re.compile(r"font(?:-size)?[:=] ?\"?(?:\w+ )*([\d.]+)(?:px|pt|\")")


def smallest_letters(drawn: str) -> float:
    """The size of the smallest letters of a figure that is printed 8 cm wide, in points."""
    width = re.search(r'viewBox="0 0 ([\d.]+)', drawn)
    sizes = [float(size) for size in SIZES.findall(drawn)]
    assert width is not None
    assert sizes
    return min(sizes) * PRINTED / float(width[1])


def figures_within(parts: tuple[Section, ...]) -> Iterator[Figure]:
    for part in parts:
        yield from part.figures
        yield from figures_within(part.sections)


def test_letters_can_be_read_in_print() -> None:
    sizes = {one.key: smallest_letters(one.svg) for one in figures_within(tuple(sections(gathered())))}
    assert len(sizes) > 5
    assert {key: size for key, size in sizes.items() if size < LEAST} == {}


@pytest.mark.parametrize("width", [8.0, 11.9, 12.0, 16.0, 18.0])
def test_letters_grow_with_the_width_of_a_plot(width: float) -> None:
    from karat.plots.style import figure, to_svg

    with figure(width, 5) as drawn:
        drawn.subplots().set_xlabel("a")
    assert smallest_letters(to_svg(drawn, "A", "a")) >= LEAST


def test_labels_with_a_key_show_every_participant() -> None:
    found = labelled().outcomes
    assert isinstance(found, Outcomes)
    assert found.kind == "right"
    assert len(found.people) == PEOPLE
    assert svg(found).count("data-person") == PEOPLE
    assert "#participant=" in svg(found, linked=True)
    assert "#participant=" not in svg(found)
    excluded = data(found)["rules"]["stated"]["gone"]
    assert len(excluded) == len(found.analysed.excluded)
