"""The Laplace likelihood beside the same written out densely, and its gradient beside differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from karat.models.glrm import optimise
from karat.models.glrm.crossed import crossed
from karat.models.glrm.families import BinaryFamily, Gaussian, OrdinalFamily
from karat.models.glrm.objective import Objective, variance_information
from models.glrm.dense import dense_laplace, differences, indicator, logistic

OWN = {"binary": [], "ordinal": [-1.0, 0.3, 0.9], "gaussian": [-0.2]}
DESIGNS = {
    "full table": (12, 7, 1, 1.0, False), "holes": (7, 12, 1, 0.6, False), "repeated": (7, 12, 3, 0.6, False),
    "list": (12, 7, 1, 0.5, True), "repeated list": (7, 12, 3, 0.5, True),
}  # fmt: skip


MAKE: dict[str, Any] = {"binary": BinaryFamily, "ordinal": lambda y: OrdinalFamily(y, 4), "gaussian": Gaussian}


def data(name: str, design: str) -> tuple[Any, Any, Any, Any]:
    """The worker, the task, the row of the design and the answer of each."""
    workers, tasks, sheets, share, _ = DESIGNS[design]
    random = np.random.default_rng(5)
    worker, task = np.divmod(np.tile(np.arange(workers * tasks), sheets), tasks)
    kept = random.random(len(worker)) < share
    worker, task = worker[kept], task[kept]
    n = len(worker)
    x = random.normal(size=(n, 2 if name != "ordinal" else 1))
    answers = {
        "binary": random.choice([-1.0, 1.0], n), "ordinal": random.integers(0, 4, n), "gaussian": random.normal(size=n)
    }[name]  # fmt: skip
    return worker, task, x, answers


def case(name: str, design: str, cell: bool) -> tuple[Objective, Any, Any, Any]:
    """The objective, parameters, the plain log-likelihood of the answers and their groups."""
    worker, task, x, answers = data(name, design)
    workers, tasks, *_, listed = DESIGNS[design]
    layout, make = crossed(worker, task, workers, tasks, listed=listed), MAKE[name]
    objective = Objective(layout, make(layout.place(answers)), layout.place(x), cell)
    parameters = np.array([0.3, -0.5][: x.shape[1]] + OWN[name] + [0.8, 1.3] + [0.7] * cell)
    own = np.array(OWN[name])
    groups = [0.8 * indicator(worker), 1.3 * indicator(task)] + [0.7 * indicator(worker * tasks + task)] * cell
    return (
        objective,
        parameters,
        (lambda eta: make(answers).derivatives(eta, own).log_likelihood, x @ parameters[: x.shape[1]]),
        np.hstack(groups),
    )


@pytest.mark.few(7)
@pytest.mark.parametrize("cell", [False, True])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", OWN)
def test_value_and_gradient(name: str, design: str, cell: bool) -> None:
    objective, parameters, (plain, offset), effects = case(name, design, cell)
    at = objective(parameters, objective.zero_modes())
    assert at is not None
    assert at.converged
    assert at.value == pytest.approx(dense_laplace(plain, offset, effects), abs=1e-6)

    def value(x: Any) -> float:
        moved = objective(x, at.modes)
        assert moved is not None
        return moved.value

    assert at.gradient == pytest.approx(differences(value, parameters), abs=1e-6)
    assert len(at.gradient) == objective.parameters


@pytest.mark.parametrize("name", OWN)
def test_the_likelihood_is_even_in_the_deviations(name: str) -> None:
    objective, parameters, _, _ = case(name, "holes", True)
    one = objective(parameters, objective.zero_modes())
    parameters[-3:] *= -1
    other = objective(parameters, objective.zero_modes())
    assert one is not None
    assert other is not None
    assert other.value == pytest.approx(one.value, abs=1e-10)
    assert other.gradient[-3:] == pytest.approx(-one.gradient[-3:], abs=1e-8)
    parameters[-3:] = 0
    at_zero = objective(parameters, objective.zero_modes())
    assert at_zero is not None
    assert at_zero.gradient[-3:] == pytest.approx(np.zeros(3), abs=1e-10)


def test_information_is_of_the_hessians_size() -> None:
    objective, parameters, _, _ = case("ordinal", "repeated", False)
    at = objective(parameters, objective.zero_modes())
    assert at is not None
    hessian = np.array([
        differences(lambda x, k=k: float(objective(x, at.modes).gradient[k]), parameters)  # type: ignore[union-attr]
        for k in range(len(parameters))
    ])  # fmt: skip
    fixed = len(parameters) - 2
    assert at.information()[:fixed, :fixed] == pytest.approx(hessian[:fixed, :fixed], rel=0.2, abs=0.05 * hessian.max())


@pytest.mark.parametrize("cell", [False, True])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", OWN)
def test_the_information_is_that_of_dense_matrices(name: str, design: str, cell: bool) -> None:
    """The Hessian of the penalised likelihood in all, row by row by differences, from which the effects are taken."""
    objective, parameters, _, effects = case(name, design, cell)
    _, _, x, answers = data(name, design)
    at = objective(parameters, objective.zero_modes())
    assert at is not None
    beta, psi, scales = objective.split(parameters)
    modes = [at.modes.worker, at.modes.task]
    if cell:
        modes.append(at.modes.cell)
    eta = x @ beta + effects @ np.concatenate(modes)

    def by_rows(y: Any) -> Any:
        derived = MAKE[name](answers).derivatives(eta + y[0], psi + y[1:])
        return derived.log_likelihood

    units = 1e-3 * np.eye(1 + len(psi))
    rows = np.array([
        [sum(s * t * by_rows(s * one + t * other) for s in (1, -1) for t in (1, -1)) / 4e-6 for other in units]
        for one in units
    ])  # fmt: skip
    # Every row's predictor and own parameters of the family, by what moves them.
    own = len(beta) + len(psi)
    moves = np.zeros((1 + len(psi), len(eta), own + effects.shape[1]))
    moves[0, :, : len(beta)], moves[0, :, own:] = x, effects
    for k in range(len(psi)):
        moves[1 + k, :, len(beta) + k] = 1.0
    whole = -np.einsum("ina,ijn,jnb->ab", moves, rows, moves, optimize=True)
    inverse = np.linalg.inv(whole[own:, own:] + np.eye(effects.shape[1]))
    fixed = whole[:own, :own] - whole[:own, own:] @ inverse @ whole[own:, :own]
    information = at.information()
    assert information[:own, :own] == pytest.approx(fixed, rel=1e-4, abs=1e-3)
    # As in a linear model: 2 (1 - q)^2 / theta^2 a group, q its posterior variance, where that is not too little.
    share = 1 - np.diag(inverse)
    result = share * np.maximum(2 * share, 0.2)
    workers, tasks = DESIGNS[design][:2]
    assert information[own, own] == pytest.approx(result[:workers].sum() / scales.worker**2, rel=1e-4)
    of_tasks = result[workers : workers + tasks].sum()
    assert information[own + 1, own + 1] == pytest.approx(of_tasks / scales.task**2, rel=1e-4)
    between = information - np.diag(np.diag(information))
    assert np.count_nonzero(between[own:]) == np.count_nonzero(between[:, own:]) == 0


def test_without_coefficients_only_deviations_have_information() -> None:
    worker, task = np.divmod(np.arange(12), 3)
    layout = crossed(worker, task, 4, 3)
    sign = np.where(np.arange(12) % 5 < 2, 1.0, -1.0)
    objective = Objective(layout, BinaryFamily(layout.place(sign)), layout.place(np.zeros((12, 0))), True)
    at = objective(np.array([0.5, 0.8, 0.6]), objective.zero_modes())
    assert at is not None
    assert at.information().shape == (3, 3)
    assert np.all(np.diag(at.information()) > 0)


@pytest.mark.parametrize("design", ["holes", "repeated list"])
def test_what_cells_tell_about_their_deviation(design: str) -> None:
    """As groups do; given the other effects, a cell's has the variance 1 / (1 + s^2 n p) with n measured answers."""
    objective, parameters, _, _ = case("gaussian", design, True)
    worker, task, _, _ = data("gaussian", design)
    precision, variance = np.exp(-2 * parameters[2]), parameters[-1] ** 2
    _, met = np.unique(worker * 100 + task, return_counts=True)
    share = 1 - 1 / (1 + variance * met * precision)
    at = objective(parameters, objective.zero_modes())
    assert at is not None
    information = at.information()
    assert information.shape == (6, 6)
    assert information[-1, -1] == pytest.approx((share * np.maximum(2 * share, 0.2)).sum() / variance)


