"""The answers among the lines of an Ibex or PCIbex trial, their times, and the kinds of the other lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from karat.intake.content import RESPONSE_TIMES, words_of
from karat.intake.guess import plain
from karat.intake.readers.ibex.log import ANSWERED, LogLine
from karat.intake.reading import Reading
from karat.judgments.scales import as_number
from karat.messages import Message

ANSWER_LINES = {
    ("selector", "Selection"): "choice",
    ("scale", "Choice"): "choice",
    ("slider", "Choice"): "choice",
    ("dropdown", "Selected"): "choice",
    ("key", "PressedKey"): "key",
    ("key", "Key"): "key",
    ("textinput", "Final"): "typed",
    ("textinput", "EnterReturn"): "typed",
}
RANK = {"choice": 0, "question": 1, "key": 2, "typed": 3}
"""The first of these kinds in a trial is its answer; text or keys beside a choice are not."""
GO_ON_KEYS = {" ", "Space", "Enter", "Return", "13", "32"}
YES_AND_NO = ({"yes", "no"}, {"true", "false"}, {"ja", "nein"}, {"oui", "non"}, {"si", "no"}, {"sí", "no"})
BESIDE = {
    "question": Message("aside.questions_beside"),
    "key": Message("aside.keys_beside"),
    "typed": Message("aside.inputs_beside"),
}
CHANGED = Message("aside.changed_answers")
KEYS_TO_GO_ON = Message("aside.continue_keys")
MARKERS = Message("aside.trial_markers")
DISPLAYS = Message("aside.display_times")
READING_TIMES = Message("aside.reading_times")
SENTENCES = Message("aside.sentences_shown")
FORM_FIELDS = Message("aside.form_fields")
OTHER = Message("aside.other_logged_events")
ELEMENTS = {
    "button": Message("aside.button_clicks"),
    "textinput": Message("aside.typing"),
    "audio": Message("aside.sounds"),
    "video": Message("aside.videos"),
}


@dataclass
class IbexAnswer:
    """An answer in one trial, perhaps empty."""

    line: LogLine
    kind: str
    element: str
    response: str | None
    time: float | None
    """Unix milliseconds."""
    rt: float | None
    """Seconds since the display, or since the start of the trial if no display was logged."""
    from_display: bool = False
    sentence: str | None = None
    left: str | None = None
    right: str | None = None
    asked: str | None = None
    """The question, if each item has its own."""


OR_NONE = "(NULL if none)"
"""The end of the name of the column in which Ibex logs the question of a trial."""


def answer_kind(line: LogLine, forms: Collection[str] = ()) -> str | None:
    """The kind of answer in a line, or None; fields of forms are answers only if nothing else is."""
    if line.get("Field name") in forms and ANSWERED not in line.cells:
        return "question"
    if ANSWERED in line.cells:
        return "question"
    if "PennElementType" not in line.cells and "Field name" not in line.cells and own_answer(line) is not None:
        return "question"
    element = (line.get("PennElementType") or "").lower()
    if element == "html" and CHOSEN_IN_FORM.search(line.get("Comments") or ""):
        return "choice"
    return ANSWER_LINES.get((element, line.get("Parameter") or ""))


CHOSEN_IN_FORM = re.compile(r"radio|range|select")
"""PCIbex' comments on fields of HTML forms with a choice between options."""


ANSWERS = ("answer", "response", "rating", "judgment", "judgement", "choice", "score", "antwort", "resp")
TIMES = ("timetakentoanswer", "time", *RESPONSE_TIMES)
WHETHER_CORRECT = "Whether or not answer was correct"
NO_ANSWER = re.compile(
    r"(?i)no[_ -]?(response|answer|key|press)|none|time[_ -]?out|timed[_ -]?out|too[_ -]?slow|missing|null"
)
"""What experiments log for a missing answer."""


@lru_cache(maxsize=10_000)
def _plain(name: str) -> str:
    return plain(name)


@lru_cache(maxsize=10_000)
def _words(name: str) -> frozenset[str]:
    return frozenset(words_of(name))


def logged(line: LogLine, names: Sequence[str]) -> str | None:
    """The first column of a line with one of these names."""
    columns = {_plain(name): name for name in reversed(list(line.cells))}
    return next((columns[name] for name in names if name in columns), None)


