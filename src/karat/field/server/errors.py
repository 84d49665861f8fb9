"""Errors as sentences in the language of the study: a page for people, JSON for the browser's script."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from karat.field.content.texts import Words, words
from karat.field.server.headers import common_headers
from karat.field.server.served_study import ServedStudy
from karat.field.server.views import notice
from karat.field.store import NoSessionError, SessionEndedError

SENTENCES = {
    401: "error.no_session",
    403: "error.expired",
    404: "error.not_found",
    409: "end.ended",
    413: "error.too_large",
    429: "error.too_many",
    500: "error.server",
}
OTHERWISE = "error.bad_request"


def install(app: FastAPI) -> None:
    """Have all errors of an application answered in words."""
    app.add_exception_handler(HTTPException, _answered)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(NoSessionError, _no_session)
    app.add_exception_handler(SessionEndedError, _ended)
    app.add_exception_handler(Exception, _broken)


def error(request: Request, status: int) -> Response:
    """What is said of an error: JSON under /api, else a page."""
    field = _field(request)
    spoken: Words = field.words if field is not None else words("en")
    sentence = spoken[SENTENCES.get(status, OTHERWISE)]
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": sentence}, status)
    return notice(request, field, spoken["error.heading"], [sentence], status)


async def _answered(request: Request, raised: Exception) -> Response:
    status = getattr(raised, "status_code", 500)
    headers = getattr(raised, "headers", None) or {}
    if 300 <= status < 400 and "location" in {name.lower() for name in headers}:
        return RedirectResponse(next(headers[name] for name in headers if name.lower() == "location"), status)
    response = error(request, status)
    response.headers.update(headers)
    return response


async def _unreadable(request: Request, raised: Exception) -> Response:
    return error(request, 422)


async def _no_session(request: Request, raised: Exception) -> Response:
    return error(request, 401)


async def _ended(request: Request, raised: Exception) -> Response:
    return error(request, 409)


async def _broken(request: Request, raised: Exception) -> Response:
    # This answer is made outside of the middleware that adds the headers.
    response = error(request, 500)
    for name, value in common_headers(request.app.state.config).items():
        response.headers[name] = value
    response.headers["cache-control"] = "no-store"
    return response


def _field(request: Request) -> ServedStudy | None:
    """The study that an address is about, if there is one."""
    parts = request.url.path.split("/")
    slug = parts[2] if len(parts) > 2 and parts[1] in ("s", "api") else ""
    found: ServedStudy | None = request.app.state.served_studies.get(slug)
    return found
