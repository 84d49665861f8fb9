"""Many at once: everybody gets a session of their own, and the lists stay within one of each other."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from karat.field.bots import Client
from karat.field.bots.process import ServerProcess
from karat.field.bots.walk import Way, begin
from karat.field.store import Store, export, studies

SLUG = "ratings"


def arrived(study_folder: Path, url: str, tmp_path: Path, people: int, devices: int = 1) -> Counter[str]:
    """How many of so many simultaneous arrivals each list got, where everybody comes on so many devices at once."""

    async def one(address: str, number: int) -> int:
        client = Client(address, seconds=60)
        try:
            pid, visit = f"{number:024x}", f"{number + 10**9:024x}"
            way = Way(SLUG, {"PROLIFIC_PID": pid, "STUDY_ID": "6" * 24, "SESSION_ID": visit})
            return (await begin(client, way)).status
        finally:
            await client.close()

    async def everybody(address: str) -> list[int]:
        return await asyncio.gather(*(one(address, number) for number in list(range(people)) * devices))

    with ServerProcess(study_folder, tmp_path / "data", database=url) as server:
        statuses = asyncio.run(everybody(server.address))
    # The session goes to the device that came last; the others are informed.
    assert {min(statuses[number::people]) for number in range(people)} == {200}
    assert set(statuses) <= ({200} if devices == 1 else {200, 401})
    store = Store.open(url)
    try:
        with store.read() as connection:
            row = studies.find(connection, SLUG)
            assert row is not None
            found = export.participants(connection, row.id)
    finally:
        store.close()
    assert found.height == people
    return Counter(found["list"].to_list())


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("devices", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_some_arrive_at_once(study_folder: Path, store_url: str, tmp_path: Path, devices: int) -> None:
    lists = arrived(study_folder, store_url, tmp_path, 42, devices)
    assert sorted(lists.values()) == [10, 10, 11, 11]


@pytest.mark.slow
def test_two_hundred_arrive_at_once(study_folder: Path, store_url: str, tmp_path: Path) -> None:
    assert set(arrived(study_folder, store_url, tmp_path, 200).values()) == {50}
