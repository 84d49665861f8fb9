"""Pages of odd data: one participant, no times, choices only, three answers, names that look like code."""

from __future__ import annotations

import re

import pytest

import karat
from karat.report import build
from karat.report.page import html

NAMES = ["<b>a</b>", 'b"&c', "</style>", "d'e"]


def rated(people: list[str], items: int) -> dict[str, list[object]]:
    """Everybody answers every item on five points, each in another way."""
    cells = [(who, f"i{item}", 1 + (3 * place + item * item) % 5) for place, who in enumerate(people)
             for item in range(items)]  # fmt: skip
    return {"participant": [one[0] for one in cells], "item": [one[1] for one in cells],
            "response": [one[2] for one in cells]}  # fmt: skip


def chosen() -> karat.Judgments:
    """Choices between five stimuli, by four participants."""
    pairs = [(left, right) for left in "ABCDE" for right in "ABCDE" if left < right]
    cells = [(who, left + right, left, right, left if (who + place) % 4 else right) for who in range(4)
             for place, (left, right) in enumerate(pairs)]  # fmt: skip
    names = ("participant", "item", "left", "right", "response")
    rows = {name: [str(one[place]) for one in cells] for place, name in enumerate(names)}
    return karat.Judgments(rows, karat.Choice())


CASES = {
    "one participant": lambda: karat.Judgments(rated(["p1"], 12), karat.Ordinal(5)),
    "one answer": lambda: karat.Judgments(rated(["p1"], 1), karat.Ordinal(5)),
    "three answers": lambda: karat.Judgments(
        {"participant": ["a", "a", "b"], "item": ["x", "y", "x"], "response": [1, 2, 3]}, karat.Ordinal(5)
    ),
    "odd names, no times": lambda: karat.Judgments(rated(NAMES, 12), karat.Ordinal(5)),
    "choices": chosen,
}  # fmt: skip
SELDOM = ("one participant", "three answers")
"""Among the slow tests: one answer and choices are odder."""


@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.slow] * (case in SELDOM)) for case in CASES])
def test_a_page_is_written_and_says_what_is_missing(case: str) -> None:
    judgments = CASES[case]()
    page = html(build(judgments))
    people = judgments.participants.height
    assert page.count("<tr") >= people
    assert "Response times: not shown. These judgments have no response times" in page
    assert "1 participants" not in page
    assert "all 1 participant" not in page
    assert ("intervals over <" in page) == (people > 1)
    assert "spammer_index" not in page
    assert page.count("<script>") == page.count("</style>") == 1
    text = re.sub(r"<(style|script|svg).*?</\1>|data:[^\"]*", "", page, flags=re.DOTALL)
    assert not re.search(r"\b(nan|None|inf)\b", text)


def test_an_index_that_says_nothing_is_said_to_say_nothing() -> None:
    found = build(CASES["three answers"]())
    assert "too wide to draw a conclusion" in html(found)
