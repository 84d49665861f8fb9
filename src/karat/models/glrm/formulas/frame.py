"""The values of a formula's variables, in the rows that have them all.

A row that lacks any variable of the formula (its response, a predictor or a group) is left out whole, and counted.
Logarithms and roots of numbers that have none count as missing.

Text and truth values are factors, numbers are numeric. The levels of a factor are sorted (text by its characters, as R
does in its C locale; numbers by size), unless the column carries an order of its own (a pandas Categorical, a polars
Enum) or `levels` gives one. Levels that no row has are left out. None and NaN are missing values.
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
    written,
    wrong,
)
from karat.types import Bools, Floats, Ints

Scaling = dict[str, tuple[float, ...]]
"""What scale() took from the data that were fitted, the mean and the deviation, and the recurrence of poly()."""
FUNCTIONS = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "exp": np.exp, "sqrt": np.sqrt,
    "abs": np.abs,
}  # fmt: skip
OPERATORS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": np.power}


@dataclass(frozen=True)
class Frame:
    """The variables of a formula in the rows that have them all."""

    response: Column
    columns: dict[str, Column]
    groups: dict[tuple[str, ...], FactorVariable]
    kept: Bools
    scaling: Scaling
    raw: dict[str, Column]
    """The columns of the data that the fixed effects read, before any function; from them marginal means are made."""
    notes: tuple[Message, ...]

    @property
    def rows(self) -> int:
        return int(self.kept.sum())


def make_frame(formula: Formula, data: Data, levels: Levels | None = None) -> Frame:
    """Look up every variable of the formula and leave out the rows that lack one.

    >>> from karat.models.glrm.formulas.formula import read_formula
    >>> data = {"y": [1.0, 2.0, None, 4.0], "a": ["u", "v", "u", "w"], "g": [1, 1, 2, 2]}
    >>> frame = make_frame(read_formula("y ~ a + (1 | g)"), data)
    >>> frame.columns["a"].levels, str(frame.notes[0])
    (('u', 'v', 'w'), '1 of 4 rows was left out: y is missing in 1.')
    """
    scaling: Scaling = {}
    orders = dict(levels or {})
    for name in orders:
        if name not in data and not any(name == f"{function}({known})" for known in data for function in FACTORS):
            raise FormulaError(Message("frame.unknown_column", {"column": name}))
    response = evaluate(formula.response, data, orders, scaling)
    columns = {label: evaluate(variable, data, orders, scaling) for label, variable in formula.variables.items()}
    groups = {part.group: group_factor(part, formula.text, data, orders) for part in formula.random}
    named: dict[str, Column] = {formula.response.label: response, **columns}
    named.update({":".join(group): factor for group, factor in groups.items()})
    _check_lengths({label: len(column.missing) for label, column in named.items()})
    missing = {label: column.missing for label, column in named.items()}
    kept = ~np.any(list(missing.values()), axis=0)
    notes = _left_out(missing, kept)
    if not kept.any():
        raise FormulaError(Message("frame.no_rows", {"why": notes[0] if notes else None}))
    columns = {label: column.at(kept) for label, column in columns.items()}
    groups = {group: factor.at(kept) for group, factor in groups.items()}
    return Frame(response.at(kept), columns, groups, kept, scaling, _raw(formula, data, columns, kept), notes)


def evaluate(variable: FormulaVariable, data: Data, levels: Levels, scaling: Scaling) -> Column:
    """The values of one variable. `scaling` is read where it knows the variable and filled where it does not."""
    tree = variable.tree
    if isinstance(tree, Name):
        return column(_find(tree, data, variable.text), tree.text, levels.get(tree.text))
    if isinstance(tree, Call) and tree.function in FACTORS and isinstance(tree.argument, Name):
        name = tree.argument
        return as_factor(_find(name, data, variable.text), name.text, levels.get(variable.label, levels.get(name.text)))
    lengths = {name.text: len(np.asarray(_find(name, data, variable.text))) for name in names_in(tree)}
    if not lengths:
        raise wrong(variable.text, tree.position, Message("formula.no_column_read", {"term": variable.label}))
    # A column with one row would otherwise be repeated in arithmetic with others.
    _check_lengths(lengths)
    with np.errstate(all="ignore"):
        if isinstance(tree, Call) and tree.function == "poly":
            values = _arithmetic(tree.argument, data, variable.text, scaling)
            if variable.label not in scaling:
                if len(np.unique(values[np.isfinite(values)])) <= degree(tree):
                    about = {"term": variable.label, "degree": degree(tree)}
                    raise wrong(variable.text, tree.position, Message("formula.poly_values", about))
                scaling[variable.label] = _recurrence(values[np.isfinite(values)], degree(tree))
            return Numeric(_polynomials(values, scaling[variable.label]))
        return Numeric(_arithmetic(tree, data, variable.text, scaling))


def group_factor(part: RandomPart, text: str, data: Data, levels: Levels) -> FactorVariable:
    """The levels of a group; those of a:b are the pairs that occur."""
    factors = [as_factor(_find(Name(name, part.position), data, text), name, levels.get(name)) for name in part.group]
    if len(factors) == 1:
        return factors[0]
    stacked = np.stack([factor.codes for factor in factors], axis=1)
    some = (stacked >= 0).all(axis=1)
    pairs, inverse = np.unique(stacked[some], axis=0, return_inverse=True)
    codes = np.full(len(stacked), -1, dtype=np.int64)
    codes[some] = inverse.ravel()
    return FactorVariable(
        codes, tuple(":".join(f.levels[k] for f, k in zip(factors, pair, strict=True)) for pair in pairs)
    )


def _raw(formula: Formula, data: Data, columns: dict[str, Column], kept: Bools) -> dict[str, Column]:
    """The columns before any function; factors with the levels that were fitted."""
    raw: dict[str, Column] = {}
    for label in dict.fromkeys(label for term in formula.fixed.terms for label in term):
        tree = formula.variables[label].tree
        for name in names_in(tree):
            if isinstance(tree, Name) or isinstance(columns[label], FactorVariable):
                raw[name.text] = columns[label]
            else:
                read = column(data[name.text], name.text)
                raw[name.text] = Numeric(_numbers(read, name.text, name.position, formula.text)).at(kept)
    return raw


def _find(name: Name, data: Data, text: str) -> Any:
    if name.text in data:
        return data[name.text]
    near = get_close_matches(name.text, [str(known) for known in data], n=1, cutoff=0.5)
    if near:
        close = {"column": name.text, "close": near[0]}
        raise wrong(text, name.position, Message("formula.no_column_close", close))
    known = {"column": name.text, "known": listed([str(known) for known in data])}
    raise wrong(text, name.position, Message("formula.no_column", known))


def _arithmetic(node: Node, data: Data, text: str, scaling: Scaling) -> Any:
    match node:
        case Number(value, _):
            return value
        case Name(name, position):
            read = column(data[name], name)
            if isinstance(read, FactorVariable):
                raise wrong(text, position, Message("formula.not_numeric", {"column": name}))
            return read.values
        case Brackets(inner, _) | Call("I", inner, _):
            return _arithmetic(inner, data, text, scaling)
        case Call("as.numeric", Name(name, position), _):
            return _numbers(column(data[name], name), name, position, text)
        case Call("scale", inner, _):
            values, label = np.atleast_1d(_arithmetic(inner, data, text, scaling)), written(node)
            if label not in scaling:
                known = values[np.isfinite(values)]
                scaling[label] = (float(known.mean()), float(known.std(ddof=1))) if len(known) > 1 else (np.nan, np.nan)
            mean, deviation = scaling[label]
            return (values - mean) / deviation if scale_divides(node) else values - mean
        case Call(function, inner, position):
            if function not in FUNCTIONS:
                raise wrong(text, position, Message("formula.nested", {"function": function}))
            return FUNCTIONS[function](_arithmetic(inner, data, text, scaling))
        case Minus(operand, _):
            return -_arithmetic(operand, data, text, scaling)
        case Pair(operator, left, right, _):
            return OPERATORS[operator](*(_arithmetic(side, data, text, scaling) for side in (left, right)))


def _numbers(read: Column, name: str, position: int, text: str) -> Floats:
    """Numbers that were read as text."""
    if not isinstance(read, FactorVariable):
        return read.values
    try:
        levels = np.array([*(float(level) for level in read.levels), np.nan])
    except ValueError:
        raise wrong(text, position, Message("formula.not_numeric", {"column": name})) from None
    return levels[read.codes]


def _recurrence(values: Floats, degree: int) -> tuple[float, ...]:
    """Shifts, then squared lengths, of the polynomials that are orthogonal over some values (Kennedy and Gentle 1980).

    p[k + 1](x) = (x - shift[k]) p[k](x) - length[k] / length[k - 1] p[k - 1](x), with p[0] = 1.
    """
    shifts: list[float] = []
    lengths = [float(len(values))]
    before, now = np.zeros(len(values)), np.ones(len(values))
    for k in range(degree):
        shifts.append(float(values @ now**2) / lengths[k])
        share = lengths[k] / lengths[k - 1] if k else 0.0
        before, now = now, (values - shifts[k]) * now - share * before
        lengths.append(float(now @ now))
    return (*shifts, *lengths)


def _polynomials(values: Floats, recurrence: tuple[float, ...]) -> Floats:
    """The polynomials of degree 1 and more, each with a length of 1 over the values that they were made for."""
    degree = len(recurrence) // 2
    shifts, lengths = recurrence[:degree], recurrence[degree:]
    columns = [np.zeros(len(values)), np.ones(len(values))]
    for k in range(degree):
        share = lengths[k] / lengths[k - 1] if k else 0.0
        columns.append((values - shifts[k]) * columns[-1] - share * columns[-2])
    return np.column_stack(columns[2:]) / np.sqrt(lengths[1:])


def _check_lengths(lengths: dict[str, int]) -> None:
    if len(set(lengths.values())) > 1:
        raise FormulaError(
            Message("frame.lengths", {"columns": [f"{label} {length}" for label, length in lengths.items()]})
        )


def _left_out(missing: dict[str, Bools], kept: Bools) -> tuple[Message, ...]:
    lost = int((~kept).sum())
    if not lost:
        return ()
    causes = [
        Message("frame.missing", {"column": label, "n": int(rows.sum())})
        for label, rows in missing.items()
        if rows.any()
    ]
    return (Message("frame.left_out", {"n": lost, "rows": len(kept), "causes": causes}),)


Data = Mapping[str, Any]
Levels = Mapping[str, Sequence[Any]]
SHOWN = 8


@dataclass(frozen=True)
class FactorVariable:
    """A level for every row; -1 where it is missing or not known."""

    codes: Ints
    levels: tuple[str, ...]

    @property
    def missing(self) -> Bools:
        return self.codes < 0

    def at(self, rows: Bools) -> FactorVariable:
        """The rows that are kept, and the levels that they still have.

        >>> FactorVariable(np.array([0, 2, 1]), ("a", "b", "c")).at(np.array([True, True, False])).levels
        ('a', 'c')
        """
        codes = self.codes[rows]
        used = np.unique(codes[codes >= 0])
        place = np.full(len(self.levels) + 1, -1)
        place[used] = np.arange(len(used))
        return FactorVariable(place[codes], tuple(self.levels[k] for k in used))


@dataclass(frozen=True)
class Numeric:
    """A number for every row, or a row of them for poly(); NaN where it is missing."""

    values: Floats

    @property
    def missing(self) -> Bools:
        finite = np.isfinite(self.values)
        return ~finite if finite.ndim == 1 else ~np.asarray(finite.all(axis=1))

    def at(self, rows: Bools) -> Numeric:
        return replace(self, values=self.values[rows])


Column = FactorVariable | Numeric


def column(values: Any, name: str, order: Sequence[Any] | None = None) -> Column:
    """A column of the data as it comes: text and truth values make a factor, numbers are numeric."""
    if order is not None or own_order(values) is not None:
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
    given = order if order is not None else own_order(values)
    array = np.asarray(values)
    if array.dtype.kind not in "biufUTO":
        raise FormulaError(Message("frame.type", {"column": name, "type": str(array.dtype)}))
    absent = _missing_in(array)
    present = array[~absent]
    if array.dtype.kind == "O" and not all(_is_number(value) for value in present):
        present = np.array([label_of(value) for value in present], dtype=object)
    found, inverse = np.unique(present, return_inverse=True)
    labels = [label_of(value) for value in found]
    levels = labels if given is None else [label_of(value) for value in given]
    place = {label: number for number, label in enumerate(levels)}
    unknown = [label for label in labels if label not in place]
    if unknown:
        values = {"column": name, "unknown": listed(unknown), "levels": listed(levels)}
        raise FormulaError(Message("frame.unknown_levels", values))
    codes = np.full(len(array), -1, dtype=np.int64)
    codes[~absent] = np.array([place[label] for label in labels], dtype=np.int64)[inverse]
    return FactorVariable(codes, tuple(levels))


def label_of(value: Any) -> str:
    """The name of a level: whole numbers without a point.

    >>> label_of(2.0), label_of("b"), label_of(np.bool_(True))
    ('2', 'b', 'True')
    """
    if _is_number(value) and float(value).is_integer():
        return str(int(value))
    return str(value)


def own_order(values: Any) -> list[Any] | None:
    """The order of the levels that a categorical column carries itself; None for other columns.

    >>> own_order(["b", "a"]) is None
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
    """Names in quotes, the first few of many."""
    names = [Message("models.name", {"name": label}) for label in labels[:SHOWN]]
    more = len(labels) - SHOWN if len(labels) > SHOWN else None
    return Message("models.names", {"names": names, "more": more})
