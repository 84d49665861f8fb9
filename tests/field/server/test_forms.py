from __future__ import annotations

import asyncio
import contextlib
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.requests import Request

from karat.field.server.security import PostedForm, clean, read_form


def read(body: bytes, kind: str = "application/x-www-form-urlencoded") -> PostedForm:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", kind.encode())]}
    return asyncio.run(read_form(Request(scope, receive)))


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=20)), max_size=5))
def test_forms_come_back(fields: list[tuple[str, str]]) -> None:
    form = read(urlencode(fields).encode())
    cleaned = [(clean(name), clean(value)) for name, value in fields]
    assert form == {name: next(value for field, value in cleaned if field == name) for name, _ in cleaned}
    assert form["no such field"] == ""


@given(st.binary(max_size=80))
def test_no_body_brings_control_characters(body: bytes) -> None:
    with contextlib.suppress(HTTPException):
        assert all("\0" not in part for pair in read(body).items() for part in pair)


def test_other_bodies() -> None:
    with pytest.raises(HTTPException) as refused:
        read(b"{}", "application/json")
    assert refused.value.status_code == 415
    with pytest.raises(HTTPException) as refused:
        read(b"&".join(b"a=1" for _ in range(501)))
    assert refused.value.status_code == 422
    assert read(b"", "") == PostedForm()
