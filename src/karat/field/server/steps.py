"""The forms of the steps: what is sent, checked, saved, and what follows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from karat.field.content import flow
from karat.field.server import views
from karat.field.server.describe import SESSION_FIELDS, form_body, page_responses
from karat.field.server.forms import PostedForm, read_form
from karat.field.server.navigation import onward, stay
from karat.field.server.request_session import RequestSession, again, request_session
from karat.field.store import progress

router = APIRouter(tags=["pages"], default_response_class=HTMLResponse)


@router.post("/s/{slug}/step/{step}", responses=page_responses(303, 401, 403, 404, 409, 415, 422),
             summary="The form of a step", openapi_extra=form_body(
                 consent="yes or no, on the page of consent.", comment="The comment, on its page.", **SESSION_FIELDS
             ))  # fmt: skip
async def take_step(slug: str, step: str, request: Request) -> Response:
    """Take the form of a step. A form of a step that is over, sent again or from another tab, changes nothing."""
    form = await read_form(request)
    asked = await request_session(request, slug, form)
    if step not in STEPS:
        raise HTTPException(404)
    if asked.session.state != "running" or asked.session.step != step:
        return await onward(asked)
    await stay(asked)
    return await STEPS[step](asked, form)


async def _consent(asked: RequestSession, form: PostedForm) -> Response:
    agreed = flow.agreed(form.as_dict())
    if agreed is None:
        return await onward(asked)
    if not agreed:
        await asked.store.do(progress.finish, progress.Finish(asked.session.id, "declined"))
        return await onward(asked)
    return await _go_on(asked)


async def _background(asked: RequestSession, form: PostedForm) -> Response:
    """Questions about the participant; who is not eligible learns that it is over, but not by which answer."""
    study, session = asked.field.study, asked.session
    before = session.step == flow.BACKGROUND
    checked = flow.check_background(study, "before" if before else "after", form.as_dict())
    if checked.errors:
        return views.background(asked, session.step, form.as_dict(), checked.errors)
    if before and not flow.eligible(study, checked.answers):
        # What they answered is not kept: nothing needs it any more.
        await asked.store.do(progress.finish, progress.Finish(session.id, "screened-out"))
        return await onward(asked)
    quotas = study.settings.recruitment.quotas if before else {}
    following = _next(asked)
    await asked.store.do(
        progress.set_background,
        progress.SetBackground(session.id, checked.answers, following, asked.field.lease_seconds, quotas),
    )
    return await onward(asked)


async def _instructions(asked: RequestSession, form: PostedForm) -> Response:
    return await _go_on(asked)


async def _quiz(asked: RequestSession, form: PostedForm) -> Response:
    """The quiz: a form with a question left out is no attempt, and one that is sent twice is one."""
    study, session = asked.field.study, asked.session
    given = form.as_dict()
    result = flow.grade_quiz(study, given)
    words = asked.field.words
    if form.get("attempt") != str(session.quiz_attempts):
        return await onward(asked)
    if result.unanswered:
        return views.quiz(asked, given, dict.fromkeys(result.unanswered, words["page.required"]))
    tried = progress.SetQuiz(session.id, result.passed, _next(asked), attempt=session.quiz_attempts)
    attempts = await asked.store.do(progress.set_quiz, tried)
    outcome = flow.quiz_outcome(study, attempts, result)
    if outcome == "again":
        told = {name: feedback or words["quiz.wrong"] for name, feedback in result.wrong}
        left = study.settings.texts.quiz_attempts - attempts
        return views.quiz(await again(asked), given, told, left)
    if outcome == "failed":
        await asked.store.do(progress.finish, progress.Finish(session.id, "failed-quiz"))
    return await onward(asked)


async def _comment(asked: RequestSession, form: PostedForm) -> Response:
    comment = flow.comment_text(form.get("comment"))
    await asked.store.do(progress.set_comment, progress.SetComment(asked.session.id, comment, _next(asked)))
    return await onward(asked)


async def _debriefing(asked: RequestSession, form: PostedForm) -> Response:
    return await _go_on(asked)


async def _go_on(asked: RequestSession) -> Response:
    """Nothing to save but that this step is over."""
    step = progress.SetStep(asked.session.id, _next(asked), after=asked.session.step)
    await asked.store.do(progress.set_step, step)
    return await onward(asked)


def _next(asked: RequestSession) -> str:
    return flow.next_step(asked.field.study, asked.session.step, asked.session.number)


STEPS: dict[str, Callable[[RequestSession, PostedForm], Awaitable[Response]]] = {
    flow.CONSENT: _consent,
    flow.BACKGROUND: _background,
    flow.INSTRUCTIONS: _instructions,
    flow.QUIZ: _quiz,
    flow.BACKGROUND_AFTER: _background,
    flow.COMMENT: _comment,
    flow.DEBRIEFING: _debriefing,
}
