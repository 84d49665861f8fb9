"""Crossed random effects beside lme4, glmmTMB and ordinal.

`r/crossed.json` was made by `r/crossed.R`, which stands beside it. The other values are those of
../shared/reference/ba/golden.json; its README says how they were computed (R 4.2.2, lme4 1.1-31, ordinal 2022.11-16;
the nominal ones by one numpy program).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest

from karat.models.glrm import Fit, fit_crossed, fit_nominal, interaction_profile, leave_one_out
from karat.models.glrm.deletion import without

Family = Literal["binary", "ordinal", "gaussian"]
R = Path(__file__).parent / "r"


def by_r() -> tuple[Any, Any, dict[str, Any]]:
    """Answers simulated in R, a design with an intercept and the covariate, and R's values."""
    frame = pl.read_csv(R / "crossed.csv")
    design = np.column_stack([np.ones(frame.height), frame["x"].to_numpy()])
    return (
        {name: frame[name].to_numpy() for name in frame.columns},
        design,
        json.loads((R / "crossed.json").read_text()),
    )


def check(fit: Fit, value: dict[str, Any], *, errors: float = 1e-3, log_likelihood: float = 1e-5) -> None:
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(value["loglik"], abs=log_likelihood)
    assert fit.coefficients == pytest.approx(value["coefficients"], abs=1e-4)
    assert fit.standard_errors == pytest.approx(value["errors"], rel=errors)
    for name, variance in value["variances"].items():
        ours = {"cell": "worker:task", "Residual": "residual"}.get(name, name)
        assert fit.variances[ours] == pytest.approx(variance, rel=1e-3)


@pytest.mark.parametrize("key", ["binary", "binary_tmb"])
def test_binary_with_missing_and_repeated_cells(key: str) -> None:
    data, design, values = by_r()
    check(fit_crossed(data["binary"], data["worker"], data["task"], design), values[key])


@pytest.mark.parametrize("key", ["binary_cell", "binary_cell_tmb"])
def test_an_effect_for_every_cell(key: str) -> None:
    data, design, values = by_r()
    check(fit_crossed(data["binary"], data["worker"], data["task"], design, interaction=True), values[key])


def test_a_sparse_design() -> None:
    data, _, values = by_r()
    kept = (data["round"] == 1) & ((data["worker"] + data["task"]) % 4 == 0)
    check(fit_crossed(data["binary"][kept], data["worker"][kept], data["task"][kept]), values["sparse"])


def test_ordinal_with_a_covariate() -> None:
    data, design, values = by_r()
    fit = fit_crossed(data["ordinal"], data["worker"], data["task"], design[:, 1:], family="ordinal")
    check(fit, values["ordinal"])
    assert fit.thresholds == pytest.approx(values["ordinal"]["thresholds"], abs=1e-3)


@pytest.mark.parametrize("key", ["ml", "reml"])
def test_measured_answers(key: str) -> None:
    data, design, values = by_r()
    fit = fit_crossed(data["measured"], data["worker"], data["task"], design, family="gaussian", reml=key == "reml")
    check(fit, values[key], errors=1e-5, log_likelihood=1e-7)


def test_measured_answers_with_an_effect_for_every_cell() -> None:
    data, design, values = by_r()
    fit = fit_crossed(data["measured"], data["worker"], data["task"], design, family="gaussian", interaction=True)
    check(fit, values["ml_cell"])


@pytest.fixture
def golden(reference: Path) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads((reference / "ba" / "golden.json").read_text())
    return {"mturk": whole["mturk"]["deletion_two_re"], **whole["simulated"], "whole": whole}


def answers(reference: Path, name: str) -> tuple[Any, Any, Any]:
    frame = pl.read_csv(reference / "ba" / f"{name}.csv")
    return frame["response"].to_numpy(), frame["worker"].to_numpy(), frame["task"].to_numpy()


@pytest.mark.parametrize("name", ["mturk", "binary_sim"])
def test_the_papers_binary_answers(name: str, reference: Path, golden: dict[str, Any]) -> None:
    fit, full = fit_crossed(*answers(reference, name)), golden[name]["full_fit"]
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(full["loglik"], abs=1e-4)
    assert fit.coefficients[0] == pytest.approx(full["beta0"], abs=1e-4)
    assert fit.standard_errors[0] == pytest.approx(full["beta0_se"], rel=1e-2)
    assert fit.variances["worker"] == pytest.approx(full["var_worker"], rel=1e-3)
    assert fit.variances["task"] == pytest.approx(full["var_task"], rel=1e-3)


@pytest.mark.parametrize("sample", ["pct0", "random10"])
def test_worker_pools(sample: str, reference: Path, golden: dict[str, Any]) -> None:
    frame = pl.read_csv(reference / "ba" / "authors_pool_sim.csv")
    normal = frame.filter(pl.col("type") == "normal")
    value = golden["authors_pool_sim"][sample]
    if sample == "random10":
        spammers = frame.filter(pl.col("type") == "random")["worker"].unique().sort()[: value["n_workers"] - 108]
        normal = pl.concat([normal, frame.filter(pl.col("worker").is_in(spammers.to_list()))])
    if normal["worker"].n_unique() != value["n_workers"]:
        pytest.skip("the pool is not the one that the value was computed from")
    fit = fit_crossed(normal["response"].to_numpy(), normal["worker"].to_numpy(), normal["task"].to_numpy())
    assert fit.log_likelihood == pytest.approx(value["loglik"], abs=1e-4)
    assert fit.variances["task"] == pytest.approx(value["var_task"], rel=1e-3)


