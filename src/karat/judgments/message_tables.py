"""Messages in tables, as a column `message` of codes and a column `values` of structs, and their sentences.

A value may itself be a message, as a struct of `message` and `values`, or a list of them. Long lists of names and rows
are shortened.
"""

from collections.abc import Sequence
from string import Formatter

import polars as pl

from karat.languages import language_of
from karat.languages.language import OPTIONAL, TENSES, Language
from karat.messages import ENGLISH, Message, rendered


def render_column(frame: pl.DataFrame, language: str = ENGLISH) -> pl.Series:
    """The sentences of a column `message` of codes and a column `values` of structs, row by row, as `reason`.

    Each slot of a template is filled for all rows at once, so that a million rows take seconds.
    """
    values = frame["values"].struct.unnest().with_row_index("_row")
    reasons = [pl.DataFrame(schema={"_row": pl.UInt32, "reason": pl.String})]
    for code in frame["message"].drop_nulls().unique(maintain_order=True).to_list():
        rows = values.filter((frame["message"] == code).fill_null(False))
        reasons.append(rows.select("_row", reason=_filled(rows, language_of(language), code)))
    return values.select("_row").join(pl.concat(reasons), on="_row", how="left", maintain_order="left")["reason"]


def with_reasons(table: pl.DataFrame, language: str = ENGLISH, beside: bool = False) -> pl.DataFrame:
    """A table with sentences, as `reason`, in place of `message` and `values`; `beside` keeps these two as well."""
    if "message" not in table.columns:
        return table
    explained = table.with_columns(reason=render_column(table, language))
    others = [name for name in explained.columns if name not in ("message", "values", "reason")]
    place = table.columns.index("message")
    codes = ["message", "values"] if beside else []
    return explained.select(*others[:place], "reason", *codes, *others[place:])


def _filled(rows: pl.DataFrame, language: Language, code: str) -> pl.Expr:
    """The sentence of a code for every row; the columns are the values."""
    pieces = []
    for number, piece in enumerate(OPTIONAL.split(language.messages[code])):
        piece = TENSES.sub(r"\1", piece)
        texts: list[pl.Expr] = []
        for text, name, spec, _ in Formatter().parse(piece):
            texts.append(pl.lit(text))
            if name is not None:
                texts.append(pl.lit(_texts(rows, name, spec or "", language)))
        whole = pl.concat_str(*texts, ignore_nulls=number % 2 == 0) if texts else pl.lit("")
        # Every second piece is optional: null if one of its values is.
        pieces.append(whole.fill_null(""))
    return pl.concat_str(*pieces)


def _texts(rows: pl.DataFrame, name: str, spec: str, language: Language) -> pl.Series:
    """The values of a slot in its format; each distinct value is formatted once, and a missing one is null."""
    if name not in rows.columns:
        return pl.Series([None] * rows.height, dtype=pl.String)
    values = rows.select(pl.col(name).alias("_value"))
    distinct = values.unique()
    texts = [
        None if value is None else language.value(rendered(value, language.code), spec)
        for value in distinct["_value"].to_list()
    ]
    distinct = distinct.with_columns(_text=pl.Series(texts, dtype=pl.String))
    return values.join(distinct, on="_value", how="left", nulls_equal=True, maintain_order="left")["_text"]


MOST_NUMBERS = 10
"""Up to this many rows of a kind are named one by one."""


def listed(names: Sequence[object], most: int = 6) -> Message:
    """Names for a message, of which at most `most` are listed."""
    rest = len(names) - most
    return Message("list.names", {"names": list(names[:most]), "more": rest if rest > 0 else None})


def rows_named(place: str, numbers: Sequence[int]) -> Message:
    """Rows by their numbers; of many rows the first ones, the number of the others, and the last."""
    more = len(numbers) - MOST_NUMBERS
    values = {
        "n": len(numbers),
        "numbers": [str(number) for number in numbers[:MOST_NUMBERS]],
        "more": more if more > 0 else None,
        "last": str(numbers[-1]) if numbers else None,
    }
    messages = {"line": Message("rows.line", values), "row": Message("rows.row", values),
             "element": Message("rows.element", values)}  # fmt: skip
    return messages.get(place) or Message("rows.other", {**values, "place": place})
