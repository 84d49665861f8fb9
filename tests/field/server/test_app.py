"""What every answer carries, errors in words, the description of the interface, and what is loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.routing import APIRoute

from field.server.conftest import KNOWN, TEXTS, Served, write
from field.server.visitor import Visitor, filled_in
from karat.field.content.texts import words
from karat.field.server import api, pages
from karat.field.server.app import create_app, file_router
from karat.field.server.config import ServerConfig
from karat.field.store import Store


def test_headers_of_pages(served: Served) -> None:
    person = served.visitor()
    landing = person.get("/s/study/")
    page = person.send(landing.form("/begin"))
    for one in (landing, page, person.get("/s/nowhere/"), person.get("/nowhere")):
        policy = dict(part.split(" ", 1) for part in one.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["img-src"] == policy["connect-src"] == "'self'"
        assert policy["form-action"] == "'self'"
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["referrer-policy"] == "no-referrer"
        assert one.headers["cross-origin-opener-policy"] == "same-origin"
        assert one.headers["cross-origin-embedder-policy"] == "require-corp"
        assert one.headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in one.headers["permissions-policy"]
        assert one.headers["cache-control"] == "no-store"
        assert "strict-transport-security" not in one.headers
        assert "<script>" not in one.text
        assert " style=" not in one.text
    assert "sandbox" in person.api("GET", "trials").headers["content-security-policy"]


def test_pages_are_built_for_everybody(served: Served) -> None:
    """One heading, a language, labels and legends for all fields, and a way around what repeats."""
    person = served.visitor()
    page = person.get("/s/study/")
    pages = [page]
    page = person.send(page.form("/begin"))
    while 'id="trials"' not in page.text:
        pages.append(page)
        page = person.send(page.form("/step/"), filled_in(page.form("/step/"), KNOWN))
    assert "<noscript>" in page.text
    for one in pages:
        assert one.text.count("<h1>") == 1
        assert 'class="skip-link" href="#content"' in one.text
        assert 'id="content"' in one.text
        for form in one.forms:
            assert all(choice.question for choice in form.choices.values())
            assert all(form.texts.values())
            assert form.buttons


def test_participants_see_the_public_title_alone(serve: Callable[..., Served], tmp_path: Path) -> None:
    """The title says what the study is about, which participants must not know."""
    head = 'title = "Dative alternation"\npublic_title = "How natural is it?"'
    person = serve(write(tmp_path / "study", TEXTS, head=head)).visitor()
    page = person.get("/s/study/")
    assert "<h1>How natural is it?</h1>" in page.text
    pages = [page, page := person.send(page.form("/begin"))]
    while 'id="trials"' not in page.text:
        page = person.send(page.form("/step/"), filled_in(page.form("/step/"), KNOWN))
        pages.append(page)
    person.answer_all()
    pages += [person.go_on(person.get("/s/study/go"), KNOWN, until="nothing"), person.get("/s/study/withdraw")]
    pages += [person.get("/s/study/nowhere"), person.api("GET", "trials")]
    for one in pages[:-1]:
        assert "How natural is it?</title>" in one.text
    assert "Dative" not in "".join(one.text for one in pages)


def test_without_a_public_title_participants_see_the_title(served: Served) -> None:
    assert "<h1>Word order</h1>" in served.visitor().get("/s/study/").text


def test_tls_promises_to_stay(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS), base_url="https://study.example.org", behind_proxy=True)
    person = served.visitor(headers={"host": "study.example.org"})
    page = person.arrive()
    assert page.headers["strict-transport-security"].startswith("max-age=31536000")
    assert list(person.cookies) == ["__Host-karat-study"]


def test_errors_in_the_language_of_the_study(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS, head='title = "T"\nlanguage = "de"'))
    page = served.visitor().get("/s/study/go")
    assert page.status == 401
    assert '<html lang="de"' in page.text
    assert "Sitzung" in page.text
    assert "Sitzung" in served.visitor().api("GET", "trials").json()["error"]
    assert served.visitor().ask("DELETE", "/s/study/go").status == 405
    assert words("en")["error.not_found"] in served.visitor().get("/s/another/").text


def test_a_broken_server_says_so_in_words(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr(served.store, "probe", broken)
    person = served.visitor()
    sent: list[dict[str, object]] = []

    async def ask() -> None:
        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {"type": "http", "method": "GET", "path": "/healthz", "raw_path": b"/healthz", "query_string": b"",
                 "headers": [(b"host", b"127.0.0.1")], "scheme": "http", "server": ("127.0.0.1", 8000),
                 "client": ("127.0.0.1", 1), "root_path": "", "http_version": "1.1"}  # fmt: skip
        with pytest.raises(RuntimeError):
            await person.app(scope, receive, send)

    person.runner.run(ask())
    assert sent[0]["status"] == 500
    headers = dict(sent[0]["headers"])  # type: ignore[call-overload]
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert b"secret detail" not in sent[1]["body"]  # type: ignore[operator]
    assert b"went wrong" in sent[1]["body"]  # type: ignore[operator]


def test_static_files(served: Served) -> None:
    reply = served.visitor().get("/static/css/karat.css")
    assert reply.status == 200
    assert reply.headers["cache-control"] == "no-cache"
    assert reply.headers["content-type"].startswith("text/css")
    again = served.visitor().ask("GET", "/static/css/karat.css", headers={"if-none-match": reply.headers["etag"]})
    assert again.status == 304


def test_the_description_is_complete(served: Served) -> None:
    reply = served.visitor().get("/api/openapi.json").json()
    routes = {
        (method.lower(), route.path)
        for router in (api.router, file_router, pages.router)
        for route in router.routes if isinstance(route, APIRoute) and route.include_in_schema
        for method in route.methods - {"HEAD"}
    }  # fmt: skip
    described = {(method, path) for path, ways in reply["paths"].items() for method in ways}
    assert described == routes | {("get", "/healthz")}
    assert {("post", "/api/{slug}/answers"), ("get", "/s/{slug}/go")} <= described
    for path, ways in reply["paths"].items():
        for way in ways.values():
            assert way["summary"]
            assert "default" not in way["responses"]
            if path != "/healthz":
                assert {"200", "404"} <= set(way["responses"])
    names = reply["components"]["schemas"]
    assert {"AnswersSent", "PostedAnswer", "PageEvent", "AnswersSaved", "TrialsAhead", "ErrorBody"} <= set(names)
    assert "$defs" not in str(reply)


def test_studies_side_by_side(store: Store, runner: object, tmp_path: Path) -> None:
    both = [(name, write(tmp_path / name, TEXTS, head=f'title = "{name}"')) for name in ("one", "two")]
    app = create_app(both, store, ServerConfig(tmp_path, b"k" * 32), admin=False)
    visitor = Visitor(app, runner, "one")  # type: ignore[arg-type]
    for name in ("one", "two"):
        assert f"<h1>{name}</h1>" in visitor.get(f"/s/{name}/").text
    assert app.state.served_studies["one"].id != app.state.served_studies["two"].id
