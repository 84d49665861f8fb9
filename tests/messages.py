"""What tests ask of messages: codes and values, never sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
import pytest

from karat.messages import Message
from karat.screen import Evidence


def codes(messages: Iterable[Message]) -> list[str]:
    """The codes of messages, in their order."""
    return [message.code for message in messages]


def message_at(table: pl.DataFrame, row: int) -> Message:
    """The message in a row of a table of codes and values, without missing values."""
    return _unpacked({"message": table["message"][row], "values": table["values"][row]})  # type: ignore[no-any-return]


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(part) for part in value]
    if not isinstance(value, dict):
        return value
    return Message(value["message"], {k: _unpacked(v) for k, v in value["values"].items() if v is not None})


def reasons(evidence: Evidence) -> dict[str, Message]:
    """The reason for each participant."""
    table = evidence.participants
    return {name: message_at(table, row) for row, name in enumerate(table["participant"].to_list())}


def code_or_text(error: Exception) -> str:
    """The code of the message that an error carries; the text of an error that has none."""
    carried = error.args[0] if error.args else ""
    return carried.code if isinstance(carried, Message) else str(error)


@contextmanager
def raises(kind: type[Exception], code: str, /, **values: object) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """An error of this class that carries a message with this code and, among others, these values."""
    with pytest.raises(kind) as caught:
        yield caught
    assert code_or_text(caught.value) == code
    assert {name: caught.value.args[0].values[name] for name in values} == values


@contextmanager
def refuses(
    kind: type[Exception] | tuple[type[Exception], ...], *names: object
) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """An error of this class that names what users need: a file, a line, a column, an option, the right spelling."""
    with pytest.raises(kind) as caught:
        yield caught
    text = str(caught.value)
    assert [name for name in map(str, names) if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)] == [], text
