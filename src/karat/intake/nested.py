"""Cells that hold several values (lists, records, objects), and tables with one row per answer made from them."""

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
from karat.intake.cells import cell_text
from karat.intake.content import CRITERIA, Content, Contents, words_of
from karat.intake.guess import NAMES, guess_columns, joined, plain
from karat.intake.reading import Question
from karat.intake.roles import PERSON_WORDS
from karat.judgments.checks import LISTS, kind_of_cells
from karat.judgments.columns import COLUMNS, REQUIRED
from karat.judgments.message_tables import listed
from karat.judgments.scales import as_number
from karat.judgments.tables import FileTable
from karat.messages import Message

FEWEST_JUDGED = 4
MOST_ANSWERS = 12


@dataclass
class Shaped:
    """A table with one row per answer, and the origin of each row."""

    frame: pl.DataFrame
    rows: list[int] | None = None
    """The row of the file for each row, if they differ."""
    people: list[str] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    set_aside: dict[Message, int] = field(default_factory=dict)
    mapping: dict[str, str] = field(default_factory=dict)
    """Roles that follow from the form."""
    open: list[Question] = field(default_factory=list)
    units_in: int | None = None
    unit: str = "rows"


def parsed(cell: str | None) -> Any:
    """The list or object that a cell holds as JSON or as Python prints it; None if it holds neither.

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
        value = ast.literal_eval(re.sub(r"(?<![\w'\"])u(?=['\"])", "", text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return list(value) if isinstance(value, tuple) else value


def _lists(content: Content) -> list[Any] | None:
    """The lists in the cells of a column; None if some cells hold something else."""
    sample = content.values[:5]
    if not sample or not all(value.lstrip()[:1] in ("[", "(") for value in sample):
        return None
    cells = content.cells.to_list()
    lists = [parsed(cell) for cell in cells]
    whole = all(isinstance(value, list) or cell is None for value, cell in zip(lists, cells, strict=True))
    return lists if whole else None


ONE_NUMBER = r"^\[\s*-?\d+(\.\d+)?\s*\]$"


def unquoted(frame: pl.DataFrame) -> pl.DataFrame:
    """The table without the quotes around twice quoted cells and the brackets around single numbers.

    A column changes only if all its values are written like this.
    """
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


def with_records(frame: pl.DataFrame, file: str) -> Shaped | None:
    """One row per trial, if a column holds a participant's trials as a list of objects: `[{"item": ...}, ...]`."""
    contents = Contents(frame)
    columns: dict[str, list[Any]] = {}
    for name in contents.names:
        sample = contents[name].values[:3] if frame[name].dtype == pl.String else []
        if sample and all(re.match(r"\s*\[\s*\{", value) for value in sample):
            lists = _lists(contents[name])
            if lists and all(isinstance(part, dict) for cell in lists if cell for part in cell):
                columns[name] = [cell and [flat for part in cell for flat in _flattened(part)] for cell in lists]
    if not columns:
        return None
    trials = max(columns, key=lambda name: sum(len(cell or []) for cell in columns[name]))
    rest = [name for name in frame.columns if name not in columns]
    names = list(dict.fromkeys(str(key) for cell in columns[trials] for part in cell or [] for key in part))
    # Few participants may judge an item, but no participant judges only a few items.
    too_few = sum(len(cell or []) for cell in columns[trials]) < FEWEST_JUDGED * frame.height
    # Nothing says what a list of bare ratings is about.
    if len(names) < 2 or (too_few and "participant" not in guess_columns(names, {})):
        return None
    numbers = (
        as_number(cell_text(value) or "") for cell in columns[trials] for part in cell or [] for value in part.values()
    )
    if None not in numbers and not guess_columns(names, {}).keys() & KNOWN_OF_TRIALS:
        _refuse_nobody(contents, columns, file)
    target = {name: name if name not in rest else f"{trials}.{name}" for name in names}
    records, rows = [], []
    for row, plain_cells in enumerate(frame.select(rest).iter_rows(named=True)):
        for part in columns[trials][row] or []:
            records.append({**plain_cells, **{target[str(key)]: cell_text(value) for key, value in part.items()}})
            rows.append(row)
    schema = {name: frame.schema[name] for name in rest} | dict.fromkeys(target.values(), pl.String())
    long = pl.DataFrame(records, schema=schema, orient="row")
    note = Message("form.lists", {"columns": [trials]})
    return Shaped(long, rows, notes=[note], units_in=len(rows), unit="answers and rows")


