"""The forms in which tables of results come: lists in cells, one row per participant or item, two rows per choice.

Each form is brought into one row per answer before the roles of the columns are looked for.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from karat.errors import IntakeError
from karat.intake.content import ROW_NUMBERS, Content, Contents, words_of
from karat.intake.guess import NAMES, guess_columns, joined, missing_codes, plain
from karat.intake.personal import asks_for_a_person, describes_a_person, names_a_person
from karat.intake.reading import Proposal, Question
from karat.intake.roles import ITEM_WORDS, PERSON_WORDS, cut
from karat.judgments.checks import LISTS, kind_of_cells
from karat.judgments.columns import COLUMNS, REQUIRED
from karat.judgments.message_tables import listed
from karat.judgments.scales import as_number
from karat.judgments.tables import FileTable
from karat.messages import Message

FEWEST_JUDGED = 4
MOST_ANSWERS = 12
FEWEST_JUDGES = 2
MEANS = re.compile(r"mean|means|average|avg|median|sum|total|count|n|sd|std|variance|score|majority|gold|truth|label")
SECOND_HEADER = re.compile(r"(?i)response|open-ended response|other \(please specify\)")


@dataclass
class Shaped:
    """A table with one row per answer, and where each row comes from."""

    frame: pl.DataFrame
    rows: list[int] | None = None
    """The row of the file for each row, where they are not the same."""
    people: list[str] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    set_aside: dict[Message, int] = field(default_factory=dict)
    mapping: dict[str, str] = field(default_factory=dict)
    """Roles that the form itself settles."""
    open: list[Question] = field(default_factory=list)
    units_in: int | None = None
    unit: str = "rows"


def parsed(cell: str | None) -> Any:
    """A list or an object that was written into a cell as JSON or as Python prints it; None where it is none.

    >>> parsed("[0.85, u'evidence2']"), parsed('["a", "b"]'), parsed("rain"), parsed("['2', True]")
    ([0.85, 'evidence2'], ['a', 'b'], None, ['2', True])
    """
    text = (cell or "").strip()
    if len(text) < 2 or text[0] not in "[{(" or len(text) > 100_000:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        found = ast.literal_eval(re.sub(r"(?<![\w'\"])u(?=['\"])", "", text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return list(found) if isinstance(found, tuple) else found


def _lists(content: Content) -> list[Any] | None:
    """The lists of a column, cell by cell; None where cells hold something else."""
    sample = content.values[:5]
    if not sample or not all(value.lstrip()[:1] in ("[", "(") for value in sample):
        return None
    found = [parsed(cell) for cell in content.cells.to_list()]
    whole = all(isinstance(one, list) or cell is None for one, cell in zip(found, content.cells.to_list(), strict=True))
    return found if whole else None


def shape(frame: pl.DataFrame, wide: str | None, file: str, mapping: dict[str, str]) -> Shaped:
    """The table with one row per answer."""
    if wide is None:
        _refuse_headless(frame, file)
        frame = _unquoted(frame)
        long = _with_records(frame) or _with_lists(frame, file) or _with_groups(frame)
        if long is not None:
            return long
    split, notes = _with_parts(frame)
    split, more = _without_end_labels(split)
    notes += more
    shaped = _wide(split, wide, mapping, file)
    if shaped is None:
        return Shaped(split, notes=notes)
    shaped.notes = [*notes, *shaped.notes]
    return shaped


FEWEST_VALUES, MOST_VALUES = 2, 2 / 3


def _refuse_headless(frame: pl.DataFrame, file: str) -> None:
    """IntakeError where the first line of a file holds values like the others: then no line names the columns.

    Columns that are called 1, 2, 3, ... may well be named, and a name that came twice has `_2` behind it.
    """
    named = [name for name in frame.columns if not re.fullmatch(r"unnamed_\d+", name)]
    texts = {name: re.sub(r"(?<=.)_\d+$", "", name) if name[-1:].isdigit() else name for name in named}
    values = [
        name for name in named
        if frame.schema[name] == pl.String and frame[name].is_in([name, texts[name]]).any()
    ]  # fmt: skip
    numbers = [as_number(texts[name]) for name in named]
    counting = None not in numbers and len(set(numbers)) == len(numbers) > FEWEST_VALUES
    if (
        guess_columns(frame.columns, {}) or len(values) < FEWEST_VALUES or counting
        or len(values) < MOST_VALUES * len(named)
    ):  # fmt: skip
        return
    shown = (texts[name] if texts.get(name) in frame.columns else name for name in frame.columns[:4])
    first = ", ".join(cut(text) for text in shown)
    raise IntakeError(
        f"{file} has no header: its first line holds values ({first}, ...). "
        "Add a first line with the names of the columns, among them participant, item and response."
    )


REGIONS = re.compile(
    r"(word|region|segment|chunk|roi|zone|token)(no|nr|num|number|pos|position|index|id)?|roi|regionnumber"
)


def without_words(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[int]] | None:
    """A table with one row per word as one with one row per trial, and the rows kept; None where it is no such table.

    Reading times stand in a row per word or region, and what was asked after the sentence stands in all of them.

    >>> rows = {"subj": ["a"] * 6, "item": [1, 1, 1, 2, 2, 2], "region": [1, 2, 3] * 2, "rating": [4, 4, 4, 2, 2, 2]}
    >>> without_words(pl.DataFrame(rows))[0]["rating"].to_list()
    [4, 2]
    """
    contents = Contents(frame.with_columns(pl.col(pl.Int64).cast(pl.String)))
    regions = [name for name in contents.names if REGIONS.fullmatch(plain(name))]
    counting = [name for name in regions if contents[name].is_whole and contents[name].distinct >= FEWEST_REGIONS]
    if not counting:
        return None
    rest = [n for n in contents.names if n not in regions and not ROW_NUMBERS.fullmatch(plain(n))]
    key = [name for name in rest if not (contents[name].is_number and contents[name].is_other)]
    trials = frame.group_by(key, maintain_order=True).agg(
        pl.len().alias(" n"), pl.col(counting[0]).n_unique().alias(" regions")
    ) if key else frame.clear()  # fmt: skip
    if not trials.height or FEWEST_REGIONS * trials.height > frame.height:
        return None
    if (trials[" n"] != trials[" regions"]).any():
        return None
    kept = frame.with_row_index(" row").unique(key, keep="first", maintain_order=True)
    return kept.select(key), kept[" row"].cast(pl.Int64).to_list()


FEWEST_REGIONS = 3


ONE_NUMBER = r"^\[\s*-?\d+(\.\d+)?\s*\]$"


def _unquoted(frame: pl.DataFrame) -> pl.DataFrame:
    """Cells that were quoted twice, and lists of one number: every value of the column is written like this."""
    names = [
        name for name, dtype in frame.schema.items()
        if dtype == pl.String and (cells := frame[name].filter(frame[name] != "NA")).len()
        and cells.head(50).str.contains(r'^".*"$').all() and cells.str.contains(r'^"[^"]*"$').all()
    ]  # fmt: skip
    frame = frame.with_columns(pl.col(names).str.strip_chars('"')) if names else frame
    single = [
        name for name, dtype in frame.schema.items()
        if dtype == pl.String and (cells := frame[name].drop_nulls()).len()
        and cells.head(50).str.contains(ONE_NUMBER).all() and cells.str.contains(ONE_NUMBER).all()
    ]  # fmt: skip
    return frame.with_columns(pl.col(single).str.strip_chars("[] ")) if single else frame


def _with_records(frame: pl.DataFrame) -> Shaped | None:
    """A row per trial where a column holds the trials of a participant as a list of objects: `[{"item": ...}, ...]`."""
    contents = Contents(frame)
    found: dict[str, list[Any]] = {}
    for name in contents.names:
        sample = contents[name].values[:3] if frame.schema[name] == pl.String else []
        if sample and all(re.match(r"\s*\[\s*\{", value) for value in sample):
            lists = _lists(contents[name])
            if lists and all(isinstance(part, dict) for one in lists if one for part in one):
                found[name] = lists
    if not found:
        return None
    trials = max(found, key=lambda name: sum(len(one or []) for one in found[name]))
    if sum(len(one or []) for one in found[trials]) < FEWEST_JUDGED * frame.height:
        return None
    rest = [name for name in frame.columns if name not in found]
    names = list(dict.fromkeys(str(key) for one in found[trials] for part in one or [] for key in part))
    if len(names) < 2:  # a bare rating: nothing says of what
        return None
    own = {name: name if name not in rest else f"{trials}.{name}" for name in names}
    records, rows = [], []
    for row, plain_cells in enumerate(frame.select(rest).iter_rows(named=True)):
        for part in found[trials][row] or []:
            records.append({**plain_cells, **{own[str(key)]: _text(value) for key, value in part.items()}})
            rows.append(row)
    schema = {name: frame.schema[name] for name in rest} | dict.fromkeys(own.values(), pl.String())
    long = pl.DataFrame(records, schema=schema, orient="row")
    note = Message("form.lists", {"columns": [trials]})
    return Shaped(long, rows, notes=[note], units_in=len(rows), unit="answers and rows")


MESSAGES = ({"role", "content"}, {"id", "text"}, {"speaker", "text"}, {"from", "value"}, {"start", "end"})
"""The names in objects that are no trials: messages of a conversation, options to choose from, parts of a text."""


def are_messages(value: object) -> bool:
    """Whether a list holds the messages of a conversation, options to choose from or parts of a text.

    >>> are_messages([{"role": "user", "content": "Hello"}]), are_messages([{"rating": 3}])
    (True, False)
    """
    parts = value if isinstance(value, list) else []
    return bool(parts) and all(isinstance(part, dict) and any(keys <= set(part) for keys in MESSAGES) for part in parts)


def _with_lists(frame: pl.DataFrame, file: str) -> Shaped | None:
    """A row per element where several columns hold lists that belong together by position."""
    contents = Contents(frame)
    lists = {}
    for name in contents.names:
        content = contents[name]
        if frame.schema[name] != pl.String or not content.distinct:
            continue
        found = _lists(content)
        if found is not None and not all(are_messages(one) for one in found if one):
            lists[name] = found
    lists = lists or _joined_lists(contents)
    lengths = {name: [len(one) if one is not None else 0 for one in found] for name, found in lists.items()}
    long = {name: sizes for name, sizes in lengths.items() if max(sizes, default=0) > 1}
    if not long:
        _refuse_nobody(contents, lists, file)
        return None
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, sizes in long.items():
        groups.setdefault(tuple(sizes), []).append(name)
    together = max(groups.values(), key=len)
    fixed = len(together) < 2 or not any(_fixed(lists[name]) is None for name in together)
    if fixed or _describe_trials(contents, together, lengths):
        _refuse_nobody(contents, lists, file)
        return None
    rest = [name for name in frame.columns if name not in lists]
    records = []
    rows = []
    for row, plain_cells in enumerate(frame.select(rest).iter_rows(named=True)):
        for at in range(lengths[together[0]][row]):
            elements = {name: _text(lists[name][row][at]) for name in together}
            records.append({**plain_cells, **elements})
            rows.append(row)
    schema = {name: frame.schema[name] for name in rest} | dict.fromkeys(together, pl.String())
    _refuse_nobody(contents, lists, file)
    exploded = pl.DataFrame(records, schema=schema, orient="row")
    who = [name for name in together if _ends(name, ANNOTATORS)]
    given = [name for name in together if _ends(name, SEVERAL_ANSWERS)]
    return Shaped(
        exploded.select([name for name in frame.columns if name in schema]), rows,
        notes=[Message("form.lists", {"columns": together})], units_in=len(rows), unit="answers and rows",
        mapping={"participant": who[0], "response": given[0]} if len(who) == len(given) == 1 else {},
    )  # fmt: skip


def _describe_trials(contents: Contents, lists: Sequence[str], lengths: Mapping[str, Sequence[int]]) -> bool:
    """Whether short lists of one length say what a trial showed: beside them, each row has an answer of its own."""
    sizes = {size for name in lists for size in lengths[name] if size}
    rest = [contents[name] for name in contents.names if name not in lengths]
    person = [c.name for c in rest if c.plain in NAMES["participant"] and 2 * c.distinct <= contents.frame.height]
    answered = [c.name for c in rest if words_of(c.name)[-1:] and words_of(c.name)[-1] in GROUP_ANSWERS]
    short = len(sizes) == 1 and max(sizes) <= FEWEST_GROUPS
    return short and any(contents.varies_within(answer, one) for one in person for answer in answered)


ANNOTATORS = ("annotators", "workers", "raters", "users", "judges", "participants", "coders")
SIGNS = (",", ";", "|", " ")


def _ends(name: str, words: Sequence[str]) -> bool:
    """Whether the last word of a column's name is one of these."""
    return bool(set(words_of(name)[-1:]) & set(words))


