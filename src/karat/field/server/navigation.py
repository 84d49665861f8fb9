"""The current step of a session, and its page.

All pages have one address, and the store knows the current step. So a reload, a second tab or a return after days shows
the next page, and nobody can skip a step by its address.

The last page shows thanks or regrets, the code, and the way back to the platform. The code appears only for a session
that the store has closed, and the store never closes a session as complete while a trial is unanswered. Participants
whose data are excluded later still get the code, because payment does not depend on the analysis.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from sqlalchemy import Connection, select
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from karat.field.content import flow, texts
from karat.field.content.flow import FormField
from karat.field.content.inline_markup import markup
from karat.field.content.platforms import Completion, Visit, completion
from karat.field.content.trials import PlannedTrial, planned
from karat.field.server.headers import ISOLATION, POLICY, page_policy
from karat.field.server.served_study import RequestSession, ServedStudy, again
from karat.field.store import progress, trials
from karat.field.store.progress import Session
from karat.field.store.schema import DECISIONS, identity


async def current_page(current: RequestSession) -> Response:
    """The page of the current step of a session."""
    for _ in flow.STEPS:
        session = current.session
        if session.state != "running":
            return await end_page(current) if current.framed else RedirectResponse(f"/s/{current.field.slug}/done", 303)
        step = _due(current)
        if step != session.step:
            await current.store.do(progress.set_step, session.id, step, after=session.step)
        elif step == flow.DONE:
            if await current.store.do(progress.finish, session.id, "complete") == "unfinished":
                break
        elif step == flow.TRIALS and not session.planned:
            await plan(current)
        else:
            return step_page(current, step)
        current = await again(current)
    words = current.field.words
    return notice(current.request, current.field, words["error.heading"], [words["done.unsaved"]], 409, current.framed)


async def plan(current: RequestSession) -> None:
    """Plan the trials of a session in a thread and store them; few at once, because they take memory."""
    async with current.request.app.state.planning:
        pages = await asyncio.to_thread(_planned, current.field, current.session)
        await current.store.do(trials.plan_trials, trials.PlannedTrials(current.session.id, pages))


async def onward(current: RequestSession) -> Response:
    """The answer to a form: a redirect to the next page, or the page itself in a frame, which has no cookies."""
    if current.framed:
        return await current_page(await again(current))
    return RedirectResponse(f"/s/{current.field.slug}/go", 303)


async def stay(current: RequestSession) -> None:
    """Extend the lease of an active participant once half of it is over."""
    lease = current.field.lease_of(current.session.answered)
    if current.session.lease_until - time.time() < lease / 2:
        await current.store.do(progress.touch, current.session.id, lease)


def _due(current: RequestSession) -> str:
    """The current step, or the next one if it is over or does not belong to this session."""
    study, session = current.field.study, current.session
    all_answered = session.step == flow.TRIALS and session.planned and session.left <= 0
    if all_answered or session.step not in flow.steps(study, session.number):
        return flow.next_step(study, session.step, session.number)
    return session.step


def _planned(field: ServedStudy, session: Session) -> list[PlannedTrial]:
    """The trials of a session; both sessions of a participant use one questionnaire."""
    questionnaire = field.study.questionnaire(session.list, session.participant)
    return planned(field.study, questionnaire, slug=field.slug, words=field.words, session=session.number)


SENTENCES = {
    "declined": "end.declined",
    "screened-out": "end.screened_out",
    "failed-quiz": "end.failed_quiz",
    "full": "end.full",
    "withdrawn": "end.withdrawn",
    "returned": "end.returned",
}
WITH_CODE = ("complete", "declined", "screened-out", "failed-quiz", "full")


async def end_page(current: RequestSession) -> Response:
    """The last page of a session that has ended."""
    session = current.session
    # Show how the session ended for the participant, whatever was decided about the data afterwards.
    decided = session.state in DECISIONS and session.state_before == "complete"
    outcome = "complete" if decided else session.state
    back = await _way_back(current, outcome)
    if back.redirect and not back.code and not current.framed:
        return RedirectResponse(back.redirect, 303)
    words, texts = current.field.words, current.field.study.settings.texts
    complete = outcome == "complete"
    text = markup(texts.completion) if complete and texts.completion else ""
    lines = [] if text else [words["done.thanks"] if complete else words[SENTENCES.get(outcome, "end.ended")]]
    if complete and current.session.preview:
        lines = [words["done.preview"]]
    elif complete:
        lines += _next_session(current)
    if back.ask_to_return:
        lines.append(words.fill("end.ask_to_return", platform=current.field.platform.title))
    return page(
        current.request,
        current.field,
        "done",
        current=current,
        heading=words["done.heading" if complete else "end.heading"],
        text=text,
        lines=lines,
        code=back.code,
        return_url=back.redirect,
        platform=current.field.platform.title,
        submit_to=back.post.url if back.post else "",
        submit_fields=list(back.post.fields.items()) if back.post else [],
        withdrawal_code=current.session.withdrawal_code if complete and not current.session.preview else "",
        leave=False,
    )


async def _way_back(current: RequestSession, outcome: str) -> Completion:
    """How the participant returns to the platform; a preview has no code and no way back."""
    session, settings = current.session, current.field.study.settings
    if session.preview or outcome not in WITH_CODE:
        return Completion()
    person, of_session, of_study = await current.store.look(_identity, session.id)
    visit = Visit(person, of_session, of_study, submit_to=session.device.get("submit_to"))
    return completion(
        current.field.platform, settings.recruitment, settings.field, outcome, visit, session.completion_code
    )


def _next_session(current: RequestSession) -> list[str]:
    questionnaire = current.field.study.settings.questionnaire
    if current.session.number >= questionnaire.sessions:
        return []
    days = questionnaire.days_between
    words = current.field.words
    return [words.fill("done.next_session", days=days) if days else words["done.next_now"]]


def _identity(connection: Connection, session_id: int) -> tuple[str, str, str]:
    """The platform's ids of the person, the submission and the study; empty if they were erased."""
    columns = (identity.c.platform_id, identity.c.platform_session, identity.c.platform_study)
    row = connection.execute(select(*columns).where(identity.c.session_id == session_id)).first()
    return ("", "", "") if row is None else (row.platform_id, row.platform_session, row.platform_study)


