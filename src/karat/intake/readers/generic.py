"""Any delimited file, spreadsheet, JSON lines or Parquet file with one judgment per row.

The mapping of columns is given or guessed by name, and the guess is shown. A mapping may join two columns:
`expected=low..high` makes a range of answers from its ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import polars as pl

from karat.errors import IntakeError, Problems, cause
from karat.intake.cells import cell_text, chained, from_one, one_row_each, seconds_of
from karat.intake.content import AVERAGES, SPREADS, TO_GO_ON, TOTALS, Content, words_of
from karat.intake.forms import SECOND_HEADER, choices_of_pairs, is_rater, shape, without_words
from karat.intake.guess import (
    FEWEST_POINTS,
    MOST_ORDINAL_POINTS,
    NAMES,
    guess_columns,
    guess_mapping,
    guess_rt_unit,
    joined,
    plain,
)
from karat.intake.lacking import refuse_misspelt
from karat.intake.nested import (
    SEVERAL_ANSWERS,
    Shaped,
    are_messages,
    parsed,
    refuse_needed,
    refuse_unnamed,
    without_nested,
)
from karat.intake.personal import describes_a_person
from karat.intake.reading import Options, Question, Reader, Reading
from karat.intake.roles import (
    ANSWER_WORDS,
    FUNCTION_NAMES,
    OWN_FILE,
    PERSON_WORDS,
    SESSION_NAMES,
    SHEET,
    Roles,
    are_instants,
    are_systems,
    cut,
    find_roles,
    is_native,
    names_one_of,
    sides_notes,
    sides_of,
)
from karat.intake.table_repair import UNNAMED, people_in_one_column, read_results
from karat.judgments.checks import LISTS, RECORDS, Place, in_order, located, places, text_column
from karat.judgments.columns import COLUMNS, FUNCTIONS, nearest
from karat.judgments.message_tables import listed
from karat.judgments.scales import as_number
from karat.judgments.source import SourceFile
from karat.judgments.stimuli import are_contrasts
from karat.judgments.tables import FileTable, sheets_of
from karat.judgments.times import UNIX_2000
from karat.messages import Message

MISSING = ("NA", "NaN", "nan", "null", "NULL", "None", "undefined", "")


SIGNS = (".", "-", "--", "?", "N/A", "n/a", "n.a.", "NULL", "none", "None", "missing", "k.A.")
"""What stands for no answer among answers that are numbers."""


def read_generic(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read one table: its form is brought into one row per answer, then its columns get their roles."""
    file = files[0]
    table = _stacked(_named_by_file([table for one in files for table in _sheets_of(one, options)]))
    if table.rows_in == 0:
        raise IntakeError(f"{file.name} has a header and no rows, so there is nothing to read.")
    table, again = _without_headers_again(_without_placeholders(table))
    table = _runs_of_log(table, options)
    table, screens = _answering_screens(table)
    table, beside, loops = _answering_loop(table, options)
    table, words = _per_trial(people_in_one_column(table), options)
    stated = _stated_mapping(table, options)
    if is_native(table.frame, stated) and options.wide is None:
        return _counted(_read_native(table, stated, options), again, screens, words, beside, loops)
    table, totals = _without_totals(table)
    screens += totals
    shaped = shape(table.frame, options.wide, file.name, stated)
    given = {**shaped.mapping, **stated}
    refuse_absent(given, shaped.frame.columns, file.name)
    roles = find_roles(shaped.frame, given, file.name)
    long = replace(table, frame=_with_labels(shaped, table.labels))
    mapping = roles.mapping
    notes = [*table.notes, *shaped.notes, *roles.notes, *_mapping_note(mapping, options)]
    frame = _mapped(long, mapping)
    frame = _with_functions(frame, roles)
    frame, more = _filled_items(frame, mapping)
    notes += more
    frame, more = _with_sides(frame, mapping, options)
    notes += more
    notes += _perhaps_sides(frame, mapping, options)
    bad = table.rows_in - table.frame.height
    reading = Reading(
        frame,
        table.locate if shaped.rows is None else located(table.locate, shaped.rows),
        units_in=(table.frame.height if shaped.units_in is None else shaped.units_in) + bad,
        unit=shaped.unit,
        set_aside=dict(shaped.set_aside),
        bad_units=bad,
        problems=table.problems,
        notes=notes,
        open=[question for question in (*shaped.open, *roles.open) if not _is_settled(question, options)],
        taken=_taken(shaped.frame.columns, mapping),
    )
    reading = _without(reading, options, {_not_trials: "role.not_trials", _other_tasks: "role.not_asked"})
    reading.frame, more = _missing_answers(reading.frame, options)
    notes += more
    reading.frame, more = _keys(reading.frame, mapping, options)
    notes += more
    reading = _without(reading, options, OTHER_ROWS)
    frame, more = _clock_times(reading.frame)
    notes += more
    frame, more = _numbers(table, frame, mapping, options)
    notes += more
    frame, more = _times_after_onset(frame)
    notes += more
    frame, more = _trials_from_one(frame, mapping)
    notes += more
    pairs = choices_of_pairs(frame)
    if pairs is not None:
        reading.set_apart(Message("form.second_rows"), frame.height - pairs[0].height)
        frame, reading.locate = pairs[0], located(reading.locate, pairs[1])
        notes.append(Message("form.pairs"))
    reading.frame, more = _sessions(frame, mapping)
    notes += more
    reading.participants = _people(table.frame, shaped, mapping)
    return _counted(reading, again, screens, words, beside, loops)


def _with_labels(shaped: Shaped, labels: Mapping[str, str]) -> pl.DataFrame:
    """The answers with what a second header row says of their items, where columns were items.

    These are texts of their own, or conditions that several items have."""
    frame = shaped.frame
    items = frame["item"].unique().to_list() if "item" in frame.columns and shaped.unit == "cells" else []
    said = {item: labels[item] for item in items if item in labels}
    different = len(set(said.values()))
    name = TEXT if different == len(items) else CONDITION
    if len(said) < len(items) or different < 2 or name in frame.columns:
        return frame
    return frame.with_columns(pl.col("item").replace_strict(said).alias(name))


TEXT, CONDITION = "text", "condition"


def _counted(reading: Reading, again: int, screens: int, words: int, beside: Message, loops: int) -> Reading:
    """A reading with the rows that were left out before the roles of columns were looked for."""
    reading.units_in += again + screens + words + loops
    reading.set_apart(Message("aside.repeated_headers"), again)
    reading.set_apart(Message("role.not_trials"), screens)
    reading.set_apart(beside, loops)
    reading.set_apart(Message("form.word_rows"), words)
    return reading


def _read_native(table: FileTable, given_mapping: dict[str, str], options: Options) -> Reading:
    """A table that has karat's own names; a column under such a name with other content is a condition."""
    mapping = guess_mapping(table.frame, given_mapping)
    notes = list(table.notes)
    for role in ("function", "trial", "polarity", "repetition", "time"):
        source = mapping.get(role)
        if source is None or role in given_mapping or source not in table.frame.columns:
            continue
        note = _misfit(table.frame[source], role, source)
        if note is not None:
            notes.append(note)
            del mapping[role]
    notes += _mapping_note(mapping, options)
    frame = _mapped(table, mapping)
    frame, more = _missing_answers(frame, options)
    notes += more
    frame, more = _clock_times(frame)
    notes += more
    frame, more = _numbers(table, frame, mapping, options)
    notes += more
    frame, more = _trials_from_one(frame, mapping)
    notes += more
    if _restarting(frame):
        frame, more = _sessions(frame, mapping)
        notes += more
    return Reading(
        frame,
        table.locate,
        units_in=table.rows_in,
        bad_units=table.rows_in - table.frame.height,
        problems=table.problems,
        notes=notes,
        taken=_taken(table.frame.columns, mapping),
    )


def _misfit(column: pl.Series, role: str, source: str) -> Message | None:
    """The note that a column has karat's name for something and holds something else; None where it fits."""
    if role == plain(source) == "function":
        return None
    values = [str(value).strip() for value in column.drop_nulls().unique(maintain_order=True).head(1000).to_list()]
    shown = [cut(value) for value in values[:3]]
    if not values:
        return None
    if role == "function":
        known = [value for value in values if value.lower() in FUNCTIONS or nearest(value, FUNCTIONS)]
        few = len(known) < len(values)
        return Message("role.no_function", {"column": source, "values": shown, "n": len(values)}) if few else None
    numbers = [value for value in values if as_number(value) is not None]
    if role == "time":
        numbers = values if are_instants(values) else []
    if role == "polarity":
        numbers = [value for value in numbers if as_number(value) in (1, -1)]
    if 2 * len(numbers) >= len(values):
        return None
    code = "role.no_position" if role == "trial" else "role.other_content"
    return Message(code, {"column": source, "values": shown})


