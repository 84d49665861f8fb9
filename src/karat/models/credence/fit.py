"""Fit the mixture of behaviours: alternate between judging all participants and learning from the attentive ones.

With many participants, most rounds use a random sample, and a few rounds with all participants follow until the
probabilities settle. In a large crowd where each participant judges a few of very many stimuli, a sample would have
hardly any stimuli in common. All rounds then use all participants, and there is no search for a second group of
speakers, because it could not be distinguished from chance.

There are two models of attentive answers: strengths of stimuli, and classes (`classes`). Each gives the probability of
all participants' answers given those of the others, and the model with the higher probability is used. Labels and
yes-no answers go straight to classes if half of the stimuli have fewer than nine answers, because strengths are then
too uncertain. Ratings use strengths unless classes describe them far better, as happens if numbers are really labels.

A second group of speakers disagrees with the others consistently but agrees with itself. The slopes of all answers in
the strengths of the stimuli are what the first group leaves unexplained; a shared second grammar gives these slopes a
common direction. The singular values of the matrix of participants x stimuli are compared with those of the same matrix
with random signs, which have the same sizes but no common direction. Each of the first three values above the median
of these is tried (a weak test, but only a reason to look), starting from the participants on the smaller side. The best
second group is accepted if

- the total log probability, each participant judged without their own answers, rises by `GAIN`,
- its members agree about as much as those of the first group, unlike people who guess,
- both groups agree with each other less than `ALIKE`, unlike people who only differ in ability, and
- each group has at least five members.

Before the results are used, the model is compared with the data (`compare`). The answers of participants who seem
attentive are repeatedly redrawn from the fitted model. How often two of them agree on a stimulus, how much stimuli
differ in this, the entropy of the answers to a stimulus and, if the order is known, how often a button is repeated must
match the data. In addition, flagged participants must agree with each other only by chance. If they agree about as well
as the others, or if half as many of them agree as are not flagged, they do look, but at something else.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from karat.models.credence.attentive import Attentive
from karat.models.credence.mixture import ATTENTIVE, Mixture, MixtureStep
from karat.models.credence.trials import CredenceTrials, ScaleTrials, beyond_chance, excess_agreement, first_weights
from karat.types import Bools, Floats, Ints, Progress

ROUNDS, FIRST_ROUNDS, MORE_ROUNDS, FEWEST_OF_ALL = 15, 5, 7, 2
ENOUGH = 40_000
"""With more answers than this, most rounds use a sample of participants."""
SHARED = 10
"""At least half of the stimuli must have this many answers from the sample."""
GAIN_BY_CLASSES = 0.1
"""Ratings are judged by classes at this gain in log probability per rating, which only labels in disguise reach."""
CHANGED, STILL = 0.05, 0.001
"""Learning ends when fewer than `STILL` of the participants change their probability by more than `CHANGED`."""


@dataclass(frozen=True)
class Fitted:
    """The fitted mixture and its final step over all participants."""

    mixture: Mixture
    step: MixtureStep
    sparse: bool = False
    """Whether too few participants judged the same stimuli to look for a second group of speakers."""

    @property
    def log_odds(self) -> Floats:
        """The log odds of being attentive throughout."""
        return self.mixture.log_odds(self.step.likelihood)


def fit_credence(
    trials: CredenceTrials, seed: int = 1, progress: Progress | None = None, sampled: bool = False, enough: int = ENOUGH
) -> Fitted:
    """Fit the model to all participants; each is judged by the others.

    `sampled` means that these participants are a sample, which may share fewer stimuli than the whole crowd does. With
    more than `enough` answers, most rounds use a sample of participants.

    >>> from karat.models.credence.trials import ScaleTrials
    >>> random = np.random.default_rng(1)
    >>> item = random.permuted(np.tile(np.arange(30), (20, 1)), axis=1)
    >>> answer = (random.random((20, 30)) < np.where(item < 15, 0.9, 0.1)).astype(np.int64)
    >>> answer[0] = random.integers(0, 2, 30)
    >>> fitted = fit_credence(CredenceTrials((ScaleTrials(item, answer, answer, 30, 2),)))
    >>> int(fitted.log_odds.argmin()), bool(fitted.log_odds[1:].min() > 0)
    (0, True)
    """
    report_step = progress or (lambda done, of: None)
    total = ROUNDS + MORE_ROUNDS + 2 * ROUNDS
    if not sampled and all(part.few_answers for part in trials.parts):
        by_classes = _fitted_by_classes(trials, lambda done: report_step(done, ROUNDS))
        report_step(total, total)
        return by_classes
    by_strengths = _fitted_by_strengths(trials, seed, enough, lambda done: report_step(done, total))
    if not any(part.has_classes for part in trials.parts):
        report_step(total, total)
        return by_strengths
    by_classes = _fitted_by_classes(
        trials, lambda done: report_step(ROUNDS + MORE_ROUNDS + ROUNDS + done, total), by_strengths.mixture
    )
    report_step(total, total)
    graded = sum(int(part.there.sum()) for part in trials.parts if part.ordered and part.levels > 2)
    gain = float((by_classes.step.evidence - by_strengths.step.evidence).sum())
    return by_classes if gain > GAIN_BY_CLASSES * graded else by_strengths


def _fitted_by_classes(
    trials: CredenceTrials, report_step: Callable[[int], object], like: Mixture | None = None
) -> Fitted:  # fmt: skip
    mixture = Mixture(trials, first_weights(trials), by_classes=True, like=like)
    _until_still(mixture, report_step)
    return Fitted(mixture, mixture.step(learn=False), sparse=True)


def _fitted_by_strengths(
    trials: CredenceTrials, seed: int, enough: int, report_step: Callable[[int], object]
) -> Fitted:
    weight = first_weights(trials)
    people, count = trials.shape
    some = np.arange(people)
    if people * count > enough:
        some = np.sort(np.random.default_rng(seed).permutation(people)[: max(100, enough // count)])
    # The median number of answers per stimulus.
    answers = float(np.median(np.concatenate([np.bincount(part.item[part.there]) for part in trials.parts])))
    sparse = len(some) < people and answers * len(some) / people < SHARED
    learned = None if sparse else _learned(trials.of(some), weight[some], seed, report_step)
    if learned is not None and len(some) == people:
        mixture = learned
    else:
        mixture = Mixture(trials, weight)
        if learned is not None:
            mixture.adopt(learned)
        _until_still(mixture, lambda done: report_step(ROUNDS + MORE_ROUNDS + done))
    return Fitted(mixture, mixture.step(learn=False), sparse)


def _until_still(mixture: Mixture, report_step: Callable[[int], object]) -> None:
    """Run rounds with all participants until the probabilities of being attentive settle."""
    before = np.full(mixture.people, np.nan)
    for done in range(ROUNDS):
        now = mixture.step(slopes=False).posterior[:, ATTENTIVE]
        report_step(done)
        if done >= FEWEST_OF_ALL - 1 and float((np.abs(now - before) > CHANGED).mean()) < STILL:
            return
        before = now


def _learned(trials: CredenceTrials, weight: Floats, seed: int, report_step: Callable[[int], object]) -> Mixture:
    """A mixture fitted by a fixed number of rounds, with a second group of speakers if it is worth it."""
    mixture = Mixture(trials, weight)
    step = mixture.step(slopes=False)
    for done in range(1, ROUNDS):
        # The search for a second group uses the slopes of the last round.
        step = mixture.step(slopes=done == ROUNDS - 1)
        report_step(done)
    tried: list[tuple[float, int, Mixture]] = []
    for direction in directions(mixture, seed):
        wider = deepcopy(mixture)
        with_second_group(wider, minority(direction))
        for _ in range(FIRST_ROUNDS):
            after = wider.step(slopes=False)
        tried.append((float(after.evidence.sum()), len(tried), wider))
    if not tried:
        return mixture
    *_, wider = max(tried)
    for done in range(MORE_ROUNDS):
        after = wider.step(slopes=False)
        report_step(ROUNDS + done)
    return wider if is_worth_it(wider, step, after) else mixture


SIGNS = 9
FEWEST = 5
GAIN = 10.0
DIRECTIONS = 3
ALIKE = 0.8
"""Groups whose strengths have a higher correlation than this are the same group."""
AGREE = 0.6
"""The least spread of the second group's strengths, relative to the first: less means that its members disagree."""


