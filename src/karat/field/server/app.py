"""The application: studies on a store, served under one address.

Errors are sentences in the language of the study: a page for people, JSON for the browser's script. The only files of a
study that a browser can request are the images of its items and the scripts of tasks from other packages.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

import karat
from karat.field.content.texts import Words, words
from karat.field.server import api, pages
from karat.field.server.config import ServerConfig
from karat.field.server.headers import NO_STORE, NO_TELEMETRY, WEB, Limits, RequestGuard, common_headers, environment
from karat.field.server.navigation import notice
from karat.field.server.security import secret_mark
from karat.field.server.served_study import ServedStudy, field_of, held_token, served_study
from karat.field.store import DatabaseMovedError, NoSessionError, SessionEndedError, Store
from karat.study.study import Study

DESCRIPTION = """What a participant's browser requests. Pages are HTML, with forms that lead from step to step; trials
and answers are JSON under /api."""

PLANNED_AT_ONCE = 8
"""How many questionnaires are planned and stored at the same time; further participants wait for a moment."""


def create_app(studies: Sequence[tuple[str, Study]], store: Store, config: ServerConfig, admin: bool = True) -> FastAPI:
    """An application that serves studies under their short names; unless left out, the dashboard is under /admin.

    The store stays open until its owner closes it.
    """
    app = _Described(
        title="karat",
        version=karat.__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )
    app.state.store = store
    app.state.config = config
    app.state.studies = dict(studies)
    app.state.limits = Limits(config)
    app.state.health = Health()
    app.state.templates = environment()
    app.state.planning = asyncio.Semaphore(PLANNED_AT_ONCE)
    served: dict[str, ServedStudy] = {slug: served_study(slug, study, store) for slug, study in studies}
    app.state.served_studies = served
    app.add_middleware(RequestGuard, config=config)
    app.add_exception_handler(HTTPException, _answered)
    for kind, status in ((RequestValidationError, 422), (NoSessionError, 401), (SessionEndedError, 409)):
        app.add_exception_handler(kind, partial(_with_status, status))
    app.add_exception_handler(ClientDisconnect, _gone)
    for failure in FAILURES:
        app.add_exception_handler(failure, _failing)
    app.add_exception_handler(Exception, _broken)
    # The most frequent request takes a shortcut; its twin in the router is there for the description.
    app.router.routes.insert(0, Route("/api/{slug}/answers", api.save_at_once, methods=["POST"]))
    # The routes are added as they are, because including a router would analyse all their parameters again.
    app.router.routes += [*api.router.routes, *pages.router.routes, *file_router.routes]
    if admin:
        from karat.field.admin.actions import admin_routes

        app.router.routes += admin_routes()
    app.add_api_route("/healthz", _health, methods=["GET"], summary="Whether the server is up", tags=["server"])
    # The inner folder comes first, because a mount takes everything below its path.
    for path, folder in (("/static/vendor", WEB / "vendor"), ("/static", WEB / "static")):
        if folder.is_dir():
            app.mount(path, _Files(directory=folder, follow_symlink=False))
    return app


class _Described(FastAPI):
    """An application whose description also lists the studies, the steps and what the trial page sends."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            described = super().openapi()
            described["components"]["schemas"].update(api.schemas())
            described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            for path, ways in described["paths"].items():
                for way in ways.values():
                    self._complete(path, way)
        return super().openapi()

    def _complete(self, path: str, way: dict[str, Any]) -> None:
        if path.startswith("/api/"):
            way["security"] = [{"token": []}]
        choices = {"slug": list(self.state.studies), "step": list(pages.STEPS)}
        for parameter in way.get("parameters", []):
            if parameter["name"] in choices:
                parameter["schema"]["enum"] = choices[parameter["name"]]


STDERR = partial(print, file=sys.stderr, flush=True)


class Health:
    """Whether the database can be written. Failures are logged, at most one line per kind and minute."""

    def __init__(self, clock: Callable[[], float] = monotonic, log: Callable[[str], None] = STDERR) -> None:
        self.trouble = ""
        """What is wrong, as a sentence; empty if nothing is."""
        self._clock = clock
        self._log = log
        self._logged: dict[str, float] = {}
        self._probed = -PROBE_EVERY

    def failed(self, error: BaseException) -> None:
        """Record that something could not be written or read."""
        kind, self.trouble = _trouble(error)
        now = self._clock()
        if now - self._logged.get(kind, -LOG_EVERY) >= LOG_EVERY:
            self._logged[kind] = now
            self._log(f"karat: {self.trouble}")

    async def probe(self, store: Store) -> bool:
        """Whether something can be written; tried at most once every few seconds."""
        if self._clock() - self._probed >= PROBE_EVERY:
            self._probed = self._clock()
            try:
                await store.probe()
                self.trouble = ""
            except (*FAILURES, TimeoutError) as error:
                self.failed(error)
        return not self.trouble


