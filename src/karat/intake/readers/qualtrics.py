"""Qualtrics: a wide table below three header rows with export tags, question texts and import ids.

Each cell of a question becomes a judgment. Questions that share a scale (the rows of a matrix, the rounds of a loop,
tags with one stem, the same answer texts) are one question for karat; others describe the participant.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, islice, takewhile

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import (
    ORDER,
    ROW,
    all_numbers,
    is_free_text,
    is_true,
    judged_batteries,
    numbers_or_text,
    one_row_each,
    own_name,
    respelled,
    stacked,
    texts,
)
from karat.intake.content import function_named_in
from karat.intake.guess import MOST_ORDINAL_POINTS, joined, plain
from karat.intake.personal import (
    asks_for_a_person,
    asks_for_consent,
    describes_a_person,
    is_platform_flag,
    left_out_note,
    names_a_person,
)
from karat.intake.reading import Options, Proposal, Question, Reader, Reading
from karat.intake.roles import ANSWER_WORDS
from karat.judgments.message_tables import listed
from karat.judgments.scales import as_number
from karat.judgments.source import SourceFile
from karat.judgments.tables import FileTable, delimiter_of, header_of, read_table
from karat.judgments.times import instants
from karat.messages import Message


def display_positions(body: pl.DataFrame, survey: Survey) -> dict[str, pl.Series]:
    """The position of each question for each participant, by tag; empty if there is no display order.

    Questions are in the order of the columns. A display order gives the order in which some of them were shown: these
    exchange their positions accordingly.
    """
    orders = _orders(body, survey)
    if not orders:
        return {}
    tags = [column.tag for column in survey.judged]
    trials: dict[str, list[int]] = {tag: [] for tag in tags}
    for row in range(body.height):
        sequence = list(tags)
        for shown in orders:
            _reorder(sequence, shown[row])
        for position, tag in enumerate(sequence, start=1):
            trials[tag].append(position)
    return {tag: pl.Series("trial", numbers, dtype=pl.Int64) for tag, numbers in trials.items()}


def _orders(body: pl.DataFrame, survey: Survey) -> list[list[list[str]]]:
    """For each display order that names questions, each participant's tags in the order of presentation."""
    whole: list[list[list[str]]] = []
    parts: dict[str, dict[str, str]] = {}
    for name in survey.orders:
        match = ORDER_TAG.fullmatch(name)
        if match and match["part"]:
            parts.setdefault(match["what"], {})[match["part"]] = name
        elif match:
            names = _tags_by_name(survey.judged, match["what"])
            cells = body[name].to_list()
            whole.append([_tags((cell or "").split("|"), names) for cell in cells])
    for what, columns in parts.items():
        names = _tags_by_name(survey.judged, what)
        ranks = body.select(pl.col(column).cast(pl.Float64, strict=False) for column in columns.values())
        whole.append([_tags(_by_rank(list(columns), row), names) for row in ranks.iter_rows()])
    return [order for order in whole if any(len(tags) > 1 for tags in order)]


def _by_rank(parts: Sequence[str], ranks: Sequence[float | None]) -> list[str]:
    """The parts in the order of their positions, for exports with one column per part."""
    ranked = [(rank, index) for index, rank in enumerate(ranks) if rank is not None and rank == rank]
    return [parts[index] for _, index in sorted(ranked)]


def _tags_by_name(columns: Sequence[QualtricsColumn], what: str) -> dict[str, list[str]]:
    """The tags of the questions by the names that a display order may use: tag, id or row of a matrix."""
    names: dict[str, list[str]] = {}
    for column in columns:
        spellings = {column.tag, column.base, column.root}
        if what in (column.base, column.root) and column.row:
            spellings = {column.row, column.row_text}
        for name in spellings:
            names.setdefault(name, []).append(column.tag)
    return names


def _tags(parts: Sequence[str], names: dict[str, list[str]]) -> list[str]:
    return list(dict.fromkeys(tag for part in parts for tag in names.get(part.strip(), [])))


def _reorder(sequence: list[str], shown: Sequence[str]) -> None:
    places = sorted(sequence.index(tag) for tag in shown)
    for place, tag in zip(places, shown, strict=True):
        sequence[place] = tag


QUESTION_ID = re.compile(r"(?:(?P<loop>\w+?)_)?(?P<root>QID\d+(?:#\d+)?)(?:_(?P<row>.+))?")
TIME_ZONE = re.compile(r'"timeZone"\s*:\s*"([A-Za-z_/+\-0-9]+)"')
TIMING = ("First Click", "Last Click", "Page Submit", "Click Count")
ORDER_TAG = re.compile(r"(?P<what>.+)_DO(?:_(?P<part>.+))?")
ABOUT_RESPONSE = (
    "StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished", "RecordedDate",
    "ResponseId", "RecipientLastName", "RecipientFirstName", "RecipientEmail", "ExternalReference", "LocationLatitude",
    "LocationLongitude", "DistributionChannel", "UserLanguage",
)  # fmt: skip
CHANNELS = {
    "anonymous": "an anonymous link", "email": "email", "gl": "personal links", "qr": "a QR code",
    "social": "social media",
}  # fmt: skip
"""The ways of invitation, as a report words them; other channels keep their names."""
TAG = re.compile(rf"(?:(?P<loop>\d{{1,3}})_)?(?P<base>.+?)(?:_(?P<row>(?:\d+_)?TEXT|\d+|{'|'.join(TIMING)}|DO.*))?")
FEWEST_OWN = 5
"""A table with this many of Qualtrics' own columns comes from Qualtrics."""
DEFAULT_STEM = "q"
YOURS = re.compile(r"(?i)\b(?:your|ihre?|deine?)\b")
FEWEST_MATES = 2
FEWEST_IN_BATTERY = 12
MOST_ASIDE = 3
LONGEST_QUESTION = 120
SHARED_ANSWERS = 2
"""Two columns that share this many answer texts are on one scale."""
UNANSWERED = "-99"
"""Qualtrics' mark for a question that was displayed but not answered."""


