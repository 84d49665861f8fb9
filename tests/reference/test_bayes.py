"""Bayesian mixed models beside brms and Stan: ../shared/reference/mixed/bayes.json, whose README says how closely.

Means agree within four Monte-Carlo errors of both programs together, and standard deviations within four errors that so
many effective draws have, or 10 %. Bayes factors agree to 10 % and their error, and below 0.1 to an order of magnitude.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from karat.models.glrm.bayes import MixedPosterior, diagnose, sample_posterior, savage_dickey
from karat.models.glrm.formulas.marginal import cell_grid
from karat.models.glrm.formulas.model import lay_out

pytest.importorskip("numpyro", reason="NumPyro is not installed: pip install 'karat[bayes]'")
DATA: dict[str, Any] = {
    "wine": ("wine", "ordinal"),
    "likert": ("likert_sim", "ordinal"),
    "binary": ("binary_sim", "binary"),
}


def name_in_brms(kind: str, name: str) -> str:
    plain = name.replace("(Intercept)", "Intercept")
    if kind == "coefficient":
        return f"b_{plain}"
    if kind == "threshold":
        return f"b_Intercept[{plain.split('|')[0]}]"
    group, effects = plain.split(": ")
    return f"{'sd' if kind == 'deviation' else 'cor'}_{group}__{effects.replace(', ', '__')}"


def sampled(folder: Path, name: str, expected: dict[str, Any], draws: int) -> MixedPosterior:
    file, family = DATA[name.split("_")[0]]
    table = pl.read_csv(folder / f"{file}.csv")
    data = {own: table[own].to_list() for own in table.columns}
    laid = lay_out(expected["formula"], data, family, "treatment")
    return sample_posterior(laid, family, expected["link"], warmup=draws, draws=draws)


def agrees(found: np.ndarray[Any, Any], expected: dict[str, float]) -> None:
    """Means within Monte-Carlo error, standard deviations within theirs."""
    ess = float(diagnose(found[..., None]).bulk[0])
    error = np.hypot(found.std() / np.sqrt(ess), expected["mcse_mean"])
    assert found.mean() == pytest.approx(expected["mean"], abs=4 * error)
    spread = 4 * np.sqrt(1 / (2 * ess) + 1 / (2 * expected["ess_bulk"]))
    assert found.std() == pytest.approx(expected["sd"], rel=max(spread, 0.1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "draws"), [("wine_logit", 1000), ("wine_probit", 1000), ("binary_maximal", 500), ("likert_maximal", 500)]
)
def test_posteriors_are_those_of_brms(name: str, draws: int, reference: Path) -> None:
    folder = reference / "mixed"
    expected = json.loads((folder / "bayes.json").read_text(encoding="utf-8"))[name]
    found = sampled(folder, name, expected, draws)
    assert found.divergences == 0
    known = expected["coefficients_and_thresholds"] | expected["sd"] | expected["correlation"]
    assert len(known) == len(found.parameters)
    for (kind, own), values in found.parameters.items():
        agrees(values, known[name_in_brms(kind, own)])
    for term, stated in expected["savage_dickey"].items():
        place = np.eye(found.coefficients.shape[-1])[found.laid.design.names.index(term)]
        factor = savage_dickey(found.linear(place), found.prior_deviation(place))
        other = stated["BF01_kernel_posterior_exact_prior"]
        if factor.sure and other > 0.1:
            assert factor.null == pytest.approx(other, rel=0.1 + 4 * factor.error)
        else:
            assert abs(np.log10(factor.null / other)) < 1
    if name.startswith("wine"):
        grid = cell_grid(found.laid, "temp", "contact")
        for cell, values in zip(
            grid.cells, np.moveaxis(found.expected(grid.rows) @ grid.weights.T, -1, 0), strict=True
        ):
            agrees(values, expected["response_scale"]["cells"][f"temp={cell[0]}, contact={cell[1]}"])
