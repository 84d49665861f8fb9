"""The answers of a crowd on one scale, by workers and tasks, in the form that the random-effects models take.

A worker is a participant, a task an item in all its conditions (and a question, where there are several), as in the
paper. `conditions` names columns that make an item several tasks; None takes every stimulus as a task
(`karat.judgments.stimuli`). Practice is left out. Answers to reversed questions are reversed (polarity), and a choice
counts as the item chosen, not as its side.

Every part stores its answers as numbers of workers, tasks and categories, and returns its tasks in order of appearance.
Tasks are then numbered over all parts. Judgments in memory are one part, whose rows keep all their columns.

The time that the Spammer Index takes is estimated beforehand, and tables too large for its model are refused.

An evaluation of the likelihood of labels solves a system of m effects of every worker and task, with m one less than
the number of labels. The index with its interval takes about 75 evaluations per label. If most workers answered most
tasks, the seconds on one processor are

    0.075 labels (3 + (m few)^2 (m many) / 5,000,000 + m^2 few many / 25,000),

where few is the smaller of the numbers of workers and tasks, and many the larger. If workers answered few tasks each,
they are

    0.075 labels (3 + m^2 many / 1,200 + m^2 answers / 800 + m^3 answers^2 / (100,000 many) + (m few)^3 / 10,000,000).

Both were measured, the first from 60 x 60 to 330 x 330 with three and four labels, the second from 60 x 600 to
200 x 5,000. They give the order of magnitude, and a busy machine takes longer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.judgments.answer_codes import answered, by_scale, position
from karat.judgments.columns import unknown_name
from karat.judgments.scales import Binary, Choice, Nominal, Ordinal, Scale
from karat.judgments.stimuli import Stimuli, groups_and_numbers, numbered
from karat.judgments.trial_order import presented
from karat.messages import Message, NotComputed
from karat.screen.evidence import ScreenError
from karat.screen.one_part import AnyParts, OnePart, Shelf

if TYPE_CHECKING:
    from karat.models.glrm import Fit, NominalFit


Family = Literal["binary", "ordinal", "nominal"]


ROUNDS = ("repetition", "session")
"""The columns that may have the round of an answer."""
ANSWERS, TASKS = "answers", "tasks"
"""The tables that a part stores: its answers, and the numbers of its tasks among those of all parts."""


@dataclass(frozen=True)
class Crowd:
    """One row per answer, in order of presentation: worker, task and number of the category."""

    rows: pl.DataFrame
    family: Family
    categories: tuple[str, ...]
    notes: tuple[Message, ...]
    round_column: str | None = None
    """The column that distinguishes rounds; None if nothing was repeated."""

    @property
    def worker(self) -> NDArray[Any]:
        """The number of each answer's participant, by order of first answers."""
        return self.rows["_worker"].to_numpy()

    @property
    def task(self) -> NDArray[Any]:
        """The task of each answer."""
        return self.rows["_stimulus"].to_numpy()

    @property
    def response(self) -> NDArray[Any]:
        """The category of each answer, by its number."""
        return self.rows["_code"].to_numpy()

    @property
    def workers(self) -> list[str]:
        """The participants, by their numbers."""
        return self.rows["participant"].unique(maintain_order=True).to_list()


def crowd(judgments: Judgments, criterion: str, conditions: Sequence[str] | None = ()) -> Crowd:
    """The answers of judgments as a crowd; raises ScreenError if a criterion cannot use them in this form.

    >>> import karat
    >>> answers = crowd(karat.datasets.load("crowd"), "deletion")
    >>> answers.family, answers.categories, len(answers.workers)
    ('binary', ('0', '1'), 120)
    """
    gathered = gather(OnePart(judgments), criterion, conditions)
    return Crowd(
        gathered.shelf.table(ANSWERS, 0), gathered.family, gathered.categories, gathered.notes, gathered.round_column
    )


@dataclass(frozen=True)
class PartCounts:
    """The workers and tasks of a part on the scale."""

    rows: int
    workers: int
    tasks: pl.DataFrame
    """The columns that define a task, one row per task, in order of their first answers."""
    codes: tuple[int, ...]
    columns: tuple[str, ...]
    rounds: dict[str, RoundCounts]


