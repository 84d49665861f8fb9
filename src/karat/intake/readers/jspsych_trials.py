"""The rows of jsPsych data, from one file or many, as one table of judgments.

Whatever file the rows come from, they are judged together: a display that one participant did not answer is a missing
answer where another answered it, and no judgment where nobody ever did.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from karat.errors import Problems
from karat.intake.annotators import Annotators
from karat.intake.labels import ITEM_IDS
from karat.intake.readers.jspsych_answers import (
    AnswerFlaw,
    Aside,
    JsPsychAnswer,
    answers_of,
    cell,
    plain_html,
    plain_name,
    text,
    trial_type,
)
from karat.intake.readers.jspsych_table import frame_of, people_of, scales_of
from karat.intake.reading import Options, Reading
from karat.judgments.checks import Place
from karat.judgments.message_tables import listed
from karat.judgments.scales import as_number
from karat.messages import Message

ITEM_COLUMNS = (*ITEM_IDS, "sentence")
QUESTION_OF_KIND = {"button": "button", "key": "key", "slider": "slider", "page": "survey", "other": "other"}
GO_ON_KEYS = ("space", "enter")
"""Where answers are given in other ways and no other key is ever pressed, these only lead on."""
FIXATIONS = Message("aside.fixations")
UNANSWERED = Message("aside.unanswered_displays")
KEYS_TO_GO_ON = Message("aside.continue_keys")
SURVEY_WITHOUT_ITEM = Message("aside.survey_without_item")
SCREEN_WITHOUT_ITEM = Message("aside.screen_without_item")
Display = tuple[str, str]
"""A plugin and the words on the screen."""


@dataclass
class TrialRow:
    """A row of data, where it stands, and whose it is."""

    values: dict[str, Any]
    place: Place
    participant: str | None = None


@dataclass
class Judged:
    """One answer that is a judgment."""

    row: TrialRow
    answer: JsPsychAnswer
    item: str
    rt: float | None
    question: str | None = None
    trial: int = 0


@dataclass
class JsPsychTrials:
    """The rows so far, and what was said about them."""

    rows: list[TrialRow] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    bad_units: int = 0
    set_aside: dict[Message, int] = field(default_factory=dict)
    id_columns: set[str] = field(default_factory=set)
    """The columns that told the participant."""
    annotators: Annotators = field(default_factory=Annotators)

    def set_apart(self, reason: Message) -> None:
        """Count a unit that is no judgment."""
        self.set_aside[reason] = self.set_aside.get(reason, 0) + 1

    def refuse(self, place: Place, flaw: AnswerFlaw, units: int = 1) -> None:
        """Note what cannot be read."""
        file, kind, number = place
        self.problems.add(
            flaw.what, flaw.fix, column=flaw.column, value=flaw.value, file=file, place=kind, number=number
        )
        self.bad_units += units


def reading_of(trials: JsPsychTrials, options: Options) -> Reading:
    """The judgments among the rows; everything else is set aside by its reason."""
    item_column = _item_column(trials.rows, options)
    answers = [answers_of(row.values) for row in trials.rows]
    displays = _Displays(trials.rows, answers, item_column)
    judged: list[Judged] = []
    background: dict[str, dict[str, str]] = {}
    for row, found in zip(trials.rows, answers, strict=True):
        if isinstance(found, AnswerFlaw):
            trials.refuse(row.place, found)
            continue
        for answer in found:
            if isinstance(answer, Aside):
                trials.set_apart(answer.reason)
                if answer.name and answer.value and row.participant:
                    background.setdefault(row.participant, {})[answer.name] = answer.value
                continue
            one = _judge(row, answer, item_column, displays, options)
            if isinstance(one, Judged):
                judged.append(one)
            elif isinstance(one, AnswerFlaw):
                trials.refuse(row.place, one)
            else:
                trials.set_apart(one.reason)
    _ask(judged, item_column, trials)
    _order(judged, trials.rows, trials)
    scales = scales_of(judged, options, trials.notes)
    frame = frame_of(judged, trials.id_columns | {item_column or ""}, scales, options, trials.notes)
    _tell(judged, item_column, options, trials.notes)
    units = len(judged) + sum(trials.set_aside.values()) + trials.bad_units
    several = any(not isinstance(found, AnswerFlaw) and len(found) > 1 for found in answers)
    return Reading(
        frame,
        lambda row: judged[row].row.place,
        units_in=units,
        unit="answers and rows" if several else "rows",
        set_aside=trials.set_aside,
        bad_units=trials.bad_units,
        problems=trials.problems,
        notes=list(dict.fromkeys(trials.notes + trials.annotators.notes())),
        participants=people_of(trials.rows, background),
        scales=scales or None,
    )


def _item_column(rows: Sequence[TrialRow], options: Options) -> str | None:
    """The column that names the item: told, or the first by its name that is filled anywhere."""
    filled = {name for row in rows for name in row.values if cell(row.values, name) is not None}
    told = options.mapping.get("item")
    if told and told in filled:
        return told
    named = {plain_name(name): name for name in sorted(filled, reverse=True)}
    return next((named[name] for name in ITEM_COLUMNS if name in named), None)


class _Displays:
    """Which screens were ever answered: what nobody answered, and was not meant to be, is no judgment."""

    def __init__(
        self,
        rows: Sequence[TrialRow],
        answers: Sequence[list[JsPsychAnswer | Aside] | AnswerFlaw],
        item_column: str | None,
    ) -> None:
        self.answered: set[Display] = set()
        self.items: set[tuple[str | None, str]] = set()
        self.shown: Counter[tuple[str | None, Display]] = Counter()
        given = [
            one
            for found in answers
            if not isinstance(found, AnswerFlaw)
            for one in found
            if isinstance(one, JsPsychAnswer)
        ]
        keys = {one.response.lower() for one in given if one.kind == "key" and one.response}
        self.keys_only_go_on = keys <= set(GO_ON_KEYS) and any(one.kind != "key" for one in given)
        for row, found in zip(rows, answers, strict=True):
            if isinstance(found, AnswerFlaw) or not any(isinstance(one, JsPsychAnswer) for one in found):
                continue
            display = self.of(row)
            self.shown[row.participant, display] += 1
            if any(isinstance(one, JsPsychAnswer) and one.response is not None for one in found):
                self.answered.add(display)
                item = text(cell(row.values, item_column)) if item_column else None
                if item:
                    self.items.add((row.participant, item))

    @staticmethod
    def of(row: TrialRow) -> Display:
        """The screen of a row."""
        return trial_type(row.values), stimulus(row)

    def reason(self, row: TrialRow, item: str | None) -> Message | None:
        """Why a row without an answer is no judgment; None where it is a missing answer."""
        display = self.of(row)
        if display in self.answered:
            return None
        elsewhere = item is not None and (row.participant, item) in self.items
        if not re.search(r"\w", display[1]) and (display[1] or item is None or elsewhere):
            return FIXATIONS
        return UNANSWERED if elsewhere or self.shown[row.participant, display] > 1 else None


def stimulus(row: TrialRow) -> str:
    """The words on the screen, or the name of the picture, recording or film."""
    return plain_html(text(cell(row.values, "stimulus")) or "")


def _judge(
    row: TrialRow, answer: JsPsychAnswer, item_column: str | None, displays: _Displays, options: Options
) -> Judged | Aside | AnswerFlaw:
    given = cell(row.values, item_column) if item_column else None
    item = text(given)
    if answer.kind == "key" and answer.response is not None and displays.keys_only_go_on:
        return Aside(KEYS_TO_GO_ON)
    if answer.kind != "page" and answer.response is None:
        reason = displays.reason(row, item)
        if reason:
            return Aside(reason)
    if item_column and item is None:
        return Aside(SURVEY_WITHOUT_ITEM if answer.kind == "page" else SCREEN_WITHOUT_ITEM)
    item = item or (answer.name if answer.kind == "page" else _sides(row) or stimulus(row))
    if not item:
        fix = "Say which column tells the item: --map item=NAME."
        return AnswerFlaw("there is neither an item nor a stimulus", fix, "stimulus", "")
    taken = cell(row.values, "rt")
    rt = as_number(text(taken) or "")
    if taken is not None and rt is None:
        fix = "Write milliseconds, or leave the cell empty where no time was taken."
        return AnswerFlaw("is not a number", fix, "rt", text(taken) or "")
    return Judged(row, answer, item, rt if rt is None or options.rt_unit == "s" else rt / 1000)


def _sides(row: TrialRow) -> str | None:
    """A choice between two items judges their pair, whichever side each stood on."""
    sides = [text(cell(row.values, side)) for side in ("left", "right")]
    return ":".join(sorted(side for side in sides if side)) if all(sides) else None


def _ask(judged: Sequence[Judged], item_column: str | None, trials: JsPsychTrials) -> None:
    """Give answers their question where there are several: on a page, or because of several kinds of answers."""
    names = {one.answer.name for one in judged if one.answer.kind == "page"}
    kinds = {one.answer.kind for one in judged}
    for one in judged:
        if item_column and len(names) > 1:
            one.question = one.answer.name
        if one.question is None and len(kinds) > 1:
            one.question = QUESTION_OF_KIND[one.answer.kind]
    if len(kinds) > 1:
        ways = sorted(QUESTION_OF_KIND[kind] for kind in kinds)
        trials.notes.append(Message("jspsych.ways", {"n": len(ways), "ways": ways}))


def _order(judged: Sequence[Judged], rows: Sequence[TrialRow], trials: JsPsychTrials) -> None:
    """Number each participant's judgments by trial_index, or by their order in the file where that starts again."""
    of_participant: dict[str | None, list[TrialRow]] = {}
    for row in rows:
        of_participant.setdefault(row.participant, []).append(row)
    answers: dict[int, list[Judged]] = {}
    for one in judged:
        answers.setdefault(id(one.row), []).append(one)
    again = []
    for participant, own in of_participant.items():
        indices = [as_number(text(cell(row.values, "trial_index")) or "") for row in own]
        known = [index for index in indices if index is not None]
        if len(set(known)) == len(own):
            own = [row for _, row in sorted(zip(known, own, strict=True), key=lambda pair: pair[0])]
        elif len(set(known)) < len(known) and participant:
            again.append(participant)
        position = 0
        for row in own:
            for place, one in enumerate(answers.get(id(row), [])):
                # Questions about one item share its trial; items on one page follow each other.
                shares = one.question is not None and one.question == one.answer.name
                position += 1 if place == 0 or not shares else 0
                one.trial = position
    if again:
        trials.notes.append(Message("jspsych.starts_again", {"names": listed(again, most=5)}))


def _tell(judged: Sequence[Judged], item_column: str | None, options: Options, notes: list[Message]) -> None:
    """Say what was assumed about items, answers and times."""
    if any(one.rt is not None for one in judged) and options.rt_unit is None:
        notes.append(Message("jspsych.milliseconds"))
    timed = [id(one.row) for one in judged if one.rt is not None]
    if len(set(timed)) < len(timed):
        notes.append(Message("jspsych.page_times"))
    kinds = {one.answer.kind for one in judged}
    if item_column:
        if item_column not in ("item", options.mapping.get("item")):
            notes.append(Message("item.column", {"column": item_column}))
    elif kinds:
        if kinds == {"page"}:
            notes.append(Message("jspsych.items_by_question"))
        else:
            by_both = "page" in kinds
            notes.append(Message("jspsych.items_by_either" if by_both else "jspsych.items_by_stimulus"))
    if any(one.answer.kind == "button" and one.answer.response and one.answer.index is None for one in judged):
        notes.append(Message("jspsych.button_positions"))
    if any(one.answer.index is not None for one in judged):
        notes.append(Message("jspsych.button_labels"))
    if any(trial_type(one.row.values) == "survey-likert" for one in judged):
        notes.append(Message("jspsych.likert_from_zero"))
