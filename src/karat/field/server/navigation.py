"""Where a session stands, and the page that belongs there, made from a template.

Every page is reached by one address, and the store says which it is. So a reload, a second tab or a return after days
all show what comes next, and nobody can skip a step by its address.

At the end there are thanks or regrets, the code, and the way back to the platform. The code appears only for a session
that the store has closed, and the store closes none as complete while a trial is unanswered. Somebody whose data are
excluded later keeps the right to the code: what is analysed and what is paid are two things.
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


async def current_page(asked: RequestSession) -> Response:
    """The page of the step at which a session stands."""
    for _ in flow.STEPS:
        session = asked.session
        if session.state != "running":
            return await end_page(asked) if asked.framed else RedirectResponse(f"/s/{asked.field.slug}/done", 303)
        step = _due(asked)
        if step != session.step:
            await asked.store.do(progress.set_step, session.id, step, after=session.step)
        elif step == flow.DONE:
            if await asked.store.do(progress.finish, session.id, "complete") == "unfinished":
                break
        elif step == flow.TRIALS and not session.planned:
            await plan(asked)
        else:
            return step_page(asked, step)
        asked = await again(asked)
    words = asked.field.words
    return notice(asked.request, asked.field, words["error.heading"], [words["done.unsaved"]], 409, asked.framed)


async def plan(asked: RequestSession) -> None:
    """Make the trials of a session, in a thread, and store them; only so many at once, since they take memory."""
    async with asked.request.app.state.planning:
        made = await asyncio.to_thread(_made, asked.field, asked.session)
        await asked.store.do(trials.plan_trials, trials.PlannedTrials(asked.session.id, made))


async def onward(asked: RequestSession) -> Response:
    """After a form: the address of the next page, or in a frame, where addresses do not carry a session, the page."""
    if asked.framed:
        return await current_page(await again(asked))
    return RedirectResponse(f"/s/{asked.field.slug}/go", 303)


async def stay(asked: RequestSession) -> None:
    """Keep the place of somebody who is there, where half of the time for which it is kept is over."""
    lease = asked.field.lease_of(asked.session.answered)
    if asked.session.lease_until - time.time() < lease / 2:
        await asked.store.do(progress.touch, asked.session.id, lease)


def _due(asked: RequestSession) -> str:
    """The step that comes now: the present one, unless it has nothing left or does not belong to this session."""
    study, session = asked.field.study, asked.session
    all_answered = session.step == flow.TRIALS and session.planned and session.left <= 0
    if all_answered or session.step not in flow.steps(study, session.number):
        return flow.next_step(study, session.step, session.number)
    return session.step


def _made(field: ServedStudy, session: Session) -> list[PlannedTrial]:
    """The trials of a session; both sessions of a participant come from one questionnaire."""
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


async def end_page(asked: RequestSession) -> Response:
    """The last page of a session that has ended."""
    session = asked.session
    # How it ended for the participant, whatever was decided about the data afterwards.
    decided = session.state in DECISIONS and session.state_before == "complete"
    outcome = "complete" if decided else session.state
    back = await _way_back(asked, outcome)
    if back.redirect and not back.code and not asked.framed:
        return RedirectResponse(back.redirect, 303)
    words, texts = asked.field.words, asked.field.study.settings.texts
    complete = outcome == "complete"
    text = markup(texts.completion) if complete and texts.completion else ""
    lines = [] if text else [words["done.thanks"] if complete else words[SENTENCES.get(outcome, "end.ended")]]
    if complete:
        lines += _next_session(asked)
    if back.ask_to_return:
        lines.append(words.fill("end.ask_to_return", platform=asked.field.platform.title))
    return page(
        asked.request,
        asked.field,
        "done",
        asked=asked,
        heading=words["done.heading" if complete else "end.heading"],
        text=text,
        lines=lines,
        code=back.code,
        return_url=back.redirect,
        platform=asked.field.platform.title,
        submit_to=back.post.url if back.post else "",
        submit_fields=list(back.post.fields.items()) if back.post else [],
        withdrawal_code=asked.session.withdrawal_code if complete and not asked.session.preview else "",
        leave=False,
    )


async def _way_back(asked: RequestSession, outcome: str) -> Completion:
    """How the participant returns; a preview leads nowhere and gives no code away."""
    session, settings = asked.session, asked.field.study.settings
    if session.preview or outcome not in WITH_CODE:
        return Completion()
    person, of_session, of_study = await asked.store.look(_identity, session.id)
    visit = Visit(person, of_session, of_study, submit_to=session.device.get("submit_to"))
    return completion(
        asked.field.platform, settings.recruitment, settings.field, outcome, visit, session.completion_code
    )


def _next_session(asked: RequestSession) -> list[str]:
    questionnaire = asked.field.study.settings.questionnaire
    if asked.session.number >= questionnaire.sessions:
        return []
    days = questionnaire.days_between
    words = asked.field.words
    return [words.fill("done.next_session", days=days) if days else words["done.next_now"]]


def _identity(connection: Connection, session_id: int) -> tuple[str, str, str]:
    """What the platform calls the person, the submission and the study; empty where that was erased."""
    columns = (identity.c.platform_id, identity.c.platform_session, identity.c.platform_study)
    row = connection.execute(select(*columns).where(identity.c.session_id == session_id)).first()
    return ("", "", "") if row is None else (row.platform_id, row.platform_session, row.platform_study)


@dataclass(frozen=True)
class ShownField(FormField):
    """A question of a form with what was answered so far, and what is wrong with that."""

    value: str = ""
    message: str = ""
    longest: int = flow.LONGEST_LINE


@dataclass(frozen=True)
class FieldError:
    """A line of the summary of errors, which leads to its field."""

    field: str
    label: Markup | str
    message: str


def page(
    request: Request,
    field: ServedStudy | None,
    template: str,
    *,
    asked: RequestSession | None = None,
    framed: bool = False,
    status: int = 200,
    **context: Any,
) -> HTMLResponse:
    """A page of participants; `asked` where they have a session."""
    words = field.words if field is not None else texts.words("en")
    framed = framed or (asked is not None and asked.framed)
    common = {
        "words": words,
        "title": field.study.public_title if field is not None else "karat",
        "language": field.language if field is not None else words.language,
        "direction": words.direction,
        "slug": field.slug if field is not None else "",
        "hidden": asked.hidden if asked is not None else [],
        "banner": _banner(asked) if asked is not None else "",
        "leave": asked is not None and asked.session.state == "running" and not asked.session.preview,
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
    """A page that only says something. An error may be met inside the frame of a platform, which must show it."""
    inside = field is not None and field.platform.framed if framed is None else framed
    return page(request, field, "notice", framed=inside, status=status, heading=heading, lines=lines, onward=onward)


def step_page(asked: RequestSession, step: str) -> HTMLResponse:
    """The page of a step, as it is first shown."""
    field, session, settings = asked.field, asked.session, asked.field.study.settings
    if step == flow.QUIZ:
        return quiz(asked)
    if step == flow.CONSENT:
        text = markup(settings.texts.consent)
        return _step(asked, step, text=text, privacy_text=field.privacy, withdrawal_code=session.withdrawal_code)
    if step == flow.INSTRUCTIONS:
        return _step(asked, step, "step", text=field.instructions)
    if step == flow.TRIALS:
        return _step(
            asked,
            step,
            token=asked.token if asked.framed else "",
            session=f"{session.participant}-{session.number}",
            progress=settings.field.progress,
            traces=settings.field.traces,
            browser_words=field.words.browser,
            task_scripts=field.task_scripts,
            leave=False,  # nothing but the trial stands on its page
        )
    if step == flow.COMMENT:
        return _step(asked, step, comment=session.comment or "", longest=flow.LONGEST_COMMENT)
    if step == flow.DEBRIEFING:
        return _step(asked, step, "step", text=markup(settings.texts.debriefing))
    return background(asked, step)


def background(
    asked: RequestSession, step: str, values: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Questions about the participant; with errors, what is wrong with the answers (the key of a text each)."""
    after = step == flow.BACKGROUND_AFTER
    words = asked.field.words
    form = flow.background_form(asked.field.study, "after" if after else "before")
    complaints = {name: words.fill(key, count=flow.LONGEST_LINE) for name, key in (errors or {}).items()}
    heading = words["background.heading_after" if after else "background.heading"]
    return _questions(asked, step, "background", form, values or {}, complaints, heading=heading)


