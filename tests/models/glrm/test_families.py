"""Derivatives of every likelihood beside differences of the plain formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.models.glrm.families import BinaryFamily, Gaussian, LinkedOrdinal, OrdinalFamily, inverse_link, log_logistic
from models.glrm.dense import differences, first, logistic, second

THRESHOLDS = [-1.2, 0.1, 0.9]
PSI = {"binary": [], "ordinal": THRESHOLDS, "probit": THRESHOLDS, "cloglog": THRESHOLDS, "gaussian": [0.3]}


def family(name: Any) -> Any:
    if name == "binary":
        return BinaryFamily(np.array([1.0, -1.0, 1.0, -1.0, 1.0]))
    if name == "ordinal":
        return OrdinalFamily(np.array([0, 1, 2, 3, 1]), 4)
    if name in ("probit", "cloglog"):
        return LinkedOrdinal(np.array([0, 1, 2, 3, 1]), 4, link=name)
    return Gaussian(np.array([0.2, -1.0, 3.0, 0.5, 0.0]))


def plain(name: Any, eta: Any, psi: Any) -> Any:
    """The log-likelihood as it is written in a textbook."""
    if name == "binary":
        return np.log(logistic(family(name).sign * eta))
    if name in ("ordinal", "probit", "cloglog"):
        ends = np.concatenate([[-np.inf], psi, [np.inf]])
        y = family(name).category
        with np.errstate(over="ignore"):
            above, below = (
                inverse_link("logit" if name == "ordinal" else name, end - eta) for end in (ends[y + 1], ends[y])
            )
            return np.log(above - below)
    return -0.5 * np.log(2 * np.pi) - psi[0] - (family(name).value - eta) ** 2 / (2 * np.exp(2 * psi[0]))


@pytest.mark.parametrize("name", PSI)
@given(eta=st.lists(st.floats(-6, 6), min_size=5, max_size=5))
def test_slope_and_curvature(name: str, eta: list[float]) -> None:
    # In the thin tails of the other links the formula of the textbook loses its digits.
    at, psi = np.array(eta) / (6 if name in ("probit", "cloglog") else 1), np.array(PSI[name])
    ours = family(name).derivatives(at, psi)
    assert ours.log_likelihood == pytest.approx(plain(name, at, psi), abs=1e-10)
    assert ours.slope == pytest.approx(first(lambda x: plain(name, x, psi), at), abs=1e-7)
    assert ours.curvature == pytest.approx(-second(lambda x: plain(name, x, psi), at), abs=1e-5)
    third = first(lambda x: family(name).derivatives(x, psi).curvature, at)
    assert family(name).third(at, psi) == pytest.approx(third, abs=1e-8)


@pytest.mark.parametrize("name", ["ordinal", "probit", "cloglog", "gaussian"])
def test_own_parameters(name: str) -> None:
    random = np.random.default_rng(3)
    eta, psi = random.normal(size=5), np.array(PSI[name])
    a, b, weight = random.normal(size=5), random.normal(size=5), np.array([1.0, 1, 0, 1, 0.5])

    def total(at: Any) -> float:
        one = family(name).derivatives(eta, at)
        return float((weight * (-one.log_likelihood + a * one.curvature + b * one.slope)).sum())

    assert family(name).gradient(eta, psi, weight, a, b) == pytest.approx(differences(total, psi), abs=1e-8)
    information, slopes = family(name).information(eta, psi)
    one, nil = np.ones(()), np.zeros(5)
    for k in range(len(psi)):
        change = differences(lambda at, k=k: float(family(name).gradient(eta, at, one, nil, nil)[k]), psi)
        assert information[k] == pytest.approx(change, abs=1e-8)
        step = 1e-6 * np.eye(len(psi))[k]
        high, low = (family(name).derivatives(eta, psi + sign * step).slope for sign in (1, -1))
        assert slopes[k] == pytest.approx((high - low) / 2e-6, abs=1e-7)


def test_thresholds_of_categories_that_nobody_used() -> None:
    random = np.random.default_rng(4)
    eta, psi = random.normal(size=6), np.array(PSI["ordinal"])
    a, b = random.normal(size=6), random.normal(size=6)
    for category in ([1, 2, 1, 2, 2, 1], [0, 0, 0, 0, 1, 0], [3, 3, 2, 2, 3, 2]):
        sparse = OrdinalFamily(np.array(category), 4)

        def total(at: Any, a: Any, b: Any, sparse: OrdinalFamily = sparse) -> float:
            one = sparse.derivatives(eta, at)
            return float((-one.log_likelihood + a * one.curvature + b * one.slope).sum())

        found = sparse.gradient(eta, psi, np.ones(()), a, b)
        assert found == pytest.approx(differences(lambda at, total=total: total(at, a, b), psi), abs=1e-8)
        assert found.dtype == np.float64
        information, slopes = sparse.information(eta, psi)
        units = 1e-3 * np.eye(3)
        for k, one in enumerate(units):
            for j, other in enumerate(units):
                corners = [s * t * total(psi + s * one + t * other, 0.0, 0.0) for s in (1, -1) for t in (1, -1)]
                assert information[k, j] == pytest.approx(sum(corners) / 4e-6, abs=1e-4)
            high, low = (sparse.derivatives(eta, psi + sign * one).slope for sign in (1, -1))
            assert slopes[k] == pytest.approx((high - low) / 2e-3, abs=1e-6)


def test_far_out_nothing_overflows() -> None:
    x = np.array([-np.inf, -800.0, -40.0, 0.0, 40.0, 800.0, np.inf])
    log, other = log_logistic(x)
    assert log[1:] == pytest.approx([-800, -40, np.log(0.5), -np.exp(-40), 0, 0], abs=1e-15)
    assert other == pytest.approx([1, 1, 1, 0.5, np.exp(-40), 0, 0], rel=1e-12)
    rare = OrdinalFamily(np.array([1]), 3).derivatives(np.array([700.0]), np.array([-1.0, 1.0]))
    assert rare.log_likelihood[0] == pytest.approx(-699 + np.log(1 - np.exp(-2)))


def test_thresholds_must_increase() -> None:
    assert family("ordinal").allowed(np.array([-1.0, 0.0, 0.5]))
    assert not family("ordinal").allowed(np.array([-1.0, 0.0, 0.0]))


@pytest.mark.parametrize(
    ("answers", "kept", "number"),
    [([1, 2, 3], [False, True, True], [0, 1, 2]), ([0, 1, 2], [True, True, False], [0, 1, 2]),
     ([0, 1, 3], [True, True, False], [0, 1, 2]), ([0, 3], [True, False, False], [0, 1])],
)  # fmt: skip
def test_a_threshold_goes_with_its_category(answers: list[int], kept: list[bool], number: list[int]) -> None:
    rest, thresholds = family("ordinal").subset(np.array(answers))
    assert thresholds.tolist() == kept
    assert rest.category.tolist() == number
    assert rest.categories == len(number)


def test_the_families_of_some_of_the_answers() -> None:
    """Yes and no have no parameters of their own, measured answers have one, which stays."""
    yes_no, none = family("binary").subset(np.array([1.0, -1.0, 1.0]))
    assert (yes_no.sign.tolist(), none.tolist(), none.dtype) == ([1.0, -1.0, 1.0], [], bool)
    yes_no, _ = family("binary").subset(np.array([-1.0, 1.0]))
    assert yes_no.sign.tolist() == [-1.0, 1.0]
    measured, deviation = family("gaussian").subset(np.array([0.5, 0.0]))
    assert (measured.value.tolist(), deviation.tolist(), deviation.dtype) == ([0.5, 0.0], [True], bool)


@pytest.mark.parametrize("allowed", [True, False])
def test_a_deviation_may_be_anything_that_can_be_squared(allowed: bool) -> None:
    for psi in (299.9, -299.9) if allowed else (300.0, -300.0, np.nan):
        assert family("gaussian").allowed(np.array([psi])) == allowed
    assert family("binary").allowed(np.empty(0))


def test_one_category_alone_is_no_model() -> None:
    assert family("ordinal").subset(np.array([2, 2]))[0] is None
    assert family("binary").subset(np.array([1.0, 1.0]))[0] is None
    assert family("binary").subset(np.empty(0))[0] is None
