"""Platforms: how people come, and how they return."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from field.server.conftest import KNOWN, TEXTS, Served, write
from field.server.visitor import Visitor, filled_in
from karat.field.content.texts import words
from karat.field.server.visits import device_class
from karat.field.store import export, people
from karat.field.store.schema import event, identity, session

WORDS = words("en")

PROLIFIC = """
[recruitment]
platform = "prolific"
completion_code = "C1A2B3"
screened_out_code = "S9"
"""
MTURK = '\n[recruitment]\nplatform = "mturk"\n'
PERSON = {"PROLIFIC_PID": "5f0a5f0a5f0a5f0a5f0a5f0a", "STUDY_ID": "77" * 12, "SESSION_ID": "6a6a6a6a" * 3}
ANOTHER = "9b" * 12
WORKER = {
    "assignmentId": "A123", "hitId": "H1", "workerId": "W1", "turkSubmitTo": "https://workersandbox.mturk.com",
}  # fmt: skip


@pytest.fixture
def prolific(serve: Callable[..., Served], tmp_path: Path) -> Served:
    return serve(write(tmp_path / "study", TEXTS + PROLIFIC))


@pytest.fixture
def mturk(serve: Callable[..., Served], tmp_path: Path) -> Served:
    return serve(write(tmp_path / "study", TEXTS + MTURK))


def finish(person: Visitor, page: Any) -> Any:
    """Go through the whole study."""
    person.go_on(page, KNOWN)
    person.answer_all()
    return person.go_on(person.get("/s/study/go"), KNOWN)


def test_prolific_from_arrival_to_return(prolific: Served) -> None:
    person = prolific.visitor()
    page = finish(person, person.arrive(**PERSON))
    assert 'href="https://app.prolific.com/submissions/complete?cc=C1A2B3"' in page.text
    assert "C1A2B3</p>" in page.text
    (row,) = prolific.rows(session)
    assert PERSON["PROLIFIC_PID"] not in str(row)
    assert prolific.rows(identity)[0]["platform_id"] == PERSON["PROLIFIC_PID"]


def test_no_code_before_everything_is_saved(prolific: Served) -> None:
    person = prolific.visitor()
    page = person.arrive(**PERSON)
    pages = [page]
    while 'id="trials"' not in page.text:
        page = person.send(page.form("/step/"), filled_in(page.form("/step/"), KNOWN))
        pages.append(page)
    person.answer_all(most=2)
    pages += [person.get("/s/study/done"), person.get("/s/study/go"), person.api("GET", "trials")]
    assert not any("C1A2B3" in one.text for one in pages)


def test_redirect_only(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + PROLIFIC + '\n[field]\ncompletion = "redirect"\n'))
    person = served.visitor()
    page = finish(person, person.arrive(**PERSON))
    assert page.status == 303
    assert page.headers["location"] == "https://app.prolific.com/submissions/complete?cc=C1A2B3"


def test_codes_of_other_outcomes(prolific: Served) -> None:
    person = prolific.visitor()
    page = person.send(person.arrive(**PERSON).form("/step/consent"))
    page = person.send(page.form("/step/background"), {"first_language": "German"})
    assert "cc=S9" in page.text
    assert "C1A2B3" not in page.text
    other = prolific.visitor()
    page = other.send(other.arrive(PROLIFIC_PID=ANOTHER, SESSION_ID=ANOTHER).form("/step/consent"), button=1)
    assert "cc=" not in page.text
    assert "return your submission on Prolific" in page.text


def test_one_submission_a_person(prolific: Served) -> None:
    person = prolific.visitor()
    person.go_on(person.arrive(**PERSON), KNOWN)
    other_browser = prolific.visitor()
    page = other_browser.arrive(**{**PERSON, "SESSION_ID": ANOTHER})
    assert WORDS["end.running"] in page.text
    assert 'id="trials"' in other_browser.arrive(**PERSON).text  # without an answer there is nothing to take over
    assert person.api("GET", "trials").status == 401
    page = finish(other_browser, other_browser.get("/s/study/go"))
    assert WORDS["end.taken"] in prolific.visitor().arrive(**{**PERSON, "SESSION_ID": ANOTHER}).text
    assert "C1A2B3" in other_browser.arrive(**PERSON).text
    assert len(prolific.rows(session)) == 1


def test_two_ids_do_not_open_a_session(prolific: Served) -> None:
    person, thief = prolific.visitor(), prolific.visitor()
    person.go_on(person.arrive(**PERSON), KNOWN)
    person.answer_all(most=1)
    assert WORDS["end.running"] in thief.arrive(**PERSON).text
    assert thief.cookies == {}
    assert person.api("GET", "trials").status == 200
    # Somebody who has lost the browser asks the researcher, who lets the ids be enough once.
    (row,) = prolific.rows(session)
    assert prolific.store.call(people.release, prolific.study_id, row["participant"])
    again = prolific.visitor()
    assert 'id="trials"' in again.arrive(**PERSON).text
    assert WORDS["end.running"] in thief.arrive(**PERSON).text
    page = finish(again, again.get("/s/study/go"))
    assert row["withdrawal_code"] in page.text
    # After the end the ids give the code, which belongs to the study, and nothing else.
    page = thief.arrive(**PERSON)
    assert "C1A2B3" in page.text
    assert row["withdrawal_code"] not in page.text
    assert thief.cookies == {}
    assert thief.post("/s/study/withdraw", {"confirm": "yes"}).status == 401
    assert prolific.rows(session)[0]["state"] == "complete"


def test_a_submission_belongs_to_one_person(prolific: Served) -> None:
    first = prolific.visitor()
    first.go_on(first.arrive(**PERSON), KNOWN)
    for number in range(6):
        page = prolific.visitor().arrive(**{**PERSON, "PROLIFIC_PID": f"{number:024x}"})
        assert WORDS["end.running"] in page.text
    assert len(prolific.rows(session)) == 1
    assert [(one["session_id"], one["kind"]) for one in prolific.rows(event)] == [(1, "shared-submission")]
    assert first.api("GET", "trials").status == 200


@pytest.mark.parametrize("made_up", ["me", "5f0a" * 6 + "0", "g" * 24, "<script>"])
def test_ids_that_prolific_does_not_give(prolific: Served, made_up: str) -> None:
    page = prolific.visitor().get(f"/s/study/?PROLIFIC_PID={made_up}")
    assert page.forms == []


def test_what_was_agreed_to_is_kept(prolific: Served) -> None:
    person = prolific.visitor()
    before = time.time()
    person.send(person.arrive(**PERSON).form("/step/consent"))
    (row,) = prolific.rows(session)
    assert before <= row["consented"] <= time.time()
    assert row["consent"] == prolific.app.state.served_studies["study"].consent
    with prolific.store.read() as connection:
        result = export.participants(connection, prolific.study_id)
    assert (result["consent_text"].item(), result["consent_time"].item().timestamp()) == (
        row["consent"], pytest.approx(row["consented"]),
    )  # fmt: skip


def test_a_closed_study_asks_for_the_place_on_the_platform(prolific: Served) -> None:
    early = prolific.visitor()
    form = early.get(f"/s/study/?PROLIFIC_PID={ANOTHER}").form("/begin")
    prolific.set_state("closed")
    for page in (early.send(form), prolific.visitor().get(f"/s/study/?PROLIFIC_PID={ANOTHER}")):
        assert WORDS["end.closed"] in page.text
        assert "return your submission on Prolific" in page.text


def test_a_shared_computer_does_not_mix_people(prolific: Served) -> None:
    person = prolific.visitor()
    person.go_on(person.arrive(**PERSON), KNOWN)
    page = person.arrive(PROLIFIC_PID=ANOTHER, SESSION_ID=ANOTHER)
    assert "Your consent" in page.text
    assert len(prolific.rows(session)) == 2


@pytest.mark.parametrize(
    ("query", "flaw"),
    [("", "missing"), ("PROLIFIC_PID=", "missing"), ("prolific_pid=" + "5f" * 12, "missing"),
     ("PROLIFIC_PID={{%25PROLIFIC_PID%25}}", "placeholder"), ("PROLIFIC_PID=...", "placeholder"),
     ("PROLIFIC_PID=<script>", "placeholder"), ("PROLIFIC_PID=5f0a", "invalid"),
     ("PROLIFIC_PID=" + "5f" * 24, "invalid"), ("PROLIFIC_PID=anna@example.org", "invalid")],
)  # fmt: skip
def test_a_page_says_what_is_wrong_with_an_id(query: str, flaw: str, prolific: Served) -> None:
    page = prolific.visitor().get(f"/s/study/?{query}")
    assert WORDS[f"landing.id_{flaw}"] in page.text
    assert page.forms == []
    assert not any(given in page.text for given in ("5f", "anna", "<script>", "{{"))


def test_an_id_that_an_open_study_cannot_use_is_not_dropped(served: Served) -> None:
    page = served.visitor().get("/s/study/?pid=%25SURVEY_CODE%25")
    assert WORDS["landing.id_placeholder"] in page.text
    assert page.forms == []


def test_of_an_id_and_a_placeholder_the_id_counts(prolific: Served) -> None:
    person = prolific.visitor()
    doubled = f"PROLIFIC_PID={PERSON['PROLIFIC_PID']}&PROLIFIC_PID={{{{%25PROLIFIC_PID%25}}}}"
    person.send(person.get(f"/s/study/?{doubled}").form("/begin"))
    assert prolific.rows(identity)[0]["platform_id"] == PERSON["PROLIFIC_PID"]


def test_nobody_begins_by_a_preview_that_has_expired(served: Served) -> None:
    page = served.visitor().get("/s/study/?preview=made.up")
    assert WORDS["landing.preview_expired"] in page.text
    assert page.forms == []


def test_other_platforms_return_by_an_address(serve: Callable[..., Served], tmp_path: Path) -> None:
    more = """
