"""The dashboard of a karat server, on this machine or elsewhere, in the window of the studio.

The pages of the dashboard come through a separate loopback port, so they have another origin than the studio and cannot
send requests to it. Their addresses begin with a secret, because browsers share the cookies of 127.0.0.1 among all
ports, so a cookie would reach the servers of other users.

Requests go only to the server that the user named, and only to its dashboard. Other redirects are not followed. The
login stays in memory: neither the browser nor the disk has its cookies, and the password is dropped once it was sent.
A password goes over the network encrypted or not at all.
"""

import hmac
import http.client
import re
import secrets
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from urllib.parse import urlencode, urljoin, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from karat.field.bots.client import keep_cookies
from karat.field.publish import connection_to
from karat.field.server.config import is_loopback, site_address
from karat.field.server.headers import DATA_CSP, POLICY, page_policy
from karat.studio.folder import StudioError

SHOWN = re.compile(r"/(admin|static)(/[A-Za-z0-9._~%-]+)*/?")
"""The paths that are requested from a server: its dashboard and its static files."""
LINK = re.compile(rb'(=\\?")/(admin|static)\b')
TOKEN = re.compile(r'name="csrf" value="([^"]+)"')
PASSED = ("content-type", "content-disposition")
SENT = ("content-type", "accept", "user-agent")
TIMEOUT, TIMEOUT_TO_LEAVE = 30.0, 3.0
LONGEST_PAGE = 20 * 1024**2
LARGEST_FORM = 1024**2
PIECE = 64 * 1024
REDIRECTS = (301, 302, 303, 307, 308)


def server_address(text: str) -> str:
    """The address of a server from what somebody typed: https and a host name; http only for this machine."""
    address = site_address(text)
    parts = urlsplit(address)
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise StudioError(f"{address} would send the password unencrypted. Write https://{parts.netloc}.")
    return address


class RemoteServer:
    """A karat server, and the login to its dashboard."""

    def __init__(self, address: str) -> None:
        self.address = server_address(address)
        self._seconds = TIMEOUT
        self._cookies: dict[str, str] = {}

    def log_in(self, name: str, password: str) -> None:
        """Log in; this object keeps the cookies of the login."""
        token = TOKEN.search(_whole(self.ask("GET", "/admin/login")).decode("utf-8", "replace"))
        if token is None:
            raise StudioError(f"{self.address} has no dashboard of karat. Check the address.")
        form = {"name": name, "password": password, "csrf": token[1], "next": "/admin"}
        status = self._post("/admin/login", form)
        if status == 429:
            raise StudioError("Too many attempts. Wait a minute, then try again.")
        if status not in REDIRECTS:
            raise StudioError("Wrong name or password.")

    def log_out(self) -> None:
        """End the login, also on the server if it can be reached."""
        self._seconds = TIMEOUT_TO_LEAVE
        with suppress(StudioError):
            token = TOKEN.search(_whole(self.ask("GET", "/admin")).decode("utf-8", "replace"))
            if token is not None:
                self._post("/admin/logout", {"csrf": token[1]})
        self._cookies.clear()

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> http.client.HTTPResponse:
        """Send a request; redirects are not followed."""
        connection = connection_to(self.address, self._seconds)
        sent = {**(headers or {}), "connection": "close"}
        if self._cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        if method == "POST":
            sent["origin"] = self.address
        try:
            connection.request(method, path, body or None, sent)
            reply = connection.getresponse()
        except ssl.SSLCertVerificationError as error:
            connection.close()
            raise StudioError(f"The certificate of {self.address} is not valid: {error.verify_message}.") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            raise StudioError(f"{self.address} does not answer: {error or type(error).__name__}.") from None
        keep_cookies(self._cookies, reply.headers.get_all("set-cookie") or [])
        return reply

    def _post(self, path: str, fields: Mapping[str, str]) -> int:
        """Send a form; returns the status of the reply."""
        kind = {"content-type": "application/x-www-form-urlencoded"}
        with self.ask("POST", path, urlencode(fields).encode(), kind) as reply:
            return reply.status


