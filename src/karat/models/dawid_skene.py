"""Models of labels, which estimate the true label of each item and the quality of each participant from answers alone.

In `dawid_skene` each participant has a table of errors, in `mace` a competence and guessing habits. In `glad` each
participant has an ability and each item an easiness.

Item j has the true label c with probability p_c, and participant i answers k with probability e_i(k | c), independently
of everything else (Dawid and Skene 1979). The EM algorithm starts from the shares of answers to each item and repeats

    M   p_c = mean over items of q_j(c),    e_i(k | c) = sum of q_j(c) over items that i called k, over its sum over k
    E   q_j(c) = p_c times the product of e_i(k | c) over the answers to j, scaled to a sum of 1

until three conditions are met. The relative increase of the likelihood (the product over items of the sum over c) is
small. The posteriors are within 1e-6 of their limit, estimated from the last two changes as d_t r / (1 - r), where r is
the ratio of the changes d_t and d_t-1. And no small posterior still grows, because EM leaves a saddle point slowly. The
likelihood alone is not enough, because posteriors may still change. From the 60th round on, every third round starts
from errors and shares extrapolated from the last three (Varadhan and Roland 2008), unless this reduces the likelihood.
Answers are counted once, in a sparse matrix of items by participant-and-answer; the M step is a product of posteriors
with it, and the E step a product of it with the logarithms of errors.

A count of zero could make an item impossible, so each answer that a participant ever gave counts at least 1e-10 under
every label. For a label that none of their items can have, their answers are therefore assumed to be evenly spread.

Ordered answers (`ordered`). With K levels a participant has K (K - 1) free errors, more than most participants have
answers. They can be reduced to two parameters,

    e_i(k | c) proportional to exp(b_i (k - c) - a_i (k - c)^2 / 2),

a precision a_i and a bias b_i: a normal distribution around the true level, cut into the levels of the scale. The M
step is then a concave problem in two unknowns per participant, solved by Newton steps for all participants at once. To
keep precisions finite, a hundredth of an answer is added per participant, spread evenly over all cells.

MACE (Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013). Participant i knows the true label with probability t_i, the
competence, and otherwise answers k with probability x_i(k), whatever the label:

    e_i(k | c) = t_i [k = c] + (1 - t_i) x_i(k).

All labels are equally frequent. Priors are Beta(1/2, 1/2) for t and Dirichlet(10, ..., 10) for x, as in the authors'
program; the posterior is approximated by variational Bayes, from t = 1/2 and even habits.

GLAD (Whitehill, Ruvolo, Wu, Bergsma and Movellan 2009). The answer of participant i to item j is correct with
probability 1 / (1 + exp(-a_i b_j)), with an ability a and an easiness b > 0, and other labels share the rest evenly.
Priors are N(1, 1) for a and log b, and all labels are equally frequent. The M step is a quasi-Newton search.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import digamma, expit, log_expit, softmax

from karat.types import Floats, Ints

LEAST = 1e-10
PRIOR_ANSWER = 0.01
"""The fraction of an answer that is added per participant if the errors are ordered."""
NEWTON_STEPS = 20
PRECISION = 1e-6
"""The largest acceptable distance of the posteriors from their limit."""
TINY, GROWTH = 1e-9, 1e-3
"""No posterior may still grow by more than `GROWTH` times itself, or times `TINY` if it is smaller than that."""
PLAIN = 60
"""The rounds of EM before extrapolation starts, which are enough for most crowds."""
SLOWLY = 0.99
"""The smallest assumed ratio of successive changes after an extrapolation."""
COMPETENCE, HABIT = 0.5, 10.0
"""The priors of MACE: Beta(1/2, 1/2) and Dirichlet(10, ..., 10)."""
GLAD_STEPS = 25
"""The quasi-Newton steps per M step."""


@dataclass(frozen=True)
class DawidSkene:
    """The probability of each label for each item, the shares of the labels, and the errors of each participant."""

    posteriors: Floats
    """Items by labels."""
    priors: Floats
    errors: Floats
    """Participants by answers by true labels; the answers to a true label sum to 1."""
    log_likelihood: float
    """The log-likelihood at the errors and shares that gave the posteriors."""
    iterations: int
    converged: bool
    ordered: Floats | None = None
    """The bias and the precision of each participant if errors are ordered."""


def dawid_skene(
    items: ArrayLike,
    raters: ArrayLike,
    labels: ArrayLike,
    kinds: int | None = None,
    ordered: bool = False,
    iterations: int = 1000,
    tolerance: float = 1e-8,
) -> DawidSkene:
    """Fit the model to answers, with one entry per answer in `items`, `raters` and `labels` (codes from 0).

    >>> items, raters = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    >>> model = dawid_skene(items, raters, [0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1])
    >>> model.posteriors.argmax(axis=1).tolist(), model.converged
    ([0, 1, 0, 1], True)
    """
    (item, rater, label), (rows, people, size) = _codes(items, raters, labels, kinds)
    answers = csr_array((np.ones(len(item)), (item, rater * size + label)), shape=(rows, people * size))
    # The transpose reads posteriors sequentially and adds them to a small table.
    by_cell = answers.T
    used = np.bincount(rater * size + label, minlength=people * size) > 0
    step = _ordered_step(people, size) if ordered else _free_step(used, people, size)
    posteriors = label_shares(item, label, np.ones(len(item)), rows, size)
    priors, (errors, shape) = np.einsum("jc->c", posteriors) / rows, step(by_cell @ posteriors)
    likelihood, converged, done = -np.inf, False, 0
    convergence, extrapolation = _Convergence(), _Extrapolation()
    while done < iterations and not converged:
        previous = posteriors
        if done >= PLAIN and not ordered:
            errors, priors = extrapolation.start_from(errors, priors)
        previous_likelihood = likelihood
        posteriors, likelihood = _posteriors(answers, errors.reshape(people * size, size), np.maximum(priors, LEAST))
        done += 1
        if extrapolation.applied and likelihood < previous_likelihood:
            posteriors, likelihood, (errors, priors) = previous, previous_likelihood, extrapolation.start
            continue
        priors, (errors, shape) = np.einsum("jc->c", posteriors) / rows, step(by_cell @ posteriors)
        close = convergence.reset() if extrapolation.applied else convergence.reached(previous, posteriors)
        converged = close and abs(likelihood - previous_likelihood) <= tolerance * abs(likelihood)
    return DawidSkene(posteriors, priors, errors, likelihood, done, converged, shape)


def _codes(
    items: ArrayLike, raters: ArrayLike, labels: ArrayLike, kinds: int | None
) -> tuple[tuple[Ints, Ints, Ints], tuple[int, int, int]]:
    """The codes of items, raters and labels, and the number of each."""
    item, rater, label = (np.asarray(codes, dtype=np.int64) for codes in (items, raters, labels))
    sizes = int(item.max()) + 1, int(rater.max()) + 1, int(label.max()) + 1 if kinds is None else kinds
    return (item, rater, label), sizes


def _posteriors(answers: csr_array, errors: Floats, priors: Floats) -> tuple[Floats, float]:
    """The probability of each label for each item, and the log-likelihood of all."""
    # Answers that a participant never gave have probability 0, but occur in no product.
    posteriors = answers @ np.log(errors, out=np.zeros_like(errors), where=errors > 0)
    posteriors += np.log(priors)
    # In place, and fast for a few labels without the threads of a matrix library.
    largest = reduce(np.maximum, posteriors.T)
    posteriors -= largest[:, None]
    np.exp(posteriors, out=posteriors)
    sums = np.einsum("jc->j", posteriors)
    posteriors *= (1 / sums)[:, None]
    return posteriors, float(np.sum(largest) + np.sum(np.log(sums)))


class _Convergence:
    """Whether posteriors are close to their limit, judged by their last two changes."""

    def __init__(self) -> None:
        self.change, self.slowest = np.inf, 0.0

    def reset(self) -> bool:
        """Discard the last change, which was an extrapolation, and assume that the next ones will shrink slowly."""
        self.change, self.slowest = np.inf, SLOWLY
        return False

    def reached(self, previous: Floats, posteriors: Floats) -> bool:
        change = posteriors - previous
        before, self.change = self.change, float(max(np.max(change, initial=0.0), -np.min(change, initial=0.0)))
        if self.change == 0:
            return True
        rate = max(self.change / before, self.slowest)
        near = 0 < self.change / before < 1 and self.change * max(rate / (1 - rate), 1.0) <= PRECISION
        return bool(near and np.all(change <= GROWTH * np.maximum(previous, TINY)))


class _Extrapolation:
    """Extrapolation of errors and shares from three rounds, with their change r and the change v of this change.

    With the length a = |r| / |v| the new point is x + 2 a r + a^2 v, truncated at zero.
    """

    def __init__(self) -> None:
        self.applied = False
        """Whether the last point was extrapolated."""
        self._points: list[Floats] = []

    def start_from(self, errors: Floats, priors: Floats) -> tuple[Floats, Floats]:
        """The start of the next round: these errors and shares or, after every third round, an extrapolation."""
        self.start, self.applied = (errors, priors), False
        self._points.append(np.concatenate([errors.ravel(), priors]))
        if len(self._points) < 3:
            return self.start
        first, second, third = self._points
        self._points = []
        change, bend = second - first, third - 2 * second + first
        length = np.linalg.norm(change) / max(float(np.linalg.norm(bend)), TINY**2)
        if length <= 1:
            return self.start
        self.applied = True
        point = first + 2 * length * change + length**2 * bend
        point = np.where(third > 0, np.maximum(point, LEAST / 1000), 0.0)
        next_errors, next_priors = np.split(point, [errors.size])
        total = next_errors.reshape(errors.shape).sum(axis=1, keepdims=True)
        return next_errors.reshape(errors.shape) / np.where(total > 0, total, 1.0), next_priors / next_priors.sum()


@dataclass(frozen=True)
class LabelModel:
    """The probability of each label for each item, and the parameters of participants and items."""

    posteriors: Floats
    """Items by labels."""
    ability: Floats
    """MACE: the probability that a participant knows the label; GLAD: their ability, below 0 for misleading answers."""
    easiness: Floats | None
    """GLAD: b of each item."""
    iterations: int
    converged: bool


def mace(
    items: ArrayLike, raters: ArrayLike, labels: ArrayLike, kinds: int | None = None, iterations: int = 1000
) -> LabelModel:
    """MACE's labels and competences, by variational Bayes; the arguments are those of `dawid_skene`.

    >>> items, raters = np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8)
    >>> truth = np.arange(8) % 2
    >>> model = mace(items, raters, np.where(raters == 2, 0, truth[items]))
    >>> model.posteriors.argmax(axis=1).tolist(), bool(model.ability[2] < model.ability[0])
    ([0, 1, 0, 1, 0, 1, 0, 1], True)
    """
    (item, rater, label), (rows, people, size) = _codes(items, raters, labels, kinds)
    answers = np.bincount(rater, minlength=people)
    cell = rater * size + label
    knows, guesses = np.full(people, 0.5), np.full(people * size, 0.5 / size)
    posteriors, converged, done = label_shares(item, label, np.ones(len(item)), rows, size), False, 0
    convergence = _Convergence()
    knowing: Floats = np.zeros(people)
    while done < iterations and not converged:
        previous = posteriors
        guess, knows_label = guesses[cell], knows[rater]
        # Relative to a guess, the probability of an answer is larger under its own label only.
        logs = np.bincount(item * size + label, np.log1p(knows_label / guess), rows * size).reshape(rows, size)
        posteriors = softmax(logs, axis=1)
        knowing_answer = posteriors[item, label] * knows_label / (knows_label + guess)
        knowing = np.bincount(rater, knowing_answer, people).astype(np.float64)
        habits = np.bincount(cell, 1 - knowing_answer, people * size).reshape(people, size)
        # Variational Bayes uses exp(E log t) and so on instead of shares of counts.
        total = digamma(answers + 2 * COMPETENCE)
        knows = np.exp(digamma(knowing + COMPETENCE) - total)
        spread = digamma(habits + HABIT) - digamma(habits.sum(axis=1, keepdims=True) + HABIT * size)
        guesses = np.exp(spread + (digamma(answers - knowing + COMPETENCE) - total)[:, None]).ravel()
        done += 1
        converged = convergence.reached(previous, posteriors)
    competence = (knowing + COMPETENCE) / (answers + 2 * COMPETENCE)
    return LabelModel(posteriors, competence, None, done, converged)


def glad(
    items: ArrayLike, raters: ArrayLike, labels: ArrayLike, kinds: int | None = None, iterations: int = 1000
) -> LabelModel:
    """GLAD's labels, abilities and easiness, by EM; the arguments are those of `dawid_skene`.

    >>> items, raters = np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8)
    >>> truth = np.arange(8) % 2
    >>> model = glad(items, raters, np.where(raters == 2, 1 - truth[items], truth[items]))
    >>> model.posteriors.argmax(axis=1).tolist(), bool(model.ability[2] < 0 < model.ability[0])
    ([0, 1, 0, 1, 0, 1, 0, 1], True)
    """
    from scipy.optimize import minimize

    (item, rater, label), (rows, people, size) = _codes(items, raters, labels, kinds)
    parameters = np.ones(people + rows)

    def evidence(parameters: Floats) -> tuple[Floats, Floats, Floats]:
        ability, easiness = parameters[:people][rater], np.exp(np.minimum(parameters[people:], 20.0))[item]
        return ability, easiness, ability * easiness

    def loss(parameters: Floats, correct: Floats) -> tuple[float, Floats]:
        ability, easiness, logit = evidence(parameters)
        value = correct * log_expit(logit) + (1 - correct) * (log_expit(-logit) - np.log(max(size - 1, 1)))
        slope = correct - expit(logit)
        gradient = np.concatenate([
            np.bincount(rater, slope * easiness, people), np.bincount(item, slope * ability * easiness, rows)
        ])  # fmt: skip
        centred = parameters - 1
        return float(centred @ centred / 2 - value.sum()), centred - gradient

    posteriors, converged, done = label_shares(item, label, np.ones(len(item)), rows, size), False, 0
    convergence = _Convergence()
    while done < iterations and not converged:
        previous = posteriors
        _, _, logit = evidence(parameters)
        # log P(correct) - log P(this wrong label) for the label of the answer.
        more = np.bincount(item * size + label, logit + np.log(max(size - 1, 1)), rows * size).reshape(rows, size)
        posteriors = softmax(more, axis=1)
        parameters = minimize(
            loss, parameters, (posteriors[item, label],), "L-BFGS-B", jac=True, options={"maxiter": GLAD_STEPS}
        ).x
        done += 1
        converged = convergence.reached(previous, posteriors)
    return LabelModel(posteriors, parameters[:people], np.exp(parameters[people:]), done, converged)


def label_shares(items: Ints, labels: Ints, weights: Floats, rows: int, kinds: int) -> Floats:
    """The share of each label among the (weighted) answers to each item."""
    counts = np.bincount(items * kinds + labels, weights, rows * kinds).reshape(rows, kinds)
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, total, out=np.full(counts.shape, 1 / kinds), where=total > 0))


Step = Callable[[Floats], tuple[Floats, Floats | None]]
"""Maps sums of posteriors by participant-and-answer and true label to errors, and to bias and precision if ordered."""


def _free_step(used: NDArray[np.bool_], people: int, size: int) -> Step:
    """An M step with errors as shares of the answers of each participant."""
    used_cells = used.reshape(people, size, 1)

    def step(sums: Floats) -> tuple[Floats, None]:
        counts = np.where(used_cells, np.maximum(sums.reshape(people, size, size), LEAST), 0.0)
        total = counts.sum(axis=1, keepdims=True)
        return counts / np.where(total > 0, total, 1.0), None

    return step


def _ordered_step(people: int, size: int) -> Step:
    """An M step with errors by bias and precision; each step starts from the result of the previous one."""
    parameters = np.column_stack([np.zeros(people), np.ones(people)])
    distance = np.arange(size)[:, None] - np.arange(size)[None, :]
    features = np.stack([distance, -(distance**2) / 2]).astype(np.float64)

    def step(sums: Floats) -> tuple[Floats, Floats]:
        counts = sums.reshape(people, size, size) + PRIOR_ANSWER / size**2
        parameters[:] = _newton(parameters.copy(), counts, features)
        return _ordered_errors(parameters, features), parameters.copy()

    return step


def _ordered_errors(parameters: Floats, features: Floats) -> Floats:
    """The errors implied by bias and precision."""
    return np.asarray(np.maximum(softmax(np.tensordot(parameters, features, axes=1), axis=1), 1e-300))


def _newton(parameters: Floats, counts: Floats, features: Floats) -> Floats:
    """The maximum-likelihood parameters of each participant; a step is halved until it improves the likelihood."""
    target = np.einsum("pkc,fkc->pf", counts, features)
    number = counts.sum(axis=1)
    value = _ordered_value(parameters, counts, features)
    for _ in range(NEWTON_STEPS):
        errors = _ordered_errors(parameters, features)
        means = np.einsum("pkc,fkc->pcf", errors, features)
        slope = target - np.einsum("pc,pcf->pf", number, means)
        squares = np.einsum("pkc,fkc,gkc->pcfg", errors, features, features)
        curvature = np.einsum("pc,pcfg->pfg", number, squares - means[..., :, None] * means[..., None, :])
        curvature += 1e-9 * np.eye(2)
        move = np.linalg.solve(curvature, slope[..., None])[..., 0]
        length = np.ones(len(parameters))
        for _ in range(NEWTON_STEPS):
            candidate = parameters + length[:, None] * move
            new = _ordered_value(candidate, counts, features)
            worse = new < value - 1e-12 * np.abs(value)
            if not worse.any():
                break
            length[worse] /= 2
        better = ~worse
        parameters = np.where(better[:, None], candidate, parameters)
        value = np.where(better, new, value)
        if np.max(np.abs(slope) / number.sum(axis=1, keepdims=True)) < 1e-9:
            break
    return parameters


def _ordered_value(parameters: Floats, counts: Floats, features: Floats) -> Floats:
    return np.asarray(np.einsum("pkc,pkc->p", counts, np.log(_ordered_errors(parameters, features))))
