"""Crossed random intercepts for answers stored in parts, on disk or on several machines.

Each part has all answers of some workers. The model, the search and the result are those of `fit_crossed`; the
likelihood is computed from sums over the parts (`objective`), with one map over them per Newton step. Parts are
independent and are not stored: between two steps only the effects of the workers, one number each, and the tasks'
system are in memory. The tasks must be the smaller side, at most 10,000 of them. If there are more, the model is fitted
to a sample of workers with no more tasks than that (`answers`), and a note says so; the profile interval of the share
(`share`) is then that of the sample.

The usual coefficients of agreement (see `karat.models.agreement` for formulas) are sums over parts too, in one pass.
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
    MOST_NUMBERS,
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
    merge,
    sample_of,
)
from karat.models.glrm.parts.objective import Keep, PartedObjective
from karat.types import Floats, Ints

TASKS = 10_000
"""The largest number of tasks in a model."""
PASSES = 3_000
"""The largest number of passes of a fit through the answers."""


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
    held: int = MOST_NUMBERS,
) -> Fit:
    """Fit crossed random intercepts for workers and tasks to binary or ordered answers stored in parts.

    `mapper(function, shared, tasks)` returns `function(shared, task)` for each task, in the order of `tasks`; it may
    use several processes or machines. If there are more than `tasks` tasks, workers are sampled with `seed`. `passes`
    is called with the number of passes through the answers after each of them; after `most` passes the fit raises
    PassesError. `keep` can store evaluations, for these answers only, so that an interrupted fit continues where it
    stopped. The sums of parts that are in memory at the same time have at most `held` numbers.

    >>> from karat.models.glrm.parts.answers import PartAnswers
    >>> random = np.random.default_rng(1)
    >>> worker, task = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    >>> eta = random.normal(0, 1, 30)[worker] + random.normal(0, 2, 20)[task]
    >>> yes, rows = eta + random.logistic(size=600) > 0, (slice(400), slice(400, None))
    >>> first, second = (PartAnswers(yes[at], worker[at] - worker[at][0], task[at]) for at in rows)
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
    summaries = mapper(describe, (family, None), placed)
    total, sample = merge(summaries, family), None
    if len(total.tasks) > tasks:
        sample = sample_of(mapper(lowest, seed, placed), seed, tasks)
        summaries = mapper(describe, (family, sample), placed)
        placed = [part for part, summary in zip(placed, summaries, strict=True) if len(summary.workers)]
        summaries = [summary for summary in summaries if len(summary.workers)]
        if not summaries:
            raise ValueError(Message("models.sample_tasks", {"tasks": tasks}))
    population, total = total, merge(summaries, family)
    view = View(family, total.tasks, total.categories, sample)
    sizes = tuple(len(part.workers) for part in summaries)
    objective = PartedObjective(Crew(placed, mapper, most, passes, held), view, len(total.size), sizes)
    objective = objective if keep is None else replace(objective, keep=keep)
    optimum, convergence = solve(objective, start_values(objective, total, start), objective.zero_modes())
    fit = conclude(family, total, objective, optimum, convergence)
    if sample is None:
        return fit
    values = {
        "all_tasks": len(population.tasks), "limit": tasks, "n": int(total.counts.sum()), "workers": len(total.workers),
        "all_workers": len(population.workers), "seed": sample.seed, "tasks": len(total.tasks),
    }  # fmt: skip
    return replace(fit, notes=(Message("fit.sampled", values), *fit.notes))


@dataclass
class _Sums(CrossedSquares, Sums):
    counts: Ints
    """Tasks x categories."""


def agreement_in_parts(fit: Fit) -> tuple[float, float, float]:
    """Fleiss' kappa, ICC(A,1) and ICC(C,1) of the workers of a model that was fitted in parts."""
    objective = fit.objective
    if not isinstance(objective, PartedObjective):
        raise ValueError("The model was not fitted in parts; see karat.models.agreement.")
    view, crew = objective.view, objective.crew
    sums: _Sums = crew.total(_sums, view, crew.parts, len(view.tasks) ** 2)
    number, values = sums.counts.sum(axis=1), _centred_numbers(view)
    # A mean other than zero cancels in every difference of sums of squares.
    squares, between = float(sums.counts.sum(axis=0) @ values**2), float(np.sum((sums.counts @ values) ** 2 / number))
    variances = sums.components(squares, between, len(fit.workers), number)
    return coefficients(kappa_of_counts(sums.counts), variances)


def _centred_numbers(view: View) -> Floats:
    """The numbers of the categories minus their mean, so that subtracting means loses little precision."""
    numbers = view.categories.astype(np.float64)
    return np.asarray(numbers - numbers.mean())


def _sums(view: View, placed: Placed) -> _Sums:
    answers, _ = placed.read(view.sample)
    task, category = np.searchsorted(view.tasks, answers.task), np.searchsorted(view.categories, answers.response)
    tasks, categories = len(view.tasks), len(view.categories)
    squares = CrossedSquares.of(answers.worker, task, _centred_numbers(view)[category], tasks)
    counts = np.bincount(task * categories + category, minlength=tasks * categories).reshape(tasks, categories)
    return _Sums(**vars(squares), counts=counts)
