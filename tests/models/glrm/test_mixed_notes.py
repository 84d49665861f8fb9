"""What a fit warns of: predictors that are large and uncertain, effects without bound, levels that tell little."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from karat.messages import Message
from karat.models.glrm.mixed.result import MixedProblem, same_answers, separated_answers, single_answers, sizes
from karat.models.glrm.mixed.terms import RandomTerm, random_term

Floats = NDArray[np.float64]
SIGN = np.where(np.arange(8) % 2, 0.5, -0.5)
OTHER = np.where(np.arange(8) // 2 % 2, 0.5, -0.5)
ONES = np.ones(8)
GROUP = random_term("item", np.arange(8) // 4)
TURN = np.array([[2.0, 0.5, -1.0], [0.0, 0.3, 0.7], [0.0, 0.0, 5.0]])
"""From parameters that a search had to those of the caller's columns."""


def problem(columns: list[Floats], family: Any = "binary", terms: tuple[RandomTerm, ...] = (GROUP,)) -> MixedProblem:
    names = ("one", "x", "z")[: len(columns)] if family == "binary" else ("x", "z", "w")[: len(columns)]
    answers = np.arange(8) % (2 if family == "binary" else 3)
    return MixedProblem(
        answers, np.unique(answers), np.column_stack(columns), names, terms, family, False, np.zeros(8)
    )  # fmt: skip


def separated(*names: str) -> Message:
    return Message("fit.separated", {"names": list(names), "n": len(names)})


def notes_on(given: MixedProblem, coefficients: list[float], covariance: Any) -> list[Message]:
    """The messages about coefficients (and thresholds after them) that have this covariance in the caller's units.

    The search knows the information about other parameters, and about theta as well, which is held where it is.
    """
    columns = len(coefficients)
    turn = np.eye(len(covariance))
    turn[:columns, :columns] = TURN[:columns, :columns]
    information = np.full((len(covariance) + 1, len(covariance) + 1), 0.01)
    information[:-1, :-1] = turn.T @ np.linalg.inv(covariance) @ turn
    found: Any = SimpleNamespace(at=SimpleNamespace(information=lambda: information))
    whole = np.eye(len(covariance) + 1)
    whole[:-1, :-1] = turn
    factors = [np.eye(len(term.names)) for term in given.terms]
    return separated_answers(given, np.array(coefficients), found, whole, factors)


def test_the_column_is_named_that_tells_answers_apart() -> None:
    given = problem([ONES, SIGN, OTHER])
    assert notes_on(given, [0.5, 30.0, 1.0], np.diag([0.01, 900.0, 0.01])) == [separated("x")]
    assert notes_on(given, [0.5, 1.0, -30.0], np.diag([0.01, 0.01, 900.0])) == [separated("z")]
    assert notes_on(given, [30.0, 1.0, 1.0], np.diag([900.0, 0.01, 0.01])) == [separated("one")]
    assert notes_on(given, [0.5, 30.0, 30.0], np.diag([0.01, 900.0, 900.0])) == [separated("x", "z")]


def test_predictors_must_be_large_and_uncertain_in_the_same_row() -> None:
    given = problem([ONES, SIGN])
    assert notes_on(given, [0.5, 30.0], np.diag([0.01, 0.01])) == []
    assert notes_on(given, [0.5, 3.0], np.diag([0.01, 900.0])) == []
    assert notes_on(given, [10.5, 3.0], np.diag([0.01, 900.0])) != []
    # Large where x is positive, uncertain where it is negative: se is |1 - 2x| times 8.
    assert notes_on(given, [6.0, 9.5], 64.0 * np.array([[1, -2], [-2, 4.0001]])) == []
    assert notes_on(given, [6.0, -9.5], 64.0 * np.array([[1, -2], [-2, 4.0001]])) != []


def test_where_no_column_does_it_alone_all_are_named() -> None:
    given = problem([ONES, SIGN, OTHER])
    assert notes_on(given, [8.0, 16.0, 16.0], np.diag([81.0, 324.0, 324.0])) == [separated("one", "x", "z")]


def test_distance_from_zero_does_not_change_the_name() -> None:
    """The coefficient of x is as good as known, though times 1000 its error is large."""
    given = problem([ONES, SIGN + 1000, OTHER])
    assert notes_on(given, [0.0, 0.0, 30.0], np.diag([0.01, 0.0025, 900.0])) == [separated("z")]


def test_predictors_of_yes_or_no_answers_are_seen_as_they_are() -> None:
    """Far from zero the intercept would have to make up for it, and here it is known."""
    assert notes_on(problem([ONES, SIGN + 40]), [0.0, 0.5], np.diag([0.01, 1.0])) == [separated("one", "x")]


