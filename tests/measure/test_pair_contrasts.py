"""Contrasts of two stimuli beside scipy.stats, which is another computation of the same tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from karat.measure.pairs.pair_measures import (
    Contrast,
    by_t,
    choices,
    paired,
    savage_dickey,
    sign_p,
    unpaired,
    yes_no,
    yes_no_unpaired,
)
from karat.models.proportions import benjamini_hochberg
from karat.types import Floats

RATINGS = st.lists(st.integers(1, 7), min_size=3, max_size=30)


@given(RATINGS, st.integers(0, 1000))
def test_paired_is_the_t_test_of_differences(ratings: list[int], seed: int) -> None:
    better = np.array(ratings, dtype=float)
    worse = np.random.default_rng(seed).integers(1, 8, len(better)).astype(float)
    found = paired(better, worse, rope=0.5, alpha=0.05)
    if np.ptp(better - worse) == 0:
        assert found.test == "sign"
        return
    result = stats.ttest_rel(better, worse)
    assert found.p == pytest.approx(result.pvalue)
    low, high = result.confidence_interval(0.95)
    assert (found.lower, found.upper) == pytest.approx((low, high))
    sides = (
        stats.ttest_1samp(better - worse, -0.5, alternative="greater").pvalue,
        stats.ttest_1samp(better - worse, 0.5, alternative="less").pvalue,
    )
    assert found.equivalence == pytest.approx(max(sides))


@given(RATINGS, RATINGS)
def test_unpaired_is_welchs(first: list[int], second: list[int]) -> None:
    better, worse = np.array(first, dtype=float), np.array(second, dtype=float)
    found = unpaired(better, worse, rope=0.5, alpha=0.1)
    assert found.n == len(first) + len(second)
    # scipy warns of a group that does not vary.
    assume(np.ptp(better) > 0 and np.ptp(worse) > 0)
    result = stats.ttest_ind(better, worse, equal_var=False)
    assert found.p == pytest.approx(result.pvalue)
    low, high = result.confidence_interval(0.9)
    assert (found.lower, found.upper) == pytest.approx((low, high))


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 10))
def test_choices_are_the_exact_binomial(better: int, worse: int, ties: int) -> None:
    found = choices(better, worse, ties, rope=0.1, alpha=0.05)
    assert found.n == better + worse + ties
    if not better + worse:
        assert found.p == 1
        assert np.isnan(found.estimate)
        return
    n = better + worse
    result = stats.binomtest(better, n)
    interval = result.proportion_ci(0.95, "exact")
    assert found.p == pytest.approx(result.pvalue)
    assert (found.lower, found.upper) == pytest.approx((interval.low, interval.high))
    # The interval excludes one half exactly where the test rejects.
    assert (found.p < 0.05) == (not found.lower <= 0.5 <= found.upper)
    sides = (
        stats.binomtest(better, n, 0.4, alternative="greater").pvalue,
        stats.binomtest(better, n, 0.6, alternative="less").pvalue,
    )
    assert found.equivalence == pytest.approx(max(sides))


def test_equivalence_and_interval_say_the_same() -> None:
    """The difference is within the region exactly where the interval of 90 % is."""
    for estimate in np.linspace(-1, 1, 81):
        found = by_t(estimate, 0.15, rope=0.5, alpha=0.10, n=20, test="normal")
        inside = found.lower > -0.5 and found.upper < 0.5
        assert inside == (found.equivalence < 0.05)
        outside = found.lower > 0.5 or found.upper < -0.5
        assert outside == (found.beyond < 0.05)


def test_mcnemar() -> None:
    random = np.random.default_rng(3)
    better, worse = (random.binomial(1, share, 60).astype(float) for share in (0.7, 0.45))
    found = yes_no(better, worse, rope=0.1, alpha=0.05)
    first, second = int((better > worse).sum()), int((better < worse).sum())
    assert found.p == pytest.approx(stats.binomtest(first, first + second).pvalue)
    assert found.estimate == pytest.approx(better.mean() - worse.mean())
    assert found.lower < found.estimate < found.upper


@pytest.mark.parametrize("way", [yes_no, yes_no_unpaired])
def test_everybody_says_the_same(way: Callable[[Floats, Floats, float, float], Contrast]) -> None:
    ones, zeros = np.ones(12), np.zeros(12)
    clear = way(ones, zeros, 0.1, 0.05)
    assert clear.estimate == 1
    assert clear.p < 0.001
    assert clear.upper == 1
    equal = way(ones, ones, 0.1, 0.05)
    assert equal.estimate == 0
    assert equal.p == pytest.approx(1)


def test_yes_and_no_cover_the_truth() -> None:
    """Over many studies of 40 participants the interval of 95 % misses the difference of shares in about 5 %."""
    random = np.random.default_rng(5)
    shares = random.binomial(1, 0.8, (2000, 40)).astype(float), random.binomial(1, 0.6, (2000, 40)).astype(float)
    for way in (yes_no, yes_no_unpaired):
        found = [way(better, worse, 0.1, 0.05) for better, worse in zip(*shares, strict=True)]
        assert np.mean([one.lower <= 0.2 <= one.upper for one in found]) == pytest.approx(0.95, abs=0.02)


def test_equal_differences_fall_back_on_the_sign_test() -> None:
    found = paired(np.full(6, 5.0), np.full(6, 2.0), rope=0.5, alpha=0.05)
    assert (found.test, found.estimate, found.p) == ("sign", 3, sign_p(6, 6))
    assert np.isnan(found.equivalence)
    assert paired(np.full(6, 5.0), np.full(6, 5.0), 0.5, 0.05).p == 1


def test_equal_ratings_fall_back_on_permutations() -> None:
    better, worse = np.full(4, 5.0), np.full(3, 2.0)
    found = unpaired(better, worse, rope=0.5, alpha=0.05)

    def difference(x: Floats, y: Floats) -> float:
        return float(x.mean() - y.mean())

    result = stats.permutation_test((better, worse), difference, n_resamples=np.inf)
    assert found.test == "permutation"
    assert found.p == pytest.approx(result.pvalue)
    assert unpaired(better, np.full(3, 5.0), 0.5, 0.05).p == 1


@given(st.floats(-5, 5), st.floats(0.1, 2), st.floats(0.2, 4))
def test_the_bayes_factor_is_that_of_the_marginal_likelihoods(seen: float, noise: float, spread: float) -> None:
    """With a normal prior of the difference and a normal observation both models can be integrated by hand."""
    prior = np.sqrt(2) * spread
    variance = 1 / (1 / prior**2 + 1 / noise**2)
    found = savage_dickey(seen * variance / noise**2, float(np.sqrt(variance)), spread)
    result = stats.norm.logpdf(seen, 0, np.hypot(prior, noise)) - stats.norm.logpdf(seen, 0, noise)
    assert np.log(found) == pytest.approx(min(result, 700), abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_false_discoveries(p: list[float]) -> None:
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p))
