"""Effects of tasks and their conditional variances as lme4 and ordinal give them: `r/effects.R` made the values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from karat.models.glrm import fit_crossed
from karat.models.glrm.fit import task_covariance

R = Path(__file__).parent / "r"


@pytest.mark.parametrize("family", ["binary", "ordinal"])
def test_effects_and_conditional_variances(family: str) -> None:
    golden = json.loads((R / "effects.json").read_text())[family]
    table = pl.read_csv(R / "crossed.csv").filter(pl.col("round") == 1)
    fit = fit_crossed(table[family].to_numpy(), table["worker"].to_numpy(), table["task"].to_numpy(), family=family)  # type: ignore[arg-type]
    order = [int(name) - 1 for name in golden["task"]]
    np.testing.assert_allclose(fit.task_effects[order], golden["effect"], atol=2e-4)
    np.testing.assert_allclose(task_covariance(fit).diagonal()[order], golden["variance"], rtol=1e-3)
