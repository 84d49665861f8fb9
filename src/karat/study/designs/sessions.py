"""What is judged again: sessions with attention pairs, adjective pairs asked twice, and rounds of the same items.

The second paper (appendix A) asks the same questions in two halves. Its two attention pairs have a clear answer: in
choice tasks both pairs are in both halves; in rating tasks one member of each pair is in the first half and the other
in the second, so that a person who ranks them the wrong way round is seen. The fourth paper asks some adjective pairs
a second time and scores how inconsistent the two answers are.

A person whose answers are compared with themselves must not remember the last one. With each round complete, the gap
between an item's showings is on average the number of items; the order of a round is drawn evenly from all orders
that keep the gap.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from karat.messages import Message
from karat.study.designs.balance import DesignError, fair_draws, refuse_missing
from karat.study.designs.pairs import target_pairs

IN_EVERY_SESSION = ("practice", "calibration")
MIXING_MOVES = 100
"""Random exchanges of places a showing; they make the order of repeated questions even over all that are allowed."""


@dataclass(frozen=True)
class Sessions:
    """For each participant and each session the rows of the item table."""

    participants: tuple[tuple[tuple[int, ...], ...], ...]
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Showing:
    """One question as one participant meets it: which one, for which time (from 1), and with its poles exchanged."""

    question: str
    repetition: int
    flipped: bool


@dataclass(frozen=True)
class RepeatedPairs:
    """The questions of each participant in their order."""

    participants: tuple[tuple[Showing, ...], ...]
    notes: tuple[Message, ...] = ()


def sessions(
    items: pl.DataFrame,
    task: Literal["choice", "rating"],
    participants: int,
    rng: np.random.Generator | int,
    *,
    number: Literal[1, 2] = 2,
    repeat: bool = True,
    alike: Sequence[str] = (),
    rows: Sequence[int] | None = None,
) -> Sessions:
    """The rows that each participant sees in each session.

    With `repeat` (test-retest) everything but the attention items comes in both sessions. Without it the trials are
    split into halves that hold equally many (difference at most one) of every combination of function and the columns
    in `alike`; the two halves change places from participant to participant; practice and calibration come in both.
    Attention pairs are arranged as in appendix A: in a rating task half the participants see one member first, and
    half of a participant's pairs begin with the first member (difference at most one). A single session
    (`number=1`) shows both members, for the check needs both. `rows` are the rows of a list, by default all.

    >>> items = pl.DataFrame({"function": ["test", "attention", "attention"], "pair": [None, "x", "x"]})
    >>> sessions(items, "rating", participants=2, rng=1).participants
    (((0, 1), (0, 2)), ((0, 2), (0, 1)))
    """
    if task not in ("choice", "rating") or number not in (1, 2):
        raise DesignError(Message("sessions.task"))
    if participants < 1:
        raise DesignError(Message("sessions.participants"))
    refuse_missing(items, ("function", *alike), Message("design.add_column_or_alike"))
    rng = np.random.default_rng(rng)
    chosen = list(range(items.height)) if rows is None else sorted(rows)
    if number == 1:
        return Sessions(tuple((tuple(chosen),) for _ in range(participants)))
    functions = items["function"].to_list()
    attention = [row for row in chosen if functions[row] == "attention"]
    pairs = _attention_pairs(items, attention) if task == "rating" else []
    halves, notes = _halves(items, [row for row in chosen if functions[row] != "attention"], task, repeat, alike, rng)
    if participants % 2 and pairs:
        notes.append(Message("sessions.attention_pairs", {"n": participants}))
    firsts = _half_and_half(len(pairs), participants, rng) if task == "rating" else []
    plans = []
    for participant in range(participants):
        one, two = halves if participant % 2 == 0 else halves[::-1]
        early = late = attention
        if task == "rating":
            members = list(zip(pairs, firsts[participant], strict=True))
            early, late = [pair[first] for pair, first in members], [pair[1 - first] for pair, first in members]
        plans.append((tuple(sorted([*one, *early])), tuple(sorted([*two, *late]))))
    return Sessions(tuple(plans), tuple(notes))


def _attention_pairs(items: pl.DataFrame, attention: Sequence[int]) -> list[tuple[int, int]]:
    if not attention:
        return []
    if "pair" not in items.columns or any(items["pair"][row] in (None, "") for row in attention):
        raise DesignError(Message("sessions.no_pair", {"advice": Message("sessions.name_pairs")}))
    mine = set(attention)
    pairs = target_pairs(items, "attention")
    for pair in pairs:
        if len(mine & set(pair)) == 1:
            values = {"pair": str(items["pair"][pair[0]]), "advice": Message("sessions.both_or_none")}
            raise DesignError(Message("sessions.half_pair", values))
    return [pair for pair in pairs if set(pair) <= mine]


def _half_and_half(pairs: int, participants: int, rng: np.random.Generator) -> list[list[int]]:
    """Which member comes first, for each participant and pair: even over pairs and, two by two, over participants."""
    plans: list[list[int]] = []
    while len(plans) < participants:
        start = int(rng.integers(2))
        drawn = [(index + start) % 2 for index in range(pairs)]
        drawn = [int(value) for value in rng.permutation(drawn)]
        plans += [drawn, [1 - value for value in drawn]]
    return plans[:participants]


def _halves(
    items: pl.DataFrame, rows: list[int], task: str, repeat: bool, alike: Sequence[str], rng: np.random.Generator
) -> tuple[tuple[list[int], list[int]], list[Message]]:
    if repeat:
        return (rows, rows), []
    functions = items["function"].to_list()
    halves: tuple[list[int], list[int]] = ([], [])
    units: dict[Hashable, list[int]] = {}
    for row in rows:
        pair = items["pair"][row] if task == "choice" and "pair" in items.columns else None
        if functions[row] in IN_EVERY_SESSION:
            halves[0].append(row)
            halves[1].append(row)
        else:
            # The two sides of a choice are one trial and stay together.
            units.setdefault(("row", row) if pair in (None, "") else ("pair", functions[row], pair), []).append(row)
    kinds: dict[tuple[Hashable, ...], list[list[int]]] = {}
    for unit in units.values():
        kind = tuple(items[column][unit[0]] for column in ("function", *alike))
        kinds.setdefault(kind, []).append(unit)
    side = int(rng.integers(2))
    notes = []
    for kind, members in kinds.items():
        for index in rng.permutation(len(members)).tolist():
            halves[side].extend(members[index])
            side = 1 - side
        if len(members) % 2:
            notes.append(Message("sessions.halves", {"n": len(members), "kind": [str(value) for value in kind]}))
    return halves, notes


def repeated_pairs(
    questions: Sequence[str],
    repeats: int,
    rng: np.random.Generator | int,
    participants: int = 1,
    distance: int | None = None,
) -> RepeatedPairs:
    """The order of the adjective pairs for each participant, some of which come a second time.

    Which are repeated is drawn so that each question is repeated for equally many participants (difference at most
    one). A repeat is at least `distance` positions after the first showing, by default half the number of questions.
    All orders that keep the distance are equally probable; which pole stands left is drawn anew for every showing.

    >>> plan = repeated_pairs(["good - bad", "clear - vague"], repeats=1, rng=3, distance=2).participants[0]
    >>> [(showing.question, showing.repetition) for showing in plan]
    [('clear - vague', 1), ('good - bad', 1), ('clear - vague', 2)]
    """
    size = len(questions)
    gap = max((size + 1) // 2, 1) if distance is None else distance
    for twice in {question for question in questions if questions.count(question) > 1}:
        raise DesignError(
            Message("sessions.question_twice", {"question": twice, "advice": Message("sessions.name_once")})
        )
    if not 0 <= repeats <= size or participants < 1:
        values = {"repeats": repeats, "questions": size, "participants": participants}
        raise DesignError(Message("sessions.repeats", {**values, "advice": Message("sessions.fewer_repeats")}))
    if repeats and not 1 <= gap <= size:
        values = {"distance": gap, "questions": size, "repeats": repeats, "most": size}
        advice = Message("sessions.shorter_distance", {"most": size})
        raise DesignError(Message("sessions.distance", {**values, "advice": advice}))
    rng = np.random.default_rng(rng)
    plans = []
    for again in fair_draws(size, repeats, participants, rng):
        others = [index for index in range(size) if index not in set(again)]
        order = _mixed([*again, *others, *again], gap, rng)
        seen: set[int] = set()
        plan = []
        for index, flipped in zip(order, rng.integers(2, size=len(order)).tolist(), strict=True):
            plan.append(Showing(questions[index], 2 if index in seen else 1, bool(flipped)))
            seen.add(index)
        plans.append(tuple(plan))
    total = participants * repeats
    least, uneven = divmod(total, size or 1)
    values = {"least": least, "most": least + 1, "participants": participants, "repeats": total, "questions": size}
    return RepeatedPairs(tuple(plans), (Message("sessions.uneven_repeats", values),) if uneven else ())


def _mixed(order: list[int], gap: int, rng: np.random.Generator) -> list[int]:
    """The order after many random exchanges of two places that keep the distance.

    An exchange is as probable as its undoing, so in the end every order that can be reached is equally probable.
    """
    size = len(order)
    places: dict[int, list[int]] = {}
    for place, question in enumerate(order):
        places.setdefault(question, []).append(place)
    for one, two in rng.integers(max(size, 1), size=(MIXING_MOVES * size, 2)).tolist():
        a, b = order[one], order[two]
        if a == b:
            continue
        moved = {a: [two if p == one else p for p in places[a]], b: [one if p == two else p for p in places[b]]}
        if all(abs(where[0] - where[-1]) >= gap for where in moved.values() if len(where) == 2):
            order[one], order[two] = b, a
            places |= moved
    return order


@dataclass(frozen=True)
class Rounds:
    """The showings of one participant in their order: an item (or row) each, and the repetition, counted from 1."""

    items: tuple[int, ...]
    repetitions: tuple[int, ...]
    notes: tuple[Message, ...] = ()


def rounds(
    items: int | Sequence[int], number: int, rng: np.random.Generator | int, distance: int | None = None
) -> Rounds:
    """Several rounds of the same items, each round in a new order.

    Two showings of an item that follow one another are at least `distance` positions apart (1: they may be adjacent);
    by default half the number of items. The first round is any order with equal probability; a later round is any
    order, other than the one before, that keeps the distance to the round before, with equal probability.

    >>> plan = rounds(4, 2, rng=1, distance=3)
    >>> plan.items[:4], plan.items[4:], plan.repetitions
    ((0, 1, 2, 3), (1, 0, 3, 2), (1, 1, 1, 1, 2, 2, 2, 2))
    """
    rng = np.random.default_rng(rng)
    labels = list(range(items)) if isinstance(items, int) else list(items)
    size = len(labels)
    gap = max(size // 2, 1) if distance is None else distance
    _refuse(labels, number, gap)
    order = rng.permutation(size)
    shown = [order]
    for _ in range(number - 1):
        following = _next_round(order, gap, rng)
        while size > 1 and np.array_equal(following, order):
            following = _next_round(order, gap, rng)
        shown.append(following)
        order = following
    notes = [Message("rounds.one_item")] if size == 1 and number > 1 else []
    return Rounds(
        tuple(labels[index] for one in shown for index in one),
        tuple(repetition for repetition in range(1, number + 1) for _ in range(size)),
        tuple(notes),
    )


def _refuse(labels: list[int], number: int, gap: int) -> None:
    size = len(labels)
    if size < 1 or number < 1:
        raise DesignError(Message("rounds.numbers", {"rounds": number, "items": size}))
    if len(set(labels)) < size:
        raise DesignError(Message("rounds.item_twice", {"advice": Message("rounds.name_once")}))
    if gap < 1:
        raise DesignError(Message("rounds.distance", {"distance": gap, "advice": Message("rounds.at_least_one")}))
    if number > 1 and gap > size:
        advice = Message("rounds.shorter_distance", {"most": max(size - 1, 1)})
        raise DesignError(Message("rounds.too_far", {"distance": gap, "items": size, "mean": size, "advice": advice}))
    if number > 1 and gap == size > 1:
        advice = Message("rounds.shorter_distance", {"most": size - 1})
        raise DesignError(Message("rounds.same_order", {"distance": gap, "items": size, "advice": advice}))


def _next_round(order: np.ndarray, gap: int, rng: np.random.Generator) -> np.ndarray:
    """The next round, drawn evenly: who came last has the fewest places and is placed first, so every way is alike."""
    size = len(order)
    following = np.empty(size, dtype=order.dtype)
    free: list[int] = []
    lowest = size
    for position in range(size - 1, -1, -1):
        earliest = max(position + gap - size, 0)
        free.extend(range(earliest, lowest))
        lowest = earliest
        following[free.pop(int(rng.integers(len(free))))] = order[position]
    return following
