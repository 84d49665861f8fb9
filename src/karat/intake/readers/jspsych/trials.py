"""The rows of jsPsych data from all files as one table of judgments, with participants and scales.

Rows of all files are evaluated together: a display that a participant did not answer is a missing answer if another
participant answered it, and not a judgment if nobody did.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import table_of
from karat.intake.content import BESIDE_TEST, ITEM_IDS, function_named_in, function_word, functions_in, without_speakers
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
from karat.judgments.checks import Place, frame_row
from karat.judgments.columns import COLUMNS, FUNCTIONS
from karat.judgments.message_tables import listed
from karat.judgments.scales import Nominal, Ordinal, Scale, as_number
from karat.messages import Message

ITEM_COLUMNS = (*ITEM_IDS, "sentence")
QUESTION_OF_KIND = {"button": "button", "key": "key", "slider": "slider", "page": "survey", "other": "other"}
CONTINUE_BUTTONS = Message("aside.continue_buttons")
LEADING_WORDS = re.compile(
    r"(?i)\b(instructions?|consent|welcome|thank(s| you)|debrief\w*|click (on )?(the )?(button|next|continue)|"
    r"practice is over|you('re| are) done|completion code|press (the )?(button|any key|space)|ready to (start|begin)|"
    r"correct response|begin the experiment|take a (short )?break|anweisung\w*|einverständnis\w*|vielen dank|"
    r"willkommen|merci|gracias|grazie|obrigad[oa]|bedankt|teşekkür\w*)\b"
)
"""Words on screens that only lead to the next one."""
LONGEST_NAME = 40
"""A question with a longer name is the judged text."""
GO_ON_KEYS = ("space", "enter")
"""Keys that only continue, if other responses exist and no other key is ever pressed."""
FIXATIONS = Message("aside.fixations")
UNANSWERED = Message("aside.unanswered_displays")
KEYS_TO_GO_ON = Message("aside.continue_keys")
SURVEY_WITHOUT_ITEM = Message("aside.survey_without_item")
SCREEN_WITHOUT_ITEM = Message("aside.screen_without_item")
Display = tuple[str, str]
"""A plugin and the words on the screen."""


@dataclass
class TrialRow:
    """A row of data, with its place and its participant."""

    values: dict[str, Any]
    place: Place
    participant: str | None = None
    asked: str | None = None
    """The words of a screen that asks about the one before, whose other values the row has then."""


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
    """The words on the screen, if the item has another name."""


@dataclass
class JsPsychTrials(Reading):
    """A reading of which only the rows, the notes and the problems are known yet."""

    frame: pl.DataFrame = field(default_factory=pl.DataFrame)
    locate: Callable[[int], Place] = frame_row
    units_in: int = 0
    rows: list[TrialRow] = field(default_factory=list)
    id_columns: set[str] = field(default_factory=set)
    """The columns that identified the participant."""
    annotators: Annotators = field(default_factory=Annotators)

    def refuse(self, place: Place, flaw: AnswerFlaw) -> None:
        """Note an unreadable answer."""
        self.problems.at(place, flaw.what, flaw.fix, flaw.column, flaw.value)
        self.bad_units += 1


def reading_of(trials: JsPsychTrials, options: Options) -> Reading:
    """The judgments among the rows; everything else is set aside by its reason."""
    item_column = column_of("item", trials.rows, options)
    answers = [answers_of(row.values) for row in trials.rows]
    _take_over_screens(trials, answers, item_column)
    displays = _Displays(trials.rows, answers, item_column)
    judged: list[Judged] = []
    background: dict[str, dict[str, str]] = {}
    for row, outcome in zip(trials.rows, answers, strict=True):
        if isinstance(outcome, AnswerFlaw):
            trials.refuse(row.place, outcome)
            continue
        for answer in outcome:
            if isinstance(answer, Aside):
                trials.set_apart(answer.reason)
                if answer.name and answer.value and row.participant:
                    background.setdefault(row.participant, {})[answer.name] = answer.value
                continue
            judgment = _judge(row, answer, item_column, displays, options)
            if isinstance(judgment, Judged):
                judged.append(judgment)
            elif isinstance(judgment, AnswerFlaw):
                trials.refuse(row.place, judgment)
            else:
                trials.set_apart(judgment.reason)
    if displays.left_out:
        trials.notes.append(Message("jspsych.without_item", {"n": displays.left_out, "column": item_column}))
    if not options.keep_all:
        judged = _judgments_only(judged, background, trials)
    questions = _items_of_pages(judged, item_column, trials, options)
    _name_items(judged, item_column, trials)
    _name_questions(judged, item_column, trials)
    _order(judged, trials.rows, trials)
    scales = scales_of(judged, options, trials.notes)
    frame = frame_of(judged, trials.id_columns | {item_column or ""}, scales, options, trials.notes)
    _note_assumptions(judged, item_column, options, trials.notes)
    trials.frame, trials.locate, trials.scales = frame, lambda row: judged[row].row.place, scales or None
    trials.units_in = len(judged) + sum(trials.set_aside.values()) + trials.bad_units
    if any(not isinstance(outcome, AnswerFlaw) and len(outcome) > 1 for outcome in answers):
        trials.unit = "answers and rows"
    trials.notes = list(dict.fromkeys(trials.notes + trials.annotators.notes()))
    trials.participants, trials.open = people_of(trials.rows, background), questions
    return trials


FEWEST_ASKED = 3
MOST_REPEATED = 1.5


def _take_over_screens(
    trials: JsPsychTrials, answers: Sequence[list[JsPsychAnswer | Aside] | AnswerFlaw], item_column: str | None
) -> None:
    """Give screens that always ask the same the values of the screens before them, which showed what they ask about.

    Such screens recur, have no item of their own and different answers, and the screens before them differ.
    """
    given: dict[Display, set[str]] = {}
    rows: dict[Display, list[TrialRow]] = {}
    for row, outcome in zip(trials.rows, answers, strict=True):
        named = item_column and text(cell(row.values, item_column))
        own = [] if isinstance(outcome, AnswerFlaw) or named else outcome
        responses = {answer.response or "" for answer in own if isinstance(answer, JsPsychAnswer)}
        if responses:
            rows.setdefault(_Displays.of(row), []).append(row)
            given.setdefault(_Displays.of(row), set()).update(responses)
    people = {kind: len({row.participant for row in asking}) for kind, asking in rows.items()}
    recurring = {kind for kind, asking in rows.items() if len(asking) >= FEWEST_ASKED * people[kind]}
    asking = {id(row): kind for kind in recurring if len(given[kind] - {""}) > 1 for row in rows[kind]}
    shown: dict[str | None, TrialRow] = {}
    before: dict[Display, list[tuple[TrialRow, TrialRow]]] = {}
    for row in trials.rows:
        kind = asking.get(id(row))
        if kind is None and re.search(r"\w", stimulus(row)):
            shown[row.participant] = row
        elif kind is not None and row.participant in shown:
            before.setdefault(kind, []).append((row, shown[row.participant]))
    for kind, pairs in before.items():
        screens = {(row.participant, stimulus(screen)) for row, screen in pairs}
        if len(pairs) > MOST_REPEATED * len(screens) or len(screens) < FEWEST_ASKED * people[kind]:
            continue
        trials.notes.append(Message("jspsych.screens_before", {"n": len(pairs), "question": kind[1] or kind[0]}))
        for row, screen in pairs:
            row.asked = kind[1]
            filled = {name for name, value in row.values.items() if text(value) and name != "stimulus"}
            row.values |= {name: screen.values[name] for name in screen.values if name not in (*filled, *CONSUMED)}


MOST_QUESTIONS = 3
"""A page with more questions may hold items."""


def _items_of_pages(
    judged: Sequence[Judged], item_column: str | None, trials: JsPsychTrials, options: Options
) -> list[Question]:
    """Name items by the columns that distinguish pages, if pages recur or each participant had one page.

    So are screens named that all show the same words, such as a question about a sentence in a column.

    Returns the questions about these columns for the user.
    """
    counts = Counter((entry.row.participant, entry.answer.name) for entry in judged)
    recur = 2 * sum(count > 1 for count in counts.values()) > len(counts)
    people, pages = {entry.row.participant for entry in judged}, {id(entry.row) for entry in judged}
    single = len(people) == len(pages) > 1 and len({entry.answer.name for entry in judged}) <= MOST_QUESTIONS
    own_pages = all(entry.answer.kind == "page" and entry.row.asked is None for entry in judged)
    same_screen = len({entry.item for entry in judged}) == 1 and len(pages) > len(people)
    if item_column or not (same_screen or (own_pages and (recur or single))):
        return []
    columns = _own_columns(judged, trials.id_columns, options, [])
    parts = joined(options.mapping.get("item", ""), list(columns))
    questions: list[Question] = []
    if "item" not in options.mapping and columns:
        answers = {
            "participant": [entry.row.participant for entry in judged],
            "response": [entry.answer.response for entry in judged],
            "question": [entry.answer.name for entry in judged],
        }
        parts, questions = shown_items(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)), answers)
    if not parts or not set(parts) <= set(columns):
        return []
    several = len({entry.answer.name for entry in judged}) > 1
    for entry, *values in zip(judged, *(columns[part] for part in parts), strict=True):
        entry.item = " + ".join(value for value in values if value) or entry.item
        entry.question = entry.answer.name if several else None
    return questions


def _judgments_only(
    judged: Sequence[Judged], background: dict[str, dict[str, str]], trials: JsPsychTrials
) -> list[Judged]:
    """The judgments without questionnaires and screens that only lead to the next one.

    A page is a questionnaire if it also asks for age or gender, or if its questions occur once per participant while
    other answers recur. Buttons only continue if all participants always pressed the same one; so do screens with
    words of instructions.
    """
    questionnaires = {(row.participant, index) for index, row in enumerate(trials.rows) if _asks_for_background(row)}
    pages = {id(trials.rows[index]) for _, index in questionnaires}
    buttons = {entry.answer.response for entry in judged if entry.answer.kind == "button" and not entry.answer.levels}
    others = {entry.answer.kind for entry in judged if entry.answer.kind != "button"}
    recurring = _recurring(judged)
    judgments = []
    if all(
        entry.answer.kind == "page" and (id(entry.row) in pages or (recurring and _key(entry) not in recurring))
        for entry in judged
    ):
        return list(judged)
    for entry in judged:
        kind = entry.answer.kind
        if kind == "page" and (id(entry.row) in pages or (recurring and _key(entry) not in recurring)):
            trials.set_apart(BACKGROUND)
            name, who = entry.answer.name, entry.row.participant
            if name and who and entry.answer.response and not asks_for_a_person(name) and len(name) <= LONGEST_NAME:
                background.setdefault(who, {})[name] = entry.answer.response
        elif (kind == "button" and (others or not recurring) and len(buttons) == 1 and not entry.answer.levels) or (
            kind in ("button", "key")
            and recurring
            and _key(entry) not in recurring
            and LEADING_WORDS.search(stimulus(entry.row))
        ):
            trials.set_apart(CONTINUE_BUTTONS)
        else:
            judgments.append(entry)
    if len(judgments) < len(judged):
        trials.notes.append(Message("jspsych.judgments_only", {"n": len(judged) - len(judgments)}))
    return judgments


def _asks_for_background(row: TrialRow) -> bool:
    """Whether a page asks for the participant's background, perhaps among other questions."""
    if trial_type(row.values) not in PAGES:
        return False
    column = "response" if cell(row.values, "response") is not None else "responses"
    response = nested(cell(row.values, column))
    return isinstance(response, dict) and any(describes_a_person(name) for name in response)


