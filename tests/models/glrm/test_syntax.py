"""Formulas are read by R's precedence, and what is wrong is named with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.messages import message_of
from karat.models.glrm.formulas.syntax import FormulaError, Minus, Name, Number, Pair, parse, written
from messages import code_or_text, raises


def test_precedence() -> None:
    tree = parse("y ~ a + b * c:d^2").right
    assert isinstance(tree, Pair)
    assert (tree.operator, written(tree.right)) == ("+", "b * c:d^2")
    product = tree.right
    assert isinstance(product, Pair)
    assert (product.operator, written(product.right)) == ("*", "c:d^2")


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
    assert (written(tree.left), written(tree.right)) == ("a", "b^c")


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
    assert written(parse(text)) == text


def test_names() -> None:
    assert parse("`the answer` ~ first.name_2").left == Name("the answer", 1)
    assert parse("y ~ 0.5").right == Number(0.5, 5)
    assert written(parse("y ~ größe").right) == "größe"


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
def test_what_is_wrong_is_named_with_its_place(text: str, position: int, what: str) -> None:
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
        assert parse(written(tree).replace("`", "")).operator == "~"
