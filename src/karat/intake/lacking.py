"""Errors about missing columns and misspelt mappings, with the columns that are there and the likely ones.

Only columns that every table of judgments needs can be missing. The words in a column's name make it likely; karat
proposes it but does not use it. Also the note on rows that could not be read and were left out: it names rows, not
values, because an unreadable cell may hold something private.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher

import polars as pl

from karat.errors import IntakeError, Problem, Problems
from karat.intake.content import AVERAGES, SPREADS, Content, words_of
from karat.intake.guess import are_verdicts, guess_columns
from karat.intake.nested import WHOLE_TEXTS, marks_words
from karat.intake.personal import describes_a_person, names_a_person
from karat.intake.reading import Reading
from karat.intake.roles import ANSWER_STEMS
from karat.intake.words import word_lists
from karat.judgments.columns import COLUMNS, REQUIRED, nearest
from karat.judgments.message_tables import listed, rows_named
from karat.messages import Message

LONGEST_NAME = 40
FEW_COLUMNS, MANY_COLUMNS = 3, 5
MOST_COLUMNS = 30
"""At most this many of a file's columns are listed."""
LIKE = 0.75
FEWEST_ANSWERS = 2
WORDS = word_lists("likely")


OF_RESEARCHERS = re.compile(r"(?i)pred[ei]fined|gold|expected|correct|truth|reference|intended")
"""Names of labels that come from the researchers rather than from participants."""