def _joined_lists(contents: Contents) -> dict[str, list[Any]]:
    """Annotators and their answers where cells hold several of each, one after the other: `ann1,ann2` and `0,1`.

    >>> _joined_lists(Contents(pl.DataFrame({"annotators": ["a,b", "c"], "labels": ["0,1", "1"], "text": ["u", "v"]})))
    {'annotators': [['a', 'b'], ['c']], 'labels': [['0', '1'], ['1']]}
    """
    for sign in SIGNS:
        cells = {
            name: [[part.strip() for part in cell.split(sign)] if cell else [] for cell in contents[name].cells]
            for name in contents.names if _ends(name, (*ANNOTATORS, *SEVERAL_ANSWERS))
        }  # fmt: skip
        who = [name for name in cells if _ends(name, ANNOTATORS)]
        sizes = {name: [len(one) for one in found] for name, found in cells.items()}
        given = [name for name in cells if name not in who and who and sizes[name] == sizes[who[0]]]
        if given and max(sizes[who[0]]) > 1:
            return {name: cells[name] for name in (who[0], *given)}
    return {}


NUMBERED = re.compile(r"(?P<stem>.*?[^\W\d])[\W_]?(?P<at>\d{1,3})(?:[\W_](?P<rest>[^\W\d]\w*))?")
FEWEST_GROUPS = 3


