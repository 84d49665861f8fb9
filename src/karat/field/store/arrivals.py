"""The admission of participants, and the assignment of lists.

A new participant gets one of the least filled lists. A list counts the sessions that have a seat: complete ones, and
running ones until their lease expires. Sessions that were screened out, returned, rejected or excluded have no seat, so
later arrivals fill the gap. A lock orders all arrivals of a study, so simultaneous arrivals count too; among equally
filled lists, one is chosen at random.

A returning participant resumes the session if the browser has its token or the one-time link is the same. The
platform's ids appear in addresses that others may see, so the ids of person and submission together resume a session
only if there is nothing to take over (no answer yet, or a researcher has released the session), or in the frame of a
platform, where there are no cookies. The id of a person alone only shows that this person has been here before. A
submission belongs to one person: anybody else who arrives with it is refused, and the session of the first is flagged.

Previous participants are recognised by a keyed hash of their platform id, which is the same in all studies of a server
and nowhere else. Participants who have seen the trials of a study are recorded with the time. A study may refuse
participants of other studies for good or for a waiting period (the effect of many similar sentences lasts for weeks),
and may admit only participants who completed an earlier study. These records stay when a study is made anonymous,
because they belong to no answers.

Names and codes are random and short, without characters that look alike (0 and o, 1, i and l).
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import time
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, func, insert, or_, select, update

from karat.field.store.engine import StoreError, batched
from karat.field.store.schema import event, identity, invitation, naivety, session
from karat.field.store.studies import holds_seat, lock_studies, stored_bytes

SHARED = "shared-submission"
"""The event of a session whose submission on the platform another participant used too."""
Proof = Literal["own", "ids", "none"]
Outcome = Literal["new", "resumed", "ended", "taken", "early", "full", "paused", "closed", "refused"]


@dataclass(frozen=True, slots=True)
class Identity:
    """The platform's ids of a person, the submission and the study."""

    platform_id: str
    platform_session: str = ""
    platform_study: str = ""


class Lease:
    """A request after which a session keeps its place for some time."""

    __slots__ = ()
    now: float
    lease_seconds: float
    first_lease_seconds: float | None

    def lease_end(self, answered: int) -> float:
        """When the lease of a session with this many answers ends."""
        first = self.first_lease_seconds
        return self.now + (self.lease_seconds if answered or first is None else first)


@dataclass(frozen=True, slots=True)
class Arrival(Lease):
    """A newcomer, and the rules of the study about who may take part."""

    study_id: int
    token_hash: str
    """The hash of a new token, for the session that begins or resumes."""
    lists: int
    first_step: str
    lease_seconds: float
    first_lease_seconds: float | None = None
    """How long the place is kept before the first answer, if that differs."""
    budget: int | None = None
    """How many bytes the sessions of the study may store before it admits nobody else."""
    platform: str = "link"
    person_hash: str | None = None
    resume_hash: str | None = None
    known_token: str | None = None
    """The hash of the token in the browser."""
    identity: Identity | None = None
    preview: bool = False
    pilot: bool = False
    list: int | None = None
    """The list that a preview shows."""
    wanted: int | None = None
    """How many participants are wanted; None if the platform counts its places itself."""
    list_quota: int | None = None
    invitation_hash: str | None = None
    invited_only: bool = False
    policy: Literal["continue", "restart", "block"] = "continue"
    not_from: Sequence[str] = ()
    only_from: Sequence[str] = ()
    waiting_seconds: float | None = None
    version: str | None = None
    """The version of the study that a new session begins with."""
    ids_prove: bool = True
    """Whether the ids of person and submission are enough to resume a session with answers."""
    sessions: int = 1
    seconds_between: float = 0.0
    device: Mapping[str, Any] = field(default_factory=dict)
    now: float = field(default_factory=time)


@dataclass(frozen=True, slots=True)
class Arrived:
    """The outcome of an arrival: a session, or the reason why there is none."""

    outcome: Outcome
    session_id: int | None = None
    participant: str | None = None
    token_hash: str | None = None
    list: int | None = None
    number: int | None = None
    state: str | None = None
    not_before: float | None = None
    """From when on the second session can begin."""


@batched
def arrive(connection: Connection, payloads: list[Arrival]) -> Sequence[Arrived | Exception]:
    """Admit or refuse arrivals, one after the other."""
    states = lock_studies(connection, {payload.study_id for payload in payloads})
    admission = _Admission(connection, states)
    return [admission.answer(payload) for payload in payloads]


