"""A column of the data as a factor with its levels, or as numbers.

Text and truth values are factors, numbers are numeric. The levels of a factor are sorted (text by its characters, as R
does in its C locale; numbers by size), unless the column carries an order of its own (a pandas Categorical, a polars
Enum) or `levels` gives one. Levels that no row has are left out. None and NaN are missing values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.messages import Message
from karat.models.glrm.syntax import FormulaError
from karat.types import Bools, Floats, Ints

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
    """A number for every row; NaN where it is missing."""

    values: Floats

    @property
    def missing(self) -> Bools:
        return ~np.isfinite(self.values)

    def at(self, rows: Bools) -> Numeric:
        return replace(self, values=self.values[rows])


Column = FactorVariable | Numeric


def column(values: Any, name: str, order: Sequence[Any] | None = None) -> Column:
    """A column of the data as it comes: text and truth values make a factor, numbers are numeric.

    >>> column([1, 2, 4], "size").values.tolist(), column(["no", "yes", "no"], "seen").codes.tolist()
    ([1.0, 2.0, 4.0], [0, 1, 0])
    """
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
    """A column as a factor, with its levels sorted or in the given order.

    >>> as_factor([10, 9, 9], "block").levels
    ('9', '10')
    """
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
        absent: Bools = np.isnan(array)
        return absent
    if array.dtype.kind == "O":
        return np.array([_absent(value) for value in array], dtype=np.bool_)
    return np.zeros(len(array), dtype=np.bool_)


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def listed(labels: Sequence[str]) -> Message:
    """Names in quotes, the first few of many.

    >>> str(listed(["a", "b"]))
    '“a”, “b”'
    """
    names = [Message("models.name", {"name": label}) for label in labels[:SHOWN]]
    more = len(labels) - SHOWN if len(labels) > SHOWN else None
    return Message("models.names", {"names": names, "more": more})
