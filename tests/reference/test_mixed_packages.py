"""Mixed models of data sets that come with R packages, where R is installed: R fits them in the same test."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from karat.models.glrm import Model, fit, type_three, type_two

SCRIPT = Path(__file__).parent / "r" / "packages.R"
PACKAGES = ("lmerTest", "glmmTMB", "ordinal", "jsonlite", "nlme", "MASS")
MODELS = 13


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    needed = ", ".join(f"'{name}'" for name in PACKAGES)
    asked = f"quit(status = !all(sapply(c({needed}), requireNamespace, quietly = TRUE)))"
    if subprocess.run(["Rscript", "-e", asked], check=False, capture_output=True).returncode:
        pytest.skip(f"an R package is not installed, of {needed}")
    folder = tmp_path_factory.mktemp("packages")
    subprocess.run(["Rscript", str(SCRIPT), str(folder)], check=True, capture_output=True)
    return folder, json.loads((folder / "packages.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(MODELS))
def test_r_finds_the_same(values: tuple[Path, list[dict[str, Any]]], number: int) -> None:
    folder, models = values
    assert len(models) == MODELS
    expected = models[number]
    (formula,), (family,), (data,) = expected["formula"], expected["family"], expected["data"]
    table = pl.read_csv(folder / f"{data}.csv", infer_schema_length=None)
    model = fit(formula, {name: table[name].to_numpy() for name in table.columns}, family)
    assert model.fit.converged
    assert model.fit.log_likelihood == pytest.approx(expected["log_likelihood"][0], abs=1e-5)
    compare_coefficients(model, expected)
    for group, own in expected["variances"].items():
        # R names the inner group of (1 | a/b) b:a.
        found = model.fit.covariances[":".join(reversed(group.split(":")))]
        scale = model.fit.residual_variance if family == "gaussian" else 1.0
        kept = np.diag(found) if len(own) != found.size else found.ravel()
        np.testing.assert_allclose(kept, own, rtol=5e-3, atol=1e-4 * max(scale, float(found.max())), err_msg=group)
    if family == "gaussian":
        assert model.fit.singular is expected["singular"][0]
        np.testing.assert_allclose(model.table()["df"], expected["df"], rtol=2e-3)
        compare_tests(model, expected)


def compare_coefficients(model: Model, expected: dict[str, Any]) -> None:
    """Estimates within .002 standard errors; those of ordered answers have the thresholds first in R."""
    between = model.thresholds()
    names = [*between["threshold"], *model.fit.names]
    estimates = [*between["estimate"], *model.fit.coefficients]
    errors = [*between["se"], *model.fit.standard_errors]
    assert [name.replace(" ", "") for name in names] == [name.replace(" ", "") for name in expected["names"]]
    np.testing.assert_allclose(errors, expected["se"], rtol=2e-3)
    np.testing.assert_array_less(np.abs(np.array(estimates) - expected["estimate"]) / errors, 2e-3)


def compare_tests(model: Model, expected: dict[str, Any]) -> None:
    """Type III tests by Satterthwaite's method; a model with one term has the same of Type II."""
    for tests in (type_three(model), *([type_two(model)] if len(expected["tests"]) == 1 else [])):
        terms = [term.replace(" ", "") for term in tests.terms]
        assert terms == [term.replace(" ", "") for term in expected["tests"]]
        np.testing.assert_allclose(tests.statistic, expected["statistic"], rtol=2e-3, atol=1e-5)
        np.testing.assert_allclose(tests.denominator, expected["below"], rtol=2e-3)
