"""Several processes on one PostgreSQL, without web pages: opening, registering, locks, and secrets that differ."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import IntegrityError

from field.conftest import NUMBERS
from field.postgres import administer
from karat.field.admin import page
from karat.field.admin.jobs import Screened
from karat.field.server.config import ServerConfig
from karat.field.server.run import run
from karat.field.server.security import secret_mark
from karat.field.store import Store, StoreError, admins, arrivals, schema, studies
from karat.field.store.store import TRIES, advisory_lock, signing
from messages import refuses

SERVERS = 4


@pytest.fixture
def empty_url(postgresql_template: str) -> Iterator[str]:
    """The address of a database without tables."""
    name = f"karat_several_{next(NUMBERS)}"
    administer(postgresql_template, f"CREATE DATABASE {name}")
    yield postgresql_template.format(name)
    administer(postgresql_template, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def stores(empty_url: str) -> Iterator[list[Store]]:
    """Stores that were opened at the same time, each as a process of its own would open it."""
    opened = at_once(lambda number: Store.open(empty_url))
    yield opened
    for store in opened:
        store.close()


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """What each of several servers gets, where all do the same at the same moment."""
    ready = threading.Barrier(SERVERS)

    def one(number: int) -> Any:
        ready.wait()
        return work(number)

    with ThreadPoolExecutor(SERVERS) as threads:
        return list(threads.map(one, range(SERVERS)))


def test_all_begin_on_an_empty_database(stores: list[Store]) -> None:
    rows = at_once(lambda number: stores[number].call(studies.register, studies.Register("likert", "Ratings", "f", {})))
    assert {row.id for row in rows} == {rows[0].id}
    assert len({bytes(secret) for secret in at_once(lambda number: stores[number].secret("person"))}) == 1


def test_all_set_what_there_is_only_once(stores: list[Store]) -> None:
    at_once(lambda number: stores[number].call(admins.set_password, "admin", f"hash{number}"))
    at_once(lambda number: stores[number].call(studies.set_value, "path:likert", f"/{number}"))
    at_once(
        lambda number: stores[number].call(
            arrivals.note_participation, arrivals.PriorParticipation("likert", "somebody", time=float(number))
        )
    )
    with stores[0].read() as connection:
        assert connection.execute(select(schema.admin.c.name)).scalars().all() == ["admin"]
        assert studies.value(connection, "path:likert") in {f"/{number}" for number in range(SERVERS)}
        assert [one.time for one in arrivals.participations(connection, "somebody")] == [SERVERS - 1.0]


def test_two_that_wait_for_each_other_are_both_served(stores: list[Store]) -> None:
    first, second = stores[:2]
    for key in ("a", "b"):
        first.call(studies.set_value, key, "")
    both = threading.Barrier(2)
    tried: list[str] = []

    def crosswise(connection: Connection, order: str) -> None:
        """Lock one row, wait until the other has locked the other row, and then want that one too."""
        nonlocal tried
        for place, key in enumerate(order):
            changed = schema.server.update().where(schema.server.c.key == key)
            connection.execute(changed.values(value=schema.server.c.value + order[0]))
            tried += [order] if place == 0 else []
            if place == 0 and tried.count(order) == 1:
                both.wait(60)

    threads = [threading.Thread(target=store.call, args=(crosswise, order)) for store, order in
               ((first, "ab"), (second, "ba"))]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(tried) > 2, "they did not wait for each other"
    with first.read() as connection:
        values = [studies.value(connection, key) for key in ("a", "b")]
    assert [sorted(value or "") for value in values] == [["a", "b"]] * 2, "each of the two wrote once, to both rows"


def test_what_never_succeeds_is_reported(stores: list[Store]) -> None:
    tried = 0

    def never(connection: Connection) -> None:
        nonlocal tried
        tried += 1
        for _ in range(2):
            connection.execute(schema.server.insert().values(key="same", value=""))

    with refuses(IntegrityError, "same"):
        stores[0].call(never)
    assert tried == TRIES


def test_one_at_a_time_does_it_alone(stores: list[Store]) -> None:
    at_work = most = 0

    async def one(store: Store) -> None:
        nonlocal at_work, most
        async with advisory_lock(store, "screening"):
            at_work += 1
            most = max(most, at_work)
            await asyncio.sleep(0.05)
            at_work -= 1

    async def everybody() -> None:
        await asyncio.gather(*(one(store) for store in stores))

    asyncio.run(everybody())
    assert most == 1


def test_a_process_that_dies_leaves_its_work_to_others(stores: list[Store]) -> None:
    first, second = stores[:2]

    async def left_behind() -> None:
        holding = advisory_lock(first, "screening")
        await holding.__aenter__()
        other = asyncio.create_task(entered(second))
        await asyncio.sleep(0.2)
        assert not other.done()
        with second.read() as connection:
            connection.execute(
                text("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
            )
        await asyncio.wait_for(other, 60)
        await holding.__aexit__(None, None, None)

    async def entered(store: Store) -> None:
        async with advisory_lock(store, "screening"):
            pass

    asyncio.run(left_behind())


def test_who_stops_waiting_keeps_nothing(stores: list[Store]) -> None:
    async def entered(store: Store) -> None:
        async with advisory_lock(store, "screening"):
            pass

    async def stopped() -> None:
        async with advisory_lock(stores[0], "screening"):
            waiting = asyncio.create_task(entered(stores[1]))
            await asyncio.sleep(0.2)
            waiting.cancel()
            await asyncio.wait([waiting], timeout=60)
            assert waiting.cancelled()
        await asyncio.wait_for(entered(stores[2]), 60)

    asyncio.run(stopped())


def test_screenings_of_several_servers_come_one_after_the_other(
    stores: list[Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work = most = done = 0

    async def slowly(*arguments: object) -> Screened:
        nonlocal at_work, most, done
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.05)
        at_work -= 1
        done += 1
        return Screened()

    monkeypatch.setattr(page, "in_child", slowly)
    monkeypatch.setattr(page, "portable", lambda study: study)

    async def look() -> None:
        shops = [page.ScreeningCache(store) for store in stores]
        study: Any = None
        await asyncio.gather(*(shop.fresh("likert", study, None, True) for shop in shops))
        await asyncio.gather(*(shop.fresh("likert", study, None, True) for shop in shops))

    asyncio.run(look())
    assert (most, done) == (1, SERVERS)


def test_servers_with_different_secrets_are_refused(stores: list[Store]) -> None:
    with signing(stores[0], 1), signing(stores[1], 1):
        with refuses(StoreError, "--data", "`secret`"), signing(stores[2], 2):
            pass
        with signing(stores[3], 1):
            pass
    with signing(stores[2], 2):
        pass


def test_a_server_that_would_sign_otherwise_does_not_start(stores: list[Store], tmp_path: Path) -> None:
    app = FastAPI()
    app.state.store = stores[0]
    ours, theirs = (ServerConfig(tmp_path, letter * 32, port=0) for letter in (b"a", b"b"))
    with signing(stores[1], secret_mark(theirs.secret)), refuses(StoreError, "--data", "`secret`"):
        run(app, ours)


def test_the_databases_of_one_server_may_have_different_secrets(stores: list[Store], store_url: str) -> None:
    other = Store.open(store_url)
    try:
        with signing(stores[0], 1), signing(other, 2):
            pass
    finally:
        other.close()
