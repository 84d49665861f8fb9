"""Decisions about participants, withdrawal, erasure and anonymity.

Excluded, returned and rejected participants no longer have a seat; their answers stay, with the state, and a decision
can be taken back. A withdrawal deletes the answers and leaves an empty session, so that the same person cannot begin
again; an erasure leaves nothing. Making a study anonymous deletes what identifies participants: platform ids and their
hashes, tokens, codes, and details that distinguish browsers.
"""

from collections.abc import Sequence
from time import time
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, func, insert, select, update

from karat.errors import counted
from karat.field.store.engine import StoreError, erasing
from karat.field.store.schema import (
    DECISIONS,
    answer,
    event,
    identity,
    invitation,
    naivety,
    quota_seat,
    session,
    study,
    trial,
)

IDENTIFYING = ("window", "frame_rate", "shown_at", "answered_at", "trace")
"""Details of an answer that could identify a browser or a person."""


def decide(connection: Connection, study_id: int, participant: str, decision: str) -> bool | Exception:
    """Exclude, return, reject or restore a participant; returns whether anything changed."""
    if decision not in (*DECISIONS, "restored"):
        return StoreError(f"The decision {decision} is not known: excluded, returned, rejected or restored.")
    query = select(session).where(*_of(study_id, participant)).order_by(session.c.number)
    rows = connection.execute(query.with_for_update()).all()
    changed = False
    for row in rows:
        decided = row.state in DECISIONS
        if decision == "restored" and decided:
            values = {"state": row.state_before or "complete", "state_before": None}
        elif decision in DECISIONS and row.state in ("running", "complete", *DECISIONS):
            values = {"state": decision, "state_before": row.state_before if decided else row.state}
        else:
            continue
        connection.execute(update(session).where(session.c.id == row.id).values(**values))
        connection.execute(insert(event).values(session_id=row.id, kind=decision, time=time(), details={}))
        changed = True
    return changed


def release(connection: Connection, study_id: int, participant: str) -> bool:
    """Let a participant resume a running session in another browser by the platform's ids; whether there was one."""
    running = (*_of(study_id, participant), session.c.state == "running", session.c.preview.is_(False))
    ids = list(connection.execute(select(session.c.id).where(*running)).scalars())
    connection.execute(update(session).where(session.c.id.in_(ids)).values(token_hash=None))
    for number in ids:
        connection.execute(insert(event).values(session_id=number, kind="released", time=time(), details={}))
    return bool(ids)