def test_the_papers_ordinal_answers(reference: Path, golden: dict[str, Any]) -> None:
    fit, full = fit_crossed(*answers(reference, "ordinal_sim"), family="ordinal"), golden["ordinal_sim"]
    assert fit.log_likelihood == pytest.approx(full["loglik"], abs=1e-4)
    assert fit.thresholds == pytest.approx(full["thresholds"], abs=1e-3)
    assert fit.variances["worker"] == pytest.approx(full["var_worker"], rel=1e-3)
    assert fit.variances["task"] == pytest.approx(full["var_task"], rel=1e-3)


def test_ordinal_variants(reference: Path, golden: dict[str, Any]) -> None:
    frame = pl.read_csv(reference / "ba" / "ordinal_sim.csv")
    value = golden["ordinal_sim"]["with_task_effect_covariate"]
    latent = frame["task_effect"].to_numpy()[:, None]
    fit = fit_crossed(*answers(reference, "ordinal_sim"), latent, family="ordinal")
    assert fit.log_likelihood == pytest.approx(value["loglik"], abs=1e-4)
    assert fit.variances["task"] == pytest.approx(value["var_task"], rel=2e-3)
    # clmm's thresholds are those of a covariate that was moved
    assert np.diff(fit.thresholds) == pytest.approx(np.diff(value["thresholds"]), abs=2e-3)

    normal = frame.filter(pl.col("type") == "normal")
    value = golden["ordinal_sim"]["normal_workers_only"]
    fit = fit_crossed(*(normal[name].to_numpy() for name in ("response", "worker", "task")), family="ordinal")
    assert fit.converged
    # clmm stopped at a gradient of 0.015, a little below the maximum
    assert value["loglik"] <= fit.log_likelihood <= value["loglik"] + 1e-3
    assert fit.variances["task"] == pytest.approx(value["var_task"], rel=2e-2)


@pytest.mark.slow
def test_the_papers_nominal_answers(reference: Path, golden: dict[str, Any]) -> None:
    fit, full = fit_nominal(*answers(reference, "nominal_sim")), golden["nominal_sim"]
    assert fit.converged
    check_at = full["check_loglik_at_fixed"]
    fixed = np.concatenate([check_at["intercepts"], np.sqrt(check_at["var_worker"]), np.sqrt(check_at["var_task"])])
    at = fit.objective(fixed, fit.objective.zero_modes())
    assert at is not None
    assert -at.value == pytest.approx(check_at["loglik"], abs=1e-4)
    assert fit.log_likelihood == pytest.approx(full["fit"]["loglik"], abs=1e-4)
    assert fit.coefficients[0] == pytest.approx(full["fit"]["intercepts_BCDE"], abs=1e-3)
    assert fit.variances["worker"] == pytest.approx(full["fit"]["var_worker_BCDE"], rel=1e-3)
    assert fit.variances["task"] == pytest.approx(full["fit"]["var_task_BCDE"], rel=1e-3)
    workers = fit.workers.tolist()
    for worker in ("w001", "w005", "w013"):
        refit = without(fit, "worker", workers.index(worker))
        distance = 2 * (refit.log_likelihood - fit.log_likelihood)
        assert distance == pytest.approx(full["deletion_D"][worker], abs=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "family"), [("binary_sim", "binary"), ("mturk", "binary"), ("ordinal_sim", "ordinal")]
)
def test_every_deletion(name: str, family: Family, reference: Path, golden: dict[str, Any]) -> None:
    response, worker, task = answers(reference, name)
    fit = fit_crossed(response, worker, task, family=family)
    deletions = leave_one_out(fit)
    expected = golden[name]["workers"]
    assert fit.workers.tolist() == expected["worker"]
    assert deletions.converged.all()
    assert deletions.distance == pytest.approx(expected["D"], abs=5e-3)
    assert deletions.log_likelihood == pytest.approx(expected["loglik_deleted"], abs=1e-4)
    assert deletions.parameters[:, -2] ** 2 == pytest.approx(expected["var_worker"], rel=1e-3)
    assert deletions.parameters[:, -1] ** 2 == pytest.approx(expected["var_task"], rel=1e-3)
    for number in (0, 7, 60):
        kept = worker != fit.workers[number]
        cold = fit_crossed(response[kept], worker[kept], task[kept], family=family)
        assert deletions.log_likelihood[number] == pytest.approx(cold.log_likelihood, abs=1e-6)


def test_the_effect_of_a_cell_is_not_identified(reference: Path, golden: dict[str, Any]) -> None:
    fit = fit_crossed(*answers(reference, "mturk"), interaction=True)
    assert fit.converged
    assert fit.variances["worker:task"] < 1e-6
    assert fit.log_likelihood == pytest.approx(golden["mturk"]["full_fit"]["loglik"], abs=1e-4)
    profile = golden["whole"]["mturk"]["profile_worker_task_sd_laplace_minus2ll"]
    ours = -2 * interaction_profile(fit, [float(deviation) for deviation in profile]).log_likelihood
    # The reference's other parameters were searched for roughly: it may be a little higher, never lower.
    expected = np.array(list(profile.values()))
    assert np.all(ours <= expected + 1e-4)
    assert ours == pytest.approx(expected, abs=0.2)
