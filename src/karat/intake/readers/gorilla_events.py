"""The events of a Gorilla task: which are answers, and what the others are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from karat.checks import Place
from karat.intake.guess import plain
from karat.intake.reading import Reading

NO_TRIALS = re.compile(
    r"instruction|consent|debrief|(?<![a-z])break(?![a-z])|welcome|thank|goodbye|participant.?information|^information$",
    re.IGNORECASE,
)
ANSWER_ZONES = re.compile(r"response_.*|rating.*|slider.*|likert.*|dropdown.*|active_response_.*", re.IGNORECASE)
ZONES = (
    ("fixation", "fixations"),
    ("continue", "buttons to go on"),
    ("timelimit", "screens that ended by their time limit"),
    ("feedback", "feedback"),
    ("content", "things shown or played"),
)
RESPONSE_TYPES = {
    "action": "actions before the answer",
    "info": "things shown or played",
    "continue": "buttons to go on",
    "tooearly": "key presses before the answer was possible",
}
TIMED_OUT = "screens that ended by their time limit"
END_OF_FILE = "end-of-file rows"
FURTHER = "further attempts after the first"


@dataclass
class Event:
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


def answers_among(events: Sequence[Event], reading: Reading) -> list[Event]:
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


def _no_answer(event: Event) -> str | None:
    """Why an event is no answer, or None where it is one."""
    if event.index.upper() == "END OF FILE":
        return END_OF_FILE
    if event.trial.upper().startswith(("BEGIN", "END")) or event.screen.upper().startswith(("BEGIN ", "END ")):
        return "task start and end markers"
    if NO_TRIALS.search(event.display):
        return "instructions, consent and breaks"
    if event.zone_type:
        if ANSWER_ZONES.fullmatch(event.zone_type):
            return None
        kind = event.zone_type.lower()
        return next((reason for start, reason in ZONES if kind.startswith(start)), "other events")
    kind = plain(event.response_type)
    if kind == "response":
        return None
    if event.timed_out or kind in ("timedout", "timelimit"):
        return TIMED_OUT
    return RESPONSE_TYPES.get(kind, "other events")


def _with_missed_answers(answers: list[Event], timeouts: Sequence[Event], reading: Reading) -> list[Event]:
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


def _name_questions(answers: Sequence[Event], reading: Reading) -> None:
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
    of = " and ".join(["screen"] * by_screen + ["zone or object"] * by_object)
    reading.notes.append(f"Some trials have several answers; question is the name of the {of} that was answered.")


def _first_attempts(answers: Sequence[Event], reading: Reading) -> list[Event]:
    first: dict[tuple[object, ...], Event] = {}
    for answer in answers:
        key = (*answer.asked, answer.question)
        if key in first:
            reading.set_apart(FURTHER)
        else:
            first[key] = answer
    if len(first) < len(answers):
        reading.notes.append("Where a question was answered in several attempts, the first one counts.")
    return list(first.values())
