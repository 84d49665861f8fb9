"""What a criterion gives back: one row a participant with score, threshold, verdict and reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from karat.errors import KaratError, counted
from karat.judgments import Judgments
from karat.jupyter import Shown
from karat.screen.presentation import with_positions


class ScreenError(KaratError, ValueError):
    """A criterion that cannot say anything about these judgments, with the reason."""


@dataclass(frozen=True)
class Evidence(Shown):
    """The evidence of one criterion. It flags and gives reasons; whom to exclude is a rule of the study."""

    written: ClassVar[tuple[str, ...]] = ("score", "threshold", "flagged", "reason")
    """The columns that stand beside those of the other criteria, in tables and in `screening.json`."""
    participants: pl.DataFrame
    """participant, score, threshold, flagged, reason; a criterion may have further columns."""
    criterion: str
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    trials: pl.DataFrame | None = None
    """Trials that stand out, where the criterion has them: participant, trial and what about it."""

    def table(self) -> pl.DataFrame:
        """The evidence as a table, those flagged first."""
        return self.participants.sort("flagged", descending=True, maintain_order=True)

    @property
    def flagged(self) -> list[str]:
        """Who is flagged."""
        return self.participants.filter(pl.col("flagged"))["participant"].to_list()

    def __str__(self) -> str:
        number = len(self.flagged)
        return f"{self.criterion}: {number:,} of {counted(self.participants.height, 'participant')} flagged."


def timed(judgments: Judgments, criterion: str) -> pl.DataFrame:
    """The judgments that a criterion about time looks at: with a time, and not for practice."""
    frame = judgments.frame
    if "rt" not in frame.columns or frame["rt"].null_count() == frame.height:
        raise ScreenError(f"{criterion} needs response times, and these judgments have none (column rt, in seconds).")
    kept = with_positions(frame).filter(pl.col("function") != "practice", pl.col("rt").is_not_null())
    if not kept.height:
        raise ScreenError(f"{criterion} needs response times outside practice, and there are none.")
    return kept


def everybody(judgments: Judgments) -> pl.DataFrame:
    """One row for each participant who answered, in the order in which they come."""
    return judgments.frame.select(pl.col("participant").unique(maintain_order=True))
