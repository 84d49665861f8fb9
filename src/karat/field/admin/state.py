"""What the pages of the dashboard share while the server runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.requests import Request

from karat.field.admin.screening_cache import ScreeningCache

LOGINS_AT_ONCE = 2
"""Each check of a password takes 32 MiB."""


@dataclass(frozen=True)
class AdminState:
    """The computations that are under way, and the logins that may be checked at the same time."""

    workshop: ScreeningCache
    logins: asyncio.Semaphore


def admin_state(request: Request) -> AdminState:
    """The state of the dashboard, made at the first request."""
    state = request.app.state
    if not hasattr(state, "admin"):
        state.admin = AdminState(ScreeningCache(state.store), asyncio.Semaphore(LOGINS_AT_ONCE))
    found: AdminState = state.admin
    return found
