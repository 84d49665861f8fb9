"""Terms check what they are given and know what is nested in what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm.mixed.terms import RandomTerm, random_term, within
from messages import raises

ROWS = "The term of item needs a whole number (its level) and a row of columns for every answer."
CODES = "The codes of item must lie between 0 and the number of its levels minus one."
NAMED = "it needs a name for each of at least one column."
ZERO = "A column of the term of item is zero throughout. Leave it out."


def test_a_term_prints_as_r_users_write_it() -> None:
    columns = np.column_stack([np.ones(4), [0, 1, 0, 1]])
    names = ("(Intercept)", "x")
    assert str(random_term("item", [0, 0, 1, 1], columns, names)) == "(1 + x | item)"
    assert str(random_term("item", [0, 0, 1, 1], columns, names, "diagonal")) == "(1 + x || item)"
    assert str(random_term("item", [0, 0, 1, 1], columns[:, 1:], ("x",), "diagonal")) == "(0 + x | item)"
    shared = random_term("item", [0, 0, 1, 1], np.eye(4), ("a", "b", "c", "d"), "shared")
    assert str(shared) == "(one variance for a, b, c, d | item)"
    assert str(random_term("item", [0, 0, 1, 1], columns, ("a", "b"), "shared")) == "(one variance for a, b | item)"
    assert str(random_term("item", [0, 0, 1, 1], columns[:, :1], names[:1], "shared")) == "(1 | item)"


def test_a_term_can_be_left_with_some_of_its_columns() -> None:
    columns = np.array([[1, 2, 3], [1, 5, 6], [1, 8, 9]])
    term = random_term("item", ["b", "a", "b"], columns, ("(Intercept)", "x", "z"))
    rest = term.only([0, 2], "diagonal")
    assert str(rest) == "(1 + z || item)"
    assert rest.columns.tolist() == [[1.0, 3.0], [1.0, 6.0], [1.0, 9.0]]
    assert (rest.codes.tolist(), rest.levels.tolist()) == ([1, 0, 1], ["a", "b"])
    assert term.columns.dtype == np.float64


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"codes": np.array([0.0, 1.0])}, ROWS),
        ({"codes": np.array([0, 1, 1])}, ROWS),
        ({"codes": np.array([[0, 1]])}, ROWS),
        ({"columns": np.ones(2)}, ROWS),
        ({"codes": np.array([0, 2])}, CODES),
        ({"codes": np.array([0, -1])}, CODES),
        ({"names": ()}, f"The term of item has 1 columns and 0 names; {NAMED}"),
        ({"names": (), "columns": np.ones((2, 0))}, f"The term of item has 0 columns and 0 names; {NAMED}"),
        (
            {"columns": np.array([[1.0], [np.nan]])},
            "The columns of the term of item have missing values. Leave those rows out.",
        ),
        ({"columns": np.zeros((2, 1))}, ZERO),
        ({"columns": np.eye(2) * [1, 0], "names": ("a", "b")}, ZERO),
        ({"covariance": "banded"}, 'The covariance of a term is "full", "diagonal" or "shared", not \'banded\'.'),
        (
            {"codes": np.array([0, 0]), "levels": np.array(["a"])},
            "models.one_level",
        ),
    ],
)
def test_what_does_not_belong_together_is_refused(change: dict[str, object], said: str) -> None:
    plain = {
        "group": "item", "codes": np.array([0, 1]), "levels": np.array(["a", "b"]), "columns": np.ones((2, 1)),
        "names": ("(Intercept)",),
    }  # fmt: skip
    RandomTerm(**plain)  # type: ignore[arg-type]
    with raises(ValueError, said):
        RandomTerm(**{**plain, **change})  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40))
def test_nested_levels_are_numbered_within_the_outer_one(pairs: list[tuple[int, int]]) -> None:
    outer, inside = np.array(pairs).T
    inner = outer * 4 + inside
    number = within(inner, outer)
    assert number is not None
    for level in np.unique(outer):
        here = outer == level
        found = np.unique(np.column_stack([inner[here], number[here]]), axis=0)
        assert len(found) == len(np.unique(inner[here]))
        assert sorted(found[:, 1]) == list(range(len(found)))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_crossed_levels_are_not_nested(pairs: list[tuple[int, int]]) -> None:
    inner, outer = np.array(pairs).T
    crossed = any(len({b for a, b in pairs if a == level}) > 1 for level, _ in pairs)
    assert (within(inner, outer) is None) == crossed
