"""The pages of a session, planned once and shown one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, bindparam, exists, insert, select, update

from karat.field.store import arrivals
from karat.field.store.engine import NoSessionError, SessionEndedError, batched
from karat.field.store.schema import answer, session, study, trial

if TYPE_CHECKING:
    from karat.field.content.trials import PlannedTrial

PAGE_BYTES = 1_000
"""The approximate size of a page in the store."""
SHOWN = (trial.c.session_id, trial.c.position, trial.c.public_id, trial.c.block, trial.c.shown)


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """A page of a session as the browser gets it, and its position."""

    session_id: int
    position: int
    public_id: str
    block: str
    shown: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlannedTrials:
    """All pages of a session, with positions from 1."""

    session_id: int
    trials: Sequence[PlannedTrial]
    now: float = field(default_factory=time)


@batched
def plan_trials(connection: Connection, payloads: list[PlannedTrials]) -> Sequence[int | Exception]:
    """Store the pages of sessions; returns how many each has. A session that already has its pages keeps them.

    Participants who get trials are recorded as no longer naive, because they will have seen the study.
    """
    ids = {payload.session_id for payload in payloads}
    query = select(session, study.c.slug).join(study).where(session.c.id.in_(ids)).order_by(session.c.id)
    sessions = {row.id: row for row in connection.execute(query.with_for_update(of=session))}
    pages: list[dict[str, Any]] = []
    planned: dict[int, dict[str, Any]] = {}
    results: list[int | Exception] = []
    for payload in payloads:
        row = sessions.get(payload.session_id)
        if row is None:
            results.append(NoSessionError())
        elif row.planned or row.id in planned:
            results.append(planned[row.id]["trials"] if row.id in planned else row.trials)
        elif row.state != "running":
            results.append(SessionEndedError(row.state))
        else:
            pages += [
                {"session_id": row.id, "position": page.position, "public_id": page.public_id, "block": page.block,
                 "rows": list(page.rows), "shown": page.shown}
                for page in payload.trials
            ]  # fmt: skip
            planned[row.id] = {"of": row.id, "planned": True, "trials": len(payload.trials), "last_seen": payload.now}
            planned[row.id]["stored"] = row.stored + PAGE_BYTES * len(payload.trials)
            results.append(len(payload.trials))
    if pages:
        connection.execute(insert(trial), pages)
    if planned:
        connection.execute(update(session).where(session.c.id == bindparam("of")), list(planned.values()))
    for number, values in planned.items():
        row = sessions[number]
        if row.person_hash and not row.preview:
            seen = arrivals.PriorParticipation(row.slug, row.person_hash, row.platform, False, values["last_seen"])
            arrivals.note_participation(connection, seen)
    return results


def next_trials(connection: Connection, session_id: int, count: int) -> list[StoredTrial]:
    """The next unanswered pages of a session."""
    answered = exists().where(answer.c.session_id == trial.c.session_id, answer.c.position == trial.c.position)
    since = select(session.c.next).where(session.c.id == session_id).scalar_subquery()
    return _shown(connection, count, trial.c.session_id == session_id, trial.c.position >= since, ~answered)


def trials_after(connection: Connection, session_id: int, position: int, count: int) -> list[StoredTrial]:
    """The pages of a session after a position, answered or not."""
    return _shown(connection, count, trial.c.session_id == session_id, trial.c.position > position)


def last_answered(connection: Connection, session_id: int) -> tuple[StoredTrial, dict[str, str | None]] | None:
    """The last answered page in the order of the pages, with its answers by question."""
    query = select(answer.c.position).where(answer.c.session_id == session_id).order_by(answer.c.position.desc())
    position = connection.execute(query.limit(1)).scalar()
    if position is None:
        return None
    (page,) = trials_after(connection, session_id, position - 1, 1)
    rows = connection.execute(
        select(answer.c.question, answer.c.response)
        .where(answer.c.session_id == session_id, answer.c.position == position)
        .order_by(answer.c.attempt)
    )
    return page, {row.question: row.response for row in rows}


def _shown(connection: Connection, count: int, *conditions: ColumnElement[bool]) -> list[StoredTrial]:
    query = select(*SHOWN).where(*conditions).order_by(trial.c.position).limit(count)
    return [StoredTrial(*row) for row in connection.execute(query)]
