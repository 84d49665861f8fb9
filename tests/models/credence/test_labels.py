"""Attentive answers without an order: shares, slopes and strengths."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.credence.attentive import LabelPopulation
from karat.models.credence.trials import LAPSE


def test_categories_sum_to_one_and_are_those_of_a_softmax() -> None:
    model = LabelPopulation(3)
    strength = np.array([1.0, 0.2, -1.2])
    found, _ = model.evaluate(np.tile(strength, (3, 1)), np.full(3, 0.5), np.arange(3))
    assert found.sum(axis=0) == pytest.approx(1)
    for place, discrimination in enumerate(model.discrimination):
        logits = discrimination * strength / np.sqrt(1 + np.pi / 8 * 0.5 * discrimination**2)
        share = np.exp(logits) / np.exp(logits).sum()
        assert found[:, place] == pytest.approx((1 - LAPSE) * share + LAPSE / 3)


def test_slopes_are_those_in_the_strength_of_the_category() -> None:
    model = LabelPopulation(4)
    strength, step = np.array([[0.5, -0.3, 1.0, -1.2]]), 1e-6
    for level in range(4):
        moved = [strength + way * step * np.eye(4)[level] for way in (1, -1)]
        above, below = (np.log(model.evaluate(one, np.zeros(1), np.array([level]))[0]) for one in moved)
        slope = model.evaluate(strength, np.zeros(1), np.array([level]))[1]
        assert slope == pytest.approx((above - below) / (2 * step), abs=1e-4)


def test_strengths_follow_what_was_answered() -> None:
    model = LabelPopulation(3)
    weights = np.array([[8.0, 1.0, 1.0], [1.0, 1.0, 8.0]])[:, :, None] * np.exp(model.log_weights)
    strengths = model.no_strengths(2)
    for _ in range(10):
        strengths, information = model.improve(strengths, (model.no_strengths(2), np.full(2, 0.25)), weights, True)
    assert strengths.sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert strengths.argmax(axis=1).tolist() == [0, 2]
    assert strengths[0] == pytest.approx(strengths[1][::-1])
    assert information.shape == (2, 3)


def test_a_right_answer_that_is_known_has_the_greatest_strength() -> None:
    found = LabelPopulation(3).known_strengths(np.array([2.0, np.nan]))
    assert found[0].tolist() == [-1.0, -1.0, 2.0]
    assert np.isnan(found[1]).all()


def test_answer_gives_slope_and_information_of_its_log() -> None:
    model, step = LabelPopulation(4), 1e-5
    strength, place = np.array([[0.5, -0.3, 1.0, -1.2]]), np.array([[1.3]])

    def log_probability(strengths: np.ndarray, level: int) -> float:
        logits = 1.3 * strengths[0]
        return float(logits[level] - np.log(np.exp(logits).sum()))

    for level in range(4):
        slope, information = model.own(strength, np.array([level]), place)
        for category in range(4):
            up, down = (log_probability(strength + way * step * np.eye(4)[category], level) for way in (1, -1))
            assert slope[0, category] == pytest.approx((up - down) / (2 * step), abs=1e-6)
            assert information[0, category] == pytest.approx(
                -(up - 2 * log_probability(strength, level) + down) / step**2, abs=1e-4
            )
