"""The columns of a Qualtrics export: questions, timings, display orders; and which questions share a scale."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import polars as pl

from karat.intake.guess import MOST_ORDINAL_POINTS
from karat.intake.personal import describes_a_person, names_a_person
from karat.intake.wide import all_numbers, is_free_text, texts
from karat.judgments.message_tables import listed
from karat.judgments.scales import as_number
from karat.messages import Message

QUESTION_ID = re.compile(r"(?:(?P<loop>\w+?)_)?(?P<root>QID\d+(?:#\d+)?)(?:_(?P<row>.+))?")
TIME_ZONE = re.compile(r'"timeZone"\s*:\s*"([A-Za-z_/+\-0-9]+)"')
TIMING = ("First Click", "Last Click", "Page Submit", "Click Count")
ORDER_TAG = re.compile(r"(?P<what>.+)_DO(?:_(?P<part>.+))?")
ABOUT_RESPONSE = (
    "StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished", "RecordedDate",
    "ResponseId", "RecipientLastName", "RecipientFirstName", "RecipientEmail", "ExternalReference", "LocationLatitude",
    "LocationLongitude", "DistributionChannel", "UserLanguage",
)  # fmt: skip
DEFAULT_STEM = "q"
YOURS = re.compile(r"(?i)\b(?:your|ihre?|deine?)\b")
SHARED_ANSWERS = 2
"""Two columns that share this many answer texts are on one scale."""
UNANSWERED = "-99"
"""What Qualtrics can write for a question that was seen and not answered."""


@dataclass
class QualtricsColumn:
    """A column of a question: its tag, its text, and where it belongs."""

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
        """Whether the question, by its tag or its text, asks for the background: `gender`, `What is your age?`."""
        words = YOURS.split(self.text)[-1] if YOURS.search(self.text) else self.text
        return describes_a_person(self.base) or describes_a_person(words)

    @property
    def base(self) -> str:
        """The tag of the question, without the row of a matrix and the round of a loop."""
        base = self.tag.removesuffix(f"_{self.row}") if self.row else self.tag
        return base.removeprefix(f"{self.loop}_") if self.loop else base

    @property
    def row_text(self) -> str:
        """What the row of a matrix says: what follows the question's own text."""
        return self.text.rsplit(" - ", 1)[-1].strip()


@dataclass
class Survey:
    """All columns of an export by what they are."""

    header: list[str]
    questions: list[QualtricsColumn] = field(default_factory=list)
    zone: str | None = None
    """The time zone of the export's dates."""
    cells: list[str] = field(default_factory=list)
    timers: dict[str, dict[str, str]] = field(default_factory=dict)
    orders: list[str] = field(default_factory=list)
    embedded: list[str] = field(default_factory=list)
    contacts: list[str] = field(default_factory=list)
    judged: list[QualtricsColumn] = field(default_factory=list)
    background: list[QualtricsColumn] = field(default_factory=list)
    set_aside: dict[Message, list[str]] = field(default_factory=dict)
    notes: list[Message] = field(default_factory=list)

    def tell_columns_apart(self, body: pl.DataFrame) -> None:
        """Find the questions that ask for judgments, by the answers in their columns."""
        asked = []
        for column in self.questions:
            column.answers = [answer for answer in texts(body[column.tag]) if answer != UNANSWERED]
            reason = _no_judgment(column)
            if reason is not None:
                self.set_aside.setdefault(reason, []).append(column.tag)
            else:
                asked.append(column)
        groups = list(_groups([column for column in asked if not column.is_about_the_person]))
        repeated = [group for group in groups if len(group) > 1]
        chosen = [column for group in repeated or groups for column in group] or asked
        self.judged = [column for column in asked if column in chosen]
        self.background = [column for column in asked if column not in chosen]
        for group in repeated:
            _name(group, {column.question for column in self.judged})
        for column in self.judged:
            column.question = column.question or column.base
        if len({column.question for column in self.judged}) > 1 and repeated:
            groups_read = [
                Message("qualtrics.group", {"question": group[0].question, "tags": listed([c.tag for c in group], 4)})
                for group in repeated
            ]
            self.notes.append(Message("qualtrics.groups", {"groups": groups_read}))
        elif self.judged:
            tags = listed([column.tag for column in self.judged], most=12)
            self.notes.append(Message("qualtrics.judgments", {"tags": tags}))
        self.notes += _give_timers(self)


def survey_of(tags: Sequence[str], labels: Sequence[str], identities: Sequence[str]) -> Survey:
    """The columns by what their import ids and tags say."""
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
            survey.set_aside.setdefault(Message("aside.timing_cells"), []).append(tag)
        elif match:
            text = " ".join(label.split())
            survey.questions.append(QualtricsColumn(tag, text, match["root"], match["row"] or "", match["loop"] or ""))
        elif tag not in ABOUT_RESPONSE:
            (survey.contacts if names_a_person(tag) else survey.embedded).append(tag)
    return survey


