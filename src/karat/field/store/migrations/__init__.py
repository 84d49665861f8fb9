"""Make the tables, and migrate them from one release to the next.

A new database gets the tables of `schema`. Each file in `versions` is one change since the first release. A release
never edits a change of an earlier one but adds another, so that the server can migrate a database of any release, with
its data, when it opens it.
"""

from pathlib import Path

from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from karat.field.store.engine import StoreError
from karat.field.store.schema import metadata

LOCK = 7_541_903
"""Our number for the lock that lets one process at a time migrate a PostgreSQL database."""


def migrate(connection: Connection) -> list[str]:
    """Make or migrate the tables in the transaction of the connection; returns the changes that were made."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    scripts = ScriptDirectory(str(Path(__file__).parent))
    context = MigrationContext.configure(connection)
    present = context.get_current_revision()
    changes = [script for script in reversed(list(scripts.walk_revisions())) if script.revision]
    names = [script.revision for script in changes]
    if present is None:
        metadata.create_all(connection)
        context.stamp(scripts, names[-1])
        return names
    if present not in names:
        raise StoreError(
            f"The database was made by a newer karat (its tables are at {present!r}). "
            "Install that release or a later one."
        )
    begin = names.index(present) + 1
    for script in changes[begin:]:
        with Operations.context(context):
            script.module.upgrade()
        context.stamp(scripts, script.revision)
    return names[begin:]
