"""Access to the app for one browser on this machine, and whether its pages are still open.

The address that opens the app carries a key that works once. It sets a cookie whose path is itself a secret, because
browsers share the cookies of 127.0.0.1 among all ports, and another user's server on this machine must not receive
ours. The server answers only under its own name and port, so no other name can point to it, and refuses requests that
a page of another origin makes the browser send.

A page reports every few seconds that it is open, and reports when it is closed or put to sleep by the browser. Time is
counted in the server's own ticks: while a laptop is closed, neither page nor server runs, and no page counts as closed.
"""

import secrets
from dataclasses import dataclass, field
from typing import Literal

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Scope

from karat.field.server.headers import COMMON, NO_STORE, Guard
from karat.field.server.security import same

REPORT_POLICY = "sandbox allow-scripts allow-downloads allow-modals allow-popups; frame-ancestors 'none'"
"""The policy of the report. In a sandbox, it has its own origin and cannot send requests to the server."""
COOKIE = "karat-open"
SAFE = ("GET", "HEAD")
NOT_YOURS = "This page is not open to you. Start karat open again, and take the address that it shows."


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass
class Keys:
    """The secrets of one run of the app."""

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
        """Use the key; returns whether it is right and was not used before."""
        if self.used or not same(key, self.key):
            return False
        self.used = True
        return True


class LoopbackGuard(Guard):
    """Refuses everything that does not come from the one browser."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        super().__init__(app, COMMON | NO_STORE | {"cross-origin-opener-policy": "same-origin"})
        self._keys = keys

    def refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse other hosts, other browsers and other sites."""
        host = headers.get("host", "").lower()
        if host not in self._keys.hosts:
            return PlainTextResponse("This server is not reached under that name.", 400)
        if scope["path"] == "/favicon.ico":  # browsers request it on the page before the app
            return Response(status_code=204)
        if scope["path"] == "/" and scope["method"] in SAFE:
            return None
        inside = same(scope["path"].removeprefix("/").partition("/")[0], self._keys.path)
        if not inside or not same(HTTPConnection(scope).cookies.get(COOKIE, ""), self._keys.cookie):
            return PlainTextResponse(NOT_YOURS, 403)
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return PlainTextResponse(NOT_YOURS, 403)
        if scope["method"] not in SAFE and headers.get("origin", "") != f"http://{host}":
            return JSONResponse({"error": "This was not sent by the page itself."}, 403)
        return None


State = Literal["here", "asleep", "left"]
LONGEST_SILENCE = {"here": 180.0, "asleep": 12 * 3600.0}
"""Seconds after which a silent page counts as closed. Browsers run the timers of hidden pages once a minute."""
GRACE = 10.0
"""Seconds without any page before the app closes, because going from one page to the next takes a moment."""
MOST_PAGES = 1000


class Presence:
    """The pages that are open."""

    def __init__(self) -> None:
        self._pages: dict[str, tuple[State, float]] = {}
        self._ever = False
        self._empty = 0.0

    def tell(self, page: str, state: State) -> None:
        """Record the state of a page."""
        self._pages.pop(page, None)
        if state != "left" and len(self._pages) < MOST_PAGES:
            self._pages[page] = (state, 0.0)
        self.seen()

    def seen(self) -> None:
        """Record that a page was requested; it will soon report that it is open."""
        self._ever = True
        self._empty = 0.0

    def tick(self, seconds: float) -> bool:
        """Let time pass; returns whether all pages are closed. Before the first page is opened, this is False."""
        aged = {page: (state, silent + seconds) for page, (state, silent) in self._pages.items()}
        self._pages = {page: entry for page, entry in aged.items() if entry[1] < LONGEST_SILENCE[entry[0]]}
        self._empty = 0.0 if self._pages else self._empty + seconds
        return self._ever and self._empty >= GRACE
