"""Several servers on one PostgreSQL: what only one of them does at a time, and whether all of them sign alike.

Both are advisory locks of PostgreSQL, which it takes back by itself when a process ends, in whatever way. SQLite has
none: there every process does its own, which is right as well, but takes the memory of each.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeVar, TypeVarTuple
from zlib import crc32

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from karat.field.store.engine import StoreError, database_url
from karat.field.store.store import Store

Given = TypeVarTuple("Given")
Found = TypeVar("Found")

ALONE, SIGNING = 7_541_904, 7_541_905
"""Numbers of our own for these locks."""
PAUSE = 0.5
"""Seconds before it is looked again whether another process is ready."""
_OTHERS = text(
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database "
    "WHERE locktype = 'advisory' AND datname = current_database() AND classid = :kind AND objid <> :mark"
)


@contextlib.asynccontextmanager
async def advisory_lock(store: Store, what: str) -> AsyncIterator[None]:
    """Wait until no other server on the database does this, and keep the others from it meanwhile."""
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
        # A connection that was lost meanwhile has no lock any more, and what was done is done.
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
    """Serve with a secret that has this mark, a number below 2^31; refused while others serve with another one.

    A participant whose requests reach processes with different secrets would be sent away by every second page.
    """
    with store.read() as connection:
        if connection.dialect.name == "postgresql":
            with _marked(connection, {"kind": SIGNING, "mark": mark}):
                yield
            return
    yield


@contextlib.contextmanager
def _marked(connection: Connection, mark: dict[str, int]) -> Iterator[None]:
    # Outside of a transaction: one that lasts as long as the server would keep PostgreSQL from tidying up.
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
        # A connection that is lost has no lock any more.
        with contextlib.suppress(DBAPIError):
            connection.execute(text("SELECT pg_advisory_unlock_shared(:kind, :mark)"), mark)
