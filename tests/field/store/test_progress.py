"""Steps, background answers with quotas, the quiz, and how sessions end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from field.store.stand_ins import HOUR, begin, come, send, start
from karat.field.store import NoSessionError, Store, StoreError, arrivals, progress
from messages import refuses


def session_of(store: Store, token: str | None) -> progress.Session:
    with store.read() as connection:
        found = progress.load(connection, token or "")
    assert found is not None
    return found


def test_a_new_session(store: Store) -> None:
    arrived = come(store, start(store), platform="prolific", device={"class": "phone"}, now=1000.0)
    session = session_of(store, arrived.token_hash)
    assert (session.state, session.step) == ("running", "consent")
    assert (session.participant, session.list, session.number) == (arrived.participant, arrived.list, 1)
    assert (session.platform, session.device, session.background) == ("prolific", {"class": "phone"}, {})
    assert (session.started, session.lease_until, session.finished) == (1000.0, 1000.0 + HOUR, None)
    assert len((session.withdrawal_code or "").split("-")) == 3
    assert len(session.completion_code) == 10


def test_a_step_is_taken_once(store: Store) -> None:
    arrived = come(store, start(store))
    number = arrived.session_id or 0
    assert store.call(progress.set_step, number, "instructions", after="consent") == "instructions"
    assert store.call(progress.set_step, number, "quiz", after="consent") == "instructions"
    assert store.call(progress.set_step, number, "quiz") == "quiz"
    store.call(progress.finish, number, "declined")
    assert store.call(progress.set_step, number, "trials") == "quiz", "it is over"


def test_requests_for_sessions_that_are_not_there(store: Store) -> None:
    for write, *arguments in (
        (progress.set_step, 9, "quiz"),
        (progress.set_background, progress.SetBackground(9, {}, "quiz", HOUR, {"a": {"b": 1}})),
        (progress.set_quiz, 9, True, "trials"),
        (progress.set_comment, 9, "", "done"),
        (progress.finish, 9, "complete"),
    ):
        with pytest.raises(NoSessionError):
            store.call(write, *arguments)


def test_background_answers_add_up(store: Store) -> None:
    arrived = come(store, start(store))
    number = arrived.session_id or 0
    for answers, step in (
        ({"age": "30", "first": "German"}, "instructions"),
        ({"age": "31", "town": "Köln"}, "comment"),
    ):
        assert store.call(progress.set_background, progress.SetBackground(number, answers, step, HOUR)) == "ok"
    session = session_of(store, arrived.token_hash)
    assert session.background == {"age": "31", "first": "German", "town": "Köln"}
    assert session.step == "comment"


def test_a_group_never_gets_more_than_its_quota(store: Store) -> None:
    study_id = start(store)
    quotas = {"gender": {"f": 3, "m": 5}, "age": {"old": 4}}
    people = [come(store, study_id) for _ in range(20)]

    def ask(number: int) -> str:
        answers = {"gender": "f" if number % 2 else "m", "age": "old" if number < 10 else "young", "town": "Bonn"}
        given = progress.SetBackground(people[number].session_id or 0, answers, "quiz", HOUR, quotas)
        return store.call(progress.set_background, given)

    with ThreadPoolExecutor(20) as threads:
        outcomes = list(threads.map(ask, range(20)))
    sessions = [session_of(store, one.token_hash) for one in people]
    kept = [one for one in sessions if one.state == "running"]
    assert [one.state for one in sessions] == ["running" if outcome == "ok" else "full" for outcome in outcomes]
    assert sum(one.background["gender"] == "f" for one in kept) == 3
    assert sum(one.background["gender"] == "m" for one in kept) == 5
    assert sum(one.background["age"] == "old" for one in kept) <= 4


def test_a_seat_of_a_group_is_free_again_when_its_holder_leaves(store: Store) -> None:
    study_id, quotas = start(store), {"gender": {"f": 1}}

    def ask(**settings: object) -> tuple[int, str]:
        number = come(store, study_id, now=1000.0, **settings).session_id or 0
        given = progress.SetBackground(number, {"gender": "f"}, "quiz", 100.0, quotas, now=1000.0)
        return number, store.call(progress.set_background, given)

    first, outcome = ask()
    assert outcome == "ok"
    again = progress.SetBackground(first, {"gender": "f"}, "quiz", 100.0, quotas, now=1001.0)
    assert store.call(progress.set_background, again) == "ok", "one's own seat is not in one's way"
    assert ask()[1] == "full"
    assert [ask(preview=True)[1], ask(pilot=True)[1]] == ["ok", "ok"]
    other = progress.SetBackground(first, {"gender": "m"}, "quiz", 100.0, quotas, now=1002.0)
    assert store.call(progress.set_background, other) == "ok"
    second, outcome = ask()
    assert outcome == "ok", "a participant who answers otherwise gives the seat back"
    store.call(progress.finish, second, "failed-quiz")
    assert ask()[1] == "ok"
    late = come(store, study_id, now=2000.0).session_id or 0
    given = progress.SetBackground(late, {"gender": "f"}, "quiz", 100.0, quotas, now=2000.0)
    assert store.call(progress.set_background, given) == "ok", "the lease of the one before has expired"


def test_attempts_at_the_quiz_are_counted_until_it_is_passed(store: Store) -> None:
    arrived = come(store, start(store), first_step="quiz")
    number = arrived.session_id or 0
    assert store.call(progress.set_quiz, number, False, "trials", attempt=0) == 1
    assert store.call(progress.set_quiz, number, False, "trials", attempt=0) == 1, "a double click"
    assert session_of(store, arrived.token_hash).quiz_passed is False
    assert store.call(progress.set_quiz, number, True, "trials", attempt=1) == 2
    assert store.call(progress.set_quiz, number, False, "trials") == 2
    session = session_of(store, arrived.token_hash)
    assert (session.quiz_attempts, session.quiz_passed, session.step) == (2, True, "trials")


def test_nobody_is_complete_with_trials_left(store: Store) -> None:
    study_id = start(store)
    arrived, planned = begin(store, study_id, 2, person_hash="ada")
    number = arrived.session_id or 0
    assert store.call(progress.finish, number, "complete") == "unfinished"
    send(store, arrived, *((page.public_id, f"key-{page.position}", "1") for page in planned))
    assert store.call(progress.set_comment, number, "=1+1 ☺", "done") == "done"
    assert store.call(progress.finish, number, "complete", now=5.5) == "ok"
    assert store.call(progress.finish, number, "withdrawn") == "ended"
    session = session_of(store, arrived.token_hash)
    assert (session.state, session.step, session.finished, session.comment) == ("complete", "done", 5.5, "=1+1 ☺")
    with store.read() as connection:
        assert [one.complete for one in arrivals.participations(connection, "ada")] == [True]
    with refuses(StoreError, "finished"):
        store.call(progress.finish, number, "finished")
    unplanned = come(store, study_id).session_id or 0
    assert store.call(progress.finish, unplanned, "complete") == "unfinished"


def test_a_sign_of_life_extends_the_lease(store: Store) -> None:
    arrived = come(store, start(store), now=1000.0)
    store.call(progress.touch, arrived.session_id or 0, 50.0, now=4000.0)
    assert session_of(store, arrived.token_hash).lease_until == 4050.0
