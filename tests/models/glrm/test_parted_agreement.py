"""Agreement from sums over parts beside that of all answers in memory, and where it is not defined."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.agreement import fleiss_kappa, icc_agreement, icc_consistency, joined_sets
from karat.models.glrm.parts.answers import Sample
from karat.models.glrm.parts.fit import agreement_in_parts
from messages import refuses
from models.glrm.parted_cases import parted_objective

WHO, WHAT = np.indices((6, 4)).reshape(2, -1)


def named(fit: Any) -> SimpleNamespace:
    kappa, absolute, consistent = agreement_in_parts(fit)
    return SimpleNamespace(fleiss_kappa=kappa, icc_agreement=absolute, icc_consistency=consistent)


def agreement(response: Any, worker: Any, task: Any, parts: int = 2) -> SimpleNamespace:
    """The agreement without the search for the parameters, which it does not depend on."""
    tasks, workers, family = (
        np.unique(task),
        np.unique(worker),
        "binary" if len(np.unique(response)) == 2 else "ordinal",
    )
    objective = parted_objective(response, worker, task, parts=parts, family=family)
    fit: Any = SimpleNamespace(objective=objective, tasks=tasks, workers=workers, answers=len(response))
    return named(fit)


@given(st.integers(0, 10_000), st.integers(1, 3), st.sampled_from([2, 3, 5]), st.sampled_from([0.3, 0.6, 1.0]))
def test_agreement_in_parts_is_that_of_all_answers(seed: int, parts: int, kinds: int, share: float) -> None:
    """Any answers may be missing or given twice, and sets of tasks may share no rater."""
    random = np.random.default_rng(seed)
    worker, task = np.divmod(np.tile(np.arange(8 * 6), 2), 6)
    kept = random.random(len(worker)) < share
    kept[[0, 50]] = True
    worker, task = worker[kept], task[kept]
    response = np.clip(random.integers(0, kinds, len(worker)) + (task > 2), 0, kinds - 1)
    response[:2] = 0, 1
    # Categories need not be 0, 1, 2 ...; their numbers are what counts for the correlations.
    response, task = 3 + response**2, np.unique(task, return_inverse=True)[1]
    found = agreement(response, worker, task, parts)
    assert found.fleiss_kappa == pytest.approx(fleiss_kappa(task, response), abs=1e-12, nan_ok=True)
    assert found.icc_agreement == pytest.approx(icc_agreement(task, worker, response), rel=1e-8, abs=1e-8, nan_ok=True)
    assert found.icc_consistency == pytest.approx(
        icc_consistency(task, worker, response), rel=1e-8, abs=1e-8, nan_ok=True
    )


def test_two_raters_of_two_tasks_are_enough() -> None:
    """One answer is left for the rest."""
    response, worker, task = np.array([0, 1, 1, 1]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    found = agreement(response, worker, task)
    assert found.icc_agreement == pytest.approx(icc_agreement(task, worker, response))
    assert found.icc_consistency == pytest.approx(icc_consistency(task, worker, response))


def test_large_numbers_of_categories_lose_nothing() -> None:
    response = (WHO + WHAT**2) % 3
    plain, moved = agreement(response, WHO, WHAT), agreement(response + 10**9, WHO, WHAT)
    assert moved.icc_agreement == pytest.approx(plain.icc_agreement, rel=1e-9)
    assert moved.icc_consistency == pytest.approx(plain.icc_consistency, rel=1e-9)


def test_the_agreement_of_a_sample_is_that_of_its_workers() -> None:
    random = np.random.default_rng(3)
    worker, task = np.indices((30, 5)).reshape(2, -1)
    response = random.integers(0, 3, 150)
    sample = Sample(4, 0.5)
    kept = sample.among(0, 30)[worker]
    whole = parted_objective(response, worker, task, parts=3, family="ordinal")
    objective = replace(whole, view=replace(whole.view, sample=sample))
    fit: Any = SimpleNamespace(
        objective=objective, tasks=np.arange(5), workers=np.unique(worker[kept]), answers=int(kept.sum())
    )
    found = named(fit)
    assert found.fleiss_kappa == pytest.approx(fleiss_kappa(task[kept], response[kept]))
    assert found.icc_agreement == pytest.approx(icc_agreement(task[kept], worker[kept], response[kept]))


def test_raters_who_agree_in_everything_correlate_with_one() -> None:
    found = agreement((WHAT > 1) * 1, WHO, WHAT)
    assert found.fleiss_kappa == 1
    assert found.icc_agreement == pytest.approx(1.0)
    assert found.icc_consistency == pytest.approx(1.0)


def test_raters_who_always_say_the_same_have_no_consistency() -> None:
    """Tasks and the rest have no variance, so that there is nothing to take a share of."""
    found = agreement((WHO > 2) * 1, WHO, WHAT)
    assert found.icc_agreement == 0
    assert np.isnan(found.icc_consistency)
    assert found.fleiss_kappa == pytest.approx(-0.2)


def test_as_many_effects_as_answers_leave_no_correlation() -> None:
    """Two raters with one task in common: two answers each, and nothing is left for the rest."""
    found = agreement(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]))
    assert np.isnan(found.icc_agreement)
    assert np.isnan(found.icc_consistency)


@given(st.integers(1, 12), st.integers(0, 10_000))
def test_sets_are_those_that_chains_of_raters_join(items: int, seed: int) -> None:
    """Beside the powers of the matrix: two items are in one set where a chain leads from one to the other."""
    assert joined_sets(np.kron(np.eye(2), np.ones((2, 2)))).tolist() == [0, 0, 1, 1]
    branches = np.eye(6)
    branches[[0, 0, 1, 2], [1, 2, 3, 4]] = 1.0
    assert joined_sets(branches + branches.T).tolist() == [0, 0, 0, 0, 0, 1]
    random = np.random.default_rng(seed)
    joined = np.eye(items) + (random.random((items, items)) < 1 / items)
    joined = joined + joined.T
    reached = np.linalg.matrix_power(np.minimum(joined, 1), items) > 0
    first = reached.argmax(axis=1)
    assert joined_sets(joined).tolist() == np.unique(first, return_inverse=True)[1].tolist()


def test_a_model_that_was_not_fitted_in_parts_is_refused() -> None:
    fit: Any = SimpleNamespace(objective=None)
    with refuses(ValueError, "karat.models.agreement"):
        agreement_in_parts(fit)
