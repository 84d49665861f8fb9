"""The Spammer Index: how much of the variance of a crowd's answers lies between workers.

    SI = var_workers / (var_workers + var_tasks + var_workers:tasks)                (binary and ordered answers)
    SI = sum_k var_workers,k / sum_k (var_workers,k + var_tasks,k + var_workers:tasks,k)    (labels)

(Ba, Mancenido, Chiou and Pan, equations 2 and 4), with the variances of a generalised linear model with crossed random
effects, fitted by the Laplace approximation. With one answer per cell the workers:tasks variance is not identified; it
is zero in the approximation and left out. Where tasks come in several rounds, time is added
(`karat.screen.crowd.spammer_rounds`); the model of labels cannot distinguish rounds, and a note says so.

For labels, k runs over the categories except the baseline, each with its logit against the baseline. Each baseline
gives a different model of the same answers, with its own index. The index is therefore given for every baseline, and
pooled over all of them: both sums then run over the categories of all models, so that no category is special.

If it is .10 or more, the paper reads it as about SI x N workers whose answers deserve a closer look. That does not
follow if workers differ for other reasons, such as their use of the scale or a dialect, or if items hardly differ and
leave little variance to compare with. The number is therefore given only if the answers are labels or yes and no, if
items make up at least a third of the variance of an answer (with pi^2 / 3 for the residual), and if at least one
criterion about individual participants flags a number of them within the interval of SI x N.

The interval is that of the profile likelihood. For the pooled index, it is that of the mean of the models'
log-likelihoods: these are models of the same answers, so the pooled index is no more precise than each of them. With
`simulations`, it is a parametric bootstrap. For labels, samples are drawn from the model with the first baseline, and
the spread of its index is used for the pooled one, as angles arcsin(sqrt(SI)), which allow an index of zero.

`index_by_share` adds workers who answer in a known way until they are a given share of everybody (figure 2 of the
paper; drawn by `karat.plots.crowd.index_plot`). The index rises most with workers who keep to one choice, because these
differ most in how often they give each answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.executors import SERIAL, Executor
from karat.judgments import Judgments
from karat.judgments.scales import Binary, Nominal, Ordinal
from karat.jupyter import Result
from karat.messages import Message, NotComputed, check_number
from karat.models.agreement import icc_fixed_error
from karat.models.numerics import one_thread
from karat.screen.crowd import SUSPICIOUS, WIDEST
from karat.screen.crowd.answers import (
    COEFFICIENTS,
    LONG,
    NOT_QUICK,
    QUICK,
    QUICK_ANSWERS,
    Crowd,
    Gathered,
    categories_used,
    crowd,
    fit,
    labels_take,
    refuse_large,
    usual_coefficients,
)
from karat.screen.crowd.spammer_interval import (
    IndexResult,
    Interval,
    bootstrapped,
    index_of_sample,
    profiled,
    with_shares,
)
from karat.screen.crowd.spammer_rounds import index_of_rounds
from karat.screen.evidence import ScreenError
from karat.screen.screening import Screening
from karat.study.criteria import CRITERIA
from karat.types import Progress

if TYPE_CHECKING:
    from karat.models.glrm import Fit, NominalFit
    from karat.models.glrm.share import FittedShare


@dataclass(frozen=True)
class SpammerIndex(Result):
    """The share of the variance between workers, with its interval and components."""

    value: float
    lower: float
    upper: float
    variances: pl.DataFrame
    """source, category (labels only), variance, share."""
    log_likelihood: float
    participants: int
    family: str
    interval: Interval
    """The method of the interval: profile or bootstrap."""
    agreement: dict[str, float]
    """Fleiss' kappa, ICC(A,1), ICC(C,1) and ICC (fixed error); NaN if undefined."""
    baselines: pl.DataFrame | None = None
    """For labels: the index for every baseline."""
    notes: tuple[Message, ...] = ()
    settings: dict[str, object] = field(default_factory=dict)
    flagged: dict[str, int] | None = None
    """The number of these participants flagged by each criterion about careless answers, if compared."""

    def beside(self, flagged: Mapping[str, int]) -> SpammerIndex:
        """The index with the numbers that criteria flag; only criteria about careless answers count."""
        careless = {name: n for name, n in flagged.items() if name in CRITERIA and CRITERIA[name].careless}
        return replace(self, flagged=careless)

    @property
    def doubts(self) -> tuple[Message, ...]:
        """The reasons why the index cannot be read as a number of participants, if any."""
        doubts = []
        if self.family == "ordinal":
            doubts.append(Message("spammer_index.ordered"))
        between = {
            source: float(np.mean(self.variances.filter(source=source)["variance"].to_numpy()))
            for source in ("workers", "tasks")
        }
        if between["tasks"] < ITEMS_DIFFER * (sum(between.values()) + np.pi**2 / 3):
            doubts.append(Message("spammer_index.items_alike"))
        if self.flagged is None:
            doubts.append(Message("spammer_index.alone"))
        elif not any(self.lower <= n / self.participants <= self.upper for n in self.flagged.values() if n):
            doubts.append(Message("spammer_index.no_criterion"))
        return tuple(doubts)

    @property
    def suspicious(self) -> int | None:
        """About how many workers deserve a closer look; 0 below .10, None if there are `doubts`."""
        if self.value < SUSPICIOUS:
            return 0
        return None if self.doubts else round(self.value * self.participants)

    def to_dict(self) -> dict[str, object]:
        """The index as plain data; undefined values are None."""
        return {
            "value": self.value, "lower": self.lower, "upper": self.upper, "interval": self.interval,
            "variances": self.variances.to_dicts(), "log_likelihood": self.log_likelihood,
            "agreement": {name: None if value != value else value for name, value in self.agreement.items()},
            "baselines": None if self.baselines is None else self.baselines.to_dicts(),
            "notes": list(map(str, self.notes)),
        }  # fmt: skip

    @property
    def summary(self) -> tuple[Message, ...]:
        """The index with its interval, and the paper's reading of it, or why that does not follow here."""
        values: dict[str, object] = {"value": self.value, "lower": self.lower, "upper": self.upper}
        if self.upper - self.lower > WIDEST:
            return (Message("spammer_index.unknown", values),)
        if self.value < SUSPICIOUS:
            return (Message("spammer_index.low", values),)
        if self.suspicious is None:
            return (Message("spammer_index.raised", {**values, "why": list(self.doubts)}),)
        number = {"suspicious": self.suspicious, "participants": self.participants}
        return (Message("spammer_index.suspicious", values | number),)


