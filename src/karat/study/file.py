"""Reading a study file: TOML in, checked settings out; every flaw with its file, line, key and mend."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from karat.columns import nearest
from karat.errors import Problems, ProblemsError
from karat.study.settings import StudySettings
from karat.study.toml_lines import line_of, toml_lines

NAME = "study.toml"


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
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = tomllib.loads(text)
    except UnicodeDecodeError:
        raise StudyError(f"{path.name} is not UTF-8 text; save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path.name} is not TOML: {error}.") from None
    try:
        return StudySettings.model_validate(data), text
    except ValidationError as error:
        problems = _problems(error, data, text, path.name)
        raise StudyError(f"{path.name} is not a study file:", problems) from None


def _problems(error: ValidationError, data: dict[str, Any], text: str, file: str) -> Problems:
    lines = toml_lines(text)
    problems = Problems()
    for flaw in error.errors():
        place = _keys(flaw["loc"], data)
        key = ".".join(str(part) for part in place if not isinstance(part, int)) or None
        what, mend = _told(flaw["type"], flaw["msg"], flaw["loc"])
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
        if (isinstance(data, dict) and part in data) or (isinstance(data, list) and isinstance(part, int)):
            data = data[part]  # type: ignore[index]
    return keys


def _told(kind: str, message: str, location: Sequence[str | int]) -> tuple[str, str]:
    """A validator's message as a sentence with a mend."""
    if kind == "extra_forbidden":
        known = _fields_at(location[:-1])
        close = nearest(str(location[-1]), known)
        return "is no key here", f"Is {close} meant?" if close else f"There are {', '.join(known)}."
    if kind == "missing":
        return "is missing", f"Add {location[-1]} = ..."
    return message.removeprefix("Value error, ").rstrip("."), ""


def _fields_at(location: Sequence[str | int]) -> list[str]:
    """The keys that are known at a place of the file."""
    model: type[BaseModel] = StudySettings
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