@dataclass
class QualtricsColumn:
    """A column of a question: its tag, its text and its question, row and loop."""

    tag: str
    text: str
    root: str
    row: str = ""
    loop: str = ""
    question: str = ""
    timer: str | None = None
    answers: list[str] = field(default_factory=list)

    @property
    def is_matrix(self) -> bool:
        """Whether the column is one of several rows of its question."""
        return bool(self.row)

    @property
    def is_about_the_person(self) -> bool:
        """Whether the tag or text of the question asks for the background: `gender`, `What is your age?`."""
        words = YOURS.split(self.text)[-1] if YOURS.search(self.text) else self.text
        if len(self.text) <= LONGEST_QUESTION and asks_for_consent(self.text):
            return True
        return any(describes_a_person(words) for words in (self.base, words, self.row_text))

    @property
    def base(self) -> str:
        """The tag of the question, without the row of a matrix and the round of a loop."""
        base = self.tag.removesuffix(f"_{self.row}") if self.row else self.tag
        return base.removeprefix(f"{self.loop}_") if self.loop else base

    @property
    def row_text(self) -> str:
        """The text of a row of a matrix, which follows the question's own text."""
        return self.text.rsplit(" - ", 1)[-1].strip()


@dataclass
class Survey:
    """All columns of an export by kind."""

    header: list[str]
    questions: list[QualtricsColumn] = field(default_factory=list)
    zone: str | None = None
    """The time zone of the export's dates."""
    cells: list[str] = field(default_factory=list)
    timers: dict[str, dict[str, str]] = field(default_factory=dict)
    rounds: dict[str, str] = field(default_factory=dict)
    """The round of a loop that each timing belongs to; empty outside of loops."""
    orders: list[str] = field(default_factory=list)
    embedded: list[str] = field(default_factory=list)
    contacts: list[str] = field(default_factory=list)
    judged: list[QualtricsColumn] = field(default_factory=list)
    background: list[QualtricsColumn] = field(default_factory=list)
    set_aside: dict[Message, list[str]] = field(default_factory=dict)
    notes: list[Message] = field(default_factory=list)
    open: list[Question] = field(default_factory=list)
    without_ids: bool = False
    """Whether the import ids were deleted, so that only tags and answers group questions."""
    used: bool = False
    """Whether the user has named the judgments."""

    def classify_columns(self, body: pl.DataFrame, options: Options) -> None:
        """Find the questions that ask for judgments, by the answers in their columns."""
        questions = []
        for column in self.questions:
            column.answers = [answer for answer in texts(body[column.tag]) if answer != UNANSWERED]
            reason = _no_judgment(column)
            if reason is not None:
                self.set_aside.setdefault(reason, []).append(column.tag)
            else:
                questions.append(column)
        groups = list(_groups([column for column in questions if not column.is_about_the_person]))
        batteries = _batteries([group for group in groups if len(group) > 1])
        in_groups = [column for group in batteries or groups for column in group] or questions
        self.judged = [column for column in questions if column in in_groups]
        self.background = [column for column in questions if column not in in_groups]
        batteries = [part for group in batteries for part in _asked_apart(group)]
        for group in batteries:
            others = [column.base for battery in batteries if battery is not group for column in battery]
            _name_group(group, {column.question for column in self.judged}, others)
        batteries = self._confirmed(batteries, options)
        for column in self.judged:
            column.question = column.question or column.base
        if len({column.question for column in self.judged}) > 1 and batteries:
            messages = [
                Message("qualtrics.group", {"question": group[0].question, "tags": listed([c.tag for c in group], 4)})
                for group in batteries
            ]
            self.notes.append(Message("qualtrics.groups", {"groups": messages}))
        elif self.judged:
            tags = listed([column.tag for column in self.judged], most=12)
            self.notes.append(Message("qualtrics.judgments", {"tags": tags}))
        self.notes += _assign_timers(self)

    def _confirmed(self, batteries: list[list[QualtricsColumn]], options: Options) -> list[list[QualtricsColumn]]:
        """The batteries that are judgments.

        The user has to confirm them if there are several long ones on different scales or if most questions are
        outside of batteries, and may also name tags.
        """
        mapped = joined(options.mapping.get("response", ""), self.header)
        mapped_columns = [column for column in (*self.judged, *self.background) if column.tag in mapped]
        if mapped_columns and len(mapped_columns) == len(mapped):
            self.background += [column for column in self.judged if column not in mapped_columns]
            self.background = [column for column in self.background if column not in mapped_columns]
            self.judged, self.used = [column for column in self.questions if column in mapped_columns], True
            return []
        single = [c for c in self.background if not c.is_about_the_person and len(c.answers) > 1]
        several_long = len(batteries) > 1 and sorted(map(len, batteries))[-2] >= FEWEST_IN_BATTERY
        fewest = FEWEST_IN_BATTERY if len(self.judged) > MOST_ASIDE else 0
        mostly_outside = len(batteries) > 0 and len(single) > max(fewest, len(self.judged))
        if not several_long and not mostly_outside and not self.without_ids and "response" not in options.mapping:
            return batteries
        named = {battery[0].question: battery for battery in batteries}
        answers = {name: sorted({word for column in named[name] for word in column.answers}) for name in named}
        proposed, self.open = judged_batteries(answers, {name: len(named[name]) for name in named}, options)
        self.used = joined(options.mapping.get("response", ""), list(answers)) == proposed
        if mostly_outside and not self.used and not self.open:
            detail = {"n": len(answers[proposed[0]]), "sample": answers[proposed[0]][:3]}
            choice = Proposal({"response": "+".join(proposed)}, Message("ask.response_choice", detail))
            self.open = [Question("response", (choice,))]
        others = [column for battery in batteries if battery[0].question not in proposed for column in battery]
        self.judged = [column for column in self.judged if column not in others]
        self.background += others
        return [battery for battery in batteries if battery[0].question in proposed]


