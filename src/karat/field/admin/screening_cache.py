"""What the pages know of the criteria: computed only when somebody looks, and not again before some time has passed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from time import monotonic, time
from typing import Any

from karat.errors import KaratError
from karat.field.admin.child import in_child
from karat.field.admin.jobs import Screened, portable, screen_now
from karat.field.store import Store
from karat.field.store.advisory_locks import advisory_lock
from karat.study.study import Study

LEAST_SECONDS = 20.0
TIMES_ITS_OWN = 5
"""A large study waits at least so many times as long as the computation took."""


class ScreeningCache:
    """The latest screening of each study; one computation at a time, also where several servers have one database."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._one_at_a_time = asyncio.Semaphore(1)
        self._latest: dict[tuple[str, bool], Screened] = {}
        self._next: dict[tuple[str, bool], float] = {}
        self._tasks: dict[tuple[str, bool], asyncio.Task[None]] = {}

    def latest(self, slug: str, study: Study, rules: dict[str, Any] | None, blind: bool) -> Screened | None:
        """What was computed last, None where nothing was yet; a new computation begins where the time has come."""
        key = (slug, blind)
        if key not in self._tasks and monotonic() >= self._next.get(key, 0.0):
            self._tasks[key] = asyncio.create_task(self._compute(key, study, rules))
        return self._latest.get(key)

    async def fresh(self, slug: str, study: Study, rules: dict[str, Any] | None, blind: bool) -> Screened | None:
        """The same, waiting for the computation that is under way."""
        found = self.latest(slug, study, rules, blind)
        task = self._tasks.get((slug, blind))
        if task is None:
            return found
        await asyncio.shield(task)
        return self._latest.get((slug, blind))

    def forget(self, slug: str) -> None:
        """Compute anew at the next look: somebody was erased, or the study is another one now."""
        for key in ((slug, True), (slug, False)):
            self._latest.pop(key, None)
            self._next.pop(key, None)

    @contextlib.asynccontextmanager
    async def one_at_a_time(self) -> AsyncIterator[None]:
        """Wait until nothing else is computed, here or by another server on the database."""
        async with self._one_at_a_time, advisory_lock(self.store, "computation"):
            yield

    async def _compute(self, key: tuple[str, bool], study: Study, rules: dict[str, Any] | None) -> None:
        slug, blind = key
        began = monotonic()
        try:
            async with self.one_at_a_time():
                began = monotonic()
                self._latest[key] = await in_child(screen_now, self.store.url, slug, portable(study), rules, blind)
        except KaratError as error:
            self._latest[key] = Screened(note=str(error), made=time())
        finally:
            self._next[key] = monotonic() + max(LEAST_SECONDS, TIMES_ITS_OWN * (monotonic() - began))
            self._tasks.pop(key, None)
