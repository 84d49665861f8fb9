"""Contrasts and order effects beside ordinal, glmmTMB, lmerTest and emmeans, on the bundled ratings.

`r/contrasts.R` made the values and `r/contrasts_data.py` the table it read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import karat
from karat.measure.effects.contrasts import Contrasts, contrasts
from karat.measure.effects.interactions import standard_deviation
from karat.measure.effects.order_effects import order_effects

VALUES: dict[str, Any] = json.loads((Path(__file__).parent / "r" / "contrasts.json").read_text(encoding="utf-8"))
INTERCEPTS = "(1 | participant) + (1 | item)"


def likert() -> karat.Judgments:
    return karat.datasets.load("likert")


def on(scale: karat.Scale) -> karat.Judgments:
    """The test trials on another scale: as numbers, or as whether the answer is above the middle."""
    table = likert().frame.filter(pl.col("function") == "test").drop("expected")
    number = pl.col("response").cast(pl.Int64)
    response = (number > 3).cast(pl.Int64) if isinstance(scale, karat.Binary) else number
    return karat.Judgments(table.with_columns(response=response.cast(pl.String)), scale)


@pytest.fixture(scope="module")
def found() -> dict[str, Contrasts]:
    slopes = "(1 + order | participant) + (1 | item)"
    return {
        "ordinal": contrasts(likert(), f"response ~ order * integration + {INTERCEPTS}", df="asymptotic"),
        "binary": contrasts(on(karat.Binary()), f"response ~ order * integration + {INTERCEPTS}", df="asymptotic"),
        "measured": contrasts(on(karat.Continuous()), f"response ~ order * integration + {slopes}", df="satterthwaite"),
    }


FAMILIES = ["ordinal", "binary", "measured"]


@pytest.mark.parametrize("name", FAMILIES)
def test_tests(found: dict[str, Contrasts], name: str) -> None:
    expected, table = VALUES[name]["tests"], found[name].frame
    assert table["term"].to_list() == expected["term"]
    statistic = "F" if name == "measured" else "chisq"
    np.testing.assert_allclose(table["F" if name == "measured" else "chi2"], expected[statistic], rtol=2e-3)
    if name == "measured":
        np.testing.assert_allclose(table["denominator"], expected["denominator"], rtol=1e-3)
    if "p" in expected:
        np.testing.assert_allclose(np.log(table["p"]), np.log(expected["p"]), rtol=2e-3)


@pytest.mark.parametrize("name", FAMILIES)
def test_means(found: dict[str, Contrasts], name: str) -> None:
    means = found[name].means
    for key, term in (("means_order", "order"), ("means_cells", "order:integration")):
        table, expected = means.filter(term=term), VALUES[name][key]
        assert table["order"].to_list() == expected["order"]
        np.testing.assert_allclose(table["estimate"], expected["emmean"], atol=2e-4)
        np.testing.assert_allclose(table["se"], expected["SE"], rtol=1e-3)
        if name == "measured":
            np.testing.assert_allclose(table["df"], expected["df"], rtol=1e-3)
        if name != "binary":
            # emmeans takes t with the residual degrees of freedom for glmmTMB, which we do not.
            ends = ("asymp.LCL", "asymp.UCL") if name == "ordinal" else ("lower.CL", "upper.CL")
            for ours, theirs in zip(("lower", "upper"), ends, strict=True):
                np.testing.assert_allclose(table[ours], expected[theirs], atol=1e-3)


@pytest.mark.parametrize("name", FAMILIES)
def test_differences(found: dict[str, Contrasts], name: str) -> None:
    table, expected = found[name].differences.filter(term="order:integration"), VALUES[name]["pairs"]
    np.testing.assert_allclose(table["estimate"], expected["estimate"], atol=2e-4)
    np.testing.assert_allclose(table["se"], expected["SE"], rtol=1e-3)
    if name != "binary":
        np.testing.assert_allclose(np.log(table["adjusted"]), np.log(expected["p.value"]), rtol=5e-3)
    crossed, given = found[name].interactions.row(0, named=True), VALUES[name]["difference"]
    assert crossed["estimate"] == pytest.approx(given["estimate"], abs=5e-4)
    assert crossed["se"] == pytest.approx(given["SE"], rel=1e-3)


def test_the_standardised_difference(found: dict[str, Contrasts]) -> None:
    model = found["measured"].model
    assert model is not None
    # The conditions are not quite balanced, so that the covariance of intercept and slope matters a little.
    assert standard_deviation(model) ** 2 == pytest.approx(VALUES["measured"]["total"], rel=2e-3)


def test_slopes_over_trials() -> None:
    found, values = order_effects(likert(), by="order"), VALUES["slopes"]
    rated = found.frame.filter(measure="response")
    _, mean, crossed = values["coefficients"]
    covariance = np.array(values["covariance"])
    # The reference is over ten trials, ours from the first trial to the last.
    span = (found.frame["last"][0] - found.frame["first"][0]) / 10
    # In sum-to-zero coding the slopes of the two orders are the mean slope plus and minus that of the interaction.
    for row, sign in zip(rated.to_dicts(), (1, -1), strict=True):
        weights = np.array([0, 1, sign])
        assert row["change"] / span == pytest.approx(mean + sign * crossed, abs=2e-4)
        assert row["se"] / span == pytest.approx(np.sqrt(weights @ covariance @ weights), rel=2e-3)
    timed, expected = found.frame.filter(measure="rt"), values["timed"]
    whole = 10 * span / values["deviation"]
    assert timed["condition"].to_list() == expected["order"]
    np.testing.assert_allclose(timed["change"], whole * np.array(expected["place.trend"]), atol=1e-4)
    np.testing.assert_allclose(timed["se"], whole * np.array(expected["SE"]), rtol=2e-3)
    np.testing.assert_allclose(timed["df"], expected["df"], rtol=5e-3)
