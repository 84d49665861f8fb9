"""What a design cannot tell is told beforehand, and what it can tell is not held against it."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.glrm.mixed import fit_mixed
from karat.models.glrm.mixed_identified import undetermined
from karat.models.glrm.mixed_sides import sides
from karat.models.glrm.terms import random_term

WHO, WHAT = np.indices((12, 8)).reshape(2, -1)
NAMES = ("(Intercept)", "a", "b", "a:b")


def columns(every: int) -> np.ndarray:
    """Two conditions and their interaction; within items b turns with every so many participants, a with each."""
    a = np.where((WHO + WHAT) % 2, -1.0, 1.0)
    b = np.where((WHO // every + WHAT // 2) % 2, -1.0, 1.0)
    return np.column_stack([np.ones(len(a)), a, b, a * b])


@pytest.mark.parametrize("residual", [False, True])
def test_conditions_confounded_within_items_are_found(residual: bool) -> None:
    terms = [random_term("participant", WHO, columns(1), NAMES), random_term("item", WHAT, columns(1), NAMES)]
    first, second = sides(terms)
    assert undetermined(first, residual) == []
    assert undetermined(second, residual) == ["item"]


@pytest.mark.parametrize("residual", [False, True])
def test_conditions_crossed_within_items_are_not(residual: bool) -> None:
    terms = [random_term("participant", WHO, columns(2), NAMES), random_term("item", WHAT, columns(2), NAMES)]
    assert [undetermined(side, residual) for side in sides(terms)] == [[], []]


def test_a_side_without_effects_has_nothing_to_determine() -> None:
    _, nothing = sides([random_term("participant", WHO)])
    assert undetermined(nothing, True) == []


@pytest.mark.parametrize("family", ["binary", "gaussian"])
def test_a_confounded_fit_has_not_converged_though_singular(family: str) -> None:
    random = np.random.default_rng(1)
    z = columns(1)
    value = random.normal(size=12)[WHO] + random.normal(size=len(WHO))
    terms = [random_term("participant", WHO), random_term("item", WHAT, z, NAMES)]
    response = value if family == "gaussian" else value > 0
    fit = fit_mixed(response, z[:, :2], NAMES[:2], terms, family=family)  # type: ignore[arg-type]
    assert fit.singular
    assert not fit.converged
    assert "the design does not determine the covariances of item" in str(fit)
    plain = fit_mixed(response, z[:, :2], NAMES[:2], [terms[0], random_term("item", WHAT)], family=family)  # type: ignore[arg-type]
    assert plain.converged
