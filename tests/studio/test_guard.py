"""Only the one browser comes in; other users, other servers and pages of other origins do not."""

from __future__ import annotations

import pytest

from field.server.visitor import Visitor
from studio.conftest import PORT, Browser, StudioApp


def test_the_key_opens_once(studio: StudioApp) -> None:
    stranger, browser = studio.browser(), studio.browser()
    assert stranger.get("/").status == 403
    assert stranger.get("/?key=guessed").status == 403
    assert browser.enter().inside("/").status == 200
    again = stranger.get(f"/?key={studio.keys.key}")
    assert again.status == 403
    assert "Start karat open again" in again.text
    assert stranger.cookies == {}


def test_the_cookie_goes_nowhere_else(studio: StudioApp) -> None:
    reply = studio.browser().get(f"/?key={studio.keys.key}")
    result = reply.headers["set-cookie"]
    assert f"Path={studio.keys.base}" in result
    assert "HttpOnly" in result
    assert "SameSite=strict" in result
    assert studio.keys.cookie not in reply.text
    assert len({studio.keys.cookie, studio.keys.path, studio.keys.key}) == 3


def test_without_the_cookie_or_the_path_nothing_is_there(studio: StudioApp, browser: Browser) -> None:
    other = Visitor(studio.app, studio.runner)
    for path in ("/", "/cases/x", "/static/studio.js"):
        assert other.get(studio.keys.base + path).status == 403
        assert browser.ask("GET", f"/guessed{path}").status == 403
    other.cookies = {"karat-open": "guessed"}
    assert other.get(f"{studio.keys.base}/").status == 403
    other.cookies = {"karat-open": 'é"\\'}
    assert other.get(f"{studio.keys.base}/").status == 403


@pytest.mark.parametrize("host", ["example.org", f"example.org:{PORT}", "127.0.0.1", "127.0.0.1:9", "", "0.0.0.0:8000"])
def test_other_names_are_not_answered(host: str, studio: StudioApp, browser: Browser) -> None:
    assert browser.inside("/", {"host": host}).status == 400
    assert browser.ask("GET", f"/?key={studio.keys.key}", headers={"host": host}).status == 400


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


def test_every_answer_has_the_headers(studio: StudioApp, browser: Browser) -> None:
    pages = [browser.inside("/"), browser.inside("/cases/nothing"), browser.inside("/static/studio.js")]
    for reply in [*pages, studio.browser().get("/"), studio.browser().get("/nothing")]:
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "no-store"
        assert "'unsafe" not in reply.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert "server" not in reply.headers
    policy = browser.inside("/").headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "connect-src 'self'" in policy


def test_paths_do_not_lead_out_of_the_static_files(studio: StudioApp, browser: Browser) -> None:
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/look/..%2f..%2f..%2fstudio%2fapp.py",
        "/static//etc/passwd",
    ):
        assert browser.inside(path).status in (403, 404)


def test_a_request_for_the_whole_server_is_refused(studio: StudioApp) -> None:
    assert studio.browser().ask("OPTIONS", "*").status == 403
