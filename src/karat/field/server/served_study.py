"""A study as the server holds it, prepared once for all participants, and the session behind a request.

A cookie, a bearer token or the token in a form identifies a session. Pages at the top level have the token in a cookie,
and their forms carry a text against forgery. Inside the frame of a platform there are no cookies, so every form carries
the token itself, which no other site knows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request

from karat.errors import KaratError
from karat.field.content import answers, flow, inline_markup, texts, trials
from karat.field.content.platforms import Platform, person_hash, platform
from karat.field.content.texts import Words
from karat.field.registration import registration, restored
from karat.field.server.config import ServerConfig
from karat.field.server.headers import FIRST_LEASE
from karat.field.server.security import PostedForm, cookie_name, csrf, csrf_valid, from_another_site, token_hash
from karat.field.store import Store, progress, studies
from karat.field.store.progress import Session
from karat.field.store.trials import StoredTrial
from karat.study.study import Study

LEAST_BUDGET = 200_000_000
BYTES_PER_PARTICIPANT = 2_000_000
"""Many times what an attentive participant takes."""


@dataclass(frozen=True)
class ServedStudy:
    """A study with everything that its pages need."""

    slug: str
    study: Study
    id: int
    """Its number in the store."""
    words: Words
    platform: Platform
    scales: dict[str, dict[str, Any]]
    offers: Mapping[str, answers.Offer]
    images: Mapping[str, Path]
    scripts: Mapping[str, Path]
    """The browser files of tasks from other packages, by file name."""
    after_trials: str
    """The step that follows the trials of the last session."""
    privacy: Markup
    instructions: Markup
    _person_key: bytes = field(repr=False)
    versions: Mapping[str, ServedStudy] = field(default_factory=dict)
    """Earlier versions of the study, for the sessions that began with them."""

    def of(self, session: Session) -> ServedStudy:
        """The version of the study with which a session began; the current one if that is unknown."""
        return self.versions.get(session.version or "", self)

    @property
    def language(self) -> str:
        return self.study.settings.language

    @property
    def consent(self) -> str:
        """The fingerprint of what participants agree to: the text of consent and the privacy notice beside it."""
        return hashlib.sha256(f"{self.study.settings.texts.consent}\0{self.privacy}".encode()).hexdigest()[:16]

    @property
    def lease_seconds(self) -> float:
        """How long a place is kept while its participant is inactive."""
        return self.study.settings.field.lease_minutes * 60

    @property
    def open_to_all(self) -> bool:
        """Whether anybody with the address may begin any number of times."""
        recruitment = self.study.settings.recruitment
        return not (self.platform.counts_places or self.platform.needs_person or recruitment.invitations)

    def lease_of(self, answered: int) -> float:
        """How long a place is kept; in an open study, only a few minutes until the first trial is answered."""
        return min(self.lease_seconds, FIRST_LEASE) if self.open_to_all and not answered else self.lease_seconds

    @property
    def budget(self) -> int:
        """How many bytes the sessions of the study may store before it admits nobody else."""
        return max(LEAST_BUDGET, BYTES_PER_PARTICIPANT * self.study.settings.recruitment.participants)

    def hash_of(self, kind: str, identifier: str) -> str | None:
        """The keyed hash of a platform's identifier; None if it is empty."""
        return person_hash(self._person_key, kind, identifier) if identifier else None

    @property
    def task_scripts(self) -> dict[str, str]:
        """The address of each task's script: a static file for karat's tasks, else one below the study."""
        tasks = {block.task.name: block.task for block in self.study.blocks}
        return {
            name: f"/s/{self.slug}/task/{name}.js" if task.script else f"/static/js/tasks/{name}.js"
            for name, task in tasks.items()
        }

    def check(self, trial: StoredTrial, answer: answers.PostedAnswer) -> answers.AnswerVerdict:
        """Check an answer to a stored page."""
        return answers.check(trial.shown, self.offers.get(trial.block), answer)


def served_study(slug: str, study: Study, store: Store) -> ServedStudy:
    """Register a study in the store and prepare what all participants share."""
    number = store.call(studies.register, registration(slug, study)).id
    with store.read() as connection:
        files_by_version = studies.versions(connection, number)
    key = store.secret("person")
    earlier = {
        version: _version(slug, restored_study, number, key)
        for version, files in files_by_version.items()
        if version != study.fingerprint and (restored_study := restored(files, version, study.path)) is not None
    }
    latest = _version(slug, study, number, key)
    images = {name: path for served in (*earlier.values(), latest) for name, path in served.images.items()}
    return replace(latest, versions=earlier, images=images)


