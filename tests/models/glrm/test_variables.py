"""Columns become factors or numbers; levels have an order that can be said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from karat.models.glrm.syntax import FormulaError
from karat.models.glrm.variables import Factor, Numeric, as_factor, column, listed


def test_kinds() -> None:
    assert isinstance(column([1, 2], "x"), Numeric)
    assert isinstance(column([1.5, None], "x"), Numeric)
    assert isinstance(column(["1", "2"], "x"), Factor)
    assert isinstance(column([True, False], "x"), Factor)
    assert isinstance(column(["a", None, "b"], "x"), Factor)
    assert isinstance(column(pl.Series([1, None, 3]), "x"), Numeric)
    assert isinstance(column(pd.Series(["a", "b"]), "x"), Factor)


def test_levels_are_sorted_or_as_said() -> None:
    assert as_factor(["b", "a", "B"], "x").levels == ("B", "a", "b")
    assert as_factor([10, 9.0, 0.5], "x").levels == ("0.5", "9", "10")
    assert as_factor([True, False], "x").levels == ("False", "True")
    assert column(["low", "high"], "x", ["low", "high"]).levels == ("low", "high")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "values",
    [
        pd.Categorical(["lo", "hi", None], categories=["lo", "hi"]),
        pd.Series(pd.Categorical(["lo", "hi", None], categories=["lo", "hi"])),
        pl.Series(["lo", "hi", None], dtype=pl.Enum(["lo", "hi"])),
    ],
)
def test_categoricals_keep_their_order(values: object) -> None:
    factor = column(values, "x")
    assert isinstance(factor, Factor)
    assert factor.levels == ("lo", "hi")
    assert factor.codes.tolist() == [0, 1, -1]


def test_missing_values() -> None:
    assert column([1.0, np.nan, np.inf], "x").missing.tolist() == [False, True, True]
    assert column(np.array(["a", np.nan, None], dtype=object), "x").missing.tolist() == [False, True, True]
    assert as_factor([1.0, np.nan], "x").codes.tolist() == [0, -1]


def test_levels_without_rows_are_left_out() -> None:
    factor = Factor(np.array([2, 0, -1, 2]), ("a", "b", "c"))
    rest = factor.at(np.array([True, False, True, True]))
    assert (rest.levels, rest.codes.tolist()) == (("c",), [0, -1, 0])


def test_what_cannot_be() -> None:
    with pytest.raises(FormulaError, match='x has "c", which is not among its levels: "a", "b"'):
        as_factor(["a", "c"], "x", ["a", "b"])
    with pytest.raises(FormulaError, match="datetime64"):
        column(np.array(["2020-01-01"], dtype="datetime64[D]"), "day")
    with pytest.raises(FormulaError, match="one value a row"):
        column(np.zeros((2, 2)), "x")
    assert listed([str(k) for k in range(10)]).endswith("and 2 more")
