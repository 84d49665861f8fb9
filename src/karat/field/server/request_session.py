"""Who asks: the session behind a request, by its cookie, a bearer token, or the token in a form.

Pages at the top level carry the token in a cookie, and their forms a text against forgery. Inside the frame of a
platform there are no cookies: there every form carries the token itself, which no other site knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request

from karat.field.server.config import ServerConfig
from karat.field.server.forms import PostedForm
from karat.field.server.security import cookie_name, csrf, csrf_valid, from_another_site
from karat.field.server.served_study import ServedStudy
from karat.field.server.tokens import token_hash
from karat.field.store import Store, progress
from karat.field.store.progress import Session


@dataclass(frozen=True)
class RequestSession:
    """A request of a participant whose session is known."""

    request: Request
    field: ServedStudy
    session: Session
    token: str
    framed: bool

    @property
    def store(self) -> Store:
        """The store of the server."""
        store: Store = self.request.app.state.store
        return store

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The hidden fields of the forms of this session."""
        if self.framed:
            return [("token", self.token)]
        return [("csrf", csrf(config_of(self.request).secret, self.token))]


def config_of(request: Request) -> ServerConfig:
    """The set-up of the server that answers."""
    config: ServerConfig = request.app.state.config
    return config


def field_of(request: Request, slug: str) -> ServedStudy:
    """The study of an address; 404 where there is none."""
    found: ServedStudy | None = request.app.state.served_studies.get(slug)
    if found is None:
        raise HTTPException(404)
    return found


def cookie_of(slug: str) -> str:
    """The name of the cookie of a study.

    >>> cookie_of("word-order")
    'karat-word-order'
    """
    return f"karat-{slug}"


def held_token(request: Request, slug: str) -> str:
    """The token in the cookie of the browser; empty where there is none."""
    return request.cookies.get(cookie_name(config_of(request), cookie_of(slug)), "")


def bearer_token(request: Request) -> str:
    """The token of an `Authorization` header; empty where there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def loaded(request: Request, field: ServedStudy, token: str) -> Session | None:
    """The session of a token in a study."""
    known = token_hash(config_of(request).secret, field.slug, token)
    if known is None:
        return None
    session = await request.app.state.store.look(progress.load, known)
    return session if session is not None and session.study_id == field.id else None


async def request_session(request: Request, slug: str, form: PostedForm | None = None) -> RequestSession:
    """Who asks for a page; 401 without a session, 403 for a form that is not one of ours."""
    field = field_of(request, slug)
    if form is not None and from_another_site(request, config_of(request)):
        raise HTTPException(403)
    given = form.get("token") if form is not None else ""
    token = given or held_token(request, slug)
    session = await loaded(request, field, token)
    if session is None:
        raise HTTPException(401)
    if form is not None and not given and not csrf_valid(config_of(request).secret, token, form.get("csrf")):
        raise HTTPException(403)
    return RequestSession(request, field, session, token, framed=bool(given))


async def again(asked: RequestSession) -> RequestSession:
    """The same request after something was written."""
    session = await loaded(asked.request, asked.field, asked.token)
    if session is None:
        raise HTTPException(401)
    return RequestSession(asked.request, asked.field, session, asked.token, asked.framed)
