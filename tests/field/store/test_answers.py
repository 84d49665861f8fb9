"""Answers: saved once, refused with a reason, never lost when acknowledged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.dialects import sqlite

from field.store.load import load
from field.store.stand_ins import HOUR, begin, come, pages, send, start
from karat.field.store import NoSessionError, SessionEndedError, Store, answers, progress, schema, trials
from messages import refuses

columns = schema.answer.c


def stored(store: Store) -> list[tuple[Any, ...]]:
    """Position, attempt, key and answer of everything that is stored."""
    query = select(columns.position, columns.attempt, columns.key, columns.response)
    with store.read() as connection:
        return [tuple(row) for row in connection.execute(query.order_by(columns.position, columns.attempt))]


def session_of(store: Store, token: str | None) -> progress.Session:
    with store.read() as connection:
        found = progress.load(connection, token or "")
    assert found is not None
    return found


def test_answers_are_saved_and_the_next_pages_come_back(store: Store) -> None:
    arrived, planned = begin(store, start(store), 8)
    names = [page.public_id for page in planned]
    with store.read() as connection:
        first = trials.next_trials(connection, arrived.session_id or 0, 3)
    assert [page.public_id for page in first] == names[:3]
    assert first[0].shown == planned[0].shown
    saved = send(store, arrived, (names[0], "key-1", "4"), have=names[1:3], send_ahead=3, now=5000.0)
    assert (saved.saved, saved.refused, saved.left, saved.step) == (["key-1"], [], 7, "trials")
    assert [page.public_id for page in saved.trials] == [names[3]]
    assert stored(store) == [(1, 1, "key-1", "4")]
    session = session_of(store, arrived.token_hash)
    assert (session.answered, session.next, session.left) == (1, 2, 7)
    assert (session.last_seen, session.lease_until) == (5000.0, 5000.0 + HOUR)


def test_the_last_answer_leads_to_the_next_step(store: Store) -> None:
    arrived, planned = begin(store, start(store), 3)
    saved = send(store, arrived, *((page.public_id, f"key-{page.position}", "1") for page in planned))
    assert (saved.left, saved.step, saved.trials) == (0, "comment", [])
    assert session_of(store, arrived.token_hash).step == "comment"


def test_the_same_key_twice_is_saved_once(store: Store) -> None:
    arrived, planned = begin(store, start(store))
    name = planned[0].public_id
    for sent in ([(name, "key-1", "4")], [(name, "key-1", "4")], [(name, "key-1", "5"), (name, "key-1", "5")]):
        saved = send(store, arrived, *sent)
        assert set(saved.saved) == {"key-1"}
        assert saved.left == 5
    assert stored(store) == [(1, 1, "key-1", "4")]


def test_another_answer_to_an_answered_page_is_refused(store: Store) -> None:
    arrived, planned = begin(store, start(store))
    name = planned[0].public_id
    saved = send(store, arrived, (name, "key-1", "4"), (name, "key-2", "5"))
    assert (saved.saved, saved.refused) == (["key-1"], [("key-2", "already answered")])
    assert send(store, arrived, (name, "key-3", "5")).refused == [("key-3", "already answered")]
    assert stored(store) == [(1, 1, "key-1", "4")]


def test_going_back_adds_an_attempt_and_keeps_the_earlier_one(store: Store) -> None:
    arrived, planned = begin(store, start(store))
    names = [page.public_id for page in planned]
    send(store, arrived, (names[0], "key-1", "4"), (names[1], "key-2", "2"), going_back=True)
    with store.read() as connection:
        before = trials.last_answered(connection, arrived.session_id or 0)
    assert before is not None
    assert (before[0].public_id, before[1]) == (names[1], {"": "2"})
    saved = send(store, arrived, (names[0], "key-3", "5"), (names[0], "key-3", "5"), going_back=True)
    assert (set(saved.saved), saved.left) == ({"key-3"}, 4)
    assert stored(store) == [(1, 1, "key-1", "4"), (1, 2, "key-3", "5"), (2, 1, "key-2", "2")]


def test_what_was_not_offered_is_refused_and_counted(store: Store) -> None:
    study_id = start(store)
    arrived, planned = begin(store, study_id)
    other, others = begin(store, study_id)
    sent = [
        (planned[0].public_id, "key-1", "9"), ("nonsense", "key-2", "1"), ("zero\0", "key-3", "1"),
        (others[0].public_id, "key-4", "1"), (planned[1].public_id, "key-5", "1"),
    ]  # fmt: skip
    saved = send(store, arrived, *sent, have=["\0"])
    assert saved.saved == ["key-5"]
    assert saved.refused == [
        ("key-1", "not offered"), ("key-2", "unknown trial"), ("key-3", "unknown trial"), ("key-4", "unknown trial"),
    ]  # fmt: skip
    assert session_of(store, other.token_hash).answered == 0
    assert session_of(store, arrived.token_hash).refused == 4
    with store.read() as connection:
        assert connection.execute(select(schema.event)).all() == []


def test_pages_answered_out_of_turn_leave_no_gap(store: Store) -> None:
    arrived, planned = begin(store, start(store), 6)
    names = [page.public_id for page in planned]
    saved = send(store, arrived, (names[1], "key-2", "2"), (names[3], "key-4", "4"), send_ahead=3)
    assert [page.position for page in saved.trials] == [1, 3, 5]
    with store.read() as connection:
        assert [page.position for page in trials.next_trials(connection, arrived.session_id or 0, 9)] == [1, 3, 5, 6]
        assert [page.position for page in trials.trials_after(connection, arrived.session_id or 0, 3, 2)] == [4, 5]
    saved = send(store, arrived, (names[0], "key-1", "1"), send_ahead=2, have=[names[2]])
    assert [page.position for page in saved.trials] == [5]
    assert session_of(store, arrived.token_hash).next == 3
    saved = send(store, arrived, *((names[place], f"key-{place + 1}", "1") for place in (4, 2, 5)))
    assert (saved.left, saved.step) == (0, "comment")


def test_events_are_kept_with_their_page_and_a_possible_time(store: Store) -> None:
    arrived, planned = begin(store, start(store), now=1000.0)
    noted = [
        answers.SubmittedEvent("blur", 1100.0, planned[1].public_id, {"times": 2}),
        answers.SubmittedEvent("resize", 9.0, "nonsense"),
        answers.SubmittedEvent("offline", 99_999.0),
    ]
    send(store, arrived, events=noted, now=1200.0)
    with store.read() as connection:
        events = connection.execute(select(schema.event).order_by(schema.event.c.id)).all()
    assert [(one.kind, one.position, one.time, one.details) for one in events] == [
        ("blur", 2, 1100.0, {"times": 2}), ("resize", None, 1200.0, {}), ("offline", None, 1200.0, {}),
    ]  # fmt: skip


def test_unknown_tokens_and_sessions_that_ended_are_refused(store: Store) -> None:
    study_id = start(store)
    arrived, planned = begin(store, study_id)
    store.call(progress.finish, arrived.session_id or 0, "withdrawn")
    with refuses(SessionEndedError, "withdrawn"):
        send(store, arrived, (planned[0].public_id, "key-1", "4"))
    gone = come(store, study_id)
    come(store, study_id, known_token=gone.token_hash)
    with pytest.raises(NoSessionError):
        send(store, gone)
    assert stored(store) == []


def test_a_page_without_a_question_is_answered_too(store: Store) -> None:
    arrived = come(store, start(store), first_step="trials")
    planned = pages(2, break_after=1)
    assert store.call(trials.plan_trials, trials.PlannedTrials(arrived.session_id or 0, planned)) == 2
    assert store.call(trials.plan_trials, trials.PlannedTrials(arrived.session_id or 0, pages(5))) == 2, "once"
    assert send(store, arrived, (planned[0].public_id, "key-1", None)).left == 1
    assert stored(store) == [(1, 1, "key-1", None)]


@pytest.mark.parametrize("name", ["_SESSIONS", "_PAGES", "_ANSWERED", "_BEYOND", "_AHEAD"])
def test_no_query_of_the_busiest_path_reads_a_whole_table(name: str, tmp_path: Path) -> None:
    words = str(getattr(answers, name).compile(dialect=sqlite.dialect()))
    store = Store.open(f"sqlite:///{tmp_path}/karat.db")
    with store.read() as connection:
        asked = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {words}", ("[1]",) * words.count("?"))
        plan = [row[3] for row in asked]
    store.close()
    assert any(step.startswith("SEARCH") for step in plan)
    assert not [step for step in plan if step.startswith("SCAN") and not step.startswith("SCAN json_each")]


def test_two_servers_that_get_the_same_answer_save_it_once(store_url: str) -> None:
    one, other = Store.open(store_url), Store.open(store_url)
    arrived, planned = begin(one, start(one), 12)
    sent = [(page.public_id, f"key-{page.position}", "3") for page in planned for _ in range(4)]

    def post(number: int) -> list[str]:
        return send((one, other)[number % 2], arrived, sent[number]).saved

    with ThreadPoolExecutor(8) as threads:
        saved = list(threads.map(post, range(len(sent))))
    assert saved == [[key] for _, key, _ in sent]
    assert stored(one) == [(page.position, 1, f"key-{page.position}", "3") for page in planned]
    session = session_of(one, arrived.token_hash)
    assert (session.answered, session.next, session.step) == (12, 13, "comment")
    one.close()
    other.close()


def test_the_load_is_answered_to_the_end(store_url: str) -> None:
    measured = load(store_url, participants=6, pages=4)
    assert measured.answers_per_second > 0
    assert measured.median <= measured.p95
    store = Store.open(store_url)
    assert len(stored(store)) == 24
    store.close()


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from("1239")), max_size=30), st.booleans())
@settings(max_examples=15)
def test_any_sequence_of_answers_is_counted_right(
    tmp_path_factory: pytest.TempPathFactory, sent: list[tuple[int, int, str]], going_back: bool
) -> None:
    store = Store.open(f"sqlite:///{tmp_path_factory.mktemp('answers')}/karat.db")
    arrived, planned = begin(store, start(store), 6)
    acknowledged: dict[tuple[int, str], str] = {}
    for place, number, response in sent:
        key = f"key-{place}-{number}"
        saved = send(store, arrived, (planned[place].public_id, key, response), going_back=going_back)
        if saved.saved:
            acknowledged.setdefault((place + 1, key), response)
    found = stored(store)
    session = session_of(store, arrived.token_hash)
    store.close()
    assert {(position, key): response for position, _, key, response in found} == acknowledged
    assert len(found) == len(acknowledged)
    places = {position for position, *_ in found}
    assert session.answered == len(places)
    assert session.next == next(place for place in range(1, 8) if place not in places)
    assert session.step == ("comment" if len(places) == 6 else "trials")
    if not going_back:
        assert len(places) == len(found)


WRITES = """
import sys
from field.store.stand_ins import begin, send
from karat.field.store import Store

