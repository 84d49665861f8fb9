"""The fit: reproducible, with progress, and about the same when most turns are made with some of the participants."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from karat.models.credence import ATTENTIVE, Comparison, Mixture, fit_credence
from karat.models.credence.trials import first_weights
from models.credence.answered import batches, crowd


@pytest.mark.slow
def test_it_is_the_same_again_and_says_how_far_it_is() -> None:
    lines: list[tuple[int, int]] = []
    first = fit_credence(crowd(), 3, lambda done, of: lines.append((done, of)))
    assert first.log_odds.tolist() == fit_credence(crowd(), 3).log_odds.tolist()
    assert int(first.log_odds.argmin()) == 15
    assert first.log_odds[15] < 0 < first.log_odds[:15].min()
    assert lines == sorted(lines)
    assert lines[-1][0] == lines[-1][1]


@pytest.mark.slow
def test_learning_from_some_is_about_learning_from_all() -> None:
    trials = crowd(160, 20, guessing=16, timed=False)
    whole = fit_credence(trials)
    some = fit_credence(trials, enough=2000)
    assert np.corrcoef(whole.log_odds, some.log_odds)[0, 1] > 0.97
    assert np.mean((whole.log_odds > 0) == (some.log_odds > 0)) > 0.97


def test_a_crowd_in_batches_is_learned_from_everybody() -> None:
    trials = batches()
    found = fit_credence(trials, enough=2000)
    assert found.sparse
    guessing = np.tile(np.arange(10) == 9, 20)
    assert (found.log_odds[guessing] < 0).sum() >= 18
    assert (found.log_odds[~guessing] > 0).sum() >= 178


def test_learning_comes_to_rest() -> None:
    """Few judge each stimulus and nearly all agree: what an answer gave at earlier strengths must not turn it round."""
    trials = batches(guessing=0)
    mixture = Mixture(trials, first_weights(trials))
    attentive = [mixture.step().posterior[:, ATTENTIVE] for _ in range(12)]
    for before, after in pairwise(attentive[4:]):
        assert np.abs(after - before).max() < 0.05
    assert attentive[-1].min() > 0.5


@pytest.mark.parametrize(
    ("expected", "error", "close"), [(0.612, 0.0186, True), (0.545, 0.0160, False), (0.900, 0.0186, False)]
)
def test_more_is_drawn_only_where_a_verdict_is_close(expected: float, error: float, close: bool) -> None:
    assert Comparison("entropy", 0.54, expected, error).is_close is close
