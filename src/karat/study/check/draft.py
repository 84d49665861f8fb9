"""A study as the rules see it: its rows with their places, its lists, its settings with their lines."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import polars as pl

from karat.errors import ScaleError
from karat.judgments.scales import Ordinal, Scale
from karat.languages import language_of
from karat.messages import Message, message_of
from karat.study.designs import DesignError
from karat.study.file import line_of, toml_lines
from karat.study.orders import OrderError
from karat.study.plan import Block, BlockPlan
from karat.study.settings import BlockSettings
from karat.study.study import Study
from karat.study.tasks import task_named

Spot = tuple[str | None, int | None]
"""The file and line of a flaw."""
SPACELESS = ("zh", "ja", "th", "lo", "km", "my")
"""Languages without spaces between words."""
MOST_LISTS = 48
"""At most this many lists are checked, as some designs have a list for each participant."""


@dataclass(frozen=True)
class Row:
    """A row of an item table."""

    block: Block
    number: int
    cells: Mapping[str, str | None]

    def __getitem__(self, column: str) -> str | None:
        return self.cells.get(column)

    @cached_property
    def item(self) -> str:
        """The name of its item."""
        return self["item"] or ""

    @cached_property
    def function(self) -> str:
        """The function of its item."""
        return self["function"] or "test"

    @property
    def spot(self) -> Spot:
        """Its file and line."""
        file, _, line = self.block.items.locate(self.number)
        return file, line

    @cached_property
    def unknown_levels(self) -> list[str]:
        """The factors for which a test row has no level of the study file."""
        factors = self.block.settings.factors if self.function == "test" else {}
        return [name for name, factor in factors.items() if self[name] not in factor.levels]

    @cached_property
    def condition(self) -> tuple[str, ...]:
        """Its levels, in the order of the factors of the study file."""
        return tuple(self[name] or "" for name in self.block.settings.factors)


@dataclass(frozen=True)
class Draft:
    """A study during its check; values that several rules need are computed once."""

    study: Study

    @cached_property
    def lines(self) -> dict[tuple[str | int, ...], int]:
        """The line of every key of the study file."""
        return toml_lines(self.study.path.read_text(encoding="utf-8-sig"))

    def at(self, *keys: str | int) -> Spot:
        """The place of a key of the study file, or of the table around it."""
        return self.study.path.name, line_of(self.lines, keys)

    @cached_property
    def rows(self) -> tuple[tuple[Row, ...], ...]:
        """The rows of the item tables, block by block."""
        return tuple(
            tuple(Row(block, number, cells) for number, cells in enumerate(block.items.frame.to_dicts()))
            for block in self.study.blocks
        )

    @cached_property
    def all_rows(self) -> tuple[Row, ...]:
        """The rows of all item tables."""
        return tuple(row for rows in self.rows for row in rows)

    def of_function(self, function: str) -> list[Row]:
        """The rows of all item tables that have this function."""
        return [row for row in self.all_rows if row.function == function]

    def spot_of(self, block: int, item: str | None) -> Spot:
        """The place of the first row of an item or pair."""
        return next((row.spot for row in self.rows[block] if item in (row.item, row["pair"])), (None, None))

    @cached_property
    def design_error(self) -> Message | None:
        """The reason why the lists or the questionnaires cannot be made; None if they can."""
        if any(row.unknown_levels for row in self.all_rows):
            return Message("design.unnamed_level", {"advice": Message("design.fix_items")})
        try:
            self.study.plan()
            self.study.questionnaire()
        except OrderError:
            return None
        except DesignError as error:
            return message_of(error)
        return None

    @property
    def spaceless(self) -> bool:
        """Whether the language of the study has no spaces between words."""
        return self.study.settings.language[:2].lower() in SPACELESS

    @cached_property
    def plans(self) -> tuple[BlockPlan, ...]:
        """The lists of each block; empty if they cannot be made."""
        return () if self.design_error is not None else self.study.plan()

    @cached_property
    def order_error(self) -> OrderError | None:
        """The error of the first list that cannot be put in order; None if all can."""
        for index, block, lists in self.planned():
            for number in range(1, len(lists) + 1):
                try:
                    self.study.arranger(index, number).order(np.random.default_rng(number))
                    if block.settings.repeated_items:
                        self.study.questionnaire(list=number)
                except OrderError as error:
                    return error
        return None

    @cached_property
    def list_count(self) -> int:
        """The number of lists."""
        return self.study.lists if self.plans else 0

    @property
    def list_numbers(self) -> range:
        """The numbers of the lists to check, from 1."""
        return range(1, min(self.list_count, MOST_LISTS) + 1)

    def planned(self) -> list[tuple[int, Block, tuple[pl.DataFrame, ...]]]:
        """Each block with its number and its lists; empty if lists cannot be made."""
        blocks = zip(self.study.blocks, self.plans, strict=False)
        return [(index, block, plan.lists[:MOST_LISTS]) for index, (block, plan) in enumerate(blocks)]

    def trials(self, number: int) -> list[tuple[Block, pl.DataFrame]]:
        """The trials of a list, block by block."""
        return [(block, self.study.trials(index, number)) for index, block in enumerate(self.study.blocks)]

    @cached_property
    def longest(self) -> float:
        """The minutes of the longest list; 0 if lists cannot be made."""
        return max((self.study.minutes(number) for number in self.list_numbers), default=0.0)

    def head(self) -> str:
        """A line that describes the study."""
        outline = self.study.outline(self.list_numbers) if self.plans else "its lists cannot be made"
        return f"{self.study.path.name}: {outline}"


def has_factors(block: BlockSettings) -> bool:
    """Whether a block asks for acceptability and has factors, which participants should not notice."""
    return task_named(block.task).acceptability and bool(block.factors)


def degree(scale: Scale, acceptability: str | None, status: str | None) -> str | None:
    """The intended acceptability of a stimulus as low, mid or high; None if the table does not have it."""
    text = (acceptability or "").strip().lower()
    if text in ("low", "mid", "high"):
        return text
    if text and isinstance(scale, Ordinal):
        try:
            ranks = [scale.levels.index(level) / (len(scale.levels) - 1) for level in scale.expected(text)]
        except ScaleError:
            ranks = []
        if ranks:
            share = sum(ranks) / len(ranks)
            return "low" if share < 0.35 else "high" if share > 0.65 else "mid"
    return {"grammatical": "high", "ungrammatical": "low", "marked": "mid"}.get(status or "")


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, both in the order in which they come."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def lines_of(rows: Sequence[Row], most: int = 4) -> str:
    """The lines of several rows in words: `lines 4, 9 and 11`."""
    numbers = sorted({row.spot[1] for row in rows if row.spot[1] is not None})
    if not numbers:
        return ""
    sentences = [str(number) for number in numbers[:most]]
    sentences += [f"{len(numbers) - most} more"] if len(numbers) > most else []
    return f"line{'s' if len(sentences) > 1 else ''} {language_of('en').several(sentences)}"


def items_of(rows: Sequence[Row]) -> str:
    """The items of rows in words: one item by its name, several by their number and lines."""
    items = list(dict.fromkeys(row.item for row in rows))
    return items[0] if len(items) == 1 else f"{len(items)} items ({lines_of(rows)})"
