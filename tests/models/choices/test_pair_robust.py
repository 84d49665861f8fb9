"""The robust covariance against full matrices and against a jackknife over participants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.models.choices import Pairs, fit_pairs
from karat.models.choices import bradley_terry as engine
from karat.models.choices.bradley_terry import PairLikelihood


def simulated_pairs(items: int, people: int, trials: int, seed: int, ties: bool = True) -> tuple[Pairs, Any]:
    """Choices of participants with individual strengths, so that choices of a participant are dependent."""
    random = np.random.default_rng(seed)
    own = random.normal(size=items) + random.normal(size=(people, items))
    who = np.repeat(np.arange(people), trials)
    left = random.integers(items, size=len(who))
    right = (left + random.integers(1, items, size=len(who))) % items
    felt = own[who, left] - own[who, right] + random.logistic(size=len(who))
    answer = np.where(np.abs(felt) < 0.5 * ties, 0, np.sign(felt))
    return Pairs.of(left, right, answer, items), who


@pytest.mark.parametrize(("ties", "side"), [(False, False), (True, False), (True, True)])
def test_covariance_agrees_with_full_matrices(ties: bool, side: bool) -> None:
    pairs, who = simulated_pairs(5, 8, 30, seed=1, ties=ties)
    likelihood = PairLikelihood(pairs, ties, side, 0.0)
    at, _, _ = engine.newton(likelihood)
    values, n = at.values, pairs.items
    covariance = engine.on_plane(at.information().dense(), n)
    middle = np.zeros_like(covariance)
    for person in range(8):
        mine = who == person
        own = PairLikelihood(Pairs.of(pairs.left[mine], pairs.right[mine], pairs.answer[mine], n), ties, side, 0.0)
        point = own.at(values)
        share = np.eye(len(values)) - engine.SHARE * point.information().dense() @ covariance
        slope = np.linalg.solve(share, point.gradient())
        middle += np.outer(slope, slope)
    result = engine.robust_covariance(likelihood, values, covariance, who)
    assert result == pytest.approx(covariance @ middle @ covariance * 8 / 7, rel=1e-6, abs=1e-12)


def test_covariance_is_close_to_the_jackknife() -> None:
    pairs, who = simulated_pairs(6, 30, 25, seed=2)
    result = fit_pairs(pairs, participant=who)
    without = []
    for person in range(30):
        kept = who != person
        without.append(fit_pairs(Pairs.of(pairs.left[kept], pairs.right[kept], pairs.answer[kept], 6)).strengths)
    away = np.array(without) - result.strengths
    jackknife = np.sqrt((away**2).sum(axis=0) * 29 / 30)
    assert result.standard_errors == pytest.approx(jackknife, rel=0.12)
    assert (result.standard_errors > np.sqrt(np.diag(result.covariance))).mean() > 0.5


def test_large_studies_are_not_corrected() -> None:
    pairs, who = simulated_pairs(4, 200, 10, seed=3)
    likelihood = PairLikelihood(pairs, True, False, 0.0)
    at, _, _ = engine.newton(likelihood)
    given = likelihood, at.values, engine.on_plane(at.information().dense(), 4), who
    corrected, plain = (np.sqrt(np.diag(engine.robust_covariance(*given, work=work))) for work in (engine.WORK, 0.0))
    assert plain == pytest.approx(corrected, rel=0.03)
    assert plain.max() < corrected.max()


@pytest.mark.parametrize(("ties", "side"), [(False, False), (True, True)])
def test_conjugate_gradients_find_the_same_maximum(ties: bool, side: bool) -> None:
    pairs, _ = simulated_pairs(12, 20, 40, seed=4, ties=ties)
    likelihood = PairLikelihood(pairs, ties, side, 0.0)
    direct, _, _ = engine.newton(likelihood)
    for rounds in (engine.ROUNDS, 1):
        other, _, converged = engine.newton(likelihood, direct=3, rounds=rounds)
        assert converged
        assert other.values == pytest.approx(direct.values, abs=1e-6)
