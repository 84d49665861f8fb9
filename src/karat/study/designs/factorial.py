"""Latin-square lists for any factorial design: within or between items, within or between participants.

The n-th item of a group of items stands in the (n + l)-th condition of list l, so that over as many lists as there are
conditions each item is seen once in each, and no participant sees an item twice. Where items lack conditions the lists
come from an edge colouring instead (`balance.even_lists`), which is as even as such items allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from karat.messages import Message
from karat.study.designs.balance import even_lists
from karat.study.designs.cells import Cells, DesignFactor, ItemCells, Levels, read_cells
from karat.study.designs.design_error import DesignError
from karat.study.designs.factorial_notes import ListTrial, notes

__all__ = ["DesignFactor", "Lists", "factorial"]


@dataclass(frozen=True)
class Lists:
    """For each list the rows of the item table that its participants see; `notes` say what is not balanced."""

    rows: tuple[tuple[int, ...], ...]
    notes: tuple[Message, ...] = ()


def factorial(
    items: pl.DataFrame, factors: Mapping[str, DesignFactor] | Sequence[DesignFactor], lists: int | None = None
) -> Lists:
    """Lists that counterbalance the test items over their conditions; all other rows are in every list.

    By default there are as many lists as an item has conditions, for every combination of levels between participants.
    Then no list has an item twice, the conditions within each group of items are equally often in a list (difference
    at most one, none where the items are a multiple of the conditions), and over all lists every item is seen equally
    often in each of its conditions.

    >>> items = pl.DataFrame({"item": ["1", "1", "2", "2", "3"], "function": [*["test"] * 4, "filler"],
    ...                       "order": ["SO", "OS", "SO", "OS", ""]})
    >>> factorial(items, [DesignFactor("order", ("SO", "OS"))]).rows
    ((0, 3, 4), (1, 2, 4))
    """
    cells = read_cells(items, list(factors.values() if isinstance(factors, Mapping) else factors))
    groups = [group for group in cells.groups if any(group in item.trials for item in cells.items)]
    most = max(len(own) for item in cells.items for own in item.trials.values())
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
    functions = items["function"].to_list() if "function" in items.columns else []
    always = [row for row, function in enumerate(functions) if function != "test"]
    shown = [[one.row for one in seen if one.number == number] for number in range(wanted)]
    return Lists(tuple(tuple(sorted([*always, *own])) for own in shown), notes(cells, groups, group_of, seen))


def _seen_in_group(cells: Cells, group: Levels, numbers: Sequence[int]) -> list[ListTrial]:
    """What the lists of one group of participants show, group of items by group of items."""
    kinds: dict[Levels, list[ItemCells]] = {}
    for item in cells.items:
        if group in item.trials:
            kinds.setdefault(item.between, []).append(item)
    seen = []
    offset = 0
    for between, members in kinds.items():
        options = [[c for c in cells.conditions if c in item.trials[group]] for item in members]
        if all(own == options[0] for own in options):
            plan = [
                [own[(offset + place + turn) % len(own)] for place, own in enumerate(options)]
                for turn in range(len(numbers))
            ]
            # The next group of items goes on where this one ends, so that the whole list is even as well.
            offset += len(members)
        else:
            plan = even_lists(options, len(numbers))
        seen += [
            ListTrial(number, group, between, item.item, condition, item.trials[group][condition])
            for number, conditions in zip(numbers, plan, strict=True)
            for item, condition in zip(members, conditions, strict=True)
        ]
    return seen
