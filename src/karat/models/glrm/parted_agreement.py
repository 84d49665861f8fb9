"""The usual coefficients of agreement for answers in parts of workers: sums over parts, one pass.

As `karat.models.agreement`, whose docstring has the formulas. Fleiss' kappa needs the counts of each task. The
variances of items and raters need the joint reduction in the sum of squares by both; the raters, who lie in the parts,
are taken out of the normal equations of the items, where they leave diag(n_i) - sum n_ij n_kj / n_j. That matrix is
singular: the items of each set that shares no rater with another have one mean too many. A constant added within each
set takes its place, and changes nothing in what is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from karat.models.agreement import kappa_of_counts
from karat.models.glrm.fit import Fit
from karat.models.glrm.parted_answers import Placed, View
from karat.models.glrm.parted_objective import PartedObjective
from karat.models.glrm.schur import eliminated
from karat.types import Floats, Ints


@dataclass(frozen=True)
class PartedAgreement:
    """Fleiss' kappa, ICC(A,1) and ICC(C,1); not a number where it is not defined."""

    fleiss_kappa: float
    icc_agreement: float
    icc_consistency: float


@dataclass
class _Sums:
    counts: Ints
    """Tasks x categories."""
    by_rater: float
    """sum of the squared sums of each rater, divided by their number of answers."""
    right: Floats
    """Of each item: the answers less the mean of the rater."""
    inner: Floats
    """sum over raters of n_ij n_kj / n_j."""
    cells_by_rater: float
    """sum of n_ij^2 / n_j."""
    cells_by_item: Floats
    """sum of n_ij^2 for each item."""

    def add(self, other: _Sums) -> None:
        self.counts += other.counts
        self.by_rater += other.by_rater
        self.right += other.right
        self.inner += other.inner
        self.cells_by_rater += other.cells_by_rater
        self.cells_by_item += other.cells_by_item


def agreement_in_parts(fit: Fit) -> PartedAgreement:
    """The agreement of the workers whose answers a model was fitted to in parts.

    >>> from karat.models.glrm import fit_crossed_in_parts
    >>> from karat.models.glrm.parted_answers import PartAnswers
    >>> worker, task = np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6)
    >>> answers = (task > 1) ^ (np.arange(24) % 7 == 0)
    >>> agreement = agreement_in_parts(fit_crossed_in_parts([PartAnswers(answers * 1, worker, task)]))
    >>> round(agreement.fleiss_kappa, 3), round(agreement.icc_agreement, 3)
    (0.333, 0.423)
    """
    objective = fit.objective
    if not isinstance(objective, PartedObjective):
        raise ValueError("The model was not fitted in parts; see karat.models.agreement.")
    view, crew = objective.view, objective.crew
    found: _Sums = crew.total(_sums, view, crew.parts, len(view.tasks) ** 2)
    return PartedAgreement(kappa_of_counts(found.counts), *_correlations(found, _about_middle(view), fit))


def _about_middle(view: View) -> Floats:
    """The numbers of the categories, with zero amid them, so that little is lost when the mean is taken out."""
    numbers = view.categories.astype(np.float64)
    centred: Floats = numbers - numbers.mean()
    return centred


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
    sets = _sets(found.inner)
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
    return _share(of_items, of_items + of_raters + error), _share(of_items, of_items + error)


def _sets(joined: Floats) -> Ints:
    """The number of the set that each item belongs to; items of different sets share no rater, by any detour.

    >>> _sets(np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 1]])).tolist()
    [0, 1, 0]
    """
    sets = np.full(len(joined), -1)
    for first in range(len(joined)):
        if sets[first] >= 0:
            continue
        number = int(sets.max()) + 1
        sets[first] = number
        waiting = [first]
        while waiting and np.any(sets < 0):
            reached = np.flatnonzero((joined[waiting.pop()] > 0) & (sets < 0))
            sets[reached] = number
            waiting += reached.tolist()
    return sets


def _reduction(found: _Sums, by_item: Floats, sets: Ints) -> float:
    """The reduction in the sum of squares by the items, after the raters; the matrix of the sums is used up by it."""
    matrix = np.negative(found.inner, out=found.inner)
    matrix.flat[:: len(matrix) + 1] += by_item
    for number, size in enumerate(np.bincount(sets)):
        own = np.flatnonzero(sets == number)
        matrix[np.ix_(own, own)] += by_item.mean() / size
    factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True)
    return float(found.right @ linalg.cho_solve(factor, found.right))


def _share(part: float, whole: float) -> float:
    return part / whole if whole != 0 else float("nan")
