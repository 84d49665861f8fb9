"""The share of workers in the variance and its profile interval."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import karat
from karat.messages import Message
from karat.models.glrm import fit_crossed, fit_nominal, worker_share
from karat.models.glrm.optimise import Evaluation
from karat.models.glrm.share import AngleProfile, Share, at_angle
from karat.models.numerics import one_thread
from messages import raises, refuses
from models.glrm.dense import differences


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


def test_crossed_thresholds_start_from_the_fit() -> None:
    latent, who, what = answers(2.0, 2.0, workers=16, tasks=12)
    fit = fit_crossed(np.digitize(latent, [-1, 1]), who, what, family="ordinal")
    usual, astray = AngleProfile(fit), AngleProfile(fit)
    astray.follow = np.array([1e3, -1e3, 0.0, 0.0])
    angle = usual.best + 0.1
    assert astray.fall(angle) == pytest.approx(usual.fall(angle), abs=1e-6)
    assert usual.fall(angle) > 0.01
    nowhere = AngleProfile(replace(fit, parameters=fit.parameters[[1, 0, 2, 3]]))
    with refuses(ValueError):
        nowhere.fall(angle)


CENTRE = np.array([0.4, -1.0, 2.0, 1.2, 1.5])
ROOT = np.random.default_rng(3).normal(size=(5, 5))
HESSIAN = 20 * (ROOT @ ROOT.T + 2 * np.eye(5))


def parabola(seen: list[np.ndarray]) -> Any:
    """In place of a fit: three parameters and two deviations, whose likelihood falls by half a quadratic form."""

    def objective(x: np.ndarray, modes: object) -> Evaluation | None:
        assert modes == "modes"
        if np.abs(x[:3]).max() > 10:
            return None
        seen.append(x)
        gap = x - CENTRE
        return Evaluation(5 + float(gap @ HESSIAN @ gap) / 2, HESSIAN @ gap, "modes", lambda: HESSIAN)

    covariance = np.linalg.inv(HESSIAN)
    return SimpleNamespace(
        objective=objective, parameters=CENTRE, covariance=covariance, modes="modes", log_likelihood=-5.0
    )


@pytest.mark.parametrize("step", [0.01, -0.01])
def test_error_and_way_of_the_others_match_a_nearby_search(step: float) -> None:
    """Beside the best angle the likelihood falls as a parabola, and the search starts close to where it ends."""
    seen: list[np.ndarray] = []
    profile = AngleProfile(parabola(seen))
    assert (profile.best, profile.radius) == pytest.approx((np.arctan(1.2 / 1.5), np.hypot(1.2, 1.5)))
    fall = profile.fall(profile.best + step)
    assert fall == pytest.approx((step / profile.error) ** 2 / 2, rel=0.05)
    moved = profile.parameters - CENTRE
    assert moved / step == pytest.approx(profile.follow, abs=0.05 * np.abs(profile.follow).max())
    assert profile.angle == profile.best + step
    # The deviations that were reached are at the angle, and no parameters at that angle are better.
    assert np.arctan2(*profile.parameters[-2:]) == pytest.approx(profile.best + step)
    assert fall == pytest.approx(moved @ HESSIAN @ moved / 2)
    for times in (1, 2, 3):
        first, before = len(seen), profile.parameters
        profile.fall(profile.best + (1 + times) * step)
        assert np.linalg.norm(seen[first] - seen[-1]) < 0.2 * np.linalg.norm(before - seen[-1])


def test_search_avoids_starts_without_variation() -> None:
    seen: list[np.ndarray] = []
    profile = AngleProfile(parabola(seen))
    angle = profile.best + 0.2
    usual = profile.fall(angle)
    profile.angle, profile.parameters = angle, np.append(CENTRE[:3], [0.0, 0.0])
    seen.clear()
    assert profile.fall(angle) == pytest.approx(usual, abs=1e-6)
    assert np.hypot(*seen[0][-2:]) == pytest.approx(profile.radius / 2)
    profile.follow = np.full(5, 1e4)
    seen.clear()
    assert profile.fall(angle + 1e-2) > usual
    assert seen[0][:3].tolist() == CENTRE[:3].tolist()


@pytest.mark.parametrize("covariance", [np.full((5, 5), np.nan), np.zeros((5, 5)), 1e4 * np.eye(5)])
def test_an_error_that_is_not_known_or_too_large_is_not_believed(covariance: np.ndarray) -> None:
    fit = parabola([])
    fit.covariance = covariance
    profile = AngleProfile(fit)
    assert profile.error == 0.2
    assert np.isfinite(profile.follow).all()
    assert profile.follow[:3].tolist() == [0, 0, 0]
    assert profile.fall(profile.best + 0.1) == pytest.approx(
        AngleProfile(parabola([])).fall(profile.best + 0.1), abs=1e-6
    )


@pytest.mark.parametrize("drop", [0.1, 1.92, 30.0])
@pytest.mark.parametrize("limit", [0.0, np.pi / 2])
def test_an_end_is_where_the_fall_is_the_drop_or_the_limit(drop: float, limit: float) -> None:
    for steepness in (0.5, 4.0, 60.0, 900.0):
        profile = AngleProfile(parabola([]))
        asked: list[float] = []

        def fall(angle: float, best: float = profile.best, steepness: float = steepness) -> float:
            asked.append(angle)  # noqa: B023
            return steepness * abs(angle - best) ** 1.5 - 1e-12

        profile.fall = fall  # type: ignore[method-assign]
        reach = (drop / steepness) ** (1 / 1.5)
        expected = max(profile.best - reach, 0) if limit == 0 else min(profile.best + reach, np.pi / 2)
        assert profile.end(limit, drop) == pytest.approx(expected, abs=2e-6)
        assert len(asked) < 30
        assert len(set(asked)) == len(asked)
        assert all(min(profile.best, limit) <= angle <= max(profile.best, limit) for angle in asked)


def test_a_ray_has_the_slopes_of_differences() -> None:
    objective = parabola([]).objective
    ray, x = at_angle(objective, 5, 0.7), np.array([0.5, -0.8, 1.7, 2.5])
    at = ray(x, "modes")
    assert at is not None
    gap = np.append(x[:3], [2.5 * np.sin(0.7), 2.5 * np.cos(0.7)]) - CENTRE
    assert at.value == pytest.approx(5 + gap @ HESSIAN @ gap / 2)
    assert at.gradient == pytest.approx(differences(lambda y: ray(y, "modes").value, x), rel=1e-6)  # type: ignore[union-attr]
    hessian = [differences(lambda y, k=k: float(ray(y, "modes").gradient[k]), x) for k in range(4)]  # type: ignore
    assert at.information() == pytest.approx(np.array(hessian), rel=1e-6)
    assert ray(np.array([11.0, 0, 0, 1]), "modes") is None


def test_a_share_in_words() -> None:
    share = Share(0.25, 0.125, 0.5, 0.9)
    values = {"value": 0.25, "level": 0.9, "lower": 0.125, "upper": 0.5}
    assert share.summary == (Message("models.share", values),)
    assert str(share) == str(share.summary[0])