def _key(entry: Judged) -> tuple[str, str]:
    """The key by which answers recur: the question of a page, or the kind of screen."""
    kind = trial_type(entry.row.values)
    is_text = len(entry.answer.name or "") > LONGEST_NAME
    return kind, "" if entry.answer.kind != "page" or is_text else entry.answer.name or ""


def _recurring(judged: Sequence[Judged]) -> set[tuple[str, str]]:
    """The questions and kinds of screens that some participant answered several times."""
    counts = Counter((entry.row.participant, _key(entry)) for entry in judged)
    items = {(entry.row.participant, entry.item) for entry in judged}
    several = len(items) > len({entry.row.participant for entry in judged})
    return {key for (_, key), count in counts.items() if count > 1} if several else set()


def _name_items(judged: Sequence[Judged], item_column: str | None, trials: JsPsychTrials) -> None:
    """Name items by the words on the screen, without speakers if these are random for each participant."""
    if item_column:
        return
    for entry in judged:
        if entry.answer.kind == "page" and entry.item == entry.answer.name:
            entry.item = plain_html(entry.item) or entry.item
    names = without_speakers([entry.item for entry in judged])
    if names is None:
        return
    for entry, item in zip(judged, names, strict=True):
        entry.text, entry.item = entry.item, item
    trials.notes.append(Message("item.without_speakers", {"n": len(set(names))}))


