"""Terms check what they are given and know what is nested in what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm.terms import RandomTerm, random_term, within


def test_a_term_prints_as_r_users_write_it() -> None:
    columns = np.column_stack([np.ones(4), [0, 1, 0, 1]])
    names = ("(Intercept)", "x")
    assert str(random_term("item", [0, 0, 1, 1], columns, names)) == "(1 + x | item)"
    assert str(random_term("item", [0, 0, 1, 1], columns, names, "diagonal")) == "(1 + x || item)"
    assert str(random_term("item", [0, 0, 1, 1], columns[:, 1:], ("x",), "diagonal")) == "(0 + x | item)"
    shared = random_term("item", [0, 0, 1, 1], np.eye(4), ("a", "b", "c", "d"), "shared")
    assert str(shared) == "(one variance for a, b, c, d | item)"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"codes": np.array([0.0, 1.0])}, "whole number"),
        ({"codes": np.array([0, 1, 1])}, "whole number"),
        ({"codes": np.array([0, 2])}, "between 0 and the number of its levels"),
        ({"codes": np.array([0, -1])}, "between 0 and the number of its levels"),
        ({"names": ()}, "1 columns and 0 names"),
        ({"columns": np.array([[1.0], [np.nan]])}, "missing values"),
        ({"columns": np.zeros((2, 1))}, "zero throughout"),
        ({"covariance": "banded"}, "not 'banded'"),
        ({"codes": np.array([0, 0]), "levels": np.array(["a"])}, "one level only"),
    ],
)
def test_what_does_not_belong_together_is_refused(change: dict[str, object], said: str) -> None:
    plain = {
        "group": "item", "codes": np.array([0, 1]), "levels": np.array(["a", "b"]), "columns": np.ones((2, 1)),
        "names": ("(Intercept)",),
    }  # fmt: skip
    RandomTerm(**plain)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=said):
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