def quiz(
    asked: RequestSession,
    values: Mapping[str, str] | None = None,
    messages: Mapping[str, str] | None = None,
    attempts_left: int | None = None,
) -> HTMLResponse:
    """The questions about the instructions; after a wrong answer with feedback and how many attempts are left."""
    words = asked.field.words
    again = "" if attempts_left is None else words.counted("quiz.attempts", attempts_left)
    # The form knows how many attempts there were, so that one that is sent twice counts once.
    hidden = [*asked.hidden, ("attempt", str(asked.session.quiz_attempts))]
    form = flow.quiz_form(asked.field.study)
    text = asked.field.instructions
    return _questions(
        asked, flow.QUIZ, "quiz", form, values or {}, messages or {}, hidden=hidden, again=again, text=text
    )


def _step(
    asked: RequestSession, step: str, template: str = "", status: int = 200, heading: str = "", **context: Any
) -> HTMLResponse:
    empty = {"heading": heading, "step": step, "fields": [], "again": ""}
    return page(asked.request, asked.field, template or step, asked=asked, status=status, **empty | context)


def _questions(
    asked: RequestSession,
    step: str,
    template: str,
    form: Sequence[FormField],
    values: Mapping[str, str],
    messages: Mapping[str, str],
    **context: Any,
) -> HTMLResponse:
    fields = [
        ShownField(**vars(one), value=values.get(one.name, ""), message=messages.get(one.name, "")) for one in form
    ]
    problems = [FieldError(f"field-{one.name}", one.question, one.message) for one in fields if one.message]
    return _step(asked, step, template, 422 if problems else 200, fields=fields, problems=problems, **context)


def _banner(asked: RequestSession) -> str:
    """What is said above every page of somebody who does not count."""
    words = asked.field.words
    if asked.session.preview:
        return words.fill("page.preview", list=asked.session.list)
    return words["page.pilot"] if asked.session.pilot else ""