def _import_id(cell: str) -> str:
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        return ""
    name = found.get("ImportId") if isinstance(found, dict) else None
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
    return None


def _groups(columns: Sequence[QualtricsColumn]) -> Iterator[list[QualtricsColumn]]:
    """The columns that are on one scale."""
    group_of: dict[int, int] = {index: index for index in range(len(columns))}
    known: dict[str, int] = {}
    for index, column in enumerate(columns):
        for key in _keys(column):
            first = known.setdefault(key, index)
            _join(group_of, first, index)
    worded = [index for index, column in enumerate(columns) if not all_numbers(column.answers)]
    vocabularies = {index: set(columns[index].answers) for index in worded}
    for position, index in enumerate(worded):
        for other in worded[:position]:
            if group_of[other] != group_of[index] and len(vocabularies[index] & vocabularies[other]) >= SHARED_ANSWERS:
                _join(group_of, other, index)
    for group in dict.fromkeys(group_of.values()):
        yield [columns[index] for index, its in group_of.items() if its == group]


def _join(group_of: dict[int, int], one: int, other: int) -> None:
    kept, lost = group_of[one], group_of[other]
    if kept != lost:
        group_of.update({index: kept for index, group in group_of.items() if group == lost})


def _keys(column: QualtricsColumn) -> list[str]:
    """What a column shares with the others on its scale: the question, the stem of the tag."""
    keys = [f"question {column.root}"]
    stem = re.sub(r"[_\-. ]?\d+$", "", column.base.lower())
    if stem and stem not in (DEFAULT_STEM, column.base.lower()):
        keys.append(f"stem {stem}")
    numbers = [as_number(answer) for answer in column.answers]
    points = [number for number in numbers if number is not None and 0 <= number <= MOST_ORDINAL_POINTS]
    is_single = not column.row and not column.loop
    if (
        stem == DEFAULT_STEM
        and is_single
        and len(points) == len(numbers)
        and all(point == int(point) for point in points)
    ):
        keys.append("points of a scale")
    return keys


def _name(group: Sequence[QualtricsColumn], taken: set[str]) -> None:
    bases = list(dict.fromkeys(column.base for column in group))
    stems = {re.sub(r"[_\-. ]?\d+$", "", base) for base in bases}
    name = bases[0] if len(bases) == 1 or len(stems) > 1 else (stems.pop() or bases[0])
    while name in taken:
        name += "_"
    for column in group:
        column.question = name


def _give_timers(survey: Survey) -> list[Message]:
    """Which timing belongs to which question: by its name, else by its place in the survey."""
    if not survey.timers or not survey.judged:
        return []
    place = {tag: index for index, tag in enumerate(survey.header)}
    at = {timer: min(place[tag] for tag in parts.values()) for timer, parts in survey.timers.items()}
    unnamed = dict(at)
    for column in survey.judged:
        column.timer = next((timer for timer in at if _names(timer, column)), None)
        unnamed.pop(column.timer or "", None)
    rule = Message("qualtrics.timing_by_tag")
    rest = [column for column in survey.judged if column.timer is None]
    if unnamed and rest:
        first = min(place[column.tag] for column in rest)
        before = min(unnamed.values()) < first
        _by_place(rest, unnamed, place, before)
        if len(rest) == len(survey.judged):
            rule = Message("qualtrics.timing_before" if before else "qualtrics.timing_after")
        else:
            rule = Message("qualtrics.timing_by_tag_or_before" if before else "qualtrics.timing_by_tag_or_after")
    pages = [sum(column.timer == timer for column in survey.judged) for timer in at]
    shared = Message("qualtrics.shared_pages") if max(pages) > 1 else None
    return [Message("qualtrics.timings", {"rule": rule, "shared": shared})]


def _names(timer: str, column: QualtricsColumn) -> bool:
    return any(
        re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", timer) for name in (column.tag, column.base)
    )


def _by_place(columns: Sequence[QualtricsColumn], timers: dict[str, int], place: dict[str, int], before: bool) -> None:
    """Give each question the timing next to it; the one at the open end gets no more questions than the others."""
    pages: dict[str, list[QualtricsColumn]] = {timer: [] for timer in timers}
    for column in columns:
        mine = place[column.tag]
        near = [timer for timer, at in timers.items() if (at < mine) == before]
        if near:
            chosen = max(near, key=timers.__getitem__) if before else min(near, key=timers.__getitem__)
            pages[chosen].append(column)
    ordered = sorted(pages, key=timers.__getitem__, reverse=not before)
    most = max((len({c.root for c in pages[timer]}) for timer in ordered[:-1]), default=0)
    for timer, page in pages.items():
        roots = list(dict.fromkeys(column.root for column in page))
        if most and timer == ordered[-1]:
            roots = roots[:most] if before else roots[-most:]
        for column in page:
            column.timer = timer if column.root in roots else None