def _is_settled(question: Question, options: Options) -> bool:
    return question.role in options.mapping or (question.role == "wide" and options.wide is not None)


def refuse_absent(given: Mapping[str, str], there: Sequence[str], file: str) -> None:
    """IntakeError where a mapping names a column that the table does not have, in whatever form it is."""
    for column, source in given.items():
        for name in joined(source, there):
            if name and name not in there:
                close = nearest(name, there)
                hint = f" Is it {close}?" if close else ""
                raise IntakeError(
                    f"{file} has no column {name} for --map {column}={source}.{hint} It has {', '.join(there)}."
                )


def _with_sides(
    frame: pl.DataFrame, mapping: Mapping[str, str], options: Options
) -> tuple[pl.DataFrame, list[Message]]:
    """Answers such as A and B as left and right, where two columns hold what was shown on either side.

    Right answers are spelled like answers.
    """
    if not {"left", "right", "response"} <= set(frame.columns) or options.answers:
        return frame, []
    columns = [mapping.get(side, side) for side in ("left", "right")]
    answers = Content("", text_column(frame["response"]))
    shown = [Content(name, frame[side]) for side, name in zip(("left", "right"), columns, strict=True)]
    sides = sides_of(answers.values, columns)
    if not sides and names_one_of(answers, *shown):
        chosen = [pl.when(pl.col("response") == pl.col(side)).then(pl.lit(side)) for side in ("left", "right")]
        tied = pl.when(pl.col("response").is_not_null()).then(pl.lit("none"))
        return frame.with_columns(pl.coalesce([*chosen, tied]).alias("response")), []
    if not sides:
        return frame, []
    spelled = [pl.col(n).cast(pl.String).replace(sides) for n in ("response", "expected") if n in frame.columns]
    if "item" in frame.columns and are_systems(answers, shown):
        # The texts stay under the names of the systems that wrote them.
        named = {side: answer for answer, side in sides.items() if side != "none"}
        frame = frame.with_columns(
            pl.col(side).alias(name) for side, name in zip(("left", "right"), columns, strict=True)
        )
        spelled += [pl.lit(answer).alias(side) for side, answer in named.items()]
    return frame.with_columns(spelled), sides_notes(sides)


def _perhaps_sides(frame: pl.DataFrame, mapping: Mapping[str, str], options: Options) -> list[Message]:
    """The note that two texts beside preferences in numbers may be what was compared."""
    source = mapping.get("response", "")
    said = {"pref", "preference", "preferred", "choice", "chosen", "winner"} & {*words_of(source)}
    if not said or "left" in frame.columns or options.scale or options.answers:
        return []
    if any(as_number(answer) is None for answer in text_column(frame["response"]).drop_nulls().unique()):
        return []
    texts = [c for c in map(Content, frame.columns, frame) if c.cells.dtype == pl.String and c.is_text]
    if len(texts) != len(("left", "right")) or (texts[0].cells == texts[1].cells).any():
        return []
    left, right = (mapping.get(content.name, content.name) for content in texts)
    return [Message("form.perhaps_sides", {"left": left, "right": right, "column": source})]


def _with_functions(frame: pl.DataFrame, roles: Roles) -> pl.DataFrame:
    """Item functions from the words that the file has for them; the column stays beside them where it says more."""
    if not roles.functions or "function" not in frame.columns:
        return frame
    source = roles.mapping["function"]
    words = text_column(frame["function"])
    functions = words.replace_strict(roles.functions, default="test", return_dtype=pl.String)
    frame = frame.with_columns(functions.alias("function"))
    if len(joined(source, frame.columns)) > 1:
        return frame  # Its parts stay.
    free = source
    while free in frame.columns or free in COLUMNS:
        free += "_"
    return frame.with_columns(words.alias(free))


def _filled_items(frame: pl.DataFrame, mapping: Mapping[str, str]) -> tuple[pl.DataFrame, list[Message]]:
    """Practice and attention items without a number of their own, under the text that they have."""
    if not {"item", "function", "response"} <= set(frame.columns) or mapping.get("item") == "":
        return frame, []
    empty = text_column(frame["item"]).str.contains(NO_PARTS).fill_null(True)
    other = empty & (frame["function"] != "test") & ~text_column(frame["response"]).is_in(MISSING).fill_null(True)
    if not other.any() or empty.mean() > HALF:  # type: ignore[operator]
        return frame, []
    named = [n for n in frame.columns if n not in COLUMNS and any(w in ITEM_TEXTS for w in words_of(n))]
    for name in (*named, *joined(mapping["function"], frame.columns)):
        cells = text_column(frame[name]) if name in frame.columns else empty.cast(pl.String)
        if not cells.filter(other).null_count() and (cells.filter(other).n_unique() > 1 or name not in named):
            values = {"n": int(other.sum()), "column": mapping["item"], "other": name}
            item = pl.when(other).then(cells).otherwise(text_column(frame["item"])).alias("item")
            return frame.with_columns(item), [Message("role.filled_items", values)]
    return frame, []


ITEM_TEXTS = ("text", "sentence", "stimulus", "stim", "item", "prompt", "question", "utterance", "word", "satz")


def _without(reading: Reading, options: Options, kinds: Mapping[Kind, str]) -> Reading:
    """The reading without rows of some kinds, one after the other, each with the code of the reason."""
    for kind, code in kinds.items():
        gone = kind(reading.frame, options)
        reading = reading if gone is None else reading.without(gone, Message(code))
    return reading


Kind = Callable[[pl.DataFrame, Options], pl.Series | None]
"""Finds the rows that are none of the judgments for one reason."""


