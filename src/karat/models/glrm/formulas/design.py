"""The columns of a linear model, with factors coded by contrasts as in R's model.matrix.

A factor with k levels has k - 1 columns. Sum-to-zero coding gives each level but the last a column that is 1 there and
-1 at the last level: the intercept is then the mean of all cells, main effects are averages over the other factors, and
each can be tested by its columns (Type III). Treatment coding gives a column to each level but the first, so that all
coefficients are relative to the first levels. Difference coding is for priors: its columns are orthogonal, and their
length gives every difference of two levels, and every difference of differences, the same standard deviation as the
independent coefficients. With two levels the column is 0.5 and -0.5. A factor in a term has contrasts if the term
without it is part of an earlier term; otherwise, as without an intercept, it has a column for every level.

Columns that depend on earlier ones are removed, as in R, and reported, together with the empty cells of the design.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
from scipy import linalg

from karat.messages import Message
from karat.models.glrm.formulas.formula import Expansion, Term
from karat.models.glrm.formulas.frame import SHOWN, Column, FactorVariable, listed
from karat.models.glrm.formulas.syntax import FormulaError
from karat.models.glrm.mixed.terms import INTERCEPT
from karat.types import Floats, Ints

Coding = Literal["sum", "treatment", "difference"]
DEPENDENT = 1e-7
"""A column depends on earlier ones if the share of it that they do not explain is below this (R's tolerance)."""


@dataclass(frozen=True)
class DesignColumns:
    """A matrix with the name of each column and the number of its term (0 is the intercept)."""

    matrix: Floats
    names: tuple[str, ...]
    terms: Ints


@dataclass(frozen=True)
class DesignMatrix:
    """The design of the fixed effects, with independent columns, and notes on removed ones."""

    matrix: Floats
    names: tuple[str, ...]
    terms: Ints
    labels: tuple[str, ...]
    """The labels of the terms, by the number in `terms`."""
    expansion: Expansion
    coding: Coding
    independent: Ints
    """The numbers of the columns in the full matrix."""
    null: Floats
    """Columns that span the null space of the full matrix: directions of its coefficients that are not identified."""
    notes: tuple[Message, ...]

    def rows(self, columns: Mapping[str, Column], rows: int) -> tuple[Floats, Floats]:
        """Rows of the design for other values of the variables, with all columns and with the independent ones."""
        full = code(self.expansion, columns, self.coding, rows).matrix
        return full, full[:, self.independent]

    def without_intercept(self) -> DesignMatrix:
        """The design without the intercept, for ordered answers, which have thresholds instead."""
        matrix, names, terms, independent = self.matrix[:, 1:], self.names[1:], self.terms[1:], self.independent[1:]
        return replace(self, matrix=matrix, names=names, terms=terms, independent=independent)


def code(expansion: Expansion, columns: Mapping[str, Column], coding: Coding, rows: int) -> DesignColumns:
    """All columns of an expansion."""
    blocks, names = [np.ones((rows, int(expansion.intercept)))], [INTERCEPT] * expansion.intercept
    terms = [0] * expansion.intercept
    full = full_factors(expansion, columns)
    for number, term in enumerate(expansion.terms, start=1):
        block, labels = np.ones((rows, 1)), [""]
        for label in term:
            inner, contrast_labels = _code_variable(label, columns[label], coding, (number, label) in full)
            # The first variable of a term varies fastest, as in R.
            block = (inner[:, :, None] * block[:, None, :]).reshape(rows, -1)
            labels = [f"{before}:{name}" if before else name for name in contrast_labels for before in labels]
        blocks.append(block)
        names += labels
        terms += [number] * len(labels)
    return DesignColumns(np.hstack(blocks), tuple(names), np.array(terms, dtype=np.int64))


def make_design(expansion: Expansion, columns: Mapping[str, Column], coding: Coding, rows: int) -> DesignMatrix:
    """The design of the fixed effects, without dependent columns, which the notes name.

    >>> from karat.models.glrm.formulas.formula import read_formula
    >>> a, b = FactorVariable(np.array([0, 0, 1]), ("x", "y")), FactorVariable(np.array([0, 1, 0]), ("u", "v"))
    >>> design = make_design(read_formula("r ~ a * b").fixed, {"a": a, "b": b}, "sum", 3)
    >>> design.names
    ('(Intercept)', 'a1', 'b1')
    >>> print(*design.notes)
    Left out because other columns determine it: a1:b1. No row has a = y and b = v.
    """
    full = code(expansion, columns, coding, rows)
    independent, null = _independent(full.matrix)
    labels = expansion.labels() if expansion.intercept else ("", *expansion.labels())
    dropped = [name for place, name in enumerate(full.names) if place not in set(independent.tolist())]
    notes: tuple[Message, ...] = ()
    if dropped:
        empty = _empty_cells(expansion, columns)
        notes = (Message("design.dropped", {"n": len(dropped), "columns": dropped, "empty": empty}),)
    return DesignMatrix(
        full.matrix[:, independent], tuple(full.names[k] for k in independent), full.terms[independent], labels,
        expansion, coding, independent, null, notes,
    )  # fmt: skip


def full_factors(expansion: Expansion, columns: Mapping[str, Column]) -> set[tuple[int, str]]:
    """The factors with a column for every level, each with the number of its term.

    >>> from karat.models.glrm.formulas.formula import read_formula
    >>> a = FactorVariable(np.array([0, 1]), ("x", "y"))
    >>> full_factors(read_formula("y ~ 0 + a").fixed, {"a": a})
    {(1, 'a')}
    """
    full: set[tuple[int, str]] = set()
    for number, term in enumerate(expansion.terms, start=1):
        for label in term:
            others = set(term) - {label}
            earlier = expansion.terms[: number - 1]
            if others and not any(others <= set(earlier_term) for earlier_term in earlier):
                full.add((number, label))
    if not expansion.intercept:
        factors = (
            (number, label)
            for number, term in enumerate(expansion.terms, start=1)
            for label in term
            if isinstance(columns[label], FactorVariable)
        )
        full |= set(list(factors)[:1])
    return full


def _code_variable(label: str, column: Column, coding: Coding, full: bool) -> tuple[Floats, list[str]]:
    if not isinstance(column, FactorVariable):
        if column.values.ndim == 1:
            return column.values[:, None], [label]
        return column.values, [f"{label}{k + 1}" for k in range(column.values.shape[1])]
    size = len(column.levels)
    if size < 2:
        raise FormulaError(Message("design.one_level", {"factor": label, "levels": listed(column.levels)}))
    if full:
        return np.eye(size)[column.codes], [f"{label}{level}" for level in column.levels]
    return contrasts(size, coding)[column.codes], contrast_names(label, column.levels, coding)


def contrasts(size: int, coding: Coding) -> Floats:
    """The contrasts of a factor with `size` levels, levels x columns.

    >>> contrasts(3, "treatment").tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    >>> contrasts(2, "difference").round(6).tolist()
    [[0.5], [-0.5]]
    """
    if coding == "difference":
        matrix = linalg.helmert(size).T / np.sqrt(2)
        return np.asarray(matrix)
    if coding == "sum":
        return np.vstack([np.eye(size - 1), -np.ones((1, size - 1))])
    return np.eye(size)[:, 1:]


def contrast_names(label: str, levels: tuple[str, ...], coding: Coding) -> list[str]:
    """The names of the columns as in R: with the number of the level for sums, with its name for treatments.

    Columns of difference coding are numbered too.

    >>> contrast_names("a", ("u", "v", "w"), "sum"), contrast_names("a", ("u", "v", "w"), "treatment")
    (['a1', 'a2'], ['av', 'aw'])
    """
    if coding != "treatment":
        return [f"{label}{k + 1}" for k in range(len(levels) - 1)]
    return [f"{label}{level}" for level in levels[1:]]


def coding_note(expansion: Expansion, columns: Mapping[str, Column], coding: Coding) -> Message | None:
    """The coding of the factors and the meaning of their columns, or None without factors."""
    full = full_factors(expansion, columns)
    terms = enumerate(expansion.terms, start=1)
    contrasted = dict.fromkeys(label for number, term in terms for label in term if (number, label) not in full)
    factors = {label: column for label in contrasted if isinstance(column := columns[label], FactorVariable)}
    if not factors:
        return None
    if coding == "treatment":
        compared = [
            Message("design.compared", {"factor": label, "level": factor.levels[0]})
            for label, factor in factors.items()
        ]
        return Message("design.treatment_coding", {"columns": compared})
    parts = [
        Message("design.deviation", {"column": name, "level": level})
        for label, factor in factors.items()
        for name, level in zip(contrast_names(label, factor.levels, coding), factor.levels, strict=False)
    ]
    return Message("design.sum_coding", {"columns": parts})


def _independent(matrix: Floats) -> tuple[Ints, Floats]:
    """The columns that do not depend on earlier ones, and the null space of all columns."""
    width = matrix.shape[1]
    independent: list[int] = []
    basis = np.empty((len(matrix), 0))
    for place in range(width):
        column = matrix[:, place]
        residual = column - basis @ (basis.T @ column)
        residual -= basis @ (basis.T @ residual)
        length = float(np.linalg.norm(residual))
        if length > DEPENDENT * max(float(np.linalg.norm(column)), 1e-300):
            independent.append(place)
            basis = np.column_stack([basis, residual / length])
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0] = 1.0
    if len(independent) == width:
        return np.arange(width), np.empty((width, 0))
    triangle = linalg.qr(matrix / scale, mode="r")[0][: min(matrix.shape)]
    null = linalg.null_space(triangle, rcond=DEPENDENT) / scale[:, None]
    return np.array(independent, dtype=np.int64), null


def _empty_cells(expansion: Expansion, columns: Mapping[str, Column]) -> Message | None:
    """The combinations of levels without rows, or None if there are none."""
    cells: list[Message] = []
    reported: list[Term] = []
    for term in expansion.terms:
        factors = {label: column for label in term if isinstance(column := columns[label], FactorVariable)}
        if len(factors) < 2 or any(set(term_before) <= set(term) for term_before in reported):
            continue
        present = set(zip(*(factor.codes.tolist() for factor in factors.values()), strict=True))
        combinations = product(*(range(len(factor.levels)) for factor in factors.values()))
        empty = [cell for cell in combinations if cell not in present]
        if empty:
            reported.append(tuple(factors))
        for cell in empty:
            levels = [f"{label} = {factors[label].levels[k]}" for label, k in zip(factors, cell, strict=True)]
            cells.append(Message("design.cell", {"levels": levels}))
    if not cells:
        return None
    more = len(cells) - SHOWN if len(cells) > SHOWN else None
    return Message("design.empty", {"cells": cells[:SHOWN], "more": more})
