"""Read a study file, or a file of rules alone: TOML in, checked settings out, each problem with its line and fix.

Python's parser returns values without their lines, so a scanner finds the line of each header and key once the parser
has accepted the file. A file of rules has the section `[screening]` of a study file, for results without one.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from karat.errors import Problems, ProblemsError
from karat.judgments.columns import meant
from karat.judgments.tables import SPREADSHEETS
from karat.study.setting_base import FLAW, NAME, Settings, toml
from karat.study.settings import ScreeningSettings, StudySettings

TABLES = (*SPREADSHEETS, ".csv", ".tsv", ".parquet")
CURLY = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u00ab\u00bb"
Whole = TypeVar("Whole", bound=BaseModel)


class StudyError(ProblemsError):
    """A study file, or a table it names, that cannot be read."""


def find_study(path: str | Path) -> Path:
    """The study file at a path: the file itself, or `study.toml` in a folder."""
    file = Path(path) / NAME if Path(path).is_dir() else Path(path)
    if not file.is_file():
        raise StudyError(f"There is no study file {file}. `karat init` writes one to start from.")
    if file.suffix.lower() in TABLES:
        beside = file.parent / NAME
        there = f"Use {beside}." if beside.is_file() else "`karat init` writes a study file to start from."
        raise StudyError(f"{file} is a table, not a study file. A study file (study.toml) names its tables. {there}")
    return file


def read_settings(path: Path) -> tuple[StudySettings, str]:
    """The settings of a study file, and its text."""
    data, text = read_toml(path)
    if set(data) == {"screening"}:
        raise StudyError(
            f"{path.name} has only screening rules. Give it to karat screen, report or archive as --rules "
            f"{path.name}. A study file has a title and a [[block]] beside them."
        )
    return validated(StudySettings, data, text, path, "is not a study file"), text


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """The content of a TOML file, and its text."""
    content = path.read_bytes()
    try:
        # The line ends of Python's text files.
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        return tomllib.loads(text), text
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise StudyError(f"{path.name} is not UTF-8 text: see line {line}. Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path.name} is not TOML: {error}.{_about_line(text, str(error))}") from None


def _about_line(text: str, flaw: str) -> str:
    """The line with the flaw, and how to fix it."""
    place = re.search(r"line (\d+)", flaw)
    line = text.split("\n")[int(place[1]) - 1].strip() if place else ""
    curly = next((sign for sign in line if sign in CURLY), "")
    if curly:
        return f" The line has {curly} as a quotation mark: write a straight one, \" or '."
    reads = f" The line reads: {line}" if line else ""
    number = re.search(r"= *(\d+)(?:,(\d+)| *%)", line)
    if number:
        meant = f"a decimal point: {number[1]}.{number[2]}" if number[2] else f"a point: {int(number[1]) / 100:g}"
        return f"{reads}\nWrite {'numbers' if number[2] else 'shares'} with {meant}."
    fix = next((fix for start, fix in FIXES.items() if flaw.startswith(start)), "")
    return f"{reads}{fix}"


FIXES = {
    "Invalid value": "\nWrite text in straight quotation marks, \" or '.",
    "Unescaped '\\'": "\nWrite paths with / instead.",
    "Cannot overwrite a value": "\nThe key is stated twice. Remove one of the lines.",
}
"""The fix of a flaw, by the beginning of its text."""


def validated(model: type[Whole], data: dict[str, Any], text: str, path: Path, headline: str) -> Whole:
    """The settings of a file; StudyError with every flaw."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise StudyError(f"{path.name} {headline}:", _problems(error, model, data, text, path.name)) from None


def _problems(error: ValidationError, model: type[BaseModel], data: dict[str, Any], text: str, file: str) -> Problems:
    lines = toml_lines(text)
    problems = Problems()
    for flaw in error.errors():
        place = _keys(flaw["loc"], data)
        key = ".".join(str(part) for part in place if not isinstance(part, int)) or None
        what, fix = _worded(flaw, model)
        cell = flaw.get("input")
        value = str(cell) if isinstance(cell, str | int | float) and flaw["type"] != "extra_forbidden" else None
        problems.add(what, fix, column=key, value=value, file=file, number=line_of(lines, place))
    return problems


def _keys(location: Sequence[str | int], data: Any) -> list[str | int]:
    """The part of an error's location that the file has, without the parts that the validator adds."""
    keys: list[str | int] = []
    for part in location:
        inside = (isinstance(data, dict) and part in data) or (isinstance(data, list) and isinstance(part, int))
        if not inside and part is not location[-1]:
            continue
        keys.append(part)
        if inside:
            data = data[part]
    return keys


