"""Nominal answers beside a dense Laplace, beside quadrature, and beside what they are in special cases."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from karat.messages import Message
from karat.models.glrm import fit_crossed, fit_nominal
from karat.models.glrm import nominal as nominal_module
from karat.models.glrm.crossed import crossed
from karat.models.glrm.fit import group_message
from karat.models.glrm.nominal import BlockModes, NominalObjective, SoftmaxEvaluation, first_deviations
from messages import raises, refuses
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


def objective_of(response: Any, worker: Any, task: Any, x: Any, listed: bool = False) -> NominalObjective:
    layout = crossed(worker, task, worker.max() + 1, task.max() + 1, listed=listed)
    chosen = np.stack([layout.place((response == k).astype(float)) for k in range(1, response.max() + 1)])
    return NominalObjective(layout, chosen, layout.place(np.column_stack([np.ones(len(x)), x])))


def dense_mode(
    response: Any, worker: Any, task: Any, x: Any, beta: Any, by_worker: Any, by_task: Any
) -> tuple[float, Any, Any, Any]:
    """-log of the Laplace approximation with every effect a column, these columns, W of each answer and the Hessian."""
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
    return float(b @ b / 2 - log_likelihood + np.linalg.slogdet(hessian)[1] / 2), z, w, hessian


@pytest.mark.parametrize(
    ("workers", "tasks", "share", "sheets"),
    [(9, 5, 1.0, 1), (5, 9, 1.0, 1), (8, 6, 0.6, 1), (6, 5, 0.6, 3), (1, 5, 0.8, 3)],
)
@pytest.mark.parametrize("listed", [False, True])
def test_value_and_gradient(workers: int, tasks: int, share: float, sheets: int, listed: bool) -> None:
    data = choices(workers, tasks, share, sheets)
    objective = objective_of(*data, listed=listed)
    parameters = np.array([0.2, -0.4, 0.6, -0.1, 0.9, 0.5, 1.4, 1.1])
    at = objective(parameters, objective.zero_modes())
    assert at is not None
    assert at.converged
    assert at.value == pytest.approx(dense_mode(*data, *objective.split(parameters))[0], abs=1e-7)
    value = differences(lambda x: objective(x, at.modes).value, parameters)  # type: ignore[union-attr]
    assert at.gradient == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("workers", "tasks", "share", "sheets"), [(7, 4, 1.0, 1), (4, 6, 0.7, 2)])
@pytest.mark.parametrize("listed", [False, True])
def test_the_information_is_that_of_dense_matrices(
    workers: int, tasks: int, share: float, sheets: int, listed: bool
) -> None:
    """Coefficients: the Hessian of the penalised likelihood, without the effects; deviations: those of a linear model.

    The last deviation of the workers is so small that the curvature stands in for what they tell.
    """
    data = _, worker, task, x = choices(workers, tasks, share, sheets)
    objective = objective_of(*data, listed=listed)
    parameters = np.array([0.2, -0.4, 0.6, -0.1, 0.9, 1e-4, 1.4, -1.1])
    at = objective(parameters, objective.zero_modes())
    assert at is not None
    beta, by_worker, by_task = objective.split(parameters)
    _, z, w, hessian = dense_mode(*data, beta, by_worker, by_task)
    design = np.einsum("nc,kl->nkcl", np.column_stack([np.ones(len(x)), x]), np.eye(2)).reshape(len(x), 2, 4)
    with_design = np.einsum("nka,nkl,nlb->ab", z, w, design)
    fixed = np.einsum("nka,nkl,nlb->ab", design, w, design) - with_design.T @ np.linalg.solve(hessian, with_design)
    variances = np.diag(np.linalg.inv(hessian)).reshape(workers + tasks, 2)
    lines = []
    for groups, own, deviations in ((worker, variances[:workers], by_worker), (task, variances[workers:], by_task)):
        for k, deviation in enumerate(deviations):
            total = 0.0
            for group, variance in enumerate(own[:, k]):
                known = 1 - variance
                unit = known / deviation**2 if abs(deviation) > 1e-3 else w[groups == group, k, k].sum()
                total += unit * max(2 * known, 0.2)
            lines.append(total)
    information = at.information()
    assert information[:4, :4] == pytest.approx(fixed, rel=1e-6, abs=1e-8)
    assert np.diag(information)[4:] == pytest.approx(lines, rel=1e-6)
    rest = information.copy()
    rest[:4, :4] = 0
    assert np.count_nonzero(rest) == 4


def test_the_start_of_the_search_for_modes_changes_nothing() -> None:
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


@pytest.mark.parametrize(("away", "found"), [(1.0, False), (0.01, False), (1e-6, True)])
def test_effects_without_likelihood_are_the_last_mode(
    away: float, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    objective = objective_of(*choices(9, 6))
    x = np.array([0.1, -0.3, 0.5, 0.0, 0.9, 0.6, 1.2, 1.3])
    at = objective(x, objective.zero_modes())
    assert at is not None
    start = BlockModes(at.modes.worker + away, at.modes.task)
    original, values = SoftmaxEvaluation.evaluate, iter([True])

    def evaluate(place: Any, worker: Any, task: Any) -> Any:
        point = original(place, worker, task)
        return point if next(values, False) else replace(point, value=np.nan)

    monkeypatch.setattr(SoftmaxEvaluation, "evaluate", evaluate)
    stuck = objective(x, start)
    assert stuck is not None
    assert stuck.converged is found
    assert stuck.modes.worker.tolist() == start.worker.tolist()


def test_a_search_without_enough_steps_has_not_found_the_mode() -> None:
    objective = replace(objective_of(*choices(9, 6)), steps=1)
    at = objective(np.array([0.1, -0.3, 0.5, 0.0, 0.9, 0.6, 1.2, 1.3]), objective.zero_modes())
    assert at is not None
    assert at.converged is False


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
    assert nominal.task_effects[:, 0] == pytest.approx(binary.task_effects, abs=1e-3)


def test_negative_deviations_are_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The likelihood does not know the sign of a deviation, but the modes and the Hessian go with it."""
    response, worker, task, _ = choices(share=0.8)
    fit = fit_nominal(response, worker, task)
    negative = np.array([-1.0, 1.0, 1.0, -1.0])
    monkeypatch.setattr(nominal_module, "first_deviations", lambda *given: negative * first_deviations(*given))
    other = fit_nominal(response, worker, task)
    assert other.converged
    assert other.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-7)
    assert other.parameters == pytest.approx(fit.parameters, abs=1e-3)
    assert other.worker_effects == pytest.approx(fit.worker_effects, abs=1e-3)
    assert other.task_effects == pytest.approx(fit.task_effects, abs=1e-3)
    assert other.modes.worker == pytest.approx(fit.modes.worker, abs=1e-3)
    assert other.modes.task == pytest.approx(fit.modes.task, abs=1e-3)
    assert other.hessian == pytest.approx(fit.hessian, abs=1e-2 * np.abs(fit.hessian).max())