def test_parameters_that_cannot_be() -> None:
    objective, parameters, _, _ = case("ordinal", "holes", False)
    parameters[1:3] = 0.3, -1.0
    assert objective(parameters, objective.zero_modes()) is None
    parameters[1:3] = -1.0, np.nan
    assert objective(parameters, objective.zero_modes()) is None
    parameters[1:3] = 0.3, 0.3
    assert objective(parameters, objective.zero_modes()) is None
    measured, parameters, _, _ = case("gaussian", "holes", False)
    parameters[2] = 301.0
    assert measured(parameters, measured.zero_modes()) is None


def test_two_ordered_categories_are_yes_and_no() -> None:
    """Steps towards the effect of a cell are shortened for all but measured answers, however many thresholds."""
    random = np.random.default_rng(3)
    worker, task = np.divmod(np.arange(60), 6)
    yes = random.integers(0, 2, 60)
    layout = crossed(worker, task, 10, 6)
    nothing = layout.place(np.zeros((60, 0)))
    ordinal = Objective(layout, OrdinalFamily(layout.place(yes), 2), nothing, True)
    binary = Objective(layout, BinaryFamily(layout.place(2.0 * yes - 1)), layout.place(np.ones((60, 1))), True)
    there = ordinal(np.array([-6.0, 0.5, 0.5, 40.0]), ordinal.zero_modes())
    here = binary(np.array([6.0, 0.5, 0.5, 40.0]), binary.zero_modes())
    assert there is not None
    assert here is not None
    assert there.value == pytest.approx(here.value, abs=1e-8)


