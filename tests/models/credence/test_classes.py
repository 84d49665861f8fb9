"""Classes of stimuli, and measures without a model: agreement above chance and following others too closely."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from karat.models.credence import CredenceTrials, ScaleTrials, beyond_chance, closeness, fit_credence, with_one_another
from karat.models.credence.classes import Classes
from karat.types import Floats, Ints


def sparse_crowd(seed: int, people: int = 60, items: int = 600, answers: int = 3) -> tuple[Ints, Ints, Ints]:
    """The items (participants x trials), their classes, and the answers of an attentive crowd."""
    random = np.random.default_rng(seed)
    owner = np.concatenate([random.permutation(people)[:answers] for _ in range(items)])
    judged = np.repeat(np.arange(items), answers)
    most = int(np.bincount(owner).max())
    item = np.zeros((people, most), dtype=np.int64)
    there = np.zeros((people, most), dtype=bool)
    for person in range(people):
        own = judged[owner == person]
        item[person, : len(own)], there[person, : len(own)] = own, True
    # One in five items is in the second class, because labels are often skewed.
    classes = (random.random(items) < 0.2).astype(np.int64)
    right = random.random(item.shape) < 0.9
    return np.where(there, item, -1), classes, np.where(right, classes[item], 1 - classes[item])


def part_of(item: Ints, answer: Ints, levels: int = 2) -> ScaleTrials:
    content = np.where(item >= 0, answer, -1)
    return ScaleTrials(np.maximum(item, 0), content, content, int(item.max()) + 1, levels, ordered=levels == 2)


def test_taste_by_loops() -> None:
    item, _, answer = sparse_crowd(1, people=8, items=30)
    one = Classes(part_of(item, answer), np.ones(8))
    given = [answer[person][item[person] >= 0] for person in range(8)]
    everybody = np.bincount(np.concatenate(given), minlength=2) + 1.0
    usual = 2 * everybody / everybody.sum()
    for person, own in enumerate(given):
        for trial, level in enumerate(own):
            others = np.delete(own, trial)
            expected = ((others == level).sum() + usual[level]) / (len(others) + 2)
            assert one.taste[person, trial] == pytest.approx(np.log(expected))


def test_own_answers_are_excluded() -> None:
    """The only participant of an item is judged by the frequency of the classes, whatever the answer."""
    item, _, answer = sparse_crowd(2, people=8, items=30)
    item[0, 0] = 30
    rare = []
    for level in (0, 1):
        answer[0, 0] = level
        one = Classes(part_of(item, answer), np.ones(8))
        rare.append(float(one.by_others[one.item == 30][0, 1]))
        # Including their own answer, the item would be in the class of this answer.
        assert one.classes[30].argmax() == level
    assert max(rare) < 0.35
    assert abs(rare[0] - rare[1]) < 0.1


def test_guessers_are_flagged_and_attentive_people_are_not() -> None:
    """Three answers per item: guessers with any taste, people who see little, and people who say yes too easily."""
    flagged = np.zeros(4)
    for seed in range(2):
        random = np.random.default_rng(100 + seed)
        item, _, answer = sparse_crowd(seed, people=40, items=1200)
        answer[:3] = random.random(answer[:3].shape) < np.array([[0.1], [0.3], [0.5]])
        little = random.random(answer[3:6].shape) < 0.4
        answer[3:6] = np.where(little, random.random(little.shape) < 0.2, answer[3:6])
        answer[6:9] |= random.random(answer[6:9].shape) < 0.3
        odds = fit_credence(CredenceTrials((part_of(item, answer),), in_sequence=False)).log_odds
        low = odds < np.log(0.05 / 0.95)
        flagged += [low[:3].mean(), low[3:6].mean(), low[6:9].mean(), low[9:].mean()]
    guessers, seeing_little, yes_sayers, others = flagged / 2
    assert guessers >= 0.5
    assert seeing_little == yes_sayers == others == 0.0


def test_unknown_trial_order_does_not_matter() -> None:
    item, _, answer = sparse_crowd(5)
    order = np.random.default_rng(1).permuted(np.tile(np.arange(item.shape[1]), (len(item), 1)), axis=1)
    odds: list[Floats] = []
    for items, answers in ((item, answer), (np.take_along_axis(item, order, 1), np.take_along_axis(answer, order, 1))):
        odds.append(fit_credence(CredenceTrials((part_of(items, answers),), in_sequence=False)).log_odds)
    assert odds[0] == pytest.approx(odds[1], abs=1e-3)


def test_known_correct_answers_count() -> None:
    item, classes, answer = sparse_crowd(6, people=12, items=60)
    part = part_of(item, answer)
    without = Classes(part, np.ones(12)).classes
    key = np.where(np.arange(60) < 30, classes, np.nan)
    known = Classes(ScaleTrials(**{**vars(part), "key": key}), np.ones(12)).classes
    right = np.arange(30), classes[:30]
    assert known[right].mean() > without[right].mean()


@pytest.mark.slow
def test_the_crowd_decides_between_strengths_and_classes() -> None:
    """Many answers per item with graded strengths are judged by strengths, few answers by classes."""
    item, _, answer = sparse_crowd(7)
    assert fit_credence(CredenceTrials((part_of(item, answer),), in_sequence=False)).mixture.by_classes
    random = np.random.default_rng(8)
    whole = np.tile(np.arange(40), (80, 1))
    graded = (random.logistic(size=whole.shape) < np.linspace(-2.5, 2.5, 40)[whole]).astype(np.int64)
    assert not fit_credence(CredenceTrials((part_of(whole, graded),), in_sequence=False)).mixture.by_classes


PEOPLE, ITEMS = 20, 60


def trials_of(answers: Ints, levels: int = 5, ordered: bool = True) -> CredenceTrials:
    item = np.broadcast_to(np.arange(answers.shape[1]), answers.shape)
    return CredenceTrials((ScaleTrials(item, answers, answers, answers.shape[1], levels, ordered),))


def rated(random: np.random.Generator, people: int, grammar: Ints, noise: float = 0.8) -> Ints:
    return np.clip(np.rint(grammar + random.normal(0, noise, (people, len(grammar)))), 0, 4).astype(np.int64)


def test_ranks_show_agreement_within_the_same_class() -> None:
    """A person with all magnitudes in the highest class still follows the others, as Pearson's correlation shows."""
    random = np.random.default_rng(8)
    values = random.normal(0, 1, ITEMS) + random.normal(0, 1, (PEOPLE, ITEMS))
    values[0] += 10
    level = np.clip(np.floor(values + 2), 0, 3).astype(np.int64)
    (part,) = trials_of(level, 4).parts
    assert beyond_chance(CredenceTrials((part,)))[0] == 0
    ranked = CredenceTrials((replace(part, rank=values),))
    correlation = np.corrcoef(values[0], values[1:].mean(axis=0))[0, 1]
    assert beyond_chance(ranked)[0] == pytest.approx(correlation * np.sqrt(ITEMS - 1))
    assert beyond_chance(ranked.of(np.arange(3)))[2] == pytest.approx(
        np.corrcoef(values[2], values[:2].mean(axis=0))[0, 1] * np.sqrt(ITEMS - 1)
    )


