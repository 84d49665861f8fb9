"""A crowd in parts: what is the same for every criterion that looks at judgments part by part.

A criterion goes in three moves. It gathers from every part a small summary that can be merged with those of the others;
it merges them here; and it judges the participants of every part, given the whole. What one pass leaves for the next
and is not small lies in files of the folder `scratch`, which all processes share. A file is written whole or not at all
and named by part and pass, so that a task that is done twice changes nothing.

What a stimulus is, over all parts, is the decision of `karat.judgments.stimuli`, made from what each part has to say:
it writes the different combinations of values that it has, with their numbers. Participants lie in one part each, so
that counts of participants add up.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered
from karat.judgments.files import replacing, write_text
from karat.judgments.parts import Parts
from karat.judgments.scales import Choice, Scale
from karat.judgments.stimuli import DesignRows, Stimuli, candidates, find_stimuli, rows_of_kind
from karat.messages import Message
from karat.screen.evidence import PartedEvidence
from karat.screen.one_part import Facts, OfJudgments, OfTable, Result, Shared
from karat.screen.run import begin
from karat.study.results import with_study
from karat.study.study import Study, load
from karat.types import Progress


def part_file(folder: Path, number: int, suffix: str = ".parquet") -> Path:
    """The file of a part in a folder.

    >>> part_file(Path("evidence"), 0).name
    'part-00001.parquet'
    """
    return folder / f"part-{number + 1:05}{suffix}"


def write_part(table: pl.DataFrame, folder: Path, number: int) -> Path:
    """Write the file of a part, whole or not at all."""
    path = part_file(folder, number)
    with replacing(path) as temporary:
        table.write_parquet(temporary)
    return path


class RowsInParts(DesignRows):
    """The choices of all parts, or all other answers."""

    def __init__(self, crowd: InParts, choices: bool) -> None:
        super().__init__(_rows(crowd.read(0), choices).clear())
        self.crowd, self.choices = crowd, choices
        self._folder = crowd.scratch / "stimuli"
        self._counted: dict[Path, int] = {}

    def distinct(self, columns: list[str]) -> int:
        return int(self.counts(columns).select(pl.struct(columns).n_unique()).collect().item())

    def participants(self, columns: list[str]) -> int:
        return self._count(columns)[1]

    def counts(self, columns: list[str]) -> pl.LazyFrame:
        return self._count(columns)[0].group_by(columns).agg(pl.col("len").sum())

    def shares(self, keys: list[str], name: str) -> pl.LazyFrame:
        """They are written to a file, which all processes read."""
        path = self._folder / f"{_digest(self.choices, [*keys, name])}-shares.parquet"
        with replacing(path) as temporary:
            super().shares(keys, name).collect().write_parquet(temporary)
        return pl.scan_parquet(path)

    def map(self, function: Callable[..., Result], *given: object) -> list[Result]:
        return self.crowd.map(_on_rows, (self.choices, function, given), name="stimuli")

    def _count(self, columns: list[str]) -> tuple[pl.LazyFrame, int]:
        """The combinations of each part with their numbers, and how many participants have how many of them."""
        here = self._folder / _digest(self.choices, columns)
        if here not in self._counted:
            found = self.crowd.map(_combinations, (self.choices, columns, here), name="stimuli")
            self._counted[here] = sum(found)
        files = [part_file(here, number) for number in range(len(self.crowd))]
        return pl.scan_parquet(files), self._counted[here]


def _rows(judgments: Judgments, choices: bool) -> pl.DataFrame:
    """The rows of a part that the decision looks at, with the columns that it needs."""
    rows = rows_of_kind(answered(judgments), judgments.scales, choices)
    wanted = ("participant", "item", "question", "response", "list", "left", "right", "polarity", "trial", "time",
              "session", "_first", "_second", *candidates(rows.schema))  # fmt: skip
    return rows.select(name for name in wanted if name in rows.columns)


def _digest(choices: bool, columns: list[str]) -> str:
    """A name for one pass, whatever the columns are called."""
    return hashlib.sha256(repr((choices, columns)).encode()).hexdigest()[:16]


def _on_rows(judgments: Judgments, shared: tuple[bool, Callable[..., Any], tuple[object, ...]], number: int) -> Any:
    choices, function, given = shared
    return function(_rows(judgments, choices), *given)


def _combinations(judgments: Judgments, shared: tuple[bool, list[str], Path], number: int) -> int:
    """Write the different combinations of a part with their numbers; how many participants have how many of them."""
    choices, columns, folder = shared
    rows = _rows(judgments, choices)
    write_part(rows.group_by(columns).agg(pl.len().cast(pl.Int64)), folder, number)
    return rows.select("participant", *columns).n_unique() if rows.height else 0


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

    def stimuli(self) -> Mapping[bool, Stimuli]:
        """What a stimulus is, decided on everybody once per run; choices under True."""
        path = self.scratch / "stimuli" / "decision.json"
        if not path.exists():
            # Those excluded at an earlier stage have seen the same design.
            whole = replace(self, excluded="")
            kinds = {isinstance(scale, Choice) for scale in self.scales.values()}
            found = {kind: find_stimuli(RowsInParts(whole, kind)) for kind in sorted(kinds)}
            write_text(path, json.dumps({int(kind): asdict(own) for kind, own in found.items()}))
        read = json.loads(path.read_text(encoding="utf-8"))
        return {
            bool(int(kind)): Stimuli(**{name: tuple(columns) for name, columns in own.items()})
            for kind, own in read.items()
        }

    def map(
        self, function: OfJudgments[Shared, Result], shared: Shared, *, name: str, only: Sequence[int] | None = None
    ) -> list[Result]:
        """`function(judgments, shared, number)` of every part, or only of some, in their order.

        A part may have no rows. The function is one of a module, and what it gives back is small.
        """
        return self._each(_with_judgments, function, shared, name, only)

    def each(self, function: Callable[[Shared, int], Result], shared: Shared, *, name: str) -> list[Result]:
        """`function(shared, number)` of every part, in their order, for what needs only files of `scratch`."""
        return self._each(_with_number, function, shared, name)

    def keep(
        self, name: str, function: OfJudgments[Shared, tuple[pl.DataFrame, Facts]], shared: Shared
    ) -> tuple[KeptInParts, list[Facts]]:
        """A table of each part, written to `scratch`, and what else each part has to say."""
        return KeptInParts(self, name), self.map(_keep, (function, shared, self.scratch / name), name=name)

    def judge(
        self, criterion: str, function: OfJudgments[Shared, tuple[pl.DataFrame | None, Facts]], shared: Shared,
        settings: dict[str, Any], *, notes: tuple[Message, ...] = (),
    ) -> tuple[PartedEvidence, list[Facts]]:  # fmt: skip
        """The evidence of each part, written where it was computed, and what else each part has to say.

        The function gives the table of participants, or None where nobody is there, and anything small.
        """
        judged = self.map(_judged, (function, shared, self.out / "evidence" / criterion), name=criterion)
        return _evidence(judged, criterion, settings, notes)

    def judge_files(
        self, criterion: str, function: Callable[[Shared, int], tuple[pl.DataFrame | None, Facts]], shared: Shared,
        settings: dict[str, Any], notes: tuple[Message, ...] = (),
    ) -> tuple[PartedEvidence, list[Facts]]:  # fmt: skip
        """The same, for a criterion that has put all that it needs into files of `scratch`."""
        judged = self.each(_judged, (function, shared, self.out / "evidence" / criterion), name=criterion)
        return _evidence(judged, criterion, settings, notes)

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
        return replace(self, executor=SERIAL, progress=None)


def _evidence(
    found: Sequence[tuple[Path | None, int, int, Facts]], criterion: str, settings: dict[str, Any],
    notes: tuple[Message, ...],
) -> tuple[PartedEvidence, list[Facts]]:  # fmt: skip
    files = tuple(path for path, *_ in found if path is not None)
    people, flagged = sum(one[1] for one in found), sum(one[2] for one in found)
    return PartedEvidence(criterion, settings, people, flagged, files, notes), [one[3] for one in found]


@dataclass(frozen=True)
class KeptInParts:
    """The tables that a pass has left in `scratch`, one for each part."""

    crowd: InParts
    criterion: str

    @property
    def folder(self) -> Path:
        """Where they are."""
        return self.crowd.scratch / self.criterion

    def __reduce__(self) -> tuple[type[KeptInParts], tuple[InParts, str]]:
        """For another process, which reads them and starts no tasks."""
        return KeptInParts, (self.crowd._bare(), self.criterion)

    def read(self, number: int) -> pl.DataFrame:
        return pl.read_parquet(part_file(self.folder, number))

    def scan(self) -> pl.LazyFrame:
        return pl.scan_parquet([part_file(self.folder, number) for number in range(len(self.crowd))])

    def map(self, function: OfTable[Shared, Result], shared: Shared) -> list[Result]:
        return self.crowd.each(_with_table, (function, shared, self.folder), name=self.criterion)

    def judge(
        self, function: OfTable[Shared, pl.DataFrame], shared: Shared, settings: dict[str, Any],
        notes: tuple[Message, ...] = (),
    ) -> PartedEvidence:  # fmt: skip
        """The evidence of each part, written where it was computed."""
        own = (function, shared, self.folder)
        return self.crowd.judge_files(self.criterion, _judged_table, own, settings, notes)[0]


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


def _judged(*arguments: Any) -> tuple[Path | None, int, int, Any]:
    """Write what the function makes of the judgments of a part, where they are given, or of its files."""
    *judgments, (function, own, folder), number = arguments
    table, facts = function(*judgments, own, number)
    if table is None or not table.height:
        part_file(folder, number).unlink(missing_ok=True)
        return None, 0, 0, facts
    return write_part(table, folder, number), table.height, int(table["flagged"].sum()), facts
