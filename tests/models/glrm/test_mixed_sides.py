"""The sides gather terms, know what is nested in what, and fill Lambda as lme4 orders theta."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm.mixed.laplace import Crossing
from karat.models.glrm.mixed.terms import Covariance, RandomTerm, random_term, sides, within
from messages import raises, refuses
from models.glrm.mixed_cases import slopes, vector

WHO, WHAT, WHEN = np.indices((5, 4, 3)).reshape(3, -1)


def test_theta_fills_lambda_by_columns() -> None:
    columns = np.random.default_rng(1).normal(size=(60, 3))
    full = random_term("participant", WHO, columns, ("a", "b", "c"))
    alone = random_term("participant", WHO, columns[:, :2], ("d", "e"), "diagonal")
    first, _ = sides([full, alone])
    expected = [[1, 0, 0, 0, 0], [2, 4, 0, 0, 0], [3, 5, 6, 0, 0], [0, 0, 0, 7, 0], [0, 0, 0, 0, 8]]
    assert first.factor(np.arange(1.0, 9.0)).tolist() == expected
    assert first.by_theta(np.array(expected, dtype=float)).tolist() == list(range(1, 9))


def test_a_nested_factor_and_a_shared_variance_are_the_same() -> None:
    rounds = (WHEN[:, None] == np.arange(3)).astype(float)
    nested, _ = sides([
        random_term("participant", WHO), random_term("item", WHAT), random_term("participant:round", WHO * 3 + WHEN)
    ])  # fmt: skip
    shared, _ = sides([
        random_term("participant", WHO), random_term("item", WHAT),
        random_term("participant", WHO, rounds, ("r1", "r2", "r3"), "shared"),
    ])  # fmt: skip
    theta = np.array([0.5, 0.7])
    assert np.array_equal(nested.columns, shared.columns)
    assert np.array_equal(nested.factor(theta), np.diag([0.5, 0.7, 0.7, 0.7]))
    assert np.array_equal(shared.factor(theta), nested.factor(theta))


def test_a_chain_of_nested_factors_ends_on_one_side() -> None:
    inner = random_term("class:pupil:day", (WHO // 2 * 2 + WHO % 2) * 3 + WHEN)
    first, second = sides([
        random_term("class", WHO // 2), random_term("class:pupil", WHO), inner, random_term("item", WHAT)
    ])  # fmt: skip
    assert {block.group for block in first.blocks} | {block.group for block in second.blocks} == {
        "class", "class:pupil", "class:pupil:day", "item"
    }  # fmt: skip
    assert [block.group for block in second.blocks] == ["item"]


def test_slopes_of_a_nested_factor_repeat_their_block() -> None:
    columns = np.column_stack([np.ones(60), np.arange(60) % 2])
    inner = random_term("participant:round", WHO * 3 + WHEN, columns, ("(Intercept)", "x"))
    first, _ = sides([random_term("participant", WHO), random_term("item", WHAT), inner])
    block = [[2.0, 0.0], [3.0, 4.0]]
    assert np.array_equal(first.factor(np.array([1.0, 2.0, 3.0, 4.0]))[1:, 1:], np.kron(np.eye(3), block))
    assert np.array_equal(first.columns[1:].sum(axis=0), columns.sum(axis=1))


def test_nested_shared_variance_repeats_per_column_and_level() -> None:
    columns = np.column_stack([WHAT % 2 == 0, WHAT % 2]) * 1.0
    inner = random_term("participant:round", WHO * 3 + WHEN, columns, ("even", "odd"), "shared")
    first, _ = sides([random_term("participant", WHO), random_term("item", WHAT), inner])
    assert first.factor(np.array([5.0, 2.0])).tolist() == np.diag([5.0, *[2.0] * 6]).tolist()
    block = first.blocks[1]
    assert (block.term, block.group, block.width, block.repeats, block.first) == (2, "participant:round", 1, 6, 1)
    assert block.repeat is not None
    assert block.repeat.tolist() == WHEN.tolist()
    assert first.blocks[0].repeat is None


def test_three_crossed_factors_have_a_side_each() -> None:
    """What is nested in one of them joins it all the same."""
    terms = [random_term("participant", WHO), random_term("item", WHAT), random_term("round", WHEN)]
    assert [side.groups for side in sides(terms)] == [5, 4, 3]
    found = sides([*terms, random_term("participant:round", WHO * 3 + WHEN)])
    assert [[block.group for block in side.blocks] for side in found] == [
        ["participant", "participant:round"], ["item"], ["round"]
    ]  # fmt: skip


def test_terms_of_one_factor_must_agree() -> None:
    with refuses(ValueError, "participant"):
        sides([random_term("participant", WHO), random_term("participant", WHO[::-1])])


@pytest.mark.parametrize("shift", [0.0, 300.0])
def test_a_change_of_basis_changes_nothing(shift: float) -> None:
    """Z Lambda is the same for the based side with its theta; and its columns are orthogonal."""
    _, columns, who, what = slopes()
    side, _ = sides([vector("participant", who, columns + np.array([0.0, shift])), vector("item", what, columns)])
    based, theta = side.standardised(), np.array([0.7, -0.2, 0.4])
    own = side.columns.T @ side.factor(side.theta_transform() @ theta)
    assert np.allclose(own, based.columns.T @ based.factor(theta), atol=1e-8)
    assert np.allclose(based.columns @ based.columns.T / len(who), np.eye(2), atol=1e-6)


def test_a_change_of_basis_is_that_of_each_term() -> None:
    """As above, with several terms on a side: their columns are turned alone, and nested ones in every repeat alike."""
    random = np.random.default_rng(5)
    columns = np.column_stack([np.ones(60), 3 + random.normal(size=60)])
    rounds = (WHEN[:, None] == np.arange(3)) * 4.0
    side, _ = sides([
        vector("participant", WHO, columns), random_term("item", WHAT),
        vector("participant", WHO, columns**2, "diagonal"), vector("participant:round", WHO * 3 + WHEN, columns),
        random_term("participant", WHO, rounds, ("r1", "r2", "r3"), "shared"),
    ])  # fmt: skip
    based, theta = side.standardised(), random.normal(size=3 + 2 + 1 + 3)
    own = side.columns.T @ side.factor(side.theta_transform() @ theta)
    assert np.allclose(own, based.columns.T @ based.factor(theta), atol=1e-8)
    full, diagonal, shared, nested = (based.stack(block) for block in based.blocks)
    for stack in (full, nested):
        assert np.allclose(np.einsum("rkn,rln->kl", stack, stack) / 60, np.eye(2))
    assert np.allclose((diagonal**2).mean(axis=2), 1)
    assert np.allclose((shared**2).sum(axis=(0, 1)), 1)


@pytest.mark.parametrize("covariance", ["full", "diagonal", "shared"])
def test_sums_over_levels_are_those_of_matrices(covariance: Covariance) -> None:
    """Totals, predictors, curvatures and variances beside products of dense matrices."""
    random = np.random.default_rng(3)
    columns = np.column_stack([np.ones(60), random.normal(size=60)])
    nested = np.column_stack([columns[:, ::-1], random.normal(size=60)])
    inner = random_term("item:round", WHAT * 3 + WHEN, nested, ("x", "(Intercept)", "z"), covariance)
    crossing = Crossing(sides([vector("participant", WHO, columns), vector("item", WHAT, columns), inner]))
    dense = [
        (side.columns[:, :, None] * (side.codes[:, None] == np.arange(side.groups))).transpose(1, 2, 0).reshape(60, -1)
        for side in crossing.sides
    ]
    weight = random.random(60)
    both = np.column_stack(dense)
    whole = both.T @ (weight[:, None] * both)
    curvature: Any = crossing.layout.curvature(weight)
    size = dense[0].shape[1]
    between = curvature.between.transpose(0, 1, 3, 2).reshape(size, -1)
    assert np.allclose(between, whole[:size, size:])
    for level, block in enumerate(curvature.first):
        part = slice(2 * level, 2 * level + 2)
        assert np.allclose(block, whole[part, part])
    for level, block in enumerate(curvature.second):
        part = slice(size + 11 * level, size + 11 * (level + 1))
        assert np.allclose(block, whole[part, part])
    totals = crossing.totals(weight)
    assert np.allclose(np.concatenate([total.ravel() for total in totals]), both.T @ weight)
    effects = [random.normal(size=total.shape) for total in totals]
    unit = np.eye(crossing.sides[0].effects), np.eye(crossing.sides[1].effects)
    assert np.allclose(
        crossing.predictor(unit, (effects[0], effects[1])), both @ np.concatenate([one.ravel() for one in effects])
    )
    root = random.normal(size=(both.shape[1], both.shape[1]))
    covariance = root @ root.T
    first = np.stack([covariance[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] for k in range(5)])
    q = crossing.sides[1].effects
    second = np.stack([covariance[size + q * k :, size + q * k :][:q, :q] for k in range(4)])
    cross = covariance[:size, size:].reshape(5, 2, 4, q).transpose(0, 1, 3, 2)
    assert np.allclose(curvature.layout.spread(first, second, cross), np.einsum("ij,jk,ik->i", both, covariance, both))


def test_factor_nested_in_both_joins_the_smaller_side() -> None:
    """Five participants answered four items: a cell is one of four within a participant, one of five within an item."""
    cells = random_term("participant:item", WHO * 4 + WHAT)
    first, second = sides([random_term("item", WHAT), random_term("participant", WHO), cells])
    assert (first.effects, second.effects) == (1, 5)


def test_one_factor_has_a_second_side_that_adds_nothing() -> None:
    first, nothing = sides([random_term("participant", WHO)])
    assert (first.groups, first.effects, first.size) == (5, 1, 1)
    assert (nothing.groups, nothing.effects, nothing.size, nothing.blocks) == (1, 1, 0, ())
    assert nothing.codes.tolist() == [0] * 60
    assert nothing.columns.tolist() == [[0.0] * 60]
    assert nothing.standardised() is nothing
    assert nothing.theta_transform().shape == (0, 0)
    crossing = Crossing((first, nothing))
    curvature: Any = crossing.counts
    assert curvature.between.tolist() == [[[[0.0]]]] * 5
    assert crossing.totals(np.ones(60))[1].tolist() == [[0.0]]


def test_a_level_without_answers_has_sums_of_zero() -> None:
    term = RandomTerm("participant", WHO, np.arange(7), np.ones((60, 1)), ("(Intercept)",))
    side, _ = sides([term])
    assert side.totals(np.ones(60))[:, 0].tolist() == [12.0] * 5 + [0.0] * 2
    assert side.curvature(np.ones(60)).ravel().tolist() == [12.0] * 5 + [0.0] * 2


ROWS = "The term of item needs a whole number (its level) and a row of columns for every answer."
CODES = "The codes of item must lie between 0 and the number of its levels minus one."
NAMED = "it needs a name for each of at least one column."
ZERO = "A column of the term of item is zero throughout. Leave it out."


def test_a_term_prints_as_r_users_write_it() -> None:
    columns = np.column_stack([np.ones(4), [0, 1, 0, 1]])
    names = ("(Intercept)", "x")
    assert str(random_term("item", [0, 0, 1, 1], columns, names)) == "(1 + x | item)"
    assert str(random_term("item", [0, 0, 1, 1], columns, names, "diagonal")) == "(1 + x || item)"
    assert str(random_term("item", [0, 0, 1, 1], columns[:, 1:], ("x",), "diagonal")) == "(0 + x | item)"
    shared = random_term("item", [0, 0, 1, 1], np.eye(4), ("a", "b", "c", "d"), "shared")
    assert str(shared) == "(one variance for a, b, c, d | item)"
    assert str(random_term("item", [0, 0, 1, 1], columns, ("a", "b"), "shared")) == "(one variance for a, b | item)"
    assert str(random_term("item", [0, 0, 1, 1], columns[:, :1], names[:1], "shared")) == "(1 | item)"


def test_a_term_can_be_left_with_some_of_its_columns() -> None:
    columns = np.array([[1, 2, 3], [1, 5, 6], [1, 8, 9]])
    term = random_term("item", ["b", "a", "b"], columns, ("(Intercept)", "x", "z"))
    rest = term.only([0, 2], "diagonal")
    assert str(rest) == "(1 + z || item)"
    assert rest.columns.tolist() == [[1.0, 3.0], [1.0, 6.0], [1.0, 9.0]]
    assert (rest.codes.tolist(), rest.levels.tolist()) == ([1, 0, 1], ["a", "b"])
    assert term.columns.dtype == np.float64


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"codes": np.array([0.0, 1.0])}, ROWS),
        ({"codes": np.array([0, 1, 1])}, ROWS),
        ({"codes": np.array([[0, 1]])}, ROWS),
        ({"columns": np.ones(2)}, ROWS),
        ({"codes": np.array([0, 2])}, CODES),
        ({"codes": np.array([0, -1])}, CODES),
        ({"names": ()}, f"The term of item has 1 columns and 0 names; {NAMED}"),
        ({"names": (), "columns": np.ones((2, 0))}, f"The term of item has 0 columns and 0 names; {NAMED}"),
        (
            {"columns": np.array([[1.0], [np.nan]])},
            "The columns of the term of item have missing values. Leave those rows out.",
        ),
        ({"columns": np.zeros((2, 1))}, ZERO),
        ({"columns": np.eye(2) * [1, 0], "names": ("a", "b")}, ZERO),
        ({"covariance": "banded"}, 'The covariance of a term is "full", "diagonal" or "shared", not \'banded\'.'),
        (
            {"codes": np.array([0, 0]), "levels": np.array(["a"])},
            "models.one_level",
        ),
    ],
)
def test_what_does_not_belong_together_is_refused(change: dict[str, object], said: str) -> None:
    plain = {
        "group": "item", "codes": np.array([0, 1]), "levels": np.array(["a", "b"]), "columns": np.ones((2, 1)),
        "names": ("(Intercept)",),
    }  # fmt: skip
    RandomTerm(**plain)  # type: ignore[arg-type]
    with raises(ValueError, said):
        RandomTerm(**{**plain, **change})  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40))
def test_nested_levels_are_numbered_within_the_outer_one(pairs: list[tuple[int, int]]) -> None:
    outer, inside = np.array(pairs).T
    inner = outer * 4 + inside
    number = within(inner, outer)
    assert number is not None
    for level in np.unique(outer):
        here = outer == level
        found = np.unique(np.column_stack([inner[here], number[here]]), axis=0)
        assert len(found) == len(np.unique(inner[here]))
        assert sorted(found[:, 1]) == list(range(len(found)))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_crossed_levels_are_not_nested(pairs: list[tuple[int, int]]) -> None:
    inner, outer = np.array(pairs).T
    crossed = any(len({b for a, b in pairs if a == level}) > 1 for level, _ in pairs)
    assert (within(inner, outer) is None) == crossed
