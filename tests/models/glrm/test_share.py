"""The share of workers in the variance and its profile interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import karat
from karat.models.glrm import fit_crossed, fit_nominal, worker_share
from karat.models.numerics import one_thread
from messages import raises, refuses


def answers(worker: float, task: float, seed: int = 1, workers: int = 30, tasks: int = 20) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    who, what = np.repeat(np.arange(workers), tasks), np.tile(np.arange(tasks), workers)
    eta = random.normal(0, worker, workers)[who] + random.normal(0, task, tasks)[what]
    return eta + random.logistic(size=len(eta)), who, what


@pytest.mark.few(1)
@pytest.mark.parametrize("family", ["binary", "ordinal"])
def test_ends_lie_where_the_profile_falls_by_half_the_quantile(family: str) -> None:
    latent, who, what = answers(2.0, 2.0, workers=16, tasks=12)
    response = latent > 0 if family == "binary" else np.digitize(latent, [-1, 1])
    fit = fit_crossed(response, who, what, family=family)  # type: ignore[arg-type]
    share = worker_share(fit)
    assert share.value == pytest.approx(fit.variances["worker"] / sum(fit.variances.values()))
    assert 0 < share.lower < share.value < share.upper < 1
    for end in (share.lower, share.upper):
        # A second computation: another search, over the radius and the rest, without gradients of ours.
        along = np.sqrt([end, 1 - end])

        def nll(x: np.ndarray, along: np.ndarray = along) -> float:
            at = fit.objective(np.append(x[:-1], x[-1] * along), fit.modes)
            return 1e9 if at is None else at.value

        start = np.append(fit.parameters[:-2], np.hypot(*fit.parameters[-2:]))
        with one_thread():
            best = minimize(nll, start, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-6, "maxiter": 900})
        assert 2 * (best.fun + fit.log_likelihood) == pytest.approx(3.841459, abs=5e-3)


def test_interval_begins_at_zero_without_worker_differences() -> None:
    latent, who, what = answers(0.0, 2.0, seed=4)
    share = worker_share(fit_crossed(latent > 0, who, what))
    assert share.lower == 0
    assert share.upper < 0.3


def test_interval_ends_at_one_without_task_differences() -> None:
    latent, who, what = answers(2.0, 0.0, seed=4)
    share = worker_share(fit_crossed(latent > 0, who, what))
    assert share.upper == 1
    assert 0.8 < share.lower < share.value


def test_end_without_variance_does_not_stop_the_search() -> None:
    crowd = karat.datasets.load("crowd")
    attentive = crowd.participants.filter(pl.col("behaviour") == "attentive")["participant"].to_list()[:36]
    frame = crowd.frame.filter(pl.col("participant").is_in(attentive))
    fit = fit_crossed(*(frame[name].to_numpy() for name in ("response", "participant", "item")))
    share = worker_share(fit)
    assert 0 <= share.lower <= share.value < share.upper < 0.2


def test_other_models_are_refused() -> None:
    latent, who, what = answers(1.0, 2.0)
    with refuses(ValueError, "worker:task"):
        worker_share(fit_nominal(np.digitize(latent, [-1, 1]), who, what))  # type: ignore[arg-type]
    with refuses(ValueError, "worker:task"):
        worker_share(fit_crossed(latent > 0, who, what, interaction=True))
    fit = fit_crossed(latent > 0, who, what)
    nothing = replace(fit, parameters=np.array([0.3, 0.0, 0.0]))
    with raises(ValueError, "models.no_variance"):
        worker_share(nothing)
