"""What readers of a solution are told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from karat.measure.factor_notes import solution_notes
from karat.models.factors import Extraction, Rotation

PAIRS = ("a", "b", "c", "d", "e", "f")
CLEAN = np.array([[0.8, 0], [0.8, 0], [0.8, 0], [0, 0.8], [0, 0.8], [0, 0.8]])
EXTRACTION = Extraction(CLEAN, np.full(6, 0.36), 0.1, 1e-9, True, 0.1)


def notes(extraction: Extraction = EXTRACTION, loadings: np.ndarray = CLEAN, r: float = 0.3,
          exact: np.ndarray | None = None) -> list[str]:  # fmt: skip
    phi = np.array([[1, r], [r, 1]])
    carried_on = Rotation(loadings if exact is None else exact, phi)
    return solution_notes(PAIRS, ("F1", "F2"), extraction, Rotation(loadings, phi), carried_on)


def test_a_clean_solution_has_none() -> None:
    assert notes() == []


def test_heywood_cases() -> None:
    uniquenesses = np.array([0.005, 0.3, 0.3, 0.3, 0.005, 0.3])
    (note,) = notes(replace(EXTRACTION, uniquenesses=uniquenesses))
    assert note.startswith("Heywood case: nothing of its own is left to a and e (uniqueness .005).")


def test_factors_of_few_pairs() -> None:
    few = np.array([[0.8, 0], [0.8, 0], [0.8, 0], [0.6, 0.2], [0, 0.8], [0.3, 0.3]])
    (note,) = notes(loadings=few)
    assert note == "F2 is carried by e alone: with fewer than three pairs a factor is poorly determined."
    (note,) = notes(loadings=np.column_stack([np.full(6, 0.8), np.zeros(6)]))
    assert note.startswith("F2 is not carried by any pair")


@pytest.mark.parametrize(
    ("r", "told"),
    [(0.79, None), (0.82, "Discriminant validity: F1 and F2 correlate .82 and so share more variance (.67)"),
     (-0.9, "F1 and F2 correlate -.90: they can hardly be told apart.")],
)  # fmt: skip
def test_discriminant_validity(r: float, told: str | None) -> None:
    found = notes(r=r)
    assert found == [] if told is None else found[0].startswith(told)


def test_searches_that_did_not_arrive_or_are_not_the_best() -> None:
    assert "did not converge" in notes(replace(EXTRACTION, converged=False))[0]
    assert "objective 0.05000 instead of 0.10000" in notes(replace(EXTRACTION, lowest=0.05))[0]
    assert "loadings change by up to 0.050" in notes(exact=CLEAN + 0.05)[0]