def survey_of(tags: Sequence[str], labels: Sequence[str], identities: Sequence[str]) -> Survey:
    """The columns of a survey, by their import ids and tags."""
    survey = Survey(list(tags))
    for tag, label, cell in zip(tags, labels, identities, strict=True):
        match = QUESTION_ID.fullmatch(_import_id(cell))
        zone = TIME_ZONE.search(cell)
        survey.zone = survey.zone or (zone[1] if zone else None)
        if match:
            survey.cells.append(tag)
        base, _, kind = tag.rpartition("_")
        if ORDER_TAG.fullmatch(tag) and "_DO" in cell:
            survey.orders.append(tag)
            if match:
                survey.set_aside.setdefault(Message("aside.display_order_cells"), []).append(tag)
        elif match and kind in TIMING:
            survey.timers.setdefault(base, {})[kind] = tag
            survey.rounds[base] = match["loop"] or ""
            survey.set_aside.setdefault(Message("aside.timing_cells"), []).append(tag)
        elif match:
            text = " ".join(label.split())
            survey.questions.append(QualtricsColumn(tag, text, match["root"], match["row"] or "", match["loop"] or ""))
        elif tag not in ABOUT_RESPONSE:
            (survey.contacts if names_a_person(tag) else survey.embedded).append(tag)
    return survey


def _import_id(cell: str) -> str:
    try:
        identity = json.loads(cell)
    except (ValueError, RecursionError):
        return ""
    name = identity.get("ImportId") if isinstance(identity, dict) else None
    return name if isinstance(name, str) else ""


def _no_judgment(column: QualtricsColumn) -> Message | None:
    if names_a_person(column.tag):
        return Message("aside.personal_cells")
    if not column.answers:
        return Message("aside.unanswered_cells")
    is_text_entry = column.row.endswith("TEXT") or column.tag.endswith("_TEXT")
    if (is_text_entry and not all_numbers(column.answers)) or is_free_text(column.answers):
        return Message("aside.free_text_cells")
    if " - Selected Choice - " in column.text:
        return Message("aside.several_answer_cells")
    if asks_for_a_person(column.row_text) or _asks_who(column.text):
        return Message("aside.personal_cells")
    return None


def _asks_who(text: str) -> bool:
    """Whether a question asks for a name or an address; long texts may only mention one."""
    return len(text) <= LONGEST_QUESTION and asks_for_a_person(text)


def _batteries(groups: Sequence[list[QualtricsColumn]]) -> list[list[QualtricsColumn]]:
    """The groups without short ones that have different answers from a long battery of judgments."""
    longest = max(groups, key=len, default=[])
    if len(longest) < FEWEST_IN_BATTERY:
        return list(groups)
    answers = {answer for column in longest for answer in column.answers}
    return [
        group for group in groups
        if len(group) > MOST_ASIDE or {answer for column in group for answer in column.answers} <= answers
    ]  # fmt: skip


def _rounds(columns: Iterable[QualtricsColumn]) -> Iterator[list[QualtricsColumn]]:
    """The rounds of loops that ask several different questions about the same item."""
    for loop, columns_of_loop in groupby(columns, lambda column: column.loop):
        within = list(columns_of_loop)
        if loop and len({column.base for column in within}) == len(within) > 1:
            yield within


def _asked_apart(group: list[QualtricsColumn]) -> list[list[QualtricsColumn]]:
    """The group split by question, if each round of a loop asks several with the same answers."""
    if len({column.base for within in _rounds(group) for column in within}) < len({column.base for column in group}):
        return [group]
    return [[column for column in group if column.base == base] for base in {column.base: 0 for column in group}]


