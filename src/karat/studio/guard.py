"""Who may come in: one browser on this machine, which was shown the way once; and whether it is still there.

The address that opens the page carries a key that works once. It sets a cookie whose path is itself a secret: browsers
share the cookies of 127.0.0.1 among all ports, and a server of somebody else on the same machine must not be sent ours.
The server answers only under its own name and port, so that no other name can be made to point to it, and takes
nothing that a page of another origin has a browser send.

A page says every few seconds that it is there, and says goodbye when it is closed. A browser may let a page in the
background sleep; the page says that too. Time is counted in the server's own ticks: while a laptop is closed, neither
page nor server runs, and nobody has left.
"""

import secrets
from dataclasses import dataclass, field
from typing import Literal

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.field.server.headers import COMMON, DATA_CSP, PAGE_CSP, POLICY
from karat.field.server.security import same

REPORT_POLICY = "sandbox allow-scripts allow-downloads allow-modals allow-popups; frame-ancestors 'none'"
"""The report has a policy of its own. In a sandbox it is not part of this page and cannot ask the server anything."""
COOKIE = "karat-open"
SAFE = ("GET", "HEAD")
HEADERS = COMMON | {"cross-origin-opener-policy": "same-origin", "cache-control": "no-store"}
NOT_YOURS = "This page is not open to you. Start karat open again, and take the address that it shows."


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass
class Keys:
    """The secrets of one run of the app, made anew every time."""

    port: int
    key: str = field(default_factory=_secret, repr=False)
    """Opens the app, once."""
    path: str = field(default_factory=_secret, repr=False)
    """Where everything is, and where the cookie is sent."""
    cookie: str = field(default_factory=_secret, repr=False)
    used: bool = False

    @property
    def base(self) -> str:
        """The beginning of every address of the app."""
        return f"/{self.path}"

    @property
    def address(self) -> str:
        """The address that opens the app."""
        return f"http://127.0.0.1:{self.port}/?key={self.key}"

    @property
    def hosts(self) -> tuple[str, str]:
        """The names under which the server answers."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def turn(self, key: str) -> bool:
        """Use the key; whether it is the right one and was not used before."""
        if self.used or not same(key, self.key):
            return False
        self.used = True
        return True


class LoopbackGuard:
    """Refuses what does not come from the one browser, and adds the headers that every answer carries."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self.app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self._refused(scope, Headers(scope=scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _complete(message)
            await send(message)

        await (refused or self.app)(scope, receive, send_with_headers)

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "").lower()
        if host not in self._keys.hosts:
            return PlainTextResponse("This server is not reached under that name.", 400)
        if scope["path"] == "/favicon.ico":  # asked for unbidden, by the page before the app
            return Response(status_code=204)
        if scope["path"] == "/" and scope["method"] in SAFE:
            return None
        inside = same(scope["path"].split("/")[1], self._keys.path)
        if not inside or not same(HTTPConnection(scope).cookies.get(COOKIE, ""), self._keys.cookie):
            return PlainTextResponse(NOT_YOURS, 403)
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return PlainTextResponse(NOT_YOURS, 403)
        if scope["method"] not in SAFE and headers.get("origin", "") != f"http://{host}":
            return JSONResponse({"error": "This was not sent by the page itself."}, 403)
        return None


def _complete(message: Message) -> None:
    there = {name for name, _ in message["headers"]}
    page = any(name == b"content-type" and value.startswith(b"text/html") for name, value in message["headers"])
    wanted = HEADERS | {POLICY: PAGE_CSP if page else DATA_CSP}
    message["headers"] = [
        *message["headers"],
        *((name.encode(), value.encode()) for name, value in wanted.items() if name.encode() not in there),
    ]


State = Literal["here", "asleep", "left"]
LONGEST_SILENCE = {"here": 180.0, "asleep": 12 * 3600.0}
"""Seconds after which a page that says nothing is taken as closed. Browsers let hidden pages speak once a minute."""
GRACE = 10.0
"""Seconds without any page before the app closes: going from one page to the next takes a moment."""
MOST_PAGES = 1000


class Presence:
    """The pages that are open."""

    def __init__(self) -> None:
        self._pages: dict[str, tuple[State, float]] = {}
        self._ever = False
        self._empty = 0.0

    def tell(self, page: str, state: State) -> None:
        """Note what a page says of itself."""
        self._pages.pop(page, None)
        if state != "left" and len(self._pages) < MOST_PAGES:
            self._pages[page] = (state, 0.0)
        self.seen()

    def seen(self) -> None:
        """Note that a page was asked for; it will soon say that it is there."""
        self._ever = True
        self._empty = 0.0

    def tick(self, seconds: float) -> bool:
        """Let time pass; whether everybody has left. Before the first page is opened, nobody has."""
        aged = {page: (state, silent + seconds) for page, (state, silent) in self._pages.items()}
        self._pages = {page: kept for page, kept in aged.items() if kept[1] < LONGEST_SILENCE[kept[0]]}
        self._empty = 0.0 if self._pages else self._empty + seconds
        return self._ever and self._empty >= GRACE
