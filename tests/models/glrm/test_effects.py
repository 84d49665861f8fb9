"""The covariance of task effects beside a dense inverse whose curvature comes from differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.models.glrm import fit_crossed
from karat.models.glrm.fit import task_covariance, task_errors
from messages import refuses
from models.glrm.dense import indicator, logistic, second

Floats = NDArray[np.float64]


def answers(workers: int, tasks: int, share: float, seed: int) -> tuple[NDArray[np.int64], ...]:
    """Who answered what, with a latent value above which every answer lies."""
    random = np.random.default_rng(seed)
    who, what = np.divmod(np.arange(workers * tasks), tasks)
    kept = random.random(len(who)) < share
    who, what = who[kept], what[kept]
    eta = random.normal(0, 1, workers)[who] + random.normal(0, 1.5, tasks)[what]
    latent = eta + random.logistic(size=len(who))
    return who, what, np.digitize(latent, [-1.0, 0.0, 1.5])


def dense_covariance(fit: object, who: NDArray[np.int64], what: NDArray[np.int64], log: object, eta: Floats) -> Floats:
    """The tasks' block of the inverse of the whole penalised Hessian, in units of the predictor."""
    z = np.hstack([indicator(who), indicator(what)])
    workers = int(who.max()) + 1
    variance = np.concatenate([
        np.full(workers, fit.variances["worker"]), np.full(z.shape[1] - workers, fit.variances["task"])  # type: ignore[attr-defined]
    ])  # fmt: skip
    hessian = np.diag(1 / variance) - z.T @ (second(log, eta)[:, None] * z)  # type: ignore[arg-type]
    return np.linalg.inv(hessian)[workers:, workers:]


@pytest.mark.parametrize(("workers", "tasks", "share"), [(20, 8, 1.0), (8, 20, 0.8), (40, 25, 0.3)])
def test_yes_or_no_answers(workers: int, tasks: int, share: float) -> None:
    who, what, category = answers(workers, tasks, share, workers)
    yes = category > 1
    fit = fit_crossed(yes, who, what)
    eta = fit.coefficients[0] + fit.worker_effects[who] + fit.task_effects[what]
    sign = np.where(yes, 1.0, -1.0)
    dense = dense_covariance(fit, who, what, lambda at: np.log(logistic(sign * at)), eta)
    found = task_covariance(fit)
    np.testing.assert_allclose(found, dense, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(task_errors(fit), np.sqrt(dense.diagonal()), rtol=1e-4)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize(("workers", "tasks"), [(18, 7), (7, 18)])
def test_ordered_answers(workers: int, tasks: int) -> None:
    who, what, category = answers(workers, tasks, 0.9, 5)
    fit = fit_crossed(category, who, what, family="ordinal")
    edges = np.concatenate([[-np.inf], fit.thresholds, [np.inf]])

    def log(at: Floats) -> Floats:
        return np.log(logistic(edges[category + 1] - at) - logistic(edges[category] - at))

    eta = fit.worker_effects[who] + fit.task_effects[what]
    np.testing.assert_allclose(
        task_covariance(fit), dense_covariance(fit, who, what, log, eta), rtol=1e-4, atol=1e-7
    )  # fmt: skip


def test_a_long_list_of_answers_is_no_table() -> None:
    """Few answers among many workers and tasks are laid out as a list; the covariance is the same."""
    random = np.random.default_rng(3)
    who, what = random.integers(0, 400, 3000), random.integers(0, 60, 3000)
    yes = random.normal(0, 1.5, 60)[what] + random.logistic(size=3000) > 0
    fit = fit_crossed(yes, who, what)
    assert type(fit.objective.layout).__name__ == "Listed"
    np.testing.assert_allclose(task_covariance(fit).diagonal(), task_errors(fit) ** 2, rtol=1e-8)


def test_measured_answers_are_refused() -> None:
    who, what, _ = answers(6, 5, 1.0, 2)
    fit = fit_crossed(np.random.default_rng(1).normal(size=len(who)), who, what, family="gaussian")
    with refuses(ValueError):
        task_covariance(fit)
