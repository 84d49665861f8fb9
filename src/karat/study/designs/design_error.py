"""The error of a design that cannot be made."""

from __future__ import annotations

from collections.abc import Sequence

from karat.errors import KaratError
from karat.messages import Message


class DesignError(KaratError, ValueError):
    """A design that cannot hold; its message says why, and its value `advice` how to fix it."""

    def __init__(self, message: Message, rows: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.rows = tuple(rows)
        """The rows of the item table that are at fault, from 0; empty where none is."""


def split_advice(message: Message) -> tuple[Message, Message | None]:
    """A message on a design without its advice, and the advice.

    >>> split_advice(Message("design.no_test_items", {"advice": Message("design.add_test_items")}))[1]
    Message('design.add_test_items', {})
    """
    values = dict(message.values)
    if "reason" in values:
        values["reason"], advice = split_advice(values["reason"])
    else:
        advice = values.pop("advice", None)
    return Message(message.code, values), advice
