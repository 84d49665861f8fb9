"""The rows of jsPsych data, from one file or many, as one table of judgments with its people and scales.

Whatever file the rows come from, they are judged together: a display that one participant did not answer is a missing
answer where another answered it, and no judgment where nobody ever did.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.errors import IntakeError, Problems
from karat.intake.content import BESIDE_TEST, ITEM_IDS, function_named_in, functions_in, without_speakers
from karat.intake.guess import joined
from karat.intake.personal import Annotators, asks_for_a_person, describes_a_person, left_out_note, names_a_person
from karat.intake.readers.generic import typed_column
from karat.intake.readers.jspsych.answers import (
    BACKGROUND,
    PAGES,
    TASK_COLUMNS,
    AnswerFlaw,
    Aside,
    JsPsychAnswer,
    answers_of,
    cell,
    key_name,
    nested,
    plain_html,
    plain_name,
    text,
    trial_type,
)
from karat.intake.reading import Options, Question, Reading
from karat.intake.roles import shown_items
from karat.judgments.checks import Place
from karat.judgments.columns import COLUMNS, FUNCTIONS
from karat.judgments.message_tables import listed
from karat.judgments.scales import Nominal, Ordinal, Scale, as_number
from karat.messages import Message

ITEM_COLUMNS = (*ITEM_IDS, "sentence")
QUESTION_OF_KIND = {"button": "button", "key": "key", "slider": "slider", "page": "survey", "other": "other"}
CONTINUE_BUTTONS = Message("aside.continue_buttons")
LEADS_ON = re.compile(
    r"(?i)\b(instructions?|consent|welcome|thank(s| you)|debrief\w*|click (on )?(the )?(button|next|continue)|"
    r"practice is over|you('re| are) done|completion code|press (the )?(button|any key|space)|ready to (start|begin)|"
    r"correct response|begin the experiment|take a (short )?break|anweisung\w*|einverständnis\w*|vielen dank|"
    r"willkommen|merci|gracias|grazie|obrigad[oa]|bedankt|teşekkür\w*)\b"
)
"""Words of screens that only lead on."""
LONGEST_NAME = 40
"""A longer name of a question is the text that was judged."""
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
    text: str | None = None
    """The words on the screen, where the item is named otherwise."""


@dataclass
class JsPsychTrials:
    """The rows so far, and what was said about them."""

    rows: list[TrialRow] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    bad_units: int = 0
    set_aside: dict[Message, int] = field(default_factory=dict)
    id_columns: set[str] = field(default_factory=set)
    """The columns that identified the participant."""
    annotators: Annotators = field(default_factory=Annotators)

    def set_apart(self, reason: Message) -> None:
        """Count a unit that is not a judgment."""
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
    item_column = column_of("item", trials.rows, options)
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
    if not options.keep_all:
        judged = _judgments_only(judged, background, trials)
    asked = _items_of_pages(judged, item_column, trials, options)
    _name_items(judged, item_column, trials)
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
        open=asked,
    )


MOST_QUESTIONS = 3
"""A page with more questions may hold items."""


def _items_of_pages(
    judged: Sequence[Judged], item_column: str | None, trials: JsPsychTrials, options: Options
) -> list[Question]:
    """Name what was judged where a page comes again, or everybody had one page: it asks about what it showed.

    Returns what to ask about the columns that tell the pages apart.
    """
    counts = Counter((one.row.participant, one.answer.name) for one in judged)
    again = 2 * sum(count > 1 for count in counts.values()) > len(counts)
    people, pages = {one.row.participant for one in judged}, {id(one.row) for one in judged}
    single = len(people) == len(pages) > 1 and len({one.answer.name for one in judged}) <= MOST_QUESTIONS
    if item_column or any(one.answer.kind != "page" for one in judged) or not (again or single):
        return []
    own = _own_columns(judged, trials.id_columns, options, [])
    parts = joined(options.mapping.get("item", ""), list(own))
    questions: list[Question] = []
    if "item" not in options.mapping and own:
        answers = {
            "participant": [one.row.participant for one in judged],
            "response": [one.answer.response for one in judged],
            "question": [one.answer.name for one in judged],
        }
        parts, questions = shown_items(pl.DataFrame(own, schema=dict.fromkeys(own, pl.String)), answers)
    if not parts or not set(parts) <= set(own):
        return []
    several = len({one.answer.name for one in judged}) > 1
    for one, *shown in zip(judged, *(own[part] for part in parts), strict=True):
        one.item = " + ".join(value for value in shown if value) or one.item
        one.question = one.answer.name if several else None
    return questions


def _judgments_only(
    judged: Sequence[Judged], background: dict[str, dict[str, str]], trials: JsPsychTrials
) -> list[Judged]:
    """Without questionnaires, and without screens that only lead on.

    A page that also asks for age or gender is a questionnaire, and so is one whose questions come once per participant
    where other answers recur. Buttons lead on where everybody always pressed the same one, and so do screens with the
    words of instructions.
    """
    about = {(row.participant, index) for index, row in enumerate(trials.rows) if _asks_for_background(row)}
    pages = {id(trials.rows[index]) for _, index in about}
    buttons = {one.answer.response for one in judged if one.answer.kind == "button" and not one.answer.levels}
    others = {one.answer.kind for one in judged if one.answer.kind != "button"}
    recurring = _recurring(judged)
    kept = []
    if all(
        one.answer.kind == "page" and (id(one.row) in pages or (recurring and _key(one) not in recurring))
        for one in judged
    ):
        return list(judged)
    for one in judged:
        kind = one.answer.kind
        if kind == "page" and (id(one.row) in pages or (recurring and _key(one) not in recurring)):
            trials.set_apart(BACKGROUND)
            name, who = one.answer.name, one.row.participant
            if name and who and one.answer.response and not asks_for_a_person(name) and len(name) <= LONGEST_NAME:
                background.setdefault(who, {})[name] = one.answer.response
        elif (kind == "button" and (others or not recurring) and len(buttons) == 1 and not one.answer.levels) or (
            kind in ("button", "key")
            and recurring
            and _key(one) not in recurring
            and LEADS_ON.search(stimulus(one.row))
        ):
            trials.set_apart(CONTINUE_BUTTONS)
        else:
            kept.append(one)
    if len(kept) < len(judged):
        trials.notes.append(Message("jspsych.judgments_only", {"n": len(judged) - len(kept)}))
    return kept


def _asks_for_background(row: TrialRow) -> bool:
    """Whether a page asks for what describes a person, beside anything else."""
    if trial_type(row.values) not in PAGES:
        return False
    column = "response" if cell(row.values, "response") is not None else "responses"
    given = nested(cell(row.values, column))
    return isinstance(given, dict) and any(describes_a_person(name) for name in given)


def _key(one: Judged) -> tuple[str, str]:
    """What recurs: the question of a page, or the kind of screen."""
    kind = trial_type(one.row.values)
    is_text = len(one.answer.name or "") > LONGEST_NAME
    return kind, "" if one.answer.kind != "page" or is_text else one.answer.name or ""


def _recurring(judged: Sequence[Judged]) -> set[tuple[str, str]]:
    """The questions and kinds of screens that some participant answered several times."""
    counts = Counter((one.row.participant, _key(one)) for one in judged)
    items = {(one.row.participant, one.item) for one in judged}
    several = len(items) > len({one.row.participant for one in judged})
    return {key for (_, key), count in counts.items() if count > 1} if several else set()


def _name_items(judged: Sequence[Judged], item_column: str | None, trials: JsPsychTrials) -> None:
    """Items by the words on the screen, without the names of speakers where these are drawn anew for everybody."""
    if item_column:
        return
    for one in judged:
        if one.answer.kind == "page" and one.item == one.answer.name:
            one.item = plain_html(one.item) or one.item
    known = without_speakers([one.item for one in judged])
    if known is None:
        return
    for one, item in zip(judged, known, strict=True):
        one.text, one.item = one.item, item
    trials.notes.append(Message("item.without_speakers", {"n": len(set(known))}))


def column_of(role: str, rows: Sequence[TrialRow], options: Options) -> str | None:
    """The column of the participants' ids, or of the item: given, or the first by its name that is filled anywhere."""
    filled = {name for row in rows for name in row.values if text(cell(row.values, name))}
    mapped = options.mapping.get(role)
    if mapped in filled:
        return mapped
    named = {plain_name(name): name for name in sorted(filled, reverse=True)}
    known = ID_COLUMNS if role == "participant" else ITEM_COLUMNS
    return next((named[name] for name in known if name in named), None)


