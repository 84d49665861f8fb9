"""Every number in the running text of a page comes from a result, in both languages, and a wrong one is found."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.report.build import NOT_COMPUTED, ReportData
from karat.report.export import results
from karat.report.page import html
from karat.report.sections import colophon, sample
from karat.section import Section
from karat.simulate import answer_study
from karat.study.study import load
from report.small import gathered, page
from report.spoken import Spoken, bare, derived, identifiers, numbers, remarks, sources, spoken, strange

STEPS = (1, -1, 3, 7)


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return plain(gathered())


@pytest.fixture(scope="module")
def planned(root: Path) -> ReportData:
    """A study with its file, answered by a simulated crowd; measures are left out to be quick."""
    study = load(root / "examples" / "likert")
    found = karat.screen.run(answer_study(study, participants=24, seed=3), study=study)
    return ReportData(found, study, karat.screen.spammer_index(found.kept), NOT_COMPUTED,
                    dict(found.evidence), versions={"karat": "9.8.7"}, made="2026-03-04")  # fmt: skip


def plain(found: ReportData) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(json.dumps(results(found), allow_nan=False))
    return whole


def paragraphs(*parts: Section) -> list[Spoken]:
    """The paragraphs of sections, without the page around them."""
    return [
        Spoken(own.key, text, own.language) for part in parts for own in part.walk() for text in own.paragraphs
    ]  # fmt: skip


def test_every_number_of_the_page_comes_from_a_result(data: dict[str, Any]) -> None:
    pieces = spoken(page())
    assert {"", "sample", "composition", "times", "people", "results", "methods"} <= {one.section for one in pieces}
    assert sum(len(list(numbers(one.text))) for one in pieces) > 300
    assert strange(pieces, data) == []


def test_german_paragraphs_have_the_same_results(data: dict[str, Any]) -> None:
    pieces = paragraphs(colophon.words_section(gathered(), "de"))
    assert any(number == "1316" for one in pieces for number, _ in numbers(one.text, "de"))
    assert strange(pieces, data) == []


@pytest.mark.parametrize("language", ["en", "de"])
def test_numbers_of_a_preregistration_are_stated_in_the_study(planned: ReportData, language: str) -> None:
    pieces = paragraphs(sample.asked_section(planned), colophon.words_section(planned, language))
    assert {"asked", "methods", "preregistration"} <= {one.section for one in pieces}
    assert strange(pieces, plain(planned)) == []


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("section", "pattern"),
    [
        ("", r"(\d+) of \d+ participants stay"),
        ("", r"difference of −?0\.(\d+)"),
        ("quality", r"flags (\d+) of"),
        ("spammer-index", r"Spammer Index \.(\d+)"),
        ("sample", r"left (\d+) of"),
        ("sample", r"working time was (\d+)\."),
        ("composition", r"^(\d+) of"),
        ("credence", r"^(\d+) of"),
        ("times", r"^(\d+) intermissions"),
        ("attention", r"p = \.(\d+)"),
        ("strengths-0", r"Estimates of (\d+)"),
        ("contrasts-1", r"F\(1, [\d.]+\) = (\d+)\."),
        ("agreement-3", r"for (\d+) participants"),
        ("methods", r"contains (1,\d+) answers"),
        ("methods", r"In total, this excluded (\d+) of"),
    ],
)
def test_a_wrong_number_is_found(data: dict[str, Any], section: str, pattern: str) -> None:
    piece, match = next(
        (one, found) for one in spoken(page()) if one.section == section and (found := re.search(pattern, one.text))
    )
    assert strange([piece], data) == []
    old = match[1].replace(",", "")
    new = str(int(old) + 37).zfill(len(old))
    wrong = piece.text[: match.start(1)] + new + piece.text[match.end(1) :]
    assert strange([Spoken(section, wrong)], data), wrong


def test_most_slips_of_one_digit_are_found(data: dict[str, Any]) -> None:
    """Some slips give another right number of the section; a test that let most of them pass would say little."""
    quotes, names = remarks(data), identifiers(data)
    found, tried = 0, 0
    for piece in spoken(page()):
        if piece.section == "literature" or re.fullmatch(r"\d+ notes?", piece.text):
            continue
        known = sources(piece.section, data)
        for number, around in numbers(bare(piece.text, quotes, names)):
            decimals = len(number.partition(".")[2])
            for step in () if around[:1] in ("<", ">") else STEPS:
                slip = abs(float(number.replace("−", "-"))) + step * 10**-decimals
                tried += slip >= 0
                found += slip >= 0 and not derived(f"{slip:.{decimals}f}", around, known, piece.section)
    assert tried > 500
    assert found / tried > 0.7


def test_text_and_table_say_the_same_of_groups() -> None:
    from karat.report.sections.sample import section, standing_out

    likert = karat.datasets.load("likert")
    for rules in ({"completion": {}, "remfod": {}}, {"attention": {}}, {"completion": {}}):
        screening = karat.screen.run(likert, rules)
        (part,) = section(ReportData(screening, None, NOT_COMPUTED, NOT_COMPUTED)).sections
        out = standing_out(screening.composition())
        assert ("No difference in this share" in part.paragraphs[0]) == (out.height == 0)
        if out.height:
            first = f"with {out['variable'][0]} = {out['group'][0]}"
            assert first in part.paragraphs[0]


@pytest.mark.slow
def test_labels_of_a_crowd_with_a_group_that_stands_out() -> None:
    crowd = karat.datasets.load("crowd")
    people = crowd.participants.rename({"behaviour": "team"})
    judgments = karat.Judgments(crowd.frame, crowd.scales, people)
    found = karat.screen.run(judgments, {"completion": {}, "straightlining": {}, "markov": {}})
    whole = ReportData(found, None, karat.screen.spammer_index(found.kept), NOT_COMPUTED,
                     dict(found.evidence), made="2026-03-04")  # fmt: skip
    data = plain(whole)
    assert data["composition"]["standing_out"]
    assert strange(spoken(html(whole)), data) == []
