"""Nominal answers beside a dense Laplace, beside quadrature, and beside what they are in special cases."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from karat.models.glrm import fit_crossed, fit_nominal
from karat.models.glrm.crossed import crossed
from karat.models.glrm.softmax import NominalObjective
from models.glrm.dense import differences
from models.glrm.simulated import answers


def choices(
    workers: int = 16, tasks: int = 10, share: float = 1.0, sheets: int = 1, seed: int = 2
) -> tuple[Any, Any, Any, Any]:
    """Answers among three categories, with workers, tasks and a covariate."""
    random = np.random.default_rng(seed)
    worker, task = np.divmod(np.tile(np.arange(workers * tasks), sheets), tasks)
    kept = random.random(len(worker)) < share
    worker, task = worker[kept], task[kept]
    x = random.normal(size=len(worker))
    logits = random.normal(0, 0.8, (workers, 3))[worker] + random.normal(0, 1.5, (tasks, 3))[task]
    logits[:, 1] += 0.8 * x
    return np.argmax(logits + random.gumbel(size=logits.shape), axis=1), worker, task, x


def objective_of(response: Any, worker: Any, task: Any, x: Any) -> NominalObjective:
    layout = crossed(worker, task, worker.max() + 1, task.max() + 1, whole=True)
    chosen = np.stack([layout.place((response == k).astype(float)) for k in range(1, response.max() + 1)])
    return NominalObjective(chosen, layout.present, layout.place(np.column_stack([np.ones(len(x)), x])))


def dense(response: Any, worker: Any, task: Any, x: Any, beta: Any, by_worker: Any, by_task: Any) -> float:
    """-log of the Laplace approximation with every effect a column and the Hessian whole."""
    n, m = len(response), beta.shape[1]
    workers, tasks = worker.max() + 1, task.max() + 1
    z = np.zeros((n, m, (workers + tasks) * m))
    for row, k in product(range(n), range(m)):
        z[row, k, worker[row] * m + k] = by_worker[k]
        z[row, k, (workers + task[row]) * m + k] = by_task[k]
    offset = np.column_stack([np.ones(n), x]) @ beta
    y = (response[:, None] == np.arange(1, m + 1)).astype(float)
    b = np.zeros(z.shape[2])
    for _ in range(100):
        eta = offset + z @ b
        p = np.exp(eta) / (1 + np.exp(eta).sum(axis=1, keepdims=True))
        w = np.einsum("nk,kl->nkl", p, np.eye(m)) - p[:, :, None] * p[:, None]
        hessian = np.eye(len(b)) + np.einsum("nka,nkl,nlb->ab", z, w, z, optimize=True)
        step = np.linalg.solve(hessian, np.einsum("nka,nk->a", z, y - p) - b)
        if np.abs(step).max() < 1e-12:
            break
        b = b + step
    log_likelihood = (y * eta).sum() - np.log(1 + np.exp(eta).sum(axis=1)).sum()
    return float(b @ b / 2 - log_likelihood + np.linalg.slogdet(hessian)[1] / 2)


@pytest.mark.parametrize(
    ("workers", "tasks", "share", "sheets"), [(9, 5, 1.0, 1), (5, 9, 1.0, 1), (8, 6, 0.6, 1), (6, 5, 0.6, 3)]
)
def test_value_and_gradient(workers: int, tasks: int, share: float, sheets: int) -> None:
    data = choices(workers, tasks, share, sheets)
    objective = objective_of(*data)
    parameters = np.array([0.2, -0.4, 0.6, -0.1, 0.9, 0.5, 1.4, 1.1])
    at = objective(parameters, objective.zero_modes())
    assert at is not None
    assert at.found
    assert at.value == pytest.approx(dense(*data, *objective.split(parameters)), abs=1e-7)
    value = differences(lambda x: objective(x, at.modes).value, parameters)  # type: ignore[union-attr]
    assert at.gradient == pytest.approx(value, abs=1e-6)


def test_the_kept_factor_changes_nothing() -> None:
    objective = objective_of(*choices())
    near, far = np.array([0.1, -0.3, 0.5, 0.0, 0.9, 0.6, 1.2, 1.3]), np.array([2.0, 1.0, -1, 2, 4.0, 3.0, 0.1, 5.0])
    away = objective(far, objective.zero_modes())
    fresh = objective(near, objective.zero_modes())
    assert away is not None
    assert fresh is not None
    kept = objective(near, away.modes)
    assert kept is not None
    assert kept.value == pytest.approx(fresh.value, abs=1e-8)
    assert kept.gradient == pytest.approx(fresh.gradient, abs=1e-6)


@pytest.mark.parametrize(("a_cell", "tolerance"), [(30, 0.03), (120, 0.015)])
def test_beside_quadrature(a_cell: int, tolerance: float) -> None:
    """Two workers, two tasks, three categories: eight effects, integrated by Gauss and Hermite.

    The task effects take the outer sum; given them, workers are independent of each other. The approximation comes
    closer as the answers become more.
    """
    random = np.random.default_rng(7)
    counts = random.multinomial(a_cell, [0.4, 0.35, 0.25], size=(2, 2)).astype(float)
    beta, by_worker, by_task = np.array([[0.2, -0.1]]), np.array([0.5, 0.3]), np.array([0.4, 0.6])
    nodes, weights = np.polynomial.hermite_e.hermegauss(27)
    weights = weights / weights.sum()
    pairs = np.array(list(product(nodes, nodes)))
    weight = np.outer(weights, weights).ravel()
    # log-likelihood of a cell for every effect of the worker (rows) and of the task (columns)
    eta = beta[0] + (by_worker * pairs)[:, None] + (by_task * pairs)[None]
    normaliser = np.log(1 + np.exp(eta).sum(axis=2))
    cells = counts[..., 1:] @ np.moveaxis(eta, 2, 0).reshape(2, -1) - a_cell * normaliser.ravel()
    cells = cells.reshape(2, 2, len(pairs), len(pairs))
    highest = cells.max(axis=(2, 3))
    density = np.exp(cells - highest[..., None, None])
    of_workers = [(weight[:, None] * density[i, 0]).T @ density[i, 1] for i in range(2)]
    exact = np.log(weight @ (of_workers[0] * of_workers[1]) @ weight) + highest.sum()
    worker, task = np.repeat([0, 0, 1, 1], a_cell), np.tile(np.repeat([0, 1], a_cell), 2)
    response = np.concatenate([np.repeat(np.arange(3), counts[i, j].astype(int)) for i in range(2) for j in range(2)])
    objective = objective_of(response, worker, task, np.zeros(len(worker)))
    at = objective(np.concatenate([beta[0], [0, 0], by_worker, by_task]), objective.zero_modes())
    assert at is not None
    assert -at.value == pytest.approx(exact, abs=tolerance)


def test_two_categories_are_a_binary_answer() -> None:
    response, worker, task, x = answers(share=0.8)
    design = np.column_stack([np.ones(len(x)), x])
    nominal, binary = fit_nominal(response, worker, task, design), fit_crossed(response, worker, task, design)
    assert nominal.log_likelihood == pytest.approx(binary.log_likelihood, abs=1e-7)
    assert nominal.coefficients[:, 0] == pytest.approx(binary.coefficients, abs=1e-4)
    assert nominal.standard_errors[:, 0] == pytest.approx(binary.standard_errors, rel=1e-3)
    assert nominal.variances["task"][0] == pytest.approx(binary.variances["task"], rel=1e-3)
    assert nominal.worker_effects[:, 0] == pytest.approx(binary.worker_effects, abs=1e-3)


def test_a_fit_ends_in_a_minimum_and_the_sides_are_alike() -> None:
    response, worker, task, x = choices(share=0.8)
    design = np.column_stack([np.ones(len(x)), x])
    fit = fit_nominal(response, worker, task, design)
    assert fit.converged
    assert fit.coefficients[1, 0] > 0.4 > abs(fit.coefficients[1, 1])
    at = fit.objective(fit.parameters, fit.modes)
    assert at is not None
    assert np.abs(at.gradient).max() < 2e-3
    turned = fit_nominal(response, task, worker, design)
    assert turned.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-7)
    assert turned.variances["worker"] == pytest.approx(fit.variances["task"], rel=1e-3)
    assert str(fit).startswith(f"{len(x)} nominal answers of 16 workers to 10 tasks in 3 categories, the baseline 0:")


def test_the_baseline_can_be_named() -> None:
    response, worker, task, _ = choices()
    named = fit_nominal(np.array(["a", "b", "c"])[response], worker, task, baseline="c")
    assert named.categories.tolist() == ["c", "a", "b"]
    plain = fit_nominal((response + 1) % 3, worker, task)
    assert named.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-7)
    with pytest.raises(ValueError, match="none of the answers"):
        fit_nominal(response, worker, task, baseline=9)


def test_what_cannot_be_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    response, worker, task, _ = choices()
    with pytest.raises(ValueError, match="All answers are the same"):
        fit_nominal(np.zeros(len(worker)), worker, task)
    assert "grows without bound" in str(fit_nominal(task % 3, worker, task))
    monkeypatch.setattr("karat.models.glrm.nominal.LARGEST", 100)
    with pytest.raises(ValueError, match="too many for a nominal model"):
        fit_nominal(response, worker, task)
