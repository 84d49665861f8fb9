"""The cells of a factorial design: which rows of the item table stand for which item and condition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import polars as pl

from karat.messages import Message
from karat.study.designs.design_error import DesignError

Levels = tuple[str, ...]


@dataclass(frozen=True)
class DesignFactor:
    """A factor, its levels, and whether items and participants come in one of them or in all.

    >>> DesignFactor("order", ("subject first", "object first"), within_items=False).levels
    ('subject first', 'object first')
    """

    name: str
    levels: tuple[str, ...]
    within_items: bool = True
    within_participants: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise DesignError(Message("design.levels", {"factor": self.name}))


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


def read_cells(items: pl.DataFrame, factors: Sequence[DesignFactor]) -> Cells:
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


def _rows_of_cells(items: pl.DataFrame, factors: Sequence[DesignFactor]) -> dict[str, dict[Levels, int]]:
    """For each item the row of each combination of levels."""
    levels = {factor.name: items[factor.name].to_list() for factor in factors}
    names = [str(item) for item in items["item"].to_list()]
    by_item: dict[str, dict[Levels, int]] = {}
    for row in _test_rows(items):
        cell = tuple(_level(factor, levels[factor.name][row], names[row], row) for factor in factors)
        own = by_item.setdefault(names[row], {})
        if cell in own:
            condition = assigned([factor.name for factor in factors], cell) or None
            values = {"item": names[row], "condition": condition, "advice": Message("design.two_items")}
            raise DesignError(Message("design.cell_twice", values), (own[cell], row))
        own[cell] = row
    return by_item


def assigned(names: Iterable[str], levels: Iterable[str]) -> list[str]:
    """A condition, factor by factor.

    >>> assigned(["order", "case"], ["SO", "marked"])
    ['order = SO', 'case = marked']
    """
    return [f"{name} = {level}" for name, level in zip(names, levels, strict=True)]


def spelled(names: Iterable[str], levels: Iterable[str]) -> str:
    """A condition in words.

    >>> spelled(["order", "case"], ["SO", "marked"])
    'order = SO, case = marked'
    """
    return ", ".join(assigned(names, levels)) or "of all items"


def _picked(cell: Levels, places: Sequence[int]) -> Levels:
    return tuple(cell[i] for i in places)


def _test_rows(items: pl.DataFrame) -> list[int]:
    if "function" not in items.columns:
        return list(range(items.height))
    return [row for row, function in enumerate(items["function"].to_list()) if function == "test"]


def _level(factor: DesignFactor, value: object, item: str, row: int) -> str:
    if value is None or str(value) not in factor.levels:
        values = {
            "item": item,
            "factor": factor.name,
            "advice": Message("design.use_levels", {"levels": list(factor.levels)}),
        }
        if value in (None, ""):
            raise DesignError(Message("design.no_level", values), (row,))
        raise DesignError(Message("design.unknown_level", {**values, "level": str(value)}), (row,))
    return str(value)


def _refuse_columns(items: pl.DataFrame, factors: Sequence[DesignFactor]) -> None:
    for column in ["item", *(factor.name for factor in factors)]:
        if column not in items.columns:
            raise DesignError(Message("design.no_column", {"column": column, "advice": Message("design.add_column")}))
    if len({factor.name for factor in factors}) < len(factors):
        raise DesignError(Message("design.factor_twice", {"advice": Message("design.name_once")}))
    if not _test_rows(items):
        raise DesignError(Message("design.no_test_items", {"advice": Message("design.add_test_items")}))


def _refuse_levels(factors: Sequence[DesignFactor], by_item: dict[str, dict[Levels, int]]) -> None:
    for place, factor in enumerate(factors):
        used = {cell[place] for own in by_item.values() for cell in own}
        for level in factor.levels:
            if level not in used:
                advice = Message("design.add_items_or_remove_level")
                raise DesignError(
                    Message("design.unused_level", {"level": level, "factor": factor.name, "advice": advice})
                )
        for item, own in by_item.items() if not factor.within_items else ():
            if len(found := sorted({cell[place] for cell in own})) > 1:
                values = {"item": item, "levels": found, "factor": factor.name}
                advice = Message("design.within_or_two_items")
                raise DesignError(Message("design.between_items", {**values, "advice": advice}))
