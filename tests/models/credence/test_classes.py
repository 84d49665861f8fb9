"""Classes of stimuli: what is left out when somebody is judged, and who is flagged where few answer the same."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.credence import CredenceTrials, fit_credence
from karat.models.credence.classes import Classes
from karat.models.credence.trials import ScaleTrials
from karat.types import Floats, Ints


def sparse_crowd(seed: int, people: int = 60, items: int = 600, answers: int = 3) -> tuple[Ints, Ints, Ints]:
    """Who judges what (participants x trials), the classes of the items, and answers that are all attentive."""
    random = np.random.default_rng(seed)
    owner = np.concatenate([random.permutation(people)[:answers] for _ in range(items)])
    judged = np.repeat(np.arange(items), answers)
    most = int(np.bincount(owner).max())
    item = np.zeros((people, most), dtype=np.int64)
    there = np.zeros((people, most), dtype=bool)
    for person in range(people):
        own = judged[owner == person]
        item[person, : len(own)], there[person, : len(own)] = own, True
    # One in five items is of the second class, as labels often are skewed.
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


def test_own_answers_are_left_out() -> None:
    """Who alone judged an item is judged by how common its classes are, whatever they said of it."""
    item, _, answer = sparse_crowd(2, people=8, items=30)
    item[0, 0] = 30
    rare = []
    for level in (0, 1):
        answer[0, 0] = level
        one = Classes(part_of(item, answer), np.ones(8))
        rare.append(float(one.by_others[one.item == 30][0, 1]))
        # With their own answer, which nobody denies, the item would be of the class that they named.
        assert one.classes[30].argmax() == level
    assert max(rare) < 0.35
    assert abs(rare[0] - rare[1]) < 0.1


def test_guessers_are_found_and_honest_people_are_not() -> None:
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


def test_right_answers_that_are_known_count() -> None:
    item, classes, answer = sparse_crowd(6, people=12, items=60)
    part = part_of(item, answer)
    without = Classes(part, np.ones(12)).classes
    key = np.where(np.arange(60) < 30, classes, np.nan)
    known = Classes(ScaleTrials(**{**vars(part), "key": key}), np.ones(12)).classes
    right = np.arange(30), classes[:30]
    assert known[right].mean() > without[right].mean()


@pytest.mark.slow
def test_the_crowd_decides_by_which_of_the_two_it_is_judged() -> None:
    """Many answers to each item whose strengths differ by degrees are judged by strengths, few answers by classes."""
    item, _, answer = sparse_crowd(7)
    assert fit_credence(CredenceTrials((part_of(item, answer),), in_sequence=False)).mixture.by_classes
    random = np.random.default_rng(8)
    whole = np.tile(np.arange(40), (80, 1))
    graded = (random.logistic(size=whole.shape) < np.linspace(-2.5, 2.5, 40)[whole]).astype(np.int64)
    assert not fit_credence(CredenceTrials((part_of(whole, graded),), in_sequence=False)).mixture.by_classes
