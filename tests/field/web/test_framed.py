"""A study as an external question of MTurk: inside a frame of another site, where the browser gives it no cookies.

The host names of MTurk and of the study lead to this machine, with a certificate that the test makes.
"""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from field.browser import FLAGS, chromium_path
from field.server.conftest import TEXTS, write
from field.web.real import Real, served
from field.web.samples import settle
from field.web.test_visit import Complaints, arrive, fill
from karat.field.store.schema import answer, identity, session
from karat.study.study import Study

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MTURK = "workersandbox.mturk.com"
STUDY = "study.example.org"
ELSEWHERE = "elsewhere.example.org"
WORKER = {
    "assignmentId": "3LYA37P8IQN2", "hitId": "3OLQQLKKNSPR", "workerId": "A2EXAMPLE", "turkSubmitTo": f"https://{MTURK}"
}  # fmt: skip
PREVIEW = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": WORKER["hitId"]}
ITEMS = 'item,function,sentence\nt1,test,"The dog sleeps."\nt2,test,"Sleeps the dog."\nt3,test,"Dog the sleeps."\n'


@dataclass
class Market:
    """Pages that frame the study, on whichever host they are asked for, and what is posted to them."""

    port: int = 0
    posted: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


@dataclass
class Framed:
    """A study that is served over TLS, and pages of other sites that frame it."""

    real: Real
    market: Market
    browser: Any

    @property
    def study(self) -> Study:
        return self.real.study

    def rows(self, table: Any) -> list[dict[str, Any]]:
        return self.real.rows(table)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate and its key for the names of this test, valid for two days."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine, which makes the certificate: install the package openssl")
    folder = tmp_path_factory.mktemp("tls")
    made, key = folder / "certificate.pem", folder / "key.pem"
    names = ",".join(f"DNS:{name}" for name in (MTURK, STUDY, ELSEWHERE))
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
               "-days", "2", "-subj", f"/CN={STUDY}", "-addext", f"subjectAltName={names}",
               "-keyout", str(key), "-out", str(made)]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    return made, key


@pytest.fixture(scope="module")
def market(certificate: tuple[Path, Path]) -> Iterator[Market]:
    """Sites that frame the study."""
    result = Market()

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = urlsplit(self.path).query
            source = escape(f"https://{STUDY}/s/study/?{query}")
            self._show(f'<h1>Work</h1><iframe src="{source}" width="900" height="700"></iframe>')

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            result.posted.append((self.headers["host"], self.path, dict(parse_qsl(body))))
            self._show("<h1>Submitted</h1>")

        def _show(self, html: str) -> None:
            body = f'<!doctype html><title>Work</title><link rel="icon" href="data:,">{html}'.encode()
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *result: Any) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    # The handshake belongs to the thread of its connection: a browser opens some that it never uses.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    result.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield result
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.fixture
def framed(browser: Any, tmp_path: Path, market: Market, certificate: tuple[Path, Path]) -> Iterator[Framed]:
    """The study, running on MTurk, and a browser for which all the names lead here."""
    market.posted.clear()
    study = write(tmp_path / "study", TEXTS + '\n[recruitment]\nplatform = "mturk"\n', items=ITEMS)
    with served(study, tmp_path, certificate, f"https://{STUDY}") as real:
        ports = {STUDY: real.port, MTURK: market.port, ELSEWHERE: market.port}
        leads = ", ".join(f"MAP {name} 127.0.0.1:{port}" for name, port in ports.items())
        flags = [*FLAGS, f"--host-resolver-rules={leads}", "--ignore-certificate-errors"]
        led = browser.browser_type.launch(executable_path=chromium_path(), args=flags)
        try:
            yield Framed(real, market, led)
        finally:
            led.close()


def open_work(framed: Framed, parameters: dict[str, str], host: str = MTURK) -> tuple[Any, Any, Complaints]:
    """A page that frames the study: the page, the frame, and what the browser complains about."""
    page = framed.browser.new_page(viewport={"width": 1000, "height": 800})
    page.set_default_timeout(120_000)
    complaints = Complaints()
    complaints.listen(page)
    page.goto(f"https://{host}/?{urlencode(parameters)}")
    return page, page.frames[1], complaints


def go_on(frame: Any, study: Study) -> None:
    """From step to step by their forms, until the trials come or no form of ours leads on."""
    for _ in range(8):
        frame.wait_for_load_state()
        if frame.locator("#trials").count() or not frame.locator("main form[action*='/s/study/']").count():
            return
        fill(frame, study)
        with frame.expect_navigation():
            frame.locator("main form button").first.click()


