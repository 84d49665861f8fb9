"""The mixture of behaviours: cumulative sums over changes agree with explicit loops."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from scipy.special import logsumexp

from karat.models.credence import spammers as paces
from karat.models.credence.mixture import ATTENTIVE, CHUNK, LAPSES, Mixture, MixtureStep
from models.credence.answered import crowd

PEOPLE, TRIALS = 6, 12


def fitted(timed: bool, chunk: int = CHUNK) -> tuple[Mixture, MixtureStep]:
    trials = crowd(PEOPLE, TRIALS, timed=timed)
    trials.parts[0].content[1, -4:] = -1
    trials.parts[0].button[1, -4:] = -1
    mixture = Mixture(trials, np.ones(PEOPLE))
    mixture.step(chunk=chunk)
    return mixture, mixture.step(learn=False, chunk=chunk)


@pytest.mark.parametrize("timed", [True, False])
def test_sums_over_changes_agree_with_explicit_loops(timed: bool) -> None:
    mixture, step = fitted(timed)
    before = mixture.attentive[0].prefix(0, slice(0, PEOPLE)).summed
    nothing = np.zeros((PEOPLE, TRIALS + 1))
    residual = mixture.trials.residual
    calm = nothing if residual is None else paces.until(mixture.regimes[0].log_density(residual))[0]
    result = step.likelihood[:, 2:].reshape(PEOPLE, len(mixture.blind), len(mixture.regimes), 2)
    assert step.likelihood[:, ATTENTIVE] == pytest.approx(before[:, -1] + calm[:, -1], abs=1e-4)
    for person in range(PEOPLE):
        answered = int((mixture.trials.parts[0].content[person] >= 0).sum())
        last = answered - max(3, ceil(0.1 * answered))
        for way in range(len(mixture.blind)):
            for number, regime in enumerate(mixture.regimes):
                rest = nothing
                if residual is not None and number:
                    rest = paces.since(regime.log_density(residual))[0]
                changes, rates = [], []
                for change in range(1, last + 1):
                    times = calm[person, -1] if not number else calm[person, change] + rest[person, change]
                    rates.append(mixture.rates[20 * change // answered])
                    whole = before[person, change] + mixture.blind[way, person, change] + times
                    changes.append(whole + np.log(rates[-1]))
                at_once = mixture.blind[way, person, 0] + (rest[person, 0] if number else calm[person, -1])
                assert result[person, way, number, 0] == pytest.approx(at_once, abs=1e-4)
                assert result[person, way, number, 1] == pytest.approx(
                    logsumexp(changes) - np.log(sum(rates)), abs=1e-4
                )


@pytest.mark.parametrize("timed", [True, False])
def test_posteriors_are_probabilities_and_give_weights(timed: bool) -> None:
    mixture, step = fitted(timed)
    assert step.posterior.sum(axis=1) == pytest.approx(1)
    changing = step.posterior[:, 2:].reshape(PEOPLE, -1, 2)[..., 1].sum(axis=1)
    unlikely = 1 - step.posterior[:, ATTENTIVE]
    assert unlikely * step.change.sum(axis=1) == pytest.approx(changing, abs=1e-6)
    assert (step.change[~mixture.allowed] == 0).all()
    for person in range(PEOPLE):
        for trial in range(TRIALS):
            stays = step.posterior[person, ATTENTIVE] + step.posterior[person, LAPSES] / 2
            later = unlikely[person] * step.change[person, trial + 1 :].sum()
            assert step.weight[person, trial] == pytest.approx(stays + later, abs=1e-6)
            either = step.posterior[person, ATTENTIVE] + unlikely[person] * step.otherwise[person, trial]
            assert step.weight[person, trial] == pytest.approx(either, abs=1e-9)
    odds = mixture.log_odds(step.likelihood)
    assert step.posterior[:, ATTENTIVE] == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-9)
    if not timed:
        assert step.without_times == pytest.approx(odds)


def test_shares_sum_to_one_and_are_a_fixed_point() -> None:
    mixture, _ = fitted(timed=True)
    assert mixture.prior.sum() == pytest.approx(5)
    assert mixture.shares.sum() == pytest.approx(1)
    step = mixture.step(learn=False)
    mixture.learn_shares(step.likelihood)
    weighted = np.exp(step.likelihood - step.likelihood.max(axis=1, keepdims=True)) * mixture.shares
    attentive = (weighted[:, ATTENTIVE] / weighted.sum(axis=1)).sum()
    expected = (mixture.prior[ATTENTIVE] + attentive) / (mixture.prior.sum() + PEOPLE)
    assert mixture.shares[ATTENTIVE] == pytest.approx(expected, abs=1e-3)
    learned = mixture.shares.copy()
    mixture.learn_shares(step.likelihood)
    assert mixture.shares == pytest.approx(learned, abs=1e-3)
    assert mixture.shares.sum() == pytest.approx(1)
    assert (mixture.shares > 0).all()


def test_the_time_of_changes_is_learned_from_the_crowd() -> None:
    trials = crowd(24, 60, guessing=0, timed=False)
    part = trials.parts[0]
    guessed = np.random.default_rng(2).integers(0, 3, (6, 30))
    part.content[:6, 30:] = guessed
    part.button[:6, 30:] = guessed
    mixture = Mixture(trials, np.ones(24))
    assert (mixture.rates == 1).all()
    for _ in range(8):
        mixture.step()
    # Period 10 of 20 begins with the 31st trial.
    assert abs(int(mixture.rates.argmax()) - 10) <= 1
    assert mixture.rates[10] > 5 * mixture.rates[2]


def test_results_do_not_depend_on_the_chunk_size() -> None:
    _, whole = fitted(timed=True)
    _, one_by_one = fitted(timed=True, chunk=1)
    assert one_by_one.likelihood == pytest.approx(whole.likelihood, abs=1e-3)
    assert one_by_one.weight == pytest.approx(whole.weight, abs=1e-3)
