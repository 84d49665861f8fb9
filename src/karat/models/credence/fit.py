"""Fit the mixture of behaviours: alternate between judging everybody and learning from those who seem attentive.

With many participants, most rounds use a random sample, and a few rounds with everybody follow until the probabilities
settle. In a large crowd where each participant judges a few of very many stimuli, a sample would share next to no
stimuli. All rounds then use everybody, and no second group of speakers is looked for, because it could not be
distinguished from chance.

There are two models of attentive answers: strengths of stimuli, and classes (`classes`). Each gives the probability of
everybody's answers given those of the others, and the crowd as a whole decides which one describes it. Labels and
yes-no answers go straight to classes if half of the stimuli have fewer than nine answers, because strengths are then
too uncertain. Ratings use strengths unless classes describe them far better, as happens if numbers are really labels.

A second group of speakers disagrees with the others consistently but agrees with itself. The slopes of all answers in
the strengths of the stimuli are what the first group leaves unexplained; a shared second grammar gives these slopes a
common direction. The singular values of the matrix of participants x stimuli are compared with those of the same matrix
with random signs, which keeps the sizes and breaks any common direction. Each of the first three values above the
median of these is tried (a weak test, but only a reason to look), starting from the participants on the smaller side.
The best second group is kept if

- the total log probability, each participant judged without their own answers, rises by `GAIN`,
- its members agree about as much as those of the first group, unlike people who guess,
- both groups agree with each other less than `ALIKE`, unlike people who only differ in ability, and
- each group has at least five members.

Before anybody is judged, the model is compared with the data (`compare`). The answers of participants who seem
attentive are repeatedly redrawn from the fitted model. How often two of them agree on a stimulus, how much stimuli
differ in this, the entropy of the answers to a stimulus and, if the order is known, how often a button is repeated must
match the data. And participants who seem not to look must agree with each other only by chance. If they agree about as
well as the others, or half as many of them do as are not flagged, they do look, but at something else.
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
"""Learning ends when the probability changed by more than the first for less than the second share of participants."""


@dataclass(frozen=True)
class Fitted:
    """The learned mixture and its last step over everybody."""

    mixture: Mixture
    step: MixtureStep
    sparse: bool = False
    """Whether too few judged the same stimuli for a second group of speakers to be looked for."""

    @property
    def log_odds(self) -> Floats:
        """The log odds of being attentive throughout."""
        return self.mixture.log_odds(self.step.likelihood)


def fit_credence(
    trials: CredenceTrials, seed: int = 1, progress: Progress | None = None, sampled: bool = False, enough: int = ENOUGH
) -> Fitted:
    """Learn from all participants who was attentive, and judge each by the others.

    `sampled` means that these participants are a sample, which may share fewer stimuli than the whole crowd does. With
    more than `enough` answers, most rounds use a sample of participants.

    >>> from karat.models.credence.trials import ScaleTrials
    >>> random = np.random.default_rng(1)
    >>> item = random.permuted(np.tile(np.arange(30), (20, 1)), axis=1)
    >>> answer = (random.random((20, 30)) < np.where(item < 15, 0.9, 0.1)).astype(np.int64)
    >>> answer[0] = random.integers(0, 2, 30)
    >>> found = fit_credence(CredenceTrials((ScaleTrials(item, answer, answer, 30, 2),)))
    >>> int(found.log_odds.argmin()), bool(found.log_odds[1:].min() > 0)
    (0, True)
    """
    report_step = progress or (lambda done, of: None)
    total = ROUNDS + MORE_ROUNDS + 2 * ROUNDS
    if not sampled and all(part.few_answers for part in trials.parts):
        found = _fitted_by_classes(trials, lambda done: report_step(done, ROUNDS))
        report_step(total, total)
        return found
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
    """Rounds with everybody until the probabilities of being attentive settle."""
    before = np.full(mixture.people, np.nan)
    for done in range(ROUNDS):
        now = mixture.step(slopes=False).posterior[:, ATTENTIVE]
        report_step(done)
        if done >= FEWEST_OF_ALL - 1 and float((np.abs(now - before) > CHANGED).mean()) < STILL:
            return
        before = now


def _learned(trials: CredenceTrials, weight: Floats, seed: int, report_step: Callable[[int], object]) -> Mixture:
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
"""The correlation of the strengths of both groups above which they are one."""
AGREE = 0.6
"""The least spread of the second group's strengths, relative to the first: less means that its members disagree."""


