"""When answers to test trials could first be seen before a study was over; kept in the store, shown ever after."""

from __future__ import annotations

from time import time

from sqlalchemy import Connection

from karat.field.store import Store, studies


def unblinded_at(connection: Connection, slug: str) -> float | None:
    """When the study was unblinded; None where it was not."""
    value = studies.value(connection, f"unblinded:{slug}")
    return None if value is None else float(value)


async def note_unblinded(store: Store, slug: str) -> None:
    """Keep that the study is unblinded from now on, unless it was before."""
    if await store.look(unblinded_at, slug) is None:
        await store.do(studies.set_value, studies.ServerValue(f"unblinded:{slug}", str(time())))
