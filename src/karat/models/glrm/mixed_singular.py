"""Singular fits: which effects do not vary, or vary only together, and what a simpler model would leave out.

A covariance matrix is singular where a combination of effects has no variance. With one effect that is a variance of
zero; with two a correlation of 1 or -1; with more it is named by its weights. `simpler` gives the next model of the
usual sequence: first a singular term loses its correlations, then the effect with the smallest variance goes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.messages import Message
from karat.models.glrm.terms import RandomTerm
from karat.types import Floats

ZERO = 1e-4
"""A deviation below this, in units of the column, is zero (as lme4's isSingular has it)."""
SINGULAR = ("fit.zero_variance", "fit.correlated", "fit.directions")
"""The codes of messages about a singular fit."""


def singular_directions(term: RandomTerm, factor: Floats) -> list[Message]:
    """What a term lacks; `factor` is its Lambda, in units of its columns.

    >>> from karat.models.glrm.terms import random_term
    >>> term = random_term("item", [0, 1], [[1, 0], [1, 1]], ("(Intercept)", "x"))
    >>> print(*singular_directions(term, np.array([[1.0, 0.0], [-0.5, 0.0]])))
    The fit is singular: (Intercept) and x for item have a correlation of −1.
    """
    if term.covariance == "shared" and abs(factor[0, 0]) < ZERO:
        return [Message("fit.zero_variance", {"effects": list(term.names), "group": term.group})]
    deviations = np.sqrt((factor**2).sum(axis=1))
    zero = deviations < ZERO
    said = [
        Message("fit.zero_variance", {"effects": [name], "group": term.group})
        for name, none in zip(term.names, zero, strict=True)
        if none
    ]
    left = np.flatnonzero(~zero)
    if len(left) < 2 or term.covariance != "full":
        return said
    correlated = factor[left] / deviations[left, None]
    vectors, values, _ = np.linalg.svd(correlated)
    lost = int((values < ZERO).sum())
    names = [term.names[k] for k in left]
    if lost and len(left) == 2:
        sign = 1 if float(correlated[0] @ correlated[1]) > 0 else -1
        said.append(Message("fit.correlated", {"effects": names, "group": term.group, "correlation": sign}))
    elif lost:
        weights = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
        mixture = " ".join(f"{weight:+.2f} {name}" for weight, name in zip(weights, names, strict=True))
        about = {
            "group": term.group, "rank": len(left) - lost, "effects": len(left), "mixture": mixture,
            "weights": dict(zip(names, map(float, weights), strict=True)),
        }  # fmt: skip
        said.append(Message("fit.directions", about))
    return said


def simpler(
    terms: Sequence[RandomTerm], factors: Sequence[Floats], singular: Sequence[bool]
) -> tuple[list[RandomTerm], Message] | None:
    """The next simpler model and what was removed; None where nothing can go.

    `factors` holds Lambda of each term's block, in units of its columns.
    """
    for number, term in enumerate(terms):
        if singular[number] and term.covariance == "full" and len(term.names) > 1:
            new = [*terms[:number], term.only(list(range(len(term.names))), "diagonal"), *terms[number + 1 :]]
            values = {"term": str(term), "rest": str(new[number])}
            return new, Message("fit.without_correlations", values)
    smallest: list[tuple[float, int, int]] = []
    for number in range(len(terms)):
        if singular[number]:
            deviations = np.sqrt((factors[number] ** 2).sum(axis=1))
            smallest.append((float(deviations.min()), number, int(deviations.argmin())))
    if not smallest:
        return None
    _, number, column = min(smallest)
    term = terms[number]
    rest = list(range(len(term.names)))
    rest.remove(column)
    if not rest or term.covariance == "shared":
        if len(terms) == 1:
            return None
        return [*terms[:number], *terms[number + 1 :]], Message("fit.without_term", {"term": str(term)})
    new = [*terms[:number], term.only(rest, term.covariance), *terms[number + 1 :]]
    about = {"effect": term.names[column], "group": term.group, "rest": str(new[number])}
    return new, Message("fit.without_effect", about)
