"""A route of the dashboard: its errors are pages in the researchers' language, with the sentence that was raised."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from karat.field.admin.page import page

HEADINGS = {403: "Not done", 404: "Not found", 422: "Not done", 500: "Something went wrong"}


class AdminRoute(APIRoute):
    """A route whose errors are told in words."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        answer = super().get_route_handler()

        async def answer_in_words(request: Request) -> Response:
            try:
                return await answer(request)
            except HTTPException as error:
                return _told(request, error)

        return answer_in_words


def _told(request: Request, error: HTTPException) -> Response:
    if error.status_code == 303 and error.headers is not None:
        return RedirectResponse(error.headers["Location"], 303)
    if request.url.path.endswith("/live"):
        return JSONResponse({"error": error.detail}, error.status_code)
    heading = HEADINGS.get(error.status_code, "Not possible")
    return page(request, "error.html", error.status_code, heading=heading, message=error.detail)
