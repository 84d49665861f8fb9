"""The application behind the browser app: its pages, their requests, and downloads."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp
from typing import Annotated, Any
from urllib.parse import quote

import uvicorn
from fastapi import APIRouter, Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, StringConstraints
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from karat.errors import KaratError
from karat.field.server.headers import NO_TELEMETRY, POLICY, WEB, environment
from karat.signals import signals_handled
from karat.studio.corrections import Corrections
from karat.studio.folder import LIMIT, TOO_LARGE, StudioError
from karat.studio.guard import COOKIE, NOT_YOURS, REPORT_POLICY, Keys, LoopbackGuard, Presence, State
from karat.studio.uploads import Upload, Uploads
from karat.studio.workspace import Workspace
from karat.study.init import LANGUAGES, SETS_TASKS, TEMPLATES

HERE = Path(__file__).parent
FIRST = ("trial", "rt", "function", "expected")
"""The columns shown after the required ones; others appear if they are found, or on demand."""
router = APIRouter()


class PageNews(BaseModel, extra="forbid"):
    """The report of a page about its state."""

    page: Annotated[str, StringConstraints(pattern=r"^[0-9a-f-]{1,64}$")]
    state: State


def create_app(cases: Uploads, keys: Keys, presence: Presence, studies: Path | None = None) -> FastAPI:
    """The application of one run; `studies` is the folder of the studies."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False, telemetry=NO_TELEMETRY)
    app.state.cases, app.state.keys, app.state.presence = cases, keys, presence
    app.state.workspace = Workspace((studies or cases.target.parent).resolve(), cases.root)
    app.state.servers = None
    app.state.templates = environment(HERE / "templates")
    app.state.templates.policies["json.dumps_kwargs"] = {"sort_keys": False}  # the order of factors has a meaning
    app.add_middleware(StudyPages, whole=app, base=keys.base)
    app.add_middleware(LoopbackGuard, keys=keys)
    app.add_exception_handler(HTTPException, _answered)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(KaratError, _sentence)
    app.add_api_route("/", enter, methods=["GET"])
    app.include_router(router, prefix=keys.base)
    # The style is that of the pages of participants and researchers.
    for path, folder in (("look", WEB / "static"), ("static", HERE / "static")):
        app.mount(f"{keys.base}/{path}", StaticFiles(directory=folder, follow_symlink=False))
    return app


class StudyPages:
    """Adds the pages of studies when the first one is requested, so that the list of studies does not wait for them."""

    def __init__(self, app: ASGIApp, whole: FastAPI, base: str) -> None:
        self.app, self._whole, self._base = app, whole, base
        self._there = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        paths = tuple(f"{self._base}/{name}" for name in ("studies", "sheets", "folder", "dashboard"))
        if not self._there and scope["type"] == "http" and scope["path"].startswith(paths):
            router = await run_in_threadpool(_study_router)
            if not self._there:
                self._there = True
                self._whole.include_router(router, prefix=self._base)
        await self.app(scope, receive, send)


def _study_router() -> APIRouter:
    from karat.studio.study_pages import study_router

    return study_router


async def enter(request: Request, key: str = "") -> Response:
    """Use the key: set the cookie and link to the app."""
    keys: Keys = request.app.state.keys
    if not keys.turn(key):
        return _page(request, "message.html", 403, title="Closed", message=NOT_YOURS)
    # The app opens by a link of this page, because a browser sends a strict cookie only from a page of the same site.
    response = _page(request, "enter.html", onward=f"{keys.base}/")
    response.set_cookie(COOKIE, keys.cookie, path=keys.base, httponly=True, samesite="strict")
    return response


@router.get("/")
def home(request: Request) -> Response:
    """The studies, the form for a new one, and the place to drop results."""
    request.app.state.presence.seen()
    cases: Uploads = request.app.state.cases
    workspace: Workspace = request.app.state.workspace
    return _page(
        request, "home.html", cases=list(cases.known.values()), limit=LIMIT // 1024**2,
        projects=workspace.projects(),
        folder=str(workspace.root), templates=TEMPLATES, sheet_tasks=(*SETS_TASKS, "choice"), languages=LANGUAGES,
    )  # fmt: skip


