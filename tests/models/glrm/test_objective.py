"""The Laplace likelihood beside the same written out densely, and its gradient beside differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.models.glrm import crossed as module
from karat.models.glrm import mode
from karat.models.glrm.crossed import crossed
from karat.models.glrm.families import Binary, Gaussian, Ordinal
from karat.models.glrm.objective import Objective, variance_information
from models.glrm.dense import dense_laplace, differences, indicator

OWN = {"binary": [], "ordinal": [-1.0, 0.3, 0.9], "gaussian": [-0.2]}
DESIGNS = {
    "full table": (12, 7, 1, 1.0, False), "holes": (7, 12, 1, 0.6, False), "repeated": (7, 12, 3, 0.6, False),
    "list": (12, 7, 1, 0.5, True), "repeated list": (7, 12, 3, 0.5, True),
}  # fmt: skip


def case(name: str, design: str, cell: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[Objective, Any, Any, Any]:
    """The objective, parameters, the plain log-likelihood of the answers and their groups."""
    workers, tasks, sheets, share, listed = DESIGNS[design]
    if listed:
        monkeypatch.setattr(module, "SMALL", 0)
        monkeypatch.setattr(module, "PADDED", 0)
    random = np.random.default_rng(5)
    worker, task = np.divmod(np.tile(np.arange(workers * tasks), sheets), tasks)
    kept = random.random(len(worker)) < share
    worker, task = worker[kept], task[kept]
    n = len(worker)
    layout = crossed(worker, task, workers, tasks)
    x = random.normal(size=(n, 2 if name != "ordinal" else 1))
    answers = {
        "binary": random.choice([-1.0, 1.0], n), "ordinal": random.integers(0, 4, n), "gaussian": random.normal(size=n)
    }[name]  # fmt: skip
    make = {"binary": Binary, "ordinal": lambda y: Ordinal(y, 4), "gaussian": Gaussian}[name]
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


@pytest.mark.parametrize("cell", [False, True])
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", OWN)
def test_value_and_gradient(name: str, design: str, cell: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    objective, parameters, (plain, offset), effects = case(name, design, cell, monkeypatch)
    at = objective(parameters, objective.zero_modes())
    assert at is not None
    assert at.found
    assert at.value == pytest.approx(dense_laplace(plain, offset, effects), abs=1e-6)

    def value(x: Any) -> float:
        moved = objective(x, at.modes)
        assert moved is not None
        return moved.value

    assert at.gradient == pytest.approx(differences(value, parameters), abs=1e-6)
    assert len(at.gradient) == objective.parameters


@pytest.mark.parametrize("name", OWN)
def test_the_likelihood_is_even_in_the_deviations(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    objective, parameters, _, _ = case(name, "holes", True, monkeypatch)
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


def test_information_is_of_the_hessians_size(monkeypatch: pytest.MonkeyPatch) -> None:
    objective, parameters, _, _ = case("ordinal", "repeated", False, monkeypatch)
    at = objective(parameters, objective.zero_modes())
    assert at is not None
    hessian = np.array([
        differences(lambda x, k=k: float(objective(x, at.modes).gradient[k]), parameters)  # type: ignore[union-attr]
        for k in range(len(parameters))
    ])  # fmt: skip
    fixed = len(parameters) - 2
    assert at.information()[:fixed, :fixed] == pytest.approx(hessian[:fixed, :fixed], rel=0.2, abs=0.05 * hessian.max())


def test_parameters_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    objective, parameters, _, _ = case("ordinal", "holes", False, monkeypatch)
    parameters[1:3] = 0.3, -1.0
    assert objective(parameters, objective.zero_modes()) is None
    parameters[1:3] = -1.0, np.nan
    assert objective(parameters, objective.zero_modes()) is None


def test_two_ordered_categories_with_a_large_cell_effect_are_yes_and_no() -> None:
    """Steps towards the effect of a cell are shortened for all but measured answers, however many thresholds."""
    random = np.random.default_rng(3)
    worker, task = np.divmod(np.arange(60), 6)
    yes = random.integers(0, 2, 60)
    layout = crossed(worker, task, 10, 6)
    nothing = layout.place(np.zeros((60, 0)))
    ordinal = Objective(layout, Ordinal(layout.place(yes), 2), nothing, True)
    binary = Objective(layout, Binary(layout.place(2.0 * yes - 1)), layout.place(np.ones((60, 1))), True)
    there = ordinal(np.array([-6.0, 0.5, 0.5, 40.0]), ordinal.zero_modes())
    here = binary(np.array([6.0, 0.5, 0.5, 40.0]), binary.zero_modes())
    assert there is not None
    assert here is not None
    assert there.value == pytest.approx(here.value, abs=1e-8)


def test_a_search_for_the_modes_that_ends_too_soon_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    objective, parameters, _, _ = case("binary", "holes", False, monkeypatch)
    zero = objective.zero_modes()
    there = objective(parameters, zero)
    assert there is not None
    with monkeypatch.context() as patch:
        patch.setattr(mode, "STEPS", 1)
        early = objective(parameters, zero)
        assert early is not None
        assert not early.found
        assert early.value == pytest.approx(there.value, abs=0.5)
    monkeypatch.setattr(mode, "halve", lambda *given: None)
    stuck, at_mode = objective(parameters, zero), objective(parameters, there.modes)
    assert stuck is not None
    assert at_mode is not None
    assert (stuck.found, at_mode.found) == (False, True)
    assert stuck.modes.worker == pytest.approx(zero.worker)
    assert at_mode.value == pytest.approx(there.value, abs=1e-8)
    assert at_mode.gradient == pytest.approx(there.gradient, abs=1e-6)


def test_what_groups_tell_about_their_deviation() -> None:
    """As in a linear model where they tell something, and a part of the curvature where the deviation is zero."""
    weight, variance = np.array([3.0, 5.0]), np.array([0.2, 0.6])
    assert variance_information(-0.5, weight, variance) == pytest.approx(2 * (0.8**2 + 0.4**2) / 0.25)
    assert variance_information(0.0, weight, np.ones(2)) == pytest.approx(0.2 * 8)
    assert variance_information(1e-3, weight, np.array([0.95, 0.5])) == pytest.approx(0.2 * 3 + 5)
