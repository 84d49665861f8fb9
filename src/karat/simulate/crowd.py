"""A crowd as judgments: tasks with a truth, answered by workers whose behaviour is known.

The answers are those of `workers`, the tasks those of `tasks`. Response times are log-normal: credible workers take
about 3.3 seconds, the others about half as long, each at a pace of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karat.judgments import Judgments
from karat.judgments.checks import Checked
from karat.judgments.scales import Binary, Nominal, Ordinal
from karat.messages import Message
from karat.simulate.errors import SimulateError
from karat.simulate.marked import SIMULATED
from karat.simulate.tasks import Codes, draw_tasks
from karat.simulate.workers import CREDIBLE, HALFWAY, KINDS, Decision, WorkerSettings, worker_answers

NOBODY: Mapping[str, int] = MappingProxyType({})
LOG_SECONDS = {True: 1.2, False: 0.5}
"""The logarithm of the usual time, of credible workers and of others."""
PACE, SPREAD = 0.3, 0.4
"""How much log times differ between workers, and between the trials of one."""


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
    """Judgments of a crowd; `spammers` says how many workers are of which kind, everybody else is credible.

    The kinds are primary choice, repeated pattern and random guessing, and each of them with "halfway" before it, for
    workers who are credible until trial `turn` (by default until half of the trials are done). The truth is in the
    column expected, the behaviour in that of the participants; spammers have the first names. `shuffled` gives every
    worker an order of tasks of their own. The same seed gives the same crowd.

    >>> judgments = crowd(50, 40, {"primary choice": 3, "halfway random guessing": 2}, seed=7)
    >>> len(judgments), judgments.participants["behaviour"].unique(maintain_order=True).to_list()
    (2000, ['primary choice', 'halfway random guessing', 'credible'])
    """
    kinds = _kinds(workers, spammers)
    used = scale or Binary()
    random = np.random.default_rng(seed)
    drawn = draw_tasks(tasks, len(used.levels), ordered=not isinstance(used, Nominal), balance=balance, seed=random)
    order = np.broadcast_to(np.arange(tasks, dtype=np.int32), (workers, tasks))
    if shuffled:
        order = random.permuted(order, axis=1)
    answers = np.empty((workers, tasks), dtype=np.int8)
    start = 0
    for kind, count in kinds.items():
        part = slice(start, start + count)
        answers[part] = worker_answers(
            kind, count, drawn, order[part], decision=decision, turn=turn, settings=settings, seed=random
        )
        start += count
    names = _names("w", workers)
    behaviours = [kind for kind, count in kinds.items() for _ in range(count)]
    seconds = _seconds(behaviours, tasks, random)
    frame = _frame(names, order, answers, drawn.truth, used, seconds)
    people = pl.DataFrame({"participant": names, "behaviour": behaviours, "source": SIMULATED})
    # Made as the checks would have it: they would take longer than the simulation.
    return Judgments.from_checked(Checked(frame), {"": used}, people)


def _kinds(workers: int, spammers: Mapping[str, int]) -> dict[str, int]:
    known = (*KINDS[1:], *HALFWAY)
    for kind, count in spammers.items():
        if kind not in known:
            raise SimulateError(Message("crowd.spammers", {"kind": kind, "known": list(known)}))
        if count < 0:
            raise SimulateError(Message("crowd.negative", {"kind": kind, "n": count}))
    left = workers - sum(spammers.values())
    if left < 0 or workers < 1:
        raise SimulateError(Message("crowd.too_many_spammers", {"n": sum(spammers.values()), "workers": workers}))
    return {kind: count for kind, count in {**spammers, CREDIBLE: left}.items() if count}


def _names(letter: str, count: int) -> list[str]:
    width = max(3, len(str(count)))
    return [f"{letter}{number:0{width}d}" for number in range(1, count + 1)]


def _seconds(behaviours: list[str], tasks: int, random: np.random.Generator) -> NDArray[np.float64]:
    pace = np.array([LOG_SECONDS[kind == CREDIBLE] for kind in behaviours]) + random.normal(0, PACE, len(behaviours))
    log_seconds = random.standard_normal((len(behaviours), tasks), dtype=np.float32) * SPREAD + pace[:, None]
    seconds: NDArray[np.float64] = np.exp(log_seconds).round(3)
    return seconds


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
