"""A study as the server holds it, made once for all participants, and the session behind a request.

A session is known by its cookie, a bearer token, or the token in a form. Pages at the top level carry the token in a
cookie, and their forms a text against forgery. Inside the frame of a platform there are no cookies: there every form
carries the token itself, which no other site knows.
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
    """A study that is asked."""

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
    """The browser files of tasks that are not karat's own, by file name."""
    after_trials: str
    """The step that follows the trials of the last session."""
    privacy: Markup
    instructions: Markup
    _person_key: bytes = field(repr=False)
    versions: Mapping[str, ServedStudy] = field(default_factory=dict)
    """Earlier versions of the study, for the sessions that began with them."""

    def of(self, session: Session) -> ServedStudy:
        """The version of the study with which a session began; the present one where that is not known."""
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
        """How long somebody's place is kept without a sign of life."""
        return self.study.settings.field.lease_minutes * 60

    @property
    def open_to_all(self) -> bool:
        """Whether anybody with the address may begin, as often as they like, and so take a place."""
        recruitment = self.study.settings.recruitment
        return not (self.platform.counts_places or self.platform.needs_person or recruitment.invitations)

    def lease_of(self, answered: int) -> float:
        """How long a place is kept: in an open study only for a few minutes before the first trial is answered."""
        return min(self.lease_seconds, FIRST_LEASE) if self.open_to_all and not answered else self.lease_seconds

    @property
    def budget(self) -> int:
        """How many bytes the sessions of the study may store before it lets nobody else in."""
        return max(LEAST_BUDGET, BYTES_PER_PARTICIPANT * self.study.settings.recruitment.participants)

    def hash_of(self, kind: str, identifier: str) -> str | None:
        """The keyed hash of a platform's identifier; None where there is none."""
        return person_hash(self._person_key, kind, identifier) if identifier else None

    @property
    def task_scripts(self) -> dict[str, str]:
        """Where the browser finds the script of each task: karat's among the static files, others by the study."""
        tasks = {block.task.name: block.task for block in self.study.blocks}
        return {
            name: f"/s/{self.slug}/task/{name}.js" if task.script else f"/static/js/tasks/{name}.js"
            for name, task in tasks.items()
        }

    def check(self, trial: StoredTrial, answer: answers.PostedAnswer) -> answers.AnswerVerdict:
        """What an answer to a stored page becomes."""
        return answers.check(trial.shown, self.offers.get(trial.block), answer)


def served_study(slug: str, study: Study, store: Store) -> ServedStudy:
    """Make a study known to the store, and everything ready that participants share."""
    number = store.call(studies.register, registration(slug, study)).id
    with store.read() as connection:
        known = studies.versions(connection, number)
    key = store.secret("person")
    earlier = {
        version: _version(slug, found, number, key)
        for version, files in known.items()
        if version != study.fingerprint and (found := restored(files, version, study.path)) is not None
    }
    made = _version(slug, study, number, key)
    images = {name: path for one in (*earlier.values(), made) for name, path in one.images.items()}
    return replace(made, versions=earlier, images=images)


def _version(slug: str, study: Study, number: int, person_key: bytes) -> ServedStudy:
    settings = study.settings
    words = texts.words(settings.language, settings.texts.words)
    study.plan()  # once, before several people come at the same time
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
    """The browser files of tasks that are not karat's own."""
    found = {}
    for task in (block.task for block in study.blocks):
        if task.script is None:
            continue
        if not task.script.is_file():
            raise KaratError(f"The browser file of the task {task.name} is missing: {task.script}. Add it.")
        found[f"{task.name}.js"] = task.script
    return found


def _usual_instructions(study: Study, words: Words) -> str:
    """What to do in each task of the study, and the advice that holds for all."""
    tasks = dict.fromkeys(block.settings.task for block in study.blocks)
    back = "instructions.going_back" if study.settings.field.going_back else "instructions.no_going_back"
    parts = [*(words[f"instructions.{task}"] for task in tasks), words["instructions.advice"], words[back],
             words["instructions.keyboard"]]  # fmt: skip
    return "\n\n".join(parts)


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
    """The name of the cookie of a study."""
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
    given = form["token"] if form is not None else ""
    token = given or held_token(request, slug)
    session = await loaded(request, field, token)
    if session is None:
        raise HTTPException(401)
    if form is not None and not given and not csrf_valid(config_of(request).secret, token, form["csrf"]):
        raise HTTPException(403)
    return RequestSession(request, field.of(session), session, token, framed=bool(given))


async def again(asked: RequestSession) -> RequestSession:
    """The same request after something was written."""
    session = await loaded(asked.request, asked.field, asked.token)
    if session is None:
        raise HTTPException(401)
    return RequestSession(asked.request, asked.field, session, asked.token, asked.framed)