class _Admission:
    """The arrivals of one transaction; the lists are counted once and then updated."""

    def __init__(self, connection: Connection, states: Mapping[int, str]) -> None:
        self.connection = connection
        self.states = states
        self.filled: dict[tuple[int, bool], dict[int, int]] = {}

    def answer(self, arrival: Arrival) -> Arrived | Exception:
        if arrival.study_id not in self.states:
            return StoreError(f"There is no study number {arrival.study_id}.")
        again = self._sessions(session.c.token_hash == arrival.token_hash)
        if again:
            # The same request again, because the reply after the commit was lost.
            return _arrived("new", again[-1], arrival)
        if arrival.preview:
            number = arrival.list or secrets.randbelow(arrival.lists) + 1
            return self._admit(arrival, number)
        earlier = self._earlier(arrival)
        return self._again(arrival, *earlier) if earlier else self._first_time(arrival)

    def _earlier(self, arrival: Arrival) -> tuple[Row[Any], Proof] | None:
        """The latest session of the same person, and the proof that it is theirs."""
        proofs = []
        if arrival.known_token:
            proofs.append(session.c.token_hash == arrival.known_token)
        if arrival.resume_hash:
            proofs.append(session.c.resume_hash == arrival.resume_hash)
        if arrival.invitation_hash:
            proofs.append(session.c.id.in_(select(invitation.c.session_id).where(*_invitation_of(arrival))))
        person = arrival.person_hash
        alike = [session.c.person_hash == person] if person else []
        if not proofs and not alike:
            return None
        rows = self._sessions(
            session.c.study_id == arrival.study_id, session.c.preview.is_(False), session.c.pilot.is_(arrival.pilot),
            session.c.state != "restarted", or_(*proofs, *alike),
        )  # fmt: skip
        # A shared browser may have the token of another participant.
        rows = [row for row in rows if not person or row.person_hash in (None, person)]
        if not rows:
            return None
        latest = rows[-1]
        by_token = arrival.known_token is not None and latest.token_hash == arrival.known_token
        if by_token or (arrival.invitation_hash is not None and self._invited_as(arrival) == latest.participant):
            return latest, "own"
        by_ids = arrival.resume_hash is not None and latest.resume_hash == arrival.resume_hash
        nothing_to_take = latest.token_hash is None or (latest.state == "running" and not latest.answered)
        if by_ids and (arrival.ids_prove or nothing_to_take):
            return latest, "own"
        return latest, "ids" if by_ids else "none"

    def _of_another(self, arrival: Arrival) -> Row[Any] | None:
        """The session of another person that has the same submission on the platform."""
        if arrival.resume_hash is None or arrival.person_hash is None:
            return None
        rows = self._sessions(
            session.c.study_id == arrival.study_id, session.c.resume_hash == arrival.resume_hash,
            session.c.person_hash != arrival.person_hash, session.c.pilot.is_(arrival.pilot),
        )  # fmt: skip
        return rows[0] if rows else None

    def _invited_as(self, arrival: Arrival) -> str | None:
        joined = select(session.c.participant).join(invitation, invitation.c.session_id == session.c.id)
        name: str | None = self.connection.execute(joined.where(*_invitation_of(arrival))).scalar()
        return name

    def _again(self, arrival: Arrival, earlier: Row[Any], proof: Proof) -> Arrived | Exception:
        """Admit or refuse a returning participant."""
        if earlier.state == "complete" and earlier.number < arrival.sessions:
            # The second session of a person has another platform session, so only the person's id can match.
            begins = earlier.finished + arrival.seconds_between
            if arrival.now < begins:
                return _arrived("early", earlier, arrival, not_before=begins)
            return self._shut(arrival) or self._admit(arrival, earlier.list, earlier.number + 1, same_as=earlier)
        if proof == "ids" and earlier.state != "running":
            # Show the last page, so that nobody loses a code by closing a window; the session itself stays closed.
            return replace(_arrived("ended", earlier, arrival), token_hash=None)
        if proof != "own":
            return Arrived("taken", state=earlier.state)
        if earlier.state != "running":
            self._hand_over(arrival, earlier)
            return _arrived("ended", earlier, arrival)
        if arrival.policy == "block":
            return Arrived("taken", state=earlier.state)
        if arrival.policy == "restart":
            return self._begin_again(arrival, earlier)
        self._hand_over(arrival, earlier)
        return _arrived("resumed", earlier, arrival)

    def _first_time(self, arrival: Arrival) -> Arrived | Exception:
        shut = self._shut(arrival)
        if shut is not None:
            return shut
        shared = self._of_another(arrival)
        if shared is not None:
            self._flag(shared, arrival.now)
            return Arrived("taken", state="running")
        if (arrival.invited_only or arrival.invitation_hash) and not self._is_invited(arrival):
            return Arrived("refused")
        if refused(
            self.connection, arrival.person_hash, not_from=arrival.not_from, only_from=arrival.only_from,
            waiting_seconds=arrival.waiting_seconds, now=arrival.now,
        ):  # fmt: skip
            return Arrived("refused")
        if arrival.budget is not None and stored_bytes(self.connection, arrival.study_id) >= arrival.budget:
            return Arrived("full")
        number = self._least_filled(arrival)
        return Arrived("full") if number is None else self._admit(arrival, number)

    def _shut(self, arrival: Arrival) -> Arrived | None:
        """The refusal if the study admits nobody new; a draft admits pilots."""
        state = self.states[arrival.study_id]
        if state == "running" or (state == "draft" and arrival.pilot):
            return None
        return Arrived("paused" if state == "paused" else "closed")

    def _is_invited(self, arrival: Arrival) -> bool:
        row = self.connection.execute(select(invitation.c.used).where(*_invitation_of(arrival))).first()
        return row is not None and row.used is None

    def _least_filled(self, arrival: Arrival) -> int | None:
        """A list with the fewest seats taken; None if all are full."""
        filled = self._filled(arrival)
        if arrival.wanted is not None and not arrival.pilot and sum(filled.values()) >= arrival.wanted:
            return None
        room = {number: filled.get(number, 0) for number in range(1, arrival.lists + 1)}
        if arrival.list_quota is not None and not arrival.pilot:
            room = {number: count for number, count in room.items() if count < arrival.list_quota}
        if not room:
            return None
        least = min(room.values())
        return secrets.choice([number for number, count in room.items() if count == least])

    def _filled(self, arrival: Arrival) -> dict[int, int]:
        """How many seats of each list are taken; pilots are counted among themselves."""
        key = (arrival.study_id, arrival.pilot)
        if key not in self.filled:
            query = (
                select(session.c.list, func.count())
                .where(session.c.study_id == arrival.study_id, holds_seat(arrival.now, pilot=arrival.pilot))
                .group_by(session.c.list)
            )
            self.filled[key] = {row[0]: row[1] for row in self.connection.execute(query)}
        return self.filled[key]

    def _admit(self, arrival: Arrival, list: int, number: int = 1, same_as: Row[Any] | None = None) -> Arrived:
        """Make a session under a new name or, with `same_as`, under that of an earlier session of the person."""
        name = self._free_name(arrival) if same_as is None else same_as.participant
        values = {
            "study_id": arrival.study_id, "participant": name, "token_hash": arrival.token_hash, "list": list,
            "number": number, "state": "running", "step": arrival.first_step, "preview": arrival.preview,
            "pilot": arrival.pilot, "platform": arrival.platform, "person_hash": arrival.person_hash,
            "resume_hash": arrival.resume_hash, "completion_code": f"K{_letters(9).upper()}",
            "withdrawal_code": "-".join(_letters(4) for _ in range(3)) if same_as is None else same_as.withdrawal_code,
            "planned": False, "trials": 0, "answered": 0, "next": 1, "quiz_attempts": 0, "device": dict(arrival.device),
            "lease_until": arrival.lease_end(0), "started": arrival.now, "last_seen": arrival.now,
            "background": {}, "version": arrival.version if number == 1 or same_as is None else same_as.version,
        }  # fmt: skip
        session_id = self.connection.execute(insert(session).values(**values).returning(session.c.id)).scalar_one()
        if arrival.identity is not None and not arrival.preview:
            self.connection.execute(insert(identity).values(session_id=session_id, **asdict(arrival.identity)))
        if arrival.invitation_hash is not None and not arrival.preview:
            self.connection.execute(
                update(invitation).where(*_invitation_of(arrival)).values(session_id=session_id, used=arrival.now)
            )
        counted = self.filled.get((arrival.study_id, arrival.pilot))
        if counted is not None and not arrival.preview and number == 1:
            counted[list] = counted.get(list, 0) + 1
        return Arrived("new", session_id, name, arrival.token_hash, list, number, "running")

    def _begin_again(self, arrival: Arrival, earlier: Row[Any]) -> Arrived:
        """Make a session with the list and the name of the earlier one, which gets another name."""
        put_aside = {
            "state": "restarted", "participant": self._free_name(arrival), "finished": arrival.now, "token_hash": None,
        }  # fmt: skip
        self.connection.execute(update(session).where(session.c.id == earlier.id).values(**put_aside))
        self.filled.clear()
        arrived = self._admit(arrival, earlier.list, earlier.number, same_as=earlier)
        values = {"kind": "restarted", "time": arrival.now, "details": {"earlier": put_aside["participant"]}}
        self.connection.execute(insert(event).values(session_id=arrived.session_id, **values))
        return arrived

    def _flag(self, shared: Row[Any], now: float) -> None:
        """Record once that others used the submission of this session."""
        flags = select(event.c.id).where(event.c.session_id == shared.id, event.c.kind == SHARED)
        if self.connection.execute(flags).first() is None:
            values = {"kind": SHARED, "time": now, "details": {}}
            self.connection.execute(insert(event).values(session_id=shared.id, **values))

    def _free_name(self, arrival: Arrival) -> str:
        while True:
            name = f"p-{_letters(6)}"
            if not self._sessions(session.c.study_id == arrival.study_id, session.c.participant == name):
                return name

    def _hand_over(self, arrival: Arrival, earlier: Row[Any]) -> None:
        """Give the session the new token; a running one also gets a new lease, and so its seat."""
        values: dict[str, Any] = {"token_hash": arrival.token_hash, "last_seen": arrival.now}
        if earlier.state == "running":
            values["lease_until"] = arrival.lease_end(earlier.answered)
        self.connection.execute(update(session).where(session.c.id == earlier.id).values(**values))
        self.filled.clear()

    def _sessions(self, *conditions: Any) -> list[Row[Any]]:
        return list(self.connection.execute(select(session).where(*conditions).order_by(session.c.id)))


