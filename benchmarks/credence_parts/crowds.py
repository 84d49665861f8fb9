"""Crowds as in the third paper's simulation: two answers or five, with and without an order, and every kind of spammer.

The oracle knows the effects of the tasks, the population of credible workers, how each kind of spammer answers, and the
trial of the change. It sums over what is drawn anew for each worker: the worker's effect w and the effects c of cells,

    P(answers | credible) = mean over w of  prod over trials of  mean over c of  P(category | u + w + c),

and, of spammers, over favourite and first answers. Full-time primary choosers of two answers are drawn again until
their favourite comes often enough in a row, which the oracle knows, too.

Nobody can know the kind and the trial of the change beforehand. A second, blind oracle knows the effects of the tasks
and the populations, but sums over all kinds and over all changes: half of the spammers are full-time, the others change
at any trial. Credence can be a little ahead of it, because it learns from the crowd which kinds there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from karat.simulate.crowd import Tasks, WorkerSettings, draw_tasks, longest_run, runs_of, worker_answers

from .scenes import Floats, Ints, Scene, generator, judgments_of, log_sum

GUESSING, PRIMARY, PATTERN = "random guessing", "primary choice", "repeated pattern"
KINDS = (GUESSING, PRIMARY, PATTERN)
CREDIBLE = "cooperative"
GRID = 31
FEWEST_AFTER = 3
"""Trials that are left after the last change that the blind oracle thinks of."""


@dataclass(frozen=True)
class Crowd:
    """A scenario: so many workers, a share of them spammers of one kind, from trial `turn` on (1: full-time)."""

    kind: str
    share: float = 0.1
    turn: int = 1
    trials: int = 80
    workers: int = 120
    balance: float = 0.5
    """The share of tasks whose truth is the second answer; .5 leaves it to chance."""
    levels: int = 2
    ordered: bool = True

    @property
    def name(self) -> str:
        """What the tables call it."""
        scale = "" if self.levels == 2 else f"{self.levels} {'points' if self.ordered else 'labels'}, "
        since = "" if self.turn == 1 else f" from trial {self.turn}"
        odd = "" if self.balance == 0.5 else f", {100 * self.balance:.0f} % yes"
        return f"{scale}{self.kind}{since}, {self.trials} trials, {100 * self.share:.0f} %{odd}"

    @property
    def spammers(self) -> int:
        return round(self.share * self.workers)


def binary_crowds() -> list[Crowd]:
    """Two answers: shares, changes, balance and length are varied around 10 % of 120 workers and 80 trials."""
    shares = [Crowd(kind, share) for share in (0.05, 0.1, 0.2, 0.4) for kind in KINDS]
    changes = [Crowd(kind, turn=turn) for turn in (41, 61) for kind in KINDS]
    changes += [Crowd(kind, 0.4, turn=41) for kind in KINDS]
    uneven = [Crowd(kind, turn=turn, balance=0.85) for turn in (1, 41, 61) for kind in KINDS]
    lengths = [
        Crowd(kind, turn=turn, trials=trials)
        for trials in (20, 40, 200) for turn in (1, trials // 2 + 1) for kind in KINDS
    ]  # fmt: skip
    return shares + changes + uneven + lengths


def crowds_of_five() -> list[Crowd]:
    """Five ordered points and five labels (appendix B)."""
    return [
        Crowd(kind, turn=turn, levels=5, ordered=ordered)
        for ordered in (True, False) for turn in (1, 61) for kind in KINDS
    ]  # fmt: skip


def draw_crowd(scenario: Crowd, seed: int, oracle: bool = True) -> Scene:
    """One crowd of the scenario; spammers come first. The oracle of a large one takes memory and may be left out."""
    random = generator(scenario.name, seed)
    balance = None if scenario.balance == 0.5 else [1 - scenario.balance, scenario.balance]
    tasks = draw_tasks(scenario.trials, scenario.levels, ordered=scenario.ordered, balance=balance, seed=random)
    shape = (scenario.workers, scenario.trials)
    order = random.permuted(np.broadcast_to(np.arange(scenario.trials), shape), axis=1)
    many = scenario.spammers
    name = scenario.kind if scenario.turn == 1 else f"halfway {scenario.kind}"
    turn = None if scenario.turn == 1 else scenario.turn
    spam = worker_answers(name, many, tasks, order[:many], turn=turn, seed=random)
    rest = worker_answers("credible", shape[0] - many, tasks, order[many:], seed=random)
    answers = np.concatenate([spam, rest]).astype(np.int64)
    kinds = np.array([scenario.kind] * many + [CREDIBLE] * (shape[0] - many))
    judgments = judgments_of(order, answers, scenario.levels, scenario.ordered)
    if not oracle:
        return Scene(judgments, kinds)
    ratio = likelihood_ratio(tasks, order, answers, scenario.kind, scenario.turn)
    return Scene(judgments, kinds, {scenario.kind: ratio, "blind": blind_ratio(tasks, order, answers)})


def likelihood_ratio(tasks: Tasks, order: Ints, answers: Ints, kind: str, turn: int = 1) -> Floats:
    """The oracle: log P(answers | credible throughout) - log P(answers | of this kind from trial `turn` on)."""
    terms = log_credible(tasks, order, answers)
    before = turn - 1
    credible = log_sum(terms.sum(axis=1)) - np.log(GRID)
    until = log_sum(terms[:, :before].sum(axis=1)) - np.log(GRID)
    return credible - until - log_spammer(answers, tasks.count, kind, before)


def blind_ratio(tasks: Tasks, order: Ints, answers: Ints) -> Floats:
    """The same without a word on kind or change: both are summed over."""
    terms = log_credible(tasks, order, answers)
    trials = answers.shape[1]
    until = log_sum(np.cumsum(terms, axis=1)) - np.log(GRID)
    changes = range(1, trials - FEWEST_AFTER + 1)
    spam = []
    for kind in KINDS:
        at_once = log_spammer(answers, tasks.count, kind)
        later = [until[:, change - 1] + log_spammer(answers, tasks.count, kind, change) for change in changes]
        spam += [at_once, log_sum(np.stack(later, axis=-1)) - np.log(len(later))]
    return until[:, -1] - log_sum(np.stack(spam, axis=-1)) + np.log(len(spam))


def log_credible(tasks: Tasks, order: Ints, answers: Ints) -> Floats:
    """The log probability of each answer at each effect of the worker: workers x trials x grid."""
    spread = 1.5 if tasks.count == 2 else 0.4
    # Middles of equal parts of the interval, by which uniform effects are summed.
    grid = spread * ((np.arange(GRID) + 0.5) / GRID * 2 - 1)
    cuts = np.concatenate([[-np.inf], tasks.cuts, [np.inf]])
    interval = np.argsort(tasks.labels)[answers]
    latent = tasks.effects[order][..., None] + grid
    probability = np.zeros(latent.shape)
    for cell in grid:
        value = latent + cell
        probability += expit(cuts[interval + 1][..., None] - value) - expit(cuts[interval][..., None] - value)
    found: Floats = np.log(np.maximum(probability / GRID, 1e-300))
    return found


def log_spammer(answers: Ints, levels: int, kind: str, before: int = 0) -> Floats:
    """The log probability of the answers after the first `before` ones, by one who does not look."""
    rest = answers[:, before:]
    count = rest.shape[1]
    if kind == GUESSING:
        return np.full(len(rest), -count * np.log(levels))
    right = favoured(levels, kind)
    place = np.arange(before, before + count) if kind == PATTERN else np.zeros(count, dtype=np.int64)
    by_first = np.empty((len(rest), levels))
    for first in range(levels):
        wanted = rest == (place + first) % levels
        hits = wanted.sum(axis=1)
        by_first[:, first] = hits * np.log(right) + (count - hits) * np.log((1 - right) / (levels - 1))
        if kind == PRIMARY and levels == 2 and before == 0:
            by_first[runs_of(wanted) < longest_run(count), first] = -np.inf
    return log_sum(by_first) - np.log(levels)


def favoured(levels: int, kind: str) -> float:
    """How often primary choosers and repeaters give the answer that they want."""
    settings = WorkerSettings()
    if levels > 2:
        return settings.primary_share if kind == PRIMARY else settings.pattern_share
    middle, half = settings.primary_logit if kind == PRIMARY else settings.pattern_logit
    return float(expit(middle + np.linspace(-half, half, 101)).mean())