def column_of(role: str, rows: Sequence[TrialRow], options: Options) -> str | None:
    """The column of participants or items: the mapped one, or the first column with a known name and some value."""
    filled = {name for row in rows for name in row.values if text(cell(row.values, name))}
    mapped = options.mapping.get(role)
    if mapped in filled:
        return mapped
    by_plain_name = {plain_name(name): name for name in sorted(filled, reverse=True)}
    candidates = ID_COLUMNS if role == "participant" else ITEM_COLUMNS
    return next((by_plain_name[name] for name in candidates if name in by_plain_name), None)


class _Displays:
    """The screens with answers; a screen that nobody answered or was to answer is not a judgment."""

    def __init__(
        self,
        rows: Sequence[TrialRow],
        answers: Sequence[list[JsPsychAnswer | Aside] | AnswerFlaw],
        item_column: str | None,
    ) -> None:
        self.answered: set[Display] = set()
        self.items: set[tuple[str | None, str]] = set()
        self.responses_to_items: dict[str, set[str | None]] = {}
        """The responses on screens with an item, by plugin."""
        self.left_out = 0
        """The answers like those to items on screens without an item."""
        self.shown: Counter[tuple[str | None, Display]] = Counter()
        responses = [
            answer
            for outcome in answers
            if not isinstance(outcome, AnswerFlaw)
            for answer in outcome
            if isinstance(answer, JsPsychAnswer)
        ]
        keys = {answer.response.lower() for answer in responses if answer.kind == "key" and answer.response}
        self.keys_only_go_on = keys <= set(GO_ON_KEYS) and any(answer.kind != "key" for answer in responses)
        buttons = {answer.response for answer in responses if answer.kind == "button"}
        self.buttons_only_go_on = len(buttons) == 1 and any(answer.kind != "button" for answer in responses)
        for row, outcome in zip(rows, answers, strict=True):
            if isinstance(outcome, AnswerFlaw) or not any(isinstance(answer, JsPsychAnswer) for answer in outcome):
                continue
            display = self.of(row)
            self.shown[row.participant, display] += 1
            if any(isinstance(answer, JsPsychAnswer) and answer.response is not None for answer in outcome):
                self.answered.add(display)
                item = text(cell(row.values, item_column)) if item_column else None
                if item:
                    self.items.add((row.participant, item))
                    given = self.responses_to_items.setdefault(display[0], set())
                    given |= {answer.response for answer in outcome if isinstance(answer, JsPsychAnswer)}

    @staticmethod
    def of(row: TrialRow) -> Display:
        """The screen of a row."""
        return trial_type(row.values), stimulus(row)

    def reason(self, row: TrialRow, item: str | None) -> Message | None:
        """The reason why a row without an answer is not a judgment; None if it is a missing answer."""
        display = self.of(row)
        if display in self.answered:
            return None
        elsewhere = item is not None and (row.participant, item) in self.items
        if not re.search(r"\w", display[1]) and (display[1] or item is None or elsewhere):
            return FIXATIONS
        return UNANSWERED if elsewhere or self.shown[row.participant, display] > 1 else None

    def asks_like_items(self, row: TrialRow, answer: JsPsychAnswer) -> bool:
        """Whether a screen without an item asks for the answers that items get, as fillers without a number do."""
        kind, words = self.of(row)
        responses = self.responses_to_items.get(kind)
        possible = responses is not None and (answer.kind == "slider" or answer.response in {None, *responses})
        return possible and answer.kind != "page" and bool(words) and not LEADING_WORDS.search(words)


