"""What the OpenAPI description says of pages and forms, which are no JSON."""

from __future__ import annotations

from typing import Any

MEANINGS = {
    303: "The next page.",
    304: "The browser has it already.",
    400: "The request is not for this server.",
    401: "There is no session.",
    403: "The form is out of date, or comes from another site.",
    404: "There is no such study or file.",
    405: "Not that way.",
    409: "The session has ended.",
    413: "Too large.",
    415: "Neither JSON nor a form, as the address expects.",
    422: "Something is missing or cannot be used.",
    429: "Too many, in too short a time.",
}
_TEXT = {"type": "string", "maxLength": 100_000}


def page_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answers of a page: HTML, or one of the statuses with a page that says why.

    >>> sorted(page_responses(404))
    [200, 400, 404, 405, 413]
    """
    html: dict[str, Any] = {"content": {"text/html": {"schema": {"type": "string"}}}}
    told: dict[int | str, dict[str, Any]] = {200: {"description": "A page.", **html}}
    for status in (400, 405, 413, *statuses):
        told[status] = {"description": MEANINGS[status]}
    return told


def form_body(**fields: str) -> dict[str, Any]:
    """The body of a form, each field with its meaning.

    >>> list(form_body(token="The token.")["requestBody"]["content"])
    ['application/x-www-form-urlencoded']
    """
    properties = {name: {**_TEXT, "description": meaning} for name, meaning in fields.items()}
    schema = {"type": "object", "properties": properties, "additionalProperties": _TEXT}
    return {"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": schema}}}}


SESSION_FIELDS = {
    "csrf": "The text of the session that its forms carry.",
    "token": "The token of the session, in the frame of a platform.",
}
