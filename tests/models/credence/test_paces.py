"""Response times: sums over paces against integrals, and what is learned of a regime."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from karat.models.credence.spammers import ATTENTIVE, GRID, HURRIED, LOG_WEIGHTS, RUSHING, Regime, since, until

RANDOM = np.random.default_rng(1)
TIMES = RANDOM.normal(0.2, 0.4, (3, 8))
TIMES[1, 3] = np.nan


def integrated(regime: Regime, times: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The log probability of times with the pace integrated out."""
    known = times[np.isfinite(times)]

    def at(pace: float) -> float:
        noise = stats.t.pdf((known - pace) / regime.scatter, 4) / regime.scatter
        return float(noise.prod() * stats.norm.pdf(pace, regime.mean, regime.deviation))

    low, high = regime.mean - 6 * regime.deviation, regime.mean + 6 * regime.deviation
    return float(np.log(integrate.quad(at, low, high, limit=200)[0]))


def test_weights_of_the_grid_are_a_normal_population() -> None:
    weights = np.exp(LOG_WEIGHTS)
    assert weights.sum() == pytest.approx(1)
    assert weights @ GRID == pytest.approx(0, abs=1e-12)
    assert weights @ GRID**2 == pytest.approx(1, abs=0.05)


@pytest.mark.few(1)
@pytest.mark.parametrize("regime", [ATTENTIVE, HURRIED], ids=["attentive", "hurried"])
def test_sums_over_the_grid_are_integrals_over_paces(regime: Regime) -> None:
    before, _ = until(regime.log_density(TIMES))
    rest, _ = since(regime.log_density(TIMES))
    for person, times in enumerate(TIMES):
        for trial in (0, 3, 8):
            assert before[person, trial] == pytest.approx(integrated(regime, times[:trial]), abs=0.06)
            assert rest[person, trial] == pytest.approx(integrated(regime, times[trial:]), abs=0.06)


def test_densities_are_students_missing_times_say_nothing() -> None:
    density = RUSHING.log_density(TIMES)
    pace = RUSHING.mean + RUSHING.deviation * GRID[4]
    expected = stats.t.logpdf(TIMES[0], 4, pace, RUSHING.scatter)
    assert density[0, :, 4] == pytest.approx(expected, abs=1e-4)
    assert (density[1, 3] == 0).all()


def test_before_and_since_meet_at_both_ends() -> None:
    density = ATTENTIVE.log_density(TIMES)
    before, one = until(density)
    rest, other = since(density)
    assert before[:, -1] == pytest.approx(rest[:, 0], abs=1e-4)
    assert before[:, 0] == pytest.approx(0, abs=1e-5)
    assert rest[:, -1] == pytest.approx(0, abs=1e-5)
    assert one == pytest.approx(other, abs=1e-4)
    assert one.sum(axis=1) == pytest.approx(1)


def test_a_regime_is_learned_from_those_who_are_in_it() -> None:
    random = np.random.default_rng(2)
    pace = random.normal(-1.0, 0.3, 300)
    times = pace[:, None] + 0.25 * random.standard_t(4, (300, 40))
    regime = HURRIED
    for _ in range(30):
        _, posterior = since(regime.log_density(times))
        regime = regime.improved(HURRIED, times, posterior, np.ones(times.shape), centred=False)
    assert regime.mean == pytest.approx(-1.0, abs=0.06)
    assert regime.deviation == pytest.approx(0.3, abs=0.05)
    assert regime.scatter == pytest.approx(0.25, abs=0.03)
    nobody = HURRIED.improved(HURRIED, times, posterior, np.zeros(times.shape), centred=False)
    assert (nobody.mean, nobody.deviation, nobody.scatter) == pytest.approx((-0.6, 0.5, 0.4))