class _Displays:
    """Which screens were ever answered: what nobody answered, and was not meant to be, is not a judgment."""

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
        buttons = {one.response for one in given if one.kind == "button"}
        self.buttons_only_go_on = len(buttons) == 1 and any(one.kind != "button" for one in given)
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
        """Why a row without an answer is not a judgment; None where it is a missing answer."""
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
    if not item and answer.kind == "button" and displays.buttons_only_go_on:
        return Aside(CONTINUE_BUTTONS)
    if not item:
        fix = "Use --map item=NAME to name the column of the item."
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
            if any(one.item in (name := one.answer.name or "", plain_html(name)) for one in judged):
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


MOST_COLUMNS = 2000
MOST_POINTS = 11
READ_AWAY = (
    "rt", "response", "responses", "button_pressed", "key_press", "internal_node_id", "plugin_version",
    "extension_type", "extension_version", "question_order",
)  # fmt: skip
KIND_COLUMNS = (*TASK_COLUMNS, "type", "itemtype", "stimulustype", "stimtype", "sentencetype", "trialfunction")
"""Columns in which studies say what kind of trial a trial is."""
OF_PEOPLE = (
    "studyid", "sessionid", "useragent", "browser", "browserversion", "os", "device", "platform", "platformversion",
    "mobile", "recordedat", "source", "locale",
)  # fmt: skip
ID_COLUMNS = (
    "prolificpid", "prolificid", "subjectid", "participantid", "participant", "subject", "subjid", "workerid",
    "worker", "participantcode", "ppt", "ppid", "pid", "sonaid", "userid", "runid",
)  # fmt: skip
EXPECTED = ("expected", "correctresponse", "correctanswer", "correctkey", "expectedanswer")
GUESSED_WORDS = ({"no", "yes"}, {"left", "right", "none"}, {"true", "false"}, {"0", "1"})
"""Answers that karat understands better than as names."""


