"""A small server that speaks the contract of the trial page: sample trials in, answers kept, faults on request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

WEB = Path(__file__).parents[3] / "src" / "karat" / "field" / "web"
CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'"
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PAGE = """<!doctype html>
<html lang="{language}" dir="{direction}"><head><meta charset="utf-8"><title>A study</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{token}
<link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/static/css/karat.css"></head>
<body class="page trials">
<main id="trials" class="column" data-study="sample" data-session="p-1" data-language="{language}"
 data-direction="{direction}" data-progress="{progress}" data-next="/s/sample/go" tabindex="-1"></main>
<footer class="foot quiet"><a href="/s/sample/stop">Stop taking part</a></footer>
<script type="application/json" id="karat-words">{words}</script>
<script type="application/json" id="karat-tasks">{tasks}</script>
<script src="/static/vendor/jspsych.js" defer></script>
<script type="module" src="/static/js/main.js"></script></body></html>"""
DONE = '<!doctype html><html lang="en"><head><title>Done</title></head><body><h1>All saved</h1></body></html>'
LAST = """<!doctype html><html lang="en"><head><title>Last</title>
<script type="module" src="/static/js/submit.js"></script></head><body><h1>Last</h1><p class="code" id="code"> C0DE </p>
<button type="button" data-copy="code" data-copied="Copied">Copy</button>{form}</body></html>"""
BACK = """<form class="submit-back" method="post" action="/mturk/externalSubmit">
<input type="hidden" name="assignmentId" value="A1"><button class="button">Send</button></form>"""
SCRIPTS = json.dumps({path.stem: f"/static/js/tasks/{path.name}" for path in (WEB / "static/js/tasks").glob("*.js")})
RECTANGLE = '<rect width="320" height="200" fill="#246"/>'
PICTURE = f'<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200">{RECTANGLE}</svg>'


class Stub:
    """The state of one session: its trials in order, what was answered, and how the server misbehaves."""

    def __init__(self, trials: list[dict[str, Any]], scales: dict[str, Any], **page: Any) -> None:
        self.trials, self.scales = trials, scales
        self.page = {
            "language": "en",
            "direction": "ltr",
            "progress": "line",
            "words": {},
            "tasks": SCRIPTS,
            "token": "",
            **page,
        }
        self.going_back = False
        self.send_ahead = 3
        self.answers: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.failing = 0
        """How many of the next posts are saved, or not, and then answered with nothing."""
        self.saves_when_failing = True
        self.status = 0
        """A status with which every request to the API is answered, where not 0."""
        self.delay = 0.0
        self.lock = threading.Lock()
        self.address = ""

    def unanswered(self) -> list[dict[str, Any]]:
        given = {answer["trial"] for answer in self.answers}
        return [trial for trial in self.trials if trial["id"] not in given]

    def ahead(self, have: list[str]) -> dict[str, Any]:
        left = self.unanswered()
        sent = [trial for trial in left[: self.send_ahead] if trial["id"] not in have]
        scales = {trial["scale"]: self.scales[trial["scale"]] for trial in sent if trial.get("scale")}
        step = "trials" if left else "comment"
        return {"step": step, "trials": sent, "scales": scales, "left": len(left), "done": 0.0}

    def save(self, body: dict[str, Any]) -> dict[str, Any]:
        saved, refused = [], []
        for answer in body["answers"]:
            again = any(given["trial"] == answer["trial"] for given in self.answers)
            if answer["key"] in self.keys:
                saved.append(answer["key"])
            elif again and not self.going_back:
                refused.append({"key": answer["key"], "reason": "already answered"})
            else:
                self.keys.add(answer["key"])
                self.answers.append(answer)
                saved.append(answer["key"])
        self.events += body["events"]
        return {"saved": saved, "refused": refused, **self.ahead(body["have"])}


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    stub: Stub

    def log_message(self, *_: Any) -> None:
        return

    def reply(self, body: str | bytes, kind: str = "text/html", status: int = 200) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", CSP)
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path == "/api/sample/trials":
            self.api(None)
        elif path.startswith("/static/"):
            name = path.removeprefix("/static/")
            file = WEB / name if name.startswith("vendor/") else WEB / "static" / name
            self.reply(file.read_bytes(), TYPES[file.suffix])
        elif path.endswith(".svg"):
            self.reply(PICTURE, "image/svg+xml")
        elif path == "/s/sample/done":
            self.reply(LAST.format(form=BACK if self.path.endswith("?framed") else ""))
        elif path == "/s/sample/":
            page = {**self.stub.page, "words": json.dumps(self.stub.page["words"])}
            self.reply(PAGE.format(**page))
        else:
            self.reply(PAGE.format(**{**self.stub.page, "words": "{}"}) if self.stub.unanswered() else DONE)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/api/sample/answers":
            self.api(json.loads(body))
        else:
            self.stub.requests.append({"path": self.path, "form": body.decode()})
            self.reply(DONE)

    def api(self, body: dict[str, Any] | None) -> None:
        stub = self.stub
        with stub.lock:
            entry = {"path": self.path, "body": body, "token": self.headers["Authorization"]}
            stub.requests.append(entry | {"header": self.headers["X-Karat"]})
            if stub.status:
                self.reply(json.dumps({"error": "no"}), "application/json", stub.status)
                return
            fails = body is not None and stub.failing > 0
            stub.failing -= fails
            if body is None:
                more = {"language": "en", "direction": "ltr", "going_back": stub.going_back, "previous": None}
                reply = {**stub.ahead([]), **more}
            elif not fails or stub.saves_when_failing:
                reply = stub.save(body)
        if fails:
            self.close_connection = True
            self.connection.close()
            return
        time.sleep(stub.delay)
        self.reply(json.dumps(reply), "application/json")


@contextmanager
def serving(stub: Stub) -> Iterator[Stub]:
    """Serve a session on a free port of this machine."""
    handler = type("StubHandler", (Handler,), {"stub": stub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    stub.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