def _of(study_id: int, participant: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return session.c.study_id == study_id, session.c.participant == participant


def _known_by(study_id: int, participant: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """The condition for all sessions of a participant; restarted ones have another name and the same code."""
    code = select(session.c.withdrawal_code).where(*_of(study_id, participant))
    named = (session.c.participant == participant) | session.c.withdrawal_code.in_(code)
    return session.c.study_id == study_id, named


def stored_rows(connection: Connection, study_id: int, participant: str) -> dict[str, list[dict[str, Any]]]:
    """Every row about a participant, by table, with all columns, to answer a request for access."""
    ids = list(connection.execute(select(session.c.id).where(*_known_by(study_id, participant))).scalars())
    rows = {"session": _rows(connection, session, session.c.id.in_(ids))}
    for table in (identity, quota_seat, trial, answer, event, invitation):
        rows[table.name] = _rows(connection, table, table.c.session_id.in_(ids))
    hashes = [row["person_hash"] for row in rows["session"] if row["person_hash"]]
    rows["naivety"] = _rows(connection, naivety, naivety.c.person_hash.in_(hashes))
    return rows


def _rows(connection: Connection, table: Table, here: ColumnElement[bool]) -> list[dict[str, Any]]:
    query = select(table).where(here).order_by(*table.primary_key)
    return [dict(row) for row in connection.execute(query).mappings()]


def submissions(connection: Connection, study_id: int) -> list[tuple[str, str, str, str]]:
    """Name, state, and ids of person and submission of all participants with platform ids, except pilots."""
    query = (
        select(session.c.participant, session.c.state, identity.c.platform_id, identity.c.platform_session)
        .join(identity)
        .where(session.c.study_id == study_id, session.c.preview.is_(False), session.c.pilot.is_(False))
        .order_by(session.c.id)
    )
    return [(row[0], row[1], row[2], row[3]) for row in connection.execute(query)]


@erasing
def withdraw(connection: Connection, study_id: int, code: str) -> bool:
    """Delete the answers of a participant who withdraws; returns whether the code was right."""
    code = code.strip().lower().replace("\0", "")
    here = (session.c.study_id == study_id) & (session.c.withdrawal_code == code)
    ids = list(connection.execute(select(session.c.id).where(here).with_for_update()).scalars())
    _delete_of(connection, ids)
    emptied = {
        "state": "withdrawn", "finished": time(), "background": {}, "comment": None, "device": {},
        "planned": False, "trials": 0, "answered": 0, "next": 1, "quiz_attempts": 0, "quiz_passed": None,
        "state_before": None, "consented": None, "consent": None, "events": 0, "refused": 0,
    }  # fmt: skip
    connection.execute(update(session).where(session.c.id.in_(ids)).values(**emptied))
    return bool(ids)


@erasing
def erase(connection: Connection, study_id: int, participant: str) -> bool:
    """Erase a participant and the record of the participation; returns whether there was anybody to erase."""
    query = select(session.c.id, session.c.person_hash, study.c.slug).join(study)
    rows = connection.execute(query.where(*_known_by(study_id, participant))).all()
    ids = [row.id for row in rows]
    _delete_of(connection, ids)
    connection.execute(update(invitation).where(invitation.c.session_id.in_(ids)).values(session_id=None))
    for row in rows:
        if row.person_hash is not None:
            noted = (naivety.c.person_hash == row.person_hash) & (naivety.c.study == row.slug)
            connection.execute(delete(naivety).where(noted))
    connection.execute(delete(session).where(session.c.id.in_(ids)))
    return bool(ids)


@erasing
def anonymise(
    connection: Connection, study_id: int, comments: bool = False, now: float | None = None
) -> int | Exception:
    """Delete for good what identifies the participants of a study; returns how many sessions it has.

    With `comments`, comments are deleted too.
    """
    now = time() if now is None else now
    here = session.c.study_id == study_id
    at_work = (session.c.state == "running") & (session.c.lease_until > now) & session.c.preview.is_(False)
    still = connection.execute(select(func.count()).where(here, at_work)).scalar_one()
    if still:
        people = counted(still, "participant") + (" is" if still == 1 else " are")
        return StoreError(f"{people} still answering. Close the study, wait until they have finished, and try again.")
    rows = connection.execute(select(session.c.id, session.c.device).where(here)).all()
    forgotten: dict[str, Any] = dict.fromkeys(("person_hash", "resume_hash", "token_hash", "withdrawal_code"))
    if comments:
        forgotten["comment"] = None
    connection.execute(update(session).where(here).values(**forgotten))
    devices = [
        {"of": row.id, "device": {"class": row.device["class"]} if "class" in row.device else {}} for row in rows
    ]
    if devices:
        connection.execute(update(session).where(session.c.id == bindparam("of")), devices)
    theirs = select(session.c.id).where(here)
    connection.execute(update(invitation).where(invitation.c.session_id.in_(theirs)).values(session_id=None))
    connection.execute(update(event).where(event.c.session_id.in_(theirs)).values(details={}))
    connection.execute(delete(identity).where(identity.c.session_id.in_(theirs)))
    for row in rows:
        _forget_details(connection, row.id)
    return len(rows)


def _forget_details(connection: Connection, session_id: int) -> None:
    """Delete the identifying details of the answers of a session."""
    place = (answer.c.position, answer.c.question, answer.c.attempt)
    rows = connection.execute(select(*place, answer.c.details).where(answer.c.session_id == session_id)).all()
    changed = [
        {
            "p": row.position, "q": row.question, "a": row.attempt,
            "details": {name: value for name, value in row.details.items() if name not in IDENTIFYING},
        }
        for row in rows
    ]  # fmt: skip
    if changed:
        here = [column == bindparam(name) for column, name in zip(place, ("p", "q", "a"), strict=True)]
        connection.execute(update(answer).where(answer.c.session_id == session_id, *here), changed)


def _delete_of(connection: Connection, ids: Sequence[int]) -> None:
    """Delete everything that belongs to sessions."""
    for table in (answer, trial, event, identity, quota_seat):
        connection.execute(delete(table).where(table.c.session_id.in_(ids)))
