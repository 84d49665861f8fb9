"""Where a session stands, and the page that belongs there.

Every page is reached by one address, and the store says which it is. So a reload, a second tab or a return after days
all show what comes next, and nobody can skip a step by its address.
"""

from __future__ import annotations

import asyncio
import time

from starlette.responses import RedirectResponse, Response

from karat.field.content import flow
from karat.field.content.trials import PlannedTrial, planned
from karat.field.server.ending import end_page
from karat.field.server.request_session import RequestSession, again
from karat.field.server.served_study import ServedStudy
from karat.field.server.views import notice, step_page
from karat.field.store import progress, trials
from karat.field.store.progress import Session


async def current_page(asked: RequestSession) -> Response:
    """The page of the step at which a session stands."""
    for _ in flow.STEPS:
        session = asked.session
        if session.state != "running":
            return await end_page(asked) if asked.framed else RedirectResponse(f"/s/{asked.field.slug}/done", 303)
        step = _due(asked)
        if step != session.step:
            await asked.store.do(progress.set_step, progress.SetStep(session.id, step, after=session.step))
        elif step == flow.DONE:
            if await asked.store.do(progress.finish, progress.Finish(session.id, "complete")) == "unfinished":
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
    if asked.session.lease_until - time.time() < asked.field.lease_seconds / 2:
        await asked.store.do(progress.touch, progress.Touch(asked.session.id, asked.field.lease_seconds))


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