def test_few_answers_of_many_are_a_list() -> None:
    """Both sides alike; the likelihood, variances and effects are those of the table."""
    response, worker, task, _ = choices(160, 130, share=0.06)
    fit, turned = fit_nominal(response, worker, task), fit_nominal(response, task, worker)
    assert fit.objective.layout.listed
    assert fit.converged
    assert turned.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-6)
    table = objective_of(response, worker, task, np.zeros(len(worker)))
    table = replace(table, design=table.design[..., :1])
    at = table(fit.parameters, table.zero_modes())
    assert at is not None
    assert -at.value == pytest.approx(fit.log_likelihood, abs=1e-7)
    assert at.modes.worker == pytest.approx(fit.modes.worker, abs=1e-5)
    assert np.abs(at.gradient).max() < 2e-3


def test_labels_of_many_who_hardly_met() -> None:
    """5,000 items by 300 participants would be 13,500,000 numbers; 15,000 pairs of them met."""
    random = np.random.default_rng(6)
    task, worker = np.repeat(np.arange(5000), 3), random.integers(0, 300, 15_000)
    logits = random.normal(0, 1, (300, 3))[worker] + random.normal(0, 1.5, (5000, 3))[task]
    logits[:, 0] = 0
    response = np.argmax(logits + random.gumbel(size=logits.shape), axis=1)
    fit = fit_nominal(response, worker, task, largest=400_000)
    assert fit.converged
    assert fit.variances["worker"] == pytest.approx([1.0, 1.0], abs=0.4)


