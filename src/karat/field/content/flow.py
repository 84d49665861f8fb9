"""The steps of a study, what follows what, and the forms between them: consent, background questions, quiz, comment.

    welcome > consent > background > instructions > quiz > trials > background-after > comment > debriefing > done

A study has those of them for which it says something. Of two sessions, the first ends after its trials; the second asks
for nothing again and closes with the questions, the comment and the debriefing. Participants who are not eligible learn
that the study is over, but not which answer it was.
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
    """The steps that a study has in a session, in their order."""
    settings = study.settings
    asked = {question.when for question in settings.background}
    has = {
        CONSENT: bool(settings.texts.consent.strip()),
        BACKGROUND: "before" in asked,
        QUIZ: bool(settings.texts.quiz),
        BACKGROUND_AFTER: "after" in asked,
        COMMENT: settings.texts.comment,
        DEBRIEFING: bool(settings.texts.debriefing.strip()),
    }
    left_out = {name for name, there in has.items() if not there}
    left_out |= set(FIRST_ONLY) if session > 1 else set()
    left_out |= set(LAST_ONLY) if session < settings.questionnaire.sessions else set()
    return tuple(step for step in STEPS if step not in left_out)


def next_step(study: Study, step: str, session: int = 1) -> str:
    """The step that follows one; after the last there is none, and it stays."""
    if step not in STEPS:
        raise KaratError(f"There is no step {step} in a study; there are {', '.join(STEPS)}.")
    later = [name for name in steps(study, session) if STEPS.index(name) > STEPS.index(step)]
    return later[0] if later else DONE


@dataclass(frozen=True)
class FormField:
    """A question of a form: answers to choose from, or a line to write in where there are none."""

    name: str
    question: Markup
    answers: tuple[tuple[str, str], ...]
    """The value and the words of each answer."""
    required: bool = True


@dataclass(frozen=True)
class BackgroundAnswers:
    """What was answered about the participant, and what is wrong: the name of the question and the key of the text."""

    answers: dict[str, str]
    errors: dict[str, str] = field(default_factory=dict)


def background_form(study: Study, when: When) -> tuple[FormField, ...]:
    """The questions about participants that are asked before or after the trials."""
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
    """The answers of a form, each one of those offered or a line of text; what is left out is an error if required."""
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
    """Whether the answers given before the trials admit to the study; a question that names no answers admits all."""
    return all(
        answers.get(question.name) in question.eligible
        for question in study.settings.background
        if question.eligible and question.when == "before"
    )


@dataclass(frozen=True)
class QuizResult:
    """How the quiz went."""

    unanswered: tuple[str, ...]
    """The names of questions without an answer; such a form does not count as an attempt."""
    wrong: tuple[tuple[str, str], ...]
    """The name and the feedback of each question that was answered wrongly."""

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
    """What is right and wrong in the answers to the quiz; an answer that was not offered is none."""
    unanswered, wrong = [], []
    for shown, question in zip(quiz_form(study), study.settings.texts.quiz, strict=True):
        given = form.get(shown.name, "")
        if given not in [value for value, _ in shown.answers]:
            unanswered.append(shown.name)
        elif given != str(question.right):
            wrong.append((shown.name, question.feedback))
    return QuizResult(tuple(unanswered), tuple(wrong))


def quiz_outcome(study: Study, attempts: int, result: QuizResult) -> Literal["passed", "again", "failed"]:
    """What follows after this many attempts, this one included."""
    if result.passed:
        return "passed"
    return "again" if attempts < study.settings.texts.quiz_attempts else "failed"


def one_line(text: str) -> str:
    r"""A line that somebody wrote, without control characters and without blanks that mean nothing."""
    return " ".join(_printable(text).split())


def comment_text(text: str) -> str:
    r"""A comment as it is kept: with its lines, without control characters, cut where it is endless."""
    lines = re.split(r"\r\n|\r|\n", text[: 2 * LONGEST_COMMENT])
    return "\n".join(_printable(line).rstrip() for line in lines).strip()[:LONGEST_COMMENT]


def _printable(text: str) -> str:
    """The text without characters that control something; tabs and line ends count as blanks."""
    spaced = re.sub(r"\s", " ", text)
    # Surrogates cannot be stored; format characters such as joiners belong to some scripts and stay.
    return "".join(letter for letter in spaced if unicodedata.category(letter) not in ("Cc", "Cs"))
