"""The participants of a study as the dashboard lists them, page by page; no answers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from time import time
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from karat.field.admin.status import STATE_WORDS, STEP_WORDS
from karat.field.store.progress import Session, find
from karat.field.store.schema import DECISIONS, session

PAGE = 50
SHOWN = ("all", "running", "complete", "flagged", "other")


@dataclass(frozen=True)
class Person:
    """One session of a participant."""

    participant: str
    list: int
    number: int
    state: str
    step: str
    answered: int
    trials: int
    platform: str
    started: float
    finished: float | None
    last_seen: float
    here: bool
    pilot: bool

    @property
    def words(self) -> str:
        """Where the participant is, in words."""
        if self.state != "running":
            return STATE_WORDS.get(self.state, self.state)
        where = STEP_WORDS.get(self.step, self.step).lower()
        return f"at work: {where}" if self.here else f"left at: {where}"

    @property
    def decisions(self) -> tuple[str, ...]:
        """What can be decided about the session."""
        if self.state in DECISIONS:
            return ("restored",)
        return DECISIONS if self.state in ("running", "complete") else ()


@dataclass(frozen=True)
class PeoplePage:
    """One page of the list."""

    people: tuple[Person, ...]
    show: str
    page: int
    pages: int
    total: int


def people(connection: Connection, study_id: int, show: str, page: int, flagged: Collection[str]) -> PeoplePage:
    """One page of the participants, those seen last first; previews are left out."""
    now = time()
    wanted = _condition(show, study_id, now, flagged)
    total = connection.execute(select(func.count()).select_from(session).where(wanted)).scalar_one()
    pages = max(-(-total // PAGE), 1)
    page = min(max(page, 1), pages)
    rows = connection.execute(
        select(session).where(wanted).order_by(session.c.last_seen.desc(), session.c.id.desc())
        .limit(PAGE).offset((page - 1) * PAGE)
    )  # fmt: skip
    return PeoplePage(tuple(_person(row, now) for row in rows), show if show in SHOWN else "all", page, pages, total)


def person(connection: Connection, study_id: int, participant: str) -> list[Person]:
    """The sessions of one participant, the first first."""
    now = time()
    return [_person(one, now) for one in find(connection, study_id, participant)]


def _condition(show: str, study_id: int, now: float, flagged: Collection[str]) -> ColumnElement[bool]:
    here: ColumnElement[bool] = (session.c.study_id == study_id) & ~session.c.preview
    if show == "running":
        return here & (session.c.state == "running") & (session.c.lease_until > now)
    if show == "complete":
        return here & (session.c.state == "complete")
    if show == "flagged":
        return here & session.c.participant.in_(list(flagged))
    if show == "other":
        return (
            here & (session.c.state != "complete") & ~((session.c.state == "running") & (session.c.lease_until > now))
        )
    return here


def _person(one: Row[Any] | Session, now: float) -> Person:
    return Person(
        one.participant, one.list, one.number, one.state, one.step, one.answered, one.trials, one.platform,
        one.started, one.finished, one.last_seen, one.lease_until > now, one.pilot,
    )  # fmt: skip
