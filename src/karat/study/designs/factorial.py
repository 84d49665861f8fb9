"""Latin-square lists for any factorial design: within or between items, within or between participants.

The n-th item of a group of items is in the (n + l)-th condition of list l. So over as many lists as there are
conditions each item is seen once in each, and no participant sees an item twice. If items lack conditions, the lists
come from an edge colouring instead (`balance.even_lists`), which is as even as such items allow. Notes on imbalance are
counted from the lists themselves.

The formula of a factorial design has all conditions with their interactions, and the slopes that the design allows. The
random effects are the largest that the design supports (Barr, Levy, Scheepers and Tily 2013): participants and items
have an intercept, and a slope for every condition that varies within them. A slope needs more than one answer in most
cells of a participant (or item), because one answer cannot distinguish it from chance. With more than four effects per
participant or item, their correlations are omitted, because a study hardly ever supports them. `karat measure` fits
this formula, and `karat power` simulates its test.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import lcm, prod
from typing import TYPE_CHECKING, Any

import polars as pl

from karat.judgments.message_tables import listed
from karat.judgments.scales import Binary, Continuous, Magnitude, Nominal, Ordinal, Scale
from karat.messages import Message
from karat.study.designs.balance import DesignError, even_lists

if TYPE_CHECKING:
    from karat.models.glrm.families import FamilyName

__all__ = ["DesignFactor", "DesignFormula", "Lists", "answer_family", "factorial", "largest_formula", "quoted"]


@dataclass(frozen=True)
class Lists:
    """The rows of the item table that the participants of each list see, and notes on imbalance."""

    rows: tuple[tuple[int, ...], ...]
    notes: tuple[Message, ...] = ()


def factorial(
    items: pl.DataFrame, factors: Mapping[str, DesignFactor] | Sequence[DesignFactor], lists: int | None = None
) -> Lists:
    """Lists that counterbalance the test items over their conditions; all other rows are in every list.

    By default there are as many lists as an item has conditions, for every combination of levels between participants.
    Then no list has an item twice, the conditions within each group of items are equally frequent in a list (difference
    at most one, none if the items are a multiple of the conditions), and over all lists every item occurs equally often
    in each of its conditions.
    """
    cells = read_cells(items, list(factors.values() if isinstance(factors, Mapping) else factors))
    groups = [group for group in cells.groups if any(group in item.trials for item in cells.items)]
    most = max(len(options) for item in cells.items for options in item.trials.values())
    wanted = most * len(groups) if lists is None else lists
    if wanted < len(groups):
        values = {"n": wanted, "groups": len(groups), "factors": list(cells.group_names) or None}
        advice = Message("design.more_lists", {"n": len(groups)})
        raise DesignError(Message("design.too_few_lists", {**values, "advice": advice}))
    group_of = [groups[number % len(groups)] for number in range(wanted)]
    seen: list[ListTrial] = []
    for group in groups:
        numbers = [number for number in range(wanted) if group_of[number] == group]
        seen += _seen_in_group(cells, group, numbers)
    always = set(range(items.height)).difference(_test_rows(items))
    rows = [[trial.row for trial in seen if trial.number == number] for number in range(wanted)]
    notes = (
        *_missing(cells, groups), *_conditions_in_lists(cells, seen), *_items_over_lists(cells, groups, group_of, seen),
        *_lists(cells, groups, group_of, seen),
    )  # fmt: skip
    return Lists(tuple(tuple(sorted([*always, *rows_of_list])) for rows_of_list in rows), notes)


def _seen_in_group(cells: Cells, group: Levels, numbers: Sequence[int]) -> list[ListTrial]:
    """The trials in the lists of one group of participants, group of items by group of items."""
    seen = []
    offset = 0
    for between, members in _items_by_kind(cells, group).items():
        options = [[c for c in cells.conditions if c in item.trials[group]] for item in members]
        if all(choices == options[0] for choices in options):
            plan = [
                [choices[(offset + place + turn) % len(choices)] for place, choices in enumerate(options)]
                for turn in range(len(numbers))
            ]
            # The next group of items continues where this one ends, so that the whole list is even as well.
            offset += len(members)
        else:
            plan = even_lists(options, len(numbers))
        seen += [
            ListTrial(number, group, between, item.item, condition, item.trials[group][condition])
            for number, conditions in zip(numbers, plan, strict=True)
            for item, condition in zip(members, conditions, strict=True)
        ]
    return seen


Levels = tuple[str, ...]


@dataclass(frozen=True)
class DesignFactor:
    """A factor, its levels, and whether items and participants have one of them or all."""

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
    """An item: its levels between items, and its row for each group of participants and each condition."""

    item: str
    between: Levels
    trials: dict[Levels, dict[Levels, int]]


@dataclass(frozen=True)
class Cells:
    """All test items, the names of the factors in their keys, and the conditions of a complete design."""

    items: tuple[ItemCells, ...]
    between_names: Levels
    group_names: Levels
    group_within_items: tuple[bool, ...]
    groups: tuple[Levels, ...]
    condition_names: Levels
    conditions: tuple[Levels, ...]


def read_cells(items: pl.DataFrame, factors: Sequence[DesignFactor]) -> Cells:
    """The cells of the test rows; DesignError if they are no design."""
    for column in ("item", *(factor.name for factor in factors)):
        if column not in items.columns:
            raise DesignError(Message("design.no_column", {"column": column, "advice": Message("design.add_column")}))
    if len({factor.name for factor in factors}) < len(factors):
        raise DesignError(Message("design.factor_twice", {"advice": Message("design.name_once")}))
    if not _test_rows(items):
        raise DesignError(Message("design.no_test_items", {"advice": Message("design.add_test_items")}))
    by_item = _rows_of_cells(items, factors)
    _refuse_levels(factors, by_item)
    between = [i for i, f in enumerate(factors) if not f.within_items and f.within_participants]
    group = [i for i, f in enumerate(factors) if not f.within_participants]
    rotated = [i for i, f in enumerate(factors) if f.within_items and f.within_participants]
    read = []
    for item, rows in by_item.items():
        trials: dict[Levels, dict[Levels, int]] = {}
        for cell, row in rows.items():
            trials.setdefault(_picked(cell, group), {})[_picked(cell, rotated)] = row
        read.append(ItemCells(item, _picked(next(iter(rows)), between), trials))
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
    """The row of each combination of levels, by item."""
    levels = {factor.name: items[factor.name].to_list() for factor in factors}
    names = [str(item) for item in items["item"].to_list()]
    by_item: dict[str, dict[Levels, int]] = {}
    for row in _test_rows(items):
        cell = tuple(_level(factor, levels[factor.name][row], names[row], row) for factor in factors)
        cells = by_item.setdefault(names[row], {})
        if cell in cells:
            condition = assigned([factor.name for factor in factors], cell) or None
            values = {"item": names[row], "condition": condition, "advice": Message("design.two_items")}
            raise DesignError(Message("design.cell_twice", values), (cells[cell], row))
        cells[cell] = row
    return by_item


def assigned(names: Iterable[str], levels: Iterable[str]) -> list[str]:
    """A condition as `factor = level` for each factor."""
    return [f"{name} = {level}" for name, level in zip(names, levels, strict=True)]


def spelled(names: Iterable[str], levels: Iterable[str]) -> str:
    """A condition in words."""
    return ", ".join(assigned(names, levels)) or "of all items"


def _picked(cell: Levels, places: Sequence[int]) -> Levels:
    return tuple(cell[i] for i in places)


def _test_rows(items: pl.DataFrame) -> list[int]:
    if "function" not in items.columns:
        return list(range(items.height))
    return [row for row, function in enumerate(items["function"].to_list()) if function == "test"]


def _level(factor: DesignFactor, value: object, item: str, row: int) -> str:
    if value is None or str(value) not in factor.levels:
        advice = Message("design.use_levels", {"levels": list(factor.levels)})
        values = {"item": item, "factor": factor.name, "advice": advice}
        if value in (None, ""):
            raise DesignError(Message("design.no_level", values), (row,))
        raise DesignError(Message("design.unknown_level", {**values, "level": str(value)}), (row,))
    return str(value)


def _refuse_levels(factors: Sequence[DesignFactor], by_item: dict[str, dict[Levels, int]]) -> None:
    for place, factor in enumerate(factors):
        used = {cell[place] for cells in by_item.values() for cell in cells}
        for level in factor.levels:
            if level not in used:
                advice = Message("design.add_items_or_remove_level")
                raise DesignError(
                    Message("design.unused_level", {"level": level, "factor": factor.name, "advice": advice})
                )
        for item, cells in by_item.items() if not factor.within_items else ():
            if len(occurring := sorted({cell[place] for cell in cells})) > 1:
                values = {"item": item, "levels": occurring, "factor": factor.name}
                advice = Message("design.within_or_two_items")
                raise DesignError(Message("design.between_items", {**values, "advice": advice}))


SHOWN_ITEMS = 5


@dataclass(frozen=True)
class ListTrial:
    """A test trial of a list: the list and its group of participants, the item with its condition, and its row."""

    number: int
    group: Levels
    between: Levels
    item: str
    condition: Levels
    row: int


def _missing(cells: Cells, groups: Sequence[Levels]) -> list[Message]:
    """Conditions that no item has, and items that lack one."""
    messages = [
        Message("design.group_unseen", {"group": assigned(cells.group_names, group)})
        for group in cells.groups
        if group not in groups
    ]
    for group in groups:
        for between, members in _items_by_kind(cells, group).items():
            where = _where(cells, group, between)
            for condition in cells.conditions:
                lacking = [item.item for item in members if condition not in item.trials[group]]
                values = {"condition": assigned(cells.condition_names, condition), "where": where}
                if len(lacking) == len(members):
                    messages.append(Message("design.condition_missing", values))
                elif lacking:
                    messages.append(Message("design.items_lack_condition", {**_items_listed(lacking), **values}))
    partly = [item.item for item in cells.items if set(item.trials) < _due(cells, item)]
    if partly:
        values = {**_items_listed(partly), "factors": list(cells.group_names)}
        messages.append(Message("design.items_lack_level", values))
    return messages


def _items_by_kind(cells: Cells, group: Levels) -> dict[Levels, list[ItemCells]]:
    """The items that a group of participants sees, by their levels between items."""
    kinds: dict[Levels, list[ItemCells]] = {}
    for item in cells.items:
        if group in item.trials:
            kinds.setdefault(item.between, []).append(item)
    return kinds


def _due(cells: Cells, item: ItemCells) -> set[Levels]:
    """The groups of participants that should see an item: all with its levels of factors between items."""
    first = next(iter(item.trials))
    fixed = [place for place, within in enumerate(cells.group_within_items) if not within]
    return {group for group in cells.groups if all(group[place] == first[place] for place in fixed)}


def _items_listed(items: Sequence[str]) -> dict[str, Any]:
    return {"n": len(items), "items": listed(items, SHOWN_ITEMS)}


def _where(cells: Cells, group: Levels, between: Levels) -> list[str] | None:
    return assigned((*cells.group_names, *cells.between_names), (*group, *between)) or None


def _conditions_in_lists(cells: Cells, seen: Sequence[ListTrial]) -> list[Message]:
    """Conditions of a group of items with different frequencies in one list."""
    counts = Counter((trial.number, trial.group, trial.between, trial.condition) for trial in seen)
    present: dict[tuple[Levels, Levels], dict[Levels, None]] = {}
    for item in cells.items:
        for group, trials in item.trials.items():
            present.setdefault((group, item.between), {}).update(dict.fromkeys(trials))
    lines = []
    for (group, between), conditions in present.items():
        numbers = sorted({trial.number for trial in seen if trial.group == group})
        each = [[counts[number, group, between, condition] for condition in conditions] for number in numbers]
        size = sum(each[0])
        uneven = [frequencies for frequencies in each if max(frequencies) > min(frequencies)]
        if uneven:
            advice = Message("design.even_items", {"n": len(conditions)})
            values: dict[str, Any] = {"n": size, "where": _where(cells, group, between), "conditions": len(conditions)}
            values |= {"least": min(map(min, uneven)), "most": max(map(max, uneven)), "advice": advice}
            lines.append(Message("design.uneven_conditions", values))
    return lines


def _items_over_lists(
    cells: Cells, groups: Sequence[Levels], group_of: Sequence[Levels], seen: Sequence[ListTrial]
) -> list[Message]:
    """Items that occur more often in one of their conditions than in another."""
    counts = Counter((trial.group, trial.item, trial.condition) for trial in seen)
    lines = []
    for group in groups:
        lists = group_of.count(group)
        sizes = [len(item.trials[group]) for item in cells.items if group in item.trials]
        even = lcm(*sizes)
        if lists % even:
            each = [
                [counts[group, item.item, condition] for condition in item.trials[group]]
                for item in cells.items if group in item.trials
            ]  # fmt: skip
            never = sum(frequencies.count(0) for frequencies in each)
            values = {
                "n": lists,
                "where": assigned(cells.group_names, group) or None,
                "least": min(map(min, each)),
                "most": max(map(max, each)),
                "never": never or None,
                "sentences": sum(map(len, each)),
                "advice": Message("design.even_lists", {"n": even}),
            }
            lines.append(Message("design.uneven_items", values))
    return lines


def _lists(
    cells: Cells, groups: Sequence[Levels], group_of: Sequence[Levels], seen: Sequence[ListTrial]
) -> list[Message]:
    """Lists of unequal length, and groups of participants with unequal numbers of lists."""
    lines = []
    number_of = [group_of.count(group) for group in groups]
    if max(number_of) > min(number_of):
        advice = Message("design.even_lists", {"n": len(groups)})
        values = {"n": len(group_of), "groups": len(groups), "factors": list(cells.group_names)}
        values |= {"least": min(number_of), "most": max(number_of), "advice": advice}
        lines.append(Message("design.uneven_groups", values))
    lengths = Counter(trial.number for trial in seen)
    if max(lengths.values()) > min(lengths.values()):
        values = {"least": min(lengths.values()), "most": max(lengths.values())}
        lines.append(Message("design.uneven_lengths", values))
    return lines


GROUPS = ("participant", "item")
MOST = 0.5
"""More than this share of participants (or items) must see several levels for a condition to vary within them."""
CORRELATED = 4
"""The largest number of effects per participant or item that may correlate."""
LARGEST = 1e9
"""Above this (squared effects of the smaller group times effects of the larger one), a fit takes minutes."""
PLAIN = re.compile(r"[A-Za-z.][\w.]*")


@dataclass(frozen=True)
class DesignFormula:
    """A formula, simpler ones to fall back on, and the notes on it."""

    text: str
    simpler: tuple[str, ...]
    """The formula without correlations of random effects, if it has any, and the one with intercepts alone."""
    notes: tuple[Message, ...]


def answer_family(scale: Scale) -> FamilyName | None:
    """The family of models for the answers of a scale; None for choices and for labels without an order."""
    if isinstance(scale, Ordinal):
        return "ordinal" if len(scale.levels) > 2 else "binary"
    if isinstance(scale, Binary) or (isinstance(scale, Nominal) and scale.is_binary):
        return "binary"
    return "gaussian" if isinstance(scale, Magnitude | Continuous) else None


def quoted(name: str) -> str:
    """A column name in a formula: in backticks if it is not a plain word."""
    return name if PLAIN.fullmatch(name) else f"`{name}`"


def largest_formula(rows: pl.DataFrame, conditions: Sequence[str]) -> DesignFormula:
    """The maximal formula for these conditions."""
    fixed = " * ".join(map(quoted, conditions))
    rows = rows.drop_nulls(list(conditions))
    notes: list[Message] = []
    slopes = {group: _slopes(rows, conditions, group, notes) for group in GROUPS}
    notes += _in_time(rows, slopes)
    bars = {group: "|" if _effects(rows, terms) <= CORRELATED else "||" for group, terms in slopes.items()}
    notes += [Message("contrasts.many_slopes", {"group": _group(group)}) for group, bar in bars.items() if bar == "||"]
    largest = [_random(group, terms, bars[group]) for group, terms in slopes.items()]
    apart = [_random(group, terms, "||") for group, terms in slopes.items()]
    intercepts = [_random(group, [], "|") for group in GROUPS]
    formulas = (f"response ~ {fixed} + {' + '.join(terms)}" for terms in (largest, apart, intercepts))
    text, *simpler = dict.fromkeys(formulas)
    return DesignFormula(text, tuple(simpler), tuple(notes))


def _random(group: str, slopes: Sequence[tuple[str, ...]], bar: str) -> str:
    """The random effects of a group in a formula."""
    return f"(1 + {_terms(slopes)} {bar} {group})" if slopes else f"(1 | {group})"


def _in_time(rows: pl.DataFrame, slopes: dict[str, list[tuple[str, ...]]]) -> list[Message]:
    """Remove slopes, those of the larger group first, until the fit takes seconds; returns notes on these."""
    notes = []
    sizes = {group: rows[group].n_unique() for group in slopes}
    for group in sorted(slopes, key=lambda name: -sizes[name]):
        few, many = sorted(_effects(rows, terms) * sizes[name] for name, terms in slopes.items())
        if few**2 * many > LARGEST and slopes[group]:
            slopes[group] = []
            notes.append(Message("contrasts.too_many_slopes", {"group": _group(group), "n": few + many}))
    return notes


def _slopes(rows: pl.DataFrame, conditions: Sequence[str], group: str, notes: list[Message]) -> list[tuple[str, ...]]:
    """The terms with a slope for each level of a group; `notes` get the reasons for the others."""
    several = rows.group_by(group).agg(pl.col(name).n_unique() > 1 for name in conditions)
    varying = [name for name in conditions if several[name].sum() > MOST * several.height]
    absent = [name for name in conditions if name not in varying]
    notes += [Message("contrasts.not_within", {"condition": name, "group": _group(group)}) for name in absent]
    terms = [term for size in range(1, len(varying) + 1) for term in combinations(varying, size)]
    # A slope needs more than one answer in most cells of a participant or item.
    cells = [rows.group_by(group, *term).len()["len"] for term in terms]
    single = [term for term, sizes in zip(terms, cells, strict=True) if (sizes > 1).sum() <= MOST * len(sizes)]
    if single:
        values = {"terms": [":".join(term) for term in single], "group": _group(group)}
        notes.append(Message("contrasts.one_answer_per_cell", values))
    return [term for term in terms if not any(set(part) <= set(term) for part in single)]


def _group(group: str) -> Message:
    return Message("contrasts.participants") if group == "participant" else Message("contrasts.items")


def _effects(rows: pl.DataFrame, slopes: Sequence[tuple[str, ...]]) -> int:
    """The number of columns of the random effects, with the intercept."""
    names = {name for term in slopes for name in term}
    sizes = {name: 1 if rows[name].dtype.is_numeric() else rows[name].n_unique() - 1 for name in names}
    return 1 + sum(prod(sizes[name] for name in term) for term in slopes)


def _terms(slopes: Sequence[tuple[str, ...]]) -> str:
    """The terms in a formula, with * if all are there."""
    names = list(dict.fromkeys(name for term in slopes for name in term))
    if len(slopes) == 2 ** len(names) - 1:
        return " * ".join(map(quoted, names))
    return " + ".join(":".join(map(quoted, term)) for term in slopes)
