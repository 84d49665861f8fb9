"""Who has taken part before, and so is no longer naive.

People are known by a keyed hash of their platform's id, which is the same in all studies of a server and nowhere else.
Participants who have seen the trials of a study are recorded with the time; a study may refuse those who took part in
others, for a waiting period (the effect of having judged many similar sentences lasts for weeks) or for good, and may
admit only those who completed an earlier study. The notes stay when a study is made anonymous: they belong to no
answers.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from time import time

from sqlalchemy import Connection, insert, select, update

from karat.field.store.engine import one_by_one
from karat.field.store.schema import naivety


@dataclass(frozen=True, slots=True)
class PriorParticipation:
    """Somebody took part in a study."""

    study: str
    person_hash: str
    platform: str = ""
    complete: bool = False
    time: float = field(default_factory=time)


@one_by_one
def add(connection: Connection, given: PriorParticipation) -> bool:
    """Note a participation; whether it is new. A later one moves the time, a complete one stays complete.

    >>> add(None, [])
    []
    """
    here = (naivety.c.person_hash == given.person_hash) & (naivety.c.study == given.study)
    known = connection.execute(select(naivety.c.complete, naivety.c.time).where(here).with_for_update()).first()
    if known is None:
        connection.execute(insert(naivety).values(**asdict(given)))
    else:
        values = {"complete": known.complete or given.complete, "time": max(known.time, given.time)}
        connection.execute(update(naivety).where(here).values(**values))
    return known is None


def refused(
    connection: Connection,
    person_hash: str | None,
    *,
    not_from: Collection[str] = (),
    only_from: Collection[str] = (),
    waiting_seconds: float | None = None,
    now: float,
) -> bool:
    """Whether somebody may not take part, because of other studies.

    Where a study makes such conditions, a person without an id is refused: nothing is known of them.

    >>> refused(None, None, not_from=["likert"], now=0.0), refused(None, None, now=0.0)
    (True, False)
    """
    if not not_from and not only_from:
        return False
    if person_hash is None:
        return True
    took_part = {one.study: one for one in known(connection, person_hash)}
    since = None if waiting_seconds is None else now - waiting_seconds
    recent = any(name in took_part and (since is None or took_part[name].time > since) for name in not_from)
    invited = not only_from or any(name in took_part and took_part[name].complete for name in only_from)
    return recent or not invited


def known(connection: Connection, person_hash: str) -> list[PriorParticipation]:
    """In which studies somebody took part."""
    rows = connection.execute(select(naivety).where(naivety.c.person_hash == person_hash).order_by(naivety.c.time))
    return [PriorParticipation(row.study, row.person_hash, row.platform, row.complete, row.time) for row in rows]
