"""Judgments in one part or in many, for criteria that run on both.

Such a criterion has one computation in three steps. It gathers a small summary of each part, and tables that are stored
beside the part; it merges the summaries; and it judges the participants of each part, given the whole. Judgments in
memory are the case of one part (`OnePart`); judgments on disk or on a cluster are `karat.screen.parted.InParts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import polars as pl
from numpy.typing import NDArray

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
OfJudgments = Callable[[Judgments, Shared, int], Result]
"""A module-level function of the judgments of a part, what all parts share, and the number of the part."""
OfTable = Callable[[pl.DataFrame, Shared], Result]
"""The same, of a table stored beside a part."""
OfNumber = Callable[[Shared, int], Result]
"""The same, of the number of a part alone."""
AnyEvidence = TypeVar("AnyEvidence", bound=Evidence | PartedEvidence)
"""The evidence: `Evidence` in memory, `PartedEvidence` in parts."""
JudgedPart = tuple[Any, int, int, Facts]
"""The table of a part or its file, the numbers of participants and of flagged ones, and the part's other results."""


class Shelf:
    """Tables and arrays that passes store for each other, each under a name and the number or name of its part.

    This shelf is in memory.

    >>> shelf = Shelf()
    >>> shelf.put(pl.DataFrame({"rt": [2.0]}), "trials", 0)
    >>> shelf.table("trials", 0).height
    1
    """

    in_memory = True

    def __init__(self) -> None:
        self._items: dict[tuple[str, int | str], Any] = {}

    def put(self, value: pl.DataFrame | NDArray[Any], name: str, part: int | str) -> None:
        """Store a table or an array, whole or not at all."""
        self._items[name, part] = value

    def table(self, name: str, part: int | str, columns: list[str] | None = None) -> pl.DataFrame:
        """A stored table."""
        table: pl.DataFrame = self._items[name, part]
        return table if columns is None else table.select(columns)

    def scan(self, name: str, parts: int) -> pl.LazyFrame:
        """The tables of this many parts, one after the other."""
        return pl.concat([self.table(name, number).lazy() for number in range(parts)])

    def array(self, name: str, part: int | str) -> NDArray[Any]:
        """A stored array."""
        array: NDArray[Any] = self._items[name, part]
        return array

    def drop(self, name: str, part: int | str) -> None:
        """Remove a table or an array, if it exists."""
        self._items.pop((name, part), None)


Beside = Callable[..., Any]
"""Stores a table of the evidence under its name and the number of its part. In parts, the table is written and its file
returned, or None if nothing was written. A table without rows is written only if `empty`."""


class AnyParts(Generic[AnyEvidence]):
    """Judgments in parts, each with all answers of its participants. Here there is one part, in memory."""

    executor: Executor
    """Runs the tasks."""
    progress: Progress | None
    """Is called with finished tasks."""

    def read(self, number: int) -> Judgments:
        """A part."""
        raise NotImplementedError

    def evidence(
        self, criterion: str, settings: dict[str, Any], notes: tuple[Message, ...], judged: Sequence[JudgedPart[Facts]]
    ) -> tuple[AnyEvidence, list[Facts]]:
        """The evidence, and the other results of each part."""
        raise NotImplementedError

    @property
    def scales(self) -> Mapping[str, Scale]:
        """The scale of each question, over all parts."""
        return self.read(0).scales

    @property
    def beside(self) -> Beside:
        """The function that stores tables of the evidence."""
        return _as_it_is

    def __len__(self) -> int:
        return 1

    def stimuli(self) -> Mapping[bool, Stimuli]:
        """The definition of a stimulus, from all participants: of choices under True, of other answers under False."""
        judgments = self.read(0)
        return {isinstance(scale, Choice): judgments.stimuli(scale) for scale in judgments.scales.values()}

    def map(
        self, function: OfJudgments[Shared, Result], shared: Shared, *, name: str, only: Sequence[int] | None = None
    ) -> list[Result]:
        """`function(judgments, shared, number)` of every part, or only of some, in their order.

        A part may have no rows. The function is defined at module level and returns something small.
        """
        return [function(self.read(number), shared, number) for number in ((0,) if only is None else only)]

    def each(self, function: OfNumber[Shared, Result], shared: Shared, *, name: str) -> list[Result]:
        """`function(shared, number)` of every part, in their order, for passes that need only stored results."""
        return [function(shared, 0)]

    def shelf(self, criterion: str, about: object = None) -> Shelf:
        """A shelf of a criterion for work with these settings."""
        return Shelf()

    def keep(
        self, name: str, function: OfJudgments[Shared, tuple[pl.DataFrame, Facts]], shared: Shared
    ) -> tuple[PartTables[AnyEvidence], list[Facts]]:
        """A table of each part, stored for the criterion of this name, and the small other results of each."""
        shelf = self.shelf(name)
        return PartTables(self, name, shelf), self.map(_keep, (function, shared, shelf), name=name)

    def judge(
        self, criterion: str, function: Callable[..., tuple[pl.DataFrame | None, Facts]], shared: object,
        settings: dict[str, Any], *, notes: tuple[Message, ...] = (), stored: bool = False,
    ) -> tuple[AnyEvidence, list[Facts]]:  # fmt: skip
        """The evidence, and the other results of each part.

        The function returns the table of participants, or None if there are none, and anything small. It gets the
        judgments unless it only needs what is `stored` on a shelf.
        """
        task = (function, shared, self.beside, criterion)
        judged = self.each(_judged, task, name=criterion) if stored else self.map(_judged, task, name=criterion)
        return self.evidence(criterion, settings, notes, judged)