def own_answer(line: LogLine) -> str | None:
    """The column in which a custom controller logs the answer: Answer, Chosen answer, value.

    Controllers log whether an answer was correct directly after the answer, however it is called.
    """
    names = [name for name in line.cells if _plain(name) not in TIMES]
    ending = [name for name in names if words_of(name)[-1:] and words_of(name)[-1] in ANSWERS]
    before = [name for name, after in pairwise(names) if after.startswith(WHETHER_CORRECT)]
    return logged(line, ANSWERS) or next(iter(ending + before), None) or logged(line, ("value",))


def key_factors(lines: Iterable[LogLine]) -> set[str]:
    """Columns that are named like answers but hold a factor, because one value goes with several keys."""
    pressed: dict[str, dict[tuple[str, str, str], set[str]]] = {}
    for line in lines:
        name = logged(line, ANSWERS) if answer_kind(line) == "key" else None
        key, answer = line.get("Value"), line.get(name or "")
        if name and key is not None and key not in GO_ON_KEYS and answer is not None:
            pressed.setdefault(name, {}).setdefault((line.reception, line.hash, answer), set()).add(key)
    return {
        name for name, keys in pressed.items()
        if sum(len(pressed_keys) > 1 for pressed_keys in keys.values()) > MOST_MISMATCHED * len(keys)
    }  # fmt: skip


FEWEST_FORMS = 3
"""A field that a participant fills in this many trials asks about items; age and name are asked for once."""


def asked_in_forms(lines: Sequence[LogLine]) -> set[str]:
    """The fields of forms that hold answers, if the only answers are fields that recur from trial to trial.

    A custom controller may write properties of an item into fields as well.
    """
    if any(answer_kind(line) for line in lines):
        return set()
    fields: dict[str, dict[tuple[str, str], dict[tuple[str, str], str | None]]] = {}
    for line in lines:
        name = line.get("Field name")
        if name and not name.startswith("_"):
            people = fields.setdefault(name, {})
            people.setdefault((line.reception, line.hash), {})[line.order, line.label] = line.get("Field value")
    if max((len(trials) for people in fields.values() for trials in people.values()), default=0) < FEWEST_FORMS:
        return set()
    descriptions = {name for name, people in fields.items() if _is_description(list(people.values()))}
    return set(fields) - descriptions or set(fields)


MOST_OPTIONS, MOST_RANDOM, FEWEST_RANDOM = 12, 0.5, 5


def _is_description(people: Sequence[Mapping[tuple[str, str], str | None]]) -> bool:
    """Whether the values of a field depend on the item or the participant, or are random in each trial."""
    several = [trials for trials in people if len(trials) >= FEWEST_FORMS]
    if len(several) < PAIR:
        return False
    by_trial: dict[tuple[str, str], list[str | None]] = {}
    for trials in people:
        for trial, value in trials.items():
            by_trial.setdefault(trial, []).append(value)
    shared = [values for values in by_trial.values() if len(values) >= PAIR]
    if len(shared) >= FEWEST_FORMS and all(len(set(values)) == 1 for values in shared):
        return True
    words = {value for values in by_trial.values() for value in values if as_number(value or "") is None}
    variety = [len(set(values)) / len(values) for values in shared if len(values) >= FEWEST_RANDOM]
    is_random = len(words) > MOST_OPTIONS and bool(variety) and sum(variety) > MOST_RANDOM * len(variety)
    return is_random or all(len(set(trials.values())) == 1 for trials in several)


PAIR = 2


MOST_MISMATCHED = 0.1
"""The largest share of answers that go with several keys."""


def go_on_keys(lines: Iterable[LogLine]) -> set[str]:
    """The names of the key elements for which participants only pressed the space bar or Enter."""
    pressed: dict[str, set[str]] = {}
    for line in lines:
        if answer_kind(line) == "key":
            keys = pressed.setdefault(line.get("PennElementName") or "", set())
            keys |= {key for key in [line.get("Value")] if key is not None}
    return {name for name, keys in pressed.items() if keys and keys <= GO_ON_KEYS}


