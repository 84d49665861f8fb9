"""The report of the reference data: every number in its running text comes from a result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.report.build import build
from karat.report.export import results
from karat.report.page import html
from karat.report.sections import colophon
from report.spoken import Spoken, numbers, spoken, strange

FILES: dict[str, dict[str, Any]] = {
    "ajt/likert.csv": {"mapping": {"expected": "expected_min..expected_max"}},
    "ba/mturk.csv": {},
}
RULES = {"completion": {}, "remfod": {}, "exclude": "any"}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_number_of_the_page_comes_from_a_result(reference: Path, name: str) -> None:
    found = build(karat.read(reference / name, **FILES[name]), rules=RULES)
    data = json.loads(json.dumps(results(found), allow_nan=False))
    pieces = spoken(html(found))
    assert sum(len(list(numbers(one.text))) for one in pieces) > 300
    assert strange(pieces, data) == []
    german = [
        Spoken(own.key, text, "de") for own in colophon.words_section(found, "de").walk() for text in own.paragraphs
    ]  # fmt: skip
    assert strange(german, data) == []
