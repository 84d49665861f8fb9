"""Scale effects of ordered answers beside clm and clmm2 of the R package ordinal (tests/reference/r/scale.R)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from karat.models.glrm import MixedFit, fit_mixed, random_term, scale_effects
from messages import refuses

EXPECTED = json.loads((Path(__file__).parent / "r" / "scale.json").read_text(encoding="utf-8"))
WARM = np.asarray(EXPECTED["data"]["t"])[:, None]


def fitted(group: str) -> MixedFit:
    data = EXPECTED["data"]
    design = np.column_stack([data["t"], data["c"]])
    term = random_term(group, data[group])
    return fit_mixed([int(n) for n in data["rating"]], design, ["t", "c"], [term], family="ordinal")


def test_where_effects_do_not_vary_the_model_is_that_of_clm() -> None:
    """Bottles do not differ but for temperature and contact."""
    fit, expected = fitted("bottle"), EXPECTED["fixed"]
    found = scale_effects(fit, WARM, ["t"])
    assert found.converged
    assert found.theta.tolist() == [0.0]
    assert found.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-6)
    assert found.statistic == pytest.approx(2 * (expected["log_likelihood"] - expected["equal"]), abs=1e-5)
    values = [*found.thresholds, *found.coefficients, *found.estimate]
    assert values == pytest.approx(expected["coefficients"], abs=1e-4)
    assert [*found.standard_errors, *found.se] == pytest.approx(expected["errors"][4:], rel=1e-3)


def test_a_mixed_model_is_that_of_clmm2() -> None:
    """As close as the Laplace approximation comes to 20 nodes."""
    found, expected = scale_effects(fitted("judge"), WARM, ["t"]), EXPECTED["mixed"]
    assert found.converged
    assert found.log_likelihood == pytest.approx(expected["log_likelihood"], abs=0.05)
    values = [*found.thresholds, *found.coefficients, *found.estimate, *found.theta]
    assert values == pytest.approx([*expected["coefficients"], expected["deviation"]], abs=0.02)
    assert [*found.standard_errors, *found.se] == pytest.approx(expected["errors"][4:], rel=0.02)


def test_what_has_no_scale_effects_is_refused() -> None:
    fit = fitted("judge")
    with refuses(ValueError, "columns"):
        scale_effects(fit, np.ones((fit.n, 1)), ["one"])
    yes = np.arange(40) % 3 == 0
    binary = fit_mixed(yes, np.ones((40, 1)), ["(Intercept)"], [random_term("who", np.arange(40) // 4)])
    with refuses(ValueError, "logit"):
        scale_effects(binary, np.arange(40.0)[:, None], ["x"])
