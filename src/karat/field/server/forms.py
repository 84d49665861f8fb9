"""Forms as browsers send them, read within limits.

Texts are stored in databases that know no NUL character, and are shown again: control characters other than line
breaks and tabs are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