PART_TABLE = "table"
"""The name of stored tables on their shelf."""


@dataclass(frozen=True)
class PartTables(Generic[AnyEvidence]):
    """A table per part, stored by an earlier pass."""

    parts: AnyParts[AnyEvidence]
    criterion: str
    shelf: Shelf

    def read(self, number: int) -> pl.DataFrame:
        """The table of a part."""
        return self.shelf.table(PART_TABLE, number)

    def scan(self) -> pl.LazyFrame:
        """All tables, one after the other."""
        return self.shelf.scan(PART_TABLE, len(self.parts))

    def map(self, function: OfTable[Shared, Result], shared: Shared) -> list[Result]:
        """`function(table, shared)` of every part, in their order."""
        return self.parts.each(_with_table, (function, shared, self.shelf), name=self.criterion)

    def judge(
        self, function: OfTable[Shared, pl.DataFrame], shared: Shared, settings: dict[str, Any],
        notes: tuple[Message, ...] = (),
    ) -> AnyEvidence:  # fmt: skip
        """The evidence; the function returns the participants of a part with their verdicts."""
        task = (function, shared, self.shelf)
        return self.parts.judge(self.criterion, _judged_table, task, settings, notes=notes, stored=True)[0]


def _keep(judgments: Judgments, shared: tuple[Any, Any, Shelf], number: int) -> Any:
    function, values, shelf = shared
    table, facts = function(judgments, values, number)
    shelf.put(table, PART_TABLE, number)
    return facts


def _with_table(shared: tuple[Any, Any, Shelf], number: int) -> Any:
    function, values, shelf = shared
    return function(shelf.table(PART_TABLE, number), values)


def _judged_table(shared: tuple[Any, Any, Shelf], number: int) -> tuple[pl.DataFrame, None]:
    return _with_table(shared, number), None


def _judged(*arguments: Any) -> JudgedPart[Any]:
    """Store the function's result for the judgments of a part, if they are given, or for what is on a shelf."""
    *judgments, (function, values, store, criterion), number = arguments
    table, facts = function(*judgments, values, number)
    people, flagged = (table.height, int(table["flagged"].sum())) if table is not None and table.height else (0, 0)
    return store(table, criterion, number), people, flagged, facts


@dataclass(frozen=True)
class OnePart(AnyParts[Evidence]):
    """Judgments in memory as one part.

    >>> import karat
    >>> part = OnePart(karat.datasets.load("likert"))
    >>> part.map(lambda judgments, shared, number: len(judgments), None, name="answers")
    [3566]
    """

    judgments: Judgments
    executor: Executor = SERIAL
    progress: Progress | None = None

    def read(self, number: int) -> Judgments:
        return self.judgments

    def evidence(
        self, criterion: str, settings: dict[str, Any], notes: tuple[Message, ...], judged: Sequence[JudgedPart[Facts]]
    ) -> tuple[Evidence, list[Facts]]:
        ((table, _, _, facts),) = judged
        return Evidence(pl.DataFrame() if table is None else table, criterion, settings, notes), [facts]


def parts_of(
    judgments: Judgments | AnyParts[Evidence], executor: Executor = SERIAL, progress: Progress | None = None
) -> AnyParts[Evidence]:
    """Judgments in memory as one part; judgments in parts are returned unchanged."""
    return judgments if isinstance(judgments, AnyParts) else OnePart(judgments, executor, progress)


def _as_it_is(table: pl.DataFrame | None, name: str, number: int, /, empty: bool = False) -> Path | pl.DataFrame | None:
    return table
