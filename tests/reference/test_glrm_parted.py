"""Crossed random effects in parts of workers beside lme4, glmmTMB and ordinal: the values of `test_glrm`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from karat.models.glrm import fit_crossed, fit_crossed_in_parts, worker_share
from models.glrm.parted_cases import split
from reference.test_glrm import answers, by_r, check


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("key", ["binary", "binary_tmb"])
def test_binary_with_missing_and_repeated_cells(key: str, parts: int) -> None:
    data, design, values = by_r()
    check(fit_crossed_in_parts(split(data["binary"], data["worker"], data["task"], design, parts=parts)), values[key])


def test_a_sparse_design() -> None:
    data, _, values = by_r()
    kept = (data["round"] == 1) & ((data["worker"] + data["task"]) % 4 == 0)
    check(
        fit_crossed_in_parts(split(*(data[name][kept] for name in ("binary", "worker", "task")), parts=4)),
        values["sparse"],
    )


def test_ordinal_with_a_covariate() -> None:
    data, design, values = by_r()
    parts = split(data["ordinal"], data["worker"], data["task"], design[:, 1:], parts=3)
    fit = fit_crossed_in_parts(parts, family="ordinal")
    check(fit, values["ordinal"])
    assert fit.thresholds == pytest.approx(values["ordinal"]["thresholds"], abs=1e-3)


@pytest.mark.parametrize("name", [pytest.param("mturk", marks=pytest.mark.slow), "binary_sim"])
def test_the_papers_binary_answers(name: str, reference: Path) -> None:
    whole = json.loads((reference / "ba" / "golden.json").read_text())
    full = (whole["mturk"]["deletion_two_re"] if name == "mturk" else whole["simulated"][name])["full_fit"]
    data = answers(reference, name)
    fit = fit_crossed_in_parts(split(*data, parts=5))
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(full["loglik"], abs=1e-4)
    assert fit.coefficients[0] == pytest.approx(full["beta0"], abs=1e-4)
    assert fit.standard_errors[0] == pytest.approx(full["beta0_se"], rel=1e-2)
    assert fit.variances["worker"] == pytest.approx(full["var_worker"], rel=1e-3)
    assert fit.variances["task"] == pytest.approx(full["var_task"], rel=1e-3)
    share, in_memory = worker_share(fit), worker_share(fit_crossed(*data))
    assert [share.value, share.lower, share.upper] == pytest.approx(
        [in_memory.value, in_memory.lower, in_memory.upper], abs=1e-6
    )


@pytest.mark.slow
def test_the_papers_ordinal_answers(reference: Path) -> None:
    full = json.loads((reference / "ba" / "golden.json").read_text())["simulated"]["ordinal_sim"]
    fit = fit_crossed_in_parts(split(*answers(reference, "ordinal_sim"), parts=5), family="ordinal")
    assert fit.log_likelihood == pytest.approx(full["loglik"], abs=1e-4)
    assert fit.thresholds == pytest.approx(full["thresholds"], abs=1e-3)
    assert np.sqrt([fit.variances["worker"], fit.variances["task"]]) == pytest.approx(
        np.sqrt([full["var_worker"], full["var_task"]]), rel=1e-3
    )
