"""The store of a server: one database, read by many, written by one thread a process.

A commit that is on the disk costs the same for one answer as for a hundred. The thread takes everything that waits,
does it in one transaction, and replies only after the commit, so every confirmed answer is on disk. While
it commits, the next requests gather. Before and after, it looks whether the file of the database is still in its place.
Where a transaction fails, each request is tried again in a transaction of its own, so that one bad request harms nobody
else. Where another process that writes to the same PostgreSQL was in the way (two transactions waited for each other,
or both made what there can be only once), a request is tried a few times: the second time it finds what the other has
made.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import secrets
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from time import monotonic
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, insert, select
from sqlalchemy.exc import DatabaseError, DBAPIError

from karat.field.store import schema
from karat.field.store.engine import READERS, Result, StoreError, database_url, empty_log, engines, file_check
from karat.field.store.migrations import migrate

Parameters = ParamSpec("Parameters")
Found = TypeVar("Found")
Write = Callable[Concatenate[Connection, Parameters], Result | Exception]
"""What is done in a transaction: its result, or an exception for the one who asked, which harms nobody else."""


class Store:
    """A database that is open."""

    def __init__(self, url: str, writing: Engine, reading: Engine) -> None:
        self.url = url
        self._writing = writing
        self._reading = reading
        self._writer = Writer(writing, file_check(database_url(url)))
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="karat-reader")

    @classmethod
    def open(cls, url: str) -> Store:
        """Open a database, make it where there is none, and bring its tables up to date."""
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
            shown = checked.render_as_string(hide_password=True)
            raise StoreError(f"{shown} cannot be opened: {str(error.orig).strip()}.") from None
        return cls(url, writing, reading)

    def close(self) -> None:
        """Write what waits, and let go of the database."""
        self._writer.close()
        self._threads.shutdown()
        self._reading.dispose()
        with contextlib.suppress(sqlite3.Error, DBAPIError):
            empty_log(self._writing)
        self._writing.dispose()

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to read from, which sees the database as it is at the first question."""
        with self._reading.connect() as connection:
            yield connection

    async def look(
        self,
        function: Callable[Concatenate[Connection, Parameters], Found],
        *arguments: Parameters.args,
        **named: Parameters.kwargs,
    ) -> Found:
        """What a function of a connection finds, read in a thread of its own."""

        def found() -> Found:
            with self.read() as connection:
                return function(connection, *arguments, **named)

        return await asyncio.get_running_loop().run_in_executor(self._threads, found)

    async def do(
        self, write: Write[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs
    ) -> Result:
        """Have something written; it is on the disk when this returns."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        self._writer.add(_Job(write, arguments, named, answer, loop))
        return await answer

    def call(self, write: Write[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        """Have something written, from a thread that may wait."""
        answer: Future[Result] = Future()
        self._writer.add(_Job(write, arguments, named, answer, None))
        return answer.result()

    async def probe(self) -> None:
        """Write something, as an answer would be written; an error where that cannot be done now."""
        await asyncio.wait_for(self.do(_probe), PROBE_SECONDS)

    def secret(self, name: str) -> bytes:
        """A secret of this database, 32 random bytes, made when it is first asked for."""
        return base64.b64decode(self.call(_secret, name))


def _probe(connection: Connection) -> None:
    """Write as much as a batch of answers takes, and take it away again."""
    table = schema.server
    key = f"probe {secrets.token_hex(8)}"
    connection.execute(insert(table).values(key=key, value="x" * PROBE_BYTES))
    connection.execute(table.delete().where(table.c.key == key))


def _secret(connection: Connection, name: str) -> str:
    table = schema.server
    if connection.dialect.name == "postgresql":
        # Two processes that start together must not both make it.
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
"""The most requests in one transaction: enough to share its cost, and few enough that nobody waits long for others."""
TRIES = 4
RETRY_SECONDS = 10.0
"""After how long emptying the log is tried again."""
IN_THE_WAY = ("40001", "40P01", "23505")
"""What PostgreSQL calls it when another transaction was in the way: not serialisable, a deadlock, a row made twice."""


@dataclass(eq=False, slots=True)
class _Job:
    write: Write[..., Any]
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    answer: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None
    result: Any = None


class Writer:
    """The thread that writes, and its queue."""

    def __init__(self, engine: Engine, check: Callable[[], None] = lambda: None) -> None:
        self._engine = engine
        self._check = check
        self._traces: float | None = None
        """From when on to try again to empty the log of what was erased; None where nothing is left in it."""
        self._jobs: deque[_Job] = deque()
        self._waiting = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="karat-writer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Write what still waits, and end."""
        with self._waiting:
            self._closed = True
            self._waiting.notify()
        self._thread.join()

    def add(self, job: _Job) -> None:
        """Have something written; its answer comes after the commit."""
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
            _tell(jobs)

    def _empty_log(self) -> None:
        """Take what was erased from the log too; where somebody reads just now, later."""
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
            # Neighbours only: what somebody asked for earlier is done earlier.
            for write, group in groupby(jobs, key=lambda job: job.write):
                neighbours = list(group)
                if together := getattr(write, "together", None):
                    results = together(connection, [job.arguments[0] for job in neighbours])
                else:
                    results = [write(connection, *job.arguments, **job.named) for job in neighbours]
                for job, result in zip(neighbours, results, strict=True):
                    job.result = result
        # What went into a file that was deleted meanwhile must not be acknowledged.
        self._check()


def _tell(jobs: list[_Job]) -> None:
    """Answer those who asked: threads one by one, an event loop once for all that wait in it."""
    for loop, group in groupby(jobs, key=lambda job: job.loop):
        together = list(group)
        if loop is None:
            _resolve(together)
        else:
            # A loop that was closed in the meantime has nobody left to tell.
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
