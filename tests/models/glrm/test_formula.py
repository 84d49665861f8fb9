"""Formulas are read by R's precedence and expanded as R expands them; mistakes are named with their place."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.messages import message_of
from karat.models.glrm.formulas.formula import FormulaError, names_in, read_formula
from karat.models.glrm.formulas.syntax import Minus, Name, Number, Pair, parse, unparse
from messages import code_or_text, raises

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
        ("0 + x + a - a", False),
        ("x + a - (1 + a)", False),
        ("x - (0 + a)", True),
        ("-a + x", True),
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
    assert [part.group for part in read_formula("y ~ x + (1 | g) - x").random] == [("g",)]


def test_nested_groups() -> None:
    assert [part.group for part in read_formula("y ~ 1 + (1 | a/b)").random] == [("a",), ("a", "b")]
    assert [part.group for part in read_formula("y ~ 1 + (1 | a/b/c)").random] == [("a",), ("a", "b"), ("a", "b", "c")]
    assert [part.group for part in read_formula("y ~ 1 + (1 | a:b)").random] == [("a", "b")]


def test_functions_are_variables() -> None:
    formula = read_formula("log(rt) ~ I(x^2 - 1) * factor(block) + scale(log(length))")
    assert formula.response.label == "log(rt)"
    assert list(formula.variables) == ["I(x^2 - 1)", "factor(block)", "scale(log(length))"]
    assert [name.text for name in names_in(formula.variables["I(x^2 - 1)"].tree)] == ["x"]


@pytest.mark.parametrize("exponent", range(1, 10))
def test_a_power_has_all_terms_of_so_many_variables_at_most(exponent: int) -> None:
    names = [f"v{k}" for k in range(9)]
    expected = [term for size in range(1, exponent + 1) for term in combinations(names, size)]
    assert list(read_formula(f"y ~ ({' + '.join(names)})^{exponent}").fixed.terms) == expected


def test_brackets_change_nothing_by_themselves() -> None:
    text = "(log(rt)) ~ (a + ((1 | g)))"
    formula = read_formula(text)
    assert formula.response.label == "log(rt)"
    assert formula.fixed.labels() == ("(Intercept)", "a")
    assert [(part.group, part.position) for part in formula.random] == [(("g",), 1 + text.index("|"))]
    assert [part.group for part in read_formula("y ~ (1 | (a/b))").random] == [("a",), ("a", "b")]
    assert [part.group for part in read_formula("y ~ (1 | factor(a):b)").random] == [("a", "b")]


def test_numbered_functions_are_different_variables() -> None:
    assert list(read_formula("y ~ I(x - 1234567) + I(x - 1234568)").variables) == ["I(x - 1234567)", "I(x - 1234568)"]


@pytest.mark.parametrize("response", ["-1000 / rt", "a + b", "rt^2", "ordered(rating)"])
def test_a_response_may_be_arithmetic(response: str) -> None:
    assert read_formula(f"{response} ~ x").response.label == response


def test_a_formula_prints_as_it_was_written() -> None:
    assert str(read_formula("y ~ a  *b")) == "y ~ a  *b"


RESPONSE = "formula.response"
MULTIPLIED = "formula.random_product"
IN_BRACKETS = "formula.bare_bar"
POWER = "formula.power"
GROUP = "formula.group"
FUNCTION = "formula.no_function"


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ("y ~ a + 1 | g", 11, IN_BRACKETS),
        ("y ~ a + 1 || g", 11, IN_BRACKETS),
        ("y ~ a * (1 | g)", 9, MULTIPLIED),
        ("y ~ a - (1 | g)", 9, MULTIPLIED),
        ("y ~ (1 + (1 | h) | g)", 10, MULTIPLIED),
        ("y ~ tanh(x)", 5, FUNCTION),
        ("y ~ log((tanh(x)))", 10, FUNCTION),
        ("y ~ I(-tanh(x))", 8, FUNCTION),
        ("y ~ I(tanh(x) + 1)", 7, FUNCTION),
        ("y ~ I(1 + tanh(x))", 11, FUNCTION),
        ("y ~ 2 + x", 5, "formula.number"),
        ("y ~ (a + b)^c", 13, POWER),
        ("y ~ (a + b)^0", 13, POWER),
        ("y ~ (a + b)^10", 13, POWER),
        ("y ~ (a + b)^1.5", 13, POWER),
        ("y ~ (a + b)^1e999", 13, POWER),
        ("y ~ (1 | b + c)", 12, GROUP),
        ("y ~ (1 | log(b))", 10, GROUP),
        ("y ~ x + (0 | g)", 12, "formula.empty_random"),
        ("1 ~ c", 1, RESPONSE),
        ("poly(a, 2) ~ c", 1, RESPONSE),
        ("a:b ~ c", 2, "formula.arithmetic"),
        ("cbind(a, b) ~ c", 1, "formula.counts"),
        ("log(ordered(a)) ~ c", 5, "formula.ordered"),
        ("y ~ ordered(a)", 5, "formula.ordered"),
        ("y ~ as.numeric(a + b)", 5, "formula.as_numeric"),
        ("y ~ log(a, 2)", 12, "formula.one_argument"),
        ("y ~ scale(a, 2)", 14, "formula.scale"),
        ("y ~ scale(a, center = FALSE)", 14, "formula.scale"),
        ("y ~ poly(a)", 5, "formula.poly"),
        ("y ~ poly(a, 10)", 5, "formula.poly"),
        ("y ~ poly(a, 1.5)", 5, "formula.poly"),
        ("y ~ poly(a, 2, raw = TRUE)", 5, "formula.poly"),
        ("y ~ log(a:b)", 10, "formula.arithmetic"),
        ("y ~ factor(a + b)", 5, "formula.factor"),
        ("y ~ a + (x ~ b)", 12, "formula.several_tildes"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, position: int, what: str) -> None:
    with raises(FormulaError, "formula.at") as error:
        read_formula(text)
    values = message_of(error.value).values
    assert (values["formula"], values["position"], values["problem"].code) == (text, position, what)


def test_precedence() -> None:
    tree = parse("y ~ a + b * c:d^2").right
    assert isinstance(tree, Pair)
    assert (tree.operator, unparse(tree.right)) == ("+", "b * c:d^2")
    product = tree.right
    assert isinstance(product, Pair)
    assert (product.operator, unparse(product.right)) == ("*", "c:d^2")


def test_leading_minus_binds_between_power_and_colon() -> None:
    tree = parse("y ~ -a^2:b").right
    assert isinstance(tree, Pair)
    assert tree.operator == ":"
    assert isinstance(tree.left, Minus)
    power = parse("y ~ a ** 2").right
    assert isinstance(power, Pair)
    assert power.operator == "^"


def test_powers_are_read_from_the_right() -> None:
    tree = parse("y ~ a^b^c").right
    assert isinstance(tree, Pair)
    assert (unparse(tree.left), unparse(tree.right)) == ("a", "b^c")


def test_a_leading_plus_changes_nothing() -> None:
    assert parse("y ~ +a").right == Name("a", 6)


@pytest.mark.parametrize(
    "text",
    [
        "y ~ -(a + b):c", "y ~ (1 || g)", "y ~ I(x^2 - 1.5)", "y ~ I(x - 1234567.5)", "y ~ poly(x, 2)",
        "y ~ scale(x, center = TRUE, scale = FALSE)",
    ],
)  # fmt: skip
def test_a_tree_is_written_as_it_was_read(text: str) -> None:
    assert unparse(parse(text)) == text


def test_names() -> None:
    assert parse("`the answer` ~ first.name_2").left == Name("the answer", 1)
    assert parse("y ~ 0.5").right == Number(0.5, 5)
    assert unparse(parse("y ~ größe").right) == "größe"


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ("y ~ a + ", 8, "formula.ends"),
        ("y ~ (a + b", 5, "formula.open_bracket"),
        ("y ~ a $ b", 7, "formula.no_meaning"),
        ("y ~ a b", 7, "formula.no_operator"),
        ("y ~ a `b`", 7, "formula.no_operator"),
        ("y = a", 3, "formula.unexpected"),
        ("y ~ (a, b)", 7, "formula.unexpected"),
        ("y ~ log(base = a)", 14, "formula.unexpected"),
        ("y ~ I(a >= 2)", 9, "formula.comparison"),
        ("y ~ I(a == 2)", 9, "formula.comparison"),
        ("y ~ a + * b", 9, "formula.no_name"),
        ("~ a", 1, "formula.no_response"),
        ("y + a", 1, "formula.no_response"),
    ],
)
def test_mistakes_are_named_with_their_place(text: str, position: int, what: str) -> None:
    with raises(FormulaError, "formula.at") as error:
        parse(text)
    values = message_of(error.value).values
    assert (values["formula"], values["position"], values["problem"].code) == (text, position, what)


@given(st.text(alphabet="ab~+-*/:^|()1 0.`,$=<", max_size=25))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        tree = parse(text)
    except FormulaError as error:
        assert code_or_text(error) == "formula.at"  # noqa: PT017
    else:
        assert parse(unparse(tree).replace("`", "")).operator == "~"