@pytest.mark.parametrize("shift", [0.0, 40.0])
def test_ordered_answers_are_seen_from_the_middle_of_each_column(shift: float) -> None:
    """Their thresholds move with the columns, so that neither predictors nor their errors tell anything far off."""
    given = problem([SIGN + shift, OTHER], "ordinal")
    calm, wild = np.diag([1.0, 1.0, 9.0, 9.0]), np.diag([1.0, 900.0, 9.0, 9.0])
    assert notes_on(given, [1.0, 1.0], calm) == []
    assert notes_on(given, [1.0, 30.0], wild) == [separated("z")]
    # Were the thresholds known, x would be certain enough; they are not.
    joint = np.array([[900.0, 0, 0, 890], [0, 1, 0, 0], [0, 0, 9, 0], [890, 0, 0, 900]])
    assert notes_on(given, [30.0, 1.0], joint) == [separated("x")]


def test_what_the_data_say_nothing_about_is_uncertain() -> None:
    given = problem([ONES, SIGN])
    for nothing in (0.0, -1e-9):
        found: Any = SimpleNamespace(at=SimpleNamespace(information=lambda own=nothing: np.diag([1.0, own, 1.0])))
        assert separated_answers(given, np.array([0.0, 25.0]), found, np.eye(3), [np.eye(1)]) == [separated("x")]


@pytest.mark.parametrize("unit", [0.01, 1.0, 100.0])
def test_effects_grow_with_an_unbounded_deviation(unit: float) -> None:
    columns = np.column_stack([ONES, np.where(np.arange(8) < 5, 1.0, 200.0) * unit])
    term = random_term("who", np.arange(8) // 4, columns, ("(Intercept)", "x"))
    given = problem([ONES], terms=(GROUP, term))
    found: Any = SimpleNamespace(at=SimpleNamespace(information=lambda: np.eye(4)))
    for slope, grows in ((19.9, False), (20.1, True)):
        # The deviation of most rows is sqrt(15^2 + slope^2), and 25 where the slope's is 20.
        lower = np.diag([15.0, slope / unit])
        factors = [np.eye(1), sizes(term)[:, None] * lower]
        said = separated_answers(given, np.zeros(1), found, np.eye(4), factors)
        assert said == [Message("fit.unbounded_effects", {"group": "who"})] * grows


def test_sizes_are_those_of_the_rows_that_have_any() -> None:
    term = random_term("who", [0, 1, 0], [[1.0, 0.0], [1.0, 3.0], [1.0, 5.0]], ("(Intercept)", "x"))
    assert sizes(term) == pytest.approx([1.0, np.sqrt((9 + 25) / 2)])


def test_a_level_for_every_answer_is_reported() -> None:
    alone = random_term("row", np.arange(8))
    some = random_term("pair", [0, 1, 2, 3, 4, 5, 6, 6])
    single = Message("fit.one_answer_per_level", {"group": "row"})
    assert single_answers(problem([ONES], terms=(GROUP, alone, some))) == [single]
    assert single_answers(problem([ONES], "gaussian", terms=(GROUP, alone))) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=12))
def test_equal_answers_to_a_level_are_counted(rows: list[tuple[int, int]]) -> None:
    levels = sorted({level for level, _ in rows})
    if len(levels) < 2:
        return
    codes, answers = np.array(rows).T
    terms = (random_term("who", codes), random_term("who", codes, np.ones((len(rows), 1)), ("x",)))
    given = MixedProblem(
        answers, np.arange(3), np.ones((len(rows), 1)), ("x",), terms, "ordinal", False, np.zeros(len(rows))
    )
    of_level = [[answer for own, answer in rows if own == level] for level in levels]
    same = sum(len(own) > 1 and len(set(own)) == 1 for own in of_level)
    expected = Message("fit.same_answers", {"n": same, "levels": len(levels), "group": "who"})
    assert same_answers(given) == [expected] * bool(same)


def test_single_answers_are_reported_where_levels_have_more() -> None:
    who = random_term("who", [0, 0, 1, 1, 2, 3, 3, 3])
    pairs = random_term("pair", [0, 1, 2, 3, 0, 1, 2, 3])
    answers = np.array([0, 0, 0, 1, 2, 1, 1, 1])
    given = MixedProblem(answers, np.arange(3), np.ones((8, 1)), ("x",), (who, pairs), "ordinal", False, np.zeros(8))
    assert same_answers(given) == [
        Message("fit.same_answers", {"n": 2, "levels": 4, "group": "who"}),
        Message("fit.same_answers", {"n": 1, "levels": 4, "group": "pair"}),
    ]  # fmt: skip


def test_measured_answers_are_never_said_to_be_the_same() -> None:
    assert same_answers(problem([ONES], "gaussian")) == []
