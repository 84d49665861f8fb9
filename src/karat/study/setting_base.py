"""The base of every part of a study file, and the flaws that its parts report: the place, the flaw and its fix."""

import json
import re
import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from types import UnionType
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from karat.errors import SettingError


class Settings(BaseModel):
    """The base of all parts of a study file: unknown keys are errors, and values do not change after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_value_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse `true` for a number: it should switch something on, not set a cutoff of one second."""
        kind = cls.model_fields[str(info.field_name)].annotation
        kinds = {*get_args(kind)} if isinstance(kind, UnionType) else {kind}
        if isinstance(value, bool) and kinds <= {int, float, type(None)}:
            raise ValueError("is true or false, but should be a number")
        return value


@cache
def known_words() -> dict[str, Any]:
    """The words that karat recognises in files, by section of `words.toml`."""
    return tomllib.loads((files("karat.study") / "words.toml").read_text(encoding="utf-8"))


NAME = "study.toml"
"""The name of a study file."""
FLAW = "flaw"
"""The type of these errors."""


def flaw(what: str, fix: str = "", *place: str | int, value: object = None) -> InitErrorDetails:
    """A flaw of the key at a place below the model that raises it."""
    error = PydanticCustomError(FLAW, "{what}", {"what": what, "fix": fix})
    return InitErrorDetails(type=error, loc=place, input=value)


def refuse(model: type[BaseModel], flaws: list[InitErrorDetails]) -> None:
    """Raise the flaws of a model together, if there are any."""
    if flaws:
        raise ValidationError.from_exception_data(model.__name__, flaws)


def below(name: str, error: ErrorDetails) -> InitErrorDetails:
    """An error of a criterion, at its place in the screening rules."""
    return InitErrorDetails(
        type=error["type"], loc=(name, *error["loc"]), input=error["input"], ctx=error.get("ctx", {})
    )


def flaw_of(error: SettingError, name: str | None = None) -> InitErrorDetails:
    """An error of a setting as a flaw of the model, its fix as a sentence."""
    fix = error.fix and f"{error.fix[:1].upper()}{error.fix[1:]}"
    return flaw(error.what, fix if fix[-1:] in ("", "?") else f"{fix}.", *([] if name is None else [name]))


BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml(value: Any) -> str:
    """A value in TOML; keys without a value are left out, because TOML has no word for none."""
    if isinstance(value, Mapping):
        keys = {key: key if BARE.fullmatch(key) else toml(key) for key in value}
        inside = ", ".join(f"{keys[key]} = {toml(element)}" for key, element in value.items() if element is not None)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, str | bool):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Collection):
        return f"[{', '.join(map(toml, value))}]"
    return repr(value)