def stimulus(row: TrialRow) -> str:
    """The words on the screen, or the name of the picture, recording or film."""
    return plain_html(text(cell(row.values, "stimulus")) or "")


def _judge(
    row: TrialRow, answer: JsPsychAnswer, item_column: str | None, displays: _Displays, options: Options
) -> Judged | Aside | AnswerFlaw:
    item_cell = cell(row.values, item_column) if item_column else None
    item = text(item_cell)
    if answer.kind == "key" and answer.response is not None and displays.keys_only_go_on:
        return Aside(KEYS_TO_GO_ON)
    if answer.kind != "page" and answer.response is None:
        reason = displays.reason(row, item)
        if reason:
            return Aside(reason)
    if item_column and item is None:
        similar = displays.asks_like_items(row, answer)
        if not similar or _named_function(row) is None:
            displays.left_out += similar
            return Aside(SURVEY_WITHOUT_ITEM if answer.kind == "page" else SCREEN_WITHOUT_ITEM)
    own_page = answer.kind == "page" and row.asked is None
    item = item or (answer.name if own_page else _sides(row) or stimulus(row))
    if not item and answer.kind == "button" and displays.buttons_only_go_on:
        return Aside(CONTINUE_BUTTONS)
    if not item:
        fix = "Use --map item=NAME to name the column of the item."
        return AnswerFlaw("there is neither an item nor a stimulus", fix, "stimulus", "")
    time = cell(row.values, "rt")
    rt = as_number(text(time) or "")
    if time is not None and rt is None:
        fix = "Write milliseconds, or leave the cell empty where no time was taken."
        return AnswerFlaw("is not a number", fix, "rt", text(time) or "")
    return Judged(row, answer, item, rt if rt is None or options.rt_unit == "s" else rt / 1000)