@dataclass(frozen=True)
class RoundCounts:
    """The rounds of a part in one column: workers with one and with several rounds, and the rounds of each task."""

    workers: int
    several: int
    pairs: pl.DataFrame
    """_stimulus (its number in the part) and round."""


@dataclass(frozen=True)
class Gathered:
    """The answers of all parts, stored on a shelf."""

    shelf: Shelf
    parts: dict[int, int]
    """The parts with answers, and the number of workers of each."""
    family: Family
    categories: tuple[str, ...]
    rows: int
    workers: int
    tasks: int
    codes: int
    """The number of categories that occur."""
    round_column: str | None
    notes: tuple[Message, ...]


def gather(parts: AnyParts[Any], criterion: str, conditions: Sequence[str] | None = ()) -> Gathered:
    """The answers on the scale with the most of them, and the tasks, which are numbered over all parts.

    >>> import karat
    >>> answers = gather(OnePart(karat.datasets.load("crowd")), "spammer_index")
    >>> answers.rows, answers.workers, answers.tasks
    (9600, 120, 80)
    """
    scales = [
        of_part
        for of_part in dict.fromkeys(parts.scales.values())
        if isinstance(of_part, Binary | Ordinal | Nominal | Choice)
    ]
    heights = np.zeros(len(scales))
    if len(scales) > 1:
        heights = np.sum(parts.map(_heights, scales, name=criterion), axis=0)
    gathered: list[PartCounts | None] = []
    shelf = parts.shelf(criterion, conditions)
    if scales:
        scale = scales[int(np.argmax(heights))]
        stimuli = parts.stimuli()[isinstance(scale, Choice)].with_conditions(conditions)
        gathered = parts.map(_gather, (scale, stimuli, shelf, criterion == "deletion"), name=criterion)
    facts = {number: of_part for number, of_part in enumerate(gathered) if of_part is not None}
    if not facts:
        raise ScreenError(Message("crowd.no_categories", {"criterion": criterion}))
    columns = tuple(dict.fromkeys(name for of_part in facts.values() for name in of_part.columns))
    check_conditions(conditions, columns)
    rows, workers = (sum(getattr(of_part, what) for of_part in facts.values()) for what in ("rows", "workers"))
    together = pl.concat([of_part.tasks for of_part in facts.values()], how="diagonal_relaxed")
    number = numbered(together, together.columns).to_numpy()
    numbers = np.split(number, np.cumsum([of_part.tasks.height for of_part in facts.values()])[:-1])
    tasks, codes = int(number.max()) + 1, len({code for of_part in facts.values() for code in of_part.codes})
    if workers < 2 or tasks < 2:
        raise ScreenError(Message("crowd.too_few"))
    if codes < 2:
        raise ScreenError(Message("crowd.same_answer"))
    for part, of_tasks in zip(facts, numbers, strict=True):
        shelf.put(of_tasks, TASKS, part)
    several = Message("crowd.several_scales", {"answers": rows, "scale": scale.kind})
    return Gathered(
        shelf, {part: of_part.workers for part, of_part in facts.items()}, family_of(scale, codes),
        names_of(scale, columns), rows, workers, tasks, codes, _round_column(list(facts.values()), numbers),
        (several,) if (heights > 0).sum() > 1 else (),
    )  # fmt: skip


def _heights(judgments: Judgments, scales: Sequence[Scale], number: int) -> list[int]:
    """The number of answers of a part on each scale."""
    heights = {scale: rows.height for scale, rows in by_scale(judgments, answered(judgments))}
    return [heights.get(scale, 0) for scale in scales]


