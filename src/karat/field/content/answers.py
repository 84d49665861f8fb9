"""Check an answer against the offer of its trial, and convert it to rows or a reason for refusal.

The browser is not trusted. An answer must be one that the trial offers, a time must be a finite number of seconds of at
most a day, and a page without a question accepts no answer. Times are not compared with the length of the session,
because clocks of sleeping machines jump and a refused answer is lost.

In a differential, the browser sends the place on the screen, 1 to n from left to right, and the table gets the level of
the scale at that place. The column `polarity` records whether the poles were swapped; answers are not reversed.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from karat.judgments.scales import Continuous, Magnitude
from karat.study.plan import Block
from karat.study.study import Study

LONGEST_RT = 86_400.0
"""Seconds: a day."""
MAGNITUDE = re.compile(r"(?=[0-9.]*[1-9])[0-9]{0,15}(?:\.[0-9]{1,15})?")
"""A positive number as the browser sends it, with a decimal point."""
PLACE = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,22})?")
"""A number on a line as the browser sends it, with all digits that JavaScript writes."""
EVENTS = (
    "blur", "focus", "paste", "webdriver", "resize", "offline", "online", "reload", "fast", "trace", "picture",
)  # fmt: skip
"""The kinds of events that a browser may report."""
OF_HANDS = ("paste", "webdriver", "trace")
"""The kinds that are not stored if a study has `traces = false`."""

TRACE = (
    "moves", "path", "straight", "moving", "active", "peak", "dwell", "off", "press", "sizes", "keys", "hold",
    "scrolls", "paste", "untrusted", "flags", "fits", "grain",
)  # fmt: skip
"""The numbers of a trace that are stored."""
MOST_TRACE = 1e6
DETAILS = {
    "shown_at", "answered_at", "blurs", "away", "pointer", "window", "device", "isolated", "frame_rate",
}  # fmt: skip
"""The stored details of an answer besides the trace."""
Text = Annotated[str, Field(max_length=500)]
Detail = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
Seconds = Annotated[float, Field(ge=0, le=LONGEST_RT, allow_inf_nan=False)]
Epoch = Annotated[float, Field(ge=0, le=1e14, allow_inf_nan=False)]
QuestionId = Annotated[str, Field(pattern=r"^q[1-9][0-9]{0,2}$")]


class PostedAnswer(BaseModel, extra="forbid", frozen=True):
    """The browser's report about one trial."""

    trial: str = Field(min_length=1, max_length=64, description="The opaque name of the trial.")
    key: str = Field(pattern=r"^[A-Za-z0-9_-]{8,64}$", description="A random text, the same when an answer is resent.")
    response: Text | None = Field(None, description="The answer; null for a page without a question.")
    responses: dict[QuestionId, Text] | None = Field(
        None, max_length=200, description="The answers to several questions on a page."
    )
    rt: Seconds = Field(description="Seconds from onset to answer.")
    rts: dict[QuestionId, Seconds] | None = Field(None, max_length=200, description="The same for each question.")
    first_response: Text | None = Field(None, description="The answer that was chosen first.")
    first_rt: Seconds | None = Field(None, description="Seconds from onset to that.")
    changes: int = Field(0, ge=0, le=10_000, description="How often the answer was changed.")
    shown_at: Epoch | None = Field(None, description="Onset by the browser's clock, milliseconds since 1970.")
    answered_at: Epoch | None = Field(None, description="Answer by the browser's clock.")
    blurs: int = Field(0, ge=0, le=100_000, description="How often the page lost the focus during the trial.")
    away: Seconds = Field(0.0, description="Seconds without focus.")
    pointer: Literal["mouse", "touch", "pen", "key", ""] = Field("", description="What answered.")
    window: tuple[Annotated[int, Field(ge=0, le=100_000)], Annotated[int, Field(ge=0, le=100_000)]] | None = Field(
        None, description="Width and height of the window in pixels."
    )
    device: Literal["phone", "tablet", "desktop", ""] = Field("", description="The class of device.")
    isolated: bool = Field(False, description="Whether the page was isolated, which gives a finer clock.")
    frame_rate: Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)] | None = Field(
        None, description="Frames per second."
    )
    trace: dict[Annotated[str, Field(max_length=16)], float | None] | None = Field(
        None, max_length=40, description="How the answer was given, in a few numbers."
    )


class PageEvent(BaseModel, extra="forbid", frozen=True):
    """An event in the browser besides the answers."""

    kind: str = Field(max_length=32, description="What happened.")
    at: Epoch = Field(description="When, by the browser's clock, milliseconds since 1970.")
    trial: Annotated[str, Field(max_length=64)] | None = Field(None, description="During which trial.")
    details: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")], bool | int | float | Detail | None] = Field(
        {}, max_length=40, description="More about it."
    )


