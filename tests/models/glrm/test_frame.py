"""The variables of a formula are looked up, and rows that lack one are left out and counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.models.glrm.formula import read_formula
from karat.models.glrm.frame import make_frame
from karat.models.glrm.syntax import FormulaError
from karat.models.glrm.variables import Factor, Numeric

DATA: dict[str, Any] = {
    "answer": [1.0, 2.0, 3.0, np.nan, 5.0], "difficulty": [1.0, 2.0, 0.0, 4.0, 3.0],
    "condition": ["a", None, "b", "a", "c"], "who": [1, 1, 2, 2, 3], "where": ["x", "y", "x", "x", "y"],
}  # fmt: skip


def frame(text: str, **more: Any) -> Any:
    return make_frame(read_formula(text), DATA | more)


def test_rows_that_lack_something_are_left_out_and_counted() -> None:
    made = frame("answer ~ condition + log(difficulty) + (1 | who)")
    assert made.kept.tolist() == [True, False, False, False, True]
    assert made.columns["condition"].levels == ("a", "c")
    assert made.groups["who",].levels == ("1", "3")
    assert made.notes == (
        "3 of 5 rows were left out: answer is missing in 1, condition is missing in 1, "
        "log(difficulty) is missing in 1.",
    )


def test_a_group_that_is_missing_counts_too() -> None:
    assert frame("answer ~ 1 + (1 | who)", who=[1, None, 2, 2, 3]).kept.tolist() == [True, False, True, False, True]


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


def test_scale_remembers_what_it_took() -> None:
    made = frame("answer ~ scale(difficulty)", answer=[1, 2, 3, 4, 5])
    column = made.columns["scale(difficulty)"]
    assert isinstance(column, Numeric)
    assert column.values.mean() == pytest.approx(0)
    assert column.values.std(ddof=1) == pytest.approx(1)
    assert made.scaling == {"scale(difficulty)": (2.0, pytest.approx(np.sqrt(2.5)))}


def test_factor_makes_a_factor_of_numbers() -> None:
    made = frame("answer ~ factor(who)")
    assert isinstance(made.columns["factor(who)"], Factor)
    assert made.raw["who"].levels == ("1", "2", "3")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "answer ~ dificulty",
            'At 10 of "answer ~ dificulty": there is no column "dificulty"; did you mean "difficulty"?',
        ),
        ("answer ~ 1 + (1 | whom)", 'there is no column "whom"; did you mean "who"?'),
        ("answer ~ zzzzzz", 'there is no column "zzzzzz"; there are "answer", "difficulty"'),
        ("answer ~ log(condition)", "At 14 .*condition is not a number"),
        ("answer ~ I(2)", "reads no column"),
        ("answer ~ log(factor(who))", "cannot stand within another function"),
    ],
)
def test_errors_name_the_place_and_the_nearest_name(text: str, what: str) -> None:
    with pytest.raises(FormulaError, match=what.replace("?", r"\?")):
        frame(text)


def test_columns_must_fit_together() -> None:
    with pytest.raises(FormulaError, match="not equally long: answer 5, condition 2"):
        frame("answer ~ condition", condition=["a", "b"])
    with pytest.raises(FormulaError, match="No row is left"):
        frame("answer ~ 1", answer=[np.nan] * 5)
    with pytest.raises(FormulaError, match='levels speaks of "x"'):
        make_frame(read_formula("answer ~ 1"), DATA, {"x": ["a"]})
