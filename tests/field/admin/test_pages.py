"""The pages of the dashboard: what they say, and that they are blind while the study is under way."""

from __future__ import annotations

from pathlib import Path

import pytest

from field.admin.fielding import ANSWERS, LEVELS, Fielded
from field.server.visitor import Visitor
from karat.field.admin.page import admin_state
from karat.field.admin.pages import changes
from karat.field.store import studies
from karat.report.export import format_of
from karat.study.study import load


def screened(visitor: Visitor, fielded: Fielded) -> None:
    """Wait until the criteria are computed."""

    class Asking:
        app = visitor.app

    workshop = admin_state(Asking()).workshop  # type: ignore[arg-type]
    with fielded.store.read() as connection:
        row = studies.find(connection, fielded.slug)
    assert row is not None
    workshop.forget(fielded.slug)
    visitor.runner.run(workshop.fresh(fielded.slug, fielded.study, row.screening, row.state != "closed"))


def test_the_first_line_says_how_it_goes(researcher: Visitor, fielded: Fielded) -> None:
    fielded.finish()
    fielded.come()
    page = researcher.get("/admin/blind").text
    assert "<strong>1 of 8 eligible, 1 running, lists " in page
    assert "Blind &lt;study&gt;" in page
    assert "<study>" not in page
    listed = researcher.get("/admin").text
    assert "1 of 8 eligible, 1 running" in listed


def test_no_page_needs_inline_script_or_style(researcher: Visitor, fielded: Fielded) -> None:
    name = fielded.finish()
    for path in (
        "/admin",
        "/admin/blind",
        "/admin/blind/people",
        "/admin/blind/data",
        "/admin/blind/danger",
        f"/admin/blind/people/{name}",
        "/admin/blind/download/judgments.parquet",
    ):
        reply = researcher.get(path)
        assert reply.status == 200
        assert " style=" not in reply.text
        assert "<style" not in reply.text
        assert "onclick" not in reply.text
        assert reply.text.count("<script") == reply.text.count('<script type="module" src="/static/js/admin.js">') == 1
        policy = reply.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert reply.headers["cache-control"] == "no-store"
        assert reply.text.count("<h1") == 1


def test_what_is_not_computed_yet_is_said_to_be_under_way(researcher: Visitor, fielded: Fielded) -> None:
    name = fielded.finish()
    row = researcher.get("/admin/blind/people").text.partition(f">{name}<")[2].partition("</tr>")[0]
    assert "computing" in row
    assert "none" not in row


@pytest.mark.slow
def test_answers_within_a_second_do_not_fit_the_server_s_clock(researcher: Visitor, fielded: Fielded) -> None:
    """The stand-in posts all pages at once and claims seconds for each, as a script does."""
    name = fielded.finish()
    screened(researcher, fielded)
    row = researcher.get("/admin/blind/people").text.split(f'id="person-{name}')[1].split("</tr>")[0]
    cell = row.split('data-label="Receipt times"')[1].split("</td>")[0]
    assert 'class="flag"' in cell


def test_criteria_show_reasons_and_stay_blind_until_closed(researcher: Visitor, fielded: Fielded) -> None:
    attentive, careless = names = [fielded.finish(), fielded.finish(attentive=False, always=ANSWERS[1])]
    fielded.answer(fielded.come(), share=0.5)
    screened(researcher, fielded)
    assert "attention: 3 of 6 trials right" in researcher.get("/admin/blind/people").text
    assert "test" in researcher.get("/admin/blind").text.split("Response times")[1]
    person = researcher.get(f"/admin/blind/people/{careless}").text
    assert "The rule of the study would exclude this participant." in person
    assert "flagged (the reason is shown when the study is closed)" in person
    assert "would keep" in researcher.get(f"/admin/blind/people/{attentive}").text
    flagged = researcher.get("/admin/blind/people?show=flagged").text
    assert careless in flagged
    assert attentive not in flagged
    paths = ["/admin", "/admin/blind/live", "/admin/blind/people?show=flagged"]
    paths += [f"/admin/blind{view}" for view in ("", "/people", "/data", "/danger")]
    paths += [f"/admin/blind/people/{name}" for name in names]
    paths += ["/admin/blind/download/judgments.parquet", "/admin/blind/download/judgments-csv.zip"]
    for path in paths:
        reply = researcher.get(path)
        assert reply.status == 200, path
        for secret in (*LEVELS, *ANSWERS, "zz-item", "Test 1", "Attention 1"):
            assert secret not in reply.text, (path, secret)
    # The same words can be seen once it is over: the test above can fail.
    fielded.store.call(studies.set_state, fielded.id, "closed")
    screened(researcher, fielded)
    assert ANSWERS[1] in researcher.get(f"/admin/blind/people/{names[1]}").text


