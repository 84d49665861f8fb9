"""Codings span what they should; dependent columns are named with the cells that are empty."""

from __future__ import annotations

from itertools import product
from typing import Any

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


@given(st.lists(st.sampled_from(["a", "b", "c", "a:b", "b:c", "a*c", "a*b*c", "a/b"]), min_size=1), st.booleans())
def test_factors_span_what_the_indicators_of_their_cells_span(terms: list[str], intercept: bool) -> None:
    expansion = read_formula(f"y ~ {'' if intercept else '0 + '}{' + '.join(terms)}").fixed
    cells = [CELLS[:, ["abc".index(label) for label in term]] for term in expansion.terms]
    told_apart = [np.unique(one, axis=0, return_inverse=True)[1].ravel() for one in cells]
    indicators = np.hstack([np.ones((len(CELLS), int(intercept))), *(np.eye(one.max() + 1)[one] for one in told_apart)])
    matrix = code(expansion, COLUMNS, "sum", len(CELLS)).matrix
    rank = np.linalg.matrix_rank
    assert rank(matrix) == rank(indicators) == rank(np.hstack([matrix, indicators]))


def test_columns_know_their_terms() -> None:
    design = make_design(read_formula("y ~ a * b").fixed, COLUMNS, "sum", len(CELLS))
    assert design.terms.tolist() == [0, 1, 1, 2, 3, 3]
    assert design.labels == ("(Intercept)", "a", "b", "a:b")
    assert design.notes == ()
    without = design.without_intercept()
    assert (without.terms.tolist(), without.names) == ([1, 1, 2, 3, 3], design.names[1:])
    assert without.matrix.tolist() == design.matrix[:, 1:].tolist()
    assert without.kept.tolist() == [1, 2, 3, 4, 5]
    assert without.labels == design.labels
    without = make_design(read_formula("y ~ 0 + a").fixed, COLUMNS, "sum", len(CELLS))
    assert (without.labels, without.terms.tolist()) == (("", "a"), [1, 1, 1])
    assert code(read_formula("y ~ 0").fixed, {}, "sum", 3).terms.dtype == np.int64


@pytest.mark.parametrize("coding", ["sum", "treatment"])
def test_rows_of_a_design_can_be_made_again(coding: Any) -> None:
    columns = COLUMNS | {"twice": Numeric(2 * COLUMNS["z"].values)}  # type: ignore[union-attr]
    design = make_design(read_formula("y ~ z + twice + a").fixed, columns, coding, len(CELLS))
    some = np.arange(len(CELLS)) % 5 == 0
    full, kept = design.rows({label: column.at(some) for label, column in columns.items()}, int(some.sum()))
    assert full.shape[1] == kept.shape[1] + 1 == 5
    assert kept.tolist() == design.matrix[some].tolist()


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_which_columns_depend_on_others_does_not_depend_on_their_units(unit: float) -> None:
    z = np.array([0.3, 1.1, 2.9, 7.1, 4.3])
    columns: dict[str, Column] = {
        "x": Numeric(z * unit), "y": Numeric((2 * z + 1) * unit), "w": Numeric(z**2 * unit), "nought": Numeric(0 * z),
    }  # fmt: skip
    design = make_design(read_formula("r ~ x + y + w + nought").fixed, columns, "sum", len(z))
    assert design.names == ("(Intercept)", "x", "w")
    assert design.notes == ("Left out, since other columns determine them: y, nought.",)
    full = design.rows(columns, len(z))[0]
    assert design.null.shape == (5, 2)
    sizes = np.abs(full).max(axis=0) + (np.abs(full).max(axis=0) == 0)
    assert np.linalg.matrix_rank(design.null * sizes[:, None]) == 2
    np.testing.assert_allclose(full @ design.null, 0, atol=1e-9)


def test_columns_that_are_all_but_dependent_have_a_direction_of_their_own_that_is_not_known() -> None:
    z = np.array([0.3, 1.1, 2.9, 7.1, 4.3])
    columns: dict[str, Column] = {"x": Numeric(z), "y": Numeric(2 * z + 1e-9 * z**2)}
    design = make_design(read_formula("r ~ x + y").fixed, columns, "sum", len(z))
    assert design.names == ("(Intercept)", "x")
    direction = design.null[:, 0] / design.null[2, 0]
    assert design.null.shape == (3, 1)
    np.testing.assert_allclose(direction, [0, -2, 1], atol=1e-6)


def test_nothing_may_be_left() -> None:
    design = make_design(read_formula("r ~ 0 + x").fixed, {"x": Numeric(np.zeros(4))}, "sum", 4)
    assert design.matrix.shape == (4, 0)
    assert np.abs(design.null).tolist() == [[1.0]]


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


def test_empty_cells_of_several_pairs_are_named_and_those_of_three_factors_where_their_pairs_are_full() -> None:
    empty = ((CELLS[:, 0] == 2) & (CELLS[:, 1] == 1)) | ((CELLS[:, 0] == 0) & (CELLS[:, 2] == 0))
    columns = {label: column.at(~empty) for label, column in COLUMNS.items()}
    rows = int((~empty).sum())
    told = "No row has a = w and b = yes; a = u and c = x."
    for formula in ("y ~ a * b + a * c", "y ~ a * b * c"):
        assert make_design(read_formula(formula).fixed, columns, "sum", rows).notes[0].endswith(told)
    some = ~((CELLS[:, :3] == [1, 0, 1]).all(axis=1))
    columns = {label: column.at(some) for label, column in COLUMNS.items()}
    design = make_design(read_formula("y ~ a * b * c").fixed, columns, "treatment", int(some.sum()))
    assert design.notes[0].endswith("No row has a = v and b = no and c = y.")


@pytest.mark.parametrize(("empty", "more"), [(8, ""), (9, " (and 1 more)"), (11, " (and 3 more)")])
def test_eight_empty_cells_are_named_and_the_others_counted(empty: int, more: str) -> None:
    cells = [cell for cell in product(range(4), repeat=2) if cell[0] != cell[1]][:empty]
    a, b = np.array([cell for cell in product(range(4), repeat=2) if cell not in cells]).T
    columns: dict[str, Column] = {"a": Factor(a, tuple("pqrs")), "b": Factor(b, tuple("wxyz"))}
    design = make_design(read_formula("y ~ a * b").fixed, columns, "sum", len(a))
    told = "; ".join(f"a = {'pqrs'[one]} and b = {'wxyz'[other]}" for one, other in cells[:8])
    assert design.notes[0].endswith(f". No row has {told}{more}.")


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
    expansion = read_formula("y ~ 0 + c + a + b").fixed
    assert coding_told(expansion, COLUMNS, "treatment") == (
        "Factors are in treatment coding: a is compared with u; b is compared with no."
    )
    assert coding_told(expansion, COLUMNS, "sum") == (
        "Factors are in sum-to-zero coding: a1 is u, less the mean; a2 is v, less the mean; b1 is no, less the mean."
    )
