"""The steps of a study, their order, and their forms: consent, background questions, quiz, comment.

    welcome > consent > background > instructions > quiz > trials > background-after > comment > debriefing > done

A study has those steps for which it has content. The first of two sessions ends after its trials; the second repeats no
questions and ends with the questions after the trials, the comment and the debriefing. Participants who are not
eligible learn that the study is over, but not which answer excluded them.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

from karat.errors import KaratError
from karat.field.content.inline_markup import inline_markup
from karat.study.study import Study

WELCOME, CONSENT, BACKGROUND, INSTRUCTIONS, QUIZ = "welcome", "consent", "background", "instructions", "quiz"
TRIALS, BACKGROUND_AFTER, COMMENT, DEBRIEFING, DONE = "trials", "background-after", "comment", "debriefing", "done"
STEPS = (
    WELCOME, CONSENT, BACKGROUND, INSTRUCTIONS, QUIZ, TRIALS, BACKGROUND_AFTER, COMMENT, DEBRIEFING, DONE,
)  # fmt: skip
FIRST_ONLY = (CONSENT, BACKGROUND, QUIZ)
LAST_ONLY = (BACKGROUND_AFTER, COMMENT, DEBRIEFING)
LONGEST_LINE = 500
LONGEST_COMMENT = 5_000

When = Literal["before", "after"]


def steps(study: Study, session: int = 1) -> tuple[str, ...]:
    """The steps of a session of a study, in order."""
    settings = study.settings
    times = {question.when for question in settings.background}
    has = {
        CONSENT: bool(settings.texts.consent.strip()),
        BACKGROUND: "before" in times,
        QUIZ: bool(settings.texts.quiz),
        BACKGROUND_AFTER: "after" in times,
        COMMENT: settings.texts.comment,
        DEBRIEFING: bool(settings.texts.debriefing.strip()),
    }
    left_out = {name for name, there in has.items() if not there}
    left_out |= set(FIRST_ONLY) if session > 1 else set()
    left_out |= set(LAST_ONLY) if session < settings.questionnaire.sessions else set()
    return tuple(step for step in STEPS if step not in left_out)


def next_step(study: Study, step: str, session: int = 1) -> str:
    """The step after a step; the last step follows itself."""
    if step not in STEPS:
        raise KaratError(f"There is no step {step} in a study; there are {', '.join(STEPS)}.")
    later = [name for name in steps(study, session) if STEPS.index(name) > STEPS.index(step)]
    return later[0] if later else DONE


@dataclass(frozen=True)
class FormField:
    """A question of a form, with answers to choose from or, if there are none, a text field."""

    name: str
    question: Markup
    answers: tuple[tuple[str, str], ...]
    """The value and the words of each answer."""
    required: bool = True


@dataclass(frozen=True)
class BackgroundAnswers:
    """The background answers, and the key of an error text for each wrong one."""

    answers: dict[str, str]
    errors: dict[str, str] = field(default_factory=dict)


def background_form(study: Study, when: When) -> tuple[FormField, ...]:
    """The background questions before or after the trials."""
    return tuple(
        FormField(
            question.name,
            inline_markup(question.question),
            tuple((answer, answer) for answer in question.answers),
            question.required,
        )
        for question in study.settings.background
        if question.when == when
    )


def check_background(study: Study, when: When, form: Mapping[str, str]) -> BackgroundAnswers:
    """Check the answers of a form: each must be offered or be a line of text, and required ones must be there."""
    answers: dict[str, str] = {}
    errors: dict[str, str] = {}
    for question in background_form(study, when):
        text = one_line(form.get(question.name, ""))
        offered = {one_line(value): value for value, _ in question.answers}
        if not text:
            if question.required:
                errors[question.name] = "page.required"
        elif offered and text not in offered:
            errors[question.name] = "background.choose"
        elif len(text) > LONGEST_LINE:
            errors[question.name] = "page.too_long"
        else:
            answers[question.name] = offered.get(text, text)
    return BackgroundAnswers(answers, errors)


def eligible(study: Study, answers: Mapping[str, str]) -> bool:
    """Whether the answers before the trials admit a participant; questions without `eligible` admit everybody."""
    return all(
        answers.get(question.name) in question.eligible
        for question in study.settings.background
        if question.eligible and question.when == "before"
    )


@dataclass(frozen=True)
class QuizResult:
    """The result of the quiz."""

    unanswered: tuple[str, ...]
    """The names of unanswered questions; a form with any of them is no attempt."""
    wrong: tuple[tuple[str, str], ...]
    """The name and the feedback of each wrongly answered question."""

    @property
    def passed(self) -> bool:
        """Whether all answers are right."""
        return not self.unanswered and not self.wrong


def quiz_form(study: Study) -> tuple[FormField, ...]:
    """The questions about the instructions."""
    return tuple(
        FormField(
            f"quiz-{number}",
            inline_markup(question.question),
            tuple((str(place), answer) for place, answer in enumerate(question.answers, start=1)),
        )
        for number, question in enumerate(study.settings.texts.quiz, start=1)
    )


def grade_quiz(study: Study, form: Mapping[str, str]) -> QuizResult:
    """Grade the answers to the quiz; an answer that is not offered counts as missing."""
    unanswered, wrong = [], []
    for form_field, question in zip(quiz_form(study), study.settings.texts.quiz, strict=True):
        value = form.get(form_field.name, "")
        if value not in dict(form_field.answers):
            unanswered.append(form_field.name)
        elif value != str(question.right):
            wrong.append((form_field.name, question.feedback))
    return QuizResult(tuple(unanswered), tuple(wrong))


def quiz_outcome(study: Study, attempts: int, result: QuizResult) -> Literal["passed", "again", "failed"]:
    """What follows this number of attempts, including this one."""
    if result.passed:
        return "passed"
    return "again" if attempts < study.settings.texts.quiz_attempts else "failed"


def one_line(text: str) -> str:
    """A line of text without control characters and superfluous spaces."""
    return " ".join(_printable(text).split())


def comment_text(text: str) -> str:
    """A comment without control characters, with its line breaks, cut at the longest length."""
    lines = re.split(r"\r\n|\r|\n", text[: 2 * LONGEST_COMMENT])
    return "\n".join(_printable(line).rstrip() for line in lines).strip()[:LONGEST_COMMENT]


def _printable(text: str) -> str:
    """The text without control characters; tabs and line ends become spaces."""
    spaced = re.sub(r"\s", " ", text)
    # Surrogates cannot be stored; format characters such as joiners belong to some scripts and stay.
    return "".join(letter for letter in spaced if unicodedata.category(letter) not in ("Cc", "Cs"))