def test_a_search_for_the_modes_that_ends_too_soon_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    objective, parameters, _, _ = case("binary", "holes", False)
    zero = objective.zero_modes()
    there = objective(parameters, zero)
    assert there is not None
    early = replace(objective, steps=1)(parameters, zero)
    assert early is not None
    assert not early.converged
    assert early.value == pytest.approx(there.value, abs=0.5)
    monkeypatch.setattr(optimise, "halve", lambda *given: None)
    stuck, at_mode = objective(parameters, zero), objective(parameters, there.modes)
    assert stuck is not None
    assert at_mode is not None
    assert (stuck.converged, at_mode.converged) == (False, True)
    assert stuck.modes.worker == pytest.approx(zero.worker)
    assert at_mode.value == pytest.approx(there.value, abs=1e-8)
    assert at_mode.gradient == pytest.approx(there.gradient, abs=1e-6)


def test_what_groups_tell_about_their_deviation() -> None:
    """As in a linear model where they tell something, and a part of the curvature where the deviation is zero."""
    weight, variance = np.array([3.0, 5.0]), np.array([0.2, 0.6])
    assert variance_information(-0.5, weight, variance) == pytest.approx(2 * (0.8**2 + 0.4**2) / 0.25)
    assert variance_information(0.0, weight, np.ones(2)) == pytest.approx(0.2 * 8)
    assert variance_information(1e-3, weight, np.array([0.95, 0.5])) == pytest.approx(0.2 * 3 + 5)


@pytest.mark.parametrize("factor", ["worker", "task"])
@pytest.mark.parametrize(
    ("name", "design", "cell"),
    [("binary", "full table", False), ("binary", "repeated list", True), ("ordinal", "holes", False),
     ("ordinal", "list", True), ("gaussian", "repeated", True), ("gaussian", "full table", False)],
)  # fmt: skip
def test_without_groups_it_is_the_others_objective(name: str, design: str, cell: bool, factor: Any) -> None:
    objective, parameters, _, _ = case(name, design, cell)
    at = objective(parameters, objective.zero_modes())
    assert at is not None
    rest, modes, kept = objective.without(at.modes, factor, 2)
    assert rest is not None
    assert (kept.dtype, kept.tolist()) == (bool, [True] * len(parameters))
    # The others, laid out anew.
    worker, task, x, answers = data(name, design)
    others = (worker if factor == "worker" else task) != 2
    groups = {"worker": worker[others], "task": task[others]}
    groups[factor] = groups[factor] - (groups[factor] > 2)
    sizes = [size - (one == factor) for one, size in zip(groups, DESIGNS[design][:2], strict=True)]
    layout = crossed(groups["worker"], groups["task"], *sizes, listed=DESIGNS[design][4])
    alone = Objective(layout, MAKE[name](layout.place(answers[others])), layout.place(x[others]), cell)
    assert [rest.layout.workers, rest.layout.tasks] == sizes
    assert (rest.parameters, rest.answers, rest.deviations) == (len(parameters), others.sum(), 2 + cell)
    ours, plain = rest(parameters, modes), alone(parameters, alone.zero_modes())
    assert ours is not None
    assert plain is not None
    assert ours.value == pytest.approx(plain.value, abs=1e-8)
    assert ours.gradient == pytest.approx(plain.gradient, abs=1e-5)
    # The search starts from the modes of the others, and from none in the cells.
    for one in ("worker", "task"):
        of_one = getattr(at.modes, one)
        assert getattr(modes, one) == pytest.approx(np.delete(of_one, 2) if one == factor else of_one)
    assert (modes.cell is None) == (not cell)
    if modes.cell is not None:
        assert modes.cell.tolist() == np.zeros_like(layout.cells(layout.place(np.zeros(others.sum())))).tolist()


