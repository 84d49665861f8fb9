"""The Spammer Index of judgments in parts: the same model, index and interval as in memory.

Yes-or-no and ordered answers are fitted where they lie (`karat.models.glrm.parted`): each step of the search goes once
through small files of numbers, and only sums come together. A fit takes some 40 passes, its profile interval about 90
more. With more than 10,000 tasks the model is fitted to workers drawn at random whose tasks stay under that number.

The models of labels, and of rounds, are held in memory whole. Their answers are brought together where they are few
enough, and are those of workers drawn at random where they are not. For every sample a note says how large it is, and
the standard error of its index, that of the profile interval: its width divided by 2 x 1.96.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from karat.errors import counted
from karat.models.agreement import icc_fixed_error
from karat.models.glrm import Fit, fit_crossed_in_parts, worker_share
from karat.models.glrm.nominal import LARGEST
from karat.models.glrm.parted import TASKS
from karat.models.glrm.parted_agreement import agreement_in_parts
from karat.models.glrm.parted_answers import Placed, Sample, lowest, random_numbers
from karat.models.glrm.parted_crew import PassesError
from karat.models.glrm.parted_objective import Keep
from karat.screen.crowd import Crowd
from karat.screen.evidence import ScreenError
from karat.screen.parted.crowd import InParts
from karat.screen.parted.spammer_answers import AnswersFile, PartedCrowd, parted_crowd
from karat.screen.spammer_index import SpammerIndex, of_labels, of_rounds
from karat.screen.spammer_interval import with_shares
from karat.work import HERE, Work
from karat.work.kept import Kept

CRITERION = "spammer_index"
PASSES = 1_000
"""How often the fit and its interval may go through the answers."""
USUAL = 150
"""About as many passes as it takes, for the progress."""
ROUNDS_HELD = 1_000_000
"""How many answers the model of rounds is given."""
QUANTILE = 1.959964


def spammer_index_in_parts(
    crowd: InParts,
    simulations: int = 0,
    seed: int = 1,
    conditions: Sequence[str] = (),
    tasks: int = TASKS,
    passes: int = PASSES,
) -> SpammerIndex:
    """The Spammer Index of judgments in parts, with the profile interval.

    `seed` draws workers where a sample has to do; `tasks` and `passes` are how many tasks may have effects of their
    own, and how often the answers may be gone through. The others are as for `spammer_index`.

    >>> import karat, tempfile
    >>> from pathlib import Path
    >>> from karat.parts import open_parts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     karat.datasets.load("crowd").to_parquet(Path(folder, "crowd.parquet"))
    ...     print(spammer_index_in_parts(InParts(open_parts(folder), Path(folder, "out"))))
    Spammer Index .105 [.068, .156]: about 13 of 120 participants may have answered without regard to the task.
    """
    if simulations:
        raise ScreenError(
            "spammer_index: a bootstrap draws all answers anew and needs them in memory. Leave simulations out: the "
            "interval is then that of the profile likelihood."
        )
    answers = parted_crowd(crowd, CRITERION, conditions)
    if answers.family == "nominal" or answers.round_column is not None:
        return _in_memory(crowd, answers, seed)
    return _in_parts(crowd, answers, seed, tasks, passes)


def _in_parts(crowd: InParts, answers: PartedCrowd, seed: int, tasks: int, passes: int) -> SpammerIndex:
    """The index of yes-or-no or ordered answers."""
    try:
        found = fit_crossed_in_parts(
            answers.files, partial(_steps(crowd.work).map, name=CRITERION),
            family="binary" if answers.family == "binary" else "ordinal", tasks=tasks, seed=seed, most=passes,
            told=_Told(crowd), keep=_keep(crowd, tasks, seed),
        )  # fmt: skip
        agreement = agreement_in_parts(found)
    except PassesError as error:
        raise ScreenError(f"spammer_index: {error} Allow more passes than {passes:,}.") from None
    notes, (value, lower, upper) = [*answers.notes, *found.notes], _interval(found)
    if np.isnan(lower):
        lower, upper = 0.0, 1.0
        notes.append(f"The profile interval was not found within {passes:,} passes, and 0 and 1 stand for its ends.")
    elif len(found.workers) < answers.workers:
        notes.append(_error(lower, upper))
    worker, task = found.variances["worker"], found.variances["task"]
    table = pl.DataFrame({"source": ["workers", "tasks"], "variance": [worker, task]})
    _Told(crowd)(1, 1)
    return SpammerIndex(
        value, lower, upper, with_shares(table), found.log_likelihood, answers.workers, answers.family, "profile",
        {
            "fleiss_kappa": agreement.fleiss_kappa, "icc_agreement": agreement.icc_agreement,
            "icc_consistency": agreement.icc_consistency, "icc_fixed_error": icc_fixed_error(worker, task),
        },
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


def _error(lower: float, upper: float) -> str:
    error = f"{(upper - lower) / (2 * QUANTILE):.3f}".removeprefix("0")
    return f"The standard error of the index is about {error}, from the profile interval of those drawn."


def _steps(work: Work) -> Work:
    """Where the steps of the fit are done: they read files of `scratch`, and their sums are too large to be kept."""
    return work.work if isinstance(work, Kept) else work


def _keep(crowd: InParts, *settings: int) -> Keep | None:
    """How the fit keeps its evaluations, if anything is to be kept: beside the answers of this run, and for them."""
    if not isinstance(crowd.work, Kept):
        return None
    stamps = [crowd.parts.stamp(number) for number in range(len(crowd))]
    kept, about = Kept(HERE, crowd.scratch / "spammer_steps"), (crowd.excluded, crowd.token, stamps, settings)
    return lambda at, compute: kept.once((about, at), compute)


@dataclass(frozen=True)
class _Told:
    """Tells the progress: of passes, whose number is not known beforehand, or of something with an end."""

    crowd: InParts

    def __call__(self, done: int, total: int | None = None) -> None:
        if self.crowd.progress is not None:
            self.crowd.progress(done, max(USUAL, done + 1) if total is None else total)


def _in_memory(crowd: InParts, answers: PartedCrowd, seed: int) -> SpammerIndex:
    """The index of labels or rounds, of all workers or of those drawn at random."""
    firsts = np.cumsum([0, *(file.workers for file in answers.files)])
    placed = [Placed(file, int(first)) for file, first in zip(answers.files, firsts[:-1], strict=True)]
    sample = _few_enough(crowd, answers, placed, seed)
    column = answers.round_column
    tables = _steps(crowd.work).map(_collected, (sample, column), placed, name=CRITERION, progress=crowd.progress)
    rows = pl.concat(tables)
    notes, workers = list(answers.notes), rows["_worker"].n_unique()
    if sample is not None:
        if workers < 2 or rows["_stimulus"].n_unique() < 2 or rows["_code"].n_unique() < 2:
            raise ScreenError(
                f"spammer_index: only {counted(workers, 'participant')} could be held in memory, too few for a model. "
                "Look at a part of the tasks."
            )
        notes.append(
            f"The model is held in memory: it is fitted to the {rows.height:,} answers of {workers:,} workers out of "
            f"{answers.workers:,}, drawn at random (seed {seed})."
        )
    held = Crowd(rows, answers.family, answers.categories, tuple(notes))
    if answers.family == "nominal":
        found = of_labels(held, 0, seed, _Told(crowd), HERE)
        if column is not None:
            told = "are not told apart for labels: their model has no effects of time by worker or task."
            found = replace(found, notes=(*found.notes, f"Rounds ({column}) {told}"))
    elif column is not None:
        found = of_rounds(held, column, 0, seed, _Told(crowd), HERE)
    if sample is None:
        return found
    return replace(found, participants=answers.workers, notes=(*found.notes, _error(found.lower, found.upper)))


def _few_enough(crowd: InParts, answers: PartedCrowd, placed: list[Placed], seed: int) -> Sample | None:
    """The workers, in the order of their random numbers, whose answers the model can hold; None where all are held."""
    if answers.family != "nominal":
        return None if answers.rows <= ROUNDS_HELD else Sample(seed, ROUNDS_HELD / answers.rows)
    cells = LARGEST // (answers.codes - 1) ** 2
    if answers.workers * answers.tasks <= cells:
        return None
    smallest = np.full(answers.tasks, np.inf)
    for tasks, numbers in _steps(crowd.work).map(lowest, seed, placed, name=CRITERION, progress=crowd.progress):
        np.minimum.at(smallest, tasks, numbers)
    ordered = np.sort(random_numbers(seed, 0, answers.workers))
    with_so_many = np.arange(1, len(ordered) + 1) * np.searchsorted(np.sort(smallest), ordered, side="right")
    held = int(np.searchsorted(with_so_many, cells, side="right"))
    return Sample(seed, float(ordered[held]))


def _collected(shared: tuple[Sample | None, str | None], placed: Placed) -> pl.DataFrame:
    """The answers of the workers of a part who are in the sample."""
    sample, column = shared
    file = placed.part
    if not isinstance(file, AnswersFile):
        raise TypeError("The part is no file of answers.")
    worker = pl.col("_worker").cast(pl.Int64)
    rows = file.rows()
    if sample is not None:
        kept = sample.among(placed.first, file.workers)
        rows = rows.filter(pl.Series(kept[rows["_worker"].to_numpy()]))
    return rows.select(
        (worker + placed.first).cast(pl.String).alias("participant"), (worker + placed.first).alias("_worker"),
        pl.col("_stimulus").cast(pl.Int64), pl.col("_code").cast(pl.Int64), *([column] if column else []),
    )  # fmt: skip
