"""The headers that every answer of the server carries, and the limit of what a request may bring.

The content-security policy allows nothing that does not come from the server itself: no inline script, no inline
style, no other host. A page at the top level is isolated from other origins, which gives it a finer clock. A page
inside the frame of a platform cannot be isolated; only that platform may frame it.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from karat.field.server.config import BODY_LIMIT, ServerConfig

POLICY = "content-security-policy"
DATA_CSP = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"
PERMISSIONS = ", ".join(f"{name}=()" for name in ("camera", "display-capture", "geolocation", "microphone", "payment",
                                                  "usb"))  # fmt: skip
ISOLATION = {"cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp"}
A_YEAR = 365 * 24 * 3600


def page_policy(forms_to: Iterable[str] = (), framed_by: Iterable[str] = ()) -> str:
    """The content-security policy of a page.

    >>> page_policy(framed_by=["https://www.mturk.com"]).split("; ")[-2]
    'frame-ancestors https://www.mturk.com'
    """
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


def page_headers(forms_to: Iterable[str] = (), framed_by: Iterable[str] = ()) -> dict[str, str]:
    """The headers of a participant's page: isolated at the top level, or framed by a platform.

    >>> sorted(page_headers())[:2]
    ['content-security-policy', 'cross-origin-embedder-policy']
    """
    framed_by = tuple(framed_by)
    return {POLICY: page_policy(forms_to, framed_by), **({} if framed_by else ISOLATION)}


def common_headers(config: ServerConfig) -> dict[str, str]:
    """The headers of every answer; over TLS also the promise that it stays so."""
    common = {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "permissions-policy": PERMISSIONS,
        "cross-origin-resource-policy": "same-origin",
    }
    return common | ({"strict-transport-security": f"max-age={A_YEAR}"} if config.secure else {})


class RequestGuard:
    """Checks the host and the size of a request, and adds the headers that every answer carries."""

    def __init__(self, app: ASGIApp, config: ServerConfig) -> None:
        self.app = app
        self._hosts = config.hosts
        self._common = [(name.encode(), value.encode()) for name, value in common_headers(config).items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
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