def _named_function(row: TrialRow) -> str | None:
    """The item function that a column of the study names in a row."""
    words = (function_word(text(cell(row.values, name)) or "") for name in row.values if plain_name(name) in OF_KINDS)
    return next((word for word in words if word in BESIDE_TEST), None)


def _sides(row: TrialRow) -> str | None:
    """The pair of items in a choice, regardless of their sides; None for other rows."""
    sides = [text(cell(row.values, side)) for side in ("left", "right")]
    return ":".join(sorted(side for side in sides if side)) if all(sides) else None


def _name_questions(judged: Sequence[Judged], item_column: str | None, trials: JsPsychTrials) -> None:
    """Set the questions of answers if there are several, on a page or because of several kinds of answers."""
    names = {entry.answer.name for entry in judged if entry.answer.kind == "page"}
    kinds = {entry.answer.kind for entry in judged}
    several = len({entry.row.asked for entry in judged}) > 1
    for entry in judged:
        if several and entry.row.asked:
            entry.question = entry.row.asked
        if item_column and len(names) > 1:
            entry.question = entry.answer.name
        if entry.question is None and len(kinds) > 1:
            entry.question = QUESTION_OF_KIND[entry.answer.kind]
    if len(kinds) > 1:
        ways = sorted(QUESTION_OF_KIND[kind] for kind in kinds)
        trials.notes.append(Message("jspsych.ways", {"n": len(ways), "ways": ways}))


def _order(judged: Sequence[Judged], rows: Sequence[TrialRow], trials: JsPsychTrials) -> None:
    """Number each participant's judgments by trial_index, or by their order in the file if the index restarts."""
    of_participant: dict[str | None, list[TrialRow]] = {}
    for row in rows:
        of_participant.setdefault(row.participant, []).append(row)
    answers: dict[int, list[Judged]] = {}
    for entry in judged:
        answers.setdefault(id(entry.row), []).append(entry)
    restarted = []
    for participant, of_person in of_participant.items():
        indices = [as_number(text(cell(row.values, "trial_index")) or "") for row in of_person]
        numbers = [index for index in indices if index is not None]
        if len(set(numbers)) == len(of_person):
            of_person = [row for _, row in sorted(zip(numbers, of_person, strict=True), key=lambda pair: pair[0])]
        elif len(set(numbers)) < len(numbers) and participant:
            restarted.append(participant)
        position = 0
        for row in of_person:
            for place, entry in enumerate(answers.get(id(row), [])):
                # Questions about one item share its trial; items on one page follow each other.
                shares = entry.question is not None and entry.question == entry.answer.name
                position += 1 if place == 0 or not shares else 0
                entry.trial = position
    if restarted:
        trials.notes.append(Message("jspsych.starts_again", {"names": listed(restarted, most=5)}))


