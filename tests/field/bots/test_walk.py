"""Whole visits: bots take part in every example study, and what was confirmed to them is what is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT
from karat.errors import KaratError
from karat.field.bots import Behaviour, Client, WalkRecord, visit
from karat.field.bots.behaviour import crowd
from karat.field.bots.process import ServerProcess
from karat.field.bots.walk import VisitError, Way, known_answers
from karat.field.store import Store, export, studies
from karat.study.study import load
from karat.study.tasks import TASKS
from messages import refuses


def walk(server: ServerProcess, way: Way, behaviour: Behaviour) -> WalkRecord:
    async def whole() -> WalkRecord:
        client = Client(server.address)
        try:
            return await visit(client, way, behaviour)
        finally:
            await client.close()

    return asyncio.run(whole())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all example studies."""
    studies = [ROOT / "examples" / task for task in sorted(TASKS)]
    made = ServerProcess(studies[0], tmp_path_factory.mktemp("walk") / "data", more=studies[1:])
    with made:
        yield made


def stored(server: ServerProcess, slug: str) -> tuple[list[str], list[str]]:
    """The responses of the last participant who came, and the states of all."""
    store = Store.open(f"sqlite:///{server.data}/karat.db")
    try:
        with store.read() as connection:
            row = studies.find(connection, slug)
            assert row is not None
            frame = export.judgments(connection, row.id, load(ROOT / "examples" / slug)).frame
            people = export.participants(connection, row.id)
    finally:
        store.close()
    last = people.sort("started")["participant"][-1]
    own = frame.filter(frame["participant"] == last)
    return own["response"].to_list(), people["state"].to_list()


@pytest.mark.few(1)
@pytest.mark.parametrize("task", sorted(TASKS))
def test_every_task_from_the_first_page_to_the_last(task: str, server: ServerProcess) -> None:
    study = load(ROOT / "examples" / task)
    (person,) = crowd(study, ["attentive"])
    record = walk(server, Way(task, known=known_answers(study), speed=0), person)
    assert not record.refused
    assert record.broken == 0
    assert set(record.sent) == record.saved
    responses, states = stored(server, task)
    assert states == ["complete"]
    sent = [response for answers in record.acknowledged.values() for response in answers.values()]
    if task == "differential":
        levels = study.blocks[0].scale.levels
        sent = [levels[int(place) - 1] for place in sent if place]
    assert sorted(responses) == sorted(response for response in sent if response)
    assert 'id="code"' in record.last_page


def test_who_drops_out_leaves_a_session_that_is_running(server: ServerProcess) -> None:
    study = load(ROOT / "examples" / "yes-no")
    (person,) = crowd(study, ["drop-out"])
    record = walk(server, Way("yes-no", known=known_answers(study), speed=0), person)
    assert record.left_early
    responses, states = stored(server, "yes-no")
    assert "running" in states
    assert len(responses) == len(record.acknowledged)


def test_who_is_not_eligible_gets_no_trials(server: ServerProcess) -> None:
    study = load(ROOT / "examples" / "likert")
    known = known_answers(study) | {"Which language did you learn first as a child?": "Polish"}
    record = walk(server, Way("likert", known=known, speed=0), Behaviour("guesser"))
    assert record.sent == {}
    assert not record.left_early
    assert "Polish" not in record.last_page


def test_without_patience_a_broken_line_is_an_error() -> None:
    with refuses(VisitError, "Errno"):
        walk(ServerProcess(Path("x"), Path("y")), Way("x"), Behaviour(random=np.random.default_rng(1)))


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with refuses(KaratError, tmp_path / "nowhere.toml", "karat init"):
        ServerProcess(tmp_path / "nowhere.toml", tmp_path / "data").start()
