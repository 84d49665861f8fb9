"""Headers of every answer, limits on the size and number of requests, and templates that escape everything.

The content-security policy allows only what the server itself sends: no inline script, no inline style, no other host.
A page at the top level is isolated from other origins, which gives it a finer clock. A page inside the frame of a
platform cannot be isolated; only that platform may frame it.

Token buckets limit how often one address may begin a session or try to log in: each attempt takes a token, and tokens
return at a steady rate. The address itself is not stored: the key is a hash with a salt that lives as long as the
process. In an open study, one address never takes all free places (`Holds`). IPv6 addresses count by their network
(/64), because one machine can use any number of them.
"""

import hashlib
import ipaddress
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.field.server.config import BODY_LIMIT, ServerConfig

POLICY = "content-security-policy"
DATA_CSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"
PERMISSIONS = ", ".join(f"{name}=()" for name in ("camera", "display-capture", "geolocation", "microphone", "payment",
                                                  "usb"))  # fmt: skip
ISOLATION = {"cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp"}
A_YEAR = 365 * 24 * 3600
NO_TELEMETRY: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
"""Tracing would send addresses, which contain platform ids, wherever the environment says."""


def page_policy(forms_to: Iterable[str] = (), framed_by: Iterable[str] = ()) -> str:
    """The content-security policy of a page."""
    return "; ".join((
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        " ".join(("form-action 'self'", *forms_to)),
        " ".join(("frame-ancestors", *(tuple(framed_by) or ("'none'",)))),
        "base-uri 'none'",
    ))  # fmt: skip


PAGE_CSP = page_policy()


COMMON = {
    "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "permissions-policy": PERMISSIONS,
    "cross-origin-resource-policy": "same-origin",
}  # fmt: skip
"""The headers of every answer."""
NO_STORE = {"cache-control": "no-store"}


def common_headers(config: ServerConfig) -> dict[str, str]:
    """The headers of every answer; over TLS, they also require TLS for a year."""
    return COMMON | ({"strict-transport-security": f"max-age={A_YEAR}"} if config.secure else {})


class Guard:
    """Middleware that refuses requests before the application sees them, and completes the headers of every answer."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self.app = app
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._complete(message)
            await send(message)

        await (self.refusal(scope, Headers(scope=scope)) or self.app)(scope, receive, send_with_headers)

    def refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """The answer to a request that must not reach the application; None for all others."""
        raise NotImplementedError

    def _complete(self, message: Message) -> None:
        """Add the missing headers, in bytes as they are sent, because this runs for every answer."""
        present = dict(message["headers"])
        page = present.get(b"content-type", b"").startswith(b"text/html")
        added = [*self._headers, (POLICY.encode(), (PAGE_CSP if page else DATA_CSP).encode())]
        message["headers"] = [*message["headers"], *(header for header in added if header[0] not in present)]


class RequestGuard(Guard):
    """Checks the host and the size of a request."""

    def __init__(self, app: ASGIApp, config: ServerConfig) -> None:
        super().__init__(app, common_headers(config) | NO_STORE)
        self._hosts = config.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, _limited(receive), send)

    def refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse other hosts and large bodies."""
        if self._hosts is not None and scope["path"] != "/healthz" and _host(headers) not in self._hosts:
            return JSONResponse({"error": "This server is not reached under that name."}, 400)
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > BODY_LIMIT:
            return JSONResponse({"error": f"A request may bring {BODY_LIMIT // 1024} KB at most."}, 413)
        return None


def _host(headers: Headers) -> str:
    """The host name of a request without its port."""
    host = headers.get("host", "").lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _limited(receive: Receive) -> Receive:
    """Stop reading at the limit, even if a body has no declared length or a wrong one."""
    taken = 0

    async def receive_within_limit() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > BODY_LIMIT:
            raise HTTPException(413)
        return message

    return receive_within_limit


MOST_BUCKETS = 50_000


