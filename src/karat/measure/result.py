"""What all results of measures share: tables, sentences, a figure, a form for JSON, and one error."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from karat.errors import KaratError
from karat.jupyter import NotebookDisplay
from karat.messages import Message

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PlotColumns:
    """What is drawn of a table: the columns that name a row, the number, and what the axis is called."""

    labels: tuple[str, ...]
    value: str = "estimate"
    axis: str = ""
    """The unit of the result where it is empty."""


class MeasureResult(NotebookDisplay):
    """A result whose first field is the table that people want.

    >>> import karat
    >>> found = karat.measure.noise_ceiling(karat.datasets.load("crowd"), samples=0)
    >>> list(found.tables()), found.table().columns[:3]
    (['ceilings'], ['question', 'ceiling', 'estimate'])
    >>> found.to_dict()["tables"]["ceilings"][0]["ceiling"]
    'reliability of means'
    """

    settings: dict[str, Any]
    notes: tuple[Message, ...]
    points: ClassVar[PlotColumns]

    @property
    def summary(self) -> tuple[Message, ...]:
        """What was found, in a few sentences."""
        raise NotImplementedError

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that the result says."""
        return *self.summary, *self.notes

    def table(self) -> pl.DataFrame:
        """The main table."""
        return next(iter(self.tables().values()))

    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table, by its name."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in found.items() if isinstance(value, pl.DataFrame)}

    def to_dict(self) -> dict[str, Any]:
        """The messages and the tables as plain values."""
        return {
            "messages": [message.to_dict() for message in self.messages],
            "tables": {name: frame.to_dicts() for name, frame in self.tables().items()},
        }

    def plot(self, width_cm: float = 16) -> Figure:
        """The rows of the table below each other, with their intervals where they have some."""
        from karat.plots.ranked import labelled, ranked_plot

        own, rows = self.points, self.table()
        axis = own.axis or str(self.unit)  # type: ignore[attr-defined]
        if "lower" in rows.columns and "level" in self.settings:
            axis = f"{axis}, with {100 * self.settings['level']:g} % intervals"
        return ranked_plot(labelled(rows, own.labels, own.value), axis, str(self.summary[0]), width_cm)

    def __str__(self) -> str:
        return " ".join(map(str, self.messages))


class MeasureError(KaratError, ValueError):
    """A measure that cannot be computed from these judgments; its message says why and what to do."""
