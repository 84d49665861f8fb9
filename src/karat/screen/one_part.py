"""Judgments in one part or in many: what a criterion that runs on both asks of them.

Such a criterion has one computation, in three moves. It gathers from every part a small summary, and a table that is
kept beside the part; it merges the summaries; and it judges the participants of every part, given the whole. Judgments
in memory are the case of one part (`OnePart`), judgments on disk or on a cluster are `karat.screen.parted.InParts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import polars as pl

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.scales import Choice, Scale
from karat.judgments.stimuli import Stimuli
from karat.messages import Message
from karat.screen.evidence import Evidence, PartedEvidence
from karat.types import Progress

Shared = TypeVar("Shared")
Result = TypeVar("Result")
Facts = TypeVar("Facts")
Given = TypeVar("Given", covariant=True)
OfJudgments = Callable[[Judgments, Shared, int], Result]
"""A function of a module, of the judgments of a part, what all parts share, and the number of the part."""
OfTable = Callable[[pl.DataFrame, Shared], Result]
"""The same, of a table that is kept beside a part."""
Found = TypeVar("Found", bound=Evidence | PartedEvidence)
"""The evidence: `Evidence` in memory, `PartedEvidence` in parts."""


class KeptTables(Protocol[Given]):
    """A table for each part, as an earlier pass has made it."""

    def read(self, number: int) -> pl.DataFrame:
        """That of a part."""

    def scan(self) -> pl.LazyFrame:
        """All of them, one after the other."""

    def map(self, function: OfTable[Shared, Result], shared: Shared) -> list[Result]:
        """`function(table, shared)` of every part, in their order."""

    def judge(
        self, function: OfTable[Shared, pl.DataFrame], shared: Shared, settings: dict[str, Any],
        notes: tuple[Message, ...] = (),
    ) -> Given:  # fmt: skip
        """The evidence: the function gives the participants of a part with their verdicts."""


class AnyParts(Protocol[Given]):
    """Judgments in parts, each with all answers of its participants."""

    @property
    def scales(self) -> Mapping[str, Scale]:
        """The scale of each question, over all parts."""

    @property
    def executor(self) -> Executor:
        """Where tasks are done."""

    @property
    def progress(self) -> Progress | None:
        """What hears of tasks that are done."""

    def read(self, number: int) -> Judgments:
        """A part."""

    def stimuli(self) -> Mapping[bool, Stimuli]:
        """What a stimulus is, decided on everybody; of choices under True, of other answers under False."""

    def map(
        self, function: OfJudgments[Shared, Result], shared: Shared, *, name: str, only: Sequence[int] | None = None
    ) -> list[Result]:
        """`function(judgments, shared, number)` of every part, or only of some, in their order."""

    def keep(
        self, name: str, function: OfJudgments[Shared, tuple[pl.DataFrame, Facts]], shared: Shared
    ) -> tuple[KeptTables[Given], list[Facts]]:
        """A table of each part, kept under the name of the criterion, and what else each has to say, which is small."""

    def judge(
        self, criterion: str, function: OfJudgments[Shared, tuple[pl.DataFrame | None, Facts]], shared: Shared,
        settings: dict[str, Any], *, notes: tuple[Message, ...] = (),
    ) -> tuple[Given, list[Facts]]:  # fmt: skip
        """The evidence, where the judgments themselves are needed for the verdicts, and what else each part says."""


@dataclass(frozen=True)
class _KeptTable:
    """The table of the only part."""

    criterion: str
    table: pl.DataFrame

    def read(self, number: int) -> pl.DataFrame:
        return self.table

    def scan(self) -> pl.LazyFrame:
        return self.table.lazy()

    def map(self, function: OfTable[Shared, Result], shared: Shared) -> list[Result]:
        return [function(self.table, shared)]

    def judge(
        self, function: OfTable[Shared, pl.DataFrame], shared: Shared, settings: dict[str, Any],
        notes: tuple[Message, ...] = (),
    ) -> Evidence:  # fmt: skip
        return Evidence(function(self.table, shared), self.criterion, settings, notes)


@dataclass(frozen=True)
class OnePart:
    """Judgments in memory as one part.

    >>> import karat
    >>> part = OnePart(karat.datasets.load("likert"))
    >>> part.map(lambda judgments, shared, number: len(judgments), None, name="answers")
    [3566]
    """

    judgments: Judgments
    executor: Executor = SERIAL
    progress: Progress | None = None

    @property
    def scales(self) -> Mapping[str, Scale]:
        return self.judgments.scales

    def read(self, number: int) -> Judgments:
        return self.judgments

    def stimuli(self) -> Mapping[bool, Stimuli]:
        return {isinstance(scale, Choice): self.judgments.stimuli(scale) for scale in self.scales.values()}

    def map(
        self, function: OfJudgments[Shared, Result], shared: Shared, *, name: str, only: Sequence[int] | None = None
    ) -> list[Result]:
        """`function(judgments, shared, 0)`, unless the only part is not asked for."""
        return [function(self.judgments, shared, number) for number in ((0,) if only is None else only)]

    def keep(
        self, name: str, function: OfJudgments[Shared, tuple[pl.DataFrame, Facts]], shared: Shared
    ) -> tuple[_KeptTable, list[Facts]]:
        table, facts = function(self.judgments, shared, 0)
        return _KeptTable(name, table), [facts]

    def judge(
        self, criterion: str, function: OfJudgments[Shared, tuple[pl.DataFrame | None, Facts]], shared: Shared,
        settings: dict[str, Any], *, notes: tuple[Message, ...] = (),
    ) -> tuple[Evidence, list[Facts]]:  # fmt: skip
        table, facts = function(self.judgments, shared, 0)
        return Evidence(pl.DataFrame() if table is None else table, criterion, settings, notes), [facts]
