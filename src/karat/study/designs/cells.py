"""The cells of a factorial design: which rows of the item table stand for which item and condition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import polars as pl

from karat.errors import shown
from karat.study.designs.design_error import DesignError

Levels = tuple[str, ...]


@dataclass(frozen=True)
class Factor:
    """A factor, its levels, and whether items and participants come in one of them or in all.

    >>> Factor("order", ("subject first", "object first"), within_items=False).levels
    ('subject first', 'object first')
    """

    name: str
    levels: tuple[str, ...]
    within_items: bool = True
    within_participants: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise DesignError(f"The factor {shown(self.name)} needs one level or more, each named once.")


@dataclass(frozen=True)
class ItemCells:
    """One item: what it is between items, and for each group of participants and each condition its row."""

    item: str
    between: Levels
    trials: dict[Levels, dict[Levels, int]]


@dataclass(frozen=True)
class Cells:
    """All test items, the names of what their keys stand for, and the conditions that a full design would have."""

    items: tuple[ItemCells, ...]
    between_names: Levels
    group_names: Levels
    group_within_items: tuple[bool, ...]
    groups: tuple[Levels, ...]
    condition_names: Levels
    conditions: tuple[Levels, ...]


def read_cells(items: pl.DataFrame, factors: Sequence[Factor]) -> Cells:
    """The cells of the test rows, after what cannot be a design is refused."""
    _refuse_columns(items, factors)
    by_item = _rows_of_cells(items, factors)
    _refuse_levels(factors, by_item)
    between = [i for i, f in enumerate(factors) if not f.within_items and f.within_participants]
    group = [i for i, f in enumerate(factors) if not f.within_participants]
    rotated = [i for i, f in enumerate(factors) if f.within_items and f.within_participants]
    read = []
    for item, own in by_item.items():
        trials: dict[Levels, dict[Levels, int]] = {}
        for cell, row in own.items():
            trials.setdefault(_picked(cell, group), {})[_picked(cell, rotated)] = row
        read.append(ItemCells(item, _picked(next(iter(own)), between), trials))
    return Cells(
        tuple(read),
        tuple(factors[i].name for i in between),
        tuple(factors[i].name for i in group),
        tuple(factors[i].within_items for i in group),
        tuple(product(*(factors[i].levels for i in group))),
        tuple(factors[i].name for i in rotated),
        tuple(product(*(factors[i].levels for i in rotated))),
    )


def _rows_of_cells(items: pl.DataFrame, factors: Sequence[Factor]) -> dict[str, dict[Levels, int]]:
    """For each item the row of each combination of levels."""
    levels = {factor.name: items[factor.name].to_list() for factor in factors}
    names = [str(item) for item in items["item"].to_list()]
    by_item: dict[str, dict[Levels, int]] = {}
    for row in _test_rows(items):
        cell = tuple(_level(factor, levels[factor.name][row], names[row], row) for factor in factors)
        own = by_item.setdefault(names[row], {})
        if cell in own:
            raise DesignError(
                f"Item {shown(names[row])} has two rows in the condition "
                f"{spelled([f.name for f in factors], cell)}. Name them as two items, or leave one out.",
                (own[cell], row),
            )
        own[cell] = row
    return by_item


def spelled(names: Iterable[str], levels: Iterable[str]) -> str:
    """A condition in words.

    >>> spelled(["order", "case"], ["SO", "marked"])
    'order = SO, case = marked'
    """
    return ", ".join(f"{name} = {level}" for name, level in zip(names, levels, strict=True)) or "of all items"


def _picked(cell: Levels, places: Sequence[int]) -> Levels:
    return tuple(cell[i] for i in places)


def _test_rows(items: pl.DataFrame) -> list[int]:
    if "function" not in items.columns:
        return list(range(items.height))
    return [row for row, function in enumerate(items["function"].to_list()) if function == "test"]


def _level(factor: Factor, value: object, item: str, row: int) -> str:
    if value is None or str(value) not in factor.levels:
        what = "no level" if value in (None, "") else f"the unknown level {shown(str(value))}"
        raise DesignError(
            f"Item {shown(item)} has {what} of the factor {shown(factor.name)}. "
            f"Write one of {', '.join(factor.levels)}.",
            (row,),
        )
    return str(value)


def _refuse_columns(items: pl.DataFrame, factors: Sequence[Factor]) -> None:
    for column in ["item", *(factor.name for factor in factors)]:
        if column not in items.columns:
            raise DesignError(f'The item table has no column "{column}". Add it.')
    if len({factor.name for factor in factors}) < len(factors):
        raise DesignError("Two factors have the same name. Name each factor once.")
    if not _test_rows(items):
        raise DesignError('The item table has no row with the function "test". Add the test items.')


def _refuse_levels(factors: Sequence[Factor], by_item: dict[str, dict[Levels, int]]) -> None:
    for place, factor in enumerate(factors):
        used = {cell[place] for own in by_item.values() for cell in own}
        for level in factor.levels:
            if level not in used:
                raise DesignError(
                    f"No test item has the level {shown(level)} of the factor {shown(factor.name)}. "
                    "Add items, or drop the level."
                )
        for item, own in by_item.items() if not factor.within_items else ():
            if len(found := sorted({cell[place] for cell in own})) > 1:
                raise DesignError(
                    f"Item {shown(item)} has the levels {' and '.join(found)} of {shown(factor.name)}, which is "
                    "between items. Declare the factor as within items, or name the rows as two items."
                )