def likely(column: str, names: Sequence[str]) -> str | None:
    """The column of a file that probably is one of karat's columns.

    >>> likely("item", ["label", "hit_id"]), likely("item", ["docId"]), likely("response", ["the_label"])
    ('hit_id', 'docId', 'the_label')
    >>> likely("participant", ["length"]) is None, likely("response", ["gold_label"]) is None
    (True, True)
    >>> likely("response", ["text", "offensiveness"])
    'offensiveness'
    """
    free = [name for name in names if not names_a_person(name) and not any(map(describes_a_person, words_of(name)))]
    if column == "response":
        free = [name for name in free if not OF_RESEARCHERS.search(name) and words_of(name)[-1:] != ["id"]]
    for word in WORDS[column]:
        for name in free:
            if word in re.split(r"[\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()):
                return name
    answers = [name for name in free if column == "response" and any(map(ANSWER_STEMS.fullmatch, words_of(name)))]
    return answers[0] if answers else nearest(column, free)


def lacking(columns: Collection[str], parts: Sequence[Reading], file: str) -> list[Problem]:
    """The problems with required columns that are missing, each with a likely column, and the list of all columns."""
    choice = {"left", "right"} <= set(columns)
    missing = [name for name in REQUIRED if name not in columns and not (name == "item" and choice)]
    if not missing:
        return []
    roles = {name: ours for part in parts for name, ours in part.taken.items()} or dict.fromkeys(columns, "")
    free = [name for name, ours in roles.items() if not ours]
    problems = []
    not_ids = [
        cells.name for part in parts for cells in part.frame
        if cells.n_unique() in (1, part.frame.height) or cells.dtype.is_float() or are_verdicts(cells)
    ]  # fmt: skip
    constant = [cells.name for part in parts for cells in part.frame if cells.drop_nulls().n_unique() < FEWEST_ANSWERS]
    same = [
        cells.name for part in parts for cells in part.frame
        if cells.name in free and cells.n_unique() == 1 and cells.dtype == pl.String and cells.name[-2:].lower() != "id"
    ]  # fmt: skip
    # What is the same in all rows of each participant was not judged.
    of_people = [
        cells.name for part in parts if "participant" in part.frame.columns for cells in part.frame
        if part.frame.select("participant", cells.alias(" ")).n_unique() == part.frame["participant"].n_unique()
    ]  # fmt: skip
    for name in missing:
        # A participant id is not the same in all rows or different in each, nor a decimal number, a yes or a no.
        excluded = {"participant": not_ids, "response": constant, "item": of_people}.get(name, [])
        close = likely(name, [column for column in free if column not in excluded])
        fix = f"Is it {close}? Use --map {name}={close}" if close else f"Name the column: --map {name}=NAME"
        what = f"there is no column {name} ({COLUMNS[name].meaning})"
        fix = f"{fix}, or mapping={{'{name}': '{close or 'NAME'}'}}."
        if name == "participant" and not close:
            fix += " If one participant gave all answers, add a column with their code."
        if name == "item" and not close and same:
            fix += (
                f" If everyone judged the same item, use a column that is the same in all rows: --map item={same[0]}."
            )
        problems.append(Problem(what, fix))
    if set(REQUIRED) - {"item"} <= set(missing) and not any(map(_comes_again, (c for p in parts for c in p.frame))):
        fix = "These may be the materials; look for the file with the answers."
        problems.append(Problem("no column has values that come again, as answers do", fix))
    elif "response" in missing and len(free) >= (MANY_COLUMNS if "participant" in missing else FEW_COLUMNS):
        fix = "Use --wide participant, --wide item or --wide trial, depending on what one row is."
        problems.append(Problem("perhaps several columns hold answers", fix))
    summed = [name for name in roles if re.search(r"(?i):confidence$|^confidence:|^_trusted_judgments$", name)]
    if "participant" in missing and summed:
        fix = "Export the full report, with one row per judgment and the id of the contributor."
        problems.append(Problem(f"{summed[0]} is a column of an aggregated report, which sums up several people", fix))
    spans = [cells.name for part in parts for cells in part.frame if marks_words(cells)]
    if "response" in missing and spans:
        problems.append(Problem(f"{spans[0]} holds words marked in texts", WHOLE_TEXTS))
    means = [name for name in roles if set(words_of(name)) & {*AVERAGES, *SPREADS, "majority", "aggregated"}]
    own_name = {ours: name for name, ours in roles.items() if ours}
    averaged = [cells.name for part in parts for cells in part.frame if Content(cells.name, cells).are_means]
    means += [own_name.get(name, name) for name in averaged]
    if {"participant", "response"} & {*missing} and means and not summed:
        fix = "Use the ratings it was computed from: one row per answer, with the participant."
        problems.append(Problem(f"{means[0]} is a summary over several people", fix))
    short = {name: name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in roles}
    labels = [
        f"{short[name]} (taken as {ours})" if ours and ours != name else short[name] for name, ours in roles.items()
    ]
    listing = listed(labels, MOST_COLUMNS) if labels else "no columns"
    return [*problems, Problem(f"{file} has {listing}")]


def _comes_again(cells: pl.Series) -> bool:
    """Whether a column has several values, many of which occur more than once."""
    filled = cells.drop_nulls()
    return 1 < filled.n_unique() <= MOST_OWN * len(filled)


MOST_OWN = 0.5


def refuse_misspelt(mapping: Mapping[str, str], columns: Collection[str]) -> None:
    """Raise IntakeError if a mapping seems to misspell one of karat's columns.

    Other names make new columns; so do mappings of a column to its own name.

    >>> refuse_misspelt({"condition": "cond", "name": "name"}, [])
    >>> refuse_misspelt({"itme": "example_id"}, [])
    Traceback (most recent call last):
    ...
    karat.errors.IntakeError: --map itme=example_id: karat has no column itme. Use --map item=example_id.
    """
    for ours, theirs in mapping.items():
        if ours in COLUMNS or ours == theirs or ours in columns:
            continue
        close = _meant(ours.lower())
        if close is not None:
            raise IntakeError(f"--map {ours}={theirs}: karat has no column {ours}. Use --map {close}={theirs}.")


def _meant(word: str) -> str | None:
    """The column that differs from a word in a letter or two, preferably one with the same first letter."""
    close = [(SequenceMatcher(None, word, name).ratio(), name[:1] == word[:1], name) for name in COLUMNS
             if abs(len(word) - len(name)) <= 1]  # fmt: skip
    ratio, _, name = max(close, default=(0.0, False, ""))
    return name if ratio >= LIKE else None


def overlooked(columns: Collection[str]) -> list[Message]:
    """Notes on columns that look like times or right answers but that a reader did not use.

    >>> [note.values for note in overlooked(["participant", "item", "response", "duration_s"])]
    [{'name': 'rt', 'column': 'duration_s'}]
    """
    guessed = guess_columns([name for name in columns if name not in COLUMNS], {})
    unused = [name for name in ("rt", "expected") if name in guessed and name not in columns]
    return [Message("column.overlooked", {"name": name, "column": guessed[name]}) for name in unused]


def skipped_note(
    problems: Problems, skipped: int, units_in: int, unit: Message, *, name_files: bool = False
) -> Message:
    """The note on rows that were left out.

    >>> problems = Problems()
    >>> problems.add("is empty", column="participant", number=3)
    >>> problems.add("is empty", column="participant", number=9)
    >>> problems.add("is not a number", column="rt", value="3,2s", number=17)
    >>> note = skipped_note(problems, 3, 80, Message("unit.rows"))
    >>> note.code, [str(reason) for reason in note.values["reasons"]]
    ('intake.skipped', ['participant is empty (lines 3, 9)', 'rt is not a number (line 17)'])
    """
    kinds: dict[tuple[str, str, str | None, str], list[int]] = {}
    for problem in problems:
        numbers = kinds.setdefault((problem.file or "", problem.place, problem.column, problem.what), [])
        if problem.number is not None:
            numbers.append(problem.number)
    reasons = []
    for (file, place, column, what), numbers in kinds.items():
        rows = rows_named(place, sorted(set(numbers)))
        values = {"column": column, "what": what, "file": file if name_files and file else None, "rows": rows}
        reasons.append(Message("intake.skipped_reason", values))
    return Message("intake.skipped", {"n": skipped, "units_in": units_in, "unit": unit, "reasons": reasons})
