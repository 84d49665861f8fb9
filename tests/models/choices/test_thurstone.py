"""Thurstone's model: derivatives against differences, the integral against a fine grid, and recovery of strengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from karat.models.choices import Pairs
from karat.models.choices.thurstone import ThurstoneProblem, fit_thurstone
from karat.models.choices.thurstone_people import EULER, FeltChoices, Population, log_probability, slopes

moderate = st.floats(-4, 4)
answers = st.sampled_from((-1, 0, 1))


def simulated_pairs(items: int, people: int, trials: int, seed: int, shared: bool = False) -> tuple[Pairs, Any, Any]:
    random = np.random.default_rng(seed)
    strengths = random.normal(0, 1.5, size=items)
    sigma = np.exp(-EULER / 2.5) ** -1 * random.weibull(2.5, size=people)
    criterion = np.full(people, 0.8) if shared else np.exp(random.normal(-0.2, 0.4, size=people))
    who = np.repeat(np.arange(people), trials)
    left = random.integers(items, size=len(who))
    right = (left + random.integers(1, items, size=len(who))) % items
    felt = random.normal(strengths[left] - strengths[right], sigma[who])
    answer = np.where(felt > criterion[who], 1, np.where(felt < -criterion[who], -1, 0))
    return Pairs.of(left, right, answer, items), who, strengths


@given(moderate, st.floats(-1.5, 1.5), st.floats(-2, 1.5))
def test_probabilities_agree_with_their_formula(d: float, u: float, v: float) -> None:
    sigma, criterion = np.exp(u), np.exp(v)
    left = norm.sf(criterion, d, sigma)
    right = norm.cdf(-criterion, d, sigma)
    result = np.exp(log_probability(*(np.full(3, value) for value in (d, u, v)), np.array([1, 0, -1])))
    assert result == pytest.approx([left, 1 - left - right, right], abs=1e-12)


@given(moderate, st.floats(-1.5, 1.5), st.floats(-2, 1.5), answers)
def test_derivatives_agree_with_differences(d: float, u: float, v: float, answer: int) -> None:
    at = {"d": d, "u": u, "v": v}
    said = np.array([answer])

    def of(name: str, moved: dict[str, float]) -> float:
        result = slopes(*(np.array([moved[key]]) for key in "duv"), said)
        return float(getattr(result, name)[0])

    step = 1e-5
    for key in "duv":
        up, down = {**at, key: at[key] + step}, {**at, key: at[key] - step}
        assert of(key, at) == pytest.approx((of("value", up) - of("value", down)) / (2 * step), rel=1e-4, abs=1e-5)
        for other in "duv":
            name = "".join(sorted(key + other))
            assert of(name, at) == pytest.approx((of(other, up) - of(other, down)) / (2 * step), rel=1e-3, abs=1e-4)


def test_far_tails_are_precise() -> None:
    d, zero = np.array([30.0, 30.0]), np.zeros(2)
    assert log_probability(d, zero, zero, np.array([-1, 0])) == pytest.approx(
        [norm.logcdf(-31), norm.logcdf(-29)], rel=1e-6
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("shared", [False, True])
def test_the_integral_agrees_with_a_fine_grid(shared: bool) -> None:
    pairs, who, strengths = simulated_pairs(6, 3, 40, seed=2, shared=shared)
    population = Population(2.5, -0.2, None if shared else 0.4)
    d = strengths[pairs.left] - strengths[pairs.right]
    choices = FeltChoices(3, who, d, pairs.answer, population)
    points = choices.adapt(9)
    result, weights = choices.posterior(points)
    assert weights.sum(axis=1) == pytest.approx(np.ones(3))
    grid_u = np.linspace(-4, 2.5, 261)
    grid_v = np.array([-0.2]) if shared else np.linspace(-2.5, 2, 181)
    for person in range(3):
        mine = who == person
        own, said = np.broadcast_arrays(d[mine], pairs.answer[mine], subok=False)
        across = np.broadcast_to(grid_v[:, None], (len(grid_v), len(own)))
        height = np.array([
            log_probability(own, np.full(across.shape, u), across, said).sum(axis=1)
            + population.log_density(np.full(len(grid_v), u), grid_v)
            for u in grid_u
        ])  # fmt: skip
        cell = (grid_u[1] - grid_u[0]) * (1 if shared else grid_v[1] - grid_v[0])
        top = height.max()
        # The points lack the constant of the normal density of log C, which cancels in comparisons of models.
        assert result[person] == pytest.approx(top + np.log(np.exp(height - top).sum() * cell), abs=0.02)


@pytest.mark.parametrize("shared", [False, True])
def test_slope_and_information_agree_with_the_likelihood(shared: bool) -> None:
    pairs, who, _ = simulated_pairs(5, 4, 30, seed=3, shared=shared)
    problem = ThurstoneProblem(pairs, who, shared)
    values = problem.start()
    points = problem.points(values, None)
    for _ in range(15):
        # Near the maximum, the information is positive definite and not modified.
        at = problem.evaluate(values, points)
        values = problem.climb(values, np.linalg.solve(at.information, at.gradient), points, at.value)
    values = values + np.random.default_rng(4).normal(0, 0.01, size=problem.size)
    at = problem.evaluate(values, points)
    step = 1e-5
    for place in range(problem.size):
        move = step * np.eye(problem.size)[place]
        slope = (problem.value(values + move, points) - problem.value(values - move, points)) / (2 * step)
        assert at.gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-5)
        up, down = problem.evaluate(values + move, points), problem.evaluate(values - move, points)
        curvature = -(up.gradient - down.gradient) / (2 * step)
        assert at.information[place] == pytest.approx(curvature, rel=1e-3, abs=1e-3)


@pytest.mark.few(1)
@pytest.mark.parametrize("shared", [False, True])
def test_strengths_are_recovered(shared: bool) -> None:
    pairs, who, strengths = simulated_pairs(12, 30, 60, seed=5, shared=shared)
    result = fit_thurstone(pairs, who, shared)
    assert result.converged
    assert result.gradient < 1e-2
    assert result.strengths.sum() == pytest.approx(0, abs=1e-9)
    truth = (strengths - strengths.mean()) / strengths.std(ddof=1)
    estimate, error = result.standardised()
    assert np.corrcoef(estimate, truth)[0, 1] > 0.98
    assert (np.abs(estimate - truth) < 3 * error).all()
    assert (result.population.omega is None) == shared


def test_without_ties_the_criterion_is_shared() -> None:
    pairs, who, _ = simulated_pairs(5, 6, 40, seed=6)
    kept = pairs.answer != 0
    result = fit_thurstone(Pairs.of(pairs.left[kept], pairs.right[kept], pairs.answer[kept], 5), who[kept])
    assert result.population.omega is None
    assert result.criterion.max() < 0.2
