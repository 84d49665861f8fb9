"""Response times: log-normal by item function, participant and behaviour.

    log seconds = function + participant + residual,     participant ~ N(0, .24), residual ~ N(0, .29)

One trial in a hundred is interrupted and takes eight times as long. Those who rush take less than a second; dawdlers
pause in every eighth trial; clever spammers take about a second, but at least three times between 20 and 60.
Medians and deviations are about those of the ratings that Pieper, Börner and Kiss published; other tasks are faster or
slower by the ratio of their usual times.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from karat.types import Floats

LOG_SECONDS = {
    "practice": 2.4, "calibration": 2.23, "test": 2.14, "filler": 2.04, "control": 1.95, "attention": 2.09,
}  # fmt: skip
RATING_SECONDS = 8.8
"""What `study.tasks` gives for a rating on the whole, in which the times above are meant."""
PACE, RESIDUAL = 0.24, 0.29
INTERRUPTED, LONGER = 0.01, 8.0
SHARE_OF_TIME = {"guesser": 0.7, "straight-liner": 0.5}
PAUSES = 0.125
FEWEST_PAUSES, PAUSE_SHARE = 3, 0.06


def seconds(
    functions: Sequence[str], people: NDArray[np.int64], behaviours: Sequence[str], pace: Floats, usual: float,
    random: np.random.Generator,
) -> Floats:  # fmt: skip
    """The time of each trial, given its function and the number of its participant.

    `behaviours` and `pace` have an entry for each participant; `usual` is how long a trial of the task takes.

    >>> taken = seconds(["test"] * 4, np.array([0, 0, 1, 1]), ["earnest", "rusher"], np.zeros(2), 8.8,
    ...                 np.random.default_rng(1))
    >>> bool(taken[:2].min() > 1 > taken[2:].max())
    True
    """
    count = len(functions)
    log_seconds = np.array([LOG_SECONDS[function] for function in functions]) + np.log(usual / RATING_SECONDS)
    taken = np.exp(log_seconds + pace[people] + random.normal(0, RESIDUAL, count))
    taken *= np.where(random.random(count) < INTERRUPTED, LONGER, 1.0)
    behaviour = np.array(behaviours)[people]
    for name, share in SHARE_OF_TIME.items():
        taken[behaviour == name] *= share
    pausing = (behaviour == "dawdler") & (random.random(count) < PAUSES)
    taken[pausing] *= random.uniform(LONGER, 3 * LONGER, int(pausing.sum()))
    hurried = np.isin(behaviour, ["rusher", "clever spammer"])
    taken[hurried] = random.uniform(0.35, 0.9, int(hurried.sum()))
    for person in np.flatnonzero(np.array(behaviours) == "clever spammer"):
        own = np.flatnonzero(people == person)
        pauses = min(len(own), max(FEWEST_PAUSES, round(PAUSE_SHARE * len(own))))
        taken[own] += 0.3
        taken[random.choice(own, pauses, replace=False)] = random.uniform(20, 60, pauses)
    rounded: Floats = taken.round(3)
    return rounded
