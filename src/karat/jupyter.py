"""How results show themselves at a prompt and in Jupyter: what they say in words, their table, and their figure.

At a prompt, a result shows what `print` shows, and not the many values of its fields. A notebook asks the last value of
a cell for `_repr_html_`. A result that derives from `NotebookDisplay` answers with the sentences of `str`, the first
and last rows of `table()` (of `frame` where there is none), and the figure that needs no further choice: the flow of
participants, or `plot()` without arguments. A figure that cannot be drawn is reported in one line: the summary and the
table are useful without it.
"""

import html
from dataclasses import fields
from typing import Any, ClassVar

import polars as pl

from karat.errors import KaratError
from karat.messages import Message
from karat.plots.style import to_svg

ROWS = 12
"""Rows of a table that are shown; of a longer one the first and the last."""


class NotebookDisplay:
    """A result with a table and, where it has one, a figure; a notebook shows both below what the result says.

    >>> import karat
    >>> page = karat.measure.agreement(karat.simulate.crowd(12, 10), samples=20)._repr_html_()
    >>> page.startswith("<p>"), "<table" in page
    (True, True)
    """

    def __init_subclass__(cls, **named: Any) -> None:
        """A dataclass would write its own `__repr__` unless the class has one."""
        super().__init_subclass__(**named)
        if "__repr__" not in vars(cls):
            cls.__repr__ = NotebookDisplay.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        own: Any = self
        frame = own.table() if hasattr(own, "table") else own.frame
        return "\n".join(part for part in (in_words(str(self)), as_html(frame), drawn(self)) if part)


class Result(NotebookDisplay):
    """What every result has: what was found in words, its tables, and both as plain data.

    A result is a frozen dataclass, and its first table is the one that people want.

    >>> import karat
    >>> found = karat.screen.gold(karat.datasets.load("crowd"))
    >>> found.messages == (*found.summary, *found.notes), list(found.tables())
    (True, ['items'])
    """

    notes: tuple[Message, ...]
    """What was assumed, left out or not computed."""
    between: ClassVar[str] = " "
    """What stands between the sentences of the printed result."""

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
        # What is kept for figures alone is not compared.
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.compare}  # type: ignore[arg-type]
        return {name: value for name, value in found.items() if isinstance(value, pl.DataFrame)}

    def to_dict(self) -> dict[str, Any]:
        """The messages and the tables as plain values."""
        return {
            "messages": [message.to_dict() for message in self.messages],
            "tables": {name: frame.to_dicts() for name, frame in self.tables().items()},
        }

    def __str__(self) -> str:
        return self.between.join(map(str, self.summary))


def in_words(text: str) -> str:
    """Sentences as paragraphs, one for each line."""
    return "\n".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines() if line.strip())


def as_html(frame: pl.DataFrame) -> str:
    """A table as HTML, with all columns and whole texts; of many rows the first and the last."""
    with pl.Config(tbl_rows=ROWS, tbl_cols=-1, fmt_str_lengths=300, tbl_hide_column_data_types=True):
        return str(frame._repr_html_())


def drawn(result: Any) -> str:
    """The figure of a result as SVG; empty where it has none."""
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
