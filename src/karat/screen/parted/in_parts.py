"""A crowd in parts: what all criteria share that process judgments part by part.

A criterion has three steps. It gathers a small summary of each part; it merges the summaries here; and it judges the
participants of each part, given the whole. Larger results of one pass for the next are files in the folder `scratch`,
which all processes share. A file is written whole or not at all and named by part and pass, so running a task twice
changes nothing.

`karat.judgments.stimuli` decides what a stimulus is over all parts, from the different combinations of values that each
part writes with their counts. Each participant is in one part, so counts of participants add up.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered
from karat.judgments.files import replacing, write_text
from karat.judgments.parts import Parts
from karat.judgments.scales import Choice, Scale
from karat.judgments.stimuli import DesignRows, Stimuli, candidates, find_stimuli, rows_of_kind
from karat.messages import Message
from karat.screen.evidence import PartedEvidence, ScreenError
from karat.screen.one_part import AnyParts, Beside, Facts, JudgedPart, OfJudgments, OfNumber, Result, Shared, Shelf
from karat.screen.run import begin
from karat.study.results import with_study
from karat.study.study import Study, load
from karat.types import Progress


def part_file(folder: Path, number: int, suffix: str = ".parquet") -> Path:
    """The file of a part in a folder."""
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
        """Write the values to a file, which all processes read."""
        path = self._folder / f"{_digest(self.choices, [*keys, name])}-shares.parquet"
        with replacing(path) as temporary:
            super().shares(keys, name).collect().write_parquet(temporary)
        return pl.scan_parquet(path)

    def map(self, function: Callable[..., Result], *arguments: object) -> list[Result]:
        return self.crowd.map(_on_rows, (self.choices, function, arguments), name="stimuli")

    def _count(self, columns: list[str]) -> tuple[pl.LazyFrame, int]:
        """The combinations of each part with their counts, and the number of pairs of participant and combination."""
        folder = self._folder / _digest(self.choices, columns)
        if folder not in self._counted:
            counts = self.crowd.map(_combinations, (self.choices, columns, folder), name="stimuli")
            self._counted[folder] = sum(counts)
        files = [part_file(folder, number) for number in range(len(self.crowd))]
        return pl.scan_parquet(files), self._counted[folder]


def _rows(judgments: Judgments, choices: bool) -> pl.DataFrame:
    """The rows and columns of a part that decide what a stimulus is."""
    rows = rows_of_kind(answered(judgments), judgments.scales, choices)
    wanted = ("participant", "item", "question", "response", "list", "left", "right", "polarity", "trial", "time",
              "session", "_first", "_second", *candidates(rows.schema))  # fmt: skip
    return rows.select(name for name in wanted if name in rows.columns)


def _digest(choices: bool, columns: list[str]) -> str:
    """A name for one pass, independent of the names of columns."""
    return hashlib.sha256(repr((choices, columns)).encode()).hexdigest()[:16]


def _on_rows(judgments: Judgments, shared: tuple[bool, Callable[..., Any], tuple[object, ...]], number: int) -> Any:
    choices, function, arguments = shared
    return function(_rows(judgments, choices), *arguments)


def _combinations(judgments: Judgments, shared: tuple[bool, list[str], Path], number: int) -> int:
    """Write the combinations of a part with their counts; returns the number of participants' combinations."""
    choices, columns, folder = shared
    rows = _rows(judgments, choices)
    write_part(rows.group_by(columns).agg(pl.len().cast(pl.Int64)), folder, number)
    return rows.select("participant", *columns).n_unique() if rows.height else 0


def excluded_from(scratch: Path, excluded: str, number: int) -> pl.Series:
    """The participants excluded from a part so far."""
    if not excluded:
        return pl.Series("participant", [], pl.String)
    return pl.read_parquet(part_file(scratch / excluded, number))["participant"]


