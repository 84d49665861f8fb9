"""Signed texts, cookies, and forms that only our own pages can send.

A signed text carries readable values with a keyed hash (HMAC-SHA256) over its purpose, its expiry and the values, so
nobody else can make it, change it or use it for another purpose. Forms carry the keyed hash of their session against
cross-site request forgery. A browser also reports where a request comes from (`Sec-Fetch-Site`, `Origin`); requests
from another site are always refused.

The token of a participant's session has 192 random bits and a keyed hash that ties them to one study. The store has
only a hash of it. A token that this server did not make for the study is refused without a query.

Forms are read within limits. Control characters other than line breaks and tabs are removed, because PostgreSQL cannot
store NUL characters and texts are shown again.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from karat.field.server.config import ServerConfig

Value = str | int | float | bool | None
COOKIE_LIMIT = 4096


def keyed_hash(secret: bytes, purpose: str, text: str) -> str:
    """The keyed hash of a text for one purpose, as 43 letters that a URL can carry."""
    digest = hmac.digest(secret, f"{purpose}\0{text}".encode("utf-8", "surrogatepass"), "sha256")
    return _letters(digest)


def secret_mark(secret: bytes) -> int:
    """A number below 2^31 by which servers compare their secrets without revealing them."""
    return int.from_bytes(hmac.digest(secret, b"mark", "sha256")[:4], "big") >> 1


def sign(secret: bytes, purpose: str, *values: Value, lifetime: float | None = None) -> str:
    """Values as a text that `unsign` accepts until its lifetime (in seconds) is over."""
    expires = None if lifetime is None else round(time.time() + lifetime)
    payload = _letters(json.dumps([expires, *values], separators=(",", ":")).encode())
    return f"{payload}.{keyed_hash(secret, purpose, payload)}"


def unsign(secret: bytes, purpose: str, text: str) -> list[Value] | None:
    """The values of a signed text; None if it was not signed for this purpose, was changed, or is too old."""
    payload, _, signature = text.partition(".")
    if not same(keyed_hash(secret, purpose, payload), signature):
        return None
    try:
        expires, *values = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (ValueError, binascii.Error):
        return None
    return None if expires is not None and time.time() > expires else values


def csrf(secret: bytes, session: str) -> str:
    """The text that a form of a session carries in its field `csrf`."""
    return keyed_hash(secret, "csrf", session)


def csrf_valid(secret: bytes, session: str, text: str) -> bool:
    """Whether a form carries the text of its session."""
    return same(csrf(secret, session), text)


def cookie_name(config: ServerConfig, name: str) -> str:
    """The name of a cookie; over TLS, with the prefix that keeps other hosts from setting it."""
    return f"__Host-{name}" if config.secure else name


def set_cookie(
    response: Response,
    config: ServerConfig,
    name: str,
    value: str,
    lifetime: int,
    same_site: Literal["lax", "strict"] = "lax",
) -> None:
    """Set a cookie that scripts cannot read and that other sites do not send."""
    response.set_cookie(
        cookie_name(config, name), value, max_age=lifetime, path="/", secure=config.secure, httponly=True,
        samesite=same_site,
    )  # fmt: skip


def drop_cookie(response: Response, config: ServerConfig, name: str) -> None:
    """Ask the browser to forget a cookie."""
    response.delete_cookie(cookie_name(config, name), path="/", secure=config.secure, httponly=True)


def signed_cookie(response: Response, config: ServerConfig, name: str, *values: Value, lifetime: int) -> None:
    """Set a cookie whose values `read_signed_cookie` returns until its lifetime (in seconds) is over."""
    text = sign(config.secret, f"cookie {name}", *values, lifetime=lifetime)
    set_cookie(response, config, name, text, lifetime, "strict")


def read_signed_cookie(request: Request, config: ServerConfig, name: str) -> list[Value] | None:
    """The values of a signed cookie; None if there is no valid one."""
    text = request.cookies.get(cookie_name(config, name), "")
    return unsign(config.secret, f"cookie {name}", text) if 0 < len(text) <= COOKIE_LIMIT else None


def from_another_site(request: Request, config: ServerConfig) -> bool:
    """Whether the browser reports that another site made it send this request.

    Our pages send no referrer, so browsers report the origin of a form as `null`, which proves nothing.
    """
    if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return True
    origin = request.headers.get("origin", "null")
    if origin == "null":
        return False
    host = request.headers.get("host", "").lower()
    return origin.lower() != config.address.lower() and urlsplit(origin).netloc.lower() != host


def same(secret: str, text: str) -> bool:
    """Whether a text equals a secret one, in a time that does not depend on where they differ."""
    return hmac.compare_digest(secret.encode("utf-8", "replace"), text.encode("utf-8", "replace"))


def plain_hash(text: str) -> str:
    """The SHA-256 of a random text, such as a token, for the store."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _letters(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


