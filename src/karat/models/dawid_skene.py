"""Dawid and Skene's model: the true label of each item and every participant's errors, from answers alone.

Item j has the true label c with probability p_c, and participant i answers k with probability e_i(k | c), independently
of everything else (Dawid and Skene 1979). The EM algorithm starts from the shares of answers to each item and repeats

    M   p_c = mean over items of q_j(c),    e_i(k | c) = sum of q_j(c) over items that i called k, over its sum over k
    E   q_j(c) = p_c times the product of e_i(k | c) over the answers to j, scaled to a sum of 1

until the likelihood, the product over items of the sum over c, rises by less than a share of itself. Answers are
counted once, in a sparse matrix of items by participant-and-answer; both steps are a product with it. Products of
probabilities are sums of logarithms.

A count of zero would make an item impossible: each answer that a participant ever gave counts at least 1e-10 under
every label. Under a label that none of their items can have, their answers are so taken as evenly spread.

Ordered answers (`ordered`). With K levels a participant has K (K - 1) free errors, more than most participants have
answers. Two numbers can stand for them,

    e_i(k | c) proportional to exp(b_i (k - c) - a_i (k - c)^2 / 2),

a precision a_i and a bias b_i: a normal distribution around the true level, cut into the levels of the scale. The M
step then is a concave problem in two unknowns for each participant, solved by Newton steps for all of them at once. So
that nobody's precision runs off to infinity, each is given a hundredth of an answer, spread evenly over all cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from karat.types import Floats, Ints

LEAST = 1e-10
GIVEN = 0.01
"""How much of an answer each participant is given where the errors are ordered."""
NEWTON_STEPS = 20


@dataclass(frozen=True)
class DawidSkene:
    """The probability of each label for each item, the labels' shares, and everybody's errors."""

    posteriors: Floats
    """Items by labels."""
    priors: Floats
    errors: Floats
    """Participants by answers by true labels; the answers to a true label sum to 1."""
    log_likelihood: float
    """At the errors and shares that gave the posteriors."""
    iterations: int
    converged: bool
    ordered: Floats | None = None
    """Where errors are ordered: the bias and the precision of each participant."""


def dawid_skene(
    items: ArrayLike,
    raters: ArrayLike,
    labels: ArrayLike,
    kinds: int | None = None,
    ordered: bool = False,
    iterations: int = 1000,
    tolerance: float = 1e-8,
) -> DawidSkene:
    """Fit the model to answers, one an entry: codes from 0 of the item, of who labelled it, and of the label.

    >>> items, raters = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    >>> found = dawid_skene(items, raters, [0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1])
    >>> found.posteriors.argmax(axis=1).tolist(), found.converged
    ([0, 1, 0, 1], True)
    """
    item, rater, label = (np.asarray(codes, dtype=np.int64) for codes in (items, raters, labels))
    size = int(label.max()) + 1 if kinds is None else kinds
    people, rows = int(rater.max()) + 1, int(item.max()) + 1
    places = (item.astype(np.int32), (rater * size + label).astype(np.int32))
    answers = csr_array((np.ones(len(item)), places), shape=(rows, people * size))
    answers.sum_duplicates()
    # Turned around by columns: posteriors are read one after the other, and sums go into a table that is small.
    turned = answers.T
    given = np.bincount(answers.indices, minlength=people * size) > 0
    step = _ordered_step(people, size) if ordered else _free_step(given, people, size)
    posteriors = label_shares(item, label, np.ones(len(item)), rows, size)
    priors, (errors, shape) = np.einsum("jc->c", posteriors) / rows, step(turned @ posteriors)
    likelihood, converged, done = -np.inf, False, 0
    while done < iterations and not converged:
        # An answer that somebody never gave has the probability 0 and is in no product.
        logs = np.log(errors, out=np.zeros_like(errors), where=errors > 0).reshape(people * size, size)
        logarithms = answers @ logs
        logarithms += np.log(np.maximum(priors, LEAST))
        # In place, and by means that are fast for a few labels without the threads of a matrix library.
        highest = reduce(np.maximum, logarithms.T)
        logarithms -= highest[:, None]
        posteriors = np.exp(logarithms, out=logarithms)
        sums = np.einsum("jc->j", posteriors)
        posteriors /= sums[:, None]
        before, likelihood = likelihood, float(np.sum(highest) + np.sum(np.log(sums)))
        priors, (errors, shape) = np.einsum("jc->c", posteriors) / rows, step(turned @ posteriors)
        done += 1
        converged = abs(likelihood - before) <= tolerance * abs(likelihood)
    return DawidSkene(posteriors, priors, errors, likelihood, done, converged, shape)


def label_shares(items: Ints, labels: Ints, weights: Floats, rows: int, kinds: int) -> Floats:
    """The share of each label among the answers to each item, where answers may have weights.

    >>> label_shares(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), np.ones(4), 2, 2).round(3).tolist()
    [[0.667, 0.333], [0.0, 1.0]]
    """
    counts = np.bincount(items * kinds + labels, weights, rows * kinds).reshape(rows, kinds)
    total = counts.sum(axis=1, keepdims=True)
    found: Floats = np.divide(counts, total, out=np.full(counts.shape, 1 / kinds), where=total > 0)
    return found


Step = Callable[[Floats], tuple[Floats, Floats | None]]
"""From sums of posteriors by participant-and-answer and true label: the errors, and bias and precision."""


def _free_step(given: NDArray[np.bool_], people: int, size: int) -> Step:
    """Errors as shares of the answers that a participant gave."""
    known = given.reshape(people, size, 1)

    def step(sums: Floats) -> tuple[Floats, None]:
        counts = np.where(known, np.maximum(sums.reshape(people, size, size), LEAST), 0.0)
        total = counts.sum(axis=1, keepdims=True)
        return counts / np.where(total > 0, total, 1.0), None

    return step


def _ordered_step(people: int, size: int) -> Step:
    """Errors by bias and precision; each step begins where the one before ended."""
    found = np.column_stack([np.zeros(people), np.ones(people)])
    distance = np.arange(size)[:, None] - np.arange(size)[None, :]
    features = np.stack([distance, -(distance**2) / 2]).astype(np.float64)

    def step(sums: Floats) -> tuple[Floats, Floats]:
        counts = sums.reshape(people, size, size) + GIVEN / size**2
        found[:] = _newton(found.copy(), counts, features)
        return _ordered_errors(found, features), found.copy()

    return step


def _ordered_errors(parameters: Floats, features: Floats) -> Floats:
    """The errors that belong to bias and precision."""
    linear = np.tensordot(parameters, features, axes=1)
    chances = np.exp(linear - linear.max(axis=1, keepdims=True))
    errors: Floats = np.maximum(chances / chances.sum(axis=1, keepdims=True), 1e-300)
    return errors


def _newton(parameters: Floats, counts: Floats, features: Floats) -> Floats:
    """The parameters that make the counts most probable, for each participant; a step is halved until it helps."""
    wanted = np.einsum("pkc,fkc->pf", counts, features)
    number = counts.sum(axis=1)
    value = _ordered_value(parameters, counts, features)
    for _ in range(NEWTON_STEPS):
        chances = _ordered_errors(parameters, features)
        means = np.einsum("pkc,fkc->pcf", chances, features)
        slope = wanted - np.einsum("pc,pcf->pf", number, means)
        squares = np.einsum("pkc,fkc,gkc->pcfg", chances, features, features)
        curvature = np.einsum("pc,pcfg->pfg", number, squares - means[..., :, None] * means[..., None, :])
        curvature += 1e-9 * np.eye(2)
        move = np.linalg.solve(curvature, slope[..., None])[..., 0]
        length = np.ones(len(parameters))
        for _ in range(NEWTON_STEPS):
            tried = parameters + length[:, None] * move
            new = _ordered_value(tried, counts, features)
            worse = new < value - 1e-12 * np.abs(value)
            if not worse.any():
                break
            length[worse] /= 2
        better = ~worse
        parameters = np.where(better[:, None], tried, parameters)
        value = np.where(better, new, value)
        if np.max(np.abs(slope) / number.sum(axis=1, keepdims=True)) < 1e-9:
            break
    return parameters


def _ordered_value(parameters: Floats, counts: Floats, features: Floats) -> Floats:
    value: Floats = np.einsum("pkc,pkc->p", counts, np.log(_ordered_errors(parameters, features)))
    return value
