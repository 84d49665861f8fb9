"""Tasks with a truth: what there is to find out for the workers of a crowd.

Every task has a latent effect u ~ N(0, 6); the truth is the category in which it falls. With two categories the cut is
at zero, with more the cuts are at the quantiles of the effects themselves, so that every category is as frequent (Ba,
Mancenido, Chiou and Pan, simulation procedure and appendix B). With `balance`, the cuts are where they must be for the
shares that are asked for. Categories without an order are dealt out at random after the cutting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.messages import Message
from karat.simulate.errors import SimulateError
from karat.types import Floats

Codes = NDArray[np.int8]
VARIANCE = 6.0


@dataclass(frozen=True)
class Tasks:
    """The latent effects of tasks, the cuts between categories, and which category each interval between cuts is."""

    effects: Floats
    cuts: Floats
    labels: Codes

    @property
    def truth(self) -> Codes:
        """The category of each task, from 0."""
        return self.categories(self.effects)

    @property
    def count(self) -> int:
        """How many categories there are."""
        return len(self.labels)

    def categories(self, values: Floats) -> Codes:
        """The categories in which latent values fall."""
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
    """Tasks with `categories` possible answers; `balance` gives the share of tasks that belong in each.

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
