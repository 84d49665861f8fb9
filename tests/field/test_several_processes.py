"""Several `karat serve` on one database behind a proxy that sends every request to another of them.

Bots answer while processes are killed and started again, connections are lost before or after the server has heard of
the request, and requests arrive twice, at two processes at once. Nothing may be lost or be there twice, and lists and
quotas must come out as with one process.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Connection, select

from faults.test_killed import SLUG, assert_nothing_is_lost, parameters
from field.conftest import NUMBERS
from field.postgres import administer
from karat.field.bots import Behaviour, Client, WalkRecord, visit
from karat.field.bots.process import LOOPBACK, ServerProcess
from karat.field.bots.walk import VisitError, Way, begin, forms, known_answers
from karat.field.store import Store, export, studies
from karat.field.store.schema import session
from karat.study.init import write_study
from karat.study.study import load

LIMITED = "limited"
"""The study with quotas."""
QUESTION, GROUPS = "How old are you?", ("18-29", "30-39")
PASSWORD = "correct horse battery staple"
PARTS = ("status", "lists", "steps", "people")


@dataclass
class Proxy:
    """Passes each request on to the next server, as nginx does, and sometimes does what networks do."""

    servers: list[ServerProcess]
    lost: float = 0.0
    """How many requests, or their replies, never arrive."""
    doubled: float = 0.0
    """How many requests arrive twice, at two servers."""
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))
    turns: Iterator[int] = field(default_factory=count)
    passed: Counter[int] = field(default_factory=Counter)
    """How many requests each port has answered."""

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        """The address of the proxy while it runs."""
        server = await asyncio.start_server(self._answer, LOOPBACK, 0)
        async with server:
            yield f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}"

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            request = await _request(reader)
            fate, way = self.random.random(2)
            if fate >= self.lost / 2:
                replies = await asyncio.gather(*(self._passed_on(request) for _ in range(1 + (way < self.doubled))))
                if fate >= self.lost:
                    writer.write(replies[-1])
                    await writer.drain()
        writer.close()

    async def _passed_on(self, request: bytes) -> bytes:
        """The reply of the next server that can be reached; the whole of it or none."""
        for _ in self.servers:
            server = self.servers[next(self.turns) % len(self.servers)]
            try:
                reader, writer = await asyncio.open_connection(LOOPBACK, server.port)
            except OSError:
                continue
            try:
                writer.write(request)
                reply = await reader.read(-1)
            finally:
                writer.close()
            if not reply:
                raise ConnectionError("The server ended before it answered.")
            self.passed[server.port] += 1
            return reply
        raise ConnectionError("No server can be reached.")


async def _request(reader: asyncio.StreamReader) -> bytes:
    """A request, changed so that the server closes the connection after its reply."""
    head = await reader.readuntil(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    body = await reader.readexactly(int(lengths[0])) if lengths else b""
    return head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + body


def write_studies(folder: Path, each: int) -> tuple[Path, Path]:
    """A study for as many as come, and one that wants so many of each of two groups."""
    for name in (SLUG, LIMITED):
        write_study(folder / name, "likert")
        file = folder / name / "study.toml"
        text = file.read_text(encoding="utf-8").replace("participants       = 36", "participants       = 1000")
        if name == LIMITED:
            quotas = ", ".join(f'"{group}" = {each}' for group in GROUPS)
            text = text.replace("[recruitment]", f"[recruitment]\nquotas = {{ age_group = {{ {quotas} }} }}")
        file.write_text(text, encoding="utf-8")
    return folder / SLUG, folder / LIMITED


@dataclass
class Site:
    """Servers on one database, and the studies that they serve."""

    url: str
    open: Path
    limited: Path
    each: int
    servers: list[ServerProcess]


@contextlib.contextmanager
def site(url: str, folder: Path, processes: int, each: int) -> Iterator[Site]:
    """Several servers that are started at the same moment, on a database that may be empty."""
    unlimited, limited = write_studies(folder, each)
    environment = {"KARAT_ADMIN_PASSWORD": PASSWORD}
    servers = [
        ServerProcess(unlimited, folder / "data", more=[limited], database=url, environment=environment)
        for _ in range(processes)
    ]

    async def started() -> None:
        await asyncio.gather(*(asyncio.to_thread(server.start) for server in servers))

    try:
        asyncio.run(started())
        yield Site(url, unlimited, limited, each, servers)
    finally:
        for server in servers:
            server.stop()


@contextlib.contextmanager
def empty_database(address: str) -> Iterator[str]:
    """A PostgreSQL database without tables."""
    name = f"karat_several_{next(NUMBERS)}"
    administer(address, f"CREATE DATABASE {name}")
    yield address.format(name)
    administer(address, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def two(postgresql_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Two servers, for all tests that leave them running."""
    with empty_database(postgresql_template) as url, site(url, tmp_path_factory.mktemp("two"), 2, each=4) as running:
        yield running


