"""Attentive answers, ordered and labels: excluding own answers, memory, probabilities, slopes and strengths."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.credence import CredenceTrials, ScaleTrials
from karat.models.credence.attentive import Attentive, LabelPopulation, log_sum
from karat.models.credence.mixture import Mixture
from karat.models.credence.trials import LAPSE
from models.credence.answered import crowd


def learned(trials: CredenceTrials, rounds: int = 6) -> Mixture:
    mixture = Mixture(trials, np.ones(trials.shape[0]))
    for _ in range(rounds):
        mixture.step()
    return mixture


def by_the_others(trials: CredenceTrials, person: int) -> float:
    """The log probability of a person's answers by a model fitted without this person."""
    rest = np.delete(np.arange(trials.shape[0]), person)
    (one,) = learned(trials.of(rest)).attentive
    part, group = trials.parts[0], one.groups[0]
    item, level = part.item[person], part.content[person]
    probability, _ = one.model.evaluate(group.strengths[item], 1 / group.information[item], level)
    return float(log_sum(np.log(probability).astype(np.float64).sum(axis=0) + one.model.log_weights))


def with_themselves(mixture: Mixture, trials: CredenceTrials, person: int) -> float:
    (one,) = mixture.attentive
    part, group = trials.parts[0], one.groups[0]
    item, level = part.item[person], part.content[person]
    probability, _ = one.model.evaluate(group.strengths[item], 1 / group.information[item], level)
    return float(log_sum(np.log(probability).astype(np.float64).sum(axis=0) + one.model.log_weights))


def test_judging_excludes_own_answers_like_a_fit_without_them() -> None:
    trials = crowd(people=14, guessing=0, timed=False)
    mixture = learned(trials)
    result = mixture.attentive[0].prefix(0, slice(0, 14)).summed[:, -1]
    some = [0, 5, 9]
    alone = np.array([by_the_others(trials, person) for person in some])
    naive = np.array([with_themselves(mixture, trials, person) for person in some])
    assert np.abs(result[some] - alone).max() < 0.6
    # Including their own answers, everyone would seem to agree more than they do.
    assert (naive > result[some]).all()
    assert np.abs(naive - alone).mean() > 2 * np.abs(result[some] - alone).mean()


def test_a_prefix_is_the_product_of_its_answers() -> None:
    trials = crowd(people=6, items=8, guessing=0, timed=False)
    trials.parts[0].content[2, 3] = -1
    mixture = learned(trials, 2)
    (one,) = mixture.attentive
    prefix = one.prefix(0, slice(0, 6))
    assert prefix.summed[:, 0] == pytest.approx(0, abs=1e-5)
    assert (np.diff(prefix.summed, axis=1) <= 1e-5).all()
    assert prefix.summed[2, 3] == pytest.approx(prefix.summed[2, 4])
    assert prefix.looked[2, 3] == 0
    assert log_sum(prefix.on_grid[:, 5]) == pytest.approx(prefix.summed[:, 5], abs=1e-5)


def test_answering_from_memory_reveals_its_frequency() -> None:
    random = np.random.default_rng(3)
    first = crowd(people=20, items=15, guessing=0, timed=False).parts[0]
    item = np.concatenate([first.item, first.item], axis=1)
    anew = random.integers(0, 3, first.content.shape)
    for same, often in ((1.0, (0.7, 1.0)), (0.0, (0.0, 0.3))):
        again = np.where(random.random(first.content.shape) < same, first.content, anew)
        answer = np.concatenate([first.content, again], axis=1)
        mixture = learned(CredenceTrials((ScaleTrials(item, answer, answer, 15, 3),)), 8)
        assert mixture.attentive[0].repeats
        assert often[0] <= mixture.attentive[0].again <= often[1]


def test_known_correct_answers_set_the_prior_strengths() -> None:
    part = crowd(people=6, items=8, guessing=0, timed=False).parts[0]
    key = np.full(8, np.nan)
    key[0], key[7] = 0.0, 2.0
    known = Attentive(ScaleTrials(part.item, part.content, part.button, 8, 3, key=key), np.ones(6))
    centre, precision = known.prior(0)
    assert centre[0] < 0 < centre[7]
    assert (centre[1:7] == 0).all()
    assert precision[0] == precision[7] == 1.0 != precision[3]


def individual_grammars(people: int, tested: bool) -> CredenceTrials:
    """The first two people have the opposite grammar on the even items; the last one guesses."""
    strength = np.tile(np.linspace(-2.5, 2.5, 40), (people, 1))
    strength[:2, ::2] *= -1
    part = crowd(people, 40, guessing=1, timed=False, strength=strength).parts[0]
    even = np.arange(40) % 2 == 0
    return CredenceTrials((ScaleTrials(part.item, part.content, part.button, 40, 3, tested=even if tested else None),))


