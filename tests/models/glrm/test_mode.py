"""The modes beside roots found cell by cell, and the rules of the search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from karat.models.glrm import optimise
from karat.models.glrm.crossed import crossed
from karat.models.glrm.families import BinaryFamily, Gaussian
from karat.models.glrm.objective import Modes, Scales, evaluate, find_mode
from karat.models.glrm.optimise import halve
from models.glrm.dense import indicator, logistic

WORKERS, TASKS = 3, 4
WORKER, TASK = np.divmod(np.arange(WORKERS * TASKS), TASKS)
LAYOUT = crossed(WORKER, TASK, WORKERS, TASKS)
NONE = np.empty(0)


@dataclass
class Reached:
    value: float


def some_modes(cell: bool) -> Modes:
    random = np.random.default_rng(2)
    return Modes(
        random.normal(size=WORKERS), random.normal(size=TASKS), random.normal(size=WORKERS * TASKS) if cell else None
    )


@pytest.mark.parametrize("cell", [False, True])
def test_turned_modes_are_the_same_effects_at_turned_deviations(cell: bool) -> None:
    """The signs of the other parameters, here three, play no part."""
    modes, theta = some_modes(cell), np.array([0.8, 1.3, 0.6])[: 2 + cell]
    groups = [modes.worker, modes.task, modes.cell]
    for sign in product([-1.0, 1.0], repeat=len(theta)):
        for others in product([-1.0, 1.0], repeat=3):
            turned = modes.with_signs(np.array([*others, *sign]))
            after = [turned.worker, turned.task, turned.cell]
            for own, one, now, was in zip(sign, theta, after, groups, strict=False):
                assert now is not None
                assert was is not None
                assert own * one * now == pytest.approx(one * was)
            assert (turned.cell is not None) == cell


@pytest.mark.parametrize("base", [-90.0, -6.0, 0.5])
@pytest.mark.parametrize("s", [0.7, 40.0])
def test_the_effect_of_a_cell_is_found_from_far_away(base: float, s: float) -> None:
    """Where the likelihood is nearly straight, a whole step of Newton's method would go to and fro without end."""
    yes = np.random.default_rng(3).choice([-1.0, 1.0], WORKERS * TASKS)
    modes, scales = some_modes(True), Scales(0.8, 1.3, s)
    start = replace(modes, cell=np.zeros(WORKERS * TASKS))
    point = evaluate(LAYOUT, BinaryFamily(LAYOUT.place(yes)), np.full(WORKERS * TASKS, base), NONE, scales, start)
    eta = base + 0.8 * modes.worker[WORKER] + 1.3 * modes.task[TASK]

    def slope(z: float, k: int) -> float:
        return float(s * yes[k] * logistic(-yes[k] * (eta[k] + s * z)) - z)

    with np.errstate(over="ignore"):
        cell = np.array([brentq(slope, -s, s, (k,), xtol=1e-13) for k in range(len(yes))])
    whole = eta + s * cell
    assert point.modes.cell is not None
    assert point.modes.cell.ravel() == pytest.approx(cell, abs=1e-9)
    assert point.eta.ravel() == pytest.approx(whole, abs=1e-7)
    penalty = (modes.worker @ modes.worker + modes.task @ modes.task + cell @ cell) / 2
    assert point.value == pytest.approx(penalty + np.logaddexp(0, -yes * whole).sum(), abs=1e-8)
    chance = logistic(whole)
    assert point.determinant is not None
    assert point.determinant.ravel() == pytest.approx(1 + s * s * chance * (1 - chance), rel=1e-6)


def test_the_effect_of_a_cell_of_measured_answers_takes_one_step() -> None:
    y = 1e3 * np.random.default_rng(4).normal(size=WORKERS * TASKS)
    asked = []

    class Counted(Gaussian):
        def derivatives(self, eta: Any, psi: Any) -> Any:
            asked.append(0)
            return super().derivatives(eta, psi)

    zero = Modes(np.zeros(WORKERS), np.zeros(TASKS), np.zeros(WORKERS * TASKS))
    base, s, residual = np.zeros(WORKERS * TASKS), 5.0, 0.5
    point = evaluate(LAYOUT, Counted(LAYOUT.place(y)), base, np.log([residual]), Scales(1, 1, s), zero)
    assert point.modes.cell is not None
    assert point.modes.cell.ravel() == pytest.approx(s * y / (s * s + residual**2))
    assert len(asked) == 2


def test_mode_is_found_where_a_step_gains_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gain that is left, g' H^-1 g, is worked out here with one column for each effect."""
    yes = np.random.default_rng(5).choice([-1.0, 1.0], WORKERS * TASKS)
    given: Any = (LAYOUT, BinaryFamily(LAYOUT.place(yes)), np.zeros(WORKERS * TASKS), NONE, Scales(0.8, 1.3))
    at = find_mode(*given, Modes(np.zeros(WORKERS), np.zeros(TASKS))).point.modes
    effects = np.hstack([0.8 * indicator(WORKER), 1.3 * indicator(TASK)])

    def left(modes: Modes) -> float:
        b = np.concatenate([modes.worker, modes.task])
        chance = logistic(effects @ b)
        slope = effects.T @ (yes * logistic(-yes * (effects @ b))) - b
        return float(
            slope @ np.linalg.solve(np.eye(len(b)) + effects.T @ ((chance * (1 - chance))[:, None] * effects), slope)
        )

    monkeypatch.setattr(optimise, "halve", lambda *along: None)
    for away, least, most, found in [(2e-4, 0, 1e-6, True), (0.01, 1e-6, 0.1, False), (0.3, 0.1, 1.0, False)]:
        near = Modes(at.worker + away, at.task)
        assert least < left(near) < most
        assert find_mode(*given, near).converged is found
    monkeypatch.undo()
    assert find_mode(*given, Modes(at.worker + 1, at.task), steps=1).converged is False


@pytest.mark.parametrize(
    ("gains", "length"),
    [
        ([3.0], 1.0), ([0.9e-4, 3.0], 0.5), ([1.1e-4], 1.0), ([0.0, 0.6e-4], 0.5),
        ([-0.5e-4, 0.4e-4, 0.2e-4, 1], 0.125),
        ([-1.0] * 39 + [1.0], 2.0**-39), ([-1.0] * 40, None), ([np.nan, 1.0], 0.5),
    ],
)  # fmt: skip
def test_step_is_halved_until_it_gains_enough(gains: list[float], length: float | None) -> None:
    """With a decrement of 1, a step of some length has to gain 1e-4 of its length."""
    tried: list[float] = []

    def along(length: float) -> Reached:
        tried.append(length)
        return Reached(10.0 - gains[len(tried) - 1])

    reached = halve(along, 10.0, 1.0)
    assert tried == [2.0**-k for k in range(len(gains))]
    assert (reached is None) == (length is None)
    if reached is not None:
        assert tried[-1] == length
        assert reached.value == 10.0 - gains[-1]


@pytest.mark.parametrize("value", [0.0, 1.0, -1e6])
def test_a_loss_no_larger_than_rounding_is_no_loss(value: float) -> None:
    """Rounding is that of the value, or of 1 where the value is smaller."""
    rounding = 1e-11 * (1 + abs(value))
    assert halve(lambda length: Reached(value + 0.9 * rounding), value, 0.0) is not None
    assert halve(lambda length: Reached(value + 1.1 * rounding), value, 0.0) is None
