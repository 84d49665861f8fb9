"""Only the one browser comes in; other users, other servers and pages of other origins do not."""

from __future__ import annotations

import pytest

from door.conftest import PORT, Browser, Door
from field.server.visitor import Visitor


def test_the_key_opens_once(door: Door) -> None:
    stranger, browser = door.browser(), door.browser()
    assert stranger.get("/").status == 403
    assert stranger.get("/?key=guessed").status == 403
    assert browser.enter().inside("/").status == 200
    again = stranger.get(f"/?key={door.keys.key}")
    assert again.status == 403
    assert "Start karat open again" in again.text
    assert stranger.cookies == {}


def test_the_cookie_goes_nowhere_else(door: Door) -> None:
    reply = door.browser().get(f"/?key={door.keys.key}")
    told = reply.headers["set-cookie"]
    assert f"Path={door.keys.base}" in told
    assert "HttpOnly" in told
    assert "SameSite=strict" in told
    assert door.keys.cookie not in reply.text
    assert len({door.keys.cookie, door.keys.path, door.keys.key}) == 3


def test_without_the_cookie_or_the_path_nothing_is_there(door: Door, browser: Browser) -> None:
    other = Visitor(door.app, door.runner)
    for path in ("/", "/cases/x", "/static/door.js"):
        assert other.get(door.keys.base + path).status == 403
        assert browser.ask("GET", f"/guessed{path}").status == 403
    other.cookies = {"karat-open": "guessed"}
    assert other.get(f"{door.keys.base}/").status == 403
    other.cookies = {"karat-open": 'é"\\'}
    assert other.get(f"{door.keys.base}/").status == 403


@pytest.mark.parametrize("host", ["example.org", f"example.org:{PORT}", "127.0.0.1", "127.0.0.1:9", "", "0.0.0.0:8000"])
def test_other_names_are_not_answered(host: str, door: Door, browser: Browser) -> None:
    assert browser.inside("/", {"host": host}).status == 400
    assert browser.ask("GET", f"/?key={door.keys.key}", headers={"host": host}).status == 400


@pytest.mark.parametrize(
    "origin", ["https://example.org", "null", "", "http://127.0.0.1:9", f"https://127.0.0.1:{PORT}", "http://127.0.0.1"]
)
def test_other_origins_cannot_send(origin: str, browser: Browser) -> None:
    assert browser.send("POST", "/cases", headers={"origin": origin}).status == 403
    assert browser.send("PUT", "/cases/x/files/a.csv", b"a", {"origin": origin}).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_servers_cannot_even_look(site: str, browser: Browser) -> None:
    assert browser.inside("/", {"sec-fetch-site": site}).status == 403
    assert browser.send("POST", "/cases", headers={"sec-fetch-site": site}).status == 403
    assert browser.inside("/", {"sec-fetch-site": "same-origin"}).status == 200


def test_every_answer_has_the_headers(door: Door, browser: Browser) -> None:
    pages = [browser.inside("/"), browser.inside("/cases/nothing"), browser.inside("/static/door.js")]
    for reply in [*pages, door.browser().get("/"), door.browser().get("/nothing")]:
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "no-store"
        assert "'unsafe" not in reply.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert "server" not in reply.headers
    policy = browser.inside("/").headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "connect-src 'self'" in policy


def test_paths_do_not_lead_out_of_the_static_files(door: Door, browser: Browser) -> None:
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/look/..%2f..%2f..%2fdoor%2fapp.py",
        "/static//etc/passwd",
    ):
        assert browser.inside(path).status in (403, 404)
