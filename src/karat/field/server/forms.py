"""Forms as browsers send them, read within limits, and what the OpenAPI description says of them.

Texts are stored in databases that know no NUL character, and are shown again: control characters other than line
breaks and tabs are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

MOST_FIELDS = 500
FORM_TYPE = "application/x-www-form-urlencoded"
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class PostedForm:
    """The fields of a form in their order."""

    fields: tuple[tuple[str, str], ...] = ()

    def get(self, name: str, default: str = "") -> str:
        """The first value of a field.

        >>> PostedForm((("age", "31"),)).get("age")
        '31'
        """
        return next((value for field, value in self.fields if field == name), default)

    def as_dict(self) -> dict[str, str]:
        """Each field with its first value.

        >>> PostedForm((("a", "1"), ("a", "2"))).as_dict()
        {'a': '1'}
        """
        return dict(reversed(self.fields))


async def read_form(request: Request) -> PostedForm:
    """The form that a request carries; 415 for another kind of body, 422 for a form with too many fields."""
    body = await request.body()
    if not body:
        return PostedForm()
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        raise HTTPException(415)
    try:
        text = body.decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="replace")
    except ValueError:
        raise HTTPException(422) from None
    return PostedForm(tuple((clean(name), clean(value)) for name, value in pairs))


def clean(text: str) -> str:
    r"""A text without control characters, with plain line breaks.

    >>> clean("one\r\ntwo\0")
    'one\ntwo'
    """
    return CONTROL.sub("", text.replace("\r\n", "\n"))


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
