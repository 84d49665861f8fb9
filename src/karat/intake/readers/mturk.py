"""Amazon Mechanical Turk: batch results, one row per assignment, with `Input.*` and `Answer.*` columns.

A HIT holds one item, or several numbered ones: `Input.sentence2` with `Answer.rating2`, or turktools'
`Input.item_2_number` and `Input.field_2_1`. Forms send answers in columns of their own, or as one JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import polars as pl

from karat.errors import IntakeError
from karat.intake.cells import (
    ORDER,
    ROW,
    column_named,
    is_free_text,
    numbers_or_text,
    one_row_each,
    own_name,
    respelled,
    stacked,
    texts,
    unit_of_times,
)
from karat.intake.content import ITEM_IDS, RESPONSE_TIMES, words_of
from karat.intake.forms import refuse_best_worst, worse_of_two
from karat.intake.guess import NAMES, joined, plain
from karat.intake.nested import parsed
from karat.intake.personal import describes_a_person, names_a_person
from karat.intake.reading import Options, Reader, Reading
from karat.intake.roles import sides_notes, sides_of
from karat.intake.table_repair import read_results
from karat.judgments.checks import text_column
from karat.judgments.columns import FUNCTIONS
from karat.judgments.message_tables import listed
from karat.judgments.source import SourceFile
from karat.judgments.tables import FileTable, header_of
from karat.judgments.times import instants
from karat.messages import Message

JSON_COLUMN = "Answer.taskAnswers"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4}
DATE = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{1,2}) (\d\d):(\d\d):(\d\d) ([A-Z]{3}) (\d{4})")


def moments(dates: pl.Series) -> pl.Series:
    """Dates such as `Mon May 03 12:34:56 PDT 2021`, or in ISO 8601, as points in time.

    >>> moments(pl.Series(["Mon May 03 12:34:56 PDT 2021", "2021-05-03T19:34:56Z", "soon"])).dt.hour().to_list()
    [19, 19, None]
    """
    times = {text: _moment(text) for text in dates.drop_nulls().unique().to_list()}
    of_mturk = pl.Series([times.get(text) for text in dates.to_list()], dtype=pl.Datetime("us", "UTC"))
    return pl.select(pl.coalesce(of_mturk, instants(dates.cast(pl.String)))).to_series()


def _moment(text: str) -> datetime | None:
    match = DATE.fullmatch(text.strip())
    if match is None or match[1] not in MONTHS or match[6] not in ZONES:
        return None
    zone = timezone(timedelta(hours=ZONES[match[6]]))
    day, hour, minute, second = (int(match[part]) for part in (2, 3, 4, 5))
    try:
        return datetime(int(match[7]), MONTHS.index(match[1]) + 1, day, hour, minute, second, tzinfo=zone).astimezone(
            UTC
        )
    except (ValueError, OverflowError):
        return None


def unfolded(table: FileTable, reading: Reading) -> tuple[pl.DataFrame, list[str]]:
    """The assignments with one column per answer, and the names of these columns.

    Rows with unreadable JSON are problems and are left out.
    """
    frame = table.frame.with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.Int64))
    if JSON_COLUMN in frame.columns:
        frame = _from_json(table, frame, reading)
    frame = _radio_buttons(frame)
    return frame, [name for name in frame.columns if name.startswith("Answer.")]


def _from_json(table: FileTable, frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    sent: list[dict[str, str | None] | None] = []
    for row, text in enumerate(frame[JSON_COLUMN].to_list()):
        answers = _answers(text)
        if answers is None:
            what, fix = "is not a list of answers in JSON", "Fix the cell, or leave the row out with --skip-bad."
            reading.problems.at(table.locate(row), what, fix, JSON_COLUMN, text)
        sent.append(answers)
    names = list(dict.fromkeys(name for answers in sent for name in answers or ()))
    existing = set(frame.columns)
    columns = [
        pl.Series(column, [(answers or {}).get(name) for answers in sent], dtype=pl.String)
        for name in names
        if (column := f"Answer.{name}") not in existing
    ]
    readable = pl.Series([answers is not None for answers in sent], dtype=pl.Boolean)
    return frame.drop(JSON_COLUMN).with_columns(columns).filter(readable)


def _answers(text: str | None) -> dict[str, str | None] | None:
    """The answers of a form by name; None if the text is not JSON with answers."""
    if text is None:
        return {}
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        return None
    parts = sent if isinstance(sent, list) else [sent]
    if not all(isinstance(part, dict) for part in parts):
        return None
    return {name: answer for part in parts for key, value in part.items() for name, answer in _plain(str(key), value)}


def _plain(key: str, value: Any) -> list[tuple[str, str | None]]:
    """The value of a crowd element as plain answers: the label of a classifier, the radio button that is on."""
    if not isinstance(value, dict):
        return [(key, _text(value))]
    if value and all(isinstance(state, bool) for state in value.values()):
        if set(value) == {"on"}:
            return [(key, _text(value["on"]))]
        return [(key, "|".join(str(option) for option, state in value.items() if state) or None)]
    if set(value) == {"label"}:
        return [(key, _text(value["label"]))]
    return [(f"{key}.{part}", _text(inner)) for part, inner in value.items()]


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "|".join(value) or None
    return json.dumps(value, ensure_ascii=False)


def _radio_buttons(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with one column per question for radio buttons, which have columns such as `Answer.rating.1`."""
    groups: dict[str, dict[str, str]] = {}
    for name in frame.columns:
        question, _, option = name.rpartition(".")
        if name.startswith("Answer.") and question.startswith("Answer."):
            groups.setdefault(question, {})[option] = name
    for question, options in groups.items():
        names = list(options.values())
        if question in frame.columns:
            continue
        if list(options) == ["label"] or list(options) == ["on"]:
            frame = frame.rename({names[0]: question})
            continue
        states = [frame[name].str.to_lowercase() for name in names]
        if len(names) < 2 or not all(state.drop_nulls().is_in(["true", "false"]).all() for state in states):
            continue
        on = [pl.when(state == "true").then(pl.lit(option)) for option, state in zip(options, states, strict=True)]
        selection = pl.concat_str(on, separator="|", ignore_nulls=True).alias(question)
        frame = frame.with_columns(selection).with_columns(pl.col(question).replace("", None)).drop(names)
    return frame