[recruitment]
platform = "crowdee"
id_parameter = "worker"
completion_url = "https://crowdee.example/end?w={pid}&code={code}"
"""
    served = serve(write(tmp_path / "study", TEXTS + more))
    person = served.visitor()
    page = finish(person, person.arrive(worker="w-1"))
    code = served.rows(session)[0]["completion_code"]
    assert f'href="https://crowdee.example/end?w=w-1&amp;code={code}"' in page.text
    assert "form-action 'self' https://crowdee.example;" in page.headers["content-security-policy"]


def test_mturk_preview_allocates_nothing(mturk: Served) -> None:
    page = mturk.visitor().get("/s/study/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H1")
    assert WORDS["landing.preview"] in page.text
    assert page.forms == []
    assert "https://workersandbox.mturk.com" in page.headers["content-security-policy"].split("frame-ancestors")[1]
    assert mturk.rows(session) == []


def test_mturk_in_its_frame(mturk: Served) -> None:
    person = mturk.visitor()
    page = person.arrive(**WORKER)
    replies = [page]
    while 'id="trials"' not in page.text:
        page = person.send(page.form("/step/"), filled_in(page.form("/step/"), KNOWN))
        replies.append(page)
    person.token = page.text.split('name="karat-token" content="')[1].split('"')[0]
    person.answer_all()
    page = person.post("/s/study/go", {"token": person.token})
    while page.forms and "/step/" in page.forms[0].action:
        page = person.send(page.form("/step/"), filled_in(page.form("/step/"), KNOWN))
        replies.append(page)
    assert person.cookies == {}
    assert all(one.status == 200 and "cross-origin-embedder-policy" not in one.headers for one in replies)
    form = page.form("externalSubmit")
    assert form.action == "https://workersandbox.mturk.com/mturk/externalSubmit"
    assert (form.hidden["assignmentId"], form.hidden["outcome"]) == ("A123", "complete")
    policy = page.headers["content-security-policy"]
    assert "https://workersandbox.mturk.com" in policy.split("form-action")[1].split(";")[0]
    assert "'none'" not in policy.split("frame-ancestors")[1].split(";")[0]


def test_mturk_reload_goes_on(mturk: Served) -> None:
    person = mturk.visitor()
    page = person.go_on(person.arrive(**WORKER), KNOWN)
    assert 'id="trials"' in page.text
    assert 'id="trials"' in mturk.visitor().arrive(**WORKER).text
    assert WORDS["end.running"] in mturk.visitor().arrive(**{**WORKER, "assignmentId": "A999"}).text


ELSEWHERE = (
    "https://evil.example", "http://www.mturk.com", "https://www.mturk.com@evil.example/", "javascript:alert(1)",
    "https://www.mturk.com.evil.example", "//evil.example", "https://www.mturk.com/redirect?to=evil",
)  # fmt: skip


@pytest.mark.few(1)
def test_turk_submit_to_is_no_open_redirect(mturk: Served) -> None:
    for number, target in enumerate(ELSEWHERE):
        person = mturk.visitor()
        arrived = person.arrive(assignmentId=f"A{number}", hitId="H1", workerId=f"W{number}", turkSubmitTo=target)
        page = person.go_on(arrived, KNOWN)
        person.token = page.text.split('name="karat-token" content="')[1].split('"')[0]
        person.answer_all()
        page = person.go_on(person.post("/s/study/go", {"token": person.token}), KNOWN, until='class="code"')
        assert "evil" not in page.text
        assert "javascript:" not in page.text
        assert all("externalSubmit" not in form.action for form in page.forms)
        assert mturk.rows(session)[-1]["completion_code"] in page.text


def test_devices_by_their_user_agents() -> None:
    agents = {
        "Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/130 Mobile Safari/537.36": "phone",
        "Mozilla/5.0 (Linux; Android 15; SM-X910) Chrome/130 Safari/537.36": "tablet",
        "Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) Mobile/15E148": "tablet",
        "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0": "desktop",
        "": "desktop",
    }
    assert {agent: device_class(agent) for agent in agents} == agents
