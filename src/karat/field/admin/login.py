"""Logging in and out, and the check at the beginning of every other dashboard page.

The cookie is signed, http-only and same-site strict. It contains the name of the researcher, a random id of the login
and a part of the keyed hash of the stored password, so a new password ends every login with the old one. The store
knows the open logins, so logging out ends a login for all copies of its cookie.

Attempts are limited per address. A browser that has logged in before has its own limit, so wrong passwords from the
same address do not lock out the researchers.

Researchers have an account with a name and an argon2id hash, set in the terminal; there is no default password. A wrong
name takes as long as a wrong password, because a dummy hash is checked if there is no such account.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from time import time
from typing import Annotated
from urllib.parse import quote

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from fastapi import APIRouter, Depends
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from karat.errors import KaratError
from karat.field.admin.page import AdminRoute, admin_state, asks_for_data, page
from karat.field.server import security
from karat.field.server.security import PostedForm, read_form
from karat.field.store import admins

COOKIE = "karat-admin"
LOGIN_COOKIE = "karat-login"
BROWSER_COOKIE = "karat-browser"
HOURS = 12
BROWSER_DAYS = 90


router = APIRouter(prefix="/admin", route_class=AdminRoute)


@dataclass(frozen=True)
class Researcher:
    """A logged-in researcher."""

    name: str
    session: str
    csrf: str


async def logged_in(request: Request) -> Researcher:
    """The researcher who is logged in; for anybody else a redirect to the login, or 401 for a script."""
    state = request.app.state
    values = security.read_signed_cookie(request, state.config, COOKIE)
    if values is not None and len(values) == 3:
        name, session, mark = (str(value) for value in values)
        stored = await state.store.look(admins.logged_in_as, name, security.plain_hash(session), time())
        if stored is not None and security.same(mark, _mark(state.config.secret, stored)):
            return Researcher(name, session, security.csrf(state.config.secret, f"admin {session}"))
    if asks_for_data(request):
        raise HTTPException(401, "Log in first.")
    back = request.url.path if request.method in ("GET", "HEAD") else "/admin"
    raise HTTPException(303, headers={"Location": f"/admin/login?next={quote(back)}"})


LoggedIn = Annotated[Researcher, Depends(logged_in)]


async def checked_form(request: Request, researcher: LoggedIn) -> PostedForm:
    """The form that one of our pages sent for this login; 403 for any other form."""
    form = await read_form(request)
    state = request.app.state
    ours = security.csrf_valid(state.config.secret, f"admin {researcher.session}", form["csrf"])
    if not ours or security.from_another_site(request, state.config):
        raise HTTPException(403, "The form is too old or does not come from this page. Go back, reload and try again.")
    return form


CheckedForm = Annotated[PostedForm, Depends(checked_form)]


@router.get("/login", include_in_schema=False)
async def login_page(request: Request) -> Response:
    """The form for name and password."""
    return _form(request, onward=request.query_params.get("next", "/admin"))


@router.post("/login", include_in_schema=False)
async def login(request: Request) -> Response:
    """Check name and password."""
    state = request.app.state
    form = await read_form(request)
    values = security.read_signed_cookie(request, state.config, LOGIN_COOKIE)
    ours = values is not None and security.csrf_valid(state.config.secret, f"login {values[0]}", form["csrf"])
    if not ours or security.from_another_site(request, state.config):
        return _form(request, "The form was too old. Please try again.", 403, form["next"])
    name = form["name"].strip() or NAME
    stored = await state.store.look(admins.password_hash, name)
    if state.limits.wait("login", _known_browser(request, name, stored) or request):
        return _form(request, "Too many attempts. Wait a minute, then try again.", 429, form["next"])
    async with admin_state(request).logins:
        right = await run_in_threadpool(matches, stored, form["password"])
    if not right or stored is None:
        await state.store.do(admins.note_failure, name[:100])
        return _form(request, "Wrong name or password.", 403, form["next"])
    response = RedirectResponse(_own_page(form["next"]), 303)
    session, mark = secrets.token_urlsafe(16), _mark(state.config.secret, stored)
    await state.store.do(admins.log_in, name, security.plain_hash(session), time() + HOURS * 3600)
    security.signed_cookie(response, state.config, COOKIE, name, session, mark, lifetime=HOURS * 3600)
    security.signed_cookie(response, state.config, BROWSER_COOKIE, name, session, mark, lifetime=BROWSER_DAYS * 86_400)
    return response


def _known_browser(request: Request, name: str, stored: str | None) -> str:
    """The id of a browser in which this researcher has logged in with the current password; empty for others."""
    config = request.app.state.config
    values = security.read_signed_cookie(request, config, BROWSER_COOKIE)
    if values is None or len(values) != 3 or stored is None or values[0] != name:
        return ""
    return f"browser {values[1]}" if security.same(str(values[2]), _mark(config.secret, stored)) else ""


@router.post("/logout", include_in_schema=False)
async def logout(request: Request, researcher: LoggedIn, form: CheckedForm) -> Response:
    """End the login, also for copies of its cookie."""
    await request.app.state.store.do(admins.log_out, security.plain_hash(researcher.session))
    response = RedirectResponse("/admin/login", 303)
    security.drop_cookie(response, request.app.state.config, COOKIE)
    return response


def _form(request: Request, error: str = "", code: int = 200, onward: str = "/admin") -> Response:
    state = request.app.state
    # All tabs of a browser share the text, so that none of them invalidates another.
    values = security.read_signed_cookie(request, state.config, LOGIN_COOKIE)
    nonce = str(values[0]) if values else secrets.token_urlsafe(16)
    response = page(request, "login.html", code, error=error, after=_own_page(onward),
                    csrf=security.csrf(state.config.secret, f"login {nonce}"))  # fmt: skip
    security.signed_cookie(response, state.config, LOGIN_COOKIE, nonce, lifetime=3600)
    return response


def _own_page(path: str) -> str:
    """The dashboard page to open after the login; no other address is followed.

    >>> _own_page("/admin/word-order"), _own_page("//elsewhere.example/admin")
    ('/admin/word-order', '/admin')
    """
    plain = path.startswith("/admin") and path.replace("/", "").replace("-", "").replace(".", "").isalnum()
    return path if plain and path.isascii() and "//" not in path else "/admin"


def _mark(secret: bytes, stored: str) -> str:
    return security.keyed_hash(secret, "password", stored)[:16]


NAME = "admin"
SHORTEST = 10
LONGEST = 1000
ENVIRONMENT = "KARAT_ADMIN_PASSWORD"
HASHER = PasswordHasher(time_cost=3, memory_cost=32 * 1024, parallelism=1)
"""32 MiB per login, so that many logins do not fill the memory of the server."""


class PasswordError(KaratError, ValueError):
    """A password that cannot be used."""


@dataclass(frozen=True)
class FirstPassword:
    """A password for the first start, and whether it was generated and must be shown once."""

    password: str
    made: bool


def hashed(password: str) -> str:
    """The hash of a password; a password that is too short or too long is refused."""
    if len(password) < SHORTEST:
        raise PasswordError(f"The password has {len(password)} characters. Use at least {SHORTEST}.")
    if len(password) > LONGEST:
        raise PasswordError(f"The password is longer than {LONGEST:,} characters.")
    return HASHER.hash(password)


def matches(password_hash: str | None, password: str) -> bool:
    """Whether a password is right; without an account, this takes equally long and is False."""
    try:
        HASHER.verify(password_hash or _nobody(), password[:LONGEST])
    except (VerifyMismatchError, InvalidHashError):
        return False
    return password_hash is not None


@cache
def _nobody() -> str:
    return HASHER.hash(secrets.token_urlsafe(32))


def first_password(ask: Callable[[str], str] | None, environment: Mapping[str, str]) -> FirstPassword:
    """The password for the first start: from the environment, typed twice, or generated and shown once.

    `ask` reads a line from the terminal without showing it; it is None without a terminal.
    """
    preset = environment.get(ENVIRONMENT)
    if preset:
        return FirstPassword(preset, made=False)
    if ask is None:
        return FirstPassword(secrets.token_urlsafe(16), made=True)
    for _ in range(3):
        password = ask(f"A password for the dashboard (at least {SHORTEST} characters): ")
        if len(password) < SHORTEST:
            continue
        if ask("The same again: ") == password:
            return FirstPassword(password, made=False)
    raise PasswordError("No password was set: it was too short, or the two entries differ. Start again.")
