"""The actions of researchers on a study and its participants, and downloads.

Every form is checked, and every action ends at a page. A separate process writes each download to a folder that is
deleted once it was sent.

Until a study is closed, its pages are blind. Researchers can download the answers anyway after a confirmation; the
store records when that first happened, and the page of the study shows it.
"""

import secrets
import shutil
from pathlib import Path
from tempfile import mkdtemp

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute

from karat.errors import KaratError
from karat.field.admin import login, pages
from karat.field.admin.jobs import DOWNLOADS, UNBLINDING, in_child, portable, write_download
from karat.field.admin.login import CheckedForm, LoggedIn
from karat.field.admin.page import AdminRoute, admin_state, page
from karat.field.admin.pages import StoredRow, is_blind, known_study
from karat.field.admin.status import status
from karat.field.server import security
from karat.field.store import Store, StoreError, people, studies
from karat.field.store.engine import Result
from karat.field.store.schema import DECISIONS
from karat.field.store.store import Parameters, Write

MOST_INVITATIONS = 1000
FOLLOWING = {"draft": ("running",), "running": ("paused", "closed"), "paused": ("running", "closed"),
             "closed": ("running",)}  # fmt: skip
"""The states that can follow each state of a study."""

router = APIRouter(prefix="/admin", route_class=AdminRoute)


@router.post("/{slug}/state", include_in_schema=False)
async def set_state(request: Request, researcher: LoggedIn, form: CheckedForm, row: StoredRow) -> Response:
    """Start, pause, resume or close a study; the first start freezes its screening rules."""
    wanted = form["state"]
    if wanted not in FOLLOWING[row.state]:
        raise HTTPException(422, f"A study that is {row.state} cannot become {wanted[:20] or 'that'}.")
    if wanted == "closed" and form["confirm"] != "yes":
        current = await request.app.state.store.look(status, row.id, row.state, known_study(request, row.slug))
        return page(request, "close.html", researcher=researcher, row=row, status=current)
    await _do(request, studies.set_state, row.id, wanted)
    return _back(row.slug, wanted)


@router.post("/{slug}/people/{participant}/decision", include_in_schema=False)
async def decide(request: Request, participant: str, form: CheckedForm, row: StoredRow) -> Response:
    """Exclude a participant, mark one as returned or rejected, or take that back."""
    wanted = form["decision"]
    if wanted not in (*DECISIONS, "restored"):
        raise HTTPException(422, f"The decisions are {', '.join(DECISIONS)} and restored.")
    done = await _do(request, people.decide, row.id, participant, wanted)
    if not done:
        raise HTTPException(422, f"{participant} cannot be {wanted} now. Reload the page to see the current state.")
    return _back(f"{row.slug}/people/{participant}", wanted)


@router.post("/{slug}/people/{participant}/release", include_in_schema=False)
async def release(request: Request, participant: str, form: CheckedForm, row: StoredRow) -> Response:
    """Let a participant continue in another browser."""
    done = await _do(request, people.release, row.id, participant)
    return _back(f"{row.slug}/people/{participant}", "released" if done else "not-running")


@router.post("/{slug}/people/{participant}/erase", include_in_schema=False)
async def erase(request: Request, participant: str, form: CheckedForm, row: StoredRow) -> Response:
    """Erase all data of a participant after the researcher has typed the name."""
    if form["confirm"].strip() != participant:
        return _back(f"{row.slug}/people/{participant}", "unlike")
    if not await _do(request, people.erase, row.id, participant):
        raise HTTPException(404, "There is no such participant in this study.")
    admin_state(request).workshop.forget(row.slug)
    return _back(f"{row.slug}/people", "erased")


@router.post("/{slug}/withdraw", include_in_schema=False)
async def withdraw(request: Request, slug: str, form: CheckedForm, row: StoredRow) -> Response:
    """Erase the answers of the participant with this withdrawal code."""
    done = await _do(request, people.withdraw, row.id, form["code"])
    admin_state(request).workshop.forget(slug)
    return _back(f"{slug}/danger", "withdrawn" if done else "unknown")


@router.post("/{slug}/anonymise", include_in_schema=False)
async def anonymise(request: Request, slug: str, form: CheckedForm, row: StoredRow) -> Response:
    """Remove what identifies participants after the researcher has typed the name of the study."""
    if form["confirm"].strip() != slug:
        return _back(f"{slug}/danger", "unlike")
    await _do(request, people.anonymise, row.id, comments=form["comments"] == "yes")
    return _back(f"{slug}/danger", "anonymised")


@router.post("/{slug}/invitations", include_in_schema=False)
async def invite(request: Request, slug: str, researcher: LoggedIn, form: CheckedForm, row: StoredRow) -> Response:
    """Make links that admit one participant each; they are shown once, because only their hashes are stored."""
    text = form["count"].strip()
    count = int(text) if text.isdecimal() and len(text) < 6 else 0
    if not 1 <= count <= MOST_INVITATIONS:
        raise HTTPException(422, f"Ask for 1 to {MOST_INVITATIONS:,} links.")
    codes = [secrets.token_urlsafe(16) for _ in range(count)]
    hashes = [security.plain_hash(code) for code in codes]
    await _do(request, studies.invite, row.id, hashes)
    address = request.app.state.config.address
    links = [f"{address}/s/{slug}/?invitation={code}" for code in codes]
    return page(request, "invitations.html", researcher=researcher, row=row, links=links,
                only=known_study(request, slug).settings.recruitment.invitations)  # fmt: skip


async def _do(
    request: Request, write: Write[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs
) -> Result:
    """Write something; 422 if the store refuses."""
    store: Store = request.app.state.store
    try:
        return await store.do(write, *arguments, **named)
    except StoreError as error:
        raise HTTPException(422, str(error)) from None


def _back(where: str, message: str) -> Response:
    return RedirectResponse(f"/admin/{where}?said={message}", 303)


def admin_routes() -> list[BaseRoute]:
    """All pages under /admin. The login comes first, because its path looks like the name of a study."""
    return [*login.router.routes, *router.routes, *pages.router.routes]


TYPES = {".csv": "text/csv; charset=utf-8", ".zip": "application/zip", ".parquet": "application/vnd.apache.parquet"}


@router.get("/{slug}/download/{name}", include_in_schema=False)
async def download(request: Request, slug: str, name: str, researcher: LoggedIn, row: StoredRow) -> Response:
    """A file, or a page that asks whether to unblind the study."""
    _check_download(name)
    if name in UNBLINDING and is_blind(row):
        return page(request, "unblind.html", researcher=researcher, row=row, name=name, what=DOWNLOADS[name])
    return await _file(request, slug, name)


@router.post("/{slug}/download/{name}", include_in_schema=False)
async def download_knowingly(request: Request, slug: str, name: str, form: CheckedForm, row: StoredRow) -> Response:
    """A file with answers before the study is closed; the store records when that first happened."""
    _check_download(name)
    if name in UNBLINDING and is_blind(row):
        await request.app.state.store.do(studies.note_unblinded, slug)
    return await _file(request, slug, name)


def _check_download(name: str) -> None:
    if name not in DOWNLOADS:
        raise HTTPException(404, f"The downloads are {', '.join(DOWNLOADS)}.")


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
