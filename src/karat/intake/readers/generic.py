"""Any delimited file, spreadsheet, JSON lines or Parquet file with one judgment per row.

The mapping of columns comes from the user or is guessed, with a note. A mapping may join two columns:
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
from karat.intake.content import AVERAGES, CRITERIA, SPREADS, TO_GO_ON, TOTALS, Content, flagged_function, words_of
from karat.intake.forms import SECOND_HEADER, choices_of_pairs, is_rater, shape, without_words
from karat.intake.guess import (
    FEWEST_POINTS,
    MOST_NOMINAL_LEVELS,
    MOST_ORDINAL_POINTS,
    NAMES,
    beginnings,
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
from karat.judgments.checks import LISTS, RECORDS, Place, located, places, text_column
from karat.judgments.columns import COLUMNS, FUNCTIONS, nearest
from karat.judgments.message_tables import listed
from karat.judgments.scales import as_number
from karat.judgments.source import SourceFile
from karat.judgments.stimuli import are_contrasts
from karat.judgments.tables import FileTable, sheets_of
from karat.judgments.times import UNIX_2000
from karat.judgments.trial_order import in_order
from karat.messages import Message

MISSING = ("NA", "NaN", "nan", "null", "NULL", "None", "undefined", "")


SIGNS = (".", "-", "--", "?", "N/A", "n/a", "n.a.", "NULL", "none", "None", "missing", "k.A.")
"""What stands for a missing answer among answers that are numbers."""


def read_generic(files: Sequence[SourceFile], options: Options) -> Reading:
    """Read a table: convert it to one row per answer, then search the roles of its columns."""
    file = files[0]
    table = _stacked(_named_by_file([table for one in files for table in _sheets_of(one, options)]))
    if table.rows_in == 0:
        raise IntakeError(f"{file.name} has a header and no rows, so there is nothing to read.")
    table, again = _without_repeated_headers(_without_placeholders(table))
    table = _runs_of_log(table, options)
    table, screens = _answering_screens(table)
    table, beside, loops = _answering_loop(table, options)
    table, words = _per_trial(people_in_one_column(table), options)
    user_mapping = _user_mapping(table, options)
    if is_native(table.frame, user_mapping) and options.wide is None:
        return _counted(_read_native(table, user_mapping, options), again, screens, words, beside, loops)
    table, totals = _without_totals(table)
    screens += totals
    shaped = shape(table.frame, options.wide, file.name, user_mapping)
    all_mapping = {**shaped.mapping, **user_mapping}
    refuse_absent(all_mapping, shaped.frame.columns, file.name)
    roles = find_roles(shaped.frame, all_mapping, file.name)
    long = replace(table, frame=_with_labels(shaped, table.labels))
    mapping = roles.mapping
    notes = [*table.notes, *shaped.notes, *roles.notes, *_mapping_note(mapping, options)]
    frame = _mapped(long, mapping)
    frame = _through(
        _with_functions(frame, roles), notes, _practice_answers, lambda f: _filled_items(f, mapping),
        lambda f: _with_sides(f, mapping, options),
    )  # fmt: skip
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
    reading = _without(reading, options, UNSHOWN_ROWS)
    reading.frame = _through(
        reading.frame, notes, lambda f: _expected_in_checks(f, mapping), lambda f: _missing_answers(f, options),
        lambda f: _keys(f, mapping, options),
    )  # fmt: skip
    reading = _without(reading, options, OTHER_ROWS)
    frame = _through(
        reading.frame, notes, _clock_times, lambda f: _numbers(table, f, mapping, options), _times_after_onset,
        lambda f: _trials_from_one(f, mapping),
    )  # fmt: skip
    pairs = choices_of_pairs(frame)
    if pairs is not None:
        reading.set_apart(Message("form.second_rows"), frame.height - pairs[0].height)
        frame, reading.locate = pairs[0], located(reading.locate, pairs[1])
        notes.append(Message("form.pairs"))
    reading.frame = _through(frame, notes, lambda f: _sessions(f, mapping))
    reading.participants = _people(table.frame, shaped, mapping)
    return _counted(reading, again, screens, words, beside, loops)


def _through(
    frame: pl.DataFrame, notes: list[Message], *steps: Callable[[pl.DataFrame], tuple[pl.DataFrame, list[Message]]]
) -> pl.DataFrame:
    """The table after several steps, each of which may add notes."""
    for step in steps:
        frame, more = step(frame)
        notes += more
    return frame


def _with_labels(shaped: Shaped, labels: Mapping[str, str]) -> pl.DataFrame:
    """The answers with the labels of a second header row, if columns were items.

    These are texts of the items, or conditions of several items.
    """
    frame = shaped.frame
    items = frame["item"].unique().to_list() if "item" in frame.columns and shaped.unit == "cells" else []
    texts = {item: labels[item] for item in items if item in labels}
    different = len(set(texts.values()))
    name = TEXT if different == len(items) else CONDITION
    if len(texts) < len(items) or different < 2 or name in frame.columns:
        return frame
    return frame.with_columns(pl.col("item").replace_strict(texts).alias(name))


TEXT, CONDITION = "text", "condition"


def _counted(reading: Reading, again: int, screens: int, words: int, beside: Message, loops: int) -> Reading:
    """The reading with the rows that were left out before the search for roles."""
    reading.units_in += again + screens + words + loops
    reading.set_apart(Message("aside.repeated_headers"), again)
    reading.set_apart(Message("role.not_trials"), screens)
    reading.set_apart(beside, loops)
    reading.set_apart(Message("form.word_rows"), words)
    return reading


def _read_native(table: FileTable, user_mapping: dict[str, str], options: Options) -> Reading:
    """Read a table with karat's own names; a column with such a name but other content is a condition."""
    mapping = guess_mapping(table.frame, user_mapping)
    notes = list(table.notes)
    for role in ("function", "trial", "polarity", "repetition", "time"):
        source = mapping.get(role)
        if source is None or role in user_mapping or source not in table.frame.columns:
            continue
        note = _misfit(table.frame[source], role, source)
        if note is not None:
            notes.append(note)
            del mapping[role]
    notes += _mapping_note(mapping, options)
    frame = _through(
        _mapped(table, mapping), notes, lambda f: _missing_answers(f, options), _clock_times,
        lambda f: _numbers(table, f, mapping, options), lambda f: _trials_from_one(f, mapping),
    )  # fmt: skip
    if _restarting(frame):
        frame = _through(frame, notes, lambda f: _sessions(f, mapping))
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
    """The note on a column with karat's name for a role but other content; None if it fits."""
    if role == plain(source) == "function":
        return None
    values = [str(value).strip() for value in column.drop_nulls().unique(maintain_order=True).head(1000).to_list()]
    examples = [cut(value) for value in values[:3]]
    if not values:
        return None
    if role == "function":
        functions = [value for value in values if value.lower() in FUNCTIONS or nearest(value, FUNCTIONS)]
        few = len(functions) < len(values)
        return Message("role.no_function", {"column": source, "values": examples, "n": len(values)}) if few else None
    numbers = [value for value in values if as_number(value) is not None]
    if role == "time":
        numbers = values if are_instants(values) else []
    if role == "polarity":
        numbers = [value for value in numbers if as_number(value) in (1, -1)]
    if 2 * len(numbers) >= len(values):
        return None
    code = "role.no_position" if role == "trial" else "role.other_content"
    return Message(code, {"column": source, "values": examples})


