"""A crowd as judgments: tasks with a truth, answered by workers with known behaviour.

Response times are log-normal: credible workers take about 3.3 seconds, the others about half as long, each at an
individual pace.

Every task has a latent effect u ~ N(0, 6); the truth is the category in which it falls. With two categories the cut is
at zero, with more the cuts are at the quantiles of the effects, so that all categories are equally frequent (Ba,
Mancenido, Chiou and Pan, simulation procedure and appendix B). With `balance`, the cuts lead to these shares. Unordered
categories are shuffled after the cutting.

With task effect u, worker effect w ~ U(-a, a) and cell effect c ~ U(-a, a), a credible worker has the latent value u +
w + c. It decides the answer either by a draw,

    yes with probability 1 / (1 + exp(-(u + w + c))),      and, with more categories, the category of u + w + c + e,
                                                           e standard logistic,

as in the paper's model, or by its sign (the category of u + w + c), as in the authors' program. a is 1.5 for two
categories and .4 for more. The others ignore the task:

- primary choice: a favourite category, in two categories with a logit of 1.4 + U(-.3, .3), kept only if the favourite
  comes at least `longest_run` times in a row somewhere; with more categories with probability .88;
- repeated pattern: the categories in turn from one of them on, in two categories with a logit of 2 + U(-.1, .1) (.88;
  .8 in the paper's text), with more with probability .96;
- random guessing: all categories are equally probable.

Workers who change halfway are credible before a trial and one of the three from it on (appendix C).

Source: Ba, Mancenido, Chiou and Pan, simulation procedure, appendices B and C; constants as in the authors' program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log, pi, sqrt
from types import MappingProxyType
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.judgments.checks import Checked
from karat.judgments.scales import Binary, Nominal, Ordinal
from karat.messages import Message, check_number, check_word
from karat.simulate.behaviours import SIMULATED, SimulateError
from karat.simulate.scale_answers import logistic
from karat.types import Floats

NOBODY: Mapping[str, int] = MappingProxyType({})
LOG_SECONDS = {True: 1.2, False: 0.5}
"""The logarithm of the usual time, of credible workers and of others."""
PACE, SPREAD = 0.3, 0.4
"""The standard deviations of log times between workers, and between the trials of one."""


def crowd(
    workers: int = 120,
    tasks: int = 80,
    spammers: Mapping[str, int] = NOBODY,
    *,
    scale: Binary | Ordinal | Nominal | None = None,
    balance: Sequence[float] | None = None,
    decision: Decision = "draw",
    shuffled: bool = True,
    turn: int | None = None,
    settings: WorkerSettings | None = None,
    seed: int = 1,
) -> Judgments:
    """Judgments of a crowd; `spammers` has the number of workers of each kind, and all others are credible.

    The kinds are primary choice, repeated pattern and random guessing, and each of them with "halfway" before it, for
    workers who are credible until trial `turn` (by default for half of the trials). The truth is in the column
    expected, the behaviour in that of the participants; spammers have the first names. `shuffled` gives every worker an
    individual order of tasks. The same seed gives the same crowd.

    Parameters
    ----------
    workers
        The number of workers.
    tasks
        The number of tasks.
    spammers
        The number of workers of each kind.
    scale
        The scale of the answers; by default yes or no.
    balance
        The share of tasks that belong in each category; by default all alike.
    decision
        Whether credible answers are drawn, as in the paper, or taken by sign, as in the authors' program.
    turn
        The trial at which workers change halfway.
    settings
        The parameters of workers; by default as published.

    >>> judgments = crowd(50, 40, {"primary choice": 3, "halfway random guessing": 2}, seed=7)
    >>> len(judgments), judgments.participants["behaviour"].unique(maintain_order=True).to_list()
    (2000, ['primary choice', 'halfway random guessing', 'credible'])
    """
    kinds = _kinds(workers, spammers)
    used = scale or Binary()
    random = np.random.default_rng(seed)
    task_set = draw_tasks(tasks, len(used.levels), ordered=not isinstance(used, Nominal), balance=balance, seed=random)
    order = np.broadcast_to(np.arange(tasks, dtype=np.int32), (workers, tasks))
    if shuffled:
        order = random.permuted(order, axis=1)
    answers = np.empty((workers, tasks), dtype=np.int8)
    start = 0
    for kind, count in kinds.items():
        part = slice(start, start + count)
        answers[part] = worker_answers(
            kind, count, task_set, order[part], decision=decision, turn=turn, settings=settings, seed=random
        )
        start += count
    names = _names("w", workers)
    behaviours = [kind for kind, count in kinds.items() for _ in range(count)]
    pace = np.array([LOG_SECONDS[kind == CREDIBLE] for kind in behaviours]) + random.normal(0, PACE, workers)
    log_seconds = random.standard_normal((workers, tasks), dtype=np.float32) * SPREAD + pace[:, None]
    seconds: NDArray[np.float64] = np.exp(log_seconds).round(3)
    frame = _frame(names, order, answers, task_set.truth, used, seconds)
    people = pl.DataFrame({"participant": names, "behaviour": behaviours, "source": SIMULATED})
    # The frame already has the form after the checks, which would take longer than the simulation.
    return Judgments.from_checked(Checked(frame), {"": used}, people)


def _kinds(workers: int, spammers: Mapping[str, int]) -> dict[str, int]:
    kinds = (*KINDS[1:], *HALFWAY)
    for kind, count in spammers.items():
        if kind not in kinds:
            raise SimulateError(Message("crowd.spammers", {"kind": kind, "known": list(kinds)}))
        if count < 0:
            raise SimulateError(Message("crowd.negative", {"kind": kind, "n": count}))
    left = workers - sum(spammers.values())
    if left < 0 or workers < 1:
        raise SimulateError(Message("crowd.too_many_spammers", {"n": sum(spammers.values()), "workers": workers}))
    return {kind: count for kind, count in {**spammers, CREDIBLE: left}.items() if count}


def _names(letter: str, count: int) -> list[str]:
    width = max(3, len(str(count)))
    return [f"{letter}{number:0{width}d}" for number in range(1, count + 1)]


def _frame(
    names: list[str], order: NDArray[np.int32], answers: Codes, truth: Codes, scale: Binary | Ordinal | Nominal,
    seconds: NDArray[np.float64],
) -> pl.DataFrame:  # fmt: skip
    workers, tasks = answers.shape
    levels, items = pl.Series(scale.levels), pl.Series(_names("t", tasks))
    flat = order.ravel()
    return pl.DataFrame({
        "participant": pl.Series(names)[np.repeat(np.arange(workers), tasks)],
        "item": items[flat],
        "response": levels[answers.ravel().astype(np.int64)],
        "trial": np.tile(np.arange(1, tasks + 1, dtype=np.int64), workers),
        "rt": seconds.ravel().astype(np.float64),
        "function": pl.repeat("test", workers * tasks, dtype=pl.String, eager=True),
        "expected": levels[truth[flat].astype(np.int64)],
    })  # fmt: skip


Codes = NDArray[np.int8]
VARIANCE = 6.0


@dataclass(frozen=True)
class Tasks:
    """The latent effects of tasks, the cuts between categories, and the category of each interval between cuts."""

    effects: Floats
    cuts: Floats
    labels: Codes

    @property
    def truth(self) -> Codes:
        """The category of each task, from 0."""
        return self.categories(self.effects)

    @property
    def count(self) -> int:
        """The number of categories."""
        return len(self.labels)

    def categories(self, values: Floats) -> Codes:
        """The categories of latent values."""
        # A sum over the few cuts is several times faster than a search for each of millions of values.
        interval = np.zeros(values.shape, dtype=np.int8)
        for cut in self.cuts:
            interval += values > cut
        return self.labels[interval]


def draw_tasks(
    tasks: int,
    categories: int = 2,
    *,
    ordered: bool = True,
    balance: Sequence[float] | None = None,
    variance: float = VARIANCE,
    seed: int | np.random.Generator = 1,
) -> Tasks:
    """Tasks with `categories` possible answers; `balance` has the share of tasks in each.

    Parameters
    ----------
    tasks
        The number of tasks.
    categories
        The number of possible answers.
    ordered
        Whether the categories are ordered.
    balance
        The share of tasks that belong in each category; by default all alike.
    variance
        The variance of task effects.

    >>> drawn = draw_tasks(80, 5, seed=1)
    >>> np.bincount(drawn.truth).tolist()
    [16, 16, 16, 16, 16]
    >>> np.bincount(draw_tasks(80, balance=[0.25, 0.75], seed=1).truth).tolist()
    [20, 60]
    """
    if tasks < 1 or categories < 2:
        raise SimulateError(Message("crowd.tasks", {"tasks": tasks, "categories": categories}))
    random = np.random.default_rng(seed)
    effects = random.normal(0, np.sqrt(variance), tasks)
    labels = np.arange(categories, dtype=np.int8)
    if not ordered and categories > 2:
        random.shuffle(labels)
    if balance is None and categories == 2:
        return Tasks(effects, np.zeros(1), labels)
    shares = _shares(balance, categories)[labels]
    cuts = np.quantile(effects, np.cumsum(shares)[:-1], method="linear")
    return Tasks(effects, cuts, labels)


def _shares(balance: Sequence[float] | None, categories: int) -> Floats:
    if balance is None:
        return np.full(categories, 1 / categories)
    shares = np.asarray(balance, dtype=float)
    if shares.shape != (categories,) or np.any(shares < 0) or not np.isclose(shares.sum(), 1):
        raise SimulateError(Message("crowd.balance", {"categories": categories}))
    return shares


Decision = Literal["draw", "sign"]
CREDIBLE, PRIMARY, PATTERN, GUESSING = "credible", "primary choice", "repeated pattern", "random guessing"
KINDS = (CREDIBLE, PRIMARY, PATTERN, GUESSING)
HALFWAY = tuple(f"halfway {kind}" for kind in KINDS[1:])
MOST_ROUNDS = 2_000
"""The tries to get the longest run of primary choosers before an error."""


@dataclass(frozen=True)
class WorkerSettings:
    """The parameters of workers; None is the published value, which depends on the number of categories."""

    spread: float | None = None
    """a: half the width of the effects of credible workers and of their cells."""
    primary_logit: tuple[float, float] = (1.4, 0.3)
    primary_share: float = 0.88
    run: int | None = None
    """The required run of the favourite; 0 for none. By default `longest_run` for two categories."""
    pattern_logit: tuple[float, float] = (2.0, 0.1)
    pattern_share: float = 0.96


def longest_run(tasks: int) -> int:
    """The run that shows a favourite of two answers: the expected longest run of a fair coin plus two deviations.

    R = log2(n / 2) with the standard deviation sqrt(pi^2 / (6 ln^2 2) + 1/12) = 1.873 (Schilling 1990), both rounded up
    as in the paper.
    """
    expected = ceil(log(tasks / 2, 2)) if tasks > 2 else 1
    return min(tasks, expected + ceil(2 * sqrt(pi**2 / (6 * log(2) ** 2) + 1 / 12)))


def worker_answers(
    kind: str,
    workers: int,
    tasks: Tasks,
    order: NDArray[np.integer] | None = None,
    *,
    decision: Decision = "draw",
    turn: int | None = None,
    settings: WorkerSettings | None = None,
    seed: int | np.random.Generator = 1,
) -> Codes:
    """The answers of `workers` workers of a kind, workers x trials, as categories from 0.

    `order` has the task of each trial, for all workers or for each (workers x trials); by default the order of `tasks`.
    `turn` is the trial (from 1) at which workers change halfway; by default the one after half of the trials.

    Parameters
    ----------
    kind
        The kind of workers, such as `credible` or `primary choice`.
    workers
        The number of workers.
    tasks
        The tasks, from `draw_tasks`.
    decision
        Whether credible answers are drawn, as in the paper, or taken by sign, as in the authors' program.
    settings
        The parameters of workers; by default as published.

    >>> from karat.simulate.crowd import draw_tasks
    >>> tasks = draw_tasks(80, seed=1)
    >>> answers = worker_answers("credible", 1000, tasks, decision="sign")
    >>> answers.shape, bool(0.75 < (answers == tasks.truth).mean() < 0.9)
    ((1000, 80), True)
    """
    if kind not in (*KINDS, *HALFWAY):
        raise SimulateError(Message("crowd.workers", {"kind": kind, "known": [*KINDS, *HALFWAY]}))
    check_word(SimulateError, "decision", decision, ("draw", "sign"))
    random = np.random.default_rng(seed)
    effects = tasks.effects[np.arange(len(tasks.effects)) if order is None else order]
    shape = (workers, effects.shape[-1])
    drawing = _Drawing(tasks, decision, settings or WorkerSettings(), random)
    if kind == CREDIBLE:
        return drawing.credible(shape, effects)
    answers = drawing.astray(kind.removeprefix("halfway "), shape)
    if kind in HALFWAY:
        check_number(SimulateError, "turn", turn, at_least=1, at_most=shape[1] + 1)
        before = shape[1] // 2 if turn is None else turn - 1
        answers[:, :before] = drawing.credible((workers, before), effects[..., :before])
    return answers


@dataclass(frozen=True)
class _Drawing:
    """The parameters of random answers."""

    tasks: Tasks
    decision: Decision
    settings: WorkerSettings
    random: np.random.Generator

    def credible(self, shape: tuple[int, int], effects: Floats) -> Codes:
        spread = self.settings.spread if self.settings.spread is not None else 1.5 if self.tasks.count == 2 else 0.4
        latent = self.random.uniform(-spread, spread, shape)
        latent += self.random.uniform(-spread, spread, (shape[0], 1))
        latent += effects
        if self.decision == "draw":
            latent += logistic(self.random, shape)
        return self.tasks.categories(latent)

    def astray(self, kind: str, shape: tuple[int, int]) -> Codes:
        count, settings = self.tasks.count, self.settings
        if kind == GUESSING:
            return self.random.integers(0, count, shape, dtype=np.int8)
        first = self.random.integers(0, count, (shape[0], 1), dtype=np.int8)
        if kind == PATTERN:
            wanted = ((np.arange(shape[1]) + first) % count).astype(np.int8)
            return self.mostly(wanted, settings.pattern_logit, settings.pattern_share)
        least = settings.run if settings.run is not None else longest_run(shape[1]) if count == 2 else 0
        return self.primary(np.repeat(first, shape[1], axis=1), least)

    def mostly(self, wanted: Codes, logit: tuple[float, float], share: float) -> Codes:
        """The wanted category with its probability, else one of the others, with equal probabilities."""
        count, random = self.tasks.count, self.random
        if count == 2:
            middle, half = logit
            astray = logistic(random, wanted.shape) + random.uniform(-half, half, wanted.shape) + middle <= 0
        else:
            astray = random.random(wanted.shape) >= share
        answers = wanted.copy()
        others = random.integers(1, count, int(astray.sum()), dtype=np.int8)
        answers[astray] = (wanted[astray] + others) % count
        return answers

    def primary(self, wanted: Codes, least: int) -> Codes:
        """Answers of workers with a favourite, drawn again if it never comes `least` times in a row."""
        answers, short = wanted.copy(), np.arange(len(wanted))
        for _ in range(1 + MOST_ROUNDS):
            favourite = wanted[short]
            answers[short] = self.mostly(favourite, self.settings.primary_logit, self.settings.primary_share)
            short = short[runs_of(answers[short] == favourite) < least]
            if not short.size:
                return answers
        raise SimulateError(Message("crowd.long_run", {"run": least, "trials": answers.shape[1]}))


def runs_of(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The length of the longest run of marked trials in each row."""
    longest = np.zeros(len(marked), dtype=np.int64)
    current = np.zeros(len(marked), dtype=np.int64)
    for trial in range(marked.shape[1]):
        current = (current + 1) * marked[:, trial]
        np.maximum(longest, current, out=longest)
    return longest