NEEDED = ("HITId", "WorkerId")
OWN_NAMES = (
    *NEEDED, JSON_COLUMN, "AssignmentId", "AssignmentStatus", "AcceptTime", "SubmitTime", "WorkTimeInSeconds",
    "LifetimeApprovalRate",
)  # fmt: skip
ITEM_NAMES = (*ITEM_IDS, "id", "stimulus", "sentence", "text")
NUMBERED = re.compile(r"(.*?\D)[_.\-]?(\d{1,4})")
TURKTOOLS_ITEM = re.compile(r"(?i)item_(\d{1,4})_(\w+)")
TURKTOOLS_FIELD = re.compile(r"(?i)field_(\d{1,4})_(\d+)")
REMARK = re.compile(r"(?i)comment|feedback|remark|suggest|survey_?code|completion_?code|notes?$")
PRACTICE = re.compile(r"(.+?)_?(?:Sample|SAMPLE|(?i:example|practice|training))_?\d+")
FORM_FIELDS = ("donotredirect", "submit", "assignmentid", "hitid", "workerid")
WHO, TRIAL, RT = " who", " trial", " rt"


@dataclass
class BatchLayout:
    """The columns of the items of a HIT and of their answers."""

    items: list[dict[str, str]] = field(default_factory=list)
    """The inputs of each item of a HIT: name -> column."""
    answers: list[dict[str, str]] = field(default_factory=list)
    """The answers to each item: question -> column."""
    numbers: list[int] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    """Inputs that describe the HIT as a whole."""
    background: list[str] = field(default_factory=list)
    chosen: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Answers that repeat one of two inputs: their column -> the columns of both inputs."""


def recognises(file: SourceFile) -> bool:
    """Whether the table holds assignments with answers."""
    header = _own_names(header_of(file))
    # Tables from the command-line tools have workerid and no inputs.
    of_mturk = "AssignmentId" in header_of(file) or any(name.startswith("Input.") for name in header)
    return of_mturk and set(NEEDED) <= set(header) and any(name.startswith("Answer.") for name in header)


def _own_names(names: Sequence[str]) -> list[str]:
    """Column names as MTurk spells them; a column of codes that replace worker ids becomes the worker column.

    >>> _own_names(["HITId", "input.text", "Answer.ok", "anonCode"])
    ['HITId', 'Input.text', 'Answer.ok', 'WorkerId']
    """
    prefix = re.compile(r"(?i)^(input|answer)(?=\.)")
    fixed = [prefix.sub(lambda match: match[0].title(), name) for name in respelled(names, OWN_NAMES)]
    codes = [name for name in fixed if plain(name) in NAMES["participant"] or words_of(name)[:1] == ["anon"]]
    return [NEEDED[1] if name in codes[:1] else name for name in fixed] if NEEDED[1] not in fixed else fixed


def read_mturk(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read the results of one batch."""
    (file,) = files
    table = read_results(file, options.delimiter, options.sheet)
    table.frame.columns = _own_names(table.frame.columns)
    _refuse_others(table)
    reading = Reading(pl.DataFrame(), table.locate, units_in=0, unit="cells", notes=[*table.notes])
    reading.problems.extend(table.problems)
    frame, answers = unfolded(table, reading)
    width = max(1, len(answers))
    unreadable = table.rows_in - frame.height
    reading.bad_units = unreadable * width
    reading.units_in = unreadable * width + frame.height * len(answers)
    refuse_best_worst(frame, file.name)
    worst = worse_of_two(frame)
    answers = [name for name in answers if name != worst]
    reading.set_apart(Message("role.other_answers"), frame.height if worst else 0)
    frame, chosen = _with_chosen(_in_order(frame), answers)
    layout = _layout(frame, _without_other_fields(frame, answers, reading))
    layout.chosen = chosen
    _choose(frame, layout, options, reading)
    _judge(frame, layout, options, reading)
    reading.participants = _people(frame, layout, reading)
    return reading


