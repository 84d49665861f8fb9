"""The R scripts that stand beside the measures: what they fit, and, where R is installed, the same numbers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure.effects.contrasts import contrasts
from karat.measure.export import r_script

SCALES = {"ordinal": karat.Ordinal(5), "binary": karat.Binary(), "gaussian": karat.Continuous()}
PACKAGES = {"ordinal": "ordinal", "binary": "glmmTMB", "gaussian": "lmerTest"}
INTERCEPTS = "response ~ `word order` * `in` + (1 | participant) + (1 | item)"
SLOPES = "response ~ `word order` * `in` + (1 + `word order` || participant) + (1 + `word order` | item)"


def rated(family: str) -> karat.Judgments:
    """Ratings with names that R reads only in backticks, and a level that R would take for a missing value."""
    table = karat.datasets.load("likert").frame.filter(pl.col("function") == "test").drop("expected")
    table = table.rename({"order": "word order", "integration": "in"}).with_columns(pl.col("in").replace({"no": "NA"}))
    number = pl.col("response").cast(pl.Int64)
    response = (number > 3).cast(pl.Int64) if family == "binary" else number
    return karat.Judgments(table.with_columns(response=response.cast(pl.String)), SCALES[family])


@pytest.mark.parametrize("family", list(SCALES))
def test_the_script_has_the_model_that_was_fitted(family: str) -> None:
    found = contrasts(rated(family), SLOPES, simplify=False)
    text, data = r_script(found)
    assert found.model is not None
    assert f"library({PACKAGES[family]})" in text
    random = "(1 | participant) + (0 + slope_word_order1 | participant) + (1 + slope_word_order1 | item)"
    assert f"(response ~ `word order` + `in` + `word order`:`in` + {random}, data = d" in text
    assert data.columns == ["response", "word order", "in", "participant", "slope_word_order1", "item"]
    assert data.height == len(found.model.response)
    assert set(data["slope_word_order1"].to_list()) == {-1.0, 1.0}


@pytest.mark.slow
@pytest.mark.parametrize(("family", "formula"), [*((family, INTERCEPTS) for family in SCALES), ("binary", None)])
def test_r_finds_the_same_numbers(family: str, formula: str | None, tmp_path: Path) -> None:
    """Of random intercepts, and of the largest model of the design as it was simplified."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    asked = ["Rscript", "-e", f"quit(status = !requireNamespace('{PACKAGES[family]}', quietly = TRUE))"]
    if subprocess.run(asked, check=False, capture_output=True).returncode:
        pytest.skip(f"the R package {PACKAGES[family]} is not installed")
    found = contrasts(rated(family), formula, conditions=None if formula else ["word order", "in"])
    text, data = r_script(found)
    (tmp_path / "analysis.R").write_text(text, encoding="utf-8")
    data.write_csv(tmp_path / "analysis-data.csv")
    output = subprocess.run(["Rscript", "analysis.R"], check=True, cwd=tmp_path, capture_output=True, text=True).stdout
    assert found.model is not None
    assert float(output.rpartition("log-likelihood:")[2].split()[0]) == pytest.approx(
        found.model.fit.log_likelihood, abs=1e-3
    )
    rows = {row["term"]: row for row in pl.read_csv(tmp_path / "analysis-r.csv").to_dicts()}
    for row in found.coefficients.to_dicts():
        expected = rows[row["term"]]
        np.testing.assert_allclose(row["estimate"], expected["Estimate"], atol=1e-3)
        np.testing.assert_allclose(row["se"], expected["Std. Error"], rtol=5e-3)
