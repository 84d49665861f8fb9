"""Pairs of stimuli of which experts prefer one: given as a table, or read from the judgments.

A table has the columns `pair`, `better` and `worse`; stimuli go by their label, "item" or "item, condition". Without a
table the pairs of choices are those with a right answer (`expected`), named by the column `pair` or else by their item.
Pairs of ratings are the two stimuli that share a `pair` and differ in status (grammatical over marked over
ungrammatical) or in what answer is expected of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from karat.errors import cause
from karat.judgments import frames
from karat.judgments.scales import Choice, NumberRange, Scale
from karat.measure.errors import MeasureError
from karat.measure.rated import Rated, stimulus_labels
from karat.messages import Message

COLUMNS = ("pair", "better", "worse")
STATUS = {"ungrammatical": 0.0, "marked": 1.0, "grammatical": 2.0}
SHOWN = 5
"""So many pairs are named in a message."""


def expert_pairs(pairs: Any, one: Rated) -> pl.DataFrame:
    """The pairs as a table of pair, better and worse.

    >>> import karat
    >>> from karat.measure.rated import rated
    >>> answers = {"participant": ["p1", "p1"], "item": ["a", "b"], "response": [5, 1], "pair": ["1", "1"],
    ...            "status": ["ungrammatical", "grammatical"]}
    >>> (one,) = rated(karat.Judgments(answers, karat.Ordinal(5)), "decisions")
    >>> expert_pairs(None, one).row(0)
    ('1', 'b', 'a')
    """
    table = _derived(one) if pairs is None else _given(pairs)
    if not table.height:
        raise MeasureError(Message("decisions.no_pairs"))
    empty = table.filter(pl.any_horizontal(pl.col(COLUMNS).is_null()))
    if empty.height:
        raise MeasureError(Message("decisions.incomplete_pairs", {"n": empty.height}))
    twice = table.filter(pl.col("pair").is_duplicated())["pair"].unique(maintain_order=True).to_list()
    if twice:
        raise MeasureError(Message("decisions.repeated_pairs", _some(twice)))
    same = table.filter(pl.col("better") == pl.col("worse"))["pair"].to_list()
    if same:
        raise MeasureError(Message("decisions.same_stimulus", _some(same)))
    return table


def _given(pairs: Any) -> pl.DataFrame:
    if isinstance(pairs, str | Path):
        try:
            table = pl.read_csv(pairs, infer_schema=False)
        except FileNotFoundError:
            raise MeasureError(Message("decisions.no_file", {"file": str(pairs)})) from None
        except (OSError, pl.exceptions.PolarsError) as error:
            about = {"file": str(pairs), "why": cause(error)}
            raise MeasureError(Message("decisions.unreadable_file", about)) from None
    elif isinstance(pairs, Sequence):
        if any(isinstance(row, str) or len(row) != len(COLUMNS) for row in pairs):
            raise MeasureError(Message("decisions.pairs_of_list"))
        table = pl.DataFrame([tuple(str(cell) for cell in row) for row in pairs], schema=list(COLUMNS), orient="row")
    else:
        table = frames.to_polars(pairs)
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise MeasureError(Message("decisions.missing_column", {"column": missing[0]}))
    return table.select(pl.col(COLUMNS).cast(pl.String))


def _derived(one: Rated) -> pl.DataFrame:
    return _from_choices(one.rows) if isinstance(one.scale, Choice) else _from_ratings(one)


def _from_choices(rows: pl.DataFrame) -> pl.DataFrame:
    if not {"left", "right", "expected"} <= set(rows.columns):
        raise MeasureError(Message("decisions.choices_without_pairs"))
    name = pl.coalesce("pair", "item") if "pair" in rows.columns else pl.col("item")
    known = rows.filter(pl.col("expected").is_in(["left", "right"]))
    first = pl.col("expected") == "left"
    return known.select(
        name.alias("pair"),
        pl.when(first).then("left").otherwise("right").alias("better"),
        pl.when(first).then("right").otherwise("left").alias("worse"),
    ).unique(maintain_order=True)


def _from_ratings(one: Rated) -> pl.DataFrame:
    rows = one.rows
    if "pair" not in rows.columns or not {"status", "expected"} & set(rows.columns):
        raise MeasureError(Message("decisions.ratings_without_pairs"))
    labels = stimulus_labels(one.stimuli)
    wanted = ["pair", "_stimulus", *(name for name in ("status", "expected") if name in rows.columns)]
    stimuli = rows.select(wanted).filter(pl.col("pair").is_not_null()).unique(maintain_order=True)
    found, unclear = [], []
    for (pair,), part in stimuli.group_by("pair", maintain_order=True):
        places = [_goodness(row, one.scale) for row in part.to_dicts()]
        if len(places) != 2 or None in places or places[0] == places[1]:
            unclear.append(str(pair))
            continue
        names = [labels[number] for number in part["_stimulus"]]
        found.append((str(pair), *(names if (places[0] or 0) > (places[1] or 0) else names[::-1])))
    if unclear:
        raise MeasureError(Message("decisions.unclear_pairs", _some(unclear)))
    return pl.DataFrame(found, schema=list(COLUMNS), orient="row")


def _goodness(row: dict[str, Any], scale: Scale) -> float | None:
    """How good a stimulus should be, by its status or else by the middle of the answers that are expected."""
    if row.get("status") in STATUS:
        return STATUS[row["status"]]
    if not row.get("expected"):
        return None
    right = scale.expected(row["expected"])
    if isinstance(right, NumberRange):
        return (right.low + right.high) / 2
    levels: tuple[str, ...] = getattr(scale, "levels", ())
    return sum(levels.index(level) for level in right) / len(right)


def _some(names: list[str]) -> dict[str, Any]:
    """The first of several pairs, and how many more there are."""
    return {"pairs": names[:SHOWN], "more": max(0, len(names) - SHOWN) or None}
