"""Assignment to lists, second visits, invitations and what keeps people out."""

from __future__ import annotations

import multiprocessing
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from field.store.stand_ins import HOUR, arrival, arrive_many, begin, come, send, start
from karat.field.store import Store, StoreError, arrivals, people, progress, schema, studies
from messages import refuses


def spread(counts: Counter[Any], lists: int = 4) -> int:
    """How far the fullest and the emptiest list are apart."""
    filled = [counts.get(number, 0) for number in range(1, lists + 1)]
    return max(filled) - min(filled)


def test_simultaneous_arrivals_are_spread_evenly(store: Store) -> None:
    study_id = start(store)
    with ThreadPoolExecutor(50) as threads:
        came = list(threads.map(lambda _: come(store, study_id, lists=7), range(200)))
    assert {one.outcome for one in came} == {"new"}
    assert len({one.participant for one in came}) == 200
    assert spread(Counter(one.list for one in came), 7) <= 1


def test_names_and_codes_cannot_be_misread_or_spell_words(store: Store) -> None:
    number = come(store, start(store)).session_id
    with store.read() as connection:
        row = connection.execute(select(schema.session).where(schema.session.c.id == number)).one()
    assert not set(arrivals.LETTERS) & set("aeiouy01")
    letters = f"[{arrivals.LETTERS}]"
    assert re.fullmatch(f"p-{letters}{{6}}", row.participant)
    assert re.fullmatch(f"{letters}{{4}}-{letters}{{4}}-{letters}{{4}}", row.withdrawal_code)
    assert re.fullmatch(f"K{letters.upper()}{{9}}", row.completion_code)


