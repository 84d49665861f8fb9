"""Twins: participants whose answers agree with each other more than the items explain.

Copied answers, one person with several accounts and one language model behind several accounts leave the same trace:
two records agree where independent participants differ. The criterion needs neither the order of trials nor times.

*What the items explain.* The shares of the answers to an item follow a Dirichlet distribution around the shares of the
whole study, with the most likely concentration. Let a be its parameters plus the answers of everybody except p and q,
and A their sum. Two independent participants agree on item s with probability

    e_s = sum_k a_k (a_k + 1) / (A (A + 1)).

Habits can explain more agreement than that. Two participants who always give one answer agree throughout, and two who
choose the same answer when in doubt agree wherever the others are divided. The expected agreement of a pair is the
larger of the two. The share of open answers that p and q have in common is

    c = sum_s (agree_s - e_s) / sum_s (1 - e_s):

0 for independent records, 1 for two records that never differ.

*What the participants explain.* Careful participants agree better with everybody, so c = m + a_p + a_q + residual. The
quarter of partners who agree best with p may be copies and do not count towards a_p. Negative effects are set to 0,
because two people who disagree with most others may share a grammar. Residuals of real pairs vary by more than chance.
Their standard deviation tau is estimated from the pairs that agree less than expected and from those in the middle.
In a group of three or more participants with residuals above 1.5 standard errors, each pair is compared without the
rest of the group; otherwise the third of three copies would explain the first two.

*Null.* The same computation runs on simulated crowds of the same size. Their answers are drawn from the shares of the
items, and pairs share as much taste as tau says. The false discovery rate of a pair is

    (simulated pairs that agree as much, per crowd) / (real pairs of its group that agree as much).

*Verdict.* A pair is flagged if its rate is at most `rate`, c is at least `at_least`, and both participants agree by two
standard errors less with their fourth best partner (in large crowds, with the last of the best tenth), because experts
agree with all experts. The most alike group is removed before the rest is judged. Each group must also be alike without
the others and, where they gave a fifth of the answers or more, without those who agree with the crowd clearly less than
half as well as is usual: among many who guess, two people who know the answers look like copies. So do two experts
beside language models that agree with each other. Each group must be alike without those named after models, too.

*Knowledge.* A few people who know the right answers, or share a notion or a dialect that others lack, agree on yes and
no or on a handful of labels as copies do: nothing in the answers distinguishes them. There, pairs are named and nobody
is flagged. On a scale of four points or more, and with as many labels in use as six that are equally frequent, even
those who know do not give the same answer throughout.

A pair needs `shared` items in common, and the crowd at least six such pairs and others who answered the same items.

*Limits.* Both of a pair are flagged, although only one may have copied. Members of one household, students who talked
to each other and annotators trained with one manual agree too: look at the answers before you exclude anybody. One
account of a model has no twin. Accounts that redraw a third of their answers, share few items or copy somebody who
agrees with everybody anyway may not be found. From about a third of all participants, copies define what is usual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from pydantic import Field

from karat.intake.guess import MODEL_NAMES
from karat.judgments import Judgments
from karat.messages import Message
from karat.models.robust import MAD_CONSTANT
from karat.screen.evidence import Evidence, ScreenError, check_settings, everybody, verdicts
from karat.study.criterion import Alternative, Criterion, CriterionSettings, left_out
from karat.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from karat.models.credence import CredenceTrials, ScaleTrials

AT_LEAST, RATE, SHARED = 0.4, 0.1, 40
POINTS, LABELS = 4, 6.0
"""The fewest points of a scale, and the fewest labels, on which knowledge alone does not bring full agreement. Labels
are counted as the number of equally frequent ones that agree as often by chance."""
CROWDS, FEWEST_CROWDS, WORK = 40, 8, 3e9
"""Crowds to simulate; fewer if the number of pairs times items exceeds `WORK`."""
MOST_PEOPLE, MOST_CELLS = 3_000, 50_000_000
POLLUTED = 0.2
"""The share of answers from which participants who guess change what is usual."""
FEWEST_PAIRS = 6
"""The fewest pairs from which usual agreement can be estimated."""
ROUNDS = 4
FURTHER, TENTH, GAP = 4, 0.1, 2.0
"""Twins agree `GAP` standard errors better than with their fourth best partner, or with the last of the best tenth."""
MANY, TILTS = 12, 15
"""From this many answers per item, habits are estimated item by item; rounds of that fit."""
MOST_CLUSTERS = 20
"""The search ends after this many groups of twins."""
LINKED, LARGE = 1.5, 1 / 3
"""Standard errors that link two participants to a group, and the largest share of the crowd that a group may be."""
TASTE = 0.15
"""The least standard deviation of taste between pairs. Real crowds with a hundred pairs or more show .15 to .3; in
small crowds the participants' own effects absorb it, so the estimate is too low."""
FEW, TRIMMED, SHRINK = 5, 0.25, 10.0
"""For a participant's own effect: the items a pair must share to count, the share of best partners that is left out,
and the prior weight of no effect, in open answers."""