def directions(mixture: Mixture, seed: int) -> list[Floats]:
    """Everybody's positions on the common directions of the unexplained part that exceed chance."""
    random = np.random.default_rng(seed)
    table = sparse.hstack([_unexplained(one) for one in mixture.by_strengths], format="csr")
    if min(table.shape) < 2 * FEWEST or not table.nnz:
        return []
    start = np.ones(min(table.shape))
    left, values, _ = svds(table, k=DIRECTIONS, v0=start)
    by_chance = []
    for _ in range(SIGNS):
        signed = table.copy()
        signed.data = signed.data * random.choice([-1.0, 1.0], len(signed.data))
        by_chance.append(float(svds(signed, k=1, v0=start, return_singular_vectors=False)[0]))
    return [left[:, place] for place in np.argsort(-values) if values[place] > np.median(by_chance)]


def _unexplained(one: Attentive) -> sparse.csr_array:
    """Slopes of everybody's answers in the strengths, participants x stimuli (and levels).

    Those who do not seem attentive are included, because a second grammar looks like inattention at first. The mean of
    each participant is subtracted, because a favourite answer is no grammar.
    """
    part = one.part
    rows = np.nonzero(part.there)
    number = np.maximum(part.there.sum(axis=1), 1)
    mean = np.bincount(rows[0], one.slopes[rows], len(part.item)) / number
    values = np.clip(one.slopes[rows] - mean[rows[0]], -2, 2)
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
    """Start a second group from its probable members."""
    for one in mixture.by_strengths:
        places = members[:, None] * np.exp(one.log_weights)
        # Members count in full, even if the first group took them for inattentive.
        one.add_group(places, one.part.there.astype(np.float64))
    share = float(np.clip(members.mean(), 0.02, 0.5))
    mixture.group_shares = np.array([1 - share, share])


def is_worth_it(mixture: Mixture, before: MixtureStep, after: MixtureStep) -> bool:
    """Whether the second group meets the conditions above."""
    members = (after.weight.mean(axis=1)[:, None] * after.group).sum(axis=0)
    if members.min() < FEWEST or float((after.evidence - before.evidence).sum()) < GAIN:
        return False
    first, second = (
        np.concatenate([one.groups[group].strengths.ravel() for one in mixture.by_strengths]) for group in (0, 1)
    )
    alike = float(np.corrcoef(first, second)[0, 1])
    return bool(second.std() >= AGREE * first.std() and alike <= ALIKE)


FIRST_DRAWS, DRAWS, UNSURE = 20, 200, 1.5
"""Predictions to draw at first, and predictions to draw if a gap lies within this many standard deviations of a limit,
where with few of them the verdict would depend on the seed."""
MOST_APART, MOST_AMONG = 0.05, 0.5
"""The largest gap between a figure and its prediction, and the largest agreement among flagged participants, relative
to the others. Both are halved if many are flagged."""
CERTAIN, CAMP = 4.0, 0.5
"""Standard errors from which flagged participants certainly agree with one another, and how many of them make a camp,
per participant who is not flagged."""
MOST_ATTENTIVE = 300
"""This many attentive participants are drawn anew at most."""


@dataclass(frozen=True)
class Comparison:
    """One figure of the data beside what the model predicts, both between 0 and 1."""

    figure: str
    observed: float
    expected: float
    error: float
    """The standard deviation of predictions."""

    @property
    def gap(self) -> float:
        """How far the data are from what is predicted, beyond three standard deviations."""
        return max(abs(self.observed - self.expected) - 3 * self.error, 0.0)

    def fails(self, strictly: bool = False) -> bool:
        """Whether the model does not describe the data; `strictly` halves what is tolerated."""
        return self.gap > self.most / (2 if strictly else 1)

    @property
    def most(self) -> float:
        """The gap that is tolerated."""
        return MOST_AMONG if self.figure == "flagged" else MOST_APART

    @property
    def is_close(self) -> bool:
        """Whether more predictions could change what `fails` says."""
        gap, unsure = abs(self.observed - self.expected) - 3 * self.error, UNSURE * self.error
        return self.most / 2 - unsure < gap < self.most + unsure


