"""Which sessions hold a seat in their study, and the lock under which seats are given."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from karat.field.store.schema import session, study


def holds_seat(now: float, *, pilot: bool = False) -> ColumnElement[bool]:
    """Whether a session counts: a first one that is complete, or runs with a lease; previews never do.

    >>> "lease_until" in str(holds_seat(0.0))
    True
    """
    return and_(
        session.c.number == 1,
        session.c.preview.is_(False),
        session.c.pilot.is_(pilot),
        or_(session.c.state == "complete", and_(session.c.state == "running", session.c.lease_until > now)),
    )


def lock_studies(connection: Connection, ids: Collection[int]) -> dict[int, str]:
    """Lock studies until the transaction ends, and tell their states; SQLite has one lock for everything anyway."""
    query = select(study.c.id, study.c.state).where(study.c.id.in_(ids)).order_by(study.c.id)
    # The weaker of the two locks, as sessions that are added refer to the study.
    return {row.id: row.state for row in connection.execute(query.with_for_update(key_share=True))}
