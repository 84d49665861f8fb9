"""From an item table to lists: the trials that the participants of each list see, before they are put in order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import polars as pl

from karat.judgments.message_tables import rows_named
from karat.judgments.scales import Scale
from karat.messages import Message, message_of
from karat.study.block_keys import PairsSettings, SubsetSettings
from karat.study.designs import DesignError, DesignFactor, factorial, random_pairs, subsets
from karat.study.items import Items
from karat.study.settings import BlockSettings
from karat.study.tasks import task_named
from karat.study.tasks.task import Task

COMPARISON = "comparison"
"""The two levels that a choice trial compares, if the compared factor has more than two."""
FIXED_SIDES = "_fixed_sides"
"""Marks trials whose sides the design has balanced over all participants, so that they are not random for each."""
TWO_SIDED = ("sentence", "image", "gloss")
"""The columns with the first side of a choice; the second side is in columns with `_2`."""


Cells = Mapping[str, str | None]
"""A row of the item table, by column."""
Trial = dict[str, str | None]
"""A trial with two sides, by column."""


@dataclass(frozen=True)
class Block:
    """A block of the questionnaire with its items."""

    name: str
    settings: BlockSettings
    items: Items
    questions: pl.DataFrame | None = None
    """The adjective pairs of a differential: question, left, right."""

    @property
    def task(self) -> Task:
        """The task of a trial."""
        return task_named(self.settings.task)

    @cached_property
    def scale(self) -> Scale:
        """The scale of its answers."""
        return self.task.scale(self.settings.scale)


@dataclass(frozen=True)
class BlockPlan:
    """The lists of a block."""

    lists: tuple[pl.DataFrame, ...]
    """The trials of each list, one row per trial."""
    notes: tuple[Message, ...] = ()
    """Notes on imbalance."""


def placed_plan(block: Block, seed: int, participants: int) -> BlockPlan:
    """The lists of a block; if some rows prevent them, the error has the lines of these rows."""
    try:
        return block_plan(block.settings, block.items.frame, seed, participants)
    except DesignError as error:
        # The trials of a choice are not rows of the item table, because two rows make one trial.
        if not error.rows or block.task.compares:
            raise
        file, place, _ = block.items.locate(error.rows[0])
        numbers = [block.items.locate(row)[2] for row in error.rows]
        values = {"file": file, "rows": rows_named(place, numbers), "reason": message_of(error)}
        raise DesignError(Message("design.at", values), error.rows) from None


def block_plan(settings: BlockSettings, items: pl.DataFrame, seed: int, participants: int) -> BlockPlan:
    """The lists of a block: Latin square, pairs or subsets, according to its settings."""
    if task_named(settings.task).compares:
        trials = choice_trials(settings, items)
        if settings.pairs is not None:
            return _pairs_plan(settings.pairs, settings, items, trials, seed, participants)
    else:
        trials = items
    if settings.subset is not None:
        return _subset_plan(settings.subset, trials, seed)
    factors = {
        name: DesignFactor(
            name,
            tuple(factor.levels),
            within_items=factor.between is None or (factor.between == "participants" and _varies(trials, name)),
            within_participants=factor.between != "participants",
        )
        for name, factor in settings.factors.items()
        if name != settings.compared
    }
    if COMPARISON in trials.columns:
        levels = tuple(trials[COMPARISON].drop_nulls().unique(maintain_order=True).to_list())
        factors[COMPARISON] = DesignFactor(COMPARISON, levels)
    if not factors:
        return BlockPlan((trials,) * (settings.lists or 1))
    plan = factorial(trials, factors, lists=settings.lists)
    return BlockPlan(tuple(trials[list(rows)] for rows in plan.rows), plan.notes)


def _varies(trials: pl.DataFrame, factor: str) -> bool:
    """Whether test items come in several levels of a factor, which is possible also between participants."""
    levels = trials.filter(pl.col("function") == "test").group_by("item").agg(pl.col(factor).n_unique())[factor]
    return bool((levels > 1).any())


def choice_trials(settings: BlockSettings, items: pl.DataFrame) -> pl.DataFrame:
    """An item table as trials with two sides, the first stimulus on the left; random sides follow later.

    The two sides are the levels of the compared factor, the two members of a pair, the two rows of an item, or the
    columns sentence and sentence_2 of one row.
    """
    others = settings.condition_factors
    key = "pair" if settings.pairs is not None and "pair" in items.columns else "item"
    groups: dict[tuple[object, ...], list[Trial]] = {}
    for row in items.to_dicts():
        name = row.get(key) or row["item"]
        groups.setdefault((row["function"], name, *(row.get(factor) for factor in others)), []).append(row)
    trials = [trial for rows in groups.values() for trial in _trials(rows, settings, key)]
    return pl.DataFrame(trials, infer_schema_length=None).cast(pl.String)


def _trials(rows: Sequence[Cells], settings: BlockSettings, key: str) -> Iterator[Trial]:
    """The trial of an item, or several if a factor with three levels or more is compared two by two."""
    levels = settings.factors[settings.compared].levels if settings.compared else []
    if len(levels) > 2 and rows[0]["function"] == "test" and len(rows) > 1:
        for pair in combinations(rows, 2):
            trial = _trial(pair, settings, key)
            sides = sorted((row.get(settings.compared or "") or "" for row in pair), key=levels.index)
            yield {**trial, COMPARISON: "/".join(sides)}
    else:
        yield _trial(rows, settings, key)


def _trial(rows: Sequence[Cells], settings: BlockSettings, key: str) -> Trial:
    first = dict(rows[0])
    if len(rows) == 1 and any(first.get(f"{name}_2") for name in TWO_SIDED):
        sides = {"1": "left", "2": "right"}
        expected = sides.get(first.get("expected") or "", first.get("expected"))
        # A picture or gloss of one side alone must move with it when the sides are exchanged.
        sides_of = {f"{name}_2": first.get(f"{name}_2") for name in TWO_SIDED if name in first}
        return {**first, **sides_of, "left": f"{first['item']}.1", "right": f"{first['item']}.2", "expected": expected}
    if len(rows) != 2:
        name = first.get(key) or first["item"]
        values = {"key": key, "name": name, "n": len(rows), "advice": Message("plan.two_stimuli")}
        raise DesignError(Message("plan.choice_stimuli", values))
    left, right = _in_order(rows, settings)
    trial = {**left, "expected": _better(left, right), **_two_sides(left, right)}
    trial["left"], trial["right"] = _names(left, right, settings.compared)
    if settings.compared is not None:
        trial[settings.compared] = None
    if key == "pair":
        trial["item"] = left.get("pair") or left["item"]
    return trial


def _two_sides(left: Cells, right: Cells) -> Trial:
    """The columns with both sides of a trial."""
    names = [name for name in TWO_SIDED if name in left]
    return {key: row[name] for name in names for key, row in ((name, left), (f"{name}_2", right))}


def _in_order(rows: Sequence[Cells], settings: BlockSettings) -> tuple[Trial, Trial]:
    """The two rows of a trial, in the order of the levels of the compared factor, if there is one."""
    first, second = (dict(row) for row in rows)
    compared = settings.compared
    if compared is not None and first.get(compared):
        levels = settings.factors[compared].levels
        for row in (first, second):
            if row.get(compared) not in levels:
                values = {"item": row["item"], "factor": compared, "level": row.get(compared), "levels": list(levels)}
                advice = Message("plan.fix_items_or_factor")
                raise DesignError(Message("plan.compared_level", {**values, "advice": advice}))
        first, second = sorted((first, second), key=lambda row: levels.index(row[compared] or ""))
    return first, second


def _names(left: Cells, right: Cells, compared: str | None) -> tuple[str, str]:
    """A name for each side: its item, or the item with a value that distinguishes the two."""
    if left["item"] != right["item"]:
        return str(left["item"]), str(right["item"])
    for column in (compared, "status"):
        if column and left.get(column) and left.get(column) != right.get(column):
            return f"{left['item']}.{left[column]}", f"{right['item']}.{right[column]}"
    return f"{left['item']}.1", f"{right['item']}.2"


def _better(left: Cells, right: Cells) -> str | None:
    """The expected side of a choice: the row marked as expected, else the grammatical one."""
    for column, value in (("expected", None), ("status", "grammatical")):
        sides = [side.get(column) == value if value else bool(side.get(column)) for side in (left, right)]
        if sides[0] != sides[1]:
            return "left" if sides[0] else "right"
    return None


def _subset_plan(subset: SubsetSettings, trials: pl.DataFrame, seed: int) -> BlockPlan:
    """Lists with a part of the test items, and all others."""
    test = trials.with_row_index("_row").filter(pl.col("function") == "test")["_row"].to_list()
    rest = [row for row in range(trials.height) if row not in set(test)]
    plan = subsets(len(test), subset.per_participant, subset.ratings, np.random.default_rng(seed))
    return BlockPlan(tuple(trials[[test[i] for i in chosen] + rest] for chosen in plan.participants), plan.notes)


def _pairs_plan(
    pairs: PairsSettings, settings: BlockSettings, items: pl.DataFrame, trials: pl.DataFrame, seed: int,
    participants: int,
) -> BlockPlan:  # fmt: skip
    """Lists with all target pairs, or a part of them, and individual random pairs."""
    if settings.subset is not None:
        plan = _subset_plan(settings.subset, trials, seed)
    elif pairs.random:
        rest = trials if pairs.target else trials.filter(pl.col("function") != "test")
        plan = BlockPlan((rest,) * participants)
    else:
        plan = BlockPlan((trials,) * (settings.lists or 1))
    if not pairs.random:
        return plan
    members = items.filter(pl.col("function") == "test")
    pairs_of_participants = random_pairs(members.height, pairs.random, len(plan.lists), np.random.default_rng(seed))
    lists = []
    for rest, chosen in zip(plan.lists, pairs_of_participants.participants, strict=True):
        random = pl.DataFrame(
            [_random_trial(members.row(a, named=True), members.row(b, named=True)) for a, b in chosen]
        )
        lists.append(pl.concat([rest, random.cast(pl.String)], how="diagonal"))
    return BlockPlan(tuple(lists), (*plan.notes, *pairs_of_participants.notes))


def _random_trial(left: Cells, right: Cells) -> Trial:
    item = ":".join(sorted((str(left["item"]), str(right["item"]))))
    return {
        "item": item, "function": "test", "subgroup": "random", "left": left["item"], "right": right["item"],
        FIXED_SIDES: "yes", **_two_sides(left, right),
    }  # fmt: skip
