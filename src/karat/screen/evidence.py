"""What a criterion gives back: one row per participant with score, threshold, verdict and reason.

A reason is a code and values, in the columns `message` and `values`; sentences are made of them where a table is shown
(`with_reasons`). A value may itself be a message, as a struct of `message` and `values`, or a list of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, ClassVar

import polars as pl
from polars.datatypes import DataType

from karat.errors import KaratError
from karat.judgments import Judgments
from karat.judgments.columns import nearest
from karat.judgments.trial_order import with_positions
from karat.jupyter import NotebookDisplay
from karat.languages import language_of
from karat.languages.language import OPTIONAL, TENSES, Language
from karat.messages import ENGLISH, Message, render

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


def render_column(frame: pl.DataFrame, language: str = ENGLISH) -> pl.Series:
    """The sentences of a column `message` of codes and a column `values` of structs, row by row, as `reason`.

    Each place of a template is filled for all rows at once, so that a million rows take seconds.

    >>> rows = pl.DataFrame({"message": ["error", None], "values": [{"text": "It is empty."}, {"text": None}]})
    >>> render_column(rows).to_list()
    ['It is empty.', None]
    """
    values = frame["values"].struct.unnest().with_row_index("_row")
    found = [pl.DataFrame(schema={"_row": pl.UInt32, "reason": pl.String})]
    for code in frame["message"].drop_nulls().unique(maintain_order=True).to_list():
        rows = values.filter((frame["message"] == code).fill_null(False))
        found.append(rows.select("_row", reason=_filled(rows, language_of(language), code)))
    return values.select("_row").join(pl.concat(found), on="_row", how="left", maintain_order="left")["reason"]


def with_messages(table: pl.DataFrame) -> pl.DataFrame:
    """A table of evidence with its reasons as messages, where somebody's own criterion gives sentences.

    >>> with_messages(pl.DataFrame({"reason": ["all the same"]})).row(0, named=True)["values"]
    {'text': 'all the same'}
    """
    if "message" in table.columns:
        return table
    return table.with_columns(message=pl.lit("error"), values=pl.struct(pl.col("reason").alias("text")))


def with_reasons(table: pl.DataFrame, language: str = ENGLISH, beside: bool = False) -> pl.DataFrame:
    """A table of evidence with its messages as sentences: `reason` in the place of `message` and `values`.

    `beside` keeps `message` and `values` as well.

    >>> with_reasons(pl.DataFrame({"message": ["error"], "values": [{"text": "It is empty."}]})).rows()
    [('It is empty.',)]
    """
    if "message" not in table.columns:
        return table
    told = table.with_columns(reason=render_column(table, language))
    others = [name for name in told.columns if name not in ("message", "values", "reason")]
    place = table.columns.index("message")
    kept = ["message", "values"] if beside else []
    return told.select(*others[:place], "reason", *kept, *others[place:])


def reason_rows(table: pl.DataFrame, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """A table of evidence as plain data, for JSON: the columns asked for, or all, and the messages behind reasons.

    >>> reason_rows(pl.DataFrame({"message": ["error"], "values": [{"text": "It is empty."}]}))
    [{'reason': 'It is empty.', 'message': 'error', 'values': {'text': 'It is empty.'}}]
    """
    told = with_reasons(table, beside=True)
    if columns is not None:
        told = told.select("participant", *columns, *(name for name in ("message", "values") if name in told.columns))
    rows = told.to_dicts()
    for row in rows if "values" in told.columns else ():
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


def message_at(table: pl.DataFrame, row: int, without: Sequence[str] = ()) -> Message:
    """The message in a row of a table of evidence; `without` are values to leave out.

    >>> message_at(pl.DataFrame({"message": ["error"], "values": [{"text": "It is empty."}]}), 0)
    Message('error', {'text': 'It is empty.'})
    """
    return _message(table["message"][row], {k: v for k, v in table["values"][row].items() if k not in without})


def rounded(value: pl.Expr, cutoff: pl.Expr, digits: int = 2) -> pl.Expr:
    """A number rounded, with more digits where rounding would hide on which side of the cutoff it lies.

    >>> pl.select(rounded(pl.Series([2.9996, 1.234]).implode().explode(), pl.lit(3.0))).to_series().to_list()
    [2.9996, 1.23]
    """
    known = cutoff.is_not_null()
    tries = []
    for more in range(digits, 12):
        short = value.round(more)
        same = ((short < cutoff) == (value < cutoff)) & ((short > cutoff) == (value > cutoff))
        tries.append(pl.when(~known | same).then(short))
    return pl.coalesce(*tries, value)


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


def everybody(judgments: Judgments) -> pl.DataFrame:
    """One row for each participant who answered, in the order in which they come."""
    return judgments.frame.select(pl.col("participant").unique(maintain_order=True))


def _filled(rows: pl.DataFrame, language: Language, code: str) -> pl.Expr:
    """The sentence of a code for every row, whose columns are the values."""
    pieces = []
    for number, piece in enumerate(OPTIONAL.split(language.messages[code])):
        piece = TENSES.sub(r"\1", piece)
        texts: list[pl.Expr] = []
        names = []
        for text, name, spec, _ in Formatter().parse(piece):
            texts.append(pl.lit(text))
            if name is not None:
                names.append(name)
                texts.append(pl.lit(_texts(rows, name, spec or "", language)))
        whole = pl.concat_str(*texts, ignore_nulls=number % 2 == 0) if texts else pl.lit("")
        # Every second piece is one that may be left out: null where one of its values is.
        pieces.append(whole.fill_null(""))
    return pl.concat_str(*pieces)


def _texts(rows: pl.DataFrame, name: str, spec: str, language: Language) -> pl.Series:
    """The values of a place as it asks for them, each different one written once; null where there is none."""
    if name not in rows.columns:
        return pl.Series([None] * rows.height, dtype=pl.String)
    known = rows.select(pl.col(name).alias("_value")).unique()
    texts = [
        None if value is None else language.value(_rendered(value, language.code), spec)
        for value in known["_value"].to_list()
    ]
    known = known.with_columns(_text=pl.Series(texts, dtype=pl.String))
    found = rows.select(pl.col(name).alias("_value")).join(
        known, on="_value", how="left", nulls_equal=True, maintain_order="left"
    )
    return found["_text"]


def _rendered(value: Any, language: str) -> Any:
    """A value of a row with the messages in it as sentences."""
    if isinstance(value, list):
        return [_rendered(one, language) for one in value]
    if isinstance(value, dict):
        return render(_message(value["message"], value["values"]), language)
    return value


def _message(code: str, values: Mapping[str, Any]) -> Message:
    """A message of a row; a value that is missing is not one of it."""
    return Message(code, {name: _unpacked(value) for name, value in values.items() if value is not None})


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(one) for one in value]
    return _message(value["message"], value["values"]) if isinstance(value, dict) else value


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
