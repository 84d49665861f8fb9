"""Predictions of a fitted model, for the rows that it was fitted to or for others.

The linear predictor is X beta, with `random` plus the effects of the participant and the item of the row; levels that
the fit has not seen have an effect of zero, the mean of all levels. On the scale of the response that is a probability
for yes-or-no answers, one for each category for ordered ones, and the predictor itself for measured ones. A row that
lacks a predictor has NaN; one that lacks its participant or item counts as one of a level not seen.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import expit

from karat.models.glrm.design import code
from karat.models.glrm.frame import evaluate, group_factor
from karat.models.glrm.model import Model
from karat.models.glrm.variables import Column, Data, FactorVariable, Numeric
from karat.types import Bools, Floats


def predict(
    model: Model, data: Data | None = None, *, scale: Literal["link", "response"] = "link", random: bool = True
) -> Floats:
    """The predictor, or the response, of every row of `data`; without data, of every row that was fitted.

    >>> from karat.models.glrm.model import fit
    >>> draw = np.random.default_rng(3)
    >>> who, what = np.divmod(np.arange(600), 20)
    >>> yes = draw.normal(0, 1, 30)[who] + draw.normal(0, 1, 20)[what] + draw.logistic(size=600) > -1
    >>> model = fit("yes ~ 1 + (1 | who) + (1 | what)", {"yes": yes, "who": who, "what": what})
    >>> seen, unseen = predict(model, {"who": [0, 99], "what": [0, 99]}, scale="response")
    >>> bool(unseen == predict(model, {}, scale="response", random=False)[0]), bool(0 < seen < 1)
    (True, True)
    """
    eta = _fitted(model, random) if data is None else _new(model, data, random)
    if scale == "link" or model.family == "gaussian":
        return eta
    if model.family == "binary":
        probability: Floats = expit(eta)
        return probability
    below = expit(model.fit.thresholds - eta[:, None])
    return np.diff(np.column_stack([np.zeros(len(eta)), below, np.ones(len(eta))]), axis=1)


def _fitted(model: Model, random: bool) -> Floats:
    eta: Floats = model.design.matrix @ model.fit.coefficients
    if random:
        start = dict.fromkeys(model.fit.effects, 0)
        for term in model.fit.terms:
            width, first = len(term.names), start[term.group]
            effects = model.fit.effects[term.group][:, first : first + width]
            eta = eta + np.einsum("nq,nq->n", term.columns, effects[term.codes])
            start[term.group] = first + width
    return eta


def _new(model: Model, data: Data, random: bool) -> Floats:
    expansion = model.design.expansion
    used = dict.fromkeys(label for term in expansion.terms for label in term)
    parts = model.formula.random if random else ()
    used |= dict.fromkeys(label for part in parts for term in part.effects.terms for label in term)
    levels = {
        label: column.levels for label, column in model.frame.columns.items() if isinstance(column, FactorVariable)
    }
    scaling = dict(model.frame.scaling)
    columns: dict[str, Column] = {
        label: evaluate(model.formula.variables[label], data, levels, scaling) for label in used
    }
    groups = {part.group: group_factor(part, model.formula.text, data, {}) for part in parts}
    rows = next((len(column.missing) for column in (*columns.values(), *groups.values())), 1)
    whole = np.ones(rows, dtype=bool)
    for label, column in columns.items():
        whole &= ~column.missing
        columns[label] = _without_gaps(column)
    eta: Floats = model.design.rows(columns, rows)[1] @ model.fit.coefficients
    for group, factor in groups.items():
        eta = eta + _effect(model, group, factor, columns, rows)
    return np.where(whole, eta, np.nan)


def _without_gaps(column: Column) -> Column:
    """Any value where there is none: those rows are NaN in the end."""
    if isinstance(column, FactorVariable):
        return FactorVariable(np.maximum(column.codes, 0), column.levels)
    return Numeric(np.where(column.missing, 0.0, column.values))


def _effect(
    model: Model, group: tuple[str, ...], factor: FactorVariable, columns: dict[str, Column], rows: int
) -> Floats:
    """The sum of a group's random effects in every row."""
    name = ":".join(group)
    coded = {}
    for part in model.formula.random:
        if part.group == group:
            one = code(part.effects, columns, model.coding, rows)
            coded.update(dict(zip(one.names, one.matrix.T, strict=True)))
    if name not in model.fit.effects:
        return np.zeros(rows)
    place = {str(level): number for number, level in enumerate(model.fit.levels[name])}
    codes = np.array([place.get(level, -1) for level in factor.levels] + [-1])[factor.codes]
    known: Bools = codes >= 0
    names = [column for term in model.fit.terms if term.group == name for column in term.names]
    inner = np.column_stack([coded[column] for column in names])
    total: Floats = np.where(known, np.einsum("nq,nq->n", inner, model.fit.effects[name][codes]), 0.0)
    return total
