"""One thread that writes, for the whole process, many requests in one transaction.

A commit that is on the disk costs the same for one answer as for a hundred. The thread takes everything that waits,
does it in one transaction, and tells those who asked only after the commit: what was acknowledged is on the disk. While
it commits, the next requests gather. Where a transaction fails, each request is tried again in a transaction of its
own, so that one bad request harms nobody else. Where another process that writes to the same PostgreSQL was in the way
(two transactions waited for each other, or both made what there can be only once), a request is tried a few times:
the second time it finds what the other has made.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from karat.field.store.errors import StoreError

Payload = TypeVar("Payload")
Result = TypeVar("Result")
Handle = Callable[[Connection, list[Payload]], Sequence[Result | Exception]]
"""What is done in a transaction, for several requests at once: a result for each, or an exception for one of them."""
MOST = 100
"""The most requests in one transaction: enough to share its cost, and few enough that nobody waits long for others."""
TRIES = 4
IN_THE_WAY = ("40001", "40P01", "23505")
"""What PostgreSQL calls it when another transaction was in the way: not serialisable, a deadlock, a row made twice."""


@dataclass(eq=False, slots=True)
class _Job:
    handle: Handle[Any, Any]
    payload: object
    answer: Future[Any] | asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop | None
    result: Any = None


class Writer:
    """The thread that writes, and its queue."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._jobs: deque[_Job] = deque()
        self._waiting = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="karat-writer", daemon=True)
        self._thread.start()

    def call(self, handle: Handle[Payload, Result], payload: Payload) -> Result:
        """Have something written, and wait for the commit."""
        answer: Future[Result] = Future()
        self._add(_Job(handle, payload, answer, None))
        return answer.result()

    async def do(self, handle: Handle[Payload, Result], payload: Payload) -> Result:
        """Have something written, from a coroutine."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        self._add(_Job(handle, payload, answer, loop))
        return await answer

    def close(self) -> None:
        """Write what still waits, and end."""
        with self._waiting:
            self._closed = True
            self._waiting.notify()
        self._thread.join()

    def _add(self, job: _Job) -> None:
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
            _tell(jobs)

    def _write(self, jobs: list[_Job], tries: int = TRIES) -> None:
        try:
            self._in_one_transaction(jobs)
        except Exception as error:
            if len(jobs) > 1:
                for job in jobs:
                    self._write([job])
            elif tries > 1 and _in_the_way(error):
                self._write(jobs, tries - 1)
            else:
                jobs[0].result = error

    def _in_one_transaction(self, jobs: list[_Job]) -> None:
        with self._engine.begin() as connection:
            # Neighbours only: what somebody asked for earlier is done earlier.
            for handle, group in groupby(jobs, key=lambda job: job.handle):
                together = list(group)
                results = handle(connection, [job.payload for job in together])
                for job, result in zip(together, results, strict=True):
                    job.result = result


def _in_the_way(error: Exception) -> bool:
    """Whether it was another process that made a transaction fail."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in IN_THE_WAY


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
