"""The answers in a row of jsPsych data, by plugin, and the rows that are not judgments.

The versions differ only in names: up to version 6, they write `button_pressed`, `key_press` and `responses` (JSON in
a text) where versions 7 and 8 write `response`. Version 5 has no html-keyboard-response but single-stim.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from karat.intake.cells import cell_text
from karat.intake.guess import plain
from karat.intake.nested import parsed
from karat.intake.personal import describes_a_person
from karat.judgments.scales import as_number
from karat.messages import Message

Values = Mapping[str, Any]
"""A row: a cell of text in a CSV file, any JSON value in a JSON file."""

MISSING = ("", "null", "undefined", "NA", "NaN")
NO_JUDGMENTS = {
    "preload": Message("aside.preloading"),
    "fullscreen": Message("aside.full_screen"),
    "call-function": Message("aside.function_calls"),
    **dict.fromkeys(("instructions", "text"), Message("aside.instructions")),
    "browser-check": Message("aside.browser_checks"),
    "external-html": Message("aside.external_pages"),
    **dict.fromkeys(("virtual-chinrest", "resize"), Message("aside.screen_calibrations")),
    **dict.fromkeys(("webgazer-calibrate", "webgazer-validate", "webgazer-init-camera"), Message("aside.eye_tracking")),
    **dict.fromkeys(
        ("initialize-microphone", "initialize-camera", "mirror-camera"), Message("aside.microphone_and_camera")
    ),
    **dict.fromkeys(("html-audio-response", "html-video-response"), Message("aside.recordings")),
    "sketchpad": Message("aside.drawings"),
    "animation": Message("aside.animations"),
    **dict.fromkeys(("survey-text", "cloze"), Message("aside.free_text")),
    "survey-html-form": Message("aside.form_answers"),
    "survey-multi-select": Message("aside.several_choices"),
}
PAGES = ("survey-likert", "survey-multi-choice", "survey", "survey-text", "survey-html-form")
"""Plugins whose response is an object with one answer per question."""
OWN_PAGES = re.compile(r"slider|likert|scale|rating|survey|question|choice|radio|matrix")
"""Words in the names of the authors' own plugins that write such objects, as multiple-slider does."""
TASK_COLUMNS = ("task", "trialpart", "testpart", "part", "screen", "phase", "trialname", "screenid", "trialkind")
TASKS = {
    **dict.fromkeys(("fixation", "fix", "cross", "iti", "isi", "blank", "mask"), Message("aside.fixations")),
    **dict.fromkeys(("welcome", "intro", "introduction", "instruction", "instructions"), Message("aside.instructions")),
    "consent": Message("aside.consent"),
    **dict.fromkeys(("break", "pause"), Message("aside.breaks")),
    "feedback": Message("aside.feedback"),
    **dict.fromkeys(("debrief", "debriefing", "end", "goodbye"), Message("aside.debriefing")),
    **dict.fromkeys(("demographics", "background"), Message("aside.background")),
}
BACKGROUND = TASKS["background"]
NO_TYPE = Message("aside.no_trial_type")
SINGLE_BUTTON = Message("aside.single_button")
NO_ANSWER = Message("aside.pages_without_answer")
LABEL_LISTS = ("choices", "labels", "buttonlabels", "buttons", "options")
LABELS = ("responselabel", "buttonlabel", "answerlabel", "choicelabel", "responsetext")
KEY_NAMES = {8: "backspace", 9: "tab", 13: "enter", 27: "escape", 32: "space", 37: "arrowleft", 38: "arrowup",
             39: "arrowright", 40: "arrowdown"}  # fmt: skip


@dataclass(frozen=True)
class JsPsychAnswer:
    """One answer of a row."""

    response: str | None
    kind: str
    """The kind of response: button, key, slider, page, other."""
    name: str | None = None
    """The question on a page with several."""
    index: int | None = None
    """The position of the button, if its label is the answer."""
    levels: tuple[str, ...] = ()
    """The labels of all buttons, if the row has them."""


@dataclass(frozen=True)
class Aside:
    """Something that is not a judgment, with the reason, and with its value if it describes the participant."""

    reason: Message
    name: str | None = None
    value: str | None = None


@dataclass(frozen=True)
class AnswerFlaw:
    """An unreadable answer."""

    what: str
    fix: str
    column: str
    value: str