class TwinsSettings(CriterionSettings):
    """Participants whose answers agree with each other more than the items explain."""

    at_least: float = Field(
        AT_LEAST, gt=0, le=1, description="The share of open answers that two participants must have in common."
    )
    rate: float = Field(RATE, gt=0, lt=1, description="The false discovery rate among the pairs that are flagged.")
    shared: int = Field(SHARED, ge=10, description="Pairs with fewer items in common are not compared.")
    seed: int = Field(1, ge=0, description="The seed of simulated crowds.")


@dataclass(frozen=True)
class AnswerMatrix:
    """The answers on one scale, participants x items; -1 if missing."""

    table: Ints
    levels: int
    prior: Floats
    """The parameters of the Dirichlet distribution of shares."""
    ordered: bool = True

    @cached_property
    def counts(self) -> Floats:
        """The number of times that each item got each answer, items x levels."""
        return _answer_counts(self.table, self.levels)

    @property
    def conclusive(self) -> bool:
        """Whether full agreement is more than knowledge."""
        shares = self.counts.sum(axis=0) / max(self.counts.sum(), 1.0)
        return self.levels >= POINTS if self.ordered else bool((shares**2).sum() <= 1 / LABELS)


@dataclass(frozen=True)
class ParticipantPairs:
    """All pairs of participants, as matrices of participants x participants; NaN where too few items are shared."""

    shared: Floats
    agree: Floats
    """Items with the same answer."""
    expected: Floats
    """The number expected of participants who answer for themselves."""
    common: Floats
    """c, the share of open answers that a pair has in common."""
    error: Floats
    """Its standard error for participants who answer for themselves."""

    @property
    def known(self) -> Bools:
        """The pairs that are compared."""
        return np.isfinite(self.common)


