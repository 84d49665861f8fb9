"""The rules of an order of trials: a plain check of an order, and the rules compiled for the solver.

The check goes through an order position by position and shares no code with the solver, so that it finds mistakes of
the solver.

For the solver, every rule is about the places of the trials that share a value of a column. Such trials are a *group*.
A group may limit how many of its trials come in a row, how close two of them are, and how many of them are in a window
of positions. Trials that belong to the same groups are of one *kind* and are interchangeable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import polars as pl

from karat.errors import KaratError, shown
from karat.judgments.columns import FUNCTIONS

QUARTERS = 4

Columns = Mapping[str, Sequence[object]]
"""Values by column, one per trial; None for missing values."""


class OrderError(KaratError, ValueError):
    """Rules that no order can satisfy, with the reason and the fix."""

    def __init__(self, what: str, fix: str = "", separated: str = "") -> None:
        super().__init__(f"{what} {fix}" if fix else what)
        self.what, self.fix = what, fix
        self.separated = separated
        """The function whose trials have too few others between them, if that is the reason."""

    def __reduce__(self) -> tuple[type[OrderError], tuple[str, str, str]]:
        return type(self), (self.what, self.fix, self.separated)


class OrderUndecidedError(OrderError):
    """Rules that were neither satisfied nor proved impossible in time, with the tightest of them."""


@dataclass(frozen=True)
class OrderRules:
    """The rules that every order of a questionnaire must satisfy.

    >>> OrderRules(apart=("test",), in_a_row={"status": 3}).first
    ('practice', 'calibration')
    """

    first: tuple[str, ...] = ("practice", "calibration")
    """Functions that open the questionnaire, in this sequence; the trials of each are shuffled."""
    apart: tuple[str, ...] = ()
    """Functions of which no two trials are adjacent."""
    in_a_row: Mapping[str, int] = field(default_factory=dict)
    """Column -> at most this many equal values in a row; missing values are never equal."""
    spread: tuple[str, ...] = ()
    """Functions with one trial per stretch after the opening, cut into as many equal stretches as they have trials."""
    distance: Mapping[str, int] = field(default_factory=dict)
    """Column -> trials that share a value are at least this many positions apart; 1 allows adjacent ones."""
    keep_ratio: bool = False
    """In each quarter after the opening, test trials differ from their share by less than one."""
    mixed_blocks: int = 0
    """This many equal blocks after the opening, each with its share of every function and every `in_a_row` value."""


def violations(trials: pl.DataFrame, order: Sequence[int], rules: OrderRules) -> list[str]:
    """Each place where an order breaks a rule, as a sentence; empty if all rules hold.

    >>> trials = pl.DataFrame({"function": ["test", "test", "filler"]})
    >>> violations(trials, [0, 2, 1], OrderRules(apart=("test",)))
    []
    >>> violations(trials, [0, 1, 2], OrderRules(apart=("test",)))
    ['Positions 1 and 2 are both test trials.']
    """
    return broken_rules(columns_of(trials, rules), [int(row) for row in order], rules)


def columns_of(trials: pl.DataFrame, rules: OrderRules) -> dict[str, list[object]]:
    """The columns of the rules; OrderError if a column is missing or a rule makes no sense."""
    names = ["function", *rules.in_a_row, *rules.distance]
    for name in names:
        if name not in trials.columns:
            fix = _meant(name, trials.columns) or f"There are: {', '.join(trials.columns)}."
            raise OrderError(f"The order names the column {shown(name)}, which the trials do not have.", fix)
    # Null, empty text and NaN are missing.
    columns = {
        name: [None if value in (None, "") or value != value else value for value in trials[name].to_list()]
        for name in dict.fromkeys(names)
    }
    functions = {*FUNCTIONS, *(str(value) for value in columns["function"])}
    for name in (*rules.first, *rules.apart, *rules.spread):
        if name not in functions:
            fix = _meant(name, sorted(functions)) or f"Functions are {', '.join(FUNCTIONS)}."
            raise OrderError(f"The order names the function {shown(name)}, which does not exist.", fix)
    for rule, numbers in (("in_a_row", rules.in_a_row), ("distance", rules.distance)):
        for name, number in numbers.items():
            if number < 1:
                raise OrderError(f"{rule} of {shown(name)} is {number}.", "Use a whole number of at least 1.")
    if rules.mixed_blocks < 0:
        raise OrderError(f"mixed_blocks is {rules.mixed_blocks}.", "Use 0 for none, or the number of blocks.")
    return columns


def _meant(name: str, names: Sequence[str]) -> str:
    return "".join(f"Did you mean {shown(near)}?" for near in get_close_matches(name, names, 1))


def stretches(start: int, end: int, parts: int) -> list[tuple[int, int]]:
    """The positions from start to end, cut into equal parts (lengths differ by at most one)."""
    size = end - start
    return [(start + part * size // parts, start + (part + 1) * size // parts) for part in range(parts)]


def broken_rules(columns: Columns, order: Sequence[int], rules: OrderRules) -> list[str]:
    """Like `violations`, for columns that were prepared before."""
    size = len(columns["function"])
    if sorted(order) != list(range(size)):
        return ["The order does not have every trial exactly once."]
    placed = {name: [values[row] for row in order] for name, values in columns.items()}
    functions = placed["function"]
    broken = []
    start = 0
    for function in dict.fromkeys(rules.first):
        end = start + functions.count(function)
        broken += [f"Position {at + 1} is not a {function} trial." for at in range(start, end)
                  if functions[at] != function]  # fmt: skip
        start = end
    for function in rules.apart:
        broken += [f"Positions {at} and {at + 1} are both {function} trials." for at in range(1, size)
                  if functions[at] == function == functions[at - 1]]  # fmt: skip
    for name, most in rules.in_a_row.items():
        broken += _rows_too_long(name, placed[name], most, rules.first if name == "function" else ())
    for name, least in rules.distance.items():
        broken += _too_close(name, placed[name], least)
    broken += _wrong_shares(placed, start, rules)
    return broken


def _rows_too_long(name: str, values: Sequence[object], most: int, ignored: Sequence[object]) -> Iterator[str]:
    length, before = 0, None
    for at, value in enumerate(values):
        if value is None or value in ignored:
            length = 0
        elif value == before:
            length += 1
        else:
            length = 1
        if length > most:
            yield f"Position {at + 1} is number {length} in a row with {name} {shown(str(value))}; {most} are allowed."
        before = value


def _too_close(name: str, values: Sequence[object], least: int) -> Iterator[str]:
    last: dict[object, int] = {}
    for at, value in enumerate(values):
        if value is None:
            continue
        if value in last and at - last[value] < least:
            yield (f"Positions {last[value] + 1} and {at + 1} share {name} {shown(str(value))}; "
                   f"they must be at least {least} apart.")  # fmt: skip
        last[value] = at


def _wrong_shares(placed: Columns, start: int, rules: OrderRules) -> Iterator[str]:
    """The places where spread, keep_ratio or mixed_blocks is broken."""
    functions = placed["function"]
    end = len(functions)
    for function in rules.spread:
        count = functions.count(function)
        for a, b in stretches(start, end, count) if count else ():
            if (here := functions[a:b].count(function)) != 1:
                yield f"Positions {a + 1} to {b} have {here} {function} trials instead of 1."
    if rules.keep_ratio:
        yield from _uneven("function", functions, "test", stretches(start, end, QUARTERS))
    if rules.mixed_blocks:
        blocks = stretches(start, end, rules.mixed_blocks)
        for name in dict.fromkeys(["function", *rules.in_a_row]):
            for value in dict.fromkeys(placed[name][start:]):
                if value is not None:
                    yield from _uneven(name, placed[name], value, blocks)


def _uneven(name: str, values: Sequence[object], wanted: object, parts: Sequence[tuple[int, int]]) -> Iterator[str]:
    start, end = parts[0][0], parts[-1][1]
    size = end - start
    count = values[start:end].count(wanted)
    for a, b in parts:
        here = values[a:b].count(wanted)
        # |here - count (b - a) / size| < 1, in whole numbers
        if size and abs(here * size - count * (b - a)) >= size:
            yield (f"Positions {a + 1} to {b} have {here} trials with {name} {shown(str(wanted))}; "
                   f"their share is {count * (b - a) / size:.1f}.")  # fmt: skip


def rule_sentences(rules: OrderRules) -> list[tuple[str, OrderRules]]:
    """Each single rule in words, with the rules that remain when it alone is left out."""
    texts = {
        "apart": "no two {0} trials are adjacent",
        "in_a_row": "at most {1} in a row with the same {0}",
        "spread": "one {0} trial in each of equal stretches",
        "distance": "trials with the same {0} at least {1} positions apart",
    }
    sentences: list[tuple[str, OrderRules]] = []
    for rule, text in texts.items():
        names = getattr(rules, rule)
        numbers: dict[str, int | None] = {**names} if isinstance(names, Mapping) else dict.fromkeys(names)
        sentences += [
            (text.format(name, number), replace(rules, **{rule: _without(names, name)}))
            for name, number in numbers.items()
        ]
    if rules.keep_ratio:
        sentences.append(("the same share of test trials in each quarter", replace(rules, keep_ratio=False)))
    if rules.mixed_blocks:
        sentences.append((f"{rules.mixed_blocks} blocks of equal mixture", replace(rules, mixed_blocks=0)))
    if rules.first:
        sentences.append((f"{' and '.join(rules.first)} trials first", replace(rules, first=())))
    return sentences


def _without(names: tuple[str, ...] | Mapping[str, int], name: str) -> Any:
    if isinstance(names, Mapping):
        return {other: number for other, number in names.items() if other != name}
    return tuple(other for other in names if other != name)


@dataclass(frozen=True)
class Window:
    """Positions from `start` to before `end`, at least `low` and at most `high` of which belong to a group."""

    start: int
    end: int
    low: int
    high: int


@dataclass(frozen=True)
class Group:
    """Trials that share a value, and the rules for their places."""

    column: str
    value: object
    size: int
    row: int
    """At most this many in a row; 0 for any number."""
    gap: int
    """At least this many positions apart; 0 for any distance."""
    partitions: tuple[tuple[Window, ...], ...]
    """Cuts of the positions after the opening into windows, each with its bounds."""


@dataclass(frozen=True)
class Kind:
    """Trials to which the same rules apply."""

    segment: int
    """Their part of the questionnaire: the number of an opening function, or the last segment, the body."""
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
        """The same trials under the rules about these columns only; every valid order is also valid here."""
        numbers = [number for number, group in enumerate(self.groups) if group.column in set(columns)]
        new = {old: number for number, old in enumerate(numbers)}
        kinds = [
            Kind(kind.segment, frozenset(new[group] for group in kind.groups if group in new)) for kind in self.kinds
        ]
        return _problem(self.segments, [self.groups[old] for old in numbers], [kinds[kind] for kind in self.kind_of])


def compile_rules(columns: Columns, rules: OrderRules) -> OrderProblem:
    """The problem of ordering trials under rules."""
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
    """The rules for the trials that share a value; None if no order can break them."""
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
    binding = tuple(
        windows for windows in partitions
        if any(window.low > 0 or window.high < min(in_body, window.end - window.start) for window in windows)
    )  # fmt: skip
    return Group(column, value, size, row, gap, binding) if row or gap or binding else None


def _shares(count: int, body: tuple[int, int], parts: int) -> tuple[Window, ...]:
    """Windows, each with its share of a number of trials, rounded down or up."""
    size = body[1] - body[0]
    return tuple(
        Window(a, b, count * (b - a) // size, -(-count * (b - a) // size)) for a, b in stretches(*body, parts) if size
    )
