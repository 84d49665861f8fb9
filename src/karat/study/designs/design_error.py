"""The error of a design that cannot be made."""

from __future__ import annotations

from collections.abc import Sequence

from karat.errors import KaratError


class DesignError(KaratError, ValueError):
    """A design that cannot hold, with what stands against it and how to mend it."""

    def __init__(self, message: str, rows: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.rows = tuple(rows)
        """The rows of the item table that are at fault, from 0; empty where none is."""