def compare(fitted: Fitted, flagged: Bools, seed: int = 1) -> tuple[Comparison, ...]:
    """The model beside the data, for those who are not flagged; and how far those who are agree with each other.

    >>> from karat.models.credence.trials import ScaleTrials
    >>> random = np.random.default_rng(1)
    >>> item = np.tile(np.arange(40), (20, 1))
    >>> answer = (random.random((20, 40)) < np.where(item < 20, 0.9, 0.1)).astype(np.int64)
    >>> found = fit_credence(CredenceTrials((ScaleTrials(item, answer, answer, 40, 2),), in_sequence=False))
    >>> all(one.gap == 0 for one in compare(found, np.zeros(20, dtype=bool)))
    True
    """
    random, mixture = np.random.default_rng(seed), fitted.mixture
    attentive = np.flatnonzero(~flagged & (fitted.step.posterior[:, ATTENTIVE] > 1 / 2))
    some = np.zeros(mixture.people, dtype=bool)
    some[random.permutation(attentive)[:MOST_ATTENTIVE]] = True
    group = fitted.step.group.argmax(axis=1)
    observed = _figures(mixture, [one.part.content for one in mixture.attentive], some)
    drawn: list[dict[str, float]] = []
    found: list[Comparison] = []
    for number in (FIRST_DRAWS, DRAWS):
        while len(drawn) < number:
            drawn.append(_figures(mixture, [one.predict(some, group, random) for one in mixture.attentive], some))
        values = {figure: np.array([one[figure] for one in drawn]) for figure in observed}
        found = [
            Comparison(figure, value, float(values[figure].mean()), float(values[figure].std()))
            for figure, value in observed.items()
        ]
        if not any(one.is_close for one in found):
            break
    looks = fitted.step.otherwise > 1 / 2
    camp = _camp(mixture.trials, flagged)
    among = [_agreement(part, part.there & camp[:, None] & ~looks) for part in mixture.trials.parts]
    usual = [_agreement(part, part.there & some[:, None]) for part in mixture.trials.parts]
    own, others = (np.sum(each, axis=0) for each in (among, usual))
    if flagged.sum() >= FEWEST and own[1] > 0 and others[0] > 0:
        ratio = (own[0] / own[1]) / (others[0] / others[1])
        found.append(Comparison("flagged", float(np.clip(ratio, 0, 1)), 0.0, float(own[2] / own[1] / 3)))
    return tuple(found)


def _camp(trials: CredenceTrials, flagged: Bools) -> Bools:
    """All who are flagged; or those of them who agree with one another, where these are a camp of their own.

    A group of accounts with the same answers passes for people of perfect agreement, and everybody else for careless.
    """
    found = flagged.copy()
    if flagged.sum() >= FEWEST:
        found[flagged] = beyond_chance(trials.of(np.flatnonzero(flagged))) >= CERTAIN
    return found if found.sum() >= max(FEWEST, CAMP * (~flagged).sum()) else flagged


def _figures(mixture: Mixture, contents: list[Ints], some: Bools) -> dict[str, float]:
    """Agreement, its spread over stimuli, entropy and repeated buttons, over the answers of some participants."""
    sums: dict[str, list[float]] = {}
    for one, content in zip(mixture.attentive, contents, strict=True):
        part = one.part
        there = part.there & some[:, None]
        code = (part.item * part.levels + content)[there]
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
        own = {
            "agreement": mean, "spread": float(np.sqrt(np.average((agree - mean) ** 2, weights=pairs))),
            "entropy": float(np.average(entropy, weights=number)),
        }  # fmt: skip
        if mixture.trials.in_sequence:
            both = there[:, 1:] & there[:, :-1]
            # What stands for a button follows what is said, turned where it was turned in the data.
            shown = np.where(part.button == part.content, content, part.levels - 1 - content)
            own["runs"] = float((shown[:, 1:] == shown[:, :-1])[both].mean()) if both.any() else 0.0
        for figure, value in own.items():
            sums.setdefault(figure, []).append(value)
    return {figure: float(np.mean(values)) for figure, values in sums.items()}


def _agreement(part: ScaleTrials, there: Bools) -> Floats:
    """Agreement beyond chance, how much there could be, and the standard error of the first, of some answers."""
    own = replace(part, content=np.where(there, part.content, -1), ordered=False)
    excess, variance, most = excess_agreement(own)
    return np.array([excess.sum(), most.sum(), np.sqrt(variance.sum())])
