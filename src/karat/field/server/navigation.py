"""Where a session stands, and the page that belongs there.

Every page is reached by one address, and the store says which it is. So a reload, a second tab or a return after days
all show what comes next, and nobody can skip a step by its address.

At the end there are thanks or regrets, the code, and the way back to the platform. The code appears only for a session
that the store has closed, and the store closes none as complete while a trial is unanswered. Somebody whose data are
excluded later keeps the right to the code: what is analysed and what is paid are two things.
"""

from __future__ import annotations

import asyncio
import time

from sqlalchemy import Connection, select
from starlette.responses import RedirectResponse, Response

from karat.field.content import flow
from karat.field.content.inline_markup import markup
from karat.field.content.platforms import Completion, Visit, completion
from karat.field.content.trials import PlannedTrial, planned
from karat.field.server.served_study import RequestSession, ServedStudy, again
from karat.field.server.views import notice, page, step_page
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


def outcome_of(session: Session) -> str:
    """How a session ended for the participant, whatever was decided about the data afterwards."""
    if session.state in DECISIONS and session.state_before == "complete":
        return "complete"
    return session.state


async def end_page(asked: RequestSession) -> Response:
    """The last page of a session that has ended."""
    outcome = outcome_of(asked.session)
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
