"""The API of the trial page: the next trials, and the answers.

A cookie or a bearer token identifies a session. Requests that change something carry the header `X-Karat`, which a form
of another site cannot send. An answer is acknowledged after it is on disk.
"""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, ValidationError
from pydantic.json_schema import models_json_schema
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from karat.field.content import flow
from karat.field.content.answers import OF_HANDS, PageEvent, PostedAnswer, details, event_refusal
from karat.field.server.navigation import plan
from karat.field.server.security import from_another_site, token_hash
from karat.field.server.served_study import (
    RequestSession,
    ServedStudy,
    again,
    bearer_token,
    config_of,
    field_of,
    held_token,
    session_of,
    store_of,
)
from karat.field.store import SessionEndedError, answers, trials
from karat.field.store.answers import SubmittedAnswer, SubmittedEvent
from karat.field.store.trials import StoredTrial

router = APIRouter(prefix="/api", tags=["trials"])
MOST_ANSWERS = 200
MOST_EVENTS = 1000
SCHEMAS = "#/components/schemas/"


class AnswersSent(BaseModel, extra="forbid"):
    """Answers and events, and the trials that the browser already has."""

    answers: list[PostedAnswer] = Field([], max_length=MOST_ANSWERS)
    events: list[PageEvent] = Field([], max_length=MOST_EVENTS)
    have: list[Annotated[str, Field(max_length=64)]] = Field([], max_length=MOST_ANSWERS)


class Refused(BaseModel):
    """An answer that was not saved."""

    key: str
    reason: str


class AnswersSaved(BaseModel):
    """What was saved, what was refused, and which trials come next."""

    saved: list[str]
    refused: list[Refused]
    trials: list[dict[str, Any]] = Field(description="Further trials, as participants may see them.")
    scales: dict[str, dict[str, Any]] = Field(description="The scales of these trials, by their keys.")
    left: int = Field(description="How many pages are unanswered.")
    step: str = Field(description="The current step of the session; trials, while there are any.")


class TrialsAhead(BaseModel):
    """The next trials of a session."""

    step: str
    trials: list[dict[str, Any]]
    scales: dict[str, dict[str, Any]]
    left: int
    done: float = Field(description="The share of the pages that is answered.")
    language: str
    direction: str
    going_back: bool
    previous: dict[str, Any] | None = Field(
        description="The page before, with its answer, where going back is allowed."
    )


class ErrorBody(BaseModel):
    """The error, as a sentence in the language of the study."""

    error: str


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": ErrorBody} for status in (400, 401, 404, 405, 409, 413, 422, *statuses)}


@router.get("/{slug}/trials", responses={200: {"model": TrialsAhead}, **_problems()}, summary="The next trials")
async def next_trials(slug: str, request: Request) -> Response:
    """The next unanswered trials of the session."""
    current = await _asking(request, slug)
    if current.session.step == flow.TRIALS and not current.session.planned:
        await plan(current)
        current = await again(current)
    session, field = current.session, current.field
    settings = field.study.settings.field
    ahead: list[StoredTrial] = []
    before = None
    if session.step == flow.TRIALS:
        ahead = await current.store.look(trials.next_trials, session.id, settings.send_ahead)
        if settings.going_back:
            before = await current.store.look(trials.last_answered, session.id)
    pages = [*ahead, before[0]] if before else ahead
    return _json({
        "step": session.step,
        "trials": [page.shown for page in ahead],
        "scales": _scales(field, pages),
        "left": session.left,
        "done": round(session.answered / session.trials, 4) if session.trials else 0.0,
        "language": field.language,
        "direction": field.words.direction,
        "going_back": settings.going_back,
        "previous": _with_answer(field, *before) if before else None,
    })  # fmt: skip


@router.post("/{slug}/answers", responses={200: {"model": AnswersSaved}, **_problems(403, 415, 429)},
             summary="Save answers", openapi_extra={
                 "requestBody": {"required": True, "content": {
                     "application/json": {"schema": {"$ref": f"{SCHEMAS}AnswersSent"}}
                 }},
                 "parameters": [{"name": "X-Karat", "in": "header", "required": True,
                                 "schema": {"type": "string", "const": "1"}}],
             })  # fmt: skip