PROBE_EVERY = 2.0
LOG_EVERY = 60.0
FAILURES = (DBAPIError, PoolTimeoutError, DatabaseMovedError)
KINDS = {
    "full": ("The disk is full", "Free some space: answers are saved again at once."),
    "readonly": ("The database is read-only", "Make the data folder writable for the server."),
    "read-only": ("The database is read-only", "Make the data folder writable for the server."),
}


def _trouble(error: BaseException) -> tuple[str, str]:
    """The kind of a failure, and a sentence about it."""
    if isinstance(error, DatabaseMovedError):
        return "moved", str(error)
    reason = str(getattr(error, "orig", None) or error or type(error).__name__).strip().splitlines()[0].rstrip(".")
    for word, (what, fix) in KINDS.items():
        if word in reason.lower():
            return word, f"{what} ({reason}). Nothing is saved. {fix}"
    return type(error).__name__, f"The database fails: {reason}. Nothing is saved until this is fixed."


async def _health(request: Request) -> JSONResponse:
    """Whether the server is up and its database can be written."""
    state = request.app.state
    if await state.health.probe(state.store):
        return JSONResponse({"status": "ok", "server": secret_mark(state.config.secret)})
    return JSONResponse({"status": "failing"}, 503)


class _Files(StaticFiles):
    """Files that a browser may cache but must revalidate."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["cache-control"] = "no-cache"
        return response


SENTENCES = {
    401: "error.no_session", 403: "error.expired", 404: "error.not_found", 409: "end.ended", 413: "error.too_large",
    429: "error.too_many", 500: "error.server", 503: "error.unavailable",
}  # fmt: skip
OTHERWISE = "error.bad_request"


def error(request: Request, status: int) -> Response:
    """The answer to an error: JSON under /api, else a page."""
    parts = request.url.path.split("/")
    slug = parts[2] if len(parts) > 2 and parts[1] in ("s", "api") else ""
    field: ServedStudy | None = request.app.state.served_studies.get(slug)
    texts: Words = field.words if field is not None else words("en")
    sentence = texts[SENTENCES.get(status, OTHERWISE)]
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": sentence}, status)
    # A form of an older page would be refused again when reloaded, so the link leads to the current step.
    onward = f"/s/{slug}/go" if field is not None and status != 401 and held_token(request, slug) else ""
    return notice(request, field, texts["error.heading"], [sentence], status, onward=onward)


async def _answered(request: Request, raised: Exception) -> Response:
    response = error(request, getattr(raised, "status_code", 500))
    response.headers.update(getattr(raised, "headers", None) or {})
    return response


async def _with_status(status: int, request: Request, raised: Exception) -> Response:
    return error(request, status)


async def _gone(request: Request, raised: Exception) -> Response:
    # The client has disconnected, so nobody reads this; it is not an error of the server.
    return Response(status_code=400)


async def _failing(request: Request, raised: Exception) -> Response:
    request.app.state.health.failed(raised)
    response = error(request, 503)
    response.headers["retry-after"] = "5"
    return response


async def _broken(request: Request, raised: Exception) -> Response:
    # This answer does not pass through the middleware that adds the headers.
    response = error(request, 500)
    response.headers.update(common_headers(request.app.state.config) | NO_STORE)
    return response


file_router = APIRouter(tags=["pages"])
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


@file_router.get("/s/{slug}/image/{name}", responses=_answers("An image", "image/*"), response_class=FileResponse,
                 summary="An image of a trial")  # fmt: skip
@file_router.head("/s/{slug}/image/{name}", include_in_schema=False)
async def image(slug: str, name: str, request: Request) -> Response:
    """An image that an item of the study names; no other file is served."""
    path = field_of(request, slug).images.get(name)
    kind = IMAGE_TYPES.get(path.suffix.lower()) if path is not None else None
    return _file(request, path, kind, "private, max-age=3600")


@file_router.get("/s/{slug}/task/{name}", responses=_answers("A script", "text/javascript"),
                 response_class=FileResponse, summary="The script of a task from another package")  # fmt: skip
@file_router.head("/s/{slug}/task/{name}", include_in_schema=False)
async def task_script(slug: str, name: str, request: Request) -> Response:
    """The browser file of a task of the study; no other file of its package is served."""
    # Like karat's own scripts, it is revalidated before it is used again.
    return _file(request, field_of(request, slug).scripts.get(name), "text/javascript", "no-cache")


def _file(request: Request, path: Path | None, kind: str | None, caching: str) -> Response:
    """A file with these rules for caching; 404 if there is none."""
    try:
        about = os.stat(path) if path is not None else None
    except OSError:
        about = None
    if path is None or kind is None or about is None or not stat.S_ISREG(about.st_mode):
        raise HTTPException(404)
    tag = f'"{about.st_mtime_ns:x}-{about.st_size:x}"'
    headers = {"etag": tag, "cache-control": caching}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return FileResponse(path, media_type=kind, headers=headers, stat_result=about)
