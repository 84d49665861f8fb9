"""Crossed random intercepts of answers that lie in parts of workers, on disk or on several machines.

The model, the search and the result are those of `fit_crossed`; the likelihood is made of sums over the parts
(`objective`), each Newton step one map over them. No part needs another, and none is kept: between two steps
only the effects of the workers, one number each, and the tasks' system are in memory. The tasks are the smaller side,
at most 10,000 of them. Where there are more, the model is fitted to a sample of workers whose tasks stay under that
limit (`answers`), which a note says; the profile interval of the share (`share`) is then that of the sample.

The usual coefficients of agreement (`karat.models.agreement` has the formulas) are sums over parts, in one pass.
Fleiss' kappa needs the counts of each task. The variances of items and raters need the joint reduction in the sum of
squares by both; the raters, who lie in the parts, are taken out of the normal equations of the items, where they leave
diag(n_i) - sum n_ij n_kj / n_j. That matrix is singular: the items of each set that shares no rater with another have
one mean too many. A constant added within each set takes its place, and changes nothing in what is looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from karat.messages import Message
from karat.models.agreement import kappa_of_counts, share_of
from karat.models.glrm.families import FamilyName
from karat.models.glrm.fit import About, Fit, conclude, off_zero
from karat.models.glrm.optimise import solve
from karat.models.glrm.parts.answers import (
    HELD,
    AnswerPart,
    Crew,
    Described,
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
from karat.models.glrm.schur import eliminated
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
    known = About(
        about.workers, about.tasks, about.categories, int(about.counts.sum()), about.single, about.size,
        np.searchsorted(about.workers, about.same),
    )  # fmt: skip
    fit = conclude(family, known, objective, optimum, convergence)
    if sample is None:
        return fit
    values = {
        "all_tasks": len(whole.tasks), "limit": tasks, "n": int(about.counts.sum()), "workers": len(about.workers),
        "all_workers": len(whole.workers), "seed": sample.seed, "tasks": len(about.tasks),
    }  # fmt: skip
    return replace(fit, notes=(Message("fit.sampled", values), *fit.notes))


def start_values(objective: PartedObjective, about: Described, start: ArrayLike | None) -> Floats:
    """Deviations of one, and thresholds that make the shares of the categories right; or what was asked for."""
    share = np.cumsum(about.counts)[:-1] / about.counts.sum()
    psi = np.log(share / (1 - share))[: objective.thresholds]
    first = (
        np.concatenate([np.zeros(objective.columns), psi, np.ones(2)])
        if start is None
        else np.array(start, dtype=np.float64)
    )
    return off_zero(objective, first)


@dataclass(frozen=True)
class PartedAgreement:
    """Fleiss' kappa, ICC(A,1) and ICC(C,1); not a number where it is not defined."""

    fleiss_kappa: float
    icc_agreement: float
    icc_consistency: float


@dataclass
class _Sums(Sums):
    counts: Ints
    """Tasks x categories."""
    by_rater: float
    """sum of the squared sums of each rater, divided by their number of answers."""
    right: Floats
    """Of each item: the answers minus the mean of the rater."""
    inner: Floats
    """sum over raters of n_ij n_kj / n_j."""
    cells_by_rater: float
    """sum of n_ij^2 / n_j."""
    cells_by_item: Floats
    """sum of n_ij^2 for each item."""


def agreement_in_parts(fit: Fit) -> PartedAgreement:
    """The agreement of the workers whose answers a model was fitted to in parts."""
    objective = fit.objective
    if not isinstance(objective, PartedObjective):
        raise ValueError("The model was not fitted in parts; see karat.models.agreement.")
    view, crew = objective.view, objective.crew
    found: _Sums = crew.total(_sums, view, crew.parts, len(view.tasks) ** 2)
    return PartedAgreement(kappa_of_counts(found.counts), *_correlations(found, _about_middle(view), fit))


def _about_middle(view: View) -> Floats:
    """The numbers of the categories, with zero amid them, so that little is lost when the mean is taken out."""
    numbers = view.categories.astype(np.float64)
    return np.asarray(numbers - numbers.mean())


def _sums(view: View, placed: Placed) -> _Sums:
    answers, _ = placed.read(view.sample)
    layout = view.objective(placed).layout
    task, category = np.searchsorted(view.tasks, answers.task), np.searchsorted(view.categories, answers.response)
    y = _about_middle(view)[category]
    tasks, kinds = len(view.tasks), len(view.categories)
    number = np.bincount(answers.worker).astype(np.float64)
    means = np.bincount(answers.worker, y) / number
    cells = layout.cells(layout.place(np.ones(len(y))))
    right: Floats = np.bincount(task, y - means[answers.worker], tasks).astype(np.float64)
    return _Sums(
        np.bincount(task * kinds + category, minlength=tasks * kinds).reshape(tasks, kinds), float((means**2) @ number),
        right, eliminated(layout.matrix(cells), number),
        float((layout.by_worker(cells**2) / number).sum()), layout.by_task(cells**2),
    )  # fmt: skip


def _correlations(found: _Sums, values: Floats, fit: Fit) -> tuple[float, float]:
    """ICC(A,1) and ICC(C,1), by Henderson's third method; the mean falls out of every difference of sums of squares."""
    items, raters, answers = len(fit.tasks), len(fit.workers), fit.answers
    by_item = found.counts.sum(axis=1)
    sets = joined_sets(found.inner)
    separate = int(sets.max()) + 1
    totals = found.counts @ values
    squares, by_items = float(found.counts.sum(axis=0) @ values**2), float(np.sum(totals**2 / by_item))
    beyond_raters = _reduction(found, by_item.astype(np.float64), sets)
    both = found.by_rater + beyond_raters
    freedom = answers - items - raters + separate
    if freedom <= 0:
        return float("nan"), float("nan")
    error = max(squares - both, 0.0) / freedom
    of_items = (beyond_raters - (items - separate) * error) / (answers - found.cells_by_rater)
    of_raters = (both - by_items - (raters - separate) * error) / (
        answers - float(np.sum(found.cells_by_item / by_item))
    )
    return share_of(of_items, of_items + of_raters + error), share_of(of_items, of_items + error)


def joined_sets(joined: Floats) -> Ints:
    """The number of the set that each item belongs to; items of different sets share no rater, by any detour."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(joined > 0, directed=False)[1])


def _reduction(found: _Sums, by_item: Floats, sets: Ints) -> float:
    """The reduction in the sum of squares by the items, after the raters; the matrix of the sums is used up by it."""
    matrix = np.negative(found.inner, out=found.inner)
    matrix.flat[:: len(matrix) + 1] += by_item
    for number, size in enumerate(np.bincount(sets)):
        own = np.flatnonzero(sets == number)
        matrix[np.ix_(own, own)] += by_item.mean() / size
    factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True)
    return float(found.right @ linalg.cho_solve(factor, found.right))
