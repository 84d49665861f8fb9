"""The data of the model: stimuli, weights and times; probabilities of ordered levels against double precision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from karat.models.credence import CredenceTrials, ScaleTrials, residual_times
from karat.models.credence.trials import LAPSE, Ordered, first_weights
from models.credence.answered import crowd


def test_the_earlier_answer_is_the_previous_one_to_the_stimulus() -> None:
    item = np.array([[0, 1, 0, 0], [1, 1, 0, 1]])
    content = np.array([[2, 1, 0, 1], [2, -1, 0, 1]])
    result = ScaleTrials(item, content, content, 2, 3).earlier()
    assert result.tolist() == [[-1, -1, 2, 0], [-1, -1, -1, 2]]


def test_subsets_of_participants_keep_their_data() -> None:
    trials = crowd(people=5)
    some = trials.of(np.array([3, 1]))
    assert some.shape == (2, 24)
    assert some.parts[0].content.tolist() == trials.parts[0].content[[3, 1]].tolist()
    assert trials.residual is not None
    assert some.residual is not None
    assert some.residual.tolist() == trials.residual[[3, 1]].tolist()
    assert trials.answered.tolist() == [24] * 5


@pytest.mark.parametrize("ordered", [True, False])
def test_a_guesser_has_the_smallest_initial_weight(ordered: bool) -> None:
    part = crowd(seed=2).parts[0]
    weights = first_weights(CredenceTrials((ScaleTrials(part.item, part.content, part.button, 24, 3, ordered),)))
    assert int(weights.argmin()) == 15
    assert ((weights > 0) & (weights < 1)).all()
    assert np.median(weights) > 5 * weights.min()


def test_residual_times_subtract_the_median_of_the_stimulus() -> None:
    random = np.random.default_rng(1)
    stimulus = np.stack([random.permutation(12) for _ in range(30)])
    usual, pace = random.normal(1, 0.6, 12), random.normal(0, 0.4, 30)
    noise = random.normal(0, 0.05, stimulus.shape)
    seconds = np.exp(usual[stimulus] + pace[:, None] + noise)
    seconds[0, 0], seconds[1, 1] = np.nan, 0.0
    result = residual_times(stimulus, seconds)
    assert np.isnan(result[0, 0])
    assert np.isnan(result[1, 1])
    assert np.isfinite(result).sum() == result.size - 2
    expected = pace - np.median(pace)
    assert np.nanmedian(result, axis=1) == pytest.approx(expected, abs=0.08)
    assert np.nanmedian(result - expected[:, None]) == pytest.approx(0, abs=0.03)


def probability(
    model: Ordered, strength: float, variance: float, level: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The probability of a level at each place of the grid, in double precision."""
    flat = 1 / np.sqrt(1 + np.pi / 8 * variance * model.discrimination**2)
    cuts = [-np.inf, *model.thresholds, np.inf]
    low, high = (
        expit((model.stretch * cut + model.bias - model.discrimination * strength) * flat)
        for cut in (cuts[level], cuts[level + 1])
    )
    result: np.ndarray[tuple[int], np.dtype[np.float64]] = (1 - LAPSE) * (high - low) + LAPSE / model.levels
    return result


@pytest.mark.parametrize("levels", [2, 3, 7])
def test_probabilities_and_slopes_agree_with_double_precision(levels: int) -> None:
    model = Ordered(levels, np.arange(1.0, levels + 1))
    random = np.random.default_rng(levels)
    strength, variance = random.normal(0, 2, 40), random.uniform(0, 1, 40)
    level = random.integers(0, levels, 40)
    result, slopes = model.evaluate(strength, variance, level)
    for row in range(40):
        expected = probability(model, strength[row], variance[row], level[row])
        assert result[row] == pytest.approx(expected, rel=2e-3, abs=1e-6)
        step = 1e-5
        above, below = (
            np.log(probability(model, strength[row] + way * step, variance[row], level[row])) for way in (1, -1)
        )
        assert slopes[row] == pytest.approx((above - below) / (2 * step), abs=2e-3)


@pytest.mark.parametrize("levels", [2, 5])
def test_levels_sum_to_one_at_every_place(levels: int) -> None:
    model = Ordered(levels, np.ones(levels))
    result, _ = model.evaluate(np.full(levels, 0.7), np.full(levels, 0.2), np.arange(levels))
    assert result.sum(axis=0) == pytest.approx(1, abs=1e-5)
    assert np.exp(model.log_weights).sum() == pytest.approx(1)


def test_strengths_maximise_the_objective() -> None:
    model = Ordered(3, np.ones(3))
    random = np.random.default_rng(1)
    weights = random.gamma(2.0, 1.0, (6, 3, model.places)) * np.exp(model.log_weights)
    prior = np.zeros(6), np.full(6, 0.25)
    strengths = np.zeros(6)
    for _ in range(20):
        strengths, information = model.improve(strengths, prior, weights, thresholds=False)

    def objective(strength: float, item: int) -> float:
        levels = [np.log(probability(model, strength, 0.0, level)) @ weights[item, level] for level in range(3)]
        return float(sum(levels) - 0.125 * strength**2)

    for item, strength in enumerate(strengths):
        around = [objective(strength + way, item) for way in (-0.05, 0.0, 0.05)]
        assert around[1] == max(around)
    assert (information > 0.25).all()


def test_known_correct_answers_suggest_ordered_strengths() -> None:
    model = Ordered(5, np.ones(5))
    result = model.known_strengths(np.array([0.0, 1.0, 2.5, 4.0, np.nan]))
    assert (np.diff(result[:4]) > 0).all()
    assert np.isnan(result[4])


def test_the_population_stays_at_its_prior_without_people() -> None:
    model = Ordered(5, np.ones(5))
    before = dict(model.deviations)
    factor = model.improve_population(np.zeros(model.places), np.zeros(4), np.ones(4))
    assert factor == pytest.approx(1)
    assert model.deviations == pytest.approx(before)


@pytest.mark.parametrize("levels", [2, 5])
def test_answer_slopes_agree_with_evaluate(levels: int) -> None:
    model = Ordered(levels, np.arange(1.0, levels + 1))
    for level in range(levels):
        _, slopes = model.evaluate(np.array([0.7]), np.zeros(1), np.array([level]))
        many = len(model.parameters)
        slope, information = model.answer_slope(np.full(many, 0.7), np.full(many, level), model.parameters)
        assert slope == pytest.approx(slopes[0], abs=1e-4)
        assert information == pytest.approx(slope**2)