FEWEST_PAIRS = 4


def frame_of(
    judged: Sequence[Judged], used: set[str], scales: Mapping[str, Scale], options: Options, notes: list[Message]
) -> pl.DataFrame:
    """The judgments as a table; `used` are the columns that became participant and item."""
    frame = pl.DataFrame(
        {
            "participant": [one.row.participant for one in judged],
            "item": [one.item for one in judged],
            "question": [one.question for one in judged],
            "response": [one.answer.response for one in judged],
            "trial": [one.trial for one in judged],
            "rt": [one.rt for one in judged],
        },
        schema={"participant": pl.String, "item": pl.String, "question": pl.String, "response": pl.String,
                "trial": pl.Int64, "rt": pl.Float64},
    )  # fmt: skip
    if any(one.text for one in judged):
        frame = frame.with_columns(pl.Series("text", [one.text for one in judged], dtype=pl.String))
    if frame["question"].null_count() == frame.height:
        frame = frame.drop("question")
    if any(one.answer.index is not None for one in judged):
        indices = [one.answer.index for one in judged]
        frame = frame.with_columns(pl.Series("response_index", indices, dtype=pl.Int64, strict=False))
    pairs = [tuple(one.answer.levels) for one in judged]
    shown = {frozenset(pair) for pair in pairs}
    if len(shown) >= FEWEST_PAIRS and {len(pair) for pair in pairs} == {len(pair) for pair in shown} == {2}:
        # Every trial has two buttons of its own: they are what was chosen between.
        frame = frame.with_columns(pl.Series(s, [pair[at] for pair in pairs]) for at, s in enumerate(("left", "right")))
    own = _own_columns(judged, used, options, notes)
    expected = _expected(judged, own, scales, options, notes)
    if expected:
        frame = frame.with_columns(pl.Series("expected", expected, dtype=pl.String))
    frame = frame.with_columns(_functions(own, notes))
    return frame.with_columns(_named(frame.columns, own, notes))


