"""The columns of a linear model: factors coded by contrasts, as R's model.matrix does.

A factor with k levels has k - 1 columns. Sum-to-zero coding gives each level but the last a column that is 1 there and
-1 at the last level: with it the intercept is the mean of all cells, main effects are averages over the other factors,
and each can be tested by its own columns (Type III). Treatment coding gives a column to each level but the first, and
everything is about the first levels. Difference coding is for priors: its columns are orthogonal and of such a length
that independent coefficients with one standard deviation give it to every difference of two levels, and to every
difference of differences. With two levels they are 0.5 and -0.5. A factor in a term has contrasts where the term
without it is part of an earlier term; otherwise, as where there is no intercept, it has a column for every level.

Columns that depend on those before them are left out, as R does, and named, together with the cells of the design that
are empty.
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
"""A column whose part that is new is smaller than this share of it depends on those before (R's tolerance)."""


@dataclass(frozen=True)
class DesignColumns:
    """A matrix with a name for each column, and the number of the term that it belongs to (0 is the intercept)."""

    matrix: Floats
    names: tuple[str, ...]
    terms: Ints


@dataclass(frozen=True)
class DesignMatrix:
    """The fixed effects: independent columns, and what had to be left out."""

    matrix: Floats
    names: tuple[str, ...]
    terms: Ints
    labels: tuple[str, ...]
    """Of the terms that have columns, by the number in `terms`."""
    expansion: Expansion
    coding: Coding
    kept: Ints
    """Which columns of the full matrix."""
    null: Floats
    """Directions in the coefficients of the full matrix that the data say nothing about, in columns."""
    notes: tuple[Message, ...]

    def rows(self, columns: Mapping[str, Column], rows: int) -> tuple[Floats, Floats]:
        """Rows of the design for other values of the variables: all columns, and those that were kept."""
        full = code(self.expansion, columns, self.coding, rows).matrix
        return full, full[:, self.kept]

    def without_intercept(self) -> DesignMatrix:
        """For ordered answers, whose thresholds take its place."""
        return replace(self, matrix=self.matrix[:, 1:], names=self.names[1:], terms=self.terms[1:], kept=self.kept[1:])


def code(expansion: Expansion, columns: Mapping[str, Column], coding: Coding, rows: int) -> DesignColumns:
    """All columns of an expansion."""
    blocks, names = [np.ones((rows, int(expansion.intercept)))], [INTERCEPT] * expansion.intercept
    terms = [0] * expansion.intercept
    whole = whole_factors(expansion, columns)
    for number, term in enumerate(expansion.terms, start=1):
        block, labels = np.ones((rows, 1)), [""]
        for label in term:
            inner, own = _coded(label, columns[label], coding, (number, label) in whole)
            # The first variable of a term varies fastest, as in R.
            block = (inner[:, :, None] * block[:, None, :]).reshape(rows, -1)
            labels = [f"{before}:{name}" if before else name for name in own for before in labels]
        blocks.append(block)
        names += labels
        terms += [number] * len(labels)
    return DesignColumns(np.hstack(blocks), tuple(names), np.array(terms, dtype=np.int64))


def make_design(expansion: Expansion, columns: Mapping[str, Column], coding: Coding, rows: int) -> DesignMatrix:
    """The design of the fixed effects, with dependent columns left out and named.

    >>> from karat.models.glrm.formulas.formula import read_formula
    >>> a, b = FactorVariable(np.array([0, 0, 1]), ("x", "y")), FactorVariable(np.array([0, 1, 0]), ("u", "v"))
    >>> design = make_design(read_formula("r ~ a * b").fixed, {"a": a, "b": b}, "sum", 3)
    >>> design.names
    ('(Intercept)', 'a1', 'b1')
    >>> print(*design.notes)
    Left out because other columns determine it: a1:b1. No row has a = y and b = v.
    """
    coded = code(expansion, columns, coding, rows)
    kept, null = _independent(coded.matrix)
    labels = expansion.labels() if expansion.intercept else ("", *expansion.labels())
    dropped = [name for place, name in enumerate(coded.names) if place not in set(kept.tolist())]
    notes: tuple[Message, ...] = ()
    if dropped:
        empty = _empty_cells(expansion, columns)
        notes = (Message("design.dropped", {"n": len(dropped), "columns": dropped, "empty": empty}),)
    return DesignMatrix(
        coded.matrix[:, kept], tuple(coded.names[k] for k in kept), coded.terms[kept], labels, expansion, coding, kept,
        null, notes,
    )  # fmt: skip


def whole_factors(expansion: Expansion, columns: Mapping[str, Column]) -> set[tuple[int, str]]:
    """The factors that have a column for every level, each with the number of its term.

    >>> from karat.models.glrm.formulas.formula import read_formula
    >>> a = FactorVariable(np.array([0, 1]), ("x", "y"))
    >>> whole_factors(read_formula("y ~ 0 + a").fixed, {"a": a})
    {(1, 'a')}
    """
    whole: set[tuple[int, str]] = set()
    for number, term in enumerate(expansion.terms, start=1):
        for label in term:
            rest = set(term) - {label}
            earlier = expansion.terms[: number - 1]
            if rest and not any(rest <= set(other) for other in earlier):
                whole.add((number, label))
    if not expansion.intercept:
        factors = (
            (number, label)
            for number, term in enumerate(expansion.terms, start=1)
            for label in term
            if isinstance(columns[label], FactorVariable)
        )
        whole |= set(list(factors)[:1])
    return whole


def _coded(label: str, column: Column, coding: Coding, whole: bool) -> tuple[Floats, list[str]]:
    if not isinstance(column, FactorVariable):
        if column.values.ndim == 1:
            return column.values[:, None], [label]
        return column.values, [f"{label}{k + 1}" for k in range(column.values.shape[1])]
    size = len(column.levels)
    if size < 2:
        raise FormulaError(Message("design.one_level", {"factor": label, "levels": listed(column.levels)}))
    if whole:
        return np.eye(size)[column.codes], [f"{label}{level}" for level in column.levels]
    return contrasts(size, coding)[column.codes], contrast_names(label, column.levels, coding)


def contrasts(size: int, coding: Coding) -> Floats:
    """Levels x columns.

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
    """The names that R gives to the columns: numbered by level for sums, by the level itself for treatments.

    Columns of difference coding are numbered, too.

    >>> contrast_names("a", ("u", "v", "w"), "sum"), contrast_names("a", ("u", "v", "w"), "treatment")
    (['a1', 'a2'], ['av', 'aw'])
    """
    if coding != "treatment":
        return [f"{label}{k + 1}" for k in range(len(levels) - 1)]
    return [f"{label}{level}" for level in levels[1:]]


def coding_note(expansion: Expansion, columns: Mapping[str, Column], coding: Coding) -> Message | None:
    """The coding of the factors and what their columns are about; None without factors."""
    whole = whole_factors(expansion, columns)
    terms = enumerate(expansion.terms, start=1)
    used = dict.fromkeys(label for number, term in terms for label in term if (number, label) not in whole)
    factors = {label: column for label in used if isinstance(column := columns[label], FactorVariable)}
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
    """The columns that do not depend on those before them, and the null space of all columns."""
    width = matrix.shape[1]
    kept: list[int] = []
    basis = np.empty((len(matrix), 0))
    for place in range(width):
        column = matrix[:, place]
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        length = float(np.linalg.norm(rest))
        if length > DEPENDENT * max(float(np.linalg.norm(column)), 1e-300):
            kept.append(place)
            basis = np.column_stack([basis, rest / length])
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0] = 1.0
    if len(kept) == width:
        return np.arange(width), np.empty((width, 0))
    triangle = linalg.qr(matrix / scale, mode="r")[0][: min(matrix.shape)]
    null = linalg.null_space(triangle, rcond=DEPENDENT) / scale[:, None]
    return np.array(kept, dtype=np.int64), null


def _empty_cells(expansion: Expansion, columns: Mapping[str, Column]) -> Message | None:
    """The combinations of levels that no row has."""
    cells: list[Message] = []
    known: list[Term] = []
    for term in expansion.terms:
        factors = {label: column for label in term if isinstance(column := columns[label], FactorVariable)}
        if len(factors) < 2 or any(set(other) <= set(term) for other in known):
            continue
        present = set(zip(*(factor.codes.tolist() for factor in factors.values()), strict=True))
        every = product(*(range(len(factor.levels)) for factor in factors.values()))
        empty = [cell for cell in every if cell not in present]
        if empty:
            known.append(tuple(factors))
        for cell in empty:
            levels = [f"{label} = {factors[label].levels[k]}" for label, k in zip(factors, cell, strict=True)]
            cells.append(Message("design.cell", {"levels": levels}))
    if not cells:
        return None
    more = len(cells) - SHOWN if len(cells) > SHOWN else None
    return Message("design.empty", {"cells": cells[:SHOWN], "more": more})
