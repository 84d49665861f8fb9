"""The questionnaire of one participant: trials in their order, with random sides and polarities."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from karat.judgments.columns import COLUMNS
from karat.study.designs import attention_halves, balance_sides, repeated_pairs, rounds
from karat.study.orders import Arranger, OrderError, OrderRules, violations
from karat.study.plan import FIXED_SIDES, TWO_SIDED, Block
from karat.study.settings import OrderSettings, StudySettings

REPEAT_TRIES = 5
"""The tries to place repeated trials so that the rules hold."""
HALVES_TRIES = 200
"""The tries to order two halves so that the rules hold where they meet."""


@dataclass(frozen=True)
class Questionnaire:
    """The trials of one participant in order: one row per trial (in a differential, per trial and adjective pair)."""

    frame: pl.DataFrame
    list: int
    participant: str
    seed: int

    def __len__(self) -> int:
        return self.frame.height


class ListBlock(NamedTuple):
    """A block in one list: its trials, and a function that returns their arranger, which is made when first needed."""

    block: Block
    trials: pl.DataFrame
    arranger: Callable[[], Arranger]


def assemble(
    settings: StudySettings, blocks: Sequence[ListBlock], number: int, participant: str, seed: int
) -> Questionnaire:
    """The questionnaire of a participant, always the same for the same study, list, participant and seed."""
    digest = hashlib.sha256(f"{seed}|{number}|{participant}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    places = list(range(len(blocks)))
    sessions = [_trials_by_session(block, settings.questionnaire.sessions, rng) for block in blocks]
    parts = []
    for session in range(settings.questionnaire.sessions):
        if settings.questionnaire.blocks == "shuffled":
            rng.shuffle(places)
        trials = [_block_trials(blocks[place], settings.order, sessions[place][session], rng) for place in places]
        whole = _numbered(pl.concat(trials, how="diagonal_relaxed"))
        parts.append(whole.with_columns(session=pl.lit(str(session + 1))))
    frame = pl.concat(parts, how="diagonal_relaxed").with_columns(list=pl.lit(str(number)))
    if settings.questionnaire.sessions == 1:
        frame = frame.drop("session")
    columns = [name for name in ("trial", *COLUMNS) if name in frame.columns]
    ordered = list(dict.fromkeys([*columns, *frame.columns]))
    return Questionnaire(frame.select(ordered), number, participant, seed)


def _block_trials(
    whole: ListBlock, order_settings: OrderSettings, session_trials: pl.DataFrame | None, rng: np.random.Generator
) -> pl.DataFrame:
    """The trials of a block in order, with a column `_position`; several rounds follow each other."""
    block = whole.block
    trials = whole.trials if session_trials is None else session_trials
    arranger = whole.arranger() if session_trials is None else arranger_for(order_settings, session_trials)
    parts = []
    orders = (
        [_order_in_halves(order_settings, trials, rng) for _ in range(block.settings.rounds)]
        if order_settings.halves in trials.columns
        else _orders(block, trials, arranger, rng)
    )
    for repetition, order in enumerate(orders, start=1):
        order, again = _with_repeats(order, trials, block.settings.repeated_items, order_settings, rng)
        part = trials[order]
        if block.task.compares:
            part = _with_sides(part, block, rng)
        start = len(order) * (repetition - 1)
        part = part.with_columns(_position=pl.int_range(start + 1, start + len(order) + 1), block=pl.lit(block.name))
        if block.settings.rounds > 1:
            part = part.with_columns(repetition=pl.lit(repetition))
        elif block.settings.repeated_items:
            part = part.with_columns(repetition=pl.Series(again, dtype=pl.Int64))
        parts.append(part)
    ordered = pl.concat(parts, how="diagonal_relaxed")
    return _with_questions(ordered, block, rng)


def _with_repeats(
    order: list[int], trials: pl.DataFrame, number: int, settings: OrderSettings, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """An order in which some test trials come again, at least a third of the trials later, and the repetition of each.

    The rules about neighbours also hold for the repeated trials.
    """
    if not number:
        return order, [1] * len(order)
    apart, functions = len(order) // 3, trials["function"].to_list()
    early = [place for place, row in enumerate(order) if functions[row] == "test" and place + apart < len(order)]
    rules = order_rules(settings, trials)
    neighbours = OrderRules(apart=rules.apart, in_a_row=rules.in_a_row)

    def fits(row: int, slot: int, filled: dict[int, int]) -> bool:
        beside = [functions[other] for other in order[max(slot - 1, 0) : slot + 1]]
        if slot in filled or (neighbours.apart and "test" in beside):
            return False
        rows, _ = _inserted(order, {**filled, slot: row})
        return not violations(trials[rows], range(len(rows)), neighbours)

    for _ in range(REPEAT_TRIES if len(early) >= number else 0):
        slots: dict[int, int] = {}
        for place in rng.permutation(early).tolist():
            later = rng.permutation(range(place + apart + 1, len(order) + 1)).tolist()
            slot = next((slot for slot in later if fits(order[place], slot, slots)), None)
            if slot is not None:
                slots[slot] = order[place]
            if len(slots) == number:
                return _inserted(order, slots)
    raise OrderError(
        f"{number} test trials cannot come again a third of the trials later, as the rules of [order] are.",
        "State fewer repeated_items, loosen the rules, or add fillers.",
    )


def _inserted(order: list[int], slots: dict[int, int]) -> tuple[list[int], list[int]]:
    """An order with rows inserted before some of its places, and the repetition of each row.

    >>> _inserted([3, 4, 5], {2: 3, 3: 4})
    ([3, 4, 3, 5, 4], [1, 1, 2, 1, 2])
    """
    rows, times = [], []
    for place in range(len(order) + 1):
        if place in slots:
            rows.append(slots[place])
            times.append(2)
        if place < len(order):
            rows.append(order[place])
            times.append(1)
    return rows, times


def _orders(block: Block, trials: pl.DataFrame, arranger: Arranger, rng: np.random.Generator) -> list[list[int]]:
    """The order of each round.

    If there are only test trials and no rule about their order, the showings of an item in two rounds are kept apart.
    """
    count = block.settings.rounds
    if count > 1 and set(trials["function"].unique()) == {"test"} and not arranger.about_columns:
        return rounds(trials.height, count, rng)
    return [arranger.order(rng).tolist() for _ in range(count)]


def _order_in_halves(settings: OrderSettings, trials: pl.DataFrame, rng: np.random.Generator) -> list[int]:
    """An order whose two halves share no value of a column; each half satisfies the rules by itself.

    Practice and calibration stay in the first half. The rules about neighbours also hold where the halves meet.
    """
    rows = halved(trials, settings.halves or "", rng)
    arrangers = [arranger_for(settings, trials[half]) for half in rows]
    rules = order_rules(settings, trials)
    neighbours = OrderRules(apart=rules.apart, in_a_row=rules.in_a_row, distance=rules.distance)
    for _ in range(HALVES_TRIES):
        order = [
            half[place]
            for half, arranger in zip(rows, arrangers, strict=True)
            for place in (arranger.order(rng).tolist() if half else [])
        ]
        if not violations(trials, order, neighbours):
            return order
    raise OrderError(
        f"The rules of the order do not hold where the two halves of {settings.halves} meet.",
        "Loosen the rules, or add fillers.",
    )


def halved(trials: pl.DataFrame, column: str, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """The rows of two halves: trials that share a value of a column are divided between them.

    Trials without a value, and the first members of groups, are divided evenly within each function.
    """
    halves: tuple[list[int], list[int]] = ([], [])
    groups: dict[tuple[str, str | None], list[int]] = {}
    for row, (function, value) in enumerate(trials.select("function", column).iter_rows()):
        if function in ("practice", "calibration"):
            halves[0].append(row)
        else:
            groups.setdefault((function, value), []).append(row)
    sides = dict.fromkeys((function for function, _ in groups), 0)
    for (function, _), members in groups.items():
        for row in rng.permutation(members).tolist():
            halves[sides[function]].append(row)
            sides[function] = 1 - sides[function]
    return halves


def _trials_by_session(whole: ListBlock, count: int, rng: np.random.Generator) -> list[pl.DataFrame | None]:
    """The trials of a block in each session; None for all. In rating tasks each has one member of an attention pair."""
    trials = whole.trials
    attention = trials.filter(pl.col("function") == "attention")
    paired = "pair" in trials.columns and attention["pair"].null_count() == 0
    if count == 1 or whole.block.task.compares or not attention.height or not paired:
        return [None] * count
    return [trials[rows] for rows in attention_halves(trials, rng)]


def _numbered(trials: pl.DataFrame) -> pl.DataFrame:
    """Positions over all blocks; rows of one trial share their position."""
    starts = (pl.col("block") != pl.col("block").shift(1)) | (pl.col("_position") != pl.col("_position").shift(1))
    return trials.with_columns(trial=starts.fill_null(True).cum_sum().cast(pl.Int64)).drop("_position")


def _with_sides(trials: pl.DataFrame, block: Block, rng: np.random.Generator) -> pl.DataFrame:
    """Trials with random sides; within each condition, half of the trials show the first stimulus on the left."""
    names = [name for name in block.settings.factors if name in trials.columns]
    groups = list(trials.select("function", *names).iter_rows())
    sides = balance_sides([(row, -1 - row) for row in range(trials.height)], rng, groups)
    mask = pl.Series([left < 0 for left, _ in sides], dtype=pl.Boolean)
    if FIXED_SIDES in trials.columns:
        mask &= trials[FIXED_SIDES].is_null()
        trials = trials.drop(FIXED_SIDES)
    swapped = []
    for first, second in [("left", "right"), *((name, f"{name}_2") for name in TWO_SIDED)]:
        if first in trials.columns and second in trials.columns:
            swapped += [
                pl.when(mask).then(pl.col(second)).otherwise(pl.col(first)).alias(first),
                pl.when(mask).then(pl.col(first)).otherwise(pl.col(second)).alias(second),
            ]
    if "expected" in trials.columns:
        other = pl.col("expected").replace({"left": "right", "right": "left"})
        swapped.append(pl.when(mask).then(other).otherwise(pl.col("expected")).alias("expected"))
    return trials.with_columns(swapped)


def _with_questions(trials: pl.DataFrame, block: Block, rng: np.random.Generator) -> pl.DataFrame:
    """Trials with all adjective pairs, if there are any, in an individual random order and polarity."""
    if block.questions is None:
        return trials
    showings = repeated_pairs(block.questions["question"].to_list(), block.settings.repeated_questions, rng)
    rows = [(showing.question, -1 if showing.flipped else 1, showing.repetition) for showing in showings]
    schema = {"question": pl.String, "polarity": pl.Int64, "repetition": pl.Int64}
    questions = pl.DataFrame(rows, schema=schema, orient="row")
    if not block.settings.repeated_questions:
        questions = questions.drop("repetition")
    return trials.join(questions, how="cross", maintain_order="left_right")


def order_rules(settings: OrderSettings, trials: pl.DataFrame) -> OrderRules:
    """The rules of the study file for the trials of a list, without rules about columns and functions it lacks."""
    functions = set(trials["function"].unique().to_list())
    first = ("practice", "calibration") if settings.calibration == "first" else ("practice",)
    return OrderRules(
        first=tuple(name for name in first if name in functions),
        apart=() if settings.test_adjacent or functions <= {"test", *first} else ("test",),
        in_a_row={name: most for name, most in settings.in_a_row.items() if name in trials.columns},
        spread=tuple(name for name in settings.spread if name in functions),
        distance={name: least for name, least in settings.distance.items() if name in trials.columns},
        keep_ratio=settings.keep_ratio,
        mixed_blocks=settings.mixed_blocks,
    )


def arranger_for(settings: OrderSettings, trials: pl.DataFrame) -> Arranger:
    """The arranger for the trials of a list."""
    return Arranger(trials, order_rules(settings, trials))
