"""Decisions, withdrawal, erasure and anonymity."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, func, select

from field.store.stand_ins import begin, check, come, send, start
from karat.field.store import (
    Store,
    StoreError,
    answers,
    arrivals,
    people,
    progress,
    schema,
    studies,
)
from karat.field.store.engine import vacuum
from karat.field.store.progress import Session
from messages import refuses


def rows_in(store: Store) -> dict[str, int]:
    """How many rows each table has."""
    with store.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in schema.metadata.sorted_tables
        }


def everything(store: Store) -> str:
    """All that the database says, as one text."""
    with store.read() as connection:
        found = {
            table.name: [list(row) for row in connection.execute(select(table))]
            for table in schema.metadata.sorted_tables
        }
    return json.dumps(found)


def one_who_answered(store: Store, study_id: int, name: str, complete: bool = True) -> Session:
    """Somebody with a row in every table."""
    result = arrivals.Identity(f"{name}-id", f"{name}-session", f"{name}-study")
    store.call(studies.invite, study_id, [f"{name}-invitation"])
    arrived, planned = begin(
        store, study_id, 2, identity=result, person_hash=f"{name}-hash", resume_hash=f"{name}-resume",
        invitation_hash=f"{name}-invitation", device={"class": "phone", "submit_to": f"{name}-address"},
    )  # fmt: skip
    number = arrived.session_id or 0
    given = {"town": f"{name}-town", "gender": "f"}
    quotas = {"gender": {"f": 100}}
    store.call(progress.set_background, progress.SetBackground(number, given, "trials", 3600.0, quotas))
    submitted = [
        answers.SubmittedAnswer(
            page.public_id, f"{name}-key-{page.position}", "4", details={"window": [390, 844], "blurs": 1}
        )
        for page in planned
    ]
    noted = [answers.SubmittedEvent("webdriver", details={"agent": f"{name}-agent"})]
    request = answers.AnswerSubmission(arrived.token_hash or "", submitted, check, "comment", 3600.0, noted)
    store.call(answers.save, request)
    store.call(progress.set_comment, number, f"{name}-comment", "done")
    if complete:
        assert store.call(progress.finish, number, "complete") == "ok"
    with store.read() as connection:
        (session,) = progress.find(connection, study_id, arrived.participant or "")
    return session


def test_a_decision_and_its_end(store: Store) -> None:
    study_id = start(store)
    one = one_who_answered(store, study_id, "ada")

    def decide(what: str) -> tuple[bool, str]:
        done = store.call(people.decide, study_id, one.participant, what)
        with store.read() as connection:
            (session,) = progress.find(connection, study_id, one.participant)
        return done, session.state

    assert decide("restored") == (False, "complete")
    assert decide("excluded") == (True, "excluded")
    assert decide("rejected") == (True, "rejected")
    assert decide("restored") == (True, "complete")
    assert not store.call(people.decide, study_id, "p-nobody", "excluded")
    with refuses(StoreError, "banned", "excluded", "returned", "rejected", "restored"):
        decide("banned")
    declined = come(store, study_id)
    store.call(progress.finish, declined.session_id or 0, "declined")
    assert not store.call(people.decide, study_id, declined.participant or "", "excluded")


def test_withdrawal_leaves_an_empty_session(store: Store) -> None:
    study_id = start(store)
    ada, bob = one_who_answered(store, study_id, "ada"), one_who_answered(store, study_id, "bob")
    code = (ada.withdrawal_code or "").upper()
    assert not store.call(people.withdraw, study_id + 1, code)
    assert not store.call(people.withdraw, study_id, "no\0code")
    assert store.call(people.withdraw, study_id, f" {code} ")
    text = everything(store)
    for word in ("id", "session", "town", "key-1", "agent", "comment", "address"):
        assert f"ada-{word}" not in text
        assert f"bob-{word}" in text
    with store.read() as connection:
        (left,) = progress.find(connection, study_id, ada.participant)
        (other,) = progress.find(connection, study_id, bob.participant)
    assert (left.state, left.answered, left.trials, left.background) == ("withdrawn", 0, 0, {})
    assert (other.state, other.answered) == ("complete", 2)
    again = come(store, study_id, person_hash="ada-hash", resume_hash="ada-resume")
    assert (again.outcome, again.state) == ("ended", "withdrawn")


def test_an_erasure_leaves_nothing(store: Store) -> None:
    study_id = start(store)
    one_who_answered(store, study_id, "bob")
    before = rows_in(store)
    # No name that keys drawn at random could have in them.
    ada = one_who_answered(store, study_id, "ada-of-london")
    assert rows_in(store)["answer"] == 2 * before["answer"]
    assert store.call(people.erase, study_id, ada.participant)
    assert rows_in(store) == {**before, "invitation": 2}, "only the used invitation is still there"
    assert everything(store).count("ada-of-london") == 1
    assert not store.call(people.erase, study_id, ada.participant)


def test_an_erasure_reaches_sessions_that_were_begun_again(store: Store) -> None:
    study_id = start(store)
    first, planned = begin(store, study_id, resume_hash="r")
    send(store, first, (planned[0].public_id, "key-1", "4"))
    come(store, study_id, resume_hash="r", policy="restart")
    assert store.call(people.erase, study_id, first.participant or "")
    assert {name: count for name, count in rows_in(store).items() if count} == {"study": 1}


def test_an_anonymous_study_has_forgotten_who_took_part(store: Store) -> None:
    study_id, other_id = start(store), start(store, "other")
    one_who_answered(store, study_id, "ada")
    one_who_answered(store, other_id, "bob")
    running = one_who_answered(store, study_id, "cy", complete=False)
    with refuses(StoreError, "1 participant"):
        store.call(people.anonymise, study_id)
    store.call(progress.finish, running.id, "complete")
    assert store.call(people.anonymise, study_id) == 2
    text = everything(store)
    for word in ("id", "session", "study", "resume", "agent", "address"):
        assert f"ada-{word}" not in text
        assert f"bob-{word}" in text
    assert "ada-town" in text
    assert "ada-comment" in text
    assert store.call(people.anonymise, study_id, comments=True) == 2
    text = everything(store)
    assert "ada-town" in text
    assert "ada-comment" not in text
    with store.read() as connection:
        sessions = connection.execute(select(schema.session).where(schema.session.c.study_id == study_id)).all()
        details = connection.execute(select(schema.answer.c.details, schema.answer.c.response)).all()
        assert [one.study for one in arrivals.participations(connection, "ada-hash")] == ["likert"], "the note stays"
    assert {(one.token_hash, one.person_hash, one.withdrawal_code) for one in sessions} == {(None, None, None)}
    assert [one.device for one in sessions] == [{"class": "phone"}] * 2
    assert [one.details for one in details if "window" not in one.details] == [{"blurs": 1}] * 4
    assert {one.response for one in details} == {"4"}


def test_preview_does_not_block_anonymisation(store: Store) -> None:
    study_id = start(store)
    one_who_answered(store, study_id, "ada")
    come(store, study_id, preview=True, list=1)
    store.call(people.anonymise, study_id)
    assert "ada-hash" not in everything(store).replace('["ada-hash", "likert"', ""), "but for the note of naivety"


def files_of(url: str) -> bytes:
    """All bytes of a SQLite database and of what lies beside it."""
    path = Path(url.removeprefix("sqlite:///"))
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


def test_no_bytes_of_what_was_erased_stay_in_the_files(sqlite_url: str) -> None:
    store = Store.open(sqlite_url)
    study_id = start(store)
    gone = {}
    for name in ("erased", "withdrawn", "forgotten"):
        came = one_who_answered(store, study_id, f"raw-{name}-id")
        long = f"raw-{name}-comment " * 500  # longer than a page of the file
        told = {"comment": long, "background": {"age": f"raw-{name}-age"}}
        store.call(Connection.execute, schema.session.update().where(schema.session.c.id == came.id).values(told))
        gone[name] = came

    def traces(name: str) -> list[str]:
        kept = files_of(sqlite_url)
        parts = ("id-id", "id-session", "id-hash", "id-key-1", "id-agent", "comment", "age")
        return [part for part in parts if f"raw-{name}-{part}".encode() in kept]

    assert traces("erased") == ["id-id", "id-session", "id-hash", "id-key-1", "id-agent", "comment", "age"]
    assert files_of(sqlite_url).count(b"raw-erased-comment") > 400
    assert store.call(people.erase, study_id, gone["erased"].participant)
    assert traces("erased") == []
    assert store.call(people.withdraw, study_id, gone["withdrawn"].withdrawal_code or "")
    assert traces("withdrawn") == ["id-hash"]  # so that the same person is not asked again
    store.call(studies.set_state, study_id, "closed")
    store.call(people.anonymise, study_id, comments=True, now=1e12)
    # Answers stay, as the page says, and that somebody took part, by a keyed hash.
    assert traces("forgotten") == ["id-hash", "id-key-1", "age"]
    store.close()
    assert traces("forgotten") == ["id-hash", "id-key-1", "age"]


def test_a_reader_delays_the_cleaning_and_does_not_stop_it(sqlite_url: str) -> None:
    store = Store.open(sqlite_url)
    study_id = start(store)
    came = one_who_answered(store, study_id, "raw-read-id")
    with store.read() as connection:
        connection.execute(select(schema.session)).all()
        assert store.call(people.erase, study_id, came.participant)
    store.close()
    assert b"raw-read-id-comment" not in files_of(sqlite_url)


def test_a_database_of_an_earlier_karat_can_be_cleaned(sqlite_url: str) -> None:
    path = sqlite_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as old:
        old.execute("PRAGMA secure_delete = OFF")
        old.execute("CREATE TABLE earlier (id TEXT)")
        old.execute("INSERT INTO earlier VALUES ('raw-earlier-id')")
        old.commit()
        old.execute("DELETE FROM earlier")
        old.commit()
    vacuum(sqlite_url)
    assert b"raw-earlier-id" not in files_of(sqlite_url)
