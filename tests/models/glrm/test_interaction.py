"""The worker:task effect: not identified by one answer a cell, found from repeated ones."""

from __future__ import annotations

import numpy as np
import pytest

from karat.models.glrm import fit_crossed, fit_nominal, interaction_profile
from models.glrm.simulated import answers


@pytest.mark.parametrize("family", ["binary", "ordinal"])
def test_one_answer_a_cell(family: str) -> None:
    response, worker, task, _ = answers(family, deviations=(1.0, 1.5, 1.0))
    plain = fit_crossed(response, worker, task, family=family)  # type: ignore[arg-type]
    with_cell = fit_crossed(response, worker, task, family=family, interaction=True)  # type: ignore[arg-type]
    assert with_cell.converged
    assert with_cell.notes[-1] == (
        "The worker:task variance is not identified: there is one answer a cell. See `interaction_profile`."
    )
    profile = interaction_profile(plain)
    assert profile.converged
    assert not profile.identified
    assert profile.log_likelihood[0] == pytest.approx(plain.log_likelihood, abs=1e-7)
    again = interaction_profile(with_cell)
    assert again.log_likelihood == pytest.approx(profile.log_likelihood, abs=1e-6)
    assert with_cell.log_likelihood >= profile.log_likelihood.max() - 1e-6
    assert "not identified" in str(profile)


def test_repeated_answers() -> None:
    response, worker, task, _ = answers(sheets=6, deviations=(1.0, 1.5, 1.2))
    fit = fit_crossed(response, worker, task, interaction=True)
    assert fit.converged
    assert not any("identified" in note for note in fit.notes)
    deviation = np.sqrt(fit.variances["worker:task"])
    assert 0.8 < deviation < 1.6
    profile = interaction_profile(fit, [0.0, deviation - 0.2, deviation, deviation + 0.2])
    assert profile.identified
    assert int(np.argmax(profile.log_likelihood)) == 2
    assert profile.log_likelihood[2] == pytest.approx(fit.log_likelihood, abs=1e-6)


def test_it_is_for_one_logit() -> None:
    response, worker, task, _ = answers()
    with pytest.raises(ValueError, match="binary and ordinal"):
        interaction_profile(fit_nominal(response, worker, task))  # type: ignore[arg-type]