def _invitation_of(arrival: Arrival) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return invitation.c.study_id == arrival.study_id, invitation.c.code_hash == arrival.invitation_hash


def _arrived(outcome: Outcome, row: Row[Any], arrival: Arrival, not_before: float | None = None) -> Arrived:
    token = None if outcome == "early" else arrival.token_hash
    return Arrived(outcome, row.id, row.participant, token, row.list, row.number, row.state, not_before)


LETTERS = "23456789bcdfghjkmnpqrstvwxz"
"""Without what is easily misread, and without vowels, so that no code spells a word."""


def _letters(length: int) -> str:
    """Random letters, nearly five bits each."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


@dataclass(frozen=True, slots=True)
class PriorParticipation:
    """The participation of a person in a study."""

    study: str
    person_hash: str
    platform: str = ""
    complete: bool = False
    time: float = field(default_factory=time)


def note_participation(connection: Connection, participation: PriorParticipation) -> bool:
    """Record a participation; returns whether it is new. The latest time counts, and complete stays complete."""
    here = (naivety.c.person_hash == participation.person_hash) & (naivety.c.study == participation.study)
    earlier = connection.execute(select(naivety.c.complete, naivety.c.time).where(here).with_for_update()).first()
    if earlier is None:
        connection.execute(insert(naivety).values(**asdict(participation)))
    else:
        values = {"complete": earlier.complete or participation.complete, "time": max(earlier.time, participation.time)}
        connection.execute(update(naivety).where(here).values(**values))
    return earlier is None


def refused(
    connection: Connection,
    person_hash: str | None,
    *,
    not_from: Collection[str] = (),
    only_from: Collection[str] = (),
    waiting_seconds: float | None = None,
    now: float,
) -> bool:
    """Whether a person may not take part because of other studies; a person without an id is then refused."""
    if not not_from and not only_from:
        return False
    if person_hash is None:
        return True
    took_part = {entry.study: entry for entry in participations(connection, person_hash)}
    since = None if waiting_seconds is None else now - waiting_seconds
    recent = any(name in took_part and (since is None or took_part[name].time > since) for name in not_from)
    invited = not only_from or any(name in took_part and took_part[name].complete for name in only_from)
    return recent or not invited


def participations(connection: Connection, person_hash: str) -> list[PriorParticipation]:
    """The studies in which a person took part."""
    rows = connection.execute(select(naivety).where(naivety.c.person_hash == person_hash).order_by(naivety.c.time))
    return [PriorParticipation(row.study, row.person_hash, row.platform, row.complete, row.time) for row in rows]
