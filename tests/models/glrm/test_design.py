"""Codings span what they should; dependent columns are named with the cells that are empty."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.messages import Message
from karat.models.glrm.formulas.design import DesignMatrix, code, coding_note, contrasts, make_design
from karat.models.glrm.formulas.formula import read_formula
from karat.models.glrm.formulas.frame import Column, FactorVariable, Numeric
from karat.models.glrm.formulas.syntax import FormulaError
from messages import raises

CELLS = np.array(list(product(range(3), range(2), range(2), range(3))))
COLUMNS: dict[str, Column] = {
    "a": FactorVariable(CELLS[:, 0], ("u", "v", "w")), "b": FactorVariable(CELLS[:, 1], ("no", "yes")),
    "c": FactorVariable(CELLS[:, 2], ("x", "y")), "z": Numeric(np.array([0.3, 1.1, 2.9])[CELLS[:, 3]]),
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
    assert without.independent.tolist() == [1, 2, 3, 4, 5]
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
def test_dependent_columns_do_not_depend_on_units(unit: float) -> None:
    z = np.array([0.3, 1.1, 2.9, 7.1, 4.3])
    columns: dict[str, Column] = {
        "x": Numeric(z * unit), "y": Numeric((2 * z + 1) * unit), "w": Numeric(z**2 * unit), "nought": Numeric(0 * z),
    }  # fmt: skip
    design = make_design(read_formula("r ~ x + y + w + nought").fixed, columns, "sum", len(z))
    assert design.names == ("(Intercept)", "x", "w")
    assert design.notes == (Message("design.dropped", {"n": 2, "columns": ["y", "nought"], "empty": None}),)
    full = design.rows(columns, len(z))[0]
    assert design.null.shape == (5, 2)
    sizes = np.abs(full).max(axis=0) + (np.abs(full).max(axis=0) == 0)
    assert np.linalg.matrix_rank(design.null * sizes[:, None]) == 2
    np.testing.assert_allclose(full @ design.null, 0, atol=1e-9)


def test_nearly_dependent_columns_leave_a_direction_unknown() -> None:
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
    (note,) = design.notes
    assert (note.code, note.values["columns"], empty_cells(design)) == (
        "design.dropped", ["a2:b1"], [["a = w", "b = yes"]]
    )  # fmt: skip


def test_empty_cells_are_named_of_pairs_then_triples() -> None:
    empty = ((CELLS[:, 0] == 2) & (CELLS[:, 1] == 1)) | ((CELLS[:, 0] == 0) & (CELLS[:, 2] == 0))
    columns = {label: column.at(~empty) for label, column in COLUMNS.items()}
    rows = int((~empty).sum())
    for formula in ("y ~ a * b + a * c", "y ~ a * b * c"):
        design = make_design(read_formula(formula).fixed, columns, "sum", rows)
        assert empty_cells(design) == [["a = w", "b = yes"], ["a = u", "c = x"]]
    some = ~((CELLS[:, :3] == [1, 0, 1]).all(axis=1))
    columns = {label: column.at(some) for label, column in COLUMNS.items()}
    design = make_design(read_formula("y ~ a * b * c").fixed, columns, "treatment", int(some.sum()))
    assert empty_cells(design) == [["a = v", "b = no", "c = y"]]


@pytest.mark.parametrize(("empty", "more"), [(8, None), (9, 1), (11, 3)])
def test_eight_empty_cells_are_named_and_the_others_counted(empty: int, more: int | None) -> None:
    cells = [cell for cell in product(range(4), repeat=2) if cell[0] != cell[1]][:empty]
    a, b = np.array([cell for cell in product(range(4), repeat=2) if cell not in cells]).T
    columns: dict[str, Column] = {"a": FactorVariable(a, tuple("pqrs")), "b": FactorVariable(b, tuple("wxyz"))}
    design = make_design(read_formula("y ~ a * b").fixed, columns, "sum", len(a))
    assert empty_cells(design) == [[f"a = {'pqrs'[one]}", f"b = {'wxyz'[other]}"] for one, other in cells[:8]]
    assert design.notes[0].values["empty"].values["more"] == more


def test_columns_that_repeat_others_are_named() -> None:
    columns: dict[str, Column] = {"x": COLUMNS["z"], "y": Numeric(2 * COLUMNS["z"].values + 1)}  # type: ignore[union-attr]
    design = make_design(read_formula("r ~ x + y").fixed, columns, "sum", len(CELLS))
    assert design.notes == (Message("design.dropped", {"n": 1, "columns": ["y"], "empty": None}),)


def test_a_factor_needs_two_levels() -> None:
    with raises(FormulaError, "design.one_level"):
        code(read_formula("y ~ a").fixed, {"a": FactorVariable(np.zeros(3, dtype=int), ("u",))}, "sum", 3)


def empty_cells(design: DesignMatrix) -> list[list[str]]:
    """The levels of the cells that the note on left-out columns names."""
    return [cell.values["levels"] for cell in design.notes[0].values["empty"].values["cells"]]


def coded(expansion: Any, coding: Any) -> tuple[str, list[Any]]:
    note = coding_note(expansion, COLUMNS, coding)
    assert note is not None
    return note.code, [column.values for column in note.values["columns"]]


def test_the_coding_is_a_note() -> None:
    expansion = read_formula("y ~ a * z").fixed
    assert coded(expansion, "treatment") == ("design.treatment_coding", [{"factor": "a", "level": "u"}])
    assert coded(expansion, "sum") == (
        "design.sum_coding", [{"column": "a1", "level": "u"}, {"column": "a2", "level": "v"}]
    )  # fmt: skip
    assert coding_note(read_formula("y ~ z").fixed, COLUMNS, "sum") is None
    expansion = read_formula("y ~ 0 + c + a + b").fixed
    assert coded(expansion, "treatment")[1] == [{"factor": "a", "level": "u"}, {"factor": "b", "level": "no"}]
    columns = [{"column": "a1", "level": "u"}, {"column": "a2", "level": "v"}, {"column": "b1", "level": "no"}]
    assert coded(expansion, "sum")[1] == columns
