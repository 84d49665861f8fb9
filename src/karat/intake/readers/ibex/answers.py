"""Which lines of an Ibex or PCIbex trial are its answer, when the answer was given, and what the other lines are."""

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
}
RANK = {"choice": 0, "question": 1, "key": 2, "typed": 3}
"""A trial's answer is of the first of these kinds that it has; what is typed or pressed beside a choice is not one."""
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
    """An answer that was given, or could have been, in one trial."""

    line: LogLine
    kind: str
    element: str
    response: str | None
    time: float | None
    """Unix milliseconds."""
    rt: float | None
    """Seconds since the display, or since the start of the trial where no display was logged."""
    from_display: bool = False
    sentence: str | None = None
    left: str | None = None
    right: str | None = None
    asked: str | None = None
    """The question, where each item has one of its own."""


OR_NONE = "(NULL if none)"
"""How the name of a column ends in which Ibex logs the question of a trial, if there is one."""


def answer_kind(line: LogLine, forms: Collection[str] = ()) -> str | None:
    """The kind of answer that a line holds, or None; fields of forms are answers only where nothing else is."""
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
"""What PCIbex comments of a field of an HTML form in which one of several is chosen."""


ANSWERS = ("answer", "response", "rating", "judgment", "judgement", "choice", "score", "antwort", "resp")
TIMES = ("timetakentoanswer", "time", *RESPONSE_TIMES)
WHETHER_CORRECT = "Whether or not answer was correct"
NO_ANSWER = re.compile(
    r"(?i)no[_ -]?(response|answer|key|press)|none|time[_ -]?out|timed[_ -]?out|too[_ -]?slow|missing|null"
)
"""What experiments log where nobody answered."""


@lru_cache(maxsize=10_000)
def _plain(name: str) -> str:
    return plain(name)


def logged(line: LogLine, names: Sequence[str]) -> str | None:
    """The first column of a line that is called like one of these."""
    there = {_plain(name): name for name in reversed(list(line.cells))}
    return next((there[name] for name in names if name in there), None)


def own_answer(line: LogLine) -> str | None:
    """The column in which a controller of the authors' own logs the answer: Answer, Chosen answer, value.

    Controllers log whether an answer was correct directly behind the answer, whatever they call it.
    """
    names = [name for name in line.cells if _plain(name) not in TIMES]
    ending = [name for name in names if words_of(name)[-1:] and words_of(name)[-1] in ANSWERS]
    before = [name for name, after in pairwise(names) if after.startswith(WHETHER_CORRECT)]
    return logged(line, ANSWERS) or next(iter(ending + before), None) or logged(line, ("value",))


def key_factors(lines: Iterable[LogLine]) -> set[str]:
    """Columns that are called like answers and hold a factor: they do not say which key a participant pressed."""
    pressed: dict[str, dict[tuple[str, str, str], set[str]]] = {}
    for line in lines:
        name = logged(line, ANSWERS) if answer_kind(line) == "key" else None
        key, said = line.get("Value"), line.get(name or "")
        if name and key is not None and key not in GO_ON_KEYS and said is not None:
            pressed.setdefault(name, {}).setdefault((line.reception, line.hash, said), set()).add(key)
    return {
        name for name, keys in pressed.items()
        if sum(len(each) > 1 for each in keys.values()) > MOST_MISMATCHED * len(keys)
    }  # fmt: skip


FEWEST_FORMS = 3
"""A field that a participant fills in so many trials asks about items; age and name are asked once."""


