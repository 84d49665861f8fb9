"""Those who run a server: their password hashes, and logins that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import time

from sqlalchemy import Connection, delete, func, insert, select

from karat.field.store.schema import admin, login_failure

KEPT_SECONDS = 86_400.0
"""How long failed logins are kept."""


@dataclass(frozen=True, slots=True)
class SetPassword:
    """A new or changed login."""

    name: str
    password_hash: str
    now: float = field(default_factory=time)


def set_password(connection: Connection, payloads: list[SetPassword]) -> Sequence[None]:
    """Add a login, or change its password."""
    for payload in payloads:
        connection.execute(delete(admin).where(admin.c.name == payload.name))
        values = {"name": payload.name, "password_hash": payload.password_hash, "created": payload.now}
        connection.execute(insert(admin).values(**values))
    return [None] * len(payloads)


def set_first_password(connection: Connection, payloads: list[SetPassword]) -> Sequence[bool]:
    """Add a login where there is none; whether it was added. Of two servers that start at once, one does it.

    >>> import tempfile
    >>> from karat.field.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store.open(f"sqlite:///{folder}/karat.db")
    ...     added = [store.call(set_first_password, SetPassword("admin", hash)) for hash in ("first", "second")]
    ...     store.close()
    >>> added
    [True, False]
    """
    added = []
    for payload in payloads:
        known = password_hash(connection, payload.name) is not None
        if not known:
            set_password(connection, [payload])
        added.append(not known)
    return added


def password_hash(connection: Connection, name: str) -> str | None:
    """The hash of a login's password."""
    found: str | None = connection.execute(select(admin.c.password_hash).where(admin.c.name == name)).scalar()
    return found


@dataclass(frozen=True, slots=True)
class LoginFailure:
    """A login that failed."""

    name: str
    now: float = field(default_factory=time)


def note_failure(connection: Connection, payloads: list[LoginFailure]) -> Sequence[None]:
    """Note failed logins, and forget those of yesterday."""
    for payload in payloads:
        connection.execute(insert(login_failure).values(name=payload.name, time=payload.now))
        connection.execute(delete(login_failure).where(login_failure.c.time < payload.now - KEPT_SECONDS))
    return [None] * len(payloads)


def failures(connection: Connection, name: str, since: float) -> int:
    """How often a login has failed since a point in time."""
    count = select(func.count()).where(login_failure.c.name == name, login_failure.c.time >= since)
    return connection.execute(count).scalar_one()