@dataclass(frozen=True)
class ShownField(FormField):
    """A question of a form with its current answer, and what is wrong with it."""

    value: str = ""
    message: str = ""
    longest: int = flow.LONGEST_LINE


@dataclass(frozen=True)
class FieldError:
    """A line of the error summary, with a link to its field."""

    field: str
    label: Markup | str
    message: str


def page(
    request: Request,
    field: ServedStudy | None,
    template: str,
    *,
    current: RequestSession | None = None,
    framed: bool = False,
    status: int = 200,
    **context: Any,
) -> HTMLResponse:
    """A page for participants; `current` is their request if they have a session."""
    words = field.words if field is not None else texts.words("en")
    framed = framed or (current is not None and current.framed)
    common = {
        "words": words,
        "title": field.study.public_title if field is not None else "karat",
        "language": field.language if field is not None else words.language,
        "direction": words.direction,
        "slug": field.slug if field is not None else "",
        "hidden": current.hidden if current is not None else [],
        "banner": _banner(current) if current is not None else "",
        "leave": current is not None and current.session.state == "running" and not current.session.preview,
        "problems": [],
    }
    html = request.app.state.templates.get_template(f"participant/{template}.html").render({**common, **context})
    targets = field.platform.form_targets if field is not None else ()
    framed_by = field.platform.frame_ancestors if field is not None and framed else ()
    # Isolated at the top level, or framed by the platform.
    headers = {POLICY: page_policy(targets, framed_by), **({} if framed_by else ISOLATION)}
    return HTMLResponse(html, status, headers)


