"""Everything that was measured in one study, and how to keep it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.measure.export import as_data, write
from karat.measure.measured import Measured
from karat.measure.summary import lines


@dataclass(frozen=True)
class Measures(Measured):
    """All results on one set of judgments."""

    def lines(self) -> list[str]:
        """All of it for a terminal: sentences and short tables."""
        return lines(self)

    def write(self, folder: str | Path) -> list[Path]:
        """Write all tables, figures, measures.json and an index to a folder."""
        return write(self, Path(folder))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, as `measures.json` holds it."""
        return as_data(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())
