"""Thurstone's model beside the converged posterior of the simulated choices: ../shared/reference/pairs.

Strengths are compared free of scale and origin, as the reference's README advises: each estimate lies within the
spread of the posterior, and the whole has its slope.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from karat.models.choices import Pairs
from karat.models.choices.thurstone import fit_thurstone


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "key", "shared"),
    [
        ("response", "criterion_per_participant", False),
        ("response_shared_c", "criterion_shared", True),
    ],
)
def test_thurstone_beside_the_posterior(column: str, key: str, shared: bool, reference: Path) -> None:
    table = pl.read_csv(reference / "pairs" / "thurstone_sim.csv")
    golden = json.loads((reference / "pairs" / "thurstone_golden.json").read_text(encoding="utf-8"))[key]["reference"]
    left, right = ((table[name].str.slice(1).cast(pl.Int64) - 1).to_numpy() for name in ("item_a", "item_b"))
    who = table["participant"].rank("dense").cast(pl.Int64).to_numpy() - 1
    found = fit_thurstone(Pairs.of(left, right, table[column].to_numpy(), 300), who, shared)
    assert found.converged
    mean = np.array(golden["alpha"]["mean_over_sd_alpha"])
    spread = np.array(golden["alpha"]["sd_over_sd_alpha"])
    estimate, error = found.standardised()
    away = (estimate - (mean - mean.mean())) / spread
    assert np.abs(away).mean() < 0.25
    assert np.abs(away).max() < 2
    assert np.polyfit(mean, estimate, 1)[0] == pytest.approx(1, abs=0.01)
    # The posterior's origin wanders, which centred strengths do not: so their errors are smaller, but not by much.
    assert 0.5 < np.median(error / spread) < 1.1
    logarithm = np.log(np.array(golden["sigma"]["mean"]))
    assert np.corrcoef(logarithm, np.log(found.variability))[0, 1] > 0.9


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("numpyro") is None, reason="needs the extra bayes")
def test_the_posterior_by_nuts_beside_the_posterior(reference: Path) -> None:
    """Free of scale and origin, another prior of the criterion hardly moves the means."""
    from karat.models.choices.posterior import draw_posterior

    table = pl.read_csv(reference / "pairs" / "thurstone_sim.csv")
    golden = json.loads((reference / "pairs" / "thurstone_golden.json").read_text(encoding="utf-8"))
    known = golden["criterion_per_participant"]["reference"]
    left, right = ((table[name].str.slice(1).cast(pl.Int64) - 1).to_numpy() for name in ("item_a", "item_b"))
    who = table["participant"].rank("dense").cast(pl.Int64).to_numpy() - 1
    found = draw_posterior(Pairs.of(left, right, table["response"].to_numpy(), 300), who)
    assert found.trusted
    scale = found.draws.std(axis=1, ddof=1, keepdims=True)
    strengths, sigma = found.draws / scale, found.variability / scale
    mean, spread = (np.array(known["alpha"][f"{name}_over_sd_alpha"]) for name in ("mean", "sd"))
    away = (strengths.mean(axis=0) - (mean - mean.mean())) / spread
    assert np.abs(away).mean() < 0.15
    assert np.abs(away).max() < 0.75
    assert np.polyfit(mean, strengths.mean(axis=0), 1)[0] == pytest.approx(1, abs=0.005)
    mean, spread = (np.array(known["sigma"][f"{name}_over_sd_alpha"]) for name in ("mean", "sd"))
    away = (sigma.mean(axis=0) - mean) / spread
    assert np.abs(away).mean() < 0.15
    assert np.abs(away).max() < 0.5
    assert np.median(sigma.std(axis=0) / spread) == pytest.approx(1, abs=0.1)
