"""Flags that several commands have: a dataclass says them once, and a command gets them as one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, get_type_hints


def option_group(kind: type[Any], name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of a dataclass as arguments and flags, in place of its one parameter `name`.

    A field without a default is an argument of the command and stands first, as arguments must.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        hints = {**get_type_hints(command, include_extras=True), **get_type_hints(kind, include_extras=True)}
        every = [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name],
                default=inspect.Parameter.empty if one.default is MISSING else one.default,
            )
            for one in fields(kind)
        ]  # fmt: skip
        parameters = [one for one in every if one.default is inspect.Parameter.empty]
        flags = [one for one in every if one.default is not inspect.Parameter.empty]
        for called, own in inspect.signature(command).parameters.items():
            keyword = own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints.get(called, own.annotation))
            parameters += flags if called == name else [keyword]

        @wraps(command)
        def wrapped(**given: Any) -> None:
            own = kind(**{one.name: given.pop(one.name) for one in every})
            command(**{name: own}, **given)

        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {one.name: one.annotation for one in parameters}
        return wrapped

    return decorated
