"""Columns of a formula become factors or numbers; rows that lack one are left out and counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from karat.messages import Message, message_of
from karat.models.glrm.formulas.formula import read_formula
from karat.models.glrm.formulas.frame import (
    FactorVariable,
    Numeric,
    as_factor,
    column,
    evaluate,
    group_factor,
    listed,
    make_frame,
)
from karat.models.glrm.formulas.syntax import FormulaError
from messages import raises

DATA: dict[str, Any] = {
    "answer": [1.0, 2.0, 3.0, np.nan, 5.0], "difficulty": [1.0, 2.0, 0.0, 4.0, 3.0],
    "condition": ["a", None, "b", "a", "c"], "who": [1, 1, 2, 2, 3], "where": ["x", "y", "x", "x", "y"],
}  # fmt: skip


def frame(text: str, **more: Any) -> Any:
    return make_frame(read_formula(text), DATA | more)


def test_rows_that_lack_something_are_left_out_and_counted() -> None:
    made = frame("answer ~ condition + log(difficulty) + (1 | who)")
    assert made.complete.tolist() == [True, False, False, False, True]
    assert made.columns["condition"].levels == ("a", "c")
    assert made.groups["who",].levels == ("1", "3")
    assert made.notes == (left_out(3, answer=1, condition=1, **{"log(difficulty)": 1}),)


def test_a_group_that_is_missing_counts_too() -> None:
    assert frame("answer ~ 1 + (1 | who)", who=[1, None, 2, 2, 3]).complete.tolist() == [True, False, True, False, True]


def test_nested_groups_are_pairs() -> None:
    made = frame("answer ~ 1 + (1 | who:where)", answer=[1, 2, 3, 4, 5])
    assert made.groups["who", "where"].levels == ("1:x", "1:y", "2:x", "3:y")
    assert made.groups["who", "where"].codes.tolist() == [0, 1, 2, 2, 3]


def test_arithmetic() -> None:
    made = frame("answer ~ I((difficulty + 1)^2 / 2 - -1) + sqrt(abs(difficulty - 3))", answer=[1, 2, 3, 4, 5])
    first, second = made.columns.values()
    difficulty = np.array(DATA["difficulty"])
    np.testing.assert_allclose(first.values, (difficulty + 1) ** 2 / 2 + 1)
    np.testing.assert_allclose(second.values, np.sqrt(abs(difficulty - 3)))


def test_scale_without_division() -> None:
    made = frame("answer ~ scale(difficulty, scale = FALSE)", answer=[1, 2, 3, 4, 5])
    assert made.columns["scale(difficulty, scale = FALSE)"].values.tolist() == [-1.0, 0.0, -2.0, 2.0, 1.0]


def test_polynomials_are_those_of_r() -> None:
    """poly(c(1, 2, 0, 4, 3.5), 2) and predict(poly(c(1, 2, 0, 4, 3.5), 2), c(5, -1)) in R."""
    made = frame("answer ~ poly(difficulty, 2)", answer=[1, 2, 3, 4, 5], difficulty=[1, 2, 0, 4, 3.5])
    column = made.columns["poly(difficulty, 2)"]
    expected = [
        [-0.32868786757, -0.31742955818], [-0.02988071523, -0.63045910269], [-0.62749501990, 0.55880173708],
        [0.56773358943, 0.43308706057], [0.41833001327, -0.04400013678],
    ]  # fmt: skip
    np.testing.assert_allclose(column.values, expected, rtol=1e-7)
    again = evaluate(
        read_formula("answer ~ poly(difficulty, 2)").variables["poly(difficulty, 2)"],
        {"difficulty": [5, -1, np.nan]}, {}, made.scaling,
    )  # fmt: skip
    assert isinstance(again, Numeric)
    np.testing.assert_allclose(again.values[:2], [[0.8665407418, 1.809662768], [-0.9263021722, 1.998234783]])
    assert again.missing.tolist() == [False, False, True]
    with raises(FormulaError, "formula.at"):
        frame("answer ~ poly(difficulty, 2)", answer=[1, 2, 3, 4, 5], difficulty=[1, 2, 1, 2, 1])


def test_numbers_that_were_read_as_text() -> None:
    made = frame("answer ~ as.numeric(size)", answer=[1, 2, 3, 4, 5], size=["1", "2.5", "1", None, "10"])
    assert made.columns["as.numeric(size)"].values.tolist() == [1.0, 2.5, 1.0, 10.0]
    assert made.raw["size"].values.tolist() == [1.0, 2.5, 1.0, 10.0]
    with raises(FormulaError, "formula.at"):
        frame("answer ~ as.numeric(where)", answer=[1, 2, 3, 4, 5])


def test_scale_remembers_what_it_took() -> None:
    made = frame("answer ~ scale(difficulty)", answer=[1, 2, 3, 4, 5])
    column = made.columns["scale(difficulty)"]
    assert isinstance(column, Numeric)
    assert column.values.mean() == pytest.approx(0)
    assert column.values.std(ddof=1) == pytest.approx(1)
    assert made.scaling == {"scale(difficulty)": (2.0, pytest.approx(np.sqrt(2.5)))}


def test_factor_makes_a_factor_of_numbers() -> None:
    made = frame("answer ~ factor(who)")
    assert isinstance(made.columns["factor(who)"], FactorVariable)
    assert made.raw["who"].levels == ("1", "2", "3")


def test_order_of_levels_applies_to_factors_and_groups() -> None:
    orders = {"condition": ["c", "b", "a"], "factor(who)": [3, 1, 2], "who": [2, 1, 3], "where": ["y", "x"]}
    made = make_frame(
        read_formula("answer ~ condition + factor(who) + factor(where) + (1 | who)"), DATA | {"answer": [1] * 5}, orders
    )
    levels = {label: column.levels for label, column in made.columns.items() if isinstance(column, FactorVariable)}
    assert levels == {"condition": ("c", "b", "a"), "factor(who)": ("3", "1", "2"), "factor(where)": ("y", "x")}
    assert made.groups["who",].levels == ("2", "1", "3")
    # Marginal means are made from these: their levels are those that were fitted.
    assert {name: column.levels for name, column in made.raw.items() if isinstance(column, FactorVariable)} == {
        "condition": ("c", "b", "a"), "who": ("3", "1", "2"), "where": ("y", "x")
    }  # fmt: skip


def test_columns_before_functions_keep_their_rows() -> None:
    made = make_frame(read_formula("answer ~ log(difficulty) + condition"), DATA, {"difficulty": [4, 3, 2, 1, 0]})
    assert made.response.values.tolist() == [1.0, 5.0]
    assert made.columns["log(difficulty)"].values.tolist() == [0.0, np.log(3.0)]
    assert list(made.raw) == ["difficulty", "condition"]
    difficulty, condition = made.raw.values()
    assert isinstance(difficulty, Numeric)
    assert difficulty.values.tolist() == [1.0, 3.0]
    assert condition.levels == ("a", "c")


def test_the_response_may_be_scaled() -> None:
    made = frame("scale(difficulty) ~ 1")
    np.testing.assert_allclose(made.response.values, (np.array(DATA["difficulty"]) - 2) / np.sqrt(2.5))


def test_scales_may_stand_within_other_functions() -> None:
    made = frame("answer ~ I(-(scale(difficulty))) + abs(scale(scale(difficulty) * 3))", answer=[1] * 5)
    one, other = made.columns.values()
    expected = (np.array(DATA["difficulty"]) - 2) / np.sqrt(2.5)
    np.testing.assert_allclose(one.values, -expected)
    np.testing.assert_allclose(other.values, abs(expected), atol=1e-12)
    assert list(made.scaling) == ["scale(difficulty)", "scale(scale(difficulty) * 3)"]


def test_scales_that_are_known_are_used_for_other_data() -> None:
    variable = read_formula("y ~ scale(x)").variables["scale(x)"]
    one = evaluate(variable, {"x": [5.0]}, {}, {"scale(x)": (2.0, 4.0)})
    assert isinstance(one, Numeric)
    assert one.values.tolist() == [0.75]
    alone = evaluate(variable, {"x": [5.0, np.nan]}, {}, {})
    assert alone.missing.all()
    two = evaluate(variable, {"x": [5.0, np.nan, 7.0]}, {}, {})
    assert isinstance(two, Numeric)
    assert two.values[[0, 2]] == pytest.approx([-np.sqrt(0.5), np.sqrt(0.5)])


def test_powers_are_taken_from_the_right() -> None:
    made = frame("answer ~ I(2^difficulty^2 * 3)", answer=[1] * 5)
    expected = [3.0 * 2 ** (value**2) for value in DATA["difficulty"]]
    assert next(iter(made.columns.values())).values.tolist() == expected


def test_a_pair_of_groups_lacks_what_one_of_them_lacks() -> None:
    made = frame("difficulty ~ 1 + (1 | who:where)", who=[1, None, 2, 2, 3], where=["x", "y", "x", None, "y"])
    assert made.complete.tolist() == [True, False, True, False, True]
    assert made.notes == (left_out(2, **{"who:where": 2}),)
    assert made.groups["who", "where"].levels == ("1:x", "2:x", "3:y")
    part = read_formula("y ~ 1 + (1 | who:where)").random[0]
    group = group_factor(part, "", {"who": [2, None, 1, 1], "where": ["x", "y", None, "x"]}, {})
    assert (group.codes.tolist(), group.levels) == ([1, -1, -1, 0], ("1:x", "2:x"))


def left_out(n: int, **missing: int) -> Message:
    causes = [Message("frame.missing", {"column": name, "n": number}) for name, number in missing.items()]
    return Message("frame.left_out", {"n": n, "rows": 5, "causes": causes})


NO_NUMBER = ("formula.not_numeric", "condition")


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ("answer ~ dificulty", 10, ("formula.no_column_close", "dificulty", "difficulty")),
        ("answer ~ factor(whim)", 17, ("formula.no_column_close", "whim", "who")),
        ("answer ~ log(dificulty)", 14, ("formula.no_column_close", "dificulty", "difficulty")),
        ("answer ~ 1 + (1 | whos)", 17, ("formula.no_column_close", "whos", "who")),
        ("answer ~ zzzzzz", 10, ("formula.no_column", "zzzzzz", listed([*DATA]))),
        ("answer ~ log(condition)", 14, NO_NUMBER),
        ("answer ~ I((condition))", 13, NO_NUMBER),
        ("answer ~ scale(-condition)", 17, NO_NUMBER),
        ("answer ~ I(1 + condition)", 16, NO_NUMBER),
        ("answer ~ I(2)", 10, ("formula.no_column_read", "I(2)")),
        ("answer ~ log(factor(who))", 14, ("formula.nested", "factor")),
    ],
)
def test_errors_name_the_place_and_the_nearest_name(text: str, position: int, what: tuple[str, ...]) -> None:
    with raises(FormulaError, "formula.at") as error:
        frame(text)
    values = message_of(error.value).values
    assert (values["formula"], values["position"]) == (text, position)
    assert (values["problem"].code, *values["problem"].values.values()) == what


@pytest.mark.parametrize(
    "text", ["{} ~ 1", "answer ~ {}", "answer ~ factor({})", "answer ~ log({})", "answer ~ (1 | {})"]
)
def test_columns_that_are_no_text_and_no_numbers_are_named(text: str) -> None:
    with raises(FormulaError, "frame.type", column="day", type="datetime64[D]"):
        frame(text.format("day"), day=np.array(["2020-01-01"] * 5, dtype="datetime64[D]"))


def test_columns_must_fit_together() -> None:
    with raises(FormulaError, "frame.lengths", columns=["answer 5", "condition 2"]):
        frame("answer ~ condition", condition=["a", "b"])
    with raises(FormulaError, "frame.lengths", columns=["difficulty 5", "one 1"]):
        frame("answer ~ I(difficulty + one)", one=[1.0])
    with raises(FormulaError, "frame.no_rows", why=left_out(5, answer=5)):
        frame("answer ~ 1", answer=[np.nan] * 5)
    with raises(FormulaError, "frame.no_rows") as error:
        make_frame(read_formula("log(answer) ~ 1"), {"answer": []})
    assert message_of(error.value).values["why"] is None
    with raises(FormulaError, "frame.unknown_column", column="x"):
        make_frame(read_formula("answer ~ 1"), DATA, {"x": ["a"]})


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
    with raises(FormulaError, "frame.type", column="day", type="datetime64[D]"):
        column(np.array(["2020-01-01"], dtype="datetime64[D]"), "day")
    with raises(FormulaError, "frame.shape", column="x", shape="(2, 2)"):
        column(np.zeros((2, 2)), "x")


def test_the_first_eight_names_are_listed() -> None:
    names = [str(k) for k in range(10)]
    for known, more in ((names[:8], None), (names, 2)):
        values = listed(known).values
        assert [name.values["name"] for name in values["names"]] == names[:8]
        assert values["more"] == more
