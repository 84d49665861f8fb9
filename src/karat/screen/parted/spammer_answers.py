"""The answers of a crowd in parts, as the random-effects models take them: gathered once, then read from small files.

The same answers as `karat.screen.crowd.crowd` finds in memory. A part leaves who answered which of its tasks how, as
numbers, in a file of `scratch`, and gives back its tasks, in the order in which they come. Tasks are then numbered over
all parts, and each part's numbers lie in a second file beside the first, so that a pass of the fit reads no judgments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale
from karat.judgments.files import replacing
from karat.judgments.scales import Binary, Choice, Nominal, Ordinal, Scale
from karat.judgments.stimuli import Stimuli, numbered
from karat.judgments.trial_order import presented
from karat.messages import Message
from karat.models.glrm.parts.answers import PartAnswers
from karat.screen.crowd import Family, check_conditions, code_of, family_of, names_of
from karat.screen.evidence import ScreenError
from karat.screen.parted.crowd import InParts
from karat.screen.parted.part_files import part_file
from karat.screen.parted.stimuli import stimuli_in_parts
from karat.screen.spammer_rounds import COLUMNS as ROUNDS
from karat.types import Ints


@dataclass(frozen=True)
class AnswersFile:
    """The answers of one part on disk."""

    path: Path
    numbers: Path
    """The number of each of its tasks among those of all parts."""
    workers: int
    token: str
    """Of which run the files are."""

    def rows(self) -> pl.DataFrame:
        """Worker, task (among all parts), code and, where there are any, rounds; sorted by worker and task."""
        rows = pl.read_ipc(self.path)
        return rows.with_columns(_stimulus=pl.Series(np.load(self.numbers)[rows["_stimulus"].to_numpy()]))

    def read(self) -> PartAnswers:
        """The answers as the fit takes them."""
        rows = self.rows()
        worker, task, code = (rows[name].cast(pl.Int64).to_numpy() for name in ("_worker", "_stimulus", "_code"))
        return PartAnswers(code, worker, task)


@dataclass(frozen=True)
class ScaleFound:
    """What a part has on one scale."""

    rows: int
    workers: int
    tasks: pl.DataFrame
    """The columns that make a task, one row a task, in the order of their first answers."""
    codes: tuple[int, ...]
    columns: tuple[str, ...]
    rounds: dict[str, RoundsFound]


@dataclass(frozen=True)
class RoundsFound:
    """What a part has on the rounds of one column: workers who have any, and several; the rounds of each task."""

    workers: int
    several: int
    pairs: pl.DataFrame
    """_stimulus (its number in the part) and round."""


@dataclass(frozen=True)
class PartedCrowd:
    """The answers of all parts."""

    files: tuple[AnswersFile, ...]
    family: Family
    categories: tuple[str, ...]
    rows: int
    workers: int
    tasks: int
    codes: int
    """How many categories occur."""
    round_column: str | None
    notes: tuple[Message, ...]


def parted_crowd(crowd: InParts, criterion: str, conditions: Sequence[str] | None = ()) -> PartedCrowd:
    """The answers of a crowd in parts, or the reason why a criterion cannot look at them so."""
    # Of its own for everything that says which answers they are: what was gathered before may be kept and not redone.
    about = hashlib.sha256(repr((crowd.excluded, conditions)).encode()).hexdigest()[:8]
    folder = crowd.scratch / f"{criterion}-{about}"
    every = tuple(dict.fromkeys(crowd.scales.values()))
    decided = {kind: found.with_conditions(conditions) for kind, found in stimuli_in_parts(crowd).items()}
    gathered = crowd.map(_gather, (every, decided, folder), name=criterion)
    heights = {
        number: sum(found[number].rows for found in gathered if number in found)
        for number in range(len(every))
        if any(number in found for found in gathered)
    }
    if not heights:
        raise ScreenError(Message("crowd.no_categories", {"criterion": criterion}))
    chosen = max(heights, key=lambda number: heights[number])
    scale, height = every[chosen], heights[chosen]
    own = {number: found[chosen] for number, found in enumerate(gathered) if chosen in found}
    several = Message("crowd.several_scales", {"answers": height, "scale": scale.kind})
    columns = tuple(dict.fromkeys(name for found in own.values() for name in found.columns))
    check_conditions(conditions, columns)
    together = pl.concat([found.tasks for found in own.values()], how="diagonal_relaxed")
    number = numbered(together, together.columns).to_numpy()
    numbers = np.split(number, np.cumsum([found.tasks.height for found in own.values()])[:-1])
    workers, tasks = sum(found.workers for found in own.values()), int(number.max()) + 1
    codes = pl.DataFrame({"_code": sorted({code for found in own.values() for code in found.codes})})
    if workers < 2 or tasks < 2:
        raise ScreenError(Message("crowd.too_few"))
    if codes.height < 2:
        raise ScreenError(Message("crowd.same_answer"))
    files = [
        _file(folder, chosen, part, found.workers, of_tasks, crowd.token)
        for (part, found), of_tasks in zip(own.items(), numbers, strict=True)
    ]
    return PartedCrowd(
        tuple(files), family_of(scale, codes), names_of(scale, pl.DataFrame(schema=dict.fromkeys(columns, pl.String))),
        height, workers, tasks, codes.height, _round_column(list(own.values()), numbers),
        (several,) if len(heights) > 1 else (),
    )  # fmt: skip


def _file(folder: Path, scale: int, part: int, workers: int, numbers: Ints, token: str) -> AnswersFile:
    """A part's answers, its tasks with their numbers over all parts."""
    path = part_file(folder / f"tasks-{scale + 1}", part, ".npy")
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.save(file, numbers)
    return AnswersFile(part_file(folder / f"answers-{scale + 1}", part, ".arrow"), path, workers, token)


