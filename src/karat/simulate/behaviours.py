"""The behaviours of participants, their shares, and their response times.

Response times are log-normal by item function, participant and behaviour,

    log seconds = function + participant + residual,     participant ~ N(0, .24), residual ~ N(0, .29).

One trial in a hundred is interrupted and takes eight times as long. Rushers take less than a second; dawdlers pause in
every eighth trial; clever spammers take about a second, but at least three times between 20 and 60. Medians and
deviations are about those of the ratings of Pieper, Börner and Kiss; other tasks are faster or slower by the ratio of
their usual times.

All simulations share their error class and the mark of simulated participants, whose `source` is `simulated`. The mark
is in the table of participants, in every file and format, so that it survives CSV and Parquet. It stays even if the
column `behaviour` is removed before data are given to students.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.errors import KaratError, counted
from karat.judgments.columns import unknown_name
from karat.messages import Message
from karat.types import Floats

ATTENTIVE = "attentive"
MINORITY = "minority dialect"
BEHAVIOURS = {
    ATTENTIVE: "judges every trial",
    MINORITY: "judges every trial, but consistently prefers the opposite in part of the test items",
    "dawdler": "judges every trial, with long pauses in many of them",
    "drop-out": "judges every trial, but stops before the end",
    "guesser": "answers at random, a little faster than others",
    "straight-liner": "gives one answer throughout",
    "rusher": "answers at random in less than a second",
    "clever spammer": "answers at random in about a second, with a few long pauses that make the total time look right",
}
"""The behaviours with their descriptions."""


def counted_behaviours(counts: Mapping[str, int]) -> str:
    """The numbers of participants by behaviour, in words.

    >>> counted_behaviours({"attentive": 30, "guesser": 2, "drop-out": 1})
    '30 attentive, 2 guessers, 1 drop-out'
    """
    described = (ATTENTIVE, MINORITY)
    return ", ".join(
        f"{count:,} {name}" if name in described else counted(count, name) for name, count in counts.items()
    )


JUDGES = (ATTENTIVE, MINORITY, "dawdler", "drop-out")
"""The behaviours with answers that depend on the stimuli."""
USUAL: Mapping[str, float] = {
    ATTENTIVE: 0.85, "guesser": 0.04, "rusher": 0.04, "straight-liner": 0.03, "clever spammer": 0.02, "drop-out": 0.02,
}  # fmt: skip


def read_shares(text: str) -> dict[str, float]:
    """The shares in a text such as `attentive=0.9,guesser=0.1`."""
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = (word.strip() for word in part.partition("="))
        if name in shares:
            raise SimulateError(Message("behaviours.share_twice", {"name": name}))
        try:
            shares[name] = float(share)
        except ValueError:
            raise SimulateError(Message("behaviours.no_share", {"text": part.strip()})) from None
    return shares


def check_shares(shares: Mapping[str, float]) -> dict[str, float]:
    """The shares of all behaviours that occur; other participants are attentive."""
    for name, share in shares.items():
        if name not in BEHAVIOURS:
            raise SimulateError(unknown_name("behaviours.unknown", name, list(BEHAVIOURS)))
        if not 0 <= share <= 1:
            raise SimulateError(Message("behaviours.share", {"name": name, "value": share}))
    total = sum(shares.values())
    if total > 1 + 1e-9 or (ATTENTIVE in shares and total < 1 - 1e-9):
        raise SimulateError(Message("behaviours.total", {"total": total, "name": ATTENTIVE}))
    rest = {} if ATTENTIVE in shares else {ATTENTIVE: 1 - total}
    return {name: share for name, share in {**rest, **shares}.items() if share > 0}


def allot(shares: Mapping[str, float], participants: int, random: np.random.Generator) -> list[str]:
    """The behaviour of each participant, in random order and in the numbers of the shares.

    Remaining participants get the behaviours with the largest remainders.
    """
    checked = check_shares(shares)
    exact = {name: share * participants for name, share in checked.items()}
    counts = {name: int(number + 1e-9) for name, number in exact.items()}
    by_remainder = sorted(exact, key=lambda name: counts[name] - exact[name])
    for name in by_remainder[: participants - sum(counts.values())]:
        counts[name] += 1
    behaviours = [name for name, count in counts.items() for _ in range(count)]
    random.shuffle(behaviours)
    return behaviours


LOG_SECONDS = {
    "practice": 2.4, "calibration": 2.23, "test": 2.14, "filler": 2.04, "control": 1.95, "attention": 2.09,
}  # fmt: skip
RATING_SECONDS = 8.8
"""The seconds of a rating in `study.tasks`, to which the times above refer."""
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

    `behaviours` and `pace` have an entry per participant; `usual` is the usual time of a trial of the task.
    """
    count = len(functions)
    log_seconds = np.array([LOG_SECONDS[function] for function in functions]) + np.log(usual / RATING_SECONDS)
    times = np.exp(log_seconds + pace[people] + random.normal(0, RESIDUAL, count))
    times *= np.where(random.random(count) < INTERRUPTED, LONGER, 1.0)
    behaviour = np.array(behaviours)[people]
    for name, share in SHARE_OF_TIME.items():
        times[behaviour == name] *= share
    pausing = (behaviour == "dawdler") & (random.random(count) < PAUSES)
    times[pausing] *= random.uniform(LONGER, 3 * LONGER, int(pausing.sum()))
    hurried = np.isin(behaviour, ["rusher", "clever spammer"])
    times[hurried] = random.uniform(0.35, 0.9, int(hurried.sum()))
    for person in np.flatnonzero(np.array(behaviours) == "clever spammer"):
        trials = np.flatnonzero(people == person)
        pauses = min(len(trials), max(FEWEST_PAUSES, round(PAUSE_SHARE * len(trials))))
        times[trials] += 0.3
        times[random.choice(trials, pauses, replace=False)] = random.uniform(20, 60, pauses)
    rounded: Floats = times.round(3)
    return rounded


SIMULATED = "simulated"


def simulated(people: pl.DataFrame) -> int:
    """The number of simulated participants."""
    return int((people["source"].cast(pl.String) == SIMULATED).sum()) if "source" in people.columns else 0


class SimulateError(KaratError, ValueError):
    """Settings that cannot be simulated."""