def _flattened(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A record as several if one of its values is a list of records; each gets the values beside the list."""
    within = [key for key, value in record.items()
              if isinstance(value, list) and value and all(isinstance(part, dict) for part in value)
              and not are_messages(value)]  # fmt: skip
    if len(within) != 1:
        return [dict(record)]
    beside = {key: value for key, value in record.items() if key != within[0]}
    return [{**beside, **flat} for part in record[within[0]] for flat in _flattened(part)]


MESSAGES = ({"role", "content"}, {"id", "text"}, {"speaker", "text"}, {"from", "value"}, {"start", "end"})
"""The names in objects that are not trials: messages of a conversation, options to choose from, parts of a text."""


def are_messages(value: object) -> bool:
    """Whether a list holds the messages of a conversation, options to choose from or parts of a text.

    >>> are_messages([{"role": "user", "content": "Hello"}]), are_messages([{"rating": 3}])
    (True, False)
    """
    parts = value if isinstance(value, list) else []
    return bool(parts) and all(isinstance(part, dict) and any(keys <= set(part) for keys in MESSAGES) for part in parts)


def with_lists(frame: pl.DataFrame, file: str) -> Shaped | None:
    """One row per element, if several columns hold lists whose elements belong together by position."""
    contents = Contents(frame)
    lists = {}
    for name in contents.names:
        content = contents[name]
        if frame[name].dtype != pl.String or not content.distinct:
            continue
        values = _lists(content)
        if values is not None and not all(are_messages(cell) for cell in values if cell):
            lists[name] = values
    lists = lists or _joined_lists(contents)
    lengths = {name: [len(cell) if cell is not None else 0 for cell in values] for name, values in lists.items()}
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
            elements = {name: cell_text(lists[name][row][at]) for name in together}
            records.append({**plain_cells, **elements})
            rows.append(row)
    schema = {name: frame.schema[name] for name in rest} | dict.fromkeys(together, pl.String())
    _refuse_nobody(contents, lists, file)
    exploded = pl.DataFrame(records, schema=schema, orient="row")
    who = _annotators(together)
    answers = [name for name in together if _ends(name, SEVERAL_ANSWERS)]
    return Shaped(
        exploded.select([name for name in frame.columns if name in schema]), rows,
        notes=[Message("form.lists", {"columns": together})], units_in=len(rows), unit="answers and rows",
        mapping={"participant": who[0]} | ({"response": answers[0]} if len(answers) == 1 else {}) if who else {},
    )  # fmt: skip


def _describe_trials(contents: Contents, lists: Sequence[str], lengths: Mapping[str, Sequence[int]]) -> bool:
    """Whether short lists of one length describe what a trial showed, because each row has an answer beside them."""
    sizes = {size for name in lists for size in lengths[name] if size}
    rest = [contents[name] for name in contents.names if name not in lengths]
    people = [c.name for c in rest if c.plain in NAMES["participant"] and 2 * c.distinct <= contents.frame.height]
    answered = [
        c.name for c in rest
        if words_of(c.name)[-1:] and (words_of(c.name)[-1] in GROUP_ANSWERS or (c.is_whole and CRITERIA.match(c.name)))
    ]  # fmt: skip
    short = len(sizes) == 1 and max(sizes) <= FEWEST_GROUPS
    return short and any(contents.varies_within(answer, column) for column in people for answer in answered)


ANNOTATORS = ("annotators", "workers", "raters", "users", "judges", "participants", "coders")
SIGNS = (",", ";", "|", " ")


def _ends(name: str, words: Sequence[str]) -> bool:
    """Whether the last word of a column's name is one of these."""
    return bool(set(words_of(name)[-1:]) & set(words))


def _annotators(names: Sequence[str]) -> list[str]:
    """The columns named after several people or their ids; next to annotators, gender_annotators describes them.

    >>> _annotators(["gender_annotators", "annotators", "labels"]), _annotators(["worker_ids", "votes"])
    (['annotators'], ['worker_ids'])
    """
    words = {name: [word for word in words_of(name) if word not in ("id", "ids")] for name in names}
    plural = {name: [*parts[:-1], parts[-1] if parts[-1] == words_of(name)[-1] else f"{parts[-1].removesuffix('s')}s"]
              for name, parts in words.items() if parts}  # fmt: skip
    columns = [name for name, parts in plural.items() if parts[-1] in ANNOTATORS]
    return [name for name in columns if len(plural[name]) == min(len(plural[column]) for column in columns)]


def _joined_lists(contents: Contents) -> dict[str, list[Any]]:
    """Annotators and their answers if cells hold several of each, one after the other: `ann1,ann2` and `0,1`."""
    for sign in SIGNS:
        cells = {
            name: [[part.strip() for part in cell.split(sign)] if cell else [] for cell in contents[name].cells]
            for name in contents.names if _annotators([name]) or _ends(name, SEVERAL_ANSWERS)
        }  # fmt: skip
        people = _annotators(list(cells))
        sizes = {name: [len(parts) for parts in rows] for name, rows in cells.items()}
        answers = [name for name in cells if name not in people and people and sizes[name] == sizes[people[0]]]
        if answers and max(sizes[people[0]]) > 1:
            return {name: cells[name] for name in (people[0], *answers)}
    return _parallel_lists(contents)


DECIMAL = r"^-?\d+,\d+$"


def _parallel_lists(contents: Contents) -> dict[str, list[Any]]:
    """The columns of which each cell holds one value per trial: pies,cookies beside some,all and 0.7,0.5.

    Texts may have commas as well, but not the same number in several columns of each row, one of them with numbers.
    """
    cells = {
        name: [cell.split(SIGNS[0]) for cell in contents[name].cells]
        for name, dtype in contents.frame.schema.items()
        if dtype == pl.String and contents[name].filled == 1 and contents[name].cells.str.contains(SIGNS[0]).all()
        and not contents[name].cells.str.contains(DECIMAL).all()
    }  # fmt: skip
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, lists in cells.items():
        groups.setdefault(tuple(map(len, lists)), []).append(name)
    together = max(groups.values(), key=len, default=[])
    parts = {name: [part for cell in cells[name] for part in cell] for name in together}
    numbers = [name for name in together if all(as_number(part) is not None for part in parts[name])]
    padded = any(part != part.strip() for values in parts.values() for part in values)
    return {name: cells[name] for name in together} if len(together) > FEWEST_GROUPS and numbers and not padded else {}


FEWEST_GROUPS = 3
GROUP_ANSWERS = ("response", "responses", "answer", "rating", "judgment", "judgement", "choice", "score", "resp")


def _fixed(lists: Sequence[Any]) -> list[str] | None:
    """The kinds of elements, if all lists have the same kinds in the same places, as several answers to a trial do."""
    kinds = {tuple(_kind(part) for part in cell) for cell in lists if cell is not None}
    if len(kinds) != 1:
        return None
    (places,) = kinds
    return list(places) if len(set(places)) > 1 else None


def _kind(part: Any) -> str:
    return "number" if as_number(cell_text(part) or "") is not None else type(part).__name__


NEEDED = (
    "karat needs one row per answer with the participant. Ask the authors for ratings with participant ids, "
    "or make a table with the columns participant, item and response."
)
SEVERAL_ANSWERS = ("ratings", "scores", "votes", "labels", "annotations", "judgments", "judgements", "responses")


def _refuse_nobody(contents: Contents, lists: dict[str, list[Any]], file: str) -> None:
    """Raise IntakeError if ratings are lists in cells and nothing says who gave them."""
    columns = [
        name for name, cells in lists.items()
        if any(cell and isinstance(cell[0], dict) for cell in cells) and not {*words_of(name)} & REMARKS
    ]  # fmt: skip
    rated = [name for name in lists if name in columns or any(word in SEVERAL_ANSWERS for word in words_of(name))]
    names_people = bool(_annotators(list(lists))) or any(
        content.plain in NAMES["participant"] or any(w in PERSON_WORDS for w in words_of(content.name))
        for content in contents if content.name not in lists
    )  # fmt: skip
    rated = rated or [name for name in contents.names if _holds_several(contents[name])]
    if rated and not names_people:
        raise _of_nobody(rated, file)


def _of_nobody(rated: Sequence[str], file: str) -> IntakeError:
    """The error that several people rated each item and nothing says who gave which."""
    columns = ", ".join(rated[:3])
    what = f"{file} holds ratings as lists in cells ({columns}), and nothing says who gave which rating."
    return IntakeError(f"{what} {NEEDED}")


def refuse_unnamed(records: Sequence[Mapping[str, Any]], name: str, beside: Sequence[str], file: str) -> None:
    """Raise IntakeError if an item's records hold nothing but answers, so that nothing says who gave them."""
    values = [cell_text(value) or "" for record in records for value in record.values()]
    names = {str(key) for record in records for key in record}
    roles = guess_columns(list(names), {}).keys()
    answers = all(as_number(value) is not None for value in values) or (len(names) == 1 and roles == {"response"})
    names_people = any(plain(name) in NAMES["participant"] or set(words_of(name)) & {*PERSON_WORDS} for name in beside)
    if answers and not roles & KNOWN_OF_TRIALS and not names_people:
        raise _of_nobody([name], file)


REMARKS = {"feedback", "comment", "comments", "remark", "remarks"}
KNOWN_OF_TRIALS = {"participant", "item", "trial"}
"""Records that name one of these are trials."""


def _holds_several(content: Content) -> bool:
    """Whether cells hold the ratings of several participants, one after the other: 4,2,2,3."""
    if not any(word in SEVERAL_ANSWERS for word in words_of(content.name)) or content.is_number:
        return False
    sample = content.values[:50]
    return bool(sample) and all(re.fullmatch(r"-?\d+(\.\d+)?([,;| ]+-?\d+(\.\d+)?){2,}", value) for value in sample)


def with_parts(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Message]]:
    """The table with cells that hold several answers to one trial as separate columns: `response[1]`, `response[2]`."""
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
        values = _of_objects(name, cells)
        if values is not None:
            frame = _replaced(frame, name, values)
            notes.append(Message("form.parts", {"column": name, "n": len(values), "columns": [c.name for c in values]}))
            continue
        lists = _lists(content)
        if lists is None and all(re.fullmatch(r"[^|;]{1,40}(\|[^|;]{1,40}){1,4}", value) for value in content.values):
            lists = [None if cell is None else cell.split("|") for cell in cells]
        sizes = {len(cell) for cell in lists or [] if cell is not None}
        if lists is None or len(sizes) != 1 or not 1 <= (size := sizes.pop()) <= 5:
            continue
        new = [f"{name}[{at + 1}]" for at in range(size)] if size > 1 else [name]
        timed = _time_among([cell for cell in lists if cell is not None]) if size == PAIR else None
        if timed is not None:
            new = [f"{name}_rt" if at == timed else name for at in range(size)]
            lists = [
                None if cell is None else [*cell[:timed], _after_onset(cell[timed]), *cell[timed + 1 :]]
                for cell in lists
            ]
        parts = [
            pl.Series(column, [None if cell is None else cell_text(cell[at]) for cell in lists], dtype=pl.String)
            for at, column in enumerate(new)
        ]
        frame = _replaced(frame, name, parts)
        if size > 1:
            notes.append(Message("form.parts", {"column": name, "n": size, "columns": new}))
    return frame, notes