def _groups(columns: Sequence[QualtricsColumn]) -> Iterator[list[QualtricsColumn]]:
    """The groups of columns that share a scale."""
    group_of: dict[int, int] = {index: index for index in range(len(columns))}
    first_of: dict[str, int] = {}
    rows = Counter(column.row_text for column in columns if column.row and ":" in column.row_text)
    sizes = Counter((column.root, column.loop) for column in columns)
    for index, column in enumerate(columns):
        # A scale with two ends is labelled alike wherever it is used: bad:good.
        ends = [f"ends {column.row_text}"] if column.row and rows[column.row_text] > FEWEST_MATES else []
        for key in [*_keys(column, alone=sizes[column.root, column.loop] == 1), *ends]:
            first = first_of.setdefault(key, index)
            _join(group_of, first, index)
    worded = [index for index, column in enumerate(columns) if not all_numbers(column.answers)]
    vocabularies = {index: set(columns[index].answers) for index in worded}
    for position, index in enumerate(worded):
        for other in worded[:position]:
            if group_of[other] != group_of[index] and len(vocabularies[index] & vocabularies[other]) >= SHARED_ANSWERS:
                _join(group_of, other, index)
    _join_single_answers(group_of, vocabularies)
    for group in dict.fromkeys(group_of.values()):
        yield [columns[index] for index, number in group_of.items() if number == group]


def _join_single_answers(group_of: dict[int, int], vocabularies: dict[int, set[str]]) -> None:
    """Add questions that all participants answered alike to the group with that answer, if there is only one."""
    for index, words in vocabularies.items():
        if len(words) != 1 or list(group_of.values()).count(group_of[index]) > 1:
            continue
        mates = [other for other, options in vocabularies.items() if len(options) > 1 and words <= options
                 and list(group_of.values()).count(group_of[other]) > FEWEST_MATES]  # fmt: skip
        if len({group_of[other] for other in mates}) == 1:
            _join(group_of, mates[0], index)


def _join(group_of: dict[int, int], first: int, second: int) -> None:
    target, source = group_of[first], group_of[second]
    if target != source:
        group_of.update({index: target for index, group in group_of.items() if group == source})


QUOTED = re.compile(r"(?<!\w)(['\"‘“„«]).*?['\"’”“»](?!\w)")
FEWEST_WORDS = 4
FEWEST_PARTS = 2


def _keys(column: QualtricsColumn, *, alone: bool) -> list[str]:
    """The keys that a column shares with others on its scale, such as the question and the stem of the tag.

    A question with a slider has one row, and its column is `alone`.
    """
    keys = [f"question {column.root}"]
    stem = re.sub(r"[_\-. ]?\d+$", "", column.base.lower())
    # Qualtrics itself numbers questions: Q7, and Q2.7 by block.
    by_default = re.fullmatch(rf"{DEFAULT_STEM}\d*", stem) is not None
    if stem and not by_default and stem != column.base.lower():
        keys.append(f"stem {stem}")
    # Tags such as item3_a and item4_b belong to one battery, whatever their numbers and letters.
    pattern = re.sub(r"(?<=[_\-.])[a-z](?![a-z])", "@", re.sub(r"\d+", "#", column.base.lower()))
    if "#" in pattern and pattern.strip("#_-.@") not in ("", DEFAULT_STEM):
        keys.append(f"pattern {pattern}")
    # Tags such as dog_rating and cat_rating end in the question.
    parts = re.sub(r"_\d+$", "", column.base).split("_")
    if len(parts) > 1 and (parts[-1].lower() in (*ANSWER_WORDS, "conf", "confidence")) and not by_default:
        keys.append(f"{len(parts)} parts, ending {parts[-2] if len(parts) > FEWEST_PARTS else ''} {parts[-1]}")
    # Loops that ask the same about different words have one question per word: How tall is 'a giraffe'?
    wording = QUOTED.sub("", column.text.partition(" - ")[2].lower())
    if column.loop and len(wording.split()) >= FEWEST_WORDS:
        keys.append(f"wording {wording}")
    numbers = [as_number(answer) for answer in column.answers]
    points = [number for number in numbers if number is not None and 0 <= number <= MOST_ORDINAL_POINTS]
    whole = len(points) == len(numbers) and all(point == int(point) for point in points)
    if by_default and alone and not column.loop and whole:
        keys.append(f"points of a scale {stem}")
    return keys


def _name_group(group: Sequence[QualtricsColumn], taken: set[str], others: Sequence[str]) -> None:
    bases = list(dict.fromkeys(column.base for column in group))
    stems = {re.sub(r"[_\-. ]?\d+$", "", base) for base in bases}
    ends = min(bases), max(bases)
    end = next((at for at, (a, b) in enumerate(zip(*ends, strict=False)) if a != b), len(ends[0]))
    stem = re.sub(r"[\W\d_]+$", "", ends[0][:end])
    stem = "" if stem.lower() == DEFAULT_STEM else stem
    ending = _common_ending(stems)
    # V1_cause and V2_cause begin like V1_blame and V2_blame, and end in the question.
    stem = ending if ending and any(re.match(rf"{re.escape(stem)}[\W\d_]", base) for base in others) else stem or ending
    name = bases[0] if len(bases) == 1 else (stems.pop() or bases[0]) if len(stems) == 1 else stem or bases[0]
    while name in taken:
        name += "_"
    for column in group:
        column.question = name


