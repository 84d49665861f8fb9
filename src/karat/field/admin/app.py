"""The dashboard as a part of the application."""

from __future__ import annotations

from fastapi import APIRouter

from karat.field.admin import actions, downloads, login, pages


def admin_router() -> APIRouter:
    """All pages under /admin. The login comes first: its path would otherwise be taken for the name of a study."""
    router = APIRouter()
    for part in (login, downloads, actions, pages):
        router.include_router(part.router, prefix="/admin")
    return router
