"""The pages of a session, one a step, made from templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from karat.field.content import flow, texts
from karat.field.content.flow import FormField
from karat.field.content.inline_markup import markup
from karat.field.server.headers import page_headers
from karat.field.server.served_study import RequestSession, ServedStudy


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
    platform = field.platform if field is not None else None
    headers = page_headers(
        platform.form_targets if platform is not None else (),
        platform.frame_ancestors if platform is not None and framed else (),
    )
    return HTMLResponse(html, status, headers)


def notice(
    request: Request,
    field: ServedStudy | None,
    heading: str,
    lines: Sequence[str],
    status: int = 200,
    framed: bool | None = None,
) -> HTMLResponse:
    """A page that only says something. An error may be met inside the frame of a platform, which must show it."""
    inside = field is not None and field.platform.framed if framed is None else framed
    return page(request, field, "notice", framed=inside, status=status, heading=heading, lines=lines)


def step_page(asked: RequestSession, step: str) -> HTMLResponse:
    """The page of a step, as it is first shown."""
    field, session, settings = asked.field, asked.session, asked.field.study.settings
    if step == flow.QUIZ:
        return quiz(asked)
    if step == flow.CONSENT:
        text = markup(settings.texts.consent)
        return _step(asked, step, text=text, privacy_text=field.privacy, withdrawal_code=session.withdrawal_code)
    if step == flow.INSTRUCTIONS:
        return _step(asked, step, text=field.instructions)
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
        return _step(asked, step, text=markup(settings.texts.debriefing))
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
    return _questions(asked, "background", form, values or {}, complaints, heading=heading, step=step)


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
    return _questions(asked, "quiz", form, values or {}, messages or {}, hidden=hidden, again=again, text=text)


def _step(asked: RequestSession, template: str, status: int = 200, **context: Any) -> HTMLResponse:
    return page(asked.request, asked.field, template, asked=asked, status=status, **context)


def _questions(
    asked: RequestSession,
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
    return _step(asked, template, 422 if problems else 200, fields=fields, problems=problems, **context)


def _banner(asked: RequestSession) -> str:
    """What is said above every page of somebody who does not count."""
    words = asked.field.words
    if asked.session.preview:
        return words.fill("page.preview", list=asked.session.list)
    return words["page.pilot"] if asked.session.pilot else ""