def notice(
    request: Request,
    field: ServedStudy | None,
    heading: str,
    lines: Sequence[str],
    status: int = 200,
    framed: bool | None = None,
    onward: str = "",
) -> HTMLResponse:
    """A page with a message only. The frame of a platform must be able to show errors too."""
    inside = field is not None and field.platform.framed if framed is None else framed
    return page(request, field, "notice", framed=inside, status=status, heading=heading, lines=lines, onward=onward)


def step_page(current: RequestSession, step: str) -> HTMLResponse:
    """The page of a step before its form is filled in."""
    field, session, settings = current.field, current.session, current.field.study.settings
    if step == flow.QUIZ:
        return quiz(current)
    if step == flow.CONSENT:
        text = markup(settings.texts.consent)
        return _step(current, step, text=text, privacy_text=field.privacy, withdrawal_code=session.withdrawal_code)
    if step == flow.INSTRUCTIONS:
        return _step(current, step, "step", text=field.instructions)
    if step == flow.TRIALS:
        return _step(
            current,
            step,
            token=current.token if current.framed else "",
            session=f"{session.participant}-{session.number}",
            progress=settings.field.progress,
            traces=settings.field.traces,
            browser_words=field.words.browser,
            task_scripts=field.task_scripts,
            leave=False,  # the page shows the trial only
        )
    if step == flow.COMMENT:
        return _step(current, step, comment=session.comment or "", longest=flow.LONGEST_COMMENT)
    if step == flow.DEBRIEFING:
        return _step(current, step, "step", text=markup(settings.texts.debriefing))
    return background(current, step)


def background(
    current: RequestSession, step: str, values: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> HTMLResponse:
    """The background questions; `errors` has the key of a text for each wrong answer."""
    after = step == flow.BACKGROUND_AFTER
    words = current.field.words
    form = flow.background_form(current.field.study, "after" if after else "before")
    complaints = {name: words.fill(key, count=flow.LONGEST_LINE) for name, key in (errors or {}).items()}
    heading = words["background.heading_after" if after else "background.heading"]
    return _questions(current, step, "background", form, values or {}, complaints, heading=heading)


def quiz(
    current: RequestSession,
    values: Mapping[str, str] | None = None,
    messages: Mapping[str, str] | None = None,
    attempts_left: int | None = None,
) -> HTMLResponse:
    """The quiz; after a wrong answer, with feedback and the number of attempts left."""
    words = current.field.words
    again = "" if attempts_left is None else words.counted("quiz.attempts", attempts_left)
    # The form carries the number of attempts, so that sending it twice counts once.
    hidden = [*current.hidden, ("attempt", str(current.session.quiz_attempts))]
    form = flow.quiz_form(current.field.study)
    text = current.field.instructions
    return _questions(
        current, flow.QUIZ, "quiz", form, values or {}, messages or {}, hidden=hidden, again=again, text=text
    )


def _step(
    current: RequestSession, step: str, template: str = "", status: int = 200, heading: str = "", **context: Any
) -> HTMLResponse:
    empty = {"heading": heading, "step": step, "fields": [], "again": ""}
    return page(current.request, current.field, template or step, current=current, status=status, **empty | context)


def _questions(
    current: RequestSession,
    step: str,
    template: str,
    form: Sequence[FormField],
    values: Mapping[str, str],
    messages: Mapping[str, str],
    **context: Any,
) -> HTMLResponse:
    fields = [
        ShownField(**vars(question), value=values.get(question.name, ""), message=messages.get(question.name, ""))
        for question in form
    ]
    problems = [
        FieldError(f"field-{question.name}", question.question, question.message)
        for question in fields
        if question.message
    ]
    return _step(current, step, template, 422 if problems else 200, fields=fields, problems=problems, **context)


def _banner(current: RequestSession) -> str:
    """The banner on every page of a preview or pilot."""
    words = current.field.words
    if current.session.preview:
        return words.fill("page.preview", list=current.session.list)
    return words["page.pilot"] if current.session.pilot else ""