def directions(mixture: Mixture, seed: int) -> list[Floats]:
    """The participants' positions on each common direction of the unexplained part that exceeds chance."""
    random = np.random.default_rng(seed)
    table = sparse.hstack([_unexplained(model) for model in mixture.by_strengths], format="csr")
    if min(table.shape) < 2 * FEWEST or not table.nnz:
        return []
    start = np.ones(min(table.shape))
    vectors, values, _ = svds(table, k=DIRECTIONS, v0=start)
    by_chance = []
    for _ in range(SIGNS):
        signed = table.copy()
        signed.data = signed.data * random.choice([-1.0, 1.0], len(signed.data))
        by_chance.append(float(svds(signed, k=1, v0=start, return_singular_vectors=False)[0]))
    return [vectors[:, place] for place in np.argsort(-values) if values[place] > np.median(by_chance)]


def _unexplained(model: Attentive) -> sparse.csr_array:
    """The slopes of all answers in the strengths, participants x stimuli (and levels).

    Participants who do not seem attentive are included, because a second grammar looks like inattention at first. The
    mean of each participant is subtracted, because a favourite answer is not a grammar.
    """
    part = model.part
    rows = np.nonzero(part.there)
    number = np.maximum(part.there.sum(axis=1), 1)
    mean = np.bincount(rows[0], model.slopes[rows], len(part.item)) / number
    values = np.clip(model.slopes[rows] - mean[rows[0]], -2, 2)
    columns, width = part.item[rows], part.items
    if not part.ordered:
        columns, width = columns * part.levels + part.content[rows], width * part.levels
    return sparse.csr_array((values, (rows[0], columns)), shape=(len(part.item), width))


