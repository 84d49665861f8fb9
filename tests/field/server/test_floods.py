"""Somebody who wants to fill the disk or take all places."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from field.server.conftest import KNOWN, TEXTS, Served, write
from field.server.visitor import Visitor, answer_to, asked
from karat.field.content.texts import words
from karat.field.server.headers import Limits
from karat.field.server.security import plain_hash
from karat.field.store import studies
from karat.field.store.schema import answer, event, session


@pytest.fixture
def store_url(sqlite_url: str) -> str:
    """What is counted here is counted alike on PostgreSQL."""
    return sqlite_url


class Clock:
    """A clock that the test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def flooded(person: Visitor, **sent: Any) -> int:
    return person.api("POST", "answers", {"answers": [], "events": [], "have": [], **sent}).status


def test_one_session_cannot_fill_the_disk(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + "\n[field]\ngoing_back = true\n"))
    clock = Clock()
    served.app.state.limits = Limits(served.app.state.config, clock=clock)
    small, large = served.visitor(), served.visitor()
    for person in (small, large):
        person.go_on(person.arrive(), KNOWN)
    blur = {"kind": "blur", "at": 1_790_000_000_000}
    trace = {"kind": "trace", "at": 1_790_000_000_000, "details": {f"k{number}": "x" * 200 for number in range(5)}}
    for _ in range(3):
        assert flooded(small, events=[blur] * 1000) == 200
    for _ in range(8):
        assert flooded(large, events=[trace] * 200) == 200
    first, second = served.rows(session)
    rows = served.rows(event)
    assert sum(one["session_id"] == first["id"] for one in rows) == 2000
    assert sum(one["session_id"] == second["id"] for one in rows) * 1000 < 1_000_000
    assert (first["events"], second["events"]) == (3000, 1600)
    # Changed answers: twenty for a page, and what is refused leaves no row.
    reply = small.api("GET", "trials").json()
    given = [{**answer_to(reply["trials"][0], reply["scales"]), "key": f"key-number-{number}"} for number in range(60)]
    replies = small.api("POST", "answers", {"answers": given}).json()
    assert (len(replies["saved"]), {one["reason"] for one in replies["refused"]}) == (20, {"answered too often"})
    assert len(served.rows(answer)) == 20
    assert served.rows(session)[0]["refused"] == 40
    # The other session still saves, although its events are no longer kept.
    assert len(large.answer_all()) == 3


def test_requests_of_one_session_are_limited(served: Served) -> None:
    clock = Clock()
    served.app.state.limits = Limits(served.app.state.config, clock=clock)
    person, other = served.visitor(), served.visitor()
    for one in (person, other):
        one.go_on(one.arrive(), KNOWN)
    for _ in range(600):
        assert flooded(person) == 200
    reply = person.api("POST", "answers", {"answers": []})
    assert (reply.status, reply.headers["retry-after"]) == (429, "1")
    assert flooded(other) == 200
    clock.now = 60.0
    assert flooded(person) == 200


def test_a_study_that_has_used_its_space_lets_nobody_in(served: Served) -> None:
    served.visitor().arrive()
    full = served.app.state.served_studies["study"].budget
    raised = session.update().values(stored=full)
    served.store.call(lambda connection: connection.execute(raised).rowcount)
    assert words("en")["end.full"] in served.visitor().arrive().text
    with served.store.read() as connection:
        assert studies.stored_bytes(connection, served.study_id) == full


OPEN = TEXTS + "\n[recruitment]\nparticipants = 36\n"


def crowd(served: Served, count: int) -> list[int]:
    """So many press the button at the same moment, without cookies, from one address."""
    people = [Visitor(served.app, served.runner) for _ in range(count)]
    forms = [person.get("/s/study/").form("/begin") for person in people]

    async def at_once() -> list[int]:
        replies = await asyncio.gather(*(asked(served.app, form) for form in forms))
        return [reply.status for reply in replies]

    return served.runner.run(at_once())


def test_one_address_cannot_take_all_places(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", OPEN), arrivals_per_minute=120.0)
    statuses = crowd(served, 50)
    # A class of thirty behind one address gets in at once; places are left for others.
    assert (statuses.count(303), statuses.count(429)) == (30, 20)
    leases = [one["lease_until"] - one["started"] for one in served.rows(session)]
    assert max(leases) <= 300.0
    # Sending nothing does not keep the place; an answer does, and frees the address for another.
    person = served.visitor()
    assert person.arrive().status == 429
    assert person.cookies == {}


def test_who_answers_no_longer_counts_against_the_address(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve(write(tmp_path / "study", TEXTS + "\n[recruitment]\nparticipants = 2\n"), arrivals_per_minute=120.0)
    first, second = served.visitor(), served.visitor()
    page = first.arrive()
    assert second.arrive().status == 429
    first.go_on(page, KNOWN)
    assert flooded(first, events=[{"kind": "blur", "at": 1_790_000_000_000}]) == 200
    (held,) = [one for one in served.rows(session) if one["step"] == "trials"]
    assert held["lease_until"] - held["last_seen"] <= 300.0
    first.answer_all(most=1)
    (held,) = [one for one in served.rows(session) if one["answered"]]
    assert held["lease_until"] - held["last_seen"] == pytest.approx(3600.0)
    assert second.arrive().status == 200


@pytest.mark.parametrize("platform", ['platform = "prolific"', "invitations = true"])
def test_studies_that_know_their_visitors_are_not_bound(
    platform: str, serve: Callable[..., Served], tmp_path: Path
) -> None:
    served = serve(write(tmp_path / "study", TEXTS + f"\n[recruitment]\nparticipants = 3\n{platform}\n"),
                   arrivals_per_minute=120.0)  # fmt: skip
    codes = [f"invitation-{number}" for number in range(3)]
    served.store.call(studies.invite, served.study_id, [plain_hash(code) for code in codes])
    for number, code in enumerate(codes):
        came = served.visitor().arrive(
            PROLIFIC_PID=f"{number:024x}", SESSION_ID=f"{number + 9:024x}", STUDY_ID="6" * 24, invitation=code
        )
        assert came.status == 200
        assert 'name="consent"' in came.text
    assert min(one["lease_until"] - one["started"] for one in served.rows(session)) == 3600.0
