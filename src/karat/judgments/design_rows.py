"""The rows of one table as the definition of stimuli asks for them, and what it asks of the rows of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from karat.judgments.trial_order import presented


class RowsInMemory:
    """The rows of one table, as `DesignTable` asks for them."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = rows
        self.schema: Mapping[str, object] = rows.schema

    def distinct(self, columns: list[str]) -> int:
        """How many different combinations of values there are."""
        return self.rows[columns[0]].n_unique() if len(columns) == 1 else self.rows.select(columns).n_unique()

    def participants(self, columns: list[str]) -> int:
        """The number of participants of each combination, summed over combinations."""
        return self.rows.select("participant", *columns).n_unique()

    def people(self, names: list[str]) -> list[str]:
        """The columns that never vary within a participant."""
        within, values = values_within(self.rows, names)
        return [name for name in names if within[name] <= 1 and len(values[name]) > 1]

    def counts(self, columns: list[str]) -> pl.LazyFrame:
        """How often each combination occurs."""
        return self.rows.lazy().group_by(columns).agg(pl.len())

    def dispersion(self, keys: list[str], name: str) -> float:
        """How much participants differ in how often they have each value."""
        shares = value_shares(self.counts([*keys, name]), keys, name).collect()
        squares, variance = deviations(self.rows, shares, keys, name)
        return squares / variance if variance else 0.0

    def rises(self, name: str) -> bool:
        """Whether a number never falls along the trials of any participant, and their order is known."""
        return never_falls(self.rows, name)


def value_shares(counts: pl.LazyFrame, keys: Sequence[str], name: str) -> pl.LazyFrame:
    """The share of each value among the trials with an item, from how often each occurs with it."""
    whole = counts.group_by(*keys, name).agg(pl.col("len").sum())
    return whole.with_columns(_share=pl.col("len") / pl.col("len").sum().over(keys))


def deviations(rows: pl.DataFrame, shares: pl.DataFrame, keys: Sequence[str], name: str) -> tuple[float, float]:
    """The numerator and the denominator of R for some participants.

    `shares` are those of `value_shares` over all participants.
    """
    own = rows.group_by("participant", name).agg(pl.len().alias("_has"))
    trials = rows.group_by("participant", *keys).agg(pl.len().alias("_trials"))
    expected = trials.join(shares, on=list(keys), nulls_equal=True).group_by("participant", name).agg(
        (pl.col("_trials") * pl.col("_share")).sum().alias("_expected"),
        (pl.col("_trials") * pl.col("_share") * (1 - pl.col("_share"))).sum().alias("_variance"),
    )  # fmt: skip
    both = expected.join(own, on=["participant", name], how="left", nulls_equal=True)
    away = pl.col("_has").fill_null(0) - pl.col("_expected")
    squares, variance = both.select((away**2).sum(), pl.col("_variance").sum()).row(0)
    return float(squares or 0.0), float(variance or 0.0)


def values_within(rows: pl.DataFrame, names: list[str]) -> tuple[dict[str, int], dict[str, list[object]]]:
    """The most values that a participant has in each column, and two of all values; empty cells are none."""
    most = rows.group_by("participant").agg(pl.col(names).drop_nulls().n_unique()).select(pl.col(names).max())
    values = {name: rows[name].drop_nulls().unique().head(2).to_list() for name in names}
    return {name: int(most[name][0] or 0) for name in names}, values


def never_falls(rows: pl.DataFrame, name: str) -> bool:
    """Whether a number never falls along the trials of any participant; False where their order is not known.

    >>> rows = pl.DataFrame({"participant": ["p", "p", "p"], "trial": [1, 3, 2], "block_number": [1, 2, 1]})
    >>> never_falls(rows, "block_number"), never_falls(rows.drop("trial"), "block_number")
    (True, False)
    """
    if not {"trial", "time"} & set(rows.columns):
        return False
    groups = [column for column in ("participant", "session") if column in rows.columns]
    falls = (pl.col(name).drop_nulls().diff() < 0).any()
    return not presented(rows).group_by(groups).agg(falls)[name].any()


def answered_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a table that have an answer, practice left out."""
    return frame.filter(pl.col("function") != "practice", pl.col("response").is_not_null())


def with_choices(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows on a scale of choice with their two items in alphabetical order, as `_first` and `_second`, where named.

    >>> with_choices(pl.DataFrame({"left": ["b", "a"], "right": ["a", None]})).select("_first", "_second").rows()
    [('a', 'b'), (None, None)]
    """
    if not {"left", "right"} <= set(rows.columns):
        return rows
    named = pl.col("left").is_not_null() & pl.col("right").is_not_null()
    return rows.with_columns(
        _first=pl.when(named).then(pl.min_horizontal("left", "right")),
        _second=pl.when(named).then(pl.max_horizontal("left", "right")),
    )