@pytest.mark.parametrize("factor", ["worker", "task"])
@pytest.mark.parametrize(("rare", "gone"), [(0, 0), (2, 2)])
def test_without_a_group_the_threshold_of_its_own_category_goes(factor: Any, rare: int, gone: int) -> None:
    """Also that of the lowest, which stands in the places of a table where there is no answer."""
    worker, task = np.divmod(np.arange(1, 30), 5)
    used = np.array([k for k in range(4) if k != rare])
    category = used[np.arange(29) % 3]
    category[(worker == 2) & (task == 2)] = rare
    layout = crossed(worker, task, 6, 5)
    x = np.random.default_rng(1).normal(size=(29, 1))
    objective = Objective(layout, OrdinalFamily(layout.place(category), 4), layout.place(x))
    rest, _, kept = objective.without(objective.zero_modes(), factor, 2)
    assert rest is not None
    assert np.flatnonzero(~kept).tolist() == [1 + gone]
    assert (rest.parameters, len(kept)) == (5, 6)
    # Without effects the likelihood is that of the thresholds alone.
    parameters = np.array([0.4, -1.0, 0.7, 1.1, 0.0, 0.0])
    at = rest(parameters[kept], rest.zero_modes())
    assert at is not None
    others = (worker if factor == "worker" else task) != 2
    ends = np.concatenate([[-np.inf], np.delete([-1.0, 0.7, 1.1], gone), [np.inf]])
    number, eta = np.searchsorted(used, category[others]), 0.4 * x[others, 0]
    plain = np.log(logistic(ends[number + 1] - eta) - logistic(ends[number] - eta))
    assert at.value == pytest.approx(-plain.sum())


def test_there_is_no_objective_where_one_answer_alone_is_left() -> None:
    worker, task = np.divmod(np.arange(30), 5)
    layout = crossed(worker, task, 6, 5)
    sign = np.where(worker == 2, -1.0, 1.0)
    objective = Objective(layout, BinaryFamily(layout.place(sign)), layout.place(np.ones((30, 1))))
    modes = objective.zero_modes()
    rest, given, kept = objective.without(modes, "worker", 2)
    assert rest is None
    assert given is modes
    assert kept.tolist() == [True, True, True]
    assert objective.without(modes, "task", 2)[0] is not None


@pytest.mark.parametrize("cell", [False, True])
@pytest.mark.parametrize("size", [1e10, 1e160])
def test_deviations_beyond_what_can_be_computed_have_no_value(size: float, cell: bool) -> None:
    """Beside curvatures of 1e20 the effects' own, 1, is lost; the square of 1e160 is no number any more."""
    objective, parameters, _, _ = case("binary", "full table", cell)
    large = np.where(np.arange(len(parameters)) >= 2, size, parameters)
    large[len(parameters) - cell :] = 0.7
    assert objective(large, objective.zero_modes()) is None


@pytest.mark.parametrize(("size", "cell"), [(1e200, False), (1.7e308, True)])
def test_a_likelihood_that_is_no_number_is_none(size: float, cell: bool) -> None:
    """The square of an error is infinite, or the error itself is."""
    objective, parameters, _, _ = case("gaussian", "full table", cell)
    parameters[0] = size
    assert objective(parameters, objective.zero_modes()) is None
