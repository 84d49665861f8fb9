"""The fit is reproducible and reports progress; a second group of speakers is found if there is one."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.credence import ATTENTIVE, Comparison, Mixture, fit_credence
from karat.models.credence.fit import directions, is_worth_it, minority, with_second_group
from karat.models.credence.trials import first_weights
from models.credence.answered import batches, crowd


@pytest.mark.slow
def test_fits_are_reproducible_and_report_progress() -> None:
    lines: list[tuple[int, int]] = []
    first = fit_credence(crowd(), 3, lambda done, of: lines.append((done, of)))
    assert first.log_odds.tolist() == fit_credence(crowd(), 3).log_odds.tolist()
    assert int(first.log_odds.argmin()) == 15
    assert first.log_odds[15] < 0 < first.log_odds[:15].min()
    assert lines == sorted(lines)
    assert lines[-1][0] == lines[-1][1]


@pytest.mark.slow
def test_learning_from_a_sample_is_close_to_learning_from_all() -> None:
    trials = crowd(160, 20, guessing=16, timed=False)
    whole = fit_credence(trials)
    some = fit_credence(trials, enough=2000)
    assert np.corrcoef(whole.log_odds, some.log_odds)[0, 1] > 0.97
    assert np.mean((whole.log_odds > 0) == (some.log_odds > 0)) > 0.97


def test_a_crowd_in_batches_is_fitted_without_sampling() -> None:
    trials = batches()
    result = fit_credence(trials, enough=2000)
    assert result.sparse
    guessing = np.tile(np.arange(10) == 9, 20)
    assert (result.log_odds[guessing] < 0).sum() >= 18
    assert (result.log_odds[~guessing] > 0).sum() >= 178


def test_learning_converges() -> None:
    """Few participants judge each stimulus and nearly all agree: answers must not be reversed by earlier strengths."""
    trials = batches(guessing=0)
    mixture = Mixture(trials, first_weights(trials))
    attentive = [mixture.step().posterior[:, ATTENTIVE] for _ in range(12)]
    for before, after in pairwise(attentive[4:]):
        assert np.abs(after - before).max() < 0.05
    assert attentive[-1].min() > 0.5


@pytest.mark.parametrize(
    ("expected", "error", "close"), [(0.612, 0.0186, True), (0.545, 0.0160, False), (0.900, 0.0186, False)]
)
def test_more_predictions_are_drawn_only_if_the_result_is_close(expected: float, error: float, close: bool) -> None:
    assert Comparison("entropy", 0.54, expected, error).is_close is close


@given(st.lists(st.floats(-5, 5), min_size=4, max_size=12, unique=True))
def test_the_minority_is_the_smaller_side_of_the_best_split(places: list[float]) -> None:
    direction = np.array(places)
    result = minority(direction) > 0
    assert 0 < result.sum() <= len(places) / 2

    def within(some: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
        return float(sum(((direction[part] - direction[part].mean()) ** 2).sum() for part in (some, ~some)))

    cuts = np.sort(direction)[:-1]
    assert within(result) == pytest.approx(min(within(direction > cut) for cut in cuts), abs=1e-6)


def dialects(others: int = 8) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Strengths per person: a quarter of the people have reversed strengths for every other item."""
    strength = np.tile(np.linspace(-2.5, 2.5, 30), (32, 1))
    strength[-others:, ::2] *= -1
    return strength


@pytest.mark.slow
def test_people_with_another_grammar_are_an_attentive_group() -> None:
    result = fit_credence(crowd(32, 30, guessing=0, strength=dialects()))
    assert result.mixture.groups == 2
    # The order of the groups does not matter.
    assert result.mixture.group_shares.min() == pytest.approx(0.25, abs=0.08)
    groups = result.step.group.argmax(axis=1)
    assert (groups == groups[0]).tolist() == [True] * 24 + [False] * 8
    assert (result.log_odds > 0).all()


@pytest.mark.slow
def test_there_is_one_group_if_all_agree() -> None:
    trials = crowd(32, 30, guessing=0)
    assert fit_credence(trials).mixture.groups == 1


def test_few_people_have_no_common_direction() -> None:
    mixture = Mixture(crowd(6, 30, guessing=0), np.ones(6))
    mixture.step()
    assert directions(mixture, 1) == []


def test_a_second_group_of_nearly_everyone_is_rejected() -> None:
    mixture = Mixture(crowd(12, 30, guessing=0), np.ones(12))
    before = mixture.step()
    with_second_group(mixture, np.repeat([1.0, 0.0], 6))
    after = mixture.step()
    gained = replace(after, evidence=before.evidence + 10.0, weight=np.ones_like(after.weight))
    for one in mixture.by_strengths:
        one.groups[1].strengths[:] = -one.groups[0].strengths
    shared = replace(gained, group=np.repeat([[1.0, 0.0], [0.0, 1.0]], 6, axis=0))
    assert is_worth_it(mixture, before, shared)
    assert not is_worth_it(mixture, before, replace(gained, group=np.tile([0.0, 1.0], (12, 1))))