def _note_items(judged: Sequence[Judged], item_column: str | None, options: Options, notes: list[Message]) -> None:
    """Note what became the item."""
    if item_column:
        if item_column not in ("item", options.mapping.get("item")):
            notes.append(Message("item.column", {"column": item_column}))
        unnamed = sum(not text(cell(entry.row.values, item_column)) for entry in judged)
        if unnamed:
            notes.append(Message("jspsych.fillers_by_stimulus", {"n": unnamed, "column": item_column}))
        return
    by_question = any(entry.item in (name := entry.answer.name or "", plain_html(name)) for entry in judged)
    by_screen = any((entry.text or entry.item) in (stimulus(entry.row), _sides(entry.row)) for entry in judged)
    if by_question and by_screen:
        notes.append(Message("jspsych.items_by_either"))
    elif by_question or by_screen:
        notes.append(Message("jspsych.items_by_question" if by_question else "jspsych.items_by_stimulus"))


def _note_assumptions(
    judged: Sequence[Judged], item_column: str | None, options: Options, notes: list[Message]
) -> None:
    """Note the assumptions about items, answers and times."""
    if any(entry.rt is not None for entry in judged) and options.rt_unit is None:
        notes.append(Message("jspsych.milliseconds"))
    timed = [id(entry.row) for entry in judged if entry.rt is not None]
    if len(set(timed)) < len(timed):
        notes.append(Message("jspsych.page_times"))
    _note_items(judged, item_column, options, notes)
    if any(entry.answer.kind == "button" and entry.answer.response and entry.answer.index is None for entry in judged):
        notes.append(Message("jspsych.button_positions"))
    if any(entry.answer.index is not None for entry in judged):
        notes.append(Message("jspsych.button_labels"))
    if any(trial_type(entry.row.values) == "survey-likert" for entry in judged):
        notes.append(Message("jspsych.likert_from_zero"))


MOST_COLUMNS = 2000
MOST_POINTS = 11
CONSUMED = (
    "rt", "response", "responses", "button_pressed", "key_press", "internal_node_id", "plugin_version",
    "extension_type", "extension_version", "question_order",
)  # fmt: skip
KIND_COLUMNS = (*TASK_COLUMNS, "type", "itemtype", "stimulustype", "stimtype", "sentencetype", "trialfunction")
"""Columns in which studies name the kinds of trials."""
OF_KINDS = (*KIND_COLUMNS, "condition", "cond", "category", "label", "block", "section", "function")
"""Columns in which fillers without an item number are named as such."""
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
"""Answers that karat interprets better than as names."""


FEWEST_PAIRS = 4


def frame_of(
    judged: Sequence[Judged], used: set[str], scales: Mapping[str, Scale], options: Options, notes: list[Message]
) -> pl.DataFrame:
    """The judgments as a table; `used` are the columns that became participant and item."""
    frame = pl.DataFrame(
        {
            "participant": [entry.row.participant for entry in judged],
            "item": [entry.item for entry in judged],
            "question": [entry.question for entry in judged],
            "response": [entry.answer.response for entry in judged],
            "trial": [entry.trial for entry in judged],
            "rt": [entry.rt for entry in judged],
        },
        schema={"participant": pl.String, "item": pl.String, "question": pl.String, "response": pl.String,
                "trial": pl.Int64, "rt": pl.Float64},
    )  # fmt: skip
    if any(entry.text for entry in judged):
        frame = frame.with_columns(pl.Series("text", [entry.text for entry in judged], dtype=pl.String))
    if frame["question"].null_count() == frame.height:
        frame = frame.drop("question")
    if any(entry.answer.index is not None for entry in judged):
        indices = [entry.answer.index for entry in judged]
        frame = frame.with_columns(pl.Series("response_index", indices, dtype=pl.Int64, strict=False))
    pairs = [tuple(entry.answer.levels) for entry in judged]
    distinct = {frozenset(pair) for pair in pairs}
    if len(distinct) >= FEWEST_PAIRS and {len(pair) for pair in pairs} == {len(pair) for pair in distinct} == {2}:
        # Each trial has two different buttons, so they are the options of a choice.
        frame = frame.with_columns(pl.Series(s, [pair[at] for pair in pairs]) for at, s in enumerate(("left", "right")))
    of_study = _own_columns(judged, used, options, notes)
    expected = _expected(judged, of_study, scales, options, notes)
    if expected:
        frame = frame.with_columns(pl.Series("expected", expected, dtype=pl.String))
    frame = frame.with_columns(_functions(of_study, notes))
    return frame.with_columns(_named(frame.columns, of_study, notes))


