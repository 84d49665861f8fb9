"""Estimated marginal means: the model's expectation in each condition, balanced over the other factors.

A grid has a cell for every combination of the levels of all factors, with covariates at their mean; cells that differ
only in other factors are averaged with equal weights, whatever their number of answers. Random effects are zero. On the
scale of the link, a mean is a linear function of the coefficients with its standard error. On the scale of the
response, the inverse link transforms the mean and the ends of its interval, and the standard error is by the delta
method. For ordered answers the mean is that of the latent variable, relative to the mean of the thresholds, as in
emmeans.

Predictions are for the fitted rows or for new ones. The linear predictor is X beta and, with `random`, the effects of
the row's participant and item; levels that are not in the fit have an effect of zero, the mean of all levels. On the
scale of the response, predictions are a probability for yes-or-no answers, one per category for ordered answers, and
the predictor itself for measured ones. A row without a predictor gets NaN; a missing participant or item counts as a
new level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from karat.messages import Message
from karat.models.glrm.families import Link, inverse_link
from karat.models.glrm.formulas.design import code
from karat.models.glrm.formulas.formula import names_in
from karat.models.glrm.formulas.frame import Column, Data, FactorVariable, Numeric, evaluate, group_factor, listed
from karat.models.glrm.formulas.model import Laid, Model, RowsResult, Table, quantile, two_sided
from karat.models.glrm.formulas.syntax import FormulaError
from karat.models.numerics import known as known_number
from karat.models.numerics import significant
from karat.models.proportions import benjamini_hochberg, holm
from karat.types import Bools, Floats

Scale = Literal["link", "response"]
Adjustment = Literal["holm", "bh", "tukey", "none"]
ESTIMABLE = 1e-6


@dataclass(frozen=True)
class MarginalMeans(RowsResult):
    """A mean for each combination of levels."""

    cells: dict[str, tuple[str, ...]]
    """The level of each factor, by row."""
    estimate: Floats
    se: Floats
    df: Floats
    lower: Floats
    upper: Floats
    scale: Scale
    level: float
    contrasts: Floats
    """Weights of the coefficients, and for ordered answers of the thresholds after them; NaN if cells are empty."""
    model: Model
    notes: tuple[Message, ...]

    def labels(self) -> list[str]:
        """The levels of each cell as text."""
        return [" ".join(row) for row in zip(*self.cells.values(), strict=True)] or ["all"]

    def table(self) -> Table:
        """One row per cell."""
        cells: Table = {name: np.array(levels, dtype=object) for name, levels in self.cells.items()}
        numbers = {"estimate": self.estimate, "se": self.se, "df": self.df, "lower": self.lower, "upper": self.upper}
        return cells | numbers

    def differences(self, adjust: Adjustment = "holm") -> Differences:
        """Differences of all pairs of cells, on the scale of the link, with adjusted p values.

        The adjustment is Holm's, Benjamini and Hochberg's, or Tukey's. Tukey's uses the studentised range with the
        degrees of freedom of each pair, and its intervals are simultaneous for all pairs.
        """
        names, pairs = self.labels(), list(combinations(range(len(self.estimate)), 2))
        weights = np.zeros((len(pairs), len(names)))
        for row, (i, j) in enumerate(pairs):
            weights[row, [i, j]] = 1.0, -1.0
        return self._compare(tuple(f"{names[i]} - {names[j]}" for i, j in pairs), weights, adjust)

    def contrast(self, weights: Mapping[str, ArrayLike], adjust: Adjustment = "none") -> Differences:
        """Custom contrasts: weighted sums of the means, by name, with a weight for each cell."""
        if adjust == "tukey":
            raise ValueError("Tukey's adjustment is for all pairs of means; use holm, bh or none.")
        matrix = np.array([np.asarray(row, dtype=np.float64) for row in weights.values()])
        if matrix.ndim != 2 or matrix.shape[1] != len(self.estimate):
            raise ValueError(f"A contrast needs a weight for each of the {len(self.estimate)} means.")
        if np.any(np.abs(matrix.sum(axis=1)) > 1e-8 * np.abs(matrix).sum(axis=1)):
            raise ValueError("The weights of a contrast must sum to zero.")
        return self._compare(tuple(weights), matrix, adjust)

    def _compare(self, names: tuple[str, ...], weights: Floats, adjust: Adjustment) -> Differences:
        # A mean with a weight of zero may be NaN.
        rows = [row[row != 0] @ self.contrasts[row != 0] for row in weights]
        contrasts = np.array(rows).reshape(-1, self.contrasts.shape[1])
        estimate, se, df = _linear(self.model, contrasts)
        half = quantile(self.level, df) * se
        p = two_sided(estimate / se, df)
        if adjust == "tukey":
            from scipy.stats import studentized_range

            # Not below p: for tiny p the distribution of the range is inaccurate.
            adjusted = np.maximum(studentized_range.sf(np.abs(estimate / se) * np.sqrt(2), len(self.estimate), df), p)
            half = studentized_range.ppf(self.level, len(self.estimate), df) / np.sqrt(2) * se
        else:
            adjusted = holm(p) if adjust == "holm" else benjamini_hochberg(p) if adjust == "bh" else p
        return Differences(names, estimate, se, df, estimate - half, estimate + half, p, adjusted, self.level)

    @property
    def summary(self) -> tuple[Message, ...]:
        """The scale of the means, then each mean."""
        first = Message("marginal.link") if self.scale == "link" else Message("marginal.response")
        rows = zip(self.labels(), self.estimate, self.lower, self.upper, strict=True)
        return first, *(
            Message(
                "marginal.mean",
                {"cell": cell, "mean": significant(mean), "level": self.level, "lower": significant(low),
                 "upper": significant(high)},
            )
            for cell, mean, low, high in rows
        )  # fmt: skip


@dataclass(frozen=True)
class Differences(RowsResult):
    """Differences between pairs of marginal means."""

    pairs: tuple[str, ...]
    estimate: Floats
    se: Floats
    df: Floats
    lower: Floats
    upper: Floats
    p: Floats
    adjusted: Floats
    """p values, adjusted for all pairs."""
    level: float

    def table(self) -> Table:
        """One row per pair."""
        keys = ("estimate", "se", "df", "lower", "upper", "p", "adjusted")
        return {"pair": np.array(self.pairs, dtype=object), **{key: getattr(self, key) for key in keys}}

    @property
    def summary(self) -> tuple[Message, ...]:
        """A heading, then each difference."""
        pairs = (pair.replace(" - ", " − ") for pair in self.pairs)
        rows = zip(pairs, self.estimate, self.se, self.adjusted, strict=True)
        return Message("marginal.differences"), *(
            Message(
                "marginal.difference",
                {"pair": pair, "estimate": significant(value), "se": significant(se), "p": known_number(p)},
            )
            for pair, value, se, p in rows
        )


def marginal_means(
    model: Model,
    *factors: str,
    at: Mapping[str, float] | None = None,
    scale: Scale = "link",
    level: float = 0.95,
) -> MarginalMeans:
    """The means of the levels of a factor, or of the cells of several.

    `at` sets covariates to values other than their mean.

    >>> import karat
    >>> from karat.models.glrm.formulas.model import fit
    >>> data = karat.datasets.load("likert").frame.filter(function="test").to_dict()
    >>> means = marginal_means(fit("rt ~ order + (1 | participant) + (1 | item)", data, "gaussian"), "order")
    >>> means.labels(), means.estimate.round(1).tolist()
    (['OBJ>PP', 'PP>OBJ'], [5.7, 5.9])
    """
    if scale == "response" and model.family == "ordinal":
        raise ValueError(
            "Marginal means of ordered answers are on the scale of the link; predict() gives probabilities."
        )
    grid = cell_grid(model, *factors, at=at)
    requested, notes = grid.cells, list(grid.notes)
    contrasts = grid.weights @ grid.rows
    empty = ~grid.estimable
    contrasts[empty] = np.nan
    if empty.any():
        notes.append(Message("marginal.unknown", {"n": int(empty.sum()), "means": len(requested)}))
    if model.family == "ordinal":
        thresholds = len(model.fit.thresholds)
        contrasts = np.column_stack([contrasts, np.full((len(contrasts), thresholds), -1 / thresholds)])
    estimate, se, df = _linear(model, contrasts)
    half = quantile(level, df) * se
    ends = estimate - half, estimate + half
    if scale == "response" and model.family == "binary":
        steepness = _link_slope(model.link, estimate)
        estimate, se = inverse_link(model.link, estimate), se * steepness
        ends = inverse_link(model.link, ends[0]), inverse_link(model.link, ends[1])
    cells = {name: tuple(cell[place] for cell in requested) for place, name in enumerate(factors)}
    return MarginalMeans(cells, estimate, se, df, ends[0], ends[1], scale, level, contrasts, model, tuple(notes))


@dataclass(frozen=True)
class CellGrid:
    """The grid of all factors, and the weights of its cells in the requested cells."""

    cells: list[tuple[str, ...]]
    """The requested combinations of levels."""
    weights: Floats
    """A row for each requested cell, a column for each cell of the grid; rows sum to one."""
    rows: Floats
    """The design in each cell of the grid."""
    estimable: Bools
    """Which of the requested cells can be estimated."""
    notes: tuple[Message, ...]


def cell_grid(model: Laid, *factors: str, at: Mapping[str, float] | None = None) -> CellGrid:
    """The cells of some factors as averages over the grid of all factors."""
    factor_columns = {name: column for name, column in model.frame.raw.items() if isinstance(column, FactorVariable)}
    for name in factors:
        if name not in factor_columns:
            details = {"name": name, "formula": str(model.formula), "factors": listed(list(factor_columns))}
            raise FormulaError(Message("marginal.no_factor", details))
    values, cells, notes = _grid(model, factor_columns, at or {})
    full, rows = _rows(model, values)
    requested = list(product(*(factor_columns[name].levels for name in factors)))
    weights = np.array([
        np.all([cells[name] == level for name, level in zip(factors, cell, strict=True)], axis=0) if factors else
        np.ones(len(full), dtype=bool) for cell in requested
    ], dtype=np.float64)  # fmt: skip
    weights /= weights.sum(axis=1, keepdims=True)
    estimable = np.abs(weights @ full @ model.design.null).max(axis=1, initial=0.0) <= ESTIMABLE
    return CellGrid(requested, weights, rows, estimable, tuple(notes))


def _grid(
    model: Laid, factors: dict[str, FactorVariable], at: Mapping[str, float]
) -> tuple[dict[str, Any], dict[str, Any], list[Message]]:
    """The values of every column in every cell of the grid, those of the factors, and notes on covariates."""
    combinations = list(product(*(factor.levels for factor in factors.values())))
    cells = {
        name: np.array([levels[place] for levels in combinations], dtype=object) for place, name in enumerate(factors)
    }
    values: dict[str, Any] = dict(cells)
    notes = []
    numeric = {name: column for name, column in model.frame.raw.items() if isinstance(column, Numeric)}
    for name in at:
        if name not in numeric:
            raise FormulaError(Message("marginal.no_covariate", {"name": name, "formula": str(model.formula)}))
    for name, column in numeric.items():
        value = float(at.get(name, column.values.mean()))
        values[name] = np.full(len(combinations), value)
        notes.append(Message("marginal.held", {"name": name, "value": round(value, 4)}))
    return values, cells, notes


def _rows(model: Laid, values: dict[str, Any]) -> tuple[Floats, Floats]:
    """The design in every cell."""
    levels = {name: column.levels for name, column in model.frame.raw.items() if isinstance(column, FactorVariable)}
    scaling = dict(model.frame.scaling)
    labels = dict.fromkeys(label for term in model.design.expansion.terms for label in term)
    kinds = {
        (name.text, isinstance(model.frame.columns[label], FactorVariable))
        for label in labels
        for name in names_in(model.formula.variables[label].tree)
    }
    ambiguous = [name for name in model.frame.raw if {(name, True), (name, False)} <= kinds]
    if ambiguous:
        raise FormulaError(Message("marginal.both", {"names": listed(ambiguous), "formula": str(model.formula)}))
    columns = {label: evaluate(model.formula.variables[label], values, levels, scaling) for label in labels}
    return model.design.rows(columns, prod(len(values) for values in levels.values()))


def _linear(model: Model, contrasts: Floats) -> tuple[Floats, Floats, Floats]:
    """Estimates, standard errors and degrees of freedom of linear functions of the coefficients (and thresholds)."""
    if model.family == "ordinal":
        values = np.concatenate([model.fit.coefficients, model.fit.thresholds])
        covariance = model.fit.parameter_covariance[: len(values), : len(values)]
    else:
        values, covariance = model.fit.coefficients, model.covariance
    variance = np.einsum("ki,ij,kj->k", contrasts, covariance, contrasts)
    return contrasts @ values, np.sqrt(variance), model.degrees(contrasts)


def predict(
    model: Model, data: Data | None = None, *, scale: Literal["link", "response"] = "link", random: bool = True
) -> Floats:
    """The predictor, or the response, of every row of `data`, or of every fitted row without data.

    >>> from karat.models.glrm.formulas.model import fit
    >>> draw = np.random.default_rng(3)
    >>> who, what = np.divmod(np.arange(600), 20)
    >>> yes = draw.normal(0, 1, 30)[who] + draw.normal(0, 1, 20)[what] + draw.logistic(size=600) > -1
    >>> model = fit("yes ~ 1 + (1 | who) + (1 | what)", {"yes": yes, "who": who, "what": what})
    >>> old, new = predict(model, {"who": [0, 99], "what": [0, 99]}, scale="response")
    >>> bool(new == predict(model, {}, scale="response", random=False)[0]), bool(0 < old < 1)
    (True, True)
    """
    eta = _predict_fitted(model, random) if data is None else _predict_new(model, data, random)
    if scale == "link" or model.family == "gaussian":
        return eta
    if model.family == "binary":
        return inverse_link(model.link, eta)
    below = inverse_link(model.link, model.fit.thresholds - eta[:, None])
    return np.diff(below, prepend=0.0, append=1.0)


def _link_slope(link: Link, eta: Floats) -> Floats:
    """The derivative of the inverse link."""
    if link == "probit":
        return np.asarray(np.exp(-0.5 * eta**2) / np.sqrt(2 * np.pi))
    if link == "cloglog":
        return np.asarray(np.exp(eta - np.exp(eta)))
    probability = inverse_link(link, eta)
    return probability * (1 - probability)


def _predict_fitted(model: Model, random: bool) -> Floats:
    eta: Floats = model.design.matrix @ model.fit.coefficients
    if random:
        start = dict.fromkeys(model.fit.effects, 0)
        for term in model.fit.terms:
            width, first = len(term.names), start[term.group]
            effects = model.fit.effects[term.group][:, first : first + width]
            eta = eta + np.einsum("nq,nq->n", term.columns, effects[term.codes])
            start[term.group] = first + width
    return eta


def _predict_new(model: Model, data: Data, random: bool) -> Floats:
    expansion = model.design.expansion
    labels = dict.fromkeys(label for term in expansion.terms for label in term)
    parts = model.formula.random if random else ()
    labels |= dict.fromkeys(label for part in parts for term in part.effects.terms for label in term)
    levels = {
        label: column.levels for label, column in model.frame.columns.items() if isinstance(column, FactorVariable)
    }
    scaling = dict(model.frame.scaling)
    columns: dict[str, Column] = {
        label: evaluate(model.formula.variables[label], data, levels, scaling) for label in labels
    }
    groups = {part.group: group_factor(part, model.formula.text, data, {}) for part in parts}
    rows = next((len(column.missing) for column in (*columns.values(), *groups.values())), 1)
    complete = np.ones(rows, dtype=bool)
    for label, column in columns.items():
        complete &= ~column.missing
        columns[label] = _without_gaps(column)
    eta: Floats = model.design.rows(columns, rows)[1] @ model.fit.coefficients
    for group, factor in groups.items():
        eta = eta + _effect(model, group, factor, columns, rows)
    return np.where(complete, eta, np.nan)


def _without_gaps(column: Column) -> Column:
    """The column with arbitrary values for missing ones; `predict` returns NaN for these rows."""
    if isinstance(column, FactorVariable):
        return FactorVariable(np.maximum(column.codes, 0), column.levels)
    return Numeric(np.where(np.isfinite(column.values), column.values, 0.0))


def _effect(
    model: Model, group: tuple[str, ...], factor: FactorVariable, columns: dict[str, Column], rows: int
) -> Floats:
    """The sum of a group's random effects in every row."""
    name = ":".join(group)
    coded = {}
    for part in model.formula.random:
        if part.group == group:
            columns_of_part = code(part.effects, columns, model.coding, rows)
            coded.update(dict(zip(columns_of_part.names, columns_of_part.matrix.T, strict=True)))
    if name not in model.fit.effects:
        return np.zeros(rows)
    place = {str(level): number for number, level in enumerate(model.fit.levels[name])}
    codes = np.array([place.get(level, -1) for level in factor.levels] + [-1])[factor.codes]
    in_fit: Bools = codes >= 0
    names = [column for term in model.fit.terms if term.group == name for column in term.names]
    inner = np.column_stack([coded[column] for column in names])
    return np.where(in_fit, np.einsum("nq,nq->n", inner, model.fit.effects[name][codes]), 0.0)