store = Store.open(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
while True:
    arrived, planned = begin(store, int(sys.argv[2]), 10)
    for page in planned:
        response = str(1 + page.position % 5)
        send(store, arrived, (page.public_id, f"key-{page.position}", response))
        print(arrived.session_id, page.position, response, flush=True)
"""


@pytest.mark.parametrize("kills", [(0.1,), pytest.param((0.05, 0.3, 0.6), marks=pytest.mark.slow)])
def test_what_was_acknowledged_survives_a_kill(store_url: str, root: Path, kills: tuple[float, ...]) -> None:
    store = Store.open(store_url)
    study_id = start(store)
    known = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root / "tests")])}
    acknowledged = []
    for after in kills:
        command = [sys.executable, "-c", WRITES, store_url, str(study_id)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=known, **pipes) as writing:  # type: ignore[call-overload]
            assert writing.stdout.readline() == "ready\n"
            writing.stdin.write("go\n")
            writing.stdin.flush()
            lines = [writing.stdout.readline()]
            time.sleep(after)
            writing.send_signal(signal.SIGKILL)
            lines += writing.stdout.readlines()
        # The last line may have been cut in two.
        acknowledged += [tuple(line.split()) for line in lines if line.endswith("\n")]
    with store.read() as connection:
        rows = connection.execute(select(columns.session_id, columns.position, columns.response)).all()
        counts = connection.execute(select(schema.session.c.id, schema.session.c.answered)).all()
    found = [tuple(map(str, row)) for row in rows]
    assert len(acknowledged) >= len(kills)
    assert set(acknowledged) <= set(found)
    assert len(found) == len(set(found))
    for session_id, answered in counts:
        assert answered == sum(1 for row in rows if row.session_id == session_id)
    store.close()