def asked_in_forms(lines: Sequence[LogLine]) -> set[str]:
    """The fields of forms that are answered, where the only answers are fields that come again from trial to trial.

    A controller of the authors' own may write what is known of an item into fields as well.
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
    known = {name for name, people in fields.items() if _is_known(list(people.values()))}
    return set(fields) - known or set(fields)


MOST_OPTIONS, MOST_DRAWN, FEWEST_DRAWN = 12, 0.5, 5


def _is_known(people: Sequence[Mapping[tuple[str, str], str | None]]) -> bool:
    """Whether the values of a field belong to the item or to the person, or are drawn at random for each trial."""
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
    often = [len(set(values)) / len(values) for values in shared if len(values) >= FEWEST_DRAWN]
    drawn = len(words) > MOST_OPTIONS and bool(often) and sum(often) > MOST_DRAWN * len(often)
    return drawn or all(len(set(trials.values())) == 1 for trials in several)


PAIR = 2


MOST_MISMATCHED = 0.1
"""The share of answers up to which one answer may go with several keys."""


def go_on_keys(lines: Iterable[LogLine]) -> set[str]:
    """The names of the key elements on which nothing but the space bar or Enter was ever pressed."""
    pressed: dict[str, set[str]] = {}
    for line in lines:
        if answer_kind(line) == "key":
            keys = pressed.setdefault(line.get("PennElementName") or "", set())
            keys |= {key for key in [line.get("Value")] if key is not None}
    return {name for name, keys in pressed.items() if keys and keys <= GO_ON_KEYS}


def answers_of(
    trial: Sequence[LogLine], go_on: set[str], factors: set[str], reading: Reading, file: str, forms: set[str]
) -> list[IbexAnswer]:  # fmt: skip
    """The answers of a trial, one an element; the trial's other lines are set aside or counted as bad."""
    candidates: list[IbexAnswer] = []
    for line in trial:
        kind = answer_kind(line, forms)
        if kind is None:
            reading.set_apart(_what_it_is(line))
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
    """What the fields of a form say of the item, beside those that were answered."""
    fields = ((line.get("Field name") or "_", line.get("Field value")) for line in trial)
    return {name: value for name, value in fields if name not in forms and not name.startswith("_")}


def without_own_questions(answers: Sequence[tuple[int, IbexAnswer]], reading: Reading) -> list[tuple[int, IbexAnswer]]:
    """Questions about the content of each sentence as one question; those with options of their own are set aside.

    These are beside the judgments, where there are any. Where fields of forms say what is known of an item, a form
    that says nothing is not about one.
    """
    about_items = [one for one in answers if set(one[1].line.cells) > {"Field name", "Field value"}]
    if about_items and len(about_items) < len(answers) and all("Field name" in one.line.cells for _, one in answers):
        reading.set_apart(FORM_FIELDS, len(answers) - len(about_items))
        answers = about_items
    by_controller: dict[str, list[IbexAnswer]] = {}
    for _, answer in answers:
        if answer.kind == "question" and answer.sentence is not None and answer.element != answer.line.controller:
            by_controller.setdefault(answer.line.controller, []).append(answer)
    beside: set[int] = set()
    for controller, own in by_controller.items():
        if len({answer.element for answer in own}) <= MOST_QUESTIONS:
            continue
        if len({answer.response for answer in own if as_number(answer.response or "") is None}) > MOST_OPTIONS:
            beside |= {id(answer) for answer in own}
        for answer in own:
            answer.asked, answer.element = answer.element, controller
    kept = [(trial, answer) for trial, answer in answers if id(answer) not in beside]
    if not kept:
        return list(answers)
    reading.set_apart(BESIDE["question"], len(answers) - len(kept))
    return kept


def milliseconds(line: LogLine) -> float | None:
    """When the event of a line happened, or None."""
    text = line.get("EventTime") or ""
    return float(text) if re.fullmatch(r"\d{12,14}(\.\d{1,9})?", text) else None


def _unreadable_time(line: LogLine, kind: str) -> tuple[str, str] | None:
    """The column and the value of a time that is none."""
    if kind == "question":
        column = logged(line, TIMES) or ANSWERED
        taken = line.get(column)
        return (column, taken) if taken is not None and not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", taken) else None
    given = line.get("EventTime")
    return ("EventTime", given) if given is not None and milliseconds(line) is None else None