def spammer_index(
    judgments: Judgments,
    simulations: int = 0,
    seed: int = 1,
    conditions: Sequence[str] | None = (),
    *,
    progress: Progress | None = None,
    executor: Executor = SERIAL,
) -> SpammerIndex:
    """The Spammer Index of judgments, with interval, variances and the usual coefficients of agreement.

    `simulations` requests a parametric bootstrap of this many samples instead of the profile interval.
    `conditions` names columns that make an item several tasks; None takes every stimulus as a task. `executor` says
    where the samples are fitted (`karat.executors.open_executor`).

    >>> import karat
    >>> crowd = karat.datasets.load("crowd")
    >>> index = spammer_index(crowd)
    >>> index.summary[0].code, [doubt.code for doubt in index.doubts]
    ('spammer_index.raised', ['spammer_index.alone'])
    >>> print(index.beside({"markov": len(karat.screen.markov(crowd, "published").flagged)}))
    Spammer Index .105 [.068, .156]: about 13 of 120 participants may have answered without regard to the items.
    """
    check_number(ScreenError, "simulations", simulations, at_least=0)
    answers = crowd(judgments, "spammer_index", conditions)
    refuse_large(answers, "spammer_index")
    return of_crowd(answers, simulations, seed, progress, executor)


def of_crowd(
    answers: Crowd, simulations: int, seed: int, progress: Progress | None, executor: Executor
) -> SpammerIndex:
    """The index of labels, of rounds, or of other answers; its coefficients of agreement are over all rounds."""
    options = (simulations, seed, progress, executor)
    if answers.family == "nominal":
        result = index_of_labels(answers, *options)
    elif answers.round_column is not None:
        result = index_of_rounds(answers, answers.round_column, *options)
    else:
        result = _index_of_answers(answers, *options)
    usual = usual_coefficients(answers.task, answers.worker, answers.response, answers.family)
    return as_index(result, answers, len(answers.workers), usual, simulations, seed)


