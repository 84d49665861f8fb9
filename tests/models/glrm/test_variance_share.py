"""The share of some variances with its interval: against the profile of one angle, and against a slow second search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from karat.models.glrm import Fit, NominalFit, fit_crossed, fit_nominal, worker_share
from karat.models.glrm.threads import one_thread
from karat.models.glrm.variance_share import FittedShare, variance_share
from models.glrm.simulated import answers


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """The function leaves it to its callers, who know how large the models are."""
    with one_thread():
        yield


def forms(fit: Fit | NominalFit) -> FittedShare:
    half = 1 if isinstance(fit, Fit) else len(fit.categories) - 1
    place = np.arange(len(fit.parameters)) - len(fit.parameters)
    workers, tasks = (place >= -2 * half) & (place < -half), place >= -half
    return FittedShare(
        fit.objective, fit.parameters, fit.modes, fit.hessian, np.diag(workers * 1.0), np.diag(tasks * 1.0)
    )


def labels(deviation: float, seed: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    who, what = np.repeat(np.arange(20), 15), np.tile(np.arange(15), 20)
    logits = random.normal(0, deviation, (20, 3))[who] + random.normal(0, 2, (15, 3))[what]
    return np.argmax(logits + random.gumbel(size=logits.shape), axis=1), who, what


@pytest.mark.parametrize("family", ["binary", "ordinal"])
@pytest.mark.parametrize("deviation", [1.0, 0.05])
def test_with_two_variances_it_is_the_profile_of_their_angle(family: str, deviation: float) -> None:
    response, worker, task, _ = answers(family, workers=30, tasks=20, deviations=(deviation, 1.5, 0.0))
    fit = fit_crossed(response, worker, task, family=family)  # type: ignore[arg-type]
    expected, found = worker_share(fit), variance_share([forms(fit)])
    assert found.value == pytest.approx(expected.value, abs=1e-9)
    assert found.lower == pytest.approx(expected.lower, abs=1e-4)
    assert found.upper == pytest.approx(expected.upper, abs=1e-4)


@pytest.mark.parametrize(("deviation", "seed"), [(0.7, 0), (0.2, 1), (0.0, 0)])
def test_at_an_end_the_best_likelihood_is_as_far_below_as_the_level_says(deviation: float, seed: int) -> None:
    """A second way: the largest likelihood among parameters with the share of the end, from several starts."""
    fit = fit_nominal(*labels(deviation, seed))
    model = forms(fit)
    share = variance_share([model])
    assert share.lower <= share.value <= share.upper
    random = np.random.default_rng(1)
    half = len(fit.categories) - 1

    def fall(x: np.ndarray, end: float) -> float:
        """With the deviations of tasks stretched until workers have the share."""
        workers, tasks = x[-2 * half : -half], x[-half:]
        stretch = np.sqrt((1 - end) / end) * np.linalg.norm(workers) / np.linalg.norm(tasks)
        at = fit.objective(np.concatenate([x[:-half], stretch * tasks]), fit.modes)
        assert at is not None
        return at.value + fit.log_likelihood

    for end in {share.lower, share.upper} - {0.0, 1.0}:
        starts = (fit.parameters + random.normal(0, 0.3, len(fit.parameters)) for _ in range(2))
        least = min(minimize(fall, start, (end,), method="BFGS", options={"gtol": 3e-3}).fun for start in starts)
        assert least == pytest.approx(1.9207, abs=2e-3)


def test_workers_who_do_not_vary_have_a_short_interval_from_zero() -> None:
    share = variance_share([forms(fit_nominal(*labels(0.0, 0)))])
    assert share.lower == 0
    assert share.value < 1e-6
    assert 0.005 < share.upper < 0.06


def test_tasks_that_do_not_vary_have_an_interval_up_to_one() -> None:
    response, what, who = labels(0.0, 0)
    share = variance_share([forms(fit_nominal(response, who, what))])
    assert share.upper == 1
    assert 0.9 < share.lower < 1


def test_the_same_model_twice_is_no_surer_than_once() -> None:
    model = forms(fit_nominal(*labels(0.7, 0)))
    once, twice = variance_share([model]), variance_share([model, model])
    assert twice.value == pytest.approx(once.value)
    assert (twice.lower, twice.upper) == pytest.approx((once.lower, once.upper), abs=1e-3)


def test_a_higher_level_is_wider() -> None:
    model = forms(fit_nominal(*labels(0.7, 2)))
    narrow, wide = variance_share([model], 0.8), variance_share([model], 0.99)
    assert wide.lower < narrow.lower < narrow.value < narrow.upper < wide.upper


def test_a_hessian_that_is_not_known_is_no_obstacle() -> None:
    model = forms(fit_nominal(*labels(0.7, 2)))
    unknown = replace(model, hessian=np.full_like(model.hessian, np.nan))
    assert variance_share([unknown]).upper == pytest.approx(variance_share([model]).upper, abs=1e-4)


def test_nothing_varies() -> None:
    model = forms(fit_nominal(*labels(0.7, 2)))
    with pytest.raises(ValueError, match="Nothing varies"):
        variance_share([replace(model, parameters=np.zeros_like(model.parameters))])
