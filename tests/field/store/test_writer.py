"""The thread that writes: what it does together, and what happens when one request fails."""

from __future__ import annotations

import asyncio
import threading

import pytest
from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from karat.field.store import Store, StoreError, schema
from karat.field.store.engine import batched

table = schema.server


@batched
def add(connection: Connection, keys: list[str]) -> list[int | Exception]:
    """Add rows; the result is how many were added together. A key `odd` is refused, `twice` breaks the transaction."""
    results: list[int | Exception] = []
    for key in keys:
        if key == "odd":
            results.append(ValueError("odd"))
            continue
        connection.execute(insert(table).values(key=key, value=""))
        results.append(len(keys))
    return results


def keys(store: Store) -> set[str]:
    with store.read() as connection:
        return set(connection.execute(select(table.c.key)).scalars())


def held_up(store: Store) -> tuple[threading.Event, threading.Thread]:
    """Keep the writer busy until the event is set."""
    begun, go = threading.Event(), threading.Event()

    def wait(_connection: Connection) -> None:
        begun.set()
        go.wait(10)

    thread = threading.Thread(target=store.call, args=(wait,))
    thread.start()
    begun.wait(10)
    return go, thread


def in_one_go(store: Store, names: list[str]) -> list[int | BaseException]:
    """Ask for several things while the writer is busy, so that they wait together."""

    async def all_of_them() -> list[int | BaseException]:
        go, thread = held_up(store)
        jobs = [asyncio.ensure_future(store.do(add, name)) for name in names]
        await asyncio.sleep(0)
        go.set()
        results = await asyncio.gather(*jobs, return_exceptions=True)
        thread.join()
        return results

    return asyncio.run(all_of_them())


def test_what_waits_is_done_together(store: Store) -> None:
    names = [f"k{number}" for number in range(20)]
    assert in_one_go(store, names) == [20] * 20
    assert keys(store) == set(names)


def test_an_exception_as_a_result_is_for_one_caller(store: Store) -> None:
    first, second, third = in_one_go(store, ["a", "odd", "b"])
    assert (first, third) == (3, 3)
    assert isinstance(second, ValueError)
    assert keys(store) == {"a", "b"}


def test_a_request_that_breaks_the_transaction_harms_nobody_else(store: Store) -> None:
    results = in_one_go(store, ["a", "b", "a", "c"])
    assert isinstance(results[2], IntegrityError)
    assert [results[0], results[1], results[3]] == [1, 1, 1], "each was tried again alone"
    assert keys(store) == {"a", "b", "c"}


def test_the_order_of_different_requests_is_kept(store: Store) -> None:
    def remove(connection: Connection, key: str) -> int:
        return connection.execute(table.delete().where(table.c.key == key)).rowcount

    async def back_and_forth() -> list[int]:
        go, thread = held_up(store)
        jobs = [asyncio.ensure_future(store.do(handle, "a")) for handle in (add, remove, add, remove, remove)]
        await asyncio.sleep(0)
        go.set()
        results = [await job for job in jobs]
        thread.join()
        return results

    assert asyncio.run(back_and_forth()) == [1, 1, 1, 1, 0]


def test_a_caller_who_left_does_not_stop_the_writer(store: Store) -> None:
    async def leave() -> None:
        go, thread = held_up(store)
        job = asyncio.ensure_future(store.do(add, "a"))
        await asyncio.sleep(0)
        job.cancel()
        go.set()
        await asyncio.gather(job, return_exceptions=True)
        await store.do(add, "b")
        thread.join()

    asyncio.run(leave())
    assert keys(store) == {"a", "b"}


def test_a_closed_store_writes_what_waits_and_then_nothing(store_url: str) -> None:
    store = Store.open(store_url)
    go, thread = held_up(store)
    waiting = threading.Thread(target=store.call, args=(add, "late"))
    waiting.start()
    while len(store._writer._jobs) < 1:
        pass
    closing = threading.Thread(target=store.close)
    closing.start()
    go.set()
    for one in (thread, waiting, closing):
        one.join(10)
    with pytest.raises(StoreError):
        store.call(add, "later")
    again = Store.open(store_url)
    assert keys(again) == {"late"}
    again.close()