def _index_of_answers(
    answers: Crowd, simulations: int, seed: int, progress: Progress | None, executor: Executor
) -> IndexResult:
    """The index of binary or ordered answers."""
    from karat.models.glrm import Fit, worker_share

    fitted = fit(answers)
    if not isinstance(fitted, Fit):
        raise ScreenError(Message("spammer_index.no_variance"))
    share = worker_share(fitted)
    lower, upper = share.lower, share.upper
    how: Interval = "profile"
    notes = list(fitted.notes)
    if simulations:
        index = partial(index_of_sample, answers, fitted)
        values, lost = bootstrapped(index, simulations, seed, progress, executor)
        lower, upper, how = float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975)), "bootstrap"
        notes += lost
    return of_fit(fitted, (share.value, lower, upper), how, notes)


def of_fit(fitted: Fit, index: tuple[float, float, float], how: Interval, notes: Sequence[Message]) -> IndexResult:
    """The index with its interval, from a fitted model of binary or ordered answers."""
    between = [fitted.variances["worker"], fitted.variances["task"]]
    table = with_shares(pl.DataFrame({"source": ["workers", "tasks"], "variance": between}))
    return IndexResult(*index, table, fitted.log_likelihood, how, tuple(notes))


def as_index(
    result: IndexResult, answers: Crowd | Gathered, workers: int, usual: tuple[float, ...], simulations: int, seed: int
) -> SpammerIndex:
    """The index of this many workers, with the usual coefficients and the fixed error."""
    table = result.variances
    # For labels, these are means over all baselines and categories.
    worker, task = (float(np.mean(table.filter(source=name)["variance"].to_numpy())) for name in ("workers", "tasks"))
    if "time" in table["source"]:
        others = float(table["variance"].sum()) - worker - task
        task += others
    agreement = dict(zip(COEFFICIENTS, usual, strict=True)) | {"icc_fixed_error": icc_fixed_error(worker, task)}
    notes = (*answers.notes, *result.notes)
    return SpammerIndex(
        result.value, result.lower, result.upper, table, result.log_likelihood, workers, answers.family,
        result.interval, agreement, result.baselines, notes, {"simulations": simulations, "seed": seed},
    )  # fmt: skip


def index_of_labels(
    answers: Crowd, simulations: int = 0, seed: int = 1, progress: Progress | None = None, executor: Executor = SERIAL
) -> IndexResult:
    """The Spammer Index of labels. Their model has no rounds, and a note says so if there are any."""
    from karat.models.glrm import NominalFit

    used = categories_used(answers)
    fits: list[NominalFit] = []
    models: list[FittedShare] = []
    rows: list[dict[str, Any]] = []
    notes = [Message("spammer_index.pooled")]
    with one_thread(len(answers.workers) * answers.rows["_stimulus"].n_unique()):
        for number, baseline in enumerate(used):
            fitted = fit(answers, baseline)
            if not isinstance(fitted, NominalFit):
                raise ScreenError(Message("spammer_index.no_category_variances"))
            fits.append(fitted)
            models.append(_model(fitted))
            row, messages = _row(fitted, models[-1], answers.categories[baseline])
            rows.append(row)
            notes += messages
            _report_progress(progress if not simulations else None, number, len(used) + 1)
        lower, upper, messages = profiled(models) if not simulations else (0.0, 1.0, [])
        notes += messages
        _report_progress(progress if not simulations else None, len(used), len(used) + 1)
    variances = pl.concat([_variances(fitted, answers) for fitted in fits])
    of_workers = float(variances.filter(source="workers")["variance"].sum())
    value = of_workers / float(variances["variance"].sum())
    if simulations:
        index = partial(index_of_sample, answers, fits[0])
        values, lost = bootstrapped(index, simulations, seed, progress, executor)
        lower, upper = _around(value, values, rows[0]["value"])
        notes += [Message("spammer_index.bootstrap_baseline", {"baseline": rows[0]["baseline"]}), *lost]
    if answers.round_column is not None:
        notes.append(Message("spammer_index.rounds_of_labels", {"column": answers.round_column}))
    return IndexResult(
        value, lower, upper, with_shares(variances), fits[0].log_likelihood, "bootstrap" if simulations else "profile",
        tuple(notes), pl.DataFrame(rows),
    )  # fmt: skip


