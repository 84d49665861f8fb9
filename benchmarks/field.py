"""Bots against the server, a bare endpoint and oTree: python benchmarks/field.py [--quick] [--without-otree]

In one run, on this machine, bots and servers together: answers per second and latency (50th, 95th, 99th percentile)
for 50, 200 and 1,000 participants who answer without a pause, and for 1,000 who answer every five seconds; how long
1,000 arrivals at once take; and the memory of the server; on SQLite and, where there is one, on PostgreSQL. Beside it a
bare FastAPI endpoint with one durable SQLite insert a request, and an oTree project of the same content (installed
into a temporary environment; one page a sentence), on the same databases, asked by the same client in the same run, as
ratios. An answer counts when the server has acknowledged it; for oTree when the next page has come. Participants who
answer every five seconds keep to a schedule, and their latency is counted from when an answer was due, so that a server
which falls behind cannot hide it. The limits at the end are those that the project holds itself to.

Last, where there is PostgreSQL, the answers of 200 participants with one, two and four server processes on it, each of
which answers its share of the bots; with `--processes 1 2 4` only this is measured. `--write` puts the ratios into the
docs/performance.md and the table of processes into docs/scale.md. `--smallest` sends ten bots at most, without oTree.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import uvloop

from karat.field.bots.behaviour import Behaviour
from karat.field.bots.client import Client
from karat.field.bots.process import ServerProcess, answers, free_port, started
from karat.field.bots.walk import DEVICE, Way, begin, known_answers, past_the_forms
from karat.study.init import write_study
from karat.study.study import load

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.marked import check_page, parse_options, write_page, write_rows
from benchmarks.peers import otree
from tests.field.postgres import NoPostgresError, a_database, administer

SLUG = "likert"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
ROW = "answers of 200 participants at once, saved before they are acknowledged (SQLite)"
CALM_ROW = "answers of 1,000 participants every five seconds, from when each was due"
PROCESSES = (1, 2, 4)
INTERVAL = 5.0
OTREE_SECONDS = 20.0
"""For so long oTree is asked at least, so that each bot gets several answers in."""
LATENCY, TIMES_OTREE, SHARE_OF_BARE, MEGABYTES = 0.050, 20.0, 1 / 3, 300.0
INSERTS_PER_ARRIVAL = 30.0
"""An arrival is three pages and a questionnaire; it may take as long as so many answers of the bare endpoint."""


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    least: float
    """Seconds for which bots answer, at least."""
    crowds: tuple[int, ...]
    """How many bots come at once, in turn."""
    compared: int
    """The crowd that is set beside other programs."""
    processes: tuple[int, ...] = ()
    """Numbers of server processes on one PostgreSQL."""


FULL = Size(8.0, (50, 200, 1000), 200, PROCESSES)
QUICK = Size(2.0, (50, 200), 200)
SMALLEST = Size(0.2, (5, 10), 10, (1, 2))


@dataclass
class Load:
    """What a crowd of bots measured."""

    seconds: list[float] = field(default_factory=list)
    """The latency of each answer."""
    duration: float = 0.0

    @property
    def rate(self) -> float:
        """Answers per second."""
        return len(self.seconds) / self.duration if self.duration else 0.0

    def percentile(self, share: float) -> float:
        """A percentile of the latencies, in seconds."""
        return float(np.quantile(self.seconds, share)) if self.seconds else float("nan")

    def __str__(self) -> str:
        ms = "/".join(f"{1000 * self.percentile(share):.0f}" for share in (0.5, 0.95, 0.99))
        return f"{self.rate:>7,.0f} answers/s   p50/p95/p99 {ms} ms   ({len(self.seconds):,} answers)"


def study_folder(folder: Path) -> Path:
    """The rating study of `karat init`, for anybody who has the address, and for very many."""
    write_study(folder / SLUG, "likert")
    file = folder / SLUG / "study.toml"
    text = file.read_text(encoding="utf-8").replace('"prolific"', '"link"')
    file.write_text(text.replace("participants       = 36", "participants       = 1000000"), encoding="utf-8")
    return folder / SLUG


def together(work: Callable[[], Awaitable[Load]]) -> Load:
    """Run bots in a fast event loop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_awaited(work))