async def save_answers(slug: str, request: Request) -> Response:
    """Save answers and events; they are on disk when they are acknowledged."""
    field, config = field_of(request, slug), config_of(request)
    if request.headers.get("x-karat") != "1" or from_another_site(request, config):
        raise HTTPException(403)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415)
    hashed = token_hash(config.secret, slug, bearer_token(request) or held_token(request, slug))
    if hashed is None:
        raise HTTPException(401)
    request.app.state.limits.check("request", hashed)
    try:
        sent = AnswersSent.model_validate_json(await request.body())
    except ValidationError:
        raise HTTPException(422) from None
    settings = field.study.settings.field
    saved = await store_of(request).do(
        answers.save,
        answers.AnswerSubmission(
            token_hash=hashed,
            answers=[_submitted(answer, settings.traces) for answer in sent.answers],
            check=field.check,
            next_step=field.after_trials,
            lease_seconds=field.lease_seconds,
            events=[
                SubmittedEvent(event.kind, event.at / 1000, event.trial, event.details)
                for event in sent.events
                if event_refusal(event) is None and (settings.traces or event.kind not in OF_HANDS)
            ],
            refused=sum(event_refusal(event) is not None for event in sent.events),
            have=frozenset(sent.have),
            send_ahead=settings.send_ahead,
            going_back=settings.going_back,
            first_lease_seconds=field.lease_of(0),
            versions={version: (served.check, served.after_trials) for version, served in field.versions.items()},
        ),
    )
    if saved.saved:
        request.app.state.limits.holds.release(hashed)
    return _json({
        "saved": saved.saved,
        "refused": [{"key": key, "reason": reason} for key, reason in saved.refused],
        "trials": [served.shown for served in saved.trials],
        "scales": _scales(field.versions.get(saved.version or "", field), saved.trials),
        "left": saved.left,
        "step": saved.step,
    })  # fmt: skip


async def save_at_once(request: Request) -> Response:
    """Save answers without FastAPI's parsing of the request, which would take longer than everything else."""
    return await save_answers(request.path_params["slug"], request)


async def _asking(request: Request, slug: str) -> RequestSession:
    """The request with its running session; 401 if there is none, 409 if it has ended."""
    field, bearer = field_of(request, slug), bearer_token(request)
    current = await session_of(request, field, bearer or held_token(request, slug), bool(bearer))
    if current.session.state != "running":
        raise SessionEndedError(current.session.state)
    return current


def _submitted(answer: PostedAnswer, traces: bool) -> SubmittedAnswer:
    when = None if answer.answered_at is None else answer.answered_at / 1000
    return SubmittedAnswer(answer.trial, answer.key, answer, when, details(answer, traces))


def _scales(field: ServedStudy, pages: list[StoredTrial]) -> dict[str, Any]:
    return {key: field.scales[key] for page in pages if (key := page.shown.get("scale"))}


def _with_answer(field: ServedStudy, page: StoredTrial, responses: dict[str, str | None]) -> dict[str, Any]:
    """A page with its answer, as the browser sent it."""
    offer = field.offers.get(page.block)
    places = {} if offer is None or offer.responses is None else {to: sent for sent, to in offer.responses.items()}
    sent = {
        question: None if response is None else places.get(response, response)
        for question, response in responses.items()
    }
    if page.shown.get("questions"):
        return {**page.shown, "responses": sent}
    return {**page.shown, "response": sent.get("")}


def _json(content: object) -> Response:
    return Response(to_json(content), media_type="application/json")


def schemas() -> dict[str, Any]:
    """The schemas of what the browser sends, for the OpenAPI description."""
    _, schema = models_json_schema([(AnswersSent, "validation")], ref_template=SCHEMAS + "{model}")
    shapes: dict[str, Any] = schema["$defs"]
    _close(shapes)
    return shapes


def _close(shape: Any) -> None:
    """Declare that mappings with a key pattern refuse other keys, which pydantic does without declaring it."""
    if isinstance(shape, dict):
        if "patternProperties" in shape:
            shape["additionalProperties"] = False
        shape = list(shape.values())
    if isinstance(shape, list):
        for inner in shape:
            _close(inner)
