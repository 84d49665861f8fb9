"""Models of labels: the true label of each item and what everybody knows, from answers alone.

`dawid_skene` gives everybody a table of errors, `mace` a competence and habits of guessing, `glad` an ability, and
items a difficulty.

Item j has the true label c with probability p_c, and participant i answers k with probability e_i(k | c), independently
of everything else (Dawid and Skene 1979). The EM algorithm starts from the shares of answers to each item and repeats

    M   p_c = mean over items of q_j(c),    e_i(k | c) = sum of q_j(c) over items that i called k, over its sum over k
    E   q_j(c) = p_c times the product of e_i(k | c) over the answers to j, scaled to a sum of 1

until the likelihood, the product over items of the sum over c, rises by less than a share of itself and the posteriors
are within 1e-6 of where they are going, which is what their last two changes say: d_t r / (1 - r), where r is the ratio
of the changes d_t and d_t-1; and no small posterior still grows, since EM leaves a saddle slowly. A likelihood that
hardly rises is not enough, since posteriors may still move. From the 60th round on, every third one starts from errors
and shares extrapolated from the last three (Varadhan and Roland 2008), unless the likelihood is smaller there. Answers
are counted once, in a sparse matrix of items by participant-and-answer; the M step is a product with it. So is the E
step where items have so many answers that a product of probabilities might be too small for a number: it then is a sum
of logarithms. Otherwise probabilities are multiplied as they are, without logarithms and exponentials.

A count of zero would make an item impossible: each answer that a participant ever gave counts at least 1e-10 under
every label. Under a label that none of their items can have, their answers are so taken as evenly spread.

Ordered answers (`ordered`). With K levels a participant has K (K - 1) free errors, more than most participants have
answers. Two numbers can stand for them,

    e_i(k | c) proportional to exp(b_i (k - c) - a_i (k - c)^2 / 2),

a precision a_i and a bias b_i: a normal distribution around the true level, cut into the levels of the scale. The M
step then is a concave problem in two unknowns for each participant, solved by Newton steps for all of them at once. So
that nobody's precision runs off to infinity, each is given a hundredth of an answer, spread evenly over all cells.

MACE (Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013). Participant i knows the true label with probability t_i, the
competence, and otherwise answers k with probability x_i(k), whatever the label:

    e_i(k | c) = t_i [k = c] + (1 - t_i) x_i(k).

All labels are equally frequent. Priors are Beta(1/2, 1/2) for t and Dirichlet(10, ..., 10) for x, as in the authors'
program; the posterior is approximated by variational Bayes, from t = 1/2 and even habits.

GLAD (Whitehill, Ruvolo, Wu, Bergsma and Movellan 2009). The answer of participant i to item j is right with probability
1 / (1 + exp(-a_i b_j)), with an ability a and an easiness b > 0, and other labels share the rest evenly. Priors are
N(1, 1) for a and log b, and all labels are equally frequent. The M step is a quasi-Newton search.
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
SMALLEST = -650.0
"""The logarithm of the smallest product of probabilities; numbers end at -708."""
GIVEN = 0.01
"""How much of an answer each participant is given where the errors are ordered."""
NEWTON_STEPS = 20
SETTLED = 1e-6
"""So far posteriors may still be from where they are going."""
TINY, GROWTH = 1e-9, 1e-3
"""No posterior above the first may still grow by more than this share of itself, however small it is."""
PLAIN = 60
"""Rounds of EM alone, which are enough for most crowds."""
SLOWLY = 0.99
"""The least rate at which changes are taken to shrink once rounds are extrapolated."""
COMPETENCE, HABIT = 0.5, 10.0
"""The priors of MACE: Beta(1/2, 1/2), and 10 answers of each kind."""
GLAD_STEPS = 25
"""Quasi-Newton steps of an M step."""


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
    (item, rater, label), (rows, people, size) = _coded(items, raters, labels, kinds)
    answers = _Answers(item, rater * size + label, rows, people * size)
    given = np.bincount(answers.cells, minlength=people * size) > 0
    step = _ordered_step(people, size) if ordered else _free_step(given, people, size)
    posteriors = label_shares(item, label, np.ones(len(item)), rows, size)[answers.order]
    priors, (errors, shape) = np.einsum("jc->c", posteriors) / rows, step(answers.sums(posteriors))
    likelihood, converged, done = -np.inf, False, 0
    watch, leap = _Watch(), _Leap()
    while done < iterations and not converged:
        last = posteriors
        if done >= PLAIN and not ordered:
            errors, priors = leap.from_here(errors, priors)
        before = likelihood
        posteriors, likelihood = answers.posteriors(errors.reshape(people * size, size), np.maximum(priors, LEAST))
        done += 1
        if leap.taken and likelihood < before:
            posteriors, likelihood, (errors, priors) = last, before, leap.start
            continue
        priors, (errors, shape) = np.einsum("jc->c", posteriors) / rows, step(answers.sums(posteriors))
        settled = watch.leapt() if leap.taken else watch.settled(last, posteriors)
        converged = settled and abs(likelihood - before) <= tolerance * abs(likelihood)
    in_order = np.empty_like(posteriors)
    in_order[answers.order] = posteriors
    return DawidSkene(in_order, priors, errors, likelihood, done, converged, shape)


def _coded(
    items: ArrayLike, raters: ArrayLike, labels: ArrayLike, kinds: int | None
) -> tuple[tuple[Ints, Ints, Ints], tuple[int, int, int]]:
    """The codes of items, raters and labels, and how many there are of each."""
    item, rater, label = (np.asarray(codes, dtype=np.int64) for codes in (items, raters, labels))
    sizes = int(item.max()) + 1, int(rater.max()) + 1, int(label.max()) + 1 if kinds is None else kinds
    return (item, rater, label), sizes


class _Answers:
    """The answers by item, items with most answers first: those that have a k-th answer are then always the first."""

    def __init__(self, item: Ints, cell: Ints, rows: int, cells: int) -> None:
        number = np.bincount(item, minlength=rows)
        self.order = np.argsort(-number, kind="stable")
        """Which item is the first, the second, ..."""
        place = np.empty(rows, dtype=np.int32)
        place[self.order] = np.arange(rows)
        ends = np.append(0, np.cumsum(number[self.order])).astype(np.int32)
        cells_by_item = cell[np.argsort(place[item], kind="stable")].astype(np.int32)
        self.by_item = csr_array((np.ones(len(cell)), cells_by_item, ends), shape=(rows, cells))
        # A turn then reads neighbouring rows of the table of errors.
        self.by_item.sort_indices()
        self.cells = self.by_item.indices
        """Of each answer its participant and label."""
        # Turned around by columns: posteriors are read one after the other, and sums go into a table that is small.
        self.by_cell = self.by_item.T
        having = rows - np.searchsorted(number[self.order[::-1]], np.arange(number.max()), side="right")
        self.turns = [self.cells[ends[:with_it] + k].astype(np.intp) for k, with_it in enumerate(having)]
        """The k-th answers, of the items that have one."""
        self.factors = np.empty((0, 0))

    def sums(self, posteriors: Floats) -> Floats:
        """The posteriors of the items that a participant gave a label, added up."""
        return np.asarray(self.by_cell @ posteriors)

    def posteriors(self, errors: Floats, priors: Floats) -> tuple[Floats, float]:
        """The probability of each label for each item, and the log-likelihood of all."""
        # An answer that somebody never gave has the probability 0 and is in no product.
        least = np.min(errors, where=errors > 0, initial=1.0)
        if len(self.turns) * np.log(least) + np.log(priors.min()) > SMALLEST:
            found, highest = self._products(errors, priors), 0.0
        else:
            found = self.by_item @ np.log(errors, out=np.zeros_like(errors), where=errors > 0)
            found += np.log(priors)
            # In place, and by means that are fast for a few labels without the threads of a matrix library.
            most = reduce(np.maximum, found.T)
            found -= most[:, None]
            np.exp(found, out=found)
            highest = float(np.sum(most))
        sums = np.einsum("jc->j", found)
        found *= (1 / sums)[:, None]
        return found, highest + float(np.sum(np.log(sums)))

    def _products(self, errors: Floats, priors: Floats) -> Floats:
        found = np.empty((len(self.order), len(priors)))
        found[len(self.turns[0]) :] = 1
        if self.factors.shape != found.shape:
            self.factors = np.empty_like(found)
        for k, cells in enumerate(self.turns):
            # Cells are within the table; "clip" spares a copy.
            np.take(errors, cells, axis=0, out=(self.factors if k else found)[: len(cells)], mode="clip")
            if k:
                found[: len(cells)] *= self.factors[: len(cells)]
        found *= priors
        return found


class _Watch:
    """Whether posteriors are close to where they are going, by their last two changes."""

    def __init__(self) -> None:
        self.change, self.slowest = np.inf, 0.0

    def leapt(self) -> bool:
        """Forget the last change, which was none of EM, and take it that what is left will shrink slowly."""
        self.change, self.slowest = np.inf, SLOWLY
        return False

    def settled(self, last: Floats, posteriors: Floats) -> bool:
        moved = posteriors - last
        before, self.change = self.change, float(max(np.max(moved, initial=0.0), -np.min(moved, initial=0.0)))
        if self.change == 0:
            return True
        rate = max(self.change / before, self.slowest)
        near = 0 < self.change / before < 1 and self.change * max(rate / (1 - rate), 1.0) <= SETTLED
        return bool(near and np.all(moved <= GROWTH * np.maximum(last, TINY)))


class _Leap:
    """Extrapolates errors and shares from those of three rounds, along their changes r and the change v of these.

    With the length a = |r| / |v| it is x + 2 a r + a^2 v, cut off at zero.
    """

    def __init__(self) -> None:
        self.taken = False
        """Whether the last point was extrapolated."""
        self._points: list[Floats] = []

    def from_here(self, errors: Floats, priors: Floats) -> tuple[Floats, Floats]:
        """Where the next round starts: at these errors and shares, or further on."""
        self.start, self.taken = (errors, priors), False
        self._points.append(np.concatenate([errors.ravel(), priors]))
        if len(self._points) < 3:
            return self.start
        first, second, third = self._points
        self._points = []
        change, bend = second - first, third - 2 * second + first
        length = np.linalg.norm(change) / max(float(np.linalg.norm(bend)), TINY**2)
        if length <= 1:
            return self.start
        self.taken = True
        further = first + 2 * length * change + length**2 * bend
        further = np.where(third > 0, np.maximum(further, LEAST / 1000), 0.0)
        far_errors, far_priors = np.split(further, [errors.size])
        total = far_errors.reshape(errors.shape).sum(axis=1, keepdims=True)
        return far_errors.reshape(errors.shape) / np.where(total > 0, total, 1.0), far_priors / far_priors.sum()


@dataclass(frozen=True)
class LabelModel:
    """The probability of each label for each item, and what participants and items are like."""

    posteriors: Floats
    """Items by labels."""
    ability: Floats
    """MACE: how often each participant knows the label; GLAD: their ability, below 0 for misleading answers."""
    easiness: Floats | None
    """GLAD: b of each item."""
    iterations: int
    converged: bool


def mace(
    items: ArrayLike, raters: ArrayLike, labels: ArrayLike, kinds: int | None = None, iterations: int = 1000
) -> LabelModel:
    """MACE's labels and competences, by variational Bayes; answers are given as for `dawid_skene`.

    >>> items, raters = np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8)
    >>> truth = np.arange(8) % 2
    >>> found = mace(items, raters, np.where(raters == 2, 0, truth[items]))
    >>> found.posteriors.argmax(axis=1).tolist(), bool(found.ability[2] < found.ability[0])
    ([0, 1, 0, 1, 0, 1, 0, 1], True)
    """
    (item, rater, label), (rows, people, size) = _coded(items, raters, labels, kinds)
    answers = np.bincount(rater, minlength=people)
    cell = rater * size + label
    knows, guesses = np.full(people, 0.5), np.full(people * size, 0.5 / size)
    posteriors, converged, done = label_shares(item, label, np.ones(len(item)), rows, size), False, 0
    watch = _Watch()
    known: Floats = np.zeros(people)
    while done < iterations and not converged:
        last = posteriors
        guess, know = guesses[cell], knows[rater]
        # Under every other label an answer is a guess, so that only its own label has more.
        logs = np.bincount(item * size + label, np.log1p(know / guess), rows * size).reshape(rows, size)
        posteriors = softmax(logs, axis=1)
        knew = posteriors[item, label] * know / (know + guess)
        known = np.bincount(rater, knew, people).astype(np.float64)
        habits = np.bincount(cell, 1 - knew, people * size).reshape(people, size)
        # exp(E log t) and so on: variational Bayes in place of shares of counts.
        both = digamma(answers + 2 * COMPETENCE)
        knows = np.exp(digamma(known + COMPETENCE) - both)
        spread = digamma(habits + HABIT) - digamma(habits.sum(axis=1, keepdims=True) + HABIT * size)
        guesses = np.exp(spread + (digamma(answers - known + COMPETENCE) - both)[:, None]).ravel()
        done += 1
        converged = watch.settled(last, posteriors)
    competence = (known + COMPETENCE) / (answers + 2 * COMPETENCE)
    return LabelModel(posteriors, competence, None, done, converged)


def glad(
    items: ArrayLike, raters: ArrayLike, labels: ArrayLike, kinds: int | None = None, iterations: int = 1000
) -> LabelModel:
    """GLAD's labels, abilities and easiness, by EM; answers are given as for `dawid_skene`.

    >>> items, raters = np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8)
    >>> truth = np.arange(8) % 2
    >>> found = glad(items, raters, np.where(raters == 2, 1 - truth[items], truth[items]))
    >>> found.posteriors.argmax(axis=1).tolist(), bool(found.ability[2] < 0 < found.ability[0])
    ([0, 1, 0, 1, 0, 1, 0, 1], True)
    """
    from scipy.optimize import minimize

    (item, rater, label), (rows, people, size) = _coded(items, raters, labels, kinds)
    parameters = np.ones(people + rows)

    def evidence(parameters: Floats) -> tuple[Floats, Floats, Floats]:
        ability, easiness = parameters[:people][rater], np.exp(np.minimum(parameters[people:], 20.0))[item]
        return ability, easiness, ability * easiness

    def loss(parameters: Floats, right: Floats) -> tuple[float, Floats]:
        ability, easiness, logit = evidence(parameters)
        value = right * log_expit(logit) + (1 - right) * (log_expit(-logit) - np.log(max(size - 1, 1)))
        slope = right - expit(logit)
        gradient = np.concatenate([
            np.bincount(rater, slope * easiness, people), np.bincount(item, slope * ability * easiness, rows)
        ])  # fmt: skip
        centred = parameters - 1
        return float(centred @ centred / 2 - value.sum()), centred - gradient

    posteriors, converged, done, watch = label_shares(item, label, np.ones(len(item)), rows, size), False, 0, _Watch()
    while done < iterations and not converged:
        last = posteriors
        _, _, logit = evidence(parameters)
        # log P(right) - log P(this wrong label) for the label that was given.
        more = np.bincount(item * size + label, logit + np.log(max(size - 1, 1)), rows * size).reshape(rows, size)
        posteriors = softmax(more, axis=1)
        parameters = minimize(
            loss, parameters, (posteriors[item, label],), "L-BFGS-B", jac=True, options={"maxiter": GLAD_STEPS}
        ).x
        done += 1
        converged = watch.settled(last, posteriors)
    return LabelModel(posteriors, parameters[:people], np.exp(parameters[people:]), done, converged)


def label_shares(items: Ints, labels: Ints, weights: Floats, rows: int, kinds: int) -> Floats:
    """The share of each label among the answers to each item, where answers may have weights."""
    counts = np.bincount(items * kinds + labels, weights, rows * kinds).reshape(rows, kinds)
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, total, out=np.full(counts.shape, 1 / kinds), where=total > 0))


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
    return np.asarray(np.maximum(softmax(np.tensordot(parameters, features, axes=1), axis=1), 1e-300))


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
    return np.asarray(np.einsum("pkc,pkc->p", counts, np.log(_ordered_errors(parameters, features))))