RANDOM_LENGTH = 32
TOKEN_LENGTH = RANDOM_LENGTH + 1 + 43


def token_from(secret: bytes, slug: str, random: str) -> str:
    """The token of a study from 32 random letters."""
    return f"{random}.{keyed_hash(secret, f'token {slug}', random)}"


def token_hash(secret: bytes, slug: str, token: str) -> str | None:
    """The hash of a token for the store; None if the token is not one of this study."""
    # The length is checked before the cache, because a form can carry a quarter of a megabyte as its token.
    return _checked(secret, slug, token) if len(token) == TOKEN_LENGTH else None


@lru_cache(maxsize=4096)
def _checked(secret: bytes, slug: str, token: str) -> str | None:
    """Cached for the tokens in use, because each keyed hash would let other threads run first."""
    random, _, signature = token.partition(".")
    return plain_hash(random) if same(keyed_hash(secret, f"token {slug}", random), signature) else None


MOST_FIELDS = 500
FORM_TYPE = "application/x-www-form-urlencoded"
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class PostedForm(dict[str, str]):
    """The fields of a form, each with its first value; a missing field is empty."""

    def __missing__(self, name: str) -> str:
        return ""


async def read_form(request: Request) -> PostedForm:
    """The form in a request; 415 for another kind of body, 422 for a form with too many fields."""
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
    return PostedForm((clean(name), clean(value)) for name, value in reversed(pairs))


def clean(text: str) -> str:
    """A text without control characters, with plain line breaks."""
    return CONTROL.sub("", text.replace("\r\n", "\n"))


MEANINGS = {
    303: "The next page.",
    304: "The browser has it already.",
    400: "The request is not for this server.",
    401: "There is no session.",
    403: "The form is out of date, or comes from another site.",
    404: "There is no such study or file.",
    405: "The method is not allowed.",
    409: "The session has ended.",
    413: "Too large.",
    415: "Neither JSON nor a form, as the address expects.",
    422: "Something is missing or cannot be used.",
    429: "Too many, in too short a time.",
}
_TEXT = {"type": "string", "maxLength": 100_000}


def page_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a page: HTML, or a page that explains one of the statuses."""
    html: dict[str, Any] = {"content": {"text/html": {"schema": {"type": "string"}}}}
    responses: dict[int | str, dict[str, Any]] = {200: {"description": "A page.", **html}}
    for status in (400, 405, 413, *statuses):
        responses[status] = {"description": MEANINGS[status]}
    return responses


def form_body(**fields: str) -> dict[str, Any]:
    """The request body of a form, with the meaning of each field."""
    properties = {name: {**_TEXT, "description": meaning} for name, meaning in fields.items()}
    schema = {"type": "object", "properties": properties, "additionalProperties": _TEXT}
    return {"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": schema}}}}


SESSION_FIELDS = {
    "csrf": "The text of the session that its forms carry.",
    "token": "The token of the session, in the frame of a platform.",
}