def _version(slug: str, study: Study, number: int, person_key: bytes) -> ServedStudy:
    settings = study.settings
    words = texts.words(settings.language, settings.texts.words)
    study.plan()  # once, before participants arrive at the same time
    privacy = [settings.texts.privacy or words["privacy.standard"]]
    privacy += [words["privacy.traces"]] if settings.field.traces else []
    return ServedStudy(
        slug=slug,
        study=study,
        id=number,
        words=words,
        platform=platform(settings.recruitment),
        scales=trials.scales(study, words),
        offers=answers.offers(study),
        images=trials.images(study),
        scripts=_scripts(study),
        after_trials=flow.next_step(study, flow.TRIALS, settings.questionnaire.sessions),
        privacy=inline_markup.markup("\n\n".join(privacy)),
        instructions=inline_markup.markup(settings.texts.instructions or _usual_instructions(study, words)),
        _person_key=person_key,
    )


def _scripts(study: Study) -> dict[str, Path]:
    """The browser files of tasks from other packages, by file name."""
    scripts = {f"{block.task.name}.js": block.task.script for block in study.blocks if block.task.script is not None}
    for name, script in scripts.items():
        if not script.is_file():
            raise KaratError(f"The browser file {name} of a task is missing: {script}. Add it.")
    return scripts


def _usual_instructions(study: Study, words: Words) -> str:
    """The instructions for each task of the study, and the advice for all of them."""
    tasks = dict.fromkeys(block.settings.task for block in study.blocks)
    back = "instructions.going_back" if study.settings.field.going_back else "instructions.no_going_back"
    parts = [*(words[f"instructions.{task}"] for task in tasks), words["instructions.advice"], words[back],
             words["instructions.keyboard"]]  # fmt: skip
    return "\n\n".join(parts)


@dataclass(frozen=True)
class RequestSession:
    """A request of a participant, with the session it belongs to."""

    request: Request
    field: ServedStudy
    session: Session
    token: str
    framed: bool

    @property
    def store(self) -> Store:
        return store_of(self.request)

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The hidden fields of the forms of this session."""
        if self.framed:
            return [("token", self.token)]
        return [("csrf", csrf(config_of(self.request).secret, self.token))]


def config_of(request: Request) -> ServerConfig:
    """The configuration of the server that answers."""
    config: ServerConfig = request.app.state.config
    return config


def store_of(request: Request) -> Store:
    """The store of the server that answers."""
    store: Store = request.app.state.store
    return store


def field_of(request: Request, slug: str) -> ServedStudy:
    """The study with this short name; 404 if there is none."""
    field: ServedStudy | None = request.app.state.served_studies.get(slug)
    if field is None:
        raise HTTPException(404)
    return field


def cookie_of(slug: str) -> str:
    """The name of the cookie of a study."""
    return f"karat-{slug}"


def held_token(request: Request, slug: str) -> str:
    """The token in the browser's cookie; empty if there is none."""
    return request.cookies.get(cookie_name(config_of(request), cookie_of(slug)), "")


def bearer_token(request: Request) -> str:
    """The token of the `Authorization` header; empty if there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def loaded(request: Request, field: ServedStudy, token: str) -> Session | None:
    """The session of a token in a study; None if there is none."""
    hashed = token_hash(config_of(request).secret, field.slug, token)
    session = None if hashed is None else await store_of(request).look(progress.load, hashed)
    return session if session is not None and session.study_id == field.id else None


async def session_of(request: Request, field: ServedStudy, token: str, framed: bool) -> RequestSession:
    """The request with the session of its token; 401 if there is none."""
    session = await loaded(request, field, token)
    if session is None:
        raise HTTPException(401)
    return RequestSession(request, field.of(session), session, token, framed)


async def request_session(request: Request, slug: str, form: PostedForm | None = None) -> RequestSession:
    """The request for a page with its session; 401 without a session, 403 if another site made the form."""
    field, config = field_of(request, slug), config_of(request)
    if form is not None and from_another_site(request, config):
        raise HTTPException(403)
    form_token = form["token"] if form is not None else ""
    current = await session_of(request, field, form_token or held_token(request, slug), bool(form_token))
    if form is not None and not current.framed and not csrf_valid(config.secret, current.token, form["csrf"]):
        raise HTTPException(403)
    return current


async def again(current: RequestSession) -> RequestSession:
    """The same request with its session reloaded, after something was written."""
    return await session_of(current.request, current.field, current.token, current.framed)