def _with_groups(frame: pl.DataFrame) -> Shaped | None:
    """A row per trial where each participant has one row with numbered columns for each trial: item1, rating1, item2.

    >>> wide = pl.DataFrame({"worker": ["a", "b"], "item_1": ["u", "v"], "answer_1": ["4", "2"],
    ...     "item_2": ["w", "x"], "answer_2": ["1", "5"], "item_3": ["y", "z"], "answer_3": ["3", "3"]})
    >>> _with_groups(wide).frame.row(1)
    ('a', 2, 'w', '1')
    """
    contents = Contents(frame)
    rows = frame.height
    persons = [c for c in map(contents.__getitem__, contents.names) if c.plain in NAMES["participant"]]
    if not any(c.distinct >= NEARLY_ALL * rows for c in persons):
        return None
    columns: dict[str, dict[int, str]] = {}
    for name in contents.names:
        found = NUMBERED.fullmatch(name)
        if found:
            stem = found["stem"] + (f"_{found['rest']}" if found["rest"] else "")
            columns.setdefault(stem, {})[int(found["at"])] = name
    by_numbers: dict[tuple[int, ...], list[str]] = {}
    for stem, numbered in columns.items():
        by_numbers.setdefault(tuple(sorted(numbered)), []).append(stem)
    numbers, stems = max(by_numbers.items(), key=lambda one: len(one[1]), default=((), []))
    answers = [s for s in stems if any(word in GROUP_ANSWERS for word in words_of(s.removeprefix("Answer.")))]
    if len(numbers) < FEWEST_GROUPS or not answers or not _name_stimuli(contents, columns, stems, answers):
        return None
    used = {columns[stem][at] for stem in stems for at in numbers}
    rest = [name for name in frame.columns if name not in used]
    place = "trial" if "trial" not in (*stems, *rest) else "trial_"
    blocks = [
        frame.select(
            *(pl.col(name).alias(f"{name}_" if name in stems else name) for name in rest), pl.lit(nth).alias(place),
            *(pl.col(columns[stem][at]).cast(pl.String).alias(stem) for stem in stems),
        ).with_row_index(" row")
        for nth, at in enumerate(numbers, 1)
    ]  # fmt: skip
    long = pl.concat(blocks).sort(" row", place)
    note = Message("form.groups", {"columns": [columns[stem][numbers[0]] for stem in stems[:3]], "n": len(numbers)})
    lines = long[" row"].cast(pl.Int64).to_list()
    return Shaped(long.drop(" row"), lines, notes=[note], units_in=long.height, unit="answers and rows")


GROUP_ANSWERS = ("response", "responses", "answer", "rating", "judgment", "judgement", "choice", "score", "resp")
NEARLY_ALL = 0.9


def _name_stimuli(
    contents: Contents, columns: Mapping[str, Mapping[int, str]], stems: Sequence[str], answers: Sequence[str]
) -> bool:
    """Whether numbered columns beside the answers say what was shown: several values that are not numbers."""
    for stem in stems:
        cells = [set(contents[name].values) for name in columns[stem].values()]
        every = set().union(*cells)
        named = stem not in answers and len(every) >= FEWEST_JUDGED
        if named and not all(as_number(value) is not None for value in every):
            return True
    return False


def _fixed(found: Sequence[Any]) -> list[str] | None:
    """The kinds of elements where every list has the same kinds in the same places: several answers of one trial."""
    kinds = {tuple(_kind(part) for part in one) for one in found if one is not None}
    if len(kinds) != 1:
        return None
    (only,) = kinds
    return list(only) if len(set(only)) > 1 else None


def _kind(part: Any) -> str:
    return "number" if as_number(_text(part) or "") is not None else type(part).__name__


def _text(part: Any) -> str | None:
    if part is None:
        return None
    if isinstance(part, bool):
        return "true" if part else "false"
    if isinstance(part, list | dict):
        return json.dumps(part, ensure_ascii=False)
    return str(part)


SEVERAL_ANSWERS = ("ratings", "scores", "votes", "labels", "annotations", "judgments", "judgements", "responses")


def _refuse_nobody(contents: Contents, lists: dict[str, list[Any]], file: str) -> None:
    """IntakeError where ratings are lists in cells and nothing says who gave them."""
    columns = [name for name, found in lists.items() if any(one and isinstance(one[0], dict) for one in found if one)]
    rated = [name for name in lists if name in columns or any(word in SEVERAL_ANSWERS for word in words_of(name))]
    person = any(_ends(name, ANNOTATORS) for name in lists) or any(
        content.plain in NAMES["participant"] or any(w in PERSON_WORDS for w in words_of(content.name))
        for content in contents if content.name not in lists  # type: ignore[attr-defined]
    )  # fmt: skip
    rated = rated or [name for name in contents.names if _holds_several(contents[name])]
    if rated and not person:
        raise IntakeError(
            f"{file} holds ratings as lists in cells ({', '.join(rated[:3])}), and nothing says who gave which rating. "
            "karat needs one row per answer with the participant. Ask the authors for ratings with participant ids, "
            "or make a table with the columns participant, item and response."
        )


def _holds_several(content: Content) -> bool:
    """Whether cells hold the ratings of several people, one after the other: 4,2,2,3."""
    if not any(word in SEVERAL_ANSWERS for word in words_of(content.name)) or content.is_number:
        return False
    sample = content.values[:50]
    return bool(sample) and all(re.fullmatch(r"-?\d+(\.\d+)?([,;| ]+-?\d+(\.\d+)?){2,}", value) for value in sample)


