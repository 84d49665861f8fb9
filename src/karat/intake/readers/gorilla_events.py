"""The events of a Gorilla task: which are answers, and what the others are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from karat.intake.guess import plain
from karat.intake.reading import Reading
from karat.judgments.checks import Place
from karat.messages import Message

NO_TRIALS = re.compile(
    r"instruction|consent|debrief|(?<![a-z])break(?![a-z])|welcome|thank|goodbye|participant.?information|^information$",
    re.IGNORECASE,
)
ANSWER_ZONES = re.compile(r"response_.*|rating.*|slider.*|likert.*|dropdown.*|active_response_.*", re.IGNORECASE)
TIMED_OUT = Message("aside.timed_out")
END_OF_FILE = Message("aside.end_of_file")
FURTHER = Message("aside.further_attempts")
MARKERS = Message("aside.task_markers")
INSTRUCTIONS = Message("aside.instructions_and_breaks")
OTHER = Message("aside.other_events")
ZONES = (
    ("fixation", Message("aside.fixations")),
    ("continue", Message("aside.continue_buttons")),
    ("timelimit", TIMED_OUT),
    ("feedback", Message("aside.feedback")),
    ("content", Message("aside.content_shown")),
)
RESPONSE_TYPES = {
    "action": Message("aside.actions"),
    "info": Message("aside.content_shown"),
    "continue": Message("aside.continue_buttons"),
    "tooearly": Message("aside.early_keys"),
}


@dataclass
class GorillaEvent:
    """One row of a task file, as far as karat reads it."""

    place: Place
    row: int
    index: str
    participant: str | None
    node: str
    trial: str
    screen: str
    name: str
    zone_type: str
    response_type: str
    response: str | None
    attempt: str
    display: str
    timed_out: bool
    time: float | None
    """Unix milliseconds."""
    question: str | None = None

    @property
    def asked(self) -> tuple[str | None, str, str, str]:
        """The screen of the trial that the event belongs to."""
        return self.participant, self.node, self.trial, self.screen


def answers_among(events: Sequence[GorillaEvent], reading: Reading) -> list[GorillaEvent]:
    """The events that are answers, one a question of a trial; all others are set aside with a reason."""
    answers, timeouts = [], []
    for event in events:
        reason = _no_answer(event)
        if reason is None:
            answers.append(event)
        elif reason == TIMED_OUT:
            timeouts.append(event)
        else:
            reading.set_apart(reason)
    answers = _with_missed_answers(answers, timeouts, reading)
    _name_questions(answers, reading)
    return _first_attempts(answers, reading)


def _no_answer(event: GorillaEvent) -> Message | None:
    """Why an event is no answer, or None where it is one."""
    if event.index.upper() == "END OF FILE":
        return END_OF_FILE
    if event.trial.upper().startswith(("BEGIN", "END")) or event.screen.upper().startswith(("BEGIN ", "END ")):
        return MARKERS
    if NO_TRIALS.search(event.display):
        return INSTRUCTIONS
    if event.zone_type:
        if ANSWER_ZONES.fullmatch(event.zone_type):
            return None
        kind = event.zone_type.lower()
        return next((reason for start, reason in ZONES if kind.startswith(start)), OTHER)
    kind = plain(event.response_type)
    if kind == "response":
        return None
    if event.timed_out or kind in ("timedout", "timelimit"):
        return TIMED_OUT
    return RESPONSE_TYPES.get(kind, OTHER)


def _with_missed_answers(
    answers: list[GorillaEvent], timeouts: Sequence[GorillaEvent], reading: Reading
) -> list[GorillaEvent]:
    """A time limit that ended a screen on which others answered is an answer that was not given."""
    answered = {answer.asked for answer in answers}
    asking = {(answer.node, answer.screen, answer.display) for answer in answers}
    kept = list(answers)
    for event in timeouts:
        if event.asked not in answered and (event.node, event.screen, event.display) in asking:
            event.response = None
            answered.add(event.asked)
            kept.append(event)
        else:
            reading.set_apart(TIMED_OUT)
    return kept


def _name_questions(answers: Sequence[GorillaEvent], reading: Reading) -> None:
    """Where a trial asks several things, by screen, or by the objects of a screen, these are its questions."""
    screens: dict[tuple[str | None, str, str], set[str]] = {}
    objects: dict[tuple[object, ...], set[str]] = {}
    for answer in answers:
        screens.setdefault((answer.participant, answer.node, answer.trial), set()).add(answer.screen)
        objects.setdefault((*answer.asked, answer.attempt), set()).add(answer.name)
    by_screen = any(len(found) > 1 for found in screens.values())
    by_object = any(len(found) > 1 for found in objects.values())
    if not by_screen and not by_object:
        return
    for answer in answers:
        parts = [part for part, wanted in ((answer.screen, by_screen), (answer.name, by_object)) if wanted and part]
        answer.question = " ".join(parts) or None
    if by_screen and by_object:
        reading.notes.append(Message("gorilla.questions_by_screen_and_object"))
    else:
        reading.notes.append(Message("gorilla.questions_by_screen" if by_screen else "gorilla.questions_by_object"))


def _first_attempts(answers: Sequence[GorillaEvent], reading: Reading) -> list[GorillaEvent]:
    first: dict[tuple[object, ...], GorillaEvent] = {}
    for answer in answers:
        key = (*answer.asked, answer.question)
        if key in first:
            reading.set_apart(FURTHER)
        else:
            first[key] = answer
    if len(first) < len(answers):
        reading.notes.append(Message("gorilla.attempts"))
    return list(first.values())
