"""What dimensions are good for: how an overall rating follows from them, and which features of texts go with them.

`overall_regression` is an ordinary regression of the overall rating of texts on their dimensions: weights as they are
and standardised, the inflation of their variance where dimensions correlate, and the R^2 of texts that were left out.
`feature_correlations` are Pearson's and Spearman's correlations of each dimension with each feature, with Fisher's
interval and p values adjusted for their number (Holm 1979). Rows are texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from karat import frames
from karat.errors import counted
from karat.measure.errors import MeasureError
from karat.models.factors import Regression, pearson, regress
from karat.models.proportions import holm

Floats = NDArray[np.float64]
INFLATED = 10.0


@dataclass(frozen=True)
class OverallRegression:
    """The weights of dimensions in an overall rating."""

    weights: pl.DataFrame
    """dimension, weight, se, lower, upper, t, p_value, standardised, inflation."""
    model: Regression
    observations: int
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def r2(self) -> float:
        """The share of the variance of the overall rating that the dimensions explain."""
        return self.model.r2

    def table(self) -> pl.DataFrame:
        """The dimensions, the most important first."""
        return self.weights.sort(pl.col("standardised").abs(), descending=True, maintain_order=True)

    def __str__(self) -> str:
        first = self.table().row(0, named=True)
        text = (
            f"The dimensions explain {100 * self.r2:.0f} % of the variance of {self.settings['overall']} over "
            f"{counted(self.observations, 'text')} ({100 * self.model.left_out_r2:.0f} % where the text was left out); "
            f"{first['dimension']} weighs most (standardised {first['standardised']:.2f})."
        )
        return " ".join([text, *self.notes])


def overall_regression(texts: Any, overall: str, dimensions: Sequence[str], level: float = 0.95) -> OverallRegression:
    """The regression of one column of a table of texts on others.

    >>> texts = {"overall": [1, 2, 3, 4, 5.5], "clarity": [1, 2, 3, 4, 5], "length": [3, 1, 4, 1, 5]}
    >>> found = overall_regression(texts, "overall", ["clarity", "length"])
    >>> found.table()["dimension"].to_list(), round(found.r2, 2)
    (['clarity', 'length'], 1.0)
    """
    values, notes = _columns(texts, [overall, *dimensions])
    if len(values) < len(dimensions) + 2:
        raise MeasureError(
            f"overall_regression: {counted(len(values), 'text')} are too few for {len(dimensions)} dimensions."
        )
    try:
        model = regress(values[:, 0], values[:, 1:], level)
    except ValueError as error:
        raise MeasureError(f"overall_regression: {error} Leave one out.") from None
    weights = pl.DataFrame(
        {
            "dimension": list(dimensions), "weight": model.weights, "se": model.errors, "lower": model.lower,
            "upper": model.upper, "t": model.t, "p_value": model.p_values, "standardised": model.standardised,
            "inflation": model.inflation,
        }
    )  # fmt: skip
    inflated = weights.filter(pl.col("inflation") > INFLATED)["dimension"].to_list()
    if inflated:
        notes.append(
            f"Dimensions overlap: the variance of the weight of {', '.join(inflated)} is inflated over 10 times."
        )
    return OverallRegression(weights, model, len(values), {"overall": overall, "level": level}, tuple(notes))


@dataclass(frozen=True)
class FeatureCorrelations:
    """Correlations of dimensions with features of texts."""

    frame: pl.DataFrame
    """dimension, feature, n, pearson, lower, upper, p_value, adjusted (Holm), spearman."""
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def table(self) -> pl.DataFrame:
        """The strongest correlation first."""
        return self.frame.sort(pl.col("pearson").abs(), descending=True, maintain_order=True)

    def __str__(self) -> str:
        clear = self.frame.filter(pl.col("adjusted") < 0.05)
        top = self.table().row(0, named=True)
        return (
            f"{clear.height} of {counted(self.frame.height, 'correlation')} differ from zero (adjusted p < .05); the "
            f"strongest is {top['dimension']} with {top['feature']} (r = {top['pearson']:.2f})."
        )


def feature_correlations(
    texts: Any, dimensions: Sequence[str], features: Sequence[str], level: float = 0.95
) -> FeatureCorrelations:
    """The correlations of some columns of a table of texts with others; what is missing is left out pair by pair.

    >>> texts = {"clarity": [5, 4, 4, 2, 1.0], "words": [3, 5, 9, 12, 20]}
    >>> found = feature_correlations(texts, ["clarity"], ["words"])
    >>> [round(value, 2) for value in found.frame.select("pearson", "spearman").row(0)]
    [-0.95, -0.97]
    """
    rows = []
    for dimension in dimensions:
        for feature in features:
            values, _ = _columns(texts, [dimension, feature])
            if len(values) < 4:
                raise MeasureError(f"feature_correlations: {dimension} and {feature} have under four texts in common.")
            rows.append((dimension, feature, *_correlated(values, level)))
    schema = ["dimension", "feature", "n", "pearson", "lower", "upper", "p_value", "spearman"]
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    adjusted = holm(frame["p_value"].to_numpy())
    frame = frame.with_columns(adjusted=adjusted).select(*schema[:7], "adjusted", "spearman")
    return FeatureCorrelations(frame, {"level": level})


def _correlated(values: Floats, level: float) -> tuple[int, float, float, float, float, float]:
    """n, Pearson's correlation with its interval and p value, and Spearman's."""
    n = len(values)
    if (np.ptp(values, axis=0) == 0).any():
        return n, np.nan, np.nan, np.nan, np.nan, np.nan
    r = float(pearson(values)[0, 1])
    ranks = np.column_stack([pl.Series(column).rank().to_numpy() for column in values.T])
    spearman = float(pearson(ranks)[0, 1])
    if abs(r) > 1 - 1e-12:
        return n, r, r, r, 0.0, spearman
    half = float(ndtri((1 + level) / 2)) / np.sqrt(n - 3)
    lower, upper = np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)
    t = r * np.sqrt((n - 2) / (1 - r**2))
    return n, r, float(lower), float(upper), float(2 * stdtr(n - 2, -abs(t))), spearman


def _columns(texts: Any, names: Sequence[str]) -> tuple[Floats, list[str]]:
    """These columns of the texts that have all of them, and a note on the others."""
    frame = frames.to_polars(texts)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise MeasureError(f"There is no column {missing[0]}; there are {', '.join(frame.columns)}.")
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    if twice:
        raise MeasureError(f"The column {twice[0]} is named twice. Name each once.")
    words = [name for name in names if not frame[name].dtype.is_numeric()]
    if words:
        raise MeasureError(f"The column {words[0]} holds no numbers.")
    numbers = frame.select(pl.col(name).cast(pl.Float64).fill_nan(None) for name in names)
    whole = numbers.drop_nulls()
    gone = frame.height - whole.height
    notes = [f"{counted(gone, 'text')} left out, where a value is missing."] if gone else []
    return whole.to_numpy(), notes