def _model(fitted: NominalFit) -> FittedShare:
    """The sums of the variances of workers and of tasks as quadratic forms: the deviations are the last parameters."""
    from karat.models.glrm.share import FittedShare

    m = len(fitted.categories) - 1
    place = np.arange(len(fitted.parameters)) - len(fitted.parameters)
    workers, tasks = (place >= -2 * m) & (place < -m), place >= -m
    return FittedShare(
        fitted.objective, fitted.parameters, fitted.modes, fitted.hessian, np.diag(workers * 1.0), np.diag(tasks * 1.0)
    )


def _row(fitted: NominalFit, model: FittedShare, name: str) -> tuple[dict[str, Any], list[Message]]:
    """The index of one baseline, with its notes."""
    lower, upper, messages = profiled([model])
    worker, task = float(fitted.variances["worker"].sum()), float(fitted.variances["task"].sum())
    if not fitted.converged:
        reason = fitted.convergence.reason or None
        messages = [Message("spammer_index.not_converged", {"reason": reason}), *messages]
    row = {"baseline": name, "value": worker / (worker + task), "lower": lower, "upper": upper,
           "log_likelihood": fitted.log_likelihood}  # fmt: skip
    return row, [Message("spammer_index.baseline", {"baseline": name, "note": note}) for note in messages]


def _variances(fitted: NominalFit, answers: Crowd) -> pl.DataFrame:
    names = [answers.categories[int(code)] for code in fitted.categories]
    return pl.DataFrame(
        [
            {"baseline": names[0], "source": source, "category": name, "variance": float(variance)}
            for source, group in (("workers", "worker"), ("tasks", "task"))
            for name, variance in zip(names[1:], fitted.variances[group], strict=True)
        ]
    )


def _around(value: float, values: NDArray[np.float64], centre: float) -> tuple[float, float]:
    """The spread of a bootstrap around its centre, moved to the pooled index."""
    moved = np.arcsin(np.sqrt(value)) + np.arcsin(np.sqrt(values)) - np.arcsin(np.sqrt(centre))
    ends = np.sin(np.clip(np.quantile(moved, [0.025, 0.975]), 0.0, np.pi / 2)) ** 2
    return float(ends[0]), float(ends[1])


def _report_progress(progress: Progress | None, number: int, total: int) -> None:
    if progress is not None:
        progress(number + 1, total)


ITEMS_DIFFER = 1 / 3
"""The least share of items in the variance of an answer for reading the index as a number of participants."""
NOBODY = NotComputed("spammer_index.nobody")
NO_ROOM = NotComputed("spammer_index.no_room")
MOST_ANSWERS = 1_000_000


def index_unasked(
    screening: Screening, *, only_quick: bool = False, longest: float = LONG
) -> SpammerIndex | NotComputed:
    """The index of the remaining participants, or why there is none; with `only_quick`, if it takes a few seconds.

    The index of labels is left out if it would take more than `longest` seconds.
    """
    remaining = screening.kept
    if not remaining.participants.height:
        return NOBODY
    if only_quick and len(remaining) > QUICK_ANSWERS:
        return NOT_QUICK
    if len(screening.judgments) > MOST_ANSWERS:
        return NotComputed("spammer_index.too_many_answers", {"answers": MOST_ANSWERS})
    try:
        answers = crowd(remaining, "spammer_index")
        refuse_large(answers, "spammer_index")
        seconds = labels_take(answers)
        if only_quick and seconds > QUICK:
            return NOT_QUICK
        if seconds > longest:
            return NotComputed("spammer_index.takes_long", {"minutes": max(round(seconds / 60), 1)})
        excluded = set(screening.excluded)
        return spammer_index(remaining).beside(
            {name: len(set(evidence.flagged) - excluded) for name, evidence in screening.evidence.items()}
        )
    except MemoryError:
        return NO_ROOM
    except ValueError as error:
        return NotComputed.of(error)