@pytest.mark.parametrize("ordered", [True, False])
def test_guessers_agree_by_chance_only(ordered: bool) -> None:
    random = np.random.default_rng(1)
    scores = [beyond_chance(trials_of(random.integers(0, 3, (PEOPLE, ITEMS)), 3, ordered)) for _ in range(40)]
    assert abs(np.mean(scores)) < 0.15
    assert np.std(scores) == pytest.approx(1, abs=0.1)


def test_agreement_has_the_permutation_distribution() -> None:
    random = np.random.default_rng(2)
    answers = rated(random, 6, random.integers(0, 5, 25))
    observed = beyond_chance(trials_of(answers, ordered=False))[0]
    share = (answers[1:, :, None] == np.arange(5)).mean(axis=0)
    dealt = [share[np.arange(25), random.permutation(answers[0])].sum() for _ in range(4000)]
    expected = (share[np.arange(25), answers[0]].sum() - np.mean(dealt)) / np.std(dealt)
    assert observed == pytest.approx(expected, rel=0.05)


def test_a_favourite_answer_is_not_agreement() -> None:
    answers = np.full((PEOPLE, ITEMS), 3)
    answers[1:] = np.random.default_rng(3).integers(2, 5, (PEOPLE - 1, ITEMS))
    assert beyond_chance(trials_of(answers))[0] == 0


def test_answers_that_do_not_count_are_excluded() -> None:
    random = np.random.default_rng(4)
    answers = rated(random, PEOPLE, random.integers(0, 5, ITEMS))
    answers[0, 30:] = random.integers(0, 5, 30)
    late = np.broadcast_to(np.arange(ITEMS) >= 30, answers.shape)
    assert beyond_chance(trials_of(answers), late)[0] < 2.5 < beyond_chance(trials_of(answers))[0]


def test_two_people_with_one_grammar_differ_from_guessers() -> None:
    random = np.random.default_rng(5)
    answers = random.integers(0, 5, (10, ITEMS))
    answers[:2] = rated(random, 2, random.integers(0, 5, ITEMS))
    result = with_one_another(trials_of(answers), np.arange(10))
    assert (result[:2] > 2.33).all()
    assert (result[2:] < 2.33).all()


def test_always_the_most_frequent_answer_is_too_close() -> None:
    random = np.random.default_rng(6)
    answers = rated(random, 40, random.integers(0, 5, ITEMS), 1.0)
    counts = (answers[1:, :, None] == np.arange(5)).sum(axis=0)
    answers[0] = counts.argmax(axis=1)
    result = closeness(trials_of(answers))
    assert result[0] > 3 > np.quantile(result[1:], 0.95)
    assert not closeness(trials_of(answers[:5])).any()


def test_dependence_has_the_permutation_distribution() -> None:
    random = np.random.default_rng(3)
    item, answer = np.tile(np.arange(6), (9, 1)), random.integers(0, 3, (9, 6))
    answer[8] = 1
    one, everywhere = Classes(part_of(item, answer, 3), np.ones(9)), np.ones(item.shape, dtype=bool)
    for person in range(3):
        worth = one.worth[one.owner == person]
        centred = worth - worth.mean(axis=0)
        alike = centred @ centred.T - np.diag((centred**2).sum(axis=1))

        def among(given: Ints, alike: Floats = alike) -> float:
            return float(alike[given[:, None] == given].sum())

        dealt = [among(np.array(given)) for given in permutations(answer[person])]
        expected = among(answer[person]) - np.mean(dealt), np.var(dealt)
        excess, variance, most = one.dependence(person, everywhere, one.worth)
        assert (excess, variance) == pytest.approx(expected)
        other = ~np.eye(6, dtype=bool)
        same = answer[person][:, None] == answer[person]
        assert most == pytest.approx(30 * same[other].std() * alike[other].std())
        assert one.dependence(person, item > 1, one.worth) == (0, 0, 0)
    assert one.dependence(8, everywhere, one.worth) == (0, 0, 0), "who always gives one answer"
