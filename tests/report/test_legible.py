"""Figures stay legible where they are printed 8 cm wide, and labels with a key show every participant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import polars as pl
import pytest

import karat
from karat.judgments.scales import Scale
from karat.report.build import NOT_COMPUTED
from karat.report.course_figures import densities_figure
from karat.report.first_figure import data, svg
from karat.report.outcomes import Outcomes, outcomes
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


def first_of(frame: dict[str, list[Any]], scale: Scale) -> Outcomes:
    """The main result of a small table."""
    found = outcomes(karat.screen.run(karat.Judgments(frame, scale), {"completion": {}}), None, NOT_COMPUTED)
    assert isinstance(found, Outcomes)
    return found


def ratings(levels: Sequence[str], answers: Sequence[Any]) -> dict[str, list[Any]]:
    """Four participants who rate two items in each condition, with the answers in turn."""
    who, item, verb = map(list, zip(*product(["p1", "p2", "p3", "p4"], ["t1", "t2"], levels), strict=True))
    return {
        "participant": who,
        "item": item,
        "verb": verb,
        "response": [answers[n % len(answers)] for n in range(len(who))],
    }


def test_ratings_without_conditions_are_shares_of_answers() -> None:
    table = ratings(["a"], [-1, 0, 1])
    del table["verb"]
    found = first_of(table, karat.Ordinal([-1, 0, 1]))
    assert (found.factors, found.percent) == (("answer",), True)
    assert found.unit.startswith("answers")
    assert ">\N{MINUS SIGN}1</text>" in svg(found)


def test_an_axis_from_nothing_to_one_has_ticks_between() -> None:
    found = first_of(ratings(["x", "y"], [0.2, 0.6, 0.8]), karat.Continuous(0, 1))
    assert (found.low, found.high) == (0, 1)
    assert svg(found).count('class="grid"') > 3


def test_coded_levels_rise() -> None:
    levels = ["a 0.5", "a \N{MINUS SIGN}0.5"]
    found = first_of(ratings(levels, [1, 2, 4]), karat.Ordinal(5))
    assert [cell[0] for cell in found.cells] == levels[::-1]


def test_numbers_of_a_long_axis_of_times_do_not_touch() -> None:
    times = [0.5, 2.0, 40.0, 900.0, 20_000.0, 300_000.0]
    rows = {"participant": [who for who in "abcd" for _ in times], "item": [f"i{n}" for n in range(6)] * 4,
            "response": [1, 2] * 12, "rt": times * 4, "trial": [*range(1, 7)] * 4}  # fmt: skip
    found = karat.screen.remfod(karat.Judgments(rows, karat.Ordinal(5)))
    drawn = densities_figure(found, "", "", pl.DataFrame()).svg
    labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*text-anchor="middle"[^>]*>([\d.,]+)</text>', drawn)
    assert len(labels) >= 4
    for (x, y, text), (next_x, next_y, following) in pairwise(labels):
        if y == next_y and float(next_x) > float(x):
            assert float(next_x) - float(x) > 5 * (len(text) + len(following)) / 2