def _refuse_others(table: FileTable) -> None:
    missing = [name for name in NEEDED if name not in table.frame.columns]
    if missing or not any(name.startswith("Answer.") for name in table.frame.columns):
        lacking = listed(missing) or "Answer.*"
        raise IntakeError(f"{table.file.name} is not a batch result of MTurk: it has no column {lacking}.")


def _in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """The assignments with their positions in the workers' sequences."""
    accepted = moments(frame["AcceptTime"]) if "AcceptTime" in frame.columns else pl.Series([None] * frame.height)
    order = pl.DataFrame({"who": frame["WorkerId"], "at": accepted, "row": frame[ROW]}).select(
        pl.struct("at", "row").rank("ordinal").over("who").cast(pl.Int64).alias(TRIAL)
    )
    return frame.with_columns(order[TRIAL], frame["WorkerId"].alias(WHO))


def _with_chosen(frame: pl.DataFrame, answers: Sequence[str]) -> tuple[pl.DataFrame, dict[str, tuple[str, str]]]:
    """The table with left and right for answers that repeat one of two inputs, perhaps numbered or truncated."""
    inputs = [name for name in frame.columns if name.startswith("Input.") and frame.schema[name] == pl.String]
    chosen = {}
    for column in answers if len(inputs) > 1 else []:
        answer = pl.col(column).cast(pl.String).str.replace(r"^\d[.):]\s*", "")
        filled = frame.filter(answer.str.len_chars() >= FEWEST_LETTERS)
        matches = filled.head(FIRST_ROWS).select(pl.col(name).str.starts_with(answer).sum() for name in inputs).row(0)
        highest = sorted(matches)[-2:]
        pair = [name for name, n in zip(inputs, matches, strict=True) if n in highest and n >= FEWEST_DISTINCT]
        if len(pair) != FEWEST_DISTINCT or filled.height < NEARLY_ALL * frame[column].count():
            continue
        left, right = (pl.col(name).str.starts_with(answer) for name in pair)
        if filled.select((left | right).mean()).item() < NEARLY_ALL:
            continue
        first = left & (~right | pl.col(column).str.starts_with("1"))
        side = pl.when(first).then(pl.lit("left")).when(right).then(pl.lit("right"))
        frame = frame.with_columns(side.alias(column))
        chosen[column] = (pair[0], pair[1])
    return frame, chosen


