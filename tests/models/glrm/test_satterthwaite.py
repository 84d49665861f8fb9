"""Degrees of freedom against a slow computation in theta and sigma, from differences of the likelihood alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from karat.models.glrm.mixed_gaussian import GaussianMixedObjective
from karat.models.glrm.model import Model, fit
from karat.models.glrm.satterthwaite import Satterthwaite, joint_degrees
from models.glrm.written_cases import GROUPS, study


def slow_degrees(model: Model) -> list[float]:
    """2 v^2 / g'A g with A the inverse of a Hessian of differences, in theta and sigma together."""
    objective = model.fit.objective
    assert isinstance(objective, GaussianMixedObjective)
    best = np.append(model.fit.theta, np.sqrt(model.fit.residual_variance))

    def criterion(x: Any) -> float:
        """At a residual deviation that need not be the best for theta."""
        at = objective(x[:-1])
        assert at is not None
        ratio = at.residual_variance / x[-1] ** 2
        return float(at.value + objective.freedom / 2 * (ratio - 1 - np.log(ratio)))

    def covariance(x: Any) -> Any:
        at = objective(x[:-1])
        assert at is not None
        return x[-1] ** 2 * at.unscaled_covariance

    size, h = len(best), 2e-4
    steps = h * np.eye(size)
    corners = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    hessian = np.array(
        [[sum(i * j * criterion(best + i * a + j * b) for i, j in corners) / (4 * h * h) for b in steps] for a in steps]
    )
    slopes = np.array([(covariance(best + a) - covariance(best - a)) / (2 * h) for a in steps])
    spread = np.linalg.inv(hessian)
    found = []
    for k, variance in enumerate(np.diag(covariance(best))):
        slope = slopes[:, k, k]
        found.append(2 * variance**2 / (slope @ spread @ slope))
    return found


@pytest.mark.parametrize("reml", [True, False])
@pytest.mark.parametrize("formula", [f"time ~ condition * group + size + {GROUPS}", "time ~ size + (1 | participant)"])
def test_degrees_are_those_of_the_slow_computation(formula: str, reml: bool) -> None:
    model = fit(formula, study(), "gaussian", reml=reml)
    np.testing.assert_allclose(model.table()["df"], slow_degrees(model), rtol=2e-3)


def test_a_test_of_one_row_is_the_square_of_t() -> None:
    model = fit(f"time ~ size + {GROUPS}", study(), "gaussian")
    statistic, size, degrees, p = model.satterthwaite.test(np.array([[0.0, 1.0]]))
    table = model.table()
    assert statistic == pytest.approx(table["t"][1] ** 2)
    assert (size, degrees) == (1, pytest.approx(table["df"][1]))
    assert p == pytest.approx(table["p"][1])


def test_joint_degrees() -> None:
    # The mean of F with d degrees below is d / (d - 2), that of the sum of squared t the sum of such means.
    below = joint_degrees(np.array([10.0, 30.0]))
    assert below / (below - 2) == pytest.approx((10 / 8 + 30 / 28) / 2)
    assert joint_degrees(np.array([1.5, 30.0])) == 2


def test_other_answers_have_none() -> None:
    model = fit(f"yes ~ size + {GROUPS}", study())
    with pytest.raises(ValueError, match="measured answers"):
        Satterthwaite(model.fit).degrees(np.eye(2))
