"""The pages of a study: arrival, the forms of the steps, the end, and withdrawal."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from karat.field.content import flow
from karat.field.content.inline_markup import markup
from karat.field.content.platforms import Visit
from karat.field.content.platforms.platform import PLACEHOLDER
from karat.field.server import navigation
from karat.field.server.headers import client_address
from karat.field.server.navigation import FieldError, current_page, end_page, notice, onward, page, stay
from karat.field.server.security import (
    SESSION_FIELDS,
    PostedForm,
    drop_cookie,
    form_body,
    from_another_site,
    page_responses,
    read_form,
    set_cookie,
    sign,
    unsign,
)
from karat.field.server.served_study import (
    RequestSession,
    ServedStudy,
    again,
    config_of,
    cookie_of,
    field_of,
    held_token,
    loaded,
    request_session,
    session_of,
    store_of,
)
from karat.field.server.visits import VisitLink, arrival, device_class, opened, read_link, sealed, token_of
from karat.field.store import arrivals, people, progress, studies
from karat.field.store.arrivals import Arrival, Arrived
from karat.field.store.progress import Session

router = APIRouter(tags=["pages"], default_response_class=HTMLResponse)
COOKIE_SECONDS = 90 * 24 * 3600


@router.get("/s/{slug}/", responses=page_responses(404, 422), summary="The landing page")
@router.get("/s/{slug}", include_in_schema=False)
@router.head("/s/{slug}/", include_in_schema=False)
@router.head("/s/{slug}", include_in_schema=False)
async def landing(slug: str, request: Request) -> Response:
    """Show the landing page. No session begins before the button is pressed."""
    field = field_of(request, slug)
    link, visit = read_link(request, field)
    session = await loaded(request, field, held_token(request, slug))
    settings = field.study.settings
    return page(
        request,
        field,
        "landing",
        framed=field.platform.framed and not link.preview,
        text=markup(settings.texts.welcome or field.words["landing.welcome"]),
        privacy_text=field.privacy,
        minutes=round(settings.recruitment.minutes) if settings.recruitment.minutes else None,
        refusal=_refusal(request, field, link, visit) or await _shut(request, field, link, session),
        known=session is not None and session.state == "running",
        hidden=[("visit", sealed(config_of(request).secret, link))],
    )


async def _shut(request: Request, field: ServedStudy, link: VisitLink, session: Session | None) -> str:
    """Why nobody new can start; empty for participants who may have started, because the next page decides."""
    person = field.hash_of(field.platform.name, link.person)
    if session is not None or link.preview or link.invitation:
        return ""
    wanted = None if field.platform.counts_places else field.study.settings.recruitment.participants
    outcome = await store_of(request).look(studies.closed_to, field.id, person, wanted, time.time())
    return " ".join(_regret(field, outcome)) if outcome else ""


def _refusal(request: Request, field: ServedStudy, link: VisitLink, visit: Visit) -> str:
    """Why a visitor cannot begin; empty if nothing prevents it yet."""
    words, settings = field.words, field.study.settings
    device = device_class(request.headers.get("user-agent", ""))
    if link.preview:
        return ""
    if request.query_params.get("preview"):
        return words["landing.preview_expired"]
    if visit.preview:
        return words["landing.preview"]
    id_text = request.query_params.get(field.platform.person, "").strip()
    if not link.person and (id_text or field.platform.needs_person):
        flaw = "missing" if not id_text else "placeholder" if PLACEHOLDER.search(id_text) else "invalid"
        return words[f"landing.id_{flaw}"]
    if device not in settings.field.devices:
        return words[f"landing.device_{device}"]
    return words["end.not_invited"] if settings.recruitment.invitations and not link.invitation else ""


@router.post("/s/{slug}/begin", responses=page_responses(303, 403, 404, 415, 422, 429), summary="Begin or resume",
             openapi_extra=form_body(visit="What the landing page knows of the visit, signed."))  # fmt: skip
async def begin(slug: str, request: Request) -> Response:
    """Begin or resume a session, or say why that is not possible."""
    field, config = field_of(request, slug), config_of(request)
    form = await read_form(request)
    link = opened(config.secret, form["visit"])
    if link is None or link.slug != slug or from_another_site(request, config):
        raise HTTPException(403)
    request.app.state.limits.check("arrival", request)
    framed = field.platform.framed and bool(link.session) and not link.preview
    refusal = _refusal(request, field, link, Visit())
    if refusal:
        return notice(request, field, field.words["end.heading"], [refusal], framed=framed)
    row = await store_of(request).look(studies.find, slug)
    token = token_of(config.secret, link)
    newcomer = arrival(request, field, link, token, draft=row is not None and row.state == "draft")
    arrived = await _arrived(request, field, newcomer)
    if arrived.outcome not in ("new", "resumed", "ended"):
        lines = _not_let_in(field, link, arrived)
        return notice(request, field, field.words["end.heading"], lines, framed=framed)
    if arrived.token_hash is None and arrived.session_id is not None:
        return await _end_by_ids(request, field, arrived.session_id)
    if framed:
        return await current_page(await session_of(request, field, token, framed=True))
    response = RedirectResponse(f"/s/{slug}/go", 303)
    set_cookie(response, config, cookie_of(slug), token, COOKIE_SECONDS)
    return response


async def _end_by_ids(request: Request, field: ServedStudy, session_id: int) -> Response:
    """The last page in a browser that does not have the session: with the code, but without a way to withdraw."""
    session = await store_of(request).look(progress.by_id, session_id)
    if session is None:
        raise HTTPException(401)
    session = replace(session, withdrawal_code=None)
    return await end_page(RequestSession(request, field.of(session), session, "", framed=False))


async def _arrived(request: Request, field: ServedStudy, newcomer: Arrival) -> Arrived:
    """Admit or refuse an arrival; in an open study, one address cannot take all free places."""
    store, limits = store_of(request), request.app.state.limits
    wanted = newcomer.wanted
    free_for_all = field.open_to_all and limits.limited and not newcomer.invitation_hash
    if not free_for_all or wanted is None or newcomer.preview or newcomer.pilot or newcomer.known_token:
        return await store.do(arrivals.arrive, newcomer)
    rank = limits.holds.add(client_address(request), newcomer.token_hash)
    arrived = None
    try:
        tokens = limits.holds.tokens(newcomer.token_hash)
        free, room = await store.look(studies.free_places, field.id, wanted, newcomer.now, tokens)
        if free > 0 and not limits.holds.within(rank, room):
            raise HTTPException(429, headers={"Retry-After": "60"})
        arrived = await store.do(arrivals.arrive, newcomer)
    finally:
        if arrived is None or arrived.outcome != "new":
            limits.holds.release(newcomer.token_hash)
    return arrived


def _not_let_in(field: ServedStudy, link: VisitLink, arrived: Arrived) -> list[str]:
    """The sentences that say why a visitor gets no session."""
    words, outcome = field.words, arrived.outcome
    if outcome == "early" and arrived.not_before is not None:
        date = datetime.fromtimestamp(arrived.not_before, UTC).strftime("%Y-%m-%d, %H:%M UTC")
        return [words.fill("end.too_early", date=date)]
    if outcome == "taken":
        return [words["end.running" if arrived.state == "running" else "end.taken"]]
    if outcome == "refused" and (link.invitation or field.study.settings.recruitment.invitations):
        return [words["end.not_invited"]]
    return _regret(field, outcome)


def _regret(field: ServedStudy, outcome: str) -> list[str]:
    """The sentences that say why a visit ends; on a platform, they ask to return the submission."""
    lines = [field.words[f"end.{outcome}"]]
    if field.platform.needs_person and outcome in ("full", "refused", "closed", "withdrawn"):
        lines.append(field.words.fill("end.ask_to_return", platform=field.platform.title))
    return lines


@router.get("/s/{slug}/go", responses=page_responses(303, 401, 404, 409, 422), summary="The page of the present step")
@router.head("/s/{slug}/go", include_in_schema=False)
async def go(slug: str, request: Request) -> Response:
    """Show the page of the current step."""
    return await current_page(await request_session(request, slug))


@router.post(
    "/s/{slug}/go",
    responses=page_responses(303, 401, 403, 404, 409, 415, 422),
    summary="The page of the present step, in a frame",
    openapi_extra=form_body(**SESSION_FIELDS),
)
async def go_framed(slug: str, request: Request) -> Response:
    """Show the page of the current step in a frame, which has no cookies."""
    current = await request_session(request, slug, await read_form(request))
    return await current_page(current) if current.framed else await onward(current)


@router.get("/s/{slug}/done", responses=page_responses(303, 401, 404, 422), summary="The last page")
@router.head("/s/{slug}/done", include_in_schema=False)
async def done(slug: str, request: Request) -> Response:
    """Show the last page of a session that has ended; a running one continues."""
    current = await request_session(request, slug)
    if current.session.state == "running":
        return RedirectResponse(f"/s/{slug}/go", 303)
    return await end_page(current)


@router.get("/s/{slug}/withdraw", responses=page_responses(404, 422), summary="Withdraw with a code")
@router.head("/s/{slug}/withdraw", include_in_schema=False)
async def withdraw_page(slug: str, request: Request) -> Response:
    """Ask for the withdrawal code."""
    return _withdraw_page(request, field_of(request, slug))


@router.post("/s/{slug}/withdraw", responses=page_responses(401, 403, 404, 415, 422, 429), summary="Withdraw",
             openapi_extra=form_body(confirm="yes", code="The withdrawal code.", **SESSION_FIELDS))  # fmt: skip
async def withdraw(slug: str, request: Request) -> Response:
    """Withdraw with the code at any time, or during a session after a confirmation."""
    form = await read_form(request)
    if "code" in form:
        return await _withdraw_by_code(request, field_of(request, slug), form)
    current = await request_session(request, slug, form)
    if form["confirm"] != "yes" or current.session.preview:
        return page(request, current.field, "withdraw", current=current, by_code=False, leave=False)
    code = current.session.withdrawal_code
    withdrawn = code is not None and await current.store.do(people.withdraw, current.field.id, code)
    if not withdrawn:
        await current.store.do(progress.finish, current.session.id, "withdrawn")
    response = _withdrawn(request, current.field, current.framed)
    drop_cookie(response, config_of(request), cookie_of(slug))
    return response


async def _withdraw_by_code(request: Request, field: ServedStudy, form: PostedForm) -> Response:
    config = config_of(request)
    if unsign(config.secret, "withdraw", form["csrf"]) != [field.slug] or from_another_site(request, config):
        raise HTTPException(403)
    request.app.state.limits.check("withdrawal", request)
    if await store_of(request).do(people.withdraw, field.id, form["code"]):
        return _withdrawn(request, field, framed=False)
    return _withdraw_page(request, field, unknown=True)


def _withdraw_page(request: Request, field: ServedStudy, unknown: bool = False) -> Response:
    words = field.words
    problems = [FieldError("code", words["withdraw.code"], words["withdraw.unknown"])] if unknown else []
    secret = config_of(request).secret
    hidden = [("csrf", sign(secret, "withdraw", field.slug, lifetime=24 * 3600))]
    status = 422 if unknown else 200
    return page(request, field, "withdraw", status=status, by_code=True, hidden=hidden, problems=problems)


def _withdrawn(request: Request, field: ServedStudy, framed: bool) -> Response:
    return notice(request, field, field.words["end.heading"], _regret(field, "withdrawn"), framed=framed)


@router.post("/s/{slug}/step/{step}", responses=page_responses(303, 401, 403, 404, 409, 415, 422),
             summary="The form of a step", openapi_extra=form_body(
                 consent="yes or no, on the page of consent.", comment="The comment, on its page.", **SESSION_FIELDS
             ))  # fmt: skip
async def take_step(slug: str, step: str, request: Request) -> Response:
    """Process the form of a step. A form of an earlier step, sent again or from another tab, changes nothing."""
    form = await read_form(request)
    current = await request_session(request, slug, form)
    if step not in STEPS:
        raise HTTPException(404)
    if current.session.state != "running" or current.session.step != step:
        return await onward(current)
    await stay(current)
    return await STEPS[step](current, form)


async def _consent(current: RequestSession, form: PostedForm) -> Response:
    if form["consent"] == "yes":
        return await _read(current, form, consent=current.field.consent)
    if form["consent"] == "no":
        await current.store.do(progress.finish, current.session.id, "declined")
    return await onward(current)


async def _background(current: RequestSession, form: PostedForm) -> Response:
    """Save background answers. Participants who are not eligible do not learn which answer excluded them."""
    study, session = current.field.study, current.session
    before = session.step == flow.BACKGROUND
    checked = flow.check_background(study, "before" if before else "after", form)
    if checked.errors:
        return navigation.background(current, session.step, form, checked.errors)
    if before and not flow.eligible(study, checked.answers):
        # Their answers are not saved, because nothing needs them.
        await current.store.do(progress.finish, session.id, "screened-out")
        return await onward(current)
    quotas = study.settings.recruitment.quotas if before else {}
    following = _next(current)
    await current.store.do(
        progress.set_background,
        progress.SetBackground(
            session.id, checked.answers, following, current.field.lease_of(session.answered), quotas
        ),
    )
    return await onward(current)


async def _read(current: RequestSession, form: PostedForm, consent: str | None = None) -> Response:
    """Continue after a page that is only read, and record the text that the participant agreed to."""
    session = current.session
    await current.store.do(progress.set_step, session.id, _next(current), after=session.step, consent=consent)
    return await onward(current)


async def _quiz(current: RequestSession, form: PostedForm) -> Response:
    """Grade the quiz. A form with a missing answer is no attempt, and a form sent twice is one attempt."""
    study, session = current.field.study, current.session
    result = flow.grade_quiz(study, form)
    words = current.field.words
    if form["attempt"] != str(session.quiz_attempts):
        return await onward(current)
    if result.unanswered:
        return navigation.quiz(current, form, dict.fromkeys(result.unanswered, words["page.required"]))
    following, before = _next(current), session.quiz_attempts
    attempts = await current.store.do(progress.set_quiz, session.id, result.passed, following, attempt=before)
    outcome = flow.quiz_outcome(study, attempts, result)
    if outcome == "again":
        feedback_by_name = {name: feedback or words["quiz.wrong"] for name, feedback in result.wrong}
        left = study.settings.texts.quiz_attempts - attempts
        return navigation.quiz(await again(current), form, feedback_by_name, left)
    if outcome == "failed":
        await current.store.do(progress.finish, session.id, "failed-quiz")
    return await onward(current)


async def _comment(current: RequestSession, form: PostedForm) -> Response:
    comment = flow.comment_text(form["comment"])
    await current.store.do(progress.set_comment, current.session.id, comment, _next(current))
    return await onward(current)


def _next(current: RequestSession) -> str:
    return flow.next_step(current.field.study, current.session.step, current.session.number)


STEPS: dict[str, Callable[[RequestSession, PostedForm], Awaitable[Response]]] = {
    flow.CONSENT: _consent,
    flow.BACKGROUND: _background,
    flow.INSTRUCTIONS: _read,
    flow.QUIZ: _quiz,
    flow.BACKGROUND_AFTER: _background,
    flow.COMMENT: _comment,
    flow.DEBRIEFING: _read,
}