class Buckets:
    """Token buckets by address."""

    def __init__(
        self,
        per_minute: float,
        at_once: int,
        clock: Callable[[], float] = time.monotonic,
        most: int = MOST_BUCKETS,
    ) -> None:
        self.rate, self.most = per_minute / 60, most
        self.at_once = at_once
        self._clock = clock
        self._salt = secrets.token_bytes(16)
        self._buckets: dict[bytes, tuple[float, float]] = {}

    def wait(self, address: str) -> float:
        """Take a token; returns how many seconds to wait if there is none, else 0."""
        if self.rate <= 0:
            return 0.0
        now = self._clock()
        key = _address_key(self._salt, address)
        tokens, since = self._buckets.get(key, (float(self.at_once), now))
        tokens = min(self.at_once, tokens + (now - since) * self.rate)
        if tokens < 1:
            self._buckets[key] = (tokens, now)
            return (1 - tokens) / self.rate
        if key not in self._buckets and len(self._buckets) >= self.most:
            self._forget_full(now)
        self._buckets[key] = (tokens - 1, now)
        return 0.0

    def _forget_full(self, now: float) -> None:
        """Drop the full buckets; if there are none, drop the older half, so that memory stays bounded."""
        used = {
            key: (tokens, since)
            for key, (tokens, since) in self._buckets.items()
            if tokens + (now - since) * self.rate < self.at_once
        }
        if len(used) >= self.most:
            latest = sorted(used.items(), key=lambda entry: entry[1][1])
            used = dict(latest[len(latest) // 2 :])
        self._buckets = used


MOST_OF_THE_FREE = 5 / 6
"""The share of the free places that one address may take with sessions that have no answer."""
FIRST_LEASE = 300.0
"""How many seconds a place in an open study is kept before the first trial is answered."""


class Holds:
    """Recent sessions of each address that have no answer yet, by the hashes of their tokens.

    One address gets most of the free places but never all of them, so opening many sessions keeps nobody out. A session
    with an answer no longer counts, so a lecture hall behind one address gets in.
    """

    def __init__(self, seconds: float = FIRST_LEASE, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._salt = secrets.token_bytes(16)
        self._held: dict[bytes, dict[str, float]] = {}
        self._owner: dict[str, bytes] = {}

    def add(self, address: str, token: str) -> int:
        """Record that a session begins; returns how many the address has now."""
        now = self._clock()
        key = _address_key(self._salt, address)
        if len(self._owner) >= MOST_BUCKETS:
            self._forget(now)
        held = self._held.setdefault(key, {})
        for token_hash in [token_hash for token_hash, since in held.items() if since + self.seconds < now]:
            self.release(token_hash)
        held = self._held.setdefault(key, {})
        held[token] = now
        self._owner[token] = key
        return len(held)

    def tokens(self, token: str) -> list[str]:
        """The hashes of all recent sessions of the address that began this one."""
        return list(self._held.get(self._owner.get(token, b""), {}))

    @staticmethod
    def within(rank: int, room: int) -> bool:
        """Whether an address may have this many sessions, given the places that are free or its own."""
        return rank <= max(1, int(room * MOST_OF_THE_FREE))

    def release(self, token: str) -> None:
        """Drop a session that has an answer or did not begin."""
        key = self._owner.pop(token, None)
        if key is not None and (held := self._held.get(key)) is not None:
            held.pop(token, None)
            if not held:
                del self._held[key]

    def _forget(self, now: float) -> None:
        sessions = [(since, token) for held in self._held.values() for token, since in held.items()]
        old = [token for since, token in sessions if since + self.seconds < now]
        for token in old or [token for _, token in sorted(sessions)[: len(sessions) // 2]]:
            self.release(token)


class Limits:
    """The limits of a server per address: `arrival` (a session begins), `login` (somebody enters a password) and
    `withdrawal` (somebody enters a withdrawal code); and per session: `request` (answers arrive).
    """

    def __init__(self, config: ServerConfig, clock: Callable[[], float] = time.monotonic) -> None:
        self._buckets = {
            "arrival": Buckets(config.arrivals_per_minute, config.arrivals_at_once, clock),
            "login": Buckets(6, 10, clock),
            "withdrawal": Buckets(6, 10, clock),
            "request": Buckets(240, 600, clock),
        }
        self.holds = Holds(clock=clock)
        self.limited = config.arrivals_per_minute > 0

    def wait(self, kind: str, who: Request | str) -> float:
        """Take a token of a client or a session; returns how many seconds to wait if there is none, else 0."""
        return self._buckets[kind].wait(who if isinstance(who, str) else client_address(who))

    def check(self, kind: str, who: Request | str) -> None:
        """Take a token of a client or a session; 429 with the seconds to wait if there is none."""
        wait = self.wait(kind, who)
        if wait:
            raise HTTPException(429, headers={"Retry-After": str(int(wait) + 1)})


def client_address(request: Request) -> str:
    """The address of the client; empty if the server does not know it."""
    return request.client.host if request.client else ""


def _address_key(salt: bytes, address: str) -> bytes:
    return hashlib.blake2b(_network(address).encode("utf-8", "replace"), key=salt, digest_size=16).digest()


def _network(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


WEB = Path(__file__).parent.parent / "web"


@cache
def environment(folder: Path = WEB / "templates") -> Environment:
    """The templates of a folder; they escape everything, and an undefined name is an error."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
