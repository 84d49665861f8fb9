"""The values of a formula's variables, in the complete rows.

Rows in which any variable of the formula is missing (its response, a predictor or a group) are removed and counted.
Undefined logarithms and roots count as missing.

Text and booleans are factors, numbers are numeric. The levels of a factor are sorted (text by its characters, as in R's
C locale; numbers by size), unless the column has an order (a pandas Categorical, a polars Enum) or `levels` gives one.
Unused levels are removed. None and NaN are missing values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.messages import Message
from karat.models.glrm.formulas.formula import (
    FACTORS,
    Formula,
    FormulaVariable,
    RandomPart,
    degree,
    names_in,
    scale_divides,
)
from karat.models.glrm.formulas.syntax import (
    Brackets,
    Call,
    FormulaError,
    Minus,
    Name,
    Node,
    Number,
    Pair,
    unparse,
    wrong,
)
from karat.types import Bools, Floats, Ints

Scaling = dict[str, tuple[float, ...]]
"""By variable, the mean and deviation that scale() computed from the fitted data, or the recurrence of poly()."""
FUNCTIONS = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "exp": np.exp, "sqrt": np.sqrt,
    "abs": np.abs,
}  # fmt: skip
OPERATORS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": np.power}


@dataclass(frozen=True)
class Frame:
    """The variables of a formula in the complete rows."""

    response: Column
    columns: dict[str, Column]
    groups: dict[tuple[str, ...], FactorVariable]
    complete: Bools
    """Which rows of the data have all variables."""
    scaling: Scaling
    raw: dict[str, Column]
    """The columns of the data in the fixed effects, before any function; the grid of marginal means uses them."""
    notes: tuple[Message, ...]

    @property
    def rows(self) -> int:
        return int(self.complete.sum())


def make_frame(formula: Formula, data: Data, levels: Levels | None = None) -> Frame:
    """Look up every variable of the formula and remove incomplete rows.

    >>> from karat.models.glrm.formulas.formula import read_formula
    >>> data = {"y": [1.0, 2.0, None, 4.0], "a": ["u", "v", "u", "w"], "g": [1, 1, 2, 2]}
    >>> frame = make_frame(read_formula("y ~ a + (1 | g)"), data)
    >>> frame.columns["a"].levels, str(frame.notes[0])
    (('u', 'v', 'w'), '1 of 4 rows was left out: y is missing in 1.')
    """
    scaling: Scaling = {}
    orders = dict(levels or {})
    for name in orders:
        if name not in data and not any(name == f"{function}({column})" for column in data for function in FACTORS):
            raise FormulaError(Message("frame.unknown_column", {"column": name}))
    response = evaluate(formula.response, data, orders, scaling)
    columns = {label: evaluate(variable, data, orders, scaling) for label, variable in formula.variables.items()}
    groups = {part.group: group_factor(part, formula.text, data, orders) for part in formula.random}
    variables: dict[str, Column] = {formula.response.label: response, **columns}
    variables.update({":".join(group): factor for group, factor in groups.items()})
    _check_lengths({label: len(column.missing) for label, column in variables.items()})
    missing = {label: column.missing for label, column in variables.items()}
    complete = ~np.any(list(missing.values()), axis=0)
    notes = _removed_rows(missing, complete)
    if not complete.any():
        raise FormulaError(Message("frame.no_rows", {"why": notes[0] if notes else None}))
    columns = {label: column.at(complete) for label, column in columns.items()}
    groups = {group: factor.at(complete) for group, factor in groups.items()}
    raw = _raw(formula, data, columns, complete)
    return Frame(response.at(complete), columns, groups, complete, scaling, raw, notes)


def evaluate(variable: FormulaVariable, data: Data, levels: Levels, scaling: Scaling) -> Column:
    """The values of one variable; `scaling` is used if it has the variable, and filled otherwise."""
    tree = variable.tree
    if isinstance(tree, Name):
        return column(_find(tree, data, variable.text), tree.text, levels.get(tree.text))
    if isinstance(tree, Call) and tree.function in FACTORS and isinstance(tree.argument, Name):
        name = tree.argument
        return as_factor(_find(name, data, variable.text), name.text, levels.get(variable.label, levels.get(name.text)))
    lengths = {name.text: len(np.asarray(_find(name, data, variable.text))) for name in names_in(tree)}
    if not lengths:
        raise wrong(variable.text, tree.position, Message("formula.no_column_read", {"term": variable.label}))
    # Otherwise arithmetic would broadcast a column with one row.
    _check_lengths(lengths)
    with np.errstate(all="ignore"):
        if isinstance(tree, Call) and tree.function == "poly":
            values = _arithmetic(tree.argument, data, variable.text, scaling)
            if variable.label not in scaling:
                if len(np.unique(values[np.isfinite(values)])) <= degree(tree):
                    details = {"term": variable.label, "degree": degree(tree)}
                    raise wrong(variable.text, tree.position, Message("formula.poly_values", details))
                scaling[variable.label] = _recurrence(values[np.isfinite(values)], degree(tree))
            return Numeric(_polynomials(values, scaling[variable.label]))
        return Numeric(_arithmetic(tree, data, variable.text, scaling))


def group_factor(part: RandomPart, text: str, data: Data, levels: Levels) -> FactorVariable:
    """The levels of a group; for a:b, the pairs that occur."""
    factors = [as_factor(_find(Name(name, part.position), data, text), name, levels.get(name)) for name in part.group]
    if len(factors) == 1:
        return factors[0]
    stacked = np.stack([factor.codes for factor in factors], axis=1)
    present = (stacked >= 0).all(axis=1)
    pairs, inverse = np.unique(stacked[present], axis=0, return_inverse=True)
    codes = np.full(len(stacked), -1, dtype=np.int64)
    codes[present] = inverse.ravel()
    return FactorVariable(
        codes, tuple(":".join(f.levels[k] for f, k in zip(factors, pair, strict=True)) for pair in pairs)
    )


def _raw(formula: Formula, data: Data, columns: dict[str, Column], complete: Bools) -> dict[str, Column]:
    """The columns before any function; factors have the levels of the fitted data."""
    raw: dict[str, Column] = {}
    for label in dict.fromkeys(label for term in formula.fixed.terms for label in term):
        tree = formula.variables[label].tree
        for name in names_in(tree):
            if isinstance(tree, Name) or isinstance(columns[label], FactorVariable):
                raw[name.text] = columns[label]
            else:
                values = column(data[name.text], name.text)
                raw[name.text] = Numeric(_numbers(values, name.text, name.position, formula.text)).at(complete)
    return raw


def _find(name: Name, data: Data, text: str) -> Any:
    if name.text in data:
        return data[name.text]
    matches = get_close_matches(name.text, [str(column) for column in data], n=1, cutoff=0.5)
    if matches:
        suggestion = {"column": name.text, "close": matches[0]}
        raise wrong(text, name.position, Message("formula.no_column_close", suggestion))
    details = {"column": name.text, "known": listed([str(column) for column in data])}
    raise wrong(text, name.position, Message("formula.no_column", details))


def _arithmetic(node: Node, data: Data, text: str, scaling: Scaling) -> Any:
    match node:
        case Number(value, _):
            return value
        case Name(name, position):
            values = column(data[name], name)
            if isinstance(values, FactorVariable):
                raise wrong(text, position, Message("formula.not_numeric", {"column": name}))
            return values.values
        case Brackets(inner, _) | Call("I", inner, _):
            return _arithmetic(inner, data, text, scaling)
        case Call("as.numeric", Name(name, position), _):
            return _numbers(column(data[name], name), name, position, text)
        case Call("scale", inner, _):
            numbers, label = np.atleast_1d(_arithmetic(inner, data, text, scaling)), unparse(node)
            if label not in scaling:
                finite = numbers[np.isfinite(numbers)]
                scaling[label] = (
                    (float(finite.mean()), float(finite.std(ddof=1))) if len(finite) > 1 else (np.nan, np.nan)
                )
            mean, deviation = scaling[label]
            return (numbers - mean) / deviation if scale_divides(node) else numbers - mean
        case Call(function, inner, position):
            if function not in FUNCTIONS:
                raise wrong(text, position, Message("formula.nested", {"function": function}))
            return FUNCTIONS[function](_arithmetic(inner, data, text, scaling))
        case Minus(operand, _):
            return -_arithmetic(operand, data, text, scaling)
        case Pair(operator, left, right, _):
            return OPERATORS[operator](*(_arithmetic(side, data, text, scaling) for side in (left, right)))


def _numbers(values: Column, name: str, position: int, text: str) -> Floats:
    """The values of a column as numbers, converted from text if necessary."""
    if not isinstance(values, FactorVariable):
        return values.values
    try:
        levels = np.array([*(float(level) for level in values.levels), np.nan])
    except ValueError:
        raise wrong(text, position, Message("formula.not_numeric", {"column": name})) from None
    return levels[values.codes]


def _recurrence(values: Floats, degree: int) -> tuple[float, ...]:
    """Shifts, then squared lengths, of the polynomials orthogonal over `values` (Kennedy and Gentle 1980).

    p[k + 1](x) = (x - shift[k]) p[k](x) - length[k] / length[k - 1] p[k - 1](x), with p[0] = 1.
    """
    shifts: list[float] = []
    lengths = [float(len(values))]
    previous, current = np.zeros(len(values)), np.ones(len(values))
    for k in range(degree):
        shifts.append(float(values @ current**2) / lengths[k])
        ratio = lengths[k] / lengths[k - 1] if k else 0.0
        previous, current = current, (values - shifts[k]) * current - ratio * previous
        lengths.append(float(current @ current))
    return (*shifts, *lengths)


def _polynomials(values: Floats, recurrence: tuple[float, ...]) -> Floats:
    """The polynomials of degree 1 and more, each with a length of 1 over the values of the recurrence."""
    degree = len(recurrence) // 2
    shifts, lengths = recurrence[:degree], recurrence[degree:]
    columns = [np.zeros(len(values)), np.ones(len(values))]
    for k in range(degree):
        ratio = lengths[k] / lengths[k - 1] if k else 0.0
        columns.append((values - shifts[k]) * columns[-1] - ratio * columns[-2])
    return np.column_stack(columns[2:]) / np.sqrt(lengths[1:])


def _check_lengths(lengths: dict[str, int]) -> None:
    if len(set(lengths.values())) > 1:
        raise FormulaError(
            Message("frame.lengths", {"columns": [f"{label} {length}" for label, length in lengths.items()]})
        )


def _removed_rows(missing: dict[str, Bools], complete: Bools) -> tuple[Message, ...]:
    removed = int((~complete).sum())
    if not removed:
        return ()
    causes = [
        Message("frame.missing", {"column": label, "n": int(rows.sum())})
        for label, rows in missing.items()
        if rows.any()
    ]
    return (Message("frame.left_out", {"n": removed, "rows": len(complete), "causes": causes}),)


Data = Mapping[str, Any]
Levels = Mapping[str, Sequence[Any]]
SHOWN = 8


@dataclass(frozen=True)
class FactorVariable:
    """A level for every row; -1 if it is missing or unknown."""

    codes: Ints
    levels: tuple[str, ...]

    @property
    def missing(self) -> Bools:
        return self.codes < 0

    def at(self, rows: Bools) -> FactorVariable:
        """The factor in these rows, without unused levels.

        >>> FactorVariable(np.array([0, 2, 1]), ("a", "b", "c")).at(np.array([True, True, False])).levels
        ('a', 'c')
        """
        codes = self.codes[rows]
        levels = np.unique(codes[codes >= 0])
        place = np.full(len(self.levels) + 1, -1)
        place[levels] = np.arange(len(levels))
        return FactorVariable(place[codes], tuple(self.levels[k] for k in levels))


@dataclass(frozen=True)
class Numeric:
    """A number for every row, or several for poly(); NaN if missing."""

    values: Floats

    @property
    def missing(self) -> Bools:
        finite = np.isfinite(self.values)
        return ~finite if finite.ndim == 1 else ~np.asarray(finite.all(axis=1))

    def at(self, rows: Bools) -> Numeric:
        return replace(self, values=self.values[rows])


Column = FactorVariable | Numeric


def column(values: Any, name: str, order: Sequence[Any] | None = None) -> Column:
    """A column of the data: a factor if it has text or booleans, numeric if it has numbers."""
    if order is not None or column_order(values) is not None:
        return as_factor(values, name, order)
    array = np.asarray(values)
    if array.ndim != 1:
        raise FormulaError(Message("frame.shape", {"column": name, "shape": str(array.shape)}))
    if array.dtype.kind in "iuf":
        return Numeric(array.astype(np.float64))
    if array.dtype.kind == "O" and all(_absent(value) or _is_number(value) for value in array):
        return Numeric(np.array([np.nan if _absent(value) else float(value) for value in array]))
    return as_factor(values, name)


def as_factor(values: Any, name: str, order: Sequence[Any] | None = None) -> FactorVariable:
    """A column as a factor, with its levels sorted or in the given order."""
    ordered_levels = order if order is not None else column_order(values)
    array = np.asarray(values)
    if array.dtype.kind not in "biufUTO":
        raise FormulaError(Message("frame.type", {"column": name, "type": str(array.dtype)}))
    absent = _missing_in(array)
    present = array[~absent]
    if array.dtype.kind == "O" and not all(_is_number(value) for value in present):
        present = np.array([label_of(value) for value in present], dtype=object)
    values_present, inverse = np.unique(present, return_inverse=True)
    labels = [label_of(value) for value in values_present]
    levels = labels if ordered_levels is None else [label_of(value) for value in ordered_levels]
    place = {label: number for number, label in enumerate(levels)}
    unlisted = [label for label in labels if label not in place]
    if unlisted:
        values = {"column": name, "unknown": listed(unlisted), "levels": listed(levels)}
        raise FormulaError(Message("frame.unknown_levels", values))
    codes = np.full(len(array), -1, dtype=np.int64)
    codes[~absent] = np.array([place[label] for label in labels], dtype=np.int64)[inverse]
    return FactorVariable(codes, tuple(levels))


def label_of(value: Any) -> str:
    """The name of a level, with whole numbers without a decimal point.

    >>> label_of(2.0), label_of("b"), label_of(np.bool_(True))
    ('2', 'b', 'True')
    """
    if _is_number(value) and float(value).is_integer():
        return str(int(value))
    return str(value)


def column_order(values: Any) -> list[Any] | None:
    """The order of levels in the dtype of a categorical column, or None for other columns.

    >>> column_order(["b", "a"]) is None
    True
    """
    dtype = getattr(values, "dtype", None)
    ordered = str(dtype) == "category" or str(dtype).startswith("Enum")
    return list(dtype.categories) if dtype is not None and ordered else None


def _missing_in(array: NDArray[Any]) -> Bools:
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind == "O":
        return np.array([_absent(value) for value in array], dtype=np.bool_)
    return np.zeros(len(array), dtype=np.bool_)


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def listed(labels: Sequence[str]) -> Message:
    """The first few names, in quotes, and the number of others."""
    names = [Message("models.name", {"name": label}) for label in labels[:SHOWN]]
    more = len(labels) - SHOWN if len(labels) > SHOWN else None
    return Message("models.names", {"names": names, "more": more})