def _common_ending(tags: Iterable[str]) -> str:
    """The last words that several tags have in common.

    >>> _common_ending(["dog_how_natural", "cat_how_natural"]), _common_ending(["dog_rating", "cat_grating"])
    ('how_natural', '')
    """
    reversed_parts = [tag.split("_")[::-1] for tag in tags]
    common = takewhile(lambda parts: len(set(parts)) == 1, zip(*reversed_parts, strict=False))
    return "_".join([parts[0] for parts in common][::-1])


def _assign_timers(survey: Survey) -> list[Message]:
    """Assign timings to questions by their names, or else by their places in the survey, and return a note."""
    if not survey.timers or not survey.judged:
        return []
    place = {tag: index for index, tag in enumerate(survey.header)}
    at = {timer: min(place[tag] for tag in parts.values()) for timer, parts in survey.timers.items()}
    unnamed = dict(at)
    for column in survey.judged:
        of_round = [timer for timer in at if survey.rounds[timer] == column.loop]
        column.timer = next((timer for timer in of_round if _names_of_columns(timer, column)), None)
        unnamed.pop(column.timer or "", None)
    rule = Message("qualtrics.timing_by_tag")
    without_timer = [column for column in survey.judged if column.timer is None]
    if unnamed and without_timer:
        first_place = min(place[column.tag] for column in without_timer)
        before = min(unnamed.values()) < first_place
        for loop in dict.fromkeys(column.loop for column in without_timer):
            timers = {timer: where for timer, where in unnamed.items() if survey.rounds[timer] == loop}
            _by_place([column for column in without_timer if column.loop == loop], timers, place, before)
        if len(without_timer) == len(survey.judged):
            rule = Message("qualtrics.timing_before" if before else "qualtrics.timing_after")
        else:
            rule = Message("qualtrics.timing_by_tag_or_before" if before else "qualtrics.timing_by_tag_or_after")
    pages = [sum(column.timer == timer for column in survey.judged) for timer in at]
    shared = Message("qualtrics.shared_pages") if max(pages) > 1 else None
    return [Message("qualtrics.timings", {"rule": rule, "shared": shared})]


def _names_of_columns(timer: str, column: QualtricsColumn) -> bool:
    return any(
        re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", timer) for name in (column.tag, column.base)
    )


def _by_place(columns: Sequence[QualtricsColumn], timers: dict[str, int], place: dict[str, int], before: bool) -> None:
    """Assign each question the nearest timing; the last one gets no more questions than the others."""
    pages: dict[str, list[QualtricsColumn]] = {timer: [] for timer in timers}
    for column in columns:
        at_column = place[column.tag]
        candidates = [timer for timer, at in timers.items() if (at < at_column) == before]
        if candidates:
            nearest = max(candidates, key=timers.__getitem__) if before else min(candidates, key=timers.__getitem__)
            pages[nearest].append(column)
    ordered = sorted(pages, key=timers.__getitem__, reverse=not before)
    most = max((len({c.root for c in pages[timer]}) for timer in ordered[:-1]), default=0)
    for timer, page in pages.items():
        roots = list(dict.fromkeys(column.root for column in page))
        if most and timer == ordered[-1]:
            roots = roots[:most] if before else roots[-most:]
        for column in page:
            column.timer = timer if column.root in roots else None


IMPORT_IDS = re.compile(r'\{\s*"{1,2}ImportId"{1,2}\s*:')
PERSONAL = (
    "IPAddress", "RecipientLastName", "RecipientFirstName", "RecipientEmail", "ExternalReference",
    "LocationLatitude", "LocationLongitude",
)  # fmt: skip
PERSON_IDS = ("PROLIFIC_PID", "prolific_pid", "PROLIFIC_ID", "prolific_id", "ProlificPID", "ProlificID")
PREVIEWS = ("Survey Preview", "Preview Spam", "Offline Preview", "1", "9", "17")
TESTS = ("Survey Test", "2")
DURATION = "Duration (in seconds)"
NOT_SHOWN, WHO, SESSION = " apart", " participant", " session"


def recognises(file: SourceFile) -> bool:
    """Whether the third header row has import ids; the texts above may be longer than a sample of the file."""
    header = _own_names(header_of(file))
    if _is_from_qualtrics(header):
        ids = [row[header.index("ResponseId")] for row in _rows(file) if len(row) == len(header)]
        return len(set(ids)) == len(ids)  # else each row is an answer, in a table made of an export
    named = "ResponseId" in header
    sampled = IMPORT_IDS.search(file.sample) is not None
    if named == sampled:
        return named
    third = _third_row(file)
    return 2 * sum(IMPORT_IDS.match(cell) is not None for cell in third) > len(third)


