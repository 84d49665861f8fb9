"""What a criterion gives back: one row per participant with score, threshold, verdict and reason.

A reason is a code and values, in the columns `message` and `values`; sentences are made of them where a table is shown
(`karat.judgments.message_tables`). A value may itself be a message, as a struct of `message` and `values`, or a list of
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
from polars.datatypes import DataType
from pydantic import ValidationError

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.columns import nearest
from karat.judgments.message_tables import with_reasons
from karat.judgments.trial_order import with_positions
from karat.jupyter import NotebookDisplay
from karat.messages import ENGLISH, Message
from karat.study.criterion import CriterionSettings

Fields = Mapping[str, type[DataType] | DataType]
"""The values that the messages of a criterion have, each with its type."""


class ScreenError(KaratError, ValueError):
    """A criterion that cannot say anything about these judgments, with the reason."""


@dataclass(frozen=True)
class Evidence(NotebookDisplay):
    """The evidence of one criterion. It flags and gives reasons; the rule of the study decides on exclusions."""

    written: ClassVar[tuple[str, ...]] = ("score", "threshold", "flagged", "reason")
    """The columns beside those of the other criteria, in tables and in `screening.json`."""
    participants: pl.DataFrame
    """participant, score, threshold, flagged, message, values; a criterion may have further columns.

    A criterion of another package may have sentences in a column `reason` instead of `message` and `values`.
    """
    criterion: str
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()
    trials: pl.DataFrame | None = None
    """Trials that stand out, where the criterion has them: participant, trial and what about it."""

    def table(self, language: str = ENGLISH) -> pl.DataFrame:
        """The evidence as a table with reasons as sentences, flagged participants first."""
        return with_reasons(self.participants, language).sort("flagged", descending=True, maintain_order=True)

    @property
    def flagged(self) -> list[str]:
        """The participants who are flagged."""
        return self.participants.filter(pl.col("flagged"))["participant"].to_list()

    @property
    def summary(self) -> tuple[Message, ...]:
        """What was found, without the notes."""
        return (flagged_message(len(self.flagged), self.participants.height),)

    def __str__(self) -> str:
        return f"{self.criterion}: {' '.join(map(str, self.summary))}"


def flagged_message(flagged: int, participants: int) -> Message:
    """How many participants are flagged.

    >>> str(flagged_message(7, 48))
    '7 of 48 participants flagged.'
    """
    return Message("evidence.flagged", {"flagged": flagged, "participants": participants})


def with_messages(table: pl.DataFrame) -> pl.DataFrame:
    """A table of evidence with its reasons as messages, where somebody's own criterion gives sentences.

    >>> with_messages(pl.DataFrame({"reason": ["all the same"]})).row(0, named=True)["values"]
    {'text': 'all the same'}
    """
    if "message" in table.columns:
        return table
    return table.with_columns(message=pl.lit("error"), values=pl.struct(pl.col("reason").alias("text")))


def reason_rows(table: pl.DataFrame, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """A table of evidence as plain data, for JSON: the columns asked for, or all, and the messages behind reasons.

    >>> reason_rows(pl.DataFrame({"message": ["error"], "values": [{"text": "It is empty."}]}))
    [{'reason': 'It is empty.', 'message': 'error', 'values': {'text': 'It is empty.'}}]
    """
    explained = with_reasons(table, beside=True)
    if columns is not None:
        explained = explained.select(
            "participant", *columns, *(name for name in ("message", "values") if name in explained.columns)
        )
    rows = explained.to_dicts()
    for row in rows if "values" in explained.columns else ():
        row["values"] = _present(row["values"])
    return rows


def message_columns(messages: Sequence[Message | None], fields: Fields) -> list[pl.Series]:
    """Messages as the columns `message` and `values` of a table; `fields` are all values that the criterion has.

    >>> message_columns([Message("word.yes"), None], {"text": pl.String})[0].to_list()
    ['word.yes', None]
    """
    codes = [None if one is None else one.code for one in messages]
    rows = [dict.fromkeys(fields) | ({} if one is None else _plain(one.values)) for one in messages]
    return [pl.Series("message", codes, pl.String), pl.Series("values", rows, pl.Struct(dict(fields)))]


def values_of(fields: Fields, **given: pl.Expr | pl.Series) -> pl.Expr:
    """The column `values` of a table: the values that are given, of the types that the criterion has, others missing.

    >>> pl.select(values_of({"n": pl.Int64, "text": pl.String}, n=pl.lit(3))).item()
    {'n': 3, 'text': None}
    """
    return pl.struct(
        (pl.lit(given[name]) if isinstance(given.get(name), pl.Series) else given.get(name, pl.lit(None)))
        .cast(kind)
        .alias(name)
        for name, kind in fields.items()
    ).alias("values")


def no_column(column: str, columns: Sequence[str]) -> Message:
    """That the table of participants has no such column.

    >>> str(no_column("langauge", ["participant", "language"]))
    'The table of participants has no column langauge. Did you mean language?'
    """
    known = [name for name in columns if name != "participant"]
    close = nearest(column, known)
    return Message(
        "participants.no_column",
        {"column": column, "meant": close, "columns": known if known and close is None else None},
    )


def timed(judgments: Judgments) -> pl.DataFrame:
    """The judgments that a criterion about time looks at: with a time, and not for practice."""
    frame = judgments.frame
    if "rt" not in frame.columns or frame["rt"].null_count() == frame.height:
        raise ScreenError(Message("times.none"))
    kept = with_positions(frame).filter(pl.col("function") != "practice", pl.col("rt").is_not_null())
    if not kept.height:
        raise ScreenError(Message("times.only_practice"))
    return kept


def refused_setting(model: type[CriterionSettings], **given: Any) -> str | None:
    """The first of some settings that the criterion does not take, or None: bounds are stated by the model alone.

    >>> from karat.screen.criteria.credence import CredenceSettings
    >>> refused_setting(CredenceSettings, below=0.05), refused_setting(CredenceSettings, below=1.5)
    (None, 'below')
    """
    try:
        model.model_validate(given)
    except ValidationError as error:
        return str(error.errors()[0]["loc"][0])
    return None


def everybody(judgments: Judgments) -> pl.DataFrame:
    """One row for each participant who answered, in the order in which they come."""
    return judgments.frame.select(pl.col("participant").unique(maintain_order=True))


def _present(value: Any) -> Any:
    """A value without what is missing in it."""
    if isinstance(value, dict):
        return {name: _present(one) for name, one in value.items() if one is not None}
    return [_present(one) for one in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """A value as a row holds it: a message in it as its code and values."""
    if isinstance(value, Message):
        return {"message": value.code, "values": _plain(value.values)}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


MOST_DIGITS = 11


def round_beside(value: pl.Expr, cutoff: pl.Expr, digits: int = 2) -> pl.Expr:
    """A number rounded to this many digits, or to more where rounding would hide on which side of the cutoff it lies.

    Where there is no cutoff, nothing can be hidden.

    >>> table = pl.DataFrame({"value": [2.9996, 1.234, None, 1.234], "cutoff": [3.0, 3.0, 3.0, None]})
    >>> table.select(round_beside(pl.col("value"), pl.col("cutoff"))).to_series().to_list()
    [2.9996, 1.23, None, 1.23]
    """
    tries = [value.round(more) for more in range(digits, MOST_DIGITS + 1)]
    return pl.coalesce(*(pl.when(cutoff.is_null() | _same_side(one, value, cutoff)).then(one) for one in tries), value)


def _same_side(short: pl.Expr, value: pl.Expr, cutoff: pl.Expr) -> pl.Expr:
    return ((short < cutoff) == (value < cutoff)) & ((short > cutoff) == (value > cutoff))


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
    says: tuple[Message, ...] = field(default=(), repr=False)
    """What was found, where it is more than how many are flagged."""

    def scan(self) -> pl.LazyFrame:
        """The evidence as a lazy table of the columns that `Evidence.participants` has, in the order of parts.

        Reasons are codes and values; `karat.judgments.message_tables.with_reasons` makes sentences of them.
        """
        return pl.scan_parquet(list(self.files))

    @property
    def summary(self) -> tuple[Message, ...]:
        """What was found, without the notes."""
        return self.says or (flagged_message(self.flagged, self.participants),)

    def __str__(self) -> str:
        return f"{self.criterion}: {' '.join(map(str, self.summary))}"
