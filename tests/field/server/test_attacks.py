"""What people try who do not only want to take part."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from field.server.conftest import KNOWN, TEXTS, Served, write
from field.server.visitor import Visitor, answer_to
from karat.field.content.texts import words
from karat.field.server.headers import Limits
from karat.field.server.security import token_from
from karat.field.store.schema import answer, event, session

SCRIPT = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


@pytest.fixture
def person(served: Served) -> Visitor:
    """Somebody at the trials."""
    made = served.visitor()
    made.go_on(made.arrive(), KNOWN)
    return made


def made_up(letter: bytes, slug: str) -> str:
    """A token that a server with this secret would sign, of a session that nobody began."""
    return token_from(letter * 32, slug, "r" * 32)


def an_answer(person: Visitor, **changed: Any) -> dict[str, Any]:
    reply = person.api("GET", "trials").json()
    return {**answer_to(reply["trials"][0], reply["scales"]), **changed}


def test_nothing_without_a_session(served: Served) -> None:
    stranger = served.visitor()
    for token in ("", "x", "a.b", "é" * 76, made_up(b"k", "study"), made_up(b"x", "study")):
        stranger.token = token.encode("utf-8").decode("latin-1")
        assert stranger.api("GET", "trials").status == 401
        assert stranger.api("POST", "answers", {"answers": []}).status == 401
    for path in ("go", "done"):
        page = stranger.get(f"/s/study/{path}")
        assert page.status == 401
        assert words("en")["error.no_session"] in page.text


def test_a_token_of_another_study_is_none(served: Served) -> None:
    stranger = served.visitor()
    stranger.token = made_up(b"k", "other")
    assert stranger.api("GET", "trials").status == 401


def test_trials_of_others_cannot_be_answered(served: Served, person: Visitor) -> None:
    other = served.visitor()
    other.go_on(other.arrive(), KNOWN)
    reply = other.api("POST", "answers", {"answers": [an_answer(person)]})
    assert [one["reason"] for one in reply.json()["refused"]] == ["unknown trial"]
    assert served.rows(answer) == []


def test_forged_trials(served: Served, person: Visitor) -> None:
    forged = ("made-up", "1", "' OR 1=1 --", "\0", "../1", "😀")
    for trial in forged:
        reply = person.api("POST", "answers", {"answers": [an_answer(person, trial=trial)]})
        assert reply.status == 200
        assert reply.json()["saved"] == []
    assert (served.rows(event), served.rows(session)[0]["refused"]) == ([], len(forged))


def test_answers_that_were_not_offered(served: Served, person: Visitor) -> None:
    others = ("6", "0", "1.0", "", "none", SCRIPT, "1\0", None)
    for response in others:
        reply = person.api("POST", "answers", {"answers": [an_answer(person, response=response)]})
        assert reply.json()["refused"][0]["reason"] == "not offered"
    assert served.rows(answer) == []
    assert (served.rows(event), served.rows(session)[0]["refused"]) == ([], len(others))


SHAPES: list[dict[str, Any]] = [
    {"rt": -1}, {"rt": "NaN"}, {"rt": 1e9}, {"rt": None}, {"key": "k"}, {"key": "x" * 65}, {"trial": "x" * 100},
    {"response": 5}, {"response": "x" * 501}, {"changes": -1}, {"window": [1]}, {"pointer": "laser"}, {"more": 1},
    {"responses": {"__proto__": "1"}}, {"shown_at": 1e300},
]  # fmt: skip


def test_shapes_that_no_browser_sends(served: Served, person: Visitor) -> None:
    for changed in SHAPES:
        reply = person.api("POST", "answers", {"answers": [an_answer(person, **changed)]})
        assert reply.status == 422, changed
        assert reply.json()["error"].endswith(".")
    assert served.rows(answer) == []


EVENTS: list[dict[str, Any]] = [
    {"kind": "\0"}, {"kind": SCRIPT[:32]}, {"kind": "refused-answer"}, {"trial": "\0"}, {"trial": "' OR 1=1 --"},
    {"details": {"n": 10**30}}, {"details": {"n": 1e308}}, {"details": {"a": SCRIPT}}, {"at": 0}, {"at": 1e14},
]  # fmt: skip
NO_EVENTS: list[dict[str, Any]] = [
    {"kind": "x" * 33}, {"at": -1}, {"at": 1e15}, {"details": {"a": {"b": 1}}}, {"details": {"a": [1]}},
    {"details": {"a": "\0"}}, {"details": {"a": "x" * 201}}, {"details": {"<b>": 1}}, {"trial": "x" * 65},
    {"details": {f"k{number}": 1 for number in range(41)}},
]  # fmt: skip


def test_events_that_no_browser_of_ours_reports(served: Served, person: Visitor) -> None:
    usual = {"kind": "blur", "at": 1_790_000_000_000, "trial": None, "details": {}}
    for changed in EVENTS:
        reply = person.api("POST", "answers", {"events": [{**usual, **changed}]})
        assert reply.status == 200, changed
    stored = served.rows(event)
    assert len(stored) == len(EVENTS) - 3  # three are of no kind that a browser reports
    assert served.rows(session)[0]["refused"] == 3
    for changed in NO_EVENTS:
        assert person.api("POST", "answers", {"events": [{**usual, **changed}]}).status == 422, changed
    assert person.api("POST", "answers", {"events": [usual] * 1001}).status == 422
    assert len(served.rows(event)) == len(stored)


NO_JSON = (
    b"", b"[]", b"{", b"null", b'{"answers": 1}', b'{"answers": [NaN]}', b"\xff\xfe", b'{"have": ["\\ud800"]}',
    b"[" * 50_000,
)  # fmt: skip


def test_bodies_that_are_no_json(person: Visitor) -> None:
    headers = {"content-type": "application/json", "x-karat": "1"}
    for body in NO_JSON:
        assert person.ask("POST", "/api/study/answers", body, headers).status == 422, body[:20]


def test_oversized_bodies(person: Visitor) -> None:
    large = b'{"answers": [], "have": ["' + b"x" * 300_000 + b'"]}'
    headers = {"content-type": "application/json", "x-karat": "1"}
    assert person.ask("POST", "/api/study/answers", large, headers).status == 413
    assert person.ask("POST", "/api/study/answers", large, {**headers, "content-length": "10"}).status == 413
    assert person.ask("POST", "/api/study/answers", b"{}", {**headers, "content-length": "-1"}).status == 413
    form = {"content-type": "application/x-www-form-urlencoded", "content-length": "5"}
    assert person.ask("POST", "/s/study/step/consent", large, form).status == 413
    many = {"answers": [an_answer(person)] * 201}
    assert person.api("POST", "answers", many).status == 422


def test_the_same_key_twice_is_saved_once(served: Served, person: Visitor) -> None:
    sent = an_answer(person)
    for _ in range(2):
        assert person.api("POST", "answers", {"answers": [sent, sent]}).json()["saved"] == [sent["key"]] * 2
    assert len(served.rows(answer)) == 1
    again = {**sent, "key": "another-key", "response": "5"}
    assert person.api("POST", "answers", {"answers": [again]}).json()["refused"][0]["reason"] == "already answered"


def test_nothing_after_the_end(served: Served, person: Visitor) -> None:
    sent = an_answer(person)
    person.answer_all()
    person.go_on(person.get("/s/study/go"), KNOWN)
    reply = person.api("POST", "answers", {"answers": [sent]})
    assert (reply.status, person.api("GET", "trials").status) == (409, 409)
    assert "ended" in reply.json()["error"]


def test_script_in_every_text_field(serve: Callable[..., Served], tmp_path: Path) -> None:
    quoted = json.dumps(SCRIPT)
    more = f"""