def _is_settled(question: Question, options: Options) -> bool:
    return question.role in options.mapping or (question.role == "wide" and options.wide is not None)


def refuse_absent(mapping: Mapping[str, str], columns: Sequence[str], file: str) -> None:
    """Raise IntakeError if a mapping names a column that the table does not have."""
    for column, source in mapping.items():
        for name in joined(source, columns):
            if name and name not in columns:
                close = nearest(name, columns)
                hint = f" Is it {close}?" if close else ""
                raise IntakeError(
                    f"{file} has no column {name} for --map {column}={source}.{hint} It has {', '.join(columns)}."
                )


def _with_sides(
    frame: pl.DataFrame, mapping: Mapping[str, str], options: Options
) -> tuple[pl.DataFrame, list[Message]]:
    """Answers such as A and B as left and right, if two columns hold the options on either side.

    Correct answers are spelled like answers.
    """
    if not {"left", "right", "response"} <= set(frame.columns) or options.answers:
        return frame, []
    columns = [mapping.get(side, side) for side in ("left", "right")]
    answers = Content("", text_column(frame["response"]))
    contents = [Content(name, frame[side]) for side, name in zip(("left", "right"), columns, strict=True)]
    sides = sides_of(answers.values, columns)
    if not sides and names_one_of(answers, *contents):
        chosen = [pl.when(pl.col("response") == pl.col(side)).then(pl.lit(side)) for side in ("left", "right")]
        tied = pl.when(pl.col("response").is_not_null()).then(pl.lit("none"))
        return frame.with_columns(pl.coalesce([*chosen, tied]).alias("response")), []
    if not sides:
        return frame, []
    spelled = [pl.col(n).cast(pl.String).replace(sides) for n in ("response", "expected") if n in frame.columns]
    if "item" in frame.columns and are_systems(answers, contents):
        # The texts keep the names of the systems that wrote them.
        systems = {side: answer for answer, side in sides.items() if side != "none"}
        frame = frame.with_columns(
            pl.col(side).alias(name) for side, name in zip(("left", "right"), columns, strict=True)
        )
        spelled += [pl.lit(answer).alias(side) for side, answer in systems.items()]
    return frame.with_columns(spelled), sides_notes(sides)


def _perhaps_sides(frame: pl.DataFrame, mapping: Mapping[str, str], options: Options) -> list[Message]:
    """The note that two texts beside numeric preferences may be the options compared."""
    source = mapping.get("response", "")
    is_preference = {"pref", "preference", "preferred", "choice", "chosen", "winner"} & {*words_of(source)}
    if not is_preference or "left" in frame.columns or options.scale or options.answers:
        return []
    if any(as_number(answer) is None for answer in text_column(frame["response"]).drop_nulls().unique()):
        return []
    texts = [c for c in map(Content, frame.columns, frame) if c.cells.dtype == pl.String and c.is_text]
    if len(texts) != len(("left", "right")) or (texts[0].cells == texts[1].cells).any():
        return []
    left, right = (mapping.get(content.name, content.name) for content in texts)
    return [Message("form.perhaps_sides", {"left": left, "right": right, "column": source})]


def _with_functions(frame: pl.DataFrame, roles: Roles) -> pl.DataFrame:
    """Item functions instead of the file's words for them; the words stay in a column of their own."""
    if not roles.functions or "function" not in frame.columns:
        return frame
    source = roles.mapping["function"]
    words = text_column(frame["function"])
    functions = words.replace_strict(roles.functions, default="test", return_dtype=pl.String)
    frame = frame.with_columns(functions.alias("function"))
    if len(joined(source, frame.columns)) > 1 or source == roles.mapping.get("item"):
        return frame  # Its parts or the items remain.
    return frame.with_columns(words.alias(_unused(source, frame.columns, COLUMNS)))


