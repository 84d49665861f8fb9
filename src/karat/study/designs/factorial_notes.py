"""What a set of lists leaves unbalanced, counted from the lists themselves and said in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

from karat.errors import counted, shown
from karat.study.designs.cells import Cells, ItemCells, Levels, spelled

SHOWN_ITEMS = 5


@dataclass(frozen=True)
class Seen:
    """One test trial of one list: whose list, which item in which condition, and its row."""

    number: int
    group: Levels
    between: Levels
    item: str
    condition: Levels
    row: int


def notes(cells: Cells, groups: Sequence[Levels], group_of: Sequence[Levels], seen: Sequence[Seen]) -> tuple[str, ...]:
    """All that is uneven, one sentence or two for each kind."""
    return (
        *_missing(cells, groups),
        *_conditions_in_lists(cells, seen),
        *_items_over_lists(cells, groups, group_of, seen),
        *_lists(cells, groups, group_of, seen),
    )


def _missing(cells: Cells, groups: Sequence[Levels]) -> list[str]:
    """Conditions that no item has, and items that lack one."""
    told = [
        f"No item has {spelled(cells.group_names, group)}: no list shows it." for group in cells.groups
        if group not in groups
    ]  # fmt: skip
    for group in groups:
        by_kind: dict[Levels, list[tuple[str, set[Levels]]]] = {}
        for item in cells.items:
            if group in item.trials:
                by_kind.setdefault(item.between, []).append((item.item, set(item.trials[group])))
        for between, members in by_kind.items():
            where = _where(cells, group, between)
            for condition in cells.conditions:
                lacking = [item for item, own in members if condition not in own]
                name = spelled(cells.condition_names, condition)
                if len(lacking) == len(members):
                    told.append(
                        f"No item{where} has the condition {name}: the design is incomplete and effects and their "
                        "interaction cannot be told apart there."
                    )
                elif lacking:
                    told.append(
                        f"{_named(lacking)} the condition {name}{where}: it is seen less often than other conditions."
                    )
    partly = [item.item for item in cells.items if set(item.trials) < _due(cells, item)]
    if partly:
        told.append(f"{_named(partly)} some level of {' and '.join(cells.group_names)}: not all lists show the item.")
    return told


def _due(cells: Cells, item: ItemCells) -> set[Levels]:
    """The groups of participants that should see an item: all that agree with it in what is between items."""
    own = next(iter(item.trials))
    fixed = [place for place, within in enumerate(cells.group_within_items) if not within]
    return {group for group in cells.groups if all(group[place] == own[place] for place in fixed)}


def _named(items: Sequence[str]) -> str:
    if len(items) == 1:
        return f"Item {shown(items[0])} lacks"
    more = f" and {len(items) - SHOWN_ITEMS} more" if len(items) > SHOWN_ITEMS else ""
    return f"{len(items)} items ({', '.join(items[:SHOWN_ITEMS])}{more}) lack"


def _where(cells: Cells, group: Levels, between: Levels) -> str:
    levels = (*group, *between)
    return f" with {spelled((*cells.group_names, *cells.between_names), levels)}" if levels else ""


def _conditions_in_lists(cells: Cells, seen: Sequence[Seen]) -> list[str]:
    """Conditions that one list shows in different numbers, within a group of items."""
    counts = Counter((one.number, one.group, one.between, one.condition) for one in seen)
    present: dict[tuple[Levels, Levels], dict[Levels, None]] = {}
    for item in cells.items:
        for group, own in item.trials.items():
            present.setdefault((group, item.between), {}).update(dict.fromkeys(own))
    told = []
    for (group, between), conditions in present.items():
        numbers = sorted({one.number for one in seen if one.group == group})
        each = [[counts[number, group, between, condition] for condition in conditions] for number in numbers]
        size = sum(each[0])
        uneven = [own for own in each if max(own) > min(own)]
        if uneven:
            told.append(
                f"{counted(size, 'item')}{_where(cells, group, between)} over {len(conditions)} conditions: a list "
                f"shows {min(map(min, uneven))} to {max(map(max, uneven))} items of a condition. "
                f"A number of items that is a multiple of {len(conditions)} would be even."
            )
    return told


def _items_over_lists(
    cells: Cells, groups: Sequence[Levels], group_of: Sequence[Levels], seen: Sequence[Seen]
) -> list[str]:
    """Items that are seen more often in one of their conditions than in another."""
    counts = Counter((one.group, one.item, one.condition) for one in seen)
    told = []
    for group in groups:
        lists = group_of.count(group)
        sizes = [len(item.trials[group]) for item in cells.items if group in item.trials]
        even = lcm(*sizes)
        where = f" with {spelled(cells.group_names, group)}" if group else ""
        if lists % even:
            each = [
                [counts[group, item.item, condition] for condition in item.trials[group]]
                for item in cells.items if group in item.trials
            ]  # fmt: skip
            never = sum(number == 0 for own in each for number in own)
            told.append(
                f"Over {counted(lists, 'list')}{where} an item is seen {min(map(min, each))} to {max(map(max, each))} "
                f"times in a condition"
                + (
                    f", and {never} of {sum(map(len, each))} sentences never: condition is confounded with item"
                    * (never > 0)
                )
                + f". A multiple of {counted(even, 'list')} would be even."
            )
    return told


def _lists(cells: Cells, groups: Sequence[Levels], group_of: Sequence[Levels], seen: Sequence[Seen]) -> list[str]:
    """Lists of unequal length, and groups of participants with unequal numbers of lists."""
    told = []
    number_of = [group_of.count(group) for group in groups]
    if max(number_of) > min(number_of):
        told.append(
            f"{len(group_of)} lists over {len(groups)} combinations of {' and '.join(cells.group_names)}: "
            f"{min(number_of)} to {max(number_of)} lists each. A multiple of {len(groups)} would be even."
        )
    lengths = Counter(one.number for one in seen)
    if max(lengths.values()) > min(lengths.values()):
        told.append(f"The lists have {min(lengths.values())} to {max(lengths.values())} test trials.")
    return told