def _with_parts(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    """Cells with two or more answers to one trial, as columns of their own: `response[1]`, `response[2]`."""
    notes = []
    for name, dtype in frame.schema.items():
        if dtype != pl.String or not any(
            word in ("response", "answer", "rating", "responses") for word in words_of(name)
        ):
            continue
        content = Contents(frame.select(name))[name]
        if not content.distinct:
            continue
        cells = content.cells.to_list()
        named = _of_objects(name, cells)
        if named is not None:
            position = frame.columns.index(name)
            frame = frame.drop(name)
            for offset, column in enumerate(named):
                frame = frame.insert_column(position + offset, column)
            notes.append(Message("form.parts", {"column": name, "n": len(named), "columns": [c.name for c in named]}))
            continue
        found = _lists(content)
        if found is None and all(re.fullmatch(r"[^|;]{1,40}(\|[^|;]{1,40}){1,4}", value) for value in content.values):
            found = [None if cell is None else cell.split("|") for cell in cells]
        sizes = {len(one) for one in found or [] if one is not None}
        if found is None or len(sizes) != 1 or not 1 <= (size := sizes.pop()) <= 5:
            continue
        new = [f"{name}[{at + 1}]" for at in range(size)] if size > 1 else [name]
        timed = _time_among([one for one in found if one is not None]) if size == PAIR else None
        if timed is not None:
            new = [f"{name}_rt" if at == timed else name for at in range(size)]
            found = [
                None if one is None else [*one[:timed], _after_onset(one[timed]), *one[timed + 1 :]] for one in found
            ]
        parts = {
            column: pl.Series(column, [None if one is None else _text(one[at]) for one in found], dtype=pl.String)
            for at, column in enumerate(new)
        }
        position = frame.columns.index(name)
        frame = frame.drop(name)
        for offset, column in enumerate(parts.values()):
            frame = frame.insert_column(position + offset, column)
        if size > 1:
            notes.append(Message("form.parts", {"column": name, "n": size, "columns": new}))
    return frame, notes


PAIR = 2
SHORTEST_TIME, LATEST_TIME = 100.0, 1e9
"""Milliseconds below which no answer is given, and from which on a number is a point in time."""


def _time_among(pairs: Sequence[Sequence[Any]]) -> int | None:
    """Which of the two parts of cells such as [1612, "yes"] is a response time; None where neither is.

    >>> _time_among([[1612, "yes"], [2040, "no"], [1877, "yes"]]), _time_among([[0.4, "yes"], [0.9, "no"]])
    (0, None)
    """
    for at in range(PAIR):
        numbers = [as_number(_text(pair[at]) or "") for pair in pairs]
        times = [n for n in numbers if n is not None and n < LATEST_TIME]
        words = {_text(pair[1 - at]) for pair in pairs}
        worded = all(as_number(word or "") is None for word in words) and len(words) <= MOST_ANSWERS + len(pairs) / 10
        whole = None not in numbers and all(n == int(n) for n in times)
        if worded and whole and len(times) > len(pairs) / 2 and sorted(times)[len(times) // 2] > SHORTEST_TIME:
            return at
    return None


def _after_onset(time: Any) -> Any:
    """A time, unless it is a point in time or was not measured."""
    number = as_number(_text(time) or "")
    return time if number is not None and 0 < number < LATEST_TIME else None


MOST_KEYS = 5
SAME_KEYS = 0.6


def _of_objects(name: str, cells: Sequence[str | None]) -> list[pl.Series] | None:
    """The values of cells such as {"Q0": 4}, where most have the same names; None where they are no such thing.

    >>> [column.to_list() for column in _of_objects("responses", ['{"Q0": 4}', '{"Q0": 2}', None, '{"age": "31"}'])]
    [['4', '2', None, None]]
    """
    first = next((cell for cell in cells if cell), "")
    if not first.lstrip().startswith("{"):
        return None
    found = [parsed(cell) if cell else None for cell in cells]
    known = [one for one in found if one is not None]
    if not known or not all(isinstance(one, dict) for one in known) or len(known) < sum(map(bool, cells)):
        return None
    (keys, often), *_ = Counter(tuple(one) for one in known).most_common(1)
    if often < SAME_KEYS * len(known) or not 1 <= len(keys) <= MOST_KEYS:
        return None
    columns = [name] if len(keys) == 1 else [f"{name}.{key}" for key in keys]
    rows = [one if one is not None and tuple(one) == keys else {} for one in found]
    return [
        pl.Series(column, [_text(row.get(key)) for row in rows], dtype=pl.String)
        for column, key in zip(columns, keys, strict=True)
    ]


LABELLED = r"^\s*(-?\d{1,2})\s*(?:\([^)]*\)|[-–:=]\s*\D.*)?\s*$"


def _without_end_labels(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    """Columns with the points of one scale as numbers, where only some points have a label: 1 (bad), 2, 3, 4, 5 (good).

    >>> cells = {f"s{n}": ["1 (bad)", "2", "3"] for n in range(4)} | {"age": ["20-25", "30", "31"]}
    >>> _without_end_labels(pl.DataFrame(cells))[0].row(0)
    ('1', '1', '1', '1', '20-25')
    """
    points: dict[str, list[str]] = {}
    for name in (name for name, dtype in frame.schema.items() if dtype == pl.String):
        values = [value.strip() for value in frame[name].drop_nulls().unique().head(MOST_ANSWERS + 1).to_list()]
        partly = len(values) <= MOST_ANSWERS and any(as_number(value) is None for value in values)
        if partly and all(re.match(LABELLED, value) for value in values):
            points[name] = values
    every = {value for values in points.values() for value in values}
    labels = sorted(value for value in every if as_number(value) is None)
    numbers = {re.sub(LABELLED, r"\1", value) for value in every}
    if len(points) < FEWEST_JUDGED or len(labels) == len(every) or len(numbers) < len(every):
        return frame, []
    bare = [pl.col(name).str.extract(LABELLED, 1).alias(name) for name in points]
    return frame.with_columns(bare), [Message("form.end_labels", {"labels": [cut(label) for label in labels[:3]]})]


def _wide(frame: pl.DataFrame, wide: str | None, mapping: dict[str, str], file: str) -> Shaped | None:
    """A table with one column per item, or per participant, as one row per answer."""
    contents = Contents(frame)
    judged = _judged_columns(contents, wide, mapping)
    _refuse_own_answers(contents, judged, file)
    asked = _asked_columns(contents, mapping) if wide in (None, "trial") else []
    if asked:
        return _by_trial(contents, asked)
    if len(judged) < (FEWEST_JUDGES if wide or _are_raters(judged) else FEWEST_JUDGED):
        return None
    kind = wide or _what_a_row_is(contents, judged, mapping)
    if kind is None or (wide is None and any(contents[name].plain in LONG_ANSWERS for name in judged)):
        return None
    if kind == "trial":
        return _by_trial(contents, judged)
    return _by_participant(contents, judged, mapping) if kind == "participant" else _by_item(contents, judged, mapping)


def _judged_columns(contents: Contents, wide: str | None, mapping: dict[str, str]) -> list[str]:
    """The largest group of columns with the same answers."""
    groups: dict[object, list[str]] = {}
    taken = set(mapping.values())
    for name in contents.names:
        content = contents[name]
        if name in taken or not content.distinct or content.is_about_people or _is_of_tool(content):
            continue
        if asks_for_a_person(name) or (content.is_number and _sums_up(name)):
            continue
        if content.distinct > MOST_ANSWERS and not (content.is_number and content.distinct <= 120):
            continue
        if content.filled < 0.1:
            continue
        groups.setdefault(_alphabet(content), []).append(name)
    merged: list[tuple[object, set[str], list[str]]] = []
    for key, names in sorted(groups.items(), key=lambda one: -len(one[1])):
        values = {value.lower() for name in names for value in contents[name].values}
        # The points of a scale are not positions of a slider, although a slider has these numbers too.
        home = next((one for one in merged if _are_alike(values, one[1]) and _are_of_kind(key, one[0])), None)
        if home is not None:
            home[1].update(values)
            home[2].extend(names)
        else:
            merged.append((key, values, list(names)))
    best = _of_one_stem(max((names for *_, names in merged), key=len, default=[]))
    raters = [name for name in best if _is_rater(name)]
    if len(raters) >= FEWEST_JUDGES and all(_is_summary(name) for name in best if name not in raters):
        best = raters
    stem = {re.sub(r"\d+$", "", name) for name in best}
    if len(stem) == 1 and _are_raters(best):
        # The last of several raters often judged little.
        (first,) = stem
        best = [
            n for n in contents.names
            if n in best or (re.fullmatch(rf"{re.escape(first)}\d+", n) and contents[n].is_number)
        ]  # fmt: skip
    return [name for name in contents.names if name in best]


def _refuse_own_answers(contents: Contents, judged: Sequence[str], file: str) -> None:
    """IntakeError where most columns ask to choose between texts, each between others: no scale is common to them."""
    rows = contents.frame.height
    chosen = [
        c for c in map(contents.__getitem__, contents.names)
        if 1 <= c.distinct <= MOST_OPTIONS and c.filled > NEARLY_ALL and not c.is_number and not c.is_about_people
    ]  # fmt: skip
    often = Counter(value for content in chosen for value in content.values)
    own = [c.name for c in chosen if all(often[value] == 1 for value in c.values)]
    differ = sum(contents[name].distinct for name in own) > MOST_ANSWERS
    if len(judged) >= FEWEST_JUDGED or 2 * len(own) <= len(contents.names) or not differ or rows < 2 * MOST_OPTIONS:
        return
    shown = " and ".join(cut(value) for value in contents[own[0]].values[:2])
    raise IntakeError(
        f"{file} has {len(own)} columns with choices, each between answers of its own ({cut(own[0])}: {shown}). karat "
        "needs the same answers in all of them: replace each by what it stands for, such as its condition."
    )


MOST_OPTIONS = 3


def _are_alike(answers: set[str], others: set[str]) -> bool:
    """Whether answers are among others; words may be new where few people answered and most of the words are known."""
    if answers <= others:
        return True
    worded = not any(as_number(answer) is not None for answer in answers | others)
    return worded and len(answers | others) <= MOST_ANSWERS and len(answers & others) > len(answers) / 2


def _are_of_kind(one: object, other: object) -> bool:
    return (one == "slider") == (other == "slider")


def _of_one_stem(names: list[str]) -> list[str]:
    """The columns of batteries, where most share a stem such as AB01_; others only have the same answers.

    >>> _of_one_stem(["a1", "a2", "a3", "a4", "a5", "trust"])
    ['a1', 'a2', 'a3', 'a4', 'a5']
    >>> len(_of_one_stem(["a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"]))
    8
    """
    # Of columns that all had one name, the first has it still.
    copied = [f"{name}_2" if f"{name}_2" in names else name for name in names]
    stems = [re.sub(r"[\W_]?\[?\w*?\d+\]?$", "", name) for name in copied]
    numbered = [re.sub(r"[\W_]?\d+$", "", name) if re.search(r"\d$", name) else "" for name in copied]
    for found, least in ((stems, 0.7), (numbered, 0.5)):
        sizes = Counter(filter(None, found))
        most = max(sizes.values(), default=0)
        if FEWEST_JUDGED <= most < len(names) and most >= least * len(names):
            # Grammatical and other sentences, or tests and fillers, may be numbered each on their own.
            return [
                name
                for name, stem, own in zip(names, found, numbered, strict=True)
                if sizes[stem] == most or (own and numbered.count(own) >= max(FEWEST_JUDGED, most / 4))
            ]
    return names


def _alphabet(content: Content) -> object:
    """What the answers of a column are made of: the points of a scale, a slider, or certain words."""
    if content.is_number:
        known = content.numbers.drop_nulls()
        numbers = known.filter(~known.is_in(missing_codes(known.unique())))
        high, low = numbers.max(), numbers.min()
        if (
            isinstance(high, float)
            and isinstance(low, float)
            and content.is_whole
            and high <= MOST_ANSWERS
            and low >= -5
        ):
            return "numbers", "01" if high <= 1 else ""
        return "slider"
    if all(POINT.match(value) for value in content.values):
        return "points in words"
    return frozenset(value.lower() for value in content.values)


POINT = re.compile(r"\(?(-?\d{1,2})\)?\s*[-–:.=)]\s*[^\W\d]")
"""An answer that begins with the number of a point: 5 : very fluent."""
LONG_ANSWERS = ("response", "answer", "rating", "judgment", "judgement")
"""A column with one of these names holds the answers; such a table has one trial per row."""
ROW_IDS = (
    "respondentid", "responseid", "case", "id", "token", "lfdn", "serial", "antwortid", "iddelaréponse",
    "iddelarespuesta", "recordid", "session",
)  # fmt: skip
OF_TOOLS = re.compile(
    r"zeitstempel|horodateur|marcatemporal|marcadetiempo|carimbodedatahora|informazionicronologiche|tijdstempel|"
    r"zamandamgası|отметкавремени|タイムスタンプ|antwortid|datumabgeschickt|letzteseite|startsprache|zufallsstartwert|"
    r"gesamtzeit|gruppenzeit.*|fragezeit.*|iddelaréponse|datedesoumission|dernièrepage|languedelancement|"
    r"iddelarespuesta|fechadeenvío|últimapágina|"
    r"timestamp|startdate|enddate|submitdate|datestamp|lastpage|startlanguage|seed|token|refurl|respondentid|collectorid|"
    r"datecreated|datemodified|custom\w*|case|serial|ref|questnnr|mode|started|lastdata|status|finished|progress|q_.*|"
    r"time\d+|timesum|mailsent|missing|missrel|maxpage|timersum|degtime|responseid|interviewtime|id|responselastpage|"
    r"grouptime\d+|\w*q\w*\d+\w*time|recordid|redcap\w+|responsetype|(start|stage|submit)dateutc|networkid|"
    r"ipaddress|recordeddate|distributionchannel|userlanguage|durationinseconds|recipient\w+|externalreference"
)
"""Columns that survey tools add: LimeSurvey, SurveyMonkey, SoSci Survey, Google Forms, REDCap, Typeform."""


def _code(name: str) -> str:
    """The code of a question before its text, as LimeSurvey writes both into the header.

    >>> _code("id. ID de la réponse"), _code("R1Q2[comment]. Le rapport est-il concis ?"), _code("raw.judgment")
    ('id', 'R1Q2[comment]', 'raw.judgment')
    """
    found = re.match(r"(\w+(?:\[\w+\])*)\. \S", name)
    return found[1] if found else name


def _is_of_tool(content: Content) -> bool:
    name = plain(_code(content.name))
    if _code(content.name).endswith("[comment]"):
        return True
    if content.name.endswith("_complete") and set(content.values) <= {"0", "1", "2"}:
        return True  # REDCap says so of each form.
    return bool(
        OF_TOOLS.fullmatch(name) or ROW_NUMBERS.fullmatch(name) or name in NAMES["participant"] or content.is_other
    )


def _what_a_row_is(contents: Contents, judged: Sequence[str], mapping: dict[str, str]) -> str | None:
    """Whether each row is a participant or an item; None where the table is not wide."""
    rows = contents.frame.height
    rest = [contents[name] for name in contents.names if name not in judged]
    sentences = sum(len(name.split()) >= FEWEST_IN_SENTENCE for name in judged) >= 0.8 * len(judged)
    unique = [c for c in rest if c.distinct >= 0.95 * rows and c.filled > 0.9 and rows > 1]
    persons = [
        c for c in rest
        if c.plain in NAMES["participant"]
        or (any(w in PERSON_WORDS for w in words_of(c.name)) and not any(map(describes_a_person, words_of(c.name))))
    ]  # fmt: skip
    if any(c.distinct < 0.7 * rows and c.filled > 0.5 for c in persons):
        return None
    if not persons and unique and all(any(word in RATERS for word in words_of(name)) for name in judged):
        return "item"
    if sentences:
        return "participant"
    if _are_raters(judged) and not persons and len(_sides_shown(contents, judged)) == PAIR:
        return "item"
    if _are_raters(judged) and not persons and all(ROW_NUMBERS.fullmatch(c.plain) for c in unique if _is_of_tool(c)):
        described = [c for c in rest if not c.is_number and not c.is_other and not c.is_about_people]
        if any(c.distinct >= FEWEST_WORDED * rows for c in described):
            return "item"
    # Row numbers name nobody where another column names each row.
    worded = [c for c in unique if not c.is_number and not _is_of_tool(c) and not c.are_person_codes]
    told_apart = [c for c in unique if not (worded and ROW_NUMBERS.fullmatch(c.plain))]
    if any(c in unique for c in persons) or any(_is_of_tool(c) or c.are_person_codes for c in told_apart):
        named = [c for c in unique if plain(c.name) in NAMES["item"] and c.plain not in ("task",)]
        if not named or any(c in unique for c in persons):
            others = [c for c in rest if c.distinct and not c.is_text and not _is_of_tool(c)]
            return "participant" if 2 * len(judged) >= len(others) else None
    named = [
        c for c in unique if any(w in (*ITEM_WORDS, "lemma", "form", "verb") for w in words_of(c.name)) or c.is_text
    ]
    if named and not persons and all(contents[name].filled > 0.3 for name in judged):
        return "item"
    first = next((c for c in unique if c in worded), contents[contents.names[0]])
    if not persons and first in unique and not first.is_number and len(judged) <= 60 and rows > 2 * len(judged):
        return "item"
    asked = sum(QUESTION.fullmatch(name) is not None for name in judged) > FEWEST_ANSWERED * len(judged)
    aged = not worded and any(c.is_about_people and c.distinct > 1 for c in rest)
    return "participant" if not persons and (asked or aged) and len(judged) >= len(rest) else None


QUESTION = re.compile(r"(?i)(q|question|item|sentence|stim|stimulus|frage|satz|aufgabe)[\W_]?\d+\w*")
FEWEST_ANSWERED = 0.8
FEWEST_WORDED = 0.1
FEWEST_IN_SENTENCE = 3


def _are_raters(judged: Sequence[str]) -> bool:
    """Whether columns are called x1, x2, ... or rater_1, rater_2, ...: a number for each person that judged."""
    return bool(judged) and all(map(_is_rater, judged))


RATERS = (
    "rater", "annotator", "judge", "coder", "labeler", "labeller", "worker", "participant", "subject", "assessor",
    "human", "evaluator", "expert", "reviewer",
)  # fmt: skip


def _is_rater(name: str) -> bool:
    """Whether a column is called after one of several people.

    >>> [_is_rater(name) for name in ("x1", "Annotator A", "label_annotator2", "annotator", "fluency")]
    [True, True, True, False, False]
    """
    if re.fullmatch(r"(?i)(x|r|rater|judge|annotator|coder|rating|score|winner|vote|participant|p|s)[\W_]?\d+", name):
        return True
    who = re.search(rf"(?i)(?<![a-z])({'|'.join(RATERS)})s?[\W_]*(\d+|[a-z])?(?![a-z])", name)
    return who is not None and bool(who[2])


def _sides_shown(contents: Contents, judged: Sequence[str]) -> list[str]:
    """The columns with what stood on either side, where the answers are the names of these columns."""
    answers = {value.lower() for name in judged for value in contents[name].values}
    return [name for name in contents.names if name not in judged and name.lower() in answers]


def _is_summary(name: str) -> bool:
    """Whether a column is called after what raters agreed on, or what is right."""
    return plain(name) in NAMES["expected"] or _sums_up(name)


def _sums_up(name: str) -> bool:
    """Whether a column is called after a summary of others; with a number behind it, some such names are of items.

    >>> [_sums_up(name) for name in ("mean_rating", "n", "N3", "score", "score_12", "mean_2")]
    [True, True, False, True, False, True]
    """
    if re.fullmatch(r"(?i)(n|score|label)[\W_]?\d+", name):
        return False
    return any(MEANS.fullmatch(word) for word in words_of(name))


CRITERIA = re.compile(
    r"(?i)(fluen|coheren|consisten|relevan|adequa|grammatical|natural|accepta|plausib|informativ|factual|faithful|"
    r"clarity|clear|readab|overall|quality|accura|correct|complete|coverage|engag|interest|creativ|humo|polite|toxic|"
    r"offens|hate|sentiment|valence|arousal|dominan|concrete|imageab|familiar|helpful|harm|similar|certain|truth|"
    r"understand|meaning|appropriat|specific|sens|novel|empath|trust|difficult|simpl)\w*"
)
"""The beginnings of words for what people are asked to rate."""


def _asked_columns(contents: Contents, mapping: Mapping[str, str]) -> list[str]:
    """Columns that hold answers to several questions on the item of their row, such as fluency and coherence.

    Each row is a trial: some column says who answered, and comes again. No design gave these levels, as people differ
    in them on the same items.
    """
    if {"response", "question"} & set(mapping):
        return []
    answers = [name for name in contents.names if contents[name].plain in NAMES["response"]]
    if answers:
        return _beside_a_check(contents, answers)
    rows = contents.frame.height
    person = [
        n for n in contents.names if contents[n].plain in NAMES["participant"] and contents[n].filled > NEARLY_ALL
    ]
    person = [name for name in person if 1 < contents[name].distinct <= 0.5 * rows][:1]
    rated = [
        name for name in contents.names
        if contents[name].is_whole and 2 <= contents[name].distinct <= MOST_ANSWERS and contents[name].filled > 0.5
        and not contents[name].is_about_people and any(CRITERIA.fullmatch(word) for word in words_of(name))
        and not _sums_up(name)
    ]  # fmt: skip
    groups: dict[object, list[str]] = {}
    for name in rated:
        groups.setdefault(_alphabet(contents[name]), []).append(name)
    asked = max(groups.values(), key=len, default=[])
    if person and len(asked) < FEWEST_GROUPS:
        return _in_turn(contents, person) or _sliders(contents, person)
    if not person:
        return []
    shown = [
        c.name for c in map(contents.__getitem__, contents.names)
        if c.name not in (*asked, *rated, *person) and 1 < c.distinct <= 0.5 * rows and not c.is_other
        and not c.is_about_people and not (c.is_number and not c.is_whole)
    ]  # fmt: skip
    once = contents.combinations([*person, *shown]) >= NEARLY_ALL * rows
    stimuli = contents.combinations(shown)
    differ = all(contents.combinations([*shown, name]) > DIFFERENT * stimuli for name in asked)
    return asked if shown and once and 2 * stimuli <= rows and differ else []


DIFFERENT = 1.3


def _beside_a_check(contents: Contents, answers: Sequence[str]) -> list[str]:
    """Ratings in columns called response_clarity and response_truth, where response itself is a check in two words."""
    for check in answers:
        if contents[check].distinct != PAIR or contents[check].is_number:
            continue
        rated = [
            name for name in contents.names
            if re.match(rf"{re.escape(check)}[\W_]", name) and not contents[name].is_other
            and contents[name].is_number and contents[name].distinct > FEWEST_GROUPS
        ]  # fmt: skip
        if len(rated) > 1 and len({_alphabet(contents[name]) for name in rated}) == 1:
            return rated
    return []


def _in_turn(contents: Contents, person: Sequence[str]) -> list[str]:
    """Numbered columns of one stem of which each row fills exactly one: questions that have a row of their own each."""
    stems: dict[str, list[str]] = {}
    for name in contents.names:
        content = contents[name]
        numbered = re.fullmatch(r"(.*[^\W\d_])[\W_]?\d{1,2}", name)
        if numbered and content.is_number and content.distinct > 1 and not content.is_other and name not in person:
            stems.setdefault(numbered[1], []).append(name)
    for names in stems.values():
        filled = [contents[name].cells.is_not_null().to_list() for name in names]
        counts = [sum(row) for row in zip(*filled, strict=True)]
        alike = len({_alphabet(contents[name]) for name in names}) == 1
        each = all(contents[name].filled > FEWEST_IN_TURN for name in names)
        if len(names) > 1 and alike and each and max(counts) == 1 and sum(counts) >= NEARLY_ALL * len(counts):
            return names
    return []


FEWEST_IN_TURN = 0.1


def _sliders(contents: Contents, person: Sequence[str]) -> list[str]:
    """At least three neighbouring columns with positions of sliders, all from end to end of the same range."""
    run: list[str] = []
    best: list[str] = []
    for name in contents.names:
        content = contents[name]
        ends = (content.numbers.min(), content.numbers.max()) if content.is_number else None
        fits = (
            ends is not None and content.distinct > MOST_POINTS and content.filled > NEARLY_ALL
            and ends in ((0.0, 1.0), (0.0, 100.0)) and not content.is_other and not content.is_about_people
        )  # fmt: skip
        run = [*run, name] if fits and name not in person else []
        best = max(best, run, key=len)
    return best if len(best) >= FEWEST_GROUPS else []


MOST_POINTS = 11


def _by_trial(contents: Contents, asked: Sequence[str]) -> Shaped:
    """One row per trial: the columns are questions about the item."""
    if "response" in contents.names and "response" not in asked:
        contents = Contents(contents.frame.rename({"response": "response_"}))
    rest = [name for name in contents.names if name not in asked]
    frame, rows = _melted(contents, asked, "question", [name for name in rest if name != "question"])
    empty = frame["response"].is_null()
    values = {"n": len(asked), "columns": [cut(name) for name in asked[:2]]}
    question = Question("wide", (Proposal({}, Message("ask.wide_trial", values), {"wide": "trial"}),))
    shaped = Shaped(
        frame.filter(~empty), [row for row, gone in zip(rows, empty.to_list(), strict=True) if not gone],
        notes=[Message("form.wide_trial", {"n": len(asked), "columns": list(asked)})],
        mapping={"question": "question", "response": "response"}, open=[question],
        units_in=contents.frame.height * len(asked), unit="cells",
    )  # fmt: skip
    if empty.any():
        shaped.set_aside[Message("aside.empty_cells")] = int(empty.sum())
    return shaped


def _melted(
    contents: Contents,
    judged: Sequence[str],
    variable: str,
    keep: Sequence[str],
    times: Mapping[str, str] | None = None,
) -> tuple[pl.DataFrame, list[int]]:
    blocks = [
        contents.frame.select(*keep, pl.lit(name).alias(variable), pl.col(name).cast(pl.String).alias("response"),
                              *([pl.col(times[name]).alias("rt")] if times and name in times else []))
        .with_row_index(" row").with_columns(pl.lit(at).alias(" at"))
        for at, name in enumerate(judged)
    ]  # fmt: skip
    stack = pl.concat(blocks, how="diagonal").sort(" row", " at")
    answers = stack["response"].drop_nulls().unique().to_list()
    if len(answers) > MOST_ANSWERS and all(POINT.match(answer) for answer in answers):
        # Every question words the points of its scale anew; what they share is the numbers.
        stack = stack.with_columns(pl.col("response").str.extract(r"(-?\d{1,2})").alias("response"))
    return stack.drop(" row", " at"), stack[" row"].to_list()


def _by_participant(contents: Contents, judged: Sequence[str], mapping: dict[str, str]) -> Shaped:
    """One row per participant: the columns are items."""
    rest = [name for name in contents.names if name not in judged]
    known = [
        name for name in rest if plain(_code(name)) in (*NAMES["participant"], *ROW_IDS) and contents[name].filled > 0.9
    ]
    known.sort(key=lambda name: plain(_code(name)) not in NAMES["participant"])
    person = mapping.get("participant") or next(iter(known), None)
    if person is None or contents[person].distinct < contents.frame.height:
        numbers = pl.Series("participant", [str(n) for n in range(1, contents.frame.height + 1)])
        contents = Contents(contents.frame.with_columns(numbers))
        person = "participant"
    times = _times_of(contents, judged)
    frame, rows = _melted(contents, judged, "item", [person], times)
    frame = frame.with_columns(pl.col("item").replace(_within_brackets(judged)))
    asked = _asked_of_items(judged)
    questions = list(dict.fromkeys(question for _, question in asked.values())) or None
    if asked:
        frame = frame.with_columns(
            pl.col("item").replace_strict({name: item for name, (item, _) in asked.items()}),
            question=pl.col("item").replace_strict({name: question for name, (_, question) in asked.items()}),
        )
    empty = frame["response"].is_null()
    others = [cut(name) for name in rest if name != person and name not in times.values()]
    about = [n for n in rest if n != person and n not in times.values() and _may_describe(contents[n])]
    question = Question("wide", (
        Proposal({}, Message("ask.wide_participant", {
            "n": len(judged), "columns": [cut(n) for n in judged[:2]], "questions": questions,
        }), {"wide": "participant"}),
    ))  # fmt: skip
    settled: dict[str, str] = {name: name for name in ("item", "question", "response", "rt") if name in frame.columns}
    shaped = Shaped(
        frame.filter(~empty), [row for row, gone in zip(rows, empty.to_list(), strict=True) if not gone],
        people=about,
        notes=[Message("form.wide_participant", {
            "n": len(judged), "questions": questions, "times": next(iter(times.values()), None),
            "left": len(others) or None, "names": listed(others),
        })],
        mapping={"participant": person, **settled},
        open=[question],
        units_in=contents.frame.height * len(judged), unit="cells",
    )  # fmt: skip
    if empty.any():
        shaped.set_aside[Message("aside.empty_cells")] = int(empty.sum())
    return shaped


def _asked_of_items(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The item and the question of each column, where every item has a column for each of several questions.

    >>> _asked_of_items(["a_natural", "a_clear", "b_natural", "b_clear"])["b_clear"], _asked_of_items(["a_1", "a_2"])
    (('b', 'clear'), {})
    """
    for pattern in (r"(?P<item>.+?)[\W_]+(?P<question>[^\W\d_]+)", r"(?P<question>[^\W\d_]+)[\W_]+(?P<item>.+)"):
        found = [match for name in names if (match := re.fullmatch(pattern, name))]
        pairs = {match[0]: (match["item"], match["question"]) for match in found}
        questions = {question for _, question in pairs.values()}
        whole = len(set(pairs.values())) == len(names) == len({item for item, _ in pairs.values()}) * len(questions)
        if whole and len(questions) > 1 and all(CRITERIA.fullmatch(question) for question in questions):
            return pairs
    return {}


TIMED = re.compile(
    r"(?i)[\W_]*(?<![a-z])(?:(?:reaction|response)[\W_]?)?(?:rts?|times?|duration|latency)(?:[\W_]?(?:ms|msec|s|sec|seconds))?"
    r"(?![a-z])[\W_]*"
)
"""What the name of a column of response times has beside that of its item."""


def _times_of(contents: Contents, judged: Sequence[str]) -> dict[str, str]:
    """The column of response times of each item, where most items have one called after them, such as item1_rt."""
    items = {name.lower(): name for name in judged}
    bare = {name: TIMED.sub("", name).lower() for name in contents.names if name not in judged}
    found = {items[own]: name for name, own in bare.items() if own in items and contents[name].is_number}
    return found if len(found) >= NEARLY_ALL * len(judged) else {}


def _within_brackets(names: Sequence[str]) -> dict[str, str]:
    """Columns called after a question with its part in brackets, each with the part, where the question is the same.

    >>> _within_brackets(["How natural? [It rains.]", "How natural? [It snows.]"])
    {'How natural? [It rains.]': 'It rains.', 'How natural? [It snows.]': 'It snows.'}
    """
    found = [re.fullmatch(r"(.*\S)\s*\[(.+)\]", name, re.DOTALL) for name in names]
    if not all(found) or len({match[1] for match in found if match}) > 1:
        return {}
    parts = {match[0]: match[2].strip() for match in found if match}
    return parts if len(set(parts.values())) == len(parts) else {}


def _may_describe(content: Content) -> bool:
    """Whether a column may go to the table of participants: background, but nothing that names a person."""
    if names_a_person(content.name) or asks_for_a_person(content.name):
        return False
    return describes_a_person(content.name) or content.is_about_people or content.distinct <= MOST_ANSWERS


def _by_item(contents: Contents, judged: Sequence[str], mapping: dict[str, str]) -> Shaped:
    """One row per item: the columns are participants."""
    rest = [name for name in contents.names if name not in judged]
    rows = contents.frame.height
    unique = [name for name in rest if contents[name].distinct >= 0.95 * rows]
    named = [name for name in unique if any(word in ITEM_WORDS for word in words_of(name))]
    item = mapping.get("item") or next((n for n in named or unique if not ROW_NUMBERS.fullmatch(plain(n))), None)
    worded = [n for n in rest if not contents[n].is_number and contents[n].distinct > 1]
    if item is None and worded and contents.combinations(worded) >= 0.95 * rows:
        for name in sorted(worded, key=lambda one: contents[one].distinct):
            fewer = [other for other in worded if other != name]
            if fewer and contents.combinations(fewer) == contents.combinations(worded):
                worded = fewer
        contents = Contents(contents.frame.with_columns(item=pl.concat_str(worded, separator=" + ", ignore_nulls=True)))
        item = "item"
    if item is None:
        contents = Contents(contents.frame.with_columns(item=pl.Series([str(n) for n in range(1, rows + 1)])))
        item = "item"
    means = [name for name in rest if _is_summary(name) and plain(name) not in NAMES["expected"]]
    keep = [item, *(name for name in rest if name != item and name not in means and not _is_of_tool(contents[name]))]
    frame, lines = _melted(contents, judged, "participant", keep)
    empty = frame["response"].is_null()
    question = Question("wide", (Proposal({}, Message("ask.wide_item", {"n": len(judged)}), {"wide": "item"}),))
    paired = len(_sides_shown(contents, judged)) == PAIR and "item" not in mapping
    shaped = Shaped(
        frame.filter(~empty), [row for row, gone in zip(lines, empty.to_list(), strict=True) if not gone],
        notes=[Message("form.wide_item", {"n": len(judged), "left": len(means) or None})],
        mapping={"participant": "participant", "response": "response"} | ({} if paired else {"item": item}),
        open=[question], units_in=rows * len(judged), unit="cells",
    )  # fmt: skip
    if empty.any():
        shaped.set_aside[Message("aside.empty_cells")] = int(empty.sum())
    return shaped


def choices_of_pairs(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[int]] | None:
    """Trials of two rows, of which one was chosen, as choices; None where the rows are none.

    >>> rows = pl.DataFrame({"participant": ["p", "p"], "trial": [1, 1], "item": ["a", "b"], "response": ["0", "1"]})
    >>> choices_of_pairs(rows)[0].row(0)
    ('p', 1, 'a', 'b', 'right')
    """
    if not {"participant", "trial", "item", "response"} <= set(frame.columns) or "left" in frame.columns:
        return None
    if not set(frame["response"].cast(pl.String).drop_nulls().unique()) <= {"0", "1"}:
        return None
    keys = [name for name in ("participant", "session", "trial") if name in frame.columns]
    sums = frame.group_by(keys).agg(
        pl.len().alias("n"), pl.col("response").cast(pl.Int64, strict=False).sum().alias("s")
    )
    if not sums.height or not ((sums["n"] == 2) & (sums["s"] == 1)).all():
        return None
    numbered = frame.with_row_index(" row").with_columns(pl.int_range(pl.len()).over(keys).alias(" side"))
    first, second = numbered.filter(pl.col(" side") == 0), numbered.filter(pl.col(" side") == 1)
    both = first.join(second, on=keys, suffix=" 2", nulls_equal=True, maintain_order="left")
    same = [n for n in frame.columns if n not in (*keys, "item", "response")
            and (both[n].eq_missing(both[f"{n} 2"])).all()]  # fmt: skip
    differ = [n for n in frame.columns if n not in (*keys, "item", "response", *same)]
    won = pl.when(pl.col("response").cast(pl.String) == "1").then(pl.lit("left")).otherwise(pl.lit("right"))
    choices = both.select(
        *keys, pl.col("item").alias("left"), pl.col("item 2").alias("right"), won.alias("response"), *same,
        *(pl.col(n).alias(f"left_{n}") for n in differ), *(pl.col(f"{n} 2").alias(f"right_{n}") for n in differ),
    )  # fmt: skip
    return choices, both[" row"].cast(pl.Int64).to_list()


def without_nested(table: FileTable, mapping: Mapping[str, str]) -> FileTable:
    """A Parquet table without its nested columns; IntakeError where one of them is needed."""
    nested = {name: kind for name, dtype in table.frame.schema.items() if (kind := kind_of_cells(dtype))}
    if not nested:
        return table
    refuse_needed(table, nested, mapping)
    values = {"n": len(nested), "columns": listed(list(nested)), "kinds": list(dict.fromkeys(nested.values()))}
    note = Message("column.nested", values)
    return replace(table, frame=table.frame.drop(nested), notes=[*table.notes, note])


def refuse_needed(table: FileTable, nested: Mapping[str, str], mapping: Mapping[str, str]) -> None:
    """IntakeError where a nested column was mapped, or where nothing else could be what every table needs."""
    columns = table.frame.columns
    wanted = {name: ours for ours, source in mapping.items() for name in joined(source, columns) if name in nested}
    flat = guess_columns([name for name in columns if name not in nested], dict(mapping))
    guessed = guess_columns(list(nested), {})
    wanted |= {guessed[ours]: ours for ours in REQUIRED if ours not in flat and ours in guessed}
    for name, ours in wanted.items():
        raise IntakeError(f"{table.file.name}: {name} holds {nested[name]}; {_fix(table, name, nested[name], ours)}")


def _fix(table: FileTable, name: str, kind: str, ours: str) -> str:
    needs = "one answer" if ours == "response" else f"one {ours if ours in COLUMNS else 'value'}"
    if kind == LISTS:
        return (
            f"karat needs {needs} per row. Explode the column, so that each value has a row of its own, or say "
            f"--map {ours}=NAME with a column that holds one value."
        )
    dtype = table.frame.schema[name]
    fields = [field.name for field in dtype.fields] if isinstance(dtype, pl.Struct) else []
    of = f" ({', '.join(fields)})" if fields else ""
    return f"karat needs {needs} per row. Make the fields{of} columns, as unnest does, and use --map {ours}=NAME."
