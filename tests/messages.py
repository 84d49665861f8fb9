"""What tests ask of messages: codes and values, never sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from karat.judgments.message_tables import message_at
from karat.messages import Message
from karat.screen import Evidence


def codes(messages: Iterable[Message]) -> list[str]:
    """The codes of messages, in their order."""
    return [message.code for message in messages]


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
