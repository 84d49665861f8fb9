"""A page of the dashboard from its template."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse


def page(request: Request, template: str, code: int = 200, **values: Any) -> HTMLResponse:
    """A page of the dashboard."""
    return HTMLResponse(render(request, template, **values), code)


def render(request: Request, template: str, **values: Any) -> str:
    """A template of the dashboard, filled."""
    text: str = request.app.state.templates.get_template(f"admin/{template}").render(ago=ago, day=day, **values)
    return text


def ago(seconds: float | None) -> str:
    """How long ago something was, in a few words.

    >>> ago(5), ago(200), ago(3 * 3600), ago(50 * 3600)
    ('just now', '3 min ago', '3 h ago', '2 days ago')
    """
    if seconds is None:
        return ""
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    return f"{seconds // 3600:.0f} h ago" if seconds < 48 * 3600 else f"{seconds // 86400:.0f} days ago"


def day(moment: float | None) -> str:
    """A point in time as people write it, in UTC.

    >>> day(0)
    '1 January 1970, 00:00 UTC'
    """
    if moment is None:
        return ""
    when = datetime.fromtimestamp(moment, UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"
