"""Accounts of researchers: password hashes, logins, and failed logins."""

from time import time

from sqlalchemy import Connection, delete, func, insert, select

from karat.field.store.schema import admin, login, login_failure

KEPT_SECONDS = 86_400.0
"""How long failed logins are kept."""


def set_password(connection: Connection, name: str, password_hash: str) -> None:
    """Add an account, or change its password, which ends all its logins."""
    connection.execute(delete(admin).where(admin.c.name == name))
    connection.execute(delete(login).where(login.c.name == name))
    connection.execute(insert(admin).values(name=name, password_hash=password_hash, created=time()))


def set_first_password(connection: Connection, name: str, first_hash: str) -> bool:
    """Add an account if there is none; returns whether it was added. Of two servers that start at once, one adds it."""
    new = password_hash(connection, name) is None
    if new:
        set_password(connection, name, first_hash)
    return new


def password_hash(connection: Connection, name: str) -> str | None:
    """The hash of an account's password; None if there is no such account."""
    text: str | None = connection.execute(select(admin.c.password_hash).where(admin.c.name == name)).scalar()
    return text


def log_in(connection: Connection, name: str, session_hash: str, until: float) -> None:
    """Store a login until a point in time, by a hash of its session, and delete those that are over."""
    connection.execute(delete(login).where(login.c.until < time()))
    connection.execute(insert(login).values(name=name, session_hash=session_hash, until=until))


def log_out(connection: Connection, session_hash: str) -> bool:
    """End a login; returns whether there was one."""
    return bool(connection.execute(delete(login).where(login.c.session_hash == session_hash)).rowcount)


def logged_in_as(connection: Connection, name: str, session_hash: str, now: float) -> str | None:
    """The password hash of a researcher whose login is valid; None for any other login."""
    here = (login.c.session_hash == session_hash) & (login.c.name == name) & (login.c.until > now)
    query = select(admin.c.password_hash).join(login, login.c.name == admin.c.name).where(here)
    text: str | None = connection.execute(query).scalar()
    return text


def note_failure(connection: Connection, name: str, now: float | None = None) -> None:
    """Record a failed login, and delete those older than a day."""
    now = time() if now is None else now
    connection.execute(insert(login_failure).values(name=name, time=now))
    connection.execute(delete(login_failure).where(login_failure.c.time < now - KEPT_SECONDS))


def failures(connection: Connection, name: str, since: float) -> int:
    """How many logins to an account have failed since a point in time."""
    count = select(func.count()).where(login_failure.c.name == name, login_failure.c.time >= since)
    return connection.execute(count).scalar_one()