def test_live_sends_only_what_has_changed(researcher: Visitor, fielded: Fielded) -> None:
    first = researcher.get("/admin/blind/live").json()
    assert set(first["parts"]) == {"status", "lists", "steps", "pace", "times", "people"}
    again = researcher.get(f"/admin/blind/live?have={first['version']}").json()
    if again["version"] == first["version"]:
        assert "parts" not in again
    fielded.finish()
    third = researcher.get(f"/admin/blind/live?have={first['version']}").json()
    assert "1 of 8 eligible" in third["parts"]["status"]


def test_frozen_rules_are_shown_and_changes_reported(researcher: Visitor, fielded: Fielded, study_path: Path) -> None:
    with fielded.store.read() as connection:
        row = studies.find(connection, "blind")
        items = studies.items_of(connection, "blind")
    assert row is not None
    page = researcher.get("/admin/blind/data").text
    assert f"fingerprint <code>{row.screening_fingerprint}</code>" in page
    written = page.partition("karat report ")[2].partition("-o ")[2].partition("<")[0]
    assert format_of(Path(written), None) == "html", "the command that the page shows works as it is"
    assert "Frozen on " in page
    assert changes(row, fielded.study, items) == []
    study_path.write_text(study_path.read_text().replace("at_least = 0.9", "at_least = 0.5"))
    study_path.write_text(study_path.read_text().replace('prompt = "Natural?"', 'prompt = "Good?"'))
    changed = load(study_path)
    assert len(changes(row, changed, items)) == 2
    researcher.app.state.studies["blind"] = changed
    page = researcher.get("/admin/blind/data").text
    assert "The screening rules of the study file differ" in page
    assert "at_least = 0.9" in page
    assert "at_least = 0.5" not in page
    assert "The study has changed since it started: [[block]] prompt. New participants get the new version." in page


def test_previews_are_signed_and_do_not_count(researcher: Visitor, fielded: Fielded) -> None:
    page = researcher.get("/admin/blind/data").text
    links = [part.split('"')[0] for part in page.split('href="')[1:] if part.startswith("/s/blind/?preview=")]
    assert len(links) == fielded.study.lists
    assert researcher.get(links[1]).status == 200


def test_unknown_studies_and_people_are_not_found(researcher: Visitor) -> None:
    for path in (
        "/admin/nothing",
        "/admin/blind/people/p-nobody",
        "/admin/blind/download/secret",
        "/admin/nothing/live",
    ):
        reply = researcher.get(path)
        assert reply.status == 404, path
    assert "There is no such participant" in researcher.get("/admin/blind/people/p-nobody").text


def test_strange_queries_are_harmless(researcher: Visitor) -> None:
    for query in ("show=../..&page=-1", "page=99999999999", "page=²", "show=<script>", "said=<b>"):
        reply = researcher.get(f"/admin/blind?{query}")
        assert reply.status == 200, query
        assert "<script>" not in reply.text


def test_many_people_come_in_pages(researcher: Visitor, fielded: Fielded) -> None:
    for _ in range(53):
        fielded.come(pilot=True)
    page = researcher.get("/admin/blind/people").text
    assert "Page 1 of 2 (53 participants)" in page
    assert page.count('id="person-') == 50
    assert researcher.get("/admin/blind/people?page=2").text.count('id="person-') == 3