FEWEST_LETTERS, FIRST_ROWS, NEARLY_ALL = 2, 100, 0.9


def _without_other_fields(frame: pl.DataFrame, answers: Sequence[str], reading: Reading) -> list[str]:
    """The answers without remarks, personal data and technical fields of the form."""
    others = []
    for column in answers:
        name = _question(column)
        words = texts(frame[column])
        if names_a_person(name):
            reading.set_apart(Message("aside.personal_cells"), frame.height)
        elif _is_practice(name, answers):
            reading.set_apart(Message("aside.practice_cells"), frame.height)
        elif plain(name) in FORM_FIELDS or (len(words) >= SEVERAL and all(parsed(word) is not None for word in words)):
            reading.set_apart(Message("aside.own_field_cells"), frame.height)
        elif REMARK.search(name) or is_free_text(words) or _is_hardly_filled(frame[column], words):
            reading.set_apart(Message("aside.free_text_cells"), frame.height)
        elif not words:
            reading.set_apart(Message("aside.unfilled_cells"), frame.height)
        else:
            others.append(column)
    return others


def _is_practice(name: str, answers: Sequence[str]) -> bool:
    """Whether a field is for an example of what other fields ask.

    >>> _is_practice("response_example1", ["Answer.response1"]), _is_practice("good_example1", ["Answer.response1"])
    (True, False)
    """
    match = PRACTICE.fullmatch(name)
    return match is not None and any(re.fullmatch(rf"{re.escape(match[1])}_?\d+", _question(one)) for one in answers)


def _is_hardly_filled(column: pl.Series, words: Sequence[str]) -> bool:
    """Whether a field is mostly empty and otherwise always has the same text, such as no."""
    return len(words) == 1 and 2 * (column.fill_null("").str.strip_chars() == "").sum() > column.len()


def _layout(frame: pl.DataFrame, answers: Sequence[str]) -> BatchLayout:
    inputs = [name for name in frame.columns if name.startswith("Input.")]
    of_item: dict[int, dict[str, str]] = {}
    shared = []
    for column in inputs:
        number, name = _numbered_input(column.removeprefix("Input."))
        if number is None:
            shared.append(column)
        else:
            of_item.setdefault(number, {})[name] = column
    to_item: dict[int, dict[str, str]] = {}
    background = []
    for column in answers:
        match = NUMBERED.fullmatch(_question(column))
        if match and int(match[2]) in of_item:
            to_item.setdefault(int(match[2]), {})[match[1]] = column
        else:
            background.append(column)
    if len(to_item) < 2:
        to_item = _numbered_answers(frame, answers)
        if to_item:
            numbers = sorted(to_item)
            numbered = {column for group in to_item.values() for column in group.values()}
            rest = [column for column in answers if column not in numbered]
            return BatchLayout([{} for _ in numbers], [to_item[n] for n in numbers], numbers, inputs, rest)
        judgments = [column for column in answers if not _is_about_worker(frame, column)] or answers
        fields = {_question(column): column for column in judgments}
        return BatchLayout([{}], [fields], [1], inputs, [column for column in answers if column not in judgments])
    numbers = sorted(to_item)
    return BatchLayout([of_item[n] for n in numbers], [to_item[n] for n in numbers], numbers, shared, background)


SEVERAL = 3
FEWEST_ITEMS = 4


def _numbered_answers(frame: pl.DataFrame, answers: Sequence[str]) -> dict[int, dict[str, str]]:
    """The answers to each item of a HIT that distinguishes items by number only: q1, q2, q3, q4, ... on one scale."""
    stems: dict[str, dict[int, str]] = {}
    for column in answers:
        match = NUMBERED.fullmatch(_question(column))
        if match:
            stems.setdefault(match[1], {})[int(match[2])] = column
    longest = max(stems.values(), key=len, default={})
    alike = [stem for stem, columns in stems.items() if set(columns) == set(longest)]
    vocabularies = [set(texts(frame[column])) for column in longest.values()]
    overlapping = sum(
        len(words & set().union(*vocabularies[:at], *vocabularies[at + 1 :])) > len(words) / 2
        for at, words in enumerate(vocabularies)
    )
    if len(longest) < FEWEST_ITEMS or 2 * overlapping < len(longest):
        return {}
    return {number: {stem: stems[stem][number] for stem in alike} for number in longest}