def _gather(
    judgments: Judgments, shared: tuple[tuple[Scale, ...], dict[bool, Stimuli], Path], number: int
) -> dict[int, ScaleFound]:
    """What a part has on each scale, by its place among the scales; the answers are written down."""
    scales, decided, folder = shared
    return {
        scales.index(scale): _on_scale(
            scale, rows, decided[isinstance(scale, Choice)], folder / f"answers-{scales.index(scale) + 1}", number
        )
        for scale, rows in by_scale(judgments, answered(judgments))
        if isinstance(scale, Binary | Ordinal | Nominal | Choice)
    }


def _on_scale(scale: Scale, rows: pl.DataFrame, stimuli: Stimuli, folder: Path, number: int) -> ScaleFound:
    rows = stimuli.with_pairs(presented(rows))
    keys = [name for name in stimuli.keys if name in rows.columns]
    rounds = [name for name in ROUNDS if name in rows.columns]
    compact = rows.select(
        _worker=numbered(rows, ["participant"]), _stimulus=numbered(rows, keys), _code=code_of(scale, rows),
        **{name: pl.col(name) for name in rounds},
    )  # fmt: skip
    path = part_file(folder, number, ".arrow")
    with replacing(path) as temporary:
        small = compact.with_columns(
            pl.col("_worker").cast(pl.Int32), pl.col("_stimulus").cast(pl.Int32), pl.col("_code").cast(pl.Int16)
        )
        small.sort("_worker", "_stimulus", maintain_order=True).write_ipc(temporary)
    return ScaleFound(
        rows.height, compact["_worker"].n_unique(), rows.select(keys).unique(maintain_order=True),
        tuple(compact["_code"].unique().to_list()), tuple(rows.columns),
        {name: _rounds(compact.filter(pl.col(name).is_not_null()), name) for name in rounds},
    )  # fmt: skip


def _rounds(known: pl.DataFrame, name: str) -> RoundsFound:
    of_workers = known.group_by("_worker").agg(pl.col(name).n_unique().alias("rounds"))["rounds"]
    pairs = known.select("_stimulus", pl.col(name).alias("round")).unique()
    return RoundsFound(len(of_workers), int((of_workers > 1).sum()), pairs)


def _round_column(own: Sequence[ScaleFound], numbers: Sequence[Any]) -> str | None:
    """The column that tells rounds apart, by the rule of `round_column` in `karat.screen.spammer_rounds`."""
    for name in ROUNDS:
        found = [(one.rounds[name], of_tasks) for one, of_tasks in zip(own, numbers, strict=True) if name in one.rounds]
        if not found:
            continue
        pairs = pl.concat(
            [
                rounds.pairs.with_columns(_stimulus=pl.Series(of_tasks[rounds.pairs["_stimulus"].to_numpy()]))
                for rounds, of_tasks in found
            ],
            how="vertical_relaxed",
        ).unique()
        workers, several = (sum(getattr(rounds, what) for rounds, _ in found) for what in ("workers", "several"))
        of_tasks = pairs.group_by("_stimulus").len()["len"]
        if pairs["round"].n_unique() > 1 and several > workers / 2 and (of_tasks > 1).sum() > len(of_tasks) / 2:
            return name
    return None