def _gather(
    judgments: Judgments, shared: tuple[Scale, Stimuli, Shelf, bool], number: int
) -> PartCounts | None:  # fmt: skip
    """The workers and tasks of a part on a scale; its answers are stored on the shelf."""
    scale, stimuli, shelf, in_order = shared
    rows = next((rows for part_scale, rows in by_scale(judgments, answered(judgments)) if part_scale == scale), None)
    if rows is None:
        return None
    if in_order:
        # Sorted, because the simulated null of deletion depends on the order of rows.
        rows = rows.sort("participant", "item", "response", maintain_order=True)
    rows = presented(rows)
    paired = stimuli.with_pairs(rows)
    tasks, task = groups_and_numbers(paired, [name for name in stimuli.keys if name in paired.columns])
    columns, rounds = tuple(rows.columns), [name for name in ROUNDS if name in rows.columns]
    rows = rows.with_columns(_stimulus=task, _code=code_of(scale, rows), _worker=numbered(rows, ["participant"]))
    counts = PartCounts(
        rows.height, rows["_worker"].n_unique(), tasks, tuple(rows["_code"].unique().to_list()), columns,
        {name: _rounds(rows.filter(pl.col(name).is_not_null()), name) for name in rounds},
    )  # fmt: skip
    if not shelf.in_memory:
        small = (pl.col("_worker").cast(pl.Int32), pl.col("_stimulus").cast(pl.Int32), pl.col("_code").cast(pl.Int16))
        rows = rows.select(*small, *rounds).sort("_worker", "_stimulus", maintain_order=True)
    shelf.put(rows, ANSWERS, number)
    return counts


def _rounds(rows: pl.DataFrame, name: str) -> RoundCounts:
    of_workers = rows.group_by("_worker").agg(pl.col(name).n_unique().alias("rounds"))["rounds"]
    pairs = rows.select("_stimulus", pl.col(name).alias("round")).unique()
    return RoundCounts(len(of_workers), int((of_workers > 1).sum()), pairs)


def _round_column(facts: Sequence[PartCounts], numbers: Sequence[NDArray[Any]]) -> str | None:
    """The column with the round of each answer; None if nothing was repeated.

    It is repetition, or session if that does not vary. Most workers and tasks must have several rounds, because
    sessions with different tasks are no repetition.
    """
    for name in ROUNDS:
        rounds_of = [
            (part.rounds[name], of_tasks) for part, of_tasks in zip(facts, numbers, strict=True) if name in part.rounds
        ]
        if not rounds_of:
            continue
        pairs = pl.concat(
            [
                rounds.pairs.with_columns(_stimulus=pl.Series(of_tasks[rounds.pairs["_stimulus"].to_numpy()]))
                for rounds, of_tasks in rounds_of
            ],
            how="vertical_relaxed",
        ).unique()
        workers, several = (sum(getattr(rounds, what) for rounds, _ in rounds_of) for what in ("workers", "several"))
        of_tasks = pairs.group_by("_stimulus").len()["len"]
        if pairs["round"].n_unique() > 1 and several > workers / 2 and (of_tasks > 1).sum() > len(of_tasks) / 2:
            return name
    return None


def check_conditions(conditions: Sequence[str] | None, columns: Sequence[str]) -> None:
    """Raise ScreenError if a condition is not among the columns."""
    unknown = [name for name in conditions or () if name not in columns]
    if unknown:
        raise ScreenError(unknown_name("unknown.column", unknown[0], list(columns)))


def code_of(scale: Scale, rows: pl.DataFrame) -> pl.Expr:
    """The number of each answer, in the order of `names_of`."""
    if isinstance(scale, Choice) and {"left", "right"} <= set(rows.columns):
        # If a side has no name, the left one counts as the first.
        turned = (pl.col("left") > pl.col("right")).fill_null(False)
        side = position(scale).cast(pl.Int64)
        return pl.when(turned & (side < 2)).then(1 - side).otherwise(side)
    return position(scale, aligned="polarity" in rows.columns).cast(pl.Int64)


def family_of(scale: Scale, codes: int) -> Family:
    """The family of the model for answers in this many categories."""
    if isinstance(scale, Ordinal) and codes > 2:
        return "ordinal"
    return "binary" if codes == 2 else "nominal"


def names_of(scale: Scale, columns: Collection[str]) -> tuple[str, ...]:
    """The names of the answers."""
    if isinstance(scale, Choice) and {"left", "right"} <= set(columns):
        return ("first", "second", "none")
    return scale.levels


