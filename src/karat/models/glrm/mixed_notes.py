"""What a fit of yes-or-no or ordered answers should warn of: separation, and levels with little information.

Where a column of the design, or a combination of columns, tells the answers apart without error, the likelihood has no
maximum: it rises for as long as the coefficients grow. The search ends somewhere on the way, where predictors are large
and uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.messages import Message
from karat.models.glrm.mixed_problem import MixedProblem
from karat.models.glrm.mixed_search import Found
from karat.models.glrm.terms import RandomTerm
from karat.types import Floats

EXTREME = 10.0
"""Logits so large, and so uncertain, are a sign of separation."""
TINY = 1e-14
"""The least information that can be told from none."""
VAST = 25.0
"""So is a deviation of effects as large as this, in logits."""


def separated_answers(
    problem: MixedProblem, coefficients: Floats, found: Found, transform: Floats, factors: Sequence[Floats]
) -> list[Message]:
    """Coefficients and deviations that grow without bound.

    Predictors of rows tell, not coefficients: those of a column far from zero may be large and uncertain for no
    harm. The information tells how uncertain they are; differences, which step by standard errors, go too far here.
    """
    said = []
    columns = len(coefficients)
    centre = np.where(np.ptp(problem.design, axis=0) > 0, problem.design.mean(axis=0), 0.0)
    x = problem.design - centre if problem.family == "ordinal" else problem.design
    information = found.at.information()
    fixed = columns + (len(problem.categories) - 1) * (problem.family == "ordinal")
    values, vectors = np.linalg.eigh(information[:fixed, :fixed])
    root = transform[:columns, :columns] @ (vectors / np.sqrt(np.maximum(values, TINY)))[:columns]
    errors = np.sqrt(((x @ root) ** 2).sum(axis=1))
    if np.any((np.abs(x @ coefficients) > EXTREME) & (errors > EXTREME)):
        wide = np.sqrt((root**2).sum(axis=1)) * np.abs(problem.design - centre).max(axis=0) > EXTREME
        names = [name for name, one in zip(problem.names, wide | ~wide.any(), strict=True) if one]
        said.append(Message("fit.separated", {"names": names, "n": len(names)}))
    for term, factor in zip(problem.terms, factors, strict=True):
        deviations = np.sqrt((((term.columns / sizes(term)) @ factor) ** 2).sum(axis=1))
        if np.median(deviations) > VAST:
            said.append(Message("fit.unbounded_effects", {"group": term.group}))
    return said


def single_answers(problem: MixedProblem) -> list[Message]:
    """Terms that have a level for every answer."""
    if problem.family == "gaussian":
        return []
    return [
        Message("fit.one_answer_per_level", {"group": term.group})
        for term in problem.terms
        if np.bincount(term.codes).max() == 1
    ]


def same_answers(problem: MixedProblem) -> list[Message]:
    """How many levels of each factor have one answer only, though several of them."""
    if problem.family == "gaussian":
        return []
    said = []
    for group, term in {term.group: term for term in problem.terms}.items():
        counts = np.zeros((len(term.levels), len(problem.categories)), dtype=np.int64)
        np.add.at(counts, (term.codes, problem.response), 1)
        same = int(((counts > 0).sum(axis=1) == 1)[counts.sum(axis=1) > 1].sum())
        if same:
            said.append(Message("fit.same_answers", {"n": same, "levels": len(term.levels), "group": group}))
    return said


def sizes(term: RandomTerm) -> Floats:
    """The root mean square of each column, over rows where it is not zero."""
    size: Floats = np.sqrt((term.columns**2).sum(axis=0) / np.count_nonzero(term.columns, axis=0))
    return size
