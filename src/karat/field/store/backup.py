"""A copy of the database, made while the server runs."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from sqlalchemy.engine import URL

from karat.field.store.engine import StoreError, database_url


def backup(url: str, path: str | Path) -> Path:
    """Copy a database to a file that only its owner can read, and that must not be there yet.

    A SQLite file is copied as a SQLite file, which `sqlite:///FILE` opens. PostgreSQL is copied by its own `pg_dump`,
    to be restored by `pg_restore`. Both show the database as it was at one moment, and nobody has to wait.

    >>> import tempfile
    >>> from karat.field.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store.open(f"sqlite:///{folder}/karat.db").close()
    ...     backup(f"sqlite:///{folder}/karat.db", f"{folder}/copy.db").stat().st_size > 0
    True
    """
    target = Path(path)
    checked = database_url(url)
    if target.exists():
        raise StoreError(f"{target} is there already. Give another name.")
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