def fit(answers: Crowd, baseline: int | None = None) -> Fit | NominalFit:
    """The random-effects model of a crowd's answers: workers and tasks, by maximum likelihood."""
    from karat.models.glrm import fit_crossed, fit_nominal

    try:
        if answers.family == "nominal":
            fitted = fit_nominal(answers.response, answers.worker, answers.task, baseline=baseline)
            return replace(fitted, notes=tuple(_with_name(note, answers.categories) for note in fitted.notes))
        return fit_crossed(answers.response, answers.worker, answers.task, family=answers.family)
    except np.linalg.LinAlgError:
        values = {"answers": len(answers.response), "categories": len(categories_used(answers))}
        raise ScreenError(Message("crowd.not_fitted", values)) from None


def _with_name(note: Message, categories: Sequence[str]) -> Message:
    """A note of a fit with the name of its category, which the fit knows by number."""
    number = note.values.get("category")
    return note if number is None else replace(note, values={**note.values, "category": categories[int(number)]})


def categories_used(answers: Crowd) -> list[int]:
    """The numbers of the categories that occur."""
    return [int(code) for code in np.unique(answers.response)]


COEFFICIENTS = ("fleiss_kappa", "icc_agreement", "icc_consistency")


def usual_coefficients(task: Any, worker: Any, code: Any, family: Family) -> tuple[float, float, float]:
    """Kappa, ICC(A,1) and ICC(C,1) of answers; the last two are NaN for labels."""
    from karat.models.agreement import coefficients, fleiss_kappa, variance_components

    variances = (float("nan"),) * 3 if family == "nominal" else variance_components(task, worker, code)
    return coefficients(fleiss_kappa(task, code), variances)


LONG = 60.0
"""The most seconds that an index may take if it was not requested."""
QUICK = 5.0
"""The most seconds that it may take beside selected criteria."""
QUICK_ANSWERS = 20_000
"""This many yes-or-no or ordered answers are fitted in a few seconds."""
STEP = 0.98
"""The factor by which the share of a sample is reduced until it fits."""
NOT_QUICK = NotComputed("spammer_index.not_quick")


def seconds_of(workers: float, tasks: float, labels: int, answers: float | None = None) -> float:
    """About how many seconds the Spammer Index of labels takes; for a complete table, unless the answers are given."""
    from karat.models.glrm.crossed import is_listed

    m, few, many = labels - 1, min(workers, tasks), max(workers, tasks)
    if answers is None or not is_listed(few * many, answers):
        return 0.075 * labels * (3 + (m * few) ** 2 * m * many / 5e6 + m * m * few * many / 2.5e4)
    listed = m * m * (many / 1200 + answers / 800) + m**3 * answers**2 / (1e5 * many)
    return 0.075 * labels * (3 + listed + (m * few) ** 3 / 1e7)


def share_in_time(workers: int, tasks: int, labels: int, seconds: float = LONG, answers: int | None = None) -> float:
    """The largest share of the workers and of the tasks whose answers can be fitted within this many seconds."""
    share = 1.0
    everything = workers * tasks if answers is None else answers
    while (
        seconds_of(share * workers, share * tasks, labels, share**2 * everything) > seconds
        and share * min(workers, tasks) > 1
    ):
        share *= STEP
    return share


def refuse_large(answers: Crowd, criterion: str) -> None:
    """Raise ScreenError if the model of these labels would not fit into memory."""
    from karat.models.glrm.nominal import LARGEST, curvature_size

    if answers.family != "nominal":
        return
    workers, tasks, labels = (answers.rows[name].n_unique() for name in ("_worker", "_stimulus", "_code"))
    if curvature_size(workers, tasks, answers.rows.height, labels - 1) > LARGEST:
        values = {"criterion": criterion, "participants": workers, "items": tasks, "labels": labels}
        raise ScreenError(Message("crowd.too_many_labels", values))


def labels_take(answers: Crowd) -> float:
    """About how many seconds the index of labels takes; 0 for other answers, which are quicker."""
    if answers.family != "nominal":
        return 0.0
    workers, tasks, labels = (answers.rows[name].n_unique() for name in ("_worker", "_stimulus", "_code"))
    return seconds_of(workers, tasks, labels, answers.rows.height)


def is_quick(family: str, answers: int, workers: int, tasks: int, labels: int) -> bool:
    """Whether the index of this many answers takes only a few seconds."""
    if family == "nominal":
        return seconds_of(workers, tasks, labels, answers) <= QUICK
    return answers <= QUICK_ANSWERS