def answers_of(values: Values) -> list[JsPsychAnswer | Aside] | AnswerFlaw:
    """The answers in a row, the reason why it has none, or its flaw."""
    kind = trial_type(values)
    if not kind:
        return [Aside(NO_TYPE)]
    if kind in PAGES:
        return _page(values, kind)
    task = _task(values)
    reason = NO_JUDGMENTS.get(kind) or task
    if reason is not None:
        return [Aside(reason)]
    if OWN_PAGES.search(kind) and isinstance(nested(cell(values, "response")), dict):
        return _page(values, kind)
    if kind.endswith("button-response"):
        return _button(values)
    if kind.endswith("-slider-response"):
        return _slider(values)
    if kind.endswith("-keyboard-response") or kind.startswith(("same-different", "categorize", "iat-", "single-")):
        return _key(values)
    response = cell(values, "response")
    if response is None or isinstance(nested(response), dict | list):
        return [Aside(_of_type(kind[:40]))]
    return [JsPsychAnswer(text(response), "other")]


def trial_type(values: Values) -> str:
    """The plugin's name in the spelling of version 7."""
    return _plugin(text(cell(values, "trial_type")) or "")


@lru_cache(maxsize=1000)
def _plugin(name: str) -> str:
    return re.sub(r"^(jspsych|plugin)-", "", name.lower().replace("_", "-"))


@lru_cache(maxsize=10_000)
def plain_name(name: str) -> str:
    """A column's name without case, blanks and underscores, cached because it is needed for every cell."""
    return plain(name)


@lru_cache(maxsize=1000)
def _of_type(kind: str) -> Message:
    return Message("aside.of_type", {"type": kind})


def _task(values: Values) -> Message | None:
    """The reason why a screen is not a judgment, if the study's own name for it shows one."""
    words = (text(value) or "" for name, value in values.items() if plain_name(name) in TASK_COLUMNS)
    return next((TASKS[word.lower()] for word in words if word.lower() in TASKS), None)


def _button(values: Values) -> list[JsPsychAnswer | Aside] | AnswerFlaw:
    column = "response" if cell(values, "response") is not None else "button_pressed"
    response = cell(values, column)
    labels = _labels(values)
    if len(labels) == 1:
        return [Aside(SINGLE_BUTTON)]
    levels = labels if len(set(labels)) == len(labels) else ()
    if isinstance(nested(response), dict | list):
        fix = "A button response is the position of the button, from 0."
        return AnswerFlaw("is not a button", fix, column, text(response) or "")
    if response is None:
        return [JsPsychAnswer(None, "button", levels=levels)]
    position = as_number(text(response) or "")
    index = int(position) if position is not None and position == int(position) else None
    label = next((text(cell(values, name)) for name in values if plain_name(name) in LABELS), None)
    if index is not None and labels:
        if not 0 <= index < len(labels):
            fix = f"The buttons of this row are {', '.join(labels)[:200]}, counted from 0."
            return AnswerFlaw("is not a button", fix, column, text(response) or "")
        label = labels[index]
    return [JsPsychAnswer(label or text(response), "button", index=index if label else None, levels=levels)]


def _labels(values: Values) -> tuple[str, ...]:
    """The labels of the buttons, if the study wrote them into its data."""
    for name in values:
        labels = nested(cell(values, name)) if plain_name(name) in LABEL_LISTS else None
        if isinstance(labels, list) and labels:
            return tuple(plain_html(text(label) or "") for label in labels)
    return ()


def _slider(values: Values) -> list[JsPsychAnswer | Aside] | AnswerFlaw:
    response = text(cell(values, "response"))
    if response is not None and as_number(response) is None:
        return AnswerFlaw("is not a slider position", "Write a number, or leave it empty.", "response", response)
    return [JsPsychAnswer(response, "slider")]


def _key(values: Values) -> list[JsPsychAnswer | Aside] | AnswerFlaw:
    column = "response" if cell(values, "response") is not None else "key_press"
    response = cell(values, column)
    if isinstance(nested(response), dict | list):
        return AnswerFlaw("is not a key", "A keyboard response is the name of one key.", column, text(response) or "")
    return [JsPsychAnswer(key_name(response, is_code=column == "key_press"), "key")]