@dataclass(frozen=True)
class InParts(AnyParts[PartedEvidence]):
    """Judgments in parts, without the participants excluded so far, and the executor of work on them."""

    parts: Parts
    out: Path
    """The folder for the evidence of each part."""
    executor: Executor = SERIAL
    progress: Progress | None = None
    study: Path | None = None
    """A study file, whose item tables complete the trials of every part."""
    excluded: str = ""
    """The name of the folder in scratch with the participants excluded from each part so far."""
    token: str = ""
    """The run that `scratch` belongs to; results stored by another run are not used."""
    scratch: Path = field(default=Path())
    """The folder for files between passes; by default in `out`."""

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
        """A part without its excluded participants."""
        judgments = self.parts.read(number)
        if self.study is not None:
            judgments, _ = with_study(judgments, loaded(self.study))
        excluded = excluded_from(self.scratch, self.excluded, number)
        return judgments.without(excluded.to_list()) if len(excluded) else judgments

    def stimuli(self) -> Mapping[bool, Stimuli]:
        """The definition of a stimulus, decided from all participants once per run; that of choices under True."""
        path = self.scratch / "stimuli" / "decision.json"
        if not path.exists():
            # Participants excluded at an earlier stage saw the same design.
            everyone = replace(self, excluded="")
            kinds = {isinstance(scale, Choice) for scale in self.scales.values()}
            decided = {kind: find_stimuli(RowsInParts(everyone, kind)) for kind in sorted(kinds)}
            write_text(path, json.dumps({int(kind): asdict(keys) for kind, keys in decided.items()}))
        read = json.loads(path.read_text(encoding="utf-8"))
        return {
            bool(int(kind)): Stimuli(**{name: tuple(columns) for name, columns in keys.items()})
            for kind, keys in read.items()
        }

    def map(
        self, function: OfJudgments[Shared, Result], shared: Shared, *, name: str, only: Sequence[int] | None = None
    ) -> list[Result]:
        return self._each(_with_judgments, function, shared, name, only)

    def each(self, function: OfNumber[Shared, Result], shared: Shared, *, name: str) -> list[Result]:
        return self._each(_with_number, function, shared, name)

    def shelf(self, criterion: str, about: object = None) -> FileShelf:
        """Files of `scratch`, separate for other settings, participants and runs."""
        stamps = [self.parts.stamp(number) for number in range(len(self))]
        digest = hashlib.sha256(repr((about, self.excluded, self.token, stamps)).encode()).hexdigest()[:12]
        return FileShelf(self.scratch / criterion / digest)

    @property
    def beside(self) -> Beside:
        """The function that writes tables in the process that computed them."""
        return partial(_beside, self.out / "evidence")

    def evidence(
        self, criterion: str, settings: dict[str, Any], notes: tuple[Message, ...], judged: Sequence[JudgedPart[Facts]]
    ) -> tuple[PartedEvidence, list[Facts]]:
        files = tuple(path for path, *_ in judged if path is not None)
        people, flagged = sum(part[1] for part in judged), sum(part[2] for part in judged)
        return PartedEvidence(criterion, settings, people, flagged, files, notes), [part[3] for part in judged]

    def _each(
        self, how: Callable[[Any, Any], Any], function: Any, shared: Any, name: str, only: Sequence[int] | None = None
    ) -> list[Any]:
        numbers = range(len(self.parts)) if only is None else only
        tasks = [(number, self.parts.stamp(number)) for number in numbers]
        begin(self.progress, name)
        work = _PartTask(function, shared, self._bare())
        results = self.executor.map(how, work, tasks, name=name, progress=self.progress)
        # Merging the results also takes time, and nobody knows how much.
        begin(self.progress, name)
        return results

    def _bare(self) -> InParts:
        """A copy with only what another process needs."""
        return replace(self, executor=SERIAL, progress=None)


def _beside(folder: Path, table: pl.DataFrame | None, name: str, number: int, /, empty: bool = False) -> Path | None:
    if table is None or not (table.height or empty):
        part_file(folder / name, number).unlink(missing_ok=True)
        return None
    return write_part(table, folder / name, number)


SMALL = 1 << 16
"""Arrays up to this many bytes are read; larger ones, and tables, are mapped into memory."""


@dataclass(frozen=True)
class FileShelf(Shelf):
    """Files that all processes share, each written whole or not at all."""

    folder: Path
    in_memory = False

    def put(self, value: pl.DataFrame | NDArray[Any], name: str, part: int | str) -> None:
        path = self._path(name, part)
        with replacing(path) as temporary, temporary.open("wb") as file:
            if isinstance(value, pl.DataFrame):
                value.write_ipc(file)
            else:
                np.save(file, value)

    def table(self, name: str, part: int | str, columns: list[str] | None = None) -> pl.DataFrame:
        return pl.read_ipc(self._written(name, part), columns=columns)

    def scan(self, name: str, parts: int) -> pl.LazyFrame:
        return pl.scan_ipc([self._written(name, number) for number in range(parts)])

    def array(self, name: str, part: int | str) -> NDArray[Any]:
        path = self._written(name, part)
        return np.asarray(np.load(path, mmap_mode="r" if path.stat().st_size > SMALL else None))

    def drop(self, name: str, part: int | str) -> None:
        self._path(name, part).unlink(missing_ok=True)

    def _path(self, name: str, part: int | str) -> Path:
        return self.folder / name / (part if isinstance(part, str) else part_file(Path(), part, "").name)

    def _written(self, name: str, part: int | str) -> Path:
        path = self._path(name, part)
        if not path.exists():
            raise ScreenError(Message("remfod.file_gone", {"file": str(path)}))
        return path


@lru_cache(maxsize=2)
def loaded(study: Path) -> Study:
    """A study, read once in each process instead of being sent to it."""
    return load(study)


@dataclass(frozen=True)
class _PartTask:
    function: Any
    shared: Any
    crowd: InParts


def _with_judgments(work: _PartTask, task: tuple[int, str]) -> Any:
    return work.function(work.crowd.read(task[0]), work.shared, task[0])


def _with_number(work: _PartTask, task: tuple[int, str]) -> Any:
    return work.function(work.shared, task[0])
