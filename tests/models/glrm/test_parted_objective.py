"""Sums over parts beside those of all answers in memory: each part is asked in turn and counted once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from karat.models.glrm.parts.answers import Crew, PartAnswers, PassesError, Placed, in_turn
from karat.models.glrm.parts.objective import PartedModes, PartedObjective, Where, gradient_sums, worker_mode
from messages import raises, refuses
from models.glrm.parted_cases import parted_objective
from models.glrm.simulated import answers

PARAMETERS = {"binary": np.array([0.3, 0.6, 0.9, -1.2]), "ordinal": np.array([0.6, -1.0, 0.2, 1.5, -0.9, 1.2])}


def both(family: str, share: float = 0.8, sheets: int = 1) -> tuple[PartedObjective, Any]:
    """The likelihood of the parts, and that of all answers."""
    response, worker, task, x = answers(family, workers=9, tasks=5, share=share, sheets=sheets, seed=3)
    design = x[:, None] if family == "ordinal" else np.column_stack([np.ones(len(x)), x])
    parted = parted_objective(response, worker, task, design, parts=3, family=family)
    return parted, parted.view.objective(Placed(PartAnswers(response, worker, task, design), 0))


@pytest.mark.parametrize(("share", "sheets"), [(1.0, 1), (0.8, 1), (0.7, 2)])
@pytest.mark.parametrize("family", ["binary", "ordinal"])
def test_value_gradient_modes_and_information_of_all_answers(family: str, share: float, sheets: int) -> None:
    parted, whole = both(family, share, sheets)
    x = PARAMETERS[family]
    one, other = parted(x, parted.zero_modes()), whole(x, whole.zero_modes())
    assert one is not None
    assert one.converged
    assert one.value == pytest.approx(other.value, rel=1e-11)
    assert one.gradient == pytest.approx(other.gradient, abs=1e-7)
    assert one.information() == pytest.approx(other.information(), rel=1e-8, abs=1e-8)
    assert one.modes.worker == pytest.approx(other.modes.worker, abs=1e-7)
    assert one.modes.task == pytest.approx(other.modes.task, abs=1e-7)


@pytest.mark.parametrize("family", ["binary", "ordinal"])
def test_the_modes_of_the_tasks_move_as_they_are_expected_to(family: str) -> None:
    """The movement is the derivative of the modes in the parameters; and the next search starts from it."""
    parted, _ = both(family)
    x = PARAMETERS[family]
    at = parted(x, parted.zero_modes())
    assert at is not None
    modes = at.modes
    for k in range(len(x)):
        step = 1e-4 * np.eye(len(x))[k]
        ahead, behind = parted(x + step, modes), parted(x - step, modes)
        assert ahead is not None
        assert behind is not None
        moved = (ahead.modes.task - behind.modes.task) / 2e-4
        assert modes.movement[:, k] == pytest.approx(moved, abs=1e-5)
        assert modes.expected(x + step, 1.0) == pytest.approx(ahead.modes.task, abs=1e-6)
    passes = parted.crew.passes
    parted(x + 1e-6, modes)
    near = parted.crew.passes - passes
    parted(x + 1e-6, PartedModes(modes.worker, modes.task))
    assert near < parted.crew.passes - passes - near


def test_a_movement_that_is_too_far_is_not_expected() -> None:
    """Half a logit is expected; a whole one is not, by the deviation of the tasks at the new parameters."""
    task, parameters = np.array([0.2, -0.3]), np.array([1.0, 2.0, 3.0])
    movement = np.array([[0.5, 0.0, 1.0], [-0.25, 0.0, 0.1]])
    modes = PartedModes(np.zeros(3), task, parameters, movement)
    moved = np.array([2.0, 7.0, 3.0])
    assert modes.expected(moved, 1.0).tolist() == [0.7, -0.55]
    assert modes.expected(moved, 1.9).tolist() == [0.7, -0.55]
    assert modes.expected(moved, 2.0).tolist() == task.tolist()
    assert modes.expected(moved, -2.0).tolist() == task.tolist()
    assert PartedModes(np.zeros(3), task).expected(moved, 1.0) is task
    assert PartedModes(np.zeros(3), task, parameters).expected(moved, 1.0) is task


def test_turned_modes_are_those_of_deviations_with_other_signs() -> None:
    parted, _ = both("binary")
    x = PARAMETERS["binary"]
    for sign in ([1.0, 1.0, -1.0, 1.0], [1.0, 1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]):
        at, other = parted(x, parted.zero_modes()), parted(x * sign, parted.zero_modes())
        assert at is not None
        assert other is not None
        turned = at.modes.with_signs(np.array(sign))
        assert turned.worker == pytest.approx(other.modes.worker, abs=1e-6)
        assert turned.task == pytest.approx(other.modes.task, abs=1e-6)
        assert turned.parameters.tolist() == (x * sign).tolist()
        assert turned.movement == pytest.approx(other.modes.movement, abs=1e-6)
        bare = PartedModes(at.modes.worker, at.modes.task).with_signs(np.array(sign))
        assert (bare.worker.tolist(), bare.task.tolist()) == (turned.worker.tolist(), turned.task.tolist())
        assert (bare.parameters, bare.movement) == (None, None)
    bare = PartedModes(np.array([2.0]), np.array([3.0])).with_signs(np.array([1.0, 1.0, 1.0, 1.0, -1.0, 1.0]))
    assert (bare.worker.tolist(), bare.task.tolist()) == ([-2.0], [3.0])


def test_parameters_have_their_places() -> None:
    parted, _ = both("ordinal")
    assert (parted.thresholds, parted.parameters, parted.deviations) == (3, 6, 2)
    beta, psi, scales = parted.split(PARAMETERS["ordinal"])
    assert (beta.tolist(), psi.tolist()) == ([0.6], [-1.0, 0.2, 1.5])
    assert (scales.worker, scales.task, scales.cell) == (-0.9, 1.2, 0.0)
    zero = parted.zero_modes()
    assert (zero.worker.tolist(), zero.task.tolist()) == ([0.0] * 9, [0.0] * 5)
    binary, _ = both("binary")
    assert (binary.thresholds, binary.parameters) == (0, 4)


def test_parameters_that_are_not_allowed_have_no_value() -> None:
    parted, _ = both("ordinal")
    x = PARAMETERS["ordinal"]
    for place, value in ((0, np.nan), (5, np.inf), (1, 0.2), (2, 9.0)):
        wrong = x.copy()
        wrong[place] = value
        assert parted(wrong, parted.zero_modes()) is None
    assert parted.crew.passes == 0


def test_a_search_without_enough_steps_has_not_found_the_modes() -> None:
    parted, whole = both("binary")
    x = PARAMETERS["binary"]
    at = replace(parted, steps=1)(x, parted.zero_modes())
    assert at is not None
    assert not at.converged
    assert at.value == pytest.approx(whole(x, whole.zero_modes()).value, abs=0.5)
    far = parted(x, at.modes)
    assert far is not None
    assert far.converged


def test_a_worker_whose_mode_is_not_found_is_reported() -> None:
    _, whole = both("binary")
    beta, psi, scales = whole.split(PARAMETERS["binary"])
    given = whole, whole.design @ beta, psi, scales, whole.zero_modes()
    assert not worker_mode(*given, steps=1)[1]
    point, found = worker_mode(*given)
    assert found
    assert np.abs(scales.worker * whole.layout.by_worker(point.slope) - point.modes.worker).max() < 1e-8


def test_what_is_not_there_is_refused() -> None:
    parted, _ = both("binary")
    with refuses(ValueError, "fit_crossed"):
        parted.without(parted.zero_modes(), "worker", 0)
    where = Where(parted.view, PARAMETERS["binary"], np.zeros(5))
    with refuses(ValueError):
        gradient_sums(where, (parted.crew.parts[0], np.zeros(3)))


def test_what_is_kept_is_named_by_all_that_it_depends_on() -> None:
    """The same parameters and modes give what was kept; another number anywhere is computed."""
    parted, _ = both("binary")
    x, kept = PARAMETERS["binary"], {}

    def keep(exactly: tuple[bytes, ...], compute: Any) -> Any:
        if exactly not in kept:
            kept[exactly] = compute()
        return kept[exactly]

    keeping = replace(parted, keep=keep)
    at = keeping(x, parted.zero_modes())
    assert at is not None
    passes = parted.crew.passes
    again = keeping(x.copy(), parted.zero_modes())
    assert again is not None
    assert again.gradient is at.gradient
    assert again.information() is at.information()
    assert parted.crew.passes == passes
    modes = at.modes
    others = [
        (x + 1e-9, parted.zero_modes()), (x, modes), (x, replace(modes, worker=modes.worker + 1e-9)),
        (x, replace(modes, task=modes.task + 1e-9)), (x, replace(modes, movement=modes.movement * 2)),
        (x, replace(modes, parameters=x + 1e-9)),
    ]  # fmt: skip
    for number, (parameters, start) in enumerate(others, 2):
        keeping(parameters, start)
        assert len(kept) == number


@dataclass
class Sum:
    value: int

    def add(self, other: Sum) -> None:
        self.value += other.value


def times(factor: int, item: int) -> Sum:
    return Sum(factor * item)


@example([1] * 12, 1)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=12), st.integers(0, 12))
def test_every_part_counts_once_in_any_order(items: list[int], numbers: int) -> None:
    asked: list[int] = []

    def mapper(function: Any, shared: Any, tasks: Any) -> list[Any]:
        asked.extend(map(len, tasks))
        return in_turn(function, shared, tasks)

    crew = Crew([], mapper, 1, held=10)
    assert crew.total(times, 3, items, numbers).value == 3 * sum(items)
    assert sum(asked) == len(items)
    # As many sums at a time as may be held, two at least, and no more than there are.
    assert len(asked) == min(len(items), max(2, 10 // max(numbers, 1)))
    assert max(asked) - min(asked) <= 1


def test_passes_are_counted_reported_and_limited() -> None:
    lines: list[int] = []
    crew = Crew([], in_turn, 1001, lines.append)
    for number in range(1001):
        assert crew.passes == number
        crew.total(times, 1, [1, 2], 1)
    assert lines == list(range(1, 1002))
    with raises(PassesError, "models.passes", n=1001):
        crew.total(times, 1, [1, 2], 1)
    assert crew.passes == 1001
    quiet = Crew([], in_turn, 1)
    assert quiet.total(times, 2, [5], 1).value == 10
