"""The application: studies on a store, served under one address."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

import karat
from karat.field.server import api, errors, files, pages, steps
from karat.field.server.config import ServerConfig
from karat.field.server.headers import RequestGuard
from karat.field.server.limits import Limits
from karat.field.server.served_study import ServedStudy, served_study
from karat.field.server.templating import WEB, environment
from karat.field.store import Store
from karat.study.study import Study

DESCRIPTION = """What a participant's browser asks the server. Pages are HTML and lead from step to step by forms; the
trials are asked and answered as JSON under /api."""

PLANNED_AT_ONCE = 8
"""How many questionnaires are made and stored at the same time; who comes then waits for a moment."""
NO_TELEMETRY: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
"""Spans would carry addresses with the ids of platforms to wherever the environment says."""


def create_app(studies: Sequence[tuple[str, Study]], store: Store, config: ServerConfig, admin: bool = True) -> FastAPI:
    """An application that fields studies, each under its short name; researchers' pages under /admin unless left out.

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
    app.state.secret = config.secret
    app.state.studies = dict(studies)
    app.state.limits = Limits(config)
    app.state.templates = environment()
    app.state.planning = asyncio.Semaphore(PLANNED_AT_ONCE)
    known: dict[str, ServedStudy] = {slug: served_study(slug, study, store) for slug, study in studies}
    app.state.served_studies = known
    app.add_middleware(RequestGuard, config=config)
    errors.install(app)
    # What is asked most goes the short way; its twin in the router is there for the description.
    app.router.routes.insert(0, Route("/api/{slug}/answers", api.save_at_once, methods=["POST"]))
    app.include_router(api.router)
    app.include_router(pages.router)
    app.include_router(files.router)
    app.include_router(steps.router)
    if admin:
        from karat.field.admin.app import admin_router

        app.include_router(admin_router())
    app.add_api_route("/healthz", _health, methods=["GET"], summary="Whether the server is up", tags=["server"])
    # The more particular folder first: a mount takes everything below its path.
    for path, folder in (("/static/vendor", WEB / "vendor"), ("/static", WEB / "static")):
        if folder.is_dir():
            app.mount(path, _Files(directory=folder, follow_symlink=False))
    return app


class _Described(FastAPI):
    """An application whose description also says which studies and steps there are and what the trial page sends."""

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
        known = {"slug": list(self.state.studies), "step": list(steps.STEPS)}
        for parameter in way.get("parameters", []):
            if parameter["name"] in known:
                parameter["schema"]["enum"] = known[parameter["name"]]


async def _health(request: Request) -> JSONResponse:
    """Whether the server is up and reaches its database."""
    await request.app.state.store.look(_reachable)
    return JSONResponse({"status": "ok"})


def _reachable(connection: object) -> None:
    connection.exec_driver_sql("SELECT 1")  # type: ignore[attr-defined]


class _Files(StaticFiles):
    """Files that a browser keeps, but asks about before it uses them again."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["cache-control"] = "no-cache"
        return response
