"""How a study goes: counts by list, step, quota and minute, on both databases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import time

import pytest
from sqlalchemy import Connection

from field.admin.fielding import Fielded
from karat.field.admin.pages import people
from karat.field.admin.status import ListStatus, Status, status
from karat.field.store import Store, export, progress
from karat.field.store.schema import answer


@pytest.fixture
def fielded(store: Store, study_path: Path) -> Fielded:
    return Fielded.start(store, study_path)


def current_status(fielded: Fielded, now: float | None = None) -> Status:
    with fielded.store.read() as connection:
        return status(connection, fielded.id, "running", fielded.study, now)


@pytest.mark.few(1)
def test_an_empty_study(fielded: Fielded) -> None:
    found = current_status(fielded)
    assert found.sentence() == "0 of 8 eligible, 0 running, lists 0/0"
    assert [(one.complete, one.running, one.free) for one in found.lists] == [(0, 0, 4), (0, 0, 4)]
    assert sum(found.per_minute) == found.answers == 0
    many = replace(found, lists=tuple(ListStatus(number, number % 3, 0, 4) for number in range(1, 45)))
    assert many.sentence() == "0 of 8 eligible, 0 running, 0 to 2 per list"


def test_people_are_counted_by_what_they_do(fielded: Fielded) -> None:
    for _ in range(3):
        fielded.finish()
    working = fielded.come()
    fielded.answer(working, share=0.5)
    declined = fielded.come()
    fielded.store.call(progress.finish, declined.session_id or 0, "declined")
    fielded.come(preview=True, list=1)
    found = current_status(fielded)
    assert found.sentence().startswith("3 of 8 eligible, 1 running, lists ")
    assert sum(one.complete for one in found.lists) == 3
    assert sum(one.running for one in found.lists) == 1
    assert sum(one.free for one in found.lists) == 4
    assert found.ends == {"declined": 1}
    assert found.uncounted == 1
    assert found.further() == "1 declined, 1 preview or pilot session, not counted"
    reached = {step.step: (step.reached, step.left, step.ended) for step in found.steps}
    assert reached["consent"] == (5, 0, 1)
    assert reached["trials"] == (4, 0, 0)
    assert reached["done"] == (3, 0, 0)
    assert [(one.answer, one.taken, one.most) for one in found.quotas] == [("north", 3, 4), ("south", 0, 4)]
    assert sum(found.per_minute) == found.answers > 0
    assert found.per_minute[-1] + found.per_minute[-2] == found.answers


def test_whoever_stays_away_too_long_has_left(fielded: Fielded) -> None:
    arrived = fielded.come(lease=60.0, now=1000.0)
    assert arrived.outcome == "new"
    assert current_status(fielded, now=1030.0).running == 1
    later = current_status(fielded, now=1100.0)
    assert (later.running, later.left) == (0, 1)
    assert {step.step: step.left for step in later.steps}["consent"] == 1
    assert sum(one.free for one in later.lists) == 8


def test_the_account_for_a_terminal(fielded: Fielded) -> None:
    fielded.finish(region="south")
    lines = current_status(fielded).lines()
    assert lines[0].startswith("1 of 8 eligible")
    assert "quota      region = south: 1 of 4" in lines
    assert any(line.startswith("answers    ") for line in lines)
    assert current_status(fielded).to_dict()["complete"] == 1


def test_the_last_hour_counts_what_the_whole_counts(fielded: Fielded) -> None:
    fielded.finish()
    fielded.answer(fielded.come(preview=True, list=1))
    fielded.answer(fielded.come(pilot=True))
    found = current_status(fielded)
    assert sum(found.per_minute) == found.answers > 0


def _answer_again(connection: Connection, session_id: int) -> None:
    """A participant went back and changed an answer."""
    given = answer.select().where(answer.c.session_id == session_id, answer.c.response.is_not(None))
    row = connection.execute(given).mappings().first()
    connection.execute(answer.insert().values(**{**(row or {}), "attempt": 2, "key": "again"}))


def test_as_many_answers_as_the_export_has_rows(store: Store, study_path: Path) -> None:
    """Breaks are pages without an answer, and an answer that was changed is one answer."""
    study_path.write_text(study_path.read_text() + "[questionnaire]\nbreaks_after = 5\n")
    fielded = Fielded.start(store, study_path)
    fielded.finish()
    fielded.store.call(_answer_again, 1)
    found = current_status(fielded)
    with fielded.store.read() as connection:
        exported = export.judgments(connection, fielded.id, fielded.study)
        (person,) = people(connection, fielded.id, "all", 1, ()).people
    assert found.answers == sum(found.per_minute) == len(exported) == 18
    assert person.answered == 18 + 3


def test_a_minute_is_a_minute_on_both_databases(fielded: Fielded) -> None:
    fielded.finish()
    later = current_status(fielded, now=time() + 80)
    assert (later.per_minute[58], later.per_minute[59]) == (later.answers, 0)