def _own_columns(
    judged: Sequence[Judged], used: set[str], options: Options, notes: list[Message]
) -> dict[str, list[str | None]]:
    """The study's columns that say something about the judgments, as text."""
    mapped = set(options.mapping.values())
    names = dict.fromkeys(name for one in judged for name in one.row.values)
    if len(names) > MOST_COLUMNS:
        raise IntakeError(f"The data have {len(names):,} different columns, such as {text(next(iter(names)))}.")
    personal = [name for name in names if names_a_person(name)]
    notes += left_out_note([text(name) or "" for name in personal])
    own: dict[str, list[str | None]] = {}
    for name in names:
        if name in personal or (name not in mapped and (name in READ_AWAY or name in used)):
            continue
        values = [text(cell(one.row.values, name)) for one in judged]
        if any(values) and (name in mapped or not _of_people(name, judged, values)):
            own[name] = values
    return own


def _of_people(name: str, judged: Sequence[Judged], values: Sequence[str | None]) -> bool:
    """Whether a column describes people: by its name, and the same for all answers of a person."""
    if plain_name(name) not in OF_PEOPLE:
        return False
    first: dict[str | None, str | None] = {}
    return all(first.setdefault(one.row.participant, value) == value for one, value in zip(judged, values, strict=True))


def _expected(
    judged: Sequence[Judged], own: dict[str, list[str | None]], scales: Mapping[str, Scale], options: Options,
    notes: list[Message],
) -> list[str | None]:  # fmt: skip
    """The right answers, where the study wrote them in the spelling of the answers."""
    name = next((name for wanted in EXPECTED for name in own if plain_name(name) == wanted), None)
    if name is None or "expected" in options.mapping:
        return []
    expected = [_respelled(one, value) for one, value in zip(judged, own[name], strict=True)]
    known: dict[str, set[str | None]] = {}
    for one in judged:
        levels = getattr(scales.get(one.question or ""), "levels", ())
        known.setdefault(one.question or "", {None, *levels}).add(one.answer.response)
    if options.scale is None and any(
        value not in known[one.question or ""] for one, value in zip(judged, expected, strict=True)
    ):
        values = {"column": name, "source": f"{name}_" if name in COLUMNS else name}
        notes.append(Message("jspsych.expected_refused", values))
        return []
    notes.append(Message("jspsych.expected", {"column": name}))
    del own[name]
    return expected


def _functions(own: Mapping[str, list[str | None]], notes: list[Message]) -> list[pl.Series]:
    """Practice items and fillers, where a column of the study names them and none is called function."""
    if "function" in own:
        return []
    for name in sorted(own, key=lambda name: plain_name(name) not in KIND_COLUMNS):
        is_kind, values = plain_name(name) in KIND_COLUMNS, own[name]
        # Elsewhere, as in a condition that is called filler, only few levels and plain words count.
        functions = (
            [function_named_in(value or "") for value in values] if is_kind
            else functions_in([values], ["test"] * len(values))
        )  # fmt: skip
        if set(functions) - {"test"} if is_kind else set(functions) & set(BESIDE_TEST):
            notes.append(Message("jspsych.function", {"column": name}))
            return [pl.Series("function", functions, dtype=pl.String)]
    return []


def _respelled(one: Judged, value: str | None) -> str | None:
    """A right answer as the answers are spelled: the label of a button for its position, the name of a key."""
    if one.answer.kind == "key":
        return key_name(value, is_code="key_press" in one.row.values)
    position = as_number(value or "")
    labels = one.answer.levels
    if one.answer.kind == "button" and position in range(len(labels)) and value not in labels:
        return labels[int(position or 0)]
    return value


def _named(taken: Sequence[str], own: dict[str, list[str | None]], notes: list[Message]) -> list[pl.Series]:
    """The study's columns under their names; a trailing underscore where karat means something else by a name."""
    columns: list[pl.Series] = []
    used = set(taken)
    changed = []
    for name, values in own.items():
        new = text(name) or "unnamed"
        if new in COLUMNS and not _fits(new, values):
            new += "_"
            changed.append(new)
        while new in used:
            new += "_"
        used.add(new)
        column = pl.Series(new, values, dtype=pl.String)
        columns.append(column if new in COLUMNS else typed_column(column))
    if changed:
        names = [name[:-1] for name in changed]
        notes.append(Message("jspsych.renamed", {"n": len(names), "names": names, "columns": changed,
                                                 "name": names[0], "column": changed[0]}))  # fmt: skip
    return columns


