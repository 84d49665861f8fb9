"""Reading a study file: TOML in, checked settings out; every flaw with its file, line, key and mend."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from karat.errors import Problems, ProblemsError
from karat.judgments.columns import nearest
from karat.study.setting_flaws import FLAW, meant
from karat.study.settings import StudySettings
from karat.study.toml_lines import line_of, toml_lines

NAME = "study.toml"
CURLY = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u00ab\u00bb"
Whole = TypeVar("Whole", bound=BaseModel)


class StudyError(ProblemsError):
    """A study file, or a table it names, that cannot be read."""


def find_study(path: str | Path) -> Path:
    """The study file that a path means: the file itself, or `study.toml` in a folder."""
    found = Path(path) / NAME if Path(path).is_dir() else Path(path)
    if not found.is_file():
        raise StudyError(f"There is no study file {found}. `karat init` writes one to begin with.")
    return found


def read_settings(path: Path) -> tuple[StudySettings, str]:
    """The settings of a study file, and its text."""
    data, text = read_toml(path)
    if set(data) == {"screening"}:
        raise StudyError(
            f"{path.name} states screening rules and nothing else: karat screen, report and archive take it as --rules "
            f"{path.name}. A study file has a title and a [[block]] beside them."
        )
    return validated(StudySettings, data, text, path, "is not a study file"), text


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """What a TOML file holds, and its text."""
    content = path.read_bytes()
    try:
        # Line ends as Python reads them from a text file.
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        return tomllib.loads(text), text
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise StudyError(f"{path.name} is not UTF-8 text: see line {line}. Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path.name} is not TOML: {error}.{_about_quotes(text, str(error))}") from None


def _about_quotes(text: str, position: str) -> str:
    """What to do where a word processor has put its own quotation marks into the line that cannot be read."""
    place = re.search(r"line (\d+)", position)
    line = text.split("\n")[int(place[1]) - 1] if place else ""
    curly = next((sign for sign in line if sign in CURLY), "")
    return f" The line has {curly} as a quotation mark: write a straight one, \" or '." if curly else ""


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
        what, mend = _told(flaw, model)
        value = flaw.get("input")
        shown = str(value) if isinstance(value, str | int | float) and flaw["type"] != "extra_forbidden" else None
        number = line_of(lines, place)
        problems.add(what, mend, column=key, value=shown, file=file, number=number)
    return problems


def _keys(location: Sequence[str | int], data: Any) -> list[str | int]:
    """The part of an error's location that the file has; what the validator adds of its own is left out."""
    keys: list[str | int] = []
    for part in location:
        inside = (isinstance(data, dict) and part in data) or (isinstance(data, list) and isinstance(part, int))
        if not inside and part is not location[-1]:
            continue
        keys.append(part)
        if inside:
            data = data[part]
    return keys


def _told(error: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    """A validator's error as what is wrong and how to mend it."""
    kind, location, about = error["type"], error["loc"], error.get("ctx", {})
    if kind == FLAW:
        return about["what"], about["mend"]
    if kind == "extra_forbidden":
        return "is no key here", meant(str(location[-1]), _fields_at(location[:-1], model))
    if kind == "missing":
        return "is missing", f"Add {location[-1]} = ..."
    if kind == "literal_error":
        known = about["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        close = nearest(str(error["input"]), known)
        return f"is none of {', '.join(known)}", f"Is {close} meant?" if close else "Write one of them."
    for start, what, mend in _KINDS:
        if kind.startswith(start):
            return what.format(**about), mend.format(**about)
    own = about.get("error")
    return str(error["msg"] if own is None else own), ""


_KINDS = (
    ("greater_than_equal", "is too small", "Write {ge:g} or more."),
    ("greater_than", "is too small", "Write a number above {gt:g}."),
    ("less_than_equal", "is too large", "Write {le:g} or less."),
    ("less_than", "is too large", "Write a number below {lt:g}."),
    ("finite_number", "is no finite number", "Write another, or leave the key out."),
    ("int_", "is not a whole number", "Write digits without quotation marks."),
    ("float_", "is not a number", "Write digits with a decimal point, without quotation marks."),
    ("bool_", "is neither true nor false", "Write true or false, without quotation marks."),
    ("string_type", "is not text", "Put it in quotation marks."),
    ("string_too_short", "is empty", "Write something."),
    ("string_pattern_mismatch", "is no name of a column", "Use letters, digits and _, and begin with a letter."),
    ("list_type", "is not a list", "Put it in square brackets: [ ... ]."),
    ("too_short", "has too few entries", "Write {min_length} or more."),
    ("too_long", "has too many entries", "Write {max_length} or fewer."),
    ("dict_type", "is not a table", "Put its keys in braces: {{ ... }}."),
    ("model_", "is not a table", "Put its keys in braces: {{ ... }}."),
)
"""How the types of a validator's errors begin, and what they mean in a study file."""


def _fields_at(location: Sequence[str | int], model: type[BaseModel]) -> list[str]:
    """The keys that are known at a place of the file."""
    for part in location:
        field = model.model_fields.get(str(part))
        inner = model_in(field.annotation) if field else None
        if inner is not None:
            model = inner
    return list(model.model_fields)


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that a type holds, directly or as the element of a list or table."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in get_args(annotation):
        found = model_in(part)
        if found is not None:
            return found
    return None
