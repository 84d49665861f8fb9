"""The Spammer Index of judgments in parts: the same model, index and interval as in memory.

Yes-or-no and ordered answers are fitted where they lie (`karat.models.glrm.parts`): each step of the search goes once
through small files of numbers, and only sums come together. A fit takes some 40 passes, its profile interval about 90
more. With more than 10,000 tasks the model is fitted to workers drawn at random whose tasks stay under that number.

The models of labels, and of rounds, are held in memory whole. Their answers are brought together where they are few
enough. Of too many rounds, those of workers drawn at random are taken. The model of labels grows with workers x tasks,
answered or not, so that the same share of workers and of tasks is drawn, as large as is fitted in about a minute
(`karat.screen.crowd.answers`). Where a worker or a task of the sample has fewer than ten answers on average, they
tell too little of either, and there is no index. For every sample a note says how large it is, and the standard error
of its index, that of the profile interval: its width divided by 2 x 1.96.

The answers are those that `karat.screen.crowd.answers.crowd` finds in memory, gathered once. A part leaves who answered
which of its tasks how, as numbers, in a file of `scratch`, and gives back its tasks, in the order in which they come.
Tasks are then numbered over all parts, and each part's numbers lie in a second file beside the first, so that a pass of
the fit reads no judgments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.executors.checkpoint import Checkpoint
from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale
from karat.judgments.files import replacing
from karat.judgments.scales import Binary, Choice, Nominal, Ordinal, Scale
from karat.judgments.stimuli import Stimuli, numbered
from karat.judgments.trial_order import presented
from karat.messages import Message
from karat.models.agreement import icc_fixed_error
from karat.models.glrm import Fit, fit_crossed_in_parts, worker_share
from karat.models.glrm.parts.answers import PartAnswers, PassesError, Placed, Sample
from karat.models.glrm.parts.fit import TASKS, agreement_in_parts
from karat.models.glrm.parts.objective import Keep
from karat.screen.crowd.answers import (
    LONG,
    NOT_QUICK,
    Crowd,
    Family,
    check_conditions,
    code_of,
    family_of,
    is_quick,
    names_of,
    share_in_time,
)
from karat.screen.crowd.spammer_index import SpammerIndex, of_labels, of_rounds
from karat.screen.crowd.spammer_interval import with_shares
from karat.screen.crowd.spammer_rounds import COLUMNS as ROUNDS
from karat.screen.evidence import ScreenError
from karat.screen.parted.in_parts import InParts, part_file
from karat.types import Ints

CRITERION = "spammer_index"
PASSES = 1_000
"""How often the fit and its interval may go through the answers."""
USUAL = 150
"""About as many passes as it takes, for the progress."""
ROUNDS_HELD = 1_000_000
"""How many answers the model of rounds is given."""
LEAST = 10
"""How many answers a worker, and a task, of a sample of labels must have on average."""
QUANTILE = 1.959964


def spammer_index_in_parts(
    crowd: InParts,
    simulations: int = 0,
    seed: int = 1,
    conditions: Sequence[str] | None = (),
    tasks: int = TASKS,
    passes: int = PASSES,
    *,
    seconds: float = LONG,
    only_quick: bool = False,
    held: int = ROUNDS_HELD,
) -> SpammerIndex:
    """The Spammer Index of judgments in parts, with the profile interval.

    `seed` draws workers where a sample has to do; `tasks` and `passes` are how many tasks may have effects of their
    own, and how often the answers may be gone through; `seconds` is about how long labels may take before a sample has
    to do, and `held` how many answers the model of rounds is given. With `only_quick`, an index that takes more than a
    few seconds is refused. The others are as for `spammer_index`.

    >>> import karat, tempfile
    >>> from pathlib import Path
    >>> from karat.judgments.parts import open_parts
    >>> crowd = karat.simulate.crowd(20, 24)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     crowd.to_parquet(Path(folder, "crowd.parquet"))
    ...     found = spammer_index_in_parts(InParts(open_parts(folder), Path(folder, "out")))
    >>> round(found.value, 3) == round(karat.screen.spammer_index(crowd).value, 3)
    True
    """
    if simulations:
        raise ScreenError(Message("spammer_index.no_bootstrap_in_parts"))
    answers = parted_crowd(crowd, CRITERION, conditions)
    if only_quick and not is_quick(answers.family, answers.rows, answers.workers, answers.tasks, answers.codes):
        raise ScreenError(NOT_QUICK)
    if answers.family == "nominal" or answers.round_column is not None:
        return _in_memory(crowd, answers, seed, seconds, held)
    return _in_parts(crowd, answers, seed, tasks, passes)


def _in_parts(crowd: InParts, answers: PartedCrowd, seed: int, tasks: int, passes: int) -> SpammerIndex:
    """The index of yes-or-no or ordered answers."""
    try:
        found = fit_crossed_in_parts(
            answers.files, partial(_steps(crowd.executor).map, name=CRITERION),
            family="binary" if answers.family == "binary" else "ordinal", tasks=tasks, seed=seed, most=passes,
            passes=_RoundFacts(crowd), keep=_keep(crowd, tasks, seed),
        )  # fmt: skip
        agreement = agreement_in_parts(found)
    except PassesError as error:
        raise ScreenError(Message("spammer_index.too_few_passes", {"why": str(error), "passes": passes})) from None
    notes, (value, lower, upper) = [*answers.notes, *found.notes], _interval(found)
    if np.isnan(lower):
        lower, upper = 0.0, 1.0
        notes.append(Message("spammer_index.no_interval", {"passes": passes}))
    elif len(found.workers) < answers.workers:
        notes.append(_error(lower, upper))
    worker, task = found.variances["worker"], found.variances["task"]
    table = pl.DataFrame({"source": ["workers", "tasks"], "variance": [worker, task]})
    _RoundFacts(crowd)(1, 1)
    return SpammerIndex(
        value, lower, upper, with_shares(table), found.log_likelihood, answers.workers, answers.family, "profile",
        {**asdict(agreement), "icc_fixed_error": icc_fixed_error(worker, task)},
        notes=tuple(notes), settings={"simulations": 0, "seed": seed},
    )  # fmt: skip


def _interval(found: Fit) -> tuple[float, float, float]:
    """The index and the ends of its interval; not a number where they were not found in time."""
    try:
        share = worker_share(found)
    except PassesError:
        worker, task = found.variances["worker"], found.variances["task"]
        return worker / (worker + task), float("nan"), float("nan")
    return share.value, share.lower, share.upper


def _error(lower: float, upper: float) -> Message:
    return Message("spammer_index.standard_error", {"error": (upper - lower) / (2 * QUANTILE)})


def _steps(executor: Executor) -> Executor:
    """Where the steps of the fit are done: they read files of `scratch`, and their sums are too large to be kept."""
    return executor.executor if isinstance(executor, Checkpoint) else executor


def _keep(crowd: InParts, *settings: int) -> Keep | None:
    """How the fit keeps its evaluations, if anything is to be kept: beside the answers of this run, and for them."""
    if not isinstance(crowd.executor, Checkpoint):
        return None
    stamps = [crowd.parts.stamp(number) for number in range(len(crowd))]
    kept, about = Checkpoint(SERIAL, crowd.scratch / "spammer_steps"), (crowd.excluded, crowd.token, stamps, settings)
    return lambda at, compute: kept.once((about, at), compute)


@dataclass(frozen=True)
class _RoundFacts:
    """Reports progress: of passes, whose number is not known beforehand, or of something with an end."""

    crowd: InParts

    def __call__(self, done: int, total: int | None = None) -> None:
        if self.crowd.progress is not None:
            self.crowd.progress(done, max(USUAL, done + 1) if total is None else total)


def _in_memory(crowd: InParts, answers: PartedCrowd, seed: int, seconds: float, held: int) -> SpammerIndex:
    """The index of labels or rounds, of all answers or of those of a sample."""
    firsts = np.cumsum([0, *(file.workers for file in answers.files)])
    placed = [Placed(file, int(first)) for file, first in zip(answers.files, firsts[:-1], strict=True)]
    drawn = _drawn(answers, seed, seconds, held)
    column = answers.round_column
    tables = _steps(crowd.executor).map(_collected, (drawn, column), placed, name=CRITERION, progress=crowd.progress)
    rows = pl.concat(tables)
    notes = list(answers.notes)
    if drawn is not None:
        _refuse_thin(answers, rows)
        notes.append(_of_sample(answers, rows, seed))
    sample = Crowd(rows, answers.family, answers.categories, tuple(notes))
    if answers.family == "nominal":
        found = of_labels(sample, column, 0, seed, _RoundFacts(crowd), SERIAL)
    elif column is not None:
        found = of_rounds(sample, column, 0, seed, _RoundFacts(crowd), SERIAL)
    if drawn is None:
        return found
    return replace(found, participants=answers.workers, notes=(*found.notes, _error(found.lower, found.upper)))


@dataclass(frozen=True)
class _Drawn:
    """Which workers and which tasks are in a sample; all tasks where none are drawn."""

    workers: Sample
    tasks: NDArray[np.bool_] | None = None


def _drawn(answers: PartedCrowd, seed: int, seconds: float, held: int) -> _Drawn | None:
    """The sample whose answers the model can hold, and is fitted to in time; None where all answers are."""
    if answers.family != "nominal":
        share = held / answers.rows
        return None if share >= 1 else _Drawn(Sample(seed, share))
    share = share_in_time(answers.workers, answers.tasks, answers.codes, seconds, answers.rows)
    if share == 1:
        return None
    # Another stream than that of the workers, in the order in which tasks come.
    return _Drawn(Sample(seed, share), Sample(seed + 1, share).among(0, answers.tasks))


def _refuse_thin(answers: PartedCrowd, rows: pl.DataFrame) -> None:
    """ScreenError where the answers of a sample tell too little to fit the model to."""
    workers, tasks, kinds = (rows[name].n_unique() for name in ("_worker", "_stimulus", "_code"))
    if answers.family != "nominal":
        if min(workers, tasks, kinds) < 2:
            raise ScreenError(Message("spammer_index.few_rounds_held", {"participants": workers}))
        return
    if kinds >= 2 and rows.height >= LEAST * max(workers, tasks):
        return
    values = {
        "participants": answers.workers, "items": answers.tasks, "labels": answers.codes,
        "sample_participants": workers, "sample_items": tasks, "mean": rows.height / max(workers, tasks, 1),
        "least": LEAST,
    }  # fmt: skip
    code = "spammer_index.thin_items" if tasks > workers else "spammer_index.thin_participants"
    raise ScreenError(Message(code, values))


def _of_sample(answers: PartedCrowd, rows: pl.DataFrame, seed: int) -> Message:
    labels = answers.family == "nominal"
    values = {
        "answers": rows.height, "sample": rows["_worker"].n_unique(), "participants": answers.workers, "seed": seed,
        "sample_items": rows["_stimulus"].n_unique() if labels else None, "items": answers.tasks if labels else None,
    }  # fmt: skip
    return Message("spammer_index.sample", values)


def _collected(shared: tuple[_Drawn | None, str | None], placed: Placed) -> pl.DataFrame:
    """The answers of the workers of a part, to the tasks, who are in the sample."""
    drawn, column = shared
    file = placed.part
    if not isinstance(file, AnswersFile):
        raise TypeError("The part is not a file of answers.")
    worker = pl.col("_worker").cast(pl.Int64)
    rows = file.rows()
    if drawn is not None:
        kept = drawn.workers.among(placed.first, file.workers)[rows["_worker"].to_numpy()]
        if drawn.tasks is not None:
            kept = kept & drawn.tasks[rows["_stimulus"].to_numpy()]
        rows = rows.filter(pl.Series(kept))
    return rows.select(
        (worker + placed.first).cast(pl.String).alias("participant"), (worker + placed.first).alias("_worker"),
        pl.col("_stimulus").cast(pl.Int64), pl.col("_code").cast(pl.Int64), *([column] if column else []),
    )  # fmt: skip


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
    """The columns that make a task, one row per task, in the order of their first answers."""
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
    decided = {kind: found.with_conditions(conditions) for kind, found in crowd.stimuli().items()}
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
    """The column that distinguishes rounds, by the rule of `round_column` in `karat.screen.crowd.spammer_rounds`."""
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