def test_a_large_coefficient_is_no_large_variance() -> None:
    response, worker, task, x = choices()
    design = np.column_stack([np.ones(len(x)), x[::-1], x / 1000])
    fit = fit_nominal(response, worker, task, design)
    assert fit.coefficients[2, 0] > 400
    assert fit.converged


@pytest.mark.parametrize(("side", "group"), [("worker", 3), ("task", 0)])
def test_leaving_a_worker_or_task_leaves_the_others(side: Any, group: int) -> None:
    data = choices(9, 6, share=0.8)
    response, worker, task, x = data
    fit = fit_nominal(response, worker, task, np.column_stack([np.ones(len(x)), x]))
    rest, modes, kept = fit.objective.without(fit.modes, side, group)
    assert rest is not None
    assert kept.tolist() == [True] * 8
    left = (worker if side == "worker" else task) != group
    numbered = [np.unique(one[left], return_inverse=True)[1] for one in (worker, task)]
    other = objective_of(response[left], *numbered, x[left])
    at, expected = rest(fit.parameters, modes), other(fit.parameters, other.zero_modes())
    assert at is not None
    assert expected is not None
    assert at.value == pytest.approx(expected.value, abs=1e-8)
    effects = np.delete(fit.modes.worker, group, axis=0) if side == "worker" else fit.modes.worker
    assert modes.worker.tolist() == effects.tolist()
    assert rest.answers == left.sum()


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
    first, ended = fit.summary
    sizes = {"n": len(x), "workers": 16, "tasks": 10, "categories": 3, "baseline": "0", "value": fit.log_likelihood}
    assert (first.code, {key: first.values[key] for key in sizes}) == ("fit.nominal", sizes)
    for name in ("worker", "task"):
        assert first.values[f"{name}_variances"] == pytest.approx(list(fit.variances[name]), rel=1e-3)
    assert ended == fit.convergence.message
    assert str(fit) == f"{first} {ended}"


def test_a_category_goes_with_the_last_who_used_it() -> None:
    """Category 3 is the first worker's alone; 2 is used once besides; and the baseline is used by the last two."""
    worker, task = np.indices((4, 3)).reshape(2, -1)
    response = np.array([3, 2, 1, 1, 2, 1, 0, 1, 1, 0, 1, 1])
    objective = objective_of(response, worker, task, np.linspace(-1, 1, 12))
    assert (objective.predictors, objective.parameters, objective.deviations, objective.answers) == (3, 12, 6, 12)
    random = np.random.default_rng(1)
    modes = BlockModes(random.normal(size=(4, 3)), random.normal(size=(3, 3)))
    rest, left, kept = objective.without(modes, "worker", 0)
    assert rest is not None
    assert kept.tolist() == [True, True, False] * 4
    assert rest.indicators.tolist() == objective.indicators[:2, 3:].tolist()
    assert left.worker.tolist() == modes.worker[1:, :2].tolist()
    assert left.task.tolist() == modes.task[:2].tolist()
    same, _, all_kept = objective.without(modes, "worker", 1)
    assert same is not None
    assert same.predictors == 3
    assert all_kept.all()
    without_task, left, kept = objective.without(modes, "task", 0)
    assert without_task is None  # all who chose the baseline chose it there
    assert left.worker.tolist() == modes.worker[:, :2].tolist()
    assert left.task.tolist() == modes.task[:2, 1:].tolist()
    alone = objective_of(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.zeros(4))
    assert alone.without(alone.zero_modes(), "worker", 1)[0] is None
    assert alone.without(alone.zero_modes(), "worker", 0)[0] is None


