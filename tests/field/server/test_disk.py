"""The database is moved away, full, read-only or gone: nothing is acknowledged that is not saved, and it is said."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from starlette.requests import ClientDisconnect

from field.postgres import administer
from field.server.conftest import KNOWN, Served
from field.server.visitor import answer_to
from karat.field.server.app import Health
from karat.field.store import DatabaseMovedError, Store, studies
from karat.field.store.schema import answer

WRONG = {"full": "PRAGMA max_page_count = 1", "read-only": "PRAGMA query_only = ON"}


class Minutes:
    """A clock that the test moves, a probe further with each look."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 3.0
        return self.now


@pytest.fixture
def store_url(sqlite_url: str) -> str:
    return sqlite_url


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["moved", "full", "read-only"])
def test_a_database_that_fails(served: Served, kind: str, store_url: str) -> None:
    path = Path(store_url.removeprefix("sqlite:///"))
    lines: list[str] = []
    served.app.state.health = Health(clock=Minutes(), log=lines.append)
    person = served.visitor()
    person.go_on(person.arrive(), KNOWN)
    body = person.api("GET", "trials").json()
    given = [answer_to(one, body["scales"]) for one in body["trials"]]
    assert person.api("POST", "answers", {"answers": given[:1]}).status == 200
    if kind != "full":  # a probe would leave free pages behind, and the file would not have to grow
        assert served.visitor().get("/healthz").status == 200

    def pragma(words: str) -> None:
        served.store.call(lambda connection: connection.exec_driver_sql(words).close())

    if kind == "moved":
        path.rename(path.with_name("elsewhere.db"))
    else:
        pragma(WRONG[kind])
    long = [{"kind": "blur", "at": 1_790_000_000_000, "details": {"a": "x" * 200}}] * 600
    for _ in range(3):
        reply = person.api("POST", "answers", {"answers": given[1:], "events": long})
        assert (reply.status, reply.headers["retry-after"]) == (503, "5")
        assert "saved" not in reply.json()
    assert person.get("/s/study/go").status == 200  # reading still works
    assert served.visitor().get("/healthz").status == 503
    assert served.app.state.health.trouble
    assert len(lines) == 1
    if kind == "read-only":
        return
    if kind == "moved":
        path.with_name("elsewhere.db").rename(path)
    else:
        pragma("PRAGMA max_page_count = 1000000")
    assert person.api("POST", "answers", {"answers": given[1:], "events": long}).status == 200
    assert served.visitor().get("/healthz").status == 200
    assert served.app.state.health.trouble == ""
    assert [one["key"] for one in served.rows(answer)] == [one["key"] for one in given]


def test_a_replaced_file_is_not_taken_for_the_database(store: Store, store_url: str) -> None:
    path = Path(store_url.removeprefix("sqlite:///"))
    path.rename(path.with_name("elsewhere.db"))
    path.write_bytes(path.with_name("elsewhere.db").read_bytes())
    with pytest.raises(DatabaseMovedError):
        store.call(studies.set_value, "a", "b")


def test_a_visitor_who_goes_away_is_no_error(served: Served) -> None:
    async def gone() -> list[int]:
        sent: list[int] = []

        async def receive() -> dict[str, str]:
            return {"type": "http.disconnect"}

        async def send(message: dict[str, int]) -> None:
            sent.append(message.get("status", 0))

        headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/x-www-form-urlencoded")]
        scope = {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.4"}, "http_version": "1.1", "method": "POST",
            "scheme": "http", "path": "/s/study/begin", "raw_path": b"", "query_string": b"", "root_path": "",
            "headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000), "state": {},
        }  # fmt: skip
        try:
            await served.app(scope, receive, send)
        except ClientDisconnect:
            pytest.fail("reported as an error of the server")
        return sent

    served.runner.run(asyncio.wait_for(gone(), 10))


@pytest.mark.slow
def test_a_postgresql_server_that_is_gone(postgresql_template: str) -> None:
    administer(postgresql_template, "CREATE DATABASE karat_gone TEMPLATE karat_template")
    store = Store.open(postgresql_template.format("karat_gone"))
    health = Health(clock=Minutes(), log=lambda line: None)
    assert asyncio.run(health.probe(store))
    administer(postgresql_template, "DROP DATABASE karat_gone WITH (FORCE)")
    assert not asyncio.run(health.probe(store))
    store.close()
