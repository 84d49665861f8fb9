"""The progress of a session: its step, background answers, quiz, lease and end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, func, insert, select, update

from karat.field.store import arrivals
from karat.field.store.engine import NoSessionError, StoreError, batched
from karat.field.store.schema import ENDS, quota_seat, session, study
from karat.field.store.studies import holds_seat, lock_studies


@dataclass(frozen=True, slots=True)
class Session:
    """A session in the store."""

    id: int
    study_id: int
    participant: str
    token_hash: str | None
    list: int
    number: int
    state: str
    state_before: str | None
    step: str
    preview: bool
    pilot: bool
    platform: str
    person_hash: str | None
    resume_hash: str | None
    withdrawal_code: str | None
    completion_code: str
    planned: bool
    trials: int
    answered: int
    next: int
    quiz_attempts: int
    quiz_passed: bool | None
    lease_until: float
    started: float
    finished: float | None
    last_seen: float
    device: dict[str, Any]
    background: dict[str, str]
    comment: str | None
    events: int
    refused: int
    stored: int
    event_bytes: int
    consented: float | None
    consent: str | None
    version: str | None

    @property
    def left(self) -> int:
        """How many pages of the trials are unanswered."""
        return self.trials - self.answered


def load(connection: Connection, token_hash: str) -> Session | None:
    """The session with this token."""
    return next(iter(_sessions(connection, session.c.token_hash == token_hash)), None)


def by_id(connection: Connection, session_id: int) -> Session | None:
    """The session with this number."""
    return next(iter(_sessions(connection, session.c.id == session_id)), None)


def find(connection: Connection, study_id: int, participant: str) -> list[Session]:
    """The sessions of a participant, in order."""
    return _sessions(connection, (session.c.study_id == study_id) & (session.c.participant == participant))


def _sessions(connection: Connection, condition: ColumnElement[bool]) -> list[Session]:
    rows = connection.execute(select(session).where(condition).order_by(session.c.number)).mappings()
    return [Session(**row) for row in rows]


def set_step(
    connection: Connection, session_id: int, step: str, after: str | None = None, consent: str | None = None
) -> str:
    """Set the step of a running session; returns its current step.

    With `after`, the step is set only from that one; `consent` is the fingerprint of the text that is agreed to.
    """
    row = _locked(connection, session_id)
    if row.state != "running" or after not in (None, row.step):
        return str(row.step)
    now = time()
    agreed = {} if consent is None else {"consent": consent, "consented": now}
    _set(connection, row.id, step=step, last_seen=now, **agreed)
    return step


@dataclass(frozen=True, slots=True)
class SetBackground:
    """Background answers to add; `quotas` limits how many participants may give an answer."""

    session_id: int
    answers: Mapping[str, str]
    step: str
    lease_seconds: float
    quotas: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    now: float = field(default_factory=time)


@batched
def set_background(connection: Connection, payloads: list[SetBackground]) -> Sequence[Literal["ok", "full"]]:
    """Save background answers and set the step; if the quota of an answer is full, the session ends as full.

    Previews and pilots do not count for quotas.
    """
    ids = [payload.session_id for payload in payloads if payload.quotas]
    concerned = connection.execute(select(session.c.study_id).where(session.c.id.in_(ids))).scalars()
    lock_studies(connection, set(concerned))
    return [_with_background(connection, payload) for payload in payloads]


def _with_background(connection: Connection, wanted: SetBackground) -> Literal["ok", "full"]:
    row = _locked(connection, wanted.session_id)
    if row.state != "running":
        return "full" if row.state == "full" else "ok"
    quotas = {} if row.preview or row.pilot else wanted.quotas
    limits = {name: answer for name, answer in wanted.answers.items() if answer in quotas.get(name, {})}
    values: dict[str, Any] = {"background": {**row.background, **wanted.answers}, "last_seen": wanted.now}
    if any(_taken(connection, row, *limit, wanted.now) >= quotas[limit[0]][limit[1]] for limit in limits.items()):
        _set(connection, row.id, state="full", finished=wanted.now, **values)
        return "full"
    if quotas:
        connection.execute(quota_seat.delete().where(quota_seat.c.session_id == row.id))
    if limits:
        seats = [{"session_id": row.id, "question": name, "answer": answer} for name, answer in limits.items()]
        connection.execute(insert(quota_seat), seats)
    _set(connection, row.id, step=wanted.step, lease_until=wanted.now + wanted.lease_seconds, **values)
    return "ok"


def _taken(connection: Connection, row: Row[Any], question: str, answer: str, now: float) -> int:
    """How many other participants with this answer have a seat."""
    query = (
        select(func.count())
        .select_from(quota_seat.join(session))
        .where(
            session.c.study_id == row.study_id,
            session.c.id != row.id,
            quota_seat.c.question == question,
            quota_seat.c.answer == answer,
            holds_seat(now),
        )
    )
    return connection.execute(query).scalar_one()


def set_quiz(connection: Connection, session_id: int, passed: bool, step: str, attempt: int | None = None) -> int:
    """Count an attempt at the quiz; returns the number of attempts. After a pass, no attempt counts any more.

    Participants who passed continue with `step`. `attempt` is the number of attempts in the form, so that a form that
    is sent twice counts once.
    """
    row = _locked(connection, session_id)
    attempts: int = row.quiz_attempts
    if row.state != "running" or row.quiz_passed or attempt not in (None, attempts):
        return attempts
    values = {"quiz_attempts": attempts + 1, "quiz_passed": passed, "step": step if passed else row.step}
    _set(connection, row.id, last_seen=time(), **values)
    return attempts + 1


def set_comment(connection: Connection, session_id: int, comment: str, step: str) -> str:
    """Save the comment of a participant and set the step; returns the current step."""
    row = _locked(connection, session_id)
    if row.state != "running":
        return str(row.step)
    _set(connection, row.id, comment=comment or None, step=step, last_seen=time())
    return step


def touch(connection: Connection, session_id: int, lease_seconds: float, now: float | None = None) -> None:
    """Extend the lease of a running session, because its participant is active."""
    now = time() if now is None else now
    here = (session.c.id == session_id) & (session.c.state == "running")
    connection.execute(update(session).where(here).values(lease_until=now + lease_seconds, last_seen=now))


def finish(
    connection: Connection, session_id: int, state: str, now: float | None = None
) -> Literal["ok", "unfinished", "ended"] | Exception:
    """End a session in one of the states of `schema.ENDS`.

    A session with unanswered trials cannot be complete, and a session that has ended keeps its state.
    """
    if state not in ENDS:
        return StoreError(f"A session cannot end as {state}.")
    now = time() if now is None else now
    row = _locked(connection, session_id)
    if row.state != "running":
        return "ended"
    if state == "complete" and (not row.planned or row.answered < row.trials):
        return "unfinished"
    step = "done" if state == "complete" else row.step
    _set(connection, row.id, state=state, step=step, finished=now, last_seen=now)
    if state == "complete" and row.person_hash is not None and not row.preview:
        slug = connection.execute(select(study.c.slug).where(study.c.id == row.study_id)).scalar_one()
        took_part = arrivals.PriorParticipation(slug, row.person_hash, row.platform, True, now)
        arrivals.note_participation(connection, took_part)
    return "ok"


def _locked(connection: Connection, session_id: int) -> Row[Any]:
    row = connection.execute(select(session).where(session.c.id == session_id).with_for_update()).first()
    if row is None:
        raise NoSessionError
    return row


def _set(connection: Connection, session_id: int, **values: Any) -> None:
    connection.execute(update(session).where(session.c.id == session_id).values(**values))
