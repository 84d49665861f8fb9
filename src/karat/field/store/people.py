"""What happens to participants afterwards: decisions of the researcher, withdrawal, erasure, anonymity.

Excluded, returned and rejected participants no longer hold a seat; the answers stay, with the state, and a decision can
be taken back. A withdrawal takes the answers away and leaves an empty session, so that the same person is not asked
again; an erasure leaves nothing. To make a study anonymous is to forget who its participants are: platform ids, their
hashes, tokens and codes, and what could tell one browser from another.
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

TELLING = ("window", "frame_rate", "shown_at", "answered_at", "trace")
"""Details of an answer that could tell one browser, or one hand, from another."""


def decide(connection: Connection, study_id: int, participant: str, decision: str) -> bool | Exception:
    """Exclude, return or reject a participant, or restore one; whether there was something to decide."""
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
    """Let the ids of the platform be enough to go on with a session that runs; whether there was one.

    This is for participants who lost the browser in which they began.
    """
    running = (*_of(study_id, participant), session.c.state == "running", session.c.preview.is_(False))
    ids = list(connection.execute(select(session.c.id).where(*running)).scalars())
    connection.execute(update(session).where(session.c.id.in_(ids)).values(token_hash=None))
    for number in ids:
        connection.execute(insert(event).values(session_id=number, kind="released", time=time(), details={}))
    return bool(ids)


def _of(study_id: int, participant: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return session.c.study_id == study_id, session.c.participant == participant


def _known_by(study_id: int, participant: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """All sessions of a participant; those that were begun again have another name and the same code."""
    code = select(session.c.withdrawal_code).where(*_of(study_id, participant))
    named = (session.c.participant == participant) | session.c.withdrawal_code.in_(code)
    return session.c.study_id == study_id, named


def stored_rows(connection: Connection, study_id: int, participant: str) -> dict[str, list[dict[str, Any]]]:
    """Every row that the store has of a participant, by table, with all columns; for requests of access."""
    ids = list(connection.execute(select(session.c.id).where(*_known_by(study_id, participant))).scalars())
    found = {"session": _rows(connection, session, session.c.id.in_(ids))}
    for table in (identity, quota_seat, trial, answer, event, invitation):
        found[table.name] = _rows(connection, table, table.c.session_id.in_(ids))
    hashes = [one["person_hash"] for one in found["session"] if one["person_hash"]]
    found["naivety"] = _rows(connection, naivety, naivety.c.person_hash.in_(hashes))
    return found


def _rows(connection: Connection, table: Table, here: ColumnElement[bool]) -> list[dict[str, Any]]:
    query = select(table).where(here).order_by(*table.primary_key)
    return [dict(row) for row in connection.execute(query).mappings()]


def submissions(connection: Connection, study_id: int) -> list[tuple[str, str, str, str]]:
    """Name, state, person and submission on the platform of everybody who has an id there; previews and pilots not."""
    query = (
        select(session.c.participant, session.c.state, identity.c.platform_id, identity.c.platform_session)
        .join(identity)
        .where(session.c.study_id == study_id, session.c.preview.is_(False), session.c.pilot.is_(False))
        .order_by(session.c.id)
    )
    return [(row[0], row[1], row[2], row[3]) for row in connection.execute(query)]


@erasing
def withdraw(connection: Connection, study_id: int, code: str) -> bool:
    """Take the answers of a participant away who no longer wants to take part; whether the code was known."""
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
    """Erase a participant, with the note that they took part; whether there was anybody to erase."""
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
    """Forget who the participants of a study are; how many sessions there are. It cannot be taken back.

    Comments go too where that is asked for.
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
    kept = [
        {"of": row.id, "device": {name: value for name, value in row.device.items() if name == "class"}} for row in rows
    ]
    if kept:
        connection.execute(update(session).where(session.c.id == bindparam("of")), kept)
    theirs = select(session.c.id).where(here)
    connection.execute(update(invitation).where(invitation.c.session_id.in_(theirs)).values(session_id=None))
    connection.execute(update(event).where(event.c.session_id.in_(theirs)).values(details={}))
    connection.execute(delete(identity).where(identity.c.session_id.in_(theirs)))
    for row in rows:
        _forget_details(connection, row.id)
    return len(rows)


def _forget_details(connection: Connection, session_id: int) -> None:
    """Remove what distinguishes browsers from the answers of a session."""
    place = (answer.c.position, answer.c.question, answer.c.attempt)
    rows = connection.execute(select(*place, answer.c.details).where(answer.c.session_id == session_id)).all()
    changed = [
        {
            "p": row.position, "q": row.question, "a": row.attempt,
            "details": {name: value for name, value in row.details.items() if name not in TELLING},
        }
        for row in rows
    ]  # fmt: skip
    if changed:
        here = [column == bindparam(name) for column, name in zip(place, ("p", "q", "a"), strict=True)]
        connection.execute(update(answer).where(answer.c.session_id == session_id, *here), changed)


def _delete_of(connection: Connection, ids: Sequence[int]) -> None:
    """Everything that belongs to sessions."""
    for table in (answer, trial, event, identity, quota_seat):
        connection.execute(delete(table).where(table.c.session_id.in_(ids)))