def _own_names(names: Sequence[str]) -> list[str]:
    """Column names as Qualtrics spells them."""
    timing = re.compile(rf"(?i)(?<=_)({'|'.join(TIMING)})$")
    spelled = respelled(names, ABOUT_RESPONSE)
    return [timing.sub(lambda match: match[0].title(), name) for name in spelled]


def _rows(file: SourceFile) -> list[list[str]]:
    """The rows in the sample of a file, except the last one, which may be incomplete."""
    try:
        rows = csv.reader(io.StringIO(file.sample, newline=""), delimiter=delimiter_of(file.sample))
        return list(rows)[:-1]
    except csv.Error:
        return []


def _third_row(file: SourceFile) -> list[str]:
    with io.TextIOWrapper(file.open(), encoding=file.encoding, errors="replace", newline="") as stream:
        try:
            return next(islice(csv.reader(stream, delimiter=delimiter_of(file.sample)), 2, None), [])
        except csv.Error:
            return []


def read_qualtrics(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read one export."""
    (file,) = files
    table = read_table(file, options.delimiter, options.sheet)
    table.frame.columns = _own_names(table.frame.columns)
    survey, first = _survey(table)
    body = table.frame.slice(first).with_row_index(ROW, first).with_columns(pl.col(ROW).cast(pl.Int64))
    reading = Reading(pl.DataFrame(), table.locate, units_in=0, unit="cells", notes=[*table.notes])
    reading.problems.extend(table.problems)
    broken = table.rows_in - table.frame.height
    reading.bad_units = broken * len(survey.cells)
    reading.units_in = (body.height + broken) * len(survey.cells)
    body = _without_previews(body, survey, reading)
    body = body.with_columns(_participant_ids(body, reading))
    unfinished = int((~is_true(body["Finished"])).sum()) if "Finished" in body.columns else 0
    if unfinished:
        reading.notes.append(Message("qualtrics.unfinished", {"n": unfinished}))
    survey.classify_columns(body, options)
    reading.open = survey.open
    reading.used = ("response",) if survey.used else ()
    _account(body, survey, reading)
    _judge(body, survey, reading)
    reading.participants = _people(body, survey, reading)
    return reading


def _survey(table: FileTable) -> tuple[Survey, int]:
    """The columns of an export, and the number of rows with texts and import ids below the tags.

    If the import ids were deleted, the tags group the questions.
    """
    frame = table.frame
    first = [[cell or "" for cell in row] for row in frame.head(2).rows()]
    if not _is_from_qualtrics(frame.columns) or any(IMPORT_IDS.search(cell) for row in first for cell in row):
        return survey_of(*_headers(table)), 2
    has_texts = bool(first) and any(map(lambda tag, text: plain(tag) == plain(text), frame.columns, first[0]))
    survey = survey_of(frame.columns, first[0] if has_texts else frame.columns, _ids_of_tags(frame.columns))
    survey.without_ids = True
    survey.notes.append(Message("qualtrics.no_import_ids"))
    return survey, int(has_texts)


def _is_from_qualtrics(names: Sequence[str]) -> bool:
    return "ResponseId" in names and sum(name in ABOUT_RESPONSE for name in names) >= FEWEST_OWN


def _ids_of_tags(tags: Sequence[str]) -> list[str]:
    """Import ids reconstructed from tags: round of a loop, question, row of a matrix."""
    numbers: dict[str, int] = {}
    matches = [None if tag in ABOUT_RESPONSE else TAG.fullmatch(tag) for tag in tags]
    for match in matches:
        if match:
            numbers.setdefault(match["base"], len(numbers) + 1)
    parts = [[match["loop"], f"QID{numbers[match['base']]}", match["row"]] if match else [] for match in matches]
    return [json.dumps({"ImportId": "_".join(filter(None, part))}) if part else "" for part in parts]


def _headers(table: FileTable) -> tuple[list[str], list[str], list[str]]:
    """Tags, texts and import ids."""
    frame = table.frame
    problem = f"{table.file.name} is not an export of Qualtrics with three header rows (tags, texts, import ids)."
    if frame.height < 2:
        raise IntakeError(f"{problem} Export it again as CSV or TSV, and leave the header rows as they are.")
    identities = [cell or "" for cell in frame.row(1)]
    if not any(IMPORT_IDS.match(cell) for cell in identities):
        raise IntakeError(f"{problem} The third row holds no import ids; leave the header rows as they are.")
    return frame.columns, [cell or "" for cell in frame.row(0)], identities


def _without_previews(body: pl.DataFrame, survey: Survey, reading: Reading) -> pl.DataFrame:
    """The responses without those from previews and tests of the survey."""
    empty = pl.Series([None] * body.height, dtype=pl.String)
    status = body["Status"].str.strip_chars() if "Status" in body.columns else empty
    preview = status.is_in(PREVIEWS).fill_null(False)
    if "DistributionChannel" in body.columns:
        preview = preview | (body["DistributionChannel"] == "preview").fill_null(False)
    test = status.is_in(TESTS).fill_null(False) & ~preview
    previews, tests = int(preview.sum()), int(test.sum())
    reading.set_apart(Message("aside.preview_cells"), previews * len(survey.cells))
    reading.set_apart(Message("aside.test_response_cells"), tests * len(survey.cells))
    if previews:
        reading.notes.append(Message("qualtrics.previews", {"n": previews}))
    if tests:
        reading.notes.append(Message("qualtrics.test_responses", {"n": tests}))
    return body.filter(~(preview | test))


def _participant_ids(body: pl.DataFrame, reading: Reading) -> list[pl.Series]:
    """The participant ids, and the number of each response if a participant responded several times."""
    name = next((name for name in PERSON_IDS if name in body.columns and body[name].null_count() < body.height), None)
    # Published exports may lack the ids. Then each row is a participant.
    row = pl.col("ResponseId") if "ResponseId" in body.columns else pl.int_range(1, pl.len() + 1).cast(pl.String)
    ids = body.select((pl.coalesce(name, row) if name else row).alias(WHO))[WHO]
    id_column = name or ("ResponseId" if "ResponseId" in body.columns else None)
    code = "participant.column" if id_column else "qualtrics.rows"
    reading.notes.append(Message(code, {"column": id_column} if id_column else {}))
    if name and body[name].null_count():
        reading.notes.append(Message("qualtrics.without_id", {"n": body[name].null_count(), "column": name}))
    repeated = int((ids.value_counts()["count"] > 1).sum())
    if not repeated:
        return [ids]
    reading.notes.append(Message("qualtrics.sessions", {"n": repeated}))
    nth = pl.DataFrame({"who": ids}).select(pl.int_range(1, pl.len() + 1).over("who").cast(pl.String).alias(SESSION))
    return [ids, nth[SESSION]]


def _account(body: pl.DataFrame, survey: Survey, reading: Reading) -> None:
    """Count the cells of columns without judgments."""
    for reason, columns in survey.set_aside.items():
        reading.set_apart(reason, body.height * len(columns))
    if survey.background:
        tags = [column.tag for column in survey.background]
        reading.set_apart(Message("aside.background_cells"), body.height * len(tags))
        reading.notes.append(Message("qualtrics.background", {"tags": listed(tags)}))
    reading.notes += left_out_note([name for name in (*PERSONAL, *survey.contacts) if name in body.columns])


def _judge(body: pl.DataFrame, survey: Survey, reading: Reading) -> None:
    judged = survey.judged
    positions = display_positions(body, survey)
    blocks = []
    embedded = _embedded(body, survey)
    several = len({column.question for column in judged}) > 1
    names, functions = _item_names(judged), _functions(judged)
    for order, column in enumerate(judged):
        block = body.select(
            ROW, pl.lit(order).alias(ORDER), pl.col(WHO).alias("participant"),
            pl.lit(names[column.tag]).alias("item"), _answer(column).alias("response"),
            *([pl.lit(column.question).alias("question")] if several else []),
            *([SESSION] if SESSION in body.columns else []),
            *_timing(column, survey, body),
            *([positions[column.tag]] if positions else []),
            *([pl.lit(functions[column.tag]).alias("function")] if functions else []),
            pl.lit(column.tag).alias("tag"), pl.lit(column.text).alias("text"),
            *([pl.lit(column.loop).alias("loop")] if column.loop else []),
            *embedded, (~_shown(column, survey)).alias(NOT_SHOWN),
        )  # fmt: skip
        blocks.append(block.rename({SESSION: "session"}, strict=False))
    frame, locate = stacked([block.filter(~pl.col(NOT_SHOWN)).drop(NOT_SHOWN) for block in blocks], reading.locate)
    empty = sum(int(block[NOT_SHOWN].sum()) for block in blocks)
    reading.set_apart(Message("aside.empty_cells"), empty)
    if positions:
        person = ["participant", "session"] if "session" in frame.columns else ["participant"]
        frame = frame.with_columns(pl.col("trial").rank("dense").over(person).cast(pl.Int64))
    reading.frame, reading.locate = frame, locate
    reading.notes += survey.notes
    if judged and not positions:
        reading.notes.append(Message("qualtrics.no_order"))


def _item_names(judged: Sequence[QualtricsColumn]) -> dict[str, str]:
    """Items by their tags, or by the codes in their texts if tags are only numbers.

    All questions in a round of a loop are about one item, which has the tag of the first question.
    """
    codes = _codes(judged)
    if not codes:
        first = {column.tag: within[0].tag for within in _rounds(judged) for column in within}
        return {column.tag: first.get(column.tag, column.tag) for column in judged}
    return {column.tag: codes.get(column.tag, column.tag) for column in judged}


def _codes(judged: Sequence[QualtricsColumn]) -> dict[str, str]:
    """The codes that texts of questions with numbers for tags consist of, or begin with: high-bank-who - "Ann"."""
    parts = {c.tag: c.text.partition(" - ")[0].strip() for c in judged if c.text != c.tag}
    codes = {tag: part for tag, part in parts.items() if re.fullmatch(r"\S{3,80}", part)}
    numbered = all(re.fullmatch(r"(?i)q?\d+(\.\d+)?", column.base) for column in judged)
    unique = len(set(codes.values())) == len(codes) and 2 * len(codes) >= len(judged)
    return codes if numbered and unique else {}


def _functions(judged: Sequence[QualtricsColumn]) -> dict[str, str]:
    """The functions of items, if the codes, tags or first words of some texts name them; empty otherwise."""
    words = {column.tag: [word for word in column.text.split()[:3] if word.lower() != "train"] for column in judged}
    functions = {tag: function_named_in(" ".join([tag, *first])) for tag, first in words.items()}
    by_code = {tag: function_named_in(re.split(r"[-_.]", code)[0]) for tag, code in _codes(judged).items()}
    practice = {tag: function if function == "practice" else "test" for tag, function in functions.items()} | by_code
    return practice if "test" in practice.values() and len(set(practice.values())) > 1 else {}


def _answer(column: QualtricsColumn) -> pl.Expr:
    """The answers, with null for Qualtrics' mark for questions that were displayed but not answered."""
    cell = pl.col(column.tag)
    return pl.when(cell != UNANSWERED).then(cell)


def _shown(column: QualtricsColumn, survey: Survey) -> pl.Expr:
    """Whether a question was displayed to a participant, which an empty cell does not show.

    It was if it or another row of its matrix has an answer, or if its page has a timing.
    """
    evidence = [column.tag]
    if column.is_matrix:
        evidence += [other.tag for other in survey.judged if other.root == column.root and other.loop == column.loop]
    if column.timer and "Page Submit" in survey.timers[column.timer]:
        evidence.append(survey.timers[column.timer]["Page Submit"])
    return pl.any_horizontal(pl.col(list(dict.fromkeys(evidence))).is_not_null())


def _timing(column: QualtricsColumn, survey: Survey, body: pl.DataFrame) -> list[pl.Series]:
    """The page's timing: the response time if the page has one question, or else the time on the page."""
    if column.timer is None:
        return []
    parts = survey.timers[column.timer]
    alone = sum(other.timer == column.timer for other in survey.judged) == 1
    names = {"Page Submit": "rt" if alone else "page_time", "First Click": "first_click", "Last Click": "last_click",
             "Click Count": "click_count"}  # fmt: skip
    return [numbers_or_text(body[parts[kind]]).alias(name) for kind, name in names.items() if kind in parts]


def _embedded(body: pl.DataFrame, survey: Survey) -> list[pl.Expr]:
    reserved = ("tag", "text", "loop", "rt", "page_time", "first_click", "last_click", "click_count")
    names = [name for name in survey.embedded if body[name].null_count() < body.height]
    columns = [name for name in names if name not in PERSON_IDS and not is_platform_flag(name)]
    return [pl.col(name).alias(own_name(name, reserved, survey.embedded)) for name in columns]


def _people(body: pl.DataFrame, survey: Survey, reading: Reading) -> pl.DataFrame:
    """One row per participant; finished responses take precedence over unfinished ones."""
    columns = body.columns
    done = is_true(body["Finished"]) if "Finished" in columns else pl.Series([True] * body.height, dtype=pl.Boolean)
    people: dict[str, pl.Series] = {"participant": body[WHO]}
    zone = _known_zone(survey.zone, reading)
    if "StartDate" in columns:
        people["started"] = _moments(body["StartDate"], zone)
    if "EndDate" in columns:
        ended = _moments(body["EndDate"], zone)
        people["finished"] = pl.select(pl.when(done).then(ended)).to_series()
    else:
        people["finished"] = done
    numbers = {DURATION: "working_time", "Progress": "progress"}
    people |= {new: numbers_or_text(body[old]) for old, new in numbers.items() if old in columns}
    labels = {
        "ResponseId": "response_id",
        "Status": "response_type",
        "DistributionChannel": "source",
        "UserLanguage": "language",
    }
    people |= {new: body[old].replace(CHANNELS) for old, new in labels.items() if old in columns}
    others = [*(column.tag for column in survey.background), *(n for n in survey.embedded if n not in PERSON_IDS)]
    names = list(people)
    people |= {name if name not in names else own_name(name, names, others): body[name] for name in others}
    table = pl.DataFrame([column.alias(name) for name, column in people.items()]).with_row_index(ORDER)
    table = table.with_columns(done.alias(" done")).sort(" done", descending=True, maintain_order=True)
    return one_row_each(table).sort(ORDER).drop(" done", ORDER)


def _known_zone(zone: str | None, reading: Reading) -> str | None:
    """The zone that the export names, or None if this machine does not know it and its dates are read as UTC."""
    if zone is None or _local(pl.Series([datetime(2020, 1, 1)]), zone) is not None:
        return zone
    reading.notes.append(Message("qualtrics.unknown_zone", {"zone": zone}))
    return None


def _moments(dates: pl.Series, zone: str | None) -> pl.Series:
    """Dates in a zone as points in time."""
    moments = instants(dates)
    local = None if zone is None else _local(moments.dt.replace_time_zone(None), zone)
    return moments if local is None else local.dt.convert_time_zone("UTC")


def _local(dates: pl.Series, zone: str) -> pl.Series | None:
    try:
        return dates.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    except pl.exceptions.PolarsError:
        return None


READER = Reader("qualtrics", "responses of Qualtrics", recognises, read_qualtrics)
