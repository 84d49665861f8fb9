"""The interval of the Spammer Index: what is said where an end is not found, and what a bootstrap draws."""

from __future__ import annotations

import numpy as np
import pytest

import karat
from karat.messages import Message
from karat.models.glrm import Share, share
from karat.models.glrm.share import FittedShare
from karat.screen import ScreenError
from karat.screen.crowd import spammer_interval
from karat.screen.crowd.answers import crowd, fit
from karat.screen.crowd.spammer_interval import new_answers, profiled
from messages import codes, raises
from screen.crowd.test_spammer_index import labels

EVEN = FittedShare(lambda x, modes: None, np.ones(2), None, np.eye(2), np.diag([1.0, 0.0]), np.diag([0.0, 1.0]))


def test_unfound_end_is_put_at_the_limit_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share, "variance_share", lambda models: Share(0.5, np.nan, 0.8, 0.95))
    lower, upper, notes = profiled([EVEN])
    assert (lower, upper) == (0.0, 0.8)
    assert codes(notes) == ["spammer_index.no_lower_end"]


def test_nothing_that_varies_is_an_error() -> None:
    nothing = FittedShare(EVEN.function, np.zeros(2), None, np.eye(2), EVEN.one, EVEN.rest)
    with raises(ScreenError, "spammer_index.nothing_varies"):
        profiled([nothing])


def test_drawn_labels_follow_the_model() -> None:
    answers = crowd(labels(), "x")
    found = fit(answers)
    chosen = new_answers(found, answers, np.random.default_rng(1))
    assert chosen.shape == answers.response.shape
    assert set(chosen) == {0, 1, 2}
    # Tasks differ much more than chance would make them.
    shares = np.array([[np.mean(chosen[answers.task == task] == k) for k in range(3)] for task in range(20)])
    assert shares.std(axis=0).min() > 0.15


def test_unusable_samples_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judgments = karat.datasets.load("crowd")
    few = judgments.without(judgments.participants["participant"].to_list()[12:])
    first = iter([lambda *given: np.ones(given[1].rows.height, np.int64)])
    monkeypatch.setattr(spammer_interval, "new_answers", lambda *given: next(first, new_answers)(*given))
    found = karat.screen.spammer_index(few, simulations=4)
    assert found.notes[-1] == Message("spammer_index.lost_samples", {"lost": 1})
    monkeypatch.setattr(spammer_interval, "new_answers", lambda *given: np.ones(given[1].rows.height, np.int64))
    with raises(ScreenError, "spammer_index.no_sample"):
        karat.screen.spammer_index(few, simulations=4)
