"""What a set of lists leaves unbalanced, counted from the lists themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

from karat.judgments.short_lists import listed
from karat.messages import Message
from karat.study.designs.cells import Cells, ItemCells, Levels, assigned

SHOWN_ITEMS = 5


@dataclass(frozen=True)
class ListTrial:
    """One test trial of one list: whose list, which item in which condition, and its row."""

    number: int
    group: Levels
    between: Levels
    item: str
    condition: Levels
    row: int


def notes(
    cells: Cells, groups: Sequence[Levels], group_of: Sequence[Levels], seen: Sequence[ListTrial]
) -> tuple[Message, ...]:
    """All that is uneven, a message for each kind."""
    return (
        *_missing(cells, groups),
        *_conditions_in_lists(cells, seen),
        *_items_over_lists(cells, groups, group_of, seen),
        *_lists(cells, groups, group_of, seen),
    )


def _missing(cells: Cells, groups: Sequence[Levels]) -> list[Message]:
    """Conditions that no item has, and items that lack one."""
    told = [
        Message("design.group_unseen", {"group": assigned(cells.group_names, group)})
        for group in cells.groups
        if group not in groups
    ]
    for group in groups:
        by_kind: dict[Levels, list[tuple[str, set[Levels]]]] = {}
        for item in cells.items:
            if group in item.trials:
                by_kind.setdefault(item.between, []).append((item.item, set(item.trials[group])))
        for between, members in by_kind.items():
            where = _where(cells, group, between)
            for condition in cells.conditions:
                lacking = [item for item, own in members if condition not in own]
                values = {"condition": assigned(cells.condition_names, condition), "where": where}
                if len(lacking) == len(members):
                    told.append(Message("design.condition_missing", values))
                elif lacking:
                    told.append(Message("design.items_lack_condition", {**_named(lacking), **values}))
    partly = [item.item for item in cells.items if set(item.trials) < _due(cells, item)]
    if partly:
        told.append(Message("design.items_lack_level", {**_named(partly), "factors": list(cells.group_names)}))
    return told


def _due(cells: Cells, item: ItemCells) -> set[Levels]:
    """The groups of participants that should see an item: all that agree with it in what is between items."""
    own = next(iter(item.trials))
    fixed = [place for place, within in enumerate(cells.group_within_items) if not within]
    return {group for group in cells.groups if all(group[place] == own[place] for place in fixed)}


def _named(items: Sequence[str]) -> dict[str, Any]:
    return {"n": len(items), "items": listed(items, SHOWN_ITEMS)}


def _where(cells: Cells, group: Levels, between: Levels) -> list[str] | None:
    return assigned((*cells.group_names, *cells.between_names), (*group, *between)) or None


def _conditions_in_lists(cells: Cells, seen: Sequence[ListTrial]) -> list[Message]:
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
            values = {
                "n": size,
                "where": _where(cells, group, between),
                "conditions": len(conditions),
                "least": min(map(min, uneven)),
                "most": max(map(max, uneven)),
                "advice": Message("design.even_items", {"n": len(conditions)}),
            }
            told.append(Message("design.uneven_conditions", values))
    return told


def _items_over_lists(
    cells: Cells, groups: Sequence[Levels], group_of: Sequence[Levels], seen: Sequence[ListTrial]
) -> list[Message]:
    """Items that are seen more often in one of their conditions than in another."""
    counts = Counter((one.group, one.item, one.condition) for one in seen)
    told = []
    for group in groups:
        lists = group_of.count(group)
        sizes = [len(item.trials[group]) for item in cells.items if group in item.trials]
        even = lcm(*sizes)
        if lists % even:
            each = [
                [counts[group, item.item, condition] for condition in item.trials[group]]
                for item in cells.items if group in item.trials
            ]  # fmt: skip
            never = sum(number == 0 for own in each for number in own)
            values = {
                "n": lists,
                "where": assigned(cells.group_names, group) or None,
                "least": min(map(min, each)),
                "most": max(map(max, each)),
                "never": never or None,
                "sentences": sum(map(len, each)),
                "advice": Message("design.even_lists", {"n": even}),
            }
            told.append(Message("design.uneven_items", values))
    return told


def _lists(
    cells: Cells, groups: Sequence[Levels], group_of: Sequence[Levels], seen: Sequence[ListTrial]
) -> list[Message]:
    """Lists of unequal length, and groups of participants with unequal numbers of lists."""
    told = []
    number_of = [group_of.count(group) for group in groups]
    if max(number_of) > min(number_of):
        values = {
            "n": len(group_of),
            "groups": len(groups),
            "factors": list(cells.group_names),
            "least": min(number_of),
            "most": max(number_of),
            "advice": Message("design.even_lists", {"n": len(groups)}),
        }
        told.append(Message("design.uneven_groups", values))
    lengths = Counter(one.number for one in seen)
    if max(lengths.values()) > min(lengths.values()):
        values = {"least": min(lengths.values()), "most": max(lengths.values())}
        told.append(Message("design.uneven_lengths", values))
    return told