[texts]
welcome = {quoted}
consent = {quoted}
privacy = {quoted}
instructions = {quoted}
debriefing = {quoted}
completion = {quoted}
words = {{ "page.continue" = {quoted}, "browser.next" = {quoted} }}
quiz = [{{ question = {quoted}, answers = [{quoted}, "b"], right = 1, feedback = {quoted} }}]

[[background]]
name = "open"
question = {quoted}
"""
    items = f'item,function,sentence\nt1,test,"{SCRIPT.replace(chr(34), chr(34) * 2)}"\n'
    served = serve(write(tmp_path / "study", more, head=f"title = {quoted}", items=items))
    person = served.visitor()
    pages = [person.get(f"/s/study/?preview={SCRIPT}".replace(" ", "+"))]
    pages.append(person.get(f"/s/study/?pid={SCRIPT}".replace(" ", "+")))
    page = person.get(f"/s/study/?session={SCRIPT}&invitation={SCRIPT}".replace(" ", "+"))
    pages.append(page)
    page = person.send(page.form("/begin"))
    while True:
        pages.append(page)
        if 'id="trials"' in page.text:
            result = person.api("GET", "trials")
            assert result.headers["content-type"] == "application/json"
            person.answer_all()
            page = person.get("/s/study/go")
            continue
        steps = [form for form in page.forms if "/step/" in form.action]
        if not steps:
            break
        answers = dict.fromkeys(steps[0].texts, SCRIPT)
        wrong = dict.fromkeys(steps[0].choices, "2")
        if wrong:
            pages.append(person.send(steps[0], wrong))  # the page with the feedback
            steps = [form for form in pages[-1].forms if "/step/" in form.action]
        page = person.send(steps[0], {**answers, **dict.fromkeys(steps[0].choices, "1")})
    assert page.path == "/s/study/done"
    assert len(pages) == 12
    for one in pages:
        assert "<script>" not in one.text
        assert "<img" not in one.text
        assert "unsafe" not in one.headers["content-security-policy"]
        assert "style=" not in one.text
    assert served.rows(session)[0]["background"] == {"open": SCRIPT}
    assert served.rows(session)[0]["comment"] == SCRIPT


def test_control_characters_in_forms(served: Served) -> None:
    person = served.visitor()
    page = person.send(person.arrive().form("/step/consent"))
    odd = {"first_language": "English", "remark": "Low\0 \x07German\ud83d".encode("utf-8", "replace").decode()}
    assert person.send(page.form("/step/background"), odd).status == 200
    assert served.rows(session)[0]["background"]["remark"] == "Low German?"


PATHS = (
    "/s/study/image/..%2Fstudy.toml", "/s/study/image/study.toml", "/s/study/image/%2e%2e%2fitems.csv",
    "/s/study/image/dog.png", "/s/study/task/likert.js", "/s/study/task/..%2F..%2Fmain.js",
    "/static/../../server/config.py", "/static/%2e%2e/templates/participant/base.html",
    "/static/css/../../templates/participant/base.html", "/static//etc/passwd", "/static/vendor/../package.json",
    "/s/study/image/%00", "/static/%00", "/s/../etc/passwd", "/s//", "/s/%2e%2e/", "/api/../s/study/go",
)  # fmt: skip


def test_path_tricks(served: Served) -> None:
    for path in PATHS:
        reply = served.visitor().get(path)
        assert reply.status == 404, path
        assert "<h1>" in reply.text or "error" in reply.text


def test_images_by_their_opaque_names_only(serve: Callable[..., Served], tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "ungrammatical.png").write_bytes(b"\x89PNG picture")
    (folder / "notes.txt").write_text("secret")
    items = "item,function,sentence,image\nt1,test,A dog.,ungrammatical.png\n"
    served = serve(write(folder, TEXTS, items=items))
    person = served.visitor()
    person.go_on(person.arrive(), KNOWN)
    body = person.api("GET", "trials").json()["trials"][-1]
    address = body["stimuli"][0]["image"]
    assert "ungrammatical" not in json.dumps(body)
    reply = person.get(address)
    assert (reply.body, reply.headers["content-type"]) == (b"\x89PNG picture", "image/png")
    assert "sandbox" in reply.headers["content-security-policy"]
    cached = person.ask("GET", address, headers={"if-none-match": reply.headers["etag"]})
    assert (cached.status, cached.body) == (304, b"")
    (folder / "ungrammatical.png").unlink()
    assert person.get(address).status == 404


def test_forms_without_their_text_are_refused(served: Served) -> None:
    person, thief = served.visitor(), served.visitor()
    form = person.arrive().form("/step/consent")
    stolen = thief.arrive().form("/step/consent").hidden["csrf"]
    for given in ("", "made-up", stolen, "é"):
        page = person.post("/s/study/step/consent", {"consent": "yes", "csrf": given})
        assert page.status == 403
        assert 'href="/s/study/go"' in page.text  # reloaded it would be refused again
    assert person.post("/s/study/withdraw", {"confirm": "yes"}).status == 403
    assert person.post("/s/study/withdraw", {"code": "a", "csrf": stolen}).status == 403
    assert person.post("/s/study/begin", {"visit": "made.up"}).status == 403
    assert served.rows(session)[0]["step"] == "consent"
    assert person.send(form).status == 200


def test_requests_of_other_sites_are_refused(served: Served, person: Visitor) -> None:
    form = served.visitor().get("/s/study/").form("/begin")
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
    ):
        attacker = served.visitor(headers=headers)
        assert attacker.send(form).status == 403
        person.headers = headers
        assert person.api("POST", "answers", {"answers": []}).status == 403
    for headers in ({"sec-fetch-site": "same-origin", "origin": "null"}, {"origin": "http://127.0.0.1:8000"}):
        person.headers = headers
        assert person.api("POST", "answers", {"answers": []}).status == 200
    assert person.api("POST", "answers", {"answers": []}, headers={"x-karat": ""}).status == 403
    plain = {"content-type": "text/plain", "x-karat": "1"}
    assert person.ask("POST", "/api/study/answers", b"{}", plain).status == 415


def test_other_hosts_are_refused(served: Served) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        reply = served.visitor(headers={"host": host}).get("/s/study/")
        assert reply.status == 400
        assert "evil" not in reply.text
    assert served.visitor(headers={"host": "[::1]:8000"}).get("/s/study/").status == 200
    assert served.visitor(headers={"host": "10.0.0.7"}).get("/healthz").status == 200


def test_arrivals_are_limited(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS), arrivals_per_minute=1.0, arrivals_at_once=2)
    served.app.state.limits = Limits(served.app.state.config, clock=lambda: 0.0)
    statuses = [served.visitor().arrive().status for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert words("en")["error.too_many"] in served.visitor().arrive().text
    form = served.visitor().get("/s/study/withdraw").form("/withdraw")
    tries = [served.visitor().send(form, {"code": f"aaaa-bbbb-cc{number:02}"}).status for number in range(12)]
    assert tries.count(429) == 2


def test_a_visit_cannot_be_forged(served: Served) -> None:
    person = served.visitor()
    form = person.get("/s/study/?pid=someone").form("/begin")
    text, _, mac = form.hidden["visit"].partition(".")
    for forged in (f"{text[:-4]}AAAA.{mac}", f"{text}.", mac, f"{text}.{mac}x"):
        assert person.post("/s/study/begin", {"visit": forged}).status == 403
    assert served.rows(session) == []