def answer_one(frame: Any) -> None:
    settle(frame)
    frame.evaluate("document.querySelector('.trial').dataset.seen = ''")
    if frame.locator(".scale").count():
        frame.locator(".scale label").nth(1).click()
    else:
        frame.locator(".trial button").click()
    arrive(frame)


def test_a_preview_takes_no_place(framed: Framed) -> None:
    page, frame, complaints = open_work(framed, PREVIEW)
    assert "preview" in frame.locator(".notice").inner_text().lower()
    assert frame.locator("form").count() == 0
    assert framed.rows(session) == []
    assert not complaints
    page.close()


def test_a_worker_from_the_first_page_to_the_last(framed: Framed) -> None:
    page, frame, complaints = open_work(framed, WORKER)
    asked: list[Any] = []
    page.on("request", lambda request: urlsplit(request.url).hostname == STUDY and asked.append(request))
    result = frame.evaluate("() => { document.cookie = 'a=1; SameSite=None; Secure'; return document.cookie; }")
    assert result == "", "this browser would give cookies to a frame, so that the test would show nothing"
    go_on(frame, framed.study)
    answer_one(frame)
    page.wait_for_load_state("networkidle")
    first = [row["position"] for row in framed.rows(answer)]
    assert len(first) == 1
    page.reload()  # a worker who comes back to the assignment goes on where they were
    frame = page.frames[1]
    go_on(frame, framed.study)
    while frame.locator("#trials").count():
        answer_one(frame)
    go_on(frame, framed.study)
    frame.get_by_role("heading", name="Submitted").wait_for()
    check_traffic(asked, page)
    check_saved(framed)
    assert not complaints
    page.close()


def check_traffic(asked: list[Any], page: Any) -> None:
    """By bearer token, without a cookie, and with no token in any address."""
    calls = [request for request in asked if "/api/" in request.url]
    assert {request.method for request in calls} == {"GET", "POST"}
    for request in calls:
        assert request.all_headers()["authorization"].startswith("Bearer ")
    tokens = {request.all_headers()["authorization"].removeprefix("Bearer ") for request in calls}
    assert len(tokens) == 2, "the token of a session that is resumed is a new one"
    for request in asked:
        assert "cookie" not in request.all_headers()
        assert not any(token in request.url for token in tokens)
    assert page.context.cookies() == []


def check_saved(framed: Framed) -> None:
    """The answers are in the store, and MTurk has been notified."""
    (person,) = framed.rows(session)
    assert (person["state"], person["platform"]) == ("complete", "mturk")
    assert framed.rows(identity)[0]["platform_id"] == WORKER["workerId"]
    saved = [row for row in framed.rows(answer) if row["response"] is not None]
    assert [row["response"] for row in saved] == ["2"] * 3
    assert [row["details"]["isolated"] for row in saved] == [False] * 3
    ((host, path, fields),) = framed.market.posted
    assert (host, path) == (MTURK, "/mturk/externalSubmit")
    assert fields == {
        "assignmentId": WORKER["assignmentId"],
        "outcome": "complete",
        "code": person["completion_code"],
    }


def test_another_site_cannot_frame_the_study(framed: Framed) -> None:
    for parameters in (WORKER, PREVIEW):
        page, frame, complaints = open_work(framed, parameters, host=ELSEWHERE)
        page.wait_for_load_state("networkidle")
        assert frame.url.startswith("chrome-error:")
        assert any("frame-ancestors" in line for line in complaints)
        page.close()
    assert framed.rows(session) == []


def test_the_end_goes_to_nobody_but_mturk(framed: Framed) -> None:
    page, frame, complaints = open_work(framed, {**WORKER, "turkSubmitTo": f"https://{ELSEWHERE}"})
    go_on(frame, framed.study)
    while frame.locator("#trials").count():
        answer_one(frame)
    go_on(frame, framed.study)
    assert frame.locator(".code").inner_text().strip() == framed.rows(session)[0]["completion_code"]
    assert frame.locator("form").count() == 0
    # Nor does the browser send a form there that somebody put into the page.
    frame.evaluate(f"""() => {{
        const form = document.createElement("form");
        Object.assign(form, {{ method: "post", action: "https://{ELSEWHERE}/mturk/externalSubmit" }});
        document.body.append(form);
        form.submit();
    }}""")
    page.wait_for_timeout(300)
    assert any("form-action" in line for line in complaints)
    assert framed.market.posted == []
    page.close()
