"""A complete visit: the landing page, consent, questions, the trials over the API, and the last page.

A bot records the answers that it sent and those that the server acknowledged, so that both can be compared with the
export. If a connection breaks, it tries again while its patience lasts: it repeats answers under the same key, and
requests the current page again.

Forms are read as a participant sees them, by labels. Hidden fields are sent back unchanged. The first button of a form
continues.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import numpy as np

from karat.field.bots.behaviour import Behaviour
from karat.field.bots.client import Client, Reply
from karat.study.study import Study

PAUSE = 0.05
"""Seconds before a request is repeated; twice as long each time, up to a second."""
PAGES = 60
"""More pages than this before or after the trials are a circle."""
ROUNDS = 5
TRIALS = 'id="trials"'
"""A mark of the page with the trials."""
DEVICE = {
    "pointer": "mouse", "window": [1280, 800], "device": "desktop", "isolated": False, "frame_rate": 60,
    "changes": 0, "blurs": 0, "away": 0,
}  # fmt: skip


class VisitError(RuntimeError):
    """A problem that a participant would report to the researcher."""


@dataclass
class WalkRecord:
    """The record of a visit."""

    behaviour: str
    sent: dict[str, tuple[str, dict[str, str | None]]] = field(default_factory=dict)
    """The trial and the responses under each key."""
    saved: set[str] = field(default_factory=set)
    """The keys that the server acknowledged."""
    refused: list[str] = field(default_factory=list)
    """Why answers were refused, if any were."""
    seconds: list[float] = field(default_factory=list)
    """How long each acknowledged request took."""
    broken: int = 0
    """How often the connection broke."""
    left_early: bool = False
    last_page: str = ""
    """The words of the last page."""

    @property
    def acknowledged(self) -> dict[str, dict[str, str | None]]:
        """The saved responses by trial, without pages that have no answer."""
        saved = (self.sent[key] for key in self.saved)
        return {trial: responses for trial, responses in saved if None not in responses.values()}


@dataclass(frozen=True)
class Way:
    """How bots visit a study: its slug, the parameters of the platform, known answers, speed and patience."""

    slug: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    """The parameters that the platform adds to the address."""
    known: Mapping[str, str] = field(default_factory=dict)
    """Answers to background and quiz questions, by the words of the question; others are random."""
    speed: float = 1.0
    """How many times faster than people the bots are; 0 for no pause at all."""
    patience: float = 0.0
    """For how many seconds a broken connection is tried again."""

    @property
    def landing(self) -> str:
        """The address of the landing page."""
        return f"/s/{self.slug}/" + (f"?{urlencode(self.parameters)}" if self.parameters else "")

    @property
    def next(self) -> str:
        """The address of the current page."""
        return f"/s/{self.slug}/go"


def known_answers(study: Study, seed: int = 1) -> dict[str, str]:
    """Answers of an eligible participant who passes the quiz."""
    random = np.random.default_rng(seed)
    answers = {
        question.question: str(random.choice(question.eligible or question.answers))
        for question in study.settings.background
        if question.answers
    }
    return answers | {quiz.question: quiz.answers[quiz.right - 1] for quiz in study.settings.texts.quiz}


async def visit(client: Client, way: Way, behaviour: Behaviour) -> WalkRecord:
    """Take part in a study from the first page to the last; returns what was sent and saved."""
    record = WalkRecord(behaviour.name)
    patiently = Patience(way.patience, record)
    page = await patiently(lambda: client.get(way.landing))
    for _ in range(ROUNDS):
        page = await past_the_forms(client, way, behaviour, page, patiently)
        if TRIALS not in page.text:
            record.last_page = page.text
            return record
        if not await _answer_trials(client, way, behaviour, record, patiently):
            record.left_early = True
            return record
        page = await patiently(lambda: client.get(way.next))
    raise VisitError(f"The trials of {way.slug} never end.")


async def past_the_forms(
    client: Client, way: Way, behaviour: Behaviour, page: Reply, patiently: Patience | None = None
) -> Reply:
    """Fill in one form after the other; returns the page with the trials, or the first without a form."""
    patient = patiently or Patience(way.patience, WalkRecord(behaviour.name))
    for _ in range(PAGES):
        form = None if TRIALS in page.text else _way_on(page)
        if form is None:
            return page
        page = await _sent(client, way, form, behaviour, patient)
    raise VisitError(f"The pages of {way.slug} go round in a circle; the last was {page.path}.")


async def begin(client: Client, way: Way) -> Reply:
    """Arrive on the landing page and begin; returns the first page of the session."""
    page = await client.get(way.landing)
    form = _way_on(page)
    if form is None:
        raise VisitError(f"Nobody can begin at {way.landing}: {page.status}.")
    return await client.post_form(form.action, form.filled({}))


async def _sent(client: Client, way: Way, form: PageForm, behaviour: Behaviour, patiently: Patience) -> Reply:
    """Send a form; if the connection breaks, the current page is requested instead of sending the form twice."""
    answers = {name: _chosen(choice, way.known, behaviour.random) for name, choice in form.choices.items()}
    filled = form.filled(answers | dict.fromkeys(form.texts, "nothing to add"))
    try:
        reply = await client.post_form(form.action, filled)
    except OSError as error:
        patiently.broke(error)
    else:
        if reply.status < 500:
            return reply
        patiently.broke(ConnectionError(f"{form.action} answered {reply.status}."))
    reply = await patiently(lambda: client.get(way.next))
    # Without a session, begin again; the platform's parameters lead back to one that was made meanwhile.
    return reply if reply.status < 400 else await patiently(lambda: client.get(way.landing))


async def _answer_trials(
    client: Client, way: Way, behaviour: Behaviour, record: WalkRecord, patiently: Patience
) -> bool:
    """Answer one trial after the other until the server reports another step; False for drop-outs."""
    state = await patiently(lambda: client.get(f"/api/{way.slug}/trials"))
    if state.status != 200:
        raise VisitError(f"The trials of {way.slug} are not available: {state.status} {state.text[:200]}")
    reply_body = state.json()
    waiting, scales = list(reply_body["trials"]), dict(reply_body["scales"])
    total = reply_body["left"] + len(record.saved)
    while reply_body["step"] == "trials" and waiting:
        if len(record.saved) >= behaviour.stay * total:
            return False
        trial = waiting.pop(0)
        answer, pause = _answer(trial, scales, behaviour)
        if way.speed and pause:
            await asyncio.sleep(pause / way.speed)
        answer["answered_at"] = round(time.time() * 1000)
        record.sent[answer["key"]] = (trial["id"], answer.get("responses") or {"": answer["response"]})
        held = [entry["id"] for entry in waiting]
        request = {"answers": [answer], "events": [], "have": held}
        began = time.perf_counter()
        reply = await patiently(partial(client.post_json, f"/api/{way.slug}/answers", request))
        if reply.status != 200:
            raise VisitError(f"An answer was not accepted: {reply.status} {reply.text[:200]}")
        record.seconds.append(time.perf_counter() - began)
        reply_body = reply.json()
        record.saved.update(reply_body["saved"])
        record.refused += [entry["reason"] for entry in reply_body["refused"]]
        scales.update(reply_body["scales"])
        ids = {*held}
        waiting += [entry for entry in reply_body["trials"] if entry["id"] not in ids]
    return True


def _answer(trial: Mapping[str, Any], scales: Mapping[str, Any], behaviour: Behaviour) -> tuple[dict[str, Any], float]:
    """An answer as the browser would send it, and how long a participant takes for it."""
    answer: dict[str, Any] = {
        "trial": trial["id"], "key": str(uuid.uuid4()), "response": None, "responses": None, "rt": 0.0, "rts": None,
        "first_response": None, "first_rt": None, "shown_at": round(time.time() * 1000), **DEVICE,
    }  # fmt: skip
    if trial["kind"] != "trial":
        return answer, 0.0
    answer |= behaviour.answer(trial, scales[trial["scale"]])
    return answer, float(answer["rt"])


def _way_on(page: Reply) -> PageForm | None:
    """The form that leads to the next step, if there is one."""
    onward = [form for form in forms(page.text) if "/step/" in form.action or form.action.endswith("/begin")]
    return onward[0] if onward else None


def _chosen(choice: FormChoice, answers: Mapping[str, str], random: np.random.Generator) -> str:
    wanted = next((answer for question, answer in answers.items() if question in choice.question), None)
    by_words = {words: value for value, words in choice.options.items()}
    if wanted in by_words:
        return by_words[wanted]
    return str(random.choice([value for value in choice.options if value]))


class Patience:
    """Repeats requests after broken connections and server errors, at growing intervals, for a limited time."""

    def __init__(self, seconds: float, record: WalkRecord) -> None:
        self.seconds, self.record = seconds, record

    def broke(self, error: OSError) -> None:
        """Count a broken connection; without patience it is an error."""
        self.record.broken += 1
        if not self.seconds:
            raise VisitError(f"The connection broke: {error}") from error

    async def __call__(self, call: Callable[[], Awaitable[Reply]]) -> Reply:
        until, pause = time.monotonic() + self.seconds, PAUSE
        while True:
            try:
                reply = await call()
                if reply.status < 500:
                    return reply
                error: OSError = ConnectionError(f"{reply.path} answered {reply.status}.")
            except OSError as broken:
                error = broken
            self.broke(error)
            if time.monotonic() > until:
                raise VisitError(f"The server cannot be reached: {error}") from error
            await asyncio.sleep(pause)
            pause = min(2 * pause, 1.0)


SPOKEN = ("legend", "label", "button")
"""Elements with the label of a field."""
NOT_FILLED_IN = ("submit", "button", "reset", "image")


@dataclass
class FormChoice:
    """A field with answers to choose from: radio buttons, checkboxes or a drop-down list."""

    name: str
    kind: str
    question: str = ""
    options: dict[str, str] = field(default_factory=dict)
    """The value of each answer and the words beside it."""


@dataclass
class PageForm:
    """A form: its action, its hidden fields, and the fields to fill in."""

    action: str
    method: str
    hidden: dict[str, str] = field(default_factory=dict)
    choices: dict[str, FormChoice] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """Text fields by name, with their labels."""
    buttons: list[tuple[str, str, str]] = field(default_factory=list)
    """Name, value and words of each button."""

    def filled(self, answers: Mapping[str, str], button: int = 0) -> dict[str, str]:
        """The values that the browser sends when a button is pressed."""
        sent = self.hidden | dict(answers)
        if self.buttons and self.buttons[button][0]:
            sent[self.buttons[button][0]] = self.buttons[button][1]
        return sent


def forms(html: str) -> list[PageForm]:
    """All forms of a page."""
    reader = _FormParser()
    reader.feed(html)
    reader.close()
    return reader.found


class _FormParser(HTMLParser):
    """Collects forms; a label belongs to the field inside it or with its id."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[PageForm] = []
        self._form: PageForm | None = None
        self._owners: dict[str, tuple[str, str]] = {}
        self._last: tuple[str, str] | None = None
        self._labels: dict[str, str] = {}
        self._label_for = ""
        self._legend = ""
        self._words: list[str] = []
        self._select: FormChoice | None = None
        self._option: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag == "form":
            self._form = PageForm(values.get("action", ""), values.get("method", "get").lower())
            self.found.append(self._form)
        if self._form is None:
            return
        if tag in SPOKEN:
            self._words = []
            self._label_for = values.get("for", "")
            self._last = None
        if tag == "button" and values.get("type", "submit") == "submit":
            self._form.buttons.append((values.get("name", ""), values.get("value", ""), ""))
        if tag == "input":
            self._input(self._form, values)
        elif tag == "textarea" and values.get("name"):
            self._form.texts[values["name"]] = ""
            self._owners[values.get("id", "")] = self._last = (values["name"], "")
        elif tag == "select" and values.get("name"):
            self._select = self._form.choices.setdefault(
                values["name"], FormChoice(values["name"], "select", self._legend)
            )
        elif tag == "option" and self._select is not None:
            self._option, self._words = values.get("value", ""), []

    def _input(self, form: PageForm, values: dict[str, str]) -> None:
        kind, name, value = values.get("type", "text").lower(), values.get("name", ""), values.get("value", "")
        if kind == "submit":
            form.buttons.append((name, value, value))
        elif kind == "hidden" and name:
            form.hidden[name] = value
        elif kind in ("radio", "checkbox") and name:
            choice = form.choices.setdefault(name, FormChoice(name, kind, self._legend))
            choice.options[value or "on"] = ""
            self._owners[values.get("id", "")] = self._last = (name, value or "on")
        elif kind not in NOT_FILLED_IN and name:
            form.texts[name] = ""
            self._owners[values.get("id", "")] = self._last = (name, "")

    def handle_data(self, data: str) -> None:
        self._words.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self._form is None:
            return
        words = " ".join("".join(self._words).split())
        if tag == "form":
            # A label may come before the field with its id, so labels are matched at the end.
            for place, label in self._labels.items():
                self._name(self._form, self._owners.get(place), label)
            self._form = None
        elif tag == "legend":
            self._legend = words
        elif tag == "fieldset":
            self._legend = ""
        elif tag == "button" and self._form.buttons and not self._form.buttons[-1][2]:
            name, value, _ = self._form.buttons[-1]
            self._form.buttons[-1] = (name, value, words)
        elif tag == "option" and self._select is not None and self._option:
            self._select.options[self._option] = words
        elif tag == "select":
            self._select = None
        elif tag == "label" and self._label_for:
            self._labels[self._label_for] = words
        elif tag == "label":
            self._name(self._form, self._last, words)

    def _name(self, form: PageForm, owner: tuple[str, str] | None, words: str) -> None:
        """Give the words of a label to its field."""
        if owner is None:
            return
        name, value = owner
        if name in form.choices and value in form.choices[name].options:
            form.choices[name].options[value] = words
        elif name in form.texts:
            form.texts[name] = words