def twins(
    judgments: Judgments, at_least: float = AT_LEAST, rate: float = RATE, shared: int = SHARED, seed: int = 1
) -> Evidence:
    """Participants who agree with another one more than the items explain; the score is the share they have in common.

    Further columns: partner (the closest other participant), others (the number of participants as alike) and rate (the
    false discovery rate of the closest pair, 1 if it is not alike enough to be tested).

    >>> import karat
    >>> twins(karat.datasets.load("likert")).flagged
    []

    With yes-or-no answers or a handful of labels, alike pairs are named but not flagged.
    """
    settings = check_settings(TwinsSettings, at_least=at_least, rate=rate, shared=shared, seed=seed)
    names, tables, guessing, notes = _answers(judgments, shared)
    usable = [answers for answers in tables if answers.conclusive]
    tables = usable or tables
    pairs = _compared(tables, shared)
    _refuse_few(int(pairs.known.sum()) // 2, shared)
    models = pl.Series(names, dtype=pl.String).str.contains(MODEL_NAMES).to_numpy()
    rates, flagged = _flagged_pairs(tables, pairs, guessing, models, settings)
    table = _verdicts(judgments, names, pairs, rates, flagged, bool(usable), settings)
    return Evidence(table, "twins", settings, tuple(notes))


def _answers(judgments: Judgments, shared: int) -> tuple[list[str], list[AnswerMatrix], Bools, list[Message]]:
    """The names of the participants, their answers on each scale, whether each of them seems to guess, and notes.

    Items are sorted by their answers, so that nothing depends on the order of rows.
    """
    from karat.screen.credence_model import crowd_trials

    crowd = crowd_trials(judgments)
    people = len(crowd.people)
    tables = []
    for part in crowd.trials.parts:
        if people > MOST_PEOPLE or people * part.items > MOST_CELLS:
            met = _comparable_pairs(crowd.trials.parts, shared)
            _refuse_few(FEWEST_PAIRS if met is None else met, shared)
            values = {"participants": people, "items": part.items, "most": MOST_PEOPLE, "cells": MOST_CELLS}
            raise ScreenError(Message("twins.too_many", values))
        table = np.full((people, part.items), part.levels, dtype=np.int64)
        rows = np.nonzero(part.there)
        # Of several answers to one item the lowest counts, because the first may not be known.
        np.minimum.at(table, (rows[0], part.item[rows]), part.content[rows])
        table[table == part.levels] = -1
        tables.append(answers_of(table[:, np.lexsort(table)], part.levels, part.ordered))
    notes = [note for note in crowd.notes if note.code != "order.no_sequences"]
    return crowd.people, tables, _guessing(crowd.trials), notes


def _guessing(trials: CredenceTrials) -> Bools:
    """Whether each participant agrees with the others clearly less than half as well as is usual.

    If few of the answers are theirs, nobody is marked, because they do not change what is usual.
    """
    from karat.models.credence import hardly_agree

    careless, answers = hardly_agree(trials, 0.5), np.sum([part.there.sum(axis=1) for part in trials.parts], axis=0)
    return careless & bool(answers[careless].sum() >= POLLUTED * answers.sum())


def _comparable_pairs(parts: Sequence[ScaleTrials], shared: int) -> int | None:
    """The number of pairs with at least `shared` items in common; None if counting them would take too long."""
    from scipy.sparse import csr_array

    together: Any = 0
    for part in parts:
        person, trial = np.nonzero(part.there)
        where = np.unique(np.stack([person, part.item[person, trial]]), axis=1)
        if (np.bincount(where[1]).astype(np.float64) ** 2).sum() > WORK:
            return None
        incidence = csr_array((np.ones(where.shape[1]), tuple(where)), shape=(len(part.there), part.items))
        together = together + incidence @ incidence.T
    return (int((together.data >= shared).sum()) - int((together.diagonal() >= shared).sum())) // 2


def _refuse_few(pairs: int, shared: int) -> None:
    if pairs < FEWEST_PAIRS:
        raise ScreenError(Message("twins.few_pairs", {"pairs": pairs, "fewest": FEWEST_PAIRS, "shared": shared}))


def answers_of(table: Ints, levels: int, ordered: bool = True) -> AnswerMatrix:
    """The answers with the most likely Dirichlet distribution of the shares of items."""
    from karat.models.credence import concentration

    bare = AnswerMatrix(table, levels, np.ones(levels), ordered)
    return replace(bare, prior=concentration(bare.counts))


def _compared(tables: list[AnswerMatrix], shared: int) -> ParticipantPairs:
    """All pairs over all scales; pairs within a group of alike participants are compared without the rest of it."""
    agree, together, sums = _sums(tables, None)
    habits = _habits(tables)
    pairs = _pairs(agree, together, sums, habits, shared)
    clusters = _clusters(pairs)
    for cluster in clusters:
        _, _, inside = _sums(tables, cluster)
        for whole, part in zip(sums, inside, strict=True):
            whole[np.ix_(cluster, cluster)] = part
    alike = _pairs(agree, together, sums, habits, shared)
    return _pairs(agree, together, sums, np.maximum(habits, _favoured(tables, alike, clusters)), shared)


def _favoured(tables: list[AnswerMatrix], pairs: ParticipantPairs, clusters: list[Ints]) -> Floats:
    """The agreements that habits explain, item by item, if few participants answered each item.

    The shares of an item are computed without the pair, or without its group. That is slow, so only pairs with much in
    common are computed; all others are 0.
    """
    expected = np.zeros_like(pairs.agree)
    close = np.argwhere(np.triu(np.nan_to_num(pairs.common) >= AT_LEAST))
    if all(_has_many_answers(on_scale) for on_scale in tables):
        return expected
    member = {person: cluster for cluster in clusters for person in cluster.tolist()}
    for on_scale in tables:
        there = on_scale.table >= 0
        people = np.unique(close).tolist()
        tilts = {person: _tilts(on_scale.table[[person]], _shares(on_scale, [person]))[0] for person in people}
        for first, second in close.tolist():
            both = there[first] & there[second]
            together = member.get(first)
            left_out = together if together is not None and second in together else [first, second]
            a = (on_scale.counts - _answer_counts(on_scale.table[left_out], on_scale.levels) + on_scale.prior)[both]
            p, q = tilts[first], tilts[second]
            # E[p_k s_k q_k s_k] under the Dirichlet distribution a, divided by the same over all pairs of answers.
            same = (a * (a + 1)) @ (p * q)
            expected[first, second] += float((same / np.maximum((a @ p) * (a @ q) + a @ (p * q), 1e-300)).sum())
    return np.maximum(expected, expected.T)


def _has_many_answers(answers: AnswerMatrix) -> bool:
    """Whether items have so many answers that two more or less hardly matter."""
    return bool(np.median(answers.counts.sum(axis=1)) >= MANY)


def _answer_counts(table: Ints, levels: int) -> Floats:
    """The number of times that these participants gave each answer to each item."""
    return np.stack([(table == level).sum(axis=0) for level in range(levels)], axis=1).astype(np.float64)


def _shares(answers: AnswerMatrix, left_out: list[int]) -> Floats:
    """The shares of answers to each item, without those of some participants."""
    weights = answers.counts - _answer_counts(answers.table[left_out], answers.levels) + answers.prior
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _tilts(table: Ints, shares: Floats) -> Floats:
    """The factors that tilt the shares of items towards the frequencies of each participant's answers."""
    there = table >= 0
    counts = np.stack([(table == level).sum(axis=1) for level in range(shares.shape[1])], axis=1) + 0.0
    tilt = np.ones_like(counts)
    for _ in range(TILTS):
        expected = (there / (tilt @ shares.T)) @ shares
        tilt *= counts / np.maximum(expected * tilt, 1e-12)
    return tilt


def _habits(tables: list[AnswerMatrix]) -> Floats:
    """The agreements expected of two participants with favourite answers.

    If items have many answers, the shares of each item are tilted towards the participant's favourites. Otherwise only
    the frequencies of each participant's answers count, whatever the item.
    """
    expected = np.zeros((len(tables[0].table),) * 2)
    for answers in tables:
        there = answers.table >= 0
        items = _shares(answers, []) if _has_many_answers(answers) else np.full_like(answers.counts, 1 / answers.levels)
        tilt = _tilts(answers.table, items)
        total = np.maximum(tilt @ items.T, 1e-300)
        for level in range(answers.levels):
            probabilities = tilt[:, level, None] * items[:, level] / total * there
            expected += probabilities @ probabilities.T
    return expected


def _pairs(agree: Floats, together: Floats, sums: list[Floats], habits: Floats, shared: int) -> ParticipantPairs:
    expected, variance = np.maximum(sums[0], habits), sums[1]
    open_ = together - expected
    compared = (together >= shared) & (open_ > 1)
    np.fill_diagonal(compared, False)
    open_ = np.where(compared, open_, np.nan)
    return ParticipantPairs(
        together, agree, expected, (agree - expected) / open_, np.sqrt(np.maximum(variance, 0.25)) / open_
    )


def _sums(tables: list[AnswerMatrix], cluster: Ints | None) -> tuple[Floats, Floats, list[Floats]]:
    """Per pair: items with the same answer, items in common, and the expected agreements with their variance.

    With a cluster, only its members are compared, and the expectation comes from everybody else.
    """
    people = len(tables[0].table) if cluster is None else len(cluster)
    agree, together, expected, variance = (np.zeros((people, people)) for _ in range(4))
    for answers in tables:
        table, weights = answers.table, answers.counts + answers.prior
        if cluster is not None:
            table = table[cluster]
            weights = weights - _answer_counts(table, answers.levels)
        there = (table >= 0).astype(np.float64)
        total, squares = weights.sum(axis=1), (weights * (weights + 1)).sum(axis=1)
        usual = np.clip(squares / np.maximum(total * (total + 1), 1e-9), 0, 1)
        variance += (there * (usual * (1 - usual))) @ there.T
        together += there @ there.T
        if cluster is not None:
            expected += (there * usual) @ there.T
            continue
        # Without p's answer k and q's answer l, the sum of a (a + 1) is lower by 2 a_k + 2 a_l - 2 [k = l].
        scale = 1 / np.maximum((total - 2) * (total - 1), 1e-9)
        chosen = np.take_along_axis(weights.T, np.maximum(table, 0), axis=0) * there
        mixed = (chosen * scale) @ there.T
        expected += (there * (squares * scale)) @ there.T - 2 * (mixed + mixed.T)
        for level in range(answers.levels):
            same = (table == level).astype(np.float64)
            agree += same @ same.T
            expected += 2 * (same * scale) @ same.T
    return agree, together, [expected, variance]


def _clusters(pairs: ParticipantPairs) -> list[Ints]:
    """Groups of three or more participants linked by unusual agreement, up to a third of the crowd."""
    from scipy.sparse.csgraph import connected_components

    if not pairs.known.any():
        return []
    residual, tau = _residuals(pairs)
    linked = pairs.known & (np.nan_to_num(residual / np.sqrt(pairs.error**2 + tau**2)) >= LINKED)
    number, label = connected_components(linked & (np.nan_to_num(pairs.common) >= AT_LEAST), directed=False)
    sizes = np.bincount(label, minlength=number)
    return [np.flatnonzero(label == group) for group in np.flatnonzero((sizes > 2) & (sizes <= LARGE * len(label)))]


def _residuals(pairs: ParticipantPairs) -> tuple[Floats, float]:
    """The residuals of the common shares after participants' effects, and tau, the spread of taste between pairs."""
    compared = pairs.known
    weight = np.where(pairs.shared >= FEW, pairs.shared - pairs.expected, 0.0).clip(0.0)
    np.fill_diagonal(weight, 0.0)
    raw = np.divide(pairs.agree - pairs.expected, weight, out=np.zeros_like(weight), where=weight > 0)
    middle, effects = float(np.median(pairs.common[compared])), np.zeros(len(compared))
    partners = (weight > 0).sum(axis=1)
    dropped = np.maximum(np.ceil(TRIMMED * partners), np.minimum(2, partners // 2)).astype(np.int64)
    for _ in range(ROUNDS):
        rest = np.where(weight > 0, raw - middle - effects, -np.inf)
        # The partners who agree best may be copies, so they do not count towards a participant's effect.
        least = np.sort(rest, axis=1)[np.arange(len(rest)), len(rest) - np.maximum(dropped, 1)]
        counted = np.where(rest < least[:, None], weight, 0.0)
        effects = (counted * np.where(counted > 0, rest, 0.0)).sum(axis=1) / (counted.sum(axis=1) + SHRINK)
        effects -= np.median(effects)
        middle = float(np.median((pairs.common - effects[:, None] - effects)[compared]))
    residual = pairs.common - middle - effects[:, None] - effects
    spread, error = residual[np.triu(compared)], pairs.error[np.triu(compared)]
    below = np.abs(spread[spread < 0])
    # The larger robust standard deviation: of the residuals below zero, or of all.
    size = MAD_CONSTANT * max(np.median(below) if below.size else 0.0, np.median(np.abs(spread)))
    tau = np.sqrt(max(size**2 - float(np.median(error)) ** 2, TASTE**2))
    lifted = np.maximum(effects, 0.0)
    return pairs.common - middle - lifted[:, None] - lifted, float(tau)


def _flagged_pairs(
    tables: list[AnswerMatrix], pairs: ParticipantPairs, guessing: Bools, models: Bools, settings: Mapping[str, float]
) -> tuple[Floats, Bools]:
    """The false discovery rates, and the pairs that are flagged.

    The most alike group is removed before the rest is judged, because copies make everybody else look more alike. Each
    group must be alike without the others, without participants who guess, and without those named after language
    models.
    """
    people, all_tables, partners = len(pairs.known), tables, pairs.known.sum(axis=1)
    rates, flagged, remaining = np.ones((people, people)), np.zeros((people, people), dtype=bool), np.arange(people)
    clusters: list[Ints] = []
    for _ in range(MOST_CLUSTERS):
        rates_here, alike = _alike(tables, pairs, settings)
        if not alike.any():
            break
        rates[np.ix_(remaining, remaining)] = rates_here
        cluster = _together(alike, np.where(alike, pairs.common, -np.inf))
        flagged[np.ix_(remaining[cluster], remaining[cluster])] = alike[np.ix_(cluster, cluster)]
        clusters.append(remaining[cluster])
        remaining = np.delete(remaining, cluster)
        tables = [answers_of(np.delete(answers.table, cluster, axis=0), answers.levels) for answers in tables]
        if len(remaining) < 2:
            break
        pairs = _compared(tables, int(settings["shared"]))
        if pairs.known.sum() // 2 < FEWEST_PAIRS:
            break
    for cluster in clusters:
        others = np.setdiff1d(np.concatenate([*clusters, np.flatnonzero(guessing)]), cluster)
        named = np.setdiff1d(np.flatnonzero(models), [*cluster, *others])
        for removed in (others, np.concatenate([others, named]) if len(named) else named):
            if len(removed) and not _stands_alone(all_tables, cluster, removed, partners, settings):
                flagged[np.ix_(cluster, cluster)] = False
                break
    return rates, flagged


def _alike(tables: list[AnswerMatrix], pairs: ParticipantPairs, settings: Mapping[str, float]) -> tuple[Floats, Bools]:
    """The false discovery rates (1 where no pair is tested), and the pairs that are more alike than usual."""
    alike = _apart(pairs) & (np.nan_to_num(pairs.common) >= settings["at_least"])
    if not alike.any():
        return np.ones(alike.shape), alike
    rates = _rates(tables, pairs, alike, int(settings["shared"]), int(settings["seed"]))
    return rates, alike & (rates <= settings["rate"])


def _stands_alone(
    tables: list[AnswerMatrix], cluster: Ints, others: Ints, partners: Ints, settings: Mapping[str, float]
) -> bool:
    """Whether members of a cluster are still alike in a crowd without some others.

    Accounts that agree badly with everybody else make two people who agree well look like twins. Four of many partners
    must remain to show whether the two agree with everybody who knows the answers.
    """
    rest = [answers_of(np.delete(answers.table, others, axis=0), answers.levels) for answers in tables]
    pairs = _compared(rest, int(settings["shared"]))
    if pairs.known.sum() // 2 < FEWEST_PAIRS:
        return False
    inside = np.isin(np.delete(np.arange(len(tables[0].table)), others), cluster)
    enough = pairs.known.sum(axis=1)[inside] >= np.minimum(partners[cluster], FURTHER)
    return bool(_alike(rest, pairs, settings)[1][np.ix_(inside, inside)][np.ix_(enough, enough)].any())


def _apart(pairs: ParticipantPairs) -> Bools:
    """Whether pairs agree clearly better than either does with its fourth best partner, because experts all agree."""
    best = -np.sort(-np.where(pairs.known, pairs.common, -np.inf), axis=1)
    rank = np.maximum(FURTHER, np.ceil(TENTH * pairs.known.sum(axis=1))).astype(np.int64)
    place = np.minimum(rank, best.shape[1]) - 1
    further = best[np.arange(len(best)), place]
    apart: Bools = np.nan_to_num(pairs.common - GAP * pairs.error, nan=-np.inf) >= np.maximum(further[:, None], further)
    return apart


def _together(alike: Bools, common: Floats) -> Ints:
    """The most alike pair, extended by participants who are alike with at least half of the group so far."""
    inside = np.zeros(len(alike), dtype=bool)
    inside[list(np.unravel_index(common.argmax(), common.shape))] = True
    while True:
        links = np.where(inside, 0, alike[:, inside].sum(axis=1))
        new = int(links.argmax())
        if links[new] < max(inside.sum() / 2, 1):
            return np.flatnonzero(inside)
        inside[new] = True


def _rates(tables: list[AnswerMatrix], pairs: ParticipantPairs, alike: Bools, shared: int, seed: int) -> Floats:
    """The false discovery rate at each pair's agreement, among the pairs of its group of alike participants.

    Copies elsewhere in the crowd are no evidence against a pair.
    """
    from scipy.sparse.csgraph import connected_components

    residual, tau = _residuals(pairs)
    upper = np.triu(pairs.known)
    standard = np.where(pairs.known, residual / np.sqrt(pairs.error**2 + tau**2), -np.inf)
    random = np.random.default_rng(seed)
    cells = sum(answers.table.size * (answers.levels + 4) for answers in tables) * len(residual)
    crowds = int(np.clip(WORK / cells, FEWEST_CROWDS, CROWDS))
    null = []
    for _ in range(crowds):
        simulated = _compared([_simulated(answers, random) for answers in tables], shared)
        apart, _ = _residuals(simulated)
        both = upper & simulated.known
        taste = tau * random.standard_normal(int(both.sum()))
        null.append((apart[both] + taste) / np.sqrt(simulated.error[both] ** 2 + tau**2))
    expected = np.sort(np.concatenate(null))
    rates = np.ones(alike.shape)
    _, group = connected_components(alike, directed=False)
    for number in np.unique(group[alike.any(axis=1)]):
        inside = alike & (group == number)[:, None]
        ordered = np.sort(standard[inside])
        # The matrix has every pair twice.
        pairs_above = (np.arange(len(ordered), 0, -1) + 1) // 2
        above = len(expected) - np.searchsorted(expected, ordered, side="left")
        # A pair that agrees more has no higher rate than one that agrees less.
        falling = np.minimum.accumulate(np.minimum((above + 1) / crowds / pairs_above, 1.0))
        rates[inside] = falling[np.searchsorted(ordered, standard[inside], side="right") - 1]
    return rates


def _simulated(answers: AnswerMatrix, random: np.random.Generator) -> AnswerMatrix:
    """Answers of the same number of participants to the same items, simulated from the shares of each item."""
    shares = random.standard_gamma(np.maximum(answers.counts + answers.prior, 1e-6))
    limits = np.cumsum(shares, axis=1) / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    place = random.random(answers.table.shape)
    codes = np.zeros(answers.table.shape, dtype=np.int64)
    for limit in limits.T[:-1]:
        codes += place > limit
    return replace(answers, table=np.where(answers.table >= 0, codes, -1))


def _verdicts(
    judgments: Judgments,
    names: list[str],
    pairs: ParticipantPairs,
    rates: Floats,
    flagged: Bools,
    conclusive: bool,
    settings: dict[str, float],
) -> pl.DataFrame:
    """One row per participant: the pair with the lowest rate and, among those, the most in common."""
    comparable = pairs.known
    rank = np.where(flagged, 2.0, 0.0) + np.where(comparable, np.nan_to_num(pairs.common), -np.inf)
    # Of equally close participants, the first by name.
    closest = rank.argmax(axis=1)
    at = (np.arange(len(names)), closest)
    some = comparable.any(axis=1)
    shared = np.where(some, pairs.shared[at], 0).astype(np.int64)
    many = np.maximum(shared, 1)
    columns = pl.DataFrame({
        "participant": names,
        "score": pl.Series(np.where(some, pairs.common[at], np.nan)).fill_nan(None),
        "_alike": flagged.any(axis=1),
        "partner": [names[place] if shared[number] else None for number, place in enumerate(closest)],
        "others": flagged.sum(axis=1),
        "rate": pl.Series(np.where(some, rates[at], np.nan)).fill_nan(None),
        "_agreement": (pairs.agree[at] / many).round(2), "_expected": (pairs.expected[at] / many).round(2),
        "_shared": shared,
    })  # fmt: skip
    table = everybody(judgments).join(columns, on="participant", how="left", maintain_order="left")
    compared = pl.col("score").is_not_null()
    message = (
        pl.when(~compared).then(pl.lit("twins.few_shared"))
        .when("_alike").then(pl.lit("twins.pair" if conclusive else "twins.knowledge")).otherwise(pl.lit("twins.apart"))
    )  # fmt: skip
    several = pl.when(pl.col("others") > 1).then(pl.col("others") - 1)
    columns_compared = {"partner": "partner", "agreement": "_agreement", "expected": "_expected", "shared": "_shared"}
    values = {name: pl.when(compared).then(column) for name, column in columns_compared.items()}
    values |= {"others": several, "fewest": pl.when(~compared).then(pl.lit(settings["shared"]))}
    further = ("partner", pl.col("others").fill_null(0), "rate")
    flagged_here = pl.col("_alike") & conclusive
    return verdicts(table, "score", settings["at_least"], flagged_here, message, values, *further)


CRITERION = Criterion(
    name="twins",
    title="Twins",
    asks="who agree with another participant more than the items explain",
    settings=TwinsSettings,
    computed_by=twins,
    of_the_study=("seed",),
    careless=False,
    shares=("at_least", "rate"),
    alternatives=(
        Alternative("FDR .10", {"rate": 0.1}, "usual"),
        Alternative("FDR .01", {"rate": 0.01}, "lenient"),
        left_out(),
    ),
)
