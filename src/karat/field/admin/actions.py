"""What a researcher does with a study and its people, and downloads.

Every form is checked; every action ends at a page. A process of its own writes each download to a folder that is
deleted when it was sent.

While a study is not closed, its pages are blind. Researchers who download the answers anyway are asked first, and the
store keeps when that was; the page of the study shows it from then on.
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
from karat.field.admin.jobs import DOWNLOADS, UNBLINDING, in_child, note_unblinded, portable, write_download
from karat.field.admin.login import CheckedForm, LoggedIn
from karat.field.admin.page import AdminRoute, admin_state, page
from karat.field.admin.pages import is_blind, known_study, stored
from karat.field.admin.status import status
from karat.field.server import security
from karat.field.store import Store, StoreError, people, studies
from karat.field.store.engine import Result
from karat.field.store.schema import DECISIONS
from karat.field.store.store import Parameters, Write

MOST_INVITATIONS = 1000
FOLLOWING = {"draft": ("running",), "running": ("paused", "closed"), "paused": ("running", "closed"),
             "closed": ("running",)}  # fmt: skip
"""What the state of a study may become."""

router = APIRouter(prefix="/admin", route_class=AdminRoute)


@router.post("/{slug}/state", include_in_schema=False)
async def set_state(request: Request, slug: str, researcher: LoggedIn, form: CheckedForm) -> Response:
    """Start, pause, resume or close a study; the first start freezes its screening rules."""
    row = await stored(request, slug)
    wanted = form["state"]
    if wanted not in FOLLOWING[row.state]:
        raise HTTPException(422, f"A study that is {row.state} cannot become {wanted[:20] or 'that'}.")
    if wanted == "closed" and form["confirm"] != "yes":
        current = await request.app.state.store.look(status, row.id, row.state, known_study(request, slug))
        return page(request, "close.html", researcher=researcher, row=row, status=current)
    await _do(request, studies.set_state, row.id, wanted)
    if row.state == "closed":
        await request.app.state.store.do(note_unblinded, slug)  # answers could be seen while it was closed
    return _back(slug, wanted)


@router.post("/{slug}/people/{participant}/decision", include_in_schema=False)
async def decide(request: Request, slug: str, participant: str, researcher: LoggedIn, form: CheckedForm) -> Response:
    """Exclude somebody, mark somebody as returned or rejected, or take that back."""
    row = await stored(request, slug)
    wanted = form["decision"]
    if wanted not in (*DECISIONS, "restored"):
        raise HTTPException(422, f"The decisions are {', '.join(DECISIONS)} and restored.")
    done = await _do(request, people.decide, row.id, participant, wanted)
    if not done:
        raise HTTPException(422, f"{participant} cannot be {wanted} now. Reload the page to see the current state.")
    return _back(f"{slug}/people/{participant}", wanted)


@router.post("/{slug}/people/{participant}/release", include_in_schema=False)
async def release(request: Request, slug: str, participant: str, researcher: LoggedIn, form: CheckedForm) -> Response:
    """Let a participant who lost the browser go on in another one."""
    row = await stored(request, slug)
    done = await _do(request, people.release, row.id, participant)
    return _back(f"{slug}/people/{participant}", "released" if done else "not-running")


@router.post("/{slug}/people/{participant}/erase", include_in_schema=False)
async def erase(request: Request, slug: str, participant: str, researcher: LoggedIn, form: CheckedForm) -> Response:
    """Erase all data of a participant, once the name was typed."""
    row = await stored(request, slug)
    if form["confirm"].strip() != participant:
        return _back(f"{slug}/people/{participant}", "unlike")
    if not await _do(request, people.erase, row.id, participant):
        raise HTTPException(404, "There is no such participant in this study.")
    admin_state(request).workshop.forget(slug)
    return _back(f"{slug}/people", "erased")


@router.post("/{slug}/withdraw", include_in_schema=False)
async def withdraw(request: Request, slug: str, researcher: LoggedIn, form: CheckedForm) -> Response:
    """Erase the answers of the participant with this withdrawal code."""
    row = await stored(request, slug)
    done = await _do(request, people.withdraw, row.id, form["code"])
    admin_state(request).workshop.forget(slug)
    return _back(f"{slug}/danger", "withdrawn" if done else "unknown")


@router.post("/{slug}/anonymise", include_in_schema=False)
async def anonymise(request: Request, slug: str, researcher: LoggedIn, form: CheckedForm) -> Response:
    """Take away what leads back to people, once the name of the study was typed."""
    row = await stored(request, slug)
    if form["confirm"].strip() != slug:
        return _back(f"{slug}/danger", "unlike")
    await _do(request, people.anonymise, row.id, comments=form["comments"] == "yes")
    return _back(f"{slug}/danger", "anonymised")


@router.post("/{slug}/invitations", include_in_schema=False)
async def invite(request: Request, slug: str, researcher: LoggedIn, form: CheckedForm) -> Response:
    """Make links that admit one participant each; they are shown once, since only their hashes are kept."""
    row = await stored(request, slug)
    given = form["count"].strip()
    count = int(given) if given.isdecimal() and len(given) < 6 else 0
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
    """Write something; what the store refuses is reported."""
    store: Store = request.app.state.store
    try:
        return await store.do(write, *arguments, **named)
    except StoreError as error:
        raise HTTPException(422, str(error)) from None


def _back(where: str, said: str) -> Response:
    return RedirectResponse(f"/admin/{where}?said={said}", 303)


def admin_routes() -> list[BaseRoute]:
    """All pages under /admin. The login comes first: its path would otherwise be taken for the name of a study."""
    return [*login.router.routes, *router.routes, *pages.router.routes]


TYPES = {".csv": "text/csv; charset=utf-8", ".zip": "application/zip", ".parquet": "application/vnd.apache.parquet"}


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
        await request.app.state.store.do(note_unblinded, slug)
    return await _file(request, slug, name)


def _known(name: str) -> None:
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