def _fits(name: str, values: Sequence[str | None]) -> bool:
    """Whether a column of the study is karat's column of the same name."""
    shapes: dict[str, Callable[[str | None], bool]] = {
        "function": lambda value: (value or "").lower() in FUNCTIONS,
        "polarity": lambda value: value in (None, "1", "-1"),
        "repetition": lambda value: value is None or (value.isdecimal() and 0 < len(value) < 10 and int(value) > 0),
    }
    if name in ("subgroup", "status", "list", "block", "session", "pair", "left", "right"):
        return True
    return name in shapes and all(shapes[name](value) for value in values)


def people_of(rows: Sequence[TrialRow], background: Mapping[str, Mapping[str, str]]) -> pl.DataFrame | None:
    """One row per participant: the time that they worked, their background answers, their device."""
    people: dict[str, dict[str, Any]] = {}
    for row in rows:
        if not row.participant:
            continue
        person = people.setdefault(row.participant, {"participant": row.participant, "working_time": None})
        elapsed = as_number(text(cell(row.values, "time_elapsed")) or "")
        if elapsed is not None and elapsed >= 0:
            person["working_time"] = max(person["working_time"] or 0.0, elapsed / 1000)
        for name in row.values:
            if plain_name(name) in OF_PEOPLE and text(cell(row.values, name)):
                person.setdefault(text(name) or "unnamed", text(cell(row.values, name)))
    for participant, answers in background.items():
        for name, value in answers.items():
            people[participant].setdefault(name, value)
    if not people:
        return None
    names = dict.fromkeys(name for person in people.values() for name in person)
    types = {name: pl.Float64() if name == "working_time" else pl.String() for name in names}
    return pl.DataFrame([{name: person.get(name) for name in names} for person in people.values()], schema=types)


def scales_of(judged: Sequence[Judged], options: Options, notes: list[Message]) -> dict[str, Scale]:
    """The scales of the questions whose rows all tell the same buttons, or whose points are counted from 0."""
    if options.scale or options.answers or {"response", "question"} & set(options.mapping):
        return {}
    return _counted_from_zero(judged, notes) | _labelled(judged, notes)


def _counted_from_zero(judged: Sequence[Judged], notes: list[Message]) -> dict[str, Scale]:
    """Positions of buttons and points of survey-likert begin at 0, also where nobody chose the first."""
    points: dict[str, list[float | None]] = {}
    for one in judged:
        counted = one.answer.kind == "button" or trial_type(one.row.values) == "survey-likert"
        if one.answer.response is not None:
            points.setdefault(one.question or "", []).append(as_number(one.answer.response) if counted else None)
    scales: dict[str, Scale] = {}
    for question, given in points.items():
        known = [point for point in given if point is not None and point == int(point)]
        if len(known) == len(given) and min(known) > 0 and 2 <= max(known) < MOST_POINTS:
            most = int(max(known))
            scales[question] = Ordinal(range(most + 1))
            notes.append(
                Message("jspsych.points_from_zero", {"question": question or None, "high": most, "next": most + 1})
            )
    return scales


def _labelled(judged: Sequence[Judged], notes: list[Message]) -> dict[str, Scale]:
    scales: dict[str, Scale] = {}
    levels: dict[str, tuple[str, ...] | None] = {}
    for one in judged:
        question, own = one.question or "", one.answer.levels
        first = levels.setdefault(question, own)
        whole = bool(first) and set(first or ()) == set(own) and one.answer.response in (None, *own)
        levels[question] = first if whole else None
    for question, labels in levels.items():
        if not labels or "" in labels or any({label.lower() for label in labels} <= words for words in GUESSED_WORDS):
            continue
        numbers = [as_number(label) for label in labels]
        known = [number for number in numbers if number is not None]
        if len(set(known)) == len(labels):
            scales[question] = Ordinal([label for _, label in sorted(zip(known, labels, strict=True))])
        else:
            scales[question] = Nominal(labels)
            if len(labels) > 2:
                notes.append(Message("jspsych.categories", {"labels": list(labels), "levels": ",".join(labels)}))
    return scales
