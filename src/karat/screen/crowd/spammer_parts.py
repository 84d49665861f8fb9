"""The Spammer Index of judgments in parts: the same model, index and interval as in memory.

Yes-or-no and ordered answers are fitted in parts (`karat.models.glrm.parts`): each step of the search reads small files
of numbers once, and only sums are combined. A fit takes some 40 passes, its profile interval about 90 more. With more
than 10,000 tasks, the model is fitted to a random sample of workers whose tasks stay under that number.

The models of labels and of rounds need all answers in memory, so these are collected if they are few enough. Otherwise,
rounds use a random sample of workers. The model of labels grows with workers x tasks, answered or not, so the same
share of workers and of tasks is sampled, as large as can be fitted in about a minute (`karat.screen.crowd.answers`). If
the workers or tasks of the sample have fewer than ten answers on average, that is too little, and there is no index.
For every sample, a note reports its size and the standard error of its index, from the width of the profile interval
divided by 2 x 1.96.

The answers are gathered once, as in memory (`karat.screen.crowd.answers`); a pass of the fit reads no judgments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.executors.checkpoint import Checkpoint
from karat.messages import Message
from karat.models.glrm import Fit, fit_crossed_in_parts, worker_share
from karat.models.glrm.parts.answers import PartAnswers, PassesError, Placed, Sample
from karat.models.glrm.parts.fit import TASKS as MOST_TASKS
from karat.models.glrm.parts.fit import agreement_in_parts
from karat.models.glrm.parts.objective import Keep
from karat.screen.crowd.answers import (
    ANSWERS,
    LONG,
    NOT_QUICK,
    TASKS,
    Crowd,
    Gathered,
    gather,
    is_quick,
    share_in_time,
)
from karat.screen.crowd.spammer_index import SpammerIndex, as_index, of_crowd, of_fit
from karat.screen.evidence import ScreenError
from karat.screen.one_part import Shelf
from karat.screen.parted.in_parts import InParts

CRITERION = "spammer_index"
PASSES = 1_000
"""The most passes of the fit and its interval."""
USUAL = 150
"""About the number of passes needed, for the progress bar."""
ROUNDS_HELD = 1_000_000
"""The most answers for the model of rounds."""
LEAST = 10
"""The fewest answers per worker and per task of a sample of labels, on average."""
QUANTILE = 1.959964


def spammer_index_in_parts(
    crowd: InParts,
    simulations: int = 0,
    seed: int = 1,
    conditions: Sequence[str] | None = (),
    tasks: int = MOST_TASKS,
    passes: int = PASSES,
    *,
    seconds: float = LONG,
    only_quick: bool = False,
    held: int = ROUNDS_HELD,
) -> SpammerIndex:
    """The Spammer Index of judgments in parts, with the profile interval.

    `seed` is for samples of workers; `tasks` and `passes` limit the tasks with their own effects and the passes through
    the answers; `seconds` is about how long labels may take before a sample is used, and `held` the most answers for
    the model of rounds. With `only_quick`, an index that takes more than a few seconds is refused. The others are as
    for `spammer_index`.
    """
    if simulations:
        raise ScreenError(Message("spammer_index.no_bootstrap_in_parts"))
    answers = gather(crowd, CRITERION, conditions)
    if only_quick and not is_quick(answers.family, answers.rows, answers.workers, answers.tasks, answers.codes):
        raise ScreenError(NOT_QUICK)
    if answers.family == "nominal" or answers.round_column is not None:
        return _in_memory(crowd, answers, seed, seconds, held)
    return _in_parts(crowd, answers, seed, tasks, passes)


def _in_parts(crowd: InParts, answers: Gathered, seed: int, tasks: int, passes: int) -> SpammerIndex:
    """The index of yes-or-no or ordered answers."""
    try:
        fitted = fit_crossed_in_parts(
            _files(answers), partial(_steps(crowd.executor).map, name=CRITERION),
            family="binary" if answers.family == "binary" else "ordinal", tasks=tasks, seed=seed, most=passes,
            passes=_RoundFacts(crowd), keep=_keep(crowd, tasks, seed),
        )  # fmt: skip
        agreement = agreement_in_parts(fitted)
    except PassesError as error:
        raise ScreenError(Message("spammer_index.too_few_passes", {"why": str(error), "passes": passes})) from None
    notes, (value, lower, upper) = list(fitted.notes), _interval(fitted)
    if np.isnan(lower):
        lower, upper = 0.0, 1.0
        notes.append(Message("spammer_index.no_interval", {"passes": passes}))
    elif len(fitted.workers) < answers.workers:
        notes.append(_error(lower, upper))
    _RoundFacts(crowd)(1, 1)
    return as_index(
        of_fit(fitted, (value, lower, upper), "profile", notes), answers, answers.workers, agreement, 0, seed
    )


def _files(answers: Gathered) -> list[AnswersFile]:
    return [AnswersFile(answers.shelf, part, workers) for part, workers in answers.parts.items()]


def _interval(fitted: Fit) -> tuple[float, float, float]:
    """The index and the ends of its interval; NaN if not found in time."""
    try:
        share = worker_share(fitted)
    except PassesError:
        worker, task = fitted.variances["worker"], fitted.variances["task"]
        return worker / (worker + task), float("nan"), float("nan")
    return share.value, share.lower, share.upper


def _error(lower: float, upper: float) -> Message:
    return Message("spammer_index.standard_error", {"error": (upper - lower) / (2 * QUANTILE)})


def _steps(executor: Executor) -> Executor:
    """The executor of the steps of the fit, which read files of `scratch` and whose sums are too large to store."""
    return executor.executor if isinstance(executor, Checkpoint) else executor


def _keep(crowd: InParts, *settings: int) -> Keep | None:
    """The store for evaluations of the fit, if results are stored: with the answers of this run."""
    if not isinstance(crowd.executor, Checkpoint):
        return None
    stamps = [crowd.parts.stamp(number) for number in range(len(crowd))]
    store, run = Checkpoint(SERIAL, crowd.scratch / "spammer_steps"), (crowd.excluded, crowd.token, stamps, settings)
    return lambda at, compute: store.once((run, at), compute)


@dataclass(frozen=True)
class _RoundFacts:
    """Reports progress of passes, whose number is not known beforehand, or of steps with a known end."""

    crowd: InParts

    def __call__(self, done: int, total: int | None = None) -> None:
        if self.crowd.progress is not None:
            self.crowd.progress(done, max(USUAL, done + 1) if total is None else total)


def _in_memory(crowd: InParts, answers: Gathered, seed: int, seconds: float, held: int) -> SpammerIndex:
    """The index of labels or rounds, from all answers or a sample."""
    firsts = np.cumsum([0, *answers.parts.values()])
    placed = [Placed(file, int(first)) for file, first in zip(_files(answers), firsts[:-1], strict=True)]
    chosen = _choose_sample(answers, seed, seconds, held)
    column = answers.round_column
    tables = _steps(crowd.executor).map(
        _sampled_rows, (chosen, column), placed, name=CRITERION, progress=crowd.progress
    )
    rows = pl.concat(tables)
    notes = list(answers.notes)
    if chosen is not None:
        _refuse_thin(answers, rows)
        notes.append(_of_sample(answers, rows, seed))
    sample = Crowd(rows, answers.family, answers.categories, tuple(notes), column)
    index = of_crowd(sample, 0, seed, _RoundFacts(crowd), SERIAL)
    if chosen is None:
        return index
    return replace(index, participants=answers.workers, notes=(*index.notes, _error(index.lower, index.upper)))


@dataclass(frozen=True)
class _CrowdSample:
    """The workers and tasks of a sample; all tasks if none are sampled."""

    workers: Sample
    tasks: NDArray[np.bool_] | None = None


def _choose_sample(answers: Gathered, seed: int, seconds: float, held: int) -> _CrowdSample | None:
    """The sample that fits into memory and can be fitted in time; None if all answers do."""
    if answers.family != "nominal":
        share = held / answers.rows
        return None if share >= 1 else _CrowdSample(Sample(seed, share))
    share = share_in_time(answers.workers, answers.tasks, answers.codes, seconds, answers.rows)
    if share == 1:
        return None
    # Tasks, in order of appearance, have another stream of random numbers than workers.
    return _CrowdSample(Sample(seed, share), Sample(seed + 1, share).among(0, answers.tasks))


def _refuse_thin(answers: Gathered, rows: pl.DataFrame) -> None:
    """Raise ScreenError if a sample has too few answers to fit the model."""
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


def _of_sample(answers: Gathered, rows: pl.DataFrame, seed: int) -> Message:
    labels = answers.family == "nominal"
    values = {
        "answers": rows.height, "sample": rows["_worker"].n_unique(), "participants": answers.workers, "seed": seed,
        "sample_items": rows["_stimulus"].n_unique() if labels else None, "items": answers.tasks if labels else None,
    }  # fmt: skip
    return Message("spammer_index.sample", values)


def _sampled_rows(shared: tuple[_CrowdSample | None, str | None], placed: Placed) -> pl.DataFrame:
    """The answers of a part's workers to the tasks of the sample."""
    chosen, column = shared
    file = placed.part
    if not isinstance(file, AnswersFile):
        raise TypeError("The part is not a file of answers.")
    worker = pl.col("_worker").cast(pl.Int64)
    rows = file.rows()
    if chosen is not None:
        included = chosen.workers.among(placed.first, file.workers)[rows["_worker"].to_numpy()]
        if chosen.tasks is not None:
            included = included & chosen.tasks[rows["_stimulus"].to_numpy()]
        rows = rows.filter(pl.Series(included))
    return rows.select(
        (worker + placed.first).cast(pl.String).alias("participant"), (worker + placed.first).alias("_worker"),
        pl.col("_stimulus").cast(pl.Int64), pl.col("_code").cast(pl.Int64), *([column] if column else []),
    )  # fmt: skip


@dataclass(frozen=True)
class AnswersFile:
    """The answers of one part on its shelf."""

    shelf: Shelf
    part: int
    workers: int

    def rows(self) -> pl.DataFrame:
        """Worker, task (among all parts), code and, if any, rounds; sorted by worker and task."""
        rows = self.shelf.table(ANSWERS, self.part)
        numbers = self.shelf.array(TASKS, self.part)
        return rows.with_columns(_stimulus=pl.Series(numbers[rows["_stimulus"].to_numpy()]))

    def read(self) -> PartAnswers:
        """The answers in the form that the fit takes."""
        rows = self.rows()
        worker, task, code = (rows[name].cast(pl.Int64).to_numpy() for name in ("_worker", "_stimulus", "_code"))
        return PartAnswers(code, worker, task)