def _own_columns(
    judged: Sequence[Judged], used: set[str], options: Options, notes: list[Message]
) -> dict[str, list[str | None]]:
    """The study's columns that describe the judgments, as text."""
    mapped = set(options.mapping.values())
    names = dict.fromkeys(name for entry in judged for name in entry.row.values)
    if len(names) > MOST_COLUMNS:
        raise IntakeError(f"The data have {len(names):,} different columns, such as {text(next(iter(names)))}.")
    personal = [name for name in names if names_a_person(name)]
    notes += left_out_note([text(name) or "" for name in personal])
    columns: dict[str, list[str | None]] = {}
    for name in names:
        if name in personal or (name not in mapped and (name in CONSUMED or name in used)):
            continue
        values = [text(cell(entry.row.values, name)) for entry in judged]
        if any(values) and (name in mapped or not _of_people(name, judged, values)):
            columns[name] = values
    return columns


def _of_people(name: str, judged: Sequence[Judged], values: Sequence[str | None]) -> bool:
    """Whether a column describes participants, by its name and with constant values within participants."""
    if plain_name(name) not in OF_PEOPLE:
        return False
    first: dict[str | None, str | None] = {}
    return all(
        first.setdefault(entry.row.participant, value) == value for entry, value in zip(judged, values, strict=True)
    )


def _expected(
    judged: Sequence[Judged], columns: dict[str, list[str | None]], scales: Mapping[str, Scale], options: Options,
    notes: list[Message],
) -> list[str | None]:  # fmt: skip
    """The right answers, if the study has them in the spelling of the answers."""
    name = next((name for wanted in EXPECTED for name in columns if plain_name(name) == wanted), None)
    if name is None or "expected" in options.mapping:
        return []
    expected = [_respelled(entry, value) for entry, value in zip(judged, columns[name], strict=True)]
    spellings: dict[str, set[str | None]] = {}
    for entry in judged:
        levels = getattr(scales.get(entry.question or ""), "levels", ())
        spellings.setdefault(entry.question or "", {None, *levels}).add(entry.answer.response)
    if options.scale is None and any(
        value not in spellings[entry.question or ""] for entry, value in zip(judged, expected, strict=True)
    ):
        values = {"column": name, "source": f"{name}_" if name in COLUMNS else name}
        notes.append(Message("jspsych.expected_refused", values))
        return []
    notes.append(Message("jspsych.expected", {"column": name}))
    del columns[name]
    return expected


def _functions(columns: Mapping[str, list[str | None]], notes: list[Message]) -> list[pl.Series]:
    """The functions of items, if a column of the study names them and none is called function."""
    if "function" in columns:
        return []
    for name in sorted(columns, key=lambda name: plain_name(name) not in KIND_COLUMNS):
        is_kind, values = plain_name(name) in KIND_COLUMNS, columns[name]
        # In other columns, such as a condition called filler, only few levels and plain words count.
        functions = (
            [function_named_in(value or "") for value in values] if is_kind
            else functions_in([values], ["test"] * len(values))
        )  # fmt: skip
        if set(functions) - {"test"} if is_kind else set(functions) & set(BESIDE_TEST):
            notes.append(Message("jspsych.function", {"column": name}))
            return [pl.Series("function", functions, dtype=pl.String)]
    return []


def _respelled(entry: Judged, value: str | None) -> str | None:
    """A right answer in the spelling of the answers: the label of a button for its position, the name of a key."""
    if entry.answer.kind == "key":
        return key_name(value, is_code="key_press" in entry.row.values)
    position = as_number(value or "")
    labels = entry.answer.levels
    if entry.answer.kind == "button" and position in range(len(labels)) and value not in labels:
        return labels[int(position or 0)]
    return value


