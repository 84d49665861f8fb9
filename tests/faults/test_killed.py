"""The server is killed at random moments while bots answer: nothing that was acknowledged is lost, nothing is twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sqlalchemy import select

from karat.field.bots import Behaviour, Client, WalkRecord, visit
from karat.field.bots.process import ServerProcess
from karat.field.bots.walk import Way, known_answers
from karat.field.store import Store, export, studies
from karat.field.store.schema import session, trial
from karat.study.study import load

SLUG = "ratings"


def parameters(number: int) -> dict[str, str]:
    """What Prolific adds to the address."""
    return {"PROLIFIC_PID": f"{number:024x}", "STUDY_ID": "6" * 24, "SESSION_ID": f"{number + 10**9:024x}"}


async def take_part(server: ServerProcess, known: dict[str, str], bots: int, kills: int, seed: int) -> list[WalkRecord]:
    """Bots take part from the first page to the last while the server is killed and started again.

    Some come at the beginning and after each start, so that every kill meets people at all steps of their visit.
    """
    random = np.random.default_rng(seed)
    started = [asyncio.Event() for _ in range(kills)]

    async def one(number: int) -> WalkRecord:
        await started[number * kills // bots].wait()
        client = Client(server.address, seconds=30)
        way = Way(SLUG, parameters(number), known, speed=300, patience=600)
        try:
            return await visit(client, way, Behaviour("guesser", random=np.random.default_rng(number)))
        finally:
            await client.close()

    async def trouble() -> None:
        for again in started:
            again.set()
            await asyncio.sleep(float(random.uniform(0.3, 1.5)))
            server.kill()
            await asyncio.to_thread(server.start)

    records, _ = await asyncio.gather(asyncio.gather(*map(one, range(bots))), trouble())
    return records


def assert_nothing_is_lost(url: str, folder: Path, records: list[WalkRecord]) -> None:
    """Every acknowledged answer is in the export once, with the value that was sent; and nothing else is."""
    store = Store.open(url)
    try:
        with store.read() as connection:
            row = studies.find(connection, SLUG)
            assert row is not None
            frame = export.judgments(connection, row.id, load(folder)).frame
            pages = connection.execute(
                select(trial.c.public_id, session.c.participant, trial.c.rows).join_from(trial, session)
            ).all()
            people = export.participants(connection, row.id)
    finally:
        store.close()
    places = {page.public_id: (page.participant, page.rows[0]["trial"]) for page in pages if page.rows}
    sent = [(places[name], responses[""]) for record in records for name, responses in record.acknowledged.items()]
    exported = [((one["participant"], one["trial"]), one["response"]) for one in frame.iter_rows(named=True)]
    assert len(exported) == len({place for place, _ in exported}), "an answer is there twice"
    assert set(sent) == set(exported)
    assert len(sent) == len(exported) == 75 * len(records)
    assert_balanced(people, len(records))


def assert_balanced(people: pl.DataFrame, bots: int) -> None:
    """Everybody has one session, and no list has two participants more than another."""
    assert people.height == bots
    assert set(people["state"]) == {"complete"}
    lists = Counter(people["list"].to_list())
    assert len(lists) == 4
    assert max(lists.values()) - min(lists.values()) <= 1


def killed(study_folder: Path, url: str, tmp_path: Path, bots: int, kills: int) -> None:
    server = ServerProcess(study_folder, tmp_path / "data", database=url)
    with server:
        known = known_answers(load(study_folder))
        records = asyncio.run(take_part(server, known, bots, kills, seed=bots))
    assert sum(record.broken for record in records) >= kills, "the kills met nobody"
    assert [reason for record in records for reason in record.refused] == []
    assert_nothing_is_lost(url, study_folder, records)


@pytest.mark.slow
def test_many_kills(study_folder: Path, store_url: str, tmp_path: Path) -> None:
    killed(study_folder, store_url, tmp_path, bots=100, kills=20)
