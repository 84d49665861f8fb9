"""The store of a server: one database with many readers and one writing thread per process.

A commit to disk costs the same for one answer as for a hundred. The thread takes all waiting requests, runs them in one
transaction, and replies only after the commit, so every confirmed answer is on disk. Meanwhile, the next requests
gather. Before and after each transaction, it checks that the file of the database is still in its place. If a
transaction fails, each request is tried again in its own transaction, so one bad request affects no other. If another
process interfered on PostgreSQL (a deadlock, or both made the same row), a request is tried a few times, because it
then finds what the other process made.

Several servers on one PostgreSQL must sign with the same secret, and some work must run in only one of them at a time.
Both use advisory locks, which PostgreSQL releases when a process ends in any way. SQLite has none, so every process
does its own work, which is also right but takes more memory.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import secrets
import sqlite3
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from time import monotonic
from typing import Any, Concatenate, ParamSpec, TypeVar, TypeVarTuple
from zlib import crc32

from sqlalchemy import Connection, Engine, insert, select, text
from sqlalchemy.exc import DatabaseError, DBAPIError

from karat.field.store import schema
from karat.field.store.engine import READERS, Result, StoreError, database_url, empty_log, engines, file_check
from karat.field.store.migrations import migrate

Parameters = ParamSpec("Parameters")
Found = TypeVar("Found")
Write = Callable[Concatenate[Connection, Parameters], Result | Exception]
"""A function to run in a transaction; it returns its result, or an exception that affects this request only."""


class Store:
    """An open database."""

    def __init__(self, url: str, writing: Engine, reading: Engine) -> None:
        self.url = url
        self._writing = writing
        self._reading = reading
        self._writer = Writer(writing, file_check(database_url(url)))
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="karat-reader")

    @classmethod
    def open(cls, url: str) -> Store:
        """Open a database, make it if it is missing, and migrate its tables."""
        checked = database_url(url)
        writing, reading = engines(checked)
        try:
            with writing.begin() as connection:
                migrate(connection)
        except BaseException as error:
            writing.dispose()
            reading.dispose()
            if not isinstance(error, DatabaseError):
                raise
            raise StoreError(
                f"{checked.render_as_string(hide_password=True)} cannot be opened: {str(error.orig).strip()}."
            ) from None
        return cls(url, writing, reading)

    def close(self) -> None:
        """Run the waiting requests, and close the database."""
        self._writer.close()
        self._threads.shutdown()
        self._reading.dispose()
        with contextlib.suppress(sqlite3.Error, DBAPIError):
            empty_log(self._writing)
        self._writing.dispose()

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading, which sees the database as of its first query."""
        with self._reading.connect() as connection:
            yield connection

    async def look(
        self,
        function: Callable[Concatenate[Connection, Parameters], Found],
        *arguments: Parameters.args,
        **named: Parameters.kwargs,
    ) -> Found:
        """Run a reading function in another thread."""

        def read() -> Found:
            with self.read() as connection:
                return function(connection, *arguments, **named)

        return await asyncio.get_running_loop().run_in_executor(self._threads, read)

    async def do(
        self, write: Write[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs
    ) -> Result:
        """Run a writing function; its changes are on disk when this returns."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        self._writer.add(_Job(write, arguments, named, answer, loop))
        return await answer

    def call(self, write: Write[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        """Run a writing function from a thread that may wait."""
        answer: Future[Result] = Future()
        self._writer.add(_Job(write, arguments, named, answer, None))
        return answer.result()

    async def probe(self) -> None:
        """Write test data as an answer would be written; an error if that fails."""
        await asyncio.wait_for(self.do(_probe), PROBE_SECONDS)

    def secret(self, name: str) -> bytes:
        """A secret of this database, 32 random bytes, made at the first call."""
        return base64.b64decode(self.call(_secret, name))


def _probe(connection: Connection) -> None:
    """Write as much as a batch of answers takes, and delete it again."""
    table = schema.server
    key = f"probe {secrets.token_hex(8)}"
    connection.execute(insert(table).values(key=key, value="x" * PROBE_BYTES))
    connection.execute(table.delete().where(table.c.key == key))


def _secret(connection: Connection, name: str) -> str:
    table = schema.server
    if connection.dialect.name == "postgresql":
        # Two processes that start at once must not both make it.
        connection.exec_driver_sql("LOCK TABLE server IN SHARE ROW EXCLUSIVE MODE")
    key = f"secret:{name}"
    value = connection.execute(select(table.c.value).where(table.c.key == key)).scalar()
    if value is None:
        value = base64.b64encode(secrets.token_bytes(32)).decode()
        connection.execute(insert(table).values(key=key, value=value))
    return str(value)


PROBE_SECONDS = 10.0
PROBE_BYTES = 64 * 1024
MOST = 100
"""The most requests in one transaction: enough to share its cost, but few enough for short waits."""
TRIES = 4
RETRY_SECONDS = 10.0
"""The interval between attempts to empty the log."""
IN_THE_WAY = ("40001", "40P01", "23505")
"""PostgreSQL's codes for interference: a serialization failure, a deadlock, a duplicate row."""


@dataclass(eq=False, slots=True)
class _Job:
    write: Write[..., Any]
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    answer: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None
    result: Any = None


class Writer:
    """The writing thread and its queue."""

    def __init__(self, engine: Engine, check: Callable[[], None] = lambda: None) -> None:
        self._engine = engine
        self._check = check
        self._traces: float | None = None
        """When to try again to empty the log after an erasure; None if it is empty."""
        self._jobs: deque[_Job] = deque()
        self._waiting = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="karat-writer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Run the waiting requests, and end."""
        with self._waiting:
            self._closed = True
            self._waiting.notify()
        self._thread.join()

    def add(self, job: _Job) -> None:
        """Queue a request; it is answered after the commit."""
        with self._waiting:
            if self._closed:
                raise StoreError("The store is closed.")
            self._jobs.append(job)
            self._waiting.notify()

    def _run(self) -> None:
        while True:
            with self._waiting:
                while not self._jobs and not self._closed:
                    self._waiting.wait()
                if not self._jobs:
                    return
                jobs = [self._jobs.popleft() for _ in range(min(MOST, len(self._jobs)))]
            self._write(jobs)
            erased = any(getattr(job.write, "erases", False) for job in jobs)
            if erased or (self._traces is not None and monotonic() > self._traces):
                self._empty_log()
            _reply(jobs)

    def _empty_log(self) -> None:
        """Empty the log after an erasure; if somebody is reading, try again later."""
        emptied = False
        with contextlib.suppress(sqlite3.Error, DBAPIError):
            emptied = empty_log(self._engine)
        self._traces = None if emptied else monotonic() + RETRY_SECONDS

    def _write(self, jobs: list[_Job], tries: int = TRIES) -> None:
        try:
            self._in_one_transaction(jobs)
        except Exception as error:
            if len(jobs) > 1:
                for job in jobs:
                    self._write([job])
            elif tries > 1 and isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in IN_THE_WAY:
                self._write(jobs, tries - 1)
            else:
                jobs[0].result = error

    def _in_one_transaction(self, jobs: list[_Job]) -> None:
        self._check()
        with self._engine.begin() as connection:
            # Only neighbours are grouped, so requests keep their order.
            for write, group in groupby(jobs, key=lambda job: job.write):
                neighbours = list(group)
                if together := getattr(write, "together", None):
                    results = together(connection, [job.arguments[0] for job in neighbours])
                else:
                    results = [write(connection, *job.arguments, **job.named) for job in neighbours]
                for job, result in zip(neighbours, results, strict=True):
                    job.result = result
        # Data in a file that was deleted meanwhile must not be acknowledged.
        self._check()


def _reply(jobs: list[_Job]) -> None:
    """Answer requests: threads one by one, an event loop once for all of its requests."""
    for loop, group in groupby(jobs, key=lambda job: job.loop):
        together = list(group)
        if loop is None:
            _resolve(together)
        else:
            # A loop that was closed in the meantime has no waiting requests.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_resolve, together)


def _resolve(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.answer.done():
            continue
        if isinstance(job.result, Exception):
            job.answer.set_exception(job.result)
        else:
            job.answer.set_result(job.result)


Given = TypeVarTuple("Given")

ALONE, SIGNING = 7_541_904, 7_541_905
"""Our numbers for these locks."""
PAUSE = 0.5
"""Seconds between checks whether another process is ready."""
_OTHERS = text(
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database "
    "WHERE locktype = 'advisory' AND datname = current_database() AND classid = :kind AND objid <> :mark"
)


@contextlib.asynccontextmanager
async def advisory_lock(store: Store, what: str) -> AsyncIterator[None]:
    """Wait for a lock that only one server on the database can have."""
    if database_url(store.url).get_backend_name() != "postgresql":
        yield
        return
    stack = contextlib.ExitStack()
    try:
        connection = await _in_thread(stack.enter_context, store.read())
        while not await _in_thread(_taken, connection, what):
            await asyncio.sleep(PAUSE)
        yield
    finally:
        # A lost connection no longer has the lock, and the work is done.
        with contextlib.suppress(DBAPIError):
            stack.close()


async def _in_thread(function: Callable[[*Given], Found], *arguments: *Given) -> Found:
    """The result of a thread; a cancelled caller waits for its end, so that no connection is left open."""
    work = asyncio.get_running_loop().run_in_executor(None, function, *arguments)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise


def _taken(connection: Connection, what: str) -> bool:
    """Take the lock until the transaction of the connection ends, unless another process has it."""
    query = text("SELECT pg_try_advisory_xact_lock(:kind, :what)")
    return bool(connection.execute(query, {"kind": ALONE, "what": crc32(what.encode()) >> 1}).scalar_one())


@contextlib.contextmanager
def signing(store: Store, mark: int) -> Iterator[None]:
    """Serve with a secret that has this mark, a number below 2^31; refused while others use another secret.

    If requests reached processes with different secrets, every second page would refuse its participant.
    """
    with store.read() as connection:
        if connection.dialect.name == "postgresql":
            with _marked(connection, {"kind": SIGNING, "mark": mark}):
                yield
            return
    yield


@contextlib.contextmanager
def _marked(connection: Connection, mark: dict[str, int]) -> Iterator[None]:
    # No transaction, because one that lasts as long as the server would prevent the vacuum of PostgreSQL.
    connection.execution_options(isolation_level="AUTOCOMMIT")
    connection.execute(text("SELECT pg_advisory_lock_shared(:kind, :mark)"), mark)
    try:
        if connection.execute(_OTHERS, mark).scalar_one():
            raise StoreError(
                "Another server on this database has another secret, so this one would not recognise its "
                "participants. Start both with the same folder (--data), or copy the file `secret` from one "
                "folder to the other."
            )
        yield
    finally:
        # A lost connection no longer has the lock.
        with contextlib.suppress(DBAPIError):
            connection.execute(text("SELECT pg_advisory_unlock_shared(:kind, :mark)"), mark)
