"""Even distributions of conditions over lists and of items over draws, and the error for impossible designs.

Lists are an edge colouring of a bipartite graph. By König's theorem such a graph can be coloured with as many colours
as its largest degree, so there are always lists in which every item occurs once and every condition as evenly as
possible, even if items lack conditions.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

from karat.errors import KaratError
from karat.messages import Message

Edge = tuple[Hashable, Hashable]
Option = TypeVar("Option", bound=Hashable)


def edge_colours(edges: Sequence[Edge], colours: int) -> list[int]:
    """A colour for each edge of a bipartite graph (left, right), no colour twice at a vertex.

    No vertex may have more than `colours` edges.
    """
    at: dict[tuple[bool, Hashable], list[int]] = {}
    coloured = [-1] * len(edges)
    for number, (left, right) in enumerate(edges):
        ends = (False, left), (True, right)
        here, there = (at.setdefault(end, [-1] * colours) for end in ends)
        free_here, free_there = here.index(-1), there.index(-1)
        # The path from the right end that alternates the two colours never reaches the left end, as that would close
        # an odd cycle. Exchanging the colours along it frees the left end's colour at the right end.
        path = []
        vertex, colour = ends[1], free_here
        while (edge := at[vertex][colour]) >= 0:
            path.append(edge)
            vertex = (not vertex[0], edges[edge][0] if vertex[0] else edges[edge][1])
            colour = free_there if colour == free_here else free_here
        for edge in path:
            for side in (False, True):
                at[side, edges[edge][side]][coloured[edge]] = -1
        for edge in path:
            coloured[edge] = free_there if coloured[edge] == free_here else free_here
        for edge in [*path, number]:
            coloured[edge] = free_here if edge == number else coloured[edge]
            for side in (False, True):
                at[side, edges[edge][side]][coloured[edge]] = edge
    return coloured


def even_lists(options: Sequence[Sequence[Option]], lists: int) -> list[list[Option]]:
    """For each list one option per item, where items differ in their options.

    An item has each of its options in equally many lists, and all lists have an option equally often (difference at
    most one).
    """
    total: Counter[Option] = Counter()
    edges: list[Edge] = []
    meant: list[tuple[int, Option]] = []
    for item, choices in enumerate(options):
        each, left_over = divmod(lists, len(choices))
        favoured = sorted(choices, key=lambda option: total[option])[:left_over]
        for option in choices:
            for _ in range(each + (option in favoured)):
                # An option that occurs more often than there are lists is split, so that no vertex has too many edges.
                edges.append((item, (option, total[option] // lists)))
                meant.append((item, option))
                total[option] += 1
    # Every item has exactly one edge of each colour, so each list has all items in their order.
    rows: list[list[Option]] = [[] for _ in range(lists)]
    for (_, option), number in zip(meant, edge_colours(edges, lists), strict=True):
        rows[number].append(option)
    return rows


def fair_draws(size: int, each: int, draws: int, rng: np.random.Generator) -> list[list[int]]:
    """Several draws of `each` distinct numbers below `size`, whose frequencies differ by at most one."""
    waiting: list[int] = []
    groups = []
    for _ in range(draws):
        group = waiting[:each]
        waiting = waiting[each:]
        if len(group) < each:
            others = rng.permutation(size).tolist()
            fresh = [number for number in others if number not in group][: each - len(group)]
            waiting = [number for number in others if number not in fresh]
            group += fresh
        groups.append(group)
    return groups


class DesignError(KaratError, ValueError):
    """An impossible design; its message says why, and its value `advice` how to fix it."""

    def __init__(self, message: Message, rows: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.rows = tuple(rows)
        """The faulty rows of the item table, from 0, if any."""


def split_advice(message: Message) -> tuple[Message, Message | None]:
    """A message about a design without its advice, and the advice."""
    values = dict(message.values)
    if "reason" in values:
        values["reason"], advice = split_advice(values["reason"])
    else:
        advice = values.pop("advice", None)
    return Message(message.code, values), advice