async def _awaited(work: Callable[[], Awaitable[Load]]) -> Load:
    return await work()


@dataclass
class Crowd:
    """Bots that have arrived and stand before their first trial."""

    addresses: Sequence[str]
    """Where the servers are reached; each bot stays with one of them."""
    way: Way
    clients: list[Client] = field(default_factory=list)
    trials: list[list[dict[str, Any]]] = field(default_factory=list)
    """The first trials of each, as the server sent them."""
    arrived: float = 0.0
    """Seconds until all had a session."""
    ready: float = 0.0
    """Seconds until all had read everything before the first trial."""

    async def arrive(self, people: int) -> Crowd:
        """Let so many come at once."""
        self.clients = [Client(self.addresses[number % len(self.addresses)], seconds=120) for number in range(people)]
        began = time.perf_counter()
        pages = await asyncio.gather(*(begin(client, self.way) for client in self.clients))
        self.arrived = time.perf_counter() - began
        bots = [Behaviour(random=np.random.default_rng(number)) for number in range(people)]
        await asyncio.gather(*(
            past_the_forms(client, self.way, bot, page)
            for client, bot, page in zip(self.clients, bots, pages, strict=True)
        ))  # fmt: skip
        self.ready = time.perf_counter() - began
        self.trials = [(await client.get(f"/api/{SLUG}/trials")).json()["trials"] for client in self.clients]
        return self

    async def answer(self, load: Load, interval: float = 0.0, seconds: float = 3600.0) -> None:
        """Answer until nothing is left or the time is over, at once or every so many seconds."""
        began = time.perf_counter()
        offsets = np.linspace(0, interval, len(self.clients), endpoint=False)
        await asyncio.gather(*(
            _answer(client, trials, load, interval, began + seconds, offset)
            for client, trials, offset in zip(self.clients, self.trials, offsets, strict=True)
        ))  # fmt: skip
        load.duration += time.perf_counter() - began
        await asyncio.gather(*(client.close() for client in self.clients))


async def _answer(
    client: Client, waiting: list[dict[str, Any]], load: Load, interval: float, until: float, offset: float
) -> None:
    due = time.perf_counter() + offset
    while waiting and time.perf_counter() < until:
        if interval:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        trial = waiting.pop(0)
        response = "3" if trial["kind"] == "trial" else None
        answer = {"trial": trial["id"], "key": str(uuid.uuid4()), "response": response, "rt": 2.5, **DEVICE}
        began = due if interval else time.perf_counter()
        due += interval
        reply = await client.post_json(
            f"/api/{SLUG}/answers", {"answers": [answer], "events": [], "have": [one["id"] for one in waiting]}
        )
        took = time.perf_counter() - began
        if reply.status != 200 or reply.json()["refused"]:
            raise RuntimeError(f"{reply.status} {reply.text}")
        load.seconds.append(took)
        waiting += reply.json()["trials"]


def measure(servers: Sequence[ServerProcess], way: Way, people: int, least: float) -> tuple[Load, Crowd]:
    """Waves of so many bots, each from the first trial to the last, until they have answered long enough together."""
    load, crowd = Load(), Crowd([server.address for server in servers], way)

    async def waves() -> Load:
        while load.duration < least:
            await crowd.arrive(people)
            await crowd.answer(load, seconds=2 * least)
        return load

    return together(waves), crowd


def steady(server: ServerProcess, way: Way, people: int, seconds: float) -> Load:
    """So many bots, each of which answers every five seconds."""

    async def paced() -> Load:
        load = Load()
        crowd = await Crowd([server.address], way).arrive(people)
        await crowd.answer(load, INTERVAL, seconds)
        return load

    return together(paced)


