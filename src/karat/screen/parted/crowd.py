"""A crowd in parts: what is the same for every criterion that looks at judgments part by part.

A criterion goes in three moves. It gathers from every part a small summary that can be merged with those of the others;
it merges them here; and it judges the participants of every part, given the whole. What one pass leaves for the next
and is not small lies in files of the folder `scratch`, which all processes share. A file is written whole or not at all
and named by part and pass, so that a task that is done twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.parts import Parts
from karat.judgments.scales import Scale
from karat.judgments.stimuli import Stimuli
from karat.messages import Message
from karat.screen.evidence import Evidence
from karat.screen.parted.evidence import PartedEvidence
from karat.screen.parted.part_files import part_file, write_part
from karat.screen.parted.stimuli import stimuli_in_parts
from karat.screen.steps import begin
from karat.study.results import with_study
from karat.study.study import Study, load
from karat.types import Progress

Shared = TypeVar("Shared")
Result = TypeVar("Result")
Facts = TypeVar("Facts")


@dataclass(frozen=True)
class InParts:
    """Judgments in parts, without those who are excluded so far, and where work on them is done.

    >>> import karat, tempfile
    >>> from karat.judgments.parts import open_parts, repartition
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = repartition([karat.datasets.load("crowd")], Path(folder) / "in", 2)
    ...     crowd = InParts(open_parts(Path(folder) / "in"), Path(folder) / "out")
    ...     sum(crowd.map(lambda judgments, shared, number: len(judgments), None, name="answers"))
    9600
    """

    parts: Parts
    out: Path
    """Where the evidence of each part is written."""
    executor: Executor = SERIAL
    progress: Progress | None = None
    study: Path | None = None
    """A study file: what its item tables say of the trials is laid beside every part."""
    excluded: str = ""
    """After which stage: the name of a folder in scratch that says who is gone from each part."""
    token: str = ""
    """Of which run `scratch` is; what another run has kept does not hold for it."""
    scratch: Path = field(default=Path())
    """Where passes leave files for each other; in `out` unless said."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "out", self.out.absolute())
        if self.scratch == Path():
            object.__setattr__(self, "scratch", self.out / "scratch")

    @property
    def scales(self) -> dict[str, Scale]:
        """The scale of each question, over all parts."""
        return self.parts.scales if self.study is None else self._scales

    @cached_property
    def _scales(self) -> dict[str, Scale]:
        return self.read(0).scales

    def __len__(self) -> int:
        return len(self.parts)

    def read(self, number: int) -> Judgments:
        """A part without those who are excluded."""
        judgments = self.parts.read(number)
        if self.study is not None:
            judgments, _ = with_study(judgments, loaded(self.study))
        if not self.excluded:
            return judgments
        gone = pl.read_parquet(part_file(self.scratch / self.excluded, number))["participant"]
        return judgments.without(gone.to_list()) if len(gone) else judgments

    def with_everybody(self) -> InParts:
        """The same parts with those who are excluded."""
        return replace(self, excluded="")

    def stimuli(self) -> Mapping[bool, Stimuli]:
        """What a stimulus is, decided on everybody once per run."""
        return stimuli_in_parts(self)

    def map(
        self,
        function: Callable[[Judgments, Shared, int], Result],
        shared: Shared,
        *,
        name: str,
        only: Sequence[int] | None = None,
    ) -> list[Result]:
        """`function(judgments, shared, number)` of every part, or only of some, in their order.

        A part may have no rows. The function is one of a module, and what it gives back is small.
        """
        return self._each(_with_judgments, function, shared, name, only)

    def each(self, function: Callable[[Shared, int], Result], shared: Shared, *, name: str) -> list[Result]:
        """`function(shared, number)` of every part, in their order, for what needs only files of `scratch`."""
        return self._each(_with_number, function, shared, name)

    def keep(
        self, name: str, function: Callable[[Judgments, Shared, int], tuple[pl.DataFrame, Facts]], shared: Shared
    ) -> tuple[KeptInParts, list[Facts]]:
        """A table of each part, written to `scratch`, and what else each part has to say."""
        return KeptInParts(self, name), self.map(_keep, (function, shared, self.scratch / name), name=name)

    def judge(
        self,
        criterion: str,
        function: Callable[[Judgments, Shared, int], tuple[pl.DataFrame | None, Facts]],
        shared: Shared,
        settings: dict[str, Any],
        written: tuple[str, ...] = Evidence.written,
        notes: tuple[Message, ...] = (),
    ) -> tuple[PartedEvidence, list[Facts]]:
        """The evidence of each part, written where it was computed, and what else each part has to say.

        The function gives the table of participants, or None where nobody is there, and anything small.
        """
        folder = self.out / "evidence" / criterion
        told = self.map(_judged, (function, shared, folder), name=criterion)
        return self._evidence(told, criterion, settings, written, notes)

    def judge_files(
        self,
        criterion: str,
        function: Callable[[Shared, int], tuple[pl.DataFrame | None, Facts]],
        shared: Shared,
        settings: dict[str, Any],
        written: tuple[str, ...] = Evidence.written,
    ) -> tuple[PartedEvidence, list[Facts]]:
        """The same, for a criterion that has put all that it needs into files of `scratch`."""
        folder = self.out / "evidence" / criterion
        told = self.each(_judged_files, (function, shared, folder), name=criterion)
        return self._evidence(told, criterion, settings, written)

    def _each(
        self, how: Callable[[Any, Any], Any], function: Any, shared: Any, name: str, only: Sequence[int] | None = None
    ) -> list[Any]:
        numbers = range(len(self.parts)) if only is None else only
        tasks = [(number, self.parts.stamp(number)) for number in numbers]
        begin(self.progress, name)
        found = self.executor.map(how, _Given(function, shared, self._bare()), tasks, name=name, progress=self.progress)
        # What is made of the results here takes its time too, and nobody knows how much.
        begin(self.progress, name)
        return found

    def _bare(self) -> InParts:
        """What another process needs of this."""
        return InParts(self.parts, self.out, SERIAL, None, self.study, self.excluded, self.token, self.scratch)

    def _evidence(
        self, told: Sequence[tuple[Path | None, int, int, Facts]], criterion: str, settings: dict[str, Any],
        written: tuple[str, ...], notes: tuple[Message, ...] = (),
    ) -> tuple[PartedEvidence, list[Facts]]:  # fmt: skip
        files = tuple(path for path, *_ in told if path is not None)
        people, flagged = sum(one[1] for one in told), sum(one[2] for one in told)
        found = PartedEvidence(criterion, settings, people, flagged, files, notes, written)
        return found, [one[3] for one in told]