def test_agreement_on_fillers_indicates_an_individual_grammar() -> None:
    odds = {}
    for tested in (True, False):
        mixture = learned(individual_grammars(20, tested), 8)
        odds[tested] = mixture.log_odds(mixture.step(learn=False).likelihood)
        assert len(mixture.attentive[0].grammar_shares) == (2 if tested else 1)
        assert mixture.attentive[0].grammar_shares.sum() == pytest.approx(1)
    assert (odds[False][:2] < 0).all()
    assert (odds[True][:2] > 2).all()
    assert odds[True][-1] < -2
    assert (odds[True][2:-1] > 2).all()


def test_individual_grammars_differ_on_test_items_only() -> None:
    (one,) = learned(individual_grammars(20, True), 3).attentive
    item, level = np.array([0, 1, 39]), np.array([2, 0, 1])
    strength, variance = one.groups[0].strengths[item], 1 / one.groups[0].information[item]
    probability, slopes = one.by_grammar(one.groups[0], strength, variance, item, level)
    most, own = np.split(probability, 2, axis=1)
    assert (own[1:] == most[1:]).all()
    spread = np.mean(one.groups[0].strengths[::2] ** 2)
    alone = one.model.evaluate(np.zeros(1), np.array([spread]), level[:1])[0]
    assert own[0] == pytest.approx(alone[0])
    # The first item is bad in the common grammar, so a high rating is more probable by an individual one.
    assert (own[0] > most[0]).all()
    assert (np.split(slopes, 2, axis=1)[1][0] == 0).all()


def test_log_sums_accept_minus_infinity() -> None:
    values = np.array([[-np.inf, -np.inf], [0.0, 0.0], [-1e5, -np.inf]])
    assert log_sum(values).tolist() == [-np.inf, pytest.approx(np.log(2)), -1e5]


def test_category_probabilities_are_a_softmax_and_sum_to_one() -> None:
    model = LabelPopulation(3)
    strength = np.array([1.0, 0.2, -1.2])
    result, _ = model.evaluate(np.tile(strength, (3, 1)), np.full(3, 0.5), np.arange(3))
    assert result.sum(axis=0) == pytest.approx(1)
    for place, discrimination in enumerate(model.discrimination):
        logits = discrimination * strength / np.sqrt(1 + np.pi / 8 * 0.5 * discrimination**2)
        share = np.exp(logits) / np.exp(logits).sum()
        assert result[:, place] == pytest.approx((1 - LAPSE) * share + LAPSE / 3)


def test_slopes_match_differences_in_the_category_strength() -> None:
    model = LabelPopulation(4)
    strength, step = np.array([[0.5, -0.3, 1.0, -1.2]]), 1e-6
    for level in range(4):
        moved = [strength + way * step * np.eye(4)[level] for way in (1, -1)]
        above, below = (np.log(model.evaluate(one, np.zeros(1), np.array([level]))[0]) for one in moved)
        slope = model.evaluate(strength, np.zeros(1), np.array([level]))[1]
        assert slope == pytest.approx((above - below) / (2 * step), abs=1e-4)


def test_strengths_follow_the_answers() -> None:
    model = LabelPopulation(3)
    weights = np.array([[8.0, 1.0, 1.0], [1.0, 1.0, 8.0]])[:, :, None] * np.exp(model.log_weights)
    strengths = model.no_strengths(2)
    for _ in range(10):
        strengths, information = model.improve(strengths, (model.no_strengths(2), np.full(2, 0.25)), weights, True)
    assert strengths.sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert strengths.argmax(axis=1).tolist() == [0, 2]
    assert strengths[0] == pytest.approx(strengths[1][::-1])
    assert information.shape == (2, 3)


def test_a_known_correct_answer_has_the_largest_strength() -> None:
    result = LabelPopulation(3).known_strengths(np.array([2.0, np.nan]))
    assert result[0].tolist() == [-1.0, -1.0, 2.0]
    assert np.isnan(result[1]).all()


def test_answer_slopes_and_information_match_finite_differences() -> None:
    model, step = LabelPopulation(4), 1e-5
    strength, place = np.array([[0.5, -0.3, 1.0, -1.2]]), np.array([[1.3]])

    def log_probability(strengths: np.ndarray, level: int) -> float:
        logits = 1.3 * strengths[0]
        return float(logits[level] - np.log(np.exp(logits).sum()))

    for level in range(4):
        slope, information = model.answer_slope(strength, np.array([level]), place)
        for category in range(4):
            up, down = (log_probability(strength + way * step * np.eye(4)[category], level) for way in (1, -1))
            assert slope[0, category] == pytest.approx((up - down) / (2 * step), abs=1e-6)
            assert information[0, category] == pytest.approx(
                -(up - 2 * log_probability(strength, level) + down) / step**2, abs=1e-4
            )