def bare(people: int, folder: Path, seconds: float) -> Load:
    """The bare endpoint, asked by the same client."""
    port = free_port()
    program = Path(__file__).resolve().parent / "peers" / "bare.py"
    with (folder / "bare.log").open("ab") as log:
        process = started([sys.executable, str(program), str(port), str(folder)], os.environ, log)
    try:
        while not answers(port, "/healthz"):
            time.sleep(0.05)

        async def one(load: Load, until: float) -> None:
            client = Client(f"http://127.0.0.1:{port}")
            while time.perf_counter() < until:
                answer = {"trial": uuid.uuid4().hex, "key": str(uuid.uuid4()), "response": "3", "rt": 2.5, **DEVICE}
                began = time.perf_counter()
                reply = await client.post_json("/answers", {"answers": [answer], "events": [], "have": []})
                load.seconds.append(time.perf_counter() - began)
                reply.json()
            await client.close()

        async def whole() -> Load:
            load = Load()
            began = time.perf_counter()
            await asyncio.gather(*(one(load, began + seconds) for _ in range(people)))
            load.duration = time.perf_counter() - began
            return load

        return together(whole)
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def databases() -> Iterator[dict[str, str]]:
    """The databases to measure: an SQLite file and, where one can be started, PostgreSQL; both wait for the disk."""
    # Not below the folder of the benchmark: PostgreSQL may run as another user, who must be able to enter it.
    folder = Path(tempfile.mkdtemp(prefix="karat-pg-"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        urls = {"SQLite": ""}
        try:
            urls["PostgreSQL"] = stack.enter_context(a_database(folder, durable=True))
        except NoPostgresError as error:
            print(f"PostgreSQL is not measured: {error}")
        yield urls


def main(arguments: Sequence[str] | None = None) -> int:
    """Print rates, latencies and ratios; fail where a limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="shorter, and no more than 200 bots")
    parser.add_argument("--bots", type=int, metavar="N", help="set this crowd beside other programs")
    parser.add_argument("--without-otree", action="store_true", help="leave oTree out")
    parser.add_argument(
        "--processes", type=int, nargs="+", metavar="N", help="only PostgreSQL, with so many server processes"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the figures to docs/performance.md and docs/scale.md"
    )
    options = parse_options(parser, arguments)
    if options.write:
        check_page(PAGE, ["processes"])
    size = SMALLEST if options.smallest else QUICK if options.quick else FULL
    if options.bots:
        size = replace(size, crowds=(options.bots,), compared=options.bots)
    held: list[tuple[str, bool]] = []
    with tempfile.TemporaryDirectory(prefix="karat-benchmark-") as name, databases() as urls:
        folder = Path(name)
        path = study_folder(folder)
        way = Way(SLUG, known=known_answers(load(path)))
        if options.processes:
            return several(options.processes, folder, path, way, urls, size, options.write)
        reference = bare(size.compared, folder, size.least)
        print(f"{f'bare endpoint, {size.compared} bots':<34}{reference}")
        rates, calm = {}, {}
        for database, url in urls.items():
            with ServerProcess(path, folder / f"data-{database}", database=url) as server:
                rates[database], calm[database] = of_karat(database, server, way, size, held, reference.rate)
        share = rates["SQLite"] / reference.rate
        print(f"karat on SQLite beside the bare endpoint, {size.compared} bots: {share:.2f} of its answers per second")
        held.append(("a third of the bare endpoint's answers", share >= SHARE_OF_BARE))
        if not options.without_otree and not options.smallest:
            peers = {
                database: beside_otree(database, url, folder / f"otree-{database}", path, rates[database], size)
                for database, url in urls.items()
            }
            times = {database: rates[database] / rate for database, (rate, _) in peers.items()}
            held += [(f"{database}: {TIMES_OTREE:.0f} times oTree's answers", one >= TIMES_OTREE)
                     for database, one in times.items()]  # fmt: skip
            if options.write:
                text = f"{share:.1f} times the bare endpoint's ({rates['SQLite']:,.0f} per second here)"
                beside = " and ".join(f"{one:.0f} times oTree's on {database}" for database, one in times.items())
                due = " and ".join(f"{1000 * late:.0f} ms on {database}" for database, late in calm.items())
                slower = " and ".join(f"{late:.1f} s" for _, late in peers.values())
                within = f"95 % within {due}; with oTree, {size.compared} participants: {slower}"
                write_rows({ROW: f"{beside} (answers per second), {text}", CALM_ROW: within})
        if "PostgreSQL" in urls and size.processes:
            several(size.processes, folder, path, way, urls, size, options.write)
    for what, kept in held:
        print(f"{'held    ' if kept else 'NOT HELD'}  {what}")
    return int(not all(kept for _, kept in held) and not options.smallest)


def of_karat(
    database: str, server: ServerProcess, way: Way, size: Size, held: list[tuple[str, bool]], bare_rate: float
) -> tuple[float, float]:
    """Print what karat does on a database and note what is held.

    The answers per second of the crowd compared, and within how many seconds 95 % of answers on schedule are saved.
    """
    rates = {}
    for people in size.crowds:
        measured, crowd = measure([server], way, people, size.least)
        rates[people] = measured.rate
        print(f"{f'{database}, {people:,} bots':<34}{measured}")
        print(f"{'':<34}  all arrived in {crowd.arrived:.1f} s and stood before the first trial after "
              f"{crowd.ready:.1f} s; server {server.memory():.0f} MB")  # fmt: skip
    calm = steady(server, way, people, 6 * size.least)
    print(f"{f'{database}, {people:,} bots every {INTERVAL:.0f} s':<34}{calm}")
    inserts = crowd.arrived * bare_rate / people
    held += [
        (f"{database}: {people:,} bots every {INTERVAL:.0f} s, p95 under 50 ms", calm.percentile(0.95) < LATENCY),
        (f"{database}: {people:,} arrivals in the time of {inserts:.0f} answers each of the bare endpoint "
         f"(at most {INSERTS_PER_ARRIVAL:g})", inserts <= INSERTS_PER_ARRIVAL),
        (f"{database}: memory under 300 MB", not server.memory() > MEGABYTES),
    ]  # fmt: skip
    return rates[size.compared], calm.percentile(0.95)


def several(
    counts: Sequence[int], folder: Path, path: Path, way: Way, urls: dict[str, str], size: Size, write: bool
) -> int:
    """Print, and write, the answers per second of a crowd on one PostgreSQL, for each number of server processes."""
    if "PostgreSQL" not in urls:
        return 1
    table = ["| servers on one PostgreSQL | answers per second, together | half of them within | 99 % within |"]
    table += ["| ---: | ---: | ---: | ---: |"]
    for number in counts:
        with contextlib.ExitStack() as stack:
            servers = [
                stack.enter_context(ServerProcess(path, folder / "data", database=urls["PostgreSQL"]))
                for _ in range(number)
            ]
            measured, _ = measure(servers, way, size.compared, size.least)
        print(f"{f'PostgreSQL, processes: {number}, {size.compared} bots':<34}{measured}")
        half, most = (f"{1000 * measured.percentile(share):.0f} ms" for share in (0.5, 0.99))
        table.append(f"| {number} | {measured.rate:,.0f} | {half} | {most} |")
    if write:
        write_page(PAGE, {"processes": "\n".join(table)})
    return 0


def beside_otree(database: str, url: str, folder: Path, path: Path, rate: float, size: Size) -> tuple[float, float]:
    """The answers per second of oTree on a database of its own, and its 95th percentile on schedule, in seconds."""
    study = load(path)
    sentences = study.questionnaire(1).frame["sentence"].to_list()
    folder.mkdir()
    own = ""
    if url:
        # Its tables are beside karat's in the same server, in a database of their own.
        base, _, query = url.partition("?")
        administer(f"{base.rpartition('/')[0]}/{{}}?{query}", "CREATE DATABASE otree")
        own = f"{base.rpartition('/')[0]}/otree?{query}".replace("postgresql+psycopg", "postgresql")
    server = otree.OTree(folder, sentences, study.blocks[0].settings.prompt, own)
    try:
        taken, duration, making = server.run(size.compared, max(2 * size.least, OTREE_SECONDS))
        paced, lasted, _ = server.run(size.compared, 3 * INTERVAL, INTERVAL)
    finally:
        server.stop()
    peer, calm = Load(taken, duration), Load(paced, lasted)
    print(f"{f'oTree on {database}, {size.compared} bots':<34}{peer}")
    print(f"{'':<34}  {len(taken) / size.compared:.1f} answers per bot; participants made in {making:.1f} s")
    print(f"{f'oTree on {database}, every {INTERVAL:.0f} s':<34}{calm}")
    print(f"karat beside oTree on {database}: {rate / peer.rate:.1f} times as many answers per second")
    return peer.rate, calm.percentile(0.95)


if __name__ == "__main__":
    sys.exit(main())