def _is_about_worker(frame: pl.DataFrame, column: str) -> bool:
    """Whether a field describes the worker, by its name or because it hardly varies within workers."""
    if describes_a_person(_question(column)):
        return True
    filled = frame.select(pl.col(WHO), pl.col(column).alias("answer")).drop_nulls()
    by_worker = filled.group_by(WHO).agg(pl.len().alias("n"), pl.col("answer").n_unique().alias("different"))
    busy = by_worker.filter(pl.col("n") >= SEVERAL)
    return busy.height >= SEVERAL and bool((busy["different"] == 1).mean() >= NEARLY_ALL)  # type: ignore[operator]


def _choose(frame: pl.DataFrame, layout: BatchLayout, options: Options, reading: Reading) -> None:
    """Restrict the answers to the fields that the user names, if any."""
    names = list(dict.fromkeys(name for fields in layout.answers for name in fields))
    mapped = joined(options.mapping.get("response", "").replace("Answer.", ""), names)
    if not mapped or not set(mapped) <= set(names):
        return
    reading.used = ("response",)
    for fields in layout.answers:
        for name in [name for name in fields if name not in mapped and plain(name) not in RESPONSE_TIMES]:
            del fields[name]
            reading.set_apart(Message("role.other_answers"), frame.height)


def _question(column: str) -> str:
    return column.removeprefix("Answer.")


def _numbered_input(name: str) -> tuple[int | None, str]:
    """The number of the item in the name of an input, and the rest of the name."""
    if match := TURKTOOLS_ITEM.fullmatch(name):
        return int(match[1]), match[2].lower()
    if match := TURKTOOLS_FIELD.fullmatch(name):
        return int(match[1]), f"field_{match[2]}"
    if match := NUMBERED.fullmatch(name):
        return int(match[2]), match[1]
    return None, name


def _judge(frame: pl.DataFrame, layout: BatchLayout, options: Options, reading: Reading) -> None:
    questions = {name for answers in layout.answers for name in answers if plain(name) not in RESPONSE_TIMES}
    first, most = min(layout.numbers, default=1), max(layout.numbers, default=1)
    blocks = []
    for number, inputs, answers in zip(layout.numbers, layout.items, layout.answers, strict=True):
        times = next((column for name, column in answers.items() if plain(name) in RESPONSE_TIMES), None)
        item, note = _item(frame, inputs, layout)
        if not inputs and len(layout.numbers) > 1:
            name_in_hit = pl.lit(_question(next(iter(answers.values()))) if len(answers) == 1 else str(number))
            differ = any(frame[column].n_unique() > 1 for column in layout.shared)
            item = pl.concat_str(item, name_in_hit, separator=" ") if differ else name_in_hit
            note = Message("mturk.item_field", {"column": next(iter(answers.values()))})
        if answers and number == layout.numbers[0]:
            reading.notes.append(note)
        for order, (name, column) in enumerate(answers.items()):
            if column == times:
                reading.set_apart(Message("aside.rt_cells"), frame.height)
                continue
            block = frame.select(
                ROW, pl.lit(number * 1000 + order).alias(ORDER), pl.col(WHO).alias("participant"), item.alias("item"),
                pl.col(column).alias("response"), *([pl.lit(name).alias("question")] if len(questions) > 1 else []),
                ((pl.col(TRIAL) - 1) * (most - first + 1) + number - first + 1).alias("trial"),
                *([pl.col(times).alias(RT)] if times else []), *_conditions(inputs, layout), *_of_assignment(frame),
                *(pl.col(c).alias(side) for c, side in zip(layout.chosen.get(column, ()), SIDES, strict=False)),
            )  # fmt: skip
            present = block.filter(pl.col("item").is_not_null() | pl.col("response").is_not_null())
            reading.set_apart(Message("aside.absent_item_cells"), block.height - present.height)
            blocks.append(present)
    stack, reading.locate = stacked(blocks, reading.locate)
    reading.frame = _with_sides(
        _with_functions(_with_times(stack, options, reading), options, reading), options, reading
    )
    if len(questions) > 1:
        reading.notes.append(Message("mturk.questions", {"names": listed(sorted(questions))}))
    if stack.width:
        reading.notes.append(Message("mturk.working_time"))


