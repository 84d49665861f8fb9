"""A small HTTP/1.1 client for many simultaneous visitors: one kept-alive connection and one set of cookies each.

It has only what the participants' pages need: GET and POST, forms and JSON, cookies, redirects within the site.
httptools reads the replies. A broken connection raises `ConnectionError`; the caller decides whether to repeat the
request.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from httptools import HttpParserError, HttpResponseParser

REDIRECTS = 10
"""More redirects in a row than this are a circle."""
PIECE = 64 * 1024


@dataclass(frozen=True)
class Reply:
    """The reply of the server."""

    path: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """A visitor of one site. `token` is sent as a bearer token if there are no cookies, as in a frame.

    Every request has the `headers`; `seconds` is how long a reply may take.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = 60.0,
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"{address} is not an address that bots can visit. Write http://HOST:PORT.")
        self.host, self.port = parts.hostname, parts.port or 80
        self.site = parts.netloc
        self.token = token
        self.headers = dict(headers or {})
        self.cookies: dict[str, str] = {}
        self.seconds = seconds
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> Reply:
        """Get a page; redirects within the site are followed."""
        return await self._follow(await self.request("GET", path))

    async def post_form(self, path: str, fields: Mapping[str, str]) -> Reply:
        """Send a form; redirects within the site are followed."""
        body = urlencode(fields).encode()
        return await self._follow(await self.request("POST", path, body, "application/x-www-form-urlencoded"))

    async def post_json(self, path: str, data: object) -> Reply:
        """Send data as JSON."""
        body = json.dumps(data, separators=(",", ":")).encode()
        return await self.request("POST", path, body, "application/json")

    async def request(self, method: str, path: str, body: bytes = b"", kind: str = "") -> Reply:
        """Send a request; redirects are not followed."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.site}"]
        if body or method == "POST":
            lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}", f"Origin: http://{self.site}"]
        if kind == "application/json":
            lines.append("X-Karat: 1")
        if self.token:
            lines.append(f"Authorization: Bearer {self.token}")
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if self.cookies:
            lines.append("Cookie: " + "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        head = "\r\n".join(lines).encode() + b"\r\n\r\n"
        status, headers, content = await self._sent(head + body)
        keep_cookies(self.cookies, (value for name, value in headers if name == "set-cookie"))
        return Reply(path, status, dict(headers), content)

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _sent(self, request: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        reading = _Reading()
        parser = HttpResponseParser(reading)
        try:
            async with asyncio.timeout(self.seconds):
                if self._streams is None or self._streams[0].at_eof():
                    self._streams = await asyncio.open_connection(self.host, self.port)
                reader, writer = self._streams
                writer.write(request)
                while not reading.complete:
                    data = await reader.read(PIECE)
                    if not data:
                        raise ConnectionError("The server closed the connection before it answered.")
                    parser.feed_data(data)
        except HttpParserError as error:
            await self.close()
            raise ConnectionError(f"The server's answer is not readable: {error}") from None
        except TimeoutError:
            await self.close()
            raise ConnectionError("The server did not answer in time.") from None
        except BaseException:
            await self.close()
            raise
        if not parser.should_keep_alive():
            await self.close()
        return parser.get_status_code(), reading.headers, bytes(reading.body)

    async def _follow(self, reply: Reply) -> Reply:
        for _ in range(REDIRECTS):
            target = reply.headers.get("location", "")
            if reply.status not in (301, 302, 303, 307, 308) or not target:
                return reply
            there = urlsplit(urljoin(f"http://{self.site}{reply.path}", target))
            if there.netloc != self.site:
                return reply
            reply = await self.request("GET", there.path + (f"?{there.query}" if there.query else ""))
        raise ConnectionError(f"{reply.path} redirects in a circle.")


def keep_cookies(cookies: dict[str, str], headers: Iterable[str]) -> None:
    """Update cookies from `set-cookie` headers; an age of zero deletes one, and unreadable headers are ignored."""
    for header in headers:
        with suppress(CookieError):
            for name, cookie in SimpleCookie(header).items():
                if cookie["max-age"] == "0" or not cookie.value:
                    cookies.pop(name, None)
                else:
                    cookies[name] = cookie.coded_value


class _Reading:
    """The parts of a reply that httptools reads."""

    def __init__(self) -> None:
        self.headers: list[tuple[str, str]] = []
        self.body = bytearray()
        self.complete = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.decode("latin-1").lower(), value.decode("latin-1").strip()))

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.complete = True
