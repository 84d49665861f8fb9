"""The studies of a server: registered as drafts, frozen when they start, then paused, resumed and closed.

When a study first runs, its files and its screening rules are frozen: the store keeps their fingerprints, and later
changes of a file do not replace them. Places are assigned under a lock and counted over the sessions that have one.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import time
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, and_, case, func, insert, or_, select, update

from karat.field.store.engine import StoreError
from karat.field.store.schema import STUDY_STATES, invitation, server, session, study, study_version
from karat.study.frozen import frozen_record


@dataclass(frozen=True, slots=True)
class Register:
    """A study as its file describes it."""

    slug: str
    title: str
    fingerprint: str
    settings: Mapping[str, Any]
    screening: Mapping[str, Any] | None = None
    screening_fingerprint: str | None = None
    items: str | None = None
    """The fingerprint of all items, which shows later whether they were changed."""
    item_rows: Mapping[str, str] | None = None
    """The fingerprint of each item, which shows later which ones were changed."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The files of this version, for sessions that begin with it."""
    now: float = field(default_factory=time)


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study in the store."""

    id: int
    slug: str
    title: str
    fingerprint: str
    settings: dict[str, Any]
    screening: dict[str, Any] | None
    screening_fingerprint: str | None
    state: str
    frozen_at: float | None
    created: float
    changed: bool = False
    """Whether the file was changed after the study had started; the store keeps the frozen version."""
    rules_changed: bool = False
    """Whether the screening rules were changed then."""


def register(connection: Connection, entry: Register) -> StudyRow | Exception:
    """Register a study. A draft is replaced by its current file; a study that has started is not."""
    values = {
        "title": entry.title,
        "fingerprint": entry.fingerprint,
        "settings": dict(entry.settings),
        "screening": None if entry.screening is None else dict(entry.screening),
        "screening_fingerprint": entry.screening_fingerprint,
    }
    row = find(connection, entry.slug)
    if row is not None and row.frozen_at is not None:
        _store_version(connection, row.id, entry)
        return replace(
            row,
            changed=row.fingerprint != entry.fingerprint,
            rules_changed=row.screening_fingerprint != entry.screening_fingerprint,
        )
    if row is None:
        connection.execute(insert(study).values(slug=entry.slug, state="draft", created=entry.now, **values))
    else:
        connection.execute(update(study).where(study.c.id == row.id).values(**values))
    rows = None if entry.item_rows is None else json.dumps(dict(entry.item_rows), ensure_ascii=False)
    set_value(connection, f"items:{entry.slug}", entry.items)
    set_value(connection, f"item_rows:{entry.slug}", rows)
    stored = find(connection, entry.slug)
    if stored is None:
        raise StoreError(f"The study {entry.slug} could not be stored.")
    _store_version(connection, stored.id, entry)
    return stored


def _store_version(connection: Connection, study_id: int, entry: Register) -> None:
    if entry.files and version_files(connection, study_id, entry.fingerprint) is None:
        values = {"study_id": study_id, "version": entry.fingerprint, "files": dict(entry.files), "since": entry.now}
        connection.execute(insert(study_version).values(**values))


def versions(connection: Connection, study_id: int) -> dict[str, dict[str, str]]:
    """The files of each version of a study that a session began with, the oldest first."""
    begun = select(session.c.version).where(session.c.study_id == study_id)
    query = select(study_version).where(study_version.c.study_id == study_id, study_version.c.version.in_(begun))
    return {row.version: row.files for row in connection.execute(query.order_by(study_version.c.since))}


def version_files(connection: Connection, study_id: int, version: str) -> dict[str, str] | None:
    """The files of one version of a study."""
    here = (study_version.c.study_id == study_id) & (study_version.c.version == version)
    files: dict[str, str] | None = connection.execute(select(study_version.c.files).where(here)).scalar()
    return files


def set_state(connection: Connection, study_id: int, state: str, now: float | None = None) -> StudyRow | Exception:
    """Start, pause, resume or close a study; the first start freezes it."""
    if state not in STUDY_STATES:
        return StoreError(f"A study cannot be {state}; it is {', '.join(STUDY_STATES[:-1])} or {STUDY_STATES[-1]}.")
    query = select(study).where(study.c.id == study_id).with_for_update()
    row = connection.execute(query).mappings().first()
    if row is None:
        return StoreError(f"There is no study number {study_id}.")
    before = StudyRow(**row)
    if state == "draft" and before.frozen_at is not None:
        return StoreError("A study that has started cannot become a draft again. Pause or close it.")
    if before.state == "closed" and state != "closed":
        note_unblinded(connection, before.slug)  # its answers could be seen while it was closed
    frozen = before.frozen_at
    if state == "running" and frozen is None:
        frozen = time() if now is None else now
    connection.execute(update(study).where(study.c.id == before.id).values(state=state, frozen_at=frozen))
    return replace(before, state=state, frozen_at=frozen)


def find(connection: Connection, slug: str) -> StudyRow | None:
    """A study by its slug."""
    row = connection.execute(select(study).where(study.c.slug == slug)).mappings().first()
    return None if row is None else StudyRow(**row)


def every(connection: Connection) -> list[StudyRow]:
    """All studies of the server, the oldest first."""
    return [StudyRow(**row) for row in connection.execute(select(study).order_by(study.c.id)).mappings()]


def invite(connection: Connection, study_id: int, code_hashes: Sequence[str]) -> int:
    """Add invitations by the hashes of their codes; returns how many are new. Existing codes stay unchanged."""
    wanted = dict.fromkeys(code_hashes)
    if not wanted:
        return 0
    earlier = connection.execute(select(invitation.c.code_hash).where(invitation.c.study_id == study_id))
    for code in earlier.scalars():
        wanted.pop(code, None)
    if wanted:
        connection.execute(insert(invitation), [{"study_id": study_id, "code_hash": code} for code in wanted])
    return len(wanted)


def set_value(connection: Connection, key: str, value: str | None) -> None:
    """Set a value of the server under a key; None deletes it."""
    connection.execute(server.delete().where(server.c.key == key))
    if value is not None:
        connection.execute(insert(server).values(key=key, value=value))


def unblinded_at(connection: Connection, slug: str) -> float | None:
    """When answers to test trials could first be seen before the study was over; None if that never happened."""
    text = value(connection, f"unblinded:{slug}")
    return None if text is None else float(text)


def note_unblinded(connection: Connection, slug: str) -> None:
    """Record that the study is unblinded from now on, unless it was before."""
    if unblinded_at(connection, slug) is None:
        set_value(connection, f"unblinded:{slug}", str(time()))


def items_of(connection: Connection, slug: str) -> str | None:
    """The fingerprint of the items with which a study started; None if an earlier karat started it."""
    return value(connection, f"items:{slug}")


def frozen_of(connection: Connection, study_id: int) -> dict[str, Any] | None:
    """The record of what was frozen when a study started, for its exports; None before it starts."""
    row = connection.execute(select(study).where(study.c.id == study_id)).mappings().first()
    if row is None or row["frozen_at"] is None:
        return None
    rows = value(connection, f"item_rows:{row['slug']}")
    items = None if rows is None else json.loads(rows)
    return frozen_record(row["screening"], items, row["screening_fingerprint"], row["frozen_at"])


def value(connection: Connection, key: str) -> str | None:
    """The value of the server under a key; None if there is none."""
    text: str | None = connection.execute(select(server.c.value).where(server.c.key == key)).scalar()
    return text


def holds_seat(now: float, *, pilot: bool = False) -> ColumnElement[bool]:
    """Whether a session takes a place: a first session that is complete or has a lease; previews take none."""
    return and_(
        session.c.number == 1,
        session.c.preview.is_(False),
        session.c.pilot.is_(pilot),
        or_(session.c.state == "complete", and_(session.c.state == "running", session.c.lease_until > now)),
    )


def seats(connection: Connection, study_id: int, now: float) -> int:
    """How many places of a study are taken."""
    query = select(func.count()).select_from(session).where(session.c.study_id == study_id, holds_seat(now))
    return connection.execute(query).scalar_one()


def free_places(
    connection: Connection, study_id: int, wanted: int, now: float, tokens: Collection[str]
) -> tuple[int, int]:
    """How many places are free, and how many are free or taken by the sessions with these tokens."""
    ours = func.coalesce(func.sum(case((session.c.token_hash.in_(tokens), 1), else_=0)), 0)
    query = select(func.count(), ours).select_from(session).where(session.c.study_id == study_id, holds_seat(now))
    taken, own_seats = connection.execute(query).one()
    return wanted - taken, wanted - taken + own_seats


def closed_to(
    connection: Connection, study_id: int, person_hash: str | None, wanted: int | None, now: float
) -> Literal["", "paused", "closed", "full"]:
    """Why a visitor cannot begin; empty if they can, or if they have begun before."""
    if person_hash is not None:
        here = (session.c.study_id == study_id) & (session.c.person_hash == person_hash)
        if connection.execute(select(session.c.id).where(here)).first() is not None:
            return ""
    state = connection.execute(select(study.c.state).where(study.c.id == study_id)).scalar()
    if state in ("paused", "closed"):
        return state  # type: ignore[no-any-return]
    return "full" if state == "running" and wanted is not None and seats(connection, study_id, now) >= wanted else ""


def stored_bytes(connection: Connection, study_id: int) -> int:
    """About how many bytes the sessions of a study have stored."""
    query = select(func.coalesce(func.sum(session.c.stored), 0)).where(session.c.study_id == study_id)
    return int(connection.execute(query).scalar_one())


def lock_studies(connection: Connection, ids: Collection[int]) -> dict[int, str]:
    """Lock studies until the transaction ends; returns their states. SQLite has one lock for everything anyway."""
    query = select(study.c.id, study.c.state).where(study.c.id.in_(ids)).order_by(study.c.id)
    # The weaker of the two locks, because new sessions refer to the study.
    return {row.id: row.state for row in connection.execute(query.with_for_update(key_share=True))}
