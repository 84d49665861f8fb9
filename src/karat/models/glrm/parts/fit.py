"""Crossed random intercepts of answers that lie in parts of workers, on disk or on several machines.

The model, the search and the result are those of `fit_crossed`; the likelihood is made of sums over the parts
(`objective`), each Newton step one map over them. No part needs another, and none is kept: between two steps
only the effects of the workers, one number each, and the tasks' system are in memory. The tasks are the smaller side,
at most 10,000 of them. Where there are more, the model is fitted to a sample of workers whose tasks stay under that
limit (`answers`), which a note says; the profile interval of the share (`share`) is then that of the sample.

The usual coefficients of agreement (`karat.models.agreement` has the formulas) are sums over parts too, in one pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from karat.messages import Message
from karat.models.agreement import CrossedSquares, coefficients, kappa_of_counts
from karat.models.glrm.families import FamilyName
from karat.models.glrm.fit import Fit, conclude, start_values
from karat.models.glrm.optimise import solve
from karat.models.glrm.parts.answers import (
    HELD,
    AnswerPart,
    Crew,
    Map,
    Passes,
    Placed,
    Sums,
    View,
    describe,
    in_turn,
    lowest,
    merged,
    sample_of,
)
from karat.models.glrm.parts.objective import Keep, PartedObjective
from karat.types import Floats, Ints

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
    passes: Passes | None = None,
    keep: Keep | None = None,
    held: int = HELD,
) -> Fit:
    """Fit crossed random intercepts for workers and tasks to binary or ordered answers in parts of workers.

    `mapper(function, shared, tasks)` gives what the function returns for what is shared and each task, in the order of
    tasks; it may spread them over processes or machines. Where there are more than `tasks` tasks, `seed` draws the
    sample. `passes` hears after each pass how often the answers were gone through; after `most`
    passes the fit gives up. `keep` may keep evaluations, for these answers alone: a fit that was broken off then goes
    on where it was. Sums of parts are brought together as long as they have no more than `held` numbers in all.

    >>> from karat.models.glrm.parts.answers import PartAnswers
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
    objective = PartedObjective(Crew(placed, mapper, most, passes, held), view, len(about.size), sizes)
    objective = objective if keep is None else replace(objective, keep=keep)
    optimum, convergence = solve(objective, start_values(objective, about, start), objective.zero_modes())
    fit = conclude(family, about, objective, optimum, convergence)
    if sample is None:
        return fit
    values = {
        "all_tasks": len(whole.tasks), "limit": tasks, "n": int(about.counts.sum()), "workers": len(about.workers),
        "all_workers": len(whole.workers), "seed": sample.seed, "tasks": len(about.tasks),
    }  # fmt: skip
    return replace(fit, notes=(Message("fit.sampled", values), *fit.notes))


@dataclass
class _Sums(CrossedSquares, Sums):
    counts: Ints
    """Tasks x categories."""


def agreement_in_parts(fit: Fit) -> tuple[float, float, float]:
    """Fleiss' kappa, ICC(A,1) and ICC(C,1) of the workers whose answers a model was fitted to in parts."""
    objective = fit.objective
    if not isinstance(objective, PartedObjective):
        raise ValueError("The model was not fitted in parts; see karat.models.agreement.")
    view, crew = objective.view, objective.crew
    found: _Sums = crew.total(_sums, view, crew.parts, len(view.tasks) ** 2)
    number, values = found.counts.sum(axis=1), _about_middle(view)
    # A mean other than zero falls out of every difference of sums of squares.
    squares, between = float(found.counts.sum(axis=0) @ values**2), float(np.sum((found.counts @ values) ** 2 / number))
    variances = found.components(squares, between, len(fit.workers), number)
    return coefficients(kappa_of_counts(found.counts), variances)


def _about_middle(view: View) -> Floats:
    """The numbers of the categories, with zero amid them, so that little is lost when the mean is taken out."""
    numbers = view.categories.astype(np.float64)
    return np.asarray(numbers - numbers.mean())


def _sums(view: View, placed: Placed) -> _Sums:
    answers, _ = placed.read(view.sample)
    task, category = np.searchsorted(view.tasks, answers.task), np.searchsorted(view.categories, answers.response)
    tasks, kinds = len(view.tasks), len(view.categories)
    squares = CrossedSquares.of(answers.worker, task, _about_middle(view)[category], tasks)
    counts = np.bincount(task * kinds + category, minlength=tasks * kinds).reshape(tasks, kinds)
    return _Sums(**vars(squares), counts=counts)
