"""The worker:task effect: not identified by one answer per cell, found from repeated ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from karat.models.glrm import Profile, fit_crossed, fit_nominal, interaction_profile
from karat.models.glrm import share as module
from karat.models.glrm.optimise import minimise
from karat.models.numerics import one_thread
from messages import codes, refuses
from models.glrm.simulated import answers


@pytest.mark.parametrize("family", ["binary", "ordinal"])
def test_one_answer_a_cell(family: str) -> None:
    response, worker, task, _ = answers(family, deviations=(1.0, 1.5, 1.0))
    plain = fit_crossed(response, worker, task, family=family)  # type: ignore[arg-type]
    with_cell = fit_crossed(response, worker, task, family=family, interaction=True)  # type: ignore[arg-type]
    assert with_cell.converged
    assert with_cell.notes[-1].code == "fit.cells_not_identified"
    profile = interaction_profile(plain)
    assert profile.converged
    assert not profile.identified
    assert profile.log_likelihood[0] == pytest.approx(plain.log_likelihood, abs=1e-7)
    again = interaction_profile(with_cell)
    assert again.log_likelihood == pytest.approx(profile.log_likelihood, abs=1e-6)
    assert with_cell.log_likelihood >= profile.log_likelihood.max() - 1e-6
    assert "profile.not_identified" in codes(profile.summary)


def test_repeated_answers() -> None:
    response, worker, task, _ = answers(sheets=6, deviations=(1.0, 1.5, 1.2))
    fit = fit_crossed(response, worker, task, interaction=True)
    assert fit.converged
    assert "fit.cells_not_identified" not in codes(fit.notes)
    deviation = np.sqrt(fit.variances["worker:task"])
    assert 0.8 < deviation < 1.6
    profile = interaction_profile(fit, [0.0, deviation - 0.2, deviation, deviation + 0.2])
    assert profile.identified
    assert int(np.argmax(profile.log_likelihood)) == 2
    assert profile.log_likelihood[2] == pytest.approx(fit.log_likelihood, abs=1e-6)


def test_it_is_for_one_logit() -> None:
    response, worker, task, _ = answers()
    with refuses(ValueError, "worker:task"):
        interaction_profile(fit_nominal(response, worker, task))  # type: ignore[arg-type]


def test_a_point_is_the_highest_likelihood_with_that_deviation() -> None:
    """A second search, without gradients; the deviations may come in any order, and as often as they like."""
    response, worker, task, _ = answers(workers=8, tasks=6, sheets=2, deviations=(1.0, 1.0, 1.2))
    fit = fit_crossed(response, worker, task)
    profile = interaction_profile(fit, [1.5, 0.0, 0.7, 1.5])
    assert profile.deviations.tolist() == [1.5, 0.0, 0.7, 1.5]
    objective = replace(fit.objective, cell_effect=True)
    for place in (0, 2):
        held = profile.deviations[place]

        def nll(x: np.ndarray, held: float = held) -> float:
            return float(objective(np.append(x, held), objective.zero_modes()).value)

        with one_thread():
            best = minimize(nll, fit.parameters, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-6})
        assert profile.log_likelihood[place] == pytest.approx(-best.fun, abs=1e-4)
    assert profile.log_likelihood[1] == pytest.approx(fit.log_likelihood, abs=1e-7)
    assert profile.log_likelihood[3] == pytest.approx(profile.log_likelihood[0], abs=1e-6)


def test_a_profile_in_words() -> None:
    deviations, heights = np.array([0.0, 0.5, 1.0]), np.array([-103.26, -100.0, -101.04])
    best = Profile(deviations, heights, True, True).summary[0]
    assert (best.code, best.values["best"]) == ("profile.best", 0.5)
    drops = [(drop.values["drop"], drop.values["deviation"]) for drop in best.values["drops"]]
    assert np.array(drops) == pytest.approx(np.array([[3.26, 0.0], [0.0, 0.5], [1.04, 1.0]]))
    for converged, identified, more in (
        (True, True, []), (True, False, ["profile.not_identified"]), (False, True, ["profile.not_converged"]),
        (False, False, ["profile.not_identified", "profile.not_converged"]),
    ):  # fmt: skip
        assert codes(Profile(deviations, heights, converged, identified).summary) == ["profile.best", *more]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_one_point_that_did_not_converge_is_reported(failing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    response, worker, task, _ = answers(workers=8, tasks=6)
    fit = fit_crossed(response, worker, task)
    calls: list[int] = []

    def some(*given: Any) -> Any:
        calls.append(len(calls))
        found = minimise(*given)
        return replace(found, decrement=1e-3) if calls[-1] == failing else found

    monkeypatch.setattr(module, "minimise", some)
    assert not interaction_profile(fit, [0, 1, 2]).converged
    again = interaction_profile(fit, [0, 1, 2])
    assert again.converged
    assert again.deviations.dtype == np.float64


def test_thresholds_that_cross_have_no_profile() -> None:
    response, worker, task, _ = answers("ordinal", workers=8, tasks=6)
    fit = fit_crossed(response, worker, task, family="ordinal")
    crossed = replace(fit, parameters=fit.parameters[[1, 0, 2, 3, 4]])
    with refuses(ValueError):
        interaction_profile(crossed)
