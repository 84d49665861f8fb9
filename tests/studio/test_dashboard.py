"""The dashboard of another karat server in the window of the studio, and what does not get through."""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from field.admin.fielding import PASSWORD, Fielded, set_password, write_study
from karat.errors import KaratError
from karat.field.server.app import create_app
from karat.field.server.config import prepare
from karat.field.store import Store
from karat.studio.dashboard import server_address
from karat.studio.servers import LoopbackServer
from karat.studio.study_pages import servers_of
from studio.conftest import Browser, StudioApp

LOGIN = {"name": "admin", "password": PASSWORD}


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A second karat server with a study under way."""
    folder = tmp_path_factory.mktemp("remote")
    server = LoopbackServer()
    config = prepare(folder / "data", port=server.port)
    store = Store.open(config.database_url)
    set_password(store)
    fielded = Fielded.start(store, write_study(folder / "blind"))
    fielded.finish()
    server.start(create_app([(fielded.slug, fielded.study)], store, config))
    yield f"http://127.0.0.1:{server.port}"
    server.close()
    store.close()


@pytest.fixture
def framed(studio: StudioApp, browser: Browser, remote: str) -> Iterator[str]:
    """The address of the dashboard in the frame, after the login."""
    assert browser.send("POST", "/dashboard", {"address": remote, **LOGIN}).status == 202
    (address,) = re.findall(r'iframe src="([^"]+)"', browser.inside("/dashboard").text)
    yield address
    servers_of(studio.app).close()


def ask(
    address: str, method: str = "GET", body: str = "", **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """One request as a browser sends it, redirects not followed."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), body or None, sent)
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply.status, reply.headers, content


def test_the_dashboard_of_another_server_is_shown_and_used(browser: Browser, framed: str, remote: str) -> None:
    origin = framed.rsplit("/", 2)[0]
    page = browser.inside("/dashboard")
    assert page.headers["content-security-policy"].endswith(f"frame-src {origin}")
    status, headers, content = ask(framed)
    assert (status, b"Blind &lt;study&gt;" in content, headers["set-cookie"]) == (200, True, None)
    assert f"frame-ancestors http://127.0.0.1:{browser.keys.port}" in headers["content-security-policy"]
    links = set(re.findall(rb'(?:href|src|action)="(/[^"]*)"', content))
    assert {ask(f"{origin}{link.decode()}")[0] for link in links if b"logout" not in link} == {200}
    live = ask(f"{framed}/blind/live")
    assert f'href=\\"{urlsplit(framed).path}' in live[2].decode()
    assert json.loads(live[2])["parts"]
    token = re.findall(rb'name="csrf" value="([^"]+)"', ask(f"{framed}/blind")[2])[0].decode()
    form = f"csrf={token}&state=paused"
    kind = {"content_type": "application/x-www-form-urlencoded"}
    assert ask(f"{framed}/blind/state", "POST", form, **kind)[0] == 403, "without an origin it is not from the page"
    status, headers, _ = ask(f"{framed}/blind/state", "POST", form, origin=origin, **kind)
    assert (status, headers["location"]) == (303, f"{urlsplit(framed).path}/blind?said=paused")
    assert browser.send("POST", "/dashboard/leave").status == 202
    assert "iframe" not in browser.inside("/dashboard").text


def test_only_the_dashboard_and_only_the_studio(framed: str, remote: str) -> None:
    origin, secret, _ = framed.rsplit("/", 2)
    for path in ("s/blind/", "healthz", "api/openapi.json", "admin/../healthz", "admin/%2e%2e/healthz", "adminx", ""):
        assert ask(f"{origin}/{secret}/{path}")[0] == 404, path
    for other in (f"{origin}/admin", f"{origin}/{secret[:-1]}x/admin", f"{origin}/"):
        assert ask(other)[0] == 403
    assert ask(framed, sec_fetch_site="cross-site")[0] == 403
    assert ask(framed, sec_fetch_site="same-site", sec_fetch_dest="script")[0] == 403
    assert ask(framed, sec_fetch_site="same-site", sec_fetch_dest="iframe")[0] == 200
    assert ask(framed, host="rebound.example")[0] == 403
    assert ask(framed, "DELETE")[0] == 403


def test_a_login_is_checked_and_nothing_of_it_is_stored(
    studio: StudioApp, browser: Browser, remote: str, tmp_path: Path
) -> None:
    refused = browser.send("POST", "/dashboard", {"address": remote, **LOGIN, "password": "wrong password"})
    assert (refused.status, "iframe" in browser.inside("/dashboard").text) == (409, False)
    assert browser.send("POST", "/dashboard", {"address": remote, "name": "", "password": PASSWORD}).status == 422
    assert browser.send("POST", "/dashboard", {"address": remote, **LOGIN}).status == 202
    kept = [path for folder in (studio.cases.root, studio.cases.target) for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in kept if PASSWORD.encode() in path.read_bytes()]
    assert PASSWORD not in browser.inside("/dashboard").text
    servers_of(studio.app).close()


@contextmanager
def elsewhere(location: str) -> Iterator[str]:
    """A server that looks like karat's until somebody has logged in, and then leads somewhere else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            login = self.path == "/admin/login"
            content = b'<input name="csrf" value="x">' if login else b""
            self.send_response(200 if login else 302)
            if not login:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(303)
            self.send_header("Location", "/admin")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("location", ["http://127.0.0.1:1/admin", "//elsewhere.example/admin", "/healthz", ""])
def test_a_redirect_elsewhere_is_not_followed(studio: StudioApp, browser: Browser, location: str) -> None:
    with elsewhere(location) as address:
        assert browser.send("POST", "/dashboard", {"address": address, **LOGIN}).status == 202
        (framed,) = re.findall(r'iframe src="([^"]+)"', browser.inside("/dashboard").text)
        status, headers, _ = ask(framed)
        if location:
            assert (status, headers["location"]) == (502, None)
        else:
            assert (status, headers["location"]) == (303, urlsplit(framed).path)
        servers_of(studio.app).close()


@pytest.mark.parametrize(
    "text",
    ["http://study.example.org", "ftp://x.org", "file:///etc/passwd", "https://me:secret@x.org", "https://x.org/s/",
     "https://x.org/?a", "x.org:port", "https://", "https://a b.org"],
)  # fmt: skip
def test_what_is_no_address_of_a_server_is_refused(text: str) -> None:
    with pytest.raises(KaratError):
        server_address(text)
