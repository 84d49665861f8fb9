"""The store of a server: one database, read by many, written by one thread a process."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, insert, select
from sqlalchemy.exc import DatabaseError

from karat.field.store import schema
from karat.field.store.engine import READERS, database_url, engines
from karat.field.store.errors import StoreError
from karat.field.store.migrations import migrate
from karat.field.store.writer import Handle, Payload, Result, Writer

Parameters = ParamSpec("Parameters")
Found = TypeVar("Found")


class Store:
    """A database that is open.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store.open(f"sqlite:///{folder}/karat.db")
    ...     first, again = store.secret("person"), store.secret("person")
    ...     store.close()
    >>> first == again, len(first)
    (True, 32)
    """

    def __init__(self, url: str, writing: Engine, reading: Engine) -> None:
        self.url = url
        self._writing = writing
        self._reading = reading
        self._writer = Writer(writing)
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

    async def do(self, handle: Handle[Payload, Result], payload: Payload) -> Result:
        """Have something written; it is on the disk when this returns."""
        return await self._writer.do(handle, payload)

    def call(self, handle: Handle[Payload, Result], payload: Payload) -> Result:
        """Have something written, from a thread that may wait."""
        return self._writer.call(handle, payload)

    def secret(self, name: str) -> bytes:
        """A secret of this database, 32 random bytes, made when it is first asked for."""
        return base64.b64decode(self.call(_secret, name))


def _secret(connection: Connection, names: list[str]) -> Sequence[str]:
    table = schema.server
    if connection.dialect.name == "postgresql":
        # Two processes that start together must not both make it.
        connection.exec_driver_sql("LOCK TABLE server IN SHARE ROW EXCLUSIVE MODE")
    found = []
    for name in names:
        key = f"secret:{name}"
        value = connection.execute(select(table.c.value).where(table.c.key == key)).scalar()
        if value is None:
            value = base64.b64encode(secrets.token_bytes(32)).decode()
            connection.execute(insert(table).values(key=key, value=value))
        found.append(str(value))
    return found