def test_the_baseline_can_be_named() -> None:
    response, worker, task, _ = choices()
    named = fit_nominal(np.array(["a", "b", "c"])[response], worker, task, baseline="c")
    assert named.categories.tolist() == ["c", "a", "b"]
    plain = fit_nominal((response + 1) % 3, worker, task)
    assert named.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-7)
    with refuses(ValueError, "baseline 9"):
        fit_nominal(response, worker, task, baseline=9)


def test_what_cannot_be_fitted() -> None:
    response, worker, task, _ = choices()
    with raises(ValueError, "models.same_answers"):
        fit_nominal(np.zeros(len(worker)), worker, task)
    unbounded = fit_nominal(task % 3, worker, task)
    assert unbounded.converged is False
    assert unbounded.convergence.reason == Message("fit.reason_category")
    size = 16 * 10 * 2 * 2  # two predictors for each of three categories, in every cell
    with raises(ValueError, "models.nominal_size", workers=16, tasks=10, categories=2):
        fit_nominal(response, worker, task, largest=size - 1)
    assert fit_nominal(response, worker, task, largest=size).converged


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_the_search_starts_from_how_much_counts_vary(share: float) -> None:
    """Logits against the baseline of each worker and task, less what chance does to them; between 1 and 5."""
    response, worker, task, x = choices(9, 7, share, sheets=10, seed=4)
    response[task == 2] = 0
    response[worker < 3] = worker[worker < 3]
    response[(task == 3) | (task == 5)] = 2
    objective = objective_of(response, worker, task, x)
    expected = []
    for groups in (worker, task):
        for category in (1, 2):
            logits, noise = [], []
            for group in np.unique(groups):
                own = response[groups == group]
                count, baseline = (own == category).sum() + 0.5, (own == 0).sum() + 0.5
                logits.append(np.log(count / baseline))
                noise.append(1 / count + 1 / baseline)
            expected.append(min(max(np.sqrt(max(np.var(logits) - np.mean(noise), 0)), 1.0), 5.0))
    assert first_deviations(objective.layout, objective.indicators) == pytest.approx(expected)
    assert len({round(value, 6) for value in expected}) > 2
    extreme = np.repeat(np.arange(10) % 2, 1000)
    many = objective_of(extreme, np.tile(np.arange(1000), 10), np.repeat(np.arange(10), 1000), np.zeros(10_000))
    assert first_deviations(many.layout, many.indicators).tolist() == [1.0, 5.0]


def zero_variances(side: str) -> tuple[Message, ...]:
    kinds = ("perhaps", "yes")
    return tuple(Message("fit.zero_category", {"group": group_message(side), "category": kind}) for kind in kinds)


def test_a_variance_of_zero_is_named_with_its_side_and_category() -> None:
    """Every task has the same counts: nothing of it varies."""
    random = np.random.default_rng(1)
    worker, task = np.indices((24, 6)).reshape(2, -1)
    kinds = np.array(["no", "perhaps", "yes"])
    response = kinds[np.stack([random.permutation(np.repeat([0, 1, 2], 8)) for _ in range(6)], axis=1).ravel()]
    fit = fit_nominal(response, worker, task)
    assert fit.notes[-2:] == zero_variances("task")
    assert fit.variances["task"] == pytest.approx([0.0, 0.0], abs=1e-6)
    turned = fit_nominal(response, task, worker)
    assert turned.notes[:2] == zero_variances("worker")
