"""The modes of vector-valued effects: beside dense matrices, and where the search for them fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from karat.models.glrm.blocks import turn
from karat.models.glrm.families import BinaryFamily, Derivatives
from karat.models.glrm.mixed.laplace import Crossing, MixedMode, ModeSearch
from karat.models.glrm.mixed.terms import random_term, sides
from messages import raises
from models.glrm.mixed_cases import slopes, vector

NO_PSI = np.empty(0)


@dataclass(frozen=True)
class Steep:
    """A likelihood with the given slope, whose curvature is 1, and which exists at `where` alone."""

    slope: float
    where: Any

    def derivatives(self, eta: Any, _: Any) -> Derivatives:
        value = 0.0 if np.array_equal(eta, self.where) else np.nan
        return Derivatives(np.full(len(eta), value), np.full(len(eta), self.slope), np.ones(len(eta)))


def crossing() -> Crossing:
    """Four participants with an intercept and a slope met three items, twice."""
    who, what = np.indices((4, 3)).reshape(2, -1).repeat(2, axis=1)
    columns = np.column_stack([np.ones(len(who)), np.random.default_rng(1).normal(size=len(who))])
    return Crossing(sides([vector("participant", who, columns), random_term("item", what)]))


def dense(pair: Crossing) -> Any:
    """Z of both sides: the effects of a level stand together."""
    one, other = (
        (side.columns[:, :, None] * (side.codes[:, None] == np.arange(side.groups))).transpose(1, 2, 0)
        for side in pair.sides
    )
    return np.column_stack([one.reshape(len(one), -1), other.reshape(len(other), -1)])


@pytest.mark.parametrize(("slope", "found"), [(3.0, False), (0.01, False), (1e-5, True)])
def test_a_step_that_leads_nowhere_ends_the_search(slope: float, found: bool) -> None:
    """Beside the start there is no likelihood: it is the mode only where next to nothing was left to gain."""
    pair = crossing()
    factors = np.array([[0.8, 0.0], [0.3, 0.5]]), np.array([[0.6]])
    base = np.linspace(-1, 1, 24)
    search: Any = ModeSearch(pair, Steep(slope, base), base, NO_PSI, factors)  # type: ignore[arg-type]
    mode: MixedMode = search.find(pair.zero_modes())
    assert mode.converged is found
    assert mode.point.value == 0
    assert mode.point.eta.tolist() == base.tolist()
    assert [one.tolist() for one in mode.point.modes] == [one.tolist() for one in pair.zero_modes()]
    z = dense(pair) @ np.block(
        [[np.kron(np.eye(4), factors[0]), np.zeros((8, 3))], [np.zeros((3, 8)), 0.6 * np.eye(3)]]
    )
    half = np.linalg.slogdet(np.eye(11) + z.T @ z)[1] / 2
    assert mode.schur.half_log_determinant == pytest.approx(half)
    whole = dense(pair).T @ dense(pair)
    assert mode.curvature.sides[0][1] == pytest.approx(whole[2:4, 2:4])
    assert mode.curvature.sides[1][2] == pytest.approx(whole[10:, 10:])
    between: Any = mode.curvature.between  # type: ignore[attr-defined]
    assert between[1, :, :, 2] == pytest.approx(whole[2:4, 10:])


def search_of(share: float = 0.9) -> tuple[ModeSearch, Crossing]:
    y, columns, who, what = slopes(participants=9, items=5, share=share)
    pair = Crossing(sides([vector("participant", who, columns), vector("item", what, columns)]))
    factors = np.array([[1.5, 0.0], [-0.6, 0.9]]), np.array([[0.7, 0.0], [0.2, 1.1]])
    return ModeSearch(pair, BinaryFamily(2.0 * y - 1), columns @ [0.2, 0.5], NO_PSI, factors), pair


def test_the_mode_has_no_slope_left() -> None:
    """u = Lambda'Z'r, with the effects put together by hand."""
    search, pair = search_of()
    mode = search.find(pair.zero_modes())
    assert mode.converged
    eta = search.base.copy()
    for side, factor, u in zip(pair.sides, search.factors, mode.point.modes, strict=True):
        eta += ((u @ factor.T)[side.codes] * side.columns.T).sum(axis=1)
    assert mode.point.eta == pytest.approx(eta)
    answers = search.family.answers
    error = answers / (1 + np.exp(answers * eta))
    for side, factor, u in zip(pair.sides, search.factors, mode.point.modes, strict=True):
        pull = np.stack([(side.columns * error)[:, side.codes == level].sum(axis=1) for level in range(side.groups)])
        assert pull @ factor == pytest.approx(u, abs=1e-7)
    penalty = sum(float((u**2).sum()) for u in mode.point.modes) / 2
    assert mode.point.value == pytest.approx(penalty + np.log1p(np.exp(-answers * eta)).sum())


def test_a_search_without_enough_steps_has_not_found_the_mode() -> None:
    search, pair = search_of()
    far = search.find(pair.zero_modes())
    once = search.find(pair.zero_modes(), steps=1)
    assert once.converged is False
    assert once.schur.half_log_determinant > 0
    assert once.curvature.sides[0].shape == (9, 2, 2)
    assert far.point.value < once.point.value < search.evaluate(pair.zero_modes()).value
    again = search.find(far.point.modes, steps=1)
    assert again.converged
    assert again.point.value == pytest.approx(far.point.value, abs=1e-9)


def test_turning_blocks_and_solving_are_those_of_matrices() -> None:
    random = np.random.default_rng(2)
    between, left, right = random.normal(size=(4, 2, 3, 5)), random.normal(size=(6, 2)), random.normal(size=(7, 3))
    turned = turn(between, left, right)
    for one in range(4):
        for other in range(5):
            assert turned[one, :, :, other] == pytest.approx(left @ between[one, :, :, other] @ right.T)
    pair = crossing()
    factors = np.array([[0.8, 0.0], [0.3, 0.5]]), np.array([[0.6]])
    weight = random.random(24)
    schur = pair.layout.curvature(weight).factorise(factors)
    z = dense(pair) @ np.block(
        [[np.kron(np.eye(4), factors[0]), np.zeros((8, 3))], [np.zeros((3, 8)), 0.6 * np.eye(3)]]
    )
    matrix = np.eye(11) + z.T @ (weight[:, None] * z)
    first, second = random.normal(size=(4, 2)), random.normal(size=(3, 1))
    found = schur.solve((first, second))
    expected = np.linalg.solve(matrix, np.concatenate([first.ravel(), second.ravel()]))
    assert np.concatenate([one.ravel() for one in found]) == pytest.approx(expected)
    assert [one.shape for one in found] == [(4, 2), (3, 1)]


def test_terms_have_their_place_among_the_parameters() -> None:
    pair = crossing()
    assert [mode.shape for mode in pair.zero_modes()] == [(4, 2), (3, 1)]
    assert pair.size == 4
    assert pair.work == 4 * 3 * 2**2
    assert [(place, block.group, block.size) for place, block in pair.places(10)] == [
        (6, "participant", 3),
        (9, "item", 1),
    ]
    first, second = pair.factors(np.array([1.0, 2.0, 3.0, 4.0]))
    assert (first.tolist(), second.tolist()) == ([[1.0, 0.0], [2.0, 3.0]], [[4.0]])


def test_too_many_effects_are_refused_at_the_limit() -> None:
    """Blocks for all pairs are given up first; a matrix of the smaller side squared must be there in any case."""
    sides = crossing().sides
    assert Crossing(sides, largest=4 * 2 * 3 * 1).dense
    assert not Crossing(sides, largest=4 * 2 * 3 * 1 - 1).dense
    assert not Crossing(sides, largest=3**2).dense
    for turned in (sides, sides[::-1]):
        with raises(ValueError, "models.effects_size", first=8, second=3):
            Crossing(turned, largest=3**2 - 1)


def test_levels_that_never_met_have_nothing_in_common() -> None:
    """The last participant did not meet the last item."""
    who, what = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 0])
    pair = Crossing(sides([random_term("participant", who), random_term("item", what)]))
    between: Any = pair.layout.curvature(np.arange(1.0, 6.0)).between  # type: ignore[attr-defined]
    assert between[:, 0, 0].tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]]
