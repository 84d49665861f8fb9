"""Downloads. A process of its own writes each to a folder that is deleted when it was sent.

While a study is not closed its pages are blind. Whoever downloads the answers all the same is asked first, and the
store keeps when that was; the page of the study shows it from then on.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from karat.errors import KaratError
from karat.field.admin.child import in_child
from karat.field.admin.jobs import DOWNLOADS, UNBLINDING, portable, write_download
from karat.field.admin.login import CheckedForm, LoggedIn
from karat.field.admin.page import page
from karat.field.admin.pages import is_blind, known_study, stored
from karat.field.admin.route import AdminRoute
from karat.field.admin.state import admin_state
from karat.field.admin.unblinded import note_unblinded

TYPES = {".csv": "text/csv; charset=utf-8", ".zip": "application/zip", ".parquet": "application/vnd.apache.parquet"}

router = APIRouter(route_class=AdminRoute)


@router.get("/{slug}/download/{name}", include_in_schema=False)
async def download(request: Request, slug: str, name: str, researcher: LoggedIn) -> Response:
    """A file, or the question whether the study shall be unblinded by it."""
    row = await stored(request, slug)
    _known(name)
    if name in UNBLINDING and is_blind(row):
        return page(request, "unblind.html", researcher=researcher, row=row, name=name, what=DOWNLOADS[name])
    return await _file(request, slug, name)


@router.post("/{slug}/download/{name}", include_in_schema=False)
async def download_knowingly(
    request: Request, slug: str, name: str, researcher: LoggedIn, form: CheckedForm
) -> Response:
    """A file with answers before the study is closed; when that first happened is kept."""
    row = await stored(request, slug)
    _known(name)
    if name in UNBLINDING and is_blind(row):
        await note_unblinded(request.app.state.store, slug)
    return await _file(request, slug, name)


def _known(name: str) -> None:
    if name not in DOWNLOADS:
        raise HTTPException(404, f"There are the downloads {', '.join(DOWNLOADS)}.")


async def _file(request: Request, slug: str, name: str) -> Response:
    study = portable(known_study(request, slug))
    folder = Path(mkdtemp(prefix="karat-download-"))
    try:
        async with admin_state(request).workshop.one_at_a_time():
            path = await in_child(write_download, request.app.state.store.url, slug, study, name, folder)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, KaratError):
            raise HTTPException(422, str(error)) from None
        raise
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(path, filename=f"{slug}-{name}", media_type=TYPES[path.suffix], background=gone)