def _not_trials(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """Rows that have neither an item nor an answer: they hold no trial."""
    if not {"item", "response"} <= set(frame.columns):
        return None
    empty = [text_column(frame[name]).is_in(MISSING).fill_null(True) for name in ("item", "response")]
    return empty[0] & empty[1]


def _other_tasks(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """The rows of tasks that have no items, such as colour plates: a column of few levels keeps them apart.

    A few rows that nearly everybody has, such as trials to practise, are no items either.
    """
    if not {"item", "response"} <= set(frame.columns) or options.keep_all:
        return None
    empty = text_column(frame["item"]).str.contains(NO_PARTS).fill_null(True)
    if "function" in frame.columns:
        empty = empty & (text_column(frame["function"]) == "test").fill_null(True)
    if not empty.any() or empty.mean() > HALF:  # type: ignore[operator]
        return None
    for name in frame.columns:
        levels = text_column(frame[name])
        if name in COLUMNS or levels.n_unique() > MOST_TASKS or levels.null_count():
            continue
        shares = pl.DataFrame({"level": levels, "empty": empty}).group_by("level").agg(pl.col("empty").mean())
        if set(shares["empty"]) == {0.0, 1.0}:
            return empty
    if "participant" in frame.columns and empty.mean() <= OTHER_KIND:  # type: ignore[operator]
        rows = pl.DataFrame({"who": text_column(frame["participant"]), "empty": empty})
        each = rows.group_by("who").agg(pl.col("empty").any())
        if each.height > 1 and each["empty"].mean() >= FEWEST_ANSWERED:  # type: ignore[operator]
            return empty
    return None


HALF, MOST_TASKS = 0.5, 12
NO_PARTS = r"^\s*(?:(?:NA|NaN|null|NULL|undefined)?(?: \+ |$))+$"
"""An item of which nothing is there: NA, or NA + NA where several columns name it."""

FEWEST_ANSWERED = 0.9
"""Where fewer rows than this have an answer, those of items that nobody answered are other tasks or screens."""
OTHER_KIND, FEW_ROWS = 0.2, 0.02


def _nobodys(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """A few rows that name no participant, such as sums below a table; where they are many, they are errors."""
    if "participant" not in frame.columns:
        return None
    empty = text_column(frame["participant"]).str.strip_chars().is_in(["", "NA", "NaN"]).fill_null(True)
    return None if empty.sum() > FEW_ROWS * frame.height else empty


def _forms(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """The rows that a column calls a form or a survey, where these ask about the participant.

    They have items of their own, which address the participant or are answered as no other item is.
    """
    if not {"item", "response"} <= set(frame.columns) or options.keep_all:
        return None
    items, answers = text_column(frame["item"]), text_column(frame["response"])
    for name in (n for n in frame.columns if plain(n) in FUNCTION_NAMES or words_of(n)[-1:] in KINDS):
        form = text_column(frame[name]).str.to_lowercase().is_in(FORMS).fill_null(False)
        own = [set(cells.filter(form).drop_nulls()) - set(cells.filter(~form)) for cells in (items, answers)]
        asked = own[0] and own[0] >= set(items.filter(form).drop_nulls())
        if asked and form.mean() < HALF and (own[1] or all(ADDRESSED.search(item) for item in own[0])):  # type: ignore[operator]
            return form
    return None


FORMS = ("form", "questionnaire", "survey", "demographics", "demographic", "fragebogen")
KINDS = (["type"], ["name"], ["template"])
ADDRESSED = re.compile(r"(?i)\b(your?|ihre?n?|dein)\b")


def _not_asked(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """Rows of other tasks: of items that nobody answered, and of further screens of trials that have an answer.

    A missing answer stays: others answered the item, and the participant has no other row for it.
    """
    if not {"participant", "item", "response"} <= set(frame.columns) or options.keep_all:
        return None
    empty = frame["response"].is_null()
    if not empty.any() or empty.all() or 1 - empty.mean() >= FEWEST_ANSWERED:  # type: ignore[operator]
        return None
    answered = pl.col("response").is_not_null()
    answered_anywhere = frame.select(
        answered.any().over("item").alias("item"), answered.any().over("participant", "item").alias("own")
    )
    twice = empty & answered_anywhere["own"]
    trials = frame.filter(~empty).select(pl.struct("participant", "item").n_unique()).item()
    doubled = frame.filter(twice).select(pl.struct("participant", "item").n_unique()).item()
    gone = empty & ~answered_anywhere["item"]
    if doubled >= FEWEST_ANSWERED * trials:
        gone = gone | twice
    return gone


def _clicks(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """Screens on which nobody ever did more than go on."""
    if not {"item", "response"} <= set(frame.columns) or options.keep_all:
        return None
    clicks = text_column(frame["response"]).str.strip_chars().str.to_lowercase().is_in(TO_GO_ON).fill_null(False)
    if not clicks.any() or clicks.all():
        return None
    kinds = pl.DataFrame({"item": frame["item"], "click": clicks | frame["response"].is_null()})
    only = kinds.select(pl.col("click").all().over("item"))["click"]
    return clicks & only


def _free_texts(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """Questions that everybody answers in a text of their own, where other questions are answered otherwise."""
    if not {"question", "response"} <= set(frame.columns) or options.keep_all or options.scale:
        return None
    answers = text_column(frame["response"])
    kinds = pl.DataFrame({"question": text_column(frame["question"]).fill_null(""), "answer": answers}).drop_nulls()
    words = pl.col("answer").str.split(" ").list.len()
    each = kinds.group_by("question").agg(
        (pl.col("answer").n_unique() / pl.len()).alias("own"), words.mean().alias("words"), pl.len().alias("n")
    )
    free = (pl.col("own") > OWN_WORDS) & (pl.col("words") >= FEWEST_WORDS) & (pl.col("n") >= FEWEST_TEXTS)
    texts = each.filter(free)["question"].to_list()
    if not texts or len(texts) == each.height:
        return None
    return text_column(frame["question"]).fill_null("").is_in(texts)


OWN_WORDS, FEWEST_WORDS, FEWEST_TEXTS = 0.7, 3, 8
"""From which share of answers that nobody else gave, words per answer and answers on a question is answered freely."""


def _other_answers(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """The few items that are answered in words where all others are answered in numbers: names, checks."""
    if not {"item", "response"} <= set(frame.columns) or options.keep_all or options.answers or options.scale:
        return None
    answers = text_column(frame["response"])
    decimals = answers.str.replace(r"^\s*(-?\d+),(\d+)\s*$", "$1.$2")
    number = decimals.cast(pl.Float64, strict=False).is_not_null()
    worded = answers.is_not_null() & ~number
    given = answers.len() - answers.null_count()
    if number.sum() <= OTHER_KIND * given:
        return _otherwise_answered(text_column(frame["item"]), answers)
    if not worded.any() or worded.sum() > OTHER_KIND * given:
        return None
    kinds = pl.DataFrame({"item": frame["item"], "number": number})
    never = ~kinds.select(pl.col("number").any().over("item"))["number"]
    if (worded & ~never).any():
        return None
    return worded & never


OTHER_ROWS: dict[Kind, str] = {
    _nobodys: "role.nobody", _forms: "role.not_asked", _not_asked: "role.not_asked",
    _clicks: "aside.continue_buttons", _free_texts: "aside.free_text", _other_answers: "role.other_answers",
}  # fmt: skip
"""What is left out once it is known which answers are missing, and why."""


def _otherwise_answered(items: pl.Series, answers: pl.Series) -> pl.Series:
    """The rows of the few items that share no answer with all others: checks and names beside the judgments."""
    pairs = pl.DataFrame({"item": items.fill_null(""), "answer": answers}).drop_nulls().group_by("item", "answer").len()
    nobody = pl.Series([False] * len(items))
    if not pairs.height or pairs["answer"].n_unique() > MOST_SHARED:
        return nobody
    known: set[str] = {pairs.group_by("answer").agg(pl.col("len").sum()).sort("len")["answer"][-1]}
    while True:
        shared = pairs.filter(pl.col("answer").is_in(list(known)))["item"].unique()
        more = set(pairs.filter(pl.col("item").is_in(shared.to_list()))["answer"])
        if more == known:
            break
        known = more
    other = answers.is_not_null() & ~answers.is_in(list(known))
    few = other.sum() <= OTHER_KIND * (answers.len() - answers.null_count()) and len(known) > 1
    return other if few else nobody


MOST_SHARED = 200

CLOCK = r"^\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2}(?:[.,]\d+)?)\s*$"


def _clock_times(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    """Response times written as 00:00:03.446, in seconds."""
    if "rt" not in frame.columns or frame["rt"].dtype != pl.String:
        return frame, []
    cells = frame["rt"].drop_nulls()
    if not cells.len() or not cells.str.contains(CLOCK).all():
        return frame, []
    hours, minutes, seconds = (frame["rt"].str.extract(CLOCK, group) for group in (1, 2, 3))
    number = [part.str.replace(",", ".").cast(pl.Float64, strict=False) for part in (hours, minutes, seconds)]
    total = number[0].fill_null(0) * 3600 + number[1] * 60 + number[2]
    return frame.with_columns(total.alias("rt")), []


def _times_after_onset(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    """Times below 0 stand for answers that were not timed."""
    if "rt" not in frame.columns or not frame["rt"].dtype.is_numeric():
        return frame, []
    below = (frame["rt"] < 0).fill_null(False)
    if not below.any():
        return frame, []
    note = Message("rt.below_zero", {"n": int(below.sum())})
    return frame.with_columns(pl.when(pl.col("rt") >= 0).then(pl.col("rt")).alias("rt")), [note]


def _restarting(frame: pl.DataFrame) -> bool:
    """Whether positions come again for most participants: they restart, and are not wrong in a few rows."""
    if not {"participant", "trial"} <= set(frame.columns) or "session" in frame.columns:
        return False
    keys = [name for name in ("participant", "question", "repetition") if name in frame.columns]
    if in_order(frame):
        return False
    known = frame.select(*keys, "trial").drop_nulls("trial").group_by(keys)
    again = known.agg((pl.len() > pl.col("trial").n_unique()).alias("again")).filter("again")
    people = frame["participant"].n_unique()
    return people > 2 and 2 * again["participant"].n_unique() >= people


def _sessions(frame: pl.DataFrame, mapping: dict[str, str]) -> tuple[pl.DataFrame, list[Message]]:
    """Positions that come again within a participant: sessions by a column, by run, or by the order of the rows."""
    if "trial" not in frame.columns or "participant" not in frame.columns:
        return frame, []
    numbers = frame["trial"].cast(pl.Float64, strict=False)
    if numbers.null_count() > frame["trial"].null_count():
        return frame, []
    keys = [name for name in ("participant", "session", "question", "repetition") if name in frame.columns]
    known = frame.filter(pl.col("trial").is_not_null())
    if known.select(*keys, "trial").n_unique() == known.height:
        return frame, []
    if "function" in frame.columns and _shares_places_in_practice(known, keys):
        place = pl.struct("trial", " row").rank("ordinal").over(keys).cast(pl.Int64)
        rows = frame.with_columns(numbers.alias("trial"), pl.int_range(pl.len()).alias(" row"))
        order = rows.select(pl.when(pl.col("trial").is_not_null()).then(place).alias("trial"))["trial"]
        return frame.with_columns(order), [Message("role.practice_order", {"column": mapping["trial"]})]
    if "session" not in frame.columns:
        for name in _session_columns(frame):
            if known.select(*keys, name, "trial").n_unique() == known.height:
                varies = known.group_by("participant").agg(pl.col(name).n_unique().alias("n"))["n"]
                if (varies > 1).mean() < 0.5:  # type: ignore[operator]
                    session = text_column(frame[name]).alias("session")
                    note = Message("role.session", {"column": name})
                    return frame.with_columns(session), [note]
                return _counted_on(frame), [Message("role.restarts", {"column": mapping["trial"]})]
        again = frame.select((pl.int_range(pl.len()).over(*keys, "trial") + 1).alias("nth"))["nth"]
        several = frame.filter(again > 1)["participant"].n_unique()
        if several <= 0.2 * frame["participant"].n_unique():
            return frame.with_columns(again.cast(pl.String).alias("session")), [Message("role.runs", {"n": several})]
    free = mapping.get("trial", "trial")
    free = free if free not in COLUMNS else f"{free}_"
    return frame.rename({"trial": free}), [Message("role.no_order", {"column": free})]


def _shares_places_in_practice(known: pl.DataFrame, keys: Sequence[str]) -> bool:
    """Whether positions come again only among practice trials, and these are before all others."""
    place = pl.col("trial").cast(pl.Float64)
    practice, rest = (known.filter((pl.col("function") == "practice") == kind) for kind in (True, False))
    last, first = practice.group_by(keys).agg(last=place.max()), rest.group_by(keys).agg(first=place.min())
    again = [part.height - part.select(*keys, "trial").n_unique() for part in (practice, rest)]
    before = last.join(first, on=keys).select((pl.col("last") < pl.col("first")).all()).item()
    return bool(rest.height) and again[0] > 0 == again[1] and bool(before)


def _session_columns(frame: pl.DataFrame) -> list[str]:
    used = ("participant", "item", "response", "trial", "rt", "question", "repetition")
    names = [name for name in frame.columns if name not in used]
    ranked = [name for word in SESSION_NAMES for name in names if plain(name) == word]
    return [*ranked, *(name for name in ("function", "block") if name in names and name not in ranked),
            *(n for n in names if n not in ranked and frame[n].n_unique() <= 0.1 * frame.height
              and frame[n].dtype == pl.String)]  # fmt: skip


def _counted_on(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns((pl.int_range(pl.len()).over("participant") + 1).cast(pl.Int64).alias("trial"))


def _people(source: pl.DataFrame, shaped: Shaped, mapping: dict[str, str]) -> pl.DataFrame | None:
    """What a wide table says of its participants beside their answers."""
    person = shaped.mapping.get("participant")
    if not shaped.people or person is None or person not in source.columns:
        return None
    names = [name for name in shaped.people if name in source.columns]
    table = source.select(
        pl.col(person).cast(pl.String).alias("participant"), *(n for n in names if n != "participant")
    )
    return one_row_each(table)


def _taken(names: Sequence[str], mapping: dict[str, str]) -> dict[str, str]:
    """The file's columns, and as which of karat's each is taken."""
    found = {own: column for column, source in mapping.items() for own in joined(source, names)}
    return {name: found.get(name, "") for name in names}


def table_of(file: SourceFile, options: Options) -> FileTable:
    """A delimited file, spreadsheet, JSON (lines) or Parquet file as a table."""
    if file.suffix in (".parquet", ".pq"):
        return without_nested(_from_parquet(file), options.mapping)
    if file.is_json:
        return _from_json(file, options)

    def numbers(names: Sequence[str]) -> dict[str, pl.DataType]:
        mapping = guess_columns(names, dict(options.mapping))
        types = {"rt": pl.Float64(), "trial": pl.Int64()}
        return {mapping[column]: dtype for column, dtype in types.items() if mapping.get(column) in names}

    table = read_results(file, options.delimiter, options.sheet, numbers)
    empty = [name for name in table.frame.columns if UNNAMED.fullmatch(name) and not table.frame[name].count()]
    table = _without_second_header(replace(table, frame=_unpadded(table.frame.drop(empty))))
    table = _called_as_described(_without_labels(table), options)
    return _with_durations(_of_survey(_without_percents(_filled_down(table))))


def _called_as_described(table: FileTable, options: Options) -> FileTable:
    """Columns about participants under what their label says of them: DE01, below which Gender stands, as Gender."""
    mapped = {name for source in options.mapping.values() for name in joined(source, table.frame.columns)}
    said = {name: label.partition(":")[0].strip() for name, label in table.labels.items() if name not in mapped}
    about = {name: word for name, word in said.items() if describes_a_person(word) and word not in table.frame.columns}
    return replace(table, frame=table.frame.rename(about)) if len(set(about.values())) == len(about) else table


def _filled_down(table: FileTable) -> FileTable:
    """People and items that stand once above all of their rows, as in merged cells, in each of these rows."""
    frame = table.frame
    once = [
        name for name in frame.columns
        if 2 * frame[name].null_count() >= frame.height > FEWEST_TRIALS and frame[name][0] is not None
        and frame[name].n_unique() == frame[name].count() + 1 > FEWEST_MERGED
        and (plain(name) in (*NAMES["participant"], *NAMES["item"]) or set(words_of(name)) & set(PERSON_WORDS))
    ]  # fmt: skip
    for name in list(once):
        rows = frame.group_by(frame[name].is_not_null().cum_sum()).len()["len"]
        if (rows == rows.max()).mean() < FEWEST_ANSWERED:  # type: ignore[operator]
            once.remove(name)
    note = [Message("form.filled_down", {"columns": once})] if once else []
    return replace(table, frame=frame.with_columns(pl.col(once).forward_fill()), notes=[*table.notes, *note])


FEWEST_MERGED = 2
PERCENT = r"^\s*-?\d+(?:[.,]\d+)?\s*%\s*$"


def _without_percents(table: FileTable) -> FileTable:
    """Columns in which every cell ends with a percent sign as their numbers."""
    names = [
        name for name, dtype in table.frame.schema.items()
        if dtype == pl.String and (cells := table.frame[name].drop_nulls()).len()
        and cells.head(FEW).str.ends_with("%").all() and cells.str.contains(PERCENT).all()
    ]  # fmt: skip
    return replace(table, frame=table.frame.with_columns(pl.col(names).str.strip_chars(" %"))) if names else table


STARTS = re.compile(r"(start(ed)?|began|begin)(time|at|timestamp|ts)?")
ENDS = re.compile(r"(end(ed)?|finish(ed)?|stop(ped)?|submit(ted)?)(time|at|timestamp|ts)?")

MOMENTS_SEEN = 300


def _with_durations(table: FileTable) -> FileTable:
    """Response times from the moments, counted from 1970, at which each trial started and ended."""
    head = table.frame.head(MOMENTS_SEEN)
    both = [[name for name in head.columns if form.fullmatch(plain(name))] for form in (STARTS, ENDS)]
    known = guess_columns(head.columns, {})
    if [len(names) for names in both] != [1, 1] or "rt" in known or "participant" not in known:
        return table
    moments = [names[0] for names in both]
    start, end = (head[name].cast(pl.Float64, strict=False).drop_nulls() for name in moments)
    people = head[known["participant"]].n_unique()
    if not len(start) == len(end) == head.height or 3 * people > start.n_unique() or (start > end).any():
        return table
    if (start < UNIX_2000).any():
        return table
    first, last = (pl.col(name).cast(pl.Float64, strict=False) for name in moments)
    note = Message("table.durations", {"start": moments[0], "end": moments[1]})
    return replace(
        table, frame=table.frame.with_columns((last - first).round(3).alias("rt")), notes=[*table.notes, note]
    )


def _sheets_of(file: SourceFile, options: Options) -> list[FileTable]:
    """The sheets of a spreadsheet that have the columns of the first table, or the table of another file.

    Sheets before it may hold notes: they are empty or have one or two columns.
    """
    names = sheets_of(file) if options.sheet is None else []
    if len(names) < 2:
        return [table_of(file, options)]
    tables: dict[str, FileTable] = {}
    for name in names:
        with suppress(IntakeError):
            tables[name] = table_of(file, replace(options, sheet=name))
    chosen = next((name for name, table in tables.items() if table.frame.width >= FEWEST_COLUMNS), names[0])
    first = tables.get(chosen) or table_of(file, options)
    alike = {chosen: first} | {
        name: table for name, table in tables.items()
        if table.frame.height and table.frame.columns == first.frame.columns
    }  # fmt: skip
    if len(alike) < 2:
        others = [name for name in names if name != chosen]
        first.notes.append(Message("file.sheet", {"file": file.name, "sheet": chosen, "others": others}))
    if len(alike) < 2:
        return [first]
    note = Message("file.sheets", {"file": file.name, "n": len(alike), "sheets": listed(list(alike))})
    first.notes = [note, *first.notes]
    column = SHEET if _name_people(first.frame.columns) else OWN_FILE
    return [
        replace(table, frame=table.frame.with_columns(pl.lit(name).alias(column)), locate=_on_sheet(table.locate, name))
        for name, table in alike.items()
    ]


FEWEST_COLUMNS = 3


def _name_people(columns: Iterable[str]) -> bool:
    return any(plain(name) in NAMES["participant"] or set(words_of(name)) & set(PERSON_WORDS) for name in columns)


def _on_sheet(locate: Callable[[int], Place], sheet: str) -> Callable[[int], Place]:
    def place(row: int) -> Place:
        file, kind, number = locate(row)
        return f"{file}, {sheet}", kind, number

    return place


def _unpadded(frame: pl.DataFrame) -> pl.DataFrame:
    """Cells without the blank that follows each delimiter: every cell of the column begins with it."""
    names = [
        name for name, dtype in frame.schema.items()
        if dtype == pl.String and (cells := frame[name].drop_nulls()).len()
        and cells.head(50).str.starts_with(" ").all() and cells.str.starts_with(" ").all()
    ]  # fmt: skip
    return frame.with_columns(pl.col(names).str.strip_chars_start(" ")) if names else frame


def _from_parquet(file: SourceFile) -> FileTable:
    try:
        frame = pl.read_parquet(file.path)
    except (pl.exceptions.PolarsError, OSError) as error:
        why = cause(error)
        raise IntakeError(
            f"{file.name} is not a readable Parquet file: {why}. It may be cut off: copy it or write it again."
        ) from None
    return FileTable(file, frame, places(file.name, range(1, frame.height + 1), "row"))


def _from_json(file: SourceFile, options: Options) -> FileTable:
    nested: dict[str, str] = {}
    rows: list[dict[str, str | None]] = []
    numbers: list[int] = []
    table = FileTable(file, pl.DataFrame(), places(file.name, numbers, "element"))
    elements = [(number, _flat(_of_prodigy(_by_annotator(_in_lists(element))))) for number, element in _elements(file)]
    chosen = _index_of_choice([element for _, element in elements])
    for number, element in elements:
        element = element if chosen is None else _side_by_side(element, chosen)
        inner = [name for name, value in element.items() if _are_trials(value)] if isinstance(element, dict) else []
        if len(inner) == 1:
            # One object per participant, with a list of trials.
            shared = {cell_text(name) or "": cell_text(value) for name, value in element.items() if name != inner[0]}
            refuse_unnamed(element[inner[0]], inner[0], list(shared), file.name)
            for record in map(_spread, element[inner[0]]):
                rows.append(shared | {cell_text(name) or "": cell_text(value) for name, value in record.items()})
                numbers.append(number)
        elif isinstance(element, dict):
            rows.append({cell_text(name) or "": cell_text(value) for name, value in element.items()})
            sizes = Counter(len(value) for value in element.values() if isinstance(value, list))
            nested |= {name: LISTS if isinstance(value, list) else RECORDS for name, value in element.items()
                       if isinstance(value, list | dict) and not _belong_together(value, sizes)}  # fmt: skip
            numbers.append(number)
        else:
            table.problems.add(
                "is not an object with named values", "Write one object a judgment.",
                value=str(element), file=file.name, place="element", number=number,
            )  # fmt: skip
    single = [name for name, kind in nested.items() if kind == LISTS and _holds_one_each(row.get(name) for row in rows)]
    for name in single:
        del nested[name]
        for row in rows:
            row[name] = cell_text(next(iter(parsed(row.get(name)) or []), None))
    names = list(dict.fromkeys(name for row in rows for name in row))
    table.frame = pl.DataFrame(
        {name: [row.get(name) for row in rows] for name in names}, schema=dict.fromkeys(names, pl.String())
    )
    refuse_needed(table, nested, options.mapping)
    return table


CHOICES = ("choice", "preference", "preferred", "chosen", "winner", "best", "label")


def _index_of_choice(elements: Sequence[Any]) -> str | None:
    """What holds the index of the one that was chosen, where every object has a list of two candidates; else None."""
    for name in CHOICES:
        found = [one.get(name) if isinstance(one, dict) and len(_two_of(one)) == 1 else None for one in elements]
        if all(type(index) is int for index in found) and set(found) == {0, 1}:
            return name
    return None


def _two_of(element: Mapping[str, Any]) -> list[str]:
    """The names under which an object has a list of two objects."""
    return [name for name, value in element.items() if _are_records(value) and len(value) == 2]


def _side_by_side(element: Mapping[str, Any], chosen: str) -> dict[str, Any]:
    """An object with what its two candidates hold under names of their own, and the one chosen."""
    (name,) = _two_of(element)
    sides = ("first", "second")
    parts = {
        f"{side}_{key}": value for side, one in zip(sides, element[name], strict=True) for key, value in one.items()
    }
    rest = {key: value for key, value in element.items() if key != name}
    return rest | {chosen: sides[element[chosen]]} | parts


ALIKE = 0.9


def _elements(file: SourceFile) -> Iterator[tuple[int, Any]]:
    """The objects of a file; where one object holds them all by name, these, with the name as `id`."""
    for number, element in file.json_documents():
        while (
            isinstance(element, dict) and len(element) == 1 and isinstance(only := next(iter(element.values())), dict)
        ):
            element = only
        parts = list(element.values()) if isinstance(element, dict) else []
        if len(parts) > 1 and all(isinstance(part, dict) for part in parts):
            counts = Counter(name for part in parts for name in part)
            if sum(count >= ALIKE * len(parts) for count in counts.values()) > 1:
                yield from enumerate(({"id": key, **part} for key, part in element.items()), 1)
                continue
        yield number, element


def _in_lists(element: Any) -> Any:
    """An element with lists for objects whose names only count, and values for objects that hold nothing else.

    Objects side by side that hold lists under the same names, as for each of several systems, are a list as well.

    >>> _in_lists({"id": "p1", "trials": {"0": {"rating": {"value": 4}}, "1": {"rating": {"value": 2}}}})
    {'id': 'p1', 'trials': [{'rating': 4}, {'rating': 2}]}
    """
    if isinstance(element, list):
        return [_in_lists(part) for part in element]
    if not isinstance(element, dict):
        return element
    if list(element) == ["value"]:
        return element["value"]
    parts = {name: _in_lists(value) for name, value in element.items()}
    if all(str(name).isdigit() for name in parts) and _are_records(list(parts.values())):
        return list(parts.values())
    alike = [
        name for name, value in parts.items() if isinstance(value, dict) and any(map(_are_records, value.values()))
    ]
    if len(alike) < FEWEST_PEOPLE or any(set(parts[name]) != set(parts[alike[0]]) for name in alike):
        return parts
    rest = {name: value for name, value in parts.items() if name not in alike}
    return rest | {"versions": [{"version": name, **parts[name]} for name in alike]}


def _spread(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a trial with the values of objects in it beside its own; answers may be objects themselves."""
    found = dict(record)
    for name, value in record.items():
        if isinstance(value, dict) and not set(words_of(name)) & {*NAMES["response"]} and not set(value) & set(found):
            found = {**{key: one for key, one in found.items() if key != name}, **value}
    return found


def _by_annotator(element: Any) -> Any:
    """An item whose answers are an object with one value per annotator, as lists; other objects as they are.

    >>> _by_annotator({"text": "Fine.", "ratings": {"annotator_1": 4, "annotator_2": 2}})
    {'text': 'Fine.', 'ratings': [4, 2], 'annotators': ['annotator_1', 'annotator_2']}
    """
    if not isinstance(element, dict):
        return element
    who = element.get("annotators")
    listed_people = who.split(",") if isinstance(who, str) else who
    for name, value in element.items():
        people = list(value) if isinstance(value, dict) else []
        known = isinstance(listed_people, list) and set(people) == set(map(str, listed_people))
        if len(people) < FEWEST_PEOPLE or not (known or (name in SEVERAL_ANSWERS and all(map(is_rater, people)))):
            continue
        if all(isinstance(answer, dict) for answer in value.values()):
            return element | {name: [{"annotator": one, **answer} for one, answer in value.items()]}
        same = [key for key, other in element.items() if isinstance(other, dict) and list(other) == people]
        return element | {key: list(element[key].values()) for key in same} | {"annotators": people}
    return element


FEWEST_PEOPLE = 2


DEEPEST = 3
FEWEST_TRIALS = 4


def _flat(element: Any) -> Any:
    """An object whose trials lie in an object within it, with all values side by side; others as they are.

    Mechanical Turk keeps answers as {"answers": {"data": {"rating": [...], "sentence": [...]}}}.
    """
    if not isinstance(element, dict) or not any(isinstance(value, dict) for value in element.values()):
        return element
    found: dict[str, object] = {}

    def collect(values: dict[Any, Any], path: str, depth: int) -> None:
        for key, value in values.items():
            name = str(key) if str(key) not in found else f"{path}{key}"
            if isinstance(value, dict) and depth < DEEPEST:
                collect(value, f"{path}{key}.", depth + 1)
            elif isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list | dict):
                found[name] = value[0]
            else:
                found[name] = value

    collect(element, "", 1)
    lengths = [len(value) for value in found.values() if isinstance(value, list) and len(value) >= FEWEST_TRIALS]
    is_deep = any(length > 1 for length in Counter(lengths).values()) or any(map(_are_records, found.values()))
    return found if is_deep else element


def _belong_together(value: object, sizes: Mapping[int, int]) -> bool:
    """Whether a list is as long as another one of its object: an element for each trial."""
    return isinstance(value, list) and len(value) >= FEWEST_TRIALS and sizes[len(value)] > 1


def _holds_one_each(cells: Iterable[str | None]) -> bool:
    """Whether lists hold one value each, or none, as doccano writes the label of a text."""
    lists = [parsed(cell) for cell in cells if cell]
    plain_lists = all(isinstance(one, list) and not any(isinstance(part, list | dict) for part in one) for one in lists)
    return plain_lists and any(lists) and all(len(one) <= 1 for one in lists)


def _of_prodigy(element: Any) -> Any:
    """A task of Prodigy as a judgment: who saw what, and which options were accepted; other objects as they are.

    A form of the researchers' own has its answers in fields of their own, such as score.
    """
    if not isinstance(element, dict) or not {"_input_hash", "answer"} <= set(element):
        return element
    who = element.get("_annotator_id") or element.get("_session_id")
    what = next((element[name] for name in ("text", "html", "image", "audio") if element.get(name)), None)
    task = ({"participant": who} if who else {}) | {"item": what or element["_input_hash"]}
    own = {name: value for name, value in element.items() if name[0] != "_" and name != "answer"}
    given = [name for name in own if set(words_of(name)) & {*ANSWER_WORDS} and name != "label"]
    if given and not {"accept", "label", "spans"} & set(element):
        return task | own | dict.fromkeys(given if element["answer"] != "accept" else ())
    answered = element["answer"] if element["answer"] in ("accept", "reject") else None
    row = task | {"response": answered}
    if isinstance(element.get("accept"), list) and answered == "accept":
        row["response"] = "|".join(map(str, element["accept"])) or None
    elif isinstance(element.get("accept"), list):
        row["response"] = None
    row |= {name: element[name] for name in ("label", "spans") if isinstance(element.get(name), str)}
    if "_timestamp" in element:
        row["time"] = element["_timestamp"]
    return row


def _are_trials(value: object) -> bool:
    return _are_records(value) and not are_messages(value)


def _are_records(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(part, dict) for part in value)


def _without_second_header(table: FileTable) -> FileTable:
    """SurveyMonkey writes the parts of a question, or what kind of answer it has, into a second header row."""
    if table.frame.height < 2:
        return table
    first = table.frame.row(0)
    cells = [cell.strip() for cell in first if isinstance(cell, str)]
    kinds = [SECOND_HEADER.fullmatch(cell) is not None for cell in cells]
    parted = {"Respondent ID", "Collector ID"} <= set(table.frame.columns) and any(kinds) and first[0] is None
    if len(cells) < 2 or not (all(kinds) or parted):
        return table
    names: list[str] = []
    for name, cell in zip(table.frame.columns, first, strict=True):
        text = "" if cell is None or SECOND_HEADER.fullmatch(cell.strip()) else cell.strip()
        free = text or name
        while free in names:
            free += "_"
        names.append(free)
    locate = table.locate
    return replace(table, frame=table.frame.slice(1).rename(dict(zip(table.frame.columns, names, strict=True))),
                   locate=lambda row: locate(row + 1))  # fmt: skip


NOT_ANSWERED = ("-9", "-1", "-10")
"""What SoSci Survey writes for a question that was not answered, seen or known."""


def _of_survey(table: FileTable) -> FileTable:
    """The export of a survey tool as a table: codes for no answer are none, labels below the header are not answers."""
    if not {"CASE", "QUESTNNR"} <= set(table.frame.columns):
        return table
    frame = table.frame
    text = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    gone = sum(int(frame[name].is_in(NOT_ANSWERED).sum()) for name in text)
    frame = frame.with_columns(pl.when(~pl.col(n).is_in(NOT_ANSWERED)).then(pl.col(n)).alias(n) for n in text)
    notes = [Message("table.missing", {"n": gone, "words": list(NOT_ANSWERED[:2])})] if gone else []
    return replace(table, frame=frame, notes=[*table.notes, *notes])


def _without_labels(table: FileTable) -> FileTable:
    """A table without a row of labels or units below its header: words where all other cells are numbers."""
    texts = [name for name, dtype in table.frame.schema.items() if dtype == pl.String]
    if table.frame.height <= FEWEST_TRIALS or not texts:
        return table
    rest = table.frame.slice(1).select(texts)
    # The first rows of a large table tell whether the rest need be looked at.
    if rest.height > LARGE and not set(_of_numbers(rest.head(LARGE))) & {
        n for n in texts if _is_word(table.frame[n][0])
    }:
        return table
    numbers = _of_numbers(rest)
    labels = [cell for cell in (table.frame[name][0] for name in numbers) if cell]
    worded = [cell for cell in labels if _is_word(cell)]
    if len(worded) < max(FEWEST_LABELS, len(labels)) or 2 * len(worded) < len(numbers):
        return table
    locate = table.locate
    below = replace(table, frame=table.frame.slice(1), locate=lambda row: locate(row + 1))
    if any(UNNAMED.fullmatch(name) for name in numbers):
        # A name above several columns stands in the first of them.
        return replace(below, frame=below.frame.rename(_joined_headers(table.frame)))
    note = Message("table.labels", {"cells": [cut(cell) for cell in worded[:3]]})
    said = {name: str(cell) for name, cell in zip(table.frame.columns, table.frame.row(0), strict=True) if cell}
    return replace(below, notes=[*table.notes, note], labels=said)


def _of_numbers(frame: pl.DataFrame) -> list[str]:
    """The columns of text whose cells are numbers, signs and words for nothing aside."""
    filled = frame.filter(pl.any_horizontal(pl.all().is_not_null()))
    bare = filled.select(pl.when(~pl.all().is_in([*SIGNS, *MISSING])).then(pl.all()))
    return [c.name for c in bare if 2 * c.count() > c.len() and _are_numbers(c.drop_nulls())]


def _is_word(cell: str | None) -> bool:
    return bool(cell) and as_number(str(cell).replace(",", ".")) is None and cell not in SIGNS


def _joined_headers(frame: pl.DataFrame) -> dict[str, str]:
    """The name of each column in two rows: the first names several columns at once, the second each of them."""
    found: dict[str, str] = {}
    above = ""
    for name, cell in zip(frame.columns, frame.row(0), strict=True):
        above = above if UNNAMED.fullmatch(name) else name
        joined_name = f"{above} {cell}".strip() if cell else name
        found[name] = joined_name if joined_name not in found.values() else name
    return found


FEWEST_LABELS, LARGE = 2, 1_000


def _are_numbers(cells: pl.Series) -> bool:
    """Whether most cells are numbers; below a table, means and remarks may stand."""
    numbers = cells.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return numbers.null_count() <= FEW_ROWS * cells.len()


LOGS = (
    (("sender_id",), ("sender", "sender_type", "ended_on")),
    (("trial_id", "rating_stimulus"), ("session_test_id", "rating_score")),
)
"""The columns that tell what a row of a log of lab.js or webMUSHRA shows, and others by which the log is known."""


def _runs_of_log(table: FileTable, options: Options) -> FileTable:
    """A log that names no participant, with one for each run: a screen that comes again begins the next."""
    frame = table.frame
    logged = next((screen for screen, others in LOGS if {*screen, *others} <= set(frame.columns)), None)
    named = any(plain(name) in (*NAMES["participant"], plain(OWN_FILE), "sessionuuid") for name in frame.columns)
    if logged is None or named or options.mapping.get("participant") or not frame.height:
        return table
    seen: set[tuple[str, ...]] = set()
    runs, run = [], 1
    own = "observation"
    once = FEWEST_ANSWERED * frame.height
    if own in frame.columns and not frame[own].null_count() and frame.select(own, *logged).n_unique() >= once:
        note = Message("table.columns", {"columns": [f"participant={own}"]})
        return replace(table, frame=frame.rename({own: "participant"}), notes=[*table.notes, note])
    for screen in frame.select(text_column(frame[name]) for name in logged).rows():
        if None not in screen and screen in seen:
            run, seen = run + 1, set()
        seen.add(screen)
        runs.append(run)
    stem = table.file.path.stem
    people = pl.Series("participant", [stem if run == 1 else f"{stem}-{at}" for at in runs])
    note = Message("jspsych.one_participant_per_file")
    if run > 1:
        note = Message("jspsych.participants_by_run", {"file": stem, "n": run})
    return replace(table, frame=frame.with_columns(people), notes=[*table.notes, note])


def _answering_screens(table: FileTable) -> tuple[FileTable, int]:
    """A log of lab.js without the screens on which nobody ever answers, and how many rows they were."""
    names = {"sender", "sender_type", "ended_on", "response"}
    if not names <= set(table.frame.columns):
        return table, 0
    given = table.frame.filter(~pl.col("response").cast(pl.String).is_in(MISSING))
    asked = pl.col("sender").is_in(given["sender"].unique().to_list())
    kept = table.frame.select(asked.fill_null(False).alias("kept"))["kept"]
    if not kept.any() or kept.all():
        return table, 0
    locate = located(table.locate, kept.arg_true())
    return replace(table, frame=table.frame.filter(kept), locate=locate), int((~kept).sum())


GIVEN = (".keys", ".response", ".rating")
GO_ON = (*MISSING, "space", "return")


def _answering_loop(table: FileTable, options: Options) -> tuple[FileTable, Message, int]:
    """A file of PsychoPy with the rows of one loop, and how many rows of other loops and routines are left out.

    Each component of an experiment has columns of its own, which are empty in the rows of all other routines. The loop
    is the one in which most answers were given, or those that the user names.
    """
    frame = table.frame
    if "psychopyVersion" not in frame.columns or options.keep_all:
        return table, Message("role.other_loops", {"loop": ""}), 0
    chosen, most, title = pl.repeat(True, frame.height, eager=True), 0, ""
    names = [name for name in frame.columns if name.endswith(GIVEN)]
    names = [options.mapping["response"]] if options.mapping.get("response") in names else names
    for loop in (name for name in frame.columns if name.endswith(".thisN")):
        within = text_column(frame[loop]).is_not_null()
        answered = pl.repeat(False, frame.height, eager=True)
        for cells in (text_column(frame[name]) for name in names):
            there = within & ~cells.is_in(GO_ON).fill_null(True)
            if cells.filter(there).n_unique() > 1 and 2 * int(there.sum()) >= int(within.sum()):
                answered |= there
        if answered.sum() > most:
            chosen, most, title = answered, int(answered.sum()), loop.removesuffix(".thisN")
    kept = frame.filter(chosen)
    filled = [name for name in kept.columns if not text_column(kept[name]).is_in(MISSING).fill_null(True).all()]
    shorter = replace(table, frame=kept.select(filled), locate=located(table.locate, chosen.arg_true()))
    return shorter, Message("role.other_loops", {"loop": title}), frame.height - kept.height


SUMMED_UP = rf"(?i)^({'|'.join((*AVERAGES, *SPREADS, *TOTALS))}):?$"


def _without_totals(table: FileTable) -> tuple[FileTable, int]:
    """The table without the means and sums of its columns in the last rows, and how many rows they were."""
    for cells in table.frame.to_dict().values() if table.frame.width > 1 else ():
        if cells.null_count() == len(cells):
            continue
        total = text_column(cells).str.strip_chars().str.contains(SUMMED_UP).fill_null(False)
        n = int(total.sum())
        if 0 < n <= MOST_TOTALS and total.tail(n).all() and n < table.frame.height:
            return replace(table, frame=table.frame.head(table.frame.height - n)), n
        if not cells.tail(MOST_TOTALS).null_count():
            break
    return table, 0


MOST_TOTALS = 4


def _without_headers_again(table: FileTable) -> tuple[FileTable, int]:
    """The table without rows that repeat its header, as files put one below the other have them, and how many."""
    strings = [name for name, dtype in table.frame.schema.items() if dtype == pl.String and not UNNAMED.fullmatch(name)]
    first = table.frame[strings[0]] if len(strings) > 1 else pl.Series([], dtype=pl.String)
    if not (first == first.name).any() or not guess_columns(table.frame.columns, {}):
        return table, 0
    again = table.frame.select(pl.all_horizontal(pl.col(name) == name for name in strings)).to_series().fill_null(False)
    locate = located(table.locate, (~again).arg_true())
    return replace(table, frame=table.frame.filter(~again), locate=locate), int(again.sum())


def _without_placeholders(table: FileTable) -> FileTable:
    """The table without columns for people that hold nothing but their own names: nothing was filled in there."""
    named = [name for name in table.frame.columns if plain(name) in NAMES["participant"]]
    unfilled = [name for name in named if table.frame[name].unique().to_list() == [name]]
    return replace(table, frame=table.frame.drop(unfilled))


def _per_trial(table: FileTable, options: Options) -> tuple[FileTable, int]:
    """The table with one row per trial where it has one per word, and how many rows that leaves out."""
    found = without_words(table.frame) if options.wide is None else None
    there = table.frame.columns
    mapped = {name for source in options.mapping.values() for name in joined(source, there) if name in there}
    if found is None or not mapped <= set(found[0].columns):
        return table, 0
    frame, rows = found
    return replace(table, frame=frame, locate=located(table.locate, rows)), table.frame.height - frame.height


def _named_by_file(tables: Sequence[FileTable]) -> list[FileTable]:
    """Tables of which none names its participant, with the name of the file in a column: often it is one per person."""
    names = {name for table in tables for name in table.frame.columns}
    if len(tables) == 1 or _name_people(names) or OWN_FILE in names:
        return list(tables)
    files = [pl.lit(table.file.path.stem).alias(OWN_FILE) for table in tables]
    return [replace(table, frame=table.frame.with_columns(file)) for table, file in zip(tables, files, strict=True)]


def _stacked(tables: Sequence[FileTable]) -> FileTable:
    """Tables with the same columns, one below the other."""
    first, *others = tables
    if not others:
        return first
    problems = Problems()
    for table in tables:
        problems.extend(table.problems)
    whole = chained([(table.frame.height, table.locate) for table in tables])
    notes = list(dict.fromkeys(note for table in tables for note in table.notes))
    frame = pl.concat([table.frame for table in tables], how="diagonal_relaxed")
    return FileTable(first.file, frame, whole, first.delimiter, problems, notes)


def _stated_mapping(table: FileTable, options: Options) -> dict[str, str]:
    """The mapping that the user gave, checked against the columns that are there."""
    there = table.frame.columns
    refuse_misspelt(options.mapping, there)
    mapping = {column: source for column, source in options.mapping.items() if column}
    plain_names = {c: s for c, s in mapping.items() if not re.search(r"\[\d+\]", s)}
    if options.wide is None:
        refuse_absent(plain_names, there, table.file.name)
    return mapping


def _mapped(table: FileTable, mapping: dict[str, str]) -> pl.DataFrame:
    """The table under karat's names; a column that is in karat's way without being meant gets an underscore."""
    there = table.frame.columns
    # The parts of a joined name stay: they are the conditions.
    used = {parts[0] for source in mapping.values() if len(parts := joined(source, there)) == 1}
    used |= {name for source in mapping.values() if ".." in source for name in joined(source, there)}
    unwanted = {column for column, source in mapping.items() if not source}
    rest = [name for name in there if name not in used | unwanted]
    columns = {column: _column(table.frame, column, source) for column, source in mapping.items() if source}
    for name in rest:
        free = name
        while free in columns or free in COLUMNS:
            free += "_"
        columns[free] = table.frame[name].alias(free)
    return pl.DataFrame(list(columns.values()))


def _column(frame: pl.DataFrame, column: str, source: str) -> pl.Series:
    parts = joined(source, frame.columns)
    if len(parts) == 1:
        return frame[parts[0]].alias(column)
    if source != "..".join(parts):
        texts = [text_column(frame[part]) for part in parts]
        if column == "function":
            texts = [cells.replace(dict.fromkeys(MISSING)) for cells in texts]
        return pl.select(
            pl.concat_str(texts, separator=" + ", ignore_nulls=True).replace("", None).alias(column)
        ).to_series()
    low, high = (text_column(frame[part]) for part in parts)
    both = pl.when(low.is_not_null() & high.is_not_null()).then(low + "-" + high).alias(column)
    return pl.select(both).to_series()


def _mapping_note(mapping: dict[str, str], options: Options) -> list[Message]:
    guessed = [f"{column}={source}" for column, source in mapping.items()
               if source and column not in options.mapping and column != source]  # fmt: skip
    return [Message("table.columns", {"columns": guessed})] if guessed else []


def _missing_answers(frame: pl.DataFrame, options: Options) -> tuple[pl.DataFrame, list[Message]]:
    """R writes NA, jsPsych null: in answers and numbers these mean that there is none.

    The only word among points of a scale means this too: n, or I don't know.
    """
    notes = []
    free = not options.scale and not options.answers
    for name in ("response", "expected", "rt", "trial", "time"):
        if name not in frame.columns or frame[name].dtype != pl.String:
            continue
        if name in ("rt", "trial"):
            numbers = frame[name].cast(pl.Float64, strict=False)
            whole = name == "rt" or bool((numbers.drop_nulls() % 1 == 0).all())
            if whole and numbers.null_count() == frame[name].null_count():
                frame = frame.with_columns(numbers if name == "rt" else numbers.cast(pl.Int64))
                continue
        distinct = frame[name].unique()
        signs = distinct.filter(distinct.is_in(SIGNS)).to_list()
        rest = [cell for cell in distinct.drop_nulls().to_list() if cell not in (*SIGNS, *MISSING)]
        words = [cell for cell in rest if as_number(cell) is None]
        if name == "response" and free and len(words) == 1 and _is_beside_points(frame, words[0], len(rest)):
            signs.append(words.pop())
        nothing = MISSING if not signs or words else (*MISSING, *SIGNS, *signs)
        words = distinct.filter(distinct.is_in(nothing)).to_list()
        if words:
            gone = frame[name].is_in(words).fill_null(False)
            if name == "response":
                notes.append(Message("table.missing", {"n": int(gone.sum()), "words": words}))
            frame = frame.with_columns(pl.when(~gone).then(pl.col(name)).alias(name))
        given = distinct.filter(~distinct.is_in(words))
        if name == "response" and given.len() and given.str.contains(r"^-?\d+\.0+$").all():
            # Tables that once had empty cells are written with 5.0 for 5.
            notes.append(Message("table.whole_numbers", {"answer": frame[name].drop_nulls()[0]}))
            frame = frame.with_columns(pl.col(name).str.replace(r"\.0+$", ""))
    return frame, notes


def _keys(frame: pl.DataFrame, mapping: Mapping[str, str], options: Options) -> tuple[pl.DataFrame, list[Message]]:
    """Answers that are the numbers of keys, as jsPsych 6 has them in key_press, as these keys."""
    source = mapping.get("response", "")
    if plain(source) != "keypress" or options.answers or options.scale or "response" not in frame.columns:
        return frame, []
    codes = text_column(frame["response"]).drop_nulls().unique().sort().to_list()
    known = {str(code): chr(code).lower() for code in range(ZERO_KEY, Z_KEY + 1) if chr(code).isalnum()}
    keys = {code: known[code] for code in codes if code in known}
    if not codes or len(keys) < len(codes):
        return frame, []
    note = Message("table.keys", {"column": source, "code": codes[0], "key": keys[codes[0]]})
    return frame.with_columns(text_column(frame["response"]).replace(keys).alias("response")), [note]


ZERO_KEY, Z_KEY = 48, 90


def _is_beside_points(frame: pl.DataFrame, word: str, levels: int) -> bool:
    """Whether a word is one answer beside the few points of a scale, to several items that others gave points to."""
    if re.search(r"\d", word) or not FEWEST_POINTS < levels <= MOST_ORDINAL_POINTS + 1 or "item" not in frame.columns:
        return False
    said = frame.filter(pl.col("response").is_not_null()).select("item", (pl.col("response") == word).alias("word"))
    shares = said.group_by("item").agg(pl.col("word").mean()).filter(pl.col("word") > 0)["word"]
    return shares.len() >= FEWEST_ITEMS and bool((shares < 1).mean() >= HALF)  # type: ignore[operator]


FEWEST_ITEMS = 5


def _numbers(
    table: FileTable, frame: pl.DataFrame, mapping: dict[str, str], options: Options
) -> tuple[pl.DataFrame, list[Message]]:
    """Decimal commas, the unit of time, and numbers in the columns that are not karat's."""
    frame, notes = _decimal_commas(frame, options)
    if "rt" in frame.columns and "participant" in frame.columns:
        frame, more = _thousands(frame, mapping["rt"])
        notes += more
        numbers = frame["rt"].cast(pl.Float64, strict=False)
        unit: str | None = options.rt_unit
        if unit is None:
            unit, note = guess_rt_unit(numbers, frame["participant"], mapping["rt"], table.file.name)
            notes += [] if note is None else [note]
        if unit == "ms":
            frame = frame.with_columns(seconds_of(frame["rt"]).alias("rt"))
    typed = [column for name, column in frame.to_dict().items() if name not in COLUMNS and column.dtype == pl.String]
    return frame.with_columns(typed_column(column) for column in typed), notes


COMMA = r"^\s*-?\d+,\d+\s*$"


def _thousands(frame: pl.DataFrame, name: str) -> tuple[pl.DataFrame, list[Message]]:
    """Times such as 1.234 ms in a table with decimal commas: the points in them separate thousands."""
    texts = frame.select(pl.col(pl.String)).head(LOOKED_AT)
    if not any(cells.len() and cells.str.contains(COMMA).all() for cells in (one.drop_nulls() for one in texts)):
        return frame, []
    times = frame["rt"].cast(pl.Float64, strict=False).drop_nulls()
    off = times * THOUSAND - (times * THOUSAND).round(0)
    if (times % 1 == 0).all() or (times >= THOUSAND).any() or (off.abs() > ROUNDED).any():
        return frame, []
    time = pl.col("rt").cast(pl.Float64, strict=False)
    parted = (time % 1 != 0) | (time < SHORTEST)
    whole = pl.when(parted).then((time * THOUSAND).round(0)).otherwise(time)
    return frame.with_columns(whole.alias("rt")), [Message("table.thousands", {"column": name})]


THOUSAND, SHORTEST, LOOKED_AT, ROUNDED = 1000, 50, 1000, 1e-6
"""Nobody answers in fewer milliseconds than the second of these."""


def _decimal_commas(frame: pl.DataFrame, options: Options) -> tuple[pl.DataFrame, list[Message]]:
    text = [name for name in ("rt", "response") if name in frame.columns and frame[name].dtype == pl.String]
    names = [name for name in text if frame[name].unique().str.contains(COMMA).any()]
    if not names or options.decimal == ".":
        return frame, []
    plain = pl.col(names)
    frame = frame.with_columns(
        pl.when(plain.str.contains(COMMA)).then(plain.str.replace(",", ".", literal=True)).otherwise(plain).name.keep()
    )
    return frame, [] if options.decimal else [Message("table.decimal_commas", {"columns": names})]


def typed_column(column: pl.Series) -> pl.Series:
    """A column of text as numbers where every cell is the plain spelling of one; else, and for contrasts, as it is.

    >>> typed_column(pl.Series(["1", "2"])).dtype, typed_column(pl.Series(["01", "2"])).dtype
    (Int64, String)
    """
    whole, decimal = r"^-?(0|[1-9]\d{0,17})$", r"^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$"
    for form, dtype in ((whole, pl.Int64), (decimal, pl.Float64)):
        # The first cells decide most columns at once.
        if all(cells.str.contains(form).fill_null(True).all() for cells in (column.head(100), column)):
            numbers = column.cast(dtype)
            levels = dtype == pl.Float64 and column.n_unique() <= FEW and are_contrasts(numbers)
            return column if levels or column.null_count() == len(column) else numbers
    return column


FEW = 5


def _counted_down(
    frame: pl.DataFrame, numbers: pl.Series, mapping: dict[str, str]
) -> tuple[pl.DataFrame, list[Message]]:
    """Trials before number 0 are training: they are practice, and all are counted from 1."""
    if (numbers.drop_nulls() % 1 != 0).any() or (numbers < 0).mean() >= FEWEST_ANSWERED / 2:  # type: ignore[operator]
        return frame, []
    early = (numbers < 0).fill_null(False)
    trial = (numbers - numbers.min() + 1).cast(pl.Int64).alias("trial")
    frame = frame.with_columns(trial)
    if "function" not in frame.columns:
        frame = frame.with_columns(function=pl.lit("test"))
    practice = pl.when(early).then(pl.lit("practice")).otherwise(pl.col("function")).alias("function")
    return frame.with_columns(practice), [
        Message("trial.negative", {"column": mapping["trial"], "n": int(early.sum())})
    ]


def _trials_from_one(frame: pl.DataFrame, mapping: dict[str, str]) -> tuple[pl.DataFrame, list[Message]]:
    """Many tools count trials from 0."""
    if "trial" not in frame.columns:
        return frame, []
    numbers = frame["trial"].cast(pl.Float64, strict=False)
    lowest = numbers.min()
    if not isinstance(lowest, float) or lowest > 0 or numbers.null_count() > frame["trial"].null_count():
        return frame, []
    if lowest < 0:
        return _counted_down(frame, numbers, mapping)
    return frame.with_columns(from_one(frame["trial"]).alias("trial")), [
        Message("trial.from_zero", {"column": mapping["trial"]})
    ]


READER = Reader("table", "a table with one judgment per row", lambda file: True, read_generic, maps=True)