def _named(reserved: Sequence[str], values_of: dict[str, list[str | None]], notes: list[Message]) -> list[pl.Series]:
    """The study's columns under their names, with an underscore if karat uses a name for something else."""
    columns: list[pl.Series] = []
    names_in_use = set(reserved)
    renamed = []
    for name, values in values_of.items():
        new = text(name) or "unnamed"
        if new in COLUMNS and not _fits(new, values):
            new += "_"
            renamed.append(new)
        while new in names_in_use:
            new += "_"
        names_in_use.add(new)
        column = pl.Series(new, values, dtype=pl.String)
        columns.append(column if new in COLUMNS else typed_column(column))
    if renamed:
        names = [name[:-1] for name in renamed]
        notes.append(Message("jspsych.renamed", {"n": len(names), "names": names, "columns": renamed,
                                                 "name": names[0], "column": renamed[0]}))  # fmt: skip
    return columns


def _fits(name: str, values: Sequence[str | None]) -> bool:
    """Whether a column of the study fits karat's column of the same name."""
    shapes: dict[str, Callable[[str | None], bool]] = {
        "function": lambda value: (value or "").lower() in FUNCTIONS,
        "polarity": lambda value: value in (None, "1", "-1"),
        "repetition": lambda value: value is None or (value.isdecimal() and 0 < len(value) < 10 and int(value) > 0),
    }
    if name in ("subgroup", "status", "list", "block", "session", "pair", "left", "right"):
        return True
    return name in shapes and all(shapes[name](value) for value in values)


def people_of(rows: Sequence[TrialRow], background: Mapping[str, Mapping[str, str]]) -> pl.DataFrame | None:
    """One row per participant, with working time, background answers and device."""
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
    return table_of(people.values(), {"working_time": pl.Float64()}) if people else None


def scales_of(judged: Sequence[Judged], options: Options, notes: list[Message]) -> dict[str, Scale]:
    """The scales of questions with the same buttons in all rows, or with points counted from 0."""
    if options.scale or options.answers or {"response", "question"} & set(options.mapping):
        return {}
    return _counted_from_zero(judged, notes) | _labelled(judged, notes)


def _counted_from_zero(judged: Sequence[Judged], notes: list[Message]) -> dict[str, Scale]:
    """The scales of button positions and survey-likert points, which begin at 0 even if nobody chose the first."""
    points: dict[str, list[float | None]] = {}
    for entry in judged:
        from_zero = entry.answer.kind == "button" or trial_type(entry.row.values) == "survey-likert"
        if entry.answer.response is not None:
            points.setdefault(entry.question or "", []).append(as_number(entry.answer.response) if from_zero else None)
    scales: dict[str, Scale] = {}
    for question, numbers in points.items():
        whole = [point for point in numbers if point is not None and point == int(point)]
        if len(whole) == len(numbers) and min(whole) > 0 and 2 <= max(whole) < MOST_POINTS:
            high = int(max(whole))
            scales[question] = Ordinal(range(high + 1))
            notes.append(
                Message("jspsych.points_from_zero", {"question": question or None, "high": high, "next": high + 1})
            )
    return scales


def _labelled(judged: Sequence[Judged], notes: list[Message]) -> dict[str, Scale]:
    scales: dict[str, Scale] = {}
    levels: dict[str, tuple[str, ...] | None] = {}
    for entry in judged:
        question, buttons = entry.question or "", entry.answer.levels
        first = levels.setdefault(question, buttons)
        is_constant = bool(first) and set(first or ()) == set(buttons) and entry.answer.response in (None, *buttons)
        levels[question] = first if is_constant else None
    for question, labels in levels.items():
        if not labels or "" in labels or any({label.lower() for label in labels} <= words for words in GUESSED_WORDS):
            continue
        numbers = [as_number(label) for label in labels]
        points = [number for number in numbers if number is not None]
        if len(set(points)) == len(labels):
            scales[question] = Ordinal([label for _, label in sorted(zip(points, labels, strict=True))])
        else:
            scales[question] = Nominal(labels)
            if len(labels) > 2:
                notes.append(Message("jspsych.categories", {"labels": list(labels), "levels": ",".join(labels)}))
    return scales