@dataclass(frozen=True)
class KeptInParts:
    """The tables that a pass has left in `scratch`, one for each part."""

    crowd: InParts
    criterion: str

    @property
    def folder(self) -> Path:
        """Where they are."""
        return self.crowd.scratch / self.criterion

    def scan(self) -> pl.LazyFrame:
        """All of them, one after the other."""
        return pl.scan_parquet([part_file(self.folder, number) for number in range(len(self.crowd))])

    def map(self, function: Callable[[pl.DataFrame, Shared], Result], shared: Shared) -> list[Result]:
        """`function(table, shared)` of every part, in their order."""
        return self.crowd.each(_with_table, (function, shared, self.folder), name=self.criterion)

    def judge(
        self,
        function: Callable[[pl.DataFrame, Shared], pl.DataFrame],
        shared: Shared,
        settings: dict[str, Any],
        notes: tuple[Message, ...] = (),
    ) -> PartedEvidence:
        """The evidence of each part, written where it was computed."""
        found, _ = self.crowd.judge_files(self.criterion, _judged_table, (function, shared, self.folder), settings)
        return replace(found, notes=notes)


@lru_cache(maxsize=2)
def loaded(study: Path) -> Study:
    """A study, read once in each process: it does not travel between them."""
    return load(study)


@dataclass(frozen=True)
class _Given:
    function: Any
    shared: Any
    crowd: InParts


def _with_judgments(given: _Given, task: tuple[int, str]) -> Any:
    return given.function(given.crowd.read(task[0]), given.shared, task[0])


def _with_number(given: _Given, task: tuple[int, str]) -> Any:
    return given.function(given.shared, task[0])


def _keep(judgments: Judgments, shared: tuple[Any, Any, Path], number: int) -> Any:
    function, own, folder = shared
    table, facts = function(judgments, own, number)
    write_part(table, folder, number)
    return facts


def _with_table(shared: tuple[Any, Any, Path], number: int) -> Any:
    function, own, folder = shared
    return function(pl.read_parquet(part_file(folder, number)), own)


def _judged_table(shared: tuple[Any, Any, Path], number: int) -> tuple[pl.DataFrame, None]:
    return _with_table(shared, number), None


def _judged(judgments: Judgments, shared: tuple[Any, Any, Path], number: int) -> tuple[Path | None, int, int, Any]:
    function, own, folder = shared
    table, facts = function(judgments, own, number)
    return _write(table, facts, folder, number)


def _judged_files(shared: tuple[Any, Any, Path], number: int) -> tuple[Path | None, int, int, Any]:
    function, own, folder = shared
    table, facts = function(own, number)
    return _write(table, facts, folder, number)


def _write(table: pl.DataFrame | None, facts: Any, folder: Path, number: int) -> tuple[Path | None, int, int, Any]:
    if table is None or not table.height:
        part_file(folder, number).unlink(missing_ok=True)
        return None, 0, 0, facts
    return write_part(table, folder, number), table.height, int(table["flagged"].sum()), facts