@router.get("/formats")
def formats(request: Request) -> Response:
    """The formats of results."""
    from karat.intake.readers import reader_titles

    return JSONResponse({"formats": list(reader_titles().values())})


@router.post("/here")
async def here(request: Request, news: PageNews) -> Response:
    """A page reports that it is open, asleep or closed."""
    request.app.state.presence.tell(news.page, news.state)
    return Response(status_code=204)


async def found_cases(request: Request) -> Uploads:
    """The drops of this run."""
    cases: Uploads = request.app.state.cases
    return cases


Cases = Annotated[Uploads, Depends(found_cases)]


async def found_case(cases: Cases, case_id: str) -> Upload:
    """The drop of an address; 404 if there is none."""
    case = cases.known.get(case_id)
    if case is None:
        raise HTTPException(404)
    return case


FoundCase = Annotated[Upload, Depends(found_case)]


@router.post("/cases")
async def new_case(request: Request, cases: Cases) -> Response:
    """Begin a drop."""
    return JSONResponse({"address": f"{request.app.state.keys.base}/cases/{cases.new().id}"}, 201)


@router.put("/cases/{case_id}/files/{name:path}", status_code=204)
async def drop(request: Request, case: FoundCase, name: str) -> None:
    """Save a file, piece by piece, in the folder of its case."""
    length = request.headers.get("content-length", "0")
    if case.job is not None:
        raise StudioError("The last step is not done yet. Wait for it, or stop it.")
    place = case.take(name, int(length) if length.isascii() and length.isdigit() else 0)
    before = place.stat().st_size if place.exists() else 0
    taken = 0
    part = case.folder / f"part-{token_hex(8)}"  # not among the files before it is complete
    try:
        with part.open("wb") as file:
            async for piece in request.stream():
                taken += len(piece)
                if case.size - before + taken > LIMIT:
                    raise StudioError(TOO_LARGE)
                await run_in_threadpool(file.write, piece)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
    case.size += taken - before


@router.post("/cases/{case_id}/look", status_code=202)
async def look(cases: Cases, case: FoundCase, choices: Corrections | None = None) -> None:
    """Read the files, as guessed or as corrected on the page."""
    cases.look(case, choices)


@router.post("/cases/{case_id}/report", status_code=202)
async def report(cases: Cases, case: FoundCase, choices: Corrections | None = None) -> None:
    """Screen the results and write the report."""
    cases.report(case, choices)


@router.post("/cases/{case_id}/stop", status_code=202)
async def stop(cases: Cases, case: FoundCase) -> None:
    """Stop the job of a drop."""
    cases.stop(case)


@router.post("/cases/{case_id}/keep")
def keep(cases: Cases, case: FoundCase) -> dict[str, str]:
    """Copy the results to their final folder."""
    return {"folder": str(cases.keep(case))}


@router.post("/cases/{case_id}/delete", status_code=204)
def delete(cases: Cases, case: FoundCase) -> None:
    """Delete a drop and its results."""
    cases.delete(case)


@router.get("/cases/{case_id}")
async def show(request: Request, cases: Cases, case: FoundCase) -> Response:
    """The page of a drop."""
    request.app.state.presence.seen()
    job, target = case.job, str(case.home or cases.target)
    progress = None if job is None else job.progress()
    return _page(
        request, "case.html", case=case, progress=progress, limit=LIMIT // 1024**2, target=target, form=_form(case),
        languages=LANGUAGES,
    )  # fmt: skip


@router.get("/cases/{case_id}/progress")
async def progress(case: FoundCase) -> dict[str, Any]:
    """The progress of the job of a drop."""
    return {"working": False} if case.job is None else {"working": True, **case.job.progress()}


@router.get("/cases/{case_id}/report.html")
async def page(case: FoundCase) -> Response:
    """The report."""
    return _file(case, "report.html", {POLICY: REPORT_POLICY})


@router.get("/cases/{case_id}/everything.zip")
async def everything(case: FoundCase) -> Response:
    """All results in one archive."""
    name = case.written.archive if case.written else ""
    return _file(case, name, {"content-disposition": f"attachment; filename*=utf-8''{quote(name)}"})


