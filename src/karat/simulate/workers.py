"""Workers of a crowd: how the credible answer, and three ways of not answering in earnest.

With task effect u, worker effect w ~ U(-a, a) and cell effect c ~ U(-a, a), a credible worker has the latent value
u + w + c. It decides the answer either by a draw,

    yes with probability 1 / (1 + exp(-(u + w + c))),      and, with more categories, the category of u + w + c + e,
                                                           e standard logistic,

as the paper's model says, or by its sign (the category of u + w + c), as the authors' program does. a is 1.5 for two
categories and .4 for more. The others do not look at the task:

- primary choice: a favourite category, in two categories with a logit of 1.4 + U(-.3, .3), kept only if the favourite
  comes at least `longest_run` times in a row somewhere; with more categories with probability .88;
- repeated pattern: the categories in turn from one of them on, in two categories with a logit of 2 + U(-.1, .1) (.88;
  the paper's text says .8), with more with probability .96;
- random guessing: every category is as probable.

Those who go astray halfway are credible before a trial and one of the three from it on (appendix C).

Source: Ba, Mancenido, Chiou and Pan, simulation procedure, appendices B and C; constants as in the authors' program.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, pi, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from karat.messages import Message
from karat.simulate.errors import SimulateError
from karat.simulate.tasks import Codes, Tasks
from karat.types import Floats

Decision = Literal["draw", "sign"]
CREDIBLE, PRIMARY, PATTERN, GUESSING = "credible", "primary choice", "repeated pattern", "random guessing"
KINDS = (CREDIBLE, PRIMARY, PATTERN, GUESSING)
HALFWAY = tuple(f"halfway {kind}" for kind in KINDS[1:])
MOST_ROUNDS = 2_000
"""Redraws of primary choosers before their longest run is called out of reach."""


@dataclass(frozen=True)
class WorkerSettings:
    """How far workers stray; None stands for the published value, which depends on the number of categories."""

    spread: float | None = None
    """a: half the width of the effects of credible workers and of their cells."""
    primary_logit: tuple[float, float] = (1.4, 0.3)
    primary_share: float = 0.88
    run: int | None = None
    """How often the favourite must come in a row; 0 for no such rule. By default `longest_run` for two categories."""
    pattern_logit: tuple[float, float] = (2.0, 0.1)
    pattern_share: float = 0.96


def longest_run(tasks: int) -> int:
    """The run that shows a favourite of two answers: the longest expected of a fair coin and two standard deviations.

    R = log2(n / 2) with the standard deviation sqrt(pi^2 / (6 ln^2 2) + 1/12) = 1.873 (Schilling 1990), both rounded up
    as in the paper.

    >>> longest_run(80)
    10
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

    `order` says which task stands at each trial, for all workers or for each (workers x trials); without it, tasks come
    as they are. `turn` is the trial (from 1) at which those who go astray halfway do so; by default the one after half.

    >>> from karat.simulate.tasks import draw_tasks
    >>> tasks = draw_tasks(80, seed=1)
    >>> answers = worker_answers("credible", 1000, tasks, decision="sign")
    >>> answers.shape, bool(0.75 < (answers == tasks.truth).mean() < 0.9)
    ((1000, 80), True)
    """
    if kind not in (*KINDS, *HALFWAY):
        raise SimulateError(Message("crowd.workers", {"kind": kind, "known": [*KINDS, *HALFWAY]}))
    if decision not in ("draw", "sign"):
        raise SimulateError(Message("crowd.decision", {"value": decision}))
    random = np.random.default_rng(seed)
    stated = settings or WorkerSettings()
    effects = tasks.effects[np.arange(len(tasks.effects)) if order is None else order]
    shape = (workers, effects.shape[-1])
    if kind == CREDIBLE:
        return _credible(shape, effects, tasks, decision, stated, random)
    answers = _astray(kind.removeprefix("halfway "), shape, tasks.count, stated, random)
    if kind in HALFWAY:
        before = shape[1] // 2 if turn is None else turn - 1
        if not 0 <= before <= shape[1]:
            raise SimulateError(Message("crowd.turn", {"most": shape[1] + 1, "value": turn}))
        part = effects[..., :before]
        answers[:, :before] = _credible((workers, before), part, tasks, decision, stated, random)
    return answers


def _credible(
    shape: tuple[int, int], effects: Floats, tasks: Tasks, decision: Decision, settings: WorkerSettings,
    random: np.random.Generator,
) -> Codes:  # fmt: skip
    spread = settings.spread if settings.spread is not None else 1.5 if tasks.count == 2 else 0.4
    latent = random.uniform(-spread, spread, shape)
    latent += random.uniform(-spread, spread, (shape[0], 1))
    latent += effects
    if decision == "draw":
        latent += logistic(random, shape)
    return tasks.categories(latent)


def _astray(
    kind: str, shape: tuple[int, int], count: int, settings: WorkerSettings, random: np.random.Generator
) -> Codes:
    if kind == GUESSING:
        return random.integers(0, count, shape, dtype=np.int8)
    first = random.integers(0, count, (shape[0], 1), dtype=np.int8)
    if kind == PATTERN:
        wanted = ((np.arange(shape[1]) + first) % count).astype(np.int8)
        return _mostly(wanted, count, settings.pattern_logit, settings.pattern_share, random)
    wanted = np.repeat(first, shape[1], axis=1)
    answers = _mostly(wanted, count, settings.primary_logit, settings.primary_share, random)
    least = settings.run if settings.run is not None else longest_run(shape[1]) if count == 2 else 0
    return _with_runs(answers, wanted, count, least, settings, random)


def _mostly(wanted: Codes, count: int, logit: tuple[float, float], share: float, random: np.random.Generator) -> Codes:
    """The wanted category with its probability, else one of the others, each as often."""
    if count == 2:
        middle, half = logit
        astray = logistic(random, wanted.shape) + random.uniform(-half, half, wanted.shape) + middle <= 0
    else:
        astray = random.random(wanted.shape) >= share
    answers = wanted.copy()
    others = random.integers(1, count, int(astray.sum()), dtype=np.int8)
    answers[astray] = (wanted[astray] + others) % count
    return answers


def _with_runs(
    answers: Codes, wanted: Codes, count: int, least: int, settings: WorkerSettings, random: np.random.Generator
) -> Codes:
    """Redraw the answers of those whose favourite never comes `least` times in a row."""
    short = np.flatnonzero(runs_of(answers == wanted) < least)
    for _ in range(MOST_ROUNDS):
        if not short.size:
            return answers
        favourite = wanted[short]
        answers[short] = _mostly(favourite, count, settings.primary_logit, settings.primary_share, random)
        short = short[runs_of(answers[short] == favourite) < least]
    raise SimulateError(Message("crowd.long_run", {"run": least, "trials": answers.shape[1]}))


def runs_of(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The length of the longest run of marked trials in each row.

    >>> runs_of(np.array([[True, True, False, True], [False, False, False, False]])).tolist()
    [2, 0]
    """
    longest = np.zeros(len(marked), dtype=np.int64)
    current = np.zeros(len(marked), dtype=np.int64)
    for trial in range(marked.shape[1]):
        current = (current + 1) * marked[:, trial]
        np.maximum(longest, current, out=longest)
    return longest


def logistic(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Standard logistic noise, by inversion, which is faster than the generator's own.

    >>> logistic(np.random.default_rng(1), (2, 3)).shape
    (2, 3)
    """
    uniform = random.random(shape)
    # A uniform number may be exactly zero, but never one.
    np.maximum(uniform, np.finfo(float).tiny, out=uniform)
    noise: Floats = np.log(uniform / (1 - uniform))
    return noise