def answers_of(
    trial: Sequence[LogLine], go_on: set[str], factors: set[str], reading: Reading, file: str, forms: set[str]
) -> list[IbexAnswer]:  # fmt: skip
    """The answers of a trial, one per element; its other lines are set aside or counted as bad."""
    candidates: list[IbexAnswer] = []
    final = {line.get("PennElementName") for line in trial if line.get("Parameter") == "Final"}
    for line in trial:
        kind = answer_kind(line, forms)
        if kind is None or (line.get("Parameter") == "EnterReturn" and line.get("PennElementName") in final):
            reading.set_apart(_kind_of_line(line))
        elif kind == "key" and line.get("PennElementName") in go_on:
            reading.set_apart(KEYS_TO_GO_ON)
        elif flaw := _unreadable_time(line, kind):
            column, value = flaw
            fix = "Write milliseconds, or Never where nothing happened."
            reading.problems.add("is not a time", fix, column=column, value=value, file=file, number=line.number)
            reading.bad_units += 1
        else:
            candidates.append(_answer(trial, line, kind, factors))
            if line.get("Field name") in forms:
                line.cells |= _known_fields(trial, forms)
    if not candidates:
        return []
    kind = min((candidate.kind for candidate in candidates), key=RANK.__getitem__)
    last: dict[str, IbexAnswer] = {}
    for candidate in candidates:
        if candidate.kind != kind:
            reading.set_apart(BESIDE[candidate.kind])
            continue
        other = last.get(candidate.element)
        if other is not None:
            reading.set_apart(CHANGED)
        if other is None or (candidate.time or 0) >= (other.time or 0):
            last[candidate.element] = candidate
    return list(last.values())


MOST_QUESTIONS = 8


def _known_fields(trial: Sequence[LogLine], forms: set[str]) -> dict[str, str | None]:
    """The fields of a form that describe the item rather than hold answers."""
    fields = ((line.get("Field name") or "_", line.get("Field value")) for line in trial)
    return {name: value for name, value in fields if name not in forms and not name.startswith("_")}


def without_own_questions(answers: Sequence[tuple[int, IbexAnswer]], reading: Reading) -> list[tuple[int, IbexAnswer]]:
    """The answers with the content questions of each sentence as one question, or without them if options vary.

    Such questions are set aside only if there are other judgments. If fields of forms describe items, forms without
    such fields are not about items.
    """
    about_items = [pair for pair in answers if set(pair[1].line.cells) > {"Field name", "Field value"}]
    if (
        about_items
        and len(about_items) < len(answers)
        and all("Field name" in answer.line.cells for _, answer in answers)
    ):
        reading.set_apart(FORM_FIELDS, len(answers) - len(about_items))
        answers = about_items
    by_controller: dict[str, list[IbexAnswer]] = {}
    for _, answer in answers:
        if answer.kind == "question" and answer.sentence is not None and answer.element != answer.line.controller:
            by_controller.setdefault(answer.line.controller, []).append(answer)
    content_questions: set[int] = set()
    for controller, of_controller in by_controller.items():
        if len({answer.element for answer in of_controller}) <= MOST_QUESTIONS:
            continue
        options = {answer.response for answer in of_controller if as_number(answer.response or "") is None}
        if len(options) > MOST_OPTIONS:
            content_questions |= {id(answer) for answer in of_controller}
        for answer in of_controller:
            answer.asked, answer.element = answer.element, controller
    judgments = [(trial, answer) for trial, answer in answers if id(answer) not in content_questions]
    if not judgments:
        return list(answers)
    reading.set_apart(BESIDE["question"], len(answers) - len(judgments))
    return judgments


def milliseconds(line: LogLine) -> float | None:
    """The time of the event of a line, or None."""
    text = line.get("EventTime") or ""
    return float(text) if re.fullmatch(r"\d{12,14}(\.\d{1,9})?", text) else None


def _unreadable_time(line: LogLine, kind: str) -> tuple[str, str] | None:
    """The column and the value of an unreadable time."""
    if kind == "question":
        column = logged(line, TIMES) or ANSWERED
        time = line.get(column)
        return (column, time) if time is not None and not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", time) else None
    time_of_event = line.get("EventTime")
    # Spreadsheets shorten 1721993374721 to 1.72199E+12, which is the time of no event.
    unknown = time_of_event is None or re.fullmatch(r"\d[.,]\d{1,9}E\+\d\d", time_of_event)
    return None if unknown or milliseconds(line) is not None else ("EventTime", time_of_event or "")