def key_name(key: Any, *, is_code: bool) -> str | None:
    """The name of a key; version 6 writes the number of the key, and -1 for none.

    >>> key_name("70", is_code=True), key_name(" ", is_code=False), key_name(-1, is_code=True)
    ('f', 'space', None)
    """
    if isinstance(key, str) and key and not key.strip():
        return "space"
    name = text(key)
    code = as_number(name or "") if is_code else None
    if code is None:
        return name
    if code in KEY_NAMES:
        return KEY_NAMES[int(code)]
    return None if code < 0 else chr(int(code)).lower() if 48 <= code <= 90 else name


def _page(values: Values, kind: str) -> list[JsPsychAnswer | Aside] | AnswerFlaw:
    column = "response" if cell(values, "response") is not None else "responses"
    response = cell(values, column)
    answers = nested(response)
    if response is None or answers == {}:
        return [Aside(NO_ANSWER)]
    if not isinstance(answers, dict):
        fix = 'A page of questions has answers such as {"Q0": 3}.'
        return AnswerFlaw("is not a set of answers", fix, column, text(response) or "")
    is_background = _task(values) == BACKGROUND
    flat = list(_flat(answers))
    if kind == "survey-multi-choice":
        flat = _in_shown_order(flat, nested(cell(values, "question_order")))
    return [_page_answer(name, value, kind, is_background) for name, value in flat]


def _flat(answers: dict[str, Any]) -> list[tuple[str, Any]]:
    """The questions and answers of a page, with one answer per row of a matrix."""
    flat: list[tuple[str, Any]] = []
    for name, value in answers.items():
        flat += [(f"{name}.{row}", v) for row, v in value.items()] if isinstance(value, dict) else [(name, value)]
    return flat


def _in_shown_order(answers: list[tuple[str, Any]], order: Any) -> list[tuple[str, Any]]:
    """The answers of survey-multi-choice in the order of presentation, which the plugin writes in a separate column."""
    whole = isinstance(order, list) and all(isinstance(place, int) for place in order)
    return [answers[i] for i in order] if whole and sorted(order) == list(range(len(answers))) else answers


def _page_answer(name: str, value: Any, kind: str, is_background: bool) -> JsPsychAnswer | Aside:
    response = plain_html(text(value) or "") or None
    if is_background or describes_a_person(name):
        return Aside(BACKGROUND, text(name), response if describes_a_person(name) else None)
    if kind in NO_JUDGMENTS:
        return Aside(NO_JUDGMENTS[kind])
    if isinstance(value, dict | list):
        return Aside(NO_JUDGMENTS["survey-multi-select"])
    return JsPsychAnswer(response, "page", text(name) or "unnamed")


def cell(values: Values, name: str) -> Any:
    """A value of a row; None if jsPsych marks it as missing."""
    value = values.get(name)
    if isinstance(value, float) and value != value:
        return None
    return None if isinstance(value, str) and value in MISSING else value


def nested(value: Any) -> Any:
    """A value that may be written in a CSV cell as JSON, or as Python prints it.

    >>> nested('{"Q0": 3}'), nested("{'age': '33'}"), nested("[sic] He left.")
    ({'Q0': 3}, {'age': '33'}, '[sic] He left.')
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    content = parsed(value)
    return value if content is None else content


def text(value: Any) -> str | None:
    """A value as text that can be written to a file; None if it is empty."""
    if isinstance(value, str) and value.isascii():
        return value.strip() or None
    return (cell_text(value) or "").strip() or None


def plain_html(markup: str) -> str:
    """The words in a piece of HTML; the file name if it is only a picture.

    >>> plain_html("<p>The dog&nbsp;<b>barks</b>.<br>Loudly.</p>"), plain_html("<img src='a.png'>")
    ('The dog barks. Loudly.', 'a.png')
    """
    words = re.sub(r"<(br|/?p|/?div|/?li|/?h\d)\b[^<>]*>", " ", markup, flags=re.IGNORECASE)
    words = " ".join(html.unescape(re.sub(r"<[a-zA-Z/!][^<>]*>", "", words)).split())
    if words:
        return words.encode("utf-8", "replace").decode("utf-8")
    source = re.search(r"\bsrc\s*=\s*[\"']?([^\"'<> ]+)", markup)
    return source[1] if source else ""
