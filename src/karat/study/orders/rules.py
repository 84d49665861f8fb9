"""What an order of trials must satisfy: a plain check that it does, and the rules compiled for the solver.

The check walks through an order position by position and shares no code with the solver, so that a mistake of the
solver cannot hide itself.

For the solver, every rule is about the places of the trials that share one value of one column. Such trials are a
*group*. A group may limit how many of it stand in a row, how close two of it stand, and how many of it stand in a
window of positions. Trials that belong to the same groups are of one *kind* and are interchangeable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

import polars as pl

from karat.errors import KaratError, shown
from karat.judgments.columns import FUNCTIONS

QUARTERS = 4

Columns = Mapping[str, Sequence[object]]
"""Values by column, one a trial; None where a value is missing."""


class OrderError(KaratError, ValueError):
    """Rules that no order can satisfy: why, and how to fix it."""

    def __init__(self, what: str, fix: str = "", separated: str = "") -> None:
        super().__init__(f"{what} {fix}" if fix else what)
        self.what, self.fix = what, fix
        self.separated = separated
        """The function whose trials have too few others between them, where that is the reason."""

    def __reduce__(self) -> tuple[type[OrderError], tuple[str, str, str]]:
        return type(self), (self.what, self.fix, self.separated)


class OrderUndecidedError(OrderError):
    """Rules of which it could not be decided in time whether they can hold, with the tightest of them."""


@dataclass(frozen=True)
class OrderRules:
    """What every order of a questionnaire must satisfy.

    >>> OrderRules(apart=("test",), in_a_row={"status": 3}).first
    ('practice', 'calibration')
    """

    first: tuple[str, ...] = ("practice", "calibration")
    """Functions that open the questionnaire, in this sequence; each is shuffled within itself."""
    apart: tuple[str, ...] = ()
    """Functions of which no two trials are adjacent."""
    in_a_row: Mapping[str, int] = field(default_factory=dict)
    """Column -> at most this many equal values in a row; a missing value equals nothing."""
    spread: tuple[str, ...] = ()
    """Functions with one trial in each of as many equal stretches as they have trials, after the opening."""
    distance: Mapping[str, int] = field(default_factory=dict)
    """Column -> trials that share a value are at least this many positions apart; 1 allows adjacent ones."""
    keep_ratio: bool = False
    """In each quarter after the opening, test trials differ from their share by less than one."""
    mixed_blocks: int = 0
    """This many equal blocks after the opening, each with its share of every function and every `in_a_row` value."""


def violations(trials: pl.DataFrame, order: Sequence[int], rules: OrderRules) -> list[str]:
    """Each place where an order breaks a rule, as a sentence; empty when all rules hold.

    >>> trials = pl.DataFrame({"function": ["test", "test", "filler"]})
    >>> violations(trials, [0, 2, 1], OrderRules(apart=("test",)))
    []
    >>> violations(trials, [0, 1, 2], OrderRules(apart=("test",)))
    ['Positions 1 and 2 are both test trials.']
    """
    return broken_rules(columns_of(trials, rules), [int(row) for row in order], rules)


def columns_of(trials: pl.DataFrame, rules: OrderRules) -> dict[str, list[object]]:
    """The columns that the rules name, after a check that they are there and that the rules make sense."""
    names = ["function", *rules.in_a_row, *rules.distance]
    for name in names:
        if name not in trials.columns:
            fix = _meant(name, trials.columns) or f"There are: {', '.join(trials.columns)}."
            raise OrderError(f"The order names the column {shown(name)}, which the trials do not have.", fix)
    # Missing are null, empty text, and what is not a number.
    columns = {
        name: [None if value in (None, "") or value != value else value for value in trials[name].to_list()]
        for name in dict.fromkeys(names)
    }
    known = {*FUNCTIONS, *(str(value) for value in columns["function"])}
    for name in (*rules.first, *rules.apart, *rules.spread):
        if name not in known:
            fix = _meant(name, sorted(known)) or f"Functions are {', '.join(FUNCTIONS)}."
            raise OrderError(f"The order names the function {shown(name)}, which does not exist.", fix)
    for rule, numbers in (("in_a_row", rules.in_a_row), ("distance", rules.distance)):
        for name, number in numbers.items():
            if number < 1:
                raise OrderError(f"{rule} of {shown(name)} is {number}.", "Use a whole number of at least 1.")
    if rules.mixed_blocks < 0:
        raise OrderError(f"mixed_blocks is {rules.mixed_blocks}.", "Use 0 for none, or the number of blocks.")
    return columns


def _meant(name: str, known: Sequence[str]) -> str:
    return "".join(f"Did you mean {shown(near)}?" for near in get_close_matches(name, known, 1))


def stretches(start: int, end: int, parts: int) -> list[tuple[int, int]]:
    """The positions from start to end, cut into equal parts (lengths differ by one where they must)."""
    size = end - start
    return [(start + part * size // parts, start + (part + 1) * size // parts) for part in range(parts)]


def broken_rules(columns: Columns, order: Sequence[int], rules: OrderRules) -> list[str]:
    """As `violations`, for columns that were prepared once."""
    size = len(columns["function"])
    if sorted(order) != list(range(size)):
        return ["The order does not have every trial exactly once."]
    placed = {name: [values[row] for row in order] for name, values in columns.items()}
    functions = placed["function"]
    found = []
    start = 0
    for function in dict.fromkeys(rules.first):
        end = start + functions.count(function)
        found += [f"Position {at + 1} is not a {function} trial." for at in range(start, end)
                  if functions[at] != function]  # fmt: skip
        start = end
    for function in rules.apart:
        found += [f"Positions {at} and {at + 1} are both {function} trials." for at in range(1, size)
                  if functions[at] == function == functions[at - 1]]  # fmt: skip
    for name, most in rules.in_a_row.items():
        found += _rows_too_long(name, placed[name], most, rules.first if name == "function" else ())
    for name, least in rules.distance.items():
        found += _too_close(name, placed[name], least)
    found += _wrong_shares(placed, start, rules)
    return found


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
    """Where spread, keep_ratio or mixed_blocks does not hold."""
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
    sentences = [
        (f"no two {name} trials are adjacent", replace(rules, apart=_without(rules.apart, name)))
        for name in dict.fromkeys(rules.apart)
    ]
    sentences += [
        (f"at most {most} in a row with the same {name}",
         replace(rules, in_a_row={key: value for key, value in rules.in_a_row.items() if key != name}))
        for name, most in rules.in_a_row.items()
    ]  # fmt: skip
    sentences += [
        (f"one {name} trial in each of equal stretches", replace(rules, spread=_without(rules.spread, name)))
        for name in dict.fromkeys(rules.spread)
    ]
    sentences += [
        (f"trials with the same {name} at least {least} positions apart",
         replace(rules, distance={key: value for key, value in rules.distance.items() if key != name}))
        for name, least in rules.distance.items()
    ]  # fmt: skip
    if rules.keep_ratio:
        sentences.append(("the same share of test trials in each quarter", replace(rules, keep_ratio=False)))
    if rules.mixed_blocks:
        sentences.append((f"{rules.mixed_blocks} blocks of equal mixture", replace(rules, mixed_blocks=0)))
    if rules.first:
        sentences.append((f"{' and '.join(rules.first)} trials first", replace(rules, first=())))
    return sentences


def _without(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(other for other in names if other != name)


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
    """At most this many in a row; 0 for any number."""
    gap: int
    """At least this many positions apart; 0 for any distance."""
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
    kept = tuple(
        windows for windows in partitions
        if any(window.low > 0 or window.high < min(in_body, window.end - window.start) for window in windows)
    )  # fmt: skip
    return Group(column, value, size, row, gap, kept) if row or gap or kept else None


def _shares(count: int, body: tuple[int, int], parts: int) -> tuple[Window, ...]:
    """Windows of which each has its share of a number of trials, rounded down or up."""
    size = body[1] - body[0]
    return tuple(
        Window(a, b, count * (b - a) // size, -(-count * (b - a) // size)) for a, b in stretches(*body, parts) if size
    )