SIDES = ("left", "right")
SIDED = re.compile(r"(?i)Input\.(.*?)[_. ]?(1|2|a|b|left|right|first|second)")


def _with_sides(frame: pl.DataFrame, options: Options, reading: Reading) -> pl.DataFrame:
    """The table with left and right for answers such as A and B that choose between inputs like system1 and system2."""
    if "response" not in frame.columns or options.answers or options.scale or {"left", "right"} & set(frame.columns):
        return frame
    pairs: dict[str, list[str]] = {}
    for name in frame.columns:
        match = SIDED.fullmatch(name)
        if match:
            pairs.setdefault(match[1].lower(), []).append(name)
    sided = [(pair[0], pair[1]) for pair in pairs.values() if len(pair) == 2]
    # Systems recur and can be compared; the texts that they wrote occur once.
    sided = sorted((p for p in sided if frame[p[0]].n_unique() > 1), key=lambda pair: frame[pair[0]].n_unique())
    questions = frame["question"] if "question" in frame.columns else pl.Series([""] * frame.height)
    is_choice = pl.Series([False] * frame.height)
    for question in questions.unique(maintain_order=True) if sided else ():
        sides = sides_of(frame["response"].filter(questions == question).drop_nulls().unique().to_list(), sided[0])
        if sides:
            here = (questions == question).alias("own")
            frame = frame.with_columns(pl.when(here).then(pl.col("response").replace(sides)).otherwise("response"))
            reading.notes += sides_notes(sides)
            is_choice = is_choice | here
    if is_choice.any():
        left, right = sided[0]
        frame = frame.with_columns(
            pl.when(is_choice).then(left).alias("left"), pl.when(is_choice).then(right).alias("right")
        )
        reading.notes.append(Message("form.shown", {"left": left, "right": right}))
    return frame


FEWEST_DISTINCT = 2
BESIDE_ITEMS = ("condition", "list", "section")
"""Inputs of turktools that describe an item."""


def _item(frame: pl.DataFrame, inputs: dict[str, str], layout: BatchLayout) -> tuple[pl.Expr, Message]:
    """The item, and the note on its source."""
    if {"section", "number"} <= inputs.keys():
        item = pl.when(pl.col(inputs["number"]).is_not_null()).then(
            pl.concat_str(inputs["section"], inputs["number"], separator="_", ignore_nulls=True)
        )
        return item, Message("mturk.item_section_and_number")
    if "number" in inputs:
        return pl.col(inputs["number"]), Message("mturk.item_number")
    names = inputs or {column.removeprefix("Input."): column for column in layout.shared}
    name = column_named(list(names), ITEM_NAMES)
    chosen = names[name] if name else None
    if chosen is None and names:
        hits = frame["HITId"].n_unique()
        columns = [column for name, column in names.items() if name not in BESIDE_ITEMS] or list(names.values())
        distinct = [column for column in columns if frame[column].n_unique() >= hits]
        most = max(columns, key=lambda column: frame[column].n_unique())
        chosen = distinct[0] if distinct else most if inputs or len(names) == 1 else None
    if chosen is None or (frame[chosen].n_unique() < FEWEST_DISTINCT and frame["HITId"].n_unique() > 1):
        return pl.col("HITId"), Message("mturk.item_hit")
    return pl.col(chosen), Message("item.column", {"column": chosen})


def _conditions(inputs: dict[str, str], layout: BatchLayout) -> list[pl.Expr]:
    """The inputs that describe the item, and those that describe the HIT."""
    reserved = ("assignment", "assignment_status", "hit")
    of_item = [pl.col(column).alias(own_name(name, reserved, list(inputs))) for name, column in inputs.items()]
    lists = [column for column in layout.shared if column == "Input.list"][: 0 if "list" in inputs else 1]
    return [*of_item, *(pl.col(c).alias("list") for c in lists), *(pl.col(c) for c in layout.shared if c not in lists)]


