"""The database: an SQLite file or a PostgreSQL server, its errors, and its backup.

SQLite runs with a write-ahead log, so that reading does not wait for writing, and every commit is on disk before it is
reported (`synchronous = FULL`). A writing transaction takes the write lock at its beginning (`BEGIN IMMEDIATE`),
because otherwise two processes could both read before either writes. Only the owner can read the file. Deleted data are
overwritten (`secure_delete`), and an erasure also empties the log, so no bytes of it remain in the files. A file that
is moved or deleted while it is open accepts no more answers.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import from_json, to_json
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from karat.errors import KaratError, MissingPartError

BUSY_SECONDS = 30
"""How long a process waits for the write lock of another process."""
READERS = 8


JSON: dict[str, Any] = {"json_serializer": lambda value: to_json(value).decode(), "json_deserializer": from_json}
"""Several times as fast as the standard library, which matters because a session has a hundred documents."""


def database_url(text: str) -> URL:
    """The checked URL of a database."""
    try:
        url = make_url(text)
    except ArgumentError:
        raise StoreError(f"{text!r} is not a database address. Write sqlite:///karat.db, for example.") from None
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() != "sqlite":
        raise StoreError(
            "karat keeps its data in SQLite (sqlite:///FILE) or PostgreSQL (postgresql+psycopg://USER@HOST/NAME), "
            f"not in {url.get_backend_name()}."
        )
    if not url.database or url.database == ":memory:":
        raise StoreError("A store needs a file, since several connections share it: sqlite:///karat.db, for example.")
    return url


def engines(url: URL) -> tuple[Engine, Engine]:
    """The engines for writing and for reading."""
    if url.get_backend_name() == "sqlite":
        _private_file(Path(str(url.database)))
        return _sqlite(url, writing=True), _sqlite(url, writing=False)
    try:
        engine = create_engine(url, pool_size=READERS, max_overflow=4, pool_pre_ping=True, **JSON)
    except ImportError:
        raise MissingPartError("PostgreSQL needs psycopg: pip install 'karat[postgres]'") from None
    return engine, engine


def _private_file(path: Path) -> None:
    """Make the file readable by its owner only, before the database makes it with the usual permissions.

    A new folder is private too; an existing one keeps its permissions.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise StoreError(f"{path} cannot be opened as a database: {error.strerror}.") from None


def _sqlite(url: URL, *, writing: bool) -> Engine:
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=1 if writing else READERS,
        max_overflow=0 if writing else 4,
        **JSON,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        # Transactions begin below, because the driver would begin them without the lock.
        connection.isolation_level = None
        for setting in (
            "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON",
            f"query_only = {int(not writing)}",
        ):  # fmt: skip
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


Payload = TypeVar("Payload")
Result = TypeVar("Result")
Erasing = TypeVar("Erasing", bound=Callable[..., object])


def batched(
    handle: Callable[[Connection, list[Payload]], Sequence[Result | Exception]],
) -> Callable[[Connection, Payload], Result | Exception]:
    """Turn a function of several requests, with a result or an exception for each, into a function of one."""

    @wraps(handle)
    def handle_one(connection: Connection, payload: Payload) -> Result | Exception:
        return handle(connection, [payload])[0]

    handle_one.together = handle  # type: ignore[attr-defined]
    return handle_one


def erasing(function: Erasing) -> Erasing:
    """Mark a function that erases data of participants, so that the log of the database is emptied after it."""
    function.erases = True  # type: ignore[attr-defined]
    return function


def empty_log(engine: Engine, wait_seconds: float = 0.25) -> bool:
    """Write the log of an SQLite database into its file and truncate it; returns whether that was possible."""
    if engine.dialect.name != "sqlite":
        return True
    connection = engine.raw_connection()
    try:
        connection.cursor().execute(f"PRAGMA busy_timeout = {int(wait_seconds * 1000)}")
        busy, _, _ = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        # Also after an error: the connection returns to the pool, and answers must wait for the lock as long as ever.
        connection.cursor().execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        connection.close()
    return not busy


def vacuum(url: str) -> None:
    """Rewrite a database without traces of deleted data; no other process may write meanwhile."""
    writing, reading = engines(database_url(url))
    try:
        if writing.dialect.name == "sqlite":
            connection = writing.raw_connection()
            connection.cursor().execute("VACUUM")
            connection.close()
            empty_log(writing, BUSY_SECONDS)
        else:
            with writing.connect().execution_options(isolation_level="AUTOCOMMIT") as connected:
                connected.exec_driver_sql("VACUUM FULL")
    except DBAPIError as error:
        raise StoreError(f"The database cannot be rewritten: {str(error.orig).strip()}.") from None
    except sqlite3.Error as error:
        raise StoreError(f"The database cannot be rewritten: {error}. Stop the server first.") from None
    finally:
        writing.dispose()
        reading.dispose()


def file_check(url: URL) -> Callable[[], None]:
    """A function that raises an error once the file of an SQLite database is moved, deleted or replaced."""
    path = Path(str(url.database)) if url.get_backend_name() == "sqlite" else None
    identity = None if path is None else _identity(path)

    def check() -> None:
        if path is not None and _identity(path) != identity:
            raise DatabaseMovedError(path)

    return check


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_dev, about.st_ino


class StoreError(KaratError):
    """A database that cannot be opened, or a request that it cannot fulfil."""


class DatabaseMovedError(StoreError):
    """The file of the database has moved, so new data would be lost."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} was moved, deleted or replaced while the server had it open. Nothing is saved until the file is "
            "back in its place; then start the server again."
        )


class NoSessionError(StoreError):
    """A token without a session."""

    def __init__(self) -> None:
        super().__init__("There is no session with this token. Open the link of the study again.")


class SessionEndedError(StoreError):
    """A session that has ended takes no more answers."""

    def __init__(self, state: str) -> None:
        super().__init__(f"The session has ended ({state}) and takes no more answers.")
        self.state = state


def backup(url: str, path: str | Path) -> Path:
    """Copy a database to a new file that only its owner can read.

    The copy of an SQLite file is an SQLite file, which `sqlite:///FILE` opens. `pg_dump` copies PostgreSQL, and
    `pg_restore` restores the copy. Both copies show the database at one moment, and no other process has to wait.
    """
    target = Path(path)
    checked = database_url(url)
    if target.exists():
        raise StoreError(f"{target} already exists. Choose another name.")
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}.") from None
    try:
        if checked.get_backend_name() == "sqlite":
            _copy_sqlite(Path(str(checked.database)), target)
        else:
            _dump_postgresql(checked, target)
    except BaseException:
        target.unlink()
        raise
    return target


def _copy_sqlite(source: Path, target: Path) -> None:
    if not source.is_file():
        raise StoreError(f"There is no database {source}.")
    readable = f"{source.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(readable, uri=True)) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)
        # The copy is a single file, because a log beside it could be lost when it is moved.
        copy.execute("PRAGMA journal_mode = DELETE")


def _dump_postgresql(url: URL, target: Path) -> None:
    program = shutil.which("pg_dump")
    if program is None:
        raise StoreError("A backup of PostgreSQL needs its program pg_dump. Install the PostgreSQL client programs.")
    plain = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    # The password is in the environment, because everybody on the machine can read the arguments of a program.
    environment = dict(os.environ) | ({"PGPASSWORD": str(url.password)} if url.password else {})
    command = [program, "--format=custom", f"--file={target}", f"--dbname={plain}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)  # noqa: S603 (no shell)
    if done.returncode:
        raise StoreError(f"pg_dump could not copy the database: {done.stderr.strip()}")
