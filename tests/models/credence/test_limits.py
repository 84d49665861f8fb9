"""What needs no model: agreement above chance, with one another, and following the others too closely."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.credence import CredenceTrials, ScaleTrials, beyond_chance, closeness, with_one_another
from karat.types import Ints

PEOPLE, ITEMS = 20, 60


def trials_of(answers: Ints, levels: int = 5, ordered: bool = True) -> CredenceTrials:
    item = np.broadcast_to(np.arange(answers.shape[1]), answers.shape)
    return CredenceTrials((ScaleTrials(item, answers, answers, answers.shape[1], levels, ordered),))


def rated(random: np.random.Generator, people: int, grammar: Ints, noise: float = 0.8) -> Ints:
    return np.clip(np.rint(grammar + random.normal(0, noise, (people, len(grammar)))), 0, 4).astype(np.int64)


@pytest.mark.parametrize("ordered", [True, False])
def test_guessers_agree_as_chance_has_it(ordered: bool) -> None:
    random = np.random.default_rng(1)
    scores = [beyond_chance(trials_of(random.integers(0, 3, (PEOPLE, ITEMS)), 3, ordered)) for _ in range(40)]
    assert abs(np.mean(scores)) < 0.15
    assert np.std(scores) == pytest.approx(1, abs=0.1)


def test_it_is_the_permutation_distribution() -> None:
    random = np.random.default_rng(2)
    answers = rated(random, 6, random.integers(0, 5, 25))
    observed = beyond_chance(trials_of(answers, ordered=False))[0]
    share = (answers[1:, :, None] == np.arange(5)).mean(axis=0)
    dealt = [share[np.arange(25), random.permutation(answers[0])].sum() for _ in range(4000)]
    expected = (share[np.arange(25), answers[0]].sum() - np.mean(dealt)) / np.std(dealt)
    assert observed == pytest.approx(expected, rel=0.05)


def test_a_favourite_answer_is_no_agreement() -> None:
    answers = np.full((PEOPLE, ITEMS), 3)
    answers[1:] = np.random.default_rng(3).integers(2, 5, (PEOPLE - 1, ITEMS))
    assert beyond_chance(trials_of(answers))[0] == 0


def test_answers_that_do_not_count_are_left_out() -> None:
    random = np.random.default_rng(4)
    answers = rated(random, PEOPLE, random.integers(0, 5, ITEMS))
    answers[0, 30:] = random.integers(0, 5, 30)
    late = np.broadcast_to(np.arange(ITEMS) >= 30, answers.shape)
    assert beyond_chance(trials_of(answers), late)[0] < 2.5 < beyond_chance(trials_of(answers))[0]


def test_two_who_share_a_grammar_are_found_among_guessers() -> None:
    random = np.random.default_rng(5)
    answers = random.integers(0, 5, (10, ITEMS))
    answers[:2] = rated(random, 2, random.integers(0, 5, ITEMS))
    found = with_one_another(trials_of(answers), np.arange(10))
    assert (found[:2] > 2.33).all()
    assert (found[2:] < 2.33).all()


def test_the_most_frequent_answer_throughout_is_too_close() -> None:
    random = np.random.default_rng(6)
    answers = rated(random, 40, random.integers(0, 5, ITEMS), 1.0)
    counts = (answers[1:, :, None] == np.arange(5)).sum(axis=0)
    answers[0] = counts.argmax(axis=1)
    found = closeness(trials_of(answers))
    assert found[0] > 3 > np.quantile(found[1:], 0.95)
    assert not closeness(trials_of(answers[:5])).any()