def index_or_reason(index: SpammerIndex | NotComputed) -> Message:
    """The message about the index: its summary, or why there is none.

    >>> print(index_or_reason(NO_ROOM))
    No Spammer Index. Its model does not fit into memory.
    """
    return Message("spammer_index.none", {"why": index}) if isinstance(index, NotComputed) else index.summary[0]


def index_as_data(index: SpammerIndex | NotComputed) -> object:
    """The index as plain data, or the message why there is none."""
    return str(index_or_reason(index)) if isinstance(index, NotComputed) else index.to_dict()


SHARES = (0.0, 0.1, 0.2, 0.3)
ADDED = ("primary choice", "repeated pattern", "random guessing")


def index_by_share(
    judgments: Judgments,
    added: Mapping[str, Judgments] | None = None,
    shares: Sequence[float] = SHARES,
    seed: int = 1,
) -> pl.DataFrame:
    """The Spammer Index when workers of each kind are added until they are these shares of everybody.

    `added` has workers of each kind, who judged the same items, and the first of them are taken; without it, workers
    who keep to one choice, repeat a pattern or guess are simulated. Columns: kind, share (of added workers), added,
    value, lower, upper.
    """
    if not shares or not all(0 <= share < 1 for share in shares):
        raise ScreenError(Message("index_by_share.shares"))
    people = judgments.frame["participant"].n_unique()
    wanted = [round(people * share / (1 - share)) for share in shares]
    if added is None:
        judgments = _plain(judgments)
        added = {kind: _simulated(judgments, kind, max(wanted), seed) for kind in ADDED}
    rows = []
    unchanged = spammer_index(judgments) if 0 in wanted else None
    for kind, pool in added.items():
        names = pool.frame["participant"].unique(maintain_order=True)
        if len(names) < max(wanted) or names.is_in(judgments.frame["participant"].unique().to_list()).any():
            values = {"needed": max(wanted), "kind": kind, "known": len(names)}
            raise ScreenError(Message("index_by_share.too_few", values))
        for number in wanted:
            more = pool.frame.filter(pl.col("participant").is_in(names[:number].to_list()))
            together = Judgments(pl.concat([judgments.frame, more], how="diagonal_relaxed"), judgments.scales)
            index = unchanged if number == 0 and unchanged is not None else spammer_index(together)
            rows.append((kind, number / (people + number), number, index.value, index.lower, index.upper))
    schema = {"kind": pl.String, "share": pl.Float64, "added": pl.Int64, "value": pl.Float64, "lower": pl.Float64,
              "upper": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _plain(judgments: Judgments) -> Judgments:
    """The answers of a crowd by the numbers of tasks and categories, regardless of names."""
    answers = crowd(judgments, "index_by_share")
    names = [str(code) for code in range(int(answers.response.max()) + 1)]
    scale: Binary | Ordinal | Nominal = Nominal(names)
    if answers.family == "ordinal":
        scale = Ordinal(names)
    elif answers.family == "binary":
        low, high = np.unique(answers.response)
        scale = Binary((str(low), str(high)))
    frame = answers.rows.select(
        "participant",
        pl.col("_stimulus").cast(pl.String).alias("item"),
        pl.col("_code").cast(pl.String).alias("response"),
    )
    return Judgments(frame, scale)


def _simulated(judgments: Judgments, kind: str, workers: int, seed: int) -> Judgments:
    """Workers of a kind who answer every item of plain judgments once."""
    from karat.simulate import draw_tasks, worker_answers

    items = judgments.frame["item"].unique(maintain_order=True)
    (scale,) = judgments.scales.values()
    levels = pl.Series(scale.levels)
    # These workers ignore the content of tasks, so only their number matters.
    tasks = draw_tasks(len(items), len(levels), seed=seed)
    codes = worker_answers(kind, max(workers, 1), tasks, seed=seed)
    worker = np.repeat(np.arange(len(codes)), len(items))
    frame = pl.DataFrame({
        "participant": pl.Series([f"added {number}" for number in range(1, len(codes) + 1)]).gather(worker),
        "item": items.gather(np.tile(np.arange(len(items)), len(codes))),
        "response": levels.gather(codes.ravel().astype(np.int64)),
    })  # fmt: skip
    return Judgments(frame, judgments.scales)
