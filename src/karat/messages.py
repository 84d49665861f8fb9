"""Messages of computations: a code and values, which become sentences in a language at the edge.

    Message("speed.no_times", {"criterion": "remfod"})

The sentence of each code is in the tables of `karat.languages`; no code reads a sentence. A `NotComputed` takes the
place of a missing result and gives the reason. Errors of computations carry messages too, so the reason for a missing
result is the message of the error that was raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import ge, gt, le, lt
from typing import Any

from karat.languages import language_of

ENGLISH = "en"


@dataclass(frozen=True, repr=False)
class Message:
    """A code and its values; printed, the English sentence.

    >>> message = Message("word.yes")
    >>> message.code, str(message), render(message, "de")
    ('word.yes', 'yes', 'ja')
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((type(self), self.code, repr(self.values)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.code!r}, {dict(self.values)!r})"

    def __str__(self) -> str:
        return render(self)

    def to_dict(self) -> dict[str, Any]:
        """The message as plain data, for JSON: its code, its values and its English sentence."""
        return {"code": self.code, "values": _plain(self.values), "text": str(self)}


class NotComputed(Message):
    """The reason why a result is missing, in its place."""

    @classmethod
    def of(cls, error: Exception) -> NotComputed:
        """The reason from an error."""
        message = message_of(error)
        return cls(message.code, message.values)


def message_of(error: Exception) -> Message:
    """The message of an error; if it has none, a message with its text."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, Message) else Message("error", {"text": str(error)})


def refused_setting(name: str, value: object, *must: Message) -> Message:
    """A message that a setting cannot have this value, and what it must be.

    >>> str(refused_setting("n", 0, Message("setting.whole"), Message("setting.at_least", {"limit": 1})))
    '`n` cannot be 0. It must be a whole number and at least 1.'
    """
    return Message("setting.refused", {"setting": name, "value": repr(value), "must": list(must) or None})


LIMITS: Mapping[str, Callable[[float, float], bool]] = {
    "setting.above": gt, "setting.at_least": ge, "setting.below": lt, "setting.at_most": le,
}  # fmt: skip


def check_number(error: type[Exception], name: str, value: float | None, **limits: float) -> None:
    """Raise the error unless a setting is None or lies within its limits: above, at_least, below, at_most.

    >>> check_number(ValueError, "level", 0.95, above=0, below=1)
    """
    codes = {f"setting.{limit}": number for limit, number in limits.items()}
    if value is not None and not all(LIMITS[code](value, number) for code, number in codes.items()):
        raise error(refused_setting(name, value, *(Message(code, {"limit": limit}) for code, limit in codes.items())))


def check_word(error: type[Exception], name: str, value: object, choices: Iterable[object]) -> None:
    """Raise the error unless a setting has one of the known values.

    >>> check_word(ValueError, "adjust", "holm", ("holm", "bh"))
    """
    if value not in (words := list(choices)):
        raise error(refused_setting(name, value, Message("setting.one_of", {"known": list(map(repr, words))})))


def render(message: Message, language: str = ENGLISH) -> str:
    """The sentence of a message.

    >>> render(Message("error", {"text": "It is empty."}), "de")
    'It is empty.'
    """
    return _sentence(message.code, message.values, language)


def render_all(messages: Iterable[Message], language: str = ENGLISH) -> list[str]:
    """The sentences of several messages, each once, in their order."""
    return list(dict.fromkeys(render(message, language) for message in messages))


def with_code(messages: Iterable[Message], *codes: str) -> Iterator[Message]:
    """The messages with one of these codes."""
    return (message for message in messages if message.code in codes)


def _sentence(code: str, values: Mapping[str, Any], language: str) -> str:
    return language_of(language).sentence(code, {name: rendered(value, language) for name, value in values.items()})


def rendered(value: Any, language: str) -> Any:
    """A value with the messages in it rendered."""
    if isinstance(value, Message):
        return render(value, language)
    if isinstance(value, list | tuple):
        return [rendered(entry, language) for entry in value]
    if isinstance(value, Mapping) and value.keys() == {"message", "values"}:
        # A message within the values of a column, as a struct of its code and its values.
        return None if value["message"] is None else _sentence(value["message"], value["values"] or {}, language)
    if isinstance(value, Mapping):
        return {name: rendered(entry, language) for name, entry in value.items()}
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value
