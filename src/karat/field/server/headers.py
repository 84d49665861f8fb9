"""What guards every request: headers, limits of size and number, and templates in which all is escaped.

The content-security policy allows nothing that does not come from the server itself: no inline script, no inline style,
no other host. A page at the top level is isolated from other origins, which gives it a finer clock. A page inside the
frame of a platform cannot be isolated; only that platform may frame it.

How often one address may begin a session or try to log in is counted by a token bucket per address: it holds this many
tokens, each try takes one, and they come back at a steady rate. The address itself is not kept: the key is a hash with
a salt that lives as long as the process. In an open study one address also never holds all free places (`Holds`).
Addresses of IPv6 count by their network (/64), since one machine has as many
of them as it likes.

Everything that a template puts into a page is escaped, unless it was made as markup.
"""

import hashlib
import ipaddress
import secrets
import time
from collections.abc import Callable, Iterable
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
"""Spans would carry addresses with the ids of platforms to wherever the environment says."""


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


def common_headers(config: ServerConfig) -> dict[str, str]:
    """The headers of every answer; over TLS also the promise that it stays so."""
    return COMMON | ({"strict-transport-security": f"max-age={A_YEAR}"} if config.secure else {})


class RequestGuard:
    """Checks the host and the size of a request, and adds the headers that every answer carries."""

    def __init__(self, app: ASGIApp, config: ServerConfig) -> None:
        self.app = app
        self._hosts = config.hosts
        self._common = [(name.encode(), value.encode()) for name, value in common_headers(config).items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._refused(scope, headers)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._complete(message)
            await send(message)

        if refused is not None:
            await refused(scope, receive, send_with_headers)
        else:
            await self.app(scope, _limited(receive), send_with_headers)

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        if self._hosts is not None and scope["path"] != "/healthz" and _host(headers) not in self._hosts:
            return JSONResponse({"error": "This server is not reached under that name."}, 400)
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > BODY_LIMIT:
            return JSONResponse({"error": f"A request may bring {BODY_LIMIT // 1024} KB at most."}, 413)
        return None

    def _complete(self, message: Message) -> None:
        """Add what is missing. This happens for every answer, so the headers are handled as they are sent: in bytes."""
        there = dict(message["headers"])
        headers = [*message["headers"], *self._common]
        if POLICY.encode() not in there:
            page = there.get(b"content-type", b"").startswith(b"text/html")
            headers.append((POLICY.encode(), PAGE_CSP.encode() if page else DATA_CSP.encode()))
        if b"cache-control" not in there:
            headers.append((b"cache-control", b"no-store"))
        message["headers"] = headers


def _host(headers: Headers) -> str:
    """The host name of a request without its port."""
    host = headers.get("host", "").lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _limited(receive: Receive) -> Receive:
    """Reading a body that says no length, or a wrong one, ends at the limit."""
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
        """Take a token; how many seconds to wait where there is none, 0 where there was one."""
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
        """Forget the buckets that are full again; where none is, the older half, so that memory stays bounded."""
        kept = {
            key: (tokens, since)
            for key, (tokens, since) in self._buckets.items()
            if tokens + (now - since) * self.rate < self.at_once
        }
        if len(kept) >= self.most:
            latest = sorted(kept.items(), key=lambda entry: entry[1][1])
            kept = dict(latest[len(latest) // 2 :])
        self._buckets = kept


MOST_OF_THE_FREE = 5 / 6
"""The share of the free places that one address may hold by sessions without an answer."""
FIRST_LEASE = 300.0
"""How many seconds a place in an open study is kept before the first trial is answered."""


class Holds:
    """Sessions that an address has begun lately and that have no answer yet, by the hashes of their tokens.

    One address gets most of the free places and never all of them: opening many sessions keeps nobody out. A
    session with an answer no longer counts, so that a lecture hall behind one address gets in.
    """

    def __init__(self, seconds: float = FIRST_LEASE, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._salt = secrets.token_bytes(16)
        self._held: dict[bytes, dict[str, float]] = {}
        self._owner: dict[str, bytes] = {}
        self._counted: set[str] = set()

    def add(self, address: str, token: str) -> int:
        """Note that a session begins; how many the address has now."""
        now = self._clock()
        key = _address_key(self._salt, address)
        if len(self._owner) >= MOST_BUCKETS:
            self._forget(now)
        own = self._held.setdefault(key, {})
        for known in [known for known, since in own.items() if since + self.seconds < now]:
            self.release(known)
        own = self._held.setdefault(key, {})
        own[token] = now
        self._owner[token] = key
        return len(own)

    def within(self, token: str, rank: int, free: int) -> bool:
        """Whether a session is among those that its address may hold; `free` does not count those under way."""
        own = self._held.get(self._owner.get(token, b""), {})
        room = free + sum(known in self._counted for known in own)
        return rank <= max(1, int(room * MOST_OF_THE_FREE))

    def counted(self, token: str) -> None:
        """The session has its place now, which is no longer among the free ones."""
        self._counted.add(token)

    def release(self, token: str) -> None:
        """The session has an answer, or did not begin."""
        key = self._owner.pop(token, None)
        self._counted.discard(token)
        if key is not None and (own := self._held.get(key)) is not None:
            own.pop(token, None)
            if not own:
                del self._held[key]

    def _forget(self, now: float) -> None:
        known = [(since, token) for own in self._held.values() for token, since in own.items()]
        old = [token for since, token in known if since + self.seconds < now]
        for token in old or [token for _, token in sorted(known)[: len(known) // 2]]:
            self.release(token)


class Limits:
    """The limits of a server, by address: `arrival` (a session begins), `login` (a password is tried), `withdrawal` (a
    withdrawal code is tried); and by session: `request` (answers come in).
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
        """Take a token of a client or a session; how many seconds to wait where there is none, else 0."""
        name = who if isinstance(who, str) else who.client.host if who.client else ""
        return self._buckets[kind].wait(name)


def _address_key(salt: bytes, address: str) -> bytes:
    return hashlib.blake2b(_network(address).encode("utf-8", "replace"), key=salt, digest_size=16).digest()


def _network(address: str) -> str:
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv4Address):
        return address
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known, 64), strict=False))


WEB = Path(__file__).parent.parent / "web"


@cache
def environment(folder: Path = WEB / "templates") -> Environment:
    """The templates of participants and researchers, or others; a name that a page does not get is an error."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