def minority(direction: Floats) -> Floats:
    """The participants on the smaller side of a direction, by the best split into two clusters.

    >>> minority(np.array([0.1, 0.0, -0.1, 0.1, 2.0, 2.1])).tolist()
    [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    """
    ordered = np.sort(direction)
    number = np.arange(1, len(ordered))
    below, total = np.cumsum(ordered)[:-1], ordered.sum()
    between = (below - number / len(ordered) * total) ** 2 / (number * (len(ordered) - number))
    cut = ordered[int(np.argmax(between))]
    upper = direction > cut
    small = upper if upper.sum() <= len(upper) / 2 else ~upper
    return np.asarray(small.astype(np.float64))


def with_second_group(mixture: Mixture, members: Floats) -> None:
    """Start a second group of speakers from its probable members."""
    for model in mixture.by_strengths:
        places = members[:, None] * np.exp(model.log_weights)
        # Members count in full, even if the first group took them for inattentive.
        model.add_group(places, model.part.there.astype(np.float64))
    share = float(np.clip(members.mean(), 0.02, 0.5))
    mixture.group_shares = np.array([1 - share, share])


def is_worth_it(mixture: Mixture, before: MixtureStep, after: MixtureStep) -> bool:
    """Whether the second group meets the conditions in the module's docstring."""
    members = (after.weight.mean(axis=1)[:, None] * after.group).sum(axis=0)
    if members.min() < FEWEST or float((after.evidence - before.evidence).sum()) < GAIN:
        return False
    first, second = (
        np.concatenate([model.groups[group].strengths.ravel() for model in mixture.by_strengths]) for group in (0, 1)
    )
    correlation = float(np.corrcoef(first, second)[0, 1])
    return bool(second.std() >= AGREE * first.std() and correlation <= ALIKE)


FIRST_DRAWS, DRAWS, UNSURE = 20, 200, 1.5
"""The initial number of predictions, and the number if a gap is within `UNSURE` standard deviations of a limit, because
with few predictions the result would then depend on the seed."""
MOST_APART, MOST_AMONG = 0.05, 0.5
"""The largest acceptable gap between a figure and its prediction, and the largest acceptable agreement among flagged
participants relative to the others. Both are halved if many are flagged."""
CERTAIN, CAMP = 4.0, 0.5
"""Flagged participants agree with one another from this many standard errors, and form a camp if at least this many of
them agree per participant who is not flagged."""
MOST_ATTENTIVE = 300
"""The maximum number of attentive participants whose answers are predicted."""


@dataclass(frozen=True)
class Comparison:
    """A figure of the data and its prediction by the model, both between 0 and 1."""

    figure: str
    observed: float
    expected: float
    error: float
    """The standard deviation of the predictions."""

    @property
    def gap(self) -> float:
        """The distance between data and prediction in excess of three standard deviations."""
        return max(abs(self.observed - self.expected) - 3 * self.error, 0.0)

    def fails(self, strictly: bool = False) -> bool:
        """Whether the gap exceeds the acceptable one; `strictly` halves the acceptable gap."""
        return self.gap > self.most / (2 if strictly else 1)

    @property
    def most(self) -> float:
        """The largest acceptable gap."""
        return MOST_AMONG if self.figure == "flagged" else MOST_APART

    @property
    def is_close(self) -> bool:
        """Whether more predictions could change the result of `fails`."""
        gap, unsure = abs(self.observed - self.expected) - 3 * self.error, UNSURE * self.error
        return self.most / 2 - unsure < gap < self.most + unsure


