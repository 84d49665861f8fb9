"""A screening: the flow of participants, and who passes what."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.messages import Message
from karat.screen.right_answers import count_rule, guess_note, guessing_tails, joint_rule
from karat.screen.run import run

LIKERT = karat.datasets.load("likert")


def test_notes_are_gathered_and_a_shared_one_is_said_once(tmp_path: Path) -> None:
    screening = run(LIKERT, {"even_odd": {}, "person_total": {}, "completion": {}, "exclude": "any"})
    said = [note for one in screening.evidence.values() for note in one.notes]
    assert len(said) > len(set(said)) > 1
    first, second = screening.evidence["even_odd"], screening.evidence["person_total"]
    (shared,) = set(first.notes) & set(second.notes)
    assert Message("screening.note", {"criteria": ["even_odd", "person_total"], "note": shared}) in screening.notes
    assert len(screening.notes) == len(set(said))
    for note in said:
        assert len([one for one in screening.notes if one.values["note"] == note]) == 1
    screening.write(tmp_path)
    text = json.loads((tmp_path / "screening.json").read_text(encoding="utf-8"))
    assert text["summary"]["notes"] == list(map(str, screening.notes))


def test_a_note_that_a_criterion_gives_twice_is_there_once() -> None:
    screening = run(LIKERT, {"completion": {}})
    note = Message("screening.nobody_left")
    own = replace(screening.evidence["completion"], notes=(note, note))
    (found,) = replace(screening, evidence={"completion": own}).notes
    assert found == Message("screening.note", {"criteria": ["completion"], "note": note})


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


CHANCES = st.lists(st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(2, 5), Fraction(3, 5)]), max_size=6)


def enumerated(chances: list[Fraction]) -> list[Fraction]:
    """The probabilities of at least 0, 1, ... right guesses, from all ways to be right and wrong."""
    tails = [Fraction(0)] * (len(chances) + 1)
    for outcome in product([True, False], repeat=len(chances)):
        p = prod((c if right else 1 - c for c, right in zip(chances, outcome, strict=True)), start=Fraction(1))
        for k in range(sum(outcome) + 1):
            tails[k] += p
    return tails


@given(CHANCES)
def test_tails_of_different_chances(chances: list[Fraction]) -> None:
    assert list(guessing_tails(tuple(chances))) == enumerated(chances)


@given(CHANCES.filter(bool), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_fewest_right_answers_that_keep_guessing_under_alpha(chances: list[Fraction], alpha: float) -> None:
    rule, tails = count_rule(chances, alpha), enumerated(chances)
    if rule.probability is None:
        assert tails[-1] > Fraction(str(alpha))
        assert rule.why_not is not None
        assert rule.why_not.code == "passing.too_few"
    else:
        (k,) = rule.needed
        assert rule.probability == float(tails[k])
        assert tails[k] <= Fraction(str(alpha)) < tails[k - 1]


@given(CHANCES.filter(bool), CHANCES.filter(bool), st.integers(0, 3))
def test_stated_slips_leave_the_product_of_both_groups(
    good: list[Fraction], bad: list[Fraction], slips: int
) -> None:  # fmt: skip
    rule = joint_rule(good, bad, 0.05, slips)
    if slips >= min(len(good), len(bad)):
        assert rule.why_not is not None
        assert rule.why_not.code == "passing.nothing_required"
    else:
        assert rule.needed == (len(good) - slips, len(bad) - slips)
        chance = enumerated(good)[rule.needed[0]] * enumerated(bad)[rule.needed[1]]
        assert rule.probability == pytest.approx(float(chance))


@pytest.mark.parametrize("n", [3, 5, 8, 12])
def test_even_scales_have_a_chance_of_one_half_in_both_groups(n: int) -> None:
    half = [Fraction(1, 2)] * n
    rule = joint_rule(half, half, 0.05)
    tails = enumerated(half) if n < 9 else list(guessing_tails(tuple(half)))
    assert rule.probability is not None
    assert rule.probability == pytest.approx(float(tails[rule.needed[0]] * tails[rule.needed[1]]))
    assert rule.probability <= 0.05
    published = joint_rule(half, half, 0.05, published=True)
    assert published.probability is not None
    assert published.probability <= 0.05


def test_messages() -> None:
    assert count_rule([Fraction(1, 2)] * 2, 0.05).why_not == Message("passing.too_few", {"n": 2, "p": 0.25})
    assert guess_note(0.1, 0.001) == Message("passing.guessing", {"p": 0.1, "alpha": 0.001})