@pytest.mark.slow
@pytest.mark.parametrize("store_url", [pytest.param("sqlite", marks=pytest.mark.slow), "postgresql"], indirect=True)
@pytest.mark.parametrize("servers", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_arrivals_at_several_processes_are_spread_evenly(store_url: str, servers: int) -> None:
    store = Store.open(store_url)
    study_id = start(store)
    store.close()
    with multiprocessing.get_context("spawn").Pool(servers) as processes:
        lists = processes.starmap(arrive_many, [(store_url, study_id, 50)] * servers)
    assert sum(map(len, lists)) == 50 * servers
    assert spread(Counter(number for part in lists for number in part), 7) <= 1


def test_whoever_drops_out_is_replaced_on_the_same_list(store: Store) -> None:
    study_id = start(store)
    came = [come(store, study_id, now=1000.0) for _ in range(8)]
    gone = came[3]
    for one in came:
        if one is not gone:
            store.call(progress.touch, one.session_id or 0, 10 * HOUR, now=1000.0)
    after = 1000.0 + HOUR + 1
    assert come(store, study_id, now=after).list == gone.list
    back = come(store, study_id, known_token=gone.token_hash, now=after)
    assert (back.outcome, back.list) == ("resumed", gone.list)
    # The list has now one more than the others, so the next four begin with those.
    following = [come(store, study_id, now=after).list for _ in range(3)]
    assert gone.list not in following


@pytest.mark.few(3)
@pytest.mark.parametrize("end", ["declined", "screened-out", "failed-quiz", "full", "excluded", "rejected", "returned"])
def test_a_seat_is_free_again_after(end: str, store: Store) -> None:
    study_id = start(store)
    came = [come(store, study_id, wanted=8) for _ in range(8)]
    assert come(store, study_id, wanted=8).outcome == "full"
    if end in schema.DECISIONS:
        assert store.call(people.decide, study_id, came[5].participant or "", end)
    else:
        assert store.call(progress.finish, came[5].session_id or 0, end) == "ok"
    new = come(store, study_id, wanted=8)
    assert (new.outcome, new.list) == ("new", came[5].list)
    assert come(store, study_id, wanted=8).outcome == "full"


def test_previews_and_pilots_take_no_seat(store: Store) -> None:
    study_id = start(store)
    assert [come(store, study_id, preview=True, list=3).list for _ in range(3)] == [3, 3, 3]
    pilots = [come(store, study_id, pilot=True, wanted=2).list for _ in range(4)]
    assert sorted(number or 0 for number in pilots) == [1, 2, 3, 4], "pilots are spread among themselves"
    assert [come(store, study_id, wanted=2).outcome for _ in range(3)] == ["new", "new", "full"]


def test_no_list_gets_more_than_its_quota(store: Store) -> None:
    study_id = start(store)
    came = [come(store, study_id, list_quota=2) for _ in range(9)]
    assert [one.outcome for one in came] == ["new"] * 8 + ["full"]
    assert set(Counter(one.list for one in came[:8]).values()) == {2}


@pytest.mark.parametrize(("state", "outcome"), [("draft", "closed"), ("paused", "paused"), ("closed", "closed")])
def test_a_study_that_does_not_run_lets_nobody_in(state: str, outcome: str, store: Store) -> None:
    study_id = start(store, state="draft")
    known = None
    if state != "draft":
        store.call(studies.set_state, study_id, "running")
        known = come(store, study_id).token_hash
        store.call(studies.set_state, study_id, state)
    assert come(store, study_id).outcome == outcome
    assert come(store, study_id, preview=True).outcome == "new"
    assert come(store, study_id, pilot=True).outcome == ("new" if state == "draft" else outcome)
    if known:
        assert come(store, study_id, known_token=known).outcome == "resumed", "who is in already may go on"


def test_a_study_that_is_not_there(store: Store) -> None:
    with refuses(StoreError, "study number 7"):
        come(store, 7)


def test_the_same_request_twice_is_one_session(store: Store) -> None:
    study_id = start(store)
    request = arrival(study_id)
    first, again = store.call(arrivals.arrive, request), store.call(arrivals.arrive, request)
    assert first == again


def test_a_second_visit_resumes_only_what_is_provably_ones_own(store: Store) -> None:
    study_id = start(store)
    first = come(store, study_id, person_hash="ada", resume_hash="submission 1")
    stranger = come(store, study_id, person_hash="ada", resume_hash="submission 2")
    assert (stranger.outcome, stranger.session_id, stranger.token_hash) == ("taken", None, None)
    assert come(store, study_id, person_hash="ada").outcome == "taken"
    back = come(store, study_id, person_hash="ada", resume_hash="submission 1")
    assert (back.outcome, back.session_id, back.list) == ("resumed", first.session_id, first.list)
    with store.read() as connection:
        assert progress.load(connection, first.token_hash or "") is None, "the old token is worth nothing now"
        assert progress.load(connection, back.token_hash or "") is not None
    by_token = come(store, study_id, person_hash="ada", known_token=back.token_hash)
    assert (by_token.outcome, by_token.session_id) == ("resumed", first.session_id)


def test_second_person_at_a_browser_gets_a_new_session(store: Store) -> None:
    study_id = start(store)
    first = come(store, study_id, person_hash="ada")
    second = come(store, study_id, person_hash="bob", known_token=first.token_hash)
    assert second.outcome == "new"
    assert second.participant != first.participant


def test_an_own_session_that_is_over_is_shown_again(store: Store) -> None:
    study_id = start(store)
    first = come(store, study_id, person_hash="ada", resume_hash="r")
    store.call(progress.finish, first.session_id or 0, "screened-out")
    back = come(store, study_id, person_hash="ada", resume_hash="r")
    assert (back.outcome, back.state, back.session_id) == ("ended", "screened-out", first.session_id)
    assert come(store, study_id, person_hash="ada").outcome == "taken"


def test_policy_block(store: Store) -> None:
    study_id = start(store)
    first = come(store, study_id)
    assert come(store, study_id, known_token=first.token_hash, policy="block").outcome == "taken"


def test_policy_restart_keeps_the_list_and_the_earlier_answers(store: Store) -> None:
    study_id = start(store)
    first, pages = begin(store, study_id, person_hash="ada", resume_hash="r")
    send(store, first, (pages[0].public_id, "key-1", "4"))
    again = come(store, study_id, person_hash="ada", resume_hash="r", policy="restart")
    assert (again.outcome, again.list, again.participant) == ("new", first.list, first.participant)
    assert again.session_id != first.session_id
    with store.read() as connection:
        states = dict(connection.execute(select(schema.session.c.id, schema.session.c.state)).all())
        kept = connection.execute(select(schema.answer.c.session_id)).scalars().all()
    assert states == {first.session_id: "restarted", again.session_id: "running"}
    assert kept == [first.session_id]
    third = come(store, study_id, person_hash="ada", resume_hash="r", policy="continue")
    assert (third.outcome, third.session_id) == ("resumed", again.session_id)


def test_one_time_link_is_used_once_and_resumes(store: Store) -> None:
    study_id = start(store)
    assert store.call(studies.invite, study_id, ["h1", "h2", "h1"]) == 2
    assert store.call(studies.invite, study_id, ["h2", "h3"]) == 1
    assert come(store, study_id, invited_only=True).outcome == "refused"
    assert come(store, study_id, invited_only=True, invitation_hash="h9").outcome == "refused"
    first = come(store, study_id, invited_only=True, invitation_hash="h1")
    again = come(store, study_id, invited_only=True, invitation_hash="h1")
    assert (first.outcome, again.outcome, again.session_id) == ("new", "resumed", first.session_id)
    store.call(people.erase, study_id, first.participant or "")
    assert come(store, study_id, invited_only=True, invitation_hash="h1").outcome == "refused"


def test_other_studies_can_keep_people_out_or_let_them_in(store: Store) -> None:
    study_id, day = start(store, "new"), 86_400.0
    old = arrivals.PriorParticipation("old", "ada", "prolific", complete=True, time=0.0)
    assert [store.call(arrivals.note_participation, old), store.call(arrivals.note_participation, old)] == [True, False]
    store.call(arrivals.note_participation, arrivals.PriorParticipation("old", "bob", "prolific", time=0.0))

    def outcome(person: str | None, **settings: Any) -> str:
        return come(store, study_id, person_hash=person, preview=False, now=10 * day, **settings).outcome

    assert outcome("ada", not_from=["old"]) == "refused"
    assert outcome("ada", not_from=["old"], waiting_seconds=20 * day) == "refused"
    assert outcome("ada", not_from=["old"], waiting_seconds=5 * day) == "new"
    assert outcome("bob", only_from=["old"]) == "refused", "bob did not complete it"
    assert outcome("cy", only_from=["old", "older"]) == "refused"
    assert outcome(None, not_from=["old"]) == "refused", "nothing is known of somebody without a name"
    assert outcome("cy", not_from=["old"]) == "new"


def test_whoever_saw_the_trials_is_no_longer_naive(store: Store) -> None:
    first, second = start(store, "first"), start(store, "second")
    begin(store, first, person_hash="ada")
    come(store, first, person_hash="bob")
    assert come(store, second, person_hash="ada", not_from=["first"]).outcome == "refused"
    assert come(store, second, person_hash="bob", not_from=["first"]).outcome == "new"


def test_the_second_session_waits_and_keeps_name_and_list(store: Store) -> None:
    study_id = start(store)
    settings = {"person_hash": "ada", "sessions": 2, "seconds_between": 100.0, "lists": 4}
    first, pages = begin(store, study_id, 1, now=1000.0, resume_hash="r1", **settings)
    send(store, first, (pages[0].public_id, "key-1", "3"), now=1010.0)
    assert store.call(progress.finish, first.session_id or 0, "complete", now=1020.0) == "ok"
    early = come(store, study_id, now=1100.0, resume_hash="r2", **settings)
    assert (early.outcome, early.not_before, early.token_hash) == ("early", 1120.0, None)
    second = come(store, study_id, now=1121.0, resume_hash="r2", **settings)
    assert (second.outcome, second.number) == ("new", 2)
    assert (second.participant, second.list) == (first.participant, first.list)
    back = come(store, study_id, now=1122.0, resume_hash="r2", **settings)
    assert (back.outcome, back.session_id) == ("resumed", second.session_id)
    assert come(store, study_id, now=1200.0, resume_hash="r3", **settings).outcome == "taken"
    with store.read() as connection:
        assert [one.number for one in progress.find(connection, study_id, first.participant or "")] == [1, 2]


def test_the_platforms_ids_stand_apart(store: Store) -> None:
    study_id = start(store)
    result = arrivals.Identity("5f0c", "6a1b", "7d2e")
    came = come(store, study_id, identity=result)
    come(store, study_id, identity=result, preview=True)
    with store.read() as connection:
        rows = connection.execute(select(schema.identity)).all()
    assert [tuple(row) for row in rows] == [(came.session_id, "5f0c", "6a1b", "7d2e")]