def _file(case: Upload, name: str, headers: dict[str, str]) -> Response:
    """A result file; only names that the job returned are served."""
    if case.written is None or name not in (*case.written.files, case.written.archive):
        raise HTTPException(404)
    return FileResponse(case.made / name, headers=headers)


def _form(case: Upload) -> dict[str, Any]:
    """The values of the correction form."""
    seen = case.seen
    if seen is None or not seen.results:
        return {}
    from karat.intake.readers import reader_titles
    from karat.judgments.columns import COLUMNS, REQUIRED

    columns = seen.columns
    first = (*REQUIRED, *FIRST)
    visible = [name for name in COLUMNS if name in first or columns.mapped.get(name)]
    return {
        "first": [COLUMNS[name] for name in sorted(visible, key=lambda name: (*first, name).index(name))],
        "more": [column for name, column in COLUMNS.items() if name not in visible],
        "readers": list(reader_titles().items()),
        "required": REQUIRED,
    }


def _page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    keys: Keys = request.app.state.keys
    text = request.app.state.templates.get_template(template).render(base=keys.base, **values)
    return HTMLResponse(text, status)


async def _answered(request: Request, raised: Exception) -> Response:
    status = getattr(raised, "status_code", 500)
    sentence = "This is not there, or it was deleted." if status == 404 else "This could not be done."
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return _page(request, "message.html", status, title="Not there", message=sentence)
    return JSONResponse({"error": sentence}, status)


async def _unreadable(request: Request, raised: Exception) -> Response:
    return JSONResponse({"error": "The page sent something that cannot be. Load it again."}, 422)


async def _sentence(request: Request, raised: Exception) -> Response:
    sentence = str(raised)
    return JSONResponse({"error": sentence}, 413 if TOO_LARGE in sentence else 409)


HOST = "127.0.0.1"
TICK = 1.0
SECONDS_TO_FINISH = 3


def listen(port: int = 0) -> socket.socket:
    """A socket that only this machine can reach; port 0 picks a free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise StudioError(
            f"The page cannot be opened on port {port}: {error.strerror or error}. Leave out --port to use a free one."
        ) from None
    listener.listen()
    return listener


def open_studio(
    target: Path, port: int = 0, ready: Callable[[str], None] = print, studies: Path | None = None
) -> list[Path]:
    """Serve until the page is closed or the process is asked to stop; returns the folders with saved results.

    `ready` gets the address that opens the page once. At the end, all dropped files are deleted unless they were saved;
    the studies in the folder `studies` stay.
    """
    with listen(port) as listener:
        cases = Uploads(Path(mkdtemp(prefix="karat-open-")), target)  # nobody else can read this folder
        try:
            keys = Keys(listener.getsockname()[1])
            presence = Presence()
            app = create_app(cases, keys, presence, studies)
            settings = uvicorn.Config(
                app, ws="none", lifespan="off", log_level="warning", access_log=False,
                server_header=False, proxy_headers=False, timeout_graceful_shutdown=SECONDS_TO_FINISH,
            )  # fmt: skip
            server = _StudioServer(settings, presence, lambda: ready(keys.address))
            try:
                with signals_handled(("SIGTERM", "SIGHUP"), server.stop), contextlib.suppress(KeyboardInterrupt):
                    server.run(sockets=[listener])  # on Ctrl-C, uvicorn stops in order and raises the interrupt again
            finally:
                if app.state.servers is not None:
                    app.state.servers.close()
        finally:
            cases.close()
    return cases.kept


class _StudioServer(uvicorn.Server):
    """A server that reports when it is ready, and stops when the last page is closed."""

    def __init__(self, config: uvicorn.Config, presence: Presence, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._presence = presence
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if not self.should_exit:
            self._watch = asyncio.create_task(self._watch_pages())
            self._ready()

    async def _watch_pages(self) -> None:
        while not self._presence.tick(TICK):
            await asyncio.sleep(TICK)
        self.stop()

    def stop(self, *_: object) -> None:
        """Stop in order and delete the files, also when the terminal is closed or the system shuts down."""
        self.should_exit = True
