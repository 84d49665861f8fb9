"""What a criterion gives back in parts: where its evidence lies, part by part, and what it is on the whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from karat.messages import Message
from karat.screen.evidence import Evidence, flagged_message


@dataclass(frozen=True)
class PartedEvidence:
    """The evidence of one criterion on judgments in parts."""

    criterion: str
    settings: dict[str, Any]
    participants: int
    """How many participants it is about."""
    flagged: int
    """How many of them are flagged."""
    files: tuple[Path, ...]
    """One Parquet file for each part that has anybody, in the order of parts."""
    notes: tuple[Message, ...] = ()
    written: tuple[str, ...] = field(default=Evidence.written, repr=False)
    """The columns beside those of the other criteria."""

    def scan(self) -> pl.LazyFrame:
        """The evidence as a lazy table of the columns that `Evidence.participants` has, in the order of parts.

        Reasons are codes and values; `karat.judgments.message_tables.with_reasons` makes sentences of them.
        """
        return pl.scan_parquet(list(self.files))

    @property
    def summary(self) -> tuple[Message, ...]:
        """What was found, without the notes."""
        return (flagged_message(self.flagged, self.participants),)

    def __str__(self) -> str:
        return f"{self.criterion}: {' '.join(map(str, self.summary))}"