def _worded(error: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    """The flaw that a validator's error reports, and its fix."""
    kind, location, about = error["type"], error["loc"], error.get("ctx", {})
    if kind == FLAW:
        return about["what"], about["fix"]
    if kind == "extra_forbidden":
        return "is not a key of this table", meant(str(location[-1]), _fields_at(location[:-1], model))
    if kind == "missing":
        return "is missing", f"Add {location[-1]} = ..."
    if kind == "literal_error":
        words = about["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return f"is not one of {', '.join(words)}", meant(str(error["input"]), words, "Write one of them.")
    for start, what, fix in _KINDS:
        if kind.startswith(start):
            return what.format(**about), fix.format(**about)
    reason = about.get("error")
    return str(error["msg"] if reason is None else reason), ""


_KINDS = (
    ("greater_than_equal", "is too small", "Write {ge:g} or more."),
    ("greater_than", "is too small", "Write a number above {gt:g}."),
    ("less_than_equal", "is too large", "Write {le:g} or less."),
    ("less_than", "is too large", "Write a number below {lt:g}."),
    ("finite_number", "is not a finite number", "Write another, or leave the key out."),
    ("int_", "is not a whole number", "Write digits without quotation marks."),
    ("float_", "is not a number", "Write digits with a decimal point, without quotation marks."),
    ("bool_", "is neither true nor false", "Write true or false, without quotation marks."),
    ("string_type", "is not text", "Put it in quotation marks."),
    ("string_too_short", "is empty", "Write something."),
    ("string_pattern_mismatch", "is not a column name", "Use letters, digits and _, and begin with a letter."),
    ("list_type", "is not a list", "Put it in square brackets: [ ... ]."),
    ("too_short", "has too few entries", "Write {min_length} or more."),
    ("too_long", "has too many entries", "Write {max_length} or fewer."),
    ("dict_type", "is not a table", "Put its keys in braces: {{ ... }}."),
    ("model_", "is not a table", "Put its keys in braces: {{ ... }}."),
)
"""The beginnings of the types of a validator's errors, and their meaning in a study file."""


def _fields_at(location: Sequence[str | int], model: type[BaseModel]) -> list[str]:
    """The valid keys at a place of the file."""
    for part in location:
        field = model.model_fields.get(str(part))
        inner = model_in(field.annotation) if field else None
        if inner is not None:
            model = inner
    return list(model.model_fields)


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model in a type, which may be the element of a list or table; None if there is none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(model_in, get_args(annotation))), None)


_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")

Keys = tuple[str | int, ...]


def toml_lines(text: str) -> dict[Keys, int]:
    """The line of every header and key, by its path; elements of a list of tables are numbered from 0."""
    lines: dict[Keys, int] = {}
    table: Keys = ()
    counts: dict[Keys, int] = {}
    open_quotes: str | None = None
    # TOML knows no other line ends, such as U+2028 within a text.
    for number, line in enumerate(text.split("\n"), start=1):
        if open_quotes is None and (header := _HEADER.match(line)):
            table = _table(_parts(header[2]), header[1] == "[[", counts)
            lines.setdefault(table, number)
        elif open_quotes is None and (key := _KEY.match(line)):
            lines.setdefault((*table, *_parts(key[1])), number)
        open_quotes = _still_open(line, open_quotes)
    return lines


def line_of(lines: dict[Keys, int], path: Sequence[str | int]) -> int | None:
    """The line of a key, or of the nearest table around it that has one."""
    for length in range(len(path), 0, -1):
        if tuple(path[:length]) in lines:
            return lines[tuple(path[:length])]
    return None


def _parts(text: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(text)]


def _table(names: list[str], is_list: bool, counts: dict[Keys, int]) -> Keys:
    """The path of a header, with the number of the current element in each list of tables."""
    path: Keys = ()
    for position, name in enumerate(names):
        path = (*path, name)
        if is_list and position == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _still_open(line: str, quotes: str | None) -> str | None:
    """The triple quotes that are open after a line; keys inside them are text."""
    for sign in re.findall(r"\"{3}|'{3}", line):
        if quotes is None:
            quotes = sign
        elif sign == quotes:
            quotes = None
    return quotes


class RulesFile(Settings):
    """A file of rules."""

    screening: ScreeningSettings = Field(description="The screening rules, as in a study file.")


def read_rules(path: str | Path) -> dict[str, Any]:
    """The rules of a file, for `karat.screen.run`."""
    path = Path(path)
    if path.is_dir():
        raise StudyError(f"{path} is a folder; --rules takes a file.")
    if not path.is_file():
        raise StudyError(f"There is no file {path}. A file of rules has a section [screening], like a study file.")
    data, text = read_toml(path)
    if "block" in data:
        raise StudyError(f"{path.name} is a study file. Use --study {path}.")
    if not isinstance(data.get("screening"), dict) or not set(data["screening"]) - {"exclude"}:
        raise StudyError(f"{path.name} has no rules. Write criteria under [screening], such as completion = {{}}.")
    return validated(RulesFile, data, text, path, "is not a file of rules").screening.rules


def rules_text(rules: Mapping[str, Any]) -> str:
    """Rules as the text of a file for `read_rules`."""
    return _toml_table("screening", rules)


def _toml_table(name: str, values: Mapping[str, Any]) -> str:
    return "".join([f"[{name}]\n", *(f"{key} = {toml(value)}\n" for key, value in values.items())])


def with_table(text: str, name: str, values: Mapping[str, Any]) -> str:
    """A study file with this table, which replaces one of the same name or comes at the end."""
    table = _toml_table(name, values)
    old = re.search(rf"^\[{re.escape(name)}\][ \t]*(?:#.*)?\n(?:(?!\[).*(?:\n|\Z))*", text, re.MULTILINE)
    if old is None:
        return f"{text.rstrip()}\n\n{table}"
    rest = text[old.end() :]
    return text[: old.start()] + table + (f"\n{rest}" if rest else "")
