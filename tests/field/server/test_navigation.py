"""Whole visits: every task, every step, and coming back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from field.server.conftest import BLOCK, ITEMS, KNOWN, TEXTS, Served, write
from field.server.visitor import filled_in
from karat.field.content.texts import words
from karat.field.server.security import plain_hash, sign
from karat.field.store import export, studies
from karat.field.store.schema import answer, event, invitation, session, trial
from karat.study.init import TEMPLATES, write_study
from karat.study.study import load

WORDS = words("en")

PERSON = {"PROLIFIC_PID": "5f0a5f0a5f0a5f0a5f0a5f0a", "SESSION_ID": "6a" * 12, "STUDY_ID": "77" * 12}


def heading(page: Any) -> str:
    assert page.text.count("<h1>") == 1
    return page.text.split("<h1>")[1].split("</h1>")[0]


def test_whole_visit(served: Served) -> None:
    person = served.visitor()
    page = person.arrive()
    seen = []
    while 'id="trials"' not in page.text:
        seen.append(heading(page))
        page = person.send(page.form("/step/"), filled_in(page.form("/step/"), KNOWN))
    assert seen == ["Your consent", "About you", "What to do", "Are the instructions clear?"]
    assert len(person.answer_all()) == 3
    page = person.get("/s/study/go")
    assert heading(page) == "A few more questions about you"
    page = person.go_on(page, KNOWN)
    assert page.path == "/s/study/done"
    (row,) = served.rows(session)
    assert (row["state"], row["step"], row["answered"]) == ("complete", "done", 3)
    assert row["completion_code"] in page.text
    assert row["withdrawal_code"] in page.text
    assert row["background"] == {"first_language": "English", "age": "31"}
    assert [one["response"] for one in served.rows(answer)] == ["1"] * 3
    assert row["completion_code"] in person.get("/s/study/go").text  # and again, when they come back


@pytest.mark.few(1)
@pytest.mark.parametrize("task", list(TEMPLATES))
def test_every_task(task: str, serve: Callable[..., Served], tmp_path: Path) -> None:
    write_study(tmp_path / "study", task)
    study = load(tmp_path / "study")
    served = serve(study)
    person = served.visitor()
    known = {question.question: (question.eligible or question.answers)[0] for question in study.settings.background}
    known |= {quiz.question: quiz.answers[quiz.right - 1] for quiz in study.settings.texts.quiz}
    page = person.go_on(person.arrive(**PERSON), known)
    sent = person.answer_all()
    assert person.go_on(person.get("/s/study/go"), known).path == "/s/study/done"
    planned = served.rows(trial)
    assert len(sent) == len(planned)
    answered = [one for one in served.rows(answer) if one["response"] is not None]
    assert len(answered) == sum(len(one["rows"]) for one in planned)
    hidden = {row["item"] for one in planned for row in one["rows"]} | {"control", "attention", "ungrammatical"}
    assert not any(f'"{word}"' in page.text for word in hidden)


@pytest.mark.parametrize("language", ["de", "he", "fa"])
def test_language_and_direction(language: str, serve: Callable[..., Served], tmp_path: Path) -> None:
    study = write(tmp_path / "study", TEXTS, head=f'title = "T"\nlanguage = "{language}"')
    page = serve(study).visitor().arrive()
    direction = "ltr" if language == "de" else "rtl"
    assert f'<html lang="{language}" dir="{direction}">' in page.text
    assert heading(page) == {"de": "Ihre Einwilligung", "he": words("he")["consent.heading"]}.get(
        language, "Your consent"
    )


@pytest.mark.parametrize("said", [{"consent": "on"}, {}])
def test_consent_is_said_not_assumed(served: Served, said: dict[str, str]) -> None:
    person = served.visitor()
    hidden = person.arrive().form("/step/consent").hidden
    assert heading(person.post("/s/study/step/consent", hidden | said)) == "Your consent"
    (row,) = served.rows(session)
    assert (row["state"], row["step"], row["consented"]) == ("running", "consent", None)


def test_decline(served: Served) -> None:
    person = served.visitor()
    page = person.arrive()
    page = person.send(page.form("/step/consent"), button=1)
    assert page.path == "/s/study/done"
    assert WORDS["end.declined"] in page.text
    (row,) = served.rows(session)
    assert row["state"] == "declined"
    assert row["completion_code"] not in page.text


def test_missing_and_unknown_answers_are_reported_and_kept(served: Served) -> None:
    person = served.visitor()
    page = person.send(person.arrive().form("/step/consent"))
    page = person.send(page.form("/step/background"), {"first_language": "Klingon", "remark": "Low German"})
    assert page.status == 422
    assert 'class="error-summary"' in page.text
    assert 'href="#field-first_language"' in page.text
    assert 'id="field-first_language"' in page.text
    assert 'value="Low German"' in page.text
    assert served.rows(session)[0]["step"] == "background"


def test_screened_out_without_a_reason(served: Served) -> None:
    person = served.visitor()
    page = person.send(person.arrive().form("/step/consent"))
    page = person.send(page.form("/step/background"), {"first_language": "German"})
    assert page.path == "/s/study/done"
    assert "first_language" not in page.text
    assert "German" not in page.text
    assert "learn first" not in page.text
    (row,) = served.rows(session)
    assert (row["state"], row["background"]) == ("screened-out", {})


def test_quiz_attempts(served: Served) -> None:
    person = served.visitor()
    page = person.go_on(person.arrive(), KNOWN, until="/step/quiz")
    first = page.form("/step/quiz")
    page = person.send(first)
    assert page.status == 422  # nothing chosen is no attempt
    page = person.send(first, {"quiz-1": "2"})
    assert "Only sentences." in page.text
    assert WORDS["quiz.attempts_one"] in page.text
    assert served.rows(session)[0]["quiz_attempts"] == 1
    person.send(first, {"quiz-1": "2"})  # the same form again, by a reload or a second click
    assert served.rows(session)[0]["quiz_attempts"] == 1
    page = person.send(page.form("/step/quiz"), {"quiz-1": "2"})
    assert page.path == "/s/study/done"
    assert served.rows(session)[0]["state"] == "failed-quiz"


def test_quiz_passed_at_the_second_attempt(served: Served) -> None:
    person = served.visitor()
    page = person.go_on(person.arrive(), KNOWN, until="/step/quiz")
    page = person.send(page.form("/step/quiz"), {"quiz-1": "2"})
    page = person.send(page.form("/step/quiz"), {"quiz-1": "1"})
    assert 'id="trials"' in page.text
    assert (served.rows(session)[0]["quiz_attempts"], served.rows(session)[0]["quiz_passed"]) == (2, True)


def test_no_step_can_be_skipped(served: Served) -> None:
    person = served.visitor()
    form = person.arrive().form("/step/consent")
    for step in ("background", "instructions", "quiz", "comment", "debriefing"):
        page = person.post(f"/s/study/step/{step}", {**form.hidden, "quiz-1": "1", "comment": "x"})
        assert heading(page) == "Your consent"
    assert heading(person.get("/s/study/done")) == "Your consent"
    assert person.api("GET", "trials").json()["trials"] == []
    assert person.post("/s/study/step/trials", form.hidden).status == 404
    assert served.rows(trial) == []


def test_quota(serve: Callable[..., Served], tmp_path: Path) -> None:
    study = write(tmp_path / "study", TEXTS + "\n[recruitment]\nquotas = { first_language = { English = 1 } }\n")
    served = serve(study)
    served.visitor().go_on(served.visitor().arrive(), {})
    first, second = served.visitor(), served.visitor()
    page = first.go_on(first.arrive(), KNOWN)
    assert 'id="trials"' in page.text
    page = second.go_on(second.arrive(), KNOWN)
    assert page.path == "/s/study/done"
    assert WORDS["end.full"] in page.text


def test_full_paused_closed(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + "\n[recruitment]\nparticipants = 1\n"))
    person = served.visitor()
    assert heading(person.arrive()) == "Your consent"
    assert WORDS["end.full"] in served.visitor().arrive().text
    served.set_state("paused")
    assert WORDS["end.paused"] in served.visitor().arrive().text
    assert heading(person.arrive()) == "Your consent"  # who has begun may go on
    served.set_state("closed")
    assert WORDS["end.closed"] in served.visitor().arrive().text
    assert len(served.rows(session)) == 1


def test_a_draft_has_pilots(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS), state="draft")
    assert WORDS["page.pilot"] in served.visitor().arrive().text
    assert served.rows(session)[0]["pilot"]


def test_resume_in_the_same_browser(served: Served) -> None:
    person = served.visitor()
    person.go_on(person.arrive(), KNOWN)
    person.answer_all(most=1)
    assert WORDS["landing.go_on"] in person.get("/s/study/").text
    page = person.arrive()
    assert 'id="trials"' in page.text
    assert len(person.answer_all()) == 2
    assert len(served.rows(session)) == 1


def test_the_landing_form_sent_twice_begins_once(served: Served) -> None:
    person, same_click = served.visitor(), served.visitor()
    form = person.get("/s/study/").form("/begin")
    assert heading(person.send(form)) == heading(same_click.send(form)) == "Your consent"
    assert len(served.rows(session)) == 1
    assert person.cookies == same_click.cookies


@pytest.mark.parametrize(("policy", "sessions"), [("restart", 2), ("block", 1)])
def test_policy(policy: str, sessions: int, serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + f'\n[field]\nresume = "{policy}"\n'))
    person = served.visitor()
    person.go_on(person.arrive(), KNOWN)
    person.answer_all(most=1)
    page = person.arrive()
    assert len(served.rows(session)) == sessions
    if policy == "restart":
        assert heading(page) == "Your consent"
        assert [row["state"] for row in served.rows(session)] == ["restarted", "running"]
    else:
        assert "already started" in page.text


def test_two_sessions(serve: Callable[..., Served], tmp_path: Path) -> None:
    more = TEXTS + "\n[questionnaire]\nsessions = 2\ndays_between = 3\n"
    served = serve(write(tmp_path / "study", more))
    person = served.visitor()
    person.go_on(person.arrive(pid="someone"), KNOWN)
    person.answer_all()
    page = person.go_on(person.get("/s/study/go"), KNOWN)
    assert page.path == "/s/study/done"
    assert WORDS["done.next_session"].format(days=3) in page.text
    assert WORDS["end.too_early"].partition("{")[0] in person.arrive(pid="someone").text
    with served.store._writing.begin() as connection:  # three days later
        connection.execute(session.update().values(finished=time.time() - 4 * 86_400))
    page = person.arrive(pid="someone")
    assert heading(page) == "What to do"
    page = person.go_on(page, KNOWN)
    assert len(person.answer_all()) == 3
    assert heading(person.get("/s/study/go")) == "A few more questions about you"
    assert person.go_on(person.get("/s/study/go"), KNOWN).path == "/s/study/done"
    first, second = served.rows(session)
    assert (first["participant"], second["number"]) == (second["participant"], 2)


def test_withdraw_during_the_study_and_by_code(served: Served) -> None:
    person, later = served.visitor(), served.visitor()
    person.go_on(person.arrive(), KNOWN)
    person.answer_all()
    page = person.get("/s/study/go")
    asked = person.send(page.form("/withdraw"))
    assert served.rows(session)[0]["state"] == "running"  # asked first
    (form,) = [one for one in asked.forms if one.action.endswith("/withdraw")]
    assert WORDS["end.withdrawn"] in person.send(form).text
    assert served.rows(answer) == []
    later.go_on(later.arrive(), KNOWN)
    later.answer_all(most=1)
    code = served.rows(session)[-1]["withdrawal_code"]
    form = served.visitor().get("/s/study/withdraw").form("/withdraw")
    assert served.visitor().send(form, {"code": "aaaa-bbbb-cccc"}).status == 422
    assert WORDS["end.withdrawn"] in served.visitor().send(form, {"code": f" {code.upper()} "}).text
    assert served.rows(answer) == []


def test_head_burns_nothing(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + "\n[recruitment]\ninvitations = true\n"))
    served.store.call(studies.invite, served.study_id, [plain_hash("invited-one")])
    for method in ("HEAD", "GET"):
        reply = served.visitor().ask(method, "/s/study/?invitation=invited-one")
        assert reply.status == 200
        assert "set-cookie" not in reply.headers
    assert served.rows(session) == []
    assert served.rows(invitation)[0]["used"] is None
    guest = served.visitor()
    assert heading(guest.arrive(invitation="invited-one")) == "Your consent"
    assert heading(guest.arrive(invitation="invited-one")) == "Your consent"
    assert len(served.rows(session)) == 1
    assert WORDS["end.not_invited"] in served.visitor().get("/s/study/").text
    assert WORDS["end.not_invited"] in served.visitor().arrive(invitation="made-up-code").text


def test_preview_of_a_list_never_counts(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + "\n[recruitment]\nparticipants = 1\n"))
    text = sign(b"k" * 32, "preview", "study", 1)
    researcher = served.visitor()
    assert WORDS["page.preview"].format(list=1) in researcher.arrive(preview=text).text
    researcher.go_on(researcher.get("/s/study/go"), KNOWN)
    researcher.answer_all()
    page = researcher.go_on(researcher.get("/s/study/go"), KNOWN)
    assert served.rows(session)[0]["completion_code"] not in page.text
    assert (WORDS["done.preview"] in page.text, WORDS["done.thanks"] in page.text) == (True, False)
    assert heading(served.visitor().arrive()) == "Your consent"  # the only place is still free
    other = sign(b"k" * 32, "preview", "another-study", 1)
    assert WORDS["landing.preview_expired"] in served.visitor().arrive(preview=other).text


def test_devices(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + '\n[field]\ndevices = ["desktop"]\n'))
    phone = served.visitor(headers={"user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Mobile/15E148"})
    page = phone.get("/s/study/")
    assert WORDS["landing.device_phone"] in page.text
    assert page.forms == []


def test_events_are_kept(served: Served) -> None:
    person = served.visitor()
    person.go_on(person.arrive(), KNOWN)
    happened = [{"kind": "blur", "at": 1_790_000_000_000, "trial": None, "details": {"seconds": 2.5}},
                {"kind": "invented", "at": 1_790_000_000_000}]  # fmt: skip
    assert person.api("POST", "answers", {"answers": [], "events": happened, "have": []}).status == 200
    assert [one["kind"] for one in served.rows(event)] == ["blur"]
    assert [(one["events"], one["refused"]) for one in served.rows(session)] == [(1, 1)]


def test_going_back(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + "\n[field]\ngoing_back = true\n", items=ITEMS))
    person = served.visitor()
    person.go_on(person.arrive(), KNOWN)
    (first,) = person.answer_all(respond=lambda trial, scale: "4", most=1)
    reply = person.api("GET", "trials").json()
    assert (reply["previous"]["id"], reply["previous"]["response"]) == (first["trial"], "4")
    changed = {**first, "key": "another-key", "response": "2"}
    assert person.api("POST", "answers", {"answers": [changed]}).json()["saved"] == ["another-key"]
    assert [one["response"] for one in served.rows(answer)] == ["4", "2"]


def test_a_session_keeps_the_version_it_began_with(serve: Callable[..., Served], tmp_path: Path) -> None:
    before = serve(write(tmp_path / "study", TEXTS))
    first, unplanned = before.visitor(), before.visitor()
    first.go_on(first.arrive(), KNOWN)
    unplanned.arrive()
    first.answer_all(most=1)
    # The server is started again with other sentences and a scale of seven points.
    changed = TEXTS + BLOCK.replace("points = 5", "points = 7")
    after = serve(write(tmp_path / "study", changed, items=ITEMS.replace("dog", "cat")))
    newcomer = after.visitor()
    newcomer.go_on(newcomer.arrive(), KNOWN)
    reply = newcomer.api("GET", "trials").json()
    assert len(reply["scales"][reply["trials"][0]["scale"]]["points"]) == 7
    for earlier in (first, unplanned):
        earlier.app = after.app
        earlier.go_on(earlier.get("/s/study/go"), KNOWN)
        reply = earlier.api("GET", "trials").json()
        assert len(reply["scales"][reply["trials"][0]["scale"]]["points"]) == 5
        assert "dog" in json.dumps(reply["trials"]).lower()
        earlier.answer_all(respond=lambda trial, scale: scale["points"][-1]["value"])
        assert earlier.go_on(earlier.get("/s/study/go"), KNOWN).path == "/s/study/done"
    assert {one["response"] for one in after.rows(answer)} <= {"1", "5"}
    with after.store.read() as connection:
        people = export.participants(connection, after.study_id)
    assert people["version"].to_list() == [before.study.fingerprint] * 2 + [after.study.fingerprint]


def test_the_first_page_says_that_nobody_can_begin(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + "\n[recruitment]\nparticipants = 1\n"))
    first = served.visitor()
    first.arrive()
    words = served.app.state.served_studies["study"].words
    for state, key in (("running", "end.full"), ("paused", "end.paused"), ("closed", "end.closed")):
        served.set_state(state)
        page = served.visitor().get("/s/study/")
        assert (page.status, page.forms, words[key] in page.text) == (200, [], True)
        assert first.get("/s/study/").forms  # who is in may go on
