"""Columns become factors or numbers; levels have an order that can be said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from karat.messages import message_of
from karat.models.glrm.formulas.frame import FactorVariable, Numeric, as_factor, column, listed
from karat.models.glrm.formulas.syntax import FormulaError
from messages import raises


def test_kinds() -> None:
    assert isinstance(column([1, 2], "x"), Numeric)
    assert isinstance(column([1.5, None], "x"), Numeric)
    assert isinstance(column(["1", "2"], "x"), FactorVariable)
    assert isinstance(column([True, False], "x"), FactorVariable)
    assert isinstance(column(["a", None, "b"], "x"), FactorVariable)
    assert isinstance(column(pl.Series([1, None, 3]), "x"), Numeric)
    assert isinstance(column(pd.Series(["a", "b"]), "x"), FactorVariable)


def test_numbers_with_an_order_of_their_own_are_a_factor() -> None:
    factor = column(pd.Categorical([2, 1, 2], categories=[2, 1]), "x")
    assert isinstance(factor, FactorVariable)
    assert (factor.levels, factor.codes.tolist()) == (("2", "1"), [0, 1, 0])


def test_levels_sort_by_size_or_by_name() -> None:
    assert as_factor([10, None, 9, 2.5], "x").levels == ("2.5", "9", "10")
    assert as_factor(np.array(["b", 10, 2, None], dtype=object), "x").levels == ("10", "2", "b")
    assert as_factor([True, None, False], "x").codes.tolist() == [1, -1, 0]


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
    assert isinstance(factor, FactorVariable)
    assert factor.levels == ("lo", "hi")
    assert factor.codes.tolist() == [0, 1, -1]


def test_missing_values() -> None:
    assert column([1.0, np.nan, np.inf], "x").missing.tolist() == [False, True, True]
    assert column(np.array(["a", np.nan, None], dtype=object), "x").missing.tolist() == [False, True, True]
    assert as_factor([1.0, np.nan], "x").codes.tolist() == [0, -1]


def test_levels_without_rows_are_left_out() -> None:
    factor = FactorVariable(np.array([2, 0, -1, 2]), ("a", "b", "c"))
    rest = factor.at(np.array([True, False, True, True]))
    assert (rest.levels, rest.codes.tolist()) == (("c",), [0, -1, 0])
    assert Numeric(np.array([1.0, 2.0, 3.0])).at(np.array([True, False, True])).values.tolist() == [1.0, 3.0]


def test_what_cannot_be() -> None:
    for read in (as_factor, column):
        with raises(FormulaError, "frame.unknown_levels") as error:
            read(["a", "c"], "x", ["a", "b"])
        expected = {"column": "x", "unknown": listed(["c"]), "levels": listed(["a", "b"])}
        assert message_of(error.value).values == expected
    with raises(FormulaError, "frame.type") as error:
        column(np.array(["2020-01-01"], dtype="datetime64[D]"), "day")
    assert message_of(error.value).values == {"column": "day", "type": "datetime64[D]"}
    with raises(FormulaError, "frame.shape") as error:
        column(np.zeros((2, 2)), "x")
    assert message_of(error.value).values == {"column": "x", "shape": "(2, 2)"}


def test_the_first_eight_names_are_listed() -> None:
    names = [str(k) for k in range(10)]
    for known, more in ((names[:8], None), (names, 2)):
        values = listed(known).values
        assert [name.values["name"] for name in values["names"]] == names[:8]
        assert values["more"] == more
