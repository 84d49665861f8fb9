"""Posteriors of mixed models: priors, Bayes factors, and what the sampler finds in simulated answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from karat.models.glrm.bayes import MixedPosterior, Priors, sample_posterior, savage_dickey
from karat.models.glrm.formulas.design import contrasts
from karat.models.glrm.formulas.model import lay_out
from messages import refuses


@pytest.mark.parametrize("size", [2, 3, 5])
def test_all_differences_of_levels_have_one_prior(size: int) -> None:
    matrix = contrasts(size, "difference")
    for one in range(size):
        for other in range(one):
            assert np.linalg.norm(matrix[one] - matrix[other]) == pytest.approx(1)


def test_all_differences_of_differences_have_that_prior() -> None:
    first, second = contrasts(3, "difference"), contrasts(2, "difference")
    assert np.linalg.norm(np.kron(first[0] - first[2], second[0] - second[1])) == pytest.approx(1)


def test_a_prior_needs_a_width() -> None:
    with refuses(ValueError, "deviation", 0):
        Priors(deviation=0.0)


@pytest.mark.parametrize("mean", [0.0, 0.4])
def test_a_bayes_factor_is_a_ratio_of_densities(mean: float) -> None:
    draws = np.random.default_rng(2).normal(mean, 0.3, (4, 5000))
    found = savage_dickey(draws, 2.0)
    assert found.sure
    assert found.null == pytest.approx(norm.pdf(0, mean, 0.3) / norm.pdf(0, 0, 2), rel=0.1)


def test_far_from_zero_a_bayes_factor_is_an_order_of_magnitude() -> None:
    found = savage_dickey(np.random.default_rng(2).normal(2.0, 0.2, (4, 500)), 2.0)
    assert not found.sure
    assert np.log10(found.null) == pytest.approx(np.log10(norm.pdf(0, 2, 0.2) / norm.pdf(0, 0, 2)), abs=4)


def simulated(family: Any, spread: float = 0.0) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    random = np.random.default_rng(5)
    who, what = np.divmod(np.arange(480), 16)
    a = np.where((who + what) % 2, "x", "y")
    eta = random.normal(0, 0.8, 30)[who] + random.normal(0, 0.5, 16)[what] + 1.2 * (a == "x")
    noise = random.normal(size=480) * np.exp(spread * np.where(a == "x", 0.5, -0.5))
    latent = eta + noise
    answers: dict[str, Any] = {
        "gaussian": 10 * latent, "binary": (latent > 0).astype(int), "ordinal": np.digitize(latent, [-1.0, 0.5, 2.0]),
    }  # fmt: skip
    return {"y": answers[family], "a": a, "who": who, "what": what}, latent


def posterior(family: Any, link: Any, spread: float = 0.0, **options: Any) -> MixedPosterior:
    pytest.importorskip("numpyro", reason="NumPyro is not installed: pip install 'karat[bayes]'")
    laid = lay_out("y ~ a + (1 + a | who) + (1 | what)", simulated(family, spread)[0], family, "difference")
    return sample_posterior(laid, family, link, warmup=300, draws=250, chains=2, **options)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "unit"), [("gaussian", 10.0), ("binary", 1.0), ("ordinal", 1.0)])
def test_what_was_simulated_is_found(family: Any, unit: float) -> None:
    """x is above y by 1.2 standard deviations of the noise."""
    found = posterior(family, "probit")
    names = found.laid.design.names
    draws = found.linear(np.eye(len(names))[names.index("a1")])
    assert abs(draws.mean() - 1.2 * unit) < 3 * draws.std()
    assert 0.05 * unit < draws.std() < 0.5 * unit
    assert found.diagnostics.rhat.max() < 1.1
    again = posterior(family, "probit")
    assert np.array_equal(found.coefficients, again.coefficients)
    redrawn = found.replicated(50, 1)
    assert redrawn.shape == (50, 480)
    assert redrawn.mean() == pytest.approx(found.laid.response.mean(), abs=0.3 * found.laid.response.std())


@pytest.mark.slow
def test_unequal_variances_are_found() -> None:
    found = posterior("ordinal", "probit", 1.0, unequal=["a"])
    draws = found.parameters["spread", "a1"]
    assert draws.mean() > 2 * draws.std()
    assert abs(draws.mean() - 1.0) < 3 * draws.std()
