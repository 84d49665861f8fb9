"""The rules of an order, compiled: which trials share something, and what that forbids.

Every rule is about the places of the trials that share one value of one column. Such trials are a *group*. A group may
limit how many of it stand in a row, how close two of it stand, and how many of it stand in a window of positions.
Trials that belong to the same groups are of one *kind* and are interchangeable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from karat.study.order_rules import QUARTERS, Columns, OrderRules, stretches


@dataclass(frozen=True)
class Window:
    """Positions from start to before end, of which at least `low` and at most `high` belong to a group."""

    start: int
    end: int
    low: int
    high: int


@dataclass(frozen=True)
class Group:
    """Trials that share a value, and what the rules say about their places."""

    column: str
    value: object
    size: int
    row: int
    """At most so many in a row; 0 for any number."""
    gap: int
    """At least so many positions apart; 0 for any distance."""
    partitions: tuple[tuple[Window, ...], ...]
    """Cuts of the positions after the opening into windows, each with its bounds."""


@dataclass(frozen=True)
class Kind:
    """Trials that the rules treat alike."""

    segment: int
    """Where they stand: the number of an opening function, or the last segment, the body."""
    groups: frozenset[int]


@dataclass(frozen=True)
class OrderProblem:
    """Groups and kinds of the trials of one questionnaire."""

    segments: tuple[tuple[int, int], ...]
    """The opening functions' positions, each from start to before end, then the body's."""
    groups: tuple[Group, ...]
    kinds: tuple[Kind, ...]
    kind_of: tuple[int, ...]
    """The kind of each trial."""

    @property
    def size(self) -> int:
        """The number of trials."""
        return len(self.kind_of)

    def projected(self, columns: Iterable[str]) -> OrderProblem:
        """The same trials under the rules about these columns only: every order that holds also holds here."""
        kept = [number for number, group in enumerate(self.groups) if group.column in set(columns)]
        new = {old: number for number, old in enumerate(kept)}
        kinds = [
            Kind(kind.segment, frozenset(new[group] for group in kind.groups if group in new)) for kind in self.kinds
        ]
        return _problem(self.segments, [self.groups[old] for old in kept], [kinds[kind] for kind in self.kind_of])


def compile_rules(columns: Columns, rules: OrderRules) -> OrderProblem:
    """The problem that trials and rules pose."""
    functions = columns["function"]
    opening = [name for name in dict.fromkeys(rules.first) if name in functions]
    segments = []
    start = 0
    for name in opening:
        segments.append((start, start + functions.count(name)))
        start = segments[-1][1]
    segments.append((start, len(functions)))
    segment_of = [opening.index(str(name)) if name in opening else len(opening) for name in functions]
    groups: list[Group] = []
    members: list[set[int]] = [set() for _ in functions]
    for column, values in columns.items():
        for value in dict.fromkeys(values):
            rows = [row for row, other in enumerate(values) if other == value]
            group = None
            if value is not None:
                in_body = sum(segment_of[row] == len(opening) for row in rows)
                group = _group(column, value, len(rows), in_body, segments[-1], rules)
            if group is not None:
                for row in rows:
                    members[row].add(len(groups))
                groups.append(group)
    kinds = [Kind(segment, frozenset(group)) for segment, group in zip(segment_of, members, strict=True)]
    return _problem(tuple(segments), groups, kinds)


def _problem(segments: tuple[tuple[int, int], ...], groups: Sequence[Group], kinds: Sequence[Kind]) -> OrderProblem:
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    return OrderProblem(segments, tuple(groups), tuple(numbers), tuple(numbers[kind] for kind in kinds))


def _group(
    column: str, value: object, size: int, in_body: int, body: tuple[int, int], rules: OrderRules
) -> Group | None:
    """What the rules say about the trials that share a value; None where they say nothing that could be broken."""
    is_function = column == "function"
    row = 0 if is_function and value in rules.first else rules.in_a_row.get(column, 0)
    if is_function and value in rules.apart:
        row = 1
    gap = rules.distance.get(column, 0)
    row = 0 if size <= row or gap > 1 else row  # trials at a distance are never in a row
    gap = 0 if size < 2 or gap < 2 else gap
    partitions = []
    if is_function and value in rules.spread:
        partitions.append(tuple(Window(a, b, 1, 1) for a, b in stretches(*body, size)))
    if is_function and value == "test" and rules.keep_ratio:
        partitions.append(_shares(in_body, body, QUARTERS))
    if rules.mixed_blocks and (is_function or column in rules.in_a_row):
        partitions.append(_shares(in_body, body, rules.mixed_blocks))
    kept = tuple(windows for windows in partitions if any(_binds(window, in_body) for window in windows))
    return Group(column, value, size, row, gap, kept) if row or gap or kept else None


def _binds(window: Window, in_body: int) -> bool:
    return window.low > 0 or window.high < min(in_body, window.end - window.start)


def _shares(count: int, body: tuple[int, int], parts: int) -> tuple[Window, ...]:
    """Windows of which each has its share of a number of trials, rounded down or up."""
    size = body[1] - body[0]
    return tuple(
        Window(a, b, count * (b - a) // size, -(-count * (b - a) // size)) for a, b in stretches(*body, parts) if size
    )
