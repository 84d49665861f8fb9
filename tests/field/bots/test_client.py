"""The client against servers that say exactly what they are set to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.field.bots.client import Client, Reply
from messages import refuses

Talk = Callable[[Client, list[bytes]], Awaitable[None]]


def speak(replies: list[bytes | None], talk: Talk, *, seconds: float = 5.0) -> list[bytes]:
    """Let a client talk to a server that gives these replies in turn (None: it hangs up), and return the requests."""
    heard: list[bytes] = []
    served: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(asyncio.current_task())
        while replies and (head := await _head(reader)):
            heard.append(head + await reader.readexactly(_length(head)))
            reply = replies.pop(0)
            if reply is None:
                break
            for part in (reply[: len(reply) // 2], reply[len(reply) // 2 :]):
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0)
        writer.close()

    async def whole() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            client = Client(f"http://127.0.0.1:{port}", seconds=seconds)
            await talk(client, heard)
            await client.close()
            await asyncio.gather(*(task for task in served if task is not None))

    asyncio.run(whole())
    return heard


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


def _length(head: bytes) -> int:
    lines = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return int(lines[0].split(b":")[1]) if lines else 0


def reply(body: bytes = b"", *headers: str, status: int = 200) -> bytes:
    lines = [f"HTTP/1.1 {status} Fine", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def test_cookies_are_kept_sent_and_taken_away() -> None:
    async def talk(client: Client, heard: list[bytes]) -> None:
        assert (await client.get("/a")).text == "one"
        await client.get("/b")
        assert b"Cookie: k=v; l=w\r\n" in heard[1]
        await client.get("/c")
        assert b"Cookie: l=w\r\n" in heard[2]

    speak(
        [
            reply(b"one", "Set-Cookie: k=v; Path=/; HttpOnly", "set-cookie: l=w"),
            reply(b"", "Set-Cookie: k=; Max-Age=0"),
            reply(),
        ],
        talk,
    )


def test_a_redirect_within_the_site_is_followed_by_a_get() -> None:
    async def talk(client: Client, heard: list[bytes]) -> None:
        there = await client.post_form("/form", {"a": "ä b"})
        assert (there.path, there.text) == ("/there?x=1", "done")
        assert heard[0].endswith(b"\r\n\r\na=%C3%A4+b")
        assert heard[1].startswith(b"GET /there?x=1 HTTP/1.1")

    speak([reply(b"", "Location: /there?x=1", status=303), reply(b"done")], talk)


def test_a_redirect_to_another_site_is_only_reported() -> None:
    async def talk(client: Client, heard: list[bytes]) -> None:
        there = await client.get("/end")
        assert (there.status, there.headers["location"]) == (303, "https://platform.example/complete?cc=X")

    heard = speak([reply(b"", "Location: https://platform.example/complete?cc=X", status=303)], talk)
    assert len(heard) == 1


def test_a_circle_of_redirects_ends() -> None:
    async def talk(client: Client, heard: list[bytes]) -> None:
        with refuses(ConnectionError, "/a"):
            await client.get("/a")

    speak([reply(b"", "Location: /a", status=302)] * 20, talk)


def test_data_are_sent_with_the_mark_of_the_api() -> None:
    async def talk(client: Client, heard: list[bytes]) -> None:
        client.token = "secret"
        assert (await client.post_json("/api", {"a": None})).json() == {"ok": True}
        assert b"X-Karat: 1\r\n" in heard[0]
        assert b"Authorization: Bearer secret\r\n" in heard[0]
        assert heard[0].endswith(b'\r\n\r\n{"a":null}')

    speak([reply(b'{"ok": true}')], talk)


def test_a_client_connects_again_to_a_server_that_hung_up() -> None:
    async def talk(client: Client, heard: list[bytes]) -> None:
        with pytest.raises(ConnectionError):
            await client.get("/a")
        assert (await client.get("/b")).text == "again"

    speak([None, reply(b"again")], talk)


def test_a_server_that_says_nothing_is_given_up() -> None:
    async def talk(client: Client, heard: list[bytes]) -> None:
        with pytest.raises(ConnectionError):
            await client.get("/a")

    speak([b"", b""], talk, seconds=0.05)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=5))
def test_bodies_in_chunks_are_put_together(parts: list[bytes]) -> None:
    async def talk(client: Client, heard: list[bytes]) -> None:
        assert (await client.get("/a")).body == b"".join(parts)
        assert (await client.get("/b")).text == "next"

    whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    whole += b"".join(b"%x;note\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    speak([whole, reply(b"next")], talk)


def test_what_is_no_reply_breaks_the_connection() -> None:
    async def talk(client: Client, heard: list[bytes]) -> None:
        with pytest.raises(ConnectionError):
            await client.get("/a")
        assert (await client.get("/b")).text == "again"

    speak([b"Hello, who is there?\r\n\r\n", reply(b"again")], talk)


def test_an_address_must_be_one() -> None:
    with refuses(ValueError, "localhost:8000", "http://HOST:PORT"):
        Client("localhost:8000")


def test_a_reply_reads_its_body() -> None:
    assert Reply("/", 200, {}, "ä".encode()).text == "ä"
