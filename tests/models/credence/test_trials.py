"""What the model looks at: repeated stimuli, first weights, and times less what is usual."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.credence import CredenceTrials, ScaleTrials, residual_times
from karat.models.credence.trials import first_weights
from models.credence.answered import crowd


def test_the_earlier_answer_is_the_last_one_to_the_same_stimulus() -> None:
    item = np.array([[0, 1, 0, 0], [1, 1, 0, 1]])
    content = np.array([[2, 1, 0, 1], [2, -1, 0, 1]])
    found = ScaleTrials(item, content, content, 2, 3).earlier()
    assert found.tolist() == [[-1, -1, 2, 0], [-1, -1, -1, 2]]


def test_some_participants_keep_all_that_is_theirs() -> None:
    trials = crowd(people=5)
    some = trials.of(np.array([3, 1]))
    assert some.shape == (2, 24)
    assert some.parts[0].content.tolist() == trials.parts[0].content[[3, 1]].tolist()
    assert trials.residual is not None
    assert some.residual is not None
    assert some.residual.tolist() == trials.residual[[3, 1]].tolist()
    assert trials.answered.tolist() == [24] * 5


@pytest.mark.parametrize("ordered", [True, False])
def test_who_guesses_begins_with_the_smallest_weight(ordered: bool) -> None:
    part = crowd(seed=2).parts[0]
    weights = first_weights(CredenceTrials((ScaleTrials(part.item, part.content, part.button, 24, 3, ordered),)))
    assert int(weights.argmin()) == 15
    assert ((weights > 0) & (weights < 1)).all()
    assert np.median(weights) > 5 * weights.min()


def test_times_are_less_what_is_usual_of_the_stimulus() -> None:
    random = np.random.default_rng(1)
    stimulus = np.stack([random.permutation(12) for _ in range(30)])
    usual, pace = random.normal(1, 0.6, 12), random.normal(0, 0.4, 30)
    noise = random.normal(0, 0.05, stimulus.shape)
    seconds = np.exp(usual[stimulus] + pace[:, None] + noise)
    seconds[0, 0], seconds[1, 1] = np.nan, 0.0
    found = residual_times(stimulus, seconds)
    assert np.isnan(found[0, 0])
    assert np.isnan(found[1, 1])
    assert np.isfinite(found).sum() == found.size - 2
    expected = pace - np.median(pace)
    assert np.nanmedian(found, axis=1) == pytest.approx(expected, abs=0.08)
    assert np.nanmedian(found - expected[:, None]) == pytest.approx(0, abs=0.03)