def _answer(trial: Sequence[LogLine], line: LogLine, kind: str, factors: set[str]) -> IbexAnswer:
    # Custom controllers call the column of their question QuestionSide, QuestionTop and the like.
    questions = [text for name, text in line.cells.items() if name.startswith("Question") and name.endswith(OR_NONE)]
    in_form = (line.get("PennElementType") or "").lower() == "html"
    element = line.get("Parameter" if in_form else "PennElementName") or next(filter(None, questions), None)
    element = element or line.controller
    if "Field name" in line.cells and ANSWERED not in line.cells:
        times = [other.get("Field value") for other in trial if other.get("Field name") == "_REACTION_TIME_"]
        duration = times[0] if times and re.fullmatch(r"\d{1,9}", times[0] or "") else None
        rt = float(duration) / 1000 if duration is not None else None
        return IbexAnswer(line, kind, line.get("Field name") or element, line.get("Field value"), None, rt)
    if kind == "question":
        response = line.get(own_answer(line) or "Value")
        duration = line.get(logged(line, TIMES) or ANSWERED)
        rt = float(duration) / 1000 if duration is not None else None
        return IbexAnswer(line, kind, element, response, milliseconds(line), rt, sentence=_sentence(trial))
    response, time = line.get("Value"), milliseconds(line)
    # A point of a scale may be shown by markup: <span style='visibility: hidden;'>6</span> is point 6.
    response = (re.sub(r"<[^<>]+>", "", response).strip() or response) if response else response
    onset, from_display = _onset(trial, line, time)
    rt = round(time - onset, 3) / 1000 if time is not None and onset is not None and response is not None else None
    left, right = _sides(line, response)
    meaning = logged(line, ANSWERS) if kind == "key" else None
    if meaning is not None and meaning not in factors and line.get(meaning) is not None:
        # The experiment itself logs the meaning of the key and whether it came in time.
        answered = line.get(meaning) or ""
        response = None if NO_ANSWER.fullmatch(answered) else answered
    duration = line.get(logged(line, RESPONSE_TIMES) or _own_time(line))
    if duration is not None and re.fullmatch(r"\d{1,7}(\.\d{1,9})?", duration):
        rt, from_display = float(duration) / 1000 if response is not None else None, True
    return IbexAnswer(line, kind, element, response, time, rt, from_display, _sentence(trial), left, right)


def _own_time(line: LogLine) -> str:
    """The column in which the experiment logs the time of its only answer: RT-answer, ratingRT; else an empty text."""
    times = [name for name in line.cells if "rt" in _words(name) and line.get(name) is not None]
    ours = [name for name in times if not _words(name).isdisjoint(ANSWERS)]
    return ours[0] if ours and len({line.get(name) for name in times}) == 1 else ""


def _onset(trial: Sequence[LogLine], answer: LogLine, time: float | None) -> tuple[float | None, bool]:
    """The time of the last display before the answer, or of the start of the trial, and whether it is a display."""
    displays, starts = [], []
    for line in trial:
        time_of_line = milliseconds(line)
        if time is None or time_of_line is None or time_of_line > time:
            continue
        same_element = line.get("PennElementName") == answer.get("PennElementName")
        if line.get("Parameter") == "Print" and not same_element:
            displays.append(time_of_line)
        elif line.get("Parameter") == "_Trial_" and line.get("Value") == "Start":
            starts.append(time_of_line)
    return max(displays or starts, default=None), bool(displays)


def _sides(line: LogLine, response: str | None) -> tuple[str | None, str | None]:
    """The options of a selector in their order on the screen, if there are exactly two."""
    if (line.get("PennElementType") or "").lower() != "selector" or response is None:
        return None, None
    options = (line.get("Comments") or "").split(";")
    names = {name.lower() for name in options}
    if len(options) != 2 or len(names) != 2 or response not in options or names in YES_AND_NO:
        return None, None
    return options[0], options[1]


def _sentence(trial: Sequence[LogLine]) -> str | None:
    """The sentence that a controller of classic Ibex showed in the trial."""
    for line in trial:
        for name, value in line.cells.items():
            if name.startswith("Sentence") and value is not None:
                return value
    return None


def _kind_of_line(line: LogLine) -> Message:
    """The kind of a line that is not an answer."""
    kind = (line.get("PennElementType") or "").lower()
    parameter = line.get("Parameter")
    if parameter in ("_Trial_", "_Header_"):
        return MARKERS
    if parameter == "Print":
        return DISPLAYS
    if "Reading time" in line.cells:
        return READING_TIMES
    if kind not in ELEMENTS and any(name.startswith("Sentence") for name in line.cells):
        return SENTENCES
    if "Field name" in line.cells:
        return FORM_FIELDS
    return ELEMENTS.get(kind, OTHER)
