"""The database: a SQLite file, or a PostgreSQL server by its address.

SQLite runs with a write-ahead log, so that reading does not wait for writing, and every commit is on the disk before it
is reported (`synchronous = FULL`). A transaction that writes takes the write lock at its beginning (`BEGIN IMMEDIATE`):
otherwise two processes could both have read before either wrote. The file can be read by its owner alone. What is
deleted is overwritten (`secure_delete`), and after an erasure the log is emptied too, so that no bytes of it remain in
the files. A file that is moved or deleted while it is open takes no more answers. What the store refuses is an error
that is a sentence.

A copy of the database, made while the server runs.
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
"""How long a process waits for the write lock of another one."""
READERS = 8


JSON: dict[str, Any] = {"json_serializer": lambda value: to_json(value).decode(), "json_deserializer": from_json}
"""Several times as quick as the standard library, and a planned session is a hundred documents."""


def database_url(text: str) -> URL:
    """The address of a database, checked."""
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
    """What writes and what reads."""
    if url.get_backend_name() == "sqlite":
        _private_file(Path(str(url.database)))
        return _sqlite(url, writing=True), _sqlite(url, writing=False)
    try:
        engine = create_engine(url, pool_size=READERS, max_overflow=4, pool_pre_ping=True, **JSON)
    except ImportError:
        raise MissingPartError("PostgreSQL needs psycopg: pip install 'karat[postgres]'") from None
    return engine, engine


def _private_file(path: Path) -> None:
    """Make the file, for its owner alone, before the database does with the usual rights.

    A folder that is made for it is private too; one that is there already keeps its rights.
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
        # Transactions are begun below, not by the driver, which would begin them without the lock.
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
    """What does several requests at once, with a result for each or an exception for one of them, as what does one."""

    @wraps(handle)
    def one(connection: Connection, payload: Payload) -> Result | Exception:
        return handle(connection, [payload])[0]

    one.together = handle  # type: ignore[attr-defined]
    return one


def erasing(function: Erasing) -> Erasing:
    """Mark what erases data of participants: after it the log of the database is emptied."""
    function.erases = True  # type: ignore[attr-defined]
    return function


def empty_log(engine: Engine, wait_seconds: float = 0.25) -> bool:
    """Write the log of a SQLite database into its file and cut it off; whether nobody was in the way."""
    if engine.dialect.name != "sqlite":
        return True
    connection = engine.raw_connection()
    try:
        connection.cursor().execute(f"PRAGMA busy_timeout = {int(wait_seconds * 1000)}")
        busy, _, _ = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.cursor().execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
    finally:
        connection.close()
    return not busy


def vacuum(url: str) -> None:
    """Write a database anew, without what was deleted before; nobody may be writing meanwhile."""
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
    """What raises an error where the file of a SQLite database was moved, deleted or replaced from now on."""
    path = Path(str(url.database)) if url.get_backend_name() == "sqlite" else None
    known = None if path is None else _identity(path)

    def check() -> None:
        if path is not None and _identity(path) != known:
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
    """The file of the database is not where it was: what is written now would be lost."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} was moved, deleted or replaced while the server had it open. Nothing is saved until the file is "
            "back in its place; then start the server again."
        )


class NoSessionError(StoreError):
    """A token that belongs to no session, or no longer does."""

    def __init__(self) -> None:
        super().__init__("There is no session with this token. Open the link of the study again.")


class SessionEndedError(StoreError):
    """A session that has ended takes no more answers."""

    def __init__(self, state: str) -> None:
        super().__init__(f"The session has ended ({state}) and takes no more answers.")
        self.state = state


def backup(url: str, path: str | Path) -> Path:
    """Copy a database to a file that only its owner can read, and that must not be there yet.

    A SQLite file is copied as a SQLite file, which `sqlite:///FILE` opens. PostgreSQL is copied by its own `pg_dump`,
    to be restored by `pg_restore`. Both show the database as it was at one moment, and nobody has to wait.
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
    with closing(sqlite3.connect(readable, uri=True)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other)
        # The copy is one file: a log beside it could be forgotten when it is moved.
        other.execute("PRAGMA journal_mode = DELETE")


def _dump_postgresql(url: URL, target: Path) -> None:
    program = shutil.which("pg_dump")
    if program is None:
        raise StoreError("A backup of PostgreSQL needs its program pg_dump. Install the PostgreSQL client programs.")
    plain = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    # By the environment, since everybody on the machine can read the arguments of a program.
    known = dict(os.environ) | ({"PGPASSWORD": str(url.password)} if url.password else {})
    command = [program, "--format=custom", f"--file={target}", f"--dbname={plain}"]
    done = subprocess.run(command, env=known, capture_output=True, text=True)  # noqa: S603 (no shell, our own words)
    if done.returncode:
        raise StoreError(f"pg_dump could not copy the database: {done.stderr.strip()}")