def _answer(trial: Sequence[LogLine], line: LogLine, kind: str, factors: set[str]) -> IbexAnswer:
    # Controllers of the authors' own call the column of their question QuestionSide, QuestionTop and the like.
    asked = [text for name, text in line.cells.items() if name.startswith("Question") and name.endswith(OR_NONE)]
    in_form = (line.get("PennElementType") or "").lower() == "html"
    element = line.get("Parameter" if in_form else "PennElementName") or next(filter(None, asked), None)
    element = element or line.controller
    if "Field name" in line.cells and ANSWERED not in line.cells:
        times = [one.get("Field value") for one in trial if one.get("Field name") == "_REACTION_TIME_"]
        taken = times[0] if times and re.fullmatch(r"\d{1,9}", times[0] or "") else None
        rt = float(taken) / 1000 if taken is not None else None
        return IbexAnswer(line, kind, line.get("Field name") or element, line.get("Field value"), None, rt)
    if kind == "question":
        response = line.get(own_answer(line) or "Value")
        taken = line.get(logged(line, TIMES) or ANSWERED)
        rt = float(taken) / 1000 if taken is not None else None
        return IbexAnswer(line, kind, element, response, milliseconds(line), rt, sentence=_sentence(trial))
    response, time = line.get("Value"), milliseconds(line)
    # A point of a scale may be shown by markup: <span style='visibility: hidden;'>6</span> is point 6.
    response = (re.sub(r"<[^<>]+>", "", response).strip() or response) if response else response
    onset, from_display = _onset(trial, line, time)
    rt = round(time - onset, 3) / 1000 if time is not None and onset is not None and response is not None else None
    left, right = _sides(line, response)
    own = logged(line, ANSWERS) if kind == "key" else None
    if own is not None and own not in factors and line.get(own) is not None:
        # The experiment says itself what the key meant, and whether it came in time.
        answered = line.get(own) or ""
        response = None if NO_ANSWER.fullmatch(answered) else answered
    taken = line.get(logged(line, RESPONSE_TIMES) or "")
    if taken is not None and re.fullmatch(r"\d{1,7}(\.\d{1,9})?", taken):
        rt, from_display = float(taken) / 1000 if response is not None else None, True
    return IbexAnswer(line, kind, element, response, time, rt, from_display, _sentence(trial), left, right)


def _onset(trial: Sequence[LogLine], answer: LogLine, time: float | None) -> tuple[float | None, bool]:
    """When the last thing was shown before the answer, or the trial began, and whether it was shown."""
    shown, begun = [], []
    for line in trial:
        happened = milliseconds(line)
        if time is None or happened is None or happened > time:
            continue
        own = line.get("PennElementName") == answer.get("PennElementName")
        if line.get("Parameter") == "Print" and not own:
            shown.append(happened)
        elif line.get("Parameter") == "_Trial_" and line.get("Value") == "Start":
            begun.append(happened)
    return max(shown or begun, default=None), bool(shown)


def _sides(line: LogLine, response: str | None) -> tuple[str | None, str | None]:
    """The two things to choose from in the order on the screen, where a selector had exactly two."""
    if (line.get("PennElementType") or "").lower() != "selector" or response is None:
        return None, None
    shown = (line.get("Comments") or "").split(";")
    names = {name.lower() for name in shown}
    if len(shown) != 2 or len(names) != 2 or response not in shown or names in YES_AND_NO:
        return None, None
    return shown[0], shown[1]


def _sentence(trial: Sequence[LogLine]) -> str | None:
    """The sentence that a controller of classic Ibex showed in the trial."""
    for line in trial:
        for name, value in line.cells.items():
            if name.startswith("Sentence") and value is not None:
                return value
    return None


def _what_it_is(line: LogLine) -> Message:
    """What a line is that is not an answer."""
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
