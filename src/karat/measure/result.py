"""The base of all results of measures: tables, sentences, a figure, an error, and parts of messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from karat.errors import KaratError
from karat.jupyter import Result
from karat.languages import language_of
from karat.messages import Message, check_number, message_of, with_code
from karat.models.numerics import known
from karat.plots import Figure
from karat.plots.ranked import labelled, ranked_plot


@dataclass(frozen=True)
class PlotColumns:
    """The columns of a plot: those that name a row, and that of the number, with the label of its axis."""

    labels: tuple[str, ...]
    value: str = "estimate"
    axis: str = ""
    """If it is empty, the unit of the result."""


@dataclass(frozen=True, kw_only=True)
class MeasureResult(Result):
    """A result whose first field is its main table.

    >>> import karat
    >>> found = karat.measure.noise_ceiling(karat.datasets.load("crowd"), samples=0)
    >>> list(found.tables()), found.table().columns[:3]
    (['ceilings'], ['question', 'ceiling', 'estimate'])
    >>> found.to_dict()["tables"]["ceilings"][0]["ceiling"]
    'reliability of means'
    """

    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()
    points: ClassVar[PlotColumns]
    files: ClassVar[Mapping[str, str]] = {}
    """From the name of a file that `Measures.write` writes to its table."""
    figure_file: ClassVar[str] = ""
    """The name of the file with the figure, if there is one."""
    numbers: ClassVar[tuple[str, ...]] = ()
    """The names of single values that are in no table."""
    warning_codes: ClassVar[tuple[str, ...]] = ()
    """The codes of important notes."""

    @property
    def warnings(self) -> tuple[Message, ...]:
        """The important notes, which are printed with the summary."""
        return tuple(with_code(self.notes, *self.warning_codes))

    def exported(self) -> dict[str, pl.DataFrame]:
        """The tables that are written, by the names of their files."""
        return {name: getattr(self, table) for name, table in self.files.items()}

    def plot(self, width_cm: float = 16) -> Figure:
        """The rows of the table below each other, with their intervals."""
        columns, rows = self.points, self.table()
        axis = columns.axis or str(self.unit)  # type: ignore[attr-defined]
        if "lower" in rows.columns and "level" in self.settings:
            axis = f"{axis}, with {100 * self.settings['level']:g} % intervals"
        return ranked_plot(labelled(rows, columns.labels, columns.value), axis, str(self.summary[0]), width_cm)

    def __str__(self) -> str:
        return " ".join(map(str, self.messages))


class BriefResult(MeasureResult):
    """A result that prints its summary without notes, except for warnings."""

    def __str__(self) -> str:
        return self.between.join(map(str, (*self.summary, *self.warnings)))


class MeasureError(KaratError, ValueError):
    """A measure that cannot be computed; its message says why and how to fix it."""


@contextmanager
def refused() -> Iterator[None]:
    """Turn a `ValueError` of a model within the block into a `MeasureError` with the same message."""
    try:
        yield
    except ValueError as error:
        raise MeasureError(message_of(error)) from error


def schema_of(names: str) -> dict[str, Any]:
    """A schema from names of columns, with :s for text, :i for integers, :b for booleans, and numbers otherwise."""
    kinds = {"": pl.Float64, "s": pl.String, "i": pl.Int64, "b": pl.Boolean}
    return {name: kinds[kind] for name, _, kind in (word.partition(":") for word in names.split())}


def table_of(rows: Iterable[Sequence[Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """Rows as a table, with missing cells for NaN."""
    return pl.DataFrame(list(rows), schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))


def check_level(level: float) -> None:
    """Refuse a level of intervals outside 0 to 1."""
    check_number(MeasureError, "level", level, above=0, below=1)


def coefficient(value: float | None, digits: int = 2) -> str:
    """A number between -1 and 1 without its leading zero; a dash if it is missing.

    >>> coefficient(0.456), coefficient(-0.5), coefficient(1.0), coefficient(-0.001), coefficient(float("nan"))
    ('.46', '−.50', '1.00', '.00', '-')
    """
    if value is None or value != value:
        return "-"
    return language_of("en").value(float(value), f".{digits}r")


def with_interval(value: float | None, lower: float | None, upper: float | None) -> str:
    """A coefficient with its interval, if there is one."""
    if lower is None or upper is None or lower != lower or upper != upper:
        return coefficient(value)
    return f"{coefficient(value)} [{coefficient(lower)}, {coefficient(upper)}]"


def interval(lower: float | None, upper: float | None) -> Message | None:
    """The ends of an interval with two decimals; None if one of them is unknown."""
    ends = {"lower": known(lower), "upper": known(upper)}
    return None if None in ends.values() else Message("estimate.interval", ends)


def first_names(names: Sequence[str], most: int) -> dict[str, object]:
    """The first of many names, and how many more there are, as values of a message."""
    return {"names": list(names[:most]), "more": len(names) - most if len(names) > most else None}


def sentences(messages: Sequence[Message]) -> Message:
    """Several messages in a row as one."""
    first, *others = messages
    return first if not others else Message("measure.sentences", {"first": first, "rest": sentences(others)})


def about_question(question: str, notes: Iterable[Message]) -> list[Message]:
    """Notes with the question that they are about, if it has a name."""
    messages = list(notes)
    if not question:
        return messages
    return [Message("measure.about_question", {"question": question, "note": note}) for note in messages]


def rounded(share: float | None) -> float | None:
    """A share rounded to a whole per cent, as in sentences; None if it is missing."""
    return None if share is None else round(share, 2)


def is_shown(p: float | None, level: float = 0.95) -> bool:
    """Whether a test shows a difference: the same rule for sentences, titles of figures and tables.

    If several tests answer one question, `p` is the adjusted one.
    """
    return p is not None and p < round(1 - level, 12)
