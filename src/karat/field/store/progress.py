"""Where a session stands: its step, its background answers, its quiz, its lease and its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, insert, select, update

from karat.field.store import arrivals
from karat.field.store.engine import NoSessionError, StoreError, batched
from karat.field.store.schema import ENDS, quota_seat, session, study
from karat.field.store.studies import holds_seat, lock_studies


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it is stored."""

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
        """How many pages of the trials are not answered."""
        return self.trials - self.answered


def load(connection: Connection, token_hash: str) -> Session | None:
    """The session of a token."""
    row = connection.execute(select(session).where(session.c.token_hash == token_hash)).mappings().first()
    return None if row is None else Session(**row)


def by_id(connection: Connection, session_id: int) -> Session | None:
    """The session of a number."""
    row = connection.execute(select(session).where(session.c.id == session_id)).mappings().first()
    return None if row is None else Session(**row)


def find(connection: Connection, study_id: int, participant: str) -> list[Session]:
    """The sessions of a participant, in order."""
    here = (session.c.study_id == study_id) & (session.c.participant == participant)
    rows = connection.execute(select(session).where(here).order_by(session.c.number)).mappings()
    return [Session(**row) for row in rows]


def set_step(
    connection: Connection, session_id: int, step: str, after: str | None = None, consent: str | None = None
) -> str:
    """Set the step of a session that runs; the step at which it stands now.

    With `after`, only if it stands at that one; `consent` is the fingerprint of what is agreed to by this step.
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
    """Background answers, added to those that are there; `quotas` says how many may give an answer."""

    session_id: int
    answers: Mapping[str, str]
    step: str
    lease_seconds: float
    quotas: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    now: float = field(default_factory=time)


@batched
def set_background(connection: Connection, payloads: list[SetBackground]) -> Sequence[Literal["ok", "full"]]:
    """Save background answers and go on; where the group of a participant is full, the session ends as full.

    Previews and pilots take no seat of a group, and never find one full.
    """
    ids = [payload.session_id for payload in payloads if payload.quotas]
    concerned = connection.execute(select(session.c.study_id).where(session.c.id.in_(ids))).scalars()
    lock_studies(connection, set(concerned))
    return [_with_background(connection, payload) for payload in payloads]


def _with_background(connection: Connection, given: SetBackground) -> Literal["ok", "full"]:
    row = _locked(connection, given.session_id)
    if row.state != "running":
        return "full" if row.state == "full" else "ok"
    limits = {name: answer for name, answer in given.answers.items() if answer in given.quotas.get(name, {})}
    counts = not row.preview and not row.pilot
    values: dict[str, Any] = {"background": {**row.background, **given.answers}, "last_seen": given.now}
    if counts and any(
        _taken(connection, row, name, answer, given.now) >= given.quotas[name][answer]
        for name, answer in limits.items()
    ):
        _set(connection, row.id, state="full", finished=given.now, **values)
        return "full"
    if counts and given.quotas:
        connection.execute(quota_seat.delete().where(quota_seat.c.session_id == row.id))
    if counts and limits:
        seats = [{"session_id": row.id, "question": name, "answer": answer} for name, answer in limits.items()]
        connection.execute(insert(quota_seat), seats)
    _set(connection, row.id, step=given.step, lease_until=given.now + given.lease_seconds, **values)
    return "ok"


def _taken(connection: Connection, row: Row[Any], question: str, answer: str, now: float) -> int:
    """How many others with this answer hold a seat."""
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
    """Count an attempt at the quiz; how many the participant has made. After a pass, no attempt counts any more.

    Participants who passed continue with `step`. `attempt` is how many attempts the form knew of: sent twice, it counts
    once.
    """
    row = _locked(connection, session_id)
    attempts: int = row.quiz_attempts
    if row.state != "running" or row.quiz_passed or attempt not in (None, attempts):
        return attempts
    values = {"quiz_attempts": attempts + 1, "quiz_passed": passed, "step": step if passed else row.step}
    _set(connection, row.id, last_seen=time(), **values)
    return attempts + 1


def set_comment(connection: Connection, session_id: int, comment: str, step: str) -> str:
    """Save what a participant wanted to say at the end, and go on; the step at which the session stands now."""
    row = _locked(connection, session_id)
    if row.state != "running":
        return str(row.step)
    _set(connection, row.id, comment=comment or None, step=step, last_seen=time())
    return step


def touch(connection: Connection, session_id: int, lease_seconds: float, now: float | None = None) -> None:
    """Extend the lease of a session that runs: its participant is still there."""
    now = time() if now is None else now
    here = (session.c.id == session_id) & (session.c.state == "running")
    connection.execute(update(session).where(here).values(lease_until=now + lease_seconds, last_seen=now))


def finish(
    connection: Connection, session_id: int, state: str, now: float | None = None
) -> Literal["ok", "unfinished", "ended"] | Exception:
    """End a session in one of the states of `schema.ENDS`.

    Nobody is complete with trials left, and a session that has ended keeps its state.
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
