"""Save the answers of many participants in one transaction.

Each answer has a key; a repeated key is acknowledged again but not stored again. Another answer to an answered page is
refused or, if the study allows going back, stored as a further attempt, up to a limit. Refused answers, and events
beyond the limits of a session, are counted but not stored, so nobody can fill the disk. The reply brings the pages that
the browser does not have yet.

This is the most frequent work of a server. The sessions, pages and earlier answers of all requests are therefore read
with one query each, and everything is written with one statement per table. The text of these queries is the same for
any number of values: SQLAlchemy's `in_` would write one placeholder per value, so each number of values would need
another text. Here, all values are one parameter: an array for PostgreSQL, a JSON document for SQLite.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from time import time
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, Boolean, Column, Connection, Integer, Row, Select, Text, bindparam, insert, select, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from karat.field.store.arrivals import Lease
from karat.field.store.engine import NoSessionError, SessionEndedError, batched
from karat.field.store.schema import answer, event, session, trial
from karat.field.store.trials import SHOWN, StoredTrial

if TYPE_CHECKING:
    from karat.field.content.answers import AnswerVerdict

CLOCK_SLACK = 60.0
"""Seconds by which the clock of a browser may be wrong before the time of arrival is used instead."""
MOST_HELD = 40
"""The most pages that a browser may claim to have."""
MOST_EVENTS = 2_000
"""The most events that are stored for one session."""
MOST_EVENT_BYTES = 1_000_000
"""The most bytes that their details may take."""
MOST_ATTEMPTS = 20
"""The most answers to one page if the study allows going back."""
ROW_BYTES = 150
"""The approximate size of a row without its details."""


@dataclass(frozen=True, slots=True)
class SubmittedAnswer:
    """An answer to a page; only the check uses `given`."""

    trial: str
    key: str
    given: Any
    time: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SubmittedEvent:
    """An event in the browser."""

    kind: str
    time: float | None = None
    trial: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerSubmission(Lease):
    """What a browser sends, with the rules of the study."""

    token_hash: str
    answers: Sequence[SubmittedAnswer]
    check: Callable[[StoredTrial, Any], AnswerVerdict]
    next_step: str
    lease_seconds: float
    events: Sequence[SubmittedEvent] = ()
    refused: int = 0
    """How many events were refused already."""
    have: Collection[str] = ()
    """The pages that the browser already has."""
    send_ahead: int = 5
    going_back: bool = False
    versions: Mapping[str, tuple[Callable[[StoredTrial, Any], AnswerVerdict], str]] = field(default_factory=dict)
    """The check and the next step of earlier versions of the study, for sessions that began with them."""
    first_lease_seconds: float | None = None
    """How long the place is kept before the first answer, if that differs."""
    now: float = field(default_factory=time)


@dataclass(frozen=True, slots=True)
class Saved:
    """The reply to the browser: stored keys, refused keys with reasons, and what comes next."""

    saved: list[str]
    refused: list[tuple[str, str]]
    trials: list[StoredTrial]
    left: int
    step: str
    version: str | None = None
    """The version of the study that the session began with."""


@batched
def save(connection: Connection, payloads: list[AnswerSubmission]) -> Sequence[Saved | Exception]:
    """Save the answers and events of several participants."""
    batch = _Batch(connection, payloads)
    results = [batch.take(payload) for payload in payloads]
    batch.write()
    ahead = batch.ahead()
    return [
        result if isinstance(result, Exception) else batch.reply(payload, result, ahead)
        for payload, result in zip(payloads, results, strict=True)
    ]


@dataclass(slots=True)
class _Progress:
    """The state of a session during the transaction."""

    row: Row[Any]
    answered: int
    next: int
    step: str
    beyond: set[int]
    """Answered pages after the first one that is not."""
    events: int
    refused: int
    stored: int
    event_bytes: int
    submission: AnswerSubmission | None = None


class InArray(FunctionElement[bool]):
    """A column and the parameter that lists its values."""

    name = "among"
    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Any:
        """Return the element itself; SQLAlchemy would compare it with 1 for SQLite, which then could use no index."""
        return self


def in_array(column: Column[Any], name: str) -> InArray:
    """Whether a column has one of the values of a parameter."""
    member: Any = Integer() if isinstance(column.type, Integer) else Text()
    return InArray(column, bindparam(name, type_=JSON().with_variant(ARRAY(member), "postgresql")))


@compiles(InArray, "sqlite")
def _in_json(element: InArray, compiler: SQLCompiler, **settings: Any) -> str:
    column, values = (compiler.process(part, **settings) for part in element.clauses)
    return f"({column} IN (SELECT value FROM json_each({values})))"  # noqa: S608 (a column and a placeholder)


@compiles(InArray, "postgresql")
def _in_postgres(element: InArray, compiler: SQLCompiler, **settings: Any) -> str:
    column, values = (compiler.process(part, **settings) for part in element.clauses)
    return f"({column} = ANY ({values}))"


_SESSIONS = (
    select(session.c.id, session.c.token_hash, session.c.state, session.c.step, session.c.started, session.c.trials,
           session.c.answered, session.c.next, session.c.events, session.c.refused, session.c.stored,
           session.c.event_bytes, session.c.version)
    .where(in_array(session.c.token_hash, "values"))
    # In the order of their numbers, so that two processes never wait for each other.
    .order_by(session.c.id).with_for_update()
)  # fmt: skip
_PAGES = select(*SHOWN).where(in_array(trial.c.public_id, "values"))
_ANSWERED = (
    select(answer.c.session_id, answer.c.position, answer.c.key, answer.c.attempt)
    # By way of the pages: pairs of session and position would make SQLite read the whole table.
    .join_from(trial, answer, (answer.c.session_id == trial.c.session_id) & (answer.c.position == trial.c.position))
    .where(in_array(trial.c.public_id, "values"))
)
_BEYOND = (
    select(answer.c.session_id, answer.c.position)
    .join(session, session.c.id == answer.c.session_id)
    .where(answer.c.position > session.c.next, in_array(session.c.id, "values"))
)
_AHEAD = (
    select(*SHOWN)
    .join(session, session.c.id == trial.c.session_id)
    .where(trial.c.position >= session.c.next, trial.c.position < session.c.next + bindparam("window"))
    .where(~in_array(trial.c.public_id, "held"), in_array(session.c.id, "values"))
)
_SEEN = update(session).where(session.c.id == bindparam("of"))


class _Batch:
    """The requests of one transaction: what is read for all of them, and what is to be written."""

    def __init__(self, connection: Connection, payloads: list[AnswerSubmission]) -> None:
        self.connection = connection
        rows = self._read(_SESSIONS, {entry.token_hash for entry in payloads})
        self.sessions = {
            row.token_hash: _Progress(
                row, row.answered, row.next, row.step, set(), row.events, row.refused, row.stored, row.event_bytes
            )
            for row in rows
        }
        # The pages of answers and events; the keys exclude pages of other sessions.
        named = (entry.trial for payload in payloads for part in (payload.answers, payload.events) for entry in part)
        pages = self._read(_PAGES, {name for name in named if name and _storable(name)})
        self.pages = {(row.session_id, row.public_id): StoredTrial(*row) for row in pages}
        self._read_answers()
        self.answers: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def _read(self, query: Select[Any], values: Collection[Any], **settings: Any) -> Sequence[Any]:
        return self.connection.execute(query, {"values": list(values), **settings}).all() if values else ()

    def _read_answers(self) -> None:
        """Read the keys and the numbers of attempts of answered pages."""
        self.keys: dict[tuple[int, int], set[str]] = defaultdict(set)
        self.attempts: dict[tuple[int, int], int] = defaultdict(int)
        for row in self._read(_ANSWERED, {page.public_id for page in self.pages.values()}):
            place = (row.session_id, row.position)
            self.keys[place].add(row.key)
            self.attempts[place] = max(self.attempts[place], row.attempt)
        # Pages answered out of order are rare, so they are queried only if there are any.
        late = {entry.row.id: entry for entry in self.sessions.values() if entry.answered >= entry.next}
        for row in self._read(_BEYOND, late):
            late[row.session_id].beyond.add(row.position)

    def take(self, payload: AnswerSubmission) -> Saved | Exception:
        """Save or refuse each answer of a participant."""
        progress = self.sessions.get(payload.token_hash)
        if progress is None:
            return NoSessionError()
        if progress.row.state != "running":
            return SessionEndedError(progress.row.state)
        progress.submission = payload
        result = Saved([], [], [], 0, "")
        for entry in payload.answers:
            refusal = self._take_answer(progress, payload, entry)
            if refusal is None:
                result.saved.append(entry.key)
            else:
                result.refused.append((entry.key, refusal))
                progress.refused += 1
        progress.refused += payload.refused
        for happened in payload.events:
            page = self.pages.get((progress.row.id, happened.trial or ""))
            when = _moment(happened.time, progress.row.started, payload.now)
            self._add_event(progress, when, happened.kind, None if page is None else page.position, happened.details)
        return result

    def _take_answer(self, progress: _Progress, payload: AnswerSubmission, entry: SubmittedAnswer) -> str | None:
        """Save an answer; returns the reason if it is refused."""
        page = self.pages.get((progress.row.id, entry.trial))
        if page is None:
            return "unknown trial"
        place = (page.session_id, page.position)
        if entry.key in self.keys[place]:
            return None
        attempt = self.attempts[place] + 1
        if attempt > 1 and not payload.going_back:
            return "already answered"
        if attempt > MOST_ATTEMPTS:
            return "answered too often"
        check, next_step = payload.versions.get(progress.row.version, (payload.check, payload.next_step))
        checked = check(page, entry.given)
        if checked.refusal is not None:
            return checked.refusal
        for row in checked.rows:
            progress.stored += ROW_BYTES + _size(entry.details)
            self.answers.append({
                "session_id": page.session_id, "position": page.position, "question": row.question, "attempt": attempt,
                "key": entry.key, "response": row.response, "rt": row.rt, "first_response": row.first_response,
                "first_rt": row.first_rt, "changes": row.changes, "details": dict(entry.details),
                "time": _moment(entry.time, progress.row.started, payload.now), "received": payload.now,
            })  # fmt: skip
        self.keys[place].add(entry.key)
        self.attempts[place] = attempt
        if attempt == 1:
            _advance(progress, page.position)
        if progress.answered == progress.row.trials and progress.step == "trials":
            progress.step = next_step
        return None

    def _add_event(
        self, progress: _Progress, when: float, kind: str, position: int | None, details: Mapping[str, Any]
    ) -> None:
        """Store an event, or only count it if the session has stored enough of them."""
        progress.events += 1
        size = ROW_BYTES + _size(details)
        if progress.events > MOST_EVENTS or progress.event_bytes + size > MOST_EVENT_BYTES:
            return
        progress.event_bytes += size
        progress.stored += size
        row = {"session_id": progress.row.id, "position": position, "kind": kind, "time": when}
        self.events.append({**row, "details": dict(details)})

    def write(self) -> None:
        """Write the answers and events, and extend the leases."""
        if self.answers:
            self.connection.execute(insert(answer), self.answers)
        if self.events:
            self.connection.execute(insert(event), self.events)
        seen = [
            {
                "of": entry.row.id, "answered": entry.answered, "next": entry.next, "step": entry.step,
                "events": entry.events, "refused": entry.refused, "stored": entry.stored,
                "event_bytes": entry.event_bytes, "last_seen": entry.submission.now,
                "lease_until": entry.submission.lease_end(entry.answered),
            }
            for entry in self.sessions.values() if entry.submission is not None
        ]  # fmt: skip
        if seen:
            self.connection.execute(_SEEN, seen)

    def ahead(self) -> dict[int, list[StoredTrial]]:
        """The next unanswered pages of each session that its browser does not have."""
        wanted: dict[int, set[int]] = {}
        held: set[str] = set()
        window = 0
        for progress in self.sessions.values():
            if progress.submission is not None:
                unanswered = (
                    place for place in range(progress.next, progress.row.trials + 1) if place not in progress.beyond
                )
                wanted[progress.row.id] = set(islice(unanswered, progress.submission.send_ahead))
                held.update(name for name in islice(progress.submission.have, MOST_HELD) if _storable(name))
                window = max(window, progress.submission.send_ahead + len(progress.beyond))
        pages: dict[int, list[StoredTrial]] = defaultdict(list)
        for row in self._read(_AHEAD, wanted, held=list(held), window=window):
            if row.position in wanted[row.session_id]:
                pages[row.session_id].append(StoredTrial(*row))
        return pages

    def reply(self, payload: AnswerSubmission, result: Saved, ahead: Mapping[int, list[StoredTrial]]) -> Saved:
        """The reply to a participant's browser."""
        progress = self.sessions[payload.token_hash]
        pages = sorted(ahead.get(progress.row.id, ()), key=lambda page: page.position)
        left = progress.row.trials - progress.answered
        return Saved(result.saved, result.refused, pages, left, progress.step, progress.row.version)


def _size(details: Mapping[str, Any]) -> int:
    """The approximate size of details in bytes."""
    return sum(len(name) + (len(value.encode()) if isinstance(value, str) else 8) for name, value in details.items())


def _storable(name: str) -> bool:
    """Whether a name can be stored; PostgreSQL cannot store NUL."""
    return "\0" not in name


def _advance(progress: _Progress, position: int) -> None:
    """Count an answered page, and move on to the first unanswered one."""
    progress.answered += 1
    progress.beyond.add(position)
    while progress.next in progress.beyond:
        progress.beyond.discard(progress.next)
        progress.next += 1


def _moment(claimed: float | None, started: float, now: float) -> float:
    """The time according to the browser's clock if it is plausible, else the time of arrival."""
    return claimed if claimed is not None and started - CLOCK_SLACK <= claimed <= now + CLOCK_SLACK else now