@dataclass(frozen=True)
class AnswerRow:
    """One answer as it is stored; `question` is empty if a trial has only one."""

    question: str
    response: str | None
    rt: float
    first_response: str | None = None
    first_rt: float | None = None
    changes: int = 0


@dataclass(frozen=True)
class AnswerVerdict:
    """The rows to store, or why the answer is refused."""

    rows: tuple[AnswerRow, ...] = ()
    refusal: str | None = None


@dataclass(frozen=True)
class Offer:
    """The answers that a block offers: from what the browser may send to the stored answer; None for any number."""

    responses: Mapping[str, str] | None
    line: Continuous | None = None
    """The scale on which the number must lie, if there is one."""

    def read(self, sent: str | None) -> str | None:
        """The stored answer; None if it was not offered."""
        if sent is None:
            return None
        if self.responses is not None:
            return self.responses.get(sent)
        if self.line is not None:
            return self.line.read(sent) if PLACE.fullmatch(sent) else None
        return sent if MAGNITUDE.fullmatch(sent) else None


def offers(study: Study) -> dict[str, Offer]:
    """The offer of each block, by its name."""
    return {block.name: offer_of(block) for block in study.blocks}


def offer_of(block: Block) -> Offer:
    """The offer of a block."""
    scale = block.scale
    if isinstance(scale, Magnitude):
        return Offer(None)
    if isinstance(scale, Continuous):
        return Offer(None, scale)
    if block.questions is not None:
        return Offer({str(place): level for place, level in enumerate(scale.levels, start=1)})
    return Offer({level: level for level in scale.levels})


def check(page: Mapping[str, Any], offer: Offer | None, answer: PostedAnswer) -> AnswerVerdict:
    """Check an answer to a page; `page` is what the browser got, `offer` what its block offers.

    >>> page, offer = {"kind": "trial", "questions": None}, Offer({"no": "no", "yes": "yes"})
    >>> check(page, offer, PostedAnswer(trial="t", key="k" * 8, response="yes", rt=2.5)).rows[0].response
    'yes'
    >>> check(page, offer, PostedAnswer(trial="t", key="k" * 8, response="maybe", rt=1)).refusal
    'not offered'
    """
    if page["kind"] != "trial" or offer is None:
        if answer.response is not None or answer.responses is not None:
            return AnswerVerdict(refusal="not offered")
        return AnswerVerdict((AnswerRow("", None, answer.rt),))
    questions = page.get("questions")
    if questions:
        return _checked_questions([question["id"] for question in questions], offer, answer)
    response = offer.read(answer.response)
    if response is None or answer.responses is not None:
        return AnswerVerdict(refusal="not offered")
    first = offer.read(answer.first_response)
    # The first typed answer may have been no number, but the first chosen one must have been offered.
    if answer.first_response is not None and first is None and offer.responses is not None:
        return AnswerVerdict(refusal="not offered")
    return AnswerVerdict((AnswerRow("", response, answer.rt, first, answer.first_rt, answer.changes),))


def _checked_questions(questions: list[str], offer: Offer, answer: PostedAnswer) -> AnswerVerdict:
    """The answers to all questions of a page; refused if one is missing or not offered."""
    responses, times = answer.responses or {}, answer.rts or {}
    if answer.response is not None or not {*times, *responses} <= set(questions):
        return AnswerVerdict(refusal="not offered")
    if set(responses) != set(questions):
        return AnswerVerdict(refusal="not all questions are answered")
    rows = []
    for question in questions:
        response = offer.read(responses[question])
        if response is None:
            return AnswerVerdict(refusal="not offered")
        rows.append(AnswerRow(question, response, times.get(question, answer.rt), changes=answer.changes))
    return AnswerVerdict(tuple(rows))


def details(answer: PostedAnswer, traces: bool = True) -> dict[str, Any]:
    """The stored details of an answer; without `traces`, they have no trace of the pointer and keys."""
    extra = answer.model_dump(include=DETAILS, exclude_none=True)
    if answer.window is not None:
        extra["window"] = list(answer.window)
    if traces and answer.trace is not None:
        # Impossible numbers are dropped; they are no reason to refuse the answer.
        trace = {name: answer.trace.get(name) for name in TRACE}
        extra["trace"] = {
            name: value for name, value in trace.items() if value is not None and 0 <= value <= MOST_TRACE
        }
    return extra


def event_refusal(event: PageEvent) -> str | None:
    """Why an event is not stored; None if it is."""
    if event.kind not in EVENTS:
        return "unknown kind"
    odd = any(isinstance(value, float) and not math.isfinite(value) for value in event.details.values())
    return "not a number" if odd else None
