"""The flow of participants as a diagram."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

import karat
from karat.screen.run import run

LIKERT = karat.datasets.load("likert")
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_numbers_at_each_step_add_up() -> None:
    screening = run(LIKERT, {"completion": {}, "remfod": {}, "attention": {}, "controls": {}, "exclude": "any"})
    found = texts(screening.flow())
    boxes = [int(text.removeprefix("n = ")) for text in found if re.fullmatch(r"n = \d+", text)]
    left = [int(text.removeprefix("excluded: n = ")) for text in found if text.startswith("excluded")]
    assert boxes[0] == 48
    assert boxes[-1] == 48 - len(screening.excluded)
    assert [a - b for a, b in pairwise(boxes)] == left
    assert "Completion: 1" in found
    assert found[0] == f"{boxes[-1]} of 48 participants stay in the analysis"


@pytest.mark.slow
def test_without_rules_it_says_so() -> None:
    assert "nobody is excluded" in texts(run(LIKERT.without(LIKERT.participants["participant"][12:])).flow())[0]


def test_a_title_and_a_description_for_those_who_listen() -> None:
    root = ElementTree.fromstring(run(LIKERT, {"completion": {}}).flow())
    assert root.find(f"{SVG}title") is not None
    assert "took part: 48" in (root.findtext(f"{SVG}desc") or "")
