"""Even shares, of conditions over lists and items at once and of things over draws; and the error where none can be.

Lists are an edge colouring of a bipartite graph. By König's theorem such a graph can be coloured with as many colours
as its largest degree, so lists in which every item stands once and every condition as often as can be always exist,
even where items lack conditions.
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
        # The path that starts at the right end in turn with the two colours never reaches the left end: that would
        # close an odd circle. Exchanging the colours along it frees the left end's colour at the right end.
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

    An item has each of its options in equally many lists (difference at most one), and a list has each option as
    often as any other list has it (difference at most one).
    """
    total: Counter[Option] = Counter()
    edges: list[Edge] = []
    meant: list[tuple[int, Option]] = []
    for item, own in enumerate(options):
        each, left_over = divmod(lists, len(own))
        favoured = sorted(own, key=lambda option: total[option])[:left_over]
        for option in own:
            for _ in range(each + (option in favoured)):
                # An option seen more often than there are lists is split, so that no vertex has too many edges.
                edges.append((item, (option, total[option] // lists)))
                meant.append((item, option))
                total[option] += 1
    # Every item has exactly one edge of each colour, so each list has all items, in their order.
    shown: list[list[Option]] = [[] for _ in range(lists)]
    for (_, option), number in zip(meant, edge_colours(edges, lists), strict=True):
        shown[number].append(option)
    return shown


def fair_draws(size: int, each: int, draws: int, rng: np.random.Generator) -> list[list[int]]:
    """Several draws of `each` distinct things out of `size`, no thing drawn more than once oftener than another."""
    waiting: list[int] = []
    drawn = []
    for _ in range(draws):
        taken = waiting[:each]
        waiting = waiting[each:]
        if len(taken) < each:
            others = [int(thing) for thing in rng.permutation(size)]
            fresh = [thing for thing in others if thing not in set(taken)][: each - len(taken)]
            waiting = [thing for thing in others if thing not in set(fresh)]
            taken += fresh
        drawn.append(taken)
    return drawn


class DesignError(KaratError, ValueError):
    """A design that cannot hold; its message says why, and its value `advice` how to fix it."""

    def __init__(self, message: Message, rows: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.rows = tuple(rows)
        """The rows of the item table that are at fault, from 0; empty where none is."""


def split_advice(message: Message) -> tuple[Message, Message | None]:
    """A message on a design without its advice, and the advice."""
    values = dict(message.values)
    if "reason" in values:
        values["reason"], advice = split_advice(values["reason"])
    else:
        advice = values.pop("advice", None)
    return Message(message.code, values), advice
