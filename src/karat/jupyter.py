"""The display of results at a prompt and in Jupyter: sentences, table and figure.

At a prompt, a result shows what `print` shows instead of the values of its fields. A notebook calls `_repr_html_` on
the last value of a cell. A result that derives from `NotebookDisplay` returns the sentences of `str`, the first and
last rows of `table()` (or of `frame`), and its default figure: the flow of participants, or `plot()` without arguments.
A figure that cannot be drawn is reported in one line, because the summary and the table are useful without it.
"""

import html
from dataclasses import fields
from typing import Any, ClassVar

import polars as pl

from karat.errors import KaratError
from karat.messages import Message
from karat.plots.style import to_svg

ROWS = 12
"""The number of displayed rows; of a longer table, the first and the last ones."""


class NotebookDisplay:
    """A result with a table and perhaps a figure; a notebook shows both below the sentences of the result.

    >>> import karat
    >>> page = karat.measure.agreement(karat.simulate.crowd(12, 10), samples=20)._repr_html_()
    >>> page.startswith("<p>"), "<table" in page
    (True, True)
    """

    def __init_subclass__(cls, **named: Any) -> None:
        """Set `__repr__`, which a dataclass would otherwise generate."""
        super().__init_subclass__(**named)
        if "__repr__" not in vars(cls):
            cls.__repr__ = NotebookDisplay.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        result: Any = self
        frame = result.table() if hasattr(result, "table") else result.frame
        return "\n".join(part for part in (in_words(str(self)), as_html(frame), drawn(self)) if part)


class Result(NotebookDisplay):
    """The base of results: sentences, tables, and both as plain data.

    A result is a frozen dataclass, and its first table is the main one.

    >>> import karat
    >>> found = karat.screen.gold(karat.datasets.load("crowd"))
    >>> found.messages == (*found.summary, *found.notes), list(found.tables())
    (True, ['items'])
    """

    notes: tuple[Message, ...]
    """Messages about what was assumed, left out or not computed."""
    between: ClassVar[str] = " "
    """The separator between the sentences of the printed result."""

    @property
    def summary(self) -> tuple[Message, ...]:
        """The findings in a few messages."""
        raise NotImplementedError

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages of the result."""
        return *self.summary, *self.notes

    def table(self) -> pl.DataFrame:
        """The main table."""
        return next(iter(self.tables().values()))

    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table, by its name."""
        # Fields only for figures are excluded from comparison.
        values = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.compare}  # type: ignore[arg-type]
        return {name: value for name, value in values.items() if isinstance(value, pl.DataFrame)}

    def to_dict(self) -> dict[str, Any]:
        """The messages and the tables as plain values."""
        return {
            "messages": [message.to_dict() for message in self.messages],
            "tables": {name: frame.to_dicts() for name, frame in self.tables().items()},
        }

    def __str__(self) -> str:
        return self.between.join(map(str, self.summary))


def in_words(text: str) -> str:
    """Sentences as HTML paragraphs, one per line."""
    return "\n".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines() if line.strip())


def as_html(frame: pl.DataFrame) -> str:
    """A table as HTML with all columns and full texts; of many rows, only the first and the last."""
    with pl.Config(tbl_rows=ROWS, tbl_cols=-1, fmt_str_lengths=300, tbl_hide_column_data_types=True):
        return str(frame._repr_html_())


def drawn(result: Any) -> str:
    """The figure of a result as SVG; empty if it has none."""
    flow = getattr(result, "flow", None)
    if callable(flow):
        return str(flow())
    draw = getattr(result, "plot", None)
    if draw is None:
        return ""
    try:
        figure = draw()
    except KaratError as error:
        return in_words(f"No figure: {error}")
    title = figure.get_suptitle() or type(result).__name__
    return to_svg(figure, title, str(result))
