"""Answers are checked, and their workers and tasks numbered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm.crossed import arrange, dependent, dependent_products
from messages import raises

PLAIN: dict[str, Any] = {
    "response": [0, 1, 1, 0], "worker": ["b", "b", "a", "a"], "task": [7, 5, 7, 5], "design": None
}  # fmt: skip
LONG = "response, worker and task must be one-dimensional and equally long."
ROWS = "design must have a row of finite numbers for every answer."
FEW = "models.two_of_each"
GAPS = "response has missing or infinite values. Leave those answers out."
DEPENDENT = "The columns of the design depend on each other. Leave out those that follow from others."


def test_workers_and_tasks_are_numbered_by_name() -> None:
    answers = arrange(**PLAIN)
    assert (answers.workers.tolist(), answers.worker.tolist()) == (["a", "b"], [1, 1, 0, 0])
    assert (answers.tasks.tolist(), answers.task.tolist()) == ([5, 7], [1, 0, 1, 0])
    assert answers.design.tolist() == [[1.0]] * 4
    assert answers.response.tolist() == PLAIN["response"]
    columns = [[1, 2], [1, 3], [1, 4], [1, 7]]
    assert arrange(**{**PLAIN, "design": columns}).design.dtype == np.float64
    assert arrange(**{**PLAIN, "design": np.empty((4, 0))}).design.shape == (4, 0)
    for response in ([0.5, 1.5, 2.5, 0.0], ["no", "yes", "yes", "no"]):
        assert arrange(**{**PLAIN, "response": response}).response.tolist() == response
    assert (answers.layout.workers, answers.layout.tasks) == (2, 2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"response": [[0, 1, 1, 0]]}, LONG),
        ({"worker": [["b", "b", "a", "a"]]}, LONG),
        ({"task": [[7, 5, 7, 5]]}, LONG),
        ({"response": [0, 1, 1]}, LONG),
        ({"worker": ["b", "a", "a"]}, LONG),
        ({"task": [7, 5, 7]}, LONG),
        ({"response": [], "worker": [], "task": []}, "models.no_answers"),
        ({"response": [0.0, 1.0, np.nan, 0.0]}, GAPS),
        ({"response": [0.0, 1.0, np.inf, 0.0]}, GAPS),
        ({"design": [1.0, 1.0, 1.0, 1.0]}, ROWS),
        ({"design": np.ones((3, 1))}, ROWS),
        ({"design": [[1.0], [1.0], [np.nan], [1.0]]}, ROWS),
        ({"design": [[1, 2], [2, 4], [3, 6], [4, 8]]}, DEPENDENT),
        ({"worker": [1, 1, 1, 1]}, FEW),
        ({"task": [1, 1, 1, 1]}, FEW),
    ],
)
def test_what_does_not_belong_together_is_refused(change: dict[str, Any], said: str) -> None:
    with raises(ValueError, said):
        arrange(**{**PLAIN, **change})


def test_columns_depend_where_one_is_zero_or_follows_from_others() -> None:
    assert not dependent(np.empty((4, 0)))
    assert dependent(np.column_stack([np.ones(4), np.zeros(4)]))
    assert not dependent(np.column_stack([np.ones(4), [0.0, 0.0, 0.0, 1e-9]]))


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("short", "expected"), [(2e-10, False), (5e-11, True)])
def test_columns_with_a_correlation_of_one_depend_in_any_unit(unit: float, short: float, expected: bool) -> None:
    """Two columns of one size: the smallest eigenvalue of their products is what their cosine lacks to 1."""
    products = np.array([[1.0, (1 - short) * unit], [(1 - short) * unit, unit**2]])
    assert dependent_products(products) is expected


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=3, max_size=8))
def test_dependent_columns_are_those_of_a_lower_rank(rows: list[list[int]]) -> None:
    design = np.array(rows, dtype=np.float64)
    assert dependent(design) == (np.linalg.matrix_rank(design) < 3)
