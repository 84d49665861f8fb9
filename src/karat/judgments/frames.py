"""Tables of other libraries come in here and leave as polars frames; `to_pandas` is the way back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.errors import JudgmentsError, MissingPartError

if TYPE_CHECKING:
    import pandas as pd


def to_polars(table: Any) -> pl.DataFrame:
    """A polars frame from a polars, pandas, pyarrow or narwhals table, or from a mapping of columns.

    >>> to_polars({"participant": ["p1"], "rt": [0.5]}).shape
    (1, 2)
    """
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        return table.collect()
    if isinstance(table, dict):
        return pl.DataFrame(table, strict=False)
    if hasattr(table, "to_native"):
        return to_polars(table.to_native())
    if _is_pandas(table):
        return _from_pandas(table)
    if hasattr(table, "__arrow_c_stream__"):
        return pl.DataFrame(table)
    if hasattr(table, "to_polars"):
        return to_polars(table.to_polars())
    if hasattr(table, "to_pandas"):
        return to_polars(table.to_pandas())
    raise JudgmentsError(
        f"A {type(table).__name__} is not a table. Give a polars, pandas, pyarrow or narwhals frame, "
        "or a mapping from column names to lists."
    )


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """The same table in pandas, with or without pyarrow beside it."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise MissingPartError("pandas is not installed: pip install pandas.") from None
    return pd.DataFrame({column.name: _pandas_column(column) for column in frame.get_columns()})


def _pandas_column(column: pl.Series) -> Any:
    if column.dtype.is_numeric() and column.null_count() == 0:
        return column.to_numpy()
    if column.dtype.is_float():
        return column.fill_null(math.nan).to_numpy()
    return column.to_list()


def _is_pandas(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "columns")


def _from_pandas(table: Any) -> pl.DataFrame:
    # Column by column, because polars' own way needs pyarrow, which a pandas user may not have.
    return pl.DataFrame({str(name): _polars_column(table[name]) for name in table.columns}, strict=False)


def _polars_column(column: Any) -> pl.Series:
    if getattr(column.dtype, "kind", "") in ("i", "u", "b") and not column.isna().any():
        return pl.Series(column.to_numpy())
    missing = column.isna().tolist()
    values = [None if gone else value for gone, value in zip(missing, column.tolist(), strict=True)]
    return pl.Series(values, strict=False) if values else pl.Series([], dtype=pl.String)
