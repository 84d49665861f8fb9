"""A report on simulated answers says so, on top, in the sample and in the methods, in both languages."""

from __future__ import annotations

import polars as pl
import pytest

import karat
from karat.judgments import Judgments
from karat.report.build import NOT_COMPUTED, ReportData
from karat.report.export import as_data, markdown
from karat.report.page import facts, html
from karat.report.sections import sample
from karat.report.words import methods, preregistration
from karat.simulate import answer_study
from karat.study.init import write_study
from karat.study.study import Study, load
from report.spoken import spoken, strange

BANNERS = {
    "en": "These answers are simulated: nobody gave them.",
    "de": "Diese Antworten sind simuliert: Niemand hat sie gegeben.",
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("study")
    write_study(folder, "likert")
    return load(folder)


@pytest.fixture(scope="module")
def results(study: Study) -> Judgments:
    return answer_study(study, participants=8, seed=3)


def gathered(judgments: Judgments, study: Study) -> ReportData:
    found = karat.screen.run(judgments, {"completion": {}}, study)
    return ReportData(found, study, NOT_COMPUTED, NOT_COMPUTED)


def marked(results: Judgments, number: int) -> Judgments:
    """The same results, with so many simulated participants; the others came by Prolific."""
    source = ["simulated"] * number + ["prolific"] * (results.participants.height - number)
    people = results.participants.with_columns(source=pl.Series(source))
    return karat.Judgments(results.frame, results.scales, people)


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_banner_is_on_top_of_every_format(results: Judgments, study: Study, language: str) -> None:
    found, banner = gathered(results, study), BANNERS[language]
    page = html(found, language)
    assert page.index("<h1>") < page.index(f">{banner}") < page.index('class="say"')
    assert (f'lang="de">{banner}' in page) == (language == "de")
    text, _ = markdown(found, language)
    assert text.splitlines()[2].startswith(f"> **{banner}")
    data = as_data(found, language)
    assert data["simulated"] == 8
    assert data["banner"].startswith(banner)
    assert facts(found)[0] == ("simulated participants", "8")


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_methods_speak_of_no_recruitment(results: Judgments, study: Study, language: str) -> None:
    found = gathered(results, study)
    text = methods(found, language)
    first = text.split("\n\n")[0]
    words = ["recruited through", "were collected", "median duration", "paid", "consent"]
    if language == "de":
        words = ["über Prolific", "erhoben", "Bearbeitungszeit", "Vergütung", "Einwilligung"]
    assert ("No participants were recruited" if language == "en" else "Niemand wurde rekrutiert") in first
    assert not [word for word in words if word in text]
    # A plan is a plan, even if simulated participants tried it out.
    assert "Prolific" in preregistration(found, language)


def test_the_sample_is_nobody(results: Judgments, study: Study) -> None:
    text = " ".join(sample.section(gathered(results, study)).paragraphs)
    assert "Nobody took part: all participants are simulated" in text
    assert "came from" not in text
    assert "<small>8 simulated → " in html(gathered(results, study))


def test_some_simulated_participants_are_counted(results: Judgments, study: Study) -> None:
    found = gathered(marked(results, 3), study)
    data = as_data(found)
    assert data["banner"].startswith("Of 8 participants, 3 are simulated: nobody gave their answers.")
    assert facts(found)[:2] == [("took part", "8"), ("of them simulated", "3")]
    assert methods(found).startswith("Of 8 participants, 3 were simulated with karat;")
    assert "recruited through Prolific" in methods(found)
    assert "Participants came from Prolific (5), simulated (3)." in sample.section(found).paragraphs[2]
    assert strange([one for one in spoken(html(found)) if one.section in ("", "sample", "methods")], data) == []


def test_people_have_no_banner(results: Judgments, study: Study) -> None:
    found = gathered(marked(results, 0), study)
    page, data = html(found), as_data(found)
    assert 'class="banner"' not in page
    assert "simulated" not in methods(found)
    assert (data["simulated"], "banner" in data) == (0, False)
