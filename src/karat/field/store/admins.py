"""Those who run a server: their password hashes, their logins, and logins that failed."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import time

from sqlalchemy import Connection, delete, func, insert, select

from karat.field.store.engine import one_by_one
from karat.field.store.schema import admin, login, login_failure

KEPT_SECONDS = 86_400.0
"""How long failed logins are kept."""


@dataclass(frozen=True, slots=True)
class SetPassword:
    """A new or changed login."""

    name: str
    password_hash: str
    now: float = field(default_factory=time)


@one_by_one
def set_password(connection: Connection, given: SetPassword) -> None:
    """Add an account, or change its password, which ends all its logins."""
    connection.execute(delete(admin).where(admin.c.name == given.name))
    connection.execute(delete(login).where(login.c.name == given.name))
    values = {"name": given.name, "password_hash": given.password_hash, "created": given.now}
    connection.execute(insert(admin).values(**values))


@one_by_one
def set_first_password(connection: Connection, given: SetPassword) -> bool:
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
    known = password_hash(connection, given.name) is not None
    if not known:
        set_password(connection, [given])
    return not known


def password_hash(connection: Connection, name: str) -> str | None:
    """The hash of a login's password."""
    found: str | None = connection.execute(select(admin.c.password_hash).where(admin.c.name == name)).scalar()
    return found


@dataclass(frozen=True, slots=True)
class Login:
    """Somebody logs in until a point in time; only a hash of the session is kept."""

    name: str
    session_hash: str
    until: float
    now: float = field(default_factory=time)


@one_by_one
def log_in(connection: Connection, given: Login) -> None:
    """Keep a login, and forget those that are over."""
    connection.execute(delete(login).where(login.c.until < given.now))
    values = {"name": given.name, "session_hash": given.session_hash, "until": given.until}
    connection.execute(insert(login).values(**values))


@one_by_one
def log_out(connection: Connection, session_hash: str) -> bool:
    """End a login; whether there was one."""
    return bool(connection.execute(delete(login).where(login.c.session_hash == session_hash)).rowcount)


def logged_in_as(connection: Connection, name: str, session_hash: str, now: float) -> str | None:
    """The hash of the password of somebody whose login was not ended; None for anybody else."""
    here = (login.c.session_hash == session_hash) & (login.c.name == name) & (login.c.until > now)
    query = select(admin.c.password_hash).join(login, login.c.name == admin.c.name).where(here)
    found: str | None = connection.execute(query).scalar()
    return found


@dataclass(frozen=True, slots=True)
class LoginFailure:
    """A login that failed."""

    name: str
    now: float = field(default_factory=time)


@one_by_one
def note_failure(connection: Connection, given: LoginFailure) -> None:
    """Note a failed login, and forget those of yesterday."""
    connection.execute(insert(login_failure).values(name=given.name, time=given.now))
    connection.execute(delete(login_failure).where(login_failure.c.time < given.now - KEPT_SECONDS))


def failures(connection: Connection, name: str, since: float) -> int:
    """How often a login has failed since a point in time."""
    count = select(func.count()).where(login_failure.c.name == name, login_failure.c.time >= since)
    return connection.execute(count).scalar_one()