def _practice_answers(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    """Practice trials with their answers, if a column called practice holds these and is empty in all other trials."""
    for name in frame.columns if "response" in frame.columns else ():
        if name in COLUMNS or flagged_function([w for w in words_of(name) if w not in ANSWER_WORDS]) != "practice":
            continue
        cells, answers = (text_column(frame[one]).replace(dict.fromkeys(MISSING)) for one in (name, "response"))
        numbers, others = cells.cast(pl.Float64, strict=False), answers.cast(pl.Float64, strict=False)
        same_scale = numbers.count() == cells.count() and others.count() == answers.count()
        practised = cells.is_not_null()
        if not same_scale or not practised.any() or (practised & answers.is_not_null()).any():
            continue
        function = frame["function"] if "function" in frame.columns else pl.repeat("test", frame.height, eager=True)
        frame = frame.drop(name).with_columns(
            answers.fill_null(cells).alias("response"),
            pl.select(pl.when(practised).then(pl.lit("practice")).otherwise(function).alias("function")).to_series(),
        )
        return frame, [Message("table.practice_answers", {"n": int(practised.sum()), "column": name})]
    return frame, []


def _unused(name: str, *used: Iterable[str]) -> str:
    """A name that is not in use, with as many underscores behind it as it takes."""
    while any(name in names for names in used):
        name += "_"
    return name


def _filled_items(frame: pl.DataFrame, mapping: Mapping[str, str]) -> tuple[pl.DataFrame, list[Message]]:
    """Practice and attention items without a number of their own, under their text."""
    if not {"item", "function", "response"} <= set(frame.columns) or mapping.get("item") == "":
        return frame, []
    empty = text_column(frame["item"]).str.contains(NO_PARTS).fill_null(True)
    unnumbered = empty & (frame["function"] != "test") & ~text_column(frame["response"]).is_in(MISSING).fill_null(True)
    if not unnumbered.any() or empty.mean() > HALF:  # type: ignore[operator]
        return frame, []
    texts = [n for n in frame.columns if n not in COLUMNS and any(w in ITEM_TEXTS for w in words_of(n))]
    for name in (*texts, *joined(mapping["function"], frame.columns)):
        cells = text_column(frame[name]) if name in frame.columns else empty.cast(pl.String)
        if not cells.filter(unnumbered).null_count() and (cells.filter(unnumbered).n_unique() > 1 or name not in texts):
            values = {"n": int(unnumbered.sum()), "column": mapping["item"], "other": name}
            item = pl.when(unnumbered).then(cells).otherwise(text_column(frame["item"])).alias("item")
            return frame.with_columns(item), [Message("role.filled_items", values)]
    return frame, []


ITEM_TEXTS = ("text", "sentence", "stimulus", "stim", "item", "prompt", "question", "utterance", "word", "satz")


def _without(reading: Reading, options: Options, kinds: Mapping[Kind, tuple[str, ...]]) -> Reading:
    """The reading without rows of some kinds, one after the other; `kinds` has codes of reasons and needed columns.

    Only rows without a trial or a participant leave a table that is read with `keep_all`.
    """
    for kind, (code, *needed) in kinds.items():
        applies = set(needed) <= set(reading.frame.columns) and not (options.keep_all and code not in NO_TRIAL)
        rows = kind(reading.frame, options) if applies else None
        reading = reading if rows is None else reading.without(rows, Message(code))
    return reading


NO_TRIAL = ("role.not_trials", "role.nobody")


Kind = Callable[[pl.DataFrame, Options], pl.Series | None]
"""Finds the rows that are not judgments for a certain reason."""


def _not_trials(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """Rows with neither an item nor an answer, which hold no trial."""
    empty = [text_column(frame[name]).is_in(MISSING).fill_null(True) for name in ("item", "response")]
    return empty[0] & empty[1]


def _other_tasks(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """Rows of tasks without items, such as colour plates, which a column of few levels separates.

    A few rows that nearly everyone has, such as practice trials, are not items either, nor are the only rows without a
    position.
    """
    empty = text_column(frame["item"]).str.contains(NO_PARTS).fill_null(True)
    if "trial" in frame.columns and empty.any():
        unplaced = text_column(frame["trial"]).is_in(MISSING).fill_null(True)
        if unplaced.equals(empty):
            return empty
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
"""An item that is missing entirely: NA, or NA + NA if several columns name it."""

FEWEST_ANSWERED = 0.9
"""If a smaller share of rows has an answer, items that nobody answered are other tasks or screens."""
OTHER_KIND, FEW_ROWS = 0.2, 0.02


def _nobodys(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """A few rows without a participant, such as sums below a table; if there are many, they are errors."""
    empty = text_column(frame["participant"]).str.strip_chars().is_in(["", "NA", "NaN"]).fill_null(True)
    return None if empty.sum() > FEW_ROWS * frame.height else empty


def _forms(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """Rows that a column calls a form or a survey, if these ask about the participant.

    They have items of their own, which address the participant or are answered like no other item.
    """
    items, answers = text_column(frame["item"]), text_column(frame["response"])
    for name in (n for n in frame.columns if plain(n) in FUNCTION_NAMES or words_of(n)[-1:] in KINDS):
        form = text_column(frame[name]).str.to_lowercase().is_in(FORMS).fill_null(False)
        exclusive = [set(cells.filter(form).drop_nulls()) - set(cells.filter(~form)) for cells in (items, answers)]
        are_separate = exclusive[0] and exclusive[0] >= set(items.filter(form).drop_nulls())
        are_separate = are_separate and (exclusive[1] or all(map(ADDRESSED.search, exclusive[0])))
        if are_separate and form.mean() < HALF:  # type: ignore[operator]
            return form
    return None


FORMS = ("form", "questionnaire", "survey", "demographics", "demographic", "fragebogen")
KINDS = (["type"], ["name"], ["template"])
ADDRESSED = re.compile(r"(?i)\b(your?|ihre?n?|dein)\b")


def _not_asked(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """Rows of other tasks: items that nobody answered, and further screens of answered trials.

    A missing answer stays if others answered the item and the participant has no other row for it.
    """
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
    rows = empty & ~answered_anywhere["item"]
    if doubled >= FEWEST_ANSWERED * trials:
        rows = rows | twice
    return rows


def _clicks(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """Screens on which nobody ever did more than continue."""
    clicks = text_column(frame["response"]).str.strip_chars().str.to_lowercase().is_in(TO_GO_ON).fill_null(False)
    if not clicks.any() or clicks.all():
        return None
    kinds = pl.DataFrame({"item": frame["item"], "click": clicks | frame["response"].is_null()})
    only = kinds.select(pl.col("click").all().over("item"))["click"]
    return clicks & only


def _free_texts(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """Questions that everyone answers in their own words, if other questions are answered otherwise."""
    if options.scale:
        return None
    answers = text_column(frame["response"])
    kinds = pl.DataFrame({"question": text_column(frame["question"]).fill_null(""), "answer": answers}).drop_nulls()
    words = pl.col("answer").str.split(" ").list.len()
    each = kinds.group_by("question").agg(
        (pl.col("answer").n_unique() / pl.len()).alias("own"), words.mean().alias("words"), pl.len().alias("n")
    )
    free = (pl.col("own") > OWN_WORDS) & (pl.col("words") >= FEWEST_WORDS) & (pl.col("n") >= FEWEST_TEXTS)
    texts = set(each.filter(free)["question"])
    for (question,), rows in kinds.group_by("question"):
        # Words that participants produce, such as plurals, are too many for a scale.
        if rows["answer"].n_unique() > MOST_NOMINAL_LEVELS and beginnings(rows["answer"]) is None:
            texts |= set() if rows["answer"].cast(pl.Float64, strict=False).count() else {question}
    if not texts or len(texts) == each.height:
        return None
    return text_column(frame["question"]).fill_null("").is_in(texts)


OWN_WORDS, FEWEST_WORDS, FEWEST_TEXTS = 0.7, 3, 8
"""The smallest share of unique answers, words per answer and answers per question in free answers."""


def _other_answers(frame: pl.DataFrame, options: Options) -> pl.Series | None:
    """The few items answered in words while all others are answered in numbers: names, checks."""
    if options.answers or options.scale:
        return None
    answers = text_column(frame["response"])
    decimals = answers.str.replace(r"^\s*(-?\d+),(\d+)\s*$", "$1.$2")
    number = decimals.cast(pl.Float64, strict=False).is_not_null()
    worded = answers.is_not_null() & ~number
    answered = answers.len() - answers.null_count()
    if number.sum() <= OTHER_KIND * answered:
        return _otherwise_answered(text_column(frame["item"]), answers)
    if not worded.any() or worded.sum() > OTHER_KIND * answered:
        return None
    kinds = pl.DataFrame({"item": frame["item"], "number": number})
    never = ~kinds.select(pl.col("number").any().over("item"))["number"]
    if (worded & ~never).any():
        return None
    return worded & never


UNSHOWN_ROWS: dict[Kind, tuple[str, ...]] = {
    _not_trials: ("role.not_trials", "item", "response"),
    _other_tasks: ("role.not_asked", "item", "response"),
}
"""Rows that are left out first: the reason and the columns that show it."""
OTHER_ROWS: dict[Kind, tuple[str, ...]] = {
    _nobodys: ("role.nobody", "participant"),
    _forms: ("role.not_asked", "item", "response"),
    _not_asked: ("role.not_asked", "participant", "item", "response"),
    _clicks: ("aside.continue_buttons", "item", "response"),
    _free_texts: ("aside.free_text", "question", "response"),
    _other_answers: ("role.other_answers", "item", "response"),
}
"""Rows that are left out once missing answers are identified."""


def _otherwise_answered(items: pl.Series, answers: pl.Series) -> pl.Series:
    """The rows of the few items that share no answer with the others: checks and names beside the judgments."""
    pairs = pl.DataFrame({"item": items.fill_null(""), "answer": answers}).drop_nulls().group_by("item", "answer").len()
    nobody = pl.Series([False] * len(items))
    if not pairs.height or pairs["answer"].n_unique() > MOST_SHARED:
        return nobody
    common: set[str] = {pairs.group_by("answer").agg(pl.col("len").sum()).sort("len")["answer"][-1]}
    while True:
        shared = pairs.filter(pl.col("answer").is_in(list(common)))["item"].unique()
        more = set(pairs.filter(pl.col("item").is_in(shared.to_list()))["answer"])
        if more == common:
            break
        common = more
    other = answers.is_not_null() & ~answers.is_in(list(common))
    few = other.sum() <= OTHER_KIND * (answers.len() - answers.null_count()) and len(common) > 1
    return other if few else nobody


MOST_SHARED = 200

CLOCK = r"^\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2}(?:[.,]\d+)?)\s*$"


def _clock_times(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    """Response times such as 00:00:03.446 in seconds."""
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
    """Response times with those below 0 removed: the answers were not timed."""
    if "rt" not in frame.columns or not frame["rt"].dtype.is_numeric():
        return frame, []
    below = (frame["rt"] < 0).fill_null(False)
    if not below.any():
        return frame, []
    note = Message("rt.below_zero", {"n": int(below.sum())})
    return frame.with_columns(pl.when(pl.col("rt") >= 0).then(pl.col("rt")).alias("rt")), [note]


def _restarting(frame: pl.DataFrame) -> bool:
    """Whether positions recur for most participants: they restart, rather than being wrong in a few rows."""
    if not {"participant", "trial"} <= set(frame.columns) or "session" in frame.columns:
        return False
    keys = [name for name in ("participant", "question", "repetition") if name in frame.columns]
    if in_order(frame, "trial", strictly=True):
        return False
    runs = frame.select(*keys, "trial").drop_nulls("trial").group_by(keys)
    again = runs.agg((pl.len() > pl.col("trial").n_unique()).alias("again")).filter("again")
    people = frame["participant"].n_unique()
    return people > 2 and 2 * again["participant"].n_unique() >= people


def _sessions(frame: pl.DataFrame, mapping: dict[str, str]) -> tuple[pl.DataFrame, list[Message]]:
    """Positions that recur within a participant as sessions: by a column, by run, or by the order of the rows."""
    if "trial" not in frame.columns or "participant" not in frame.columns:
        return frame, []
    numbers = frame["trial"].cast(pl.Float64, strict=False)
    if numbers.null_count() > frame["trial"].null_count():
        return frame, []
    keys = [name for name in ("participant", "session", "question", "repetition") if name in frame.columns]
    placed = frame.filter(pl.col("trial").is_not_null())
    if placed.select(*keys, "trial").n_unique() == placed.height:
        return frame, []
    if "function" in frame.columns and _shares_places_in_practice(placed, keys):
        place = pl.struct("trial", " row").rank("ordinal").over(keys).cast(pl.Int64)
        rows = frame.with_columns(numbers.alias("trial"), pl.int_range(pl.len()).alias(" row"))
        order = rows.select(pl.when(pl.col("trial").is_not_null()).then(place).alias("trial"))["trial"]
        return frame.with_columns(order), [Message("role.practice_order", {"column": mapping["trial"]})]
    if "session" not in frame.columns:
        for name in _session_columns(frame):
            if placed.select(*keys, name, "trial").n_unique() == placed.height:
                varies = placed.group_by("participant").agg(pl.col(name).n_unique().alias("n"))["n"]
                if (varies > 1).mean() < 0.5:  # type: ignore[operator]
                    session = text_column(frame[name]).alias("session")
                    note = Message("role.session", {"column": name})
                    return frame.with_columns(session), [note]
                trial = (pl.int_range(pl.len()).over("participant") + 1).cast(pl.Int64).alias("trial")
                return frame.with_columns(trial), [Message("role.restarts", {"column": mapping["trial"]})]
        again = frame.select((pl.int_range(pl.len()).over(*keys, "trial") + 1).alias("nth"))["nth"]
        several = frame.filter(again > 1)["participant"].n_unique()
        if several <= 0.2 * frame["participant"].n_unique():
            return frame.with_columns(again.cast(pl.String).alias("session")), [Message("role.runs", {"n": several})]
    free = mapping.get("trial", "trial")
    free = free if free not in COLUMNS else f"{free}_"
    return frame.rename({"trial": free}), [Message("role.no_order", {"column": free})]


def _shares_places_in_practice(placed: pl.DataFrame, keys: Sequence[str]) -> bool:
    """Whether positions recur only among practice trials, all of which come before the other trials."""
    place = pl.col("trial").cast(pl.Float64)
    practice, rest = (placed.filter((pl.col("function") == "practice") == kind) for kind in (True, False))
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


def _people(source: pl.DataFrame, shaped: Shaped, mapping: dict[str, str]) -> pl.DataFrame | None:
    """What a wide table holds about its participants beside their answers."""
    person = shaped.mapping.get("participant")
    if not shaped.people or person is None or person not in source.columns:
        return None
    names = [name for name in shaped.people if name in source.columns]
    table = source.select(
        pl.col(person).cast(pl.String).alias("participant"), *(n for n in names if n != "participant")
    )
    return one_row_each(table)


def _taken(names: Sequence[str], mapping: dict[str, str]) -> dict[str, str]:
    """The file's columns, each with its role."""
    roles = {part: column for column, source in mapping.items() for part in joined(source, names)}
    return {name: roles.get(name, "") for name in names}


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
    """Columns about participants under their label: DE01 with Gender below it becomes Gender."""
    mapped = {name for source in options.mapping.values() for name in joined(source, table.frame.columns)}
    labels = {name: label.partition(":")[0].strip() for name, label in table.labels.items() if name not in mapped}
    about = {n: word for n, word in labels.items() if describes_a_person(word) and word not in table.frame.columns}
    return replace(table, frame=table.frame.rename(about)) if len(set(about.values())) == len(about) else table


def _filled_down(table: FileTable) -> FileTable:
    """People and items that appear once above all of their rows, as in merged cells, repeated in each row."""
    frame = table.frame
    merged = [
        name for name in frame.columns
        if 2 * frame[name].null_count() >= frame.height > FEWEST_TRIALS and frame[name][0] is not None
        and frame[name].n_unique() == frame[name].count() + 1 > FEWEST_MERGED
        and (plain(name) in (*NAMES["participant"], *NAMES["item"]) or set(words_of(name)) & set(PERSON_WORDS))
    ]  # fmt: skip
    for name in list(merged):
        rows = frame.group_by(frame[name].is_not_null().cum_sum()).len()["len"]
        if (rows == rows.max()).mean() < FEWEST_ANSWERED:  # type: ignore[operator]
            merged.remove(name)
    note = [Message("form.filled_down", {"columns": merged})] if merged else []
    return replace(table, frame=frame.with_columns(pl.col(merged).forward_fill()), notes=[*table.notes, *note])


FEWEST_MERGED = 2
PERCENT = r"^\s*-?\d+(?:[.,]\d+)?\s*%\s*$"


def _without_percents(table: FileTable) -> FileTable:
    """Columns in which every cell ends in a percent sign as their numbers."""
    names = _text_columns(table.frame, lambda cells: cells.str.contains(PERCENT))
    return replace(table, frame=table.frame.with_columns(pl.col(names).str.strip_chars(" %"))) if names else table


STARTS = re.compile(r"(start(ed)?|began|begin)(time|at|timestamp|ts)?")
ENDS = re.compile(r"(end(ed)?|finish(ed)?|stop(ped)?|submit(ted)?)(time|at|timestamp|ts)?")

MOMENTS_SEEN = 300


def _with_durations(table: FileTable) -> FileTable:
    """Response times from the moments (since 1970) at which each trial started and ended."""
    head = table.frame.head(MOMENTS_SEEN)
    both = [[name for name in head.columns if form.fullmatch(plain(name))] for form in (STARTS, ENDS)]
    roles = guess_columns(head.columns, {})
    if [len(names) for names in both] != [1, 1] or "rt" in roles or "participant" not in roles:
        return table
    moments = [names[0] for names in both]
    start, end = (head[name].cast(pl.Float64, strict=False).drop_nulls() for name in moments)
    people = head[roles["participant"]].n_unique()
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
    """The sheets of a spreadsheet with the columns of its first table, or the table of another file.

    Sheets before the first table may hold notes: they are empty or have one or two columns.
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


def _text_columns(frame: pl.DataFrame, fits: Callable[[pl.Series], pl.Series]) -> list[str]:
    """The text columns of which every filled cell fits; the first cells rule out most columns."""
    return [
        name for name, dtype in frame.schema.items()
        if dtype == pl.String and (cells := frame[name].drop_nulls()).len()
        and fits(cells.head(FEW)).all() and fits(cells).all()
    ]  # fmt: skip


def _unpadded(frame: pl.DataFrame) -> pl.DataFrame:
    """Cells without a leading blank, if every cell of the column has one, as after delimiters."""
    names = _text_columns(frame, lambda cells: cells.str.starts_with(" "))
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
            # An object per participant, with a list of trials.
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
    """The name of the chosen index, if every object has a list of two candidates; else None."""
    for name in CHOICES:
        indices = [part.get(name) if isinstance(part, dict) and len(_two_of(part)) == 1 else None for part in elements]
        if all(type(index) is int for index in indices) and set(indices) == {0, 1}:
            return name
    return None


def _two_of(element: Mapping[str, Any]) -> list[str]:
    """The names of lists of two objects in an object."""
    return [name for name, value in element.items() if _are_records(value) and len(value) == 2]


def _side_by_side(element: Mapping[str, Any], chosen: str) -> dict[str, Any]:
    """An object with separate names for the contents of its two candidates, and the chosen one."""
    (name,) = _two_of(element)
    sides = ("first", "second")
    parts = {
        f"{side}_{key}": value for side, part in zip(sides, element[name], strict=True) for key, value in part.items()
    }
    rest = {key: value for key, value in element.items() if key != name}
    return rest | {chosen: sides[element[chosen]]} | parts


ALIKE = 0.9


def _elements(file: SourceFile) -> Iterator[tuple[int, Any]]:
    """The objects of a file; if one object holds them all by name, these objects, with the name as `id`."""
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
    """An element with lists for objects whose names are numbers, and values for objects that only hold a value.

    Parallel objects with lists of the same names, such as one per system, become a list as well.

    >>> _in_lists({"id": "p1", "trials": {"0": {"rating": {"value": 4}}, "1": {"rating": {"value": 2}}}})
    {'id': 'p1', 'trials': [{'rating': 4}, {'rating': 2}]}
    """
    if isinstance(element, list):
        return [_in_lists(part) for part in element]
    if not isinstance(element, dict):
        return element
    if list(element) == ["value"]:
        return element["value"]
    parts: dict[Any, Any] = {}
    for name, value in element.items():
        parts |= _of_form(value) or {name: _in_lists(value)}
    if all(str(name).isdigit() for name in parts) and _are_records(list(parts.values())):
        return list(parts.values())
    alike = [
        name for name, value in parts.items() if isinstance(value, dict) and any(map(_are_records, value.values()))
    ]
    if len(alike) < FEWEST_PEOPLE or any(set(parts[name]) != set(parts[alike[0]]) for name in alike):
        return parts
    rest = {name: value for name, value in parts.items() if name not in alike}
    return rest | {"versions": [{"version": name, **parts[name]} for name in alike]}


def _of_form(value: Any) -> dict[str, Any]:
    """The answers of a form that SageMaker Ground Truth wrote as a text; empty for other values.

    >>> _of_form({"content": '{"tone": {"label": "good"}, "sure": "yes"}'})
    {'tone': 'good', 'sure': 'yes'}
    """
    text = value.get("content") if isinstance(value, dict) and len(value) == 1 else None
    answers = parsed(text) if isinstance(text, str) else None
    if not isinstance(answers, dict):
        return {}
    return {
        name: one["label"] if isinstance(one, dict) and [*one] == ["label"] else one for name, one in answers.items()
    }


def _spread(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a trial with the values of nested objects beside its own; answers may be objects themselves."""
    flat = dict(record)
    for name, value in record.items():
        if isinstance(value, dict) and not set(words_of(name)) & {*NAMES["response"]} and not set(value) & set(flat):
            flat = {**{key: part for key, part in flat.items() if key != name}, **value}
    return flat


def _by_annotator(element: Any) -> Any:
    """An item whose answers are an object with one value per annotator, as lists; other objects unchanged.

    >>> _by_annotator({"text": "Fine.", "ratings": {"annotator_1": 4, "annotator_2": 2}})
    {'text': 'Fine.', 'ratings': [4, 2], 'annotators': ['annotator_1', 'annotator_2']}
    """
    if not isinstance(element, dict):
        return element
    who = element.get("annotators")
    listed_people = who.split(",") if isinstance(who, str) else who
    for name, value in element.items():
        people = list(value) if isinstance(value, dict) else []
        are_listed = isinstance(listed_people, list) and set(people) == set(map(str, listed_people))
        if len(people) < FEWEST_PEOPLE or not (are_listed or (name in SEVERAL_ANSWERS and all(map(is_rater, people)))):
            continue
        if all(isinstance(answer, dict) for answer in value.values()):
            return element | {name: [{"annotator": person, **answer} for person, answer in value.items()]}
        same = [key for key, other in element.items() if isinstance(other, dict) and list(other) == people]
        return element | {key: list(element[key].values()) for key in same} | {"annotators": people}
    return element


FEWEST_PEOPLE = 2


DEEPEST = 3
FEWEST_TRIALS = 4


def _flat(element: Any) -> Any:
    """An object with trials or ratings in a nested object, with all values side by side; other objects unchanged.

    Mechanical Turk keeps answers as {"answers": {"data": {"rating": [...], "sentence": [...]}}}.
    """
    if not isinstance(element, dict) or not any(isinstance(value, dict) for value in element.values()):
        return element
    flat: dict[str, object] = {}

    def collect(values: dict[Any, Any], path: str, depth: int) -> None:
        for key, value in values.items():
            name = str(key) if str(key) not in flat else f"{path}{key}"
            if isinstance(value, dict) and depth < DEEPEST:
                collect(value, f"{path}{key}.", depth + 1)
            elif isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list | dict):
                flat[name] = value[0]
            else:
                flat[name] = value

    collect(element, "", 1)
    lengths = [len(value) for value in flat.values() if isinstance(value, list) and len(value) >= FEWEST_TRIALS]
    is_deep = any(length > 1 for length in Counter(lengths).values()) or any(map(_are_records, flat.values()))
    rated = [name for name, value in flat.items() if type(value) in (int, float) and CRITERIA.fullmatch(name)]
    return flat if is_deep or len({*rated} - {*element}) > 1 else element


def _belong_together(value: object, sizes: Mapping[int, int]) -> bool:
    """Whether a list is as long as another list of its object: one element per trial."""
    return isinstance(value, list) and len(value) >= FEWEST_TRIALS and sizes[len(value)] > 1


def _holds_one_each(cells: Iterable[str | None]) -> bool:
    """Whether lists hold at most one value each, as doccano writes the label of a text."""
    lists = [parsed(cell) for cell in cells if cell]
    plain_lists = all(isinstance(one, list) and not any(isinstance(part, list | dict) for part in one) for one in lists)
    return plain_lists and any(lists) and all(len(one) <= 1 for one in lists)


def _of_prodigy(element: Any) -> Any:
    """A Prodigy task as a judgment: the participant, the item and the accepted options; other objects unchanged.

    Custom forms have their answers in fields of their own, such as score.
    """
    if not isinstance(element, dict) or not {"_input_hash", "answer"} <= set(element):
        return element
    person = element.get("_annotator_id") or element.get("_session_id")
    what = next((element[name] for name in ("text", "html", "image", "audio") if element.get(name)), None)
    task = ({"participant": person} if person else {}) | {"item": what or element["_input_hash"]}
    fields = {name: value for name, value in element.items() if name[0] != "_" and name != "answer"}
    answers = [name for name in fields if set(words_of(name)) & {*ANSWER_WORDS} and name != "label"]
    if answers and not {"accept", "label", "spans"} & set(element):
        return task | fields | dict.fromkeys(answers if element["answer"] != "accept" else ())
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
    """A table without SurveyMonkey's second header row, with the parts of a question or the kinds of answers."""
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
        names.append(_unused(text or name, names))
    below = _below_first(table)
    return replace(below, frame=below.frame.rename(dict(zip(table.frame.columns, names, strict=True))))


def _below_first(table: FileTable) -> FileTable:
    locate = table.locate
    return replace(table, frame=table.frame.slice(1), locate=lambda row: locate(row + 1))


NOT_ANSWERED = ("-9", "-1", "-10")
"""SoSci Survey's codes for questions that were not answered, seen or known."""


def _of_survey(table: FileTable) -> FileTable:
    """A SoSci Survey export as a table: codes for missing answers are removed."""
    if not {"CASE", "QUESTNNR"} <= set(table.frame.columns):
        return table
    frame = table.frame
    text = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    missing = sum(int(frame[name].is_in(NOT_ANSWERED).sum()) for name in text)
    frame = frame.with_columns(pl.when(~pl.col(n).is_in(NOT_ANSWERED)).then(pl.col(n)).alias(n) for n in text)
    notes = [Message("table.missing", {"n": missing, "words": list(NOT_ANSWERED[:2])})] if missing else []
    return replace(table, frame=frame, notes=[*table.notes, *notes])


def _without_labels(table: FileTable) -> FileTable:
    """A table without a row of labels or units below its header: words above cells that are all numbers."""
    texts = [name for name, dtype in table.frame.schema.items() if dtype == pl.String]
    if table.frame.height <= FEWEST_TRIALS or not texts:
        return table
    rest = table.frame.slice(1).select(texts)
    # The first rows of a large table show whether the rest needs checking.
    if rest.height > LARGE and not set(_of_numbers(rest.head(LARGE))) & {
        n for n in texts if _is_word(table.frame[n][0])
    }:
        return table
    numbers = _of_numbers(rest)
    labels = [cell for cell in (table.frame[name][0] for name in numbers) if cell]
    worded = [cell for cell in labels if _is_word(cell)]
    if len(worded) < max(FEWEST_LABELS, len(labels)) or 2 * len(worded) < len(numbers):
        return table
    below = _below_first(table)
    if any(UNNAMED.fullmatch(name) for name in numbers):
        # A name above several columns is in the first of them.
        return replace(below, frame=below.frame.rename(_joined_headers(table.frame)))
    note = Message("table.labels", {"cells": [cut(cell) for cell in worded[:3]]})
    captions = {name: str(cell) for name, cell in zip(table.frame.columns, table.frame.row(0), strict=True) if cell}
    return replace(below, notes=[*table.notes, note], labels=captions)


def _of_numbers(frame: pl.DataFrame) -> list[str]:
    """Text columns whose cells are numbers, apart from signs and codes for missing values."""
    filled = frame.filter(pl.any_horizontal(pl.all().is_not_null()))
    bare = filled.select(pl.when(~pl.all().is_in([*SIGNS, *MISSING])).then(pl.all()))
    return [c.name for c in bare if 2 * c.count() > c.len() and _are_numbers(c.drop_nulls())]


def _is_word(cell: str | None) -> bool:
    return bool(cell) and as_number(str(cell).replace(",", ".")) is None and cell not in SIGNS


def _joined_headers(frame: pl.DataFrame) -> dict[str, str]:
    """The name of each column from two rows: the first names several columns at once, the second each column."""
    names: dict[str, str] = {}
    above = ""
    for name, cell in zip(frame.columns, frame.row(0), strict=True):
        above = above if UNNAMED.fullmatch(name) else name
        joined_name = f"{above} {cell}".strip() if cell else name
        names[name] = joined_name if joined_name not in names.values() else name
    return names


FEWEST_LABELS, LARGE = 2, 1_000


def _are_numbers(cells: pl.Series) -> bool:
    """Whether nearly all cells are numbers; means and remarks may follow below a table."""
    numbers = cells.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return numbers.null_count() <= FEW_ROWS * cells.len()


LOGS = (
    (("sender_id",), ("sender", "sender_type", "ended_on")),
    (("trial_id", "rating_stimulus"), ("session_test_id", "rating_score")),
)
"""The columns that identify a screen in logs of lab.js or webMUSHRA, and others that identify such a log."""


def _runs_of_log(table: FileTable, options: Options) -> FileTable:
    """A log without participants, with one participant per run: a recurring screen starts the next run."""
    frame = table.frame
    logged = next((screen for screen, others in LOGS if {*screen, *others} <= set(frame.columns)), None)
    has_people = any(plain(name) in (*NAMES["participant"], plain(OWN_FILE), "sessionuuid") for name in frame.columns)
    if logged is None or has_people or options.mapping.get("participant") or not frame.height:
        return table
    seen: set[tuple[str, ...]] = set()
    runs, run = [], 1
    row_id = "observation"
    once = FEWEST_ANSWERED * frame.height
    if row_id in frame.columns and not frame[row_id].null_count() and frame.select(row_id, *logged).n_unique() >= once:
        note = Message("table.columns", {"columns": [f"participant={row_id}"]})
        return replace(table, frame=frame.rename({row_id: "participant"}), notes=[*table.notes, note])
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
    """A lab.js log without the screens on which nobody ever answers, and the number of rows they had."""
    names = {"sender", "sender_type", "ended_on", "response"}
    if not names <= set(table.frame.columns):
        return table, 0
    answered = table.frame.filter(~pl.col("response").cast(pl.String).is_in(MISSING))
    has_answers = pl.col("sender").is_in(answered["sender"].unique().to_list())
    screens = table.frame.select(has_answers.fill_null(False).alias("kept"))["kept"]
    if not screens.any() or screens.all():
        return table, 0
    return _with_rows(table, screens), int((~screens).sum())


def _with_rows(table: FileTable, rows: pl.Series) -> FileTable:
    return replace(table, frame=table.frame.filter(rows), locate=located(table.locate, rows.arg_true()))


ANSWER_ENDINGS = (".keys", ".response", ".rating")
GO_ON = (*MISSING, "space", "return")


def _answering_loop(table: FileTable, options: Options) -> tuple[FileTable, Message, int]:
    """A PsychoPy file with the rows of one loop, and the number of rows of other loops and routines.

    Each component of an experiment has its own columns, which are empty in the rows of all other routines. The loop is
    the one with the most answers, or with the answers that the user names.
    """
    frame = table.frame
    if "psychopyVersion" not in frame.columns or options.keep_all:
        return table, Message("role.other_loops", {"loop": ""}), 0
    chosen, most, title = pl.repeat(True, frame.height, eager=True), 0, ""
    names = [name for name in frame.columns if name.endswith(ANSWER_ENDINGS)]
    names = [options.mapping["response"]] if options.mapping.get("response") in names else names
    for loop in (name for name in frame.columns if name.endswith(".thisN")):
        within = text_column(frame[loop]).is_not_null()
        answered = pl.repeat(False, frame.height, eager=True)
        for cells in (text_column(frame[name]) for name in names):
            responses = within & ~cells.is_in(GO_ON).fill_null(True)
            if cells.filter(responses).n_unique() > 1 and 2 * int(responses.sum()) >= int(within.sum()):
                answered |= responses
        if answered.sum() > most:
            chosen, most, title = answered, int(answered.sum()), loop.removesuffix(".thisN")
    rows = frame.filter(chosen)
    filled = [name for name in rows.columns if not text_column(rows[name]).is_in(MISSING).fill_null(True).all()]
    shorter = replace(_with_rows(table, chosen), frame=rows.select(filled))
    return shorter, Message("role.other_loops", {"loop": title}), frame.height - rows.height


SUMMED_UP = rf"(?i)^({'|'.join((*AVERAGES, *SPREADS, *TOTALS))}):?$"


def _without_totals(table: FileTable) -> tuple[FileTable, int]:
    """The table without means and sums of its columns in the last rows, and the number of these rows."""
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


def _without_repeated_headers(table: FileTable) -> tuple[FileTable, int]:
    """The table without rows that repeat its header, as in concatenated files, and the number of these rows."""
    strings = [name for name, dtype in table.frame.schema.items() if dtype == pl.String and not UNNAMED.fullmatch(name)]
    first = table.frame[strings[0]] if len(strings) > 1 else pl.Series([], dtype=pl.String)
    if not (first == first.name).any() or not guess_columns(table.frame.columns, {}):
        return table, 0
    again = table.frame.select(pl.all_horizontal(pl.col(name) == name for name in strings)).to_series().fill_null(False)
    return _with_rows(table, ~again), int(again.sum())


def _without_placeholders(table: FileTable) -> FileTable:
    """The table without participant columns that hold nothing but their own names, because nothing was filled in."""
    id_columns = [name for name in table.frame.columns if plain(name) in NAMES["participant"]]
    unfilled = [name for name in id_columns if table.frame[name].unique().to_list() == [name]]
    return replace(table, frame=table.frame.drop(unfilled))


def _per_trial(table: FileTable, options: Options) -> tuple[FileTable, int]:
    """The table with one row per trial instead of one per word, and the number of rows this leaves out."""
    trials = without_words(table.frame) if options.wide is None else None
    columns = table.frame.columns
    mapped = {name for source in options.mapping.values() for name in joined(source, columns) if name in columns}
    if trials is None or not mapped <= set(trials[0].columns):
        return table, 0
    frame, rows = trials
    return replace(table, frame=frame, locate=located(table.locate, rows)), table.frame.height - frame.height


def _named_by_file(tables: Sequence[FileTable]) -> list[FileTable]:
    """Tables with the file's name in a column if none names its participant: often there is one file per person."""
    names = {name for table in tables for name in table.frame.columns}
    if len(tables) == 1 or _name_people(names) or OWN_FILE in names:
        return list(tables)
    files = [pl.lit(table.file.path.stem).alias(OWN_FILE) for table in tables]
    return [replace(table, frame=table.frame.with_columns(file)) for table, file in zip(tables, files, strict=True)]


def _stacked(tables: Sequence[FileTable]) -> FileTable:
    """Tables with the same columns, stacked into one."""
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


def _user_mapping(table: FileTable, options: Options) -> dict[str, str]:
    """The user's mapping, checked against the columns of the table."""
    columns = table.frame.columns
    refuse_misspelt(options.mapping, columns)
    mapping = {column: source for column, source in options.mapping.items() if column}
    plain_names = {c: s for c, s in mapping.items() if not re.search(r"\[\d+\]", s)}
    if options.wide is None:
        refuse_absent(plain_names, columns, table.file.name)
    return mapping


def _mapped(table: FileTable, mapping: dict[str, str]) -> pl.DataFrame:
    """The table with karat's names; other columns with such a name get an underscore."""
    names = table.frame.columns
    # The parts of a joined name stay because they are the conditions.
    used = {parts[0] for source in mapping.values() if len(parts := joined(source, names)) == 1}
    used |= {name for source in mapping.values() if ".." in source for name in joined(source, names)}
    unwanted = {column for column, source in mapping.items() if not source}
    rest = [name for name in names if name not in used | unwanted]
    by_name = {column: _column(table.frame, column, source) for column, source in mapping.items() if source}
    for name in rest:
        free = _unused(name, by_name, COLUMNS)
        by_name[free] = table.frame[name].alias(free)
    return pl.DataFrame(list(by_name.values()))


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


def _expected_in_checks(frame: pl.DataFrame, mapping: Mapping[str, str]) -> tuple[pl.DataFrame, list[Message]]:
    """Correct answers without the item functions in their place, such as main where only checks have an answer."""
    source = mapping.get("function", "")
    if not {"expected", "response", source} <= set(frame.columns):
        return frame, []
    expected, answers, functions = (text_column(frame[name]) for name in ("expected", "response", source))
    stand_in = (expected == functions) & ~expected.is_in(answers.unique())
    if not stand_in.any():
        return frame, []
    values = {"column": mapping["expected"], "words": expected.filter(stand_in).unique().sort().to_list()}
    frame = frame.with_columns(pl.when(~stand_in.fill_null(False)).then(expected).alias("expected"))
    return frame, [Message("table.no_expected", {**values, "n": int(stand_in.sum())})]


def _missing_answers(frame: pl.DataFrame, options: Options) -> tuple[pl.DataFrame, list[Message]]:
    """The table with nulls for missing answers and numbers: R writes NA, jsPsych null.

    The only word among points of a scale is a missing answer, too: n, or I don't know.
    """
    notes = []
    may_guess = not options.scale and not options.answers
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
        if name == "response" and may_guess and len(words) == 1 and _is_beside_points(frame, words[0], len(rest)):
            signs.append(words.pop())
        nothing = MISSING if not signs or words else (*MISSING, *SIGNS, *signs)
        words = distinct.filter(distinct.is_in(nothing)).to_list()
        if words:
            missing = frame[name].is_in(words).fill_null(False)
            if name == "response":
                notes.append(Message("table.missing", {"n": int(missing.sum()), "words": words}))
            frame = frame.with_columns(pl.when(~missing).then(pl.col(name)).alias(name))
        present = distinct.filter(~distinct.is_in(words))
        if name == "response" and present.len() and present.str.contains(r"^-?\d+\.0+$").all():
            # Software writes 5.0 for 5 in columns that once had empty cells.
            notes.append(Message("table.whole_numbers", {"answer": frame[name].drop_nulls()[0]}))
            frame = frame.with_columns(pl.col(name).str.replace(r"\.0+$", ""))
    return frame, notes


def _keys(frame: pl.DataFrame, mapping: Mapping[str, str], options: Options) -> tuple[pl.DataFrame, list[Message]]:
    """The keys instead of their codes, which jsPsych 6 has in key_press."""
    source = mapping.get("response", "")
    if plain(source) != "keypress" or options.answers or options.scale or "response" not in frame.columns:
        return frame, []
    codes = text_column(frame["response"]).drop_nulls().unique().sort().to_list()
    by_code = {str(code): chr(code).lower() for code in range(ZERO_KEY, Z_KEY + 1) if chr(code).isalnum()}
    keys = {code: by_code[code] for code in codes if code in by_code}
    if not codes or len(keys) < len(codes):
        return frame, []
    note = Message("table.keys", {"column": source, "code": codes[0], "key": keys[codes[0]]})
    return frame.with_columns(text_column(frame["response"]).replace(keys).alias("response")), [note]


ZERO_KEY, Z_KEY = 48, 90


def _is_beside_points(frame: pl.DataFrame, word: str, levels: int) -> bool:
    """Whether a word is one answer beside the few points of a scale, to several items that others rated."""
    if re.search(r"\d", word) or not FEWEST_POINTS < levels <= MOST_ORDINAL_POINTS + 1 or "item" not in frame.columns:
        return False
    answers = frame.filter(pl.col("response").is_not_null()).select("item", (pl.col("response") == word).alias("word"))
    shares = answers.group_by("item").agg(pl.col("word").mean()).filter(pl.col("word") > 0)["word"]
    return shares.len() >= FEWEST_ITEMS and bool((shares < 1).mean() >= HALF)  # type: ignore[operator]


FEWEST_ITEMS = 5


def _numbers(
    table: FileTable, frame: pl.DataFrame, mapping: dict[str, str], options: Options
) -> tuple[pl.DataFrame, list[Message]]:
    """Decimal points, times in seconds, and numbers in the columns that are not karat's."""
    frame, notes = _decimal_commas(frame, options)
    if "rt" in frame.columns and "participant" in frame.columns:
        frame, more = _thousands(frame, mapping["rt"])
        notes += more
        frame, more = in_seconds(frame, options, mapping["rt"], table.file.name)
        notes += more
    typed = [column for name, column in frame.to_dict().items() if name not in COLUMNS and column.dtype == pl.String]
    return frame.with_columns(typed_column(column) for column in typed), notes


def in_seconds(frame: pl.DataFrame, options: Options, name: str, file: str) -> tuple[pl.DataFrame, list[Message]]:
    """The table with response times in seconds, by the user's unit or else a guess, and the note on the guess."""
    unit: str | None = options.rt_unit
    note = None
    if unit is None:
        unit, note = guess_rt_unit(frame["rt"].cast(pl.Float64, strict=False), frame["participant"], name, file)
    if unit == "ms":
        frame = frame.with_columns(seconds_of(frame["rt"]).alias("rt"))
    return frame, [] if note is None else [note]


COMMA = r"^\s*-?\d+,\d+\s*$"


def _thousands(frame: pl.DataFrame, name: str) -> tuple[pl.DataFrame, list[Message]]:
    """Times such as 1.234 ms in a table with decimal commas: the points in them separate thousands."""
    texts = frame.select(pl.col(pl.String)).head(FIRST_ROWS)
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


THOUSAND, SHORTEST, FIRST_ROWS, ROUNDED = 1000, 50, 1000, 1e-6
"""Nobody answers in fewer milliseconds than the second value."""


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
    """A text column as numbers if every cell is the plain spelling of one; other columns and contrasts unchanged.

    >>> typed_column(pl.Series(["1", "2"])).dtype, typed_column(pl.Series(["01", "2"])).dtype
    (Int64, String)
    """
    whole, decimal = r"^-?(0|[1-9]\d{0,17})$", r"^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$"
    for form, dtype in ((whole, pl.Int64), (decimal, pl.Float64)):
        # The first cells settle most columns.
        if all(cells.str.contains(form).fill_null(True).all() for cells in (column.head(100), column)):
            numbers = column.cast(dtype)
            levels = dtype == pl.Float64 and column.n_unique() <= FEW and are_contrasts(numbers)
            return column if levels or column.null_count() == len(column) else numbers
    return column


FEW = 5


def _counted_down(
    frame: pl.DataFrame, numbers: pl.Series, mapping: dict[str, str]
) -> tuple[pl.DataFrame, list[Message]]:
    """Trials from 1; those with numbers below 0 are practice."""
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
    """Trials from 1; many tools number them from 0."""
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
