"""Flaws that the models of a study file find themselves, each with its place, what is wrong and its mend."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from karat.errors import SettingError
from karat.judgments.columns import nearest

FLAW = "flaw"
"""The type of these errors."""


def flaw(what: str, mend: str = "", *place: str | int, value: object = None) -> InitErrorDetails:
    """What is wrong with the key at a place below the model that raises it."""
    error = PydanticCustomError(FLAW, "{what}", {"what": what, "mend": mend})
    return InitErrorDetails(type=error, loc=place, input=value)


def refuse(model: type[BaseModel], flaws: list[InitErrorDetails]) -> None:
    """Raise the flaws of a model together, if there are any."""
    if flaws:
        raise ValidationError.from_exception_data(model.__name__, flaws)


def meant(word: str, known: list[str]) -> str:
    """The known word that a misspelt one was probably meant to be, or all of them.

    >>> meant("lickert", ["yes-no", "likert"])
    'Is likert meant?'
    """
    close = nearest(word, known)
    return f"Is {close} meant?" if close else f"There are {', '.join(known)}."


def below(name: str, error: ErrorDetails) -> InitErrorDetails:
    """An error of a criterion, at its place in the screening rules."""
    return InitErrorDetails(
        type=error["type"], loc=(name, *error["loc"]), input=error["input"], ctx=error.get("ctx", {})
    )


def flaw_of(error: SettingError, name: str | None = None) -> InitErrorDetails:
    """An error of a setting as a flaw of the model, its fix as a sentence."""
    fix = error.fix and f"{error.fix[:1].upper()}{error.fix[1:]}"
    return flaw(error.what, fix if fix[-1:] in ("", "?") else f"{fix}.", *([] if name is None else [name]))