class DashboardProxy:
    """Shows the dashboard of a server in a frame of the studio, to the browser with the secret address."""

    def __init__(self, server: RemoteServer, studio: str) -> None:
        self.server = server
        self.secret = secrets.token_urlsafe(32)
        self.origin = ""
        """The address of the proxy, set once it listens."""
        self._policy = page_policy(framed_by=[studio])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        response = await self._answer(Request(scope, receive))
        response.headers.setdefault(POLICY, DATA_CSP)
        response.headers.update({
            "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store",
        })  # fmt: skip
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        path = request.scope.get("raw_path", b"").decode("latin-1")
        first, _, rest = path.removeprefix("/").partition("/")
        if not hmac.compare_digest(first.encode(), self.secret.encode()) or self._is_foreign(request):
            return PlainTextResponse("Open the dashboard from karat.", 403)
        if not SHOWN.fullmatch(f"/{rest}") or ".." in path or "%2e" in path.lower() or "%2f" in path.lower():
            return PlainTextResponse(f"Only the dashboard is shown here. The rest is at {self.server.address}.", 404)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST_FORM:
                return PlainTextResponse("This is too much for a form.", 413)
        query = request.scope["query_string"].decode("latin-1")
        headers = {name: request.headers[name] for name in SENT if name in request.headers}
        try:
            target = f"/{rest}" + (f"?{query}" if query else "")
            reply = await run_in_threadpool(self.server.ask, request.method, target, bytes(body), headers)
        except StudioError as error:
            return PlainTextResponse(str(error), 502)
        return await self._passed_on(reply, target)

    def _is_foreign(self, request: Request) -> bool:
        """Whether a request comes neither from the studio nor from these pages."""
        headers: Headers = request.headers
        if headers.get("host", "") != urlsplit(self.origin).netloc or request.method not in ("GET", "HEAD", "POST"):
            return True
        if request.method == "POST" and headers.get("origin", "") != self.origin:
            return True
        framed = headers.get("sec-fetch-dest", "") == "iframe"  # by the studio, which has another port
        allowed = ("same-origin", "same-site", "none") if framed else ("same-origin", "none")
        return headers.get("sec-fetch-site", "none") not in allowed

    async def _passed_on(self, reply: http.client.HTTPResponse, target: str) -> Response:
        """A reply of the server with links to this proxy, without cookies and caching."""
        headers = {name: reply.headers[name] for name in PASSED if name in reply.headers}
        if reply.status in REDIRECTS:
            reply.close()
            there = urlsplit(urljoin(f"{self.server.address}{target}", reply.headers.get("location", "")))
            if f"{there.scheme}://{there.netloc}" != self.server.address or not SHOWN.fullmatch(there.path):
                return PlainTextResponse(f"{self.server.address} leads elsewhere, which is not shown here.", 502)
            onward = f"/{self.secret}{there.path}" + (f"?{there.query}" if there.query else "")
            return Response(status_code=303, headers={"location": onward})
        kind = headers.get("content-type", "")
        if kind.startswith(("text/html", "application/json")) and "content-disposition" not in headers:
            content = await run_in_threadpool(_whole, reply)
            linked = LINK.sub(rb"\1/" + self.secret.encode() + rb"/\2", content)
            policy = {POLICY: self._policy} if kind.startswith("text/html") else {}
            return Response(linked, reply.status, {**headers, **policy})
        return StreamingResponse(_pieces(reply), reply.status, headers)


def _whole(reply: http.client.HTTPResponse) -> bytes:
    with reply:
        return reply.read(LONGEST_PAGE)


def _pieces(reply: http.client.HTTPResponse) -> Iterator[bytes]:
    with reply:
        while piece := reply.read(PIECE):
            yield piece