def _of_assignment(frame: pl.DataFrame) -> list[pl.Expr]:
    names = {"HITId": "hit", "AssignmentId": "assignment", "AssignmentStatus": "assignment_status"}
    columns = [pl.col(old).alias(new) for old, new in names.items() if old in frame.columns]
    if "SubmitTime" in frame.columns:
        columns.append(pl.lit(moments(frame["SubmitTime"])).alias("time"))
    return columns


def _with_times(stack: pl.DataFrame, options: Options, reading: Reading) -> pl.DataFrame:
    """The table with the response times that the form itself recorded, in seconds."""
    if RT not in stack.columns:
        return stack
    numbers = numbers_or_text(stack[RT])
    times = stack[RT].cast(pl.Float64, strict=False)
    unit = unit_of_times(times, stack["participant"], "rt", "the file", options, reading)
    seconds = numbers / 1000 if unit == "ms" and numbers.dtype.is_float() else numbers
    return stack.drop(RT).with_columns(seconds.alias("rt"))


def _with_functions(stack: pl.DataFrame, options: Options, reading: Reading) -> pl.DataFrame:
    """The table with item functions, by turktools' sections and by conditions of attention checks."""
    if "function" in options.mapping:
        return stack
    for name in [name for name in stack.columns if name == "section" or name.endswith("condition")]:
        cells = text_column(stack[name])
        words = {value: value.lower().strip().removesuffix("s") for value in cells.drop_nulls().unique()}
        if name != "section":
            words = {value: "attention" for value, word in words.items() if word.startswith(("attn", "attention"))}
        labels = {value: word for value, word in words.items() if word in FUNCTIONS}
        if labels:
            samples = [f"{value}={word}" for value, word in sorted(labels.items())[:3]]
            reading.notes.append(Message("role.functions", {"column": name, "functions": samples}))
            functions = cells.replace_strict(labels, default="test", return_dtype=pl.String)
            return stack.with_columns(functions.alias("function"))
    return stack


def _people(frame: pl.DataFrame, layout: BatchLayout, reading: Reading) -> pl.DataFrame:
    """One row per worker, with their assignments added up."""
    reading.set_apart(Message("aside.background_cells"), frame.height * len(layout.background))
    work: dict[str, pl.Series] = {"participant": frame[WHO]}
    for old, new in (("AcceptTime", "started"), ("SubmitTime", "finished")):
        work |= {new: moments(frame[old])} if old in frame.columns else {}
    if "WorkTimeInSeconds" in frame.columns:
        work["working_time"] = frame["WorkTimeInSeconds"].cast(pl.Float64, strict=False)
    for old, new in (("AssignmentStatus", "status"), ("LifetimeApprovalRate", "approval_rate")):
        work |= {new: frame[old]} if old in frame.columns else {}
    fields = [_question(column) for column in layout.background]
    reserved = (*work, "assignments", "rejected")
    background = {own_name(name, reserved, fields): frame[f"Answer.{name}"] for name in fields}
    table = pl.DataFrame([column.alias(name) for name, column in {**work, **background}.items()])
    rejected = int((work["status"] == "Rejected").sum()) if "status" in work else 0
    if rejected:
        reading.notes.append(Message("mturk.rejected", {"n": rejected}))
    sums = {
        "started": pl.col("started").min(), "finished": pl.col("finished").max(),
        "working_time": pl.col("working_time").sum(), "approval_rate": pl.col("approval_rate").drop_nulls().last(),
        "status": pl.col("status").drop_nulls().unique(maintain_order=True).str.join("; "),
    }  # fmt: skip
    columns = [pl.len().cast(pl.Int64).alias("assignments"), *(sums[name] for name in work if name in sums)]
    if "status" in work:
        columns.append((pl.col("status") == "Rejected").sum().cast(pl.Int64).alias("rejected"))
    columns += [pl.col(name).drop_nulls().first() for name in background]
    return one_row_each(table.group_by("participant", maintain_order=True).agg(columns))


READER = Reader("mturk", "batch results of Mechanical Turk", recognises, read_mturk)
