"""The notes on a factor solution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from karat.measure.dimensions.factors import solution_notes
from karat.messages import Message
from karat.models.factors import Extraction, Rotation
from messages import codes

PAIRS = ("a", "b", "c", "d", "e", "f")
CLEAN = np.array([[0.8, 0], [0.8, 0], [0.8, 0], [0, 0.8], [0, 0.8], [0, 0.8]])
EXTRACTION = Extraction(CLEAN, np.full(6, 0.36), 0.1, 1e-9, True, 0.1)


def notes(extraction: Extraction = EXTRACTION, loadings: np.ndarray = CLEAN, r: float = 0.3,
          exact: np.ndarray | None = None) -> list[Message]:  # fmt: skip
    phi = np.array([[1, r], [r, 1]])
    carried_on = Rotation(loadings if exact is None else exact, phi)
    return solution_notes(PAIRS, ("F1", "F2"), extraction, Rotation(loadings, phi), carried_on)


def test_a_clean_solution_has_none() -> None:
    assert notes() == []


def test_heywood_cases() -> None:
    uniquenesses = np.array([0.005, 0.3, 0.3, 0.3, 0.005, 0.3])
    (note,) = notes(replace(EXTRACTION, uniquenesses=uniquenesses))
    assert note == Message("factors.heywood", {"pairs": ["a", "e"], "n": 2, "uniqueness": 0.005})


def test_factors_of_few_pairs() -> None:
    few = np.array([[0.8, 0], [0.8, 0], [0.8, 0], [0.6, 0.2], [0, 0.8], [0.3, 0.3]])
    (note,) = notes(loadings=few)
    assert note == Message("factors.few_pairs", {"factor": "F2", "pairs": ["e"]})
    (note,) = notes(loadings=np.column_stack([np.full(6, 0.8), np.zeros(6)]))
    assert note == Message("factors.no_pair", {"factor": "F2"})


@pytest.mark.parametrize(
    ("r", "code"), [(0.79, None), (0.82, "factors.discriminant_validity"), (-0.9, "factors.not_distinct")]
)
def test_discriminant_validity(r: float, code: str | None) -> None:
    found = notes(r=r)
    assert codes(found) == ([] if code is None else [code])
    for note in found:
        assert (note.values["first"], note.values["second"], note.values["r"]) == ("F1", "F2", r)


def test_the_variance_that_factors_share_is_said() -> None:
    (note,) = notes(r=0.82)
    assert note.values["shared"] == pytest.approx(0.82**2)
    assert note.values["weak"] == ["F1", "F2"]


def test_searches_that_did_not_arrive_or_are_not_the_best() -> None:
    not_converged = Message("factors.extraction_not_converged", {"gradient": 1e-9})
    assert notes(replace(EXTRACTION, converged=False)) == [not_converged]
    better = Message("factors.better_start", {"lowest": 0.05, "objective": 0.1})
    assert notes(replace(EXTRACTION, lowest=0.05)) == [better]
    (note,) = notes(exact=CLEAN + 0.05)
    assert (note.code, note.values["moved"]) == ("factors.varimax_stopped", pytest.approx(0.05))
