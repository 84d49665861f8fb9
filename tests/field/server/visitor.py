"""A participant's browser without a screen: it asks the application itself, keeps cookies, and fills in forms."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from karat.field.bots.walk import PageForm, forms

PAGES = 40


@dataclass
class Reply:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes
    path: str
    cookies: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def forms(self) -> list[PageForm]:
        return forms(self.text)

    def form(self, action: str) -> PageForm:
        (found,) = [form for form in self.forms if action in form.action]
        return found


@dataclass
class Visitor:
    """Somebody with a browser."""

    app: Any
    runner: asyncio.Runner
    slug: str = "study"
    cookies: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    token: str = ""
    """The bearer token of a framed session."""

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None, follow: bool = True
    ) -> Reply:
        sent = {"host": "127.0.0.1:8000", **self.headers, **(headers or {})}
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body and "content-length" not in sent:
            sent["content-length"] = str(len(body))
        reply = self.runner.run(_answered(self.app, method, path, body, sent))
        for cookie in reply.cookies:
            for name, morsel in SimpleCookie(cookie).items():
                self.cookies[name] = morsel.value
                if morsel["max-age"] == "0":
                    del self.cookies[name]
        location = reply.headers.get("location", "")
        if follow and reply.status == 303 and location.startswith("/"):
            return self.ask("GET", location)
        return reply

    def get(self, path: str, follow: bool = True) -> Reply:
        return self.ask("GET", path, follow=follow)

    def post(self, path: str, fields: Mapping[str, str], follow: bool = True) -> Reply:
        headers = {"content-type": "application/x-www-form-urlencoded"}
        return self.ask("POST", path, urlencode(fields).encode(), headers, follow)

    def send(
        self, form: PageForm, answers: Mapping[str, str] | None = None, button: int = 0, follow: bool = True
    ) -> Reply:
        return self.post(form.action, form.filled(answers or {}, button), follow)

    def api(self, method: str, path: str, sent: object = None, headers: Mapping[str, str] | None = None) -> Reply:
        known = {"authorization": f"Bearer {self.token}"} if self.token else {}
        if sent is None:
            return self.ask(method, f"/api/{self.slug}/{path}", headers={**known, **(headers or {})})
        fields = {"content-type": "application/json", "x-karat": "1", **known, **(headers or {})}
        return self.ask(method, f"/api/{self.slug}/{path}", json.dumps(sent).encode(), fields)

    # What a participant does.

    def arrive(self, **parameters: str) -> Reply:
        """Open the link and press the button."""
        page = self.get(f"/s/{self.slug}/?{urlencode(parameters)}")
        return self.send(page.form("/begin")) if page.forms else page

    def go_on(self, page: Reply, known: Mapping[str, str], until: str = 'id="trials"') -> Reply:
        """Fill in pages until one has a text, or until no form leads on."""
        for _ in range(PAGES):
            steps = [form for form in page.forms if "/step/" in form.action]
            if until in page.text or not steps:
                return page
            page = self.send(steps[0], filled_in(steps[0], known))
        raise AssertionError(f"The pages go round in a circle: {page.text}")

    def answer_all(self, respond: Callable[[Any, Any], Any] | None = None, most: int = 10_000) -> list[dict[str, Any]]:
        """Answer trials until there are no more; what was sent."""
        body = self.api("GET", "trials").json()
        waiting, scales, sent = body["trials"], body["scales"], []
        while waiting and len(sent) < most:
            trial = waiting.pop(0)
            answer = answer_to(trial, scales, respond)
            sent.append(answer)
            held = [one["id"] for one in waiting]
            reply = self.api("POST", "answers", {"answers": [answer], "events": [], "have": held})
            assert reply.status == 200, reply.text
            body = reply.json()
            assert body["refused"] == []
            assert body["saved"] == [answer["key"]]
            scales.update(body["scales"])
            waiting += body["trials"]
        return sent


def filled_in(form: PageForm, known: Mapping[str, str]) -> dict[str, str]:
    """Every question answered: as is known by its words, else with the first answer."""
    answers = {}
    for name, choice in form.choices.items():
        wanted = next((answer for question, answer in known.items() if question in choice.question), None)
        values = [value for value, words in choice.options.items() if words == wanted] or list(choice.options)
        answers[name] = values[0]
    for name, label in form.texts.items():
        answers[name] = next((answer for question, answer in known.items() if question in label), "")
    return answers


def answer_to(trial: Mapping[str, Any], scales: Mapping[str, Any], respond: Any = None) -> dict[str, Any]:
    """An answer as the browser sends it."""
    response, responses, rts = None, None, None
    if trial["kind"] == "trial":
        scale = scales[trial["scale"]]
        if respond is not None:
            response = respond(trial, scale)
        elif trial["questions"]:
            responses = {one["id"]: scale["points"][-1]["value"] for one in trial["questions"]}
            rts = dict.fromkeys(responses, 1.5)
        elif scale["kind"] == "number":
            response = "120"
        else:
            response = scale["points"][0]["value"]
    return {
        "trial": trial["id"], "key": str(uuid.uuid4()), "response": response, "responses": responses, "rt": 2.5,
        "rts": rts, "first_response": response, "first_rt": 2.0, "changes": 0, "shown_at": 1_790_000_000_000,
        "answered_at": 1_790_000_002_500, "blurs": 0, "away": 0, "pointer": "mouse", "window": [1280, 800],
        "device": "desktop", "isolated": True, "frame_rate": 60.0,
    }  # fmt: skip


async def asked(app: Any, form: PageForm) -> Reply:
    """What the server answers to a form of somebody without cookies; for several at the same moment."""
    body = urlencode(form.filled({}, 0)).encode()
    headers = {"host": "127.0.0.1:8000", "content-type": "application/x-www-form-urlencoded",
               "content-length": str(len(body))}  # fmt: skip
    return await _answered(app, "POST", form.action, body, headers)


async def _answered(app: Any, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
    parts = urlsplit(path)
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.4"}, "http_version": "1.1", "method": method,
        "scheme": "http",
        "path": unquote(parts.path), "raw_path": parts.path.encode(), "query_string": parts.query.encode(),
        "root_path": "", "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        "client": ("127.0.0.1", 50_000), "server": ("127.0.0.1", 8000), "state": {},
    }  # fmt: skip
    pieces = [{"type": "http.request", "body": body, "more_body": False}]
    got: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return pieces.pop(0) if pieces else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        got.append(message)

    await app(scope, receive, send)
    fields = {name.decode().lower(): value.decode("latin-1") for name, value in got[0]["headers"]}
    cookies = tuple(value.decode("latin-1") for name, value in got[0]["headers"] if name.lower() == b"set-cookie")
    return Reply(got[0]["status"], fields, b"".join(one.get("body", b"") for one in got[1:]), path, cookies)