def _replaced(frame: pl.DataFrame, name: str, columns: Sequence[pl.Series]) -> pl.DataFrame:
    """The table with other columns in the place of one."""
    at = frame.columns.index(name)
    return pl.DataFrame([*frame.get_columns()[:at], *columns, *frame.get_columns()[at + 1 :]])


PAIR = 2
SHORTEST_TIME, LATEST_TIME = 100.0, 1e9
"""Milliseconds: no answer is faster than the first, and a number above the second is a point in time."""


def _time_among(pairs: Sequence[Sequence[Any]]) -> int | None:
    """Which of the two parts of cells such as [1612, "yes"] is a response time; None if neither is."""
    for at in range(PAIR):
        numbers = [as_number(cell_text(pair[at]) or "") for pair in pairs]
        times = [n for n in numbers if n is not None and n < LATEST_TIME]
        words = {cell_text(pair[1 - at]) for pair in pairs}
        worded = all(as_number(word or "") is None for word in words) and len(words) <= MOST_ANSWERS + len(pairs) / 10
        whole = None not in numbers and all(n == int(n) for n in times)
        if worded and whole and len(times) > len(pairs) / 2 and sorted(times)[len(times) // 2] > SHORTEST_TIME:
            return at
    return None


def _after_onset(time: Any) -> Any:
    """The time, or None if it is a point in time or was not measured."""
    number = as_number(cell_text(time) or "")
    return time if number is not None and 0 < number < LATEST_TIME else None


MOST_KEYS = 5
SAME_KEYS = 0.6


def _of_objects(name: str, cells: Sequence[str | None]) -> list[pl.Series] | None:
    """The values of cells such as {"Q0": 4} if most have the same names; None otherwise.

    An object may be the only element of a list; bare numbers count as values of the only name with numbers.
    """
    if not any(cell.lstrip()[:1] in ("{", "[") for cell in [cell for cell in cells if cell][:MOST_BARE]):
        return None
    objects = [_object(parsed(cell)) if cell else None for cell in cells]
    filled = [value for value in objects if value is not None]
    (keys, count), *_ = Counter(tuple(value) for value in filled).most_common(1) or [((), 0)]
    if count < SAME_KEYS * sum(map(bool, cells)) or not 1 <= len(keys) <= MOST_KEYS:
        return None
    rows = [value if value is not None and tuple(value) == keys else {} for value in objects]
    bare = {at: cell for at, cell in enumerate(cells) if cell and objects[at] is None}
    numbers = [key for key in keys if all(_is_measured(row[key]) for row in rows if row)]
    if bare and (len(numbers) != 1 or any(as_number(cell) is None for cell in bare.values())):
        return None
    for at, cell in bare.items():
        rows[at] = {numbers[0]: cell}
    columns = [name] if len(keys) == 1 else [f"{name}.{key}" for key in keys]
    return [
        pl.Series(column, [cell_text(row.get(key)) for row in rows], dtype=pl.String)
        for column, key in zip(columns, keys, strict=True)
    ]


MOST_BARE = 20
"""How many of the first filled cells are searched for objects."""


def _object(value: Any) -> dict[str, Any] | None:
    """The value if it is an object, or the only element of a list if that is one; None otherwise."""
    inner = value[0] if isinstance(value, list) and len(value) == 1 else value
    return inner if isinstance(inner, dict) else None


def _is_measured(value: Any) -> bool:
    return not isinstance(value, bool) and as_number(cell_text(value) or "") is not None


def without_nested(table: FileTable, mapping: Mapping[str, str]) -> FileTable:
    """A Parquet table without its nested columns; raises IntakeError if one of them is needed."""
    nested = {name: kind for name, dtype in table.frame.schema.items() if (kind := kind_of_cells(dtype))}
    if not nested:
        return table
    refuse_needed(table, nested, mapping)
    values = {"n": len(nested), "columns": listed(list(nested)), "kinds": list(dict.fromkeys(nested.values()))}
    note = Message("column.nested", values)
    return replace(table, frame=table.frame.drop(nested), notes=[*table.notes, note])


def refuse_needed(table: FileTable, nested: Mapping[str, str], mapping: Mapping[str, str]) -> None:
    """Raise IntakeError if a nested column is mapped, or is the only candidate for a column that every table needs."""
    columns = table.frame.columns
    wanted = {name: ours for ours, source in mapping.items() for name in joined(source, columns) if name in nested}
    flat = guess_columns([name for name in columns if name not in nested], dict(mapping))
    guessed = guess_columns(list(nested), {})
    wanted |= {guessed[ours]: ours for ours in REQUIRED if ours not in flat and ours in guessed}
    for name, ours in wanted.items():
        raise IntakeError(f"{table.file.name}: {name} holds {nested[name]}; {_fix(table, name, nested[name], ours)}")


SPAN = r'^\s*\[(\[\s*\d+\s*,\s*\d+\s*,\s*"|\{.*"(start|start_offset|startOffset|begin)"\s*:\s*\d)'
"""Words marked in a text, as doccano, Prodigy, Label Studio and LightTag write them."""


WHOLE_TEXTS = (
    "karat reads one answer per item: export the labels of whole texts, or make a table with one row per text."
)


def marks_words(cells: pl.Series) -> bool:
    """Whether cells hold parts of texts by their positions."""
    filled = cells.drop_nulls().filter(cells.drop_nulls() != "[]") if cells.dtype == pl.String else cells.clear()
    return bool(filled.len()) and bool(filled.head(MOST_BARE).str.contains(SPAN).all())


def _fix(table: FileTable, name: str, kind: str, ours: str) -> str:
    if marks_words(table.frame[name]):
        return f"these are words marked in texts. {WHOLE_TEXTS}"
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
