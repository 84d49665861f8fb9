"""How the tables come to be, and how they change from one release to the next.

Each file in `versions` is one change. A release never edits a change that an earlier one has shipped: it adds another,
so that a database of any release is brought up to date, with its data, when the server opens it.
"""

from __future__ import annotations

from pathlib import Path

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from karat.field.store.engine import StoreError

LOCK = 7_541_903
"""A number of our own for the lock that lets one process at a time migrate a PostgreSQL database."""


def migrate(connection: Connection, until: str | None = None) -> list[str]:
    """Bring the tables up to date, inside the transaction of the connection; the changes that were made.

    >>> from sqlalchemy import NullPool, create_engine
    >>> with create_engine("sqlite://", poolclass=NullPool).begin() as connection:
    ...     migrate(connection), migrate(connection)
    (['first', 'versions_and_limits'], [])
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    scripts = ScriptDirectory(str(Path(__file__).parent))
    context = MigrationContext.configure(connection)
    present = context.get_current_revision()
    changes = [script for script in reversed(list(scripts.walk_revisions())) if script.revision]
    names = [script.revision for script in changes]
    if present is not None and present not in names:
        raise StoreError(
            f"The database was made by a newer karat (its tables are at {present!r}). "
            "Install that release or a later one."
        )
    begin = 0 if present is None else names.index(present) + 1
    end = len(names) if until is None else names.index(until) + 1
    for script in changes[begin:end]:
        with Operations.context(context):
            script.module.upgrade()
        context.stamp(scripts, script.revision)
    return names[begin:end]
