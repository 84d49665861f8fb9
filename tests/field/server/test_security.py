from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response

from karat.field.server import security
from karat.field.server.config import ServerConfig
from karat.field.server.security import token_from, token_hash

SECRET, OTHER = b"k" * 32, b"o" * 32
VALUES = st.lists(st.text(max_size=20) | st.integers(-(2**53), 2**53) | st.none() | st.booleans(), max_size=4)


@given(VALUES, st.text(max_size=10))
def test_signed_values_come_back_and_cannot_be_used_otherwise(values: list[str | int | None], purpose: str) -> None:
    text = security.sign(SECRET, purpose, *values)
    assert security.unsign(SECRET, purpose, text) == values
    assert security.unsign(OTHER, purpose, text) is None
    assert security.unsign(SECRET, f"{purpose}x", text) is None


@given(st.text(max_size=60))
def test_made_up_texts_are_refused(text: str) -> None:
    assert security.unsign(SECRET, "preview", text) is None
    assert not security.csrf_valid(SECRET, "session", text)
    assert token_hash(SECRET, "study", text) is None


@given(st.data())
def test_no_letter_of_a_token_can_be_changed(data: st.DataObject) -> None:
    token = token_from(SECRET, "study", "r" * 32)
    place = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.sampled_from("ABCabc019_-.").filter(lambda one: one != token[place]))
    assert token_hash(SECRET, "study", token[:place] + letter + token[place + 1 :]) is None


def test_signed_texts_grow_old() -> None:
    assert security.unsign(SECRET, "preview", security.sign(SECRET, "preview", "a", lifetime=60)) == ["a"]
    assert security.unsign(SECRET, "preview", security.sign(SECRET, "preview", "a", lifetime=-2)) is None


def test_cookies_over_tls() -> None:
    config = ServerConfig(Path("data"), SECRET, base_url="https://study.example.org")
    response = Response()
    security.signed_cookie(response, config, "admin", "ada", lifetime=60)
    cookie = response.headers["set-cookie"]
    assert cookie.startswith("__Host-admin=")
    assert all(part in cookie for part in ("Secure", "HttpOnly", "SameSite=strict", "Path=/"))
    value = cookie.split("=", 1)[1].split(";")[0]
    scope = {"type": "http", "headers": [(b"cookie", f"__Host-admin={value}".encode())]}
    assert security.read_signed_cookie(Request(scope), config, "admin") == ["ada"]
    assert security.read_signed_cookie(Request(scope), config, "other") is None
