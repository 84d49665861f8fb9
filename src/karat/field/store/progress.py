"""Where a session stands: its step, its background answers, its quiz, its lease and its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, insert, select, update

from karat.field.store import arrivals
from karat.field.store.engine import NoSessionError, StoreError, one_by_one
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


@dataclass(frozen=True, slots=True)
class SetStep:
    """A session goes on to a step; with `after`, only if it stands at that one."""

    session_id: int
    step: str
    after: str | None = None
    consent: str | None = None
    """The fingerprint of the text that the participant agrees to by this step."""
    now: float = field(default_factory=time)


@one_by_one
def set_step(connection: Connection, given: SetStep) -> str | Exception:
    """Set the step of a session that runs; the step at which it stands now."""
    row = _locked(connection, given.session_id)
    if row is None:
        return NoSessionError()
    if row.state != "running" or given.after not in (None, row.step):
        return str(row.step)
    agreed = {} if given.consent is None else {"consent": given.consent, "consented": given.now}
    _set(connection, row.id, step=given.step, last_seen=given.now, **agreed)
    return given.step


@dataclass(frozen=True, slots=True)
class SetBackground:
    """Background answers, added to those that are there; `quotas` says how many may give an answer."""

    session_id: int
    answers: Mapping[str, str]
    step: str
    lease_seconds: float
    quotas: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    now: float = field(default_factory=time)


def set_background(
    connection: Connection, payloads: list[SetBackground]
) -> Sequence[Literal["ok", "full"] | Exception]:
    """Save background answers and go on; where the group of a participant is full, the session ends as full.

    Previews and pilots take no seat of a group, and never find one full.
    """
    ids = [payload.session_id for payload in payloads if payload.quotas]
    concerned = connection.execute(select(session.c.study_id).where(session.c.id.in_(ids))).scalars()
    lock_studies(connection, set(concerned))
    return [_with_background(connection, payload) for payload in payloads]


def _with_background(connection: Connection, given: SetBackground) -> Literal["ok", "full"] | Exception:
    row = _locked(connection, given.session_id)
    if row is None:
        return NoSessionError()
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


@dataclass(frozen=True, slots=True)
class SetQuiz:
    """An attempt at the quiz; participants who passed it continue with `step`."""

    session_id: int
    passed: bool
    step: str
    attempt: int | None = None
    """How many attempts the form that was sent knew of; one that was sent twice counts once."""
    now: float = field(default_factory=time)


@one_by_one
def set_quiz(connection: Connection, given: SetQuiz) -> int | Exception:
    """Count an attempt at the quiz; how many the participant has made. After a pass, no attempt counts any more."""
    row = _locked(connection, given.session_id)
    if row is None:
        return NoSessionError()
    attempts: int = row.quiz_attempts
    if row.state != "running" or row.quiz_passed or given.attempt not in (None, attempts):
        return attempts
    step = given.step if given.passed else row.step
    values = {"quiz_attempts": attempts + 1, "quiz_passed": given.passed, "step": step}
    _set(connection, row.id, last_seen=given.now, **values)
    return attempts + 1


@dataclass(frozen=True, slots=True)
class SetComment:
    """What a participant wanted to say at the end."""

    session_id: int
    comment: str
    step: str
    now: float = field(default_factory=time)


@one_by_one
def set_comment(connection: Connection, given: SetComment) -> str | Exception:
    """Save a comment and go on; the step at which the session stands now."""
    row = _locked(connection, given.session_id)
    if row is None:
        return NoSessionError()
    if row.state != "running":
        return str(row.step)
    _set(connection, row.id, comment=given.comment or None, step=given.step, last_seen=given.now)
    return given.step


@dataclass(frozen=True, slots=True)
class Touch:
    """A participant is still there."""

    session_id: int
    lease_seconds: float
    now: float = field(default_factory=time)


@one_by_one
def touch(connection: Connection, given: Touch) -> None:
    """Extend the lease of a session that runs."""
    here = (session.c.id == given.session_id) & (session.c.state == "running")
    values = {"lease_until": given.now + given.lease_seconds, "last_seen": given.now}
    connection.execute(update(session).where(here).values(**values))


@dataclass(frozen=True, slots=True)
class Finish:
    """A session ends, in one of the states of `schema.ENDS`."""

    session_id: int
    state: str
    now: float = field(default_factory=time)


@one_by_one
def finish(connection: Connection, given: Finish) -> Literal["ok", "unfinished", "ended"] | Exception:
    """End a session. Nobody is complete with trials left, and a session that has ended keeps its state.

    >>> finish(None, [Finish(1, "finished")])
    [StoreError('A session cannot end as finished.')]
    """
    if given.state not in ENDS:
        return StoreError(f"A session cannot end as {given.state}.")
    row = _locked(connection, given.session_id)
    if row is None:
        return NoSessionError()
    if row.state != "running":
        return "ended"
    if given.state == "complete" and (not row.planned or row.answered < row.trials):
        return "unfinished"
    step = "done" if given.state == "complete" else row.step
    _set(connection, row.id, state=given.state, step=step, finished=given.now, last_seen=given.now)
    if given.state == "complete" and row.person_hash is not None and not row.preview:
        slug = connection.execute(select(study.c.slug).where(study.c.id == row.study_id)).scalar_one()
        arrivals.note_participation(
            connection, [arrivals.PriorParticipation(slug, row.person_hash, row.platform, True, given.now)]
        )
    return "ok"


def _locked(connection: Connection, session_id: int) -> Row[Any] | None:
    return connection.execute(select(session).where(session.c.id == session_id).with_for_update()).first()


def _set(connection: Connection, session_id: int, **values: Any) -> None:
    connection.execute(update(session).where(session.c.id == session_id).values(**values))
