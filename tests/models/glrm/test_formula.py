"""Formulas are expanded as R expands them."""

from __future__ import annotations

import pytest

from karat.models.glrm.formula import FormulaError, names_in, read_formula

# The labels that R's terms() gives.
EXPANDED = {
    "(a + b):(c + d)": "a:c a:d b:c b:d",
    "(a + b) * (c + d)": "a b c d a:c a:d b:c b:d",
    "(a + b + c)^2": "a b c a:b a:c b:c",
    "a * b * c": "a b c a:b a:c b:c a:b:c",
    "(a + b) / (c + d)": "a b a:b:c a:b:d",
    "a / b / c": "a a:b a:b:c",
    "b:a + a": "a b:a",
    "a * b - a": "b a:b",
    "a:b + b:a": "a:b",
    "a + b - b": "a",
    "1": "",
}


@pytest.mark.parametrize("text", EXPANDED)
def test_terms_are_those_of_r(text: str) -> None:
    assert " ".join(read_formula(f"y ~ {text}").fixed.labels()[1:]) == EXPANDED[text]


@pytest.mark.parametrize(
    ("text", "intercept"),
    [
        ("x", True),
        ("0 + x", False),
        ("x - 1", False),
        ("-1 + x", False),
        ("0 + x + 1", True),
        ("x - 0", True),
        ("0", False),
    ],
)
def test_the_intercept(text: str, intercept: bool) -> None:
    assert read_formula(f"y ~ {text} + (1 | g)").fixed.intercept is intercept


def test_random_terms_have_an_intercept_of_their_own() -> None:
    formula = read_formula("y ~ 0 + x + (x | g) + (0 + z || h)")
    assert not formula.fixed.intercept
    assert [part.effects.labels() for part in formula.random] == [("(Intercept)", "x"), ("z",)]
    assert [part.correlated for part in formula.random] == [True, False]
    assert list(formula.variables) == ["x", "z"]


def test_nested_groups() -> None:
    assert [part.group for part in read_formula("y ~ 1 + (1 | a/b)").random] == [("a",), ("a", "b")]
    assert [part.group for part in read_formula("y ~ 1 + (1 | a/b/c)").random] == [("a",), ("a", "b"), ("a", "b", "c")]
    assert [part.group for part in read_formula("y ~ 1 + (1 | a:b)").random] == [("a", "b")]


def test_functions_are_variables() -> None:
    formula = read_formula("log(rt) ~ I(x^2 - 1) * factor(block) + scale(log(length))")
    assert formula.response.label == "log(rt)"
    assert list(formula.variables) == ["I(x^2 - 1)", "factor(block)", "scale(log(length))"]
    assert [name.text for name in names_in(formula.variables["I(x^2 - 1)"].tree)] == ["x"]


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ("y ~ a + 1 | g", 11, "stand in brackets"),
        ("y ~ a * (1 | g)", 9, "not multiplied"),
        ("y ~ a - (1 | g)", 9, "not multiplied"),
        ("y ~ (1 + (1 | h) | g)", 10, "not multiplied"),
        ("y ~ tanh(x)", 5, 'no function "tanh"'),
        ("y ~ 2 + x", 5, "a number is the intercept"),
        ("y ~ (a + b)^c", 13, "whole number"),
        ("y ~ (1 | b + c)", 12, "columns joined by : or /"),
        ("y ~ x + (0 | g)", 12, "empty"),
        ("a + b ~ c", 3, "the response is one column"),
        ("y ~ log(a:b)", 10, "not arithmetic"),
        ("y ~ factor(a + b)", 5, "the name of a column"),
        ("y ~ a + (x ~ b)", 12, "one ~"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, position: int, what: str) -> None:
    with pytest.raises(FormulaError) as error:
        read_formula(text)
    assert str(error.value).startswith(f'At {position} of "{text}": ')
    assert what in str(error.value)
