"""The basis of all dashboard pages: templates, shared state, and pages for errors.

The criteria are computed only when somebody opens a page, and not again before some time has passed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic, time
from typing import Any

from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from karat.errors import KaratError
from karat.field.admin.jobs import Screened, in_child, portable, screen_now
from karat.field.store import Store
from karat.field.store.store import advisory_lock
from karat.study.study import Study


def page(request: Request, template: str, code: int = 200, **values: Any) -> HTMLResponse:
    """A page of the dashboard."""
    return HTMLResponse(render(request, template, **values), code)


def render(request: Request, template: str, **values: Any) -> str:
    """A template of the dashboard, filled."""
    text: str = request.app.state.templates.get_template(f"admin/{template}").render(
        ago=ago, day=day, trouble=request.app.state.health.trouble, **values
    )
    return text


def ago(seconds: float | None) -> str:
    """How long ago something happened, in a few words."""
    if seconds is None:
        return ""
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    return f"{seconds // 3600:.0f} h ago" if seconds < 48 * 3600 else f"{seconds // 86400:.0f} days ago"


def day(moment: float | None) -> str:
    """A point in time as text, in UTC."""
    if moment is None:
        return ""
    when = datetime.fromtimestamp(moment, UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


HEADINGS = {403: "Not done", 404: "Not found", 422: "Not done", 500: "Something went wrong"}


class AdminRoute(APIRoute):
    """A route that shows errors as pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def answer_in_words(request: Request) -> Response:
            try:
                return await answer(request)
            except HTTPException as error:
                return _error_page(request, error)

        return answer_in_words


def _error_page(request: Request, error: HTTPException) -> Response:
    if error.status_code == 303 and error.headers is not None:
        return RedirectResponse(error.headers["Location"], 303)
    if asks_for_data(request):
        return JSONResponse({"error": error.detail}, error.status_code)
    heading = HEADINGS.get(error.status_code, "Not possible")
    return page(request, "error.html", error.status_code, heading=heading, message=error.detail)


def asks_for_data(request: Request) -> bool:
    """Whether the script of a study's page sends the request; a study itself may be called live."""
    return request.url.path.endswith("/live") and request.url.path.count("/") > 2


LOGINS_AT_ONCE = 2
"""Each check of a password takes 32 MiB."""


@dataclass(frozen=True)
class AdminState:
    """The cache of screenings, and the limit on simultaneous password checks."""

    workshop: ScreeningCache
    logins: asyncio.Semaphore


def admin_state(request: Request) -> AdminState:
    """The state of the dashboard, which the first request creates."""
    state = request.app.state
    if not hasattr(state, "admin"):
        state.admin = AdminState(ScreeningCache(state.store), asyncio.Semaphore(LOGINS_AT_ONCE))
    admin: AdminState = state.admin
    return admin


LEAST_SECONDS = 20.0
TIMES_ITS_OWN = 5
"""The least interval between computations, as a multiple of their duration."""


class ScreeningCache:
    """The latest screening of each study; one computation at a time, even if several servers share a database."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._one_at_a_time = asyncio.Semaphore(1)
        self._latest: dict[tuple[str, bool], Screened] = {}
        self._next: dict[tuple[str, bool], float] = {}
        self._tasks: dict[tuple[str, bool], asyncio.Task[None]] = {}

    def latest(self, slug: str, study: Study, rules: dict[str, Any] | None, blind: bool) -> Screened | None:
        """The latest result, None if there is none yet; starts a new computation when one is due."""
        key = (slug, blind)
        if key not in self._tasks and monotonic() >= self._next.get(key, 0.0):
            self._tasks[key] = asyncio.create_task(self._compute(key, study, rules))
        return self._latest.get(key)

    async def fresh(self, slug: str, study: Study, rules: dict[str, Any] | None, blind: bool) -> Screened | None:
        """The latest result after the running computation, if there is one."""
        self.latest(slug, study, rules, blind)
        task = self._tasks.get((slug, blind))
        if task is not None:
            await asyncio.shield(task)
        return self._latest.get((slug, blind))

    def forget(self, slug: str) -> None:
        """Compute again at the next request, because a participant was erased or the study has changed."""
        for key in ((slug, True), (slug, False)):
            self._latest.pop(key, None)
            self._next.pop(key, None)

    @contextlib.asynccontextmanager
    async def one_at_a_time(self) -> AsyncIterator[None]:
        """Wait until no other computation runs, here or in another server on the database."""
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