def compare(fitted: Fitted, flagged: Bools, seed: int = 1) -> tuple[Comparison, ...]:
    """Compare the model with the data of unflagged participants, and the agreement of flagged ones with chance.

    >>> from karat.models.credence.trials import ScaleTrials
    >>> random = np.random.default_rng(1)
    >>> item = np.tile(np.arange(40), (20, 1))
    >>> answer = (random.random((20, 40)) < np.where(item < 20, 0.9, 0.1)).astype(np.int64)
    >>> fitted = fit_credence(CredenceTrials((ScaleTrials(item, answer, answer, 40, 2),), in_sequence=False))
    >>> all(comparison.gap == 0 for comparison in compare(fitted, np.zeros(20, dtype=bool)))
    True
    """
    random, mixture = np.random.default_rng(seed), fitted.mixture
    attentive = np.flatnonzero(~flagged & (fitted.step.posterior[:, ATTENTIVE] > 1 / 2))
    sample = np.zeros(mixture.people, dtype=bool)
    sample[random.permutation(attentive)[:MOST_ATTENTIVE]] = True
    group = fitted.step.group.argmax(axis=1)
    observed = _figures(mixture, [model.part.content for model in mixture.attentive], sample)
    predictions: list[dict[str, float]] = []
    comparisons: list[Comparison] = []
    for draws in (FIRST_DRAWS, DRAWS):
        while len(predictions) < draws:
            contents = [model.predict(sample, group, random) for model in mixture.attentive]
            predictions.append(_figures(mixture, contents, sample))
        values = {figure: np.array([prediction[figure] for prediction in predictions]) for figure in observed}
        comparisons = [
            Comparison(figure, value, float(values[figure].mean()), float(values[figure].std()))
            for figure, value in observed.items()
        ]
        if not any(comparison.is_close for comparison in comparisons):
            break
    looking = fitted.step.otherwise > 1 / 2
    camp = _camp(mixture.trials, flagged)
    parts = mixture.trials.parts
    agreement, largest, error = np.sum(
        [_agreement(part, part.there & camp[:, None] & ~looking) for part in parts], axis=0
    )
    others, others_largest, _ = np.sum([_agreement(part, part.there & sample[:, None]) for part in parts], axis=0)
    if flagged.sum() >= FEWEST and largest > 0 and others > 0:
        ratio = (agreement / largest) / (others / others_largest)
        comparisons.append(Comparison("flagged", float(np.clip(ratio, 0, 1)), 0.0, float(error / largest / 3)))
    return tuple(comparisons)


def _camp(trials: CredenceTrials, flagged: Bools) -> Bools:
    """The flagged participants who agree with one another, if they are numerous enough; otherwise all flagged ones.

    A group of accounts with the same answers seems to agree perfectly, so that all other participants seem careless.
    """
    members = flagged.copy()
    if flagged.sum() >= FEWEST:
        members[flagged] = beyond_chance(trials.of(np.flatnonzero(flagged))) >= CERTAIN
    return members if members.sum() >= max(FEWEST, CAMP * (~flagged).sum()) else flagged


def _figures(mixture: Mixture, contents: list[Ints], sample: Bools) -> dict[str, float]:
    """Agreement, its spread over stimuli, entropy and repeated buttons in the answers of a sample of participants."""
    sums: dict[str, list[float]] = {}
    for model, content in zip(mixture.attentive, contents, strict=True):
        part = model.part
        answered = part.there & sample[:, None]
        code = (part.item * part.levels + content)[answered]
        counts = np.bincount(code, minlength=part.items * part.levels).reshape(part.items, part.levels)
        number = counts.sum(axis=1)
        counts, number = counts[number > 1], number[number > 1]
        if not len(number):
            continue
        pairs = number * (number - 1.0)
        agree = (counts * (counts - 1.0)).sum(axis=1) / pairs
        mean = float(np.average(agree, weights=pairs))
        shares = counts / number[:, None]
        entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=1) / np.log(part.levels)
        figures = {
            "agreement": mean, "spread": float(np.sqrt(np.average((agree - mean) ** 2, weights=pairs))),
            "entropy": float(np.average(entropy, weights=number)),
        }  # fmt: skip
        if mixture.trials.in_sequence:
            both = answered[:, 1:] & answered[:, :-1]
            # The button of a predicted answer is reversed if it was reversed in the data.
            button = np.where(part.button == part.content, content, part.levels - 1 - content)
            figures["runs"] = float((button[:, 1:] == button[:, :-1])[both].mean()) if both.any() else 0.0
        for figure, value in figures.items():
            sums.setdefault(figure, []).append(value)
    return {figure: float(np.mean(values)) for figure, values in sums.items()}


def _agreement(part: ScaleTrials, included: Bools) -> Floats:
    """The agreement of these answers beyond chance, its maximum, and its standard error."""
    subset = replace(part, content=np.where(included, part.content, -1), ordered=False)
    excess, variance, largest = excess_agreement(subset)
    return np.array([excess.sum(), largest.sum(), np.sqrt(variance.sum())])
