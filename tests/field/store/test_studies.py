"""Studies of a server: drafts, frozen studies, notes, logins."""

from __future__ import annotations

from field.store.stand_ins import start
from karat.field.store import Store, StoreError, admins, studies
from messages import refuses


def test_a_draft_follows_its_file_and_a_started_study_does_not(store: Store) -> None:
    first = store.call(studies.register, studies.Register("likert", "Ratings", "f1", {"a": 1}, {"x": 1}, "s1", now=5.0))
    assert (first.state, first.created, first.frozen_at) == ("draft", 5.0, None)
    second = store.call(studies.register, studies.Register("likert", "Better", "f2", {"a": 2}, {"x": 2}, "s2"))
    assert (second.id, second.title, second.settings, second.changed) == (first.id, "Better", {"a": 2}, False)
    running = store.call(studies.set_state, first.id, "running", now=9.0)
    assert (running.state, running.frozen_at) == ("running", 9.0)
    same = store.call(studies.register, studies.Register("likert", "Better", "f2", {"a": 2}, {"x": 2}, "s2"))
    assert (same.changed, same.rules_changed) == (False, False)
    other = store.call(studies.register, studies.Register("likert", "Worse", "f3", {"a": 3}, {"x": 3}, "s3"))
    assert (other.changed, other.rules_changed) == (True, True)
    assert (other.title, other.settings, other.screening, other.screening_fingerprint) == (
        "Better", {"a": 2}, {"x": 2}, "s2",
    )  # fmt: skip


def test_a_study_is_frozen_once(store: Store) -> None:
    study_id = start(store)
    with store.read() as connection:
        begun = studies.find(connection, "likert")
    assert begun is not None
    for state in ("paused", "running", "closed", "running"):
        row = store.call(studies.set_state, study_id, state)
        assert (row.state, row.frozen_at) == (state, begun.frozen_at)
    with refuses(StoreError, "draft"):
        store.call(studies.set_state, study_id, "draft")
    with refuses(StoreError, "study number 9"):
        store.call(studies.set_state, 9, "running")
    start(store, "another")
    with store.read() as connection:
        assert [one.slug for one in studies.every(connection)] == ["likert", "another"]
        assert studies.find(connection, "nothing") is None


def test_notes_of_the_server(store: Store) -> None:
    for value in ("1", "2", None):
        store.call(studies.set_value, "unblinded:likert", value)
        with store.read() as connection:
            assert studies.value(connection, "unblinded:likert") == value


def test_logins_and_their_failures(store: Store) -> None:
    for hashed in ("first", "second"):
        store.call(admins.set_password, "ada", hashed)
        with store.read() as connection:
            assert admins.password_hash(connection, "ada") == hashed
            assert admins.password_hash(connection, "bob") is None
    for moment in (1000.0, 1100.0, 1200.0):
        store.call(admins.note_failure, "ada", now=moment)
    with store.read() as connection:
        assert admins.failures(connection, "ada", 1100.0) == 2
        assert admins.failures(connection, "bob", 0.0) == 0
    store.call(admins.note_failure, "bob", now=1150.0 + admins.KEPT_SECONDS)
    with store.read() as connection:
        assert admins.failures(connection, "ada", 0.0) == 1


def test_a_study_that_opens_again_is_no_longer_blind(store: Store) -> None:
    study_id = start(store)
    store.call(studies.set_state, study_id, "paused")
    store.call(studies.set_state, study_id, "running")
    with store.read() as connection:
        assert studies.unblinded_at(connection, "likert") is None
    store.call(studies.set_state, study_id, "closed")
    store.call(studies.set_state, study_id, "running")
    with store.read() as connection:
        first = studies.unblinded_at(connection, "likert")
    assert first is not None
    store.call(studies.note_unblinded, "likert")
    with store.read() as connection:
        assert studies.unblinded_at(connection, "likert") == first
