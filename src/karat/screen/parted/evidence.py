"""What a criterion gives back in parts: where its evidence lies, part by part, and what it is on the whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import counted
from karat.screen.evidence import Evidence


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
    notes: tuple[str, ...] = ()
    written: tuple[str, ...] = field(default=Evidence.written, repr=False)
    """The columns that stand beside those of the other criteria."""

    def scan(self) -> pl.LazyFrame:
        """The evidence as a lazy table of the columns that `Evidence.participants` has, in the order of parts."""
        return pl.scan_parquet(list(self.files))

    def __str__(self) -> str:
        return f"{self.criterion}: {self.flagged:,} of {counted(self.participants, 'participant')} flagged."
