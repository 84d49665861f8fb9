"""The studies of a server: registered as drafts, frozen when they start, then paused, resumed and closed.

When a study first runs, its files and its screening rules are frozen: the store keeps their fingerprints, and a file
that was changed later no longer replaces them.

Seats are given under a lock, and counted over the sessions that hold one.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import time
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, and_, func, insert, or_, select, update

from karat.field.store.engine import StoreError
from karat.field.store.schema import STUDY_STATES, invitation, server, session, study, study_version
from karat.study.frozen import frozen_record


@dataclass(frozen=True, slots=True)
class Register:
    """A study as its file has it."""

    slug: str
    title: str
    fingerprint: str
    settings: Mapping[str, Any]
    screening: Mapping[str, Any] | None = None
    screening_fingerprint: str | None = None
    items: str | None = None
    """The fingerprint of the items, for saying later whether it is they that were changed."""
    item_rows: Mapping[str, str] | None = None
    """That of each item, for saying which."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The files of this version, with which sessions that have begun go on."""
    now: float = field(default_factory=time)


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study as the store has it."""

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
    """Whether the file was changed after the study had started; the store keeps what was frozen."""
    rules_changed: bool = False
    """Whether the screening rules were."""


def register(connection: Connection, given: Register) -> StudyRow | Exception:
    """Make a study known. A draft takes over what its file says now; a study that has started does not."""
    values = {
        "title": given.title,
        "fingerprint": given.fingerprint,
        "settings": dict(given.settings),
        "screening": None if given.screening is None else dict(given.screening),
        "screening_fingerprint": given.screening_fingerprint,
    }
    found = find(connection, given.slug)
    if found is None:
        connection.execute(insert(study).values(slug=given.slug, state="draft", created=given.now, **values))
    elif found.frozen_at is None:
        connection.execute(update(study).where(study.c.id == found.id).values(**values))
    else:
        _keep_version(connection, found.id, given)
        return replace(
            found,
            changed=found.fingerprint != given.fingerprint,
            rules_changed=found.screening_fingerprint != given.screening_fingerprint,
        )
    rows = None if given.item_rows is None else json.dumps(dict(given.item_rows), ensure_ascii=False)
    set_value(connection, f"items:{given.slug}", given.items)
    set_value(connection, f"item_rows:{given.slug}", rows)
    stored = find(connection, given.slug)
    if stored is None:
        raise StoreError(f"The study {given.slug} could not be stored.")
    _keep_version(connection, stored.id, given)
    return stored


def _keep_version(connection: Connection, study_id: int, given: Register) -> None:
    here = (study_version.c.study_id == study_id) & (study_version.c.version == given.fingerprint)
    if given.files and connection.execute(select(study_version.c.version).where(here)).first() is None:
        values = {"study_id": study_id, "version": given.fingerprint, "files": dict(given.files), "since": given.now}
        connection.execute(insert(study_version).values(**values))


def versions(connection: Connection, study_id: int) -> dict[str, dict[str, str]]:
    """The files of each version of a study with which a session has begun, the first version first."""
    begun = select(session.c.version).where(session.c.study_id == study_id)
    query = select(study_version).where(study_version.c.study_id == study_id, study_version.c.version.in_(begun))
    return {row.version: row.files for row in connection.execute(query.order_by(study_version.c.since))}


def version_files(connection: Connection, study_id: int, version: str) -> dict[str, str] | None:
    """The files of one version of a study."""
    here = (study_version.c.study_id == study_id) & (study_version.c.version == version)
    found: dict[str, str] | None = connection.execute(select(study_version.c.files).where(here)).scalar()
    return found


def set_state(connection: Connection, study_id: int, state: str, now: float | None = None) -> StudyRow | Exception:
    """Have a study run, pause or be closed; the first time that it runs, it is frozen."""
    if state not in STUDY_STATES:
        known = f"{', '.join(STUDY_STATES[:-1])} or {STUDY_STATES[-1]}"
        return StoreError(f"A study cannot be {state}; it is {known}.")
    query = select(study).where(study.c.id == study_id).with_for_update()
    row = connection.execute(query).mappings().first()
    if row is None:
        return StoreError(f"There is no study number {study_id}.")
    found = StudyRow(**row)
    if state == "draft" and found.frozen_at is not None:
        return StoreError("A study that has started cannot become a draft again. Pause or close it.")
    frozen = found.frozen_at
    if state == "running" and frozen is None:
        frozen = time() if now is None else now
    connection.execute(update(study).where(study.c.id == found.id).values(state=state, frozen_at=frozen))
    return replace(found, state=state, frozen_at=frozen)


def find(connection: Connection, slug: str) -> StudyRow | None:
    """A study by its slug."""
    row = connection.execute(select(study).where(study.c.slug == slug)).mappings().first()
    return None if row is None else StudyRow(**row)


def every(connection: Connection) -> list[StudyRow]:
    """All studies of the server, in the order in which they came."""
    return [StudyRow(**row) for row in connection.execute(select(study).order_by(study.c.id)).mappings()]


def invite(connection: Connection, study_id: int, code_hashes: Sequence[str]) -> int:
    """Add invitations by the hashes of their codes; how many are new. A code that is known already stays as it is."""
    wanted = dict.fromkeys(code_hashes)
    if not wanted:
        return 0
    known = connection.execute(select(invitation.c.code_hash).where(invitation.c.study_id == study_id))
    for code in known.scalars():
        wanted.pop(code, None)
    if wanted:
        connection.execute(insert(invitation), [{"study_id": study_id, "code_hash": code} for code in wanted])
    return len(wanted)


def set_value(connection: Connection, key: str, value: str | None) -> None:
    """Keep a note of the server about itself; None takes it away."""
    connection.execute(server.delete().where(server.c.key == key))
    if value is not None:
        connection.execute(insert(server).values(key=key, value=value))


def items_of(connection: Connection, slug: str) -> str | None:
    """The fingerprint of the items with which a study started; None where it started with an earlier karat."""
    return value(connection, f"items:{slug}")


def frozen_of(connection: Connection, study_id: int) -> dict[str, Any] | None:
    """What was frozen when a study started, as its exports carry it; None before it has."""
    row = connection.execute(select(study).where(study.c.id == study_id)).mappings().first()
    if row is None or row["frozen_at"] is None:
        return None
    rows = value(connection, f"item_rows:{row['slug']}")
    items = None if rows is None else json.loads(rows)
    return frozen_record(row["screening"], items, row["screening_fingerprint"], row["frozen_at"])


def value(connection: Connection, key: str) -> str | None:
    """A note of the server."""
    found: str | None = connection.execute(select(server.c.value).where(server.c.key == key)).scalar()
    return found


def holds_seat(now: float, *, pilot: bool = False) -> ColumnElement[bool]:
    """Whether a session counts: a first one that is complete, or runs with a lease; previews never do."""
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


def closed_to(
    connection: Connection, study_id: int, person_hash: str | None, wanted: int | None, now: float
) -> Literal["", "paused", "closed", "full"]:
    """Why somebody new cannot begin; empty where they can, or where the person has been here before."""
    if person_hash is not None:
        here = (session.c.study_id == study_id) & (session.c.person_hash == person_hash)
        if connection.execute(select(session.c.id).where(here)).first() is not None:
            return ""
    state = connection.execute(select(study.c.state).where(study.c.id == study_id)).scalar()
    if state == "paused":
        return "paused"
    if state == "closed":
        return "closed"
    return "full" if state == "running" and wanted is not None and seats(connection, study_id, now) >= wanted else ""


def stored_bytes(connection: Connection, study_id: int) -> int:
    """About how many bytes the sessions of a study have stored."""
    query = select(func.coalesce(func.sum(session.c.stored), 0)).where(session.c.study_id == study_id)
    return int(connection.execute(query).scalar_one())


def lock_studies(connection: Connection, ids: Collection[int]) -> dict[int, str]:
    """Lock studies until the transaction ends, and tell their states; SQLite has one lock for everything anyway."""
    query = select(study.c.id, study.c.state).where(study.c.id.in_(ids)).order_by(study.c.id)
    # The weaker of the two locks, as sessions that are added refer to the study.
    return {row.id: row.state for row in connection.execute(query.with_for_update(key_share=True))}
