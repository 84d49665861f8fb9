"""The files of a study that a browser asks for: images of its items, and scripts of tasks that are not karat's own."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from karat.field.server.request_session import field_of

router = APIRouter(tags=["pages"])
IMAGE_TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
    ".avif": "image/avif", ".svg": "image/svg+xml",
}  # fmt: skip


def _answers(what: str, kind: str) -> dict[int | str, dict[str, Any]]:
    return {
        200: {"description": f"{what}.", "content": {kind: {"schema": {"type": "string", "format": "binary"}}}},
        304: {"description": "The browser has it already."}, 400: {"description": "Not for this server."},
        404: {"description": "There is no such file."}, 422: {"description": "Not readable."},
    }  # fmt: skip


@router.get("/s/{slug}/image/{name}", responses=_answers("An image", "image/*"), response_class=FileResponse,
            summary="An image of a trial")  # fmt: skip
@router.head("/s/{slug}/image/{name}", include_in_schema=False)
async def image(slug: str, name: str, request: Request) -> Response:
    """An image that an item of the study names; no other file can be asked for."""
    path = field_of(request, slug).images.get(name)
    kind = IMAGE_TYPES.get(path.suffix.lower()) if path is not None else None
    return _file(request, path, kind, "private, max-age=3600")


@router.get("/s/{slug}/task/{name}", responses=_answers("A script", "text/javascript"), response_class=FileResponse,
            summary="The script of a task of a package of one's own")  # fmt: skip
@router.head("/s/{slug}/task/{name}", include_in_schema=False)
async def task_script(slug: str, name: str, request: Request) -> Response:
    """The browser file of a task that the study has; no other file of the package can be asked for."""
    # As with karat's own scripts, the browser asks before it uses one again.
    return _file(request, field_of(request, slug).scripts.get(name), "text/javascript", "no-cache")


def _file(request: Request, path: Path | None, kind: str | None, kept: str) -> Response:
    """A file that a browser may keep for so long; 404 where there is none."""
    try:
        about = os.stat(path) if path is not None else None
    except OSError:
        about = None
    if path is None or kind is None or about is None or not stat.S_ISREG(about.st_mode):
        raise HTTPException(404)
    tag = f'"{about.st_mtime_ns:x}-{about.st_size:x}"'
    headers = {"etag": tag, "cache-control": kept}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return FileResponse(path, media_type=kind, headers=headers, stat_result=about)
