"""Crossed random intercepts of answers that lie in parts of workers, on disk or on several machines.

The model, the search and the result are those of `fit_crossed`; the likelihood is made of sums over the parts
(`parted_objective`), each Newton step one map over them. No part needs another, and none is kept: between two steps
only the effects of the workers, one number each, and the tasks' system are in memory. The tasks are the smaller side,
at most 10,000 of them. Where there are more, the model is fitted to a sample of workers whose tasks stay under that
limit (`parted_answers`), which a note says; the profile interval of the share (`share`) is then that of the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from karat.messages import Message
from karat.models.glrm.families import FamilyName
from karat.models.glrm.fit import About, Fit, conclude
from karat.models.glrm.optimise import BESIDE_ZERO, NEARLY_ZERO, solve
from karat.models.glrm.parted_answers import (
    AnswerPart,
    Described,
    Map,
    Placed,
    Sample,
    View,
    describe,
    in_turn,
    lowest,
    merged,
    sample_of,
)
from karat.models.glrm.parted_crew import Crew, Passes
from karat.models.glrm.parted_objective import Keep, PartedObjective
from karat.types import Floats

TASKS = 10_000
"""The most tasks whose system is solved."""
PASSES = 3_000
"""How often a fit may go through the answers."""


def fit_crossed_in_parts(
    parts: Sequence[AnswerPart],
    mapper: Map = in_turn,
    *,
    family: FamilyName = "binary",
    start: ArrayLike | None = None,
    tasks: int = TASKS,
    seed: int = 1,
    most: int = PASSES,
    told: Passes | None = None,
    keep: Keep | None = None,
) -> Fit:
    """Fit crossed random intercepts for workers and tasks to binary or ordered answers in parts of workers.

    `mapper(function, shared, tasks)` gives what the function returns for what is shared and each task, in the order of
    tasks; it may spread them over processes or machines. Where there are more than `tasks` tasks, `seed` draws the
    sample. `told` hears after each pass how often the answers were gone through; after `most` passes the fit gives up.
    `keep` may keep evaluations, for these answers alone: a fit that was broken off then goes on where it was.

    >>> from karat.models.glrm.parted_answers import PartAnswers
    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    >>> eta = random.normal(0, 1, 30)[worker] + random.normal(0, 2, 20)[task]
    >>> yes, (one, other) = eta + random.logistic(size=600) > 0, (slice(400), slice(400, None))
    >>> first, second = (PartAnswers(yes[at], worker[at] - worker[at][0], task[at]) for at in (one, other))
    >>> fit = fit_crossed_in_parts([first, second])
    >>> fit.converged, {name: round(value, 2) for name, value in fit.variances.items()}
    (True, {'worker': 0.88, 'task': 3.76})
    """
    if family not in ("binary", "ordinal"):
        raise ValueError(f"Answers in parts are binary or ordinal; {family} answers are fitted in memory.")
    firsts = np.cumsum([0, *(part.workers for part in parts)])
    placed = [Placed(part, int(first)) for part, first in zip(parts, firsts[:-1], strict=True) if part.workers]
    if not placed:
        raise ValueError(Message("models.no_answers"))
    every = mapper(describe, (family, None), placed)
    about, sample = merged(every, family), None
    if len(about.tasks) > tasks:
        sample = sample_of(mapper(lowest, seed, placed), seed, tasks)
        every = mapper(describe, (family, sample), placed)
        placed = [one for one, known in zip(placed, every, strict=True) if len(known.workers)]
        every = [known for known in every if len(known.workers)]
        if not every:
            raise ValueError(Message("models.sample_tasks", {"tasks": tasks}))
    whole, about = about, merged(every, family)
    view = View(family, about.tasks, about.categories, sample)
    sizes = tuple(len(known.workers) for known in every)
    objective = PartedObjective(Crew(placed, mapper, most, told), view, len(about.size), sizes)
    objective = objective if keep is None else replace(objective, keep=keep)
    optimum, convergence = solve(objective, _start(objective, about, start), objective.zero_modes())
    known = About(
        about.workers, about.tasks, about.categories, int(about.counts.sum()), about.single, about.size,
        np.searchsorted(about.workers, about.same),
    )  # fmt: skip
    fit = conclude(family, known, objective, optimum, convergence)
    return fit if sample is None else replace(fit, notes=(_sampled(whole, about, sample, tasks), *fit.notes))


def _start(objective: PartedObjective, about: Described, start: ArrayLike | None) -> Floats:
    """Deviations of one, and thresholds that make the shares of the categories right; or what was asked for."""
    share = np.cumsum(about.counts)[:-1] / about.counts.sum()
    psi = np.log(share / (1 - share))[: objective.thresholds]
    first = (
        np.concatenate([np.zeros(objective.columns), psi, np.ones(2)])
        if start is None
        else np.array(start, dtype=np.float64)
    )
    if len(first) != objective.parameters:
        raise ValueError(f"start must have {objective.parameters} numbers, got {len(first)}.")
    deviations = first[-2:]
    deviations[np.abs(deviations) < NEARLY_ZERO] = BESIDE_ZERO  # at zero the slope is zero by symmetry
    return first


def _sampled(whole: Described, about: Described, sample: Sample, limit: int) -> Message:
    values = {
        "all_tasks": len(whole.tasks), "limit": limit, "n": int(about.counts.sum()), "workers": len(about.workers),
        "all_workers": len(whole.workers), "seed": sample.seed, "tasks": len(about.tasks),
    }  # fmt: skip
    return Message("fit.sampled", values)
