"""What must not get out: addresses, tokens, secrets; and what must not pile up."""

from __future__ import annotations

import json
import logging
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from field.server.conftest import KNOWN, TEXTS, Served, write
from field.server.test_run import ADDRESS
from field.server.visitor import Visitor
from karat.field.server.config import ServerConfig
from karat.field.store.schema import metadata

TLS = {"base_url": "https://study.example.org", "behind_proxy": True}


def everything(served: Served) -> str:
    """All rows of all tables as one text."""
    return json.dumps([served.rows(table) for table in metadata.sorted_tables], default=repr)


def finished(served: Served, visitor: Visitor, **parameters: str) -> Visitor:
    visitor.go_on(visitor.arrive(**parameters), KNOWN)
    visitor.answer_all()
    visitor.go_on(visitor.get("/s/study/go"), KNOWN, until="nothing")
    return visitor


def test_no_address_is_kept(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    agent = "Mozilla/5.0 (X11; Linux x86_64) Someones-Browser/1.0"
    named = {"x-forwarded-for": ADDRESS, "x-real-ip": ADDRESS, "forwarded": f"for={ADDRESS}", "user-agent": agent}
    finished(served, served.visitor(headers=named), pid="person-1")
    kept = everything(served)
    assert '"person-1"' in kept  # in its table apart
    for text in ("127.0.0.1", ADDRESS, "Someones-Browser"):
        assert text not in kept
        assert text not in caplog.text


def test_tokens_and_secrets_are_not_in_the_database(served: Served) -> None:
    visitor = finished(served, served.visitor())
    (token,) = visitor.cookies.values()
    kept = everything(served)
    for text in (token, *token.split("."), (b"k" * 32).decode(), (b"k" * 32).hex()):
        assert text not in kept


def test_an_old_token_ends_with_a_new_one(served: Served) -> None:
    visitor = served.visitor()
    visitor.go_on(visitor.arrive(), KNOWN)
    thief = served.visitor(cookies=dict(visitor.cookies))
    assert thief.api("GET", "trials").status == 200
    visitor.arrive()
    assert visitor.api("GET", "trials").status == 200
    assert thief.api("GET", "trials").status == 401


@pytest.mark.parametrize(("config", "expected"), [
    ({}, ("karat-study", ["HttpOnly", "Max-Age=7776000", "Path=/", "SameSite=lax"])),
    (TLS, ("__Host-karat-study", ["HttpOnly", "Max-Age=7776000", "Path=/", "SameSite=lax", "Secure"])),
])  # fmt: skip
def test_the_cookie_of_a_session(
    config: dict[str, str], expected: tuple[str, list[str]], serve: Callable[..., Served], tmp_path: Path
) -> None:
    served = serve(write(tmp_path / "study", TEXTS), **config)
    visitor = served.visitor()
    reply = visitor.send(visitor.get("/s/study/").form("/begin"), follow=False)
    given, *flags = reply.headers["set-cookie"].split("; ")
    assert (given.partition("=")[0], sorted(flags)) == expected
    assert ("strict-transport-security" in reply.headers) is bool(config)


def test_a_cookie_of_another_subdomain_is_not_read(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS), **TLS)
    visitor = served.visitor()
    visitor.go_on(visitor.arrive(), KNOWN)
    # What a sister site may set has no prefix; the browser refuses it one.
    planted = served.visitor(cookies={"karat-study": visitor.cookies["__Host-karat-study"]})
    assert planted.api("GET", "trials").status == 401


def test_endless_tokens_are_not_remembered(served: Served) -> None:
    stranger = served.visitor()
    stranger.post("/s/study/go", {"token": "x" * 200_000})
    tracemalloc.start()
    try:
        for number in range(50):
            assert stranger.post("/s/study/go", {"token": f"{number:03}" + "x" * 200_000}).status == 401
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000


def test_a_secret_is_not_shown(tmp_path: Path) -> None:
    config = ServerConfig(tmp_path, b"a-secret-that-nobody-should-see!!", base_url="https://study.example.org")
    assert "nobody" not in repr(config)
