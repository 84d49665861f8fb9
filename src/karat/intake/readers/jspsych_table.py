"""The columns of a table of jsPsych judgments: karat's own, then the study's; its people and its scales."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.errors import IntakeError
from karat.intake.labels import function_named_in
from karat.intake.personal import left_out_note, names_a_person
from karat.intake.readers.generic import typed_column
from karat.intake.readers.jspsych_answers import TASK_COLUMNS, cell, key_name, plain_name, text, trial_type
from karat.intake.reading import Options
from karat.judgments.columns import COLUMNS, FUNCTIONS
from karat.judgments.scales import Nominal, Ordinal, Scale, as_number
from karat.messages import Message

if TYPE_CHECKING:
    from karat.intake.readers.jspsych_trials import Judged, TrialRow

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
    if frame["question"].null_count() == frame.height:
        frame = frame.drop("question")
    if any(one.answer.index is not None for one in judged):
        indices = [one.answer.index for one in judged]
        frame = frame.with_columns(pl.Series("response_index", indices, dtype=pl.Int64, strict=False))
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
    told = set(options.mapping.values())
    names = dict.fromkeys(name for one in judged for name in one.row.values)
    if len(names) > MOST_COLUMNS:
        raise IntakeError(f"The data have {len(names):,} different columns, such as {text(next(iter(names)))}.")
    personal = [name for name in names if names_a_person(name)]
    notes += left_out_note([text(name) or "" for name in personal])
    own: dict[str, list[str | None]] = {}
    for name in names:
        if name in personal or (name not in told and (name in READ_AWAY or name in used)):
            continue
        values = [text(cell(one.row.values, name)) for one in judged]
        if any(values) and (name in told or not _of_people(name, judged, values)):
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
    for name, values in own.items():
        functions = [function_named_in(value or "") for value in values]
        if plain_name(name) in KIND_COLUMNS and set(functions) != {"test"}:
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
    """One row a participant: the time that they worked, their background answers, their device."""
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
