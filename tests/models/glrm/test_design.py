"""Codings span what they should; dependent columns are named with the cells that are empty."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm.design import code, coding_told, contrasts, make_design
from karat.models.glrm.formula import read_formula
from karat.models.glrm.syntax import FormulaError
from karat.models.glrm.variables import Column, Factor, Numeric

CELLS = np.array(list(product(range(3), range(2), range(2), range(3))))
COLUMNS: dict[str, Column] = {
    "a": Factor(CELLS[:, 0], ("u", "v", "w")), "b": Factor(CELLS[:, 1], ("no", "yes")),
    "c": Factor(CELLS[:, 2], ("x", "y")), "z": Numeric(np.array([0.3, 1.1, 2.9])[CELLS[:, 3]]),
}  # fmt: skip
TERMS = st.lists(
    st.sampled_from(["a", "b", "c", "z", "a:b", "a*c", "b*z", "a*z", "a*b*c", "a/b"]), min_size=1, max_size=4
)


@given(TERMS, st.booleans())
def test_both_codings_span_the_same(terms: list[str], intercept: bool) -> None:
    expansion = read_formula(f"y ~ {'' if intercept else '0 + '}{' + '.join(terms)}").fixed
    one, other = (make_design(expansion, COLUMNS, coding, len(CELLS)) for coding in ("sum", "treatment"))
    both = np.linalg.matrix_rank(np.hstack([one.matrix, other.matrix]))
    assert both == one.matrix.shape[1] == other.matrix.shape[1]
    full = code(expansion, COLUMNS, "sum", len(CELLS)).matrix
    np.testing.assert_allclose(full @ one.null, 0, atol=1e-9)
    assert one.null.shape[1] == full.shape[1] - one.matrix.shape[1]


def test_sums_are_orthogonal_to_the_mean_in_a_balanced_design() -> None:
    matrix = code(read_formula("y ~ a * b * c").fixed, COLUMNS, "sum", len(CELLS)).matrix
    np.testing.assert_allclose(matrix[:, 1:].sum(axis=0), 0, atol=1e-12)
    assert contrasts(4, "sum").sum() == 0


def test_a_factor_without_margin_has_a_column_for_every_level() -> None:
    names = code(read_formula("y ~ 0 + a + b").fixed, COLUMNS, "sum", len(CELLS)).names
    assert names == ("au", "av", "aw", "b1")
    names = code(read_formula("y ~ b + a:b").fixed, COLUMNS, "treatment", len(CELLS)).names
    assert names == ("(Intercept)", "byes", "bno:av", "byes:av", "bno:aw", "byes:aw")


def test_a_term_with_a_number_counts_as_a_margin_as_in_r() -> None:
    """Though it is none: with b:z before it, a:b has contrasts for a. R does the same."""
    names = code(read_formula("y ~ b:z + a:b").fixed, COLUMNS, "sum", len(CELLS)).names
    assert names == ("(Intercept)", "bno:z", "byes:z", "bno:a1", "byes:a1", "bno:a2", "byes:a2")


def test_empty_cells_are_named() -> None:
    some = ~((CELLS[:, 0] == 2) & (CELLS[:, 1] == 1))
    columns = {label: column.at(some) for label, column in COLUMNS.items()}
    design = make_design(read_formula("y ~ a * b + c").fixed, columns, "sum", int(some.sum()))
    assert "a2:b1" not in design.names
    assert design.notes == ("Left out, since other columns determine it: a2:b1. No row has a = w and b = yes.",)


def test_columns_that_repeat_others_are_named() -> None:
    columns: dict[str, Column] = {"x": COLUMNS["z"], "y": Numeric(2 * COLUMNS["z"].values + 1)}  # type: ignore[union-attr]
    design = make_design(read_formula("r ~ x + y").fixed, columns, "sum", len(CELLS))
    assert design.notes == ("Left out, since other columns determine it: y.",)


def test_a_factor_needs_two_levels() -> None:
    with pytest.raises(FormulaError, match='a has one level only, "u"'):
        code(read_formula("y ~ a").fixed, {"a": Factor(np.zeros(3, dtype=int), ("u",))}, "sum", 3)


def test_the_coding_is_told() -> None:
    expansion = read_formula("y ~ a * z").fixed
    assert coding_told(expansion, COLUMNS, "treatment") == "Factors are in treatment coding: a is compared with u."
    assert "a2 is v, less the mean" in coding_told(expansion, COLUMNS, "sum")
    assert coding_told(read_formula("y ~ z").fixed, COLUMNS, "sum") == ""
