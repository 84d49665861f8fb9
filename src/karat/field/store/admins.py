"""Those who run a server: their password hashes, their logins, and logins that failed."""

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
    """Add a login where there is none; whether it was added. Of two servers that start at once, one does it."""
    known = password_hash(connection, name) is not None
    if not known:
        set_password(connection, name, first_hash)
    return not known


def password_hash(connection: Connection, name: str) -> str | None:
    """The hash of a login's password."""
    found: str | None = connection.execute(select(admin.c.password_hash).where(admin.c.name == name)).scalar()
    return found


def log_in(connection: Connection, name: str, session_hash: str, until: float) -> None:
    """Keep a login until a point in time, by a hash of its session alone, and forget those that are over."""
    connection.execute(delete(login).where(login.c.until < time()))
    connection.execute(insert(login).values(name=name, session_hash=session_hash, until=until))


def log_out(connection: Connection, session_hash: str) -> bool:
    """End a login; whether there was one."""
    return bool(connection.execute(delete(login).where(login.c.session_hash == session_hash)).rowcount)


def logged_in_as(connection: Connection, name: str, session_hash: str, now: float) -> str | None:
    """The hash of the password of somebody whose login was not ended; None for anybody else."""
    here = (login.c.session_hash == session_hash) & (login.c.name == name) & (login.c.until > now)
    query = select(admin.c.password_hash).join(login, login.c.name == admin.c.name).where(here)
    found: str | None = connection.execute(query).scalar()
    return found


def note_failure(connection: Connection, name: str, now: float | None = None) -> None:
    """Note a failed login, and forget those of yesterday."""
    now = time() if now is None else now
    connection.execute(insert(login_failure).values(name=name, time=now))
    connection.execute(delete(login_failure).where(login_failure.c.time < now - KEPT_SECONDS))


def failures(connection: Connection, name: str, since: float) -> int:
    """How often a login has failed since a point in time."""
    count = select(func.count()).where(login_failure.c.name == name, login_failure.c.time >= since)
    return connection.execute(count).scalar_one()