async def take_part(running: Site, bots: int, kills: int) -> tuple[list[WalkRecord], list[WalkRecord], Proxy]:
    """Half of the bots visit each study, in waves, and each wave meets a server that is killed."""
    known = known_answers(load(running.open))
    random = np.random.default_rng(bots)
    waves = [asyncio.Event() for _ in range(kills)]
    proxy = Proxy(running.servers, lost=0.03, doubled=0.1, random=np.random.default_rng(2))

    async def one(number: int, address: str, slug: str) -> WalkRecord:
        await waves[number * kills // (bots // 2)].wait()
        client = Client(address, seconds=60)
        way = Way(slug, parameters(number), known | {QUESTION: GROUPS[number % 2]}, speed=300, patience=600)
        try:
            return await visit(client, way, Behaviour("guesser", random=np.random.default_rng(number)))
        finally:
            await client.close()

    async def trouble() -> None:
        for number, wave in enumerate(waves):
            wave.set()
            await asyncio.sleep(float(random.uniform(0.3, 1.5)))
            server = running.servers[number % len(running.servers)]
            server.kill()
            await asyncio.to_thread(server.start)

    async with proxy.open() as address:
        everybody = [one(number, address, slug) for slug in (SLUG, LIMITED) for number in range(bots // 2)]
        records, _ = await asyncio.gather(asyncio.gather(*everybody), trouble())
    return records[: bots // 2], records[bots // 2 :], proxy


def assert_as_with_one_process(running: Site, bots: int, kills: int) -> None:
    """Bots take part; what the database holds afterwards is what was acknowledged, once, and fills lists and quotas."""
    unlimited, limited, proxy = asyncio.run(take_part(running, bots, kills))
    assert min(proxy.passed[server.port] for server in running.servers) > bots, "a server had next to nothing to do"
    assert sum(record.broken for record in unlimited + limited) > kills, "the faults met nobody"
    assert [reason for record in unlimited + limited for reason in record.refused] == []
    assert_nothing_is_lost(running.url, running.open, unlimited)
    store = Store.open(running.url)
    try:
        with store.read() as connection:
            assert_quotas(connection, running, limited)
            codes = connection.execute(select(session.c.completion_code, session.c.withdrawal_code)).all()
    finally:
        store.close()
    assert len(codes) == bots
    assert len({code for code, _ in codes}) == len({code for _, code in codes}) == bots


def assert_quotas(connection: Connection, running: Site, records: list[WalkRecord]) -> None:
    """Each group is exactly full, and only those who were let in have answers, each of them all, once."""
    row = studies.find(connection, LIMITED)
    assert row is not None
    people = export.participants(connection, row.id)
    assert people.height == len(records)
    ended = Counter(zip(people["age_group"].to_list(), people["state"].to_list(), strict=True))
    beyond = len(records) // 2 - running.each
    assert ended == {(group, state): number for group in GROUPS
                     for state, number in (("complete", running.each), ("full", beyond))}  # fmt: skip
    frame = export.judgments(connection, row.id, load(running.limited)).frame
    complete = people.filter(people["state"] == "complete")["participant"].to_list()
    assert Counter(frame["participant"].to_list()) == dict.fromkeys(complete, 75)
    assert frame.select("participant", "trial").is_unique().all()
    assert sum(len(record.acknowledged) for record in records) == frame.height


@pytest.mark.slow
def test_four_processes_with_faults(postgresql_template: str, tmp_path: Path) -> None:
    with empty_database(postgresql_template) as url, site(url, tmp_path, 4, each=20) as running:
        assert_as_with_one_process(running, bots=100, kills=12)


@pytest.mark.slow
def test_two_processes_on_one_sqlite_file(tmp_path: Path) -> None:
    with site(f"sqlite:///{tmp_path}/data/karat.db", tmp_path, 2, each=4) as running:
        assert_as_with_one_process(running, bots=24, kills=2)


@pytest.mark.slow
def test_a_visit_goes_on_at_another_process(two: Site) -> None:
    way = Way(SLUG, parameters(10**6), known_answers(load(two.open)), speed=0)
    first, second, third = (Client(server.address) for server in (*two.servers, two.servers[0]))

    async def left_and_resumed() -> tuple[WalkRecord, WalkRecord, str]:
        begun = await visit(first, way, Behaviour("drop-out", random=np.random.default_rng(1)))
        second.cookies.update(first.cookies)
        resumed = await visit(second, way, Behaviour("guesser", random=np.random.default_rng(2)))
        third.cookies.update(second.cookies)
        last = await third.get(way.next)
        for client in (first, second, third):
            await client.close()
        return begun, resumed, last.text

    begun, resumed, last = asyncio.run(left_and_resumed())
    assert begun.left_early
    assert begun.acknowledged
    assert set(begun.acknowledged).isdisjoint(resumed.acknowledged)
    assert len(begun.acknowledged) + len(resumed.acknowledged) == 75
    assert "thank" in last.lower()
    assert last == resumed.last_page


@pytest.mark.slow
def test_one_login_and_one_dashboard_for_all(two: Site) -> None:
    first, second, visitor = (Client(server.address) for server in (*two.servers, two.servers[0]))

    async def looked() -> str:
        form = forms((await first.get("/admin/login")).text)[0]
        await first.post_form("/admin/login", form.filled({"name": "admin", "password": PASSWORD}))
        second.cookies.update(first.cookies)
        shown = [(await client.get(f"/admin/{SLUG}/live")).json()["parts"] for client in (first, second)]
        assert [shown[0][name] for name in PARTS] == [shown[1][name] for name in PARTS]
        # A form that one process made is taken by the other, and what it changes holds for the first.
        form = next(one for one in forms((await first.get(f"/admin/{SLUG}")).text) if one.action.endswith("/state"))
        await second.post_form(form.action, form.hidden | {"state": "paused"})
        with pytest.raises(VisitError):
            await begin(visitor, Way(SLUG, parameters(10**7)))
        await second.post_form(form.action, form.hidden | {"state": "running"})
        came_to = (await begin(visitor, Way(SLUG, parameters(10**7 + 1)))).path
        for client in (first, second, visitor):
            await client.close()
        return came_to

    assert asyncio.run(looked()) == f"/s/{SLUG}/go"
